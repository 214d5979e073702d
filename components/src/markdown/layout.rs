//! Settled pieces of Markdown and their rows at a width.
//!
//! Invariant: a piece knows nothing of its neighbours, so its rows depend on the width alone.

use super::table::Table;
use crate::text::span::{Line, Style};
use crate::text::wrap::{cut, wrap_exact, wrap_hanging};
use crate::theme::Role;

/// Widest thematic break, in cells.
const MAX_RULE: usize = 40;

/// One settled piece: a source line of text or code, a table, a rule.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// What stands before the first row: quote bars, list markers, blanks.
    pub first: Line,
    /// What stands before each further row.
    pub rest: Line,
    pub body: Body,
}

#[derive(Clone, Debug)]
pub(super) enum Body {
    /// Wraps at words.
    Text(Line),
    /// Wraps anywhere, keeping every blank.
    Code(Line),
    Table(Box<Table>),
    Rule,
    Blank,
}

impl Piece {
    pub fn rows(&self, width: usize) -> Vec<Line> {
        let width = width.max(2);
        match &self.body {
            Body::Text(line) if line.is_empty() => vec![trimmed(cut(&self.first, width))],
            Body::Text(line) => wrap_hanging(line, width, &self.first, &self.rest),
            Body::Code(line) => {
                let room = self.room(width);
                self.prefixed(wrap_exact(line, room), width)
            }
            Body::Table(table) => {
                let room = self.room(width);
                self.prefixed(table.rows(room), width)
            }
            Body::Rule => {
                let room = self.room(width);
                self.prefixed(vec![Line::styled("─".repeat(room.min(MAX_RULE)), Style::from(Role::Border))], width)
            }
            Body::Blank => vec![trimmed(cut(&self.rest, width))],
        }
    }

    fn room(&self, width: usize) -> usize {
        width.saturating_sub(self.first.width().max(self.rest.width())).max(2)
    }

    fn prefixed(&self, rows: Vec<Line>, width: usize) -> Vec<Line> {
        let room = width - self.room(width);
        let (first, rest) = (cut(&self.first, room), cut(&self.rest, room));
        rows.into_iter()
            .enumerate()
            .map(|(at, row)| {
                let mut line = Line { spans: if at == 0 { first.spans.clone() } else { rest.spans.clone() }, fill: row.fill };
                line.extend(row.spans);
                trimmed(line)
            })
            .collect()
    }
}

/// A row without trailing blanks: they would be copied along.
fn trimmed(mut line: Line) -> Line {
    while let Some(last) = line.spans.last_mut() {
        let kept = last.text.trim_end_matches(' ').len();
        if kept > 0 {
            if kept < last.text.len() {
                last.text.to_mut().truncate(kept);
            }
            break;
        }
        line.spans.pop();
    }
    line
}
