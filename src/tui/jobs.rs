//! What the screen has done elsewhere, and what comes of it: looking for files, the history on disk, the user's editor. Pure.

use super::{
    app::{Cmd, Model},
    approval::Approval,
    completion::Completion,
    keymap::Action,
    panel::Panel,
    recall::Recall,
};
use crate::{
    finder::{Answer, Query},
    protocol::{CallId, Notice, SessionInfo},
};
use backstitch_components::diff_viewer::DiffViewer;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq)]
pub enum Job {
    /// Looks for files.
    Find(Query),
    /// Keeps it in the history on disk.
    Remember(String),
    LoadHistory,
    /// Opens the user's editor.
    Edit(Draft),
}

/// A text for the user's editor.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    pub text: String,
    /// The call that would write it; `None` for the prompt.
    pub call: Option<CallId>,
    /// Of the file's name, so that the editor knows the language: `.rs`.
    pub ending: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Report {
    Found(Answer),
    /// What was typed in earlier sessions, oldest first.
    History(Vec<String>),
    /// The prompt as the user's editor left it.
    Edited(Result<String, Notice>),
    /// What a call would write, as the user's editor left it.
    Revised(CallId, String),
    /// Newest first, and the time in milliseconds since 1970.
    Sessions {
        found: Result<Vec<SessionInfo>, String>,
        now: u64,
    },
    /// Colours that a diff lacked are found.
    Coloured,
    /// Code of some language has colours now that were not there before.
    Compiled,
}

pub fn report(model: &mut Model, report: Report) -> Vec<Cmd> {
    match report {
        Report::Found(answer) => model.completion.answered(answer),
        Report::History(earlier) => {
            Recall::loaded(&mut model.prompt, earlier);
            if let Some(Panel::History(search)) = &mut model.panel {
                search.load(model.prompt.recall.entries());
            }
            Completion::refresh(model);
        }
        Report::Sessions { found, now } => {
            if let Some(Panel::Sessions(sessions)) = &mut model.panel {
                sessions.listed(found, now);
            }
        }
        Report::Edited(Ok(text)) => model.prompt.editor.set_text(&text),
        Report::Edited(Err(notice)) => model.say(notice),
        Report::Coloured => {
            if let Some(viewer) = model.panel.as_mut().and_then(Panel::viewer) {
                viewer.coloured();
            }
        }
        Report::Compiled => {
            model.lay_window_out();
            if let Some(approval) = &mut model.approval {
                approval.lay_out_anew();
            }
        }
        Report::Revised(call, text) => return Approval::revised(model, call, text),
    }
    vec![]
}

/// After every message: the colours of what is seen are found meanwhile.
pub fn follow(model: &mut Model) -> Option<Cmd> {
    let uncoloured = model.panel.as_mut().and_then(Panel::viewer).and_then(DiffViewer::ask)?;
    Some(Cmd::Colour(uncoloured))
}

/// The keys of the prompt that need others.
pub fn act(model: &mut Model, action: Action) -> Vec<Cmd> {
    match action {
        Action::Complete => Completion::reopen(model),
        Action::Search => {
            let cmds = model.prompt.recall.ask();
            model.panel = Some(Panel::history(model.prompt.recall.entries(), &model.prompt.editor.submit_text()));
            cmds
        }
        Action::Editor => {
            let text = model.prompt.editor.submit_text();
            vec![Cmd::Do(Job::Edit(Draft { text, call: None, ending: ".md".into() }))]
        }
        _ => vec![],
    }
}
