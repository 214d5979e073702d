//! The conversation on the screen: a fold over events into cells.
//!
//! Finished rows go to the outbox once and become the terminal's; only what may still change is live. Cells are kept as data, so
//! that the whole conversation can be printed again at another width.

mod held;
mod retelling;

use self::held::Held;
use super::{
    blocks::Shown,
    cell::{ALL_ROWS, CallCell, CallState, Cell, Kind, OUTPUT_ROWS, cell_rows, has_more, reads_row, tool_state},
};
use crate::protocol::*;
use backstitch_components::{
    chat_log::{self, GUTTER, ToolState},
    code,
    markdown::MarkdownStream,
    text::span::Line,
};
use std::{collections::BTreeSet, ops::Range, sync::Arc, time::Duration};

#[derive(Default)]
pub struct Transcript {
    pub cells: Vec<Cell>,
    answer: Option<Answer>,
    reasoning: Option<(String, Duration)>,
    pub calls: Vec<CallCell>,
    /// Reads that are done, but may be followed by more of their kind.
    reads: Vec<CallCell>,
    /// Reasoning is shown in full, not as one line.
    pub thoughts: bool,
    /// Cells that the user has opened, where they can be (in a window).
    opened: BTreeSet<usize>,
    outbox: Vec<Line>,
    last: Option<Kind>,
    waiting: held::Waiting,
    /// What is told has been shown before: it is kept, and not laid out.
    retelling: bool,
}

#[derive(Default)]
struct Answer {
    text: String,
    stream: MarkdownStream,
    begun: bool,
}

/// How rows are laid out now.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    pub width: usize,
    pub tick: u64,
    pub still: bool,
}

