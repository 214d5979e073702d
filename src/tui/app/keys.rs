//! Where a key goes: to a panel, else to the question, else to the prompt; and what the actions do that belong to none of these.

use super::{Cmd, Model, QUIET, TWICE};
use crate::{
    protocol::{Command, Notice, Resume},
    tui::{
        approval::Approval,
        completion::Completion,
        images,
        jobs::{self, Report},
        keymap::{Action, Context},
        panel::{self, Panel, PanelOutcome, RuleChange, Search},
        prompt::Prompt,
    },
};
use backstitch_components::{editor::Edit, key::Chord};

pub(super) fn key(model: &mut Model, chord: &Chord) -> Vec<Cmd> {
    // While nothing is drawn nobody has seen a question.
    let quiet = model.held.is_none() && model.now.saturating_sub(model.last_key) >= QUIET;
    model.last_key = model.now;
    if let Some(panel) = model.panel.take() {
        let now = model.now;
        let cancels = model.setting.keys.action(Context::Prompt, chord) == Some(Action::Cancel);
        model.hasty.take_if(|opened| cancels || quiet && now.saturating_sub(*opened) >= QUIET);
        if model.hasty.is_none() {
            return panel_key(model, panel, chord);
        }
        model.panel = Some(panel);
        if let Some(edit) = model.setting.keys.translate(&[Context::Edit], chord).as_ref().and_then(Edit::from_chord) {
            let width = model.width();
            model.prompt.editor.apply(edit, width);
        }
        return vec![];
    }
    let now = model.now;
    if model.approval.as_mut().is_some_and(|a| a.arm(now, quiet)) {
        return Approval::key(model, chord);
    }
    Prompt::key(model, chord)
}

fn panel_key(model: &mut Model, mut panel: Panel, chord: &Chord) -> Vec<Cmd> {
    let keys = &model.setting.keys;
    let outcome = match keys.translate(panel.contexts(), chord) {
        _ if keys.action(Context::Prompt, chord) == Some(Action::Cancel) => PanelOutcome::Closed,
        Some(chord) => panel.press(&chord, keys),
        None => PanelOutcome::Stays,
    };
    let unanswered = panel.unanswered();
    match outcome {
        PanelOutcome::Stays => {
            model.panel = Some(panel);
            vec![]
        }
        PanelOutcome::StaysAnd(cmd) => {
            model.panel = Some(panel);
            if cmd == Cmd::Rule(RuleChange::Accept) {
                model.status.withheld.clear();
            }
            vec![cmd]
        }
        PanelOutcome::Closed if unanswered.is_some() => unanswered.into_iter().collect(),
        PanelOutcome::Closed => {
            // A window that was opened for a view closes with it.
            if matches!(&panel, Panel::Search(search) if search.opened_window) {
                model.switch();
            }
            // Whoever types on over the keys means the prompt. A question is not answered by what closes them.
            if matches!(panel, Panel::Keys(_)) && model.approval.is_none() && chord.typed().is_some_and(|c| c != '?') {
                return Prompt::key(model, chord);
            }
            vec![]
        }
        PanelOutcome::Types(text) => jobs::report(model, Report::Edited(Ok(text))),
        PanelOutcome::Does(cmd) => {
            if let Cmd::Send(Command::Connect(settings)) = &cmd {
                model.status.connecting = Some(settings.clone());
            }
            model.status.leaves = matches!(panel, Panel::Leave(_));
            vec![cmd]
        }
    }
}

