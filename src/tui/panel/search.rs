//! Search in the conversation: every row that has the words, the newest first.

use super::PanelOutcome;
use crate::tui::{
    fullscreen::Window,
    keymap::{Context, Keymap},
};
use backstitch_components::{
    dialog::DialogView,
    editor::{Edit, Editor},
    key::Chord,
    text::{
        highlight::highlight,
        row::split,
        span::{Line, Style},
    },
    theme::Role,
};
use iocraft::KeyCode;

#[derive(Debug, Default)]
pub struct Search {
    words: Editor,
    /// What `matches` are for.
    searched: String,
    /// Rows of the window, from the first on.
    matches: Vec<usize>,
    at: usize,
    /// The window was opened for this search, and closes with it.
    pub opened_window: bool,
}

impl Search {
    pub fn new(opened_window: bool) -> Self {
        Search { opened_window, ..Search::default() }
    }

    pub fn press(&mut self, chord: &Chord) -> PanelOutcome {
        let count = self.matches.len();
        match chord.code {
            KeyCode::Esc => return PanelOutcome::Closed,
            // Going on means going up: what is looked for has been said before.
            KeyCode::Enter | KeyCode::Up if !chord.shift => self.at = self.at.checked_sub(1).unwrap_or(count.saturating_sub(1)),
            KeyCode::Enter | KeyCode::Down => self.at = if self.at + 1 < count { self.at + 1 } else { 0 },
            _ => {
                if let Some(edit) = Edit::from_chord(chord).filter(|edit| *edit != Edit::Newline) {
                    self.words.apply(edit, 200);
                }
            }
        }
        PanelOutcome::Stays
    }

    pub fn paste(&mut self, text: &str) {
        self.words.apply(Edit::Insert(text.lines().next().unwrap_or_default().into()), 200);
    }

    /// Looks for the words, if they have changed, and brings the match into view.
    pub fn follow(&mut self, window: &mut Window) {
        let words = self.words.text().to_lowercase();
        if words != self.searched {
            let has = |row: &Line| !words.is_empty() && row.text().to_lowercase().contains(&words);
            self.matches = window.rows().iter().enumerate().filter(|(_, row)| has(row)).map(|(at, _)| at).collect();
            self.at = self.matches.len().saturating_sub(1);
            self.searched = words;
        }
        if let Some(row) = self.row() {
            window.viewport.reveal(row..row + 1);
        }
    }

    /// A row of the window with the words marked in it; the one that is looked at as a selected one.
    pub fn marked(&self, row: Line, at: usize) -> Line {
        let found = Style::new().bold().underline();
        if self.row() != Some(at) {
            return highlight(row, &self.searched, found);
        }
        let mut row = highlight(row, &self.searched, found.invert());
        for span in &mut row.spans {
            span.style.bg = span.style.bg.or(Some(Role::Selection));
        }
        row.filled(Role::Selection)
    }

    /// The row of the match that is looked at.
    pub fn row(&self) -> Option<usize> {
        self.matches.get(self.at).copied()
    }

    pub fn view(&self, keys: &Keymap, width: usize) -> DialogView {
        let label = Line::styled("  search  ", Style::from(Role::Accent).bold());
        let (words, column) = self.words.field(label, "words of the conversation", width);
        let count = match (self.searched.is_empty(), self.matches.len()) {
            (true, _) => String::new(),
            (_, 0) => "no match".into(),
            (_, n) => format!("match {} of {n}", self.at + 1),
        };
        let count = Line::styled(count, if self.matches.is_empty() { Role::Warning } else { Role::Accent });
        let parts = [("earlier", "goes up"), ("later", "down"), ("close", "closes")];
        let hints = split(keys.hint(Context::Search, &parts, width.saturating_sub(count.width() + 2)), count, width, 0);
        DialogView { rows: vec![words, hints], cursor: Some((column, 0)) }
    }
}
