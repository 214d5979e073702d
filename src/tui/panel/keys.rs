//! The keys and what they do, from the keymap itself.

use super::PanelOutcome;
use crate::tui::keymap::{Context, Keymap};
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

#[derive(Debug)]
pub struct Keys {
    contexts: Vec<Context>,
    /// Rows at the most.
    count: usize,
    /// Rows above the window.
    first: usize,
}

impl Keys {
    pub fn of(contexts: &[Context], keys: &Keymap) -> Self {
        let count = contexts.iter().map(|context| keys.help(*context).len() + 1).sum();
        Keys { contexts: contexts.to_vec(), count, first: 0 }
    }

    pub fn press(&mut self, chord: &Chord) -> PanelOutcome {
        self.first = match chord.code {
            KeyCode::Up => self.first.saturating_sub(1),
            KeyCode::Down => (self.first + 1).min(self.count),
            KeyCode::PageUp => self.first.saturating_sub(10),
            KeyCode::PageDown | KeyCode::Char(' ') => (self.first + 10).min(self.count),
            _ => return PanelOutcome::Closed,
        };
        PanelOutcome::Stays
    }

    pub fn view(&self, keys: &Keymap, width: usize, max_rows: usize) -> DialogView {
        let mut rows = vec![];
        for (context, _, title) in Context::ALL.iter().filter(|(context, ..)| self.contexts.contains(context)) {
            let table = keys.help(*context);
            let hints: Vec<(&str, &str)> = table.iter().map(|(k, h)| (k.as_str(), h.as_str())).collect();
            if !hints.is_empty() {
                rows.push(Line::styled(format!("  {title}"), Style::from(Role::Heading).bold()));
                rows.extend(key_table(&hints, width));
            }
        }
        let room = max_rows.saturating_sub(1).min(rows.len());
        let first = self.first.min(rows.len() - room);
        let all = rows.len() == room;
        rows.drain(..first);
        rows.truncate(room);
        let more = keys.phrase(Context::List, &[("next", "shows more")]);
        let hint = if all || more.is_empty() { "  any key closes this".into() } else { format!("  {more}, others close this") };
        rows.push(truncate(&Line::styled(hint, Role::Dim), width));
        DialogView { rows, cursor: None }
    }
}
