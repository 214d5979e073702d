//! Our `TerminalBackend`: frames to the terminal, keys from it.
//!
//! - The user's scrollback is never erased: no `2J`, no `3J`; the live region is overwritten row by row, and what is printed
//!   above it scrolls up as any program's output does. A row printed is never drawn over, whatever the size does.
//! - A frame is one write, and only what changed in it.
//! - The real cursor stands where the user types.
//! - No control character of any text gets through (`paint`).

mod answer;
mod input;
mod paint;
mod tty;
mod watchdog;
mod window;

#[cfg(test)]
pub mod tests;

pub use tty::{Modes, Tty, taken};

use futures::{StreamExt, stream::BoxStream};
use iocraft::{Canvas, Passthrough, TerminalBackend, TerminalEvent};
use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
};

/// Where the cursor should be, in cells of the frame (column, row); `None` hides it. Set by the root with each frame.
pub type Cursor = Arc<Mutex<Option<(u16, u16)>>>;

/// What frames are written to: the terminal, or a recording in tests.
pub trait Surface: Send {
    fn size(&self) -> Option<(u16, u16)>;
    fn modes(&self) -> Modes;
    fn switch(&mut self, modes: Modes) -> io::Result<Vec<u8>>;
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()>;
    fn events(&mut self) -> io::Result<BoxStream<'static, io::Result<TerminalEvent>>>;
    /// What else is to be written when the terminal has become ours.
    fn question(&mut self) -> &'static [u8] {
        b""
    }
    /// What stays on when a screen ends.
    fn between(&self) -> Modes {
        Modes::default()
    }
    /// Does this terminal break long lines anew when it gets narrower?
    fn reflows(&self) -> bool;
}

impl Surface for Arc<Tty> {
    fn size(&self) -> Option<(u16, u16)> {
        Tty::size(self)
    }
    fn modes(&self) -> Modes {
        Tty::modes(self)
    }
    fn switch(&mut self, modes: Modes) -> io::Result<Vec<u8>> {
        Tty::switch(self, modes)
    }
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        Tty::write_all(self, bytes)
    }
    fn events(&mut self) -> io::Result<BoxStream<'static, io::Result<TerminalEvent>>> {
        Tty::events(self)
    }
    fn question(&mut self) -> &'static [u8] {
        Tty::question(self)
    }
    fn between(&self) -> Modes {
        Tty::between(self)
    }
    fn reflows(&self) -> bool {
        let term = std::env::var("TERM").unwrap_or_default();
        let plain_xterm = std::env::var_os("XTERM_VERSION").is_some() && std::env::var_os("TMUX").is_none();
        !(plain_xterm || term.starts_with("linux") || term.starts_with("rxvt") || term == "screen")
    }
}

pub struct Screen<S: Surface> {
    surface: S,
    cursor: Cursor,
    buf: Vec<u8>,
    size: Option<(u16, u16)>,
    /// Of the frame on the screen.
    size_drawn: Option<(u16, u16)>,
    fullscreen: bool,
    mouse: bool,
    /// Rows of the live region on the screen.
    rows: usize,
    /// The row of the region in which the terminal's cursor is.
    row_at: usize,
    /// What is on the screen of the region's rows is stale: they are to be written whole.
    stale: bool,
    /// The terminal may have broken rows, and remember which of them go on in the next one.
    broken: bool,
    /// Columns that each row takes, to find the region again after the terminal has broken them anew.
    widths: Vec<usize>,
    /// Cursor as the terminal has it: column and row of the region, or hidden.
    cursor_drawn: Option<Option<(u16, usize)>>,
    frame_height: usize,
}

