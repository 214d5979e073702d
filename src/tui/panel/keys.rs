//! The keys and what they do, from the keymap itself.

use super::PanelOutcome;
use crate::tui::keymap::{self, Context};
use backstitch_components::{
    dialog::DialogView,
    key::Chord,
    key_hints::key_table,
    text::{
        span::{Line, Style},
        wrap::truncate,
    },
    theme::Role,
};
use iocraft::KeyCode;

const PARTS: [(&str, Context); 5] = [
    ("Keys", Context::Prompt),
    ("In the text", Context::Edit),
    ("While a list of completions is open", Context::Completion),
    ("In a question", Context::Dialog),
    ("In the diff viewer", Context::Viewer),
];

#[derive(Debug, Default)]
pub struct Keys {
    /// Only those of this context.
    only: Option<Context>,
    /// Rows above the window.
    first: usize,
}

impl Keys {
    pub fn of(context: Context) -> Self {
        Keys { only: Some(context), first: 0 }
    }

    fn parts(&self) -> impl Iterator<Item = (&'static str, Context)> + use<> {
        let only = self.only;
        PARTS.into_iter().filter(move |(_, context)| only.is_none_or(|only| only == *context))
    }

    pub fn press(&mut self, chord: &Chord) -> PanelOutcome {
        let most = self.parts().map(|(_, context)| keymap::help(context).len() + 1).sum::<usize>();
        self.first = match chord.code {
            KeyCode::Up => self.first.saturating_sub(1),
            KeyCode::Down => (self.first + 1).min(most),
            KeyCode::PageUp => self.first.saturating_sub(10),
            KeyCode::PageDown | KeyCode::Char(' ') => (self.first + 10).min(most),
            _ => return PanelOutcome::Closed,
        };
        PanelOutcome::Stays
    }

    pub fn view(&self, width: usize, max_rows: usize) -> DialogView {
        let mut rows = vec![];
        for (title, context) in self.parts() {
            let table = keymap::help(context);
            let hints: Vec<(&str, &str)> = table.iter().map(|(k, h)| (k.as_str(), h.as_str())).collect();
            rows.push(Line::styled(format!("  {title}"), Style::from(Role::Heading).bold()));
            rows.extend(key_table(&hints, width));
        }
        let room = max_rows.saturating_sub(1).min(rows.len());
        let first = self.first.min(rows.len() - room);
        let all = rows.len() == room;
        rows.drain(..first);
        rows.truncate(room);
        let hint = if all { "  any key closes this" } else { "  down shows more, any other key closes this" };
        rows.push(truncate(&Line::styled(hint, Role::Dim), width));
        DialogView { rows, cursor: None }
    }
}
