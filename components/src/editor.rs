//! The multi-line prompt editor: a text, a cursor, and what can be done to them.
//!
//! Invariants:
//! - the cursor is always on a grapheme boundary, and never within a folded paste;
//! - undoing everything gives the text that was there at first (as far back as [`MAX_UNDO`] steps);
//! - the text is kept as typed; only what is shown is cleaned;
//! - a folded paste or an attachment is one character of a private range in the text, so that it moves and dies as one.

mod edit;
mod layout;
mod motion;

pub use edit::Edit;
pub use layout::{EditorView, Look};

pub use motion::is_chip as is_fold;

use motion::{is_chip, next, previous, snap, word_left, word_right};
use std::ops::Range;

/// Steps that can be taken back.
pub const MAX_UNDO: usize = 200;
/// Pastes of more lines than this are folded.
pub const FOLD_LINES: usize = 10;
/// Pastes of more characters than this are folded.
pub const FOLD_CHARS: usize = 1_000;
/// Killed texts kept.
const MAX_KILLS: usize = 20;
/// The first of the characters that stand for folded pastes.
const CHIP_BASE: u32 = 0xf_0000;
const MAX_PASTES: usize = 0xfff0;

/// The state of the prompt.
#[derive(Clone, Debug, Default)]
pub struct Editor {
    text: String,
    /// Byte offset.
    cursor: usize,
    /// Column that vertical moves try to keep, in cells.
    column: Option<usize>,
    chips: Vec<Chip>,
    undo: Vec<Snapshot>,
    redo: Vec<Snapshot>,
    kills: Vec<String>,
    last: Last,
    recall: Option<Recall>,
}

/// What a single character of the text stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Chip {
    Paste(String),
    /// Something that the caller keeps; sent as its label.
    Attachment(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Snapshot {
    text: String,
    cursor: usize,
}

impl Snapshot {
    fn head(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or(&self.text)
    }
}

/// The kind of the last step, for joining it with the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Last {
    #[default]
    Other,
    Typed,
    Erased,
    Killed,
}

/// Where in the history the prompt is.
#[derive(Clone, Debug)]
struct Recall {
    at: usize,
    draft: Snapshot,
}

impl Editor {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with_text(text: &str) -> Self {
        let mut editor = Self::new();
        editor.insert(text);
        editor.undo.clear();
        editor
    }

    /// The text with one private character per folded paste; see [`Editor::submit_text`].
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Byte offset of the cursor in [`Editor::text`].
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// The text with every folded paste in full.
    pub fn submit_text(&self) -> String {
        let mut out = String::with_capacity(self.text.len());
        for c in self.text.chars() {
            match self.chip(c) {
                Some(Chip::Paste(text) | Chip::Attachment(text)) => out.push_str(text),
                None => out.push(c),
            }
        }
        out
    }

    /// Takes the text to send and leaves the editor empty; killed texts stay.
    pub fn take(&mut self) -> String {
        let text = self.submit_text();
        // What was folded is gone with the text.
        let kills = std::mem::take(&mut self.kills).into_iter().map(|killed| killed.replace(is_chip, "")).collect();
        *self = Self { kills, ..Self::default() };
        text
    }

    /// Replaces everything as one step that can be undone; the cursor goes to the end.
    pub fn set_text(&mut self, text: &str) {
        self.step(Last::Other);
        self.text.clear();
        self.cursor = 0;
        self.insert(text);
        self.recall = None;
    }

    /// Replaces a range of bytes (of [`Editor::text`]) as one step: what a completer does.
    pub fn replace(&mut self, range: Range<usize>, text: &str) {
        let (from, to) = (snap(&self.text, range.start), snap(&self.text, range.end.max(range.start)));
        self.step(Last::Other);
        self.text.replace_range(from..to, "");
        self.cursor = from;
        self.insert(text);
        self.recall = None;
    }

    /// The run of non-blank characters that ends at the cursor, as a range of bytes: what completion looks at.
    pub fn word_before_cursor(&self) -> Range<usize> {
        let head = &self.text[..self.cursor];
        let start = head.rfind(|c: char| c.is_whitespace() || is_chip(c));
        start.map_or(0, |at| at + head[at..].chars().next().map_or(1, char::len_utf8))..self.cursor
    }

    /// Whether the cursor is on the first or last visual row at `width` cells.
    pub fn at_edge(&self, down: bool, width: usize) -> bool {
        let rows = layout::rows(self, width);
        let (_, y) = layout::position(self, &rows);
        if down { y + 1 == rows.len() } else { y == 0 }
    }

    /// Does one thing; `width` is that of the view, for vertical moves. True if text or cursor changed.
    pub fn apply(&mut self, edit: Edit, width: usize) -> bool {
        let before = (self.cursor, self.text.len(), self.undo.len());
        let vertical = matches!(edit, Edit::Up | Edit::Down);
        let keeps_recall = vertical;
        let changed = self.perform(edit, width);
        if !vertical {
            self.column = None;
        }
        if changed && !keeps_recall && self.text.len() != before.1 {
            self.recall = None;
        }
        changed || before != (self.cursor, self.text.len(), self.undo.len())
    }

