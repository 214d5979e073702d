//! The prompt as rows, and where the cursor is on them.
//!
//! Invariants:
//! - every grapheme is on exactly one row; no row is wider than the view, the cursor is always within it;
//! - control characters are shown, never written.

use super::motion::{atoms, is_chip};
use super::{CHIP_BASE, Chip, Editor};
use crate::text::sanitize::sanitize;
use crate::text::span::{Line, Span, Style, spaces};
use crate::text::width::{width, width as width_of};
use crate::text::wrap::{cut, truncate_text};
use crate::theme::Role;

/// How the prompt is dressed.
#[derive(Clone, Debug)]
pub struct Look {
    /// Before the first row, such as `❯ `; further rows are indented by its width.
    pub prompt: Span,
    /// Shown dim while there is no text.
    pub placeholder: String,
}

impl Default for Look {
    fn default() -> Self {
        Self { prompt: Span::new("❯ ", Style::from(Role::User).bold()), placeholder: String::new() }
    }
}

/// Rows ready to draw, with the place of the cursor among them.
#[derive(Clone, Debug, PartialEq)]
pub struct EditorView {
    pub rows: Vec<Line>,
    /// Column and row of the cursor, from 0.
    pub cursor: (usize, usize),
}

/// One visual row of the text.
pub(super) struct Row {
    /// Byte offset of each grapheme with the column it starts at.
    places: Vec<(usize, usize)>,
    /// Where a cursor at the row's end stands, unless the text goes on by wrapping.
    end: (usize, usize),
    /// The text goes on in the next row without a line end.
    wraps: bool,
    line: Line,
}

/// A grapheme on its row: byte offset, look, cells.
type Item = (usize, Span, usize);

impl Row {
    fn new(items: &[Item], end: usize, wraps: bool) -> Self {
        let mut row = Row { places: Vec::with_capacity(items.len()), end: (end, 0), wraps, line: Line::new() };
        for (at, span, cells) in items {
            row.places.push((*at, row.end.1));
            row.line.push(span.clone());
            row.end.1 += cells;
        }
        row
    }

    /// The offset nearest to a column.
    pub fn offset_at(&self, column: usize) -> usize {
        let all = self.places.iter().copied().chain((!self.wraps).then_some(self.end));
        let mut best = self.places.first().map_or(self.end.0, |p| p.0);
        for (offset, x) in all {
            if x <= column {
                best = offset;
            }
        }
        best
    }
}

/// Cells for text in a view of `width` cells: the prompt's and the cursor's are taken off.
fn room(width: usize) -> usize {
    width.saturating_sub(PROMPT + 1).max(2)
}

/// Cells of the usual prompt glyph; vertical moves need no more of the look than that.
const PROMPT: usize = 2;

pub(super) fn rows(editor: &Editor, width_all: usize) -> Vec<Row> {
    let room = room(width_all);
    let mut rows = Vec::new();
    let mut column = 0;
    let mut items: Vec<Item> = Vec::new();
    // How many of the items may stay when the word after them has to go to the next row.
    let mut break_at = 0;
    for (at, atom) in atoms(&editor.text) {
        if atom == "\n" {
            rows.push(Row::new(&items, at, false));
            items.clear();
            (column, break_at) = (0, 0);
            continue;
        }
        let span = show(editor, atom, room);
        let cells = span.width();
        if atom == " " && column + cells > room {
            // A blank at the break stays with its row, where the cursor's own cell is.
            items.push((at, Span::default(), 0));
            break_at = items.len();
            continue;
        }
        if column + cells > room && !items.is_empty() {
            let from = if break_at == 0 { items.len() } else { break_at };
            let moved = items.split_off(from);
            let end = moved.first().map_or(at, |(at, _, _)| *at);
            rows.push(Row::new(&items, end, true));
            items = moved;
            column = items.iter().map(|(_, _, cells)| cells).sum();
            break_at = 0;
            // A moved word and a wide character may not fit together either.
            if column + cells > room && !items.is_empty() {
                rows.push(Row::new(&items, at, true));
                items.clear();
                column = 0;
            }
        }
        items.push((at, span, cells));
        column += cells;
        if atom == " " {
            break_at = items.len();
        }
    }
    rows.push(Row::new(&items, editor.text.len(), false));
    rows
}

