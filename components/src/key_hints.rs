//! Keys and what they do: the help table and the one-row hint, both from the same pairs.
//!
//! Invariants: keys come as data (from the keymap), nothing is named here; rows are never wider than asked.

use crate::text::span::{Line, Span, Style};
use crate::text::width::width;
use crate::text::wrap::truncate;
use crate::theme::Role;

/// A key as printed and what it does.
pub type Hint<'a> = (&'a str, &'a str);

/// Cells between columns of the table.
const GAP: usize = 4;

/// A table of as many columns as fit, filled downwards.
pub fn key_table(hints: &[Hint<'_>], width_all: usize) -> Vec<Line> {
    let room = width_all.saturating_sub(2).max(1);
    let keys = hints.iter().map(|(key, _)| width(key)).max().unwrap_or(0);
    let texts = hints.iter().map(|(_, text)| width(text)).max().unwrap_or(0);
    let cell = keys + 2 + texts;
    let columns = ((room + GAP) / (cell + GAP)).clamp(1, 4);
    let height = hints.len().div_ceil(columns).max(1);
    (0..height.min(hints.len()))
        .map(|y| {
            let mut row = Line::new().pad_to(2);
            for (x, (key, text)) in hints.iter().skip(y).step_by(height).enumerate() {
                let from = 2 + x * (cell + GAP);
                row = row.pad_to(from).and((*key).to_owned(), Style::from(Role::Accent)).pad_to(from + keys + 2);
                row.push(Span::new((*text).to_owned(), Role::Dim));
            }
            truncate(&row, width_all)
        })
        .collect()
}

/// `enter send · esc close`, as many as fit.
pub fn hint_row(hints: &[Hint<'_>], width: usize) -> Line {
    let mut row = Line::new().pad_to(2);
    for (at, (key, text)) in hints.iter().enumerate() {
        let mut longer = row.clone();
        if at > 0 {
            longer.push(Span::new(" · ", Role::Dim));
        }
        longer.push(Span::new((*key).to_owned(), Role::Accent));
        longer.push(Span::new(format!(" {text}"), Role::Dim));
        if longer.width() > width {
            break;
        }
        row = longer;
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_columns_downwards() {
        let hints = [("a", "one"), ("ctrl+b", "two"), ("c", "three")];
        let texts = |width| key_table(&hints, width).iter().map(Line::text).collect::<Vec<_>>();
        assert_eq!(texts(40), ["  a       one      c       three", "  ctrl+b  two"]);
        assert_eq!(texts(20), ["  a       one", "  ctrl+b  two", "  c       three"]);
        assert_eq!(hint_row(&hints, 20).text(), "  a one · ctrl+b two");
        assert_eq!(hint_row(&hints, 19).text(), "  a one");
        assert!(key_table(&[], 20).is_empty());
    }
}