    fn perform(&mut self, edit: Edit, width: usize) -> bool {
        let line_start = self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1);
        let line_end = self.text[self.cursor..].find('\n').map_or(self.text.len(), |at| self.cursor + at);
        match edit {
            Edit::Insert(text) => self.type_text(&text),
            Edit::Newline => self.type_text("\n"),
            Edit::Paste(text) => self.paste(&text),
            Edit::Backspace => self.erase(previous(&self.text, self.cursor)..self.cursor, Last::Erased),
            Edit::Delete => self.erase(self.cursor..next(&self.text, self.cursor), Last::Erased),
            Edit::KillWordLeft => self.kill(word_left(&self.text, self.cursor)..self.cursor),
            Edit::KillWordRight => self.kill(self.cursor..word_right(&self.text, self.cursor)),
            // At the end of a line the line end itself goes, so that the key always does something.
            Edit::KillToEnd if line_end == self.cursor => self.kill(self.cursor..next(&self.text, self.cursor)),
            Edit::KillToEnd => self.kill(self.cursor..line_end),
            Edit::KillToStart if line_start == self.cursor => self.kill(previous(&self.text, self.cursor)..self.cursor),
            Edit::KillToStart => self.kill(line_start..self.cursor),
            Edit::Yank => {
                let Some(text) = self.kills.last().cloned() else { return false };
                self.step(Last::Other);
                self.insert_raw(&text);
                true
            }
            Edit::Left => self.go(previous(&self.text, self.cursor)),
            Edit::Right => self.go(next(&self.text, self.cursor)),
            Edit::WordLeft => self.go(word_left(&self.text, self.cursor)),
            Edit::WordRight => self.go(word_right(&self.text, self.cursor)),
            Edit::Home => self.go(line_start),
            Edit::End => self.go(line_end),
            Edit::TextStart => self.go(0),
            Edit::TextEnd => self.go(self.text.len()),
            Edit::Up => self.vertical(false, width),
            Edit::Down => self.vertical(true, width),
            Edit::Undo => self.undo(),
            Edit::Redo => self.redo(),
            Edit::Clear => self.erase(0..self.text.len(), Last::Other),
            Edit::Unfold => self.unfold(),
        }
    }

    /// A backslash before the cursor becomes the line end that it announces. False if there is none.
    pub fn continue_line(&mut self) -> bool {
        let continues = self.text[..self.cursor].ends_with('\\');
        if continues {
            self.replace(self.cursor - 1..self.cursor, "\n");
        }
        continues
    }

    /// The next older entry that starts with what stands before the cursor; `entries` are oldest first.
    pub fn recall_older(&mut self, entries: &[String]) -> bool {
        let from = self.recall.as_ref().map_or(entries.len(), |r| r.at).min(entries.len());
        let draft = self.recall.as_ref().map_or_else(|| self.snapshot(), |r| r.draft.clone());
        let found = (0..from).rev().find(|at| entries[*at].starts_with(draft.head()) && entries[*at] != self.text);
        let Some(at) = found else { return false };
        self.set_text(&entries[at]);
        self.recall = Some(Recall { at, draft });
        true
    }

    /// The next newer entry, at last what had been typed.
    pub fn recall_newer(&mut self, entries: &[String]) -> bool {
        let Some(Recall { at, draft }) = self.recall.take() else { return false };
        let found = (at + 1..entries.len()).find(|at| entries[*at].starts_with(draft.head()) && entries[*at] != self.text);
        match found {
            Some(at) => {
                self.set_text(&entries[at]);
                self.recall = Some(Recall { at, draft });
            }
            None => {
                self.step(Last::Other);
                (self.text, self.cursor) = (draft.text, draft.cursor);
            }
        }
        true
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot { text: self.text.clone(), cursor: self.cursor }
    }

    /// Opens an undo step unless it goes on with one of the same kind.
    fn step(&mut self, kind: Last) {
        let joins = kind == self.last && matches!(kind, Last::Typed | Last::Erased);
        if !joins {
            let snapshot = self.snapshot();
            self.undo.push(snapshot);
            if self.undo.len() > MAX_UNDO {
                self.undo.remove(0);
            }
        }
        self.redo.clear();
        self.last = kind;
    }

    fn undo(&mut self) -> bool {
        let Some(back) = self.undo.pop() else { return false };
        let now = self.snapshot();
        self.redo.push(now);
        (self.text, self.cursor, self.last) = (back.text, back.cursor, Last::Other);
        true
    }

    fn redo(&mut self) -> bool {
        let Some(again) = self.redo.pop() else { return false };
        let now = self.snapshot();
        self.undo.push(now);
        (self.text, self.cursor, self.last) = (again.text, again.cursor, Last::Other);
        true
    }

    fn type_text(&mut self, text: &str) -> bool {
        if text.is_empty() {
            return false;
        }
        // A word is a step: a blank after ink begins the next.
        let begins = text.starts_with(char::is_whitespace) && !self.text[..self.cursor].ends_with(char::is_whitespace);
        if begins {
            self.last = Last::Other;
        }
        self.step(Last::Typed);
        self.insert(text);
        true
    }

    fn paste(&mut self, text: &str) -> bool {
        let text = normal(text);
        if text.is_empty() {
            return false;
        }
        self.step(Last::Other);
        let large = text.lines().count() > FOLD_LINES || text.chars().count() > FOLD_CHARS;
        match self.next_chip().filter(|_| large) {
            Some(chip) => {
                self.chips.push(Chip::Paste(text));
                self.insert_raw(chip.encode_utf8(&mut [0; 4]));
            }
            None => self.insert_raw(&text),
        }
        true
    }

    fn next_chip(&self) -> Option<char> {
        char::from_u32(CHIP_BASE + self.chips.len() as u32).filter(|_| self.chips.len() < MAX_PASTES)
    }

    /// Puts something of the caller's at the cursor, as one character that shows its label.
    pub fn attach(&mut self, label: &str) {
        let Some(chip) = self.next_chip() else { return };
        self.step(Last::Other);
        self.chips.push(Chip::Attachment(label.to_owned()));
        let before = self.text[..self.cursor].chars().next_back().is_some_and(|c| !c.is_whitespace());
        self.insert_raw(&format!("{}{chip} ", if before { " " } else { "" }));
        self.recall = None;
    }

    /// The labels of what is attached, in the order of the text.
    pub fn attachments(&self) -> impl Iterator<Item = &str> {
        self.text.chars().filter_map(|c| match self.chip(c) {
            Some(Chip::Attachment(label)) => Some(label.as_str()),
            _ => None,
        })
    }

    /// [`Editor::set_text`], with these labels as attachments again where they stand in it.
    pub fn set_text_with<'a>(&mut self, text: &str, labels: impl Iterator<Item = &'a str>) {
        self.set_text(text);
        for label in labels {
            if let (Some(chip), Some(at)) = (self.next_chip(), self.text.find(label)) {
                self.chips.push(Chip::Attachment(label.to_owned()));
                self.text.replace_range(at..at + label.len(), chip.encode_utf8(&mut [0; 4]));
            }
        }
        self.cursor = self.text.len();
    }

    fn insert(&mut self, text: &str) {
        let text = normal(text);
        self.insert_raw(&text);
    }

    fn insert_raw(&mut self, text: &str) {
        self.text.insert_str(self.cursor, text);
        self.cursor = snap(&self.text, self.cursor + text.len());
    }

    fn erase(&mut self, range: Range<usize>, kind: Last) -> bool {
        if range.is_empty() {
            return false;
        }
        self.step(kind);
        self.text.replace_range(range.clone(), "");
        // What was apart may have become one grapheme.
        self.cursor = snap(&self.text, range.start);
        true
    }

    fn kill(&mut self, range: Range<usize>) -> bool {
        let text = self.text[range.clone()].to_owned();
        let (goes_on, forward) = (self.last == Last::Killed, range.start == self.cursor);
        if !self.erase(range, Last::Killed) {
            return false;
        }
        match self.kills.last_mut().filter(|_| goes_on) {
            Some(last) if forward => last.push_str(&text),
            Some(last) => last.insert_str(0, &text),
            None => {
                self.kills.push(text);
                if self.kills.len() > MAX_KILLS {
                    self.kills.remove(0);
                }
            }
        }
        true
    }

    fn go(&mut self, to: usize) -> bool {
        self.last = Last::Other;
        let moved = to != self.cursor;
        self.cursor = to;
        moved
    }

    fn vertical(&mut self, down: bool, width: usize) -> bool {
        let rows = layout::rows(self, width);
        let (x, y) = layout::position(self, &rows);
        let column = self.column.unwrap_or(x);
        let target = if down { Some(y + 1).filter(|y| *y < rows.len()) } else { y.checked_sub(1) };
        let Some(row) = target.and_then(|y| rows.get(y)) else { return false };
        let to = row.offset_at(column);
        self.column = Some(column);
        self.go(to)
    }

    /// Puts the folded paste at the cursor into the text in full.
    fn unfold(&mut self) -> bool {
        let before = self.text[..self.cursor].chars().next_back().filter(|c| is_chip(*c));
        let after = self.text[self.cursor..].chars().next().filter(|c| is_chip(*c));
        let (chip, from) = match (before, after) {
            (Some(chip), _) => (chip, self.cursor - chip.len_utf8()),
            (None, Some(chip)) => (chip, self.cursor),
            (None, None) => return false,
        };
        let Some(Chip::Paste(text)) = self.chip(chip).cloned() else { return false };
        self.step(Last::Other);
        self.text.replace_range(from..from + chip.len_utf8(), &text);
        self.cursor = snap(&self.text, from + text.len());
        true
    }

    fn chip(&self, c: char) -> Option<&Chip> {
        let at = (c as u32).checked_sub(CHIP_BASE).filter(|_| is_chip(c))?;
        self.chips.get(at as usize)
    }
}

/// Line ends as `\n`; without the characters that stand for folded pastes.
fn normal(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").replace(is_chip, "")
}

#[cfg(test)]
mod tests;
