//! A timeline of checkpoints beside what going back to one would change.
//!
//! Invariants:
//! - rows are exactly as many as asked for, and never wider;
//! - going back is chosen in two steps, so that no single key undoes work: first the checkpoint, then what goes back;
//! - where there is no room for two columns, the timeline and the diff are shown one after the other.

use crate::diff_view::DiffModel;
use crate::diff_viewer::{DiffViewer, ViewerOutcome};
use crate::key::Chord;
use crate::key_hints::hint_row;
use crate::list::{Item, ListOutcome, ListState};
use crate::text::sanitize::one_line;
use crate::text::span::{Line, Span, Style};
use crate::text::wrap::{cut, truncate, truncate_text};
use crate::theme::Role;
use iocraft::KeyCode;
use std::sync::Arc;

/// Two columns are of use from this width on, in cells.
const TWO_COLUMNS: usize = 100;

/// A checkpoint as the timeline shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What the user had asked for.
    pub title: String,
    /// When, in words: `3 min ago`.
    pub when: String,
    /// Files that changed from it to the next one.
    pub files: usize,
}

/// What goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Both,
    Files,
    Conversation,
}

const SCOPES: [(Scope, char, &str); 3] =
    [(Scope::Both, 'b', "files and conversation"), (Scope::Files, 'f', "files only"), (Scope::Conversation, 'c', "conversation only")];

/// What a key meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrowserOutcome {
    /// Another entry is looked at: its diff is wanted (see [`Browser::set_diff`]).
    Selected(usize),
    Moved,
    Ignored,
    Chosen(usize, Scope),
    Copied(String),
    Closed,
}

/// State of the browser. Entries are given from the oldest to the newest.
#[derive(Clone, Debug, Default)]
pub struct Browser {
    entries: Vec<Entry>,
    list: ListState,
    /// Of the selected entry; `None` until it is known.
    diff: Option<DiffViewer>,
    in_diff: bool,
    /// The second step: what goes back.
    asks: Option<ListState>,
    two_columns: bool,
}

impl Browser {
    /// The newest entry is selected: it is what most people come for.
    pub fn new(entries: Vec<Entry>) -> Self {
        Self { entries, ..Self::default() }
    }

    /// The newest first, as the list has them.
    fn entry_at(&self, row: usize) -> usize {
        self.entries.len().saturating_sub(1 + row)
    }

    /// The entry that is looked at.
    pub fn selected(&self) -> Option<usize> {
        (!self.entries.is_empty()).then(|| self.entry_at(self.list.selected()))
    }

    /// What going back to the selected entry would change.
    pub fn set_diff(&mut self, files: Vec<Arc<DiffModel>>) {
        self.diff = Some(DiffViewer::new(files, false));
    }

    /// Its diff, while one is shown.
    pub fn diff(&mut self) -> Option<&mut DiffViewer> {
        self.diff.as_mut()
    }

    pub fn scroll(&mut self, rows: isize) {
        if let Some(diff) = &mut self.diff {
            diff.scroll(rows);
        }
    }

    pub fn press(&mut self, chord: &Chord) -> BrowserOutcome {
        if let Some(asks) = &mut self.asks {
            if chord.code == KeyCode::Esc {
                self.asks = None;
                return BrowserOutcome::Moved;
            }
            return match (asks.press(chord, &scope_items()), self.selected()) {
                (ListOutcome::Chosen(at), Some(entry)) => BrowserOutcome::Chosen(entry, SCOPES[at.min(2)].0),
                (ListOutcome::Moved, _) => BrowserOutcome::Moved,
                _ => BrowserOutcome::Ignored,
            };
        }
        if chord.code == KeyCode::Tab {
            self.in_diff = !self.in_diff && self.diff.is_some();
            return BrowserOutcome::Moved;
        }
        if let Some(diff) = self.diff.as_mut().filter(|_| self.in_diff) {
            return match diff.press(chord) {
                ViewerOutcome::Closed => {
                    self.in_diff = false;
                    BrowserOutcome::Moved
                }
                ViewerOutcome::Copied(text) => BrowserOutcome::Copied(text),
                ViewerOutcome::Moved => BrowserOutcome::Moved,
                ViewerOutcome::Ignored | ViewerOutcome::Accepted => BrowserOutcome::Ignored,
            };
        }
        let before = self.list.selected();
        match chord.code {
            KeyCode::Esc | KeyCode::Char('q') => return BrowserOutcome::Closed,
            KeyCode::Right if self.diff.is_some() => {
                self.in_diff = true;
                return BrowserOutcome::Moved;
            }
            KeyCode::Enter if !self.entries.is_empty() => {
                self.asks = Some(ListState::default());
                return BrowserOutcome::Moved;
            }
            _ => {}
        }
        match self.list.navigate(chord, self.entries.len()) {
            ListOutcome::Ignored => BrowserOutcome::Ignored,
            _ if self.list.selected() == before => BrowserOutcome::Moved,
            _ => {
                self.diff = None;
                self.selected().map_or(BrowserOutcome::Moved, BrowserOutcome::Selected)
            }
        }
    }

