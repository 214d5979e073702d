//! What changed between two texts, as rows: unified, with line numbers, syntax colours and marked words.
//!
//! Invariants:
//! - `apply` with all hunks gives the new text, with none the old one, byte for byte;
//! - building the model costs the line diff only; words and syntax are looked at for the rows asked for;
//! - every row of a change says so by its sign, not by colour alone; no row is wider than asked.

mod colours;
mod pairing;
mod rows;
mod split;
mod words;

pub use colours::Uncoloured;
pub use split::SPLIT_WIDTH;

use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;

/// What happened to the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Created,
    Deleted,
    Modified,
    Unchanged,
    /// At least one side is not text.
    Binary,
}

/// The difference of two versions of a file.
#[derive(Clone, Debug)]
pub struct DiffModel {
    path: String,
    old: Text,
    new: Text,
    change: Change,
    hunks: Vec<Hunk>,
    added: usize,
    removed: usize,
    colours: Arc<colours::Colours>,
    /// What the texts do not tell: a mode that changes, a name that was another.
    remark: Option<String>,
}

/// A text and where its lines begin.
#[derive(Clone, Debug)]
struct Text {
    text: String,
    starts: Vec<usize>,
}

/// Changes that are shown together, with the unchanged lines around them.
#[derive(Clone, Debug, Default)]
struct Hunk {
    /// Unchanged lines between this hunk and the one before it (or the start).
    gap: usize,
    blocks: Vec<Block>,
    /// The line at which it begins, in the unified view and in the split one, the gaps before it counted.
    at: (usize, usize),
    /// Its lines in both.
    lines: (usize, usize),
}

/// A run of lines, as line ranges of both sides: equal, or the old replaced by the new.
#[derive(Clone, Debug)]
struct Block {
    equal: bool,
    old: Range<usize>,
    new: Range<usize>,
    /// Of what was replaced: which line became which.
    pairs: Box<[pairing::Pair]>,
}

impl Block {
    /// Rows it takes if nothing wraps.
    fn lines(&self) -> usize {
        if self.equal { self.old.len() } else { self.old.len() + self.new.len() }
    }
}

impl Text {
    fn new(text: &str) -> Self {
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        if text.is_empty() || text.ends_with('\n') {
            starts.pop();
        }
        Self { text: text.to_owned(), starts }
    }

    fn len(&self) -> usize {
        self.starts.len()
    }

    /// A line with its line end.
    fn line(&self, at: usize) -> &str {
        let Some(start) = self.starts.get(at) else { return "" };
        &self.text[*start..self.starts.get(at + 1).copied().unwrap_or(self.text.len())]
    }

    fn lines(&self, range: Range<usize>) -> &str {
        let start = |at: usize| self.starts.get(at).copied().unwrap_or(self.text.len());
        &self.text[start(range.start)..start(range.end)]
    }

    /// Whether most lines end in `\r\n`, judged by the first.
    fn crlf(&self) -> bool {
        self.line(0).ends_with("\r\n")
    }
}

impl DiffModel {
    /// Compares; `None` is a file that does not exist on that side. The path tells the language.
    pub fn new(old: Option<&str>, new: Option<&str>, path: &str) -> Self {
        let change = match (old, new) {
            (None, Some(_)) => Change::Created,
            (Some(_), None) => Change::Deleted,
            (old, new) if old == new => Change::Unchanged,
            _ => Change::Modified,
        };
        let (old, new) = (Text::new(old.unwrap_or("")), Text::new(new.unwrap_or("")));
        let mut model = Self {
            path: path.to_owned(),
            old,
            new,
            change,
            hunks: Vec::new(),
            added: 0,
            removed: 0,
            colours: Arc::default(),
            remark: None,
        };
        if !matches!(change, Change::Binary | Change::Unchanged) {
            model.compare();
        }
        model
    }

    /// A file whose contents are not shown; there on which sides?
    pub fn binary(old: bool, new: bool, path: &str) -> Self {
        let side = |there: bool| there.then_some("");
        let mut model = Self::new(side(old), side(new), path);
        if model.change == Change::Unchanged {
            model.change = Change::Binary;
        }
        model.remarked("a binary file".into())
    }

    /// With a word on what the texts do not tell.
    pub fn remarked(mut self, remark: String) -> Self {
        self.remark = Some(match self.remark {
            Some(before) => format!("{before}, {remark}"),
            None => remark,
        });
        self
    }

    pub fn remark(&self) -> Option<&str> {
        self.remark.as_deref()
    }

