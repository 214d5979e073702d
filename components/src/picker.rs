//! A query and the items that match it: file picker, session list, command menu.
//!
//! Invariants: what matches is the caller's to say ([`Picker::set_matches`]); typing never waits for it,
//! the old matches stay until new ones come; the selection returns to the top when the query changes.

use crate::editor::{Edit, Editor, Look};
use crate::key::Chord;
use crate::list::{Item, ListOutcome, ListState, counter};
use crate::text::row::split;
use crate::text::span::{Line, Span, Style};
use crate::theme::Role;
use iocraft::KeyCode;

/// Rows and cursor of a picker.
#[derive(Clone, Debug, PartialEq)]
pub struct PickerView {
    pub rows: Vec<Line>,
    /// Column and row of the cursor, from 0.
    pub cursor: (usize, usize),
}

/// What a key meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PickerOutcome {
    /// Filter anew by [`Picker::query`].
    Query,
    Moved,
    /// The index that the caller gave with the match.
    Chosen(usize),
    Closed,
    Ignored,
}

/// The state of a picker.
#[derive(Clone, Debug, Default)]
pub struct Picker {
    query: Editor,
    list: ListState,
    /// Indices of the caller's items, best first.
    matches: Vec<usize>,
}

impl Picker {
    pub fn new(query: &str) -> Self {
        Self { query: Editor::with_text(query), ..Self::default() }
    }

    pub fn query(&self) -> &str {
        self.query.text()
    }

    /// The matching items as indices of the caller's, best first.
    pub fn set_matches(&mut self, matches: Vec<usize>) {
        self.matches = matches;
        self.list.select(self.list.selected(), self.matches.len());
    }

    pub fn matches(&self) -> &[usize] {
        &self.matches
    }

    /// The caller's index of the selected item.
    pub fn selected(&self) -> Option<usize> {
        self.matches.get(self.list.selected()).copied()
    }

    pub fn press(&mut self, chord: &Chord) -> PickerOutcome {
        if chord.code == KeyCode::Esc {
            return PickerOutcome::Closed;
        }
        let on_query = matches!(chord.code, KeyCode::Home | KeyCode::End);
        let moved = if on_query { ListOutcome::Ignored } else { self.list.navigate(chord, self.matches.len()) };
        match moved {
            ListOutcome::Moved => return PickerOutcome::Moved,
            ListOutcome::Chosen(at) => return self.matches.get(at).map_or(PickerOutcome::Ignored, |i| PickerOutcome::Chosen(*i)),
            ListOutcome::Ignored => {}
        }
        let before = self.query.text().to_owned();
        let edit = Edit::from_chord(chord).filter(|edit| !matches!(edit, Edit::Newline | Edit::Up | Edit::Down));
        let Some(edit) = edit else { return PickerOutcome::Ignored };
        let changed = self.query.apply(edit, usize::MAX);
        if before != self.query.text() {
            self.list.select(0, self.matches.len());
            return PickerOutcome::Query;
        }
        if changed { PickerOutcome::Moved } else { PickerOutcome::Ignored }
    }

    /// Pastes into the query, as one row.
    pub fn paste(&mut self, text: &str) -> PickerOutcome {
        self.query.apply(Edit::Insert(text.replace(['\n', '\r'], " ")), usize::MAX);
        self.list.select(0, self.matches.len());
        PickerOutcome::Query
    }

    /// The query's row, then the matches; `item` makes the row of one of the caller's items.
    pub fn view(&mut self, item: impl Fn(usize) -> Item, total: usize, width: usize, max_rows: usize) -> PickerView {
        let look = Look { prompt: Span::new("› ", Style::from(Role::Accent).bold()), placeholder: "type to filter".into() };
        let query = self.query.view(&look, width.saturating_sub(2), 1);
        let count = self.matches.len();
        let note = if count == total { counter(&self.list, count) } else { Line::styled(format!("{count} of {total}"), Role::Dim) };
        let first = query.rows.into_iter().next().unwrap_or_default().indented(2);
        let min_left = first.width();
        let mut rows = vec![split(first, note, width, min_left)];
        if count == 0 {
            rows.push(Line::styled("    nothing matches", Role::Dim));
        }
        let room = max_rows.saturating_sub(1).max(1);
        rows.extend(self.list.view_of(count, |at| item(self.matches[at]), width, room, false));
        PickerView { rows, cursor: ((query.cursor.0 + 2).min(width.saturating_sub(1)), 0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_moves_and_chooses() {
        let names = ["alpha", "beta", "gamma"];
        let mut picker = Picker::new("");
        picker.set_matches(vec![0, 1, 2]);
        let mut press = |key: &str| picker.press(&key.parse().unwrap());
        assert_eq!(press("down"), PickerOutcome::Moved);
        assert_eq!(press("enter"), PickerOutcome::Chosen(1));
        assert_eq!(press("b"), PickerOutcome::Query);
        picker.set_matches(vec![1]);
        assert_eq!((picker.query(), picker.selected()), ("b", Some(1)));
        let view = picker.view(|at| Item::new(names[at]), 3, 30, 5);
        let texts: Vec<String> = view.rows.iter().map(Line::text).collect();
        assert_eq!(texts, ["  › b                   1 of 3", "  ▸ beta"]);
        assert_eq!(view.cursor, (5, 0));
        picker.set_matches(vec![]);
        assert_eq!(picker.press(&"enter".parse().unwrap()), PickerOutcome::Ignored);
        assert_eq!(picker.press(&"esc".parse().unwrap()), PickerOutcome::Closed);
    }
}
