//! The conversation in a window of its own: the rows that inline go to the terminal's scrollback, with our scrolling instead of
//! the terminal's.
//!
//! A frame costs what is visible. What is printed meanwhile is kept for the terminal, so that it is there when the window closes.

use super::{
    app::Model,
    keymap::{Context, Keymap},
    panel::{Panel, Search},
    transcript::Transcript,
    view,
};
use crate::protocol::Notice;
use backstitch_components::{
    text::{
        span::Line,
        wrap::{truncate, wrap_exact},
    },
    theme::Role,
    viewport::Viewport,
};
use std::ops::Range;

/// Rows before the conversation: a blank one below the header.
fn above(header: &[Line]) -> usize {
    if header.is_empty() { 0 } else { header.len() + 1 }
}

#[derive(Default)]
pub struct Window {
    rows: Vec<Line>,
    pub viewport: Viewport,
    /// For the terminal's scrollback, once the window closes.
    held: Vec<Line>,
    width: usize,
    /// Opened only to show what was folded: esc closes it.
    pub lent: bool,
    /// Rows there were when the window was last at its end: what came since is new.
    seen: usize,
}

impl Window {
    /// The whole conversation, at this width.
    pub fn open(transcript: &Transcript, header: &[Line], width: usize) -> Window {
        let mut window = Window::default();
        window.lay_out(transcript, header, width);
        window
    }

    /// All rows anew.
    pub fn lay_out(&mut self, transcript: &Transcript, header: &[Line], width: usize) {
        self.rows = header.iter().cloned().chain((!header.is_empty()).then(Line::new)).chain(transcript.all_rows(width)).collect();
        (self.width, self.seen) = (width, self.rows.len());
    }

    /// Lays everything out anew, because a part of it was opened or closed, and brings that into view.
    pub fn show(&mut self, transcript: &Transcript, header: &[Line], width: usize, rows: Range<usize>) {
        self.lay_out(transcript, header, width);
        let height = self.viewport.visible().len();
        self.viewport.resize(height, self.rows.len());
        self.viewport.reveal(rows.start + above(header)..rows.end + above(header));
    }

    /// Takes new rows; all of them anew where the width has changed.
    pub fn take(&mut self, printed: Vec<Line>, transcript: &Transcript, header: &[Line], width: usize) {
        if width != self.width {
            self.lay_out(transcript, header, width);
        } else {
            self.rows.extend(printed.iter().cloned());
        }
        self.held.extend(printed);
    }

    /// Rows that are already shown here, but not yet printed.
    pub fn hold(&mut self, rows: Vec<Line>) {
        self.held.extend(rows);
    }

    pub fn close(self) -> Vec<Line> {
        self.held
    }

    pub fn rows(&self) -> &[Line] {
        &self.rows
    }

    /// Fits the window to `height` rows, over what is finished and what is `live`.
    pub fn fit(&mut self, height: usize, live: usize) {
        self.viewport.resize(height, self.rows.len() + live);
        if self.viewport.at_bottom() {
            self.seen = self.rows.len();
        }
    }

    /// The visible rows, exactly as many as the window is high.
    /// `search`: what is looked for is marked. `size`: columns and rows.
    pub fn view(&self, live: &[Line], search: Option<&Search>, keys: &Keymap, (width, height): (usize, usize)) -> Vec<Line> {
        let at = |n: usize| self.rows.get(n).or_else(|| live.get(n - self.rows.len())).cloned().unwrap_or_default();
        let mut rows: Vec<Line> =
            self.viewport.visible().map(|n| if let Some(search) = search { search.marked(at(n), n) } else { at(n) }).collect();
        rows.resize(height, Line::new());
        if let Some(hint) = self.hint(keys, width)
            && let Some(last) = rows.last_mut()
        {
            *last = hint;
        }
        rows
    }