    fn compare(&mut self) {
        // Lines as numbers: comparing is then one instruction, whatever their length.
        let mut ids: HashMap<&str, u32> = HashMap::new();
        let mut number = |line| {
            let next = ids.len() as u32;
            *ids.entry(line).or_insert(next)
        };
        let old: Vec<u32> = (0..self.old.len()).map(|at| number(self.old.line(at))).collect();
        let new: Vec<u32> = (0..self.new.len()).map(|at| number(self.new.line(at))).collect();
        let blocks: Vec<Block> = capture_diff_slices(Algorithm::Myers, &old, &new).iter().map(block).collect();
        for block in blocks.iter().filter(|b| !b.equal) {
            self.removed += block.old.len();
            self.added += block.new.len();
        }
        let mut hunks = group(merge(blocks));
        let mut at = (0, 0);
        for (number, hunk) in hunks.iter_mut().enumerate() {
            for block in hunk.blocks.iter_mut().filter(|b| !b.equal && !b.old.is_empty() && !b.new.is_empty()) {
                let old: Vec<&str> = block.old.clone().map(|line| self.old.line(line)).collect();
                let new: Vec<&str> = block.new.clone().map(|line| self.new.line(line)).collect();
                block.pairs = pairing::pairs(&old, &new).into();
            }
            let gap = usize::from(number > 0);
            hunk.at = (at.0 + gap, at.1 + gap);
            hunk.lines = (hunk.blocks.iter().map(Block::lines).sum(), hunk.blocks.iter().map(Block::split_lines).sum());
            at = (hunk.at.0 + hunk.lines.0, hunk.at.1 + hunk.lines.1);
        }
        self.hunks = hunks;
    }

    pub fn path(&self) -> &str {
        &self.path
    }

    pub fn change(&self) -> Change {
        self.change
    }

    /// Lines added and removed.
    pub fn stats(&self) -> (usize, usize) {
        (self.added, self.removed)
    }

    /// Number of hunks: separate places of change, which [`DiffModel::apply`] can choose from.
    pub fn hunk_count(&self) -> usize {
        self.hunks.len()
    }

    /// Rows of a hunk if no line has to be wrapped.
    pub fn hunk_lines(&self, hunk: usize) -> usize {
        self.hunks.get(hunk).map_or(0, |h| h.lines.0)
    }

    /// The new text.
    pub fn new_text(&self) -> &str {
        &self.new.text
    }

    /// The line number of the new side at which a hunk begins, from 1.
    pub fn hunk_start(&self, hunk: usize) -> usize {
        self.hunks.get(hunk).and_then(|h| h.blocks.first()).map_or(0, |b| b.new.start + 1)
    }

    /// The old text with the chosen hunks applied.
    pub fn apply(&self, chosen: impl Fn(usize) -> bool) -> String {
        let mut out = String::with_capacity(self.new.text.len().max(self.old.text.len()));
        let mut at = 0;
        for (number, hunk) in self.hunks.iter().enumerate() {
            for block in hunk.blocks.iter().filter(|b| !b.equal) {
                out.push_str(self.old.lines(at..block.old.start));
                if chosen(number) {
                    // Lines that were last without a line end may now have others after them, or before.
                    if !block.new.is_empty() && !out.is_empty() && !out.ends_with('\n') {
                        out.push('\n');
                    }
                    out.push_str(self.new.lines(block.new.clone()));
                } else {
                    out.push_str(self.old.lines(block.old.clone()));
                }
                at = block.old.end;
            }
        }
        out.push_str(self.old.lines(at..self.old.len()));
        out
    }
}

fn block(op: &DiffOp) -> Block {
    let (old, new) = (op.old_range(), op.new_range());
    Block { equal: matches!(op, DiffOp::Equal { .. }), old, new, pairs: Box::default() }
}

/// Unchanged lines.
fn equal(old: Range<usize>, new: Range<usize>) -> Block {
    Block { equal: true, old, new, pairs: Box::default() }
}

/// Joins neighbouring changes, so that a deletion and the insertion after it are one replacement.
fn merge(blocks: Vec<Block>) -> Vec<Block> {
    let mut out: Vec<Block> = Vec::with_capacity(blocks.len());
    for block in blocks {
        match out.last_mut() {
            Some(last) if last.equal == block.equal => {
                last.old.end = block.old.end;
                last.new.end = block.new.end;
            }
            _ => out.push(block),
        }
    }
    out
}

/// Cuts the equal blocks to the context and starts a hunk at each gap.
fn group(blocks: Vec<Block>) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut current = Hunk::default();
    let count = blocks.len();
    for (at, block) in blocks.into_iter().enumerate() {
        if !block.equal {
            current.blocks.push(block);
            continue;
        }
        let before = if at == 0 { 0 } else { CONTEXT };
        let after = if at + 1 == count { 0 } else { CONTEXT };
        let length = block.old.len();
        // A gap of one line is not worth the row that says so.
        if length <= before + after + 1 && at > 0 && at + 1 < count {
            current.blocks.push(block);
            continue;
        }
        let (before, after) = (before.min(length), after.min(length));
        if before > 0 {
            let (old, new) = (block.old.start..block.old.start + before, block.new.start..block.new.start + before);
            current.blocks.push(equal(old, new));
        }
        if !current.blocks.is_empty() {
            hunks.push(std::mem::take(&mut current));
        }
        current.gap = length.saturating_sub(before + after);
        if after > 0 {
            let (old, new) = (block.old.end - after..block.old.end, block.new.end - after..block.new.end);
            current.blocks.push(equal(old, new));
        }
    }
    if current.blocks.iter().any(|b| !b.equal) {
        hunks.push(current);
    }
    hunks
}

#[cfg(test)]
mod tests;
