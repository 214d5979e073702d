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
    Same {
        old: usize,
        new: usize,
    },
    /// `paired`: the one became the other.
    Change {
        old: Option<usize>,
        new: Option<usize>,
        at: (usize, usize),
        paired: bool,
    },
}

impl DiffModel {
    /// How many lines the split view has, with a line for each gap. A line may take several rows.
    pub fn split_line_count(&self) -> usize {
        self.hunks.last().map_or(0, |h| h.at.1 + h.lines.1)
    }

    /// The split view's line at which a hunk begins.
    pub fn split_hunk_line(&self, hunk: usize) -> usize {
        self.hunks.get(hunk).map_or_else(|| self.split_line_count(), |h| h.at.1)
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
        for pair in self.pairs_at(range) {
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
        self.pairs_at(range).any(|pair| match pair {
            Pair::Gap(_) => false,
            Pair::Same { new, .. } => unknown(Side::Context, Some(new)),
            Pair::Change { old, new, .. } => unknown(Side::Removed, old) || unknown(Side::Added, new),
        })
    }

    /// Where a line of the unified view stands in the split one, or a line of that in the unified view.
    pub fn line_across(&self, line: usize, to_split: bool) -> usize {
        let pick = |pair: (usize, usize)| if to_split { pair } else { (pair.1, pair.0) };
        let at = self.hunks.partition_point(|h| pick(h.at).0 <= line);
        let Some(hunk) = at.checked_sub(1).and_then(|at| self.hunks.get(at)) else { return 0 };
        let (mut from, mut to) = pick(hunk.at);
        for block in &hunk.blocks {
            let (here, there) = pick((block.lines(), block.split_lines()));
            if line < from + here {
                return to + block.across(line - from, to_split);
            }
            (from, to) = (from + here, to + there);
        }
        // The gap after it.
        to
    }

    /// Those of the split view's lines in `range`: nothing above them is gone through but their own hunk.
    fn pairs_at(&self, range: Range<usize>) -> impl Iterator<Item = Pair> {
        let first = self.hunks.partition_point(|h| h.at.1 + h.lines.1 <= range.start);
        let from = self.hunks.get(first).map_or(0, |h| h.at.1 - usize::from(first > 0));
        let pairs = self.hunks.iter().enumerate().skip(first).flat_map(|(at, hunk)| {
            let gap = (at > 0).then_some(Pair::Gap(at));
            gap.into_iter().chain(hunk.blocks.iter().flat_map(block_pairs))
        });
        pairs.skip(range.start.saturating_sub(from)).take(range.len())
    }
}

/// Lines that stand across from each other one by one: from one pair (or the start) to the one after it (or the end).
struct Stretch {
    old: Range<usize>,
    new: Range<usize>,
    /// Are the last ones a pair?
    ends_in_pair: bool,
}

impl Stretch {
    /// Rows that its lines take: those before the pair side by side as they come.
    fn rows(&self) -> usize {
        self.old.len().max(self.new.len())
    }

    /// The row of the one side's line with this offset: the lines of a pair stand on the last.
    fn row(&self, offset: usize, lines: usize) -> usize {
        if self.ends_in_pair && offset + 1 == lines { self.rows() - 1 } else { offset }
    }

    /// The lines on a row.
    fn at(&self, row: usize) -> (Option<usize>, Option<usize>) {
        let line = |side: &Range<usize>| match self.ends_in_pair {
            true if row + 1 == self.rows() => side.end.checked_sub(1),
            true => Some(side.start + row).filter(|line| line + 1 < side.end),
            false => Some(side.start + row).filter(|line| *line < side.end),
        };
        (line(&self.old), line(&self.new))
    }
}

impl Block {
    /// Rows it takes in the split view if nothing wraps.
    pub(super) fn split_lines(&self) -> usize {
        if self.equal { self.old.len() } else { self.stretches().map(|stretch| stretch.rows()).sum() }
    }