/// Column and row of the cursor.
pub(super) fn position(editor: &Editor, rows: &[Row]) -> (usize, usize) {
    for (y, row) in rows.iter().enumerate() {
        let found = row.places.iter().find(|(at, _)| *at == editor.cursor);
        if let Some((_, x)) = found {
            return (*x, y);
        }
        if !row.wraps && row.end.0 == editor.cursor {
            return (row.end.1, y);
        }
    }
    (0, rows.len().saturating_sub(1))
}

fn show(editor: &Editor, atom: &str, room: usize) -> Span {
    let Some(chip) = atom.chars().next().filter(|c| is_chip(*c)) else {
        let text = if atom == "\t" { "    ".into() } else { sanitize(atom).into_owned() };
        let text = if width(&text) > room { truncate_text(&text, room).into_owned() } else { text };
        return Span::plain(text);
    };
    let label = match editor.chip(chip) {
        Some(Chip::Attachment(label)) => sanitize(label).into_owned(),
        Some(Chip::Paste(paste)) => {
            let before = editor.chips.iter().take((chip as u32 - CHIP_BASE) as usize);
            let number = before.filter(|chip| matches!(chip, Chip::Paste(_))).count() + 1;
            let (lines, chars) = (paste.lines().count(), paste.chars().count());
            let size = if lines > 1 { format!("{lines} lines") } else { format!("{chars} characters") };
            format!("[paste {number}: {size}]")
        }
        None => String::new(),
    };
    Span::new(truncate_text(&label, room).into_owned(), Role::Accent)
}

impl Editor {
    /// The rows of the prompt for `width` cells, at most `max_rows` of them, those around the cursor.
    pub fn view(&self, look: &Look, width: usize, max_rows: usize) -> EditorView {
        let rows = rows(self, width);
        let (x, y) = position(self, &rows);
        let height = max_rows.max(1).min(rows.len());
        let first = (y + 1).saturating_sub(height);
        let prompt = cut(&Line::from(look.prompt.clone()), PROMPT.min(width)).pad_to(PROMPT.min(width));
        let indent = Line::new().pad_to(PROMPT.min(width));
        let mut out = Vec::with_capacity(height);
        for (at, row) in rows.into_iter().enumerate().skip(first).take(height) {
            let mut line = if at == 0 { prompt.clone() } else { indent.clone() };
            line.extend(row.line.spans);
            out.push(cut(&line, width));
        }
        if let Some(line) = out.first_mut().filter(|_| self.text.is_empty()) {
            line.push(Span::new(truncate_text(&look.placeholder, room(width)).into_owned(), Role::Dim));
        }
        EditorView { rows: out, cursor: ((x + PROMPT).min(width.saturating_sub(1)), y - first) }
    }

    /// One row: a label, and as much of the text as fits behind it, around the cursor; the column of the cursor.
    pub fn field(&self, label: Line, placeholder: &str, width: usize) -> (Line, usize) {
        let indent = label.width();
        // The text stands where `view` has its prompt, so it may take that much more.
        let view =
            self.view(&Look { prompt: spaces(PROMPT), placeholder: placeholder.to_owned() }, (width + PROMPT).saturating_sub(indent), 1);
        let mut row = label;
        let mut skip = PROMPT;
        for span in view.rows.into_iter().next().unwrap_or_default().spans {
            let cells = width_of(&span.text);
            if skip >= cells && skip > 0 {
                skip -= cells;
                continue;
            }
            let text: String = span.text.chars().skip(std::mem::take(&mut skip)).collect();
            row.push(span.with_text(text));
        }
        (cut(&row, width), (view.cursor.0 + indent).saturating_sub(PROMPT).min(width.saturating_sub(1)))
    }
}
