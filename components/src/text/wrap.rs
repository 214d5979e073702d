//! Wrapping and shortening of styled lines to a width in cells.
//!
//! Invariants:
//! - no row is wider than asked (a width below 2 counts as 2: a wide character must fit);
//! - no wide character or grapheme is split, except a grapheme that is wider than 2 cells by itself;
//! - only blanks at a break are lost by [`wrap`], nothing at all by [`wrap_exact`].

use super::span::{Line, Span};
use super::width::{cell_groups, graphemes, width};
use std::borrow::Cow;

/// One grapheme of a line: where it is and what it takes.
struct Atom {
    span: usize,
    start: usize,
    end: usize,
    cells: usize,
    blank: bool,
    /// Ideographs and the like: a row may break on either side.
    wide: bool,
    /// Closing punctuation that must not start a row.
    closing: bool,
}

fn atoms(line: &Line) -> Vec<Atom> {
    let mut out = Vec::new();
    for (at, span) in line.spans.iter().enumerate() {
        if span.text.bytes().all(|b| (0x20..0x7f).contains(&b)) {
            out.extend(span.text.bytes().enumerate().map(|(i, b)| Atom {
                span: at,
                start: i,
                end: i + 1,
                cells: 1,
                blank: b == b' ',
                wide: false,
                closing: false,
            }));
            continue;
        }
        for (start, grapheme, cells) in graphemes(&span.text) {
            let mut add = |start: usize, text: &str, cells: usize| {
                out.push(Atom {
                    span: at,
                    start,
                    end: start + text.len(),
                    cells,
                    blank: text == " ",
                    wide: cells == 2,
                    closing: text.starts_with(['、', '。', '，', '．', '！', '？', '：', '；', '）', '」', '』', '】', '》', '〉', 'ー']),
                });
            };
            if cells <= 2 {
                add(start, grapheme, cells);
            } else {
                let mut at = start;
                for group in cell_groups(grapheme) {
                    add(at, group, width(group));
                    at += group.len();
                }
            }
        }
    }
    out
}

/// Borrowed text stays borrowed.
#[allow(clippy::ptr_arg)]
fn slice(text: &Cow<'static, str>, start: usize, end: usize) -> Cow<'static, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[start..end]),
        Cow::Owned(text) => Cow::Owned(text[start..end].to_owned()),
    }
}

/// Appends the text of `range` of the atoms to `row`, a slice per run of one span.
fn copy(line: &Line, atoms: &[Atom], row: &mut Line) {
    let mut rest = atoms;
    while let Some(first) = rest.first() {
        let run = rest.iter().take_while(|a| a.span == first.span).count();
        let span = &line.spans[first.span];
        row.push(span.with_text(slice(&span.text, first.start, rest[run - 1].end)));
        rest = &rest[run..];
    }
}

/// Trailing blanks carry nothing and would be copied along, unless they show a background.
fn trimmed<'a>(line: &Line, atoms: &'a [Atom]) -> &'a [Atom] {
    let invisible = |a: &Atom| {
        let style = line.spans[a.span].style;
        a.blank && style.bg.is_none() && !style.invert && !style.underline
    };
    let kept = atoms.iter().rposition(|a| !invisible(a)).map_or(0, |at| at + 1);
    &atoms[..kept]
}

/// Wraps at blanks to rows of at most `width` cells; too long words are broken.
pub fn wrap(line: &Line, width: usize) -> Vec<Line> {
    wrap_hanging(line, width, &Line::new(), &Line::new())
}

