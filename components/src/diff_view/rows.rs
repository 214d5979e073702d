//! The rows of a diff: gutter, sign, code on its band.
//!
//! Invariants: numbers are those of the new side, of the old side for removed lines; a wrapped line's
//! further rows carry `↳` in the sign column; syntax state starts a little above each hunk, not at the
//! file's start, so that a change far down costs no more than one at the top.

use super::words::{Shown, bare, changed, changed_words, plain};
use super::{Block, Change, DiffModel, Hunk, Text};
use crate::code::Highlighter;
use crate::text::span::{Line, Span, Style, spaces};
use crate::text::wrap::{cut, wrap_exact};
use crate::theme::Role;
use std::ops::Range;

/// Lines above a hunk that are read for the syntax state only.
const LEAD_IN: usize = 60;

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Context,
    Removed,
    Added,
}

impl DiffModel {
    /// All rows for `width` cells; with `max_rows`, at most so many, the last of which counts what is missing.
    pub fn rows(&self, width: usize, max_rows: Option<usize>) -> Vec<Line> {
        let mut out = Vec::new();
        let limit = max_rows.unwrap_or(usize::MAX);
        if let Some(note) = self.note() {
            out.push(cut(&note, width));
            out.truncate(limit);
            return out;
        }
        let total: usize = (0..self.hunks.len()).map(|at| self.hunk_lines(at)).sum();
        let mut shown = 0;
        for hunk in 0..self.hunks.len() {
            if hunk > 0 {
                out.push(cut(&self.gap(hunk), width));
            }
            let stop = self.paint(&self.hunks[hunk], width, limit, &mut out, &mut shown);
            if stop || out.len() > limit {
                break;
            }
        }
        if out.len() > limit {
            out.truncate(limit.saturating_sub(1));
            let kept = out.iter().filter(|row| numbered(row, self.number_width())).count();
            let missing = total.saturating_sub(kept);
            let text = if missing == 1 { "… 1 more line".to_owned() } else { format!("… {missing} more lines") };
            out.push(cut(&Line::styled(text, Role::Dim).indented(self.gutter()), width));
            out.truncate(limit);
        }
        out
    }

    /// The rows of one hunk, for a viewer that shows them as they are scrolled to.
    pub fn hunk_rows(&self, hunk: usize, width: usize) -> Vec<Line> {
        let mut out = Vec::new();
        if let Some(hunk) = self.hunks.get(hunk) {
            self.paint(hunk, width, usize::MAX, &mut out, &mut 0);
        }
        out
    }

    /// `⋯ 24 lines`, the row between a hunk and the one before it.
    pub fn gap_row(&self, hunk: usize, width: usize) -> Option<Line> {
        (hunk > 0 && hunk < self.hunks.len()).then(|| cut(&self.gap(hunk), width))
    }

    fn gap(&self, hunk: usize) -> Line {
        let lines = self.hunks[hunk].gap;
        Line::styled(format!("⋯ {lines} lines"), Role::Dim).indented(self.gutter())
    }

    /// What there is to say where no lines can be shown.
    fn note(&self) -> Option<Line> {
        let text = match self.change {
            Change::Binary => format!("binary file, {} → {} bytes", self.old.text.len(), self.new.text.len()),
            Change::Unchanged => "no changes".to_owned(),
            Change::Created if self.new.text.is_empty() => "an empty file".to_owned(),
            Change::Deleted if self.old.text.is_empty() => "was an empty file".to_owned(),
            _ => return None,
        };
        Some(Line::styled(text, Role::Dim))
    }

    fn number_width(&self) -> usize {
        let shown = self.hunks.last().and_then(|h| h.blocks.last()).map_or(0, |b| b.old.end.max(b.new.end));
        shown.to_string().len().max(3)
    }

    /// Cells before the code: number, two blanks, sign, blank.
    fn gutter(&self) -> usize {
        self.number_width() + 4
    }

    /// Appends a hunk's rows until there are more than `limit`; true if it stopped early.
    fn paint(&self, hunk: &Hunk, width: usize, limit: usize, out: &mut Vec<Line>, shown: &mut usize) -> bool {
        let mut painter = Painter::new(self, hunk, width);
        for block in &hunk.blocks {
            if block.equal {
                for (old, new) in block.old.clone().zip(block.new.clone()) {
                    if out.len() > limit {
                        return true;
                    }
                    painter.context(old, new, out);
                    *shown += 1;
                }
            } else if painter.replaced(block, limit, out, shown) {
                return true;
            }
        }
        false
    }
}

fn numbered(row: &Line, digits: usize) -> bool {
    row.spans.first().is_some_and(|s| s.text.chars().take(digits).any(|c| c.is_ascii_digit()))
}

struct Painter<'a> {
    model: &'a DiffModel,
    old_code: Highlighter,
    new_code: Highlighter,
    width: usize,
    digits: usize,
}

impl<'a> Painter<'a> {
    fn new(model: &'a DiffModel, hunk: &Hunk, width: usize) -> Self {
        let lead = |text: &Text, at: usize, code: &mut Highlighter| {
            for line in at.saturating_sub(LEAD_IN)..at {
                code.push_line_runs(bare(text.line(line)).0);
            }
        };
        let (mut old_code, mut new_code) = (Highlighter::for_path(&model.path), Highlighter::for_path(&model.path));
        if let Some(first) = hunk.blocks.first() {
            lead(&model.old, first.old.start, &mut old_code);
            lead(&model.new, first.new.start, &mut new_code);
        }
        Self { model, old_code, new_code, width, digits: model.number_width() }
    }

