//! The rows of a diff: gutter, sign, code on its band.
//!
//! Invariants: numbers are those of the new side, of the old side for removed lines; a wrapped line's
//! further rows carry `↳` in the sign column; syntax state starts a little above each hunk, not at the
//! file's start, so that a change far down costs no more than one at the top.

use super::words::{Shown, bare, changed, changed_words, plain};
use super::{Block, Change, DiffModel, Hunk, Text};
use crate::code::Highlighter;
use crate::text::sanitize::one_line;
use crate::text::span::{Line, Span, Style, spaces};
use crate::text::wrap::{cut, wrap_exact};
use crate::theme::Role;
use std::borrow::Cow;
use std::ops::Range;

/// Lines above a hunk that are read for the syntax state only.
const LEAD_IN: usize = 60;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Side {
    Context,
    Removed,
    Added,
}

/// One line of the diff before it is painted.
#[derive(Clone, Copy)]
pub(super) enum Entry {
    /// The gap before this hunk.
    Gap(usize),
    Line {
        side: Side,
        /// The line of the old side, or where its lines go on.
        old: usize,
        new: usize,
        /// The line across from it in a replacement.
        pair: Option<usize>,
    },
}

impl DiffModel {
    /// All rows for `width` cells; with `max_rows`, at most so many, the last of which counts what is missing.
    pub fn rows(&self, width: usize, max_rows: Option<usize>) -> Vec<Line> {
        let limit = max_rows.unwrap_or(usize::MAX);
        if let Some(note) = self.note() {
            return std::iter::once(cut(&note, width)).take(limit).collect();
        }
        let mut ends = Vec::new();
        let mut out = self.paint(self.entries(), width, limit, true, &mut ends);
        if out.len() > limit {
            let kept = ends.iter().filter(|end| **end < limit).count();
            let total: usize = (0..self.hunks.len()).map(|at| self.hunk_lines(at)).sum();
            let missing = total - kept;
            out.truncate(limit.saturating_sub(1));
            let text = if missing == 1 { "… 1 more line".to_owned() } else { format!("… {missing} more lines") };
            out.push(cut(&Line::styled(text, Role::Dim).indented(self.gutter()), width));
            out.truncate(limit);
        }
        out
    }

    /// The rows of one hunk.
    pub fn hunk_rows(&self, hunk: usize, width: usize) -> Vec<Line> {
        let entries = self.hunks.get(hunk).into_iter().flat_map(hunk_entries);
        self.paint(entries, width, usize::MAX, true, &mut Vec::new())
    }

    /// How many lines the diff has, with a line for each gap: what a viewer scrolls over. A line may take
    /// several rows.
    pub fn line_count(&self) -> usize {
        self.hunks.last().map_or(0, |h| h.at.0 + h.lines.0)
    }

    /// The line (as counted by [`DiffModel::line_count`]) at which a hunk begins.
    pub fn hunk_line(&self, hunk: usize) -> usize {
        self.hunks.get(hunk).map_or_else(|| self.line_count(), |h| h.at.0)
    }

    /// The rows of the lines in `range` only: costs what is shown, wherever it is. `now`: colours that are not known yet are looked
    /// for; else such lines are plain.
    pub fn window(&self, range: Range<usize>, width: usize, now: bool) -> Vec<Line> {
        let entries = self.entries_at(range);
        self.paint(entries, width, usize::MAX, now, &mut Vec::new())
    }

    /// Are there lines in `range` whose colours are not known?
    pub fn lacks_colours(&self, range: Range<usize>) -> bool {
        self.entries_at(range).any(|entry| match entry {
            Entry::Gap(_) => false,
            Entry::Line { side: Side::Removed, old, .. } => self.colours.get(Side::Removed, old).is_none(),
            Entry::Line { side, new, .. } => self.colours.get(side, new).is_none(),
        })
    }

    /// The lines whose text has `query`, in any case.
    pub fn find_all(&self, query: &str) -> Vec<usize> {
        let query = query.to_lowercase();
        let hits = self.entries().enumerate().filter(|(_, entry)| match *entry {
            Entry::Gap(_) => false,
            Entry::Line { side: Side::Removed, old, .. } => self.old.line(old).to_lowercase().contains(&query),
            Entry::Line { new, .. } => self.new.line(new).to_lowercase().contains(&query),
        });
        hits.map(|(at, _)| at).collect()
    }

