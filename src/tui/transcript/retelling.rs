//! A session that goes on: its conversation is taken in without being laid out, and only the end of it is printed.

use super::{Transcript, cell_rows};
use crate::tui::cell::Cell;

/// Rows that are printed of what was said before, from the start of a request: about so many.
const ROWS: usize = 120;

impl Transcript {
    pub fn begin_retelling(&mut self) {
        self.retelling = true;
    }

    /// The rest is in the window (`ctrl+o`, `ctrl+f`), and printed by `/redraw`.
    pub fn end_retelling(&mut self, width: usize) {
        self.retelling = false;
        let (mut from, mut rows) = (self.cells.len(), 0);
        let begins = |at: usize| matches!(self.cells.get(at), Some(Cell::User(_)));
        while from > 0 && (rows < ROWS || !begins(from)) && rows < 2 * ROWS {
            from -= 1;
            rows += cell_rows(&self.cells[from], width, false).1.len();
        }
        let told = self.cells.split_off(from);
        let earlier = self.cells.iter().filter(|cell| matches!(cell, Cell::User(_))).count();
        if from > 0 {
            let requests = if earlier == 1 { "1 earlier request".into() } else { format!("{earlier} earlier requests") };
            let (kind, rows) = cell_rows(&Cell::Said(format!("⋯ {requests} · ctrl+o or /fullscreen shows all")), width, false);
            self.print(kind, rows, true);
        }
        told.into_iter().for_each(|cell| self.put(cell, width));
    }
}
