//! Where the cursor may stand: grapheme boundaries, words, folded pastes.
//!
//! Invariant: offsets returned are boundaries of whole graphemes; a folded paste is one by itself.

use super::CHIP_BASE;
use unicode_segmentation::UnicodeSegmentation;

/// Whether `c` stands for a folded paste.
pub fn is_chip(c: char) -> bool {
    (CHIP_BASE..CHIP_BASE + 0xffff).contains(&(c as u32))
}

/// The graphemes of a text with their offsets; folded pastes never join with marks after them.
pub(super) fn atoms(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive(is_chip).flat_map(move |piece| {
        let start = at;
        at += piece.len();
        let chip = piece.chars().next_back().filter(|c| is_chip(*c)).map_or(0, char::len_utf8);
        let (words, chip) = piece.split_at(piece.len() - chip);
        let chip_at = start + words.len();
        let graphemes = words.grapheme_indices(true).map(move |(i, g)| (start + i, g));
        graphemes.chain((!chip.is_empty()).then_some((chip_at, chip)))
    })
}

/// The part of the text around `at` in which graphemes are looked for: its line.
fn line_of(text: &str, at: usize) -> (usize, &str) {
    let at = floor(text, at);
    let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
    let end = text[at..].find('\n').map_or(text.len(), |i| at + i + 1);
    (start, &text[start..end])
}

fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0)
}

/// The boundary at `at` or the next one after it.
pub(super) fn snap(text: &str, at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    let (start, line) = line_of(text, at);
    atoms(line).map(|(i, _)| start + i).find(|i| *i >= at).unwrap_or(start + line.len())
}

pub(super) fn next(text: &str, at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    let (start, line) = line_of(text, at);
    atoms(line).map(|(i, g)| start + i + g.len()).find(|end| *end > at).unwrap_or(text.len())
}

pub(super) fn previous(text: &str, at: usize) -> usize {
    if at == 0 {
        return 0;
    }
    // The line end before the cursor belongs to the line above.
    let (start, line) = line_of(text, at - 1);
    atoms(line).map(|(i, _)| start + i).take_while(|i| *i < at).last().unwrap_or(0)
}

#[derive(PartialEq, Clone, Copy)]
enum Class {
    Blank,
    Word,
    Sign,
    Paste,
}

fn class(c: char) -> Class {
    match c {
        c if is_chip(c) => Class::Paste,
        c if c.is_whitespace() => Class::Blank,
        c if c.is_alphanumeric() || c == '_' => Class::Word,
        _ => Class::Sign,
    }
}

/// The start of the word before `at`: blanks are skipped, then a run of one kind.
pub(super) fn word_left(text: &str, at: usize) -> usize {
    let head = &text[..at];
    let trimmed = head.trim_end();
    let Some(last) = trimmed.chars().next_back() else { return 0 };
    let kind = class(last);
    if kind == Class::Paste {
        return snap(text, trimmed.len() - last.len_utf8());
    }
    let start = trimmed.trim_end_matches(|c| class(c) == kind).len();
    // A mark that belongs to the grapheme before is no place to stop.
    let snapped = snap(text, start);
    if snapped < at { snapped } else { previous(text, at) }
}

/// The end of the word after `at`.
pub(super) fn word_right(text: &str, at: usize) -> usize {
    let tail = &text[at..];
    let trimmed = tail.trim_start();
    let from = text.len() - trimmed.len();
    let Some(first) = trimmed.chars().next() else { return text.len() };
    let kind = class(first);
    if kind == Class::Paste {
        return snap(text, from + first.len_utf8());
    }
    snap(text, text.len() - trimmed.trim_start_matches(|c| class(c) == kind).len())
}
