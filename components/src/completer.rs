//! The popup under the prompt: what the word at the cursor may become. At most [`MOST_ROWS`] rows and a footer with the counter.
//!
//! Invariants:
//! - what matches is the caller's to say ([`Completer::set`]); the selection stays on its entry while that is still there;
//! - rows are never wider than asked, and of a long path the end is shown;
//! - the selected row says so by its marker, matched characters by their underline: nothing by colour alone;
//! - texts may come from file names: they are cleaned here.

use crate::key_hints::Hint;
use crate::text::row::split;
use crate::text::sanitize::one_line;
use crate::text::span::{Line, Span, Style};
use crate::text::width::{cell_groups, group_width, width};
use crate::text::wrap::truncate;
use crate::theme::Role;
use std::borrow::Cow;
use std::ops::Range;

/// More would push the conversation away.
pub const MOST_ROWS: usize = 8;
/// Cells of the marker.
const MARGIN: usize = 4;

/// Something that the word may become.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    pub text: String,
    /// Which characters matched, by count, rising.
    pub positions: Vec<usize>,
    /// The text is a path: its folders are dim.
    pub path: bool,
    /// What may follow, such as a command's arguments.
    pub hint: String,
    /// What it is, in a column of its own.
    pub about: String,
    /// A word at the right edge.
    pub note: String,
}

/// The state of the popup.
#[derive(Clone, Debug, Default)]
pub struct Completer {
    entries: Vec<Entry>,
    /// How many match in all.
    matching: usize,
    selected: Option<usize>,
    /// Nothing is selected by itself: enter means what was typed.
    shy: bool,
    moved: bool,
}

impl Completer {
    /// In a `shy` one the first entry is not selected before the user moves there.
    pub fn new(shy: bool) -> Self {
        Self { shy, ..Self::default() }
    }

    /// The entries that match now, the best first. `matching` counts those that are not among them too.
    pub fn set(&mut self, entries: Vec<Entry>, matching: usize) {
        let kept = self.selected().filter(|_| self.moved).and_then(|old| entries.iter().position(|entry| entry.text == old.text));
        self.moved &= kept.is_some();
        self.selected = kept.or((!self.shy && !entries.is_empty()).then_some(0));
        self.matching = matching.max(entries.len());
        self.entries = entries;
    }