impl Transcript {
    /// Rows to print above the live region, since the last time.
    pub fn take_outbox(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.outbox)
    }

    /// Rows to be printed first, from a time when nothing could be.
    pub fn hold(&mut self, rows: Vec<Line>) {
        self.outbox.splice(0..0, rows);
    }

    /// `begins`: not the rest of what was printed last.
    fn print(&mut self, kind: Kind, rows: Vec<Line>, begins: bool) {
        if rows.is_empty() {
            return;
        }
        if !self.waiting.held.is_empty() {
            return self.waiting.held.push(Held::Rows { kind, rows, begins });
        }
        let apart = self.last.is_some_and(|last| last != kind || begins && kind != Kind::Call);
        if apart {
            self.outbox.push(Line::new());
        }
        self.last = Some(kind);
        self.outbox.extend(rows);
    }

    pub fn push(&mut self, cell: Cell, width: usize) {
        self.end_reads(width);
        self.put(cell, width);
    }

    fn put(&mut self, cell: Cell, width: usize) {
        if self.retelling {
            return self.cells.push(cell);
        }
        let (kind, rows) = self.printed(&cell, width);
        if matches!(cell, Cell::Call(_) | Cell::Answer(_)) && code::is_awaited() {
            self.waiting.held.push(Held::Cell(self.cells.len()));
        } else {
            self.print(kind, rows, true);
        }
        self.cells.push(cell);
    }

    pub fn header(&mut self, rows: Vec<Line>) {
        self.outbox.extend(rows);
        self.last = Some(Kind::Footer);
    }

    /// All that is finished, laid out anew.
    pub fn all_rows(&self, width: usize) -> Vec<Line> {
        self.rows_from(width, &mut vec![])
    }

    /// `ends` gets, for each cell, the number of rows up to its end.
    fn rows_from(&self, width: usize, ends: &mut Vec<usize>) -> Vec<Line> {
        let mut anew = Transcript { thoughts: self.thoughts, ..Transcript::default() };
        for (at, cell) in self.cells.iter().enumerate() {
            let (kind, rows) = cell_rows(cell, width, self.is_open(at, cell));
            anew.print(kind, rows, true);
            ends.push(anew.outbox.len());
        }
        if let Some(answer) = &self.answer {
            anew.answer = Some(Answer::default());
            if let Some(copy) = &mut anew.answer {
                copy.stream.push(&answer.text);
                if !answer.stream.is_waiting() {
                    copy.stream.wait_no_longer();
                }
            }
            anew.flush_answer(width);
        }
        anew.outbox
    }

    fn is_open(&self, at: usize, cell: &Cell) -> bool {
        self.opened.contains(&at) || self.thoughts && matches!(cell, Cell::Reasoning { .. })
    }

    /// Opens the cell at this row of all, or closes it again; where it is then, if there was anything to open.
    pub fn toggle(&mut self, row: usize, width: usize) -> Option<Range<usize>> {
        let mut ends = vec![];
        self.rows_from(width, &mut ends);
        self.toggle_cell(ends.iter().position(|end| row < *end)?, width)
    }

    /// The same for the newest cell of which not all is shown.
    pub fn toggle_last(&mut self, width: usize) -> Option<Range<usize>> {
        let at = self.cells.iter().rposition(|cell| has_more(cell, width))?;
        self.toggle_cell(at, width)
    }

    fn toggle_cell(&mut self, at: usize, width: usize) -> Option<Range<usize>> {
        self.cells.get(at).filter(|cell| has_more(cell, width))?;
        if !self.opened.remove(&at) {
            self.opened.insert(at);
        }
        let mut ends = vec![];
        self.rows_from(width, &mut ends);
        Some(at.checked_sub(1).map_or(0, |before| ends[before])..ends[at])
    }

    /// Everything again, for another width.
    pub fn print_again(&mut self, width: usize) {
        (self.last, self.waiting) = (None, held::Waiting::default());
        for cell in self.cells.clone() {
            let (kind, rows) = self.printed(&cell, width);
            self.print(kind, rows, true);
        }
        if let Some(answer) = &mut self.answer {
            answer.stream = MarkdownStream::new();
            answer.begun = false;
            let text = answer.text.clone();
            answer.stream.push(&text);
            self.flush_answer(width);
        }
    }

    // --- what events do ---

    pub fn text(&mut self, event: TextEvent, now: Duration, width: usize) {
        match event {
            TextEvent::Reasoning(text) => self.reasoning.get_or_insert_with(|| (String::new(), now)).0.push_str(&text),
            TextEvent::Answer(text) => {
                self.end_reads(width);
                self.end_reasoning(now, width);
                let answer = self.answer.get_or_insert_default();
                answer.text.push_str(&text);
                if !self.retelling {
                    answer.stream.push(&text);
                    self.flush_answer(width);
                }
            }
            TextEvent::Done => {
                self.end_reasoning(now, width);
                self.end_answer(width);
            }
        }
    }

    fn flush_answer(&mut self, width: usize) {
        let Some(answer) = &mut self.answer else { return };
        let rows = answer.stream.settled(width.saturating_sub(GUTTER));
        if !rows.is_empty() {
            let begun = std::mem::replace(&mut answer.begun, true);
            self.print_answer(rows, begun);
        }
    }

    /// `begun`: the rest of an answer of which rows were printed before.
    fn print_answer(&mut self, rows: Vec<Line>, begun: bool) {
        if !rows.is_empty() {
            self.print(Kind::Answer, chat_log::assistant(rows, !begun), !begun);
        }
    }

    fn end_answer(&mut self, width: usize) {
        let Some(Answer { text, mut stream, begun }) = self.answer.take() else { return };
        self.cells.push(Cell::Answer(text));
        if stream.awaits_colours() {
            return self.waiting.held.push(Held::Answer { stream: Box::new(stream), begun });
        }
        let rows = stream.finish(width.saturating_sub(GUTTER));
        self.print_answer(rows, begun);
    }

    /// Nothing more is added to the reads that stand together.
    fn end_reads(&mut self, width: usize) {
        let mut reads = std::mem::take(&mut self.reads);
        match reads.len() {
            0 => {}
            1 => self.put(Cell::Call(Box::new(reads.remove(0))), width),
            _ => self.put(Cell::Reads(reads), width),
        }
    }

    fn end_reasoning(&mut self, now: Duration, width: usize) {
        if let Some((text, began)) = self.reasoning.take() {
            self.push(Cell::Reasoning { text, took: now.saturating_sub(began) }, width);
        }
    }

    pub fn call(&mut self, event: CallEvent, width: usize) {
        match event {
            CallEvent::Proposed { id, name, title } => {
                let (shown, state) = (Arc::new(Shown::new(Block::Nothing)), CallState::Waiting);
                self.calls.push(CallCell { id, name, title, access: None, shown, state, why: None, output: String::new() });
            }
            CallEvent::Previewed { id, access, title, block } => {
                if let Some(call) = self.live_call(id) {
                    (call.access, call.title, call.shown) = (Some(access), title, Arc::new(Shown::new(block)));
                }
            }
            CallEvent::Asked { id, why } => {
                self.set_state(id, CallState::Asked);
                if let Some(call) = self.live_call(id) {
                    call.why = why.map(String::into_boxed_str);
                }
            }
            CallEvent::Started { id } => self.set_state(id, CallState::Running),
            CallEvent::Progress { id, output } => {
                if let Some(call) = self.live_call(id) {
                    call.output.push_str(&output);
                    keep_tail(&mut call.output);
                }
            }
            CallEvent::Finished { id, outcome } => {
                self.set_state(id, CallState::Finished(outcome));
                while self.calls.first().is_some_and(|c| matches!(c.state, CallState::Finished(_))) {
                    let call = self.calls.remove(0);
                    if !call.folds() {
                        self.push(Cell::Call(Box::new(call)), width);
                        continue;
                    }
                    if self.reads.first().is_some_and(|read| read.name != call.name) {
                        self.end_reads(width);
                    }
                    self.reads.push(call);
                }
            }
        }
    }

    /// All of what a call is about, into the scrollback: for a question that is longer than the screen.
    pub fn print_block(&mut self, call: &CallCell, width: usize) {
        self.end_reads(width);
        let mut rows = vec![chat_log::tool_line(ToolState::Waiting, &call.name, &call.title, call.shown.counts(), width)];
        rows.extend(call.shown.rows(width, ALL_ROWS));
        self.print(Kind::Call, rows, true);
    }

    fn live_call(&mut self, id: CallId) -> Option<&mut CallCell> {
        self.calls.iter_mut().find(|c| c.id == id)
    }

    fn set_state(&mut self, id: CallId, state: CallState) {
        if let Some(call) = self.live_call(id) {
            call.state = state;
        }
    }

    /// The first call that waits for the user.
    pub fn asked(&self) -> Option<&CallCell> {
        self.calls.iter().find(|c| c.state == CallState::Asked)
    }

    /// Nothing of a turn is left live when it ends.
    pub fn settle(&mut self, now: Duration, width: usize) {
        self.end_reasoning(now, width);
        self.end_answer(width);
        self.end_reads(width);
        for call in std::mem::take(&mut self.calls) {
            self.push(Cell::Call(Box::new(call)), width);
        }
    }

    pub fn clear(&mut self, width: usize) {
        self.wait_no_longer(width);
        self.cells.clear();
        self.opened.clear();
    }

    // --- what is live ---

    /// Rows that may still change, at the most `max_rows`: the newest.
    pub fn live(&self, layout: Layout, max_rows: usize) -> Vec<Line> {
        let (mut rows, before) = self.held_rows(layout);
        let held = rows.len();
        let begin = |rows: &mut Vec<Line>, kind: Kind| {
            if rows.len() == held && before.is_some_and(|last| last != kind) {
                rows.push(Line::new());
            }
        };
        if let Some((text, _)) = &self.reasoning {
            begin(&mut rows, Kind::Reasoning);
            let all = chat_log::reasoning(tail_of(text, 2_000), layout.width);
            rows.extend(last(all, 4));
        }
        if let Some(answer) = &self.answer {
            let tail = answer.stream.tail(layout.width.saturating_sub(GUTTER));
            begin(&mut rows, Kind::Answer);
            if tail.is_empty() {
                // The row that comes next keeps its place, so that what is below does not jump.
                rows.push(Line::new());
            }
            rows.extend(chat_log::assistant(tail, !answer.begun));
        }
        if !self.reads.is_empty() {
            begin(&mut rows, Kind::Call);
            rows.push(reads_row(&self.reads, layout.width));
        }
        for call in &self.calls {
            begin(&mut rows, Kind::Call);
            rows.extend(live_call_rows(call, layout));
        }
        last(rows, max_rows)
    }
}