pub fn act(model: &mut Model, action: Action) -> Vec<Cmd> {
    // Whatever opens from here was asked for.
    model.hasty = None;
    match action {
        Action::PasteImage => return images::paste(model),
        Action::Submit => return Prompt::submit(model),
        Action::Steer => return Prompt::steer(model),
        Action::Older => return Prompt::older(model),
        Action::Newer => model.prompt.newer(),
        Action::Complete | Action::Search | Action::Editor => return jobs::act(model, action),
        Action::CycleMode => return vec![Cmd::Send(Command::SetMode(model.status.next_mode()))],
        Action::Keys => model.panel = Some(Panel::keys(&model.setting.keys)),
        Action::Rewind if model.status.turn.is_some() => {}
        Action::Rewind if model.window.as_ref().is_some_and(|window| window.lent) => model.switch(),
        Action::Rewind => {
            if model.esc_armed.take().is_some_and(|until| model.now <= until) {
                return open_checkpoints(model, None);
            }
            model.esc_armed = Some(model.now + TWICE);
        }
        Action::Interrupt => return interrupt(model),
        Action::Cancel => return cancel(model),
        Action::Exit => return vec![Cmd::Exit],
        Action::Suspend => return vec![Cmd::Suspend],
        Action::Redraw => return vec![Cmd::Repaint],
        Action::Unfold => model.unfold(),
        Action::Find => {
            let opened_window = model.window.is_none();
            if opened_window {
                model.switch();
            }
            model.panel = Some(Panel::Search(Box::new(Search::new(opened_window))));
        }
        Action::PageUp | Action::PageDown | Action::Top | Action::Bottom => {
            if let Some(window) = &mut model.window {
                match action {
                    Action::PageUp => window.viewport.page(-1),
                    Action::PageDown => window.viewport.page(1),
                    Action::Top => window.viewport.to_top(),
                    _ => window.viewport.to_bottom(),
                }
            }
        }
        Action::Thoughts => {
            model.transcript.thoughts = !model.transcript.thoughts;
            let text =
                if model.transcript.thoughts { "Reasoning is shown in full from now on." } else { "Reasoning is folded to one line." };
            if model.window.is_some() {
                model.lay_window_out();
                model.say(Notice::info(text));
            } else {
                model.say(Notice::info(text).hint("/redraw prints what came before in the same way"));
            }
        }
        // Of other contexts.
        _ => {}
    }
    vec![]
}

/// With this one selected, by its name or the beginning of its id.
pub fn open_checkpoints(model: &mut Model, sought: Option<String>) -> Vec<Cmd> {
    let (panel, cmds) = panel::Checkpoints::new(model.checkpoints.marks(), model.status.session.clone(), sought, model.now);
    model.panel = Some(Panel::Checkpoints(Box::new(panel)));
    cmds
}

/// Another session instead of this one: this, or the choice among all.
pub fn resume(model: &mut Model, id: Option<String>) -> Vec<Cmd> {
    if model.setting.demo {
        model.say(Notice::info("The demo keeps no sessions."));
        return vec![];
    }
    if model.status.turn.is_some() {
        model.say(Notice::warning("A turn is running: no other session was opened.").hint("esc interrupts the turn"));
        return vec![];
    }
    match id {
        Some(id) => vec![Cmd::Resume(Resume::Named(id))],
        None => Panel::open_sessions(model),
    }
}

pub fn interrupt(model: &mut Model) -> Vec<Cmd> {
    match model.status.turn {
        Some(turn) => {
            model.status.stopping = true;
            vec![Cmd::Send(Command::Interrupt(turn))]
        }
        None => vec![],
    }
}

/// Ctrl+c clears what was typed, then interrupts, then exits when pressed twice.
fn cancel(model: &mut Model) -> Vec<Cmd> {
    if !model.prompt.editor.is_empty() {
        model.prompt.editor.apply(Edit::Clear, model.width());
        return vec![];
    }
    if model.status.turn.is_some() {
        return interrupt(model);
    }
    if model.exit_armed.take().is_some() {
        return vec![Cmd::Exit];
    }
    model.exit_armed = Some(model.now + TWICE);
    vec![]
}

pub(super) fn paste(model: &mut Model, text: &str) -> Vec<Cmd> {
    model.last_key = model.now;
    match &mut model.panel {
        Some(panel) => panel.paste(text),
        None => match &mut model.approval {
            Some(approval) if approval.typing() => approval.paste(text),
            _ => match images::pasted(model, text) {
                Some(cmd) => return vec![cmd],
                None => drop(model.prompt.editor.apply(Edit::Paste(text.into()), model.width())),
            },
        },
    }
    Completion::follow(model, false)
}
