//! The question before the session is left while commands run in the background: they end with it.

use super::PanelOutcome;
use crate::{
    protocol::Job,
    tui::{
        app::{Cmd, Model, Msg},
        keymap::{Context, Keymap},
        panel::Panel,
    },
};
use backstitch_components::{
    dialog::{Dialog, DialogOutcome, DialogState, DialogView},
    key::Chord,
    list::Item,
    text::{
        sanitize::one_line,
        span::{Line, Style},
        wrap::truncate,
    },
};

/// More commands than this are only counted.
const NAMED: usize = 6;

#[derive(Debug)]
pub struct Leave {
    state: DialogState,
    /// What was asked for.
    cmd: Cmd,
}

impl Leave {
    /// Asks first, where what is to be done ends commands that run. Who is told to end by a signal asks nobody.
    pub fn ask_before(model: &mut Model, told: bool, cmds: &mut Vec<Cmd>) {
        let sure = std::mem::take(&mut model.status.leaves);
        if sure || told || model.status.background.is_empty() {
            return;
        }
        if let Some(at) = cmds.iter().position(|cmd| matches!(cmd, Cmd::Exit | Cmd::Resume(_) | Cmd::Demo)) {
            let leave = Leave { state: DialogState::default(), cmd: cmds.remove(at) };
            (model.panel, model.hasty) = (Some(Panel::Leave(Box::new(leave))), None);
        }
    }

    /// Is it nobody's to be asked about?
    pub fn is_told(msg: &Msg) -> bool {
        matches!(msg, Msg::Terminated | Msg::EngineGone)
    }

    pub fn press(&mut self, chord: &Chord) -> PanelOutcome {
        match self.state.press(chord, &self.dialog(&[], &Keymap::default(), 80)) {
            DialogOutcome::Chosen(1, _) => PanelOutcome::Does(self.cmd.clone()),
            DialogOutcome::Chosen(..) | DialogOutcome::Dismissed => PanelOutcome::Closed,
            DialogOutcome::Moved | DialogOutcome::Ignored => PanelOutcome::Stays,
        }
    }

    pub fn view(&self, running: &[Job], keys: &Keymap, width: usize, max_rows: usize) -> DialogView {
        self.state.clone().view(&self.dialog(running, keys, width), width, max_rows)
    }

    fn dialog(&self, running: &[Job], keys: &Keymap, width: usize) -> Dialog {
        let row = |text: String| truncate(&Line::styled(text, Style::new().bold()), width.saturating_sub(4).max(1)).indented(2);
        let mut body: Vec<Line> = running.iter().take(NAMED).map(|job| row(one_line(&job.named()).into_owned())).collect();
        if running.len() > NAMED {
            body.push(row(format!("and {} more", running.len() - NAMED)));
        }
        body.push(Line::new());
        let (title, yes) = match running.len() {
            0 => ("Nothing runs in the background any more.".into(), "leave"),
            1 => ("A command runs in the background. It ends with the session.".into(), "end it and leave"),
            n => (format!("{n} commands run in the background. They end with the session."), "end them and leave"),
        };
        Dialog {
            title: Line::plain(title),
            body,
            // The answer that enter takes ends nothing.
            choices: vec![
                Item::new("stay").key('n').called(keys.key(Context::Dialog, "no")),
                Item::new(yes).key('y').called(keys.key(Context::Dialog, "yes")),
            ],
            ..Dialog::default()
        }
    }
}