impl<S: Surface> Screen<S> {
    pub fn new(surface: S, cursor: Cursor) -> Self {
        Screen {
            surface,
            cursor,
            buf: vec![],
            size: None,
            size_drawn: None,
            fullscreen: false,
            mouse: false,
            rows: 0,
            row_at: 0,
            stale: false,
            broken: false,
            widths: vec![],
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
        self.row_at = row;
        self.rows = self.rows.max(row + 1);
    }

    /// The terminal got another size. It may have broken our rows anew: goes to where the region begins now, and lets it be
    /// written whole from there.
    ///
    /// With the cursor at the region's beginning there is nothing to find, since terminals keep it with its text. Elsewhere the
    /// rows above it are counted as the terminal must have broken them; that is right unless it was already of another size when
    /// they were drawn. So the screen takes the cursor away while sizes keep changing (see `app`).
    fn find_region_again(&mut self) {
        if self.fullscreen {
            self.buf.extend_from_slice(b"\x1b[2J");
        } else if self.rows > 0 {
            let columns = self.columns();
            let reflows = self.surface.reflows();
            let broken = |w: &usize| if reflows { w.div_ceil(columns).max(1) } else { 1 };
            if self.row_at > 0 {
                let above: usize = self.widths.iter().take(self.row_at).map(broken).sum();
                // In its own row the cursor may have moved on to a continuation.
                let column = self.cursor_drawn.flatten().map_or(0, |(column, _)| usize::from(column));
                self.row_at = above + if reflows { column / columns } else { 0 };
            }
            self.rows = self.widths.iter().map(broken).sum::<usize>().max(self.row_at + 1);
            // What has left the screen at the top can't be reached any more.
            self.row_at = self.row_at.min(self.screen_rows() - 1);
            self.go_to_row(0);
            self.broken = true;
        }
        self.stale = true;
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

    fn place_cursor(&mut self) {
        let wanted = *self.cursor.lock().unwrap_or_else(|e| e.into_inner());
        let hidden_rows = if self.fullscreen { 0 } else { self.frame_height.saturating_sub(self.screen_rows()) };
        let place = wanted.and_then(|(x, y)| Some((x, usize::from(y).checked_sub(hidden_rows)?))).filter(|(_, y)| *y < self.rows.max(1));
        if self.cursor_drawn == Some(place) {
            return;
        }
        let was_shown = matches!(self.cursor_drawn, Some(Some(_)));
        match place {
            Some((x, y)) => {
                self.go_to_row(y);
                let _ = write!(self.buf, "\x1b[{}G", x + 1);
                if !was_shown {
                    self.buf.extend_from_slice(b"\x1b[?25h");
                }
            }
            None => {
                self.buf.extend_from_slice(b"\x1b[?25l");
                if self.rows > 0 {
                    self.go_to_row(0);
                }
            }
        }
        self.cursor_drawn = Some(place);
    }

    fn switch(&mut self, modes: Modes) -> io::Result<()> {
        if modes != self.surface.modes() {
            let bytes = self.surface.switch(modes)?;
            self.buf.extend(bytes);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
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
        if self.size_drawn.is_some() && self.size != self.size_drawn {
            self.find_region_again();
        }
        self.size_drawn = self.size;
        Ok(())
    }

    fn end_frame(&mut self) -> io::Result<()> {
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
        self.flush()
    }

    /// Only goes to the region's first row: what is printed and drawn from there overwrites the rest.
    fn clear_canvas(&mut self) -> io::Result<()> {
        if !self.fullscreen && self.rows > 0 {
            self.go_to_row(0);
        }
        self.stale = true;
        Ok(())
    }

    fn write_canvas(&mut self, prev: Option<&Canvas>, canvas: &Canvas) -> io::Result<()> {
        let (columns, height) = (self.columns(), self.screen_rows());
        let prev = prev.filter(|_| !self.stale);
        self.stale = false;
        let broken = std::mem::take(&mut self.broken) && !self.fullscreen;
        self.frame_height = canvas.height();
        // A frame that is too tall keeps its lower rows inline, where the prompt is, and its upper ones in fullscreen.
        let shown = canvas.height().min(height);
        let from = |c: &Canvas| if self.fullscreen { 0 } else { c.height().saturating_sub(height) };
        let (top, old_top) = (from(canvas), prev.map_or(0, from));
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
                if broken {
                    // Only a row that is erased whole is no continuation any more: overwritten, it would be joined with the one above
                    // when the size changes again.
                    self.buf.extend_from_slice(b"\x1b[2K");
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
        self.widths = (0..shown).map(|row| paint::used(canvas, top + row, columns)).collect();
        Ok(())
    }

    fn print_above(&mut self, messages: &[Passthrough<'_>]) -> io::Result<()> {
        // `clear_canvas` has put the cursor at the region's first row. Where a line is broken by a terminal that is narrower than it
        // said, nothing of the region may be left for it to run into.
        if self.rows > 0 {
            self.go_to_row(1);
            self.buf.extend_from_slice(b"\x1b[J");
            self.go_to_row(0);
        }
        for line in messages.iter().flat_map(|m| m.content.split('\n')) {
            // Erased first: at the end of a row that is full, terminals would erase its last character.
            self.buf.extend_from_slice(b"\x1b[K");
            self.buf.extend_from_slice(line.trim_end_matches('\r').as_bytes());
            self.buf.extend_from_slice(b"\r\n");
        }
        // The region begins anew where the cursor is, on an empty row.
        (self.rows, self.row_at) = (0, 0);
        self.cursor_drawn = None;
        Ok(())
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
