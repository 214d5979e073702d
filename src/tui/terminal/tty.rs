//! The terminal device: its modes, its size, its bytes. Whatever was switched on is known, so that it can be switched off by
//! whoever is left to do it.

use super::{
    input::Decoder,
    watchdog::Watchdog,
    window::{self, Window},
};
use futures::{StreamExt, stream, stream::BoxStream};
use iocraft::TerminalEvent;
use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{Mode, OFlags},
    io::Errno,
    termios::{self, OptionalActions, Termios},
};
use std::{
    collections::VecDeque,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::{
    io::{Interest, unix::AsyncFd},
    signal::unix::{SignalKind, signal},
};

/// How long a lone escape byte may be the start of a sequence. Long enough for ssh, short enough to feel like a key.
const ESCAPE_WAIT: Duration = Duration::from_millis(25);

/// While a terminal is ours, panics must not print over it.
static TAKEN: AtomicBool = AtomicBool::new(false);

pub fn taken() -> bool {
    TAKEN.load(Ordering::Relaxed)
}

/// What has been switched on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Modes {
    /// Raw mode, bracketed paste, reports of focus and the kitty keyboard flags, which go together.
    pub keys: bool,
    pub mouse: bool,
    pub fullscreen: bool,
    /// The window's title is ours; the one before is kept by the terminal.
    pub title: bool,
}

impl Modes {
    pub fn to_byte(self) -> u8 {
        u8::from(self.keys) | u8::from(self.mouse) << 1 | u8::from(self.fullscreen) << 2 | u8::from(self.title) << 3
    }

    pub fn from_byte(byte: u8) -> Self {
        Modes { keys: byte & 1 != 0, mouse: byte & 2 != 0, fullscreen: byte & 4 != 0, title: byte & 8 != 0 }
    }

    /// The bytes that take the terminal from one set of modes to another.
    pub fn change(self, to: Modes) -> Vec<u8> {
        let mut bytes = vec![];
        let mut switch = |was: bool, is: bool, on: &[u8], off: &[u8]| {
            if was != is {
                bytes.extend_from_slice(if is { on } else { off });
            }
        };
        switch(self.fullscreen, to.fullscreen, b"\x1b[?1049h\x1b[2J\x1b[H", b"\x1b[?1049l");
        // Buttons and wheel as SGR reports; never the motion of the mouse alone, which is an event for every cell crossed.
        switch(self.mouse, to.mouse, b"\x1b[?1000h\x1b[?1002h\x1b[?1006h", b"\x1b[?1006l\x1b[?1002l\x1b[?1000l");
        // Flag 1 tells shift+enter from enter and escape from what follows it. Terminals that don't know it ignore it.
        switch(self.keys, to.keys, b"\x1b[?2004h\x1b[?1004h\x1b[>1u", b"\x1b[<u\x1b[?1004l\x1b[?2004l");
        switch(self.title, to.title, b"\x1b[22;2t", b"\x1b[23;2t");
        bytes
    }
}

/// Puts everything back: by our own exit, by a panic, or by the watchdog.
pub fn restore(terminal: BorrowedFd<'_>, saved: &Termios, modes: Modes) {
    let mut bytes = b"\x1b[?2026l\x1b[?7h\x1b[0m".to_vec();
    bytes.extend(modes.change(Modes::default()));
    bytes.extend_from_slice(b"\x1b[?25h");
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        match rustix::io::write(terminal, rest) {
            Ok(n) => rest = &rest[n..],
            Err(Errno::INTR) => {}
            // A terminal that is gone, or doesn't take anything: nothing is left to put right.
            Err(_) => break,
        }
    }
    if modes.keys {
        let _ = termios::tcsetattr(terminal, OptionalActions::Now, saved);
    }
}

/// The terminal that the user types into.
#[derive(Debug)]
pub struct Tty {
    /// Opened anew, so that reading it without blocking changes nothing for programs that share our standard input.
    fd: OwnedFd,
    saved: Termios,
    watchdog: Option<Watchdog>,
    modes: std::sync::Mutex<Modes>,
    window: std::sync::Mutex<Window>,
    /// The screen that ends makes room for another one of ours.
    stays: AtomicBool,
    opened: Instant,
}

impl Tty {
    /// Must be called before the first thread is started (see `Watchdog`).
    pub fn open() -> io::Result<Arc<Tty>> {
        let fd = open_device()?;
        let saved = termios::tcgetattr(&fd)?;
        let watchdog = Watchdog::start(&fd, &saved);
        let (modes, window, stays) = Default::default();
        Ok(Arc::new(Tty { fd, saved, watchdog, modes, window, stays, opened: Instant::now() }))
    }

