//! What waits for its colours before it is printed for good: code in a language whose grammar is still being compiled.
//!
//! Invariants: what comes after it waits, too, so that all is printed in its order; it is seen in the live region meanwhile; nothing
//! waits where nobody will print it again (a window lays itself out anew), at the end, or for longer than [`PATIENCE`].

use super::{Kind, Layout, Transcript};
use crate::tui::cell::{Cell, cell_rows};
use backstitch_components::{chat_log::GUTTER, code, markdown::MarkdownStream, text::span::Line};
use std::time::Duration;

/// A grammar takes 10 to 300 ms, more on a busy machine; what has not come by then is printed plain.
const PATIENCE: Duration = Duration::from_secs(10);

/// Something to be printed later.
pub(super) enum Held {
    /// To be laid out anew then.
    Cell(usize),
    /// The end of an answer.
    Answer {
        stream: Box<MarkdownStream>,
        begun: bool,
    },
    Rows {
        kind: Kind,
        rows: Vec<Line>,
        begins: bool,
    },
}

#[derive(Default)]
pub(super) struct Waiting {
    pub held: Vec<Held>,
    /// Until then.
    until: Option<Duration>,
}

impl Transcript {
    /// Does anything wait to be printed?
    pub fn waits(&self) -> bool {
        !self.waiting.held.is_empty() || self.answer.as_ref().is_some_and(|answer| answer.stream.is_waiting())
    }

    /// After every message: prints what has its colours by now, or has waited long enough.
    pub fn print_coloured(&mut self, now: Duration, width: usize) {
        if !self.waits() {
            self.waiting.until = None;
            return;
        }
        let until = *self.waiting.until.get_or_insert(now + PATIENCE);
        if now >= until {
            self.wait_no_longer(width);
        } else if !code::is_awaited() {
            self.print_held(width);
            self.flush_answer(width);
        }
    }

    /// Prints all that waits, as it is.
    pub fn wait_no_longer(&mut self, width: usize) {
        self.print_held(width);
        if let Some(answer) = &mut self.answer {
            answer.stream.wait_no_longer();
        }
        self.flush_answer(width);
        self.waiting.until = None;
    }

    fn print_held(&mut self, width: usize) {
        for held in std::mem::take(&mut self.waiting.held) {
            match held {
                Held::Cell(at) => {
                    if let Some((kind, rows)) = self.cells.get(at).map(|cell| self.printed(cell, width)) {
                        self.print(kind, rows, true);
                    }
                }
                Held::Answer { mut stream, begun } => {
                    let rows = stream.finish(width.saturating_sub(GUTTER));
                    self.print_answer(rows, begun);
                }
                Held::Rows { kind, rows, begins } => self.print(kind, rows, begins),
            }
        }
    }

    /// What would be printed now, and of which kind the last of it is.
    pub(super) fn held_rows(&self, layout: Layout) -> (Vec<Line>, Option<Kind>) {
        let mut anew = Transcript { last: self.last, ..Transcript::default() };
        for held in &self.waiting.held {
            match held {
                Held::Cell(at) => {
                    if let Some((kind, rows)) = self.cells.get(*at).map(|cell| self.printed(cell, layout.width)) {
                        anew.print(kind, rows, true);
                    }
                }
                Held::Answer { stream, begun } => anew.print_answer(stream.tail(layout.width.saturating_sub(GUTTER)), *begun),
                Held::Rows { kind, rows, begins } => anew.print(*kind, rows.clone(), *begins),
            }
        }
        (anew.outbox, anew.last)
    }

    /// A cell as it goes into the scrollback.
    pub(super) fn printed(&self, cell: &Cell, width: usize) -> (Kind, Vec<Line>) {
        cell_rows(cell, width, self.thoughts && matches!(cell, Cell::Reasoning { .. }))
    }
}
