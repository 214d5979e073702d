//! One row with a left and a right side.
//!
//! Invariants: never wider than asked; the right side is whole or, where the left needs the room, absent.

use super::span::{Line, Span};
use super::wrap::truncate;

/// Cells kept free between the sides.
const GAP: usize = 2;

/// `left` at the left edge, `right` at the right one. What is too long on the left ends in `…`; `right` is
/// left out where it would leave the left less than `min_left` cells (or what it needs, if that is less).
pub fn split(left: Line, right: Line, width: usize, min_left: usize) -> Line {
    if right.is_empty() {
        return truncate(&left, width);
    }
    let room = width.saturating_sub(right.width() + GAP);
    if room < left.width().min(min_left.max(1)) {
        return truncate(&left, width);
    }
    let mut row = truncate(&left, room).pad_to(width.saturating_sub(right.width()));
    row.extend(right.spans);
    row
}

/// Joins lines with a separator between them.
pub fn join(parts: impl IntoIterator<Item = Line>, separator: &Span) -> Line {
    let mut out = Line::new();
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        if !out.is_empty() {
            out.push(separator.clone());
        }
        out.extend(part.spans);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_share_the_width() {
        let row = |width| split(Line::plain("left side"), Line::plain("right"), width, 6).text();
        assert_eq!(row(20), "left side      right");
        assert_eq!(row(16), "left side  right");
        assert_eq!(row(14), "left s…  right");
        assert_eq!(row(12), "left side");
        assert_eq!(row(5), "left…");
    }
}
