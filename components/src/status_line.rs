//! The status row: segments left and right that give way by priority where it is narrow.
//!
//! Invariants: one row, never wider than asked; of two segments the less important one goes first.

use crate::text::row::join;
use crate::text::span::{Line, Span};
use crate::text::wrap::truncate;
use crate::theme::Role;

/// A piece of the status row.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    pub line: Line,
    /// The higher, the longer it stays.
    pub priority: u8,
}

impl Segment {
    pub fn new(line: impl Into<Line>, priority: u8) -> Self {
        Self { line: line.into(), priority }
    }
}

/// Lays the segments out within `width` cells, ` · ` between neighbours, two blanks at the left edge.
pub fn status_line(left: &[Segment], right: &[Segment], width: usize) -> Line {
    let mut shown: Vec<(bool, &Segment)> = left.iter().map(|s| (false, s)).chain(right.iter().map(|s| (true, s))).collect();
    loop {
        let separator = Span::new(" · ", Role::Dim);
        let side = |right: bool| join(shown.iter().filter(|(r, _)| *r == right).map(|(_, s)| s.line.clone()), &separator);
        let (left, right) = (side(false).indented(2), side(true));
        let needed = left.width() + right.width() + if right.is_empty() { 0 } else { 2 };
        if needed <= width {
            let mut row = if right.is_empty() { left } else { left.pad_to(width - right.width()) };
            row.extend(right.spans);
            return row;
        }
        // Of equals the one further right goes first.
        let least = shown.iter().enumerate().rev().min_by_key(|(_, (_, s))| s.priority).map(|(at, _)| at);
        match least.filter(|_| shown.len() > 1) {
            Some(at) => drop(shown.remove(at)),
            None => {
                let mut row = left;
                row.extend(right.spans);
                return truncate(&row, width);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_the_least_important_first() {
        let left = [Segment::new("normal", 9), Segment::new("model-name", 5), Segment::new("ctx 12 %", 7)];
        let right = [Segment::new("? keys", 1)];
        let row = |width| status_line(&left, &right, width).text();
        assert_eq!(row(45), "  normal · model-name · ctx 12 %       ? keys");
        assert_eq!(row(35), "  normal · model-name · ctx 12 %");
        assert_eq!(row(25), "  normal · ctx 12 %");
        assert_eq!(row(10), "  normal");
        assert_eq!(row(6), "  nor…");
    }
}
