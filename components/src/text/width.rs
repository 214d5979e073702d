//! Display width of text, in terminal cells, by exactly the rules of iocraft's canvas.
//!
//! Invariants:
//! - a cell group is one character of non-zero width with the zero-width characters after it;
//! - a group of zero-width characters alone (at the start of a text) takes one cell, as on the canvas;
//! - `width(a) + width(b) == width(a + b)` unless `b` starts with a zero-width character.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Cells that `text` takes on one row. Control characters must have been removed before.
pub fn width(text: &str) -> usize {
    if text.bytes().all(|b| (0x20..0x7f).contains(&b)) {
        return text.len();
    }
    cell_groups(text).map(group_width).sum()
}

/// Splits `text` the way the canvas does: a character with its zero-width followers at a time.
pub fn cell_groups(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.char_indices().skip(1).find(|(_, c)| c.width().unwrap_or(0) > 0).map_or(rest.len(), |(i, _)| i);
        let (group, tail) = rest.split_at(end);
        rest = tail;
        Some(group)
    })
}

/// Cells of one group as [`cell_groups`] yields it: 1 or 2, never 0.
pub fn group_width(group: &str) -> usize {
    group.width().max(1)
}

/// The extended grapheme clusters of `text`, each with its byte offset and its width in cells.
pub fn graphemes(text: &str) -> impl DoubleEndedIterator<Item = (usize, &str, usize)> {
    text.grapheme_indices(true).map(|(at, g)| (at, g, width(g)))
}

/// Whether `c` attaches to the character before it and takes no cell of its own.
pub fn is_zero_width(c: char) -> bool {
    c.width().unwrap_or(0) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_cells_as_the_canvas_places_them() {
        for (text, cells) in [
            ("", 0),
            ("abc", 3),
            ("日本", 4),
            ("e\u{301}", 1),
            ("\u{301}", 1),
            ("❤\u{fe0f}", 2),
            ("🇩🇪", 2),
            ("🙂", 2),
            // The canvas gives lam and alef a cell each, though the string rule of unicode-width joins them.
            ("\u{644}\u{627}", 2),
        ] {
            assert_eq!(width(text), cells, "{text:?}");
            let mut canvas = iocraft::Canvas::new(20, 1);
            canvas.subview_mut(0, 0, 0, 0, 20, 1).set_text(0, 0, &format!("{text}|"), Default::default());
            let bar = (0..20).find(|x| canvas.cell(*x, 0).and_then(|c| c.text()) == Some("|"));
            assert_eq!(bar, Some(cells), "{text:?} on the canvas");
        }
    }
}