/// [`wrap`] with `first` before the first row and `rest` before each further one, both within `width`.
pub fn wrap_hanging(line: &Line, width: usize, first: &Line, rest: &Line) -> Vec<Line> {
    let width = width.max(2);
    let (first, rest) = (cut(first, width - 2), cut(rest, width - 2));
    let atoms = atoms(line);
    let mut rows = Vec::new();
    let mut start = 0;
    loop {
        let prefix = if rows.is_empty() { &first } else { &rest };
        let room = width - prefix.width();
        let (end, next) = row_end(&atoms[start..], room);
        let mut row = Line { spans: prefix.spans.clone(), fill: line.fill };
        copy(line, trimmed(line, &atoms[start..start + end]), &mut row);
        rows.push(row);
        start += next;
        if start >= atoms.len() {
            return rows;
        }
    }
}

/// How many atoms go on a row of `room` cells, and how many are used up with the blanks at the break.
fn row_end(atoms: &[Atom], room: usize) -> (usize, usize) {
    let mut used = 0;
    let mut word_seen = false;
    let mut break_at = None;
    for (at, atom) in atoms.iter().enumerate() {
        if at > 0 && word_seen && !atom.closing {
            let before = &atoms[at - 1];
            if !atom.blank && (before.blank || before.wide || atom.wide) {
                break_at = Some(at);
            }
        }
        word_seen |= !atom.blank;
        used += atom.cells;
        if used <= room {
            continue;
        }
        if atom.blank {
            let blanks = atoms[at..].iter().take_while(|a| a.blank).count();
            return (at, at + blanks);
        }
        let end = break_at.unwrap_or(at).max(1);
        return (end, end);
    }
    (atoms.len(), atoms.len())
}

/// How many of the first atoms fit into `width` cells.
fn fitting(atoms: &[Atom], width: usize) -> usize {
    let mut used = 0;
    let fits = |atom: &&Atom| {
        used += atom.cells;
        used <= width
    };
    atoms.iter().take_while(fits).count()
}

/// Breaks after every `width` cells, wherever that is, and keeps every blank: for code.
pub fn wrap_exact(line: &Line, width: usize) -> Vec<Line> {
    let width = width.max(2);
    let atoms = atoms(line);
    let mut rows = Vec::new();
    let mut start = 0;
    loop {
        let count = fitting(&atoms[start..], width);
        let mut row = Line { spans: Vec::new(), fill: line.fill };
        copy(line, &atoms[start..start + count], &mut row);
        rows.push(row);
        start += count.max(1);
        if start >= atoms.len() {
            return rows;
        }
    }
}

/// The first `width` cells, without a sign that something is missing.
pub fn cut(line: &Line, width: usize) -> Line {
    if line.width() <= width {
        return line.clone();
    }
    let atoms = atoms(line);
    let count = fitting(&atoms, width);
    let mut row = Line { spans: Vec::new(), fill: line.fill };
    copy(line, &atoms[..count], &mut row);
    row
}

/// At most `width` cells; what is too long ends in `…`.
pub fn truncate(line: &Line, width: usize) -> Line {
    if line.width() <= width {
        return line.clone();
    }
    let mut row = cut(line, width.saturating_sub(1));
    if width > 0 {
        let style = row.spans.last().map(|s| s.style).unwrap_or_default();
        row.push(Span::new("…", style));
    }
    row
}

/// [`truncate`] for bare text.
pub fn truncate_text(text: &str, width: usize) -> Cow<'_, str> {
    if super::width::width(text) <= width {
        return Cow::Borrowed(text);
    }
    let Some(room) = width.checked_sub(1) else { return Cow::Borrowed("") };
    Cow::Owned(format!("{}…", &text[..prefix_len(text, room)]))
}

/// At most `width` cells; what is too long loses its middle (`src/…/main.rs`), a little more of the end is kept.
pub fn truncate_middle(text: &str, width: usize) -> Cow<'_, str> {
    if super::width::width(text) <= width {
        return Cow::Borrowed(text);
    }
    let Some(room) = width.checked_sub(1) else { return Cow::Borrowed("") };
    let head = &text[..prefix_len(text, room / 2)];
    let mut left = room - super::width::width(head);
    let mut from = text.len();
    for (at, _, cells) in graphemes(text).rev() {
        if cells > left {
            break;
        }
        left -= cells;
        from = at;
    }
    Cow::Owned(format!("{head}…{}", &text[from..]))
}