    fn stretches(&self) -> impl Iterator<Item = Stretch> {
        let mut at = (self.old.start, self.new.start);
        let pairs = self.pairs.iter().map(|(o, n)| (self.old.start + *o as usize + 1, self.new.start + *n as usize + 1, true));
        pairs.chain([(self.old.end, self.new.end, false)]).map(move |(old, new, ends_in_pair)| {
            let stretch = Stretch { old: at.0..old, new: at.1..new, ends_in_pair };
            at = (old, new);
            stretch
        })
    }

    /// A line counted from its first, in the other view.
    fn across(&self, line: usize, to_split: bool) -> usize {
        if self.equal {
            return line;
        }
        let mut rows = 0;
        for stretch in self.stretches() {
            let (old, new) = (stretch.old.start - self.old.start, stretch.new.start - self.new.start);
            let of = |at: usize, from: usize, len: usize| at.checked_sub(from).filter(|offset| *offset < len);
            if to_split {
                let found = of(line, old, stretch.old.len()).map(|offset| stretch.row(offset, stretch.old.len()));
                let found = found
                    .or_else(|| of(line, self.old.len() + new, stretch.new.len()).map(|offset| stretch.row(offset, stretch.new.len())));
                if let Some(row) = found {
                    return rows + row;
                }
            } else if let Some(row) = of(line, rows, stretch.rows()) {
                let (left, right) = stretch.at(row);
                return match (left, right) {
                    (Some(left), _) => left - self.old.start,
                    (None, right) => self.old.len() + right.map_or(0, |right| right - self.new.start),
                };
            }
            rows += stretch.rows();
        }
        rows
    }
}

fn block_pairs(block: &Block) -> impl Iterator<Item = Pair> {
    let same = block.equal.then(|| block.old.clone().zip(block.new.clone()).map(|(old, new)| Pair::Same { old, new }));
    let changes = (!block.equal).then(|| {
        block.stretches().flat_map(|stretch| {
            (0..stretch.rows()).map(move |row| {
                let (old, new) = stretch.at(row);
                let last = row + 1 == stretch.rows();
                let next = |line: Option<usize>, side: &Range<usize>| {
                    line.unwrap_or(if last { side.end } else { side.end - usize::from(stretch.ends_in_pair) })
                };
                let at = (next(old, &stretch.old), next(new, &stretch.new));
                Pair::Change { old, new, at, paired: last && stretch.ends_in_pair }
            })
        })
    });
    same.into_iter().flatten().chain(changes.into_iter().flatten())
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
        Pair::Change { old, new, at, paired } => {
            if let Some(old) = old {
                painter.line(Entry::Line { side: Side::Removed, old, new: at.1, pair: new.filter(|_| paired) }, &mut left);
            }
            if let Some(new) = new {
                painter.line(Entry::Line { side: Side::Added, old: at.0, new, pair: old.filter(|_| paired) }, &mut right);
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
    fn what_only_moved_stands_across_from_what_it_was() {
        let old = "fn f() {\n    let a = one(1);\n    two(a);\n}\n";
        let new = "fn f() {\n    if ready {\n        let a = one(1);\n        two(a, 2);\n    }\n}\n";
        let model = DiffModel::new(Some(old), Some(new), "x.txt");
        let rows: Vec<String> = model.split_window(0..9, 61, true).iter().map(|row| row.text().trim_end().to_owned()).collect();
        assert_eq!(
            rows,
            [
                "  1    fn f() {                  1    fn f() {",
                "                                 2  +     if ready {",
                "  2  −     let a = one(1);       3  +         let a = one(1);",
                "  3  −     two(a);               4  +         two(a, 2);",
                "                                 5  +     }",
                "  4    }                         6    }",
            ]
        );
        let marked = |line: usize, role| {
            let row = &model.window(line..line + 1, 60, true)[0];
            row.spans.iter().filter(|span| span.style.bg == Some(role)).map(|span| span.text.to_string()).collect::<Vec<_>>().concat()
        };
        use crate::theme::Role::{DiffAddedMark, DiffRemovedMark};
        assert_eq!(
            (marked(2, DiffRemovedMark), marked(5, DiffAddedMark)),
            (String::new(), "    , 2".into()),
            "{:?}",
            model.window(0..9, 60, true)
        );
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
