//! Our `TerminalBackend`: frames to the terminal, keys from it.
//!
//! - The user's scrollback is never erased: no `2J`, no `3J`; the live region is overwritten row by row, and what is printed
//!   above it scrolls up as any program's output does. A row printed is never drawn over, whatever the size does.
//! - A frame is one write, and only what changed in it.
//! - The real cursor stands where the user types.
//! - While the size changes nothing is drawn: terminals put rows together again that they have broken, as long as nobody writes.
//!   The terminal is asked where the cursor is, and when the size has settled, everything that is left of the region is erased
//!   from its first row on and drawn anew (`region`). Nothing waits for the answer: without one the region's own rows are
//!   counted, and what is above them is left alone.
//! - A frame for a size that has changed since it was begun is not drawn; what it was to print is printed with the next one. tmux, which
//!   tells of sizes late, says with each frame how large it was (`CSI 18t`), so that a frame that came too late is known.
//! - No control character of any text gets through (`paint`).

mod answer;
mod input;
mod paint;
mod region;
mod surface;
mod tty;
mod watchdog;
mod window;

#[cfg(test)]
pub mod tests;

pub use region::Reflow;
pub use surface::Surface;
pub use tty::{Modes, Tty, taken};

use futures::{StreamExt, stream::BoxStream};
use iocraft::{Canvas, Passthrough, TerminalBackend, TerminalEvent};
use region::{Change, Region, Row};
use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
    time::Duration,
};

/// What the root and the screen tell each other with each frame, besides its rows.
#[derive(Debug, Default)]
pub struct Stage {
    /// Where the cursor should be, in cells of the frame (column, row); `None` hides it.
    pub cursor: Option<(u16, u16)>,
    /// Sizes keep changing: nothing is to be drawn.
    pub held: bool,
    /// Columns and rows as the frame that comes will have them.
    pub size: Option<(u16, u16)>,
}

pub type SharedStage = Arc<Mutex<Stage>>;

/// What was drawn less than this before a change of size was told may have been drawn after it.
const RACE: Duration = Duration::from_millis(30);
/// How often the terminal is asked where the cursor is, besides changes of size.
const ASKS: u8 = 3;

pub struct Screen<S: Surface> {
    surface: S,
    stage: SharedStage,
    buf: Vec<u8>,
    size: Option<(u16, u16)>,
    /// It has changed since the frame was begun: the frame is not drawn, since it would go to the wrong place.
    late: bool,
    /// What was to be printed with frames that were not drawn.
    unprinted: Vec<String>,
    /// Of the frame on the screen.
    size_drawn: Option<(u16, u16)>,
    fullscreen: bool,
    mouse: bool,
    /// Rows of the live region on the screen.
    rows: usize,
    /// The row of the region in which the terminal's cursor is, and its column once the frame is drawn.
    row_at: usize,
    column_at: usize,
    /// What is on the screen of the region's rows is stale: they are to be written whole.
    stale: bool,
    region: Region,
    /// Sizes change: the one for which the terminal was asked last, and whether the region had been drawn long enough before.
    changing: Option<(Option<(u16, u16)>, bool)>,
    /// When something was written last.
    written: Option<Duration>,
    /// How often the terminal may still be asked for its cursor, and whether it was just now, with nothing written since.
    asks: u8,
    asked: bool,
    /// Cursor as the terminal has it: column and row of the region, or hidden.
    cursor_drawn: Option<Option<(u16, usize)>>,
    frame_height: usize,
}

impl<S: Surface> Screen<S> {
    pub fn new(surface: S, stage: SharedStage) -> Self {
        Screen {
            surface,
            stage,
            buf: vec![],
            size: None,
            late: false,
            unprinted: vec![],
            size_drawn: None,
            fullscreen: false,
            mouse: false,
            rows: 0,
            row_at: 0,
            column_at: 0,
            stale: false,
            region: Region::default(),
            changing: None,
            written: None,
            asks: ASKS,
            asked: false,
            cursor_drawn: None,
            frame_height: 0,
        }
    }

    fn columns(&self) -> usize {
        self.size.map_or(usize::MAX, |s| usize::from(s.0)).max(1)
    }

    fn screen_rows(&self) -> usize {
        self.size.map_or(usize::MAX, |s| usize::from(s.1)).max(1)
    }

