//! Keys and what they do: the help table and the one-row hint, both from the same pairs.
//!
//! Invariants: keys come as data (from the keymap), nothing is named here; rows are never wider than asked; a key that somebody has
//! taken away is no hint.

use crate::text::span::{Line, Span, Style};
use crate::text::width::width;
use crate::text::wrap::truncate;
use crate::theme::Role;

/// A key as printed and what it does.
pub type Hint<'a> = (&'a str, &'a str);

/// How keys are called that are others than the usual ones: by the usual key, the one that does the same now, if any does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyNames(Vec<(String, Option<String>)>);

impl KeyNames {
    pub fn new(changed: Vec<(String, Option<String>)>) -> Self {
        Self(changed)
    }

    /// Of one or more usual keys, with blanks between them: arrows as signs. `None` if nothing does what they did.
    pub fn name(&self, keys: &str) -> Option<String> {
        let called = |key: &str| match self.0.iter().find(|(usual, _)| usual == key) {
            Some((_, now)) => now.clone(),
            None => Some(key.to_owned()),
        };
        let names: Vec<String> = keys.split(' ').filter_map(called).map(|key| sign(&key).map_or(key, str::to_owned)).collect();
        let signs = names.iter().all(|name| width(name) == 1);
        (!names.is_empty()).then(|| names.join(if signs { "" } else { "/" }))
    }

    /// [`hint_row`] of usual keys.
    pub fn row(&self, hints: &[Hint<'_>], width: usize) -> Line {
        let named: Vec<(String, &str)> = hints.iter().filter_map(|(keys, text)| Some((self.name(keys)?, *text))).collect();
        hint_row(&named.iter().map(|(key, text)| (key.as_str(), *text)).collect::<Vec<_>>(), width)
    }
}

fn sign(key: &str) -> Option<&'static str> {
    Some(match key {
        "up" => "↑",
        "down" => "↓",
        "left" => "←",
        "right" => "→",
        _ => return None,
    })
}

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

    #[test]
    fn keys_are_called_as_they_are_now() {
        let changed = [("q", Some("ctrl+x")), ("left", Some("h")), ("y", None), ("down", Some("ctrl+n"))];
        let names = KeyNames::new(changed.map(|(usual, now)| (usual.to_owned(), now.map(str::to_owned))).into());
        let hints = [("q", "close"), ("y", "copy"), ("left right", "hunk"), ("up down", "scroll"), ("/", "search")];
        assert_eq!(names.row(&hints, 60).text(), "  ctrl+x close · h→ hunk · ↑/ctrl+n scroll · / search");
        assert_eq!(KeyNames::default().row(&hints, 60).text(), "  q close · y copy · ←→ hunk · ↑↓ scroll · / search");
    }
}
