//! Plain rows that a command says, among them tables of two columns: names, three blanks or more, what there is to say of each.
//!
//! Invariants: rows are never wider than asked; nothing is lost, whatever the width: what has no room beside its name stands below it.

use super::GUTTER;
use crate::text::sanitize::one_line;
use crate::text::span::{Line, spaces};
use crate::text::width::width as text_width;
use crate::text::wrap::wrap_hanging;
use crate::theme::Role;

/// Blanks between the columns.
const GAP: usize = 3;
/// With less room beside the names, texts stand below them.
const LEAST: usize = 20;
/// How far they stand in there.
const BELOW: usize = GUTTER + 2;

pub fn said(text: &str, width: usize) -> Vec<Line> {
    let rows: Vec<(&str, Option<&str>)> = text.lines().map(columns).collect();
    if text.lines().all(|line| GUTTER + text_width(line) <= width) {
        return text.lines().flat_map(|line| wrapped(line, width, GUTTER, GUTTER)).collect();
    }
    // Names that are so long that they would push all texts away stand above theirs.
    let short = |name: &&str| text_width(name) <= width * 2 / 5;
    let names = rows.iter().filter(|(_, text)| text.is_some()).map(|(name, _)| *name);
    let column = names.filter(short).map(text_width).max().unwrap_or(0) + GAP + GUTTER;
    let beside = column + LEAST <= width;
    let mut out = vec![];
    for (name, text) in rows {
        match text {
            None => out.extend(wrapped(name, width, GUTTER, BELOW)),
            Some(text) if beside && short(&name) => {
                let name = Line::styled(one_line(name).into_owned(), Role::Dim).indented(GUTTER).pad_to(column);
                out.extend(wrap_hanging(&dim(text), width, &name, &Line::from(spaces(column))));
            }
            Some(text) => {
                out.extend(wrapped(name, width, GUTTER, BELOW));
                let from = if beside { column } else { BELOW };
                out.extend(wrapped(text, width, from, from));
            }
        }
    }
    out
}

/// The name and, behind at least three blanks, what is said of it.
fn columns(line: &str) -> (&str, Option<&str>) {
    match line.trim_start().find("   ").map(|at| at + line.len() - line.trim_start().len()) {
        Some(at) => (line[..at].trim_end(), Some(line[at..].trim())),
        None => (line, None),
    }
}

fn dim(text: &str) -> Line {
    Line::styled(one_line(text).into_owned(), Role::Dim)
}

fn wrapped(text: &str, width: usize, first: usize, rest: usize) -> Vec<Line> {
    wrap_hanging(&dim(text), width, &Line::from(spaces(first)), &Line::from(spaces(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, width: usize) -> String {
        let rows = said(text, width);
        assert!(rows.iter().all(|row| row.width() <= width), "{rows:?}");
        rows.iter().map(|row| format!("{}\n", row.text().trim_end())).collect()
    }

    const TABLE: &str = "/copy                   copy the last answer to the clipboard\n\
                         /checkpoint [name | …]  \x20 take a checkpoint\n\
                         ?                       the keys";

    #[test]
    fn what_fits_is_as_it_was_said() {
        assert_eq!(shown(TABLE, 70), TABLE.lines().map(|line| format!("  {line}\n")).collect::<String>());
        assert_eq!(shown("▸ p/model", 40), "  ▸ p/model\n");
    }

    #[test]
    fn what_does_not_fit_stands_below_its_name() {
        insta::assert_snapshot!(shown(TABLE, 50), @"
        /copy   copy the last answer to the clipboard
        /checkpoint [name | …]
                take a checkpoint
        ?       the keys
        ");
        insta::assert_snapshot!(shown(TABLE, 28), @"
        /copy
          copy the last answer to
          the clipboard
        /checkpoint [name | …]
          take a checkpoint
        ?
          the keys
        ");
        insta::assert_snapshot!(shown("project   /home/somebody/src/a/rather/long/path\nmode      normal", 40), @"
        project   /home/somebody/src/a/rather/
                  long/path
        mode      normal
        ");
    }
}
