//! Syntax colours of a diff's lines, found once and kept.
//!
//! Invariants: what is kept for a line never changes; whoever only asks for what is known waits for nobody, so that colours can be
//! looked for in another thread while the diff is on the screen without them.

use super::rows::Side;
use crate::text::span::Style;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::DiffModel;

pub(super) type Runs = Vec<(Range<usize>, Style)>;

/// For each side, the colours of its lines as they are shown: as a context line, or as a changed one, never both.
#[derive(Debug, Default)]
pub(super) struct Colours {
    old: OnceLock<Box<[OnceLock<Runs>]>>,
    new: OnceLock<Box<[OnceLock<Runs>]>>,
}

impl Colours {
    fn side(&self, side: Side) -> &OnceLock<Box<[OnceLock<Runs>]>> {
        if side == Side::Removed { &self.old } else { &self.new }
    }

    pub fn get(&self, side: Side, line: usize) -> Option<&Runs> {
        self.side(side).get()?.get(line)?.get()
    }

    /// `lines`: how many that side has.
    pub fn put(&self, side: Side, line: usize, lines: usize, runs: Runs) {
        let kept = self.side(side).get_or_init(|| (0..lines).map(|_| OnceLock::new()).collect());
        if let Some(place) = kept.get(line) {
            // Another thread may have found the same.
            let _ = place.set(runs);
        }
    }
}

/// Lines on the screen that have no colours yet.
#[derive(Clone, Debug)]
pub struct Uncoloured {
    pub(crate) model: Arc<DiffModel>,
    /// As the view counts lines: side by side or not.
    pub(crate) lines: Range<usize>,
    pub(crate) split: bool,
}

impl PartialEq for Uncoloured {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.model, &other.model) && (&self.lines, self.split) == (&other.lines, other.split)
    }
}

impl Uncoloured {
    /// Finds them, and those of as many lines above and below: some 0.1 ms a line, and up to 300 ms for a language that nobody has
    /// asked for before.
    pub fn colour(&self) {
        let lines = self.lines.start.saturating_sub(self.lines.len())..self.lines.end.saturating_add(self.lines.len());
        // Painted for nobody: how a line is shown is part of what is coloured.
        const WIDTH: usize = 400;
        if self.split {
            self.model.split_window(lines, WIDTH, true);
        } else {
            self.model.window(lines, WIDTH, true);
        }
    }
}
