//! What the screen has done elsewhere, and what comes of it: looking for files, the history on disk, the user's editor. Pure.

use super::{
    app::{Cmd, Model},
    completion::Completion,
    keymap::Action,
    panel::Panel,
    recall::Recall,
};
use crate::{
    finder::{Answer, Query},
    protocol::Notice,
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq)]
pub enum Job {
    /// Looks for files.
    Find(Query),
    /// Keeps it in the history on disk.
    Remember(String),
    LoadHistory,
    /// Opens the user's editor on the text.
    EditPrompt(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Report {
    Found(Answer),
    /// What was typed in earlier sessions, oldest first.
    History(Vec<String>),
    /// The prompt as the user's editor left it.
    Edited(Result<String, Notice>),
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
        Report::Edited(Ok(text)) => model.prompt.editor.set_text(&text),
        Report::Edited(Err(notice)) => model.say(notice),
    }
    vec![]
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
        Action::Editor => vec![Cmd::Do(Job::EditPrompt(model.prompt.editor.submit_text()))],
        _ => vec![],
    }
}