    /// A hunk as text: what was and what is, with their signs.
    pub fn hunk_text(&self, hunk: usize) -> String {
        let mut out = String::new();
        for entry in self.hunks.get(hunk).into_iter().flat_map(hunk_entries) {
            let Entry::Line { side, old, new, .. } = entry else { continue };
            let (sign, line) = match side {
                Side::Context => (' ', self.new.line(new)),
                Side::Removed => ('-', self.old.line(old)),
                Side::Added => ('+', self.new.line(new)),
            };
            out.push(sign);
            out.push_str(line.trim_end_matches(['\n', '\r']));
            out.push('\n');
        }
        out
    }

    fn entries(&self) -> impl Iterator<Item = Entry> {
        self.entries_from(0)
    }

    /// Those of the lines in `range`: nothing above them is gone through but their own hunk.
    fn entries_at(&self, range: Range<usize>) -> impl Iterator<Item = Entry> {
        let first = self.hunks.partition_point(|h| h.at.0 + h.lines.0 <= range.start);
        let from = self.hunks.get(first).map_or(0, |h| h.at.0 - usize::from(first > 0));
        self.entries_from(first).skip(range.start.saturating_sub(from)).take(range.len())
    }

    fn entries_from(&self, first: usize) -> impl Iterator<Item = Entry> {
        self.hunks
            .iter()
            .enumerate()
            .skip(first)
            .flat_map(|(at, hunk)| (at > 0).then_some(Entry::Gap(at)).into_iter().chain(hunk_entries(hunk)))
    }

