//! The browser as rows: two columns or one, and what is below them.
//!
//! Invariants: what is measured for fitting is what is drawn; where there is little room the question at the bottom stays.

use super::{Browser, Step, timeline};
use crate::text::row::split;
use crate::text::sanitize::one_line;
use crate::text::span::{Line, Span, Style};
use crate::text::wrap::{cut, wrap_hanging};
use crate::theme::Role;

/// Two columns are of use from this width on, in cells.
const TWO_COLUMNS: usize = 100;
/// Rows of one file that is left as it is.
const REASON_ROWS: usize = 3;

impl Browser {
    /// Takes the size of the window: to be called when it, or anything in here, has changed.
    pub fn fit(&mut self, width: usize, height: usize) {
        let room = height.saturating_sub(self.footer(width).len());
        let left = left(width);
        if left > 0 || self.in_changes {
            // One above the other, the timeline's entry stands over the changes.
            let above = usize::from(left == 0);
            self.changes.fit(width - left, room.saturating_sub(above));
        }
        timeline::rows(&self.entries, &mut self.list, true, if left > 0 { left - 1 } else { width }, room);
        if let Step::Skipped(view) = &mut self.step {
            // Each may take several rows: the last ones can be scrolled to wherever they wrap.
            view.resize((room / REASON_ROWS).max(1), self.changes.skipped().len());
        }
    }

    pub fn view(&self, width: usize, height: usize) -> Vec<Line> {
        let mut footer = self.footer(width);
        let room = height.saturating_sub(footer.len());
        let mut rows = self.body(width, room);
        rows.truncate(room);
        rows.resize(room, Line::new());
        footer.drain(..footer.len().saturating_sub(height));
        rows.extend(footer);
        rows.into_iter().map(|row| if row.width() > width { cut(&row, width) } else { row }).collect()
    }

    /// Column and row of the cursor while something is typed, in the rows of [`Browser::view`].
    pub fn cursor(&self, width: usize, height: usize) -> Option<(usize, usize)> {
        let footer = self.footer(width).len();
        if let (_, Some(column)) = self.field(width) {
            return (footer <= height).then(|| (column, height - footer));
        }
        let left = left(width);
        let column = self.changes.cursor(width - left).filter(|_| matches!(self.step, Step::Look))?;
        Some((left + column, height.checked_sub(footer + 1)?))
    }

    fn body(&self, width: usize, room: usize) -> Vec<Line> {
        if let Step::Skipped(view) = &self.step {
            return self.skipped(view.above(), width, room);
        }
        let left = left(width);
        if left == 0 && self.in_changes {
            let mut rows = vec![self.entry_title(width)];
            rows.extend(self.changes.rows(width, room.saturating_sub(1), true));
            return rows;
        }
        // Where it stands is its own; what is selected is not changed by drawing.
        let mut list = self.list.clone();
        if left == 0 {
            return timeline::rows(&self.entries, &mut list, true, width, room);
        }
        let timeline = timeline::rows(&self.entries, &mut list, !self.in_changes, left - 1, room);
        let changes = if self.entries.is_empty() { vec![] } else { self.changes.rows(width - left, room, self.in_changes) };
        beside(timeline, changes, left, width, room)
    }

    /// The selected entry, over its changes.
    fn entry_title(&self, width: usize) -> Line {
        let Some(entry) = self.entry() else { return Line::new() };
        let title = Line::styled(format!("  {}", one_line(&entry.title)), Style::from(Role::Heading).bold());
        split(title, Line::styled(one_line(&entry.when).into_owned(), Role::Dim), width, width / 2)
    }

    fn skipped(&self, from: usize, width: usize, room: usize) -> Vec<Line> {
        let skipped = self.changes.skipped();
        let heading = Line::styled("  Left as they are", Style::from(Role::Heading).bold());
        let counted = Line::styled(if skipped.len() == 1 { "1 file".to_owned() } else { format!("{} files", skipped.len()) }, Role::Dim);
        let mut rows = vec![split(heading, counted, width.saturating_sub(1), 18)];
        let (first, rest) = (Line::styled("  – ", Role::Warning), Line::from("    "));
        for reason in skipped.iter().skip(from) {
            if rows.len() >= room {
                break;
            }
            let text = Line::plain(one_line(reason).into_owned());
            rows.extend(wrap_hanging(&text, width.max(6), &first, &rest).into_iter().take(REASON_ROWS));
        }
        rows
    }
}

/// Cells of the timeline's column with the line at its right; none where there is only one column.
pub(super) fn left(width: usize) -> usize {
    if width < TWO_COLUMNS { 0 } else { (width * 2 / 5).clamp(40, 56) }
}

/// Both sides with a line between them; a band goes to the end of its own side.
fn beside(left: Vec<Line>, right: Vec<Line>, cells: usize, width: usize, height: usize) -> Vec<Line> {
    let banded = |line: Line, width: usize| {
        let fill = line.fill;
        let row = cut(&line, width).pad_to(width);
        let mut row = match fill {
            Some(fill) => row.over(Style::new().bg(fill)),
            None => row,
        };
        row.fill = None;
        row
    };
    let (mut left, mut right) = (left.into_iter(), right.into_iter());
    let row = |_| {
        let mut row = banded(left.next().unwrap_or_default(), cells - 1);
        row.push(Span::new("│", Role::Border));
        row.extend(right.next().map(|line| banded(line, width - cells)).into_iter().flat_map(|line| line.spans));
        row
    };
    (0..height).map(row).collect()
}
