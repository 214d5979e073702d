//! Where the live region is after a terminal has changed its size. Pure.
//!
//! Terminals that reflow break a row that has become too long into pieces, put pieces together again when there is room, and keep
//! the cursor with its character. So the rows above the cursor tell how far up the region begins, and the terminal's own answer
//! where the cursor is tells how many of them are still on the screen. Those that are not can't be reached; they are remembered,
//! since they come back when the window grows.
//!
//! What tmux does (measured with 3.3a; `tests/emulator.rs` does the same): it keeps the last rows of what there is on the screen,
//! and empty rows below count. So a tall region that needs more rows leaves the screen at the top, and so does its cursor, which
//! then stands in the corner. A window that gets lower loses rows below the cursor first. Nothing undoes that while the window
//! stays as narrow: the scrollback is not ours. It comes back when what is below needs fewer rows. So while something of ours is
//! in the scrollback the region is *tied*: written as one long line down to the end of the screen, which tmux itself puts together
//! when the window gets wider, and what was above comes down.
//!
//! A cursor that nobody sees is at the region's end in tmux, where it does not leave the screen. The column of the answer tells whether
//! the cursor is still with its character: if not, it is further down than it was, and nothing above is taken for ours that may not be.

use iocraft::Canvas;

/// What a terminal does with rows that have become too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reflow {
    /// Cuts them.
    Never,
    /// Breaks them; what it does with those that don't fit on the screen is not known.
    Breaks,
    Tmux,
}

/// A row as the terminal holds it: its columns, and where characters of two columns begin.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    pub width: usize,
    pub wide: Vec<usize>,
}

impl Row {
    pub fn of(canvas: &Canvas, y: usize, columns: usize) -> Row {
        let width = super::paint::used(canvas, y, columns);
        Row { width, wide: super::paint::wide(canvas, y, width) }
    }

    /// Where its pieces begin at this width.
    fn pieces(&self, columns: usize) -> Vec<usize> {
        let mut starts = vec![0];
        let mut end = columns;
        while end < self.width {
            if columns > 1 && self.wide.binary_search(&(end - 1)).is_ok() {
                end -= 1;
            }
            starts.push(end);
            end += columns;
        }
        starts
    }

    fn height(&self, columns: usize) -> usize {
        self.pieces(columns).len()
    }

    /// The piece in which a column is.
    fn piece_of(&self, column: usize, columns: usize) -> usize {
        // Right of its last character the cursor stays by it.
        self.pieces(columns).iter().rposition(|start| *start <= column).unwrap_or(0)
    }

    /// The column in that piece.
    fn within(&self, column: usize, columns: usize) -> usize {
        let pieces = self.pieces(columns);
        column - pieces.iter().rfind(|start| **start <= column).unwrap_or(&0)
    }

    /// Its first pieces, as a row.
    fn first(&self, pieces: usize, columns: usize) -> Row {
        let width = self.pieces(columns).get(pieces).copied().unwrap_or(self.width);
        Row { width, wide: self.wide.iter().copied().filter(|at| *at < width).collect() }
    }
}

/// Columns and rows of the terminal.
type Size = (usize, usize);

#[derive(Debug, Default)]
pub struct Region {
    /// As last drawn.
    pub rows: Vec<Row>,
    /// Rows of earlier frames which are right above, out of reach.
    lost: Vec<Row>,
    /// The screen's row in which it begins, if that is known.
    pub top: Option<usize>,
    /// It is a single line, broken at this width.
    tied: Option<usize>,
}

/// A change of size, and what is known of it.
#[derive(Debug)]
pub struct Change {
    pub from: Size,
    pub to: Size,
    /// Where the cursor was: row of the region, and column.
    pub cursor: (usize, usize),
    /// The screen's row and column in which the terminal says that it is now.
    pub answer: Option<(usize, usize)>,
    pub reflow: Reflow,
    /// Had the terminal the size it told when the region was drawn?
    pub sure: bool,
}

impl Region {
    /// Is something of earlier frames above the screen?
    pub fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// It has been drawn; as one line, or each row for itself.
    pub fn drawn(&mut self, rows: Vec<Row>, tied: Option<usize>) {
        self.tied = tied;
        self.rows = match tied {
            None => rows,
            Some(columns) => {
                let wide = rows.iter().enumerate().flat_map(|(n, row)| row.wide.iter().map(move |at| n * columns + at)).collect();
                vec![Row { width: rows.len() * columns, wide }]
            }
        };
    }

    /// Rows of the screen that it had.
    fn height(&self) -> usize {
        self.tied.map_or(self.rows.len(), |columns| self.rows.iter().map(|row| row.height(columns)).sum())
    }