    fn go_to_row(&mut self, row: usize) {
        self.cursor_drawn = None;
        if self.fullscreen {
            let _ = write!(self.buf, "\x1b[{}H", row + 1);
        } else {
            if row < self.row_at {
                let _ = write!(self.buf, "\x1b[{}A", self.row_at - row);
            }
            // Down by line feeds: where a cursor movement would stop at the last line of the screen, and the way back up would then
            // end above the region, these scroll.
            self.buf.extend(std::iter::repeat_n(b'\n', row.saturating_sub(self.row_at)));
            self.buf.push(b'\r');
        }
        (self.row_at, self.column_at) = (row, 0);
        self.rows = self.rows.max(row + 1);
        self.region.reach(row, self.screen_rows());
    }

    fn stage(&self) -> std::sync::MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Is nothing to be drawn now?
    fn held(&self) -> bool {
        !self.fullscreen && (self.late || self.stage().held)
    }

    /// Looks once more, now that the frame is made.
    fn look_again(&mut self) {
        self.late |= !self.fullscreen && self.surface.size().is_some_and(|size| Some(size) != self.size);
    }

    /// Sizes change: asks for the cursor each time, so that the last answer is the one that counts.
    fn ask_while_held(&mut self) {
        let asked_for = self.changing.map(|(size, _)| size);
        if asked_for != Some(self.size) {
            let still = self.written.is_none_or(|at| self.surface.now().saturating_sub(at) >= RACE);
            let sure = self.changing.map_or(still, |(_, sure)| sure);
            self.changing = Some((self.size, sure));
            self.buf.extend_from_slice(self.surface.ask());
        }
    }

    /// The terminal may have got another size, and broken our rows anew: goes to where the region begins now, and erases from there.
    fn find_region_again(&mut self) {
        if self.held() || (self.changing.is_none() && self.size_drawn.is_none_or(|size| Some(size) == self.size)) {
            return;
        }
        let told = std::mem::replace(&mut self.size_drawn, self.size);
        let changing = self.changing.take();
        if self.fullscreen {
            self.buf.extend_from_slice(b"\x1b[2J");
        } else if self.rows > 0 {
            let size = |size: Option<(u16, u16)>| size.map_or((usize::MAX, usize::MAX), |(c, r)| (c.max(1).into(), r.max(1).into()));
            // What the terminal says of the last frame is better than when it was written.
            let was = told.and_then(|size| self.surface.was(size));
            let answer = changing.and_then(|_| self.surface.answer());
            let up = self.region.find(&Change {
                from: size(told),
                to: size(self.size),
                cursor: (self.row_at, self.column_at),
                answer: answer.map(|(row, column)| (usize::from(row).min(self.screen_rows() - 1), column.into())),
                reflow: self.surface.reflow(),
                sure: was.or(changing.map(|(_, sure)| sure)).unwrap_or_default(),
            });
            self.row_at = up;
            self.go_to_row(0);
            self.buf.extend_from_slice(b"\x1b[2K");
            if self.screen_rows() > 1 {
                // Down without scrolling, and never from the top left corner: some terminals take that for clearing the screen, and
                // keep what was on it.
                self.buf.extend_from_slice(b"\x1b7\x1b[B\x1b[J\x1b8");
            }
            self.rows = 1;
            self.asks = ASKS;
        }
        self.stale = true;
    }

    /// The region as one line, down to the end of the screen (see `region`).
    fn write_tied(&mut self, canvas: &Canvas, top: usize, shown: usize) {
        let columns = self.columns();
        let rows = self.region.top.map_or(shown, |at| self.screen_rows().saturating_sub(at)).max(shown);
        self.go_to_row(0);
        for row in 0..rows {
            let used = if row < shown { paint::write_cells(&mut self.buf, canvas, top + row, columns) } else { 0 };
            self.buf.extend(std::iter::repeat_n(b' ', columns - used));
        }
        self.buf.push(b'\r');
        (self.rows, self.row_at) = (rows, rows - 1);
        self.region.reach(rows - 1, self.screen_rows());
        let row = |row| if row < shown { Row::of(canvas, top + row, columns) } else { Row::default() };
        self.region.drawn((0..rows).map(row).collect(), Some(columns));
    }

    /// Takes what is below the first `shown` rows off the screen. Never from the top left corner: some terminals take that for
    /// clearing the screen, and keep what was on it.
    fn erase_below(&mut self, shown: usize) {
        if shown == 0 {
            self.go_to_row(0);
            self.buf.extend_from_slice(b"\x1b[2K");
        }
        if self.rows > shown.max(1) {
            self.go_to_row(shown.max(1));
            self.buf.extend_from_slice(b"\x1b[J");
        }
        if shown == 0 {
            self.go_to_row(0);
        }
        self.rows = shown;
    }

