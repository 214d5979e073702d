//! The rows of the timeline: the newest checkpoint first.
//!
//! Invariants: only what is in view is looked at; kind, pin and selection are told by signs; rows are never wider than asked.

use super::{Entry, EntryKind};
use crate::chat_log::change_counts;
use crate::list::{ListState, counter};
use crate::text::row::split;
use crate::text::sanitize::one_line;
use crate::text::span::{Line, Span, Style};
use crate::text::width::width as width_of;
use crate::text::wrap::{cut, truncate};
use crate::theme::Role;

/// From this width on a checkpoint takes one row, below it two.
pub(super) const ONE_ROW: usize = 72;

impl EntryKind {
    fn sign(self) -> Span {
        match self {
            EntryKind::Request => Span::new("❯ ", Role::User),
            EntryKind::Call => Span::new("· ", Role::User),
            EntryKind::Manual => Span::new("◆ ", Role::Accent),
            EntryKind::Restore => Span::new("↺ ", Role::Warning),
            EntryKind::Elsewhere => Span::new("⇄ ", Role::Dim),
        }
    }

    /// What it is, where there is little room; a request is the usual thing.
    fn word(self) -> &'static str {
        match self {
            EntryKind::Request => "",
            EntryKind::Call => "a step",
            EntryKind::Manual => "by hand",
            EntryKind::Restore => "restore",
            EntryKind::Elsewhere => "elsewhere",
        }
    }

    /// What the checkpoint is a state of.
    fn words(self) -> &'static str {
        match self {
            EntryKind::Request => "before this request",
            EntryKind::Call => "after a step of this request",
            EntryKind::Manual => "made by hand",
            EntryKind::Restore => "before a restore",
            EntryKind::Elsewhere => "by another session",
        }
    }
}

/// The title's row, then the checkpoints in view.
pub(super) fn rows(entries: &[Entry], list: &mut ListState, focused: bool, width: usize, height: usize) -> Vec<Line> {
    let count = entries.len();
    if count == 0 {
        let nothing = Line::styled("  there are no checkpoints", Role::Dim);
        return vec![cut(&title(focused), width), cut(&nothing, width)];
    }
    let per_entry = if width < ONE_ROW { 2 } else { 1 };
    let seen = list.window(count, (height.saturating_sub(1) / per_entry).max(1));
    let newest = count - 1;
    let mut head = title(focused);
    if per_entry == 1 {
        head.push(Span::new(format!("  {}", entries[newest - list.selected()].kind.words()), Role::Dim));
    }
    let mut rows = vec![split(head, counter(list, count), width.saturating_sub(1), 13)];
    let entry = |at: usize| &entries[newest - at];
    let columns = Columns::of(seen.clone().map(entry));
    for at in seen {
        let (entry, selected) = (entry(at), at == list.selected());
        let fill = (selected && focused).then_some(Role::Selection);
        let mut about = |right: Line| {
            let mut row = split(label(entry, selected, focused), right, width.saturating_sub(1), width / 3);
            row.fill = fill;
            rows.push(row);
        };
        let pin = if entry.pinned { Span::new("★", Role::Accent) } else { Span::plain(" ") };
        if per_entry == 1 {
            about(columns.row(entry, pin));
        } else {
            about(if entry.pinned { pin.into() } else { Line::new() });
            let mut row = details(entry, width.saturating_sub(1));
            row.fill = fill;
            rows.push(row);
        }
    }
    rows.truncate(height);
    rows
}

fn title(focused: bool) -> Line {
    let style = if focused { Style::from(Role::Heading).bold() } else { Style::from(Role::Dim) };
    Line::styled("  Checkpoints", style)
}

fn label(entry: &Entry, selected: bool, focused: bool) -> Line {
    let mark = match (selected, focused) {
        (true, true) => "  ▸ ",
        (true, false) => "  ▹ ",
        (false, _) => "    ",
    };
    let look = if selected { Style::new().bold() } else { Style::new() };
    Line::styled(mark, Style::from(Role::Accent).bold()).with(entry.kind.sign()).and(one_line(&entry.title).into_owned(), look)
}

fn files(entry: &Entry) -> String {
    match entry.files {
        0 => "no change".to_owned(),
        1 => "1 file".to_owned(),
        n => format!("{n} files"),
    }
}

fn counts(entry: &Entry) -> Line {
    if entry.added + entry.removed == 0 { Line::new() } else { change_counts(entry.added, entry.removed) }
}

/// The second row of a checkpoint, where there is no room for one beside the title.
fn details(entry: &Entry, width: usize) -> Line {
    let mut row = Line::styled(format!("      {} · {}", one_line(&entry.when), files(entry)), Role::Dim);
    let counts = counts(entry);
    if !counts.is_empty() {
        row.push("  ");
        row.extend(counts.spans);
    }
    // The sign says it as well.
    let word = entry.kind.word();
    if !word.is_empty() && row.width() + width_of(word) + 3 <= width {
        row.push(Span::new(format!(" · {word}"), Role::Dim));
    }
    truncate(&row, width)
}

/// Cells of what stands at the right, so that it can be read downwards.
struct Columns {
    files: usize,
    counts: usize,
    when: usize,
}

impl Columns {
    fn of<'a>(seen: impl Iterator<Item = &'a Entry>) -> Self {
        seen.fold(Columns { files: 0, counts: 0, when: 0 }, |most, entry| Columns {
            files: most.files.max(files(entry).len()),
            counts: most.counts.max(counts(entry).width()),
            when: most.when.max(width_of(&one_line(&entry.when))),
        })
    }

    fn row(&self, entry: &Entry, pin: Span) -> Line {
        let counts_cells = if self.counts > 0 { self.counts + 2 } else { 0 };
        let parts = [
            (Line::styled(files(entry), Role::Dim), self.files + 2),
            (counts(entry), counts_cells),
            (Line::styled(one_line(&entry.when).into_owned(), Role::Dim), self.when + 3),
        ];
        let mut row = Line::from(pin);
        for (text, cells) in parts {
            let begin = row.width() + cells.saturating_sub(text.width());
            row = row.pad_to(begin);
            row.extend(text.spans);
        }
        row
    }
}
