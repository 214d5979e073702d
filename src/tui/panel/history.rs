//! Search in what was typed before: the newest first, narrowed by typing.

use super::PanelOutcome;
use crate::{
    finder::fuzzy,
    tui::keymap::{Context, Keymap},
};
use backstitch_components::{
    dialog::DialogView,
    key::Chord,
    list::{Item, matched},
    picker::{Picker, PickerOutcome},
    text::{
        sanitize::one_line,
        span::{Line, Style},
    },
    theme::Role,
};

/// Characters of an entry that are searched and shown.
const MOST_CHARS: usize = 400;

#[derive(Debug, Default)]
pub struct HistorySearch {
    /// Newest first: whole, and as one row.
    entries: Vec<(String, String)>,
    picker: Picker,
    positions: Vec<Vec<usize>>,
}

impl HistorySearch {
    /// `entries`: oldest first. `query` is what is looked for at first.
    pub fn new(entries: &[String], query: &str) -> Self {
        let mut search = HistorySearch { picker: Picker::new(query), ..HistorySearch::default() };
        search.load(entries);
        search
    }

    /// The same search in other entries.
    pub fn load(&mut self, entries: &[String]) {
        let row = |text: &String| one_line(text.trim()).chars().take(MOST_CHARS).collect::<String>();
        self.entries = entries.iter().rev().map(|text| (text.clone(), row(text))).collect();
        self.narrow();
    }

    /// By parts of the text, not by scattered characters: people remember words.
    fn narrow(&mut self) {
        let matches = fuzzy::contain(self.picker.query(), self.entries.iter().map(|(_, row)| row.as_str()));
        self.positions = vec![vec![]; self.entries.len()];
        self.picker.set_matches(matches.iter().map(|found| found.at).collect());
        matches.into_iter().for_each(|found| self.positions[found.at] = found.positions);
    }

    pub fn press(&mut self, chord: &Chord) -> PanelOutcome {
        // Again the key that opened it: the next older one.
        let chord = if chord.ctrl && chord.code == iocraft::KeyCode::Char('r') { Chord::plain(iocraft::KeyCode::Down) } else { *chord };
        match self.picker.press(&chord) {
            PickerOutcome::Query => self.narrow(),
            PickerOutcome::Chosen(at) => {
                return self.entries.get(at).map_or(PanelOutcome::Closed, |(text, _)| PanelOutcome::Types(text.clone()));
            }
            PickerOutcome::Closed => return PanelOutcome::Closed,
            PickerOutcome::Moved | PickerOutcome::Ignored => {}
        }
        PanelOutcome::Stays
    }

    pub fn paste(&mut self, text: &str) {
        self.picker.paste(text);
        self.narrow();
    }

    pub fn view(&self, keys: &Keymap, width: usize, max_rows: usize) -> DialogView {
        let item = |at: usize| match self.entries.get(at) {
            Some((_, row)) => Item::new(matched(row, self.positions.get(at).map_or(&[], Vec::as_slice), Style::new())),
            None => Item::default(),
        };
        let title = Line::styled("  Typed before", Style::from(Role::Heading).bold());
        let view = self.picker.clone().view(item, self.entries.len(), width, max_rows.saturating_sub(2).clamp(2, 13));
        let mut rows = vec![title];
        rows.extend(view.rows);
        rows.push(keys.hint(Context::History, &[("take", "puts it into the prompt"), ("close", "closes")], width));
        rows.iter_mut().for_each(|row| *row = backstitch_components::text::wrap::truncate(row, width));
        DialogView { rows, cursor: Some((view.cursor.0, view.cursor.1 + 1)) }
    }
}