    pub(super) fn window(&self) -> std::sync::MutexGuard<'_, Window> {
        self.window.lock().unwrap_or_else(|e| e.into_inner())
    }

    pub(super) fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// Is the next screen ours, too? Then keys stay ours in between: a ctrl+c that comes just then is a key, and no signal.
    pub fn stay(&self, stays: bool) {
        self.stays.store(stays, Ordering::Relaxed);
    }

    /// What is on between two screens.
    pub(super) fn between(&self) -> Modes {
        Modes { keys: self.stays.load(Ordering::Relaxed), ..Modes::default() }
    }

    pub fn modes(&self) -> Modes {
        *self.modes.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Notes the modes, switches the line discipline, and returns the bytes that do the rest.
    pub fn switch(&self, to: Modes) -> io::Result<Vec<u8>> {
        let named = self.window().title.clone().filter(|_| to.keys);
        let to = Modes { title: named.is_some(), ..to };
        if self.modes().keys && !to.keys {
            self.wait_for_answer();
        }
        let from = std::mem::replace(&mut *self.modes.lock().unwrap_or_else(|e| e.into_inner()), to);
        TAKEN.store(to != Modes::default(), Ordering::Relaxed);
        if let Some(watchdog) = self.watchdog.as_ref().filter(|_| from != to) {
            watchdog.note(to);
        }
        if to.keys != from.keys {
            let mut wanted = self.saved.clone();
            if to.keys {
                wanted.make_raw();
            }
            // Now, not after a flush: what was typed before we started is kept.
            termios::tcsetattr(&self.fd, OptionalActions::Now, &wanted)?;
        }
        let mut bytes = from.change(to);
        if let Some(name) = named.filter(|_| !from.title) {
            bytes.extend(window::title(&name));
        }
        Ok(bytes)
    }

    /// Since it was opened.
    pub fn now(&self) -> Duration {
        self.opened.elapsed()
    }

    /// Columns and rows.
    pub fn size(&self) -> Option<(u16, u16)> {
        let size = termios::tcgetwinsize(&self.fd).ok()?;
        (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
    }

    pub fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match rustix::io::write(&self.fd, bytes) {
                Ok(n) => bytes = &bytes[n..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let mut wait = [rustix::event::PollFd::new(&self.fd, rustix::event::PollFlags::OUT)];
                    rustix::event::poll(&mut wait, None)?;
                    if wait[0].revents().intersects(rustix::event::PollFlags::HUP | rustix::event::PollFlags::ERR) {
                        return Err(io::ErrorKind::BrokenPipe.into());
                    }
                }
                Err(e) => return Err(e.into()),
            }
        }
        Ok(())
    }

    pub fn restore(&self) {
        if self.modes().keys {
            self.wait_for_answer();
        }
        let modes = std::mem::take(&mut *self.modes.lock().unwrap_or_else(|e| e.into_inner()));
        restore(self.fd.as_fd(), &self.saved, modes);
        TAKEN.store(false, Ordering::Relaxed);
        if let Some(watchdog) = &self.watchdog {
            watchdog.note(Modes::default());
        }
    }

    /// Keys, pastes, mouse reports and changes of size. Ends with an error when the terminal goes away.
    pub fn events(self: &Arc<Self>) -> io::Result<BoxStream<'static, io::Result<TerminalEvent>>> {
        // SAFETY: `Owned` holds the descriptor open for as long as the registration exists, and it is always the same one.
        let reader = unsafe { AsyncFd::register_with_interest(Owned(self.clone()), Interest::READABLE)? };
        let resized = signal(SignalKind::window_change())?;
        let mut state = Reader { fd: reader, resized, decoder: Decoder::default(), ready: VecDeque::new(), failed: false };
        let rest = std::mem::take(&mut self.window().rest);
        state.take(&rest);
        Ok(stream::unfold(state, |mut state| async move { state.next().await.map(|event| (event, state)) }).boxed())
    }
}

fn open_device() -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    // By its own name: some systems can't wait for input on /dev/tty.
    let by_name = termios::isatty(rustix::stdio::stdin()).then(|| termios::ttyname(rustix::stdio::stdin(), vec![]).ok()).flatten();
    let opened = by_name.and_then(|name| rustix::fs::open(name.as_c_str(), flags, Mode::empty()).ok());
    match opened {
        Some(fd) => Ok(fd),
        None => Ok(rustix::fs::open("/dev/tty", flags, Mode::empty())?),
    }
}

#[derive(Debug)]
struct Owned(Arc<Tty>);

impl std::os::fd::AsRawFd for Owned {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        std::os::fd::AsRawFd::as_raw_fd(&self.0.fd)
    }
}

impl AsFd for Owned {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.fd.as_fd()
    }
}

struct Reader {
    fd: AsyncFd<Owned>,
    resized: tokio::signal::unix::Signal,
    decoder: Decoder,
    ready: VecDeque<TerminalEvent>,
    failed: bool,
}

impl Reader {
    fn take(&mut self, bytes: &[u8]) {
        let mut events = vec![];
        self.decoder.places_owed = self.fd.get_ref().0.places_owed();
        self.decoder.feed(bytes, &mut events);
        self.ready.extend(events);
        self.decoder.answers.drain(..).for_each(|answer| self.fd.get_ref().0.heard(answer));
    }

    async fn next(&mut self) -> Option<io::Result<TerminalEvent>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            if self.failed {
                return None;
            }
            let mut events = vec![];
            let waits = self.decoder.waits();
            let late = async {
                match waits {
                    true => tokio::time::sleep(ESCAPE_WAIT).await,
                    false => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                ready = self.fd.readable() => {
                    let mut bytes = [0u8; 4096];
                    let read = ready.and_then(|mut ready| match ready.try_io(|fd| Ok(rustix::io::read(&fd.get_ref().0.fd, &mut bytes)?)) {
                        Ok(read) => read.map(Some),
                        Err(_would_block) => Ok(None),
                    });
                    match read {
                        Ok(None) => {}
                        Ok(Some(n)) if n > 0 => self.take(&bytes[..n]),
                        Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                        gone => {
                            self.failed = true;
                            return Some(Err(gone.err().unwrap_or(io::ErrorKind::UnexpectedEof.into())));
                        }
                    }
                }
                _ = self.resized.recv() => {
                    if let Some((columns, rows)) = self.fd.get_ref().0.size() {
                        events.push(TerminalEvent::Resize(columns, rows));
                    }
                }
                () = late => self.decoder.flush(&mut events),
            }
            self.ready.extend(events);
        }
    }
}