    /// Takes the size of the window: to be called when it, or anything in here, has changed.
    pub fn fit(&mut self, width: usize, height: usize) {
        self.two_columns = width >= TWO_COLUMNS;
        let (left, below) = (self.left(width), self.below());
        let room = height.saturating_sub(1 + below).max(1);
        if let Some(diff) = &mut self.diff {
            diff.fit(width.saturating_sub(left).max(2), room);
        }
        // The list keeps its own place by being drawn.
        let _ = self.timeline(left.max(2), room);
    }

    /// Cells of the timeline's column.
    fn left(&self, width: usize) -> usize {
        match (self.two_columns, self.in_diff) {
            (true, _) => (width * 2 / 5).clamp(36, 56),
            (false, true) => 0,
            (false, false) => width,
        }
    }

    fn below(&self) -> usize {
        if self.asks.is_some() { SCOPES.len() + 1 } else { 1 }
    }

    pub fn view(&self, width: usize, height: usize) -> Vec<Line> {
        let mut copy = self.clone();
        let (left, below) = (self.left(width), self.below());
        let room = height.saturating_sub(1 + below).max(1);
        let title = Line::styled("  Checkpoints", Style::from(Role::Heading).bold()).and("  the state before each request", Role::Dim);
        let mut rows = vec![truncate(&title, width)];
        let timeline = if left > 0 { copy.timeline(left, room) } else { vec![] };
        let right = width.saturating_sub(left);
        let diff = if right > 2 { self.diff_rows(right, room) } else { vec![] };
        for at in 0..room {
            let mut row = timeline.get(at).cloned().unwrap_or_default();
            if right > 2 {
                let fill = row.fill.take();
                if let Some(fill) = fill {
                    row = row.pad_to(left.saturating_sub(1)).over(Style::new().bg(fill));
                }
                if left > 0 {
                    row = cut(&row, left).pad_to(left);
                }
                if let Some(line) = diff.get(at) {
                    row.extend(line.spans.iter().cloned());
                }
            }
            rows.push(cut(&row, width));
        }
        rows.extend(copy.footer(width));
        rows.truncate(height);
        rows.resize(height, Line::new());
        rows
    }

    fn timeline(&mut self, width: usize, height: usize) -> Vec<Line> {
        if self.entries.is_empty() {
            return vec![cut(&Line::styled("  nothing has been changed yet", Role::Dim), width)];
        }
        let (entries, count) = (&self.entries, self.entries.len());
        let item = |row: usize| {
            let entry = &entries[count - 1 - row];
            let files = match entry.files {
                0 => "no change".to_owned(),
                1 => "1 file".to_owned(),
                n => format!("{n} files"),
            };
            let room = width.saturating_sub(8 + files.len() + entry.when.len()).max(8);
            Item::new(truncate_text(&one_line(&entry.title), room).into_owned()).detail(Line::plain(format!("{files} · {}", entry.when)))
        };
        self.list.view_of(count, item, width.saturating_sub(1), height, false)
    }

    fn diff_rows(&self, width: usize, height: usize) -> Vec<Line> {
        match &self.diff {
            Some(diff) => diff.view(width, height).0,
            None if self.entries.is_empty() => vec![],
            None => vec![Line::styled("  comparing …", Role::Dim)],
        }
    }