    fn context(&mut self, old: usize, new: usize, out: &mut Vec<Line>) {
        let shown = plain(self.model.new.line(new));
        self.old_code.push_line_runs(bare(self.model.old.line(old)).0);
        self.row(Side::Context, new, &shown, out);
    }

    fn replaced(&mut self, block: &Block, limit: usize, out: &mut Vec<Line>, shown: &mut usize) -> bool {
        let model = self.model;
        // Old and new lines of a replacement stand across from each other.
        let pair = |at: usize, from: &Range<usize>, to: &Range<usize>| Some(to.start + (at - from.start)).filter(|o| to.contains(o));
        for (side, range) in [(Side::Removed, block.old.clone()), (Side::Added, block.new.clone())] {
            for at in range {
                if out.len() > limit {
                    return true;
                }
                let (text, other) = match side {
                    Side::Removed => (model.old.line(at), pair(at, &block.old, &block.new).map(|o| model.new.line(o))),
                    _ => (model.new.line(at), pair(at, &block.new, &block.old).map(|o| model.old.line(o))),
                };
                let row = changed_line(side, text, other, model);
                self.row(side, at, &row, out);
                *shown += 1;
                if !text.ends_with('\n') {
                    let band = if side == Side::Removed { Role::DiffRemovedBand } else { Role::DiffAddedBand };
                    let note = Line::styled("no newline at end of file", Style::from(Role::LineNumber).italic());
                    out.push(cut(&note.indented(self.digits + 4).filled(band), self.width));
                }
            }
        }
        false
    }

    fn row(&mut self, side: Side, at: usize, shown: &Shown, out: &mut Vec<Line>) {
        let code = if side == Side::Removed { &mut self.old_code } else { &mut self.new_code };
        let runs = code.push_line_runs(&without_signs(shown));
        let (sign, ink, band, mark) = match side {
            Side::Context => (" ", None, None, None),
            Side::Removed => ("−", Some(Role::DiffRemoved), Some(Role::DiffRemovedBand), Some(Role::DiffRemovedMark)),
            Side::Added => ("+", Some(Role::DiffAdded), Some(Role::DiffAddedBand), Some(Role::DiffAddedMark)),
        };
        let line = styled(shown, &runs, mark);
        let gutter = self.digits + 4;
        let mut rows = wrap_exact(&line, self.width.saturating_sub(gutter).max(2)).into_iter();
        let number = Span::new(format!("{:>1$}", at + 1, self.digits), Role::LineNumber);
        let sign_style = ink.map_or(Style::new(), |ink| Style::from(ink).bold());
        let mut push = |head: Line, row: Line| {
            let mut line = head;
            line.extend(row.spans);
            line.fill = band;
            out.push(if line.width() > self.width { cut(&line, self.width) } else { line });
        };
        let head = Line::from(number).with("  ").with(Span::new(sign, sign_style)).with(" ");
        push(head, rows.next().unwrap_or_default());
        for row in rows {
            push(Line::from(spaces(self.digits + 2)).with(Span::new("↳", Role::LineNumber)).with(" "), row);
        }
    }
}

fn changed_line(side: Side, text: &str, other: Option<&str>, model: &DiffModel) -> Shown {
    let (line, cr) = bare(text);
    let Some(other) = other else {
        let other_side = if side == Side::Removed { &model.new } else { &model.old };
        return changed(text, &[], other_side.len() > 0 && cr != other_side.crlf());
    };
    let (other_line, other_cr) = bare(other);
    let words = match side {
        Side::Removed => changed_words(line, other_line).map(|(old, _)| old),
        _ => changed_words(other_line, line).map(|(_, new)| new),
    };
    changed(text, &words.unwrap_or_default(), cr != other_cr)
}

/// The text with the signs blanked out byte for byte, so that they do not confuse the grammar.
fn without_signs(shown: &Shown) -> String {
    let mut text = String::with_capacity(shown.text.len());
    let mut from = 0;
    for sign in &shown.signs {
        text.push_str(&shown.text[from..sign.start]);
        text.extend(std::iter::repeat_n(' ', sign.len()));
        from = sign.end;
    }
    text.push_str(&shown.text[from..]);
    text
}

/// Lays syntax colours, marks and signs over each other.
fn styled(shown: &Shown, runs: &[(Range<usize>, Style)], mark: Option<Role>) -> Line {
    let text = &shown.text;
    let mut cuts: Vec<usize> = vec![0, text.len()];
    cuts.extend(runs.iter().flat_map(|(r, _)| [r.start, r.end]));
    cuts.extend(shown.marked.iter().chain(&shown.signs).flat_map(|r| [r.start, r.end]));
    cuts.retain(|at| text.is_char_boundary(*at));
    cuts.sort_unstable();
    cuts.dedup();
    let mut line = Line::new();
    let within = |ranges: &[Range<usize>], at: usize| ranges.iter().any(|r| r.contains(&at));
    let mut run = 0;
    for pair in cuts.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        while runs.get(run).is_some_and(|(r, _)| r.end <= from) {
            run += 1;
        }
        let mut style = runs.get(run).map(|(_, style)| *style).unwrap_or_default();
        if within(&shown.signs, from) {
            style = Role::LineNumber.into();
        }
        if let Some(mark) = mark.filter(|_| within(&shown.marked, from)) {
            style = style.bg(mark);
        }
        line.push(Span::new(text[from..to].to_owned(), style));
    }
    line
}
