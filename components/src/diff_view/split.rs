//! A diff side by side: the old text on the left, the new one on the right, for wide windows.
//!
//! Invariants: lines that replace each other stand on the same row; both halves are equally wide and a half
//! without a line is blank; the unified view and this one paint a line with the same code.

use super::rows::{Entry, Painter, Side};
use super::{Block, DiffModel};
use crate::text::span::{Line, Span, Style};
use crate::text::wrap::cut;
use std::borrow::Cow;
use std::ops::Range;

/// Two columns are of use from this width on, in cells.
pub const SPLIT_WIDTH: usize = 140;

/// What stands on one row: the gap before a hunk, or the lines left and right.
enum Pair {
    Gap(usize),
    Same { old: usize, new: usize },
    Change { old: Option<usize>, new: Option<usize>, at: (usize, usize) },
}

impl DiffModel {
    /// How many lines the split view has, with a line for each gap. A line may take several rows.
    pub fn split_line_count(&self) -> usize {
        self.pairs().count()
    }

    /// The split view's line at which a hunk begins.
    pub fn split_hunk_line(&self, hunk: usize) -> usize {
        let lines = |h: &super::Hunk| h.blocks.iter().map(|b| b.old.len().max(b.new.len())).sum::<usize>();
        self.hunks.iter().take(hunk).map(|h| lines(h) + 1).sum()
    }

    /// The rows of the split view's lines in `range`; like [`DiffModel::rows`] where there are no lines to show. `now`:
    /// as for [`DiffModel::window`].
    pub fn split_window(&self, range: Range<usize>, width: usize, now: bool) -> Vec<Line> {
        if self.hunks.is_empty() {
            return self.rows(width, None);
        }
        let half = (width.saturating_sub(1) / 2).max(2);
        let mut out = Vec::new();
        let mut painter = Painter::new(self, half, now);
        for pair in self.pairs().skip(range.start).take(range.len()) {
            if let Pair::Gap(hunk) = pair {
                out.extend(self.gap_row(hunk, width));
                continue;
            }
            let (left, right) = sides(&mut painter, &pair);
            for y in 0..left.len().max(right.len()) {
                let mut row = filled(left.get(y), half);
                row.push(" ");
                row.extend(filled(right.get(y), half).spans);
                out.push(cut(&row, width));
            }
        }
        out
    }

    /// [`DiffModel::lacks_colours`] of the split view's lines.
    pub fn split_lacks_colours(&self, range: Range<usize>) -> bool {
        let unknown = |side: Side, line: Option<usize>| line.is_some_and(|line| self.colours.get(side, line).is_none());
        self.pairs().skip(range.start).take(range.len()).any(|pair| match pair {
            Pair::Gap(_) => false,
            Pair::Same { new, .. } => unknown(Side::Context, Some(new)),
            Pair::Change { old, new, .. } => unknown(Side::Removed, old) || unknown(Side::Added, new),
        })
    }

    /// Where a line of the unified view stands in the split one, or a line of that in the unified view.
    pub fn line_across(&self, line: usize, to_split: bool) -> usize {
        let (mut from, mut to) = (0, 0);
        for (at, hunk) in self.hunks.iter().enumerate() {
            let gap = usize::from(at > 0);
            if line < from + gap {
                return to;
            }
            (from, to) = (from + gap, to + gap);
            for block in &hunk.blocks {
                let (old, unified, split) = (block.old.len(), block.lines(), block.old.len().max(block.new.len()));
                let (here, there) = if to_split { (unified, split) } else { (split, unified) };
                if line < from + here {
                    let offset = line - from;
                    return to
                        + match (block.equal, to_split) {
                            (true, _) => offset,
                            (false, true) => offset.checked_sub(old).unwrap_or(offset),
                            (false, false) => offset + if offset < old { 0 } else { old },
                        };
                }
                (from, to) = (from + here, to + there);
            }
        }
        to
    }