    fn footer(&mut self, width: usize) -> Vec<Line> {
        if let Some(asks) = &mut self.asks {
            let title = Line::styled("  What should be as it was then?", Style::new().bold())
                .and("  a checkpoint of now is taken first", Role::Dim);
            let mut rows = vec![truncate(&title, width)];
            rows.extend(asks.view(&scope_items(), width, SCOPES.len(), true));
            return rows;
        }
        let hints: &[(&str, &str)] = match (self.in_diff, self.entries.is_empty()) {
            (_, true) => &[("esc", "close")],
            (true, _) => &[("esc", "to the timeline"), ("←→", "hunk"), ("tab", "timeline"), ("y", "copy hunk")],
            (false, _) => &[("enter", "go back"), ("↑↓", "choose"), ("→", "look at the changes"), ("esc", "close")],
        };
        vec![hint_row(hints, width)]
    }
}

fn scope_items() -> Vec<Item> {
    SCOPES.iter().map(|(_, key, label)| Item::new(Line::from(Span::plain(*label))).key(*key)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn browser() -> Browser {
        let entry = |title: &str, files, when: &str| Entry { title: title.into(), when: when.into(), files };
        let mut browser = Browser::new(vec![
            entry("fix the date test", 1, "9 min ago"),
            entry("now rename the module to calendar, everywhere, also in the docs", 12, "4 min ago"),
            entry("日本語の説明を書いて", 0, "just now"),
        ]);
        browser.set_diff(vec![Arc::new(DiffModel::new(Some("a\nb\nc\n"), Some("a\nB\nc\n"), "src/dates.rs"))]);
        browser
    }

    fn press(browser: &mut Browser, keys: &str) -> BrowserOutcome {
        let mut last = BrowserOutcome::Ignored;
        for key in keys.split(' ') {
            last = browser.press(&key.parse().unwrap());
            browser.fit(120, 20);
        }
        last
    }

    fn shown(browser: &mut Browser, width: usize, height: usize) -> String {
        browser.fit(width, height);
        let rows = browser.view(width, height);
        assert_eq!(rows.len(), height);
        assert!(rows.iter().all(|row| row.width() <= width));
        rows.iter().map(|row| format!("{}\n", row.text().trim_end())).collect()
    }

    #[test]
    fn looks_at_three_widths() {
        let mut browser = browser();
        insta::assert_snapshot!("timeline_120", shown(&mut browser, 120, 12));
        insta::assert_snapshot!("timeline_80", shown(&mut browser, 80, 10));
        insta::assert_snapshot!("timeline_40", shown(&mut browser, 40, 8));
        press(&mut browser, "enter");
        insta::assert_snapshot!("scope_80", shown(&mut browser, 80, 12));
        press(&mut browser, "esc right");
        insta::assert_snapshot!("diff_80", shown(&mut browser, 80, 12));
        insta::assert_snapshot!("empty_80", shown(&mut Browser::new(vec![]), 80, 6));
    }

    #[test]
    fn going_back_takes_two_steps() {
        let mut browser = browser();
        assert_eq!(press(&mut browser, "enter"), BrowserOutcome::Moved);
        assert_eq!(press(&mut browser, "enter"), BrowserOutcome::Chosen(2, Scope::Both));
        let mut browser = self::browser();
        assert_eq!(press(&mut browser, "down"), BrowserOutcome::Selected(1));
        assert_eq!(press(&mut browser, "enter f"), BrowserOutcome::Chosen(1, Scope::Files));
        assert_eq!(press(&mut browser, "esc c"), BrowserOutcome::Ignored, "a letter alone chooses nothing");
        assert_eq!(press(&mut browser, "esc"), BrowserOutcome::Closed);
    }

    #[test]
    fn an_empty_timeline_can_only_be_closed() {
        let mut browser = Browser::new(vec![]);
        assert_eq!(press(&mut browser, "enter"), BrowserOutcome::Ignored);
        assert_eq!(press(&mut browser, "right"), BrowserOutcome::Ignored);
        assert_eq!(press(&mut browser, "esc"), BrowserOutcome::Closed);
    }
}