    /// What is below the window, if it is not at its end.
    fn hint(&self, keys: &Keymap, width: usize) -> Option<Line> {
        if self.viewport.at_bottom() {
            return None;
        }
        let new = self.rows.len().saturating_sub(self.seen);
        let text = if new > 0 { format!("  ↓ {new} new") } else { format!("  ↓ {} more", self.viewport.below()) };
        let keys_of_hint = [("bottom", "goes there"), ("rewind", "goes back")];
        Some(truncate(
            &Line::styled(text, Role::Accent)
                .and(format!(" · {}", keys.phrase(Context::Prompt, &keys_of_hint[..if self.lent { 2 } else { 1 }])), Role::Dim),
            width,
        ))
    }
}

impl Model {
    /// Rows to print above the live region: none while the screen is the program's own.
    pub fn take_outbox(&mut self) -> Vec<Line> {
        if self.is_fullscreen() || self.looks.waits() {
            return vec![];
        }
        let (rows, width) = (self.transcript.take_outbox(), self.width());
        if rows.iter().all(|row| row.width() <= width) {
            return rows;
        }
        // The window has become narrower since they were laid out.
        rows.into_iter().flat_map(|row| if row.width() > width { wrap_exact(&row, width) } else { vec![row] }).collect()
    }

    /// Nothing is printed after this: all that is to be printed is now.
    pub fn print_all(&mut self) {
        self.transcript.wait_no_longer(self.width());
    }

    /// The window's rows anew, where code has got colours.
    pub fn lay_window_out(&mut self) {
        let width = self.width();
        if let Some(window) = &mut self.window {
            window.lay_out(&self.transcript, &self.header, width);
        }
    }

    /// Into the window goes what would be printed.
    pub fn fill_window(&mut self) {
        let width = self.width();
        if let Some(window) = &mut self.window {
            // Nothing waits for colours here: all is laid out anew when they come.
            self.transcript.wait_no_longer(width);
            let printed = self.transcript.take_outbox();
            window.take(printed, &self.transcript, &self.header, width);
        }
    }

    /// Opens, or closes, what is folded at this row of the screen.
    pub fn click(&mut self, row: usize) {
        let (width, header) = (self.width(), above(&self.header));
        let Some(window) = self.window.as_mut().filter(|window| row < window.viewport.visible().len()) else { return };
        let row = window.viewport.above() + row;
        if self.panel.is_none()
            && let Some(rows) = row.checked_sub(header).and_then(|row| self.transcript.toggle(row, width))
        {
            window.show(&self.transcript, &self.header, width, rows);
        }
    }

    /// The same for the newest that is folded. What is in the terminal's scrollback stays as it was printed, so that is in a window.
    pub fn unfold(&mut self) {
        let width = self.width();
        let Some(rows) = self.transcript.toggle_last(width) else {
            return self.say(Notice::info("There is nothing folded."));
        };
        if self.window.is_none() {
            self.switch();
            view::fit(self);
            if let Some(window) = &mut self.window {
                window.lent = true;
            }
        }
        if let Some(window) = &mut self.window {
            window.show(&self.transcript, &self.header, width, rows);
        }
    }

    pub fn window_to_end(&mut self) {
        if let Some(window) = &mut self.window {
            window.viewport.to_bottom();
        }
    }

    /// Has the program the screen to itself? By the user's choice, or for a view that needs the room.
    pub fn is_fullscreen(&self) -> bool {
        self.window.is_some() || self.panel.as_ref().is_some_and(Panel::is_long)
    }

    /// From the terminal's scrollback to a window of its own, or back.
    pub fn switch(&mut self) {
        match self.window.take() {
            Some(window) => self.transcript.hold(window.close()),
            None => {
                // What was not printed yet belongs to the terminal.
                self.transcript.wait_no_longer(self.width());
                let waiting = self.transcript.take_outbox();
                let mut window = Window::open(&self.transcript, &self.header, self.width());
                window.hold(waiting);
                self.window = Some(window);
            }
        }
    }
}