    /// Before other matches of another word: the best is selected anew.
    pub fn forget(&mut self) {
        self.moved = false;
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub fn selected(&self) -> Option<&Entry> {
        self.selected.and_then(|at| self.entries.get(at))
    }

    /// The selected one, else the first: what tab takes.
    pub fn offered(&self) -> Option<&Entry> {
        self.selected().or(self.entries.first())
    }

    /// Moves by `by` entries; at an end it goes on at the other one.
    pub fn step(&mut self, by: isize) {
        let count = self.entries.len() as isize;
        if count > 0 {
            let from = self.selected.map_or(if by > 0 { -1 } else { 0 }, |at| at as isize);
            self.selected = Some((from + by).rem_euclid(count) as usize);
            self.moved = true;
        }
    }

    /// The entries in view; the selected one is in the middle where it can be.
    fn visible(&self, max_rows: usize) -> Range<usize> {
        let room = max_rows.min(MOST_ROWS).min(self.entries.len());
        let first = self.selected.unwrap_or(0).saturating_sub(room / 2).min(self.entries.len() - room);
        first..first + room
    }

    pub fn view(&self, width: usize, max_rows: usize) -> Vec<Line> {
        let visible = self.visible(max_rows);
        // In a narrow window what it is says more than what may follow.
        let hints = width >= 60;
        let shown: Vec<(Line, &Entry)> = self.entries[visible.clone()].iter().map(|entry| (label(entry, hints, width), entry)).collect();
        // One column for all that describe themselves, unless that leaves it no room.
        let column = shown.iter().map(|(label, _)| label.width()).max().unwrap_or(0) + 2;
        let column = column.min(width * 2 / 5);
        visible.zip(shown).map(|(at, (label, entry))| self.row(at, label, entry, column, width)).collect()
    }

    fn row(&self, at: usize, label: Line, entry: &Entry, column: usize, width: usize) -> Line {
        let selected = self.selected == Some(at);
        let mut left = Line::styled(if selected { "  ▸ " } else { "    " }, Style::from(Role::Accent).bold());
        left.extend(label.over(if selected { Style::new().bold() } else { Style::new() }).spans);
        if !entry.about.is_empty() && width > MARGIN + column + 8 {
            left = truncate(&left, MARGIN + column - 2).pad_to(MARGIN + column).and(one_line(&entry.about).into_owned(), Role::Dim);
        }
        let min_left = left.width();
        let mut row = split(left, Line::styled(one_line(&entry.note).into_owned(), Role::Dim), width, min_left);
        row.fill = selected.then_some(Role::Selection);
        row
    }

    /// `3/120` and what the keys do; `note` says what is still going on.
    pub fn footer(&self, hints: &[Hint<'_>], note: &str, width_all: usize) -> Line {
        let at = self.selected.map_or(0, |at| at + 1);
        let mut left =
            Line::styled(format!("  {}", if at == 0 { self.matching.to_string() } else { format!("{at}/{}", self.matching) }), Role::Dim);
        for (key, does) in hints {
            let more = Line::styled(" · ", Role::Dim).and((*key).to_owned(), Role::Accent).and(format!(" {does}"), Role::Dim);
            if left.width() + more.width() + 2 + width(note) > width_all {
                break;
            }
            left.extend(more.spans);
        }
        let min_left = left.width();
        split(left, Line::styled(note.to_owned(), Role::Dim), width_all, min_left)
    }
}

/// The text with what matched set off and its folders dim, then the hint. Too long, it loses its beginning.
fn label(entry: &Entry, hints: bool, width_all: usize) -> Line {
    let clean = one_line(&entry.text);
    // Cleaning may move characters: then what matched is not shown.
    let positions: &[usize] = if matches!(clean, Cow::Borrowed(_)) || clean == entry.text { &entry.positions } else { &[] };
    let room = width_all.saturating_sub(MARGIN + if entry.note.is_empty() { 0 } else { width(&entry.note) + 2 }).max(8);
    let skipped = skipped(&clean, room);
    let name = if entry.path { clean.trim_end_matches('/').rfind('/').map_or(0, |at| at + 1) } else { 0 };
    let mut line = Line::new();
    if skipped > 0 {
        line.push(Span::new("…", Role::Dim));
    }
    for (nth, (at, c)) in clean.char_indices().enumerate().filter(|(_, (at, _))| *at >= skipped) {
        let base = if at < name { Style::from(Role::Dim) } else { Style::new() };
        let hit = positions.binary_search(&nth).is_ok();
        line.push(Span::new(c.to_string(), if hit { base.patch(Style::from(Role::Accent).bold().underline()) } else { base }));
    }
    if !entry.hint.is_empty() && (hints || entry.about.is_empty()) {
        line = line.and(format!(" {}", one_line(&entry.hint)), Role::Dim);
    }
    line
}

/// Bytes at the beginning that have no room.
fn skipped(text: &str, room: usize) -> usize {
    let mut all = width(text);
    if all <= room {
        return 0;
    }
    let mut at = 0;
    for group in cell_groups(text) {
        if all < room {
            break;
        }
        all -= group_width(group);
        at += group.len();
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: &str) -> Entry {
        Entry { text: text.into(), path: true, ..Entry::default() }
    }

    fn texts(rows: &[Line]) -> Vec<String> {
        rows.iter().map(|row| row.text().trim_end().to_owned()).collect()
    }

    #[test]
    fn it_shows_eight_rows_around_the_selected_one() {
        let mut completer = Completer::new(false);
        completer.set((0..20).map(|n| entry(&format!("f{n}"))).collect(), 300);
        assert_eq!(texts(&completer.view(30, 20))[..2], ["  ▸ f0", "    f1"]);
        completer.step(-1);
        assert_eq!(texts(&completer.view(30, 20))[6..], ["    f18", "  ▸ f19"]);
        completer.step(1);
        (0..9).for_each(|_| completer.step(1));
        let rows = completer.view(30, 5);
        assert_eq!((rows.len(), texts(&rows)[2].as_str()), (5, "  ▸ f9"));
        assert!(completer.view(30, 0).is_empty());
        assert_eq!(
            completer.footer(&[("tab", "takes"), ("esc", "closes")], "indexing…", 50).text(),
            "  10/300 · tab takes · esc closes        indexing…"
        );
        assert_eq!(completer.footer(&[("tab", "takes"), ("esc", "closes")], "", 22).text(), "  10/300 · tab takes");
    }

    #[test]
    fn the_selection_stays_on_its_entry_once_it_was_moved() {
        let mut completer = Completer::new(false);
        completer.set(vec![entry("a"), entry("b")], 2);
        completer.set(vec![entry("c"), entry("a"), entry("b")], 3);
        assert_eq!(completer.selected().unwrap().text, "c");
        completer.step(1);
        completer.set(vec![entry("b"), entry("a")], 2);
        assert_eq!(completer.selected().unwrap().text, "a");
        completer.forget();
        completer.set(vec![entry("b"), entry("a")], 2);
        assert_eq!(completer.selected().unwrap().text, "b");
    }

    #[test]
    fn a_shy_one_selects_nothing_by_itself() {
        let mut completer = Completer::new(true);
        completer.set(vec![entry("a"), entry("b")], 2);
        assert_eq!((completer.selected(), completer.offered().unwrap().text.as_str()), (None, "a"));
        completer.step(-1);
        assert_eq!(completer.selected().unwrap().text, "b");
        completer.set(vec![], 0);
        completer.step(1);
        assert_eq!(completer.offered(), None);
    }

    #[test]
    fn a_long_path_shows_its_end_and_no_control_character() {
        let mut completer = Completer::new(false);
        completer.set(vec![entry("a/very/long/way/down/to/日本語.rs"), entry("bad\x1b[2J\nname")], 2);
        let rows = completer.view(20, 8);
        assert_eq!(texts(&rows)[0], "  ▸ …wn/to/日本語.rs");
        assert!(rows.iter().all(|row| row.width() <= 20 && !row.text().contains(char::is_control)));
    }
}
