//! The words that changed within a pair of lines, and a changed line as it is shown.
//!
//! Invariants:
//! - ranges are bytes of the text shown, in order, on character boundaries;
//! - blanks are made visible only where they changed or trail on a changed line.

use crate::text::sanitize::reveal;
use crate::text::width::width;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// Tab stops in diffs.
const TAB: usize = 4;
/// Lines with more words than this are marked as a whole.
const MAX_WORDS: usize = 400;
/// Less in common than this share of the shorter line, and marking words only adds noise.
const MIN_COMMON: f64 = 0.5;

/// A line as shown: cleaned, tabs expanded, with what deserves emphasis.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Shown {
    pub text: String,
    /// Changed words.
    pub marked: Vec<Range<usize>>,
    /// Signs that stand for blanks (`→`, `·`, `^M`).
    pub signs: Vec<Range<usize>>,
}

type Ranges = Vec<Range<usize>>;

/// The byte ranges of `old` and `new` that differ; `None` if the lines have too little in common.
pub(super) fn changed_words(old: &str, new: &str) -> Option<(Ranges, Ranges)> {
    let (old_words, new_words): (Vec<&str>, Vec<&str>) = (old.split_word_bounds().collect(), new.split_word_bounds().collect());
    if old_words.len() > MAX_WORDS || new_words.len() > MAX_WORDS {
        return None;
    }
    let ops = capture_diff_slices(Algorithm::Myers, &old_words, &new_words);
    let starts = |words: &[&str]| {
        let mut at = 0;
        let mut out = vec![0];
        out.extend(words.iter().map(|word| {
            at += word.len();
            at
        }));
        out
    };
    let (old_at, new_at) = (starts(&old_words), starts(&new_words));
    let mut ranges = (Vec::new(), Vec::new());
    let mut common = 0;
    for op in ops {
        let (o, n) = (op.old_range(), op.new_range());
        if let DiffOp::Equal { .. } = op {
            common += old_words[o].iter().map(|word| word.trim().len()).sum::<usize>();
            continue;
        }
        let (mut o, mut n) = (old_at[o.start]..old_at[o.end], new_at[n.start]..new_at[n.end]);
        let (was, is) = (&old[o.clone()], &new[n.clone()]);
        if was.trim().is_empty() && is.trim().is_empty() {
            // Of an indentation that grew, only what came to it.
            let same = was.bytes().zip(is.bytes()).take_while(|(a, b)| a == b && a.is_ascii()).count();
            (o.start, n.start) = (o.start + same, n.start + same);
        }
        if !o.is_empty() {
            join(&mut ranges.0, o, old);
        }
        if !n.is_empty() {
            join(&mut ranges.1, n, new);
        }
    }
    let ink = |text: &str| text.split_whitespace().map(str::len).sum::<usize>();
    let least = ink(old).min(ink(new)).max(1);
    (common as f64 / least as f64 >= MIN_COMMON).then_some(ranges)
}

/// Adds a range, joined to the last if only blanks lie between them: fewer, larger marks read better.
fn join(ranges: &mut Vec<Range<usize>>, range: Range<usize>, text: &str) {
    match ranges.last_mut() {
        Some(last) if text[last.end..range.start].trim().is_empty() => last.end = range.end,
        _ => ranges.push(range),
    }
}

/// Without its line end, and whether that was `\r\n`.
pub(super) fn bare(line: &str) -> (&str, bool) {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').map_or((line, false), |line| (line, true))
}

/// An unchanged line: only cleaned.
pub(super) fn plain(line: &str) -> Shown {
    build(bare(line).0, &[], usize::MAX, false)
}

/// A changed line; `marked` are byte ranges of the bare line, `show_cr` shows its `\r`.
pub(super) fn changed(line: &str, marked: &[Range<usize>], show_cr: bool) -> Shown {
    let (text, cr) = bare(line);
    let trailing = text.trim_end_matches([' ', '\t']).len();
    build(text, marked, trailing, show_cr && cr)
}

fn build(line: &str, marked: &[Range<usize>], trailing: usize, cr: bool) -> Shown {
    let mut shown = Shown { text: String::with_capacity(line.len() + 8), ..Shown::default() };
    let mut column = 0;
    let mut at = 0;
    while at < line.len() {
        let mark = marked.iter().find(|r| r.contains(&at));
        let end = mark.map_or_else(|| marked.iter().map(|r| r.start).find(|s| *s > at).unwrap_or(line.len()), |r| r.end);
        let from = shown.text.len();
        let mut visible = |part: &str, from: usize, shown: &mut Shown| {
            let mut offset = from;
            for piece in part.split_inclusive(['\t', ' ']) {
                let ink = piece.trim_end_matches(['\t', ' ']);
                // What a user decides upon loses nothing, and hides nothing.
                let clean = reveal(ink);
                column += width(&clean);
                shown.text.push_str(&clean.replace('\n', "␤"));
                offset += ink.len();
                for blank in piece[ink.len()..].chars() {
                    let trails = offset >= trailing;
                    let sign = match blank {
                        '\t' if trails || mark.is_some() => Some("→"),
                        ' ' if trails => Some("·"),
                        _ => None,
                    };
                    let start = shown.text.len();
                    shown.text.push_str(sign.unwrap_or(" "));
                    if sign.is_some() {
                        shown.signs.push(start..shown.text.len());
                    }
                    let cells = if blank == '\t' { TAB - column % TAB } else { 1 };
                    shown.text.extend(std::iter::repeat_n(' ', cells - 1));
                    column += cells;
                    offset += 1;
                }
            }
        };
        visible(&line[at..end], at, &mut shown);
        if mark.is_some() {
            shown.marked.push(from..shown.text.len());
        }
        at = end;
    }
    if cr {
        let start = shown.text.len();
        shown.text.push_str("^M");
        shown.signs.push(start..shown.text.len());
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_changed_words() {
        let (old, new) = changed_words("let a = days(28);", "let b = days(29);").unwrap();
        assert_eq!((old, new), (vec![4..5, 13..15], vec![4..5, 13..15]));
        assert_eq!(changed_words("completely different", "nothing shared here at all"), None);
        assert_eq!(changed_words("a", "a  ").unwrap().1, vec![1..3]);
        assert_eq!(changed_words("  let a;", "    let a;").unwrap(), (vec![], vec![Range { start: 2, end: 4 }]));
    }

    #[test]
    fn shows_blanks_only_where_they_changed() {
        assert_eq!(plain("\ta \n").text, "    a ");
        let shown = changed("\ta  \n", &[], false);
        assert_eq!((shown.text.as_str(), shown.signs.len()), ("    a··", 2));
        let shown = changed("\ta\r\n", std::slice::from_ref(&(0..1)), true);
        assert_eq!(shown.text, "→   a^M");
        assert_eq!(shown.marked, vec![Range { start: 0, end: 6 }]);
    }
}