fn last(mut rows: Vec<Line>, max_rows: usize) -> Vec<Line> {
    let from = rows.len().saturating_sub(max_rows);
    rows.split_off(from)
}

/// At least the last `bytes` of a text, from the start of a line where there is one.
fn tail_of(text: &str, bytes: usize) -> &str {
    let mut from = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(from) {
        from -= 1;
    }
    let tail = &text[from..];
    match tail.find('\n') {
        Some(end) if from > 0 => &tail[end + 1..],
        _ => tail,
    }
}

/// A command may print without end; the screen shows a few rows of it.
fn keep_tail(output: &mut String) {
    const KEEP: usize = 16 * 1024;
    if output.len() > 2 * KEEP {
        *output = tail_of(output, KEEP).to_string();
    }
}

fn live_call_rows(call: &CallCell, layout: Layout) -> Vec<Line> {
    let state = match &call.state {
        CallState::Waiting | CallState::Asked => ToolState::Waiting,
        CallState::Running => ToolState::Running { tick: layout.tick, still: layout.still },
        CallState::Finished(outcome) => tool_state(outcome),
    };
    let mut rows = vec![chat_log::tool_line(state, &call.name, &call.title, Line::new(), layout.width)];
    if call.state == CallState::Running {
        rows.extend(chat_log::output_tail(&call.output, OUTPUT_ROWS, layout.width));
    }
    rows
}