    fn pairs(&self) -> impl Iterator<Item = Pair> {
        self.hunks.iter().enumerate().flat_map(|(at, hunk)| {
            let gap = (at > 0).then_some(Pair::Gap(at));
            gap.into_iter().chain(hunk.blocks.iter().flat_map(block_pairs))
        })
    }
}

fn block_pairs(block: &Block) -> impl Iterator<Item = Pair> {
    let Block { equal, old, new } = block.clone();
    (0..old.len().max(new.len())).map(move |i| {
        let (o, n) = (old.start + i, new.start + i);
        if equal {
            return Pair::Same { old: o, new: n };
        }
        let (o, n) = (Some(o).filter(|o| old.contains(o)), Some(n).filter(|n| new.contains(n)));
        Pair::Change { old: o, new: n, at: (o.unwrap_or(old.end), n.unwrap_or(new.end)) }
    })
}

fn sides(painter: &mut Painter<'_>, pair: &Pair) -> (Vec<Line>, Vec<Line>) {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    match *pair {
        Pair::Gap(_) => {}
        Pair::Same { old, new } => {
            painter.line(Entry::Line { side: Side::Context, old, new, pair: None }, &mut right);
            left = right.clone();
            // The same line, by its number on the old side.
            if let Some(number) = left.first_mut().and_then(|row| row.spans.first_mut()) {
                let digits = number.text.len();
                number.text = Cow::Owned(format!("{:>digits$}", old + 1));
            }
        }
        Pair::Change { old, new, at } => {
            if let Some(old) = old {
                painter.line(Entry::Line { side: Side::Removed, old, new: at.1, pair: new }, &mut left);
            }
            if let Some(new) = new {
                painter.line(Entry::Line { side: Side::Added, old: at.0, new, pair: old }, &mut right);
            }
        }
    }
    (left, right)
}

/// A row of exactly `half` cells, its fill as the background of its text and blanks.
fn filled(row: Option<&Line>, half: usize) -> Line {
    let Some(row) = row else { return Line::new().pad_to(half) };
    let Some(fill) = row.fill else { return row.clone().pad_to(half) };
    let style = Style::new().bg(fill);
    let mut out = row.clone().over(style);
    out.fill = None;
    let gap = half.saturating_sub(out.width());
    out.push(Span::new(" ".repeat(gap), style));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_one_view_is_found_in_the_other() {
        let old: String = (1..=40).map(|n| format!("line {n}\n")).collect();
        let new = old.replace("line 5\nline 6\n", "LINE 5\nLINE 6\nmore\n").replace("line 30\n", "");
        let model = DiffModel::new(Some(&old), Some(&new), "x.txt");
        let unified = |at: usize| model.window(at..at + 1, 40, true)[0].text();
        let split = |at: usize| model.split_window(at..at + 1, 80, true)[0].text();
        // The number, the sign and the text are within the row across, up to its column.
        let shown = |row: &str| row.trim().trim_start_matches(char::is_numeric).trim().to_owned();
        for at in 0..model.line_count() {
            let (row, across) = (shown(&unified(at)), split(model.line_across(at, true)));
            assert!(across.contains(&row), "{at}: {row:?} is not in {across:?}");
        }
        for at in 0..model.split_line_count() {
            assert_eq!(model.line_across(model.line_across(at, false), true), at);
        }
    }

    #[test]
    fn sides_stand_across_from_each_other() {
        let model = DiffModel::new(Some("a\nb\nc\n"), Some("a\nB\nnew\nc\n"), "x.txt");
        assert_eq!(model.split_line_count(), 4);
        let rows: Vec<String> = model.split_window(0..9, 25, true).iter().map(|row| row.text().trim_end().to_owned()).collect();
        assert_eq!(rows, ["  1    a       1    a", "  2  − b       2  + B", "               3  + new", "  3    c       4    c"]);
        assert!(model.split_window(0..9, 25, true).iter().all(|row| row.width() == 25));
        assert_eq!(DiffModel::new(Some("a"), Some("a"), "x").split_window(0..1, 150, true)[0].text(), "no changes");
    }
}