    fn print(&mut self) -> io::Result<()> {
        let texts = std::mem::take(&mut self.unprinted);
        // `clear_canvas` has put the cursor at the region's first row. Where a line is broken by a terminal that is narrower than it
        // said, nothing of the region may be left for it to run into.
        if self.rows > 0 {
            self.go_to_row(1);
            self.buf.extend_from_slice(b"\x1b[J");
            self.go_to_row(0);
        }
        for line in texts.iter().flat_map(|text| text.split('\n')) {
            // Erased first: at the end of a row that is full, terminals would erase its last character.
            self.buf.extend_from_slice(b"\x1b[K");
            self.buf.extend_from_slice(line.trim_end_matches('\r').as_bytes());
            self.buf.extend_from_slice(b"\r\n");
        }
        let lines = texts.iter().map(|text| text.split('\n').count()).sum();
        self.region.printed(lines, self.screen_rows());
        // The region begins anew where the cursor is, on an empty row.
        (self.rows, self.row_at) = (0, 0);
        self.cursor_drawn = None;
        Ok(())
    }

    /// Frames that were not drawn have left something to print.
    fn print_what_waits(&mut self) -> io::Result<()> {
        if self.unprinted.is_empty() || self.fullscreen || self.held() {
            return Ok(());
        }
        self.clear_canvas()?;
        self.print()?;
        // Laid out for another width, these may have taken more rows than they are.
        self.region.top = None;
        Ok(())
    }

    fn place_cursor(&mut self) {
        let wanted = self.stage().cursor;
        let hidden_rows = if self.fullscreen { 0 } else { self.frame_height.saturating_sub(self.screen_rows()) };
        let place = wanted.and_then(|(x, y)| Some((x, usize::from(y).checked_sub(hidden_rows)?))).filter(|(_, y)| *y < self.rows.max(1));
        if self.cursor_drawn == Some(place) {
            return;
        }
        let was_shown = matches!(self.cursor_drawn, Some(Some(_)));
        match place {
            Some((x, y)) => {
                self.go_to(y, x.into());
                if !was_shown {
                    self.buf.extend_from_slice(b"\x1b[?25h");
                }
            }
            None => {
                self.buf.extend_from_slice(b"\x1b[?25l");
                if self.rows > 0 {
                    let (row, column) = self.berth();
                    self.go_to(row, column);
                }
            }
        }
        self.cursor_drawn = Some(place);
    }

    fn go_to(&mut self, row: usize, column: usize) {
        self.go_to_row(row);
        let _ = write!(self.buf, "\x1b[{}G", column + 1);
        self.column_at = column;
    }

    /// Where a hidden cursor is: in the first row, from which the region is drawn over. But tmux keeps the last rows of the screen,
    /// and tells nothing of a cursor that has left it: there it is at the region's end.
    fn berth(&self) -> (usize, usize) {
        if self.fullscreen || self.surface.reflow() != Reflow::Tmux {
            return (0, 0);
        }
        self.region.end(self.rows)
    }

    fn switch(&mut self, modes: Modes) -> io::Result<()> {
        if modes != self.surface.modes() {
            let bytes = self.surface.switch(modes)?;
            self.buf.extend(bytes);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.written = Some(self.surface.now());
        let result = self.surface.write_all(&self.buf);
        self.buf.clear();
        result
    }
}

impl<S: Surface> TerminalBackend for Screen<S> {
    fn refresh_size(&mut self) {
        self.size = self.surface.size().or(self.size);
    }

    fn size(&self) -> Option<(u16, u16)> {
        self.size
    }

    fn set_fullscreen(&mut self, on: bool) -> io::Result<()> {
        self.fullscreen = on;
        self.switch(Modes { fullscreen: on, ..self.surface.modes() })
    }

    fn set_mouse_capture(&mut self, on: bool) -> io::Result<()> {
        self.mouse = on;
        self.switch(Modes { mouse: on, ..self.surface.modes() })
    }

    fn begin_frame(&mut self) -> io::Result<()> {
        self.late = false;
        self.stage().size = self.size;
        if std::mem::take(&mut self.asked)
            && let Some((at, _)) = self.surface.answer()
        {
            self.region.top = usize::from(at).checked_sub(self.row_at);
        }
        Ok(())
    }

