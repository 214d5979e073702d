//! What the screen writes to and asks: the terminal, or a recording in tests.

use super::{Modes, Reflow, Tty};
use futures::stream::BoxStream;
use iocraft::TerminalEvent;
use std::{io, sync::Arc, time::Duration};

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
    /// The bytes that ask where the cursor is; none for a terminal that would not answer.
    fn ask(&mut self) -> &'static [u8];
    /// The screen's row and column in which the cursor was, once for each time it was asked, if the answer has come.
    fn answer(&mut self) -> Option<(u16, u16)>;
    /// The bytes that ask how large the terminal is where they stand; none for one that tells each change at once.
    fn ask_size(&mut self) -> &'static [u8] {
        b""
    }
    /// Was it so large when it was asked last? `None` if that is not known.
    fn was(&mut self, _size: (u16, u16)) -> Option<bool> {
        None
    }
    /// Does this terminal break long lines anew when it gets narrower?
    fn reflow(&self) -> Reflow;
    /// Time that only goes forward.
    fn now(&self) -> Duration;
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
    fn ask(&mut self) -> &'static [u8] {
        Tty::ask(self)
    }
    fn answer(&mut self) -> Option<(u16, u16)> {
        Tty::answer(self)
    }
    fn ask_size(&mut self) -> &'static [u8] {
        if self.reflow() == Reflow::Tmux { Tty::ask_size(self) } else { b"" }
    }
    fn was(&mut self, size: (u16, u16)) -> Option<bool> {
        Tty::was(self, size)
    }
    fn reflow(&self) -> Reflow {
        let term = std::env::var("TERM").unwrap_or_default();
        let tmux = std::env::var_os("TMUX").is_some();
        if term.starts_with("tmux") || tmux && term.starts_with("screen") {
            return Reflow::Tmux;
        }
        let plain_xterm = std::env::var_os("XTERM_VERSION").is_some() && !tmux;
        let cuts = plain_xterm || term.starts_with("linux") || term.starts_with("rxvt") || term == "screen";
        if cuts { Reflow::Never } else { Reflow::Breaks }
    }
    fn now(&self) -> Duration {
        Tty::now(self)
    }
}