    /// Paints until there are more than `limit` rows; `ends` gets the number of rows after each line.
    fn paint(&self, entries: impl Iterator<Item = Entry>, width: usize, limit: usize, now: bool, ends: &mut Vec<usize>) -> Vec<Line> {
        let mut out = Vec::new();
        let mut painter = Painter::new(self, width, now);
        for entry in entries {
            if out.len() > limit {
                break;
            }
            match entry {
                Entry::Gap(hunk) => out.push(cut(&self.gap(hunk), width)),
                Entry::Line { .. } => {
                    painter.line(entry, &mut out);
                    ends.push(out.len());
                }
            }
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
        if let Some(remark) = self.remark.as_deref().filter(|_| self.hunks.is_empty()) {
            return Some(Line::styled(one_line(remark).into_owned(), Role::Dim));
        }
        let text = match self.change {
            Change::Binary => "a binary file".to_owned(),
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
}

fn hunk_entries(hunk: &Hunk) -> impl Iterator<Item = Entry> {
    hunk.blocks.iter().flat_map(block_entries)
}

fn block_entries(block: &Block) -> impl Iterator<Item = Entry> {
    let Block { equal, old, new, .. } = block;
    let first = old.clone().map(move |at| match equal {
        true => Entry::Line { side: Side::Context, old: at, new: new.start + (at - old.start), pair: None },
        false => Entry::Line { side: Side::Removed, old: at, new: new.start, pair: block.became(at) },
    });
    let added = if *equal { 0..0 } else { new.clone() };
    let second = added.map(move |at| Entry::Line { side: Side::Added, old: old.end, new: at, pair: block.was(at) });
    first.chain(second)
}

impl Block {
    /// The new line that an old one became.
    fn became(&self, old: usize) -> Option<usize> {
        let at = self.pairs.binary_search_by_key(&((old - self.old.start) as u32), |pair| pair.0).ok()?;
        Some(self.new.start + self.pairs[at].1 as usize)
    }

    /// The old line that a new one was.
    fn was(&self, new: usize) -> Option<usize> {
        let at = self.pairs.binary_search_by_key(&((new - self.new.start) as u32), |pair| pair.1).ok()?;
        Some(self.old.start + self.pairs[at].0 as usize)
    }
}

pub(super) struct Painter<'a> {
    model: &'a DiffModel,
    /// Where colours are looked for; nowhere, if only those that are known are wanted.
    code: Option<Code>,
    now: bool,
    width: usize,
    digits: usize,
}

/// The grammar's state on both sides, and the lines that it has come to.
struct Code {
    old: Highlighter,
    new: Highlighter,
    next: (usize, usize),
}

impl Code {
    /// For lines that begin at these of both sides.
    fn at(model: &DiffModel, next: (usize, usize)) -> Self {
        let lead = |text: &Text, at: usize| {
            let mut code = Highlighter::for_path(&model.path);
            for line in at.saturating_sub(LEAD_IN)..at {
                code.push_line_runs(bare(text.line(line)).0);
            }
            code
        };
        Self { old: lead(&model.old, next.0), new: lead(&model.new, next.1), next }
    }
}

impl<'a> Painter<'a> {
    pub fn new(model: &'a DiffModel, width: usize, now: bool) -> Self {
        Self { model, code: None, now, width, digits: model.number_width() }
    }

    /// Appends the rows of one line; of a gap, none.
    pub fn line(&mut self, entry: Entry, out: &mut Vec<Line>) {
        let Entry::Line { side, old, new, pair } = entry else { return };
        let model = self.model;
        let (text, other, at, band) = match side {
            Side::Context => {
                let shown = plain(model.new.line(new));
                let runs = self.runs(side, (old, new), &shown);
                return self.row(side, new, &shown, &runs, out);
            }
            Side::Removed => (model.old.line(old), pair.map(|at| model.new.line(at)), old, Role::DiffRemovedBand),
            Side::Added => (model.new.line(new), pair.map(|at| model.old.line(at)), new, Role::DiffAddedBand),
        };
        let shown = changed_line(side, text, other, model);
        let runs = self.runs(side, (old, new), &shown);
        self.row(side, at, &shown, &runs, out);
        if !text.ends_with('\n') {
            let note = Line::styled("no newline at end of file", Style::from(Role::LineNumber).italic());
            out.push(cut(&note.indented(self.digits + 4).filled(band), self.width));
        }
    }

    /// The colours of a line: those that are known, else found now if that is wanted.
    fn runs(&mut self, side: Side, at: (usize, usize), shown: &Shown) -> Cow<'a, [(Range<usize>, Style)]> {
        let model = self.model;
        let (line, lines) = if side == Side::Removed { (at.0, model.old.len()) } else { (at.1, model.new.len()) };
        if let Some(known) = model.colours.get(side, line) {
            return Cow::Borrowed(known);
        }
        if !self.now {
            return Cow::Borrowed(&[]);
        }
        let code = match &mut self.code {
            Some(code) if code.next == at => code,
            code => code.insert(Code::at(model, at)),
        };
        let text = without_signs(shown);
        let runs = match side {
            Side::Removed => code.old.push_line_runs(&text),
            Side::Added => code.new.push_line_runs(&text),
            Side::Context => {
                code.old.push_line_runs(bare(model.old.line(at.0)).0);
                code.new.push_line_runs(&text)
            }
        };
        code.next = (at.0 + usize::from(side != Side::Added), at.1 + usize::from(side != Side::Removed));
        if !code.new.is_cold() {
            model.colours.put(side, line, lines, runs.clone());
        }
        Cow::Owned(runs)
    }

    fn row(&mut self, side: Side, at: usize, shown: &Shown, runs: &[(Range<usize>, Style)], out: &mut Vec<Line>) {
        let (sign, ink, band, mark) = match side {
            Side::Context => (" ", None, None, None),
            Side::Removed => ("−", Some(Role::DiffRemoved), Some(Role::DiffRemovedBand), Some(Role::DiffRemovedMark)),
            Side::Added => ("+", Some(Role::DiffAdded), Some(Role::DiffAddedBand), Some(Role::DiffAddedMark)),
        };
        let line = styled(shown, runs, mark);
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
    let (mut run, mut mark_at, mut sign_at) = (0, 0, 0);
    for pair in cuts.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        while runs.get(run).is_some_and(|(r, _)| r.end <= from) {
            run += 1;
        }
        let mut style = runs.get(run).map(|(_, style)| *style).unwrap_or_default();
        if within(&shown.signs, &mut sign_at, from) {
            style = Role::LineNumber.into();
        }
        if let Some(mark) = mark.filter(|_| within(&shown.marked, &mut mark_at, from)) {
            style = style.bg(mark);
        }
        line.push(Span::new(text[from..to].to_owned(), style));
    }
    line
}

/// Whether `at` is in one of the rising `ranges`; `next` remembers where the last question left off.
fn within(ranges: &[Range<usize>], next: &mut usize, at: usize) -> bool {
    while ranges.get(*next).is_some_and(|r| r.end <= at) {
        *next += 1;
    }
    ranges.get(*next).is_some_and(|r| r.contains(&at))
}