    fn end_frame(&mut self) -> io::Result<()> {
        if self.held() {
            self.ask_while_held();
            return if self.buf.is_empty() { Ok(()) } else { self.flush() };
        }
        self.find_region_again();
        self.size_drawn = self.size;
        self.place_cursor();
        if self.buf.is_empty() {
            return Ok(());
        }
        // Cursor moves and single keys are one short write that can't tear; the bracket is for the rest.
        if self.buf.len() > 64 {
            self.buf.splice(0..0, *b"\x1b[?2026h\x1b[?25l");
            if matches!(self.cursor_drawn, Some(Some(_))) {
                self.buf.extend_from_slice(b"\x1b[?25h");
            }
            self.buf.extend_from_slice(b"\x1b[?2026l");
        }
        if !self.fullscreen && self.rows > 0 && self.region.top.is_none() && self.asks > 0 {
            self.asks -= 1;
            self.asked = true;
            self.buf.extend_from_slice(self.surface.ask());
        }
        if !self.fullscreen {
            self.buf.extend_from_slice(self.surface.ask_size());
        }
        self.flush()
    }

    /// Only goes to the region's first row: what is printed and drawn from there overwrites the rest.
    fn clear_canvas(&mut self) -> io::Result<()> {
        self.look_again();
        if self.held() {
            return Ok(());
        }
        self.find_region_again();
        if !self.fullscreen && self.rows > 0 {
            self.go_to_row(0);
        }
        self.stale = true;
        Ok(())
    }

    fn write_canvas(&mut self, prev: Option<&Canvas>, canvas: &Canvas) -> io::Result<()> {
        if self.buf.is_empty() {
            self.look_again();
        }
        self.print_what_waits()?;
        if self.held() {
            self.stale = true;
            return Ok(());
        }
        self.find_region_again();
        let (columns, height) = (self.columns(), self.screen_rows());
        let prev = prev.filter(|_| !self.stale);
        self.stale = false;
        self.frame_height = canvas.height();
        // A frame that is too tall keeps its lower rows inline, where the prompt is, and its upper ones in fullscreen.
        let shown = canvas.height().min(height);
        let from = |c: &Canvas| if self.fullscreen { 0 } else { c.height().saturating_sub(height) };
        let (top, old_top) = (from(canvas), prev.map_or(0, from));
        if !self.fullscreen && shown > 0 && self.region.has_lost() && self.surface.reflow() == Reflow::Tmux {
            self.write_tied(canvas, top, shown);
            return Ok(());
        }
        let old_shown = prev.map_or(0, |p| p.height().min(height));
        let mut wraps = true;
        for row in 0..shown {
            let mut changed = vec![];
            match prev {
                Some(old) if row < old_shown => paint::update_row(&mut changed, (old, old_top + row), (canvas, top + row), columns),
                _ => paint::write_row(&mut changed, canvas, top + row, columns),
            }
            // An empty row that is new must still exist on the screen.
            if !changed.is_empty() || row >= self.rows {
                self.go_to_row(row);
                // The terminal may be narrower by now than it said: then a row is better cut than broken.
                if std::mem::take(&mut wraps) {
                    self.buf.extend_from_slice(b"\x1b[?7l");
                }
                self.buf.append(&mut changed);
            }
        }
        if !wraps {
            self.buf.extend_from_slice(b"\x1b[?7h");
        }
        if !self.fullscreen && self.rows > shown {
            self.erase_below(shown);
        }
        if !self.fullscreen {
            self.region.drawn((0..shown).map(|row| Row::of(canvas, top + row, columns)).collect(), None);
        }
        Ok(())
    }

    fn print_above(&mut self, messages: &[Passthrough<'_>]) -> io::Result<()> {
        self.unprinted.extend(messages.iter().map(|m| m.content.to_string()));
        if self.held() { Ok(()) } else { self.print() }
    }

    fn event_stream(&mut self) -> io::Result<BoxStream<'static, io::Result<TerminalEvent>>> {
        self.switch(Modes { keys: true, ..self.surface.modes() })?;
        // With the first frame, which waits for no answer.
        self.buf.extend_from_slice(self.surface.question());
        Ok(self.surface.events()?.boxed())
    }
}

impl<S: Surface> Drop for Screen<S> {
    /// Leaves the cursor below what is on the screen, and every mode off, unless another screen of ours follows.
    fn drop(&mut self) {
        self.late = false;
        self.stage().held = false;
        let _ = self.print_what_waits();
        if !self.fullscreen && self.rows > 0 {
            self.go_to_row(self.rows - 1);
            self.buf.extend_from_slice(b"\r\n");
        }
        self.buf.extend_from_slice(b"\x1b[0m");
        let _ = self.switch(self.surface.between());
        self.buf.extend_from_slice(b"\x1b[?25h");
        let _ = self.flush();
    }
}