/// Bytes of the longest run of whole graphemes from the start that fits into `room` cells.
fn prefix_len(text: &str, room: usize) -> usize {
    let mut left = room;
    for (at, _, cells) in graphemes(text) {
        if cells > left {
            return at;
        }
        left -= cells;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::sanitize::sanitize;
    use crate::theme::Role;
    use proptest::prelude::*;

    fn texts(rows: &[Line]) -> Vec<String> {
        rows.iter().map(Line::text).collect()
    }

    #[test]
    fn wraps_words_with_a_hanging_indent() {
        let rows = wrap_hanging(&Line::plain("one two three four"), 10, &Line::plain("- "), &Line::plain("  "));
        assert_eq!(texts(&rows), ["- one two", "  three", "  four"]);
    }

    #[test]
    fn breaks_long_words_and_wide_text_without_splitting() {
        assert_eq!(texts(&wrap(&Line::plain("abcdefgh ij"), 3)), ["abc", "def", "gh", "ij"]);
        assert_eq!(texts(&wrap(&Line::plain("日本語、です"), 6)), ["日本", "語、で", "す"]);
        assert_eq!(texts(&wrap(&Line::plain("日本"), 1)), ["日", "本"]);
        assert_eq!(texts(&wrap(&Line::plain(""), 5)), [""]);
    }

    #[test]
    fn keeps_styles_across_rows() {
        let rows = wrap(&Line::plain("aa ").and("bb cc", Role::Error), 5);
        assert_eq!(texts(&rows), ["aa bb", "cc"]);
        assert_eq!(rows[1].spans[0].style.fg, Some(Role::Error));
    }

    #[test]
    fn shortens_at_the_end_or_in_the_middle() {
        assert_eq!(truncate(&Line::plain("abcdef"), 4).text(), "abc…");
        assert_eq!(truncate_text("日本語", 4), "日…");
        assert_eq!(truncate_middle("src/components/main.rs", 13), "src/co…ain.rs");
        assert_eq!(truncate_middle("abc", 0), "");
    }

    fn line() -> impl Strategy<Value = Line> {
        let word = "[a-z日本語é🙂🇩\u{301} ]{0,9}| {0,4}|\\PC{0,6}";
        proptest::collection::vec((word, 0usize..3), 0..8).prop_map(|parts| {
            let roles = [Role::Text, Role::Error, Role::Code];
            parts.into_iter().map(|(t, role)| Span::new(sanitize(&t).into_owned(), roles[role])).collect()
        })
    }

    proptest! {
        #[test]
        fn wrapping_never_exceeds_and_loses_only_blanks(line in line(), width in 0usize..30, prefix in "[ -]{0,5}") {
            let rows = wrap_hanging(&line, width, &Line::plain(prefix.clone()), &Line::new());
            let ink = |t: &str| t.chars().filter(|c| *c != ' ').collect::<String>();
            for row in &rows {
                prop_assert!(row.width() <= width.max(2), "{row:?}");
            }
            let shown = rows.iter().map(Line::text).collect::<String>();
            let prefix: String = cut(&Line::plain(prefix), width.max(2) - 2).text();
            prop_assert_eq!(ink(&shown), ink(&(prefix + &line.text())));
        }

        #[test]
        fn exact_wrapping_loses_nothing(line in line(), width in 2usize..30) {
            let rows = wrap_exact(&line, width);
            prop_assert!(rows.iter().all(|r| r.width() <= width));
            prop_assert_eq!(rows.iter().map(Line::text).collect::<String>(), line.text());
        }

        #[test]
        fn shortened_text_fits(line in line(), width in 0usize..20) {
            prop_assert!(truncate(&line, width).width() <= width);
            prop_assert!(super::super::width::width(&truncate_middle(&line.text(), width)) <= width);
        }
    }
}
