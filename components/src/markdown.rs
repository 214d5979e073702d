//! Markdown as rows, for a text that is still arriving.
//!
//! Invariants:
//! - whole lines only go through the block machine, so the result does not depend on how the text was cut;
//! - rows handed out by [`MarkdownStream::settled`] never change; each is handed out once;
//! - a push costs what was pushed, however long the text before it is;
//! - nothing is lost: what is no markup is shown as text, what is malformed is shown as it stands;
//! - lines of code whose grammar is not there yet (see [`crate::code`]) wait for it, up to [`MAX_WAITING`] of them;
//! - code rows carry no decoration, so that copying gives the code.

mod blocks;
mod inline;
mod layout;
mod machine;
mod table;

use crate::text::span::Line;
use machine::Machine;
use std::collections::VecDeque;

/// Rows that a preview shows at most: the unfinished rest is normally a line or a table.
const MAX_TAIL_ROWS: usize = 100;
/// Of a line that has not ended yet, a preview shows this many bytes from its end.
const MAX_TAIL_BYTES: usize = 8_192;

/// With so many lines waiting for a grammar nobody waits on.
const MAX_WAITING: usize = 60;

/// Markdown that arrives in pieces.
#[derive(Default)]
pub struct MarkdownStream {
    /// The line that has not ended yet.
    pending: String,
    /// Lines that would stay plain if they settled now.
    waiting: VecDeque<String>,
    machine: Machine,
}

impl MarkdownStream {
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece of text, cut anywhere.
    pub fn push(&mut self, text: &str) {
        let mut rest = text;
        while let Some((head, tail)) = rest.split_once('\n') {
            if self.pending.is_empty() {
                self.line(head);
            } else {
                self.pending.push_str(head);
                let line = std::mem::take(&mut self.pending);
                self.line(&line);
            }
            rest = tail;
        }
        self.pending.push_str(rest);
    }

    fn line(&mut self, line: &str) {
        if self.waiting.is_empty() && !self.machine.awaits_colours(line) {
            return self.machine.line(line);
        }
        self.waiting.push_back(line.to_owned());
        if self.waiting.len() > MAX_WAITING {
            self.wait_no_longer();
        }
    }

    /// Do lines wait for their colours, after all that need no longer have settled?
    pub fn awaits_colours(&mut self) -> bool {
        while let Some(line) = self.waiting.front().filter(|line| !self.machine.awaits_colours(line)) {
            self.machine.line(line);
            self.waiting.pop_front();
        }
        !self.waiting.is_empty()
    }

    /// Did lines wait when it was last looked at?
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// What waits settles as it is.
    pub fn wait_no_longer(&mut self) {
        self.waiting.drain(..).for_each(|line| self.machine.line(&line));
    }

    /// The rows that became final since the last call, laid out for `width` cells.
    pub fn settled(&mut self, width: usize) -> Vec<Line> {
        self.awaits_colours();
        self.machine.take().iter().flat_map(|piece| piece.rows(width)).collect()
    }

    /// What the unfinished rest would look like if the text ended here; at most its last 100 rows.
    pub fn tail(&self, width: usize) -> Vec<Line> {
        let mut machine = self.machine.preview();
        self.waiting.iter().for_each(|line| machine.line(line));
        let from = self.pending.len().saturating_sub(MAX_TAIL_BYTES);
        let from = (from..=self.pending.len()).find(|at| self.pending.is_char_boundary(*at)).unwrap_or(0);
        if from < self.pending.len() {
            machine.line(&self.pending[from..]);
        }
        machine.end();
        let mut rows: Vec<Line> = machine.take().iter().flat_map(|piece| piece.rows(width)).collect();
        rows.drain(..rows.len().saturating_sub(MAX_TAIL_ROWS));
        rows
    }

    /// Ends the text: the rows that were not handed out yet. The stream is empty and new afterwards.
    pub fn finish(&mut self, width: usize) -> Vec<Line> {
        self.awaits_colours();
        self.wait_no_longer();
        if !self.pending.is_empty() {
            self.machine.line(&std::mem::take(&mut self.pending));
        }
        self.machine.end();
        let rows = self.settled(width);
        *self = Self::new();
        rows
    }
}

/// A whole text at once.
pub fn render(text: &str, width: usize) -> Vec<Line> {
    let mut stream = MarkdownStream::new();
    stream.push(text);
    stream.finish(width)
}

#[cfg(test)]
mod tests;