    /// Its last character: which of its `rows` on the screen, and in which column.
    pub fn end(&self, rows: usize) -> (usize, usize) {
        let last = rows.saturating_sub(1);
        let column = match (self.tied, self.rows.get(last)) {
            (Some(columns), _) => columns,
            (None, Some(row)) => row.width - usize::from(row.width > 1 && row.wide.last() == Some(&(row.width - 2))),
            (None, None) => 0,
        };
        (last, column.saturating_sub(1))
    }

    /// Rows have been printed in its place, it begins below them: what was above is part of the scrollback from now on.
    pub fn printed(&mut self, rows: usize, height: usize) {
        self.lost.clear();
        self.rows.clear();
        self.top = self.top.map(|top| (top + rows).min(height.saturating_sub(1)));
    }

    /// The cursor goes to this row of it, for which the screen may scroll.
    pub fn reach(&mut self, row: usize, height: usize) {
        self.top = self.top.map(|top| top.min(height.saturating_sub(row + 1)));
    }

    /// How many rows above the cursor everything of ours begins that can be reached.
    pub fn find(&mut self, change: &Change) -> usize {
        let (columns, height) = change.to;
        let reflows = change.reflow != Reflow::Never;
        let count = |rows: &[Row]| rows.iter().map(|row| if reflows { row.height(columns) } else { 1 }).sum::<usize>();
        let (row, column) = match (self.tied, change.cursor) {
            (None, cursor) => cursor,
            (Some(columns), (row, column)) => (0, row * columns + column),
        };
        let in_row = self.rows.get(row).filter(|_| reflows).map_or(0, |row| row.piece_of(column, columns));
        let column_now =
            self.rows.get(row).filter(|_| reflows).map_or(column, |row| row.within(column, columns)).min(columns.saturating_sub(1));
        let own = count(&self.rows[..row.min(self.rows.len())]) + in_row;
        // Where rows are broken in ways that are not known, it is not known either which of them are where.
        let known = change.sure && (change.reflow != Reflow::Breaks || change.from.0 == columns);
        let Some((at, at_column)) = change.answer else {
            self.lost.clear();
            self.top = None;
            return own.min(height.saturating_sub(1));
        };
        if !known {
            // Drawn when tmux had another size already, rows may have been cut, and then not broken: what is above is not ours.
            let own = if change.reflow == Reflow::Tmux && self.tied.is_none() { row.min(own) } else { own };
            self.lost.clear();
            self.top = Some(at.saturating_sub(own));
            return own.min(at);
        }
        let above = count(&self.lost) + own;
        let mut gone = above.saturating_sub(at);
        if change.reflow == Reflow::Tmux && at_column != column_now {
            if (at, at_column) != (0, 0) {
                // It has left the screen meanwhile and come back with another row, one further down: nothing else is known.
                self.lost.clear();
                self.top = Some(at.saturating_sub(own));
                return own.min(at);
            }
            gone = gone.max(self.beyond(change));
        }
        let up = above.min(at);
        self.lose(gone, |row| if reflows { row.height(columns) } else { 1 }, columns);
        self.top = Some(at - up);
        up
    }

    /// How many rows of ours tmux has moved out of the screen, if the cursor itself was among them.
    fn beyond(&self, change: &Change) -> usize {
        let ((_, before), (columns, height)) = (change.from, change.to);
        let Some(top) = self.top else { return 0 };
        let mut empty = before.saturating_sub(top + self.height());
        let below_cursor = before.saturating_sub(top + change.cursor.0 + 1);
        let deleted = before.saturating_sub(height).min(below_cursor);
        let cut = deleted.saturating_sub(empty);
        empty = empty.saturating_sub(deleted);
        // A line of which the end was deleted is as long as what is left of it.
        let left: Vec<Row> = match self.tied {
            None => self.rows[..self.rows.len().saturating_sub(cut)].to_vec(),
            Some(columns) => self.rows.iter().map(|row| row.first(row.height(columns).saturating_sub(cut), columns)).collect(),
        };
        let all = self.lost.iter().chain(&left).map(|row| row.height(columns)).sum::<usize>();
        (all + empty).saturating_sub(height)
    }

    /// That many rows of the screen are out of reach.
    fn lose(&mut self, mut gone: usize, height: impl Fn(&Row) -> usize, columns: usize) {
        let all: Vec<Row> = self.lost.drain(..).chain(self.rows.drain(..)).collect();
        for row in all {
            if gone == 0 {
                break;
            }
            let pieces = height(&row).min(gone);
            gone -= pieces;
            self.lost.push(if pieces < height(&row) { row.first(pieces, columns) } else { row });
        }
    }
}
