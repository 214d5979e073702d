//! The question before `/undo` or `/redo` where not all of it is plain: what it would do to files, and what it would leave.

use super::PanelOutcome;
use crate::{
    protocol::{Action, Command, Plan},
    tui::{
        app::Cmd,
        keymap::{Context, Keymap},
    },
};
use backstitch_components::{
    dialog::{Dialog, DialogOutcome, DialogState, DialogView},
    key::Chord,
    list::Item,
    text::{
        sanitize::one_line,
        span::{Line, Style},
        wrap::wrap,
    },
};

/// More files than this are only counted.
const NAMED: usize = 6;

#[derive(Debug)]
pub struct Step {
    state: DialogState,
    title: String,
    plan: Plan,
}

impl Step {
    pub fn new(title: String, plan: Plan) -> Self {
        Step { state: DialogState::default(), title, plan }
    }

    /// No, whatever closes it.
    pub fn no() -> Cmd {
        Cmd::Send(Command::Step { go: false })
    }

    pub fn press(&mut self, chord: &Chord) -> PanelOutcome {
        match self.state.press(chord, &self.dialog(&Keymap::default(), 80)) {
            DialogOutcome::Chosen(0, _) => PanelOutcome::Does(Cmd::Send(Command::Step { go: true })),
            DialogOutcome::Chosen(..) | DialogOutcome::Dismissed => PanelOutcome::Closed,
            DialogOutcome::Moved | DialogOutcome::Ignored => PanelOutcome::Stays,
        }
    }

    pub fn view(&self, keys: &Keymap, width: usize, max_rows: usize) -> DialogView {
        self.state.clone().view(&self.dialog(keys, width), width, max_rows)
    }

    fn dialog(&self, keys: &Keymap, width: usize) -> Dialog {
        let row = |text: String, style: Style| {
            let line = Line::styled(text, style);
            wrap(&line, width.saturating_sub(4)).into_iter().map(|row| row.indented(2)).collect::<Vec<_>>()
        };
        let name = |path: &std::path::Path| one_line(&path.to_string_lossy()).into_owned();
        let mut body = vec![];
        for file in self.plan.files.iter().take(NAMED) {
            let word = match file.action() {
                Action::Change => "change",
                Action::Delete => "delete",
                Action::Recreate => "recreate",
            };
            body.extend(row(format!("{word:<9}{}", name(&file.path)), Style::new()));
        }
        for (path, why) in self.plan.skipped.iter().take(NAMED) {
            body.extend(row(format!("{:<9}{}: {}", "skip", name(path), one_line(why)), Style::new().bold()));
        }
        let more = self.plan.files.len().saturating_sub(NAMED) + self.plan.skipped.len().saturating_sub(NAMED);
        if more > 0 {
            body.extend(row(format!("and {more} more"), Style::new()));
        }
        body.push(Line::new());
        Dialog {
            title: Line::plain(format!("{}: {}", self.title, self.plan.summary())),
            body,
            choices: vec![
                Item::new("yes, do that").key('y').called(keys.key(Context::Dialog, "yes")),
                Item::new("no, leave everything as it is").key('n').called(keys.key(Context::Dialog, "no")),
            ],
            ..Dialog::default()
        }
    }
}
