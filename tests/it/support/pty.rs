//! The real program in a terminal of its own, with a screen that can be read.

use super::{DEADLINE, bytes, until};
use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use rustix::{
    event::{PollFd, PollFlags, poll},
    fd::{BorrowedFd, OwnedFd},
    process::{Pid, Signal, kill_process},
    termios::{Termios, tcgetattr},
};
use std::{
    collections::BTreeSet,
    num::NonZeroU16,
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// A question takes no key for an answer before the keyboard has been quiet for 300 ms.
const QUIET: Duration = Duration::from_millis(360);

struct State {
    parser: vt100::Parser,
    raw: Vec<u8>,
    /// The begin of a frame whose end has not come yet: as on a real terminal, nobody sees half a frame.
    unfinished: Vec<u8>,
    /// Nobody has the terminal open any more.
    over: bool,
}

#[derive(Clone)]
struct Seen(Arc<(Mutex<State>, Condvar)>);

pub struct Term {
    master: Option<Box<dyn MasterPty + Send>>,
    keys: Option<OwnedFd>,
    child: Box<dyn Child + Send + Sync>,
    seen: Seen,
    reader: Option<JoinHandle<()>>,
    /// Closing it stops the reader.
    stop: Option<OwnedFd>,
    before: Termios,
    last_key: Instant,
}

fn size(n: u16) -> NonZeroU16 {
    NonZeroU16::new(n).unwrap()
}

impl Term {
    /// `earlier` is what is on the terminal already.
    pub fn start(command: CommandBuilder, columns: u16, rows: u16, earlier: &str) -> Term {
        let pair = native_pty_system().openpty(PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }).unwrap();
        let raw_fd = pair.master.as_raw_fd().unwrap();
        // SAFETY: the master is open for as long as this borrow is used.
        let master_fd = unsafe { BorrowedFd::borrow_raw(raw_fd) };
        let (reader_fd, keys) = (rustix::io::dup(master_fd).unwrap(), rustix::io::dup(master_fd).unwrap());
        for fd in [&reader_fd, &keys] {
            rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::CLOEXEC).unwrap();
        }
        let before = tcgetattr(&keys).unwrap();
        let mut parser = vt100::Parser::new(size(rows), size(columns), 20_000);
        parser.process(earlier.replace('\n', "\r\n").as_bytes());
        let seen = Seen(Arc::new((Mutex::new(State { parser, raw: vec![], unfinished: vec![], over: false }), Condvar::new())));
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let (wake, stop) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
        let own = seen.clone();
        let reader = std::thread::spawn(move || own.read(&reader_fd, &wake));
        Term {
            master: Some(pair.master),
            keys: Some(keys),
            child,
            seen,
            reader: Some(reader),
            stop: Some(stop),
            before,
            last_key: Instant::now(),
        }
    }

    pub fn pid(&self) -> Pid {
        Pid::from_raw(self.child.process_id().unwrap() as i32).unwrap()
    }

    pub fn kill(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    // --- keys ---

    pub fn send(&mut self, bytes: &[u8]) -> &mut Self {
        let mut rest = bytes;
        while !rest.is_empty() {
            let written = rustix::io::write(self.keys.as_ref().unwrap(), rest).unwrap();
            rest = &rest[written..];
        }
        self.last_key = Instant::now();
        self
    }

    pub fn type_(&mut self, text: &str) -> &mut Self {
        self.send(text.as_bytes())
    }

    pub fn enter(&mut self) -> &mut Self {
        self.send(b"\r")
    }

    pub fn esc(&mut self) -> &mut Self {
        self.send(b"\x1b")
    }

    pub fn ctrl(&mut self, key: char) -> &mut Self {
        self.send(&[key as u8 & 0x1f])
    }

    pub fn paste(&mut self, text: &str) -> &mut Self {
        self.send(format!("\x1b[200~{text}\x1b[201~").as_bytes())
    }

    /// A key for the question that is on the screen (wait for that first). The one place that waits for time to pass.
    pub fn press(&mut self, key: char) -> &mut Self {
        let from = Instant::now();
        let quiet = from.max(self.last_key) + QUIET;
        until("the keyboard has been quiet", || Instant::now() >= quiet);
        self.send(key.to_string().as_bytes())
    }

    /// Types a prompt and sends it once it is in the box.
    pub fn ask(&mut self, text: &str) -> &mut Self {
        self.type_(text).shows(text).enter()
    }

    // --- the screen ---

    pub fn screen(&self) -> String {
        self.seen.lock().parser.screen().contents()
    }

    pub fn rows(&self) -> Vec<String> {
        let state = self.seen.lock();
        let columns = state.parser.screen().size().1.get();
        state.parser.screen().rows(0, columns).collect()
    }

    /// Scrollback and screen, row by row.
    pub fn history(&self) -> Vec<String> {
        self.seen.lock().history()
    }

    pub fn text(&self) -> String {
        self.history().join("\n")
    }

    /// Row and column, if the cursor is visible.
    pub fn cursor(&self) -> Option<(u16, u16)> {
        let state = self.seen.lock();
        let screen = state.parser.screen();
        (!screen.hide_cursor()).then(|| screen.cursor_position())
    }

    pub fn raw(&self) -> Vec<u8> {
        self.seen.lock().raw.clone()
    }

    pub fn written(&self) -> usize {
        self.seen.lock().raw.len()
    }

    /// The program holds still meanwhile, and what it wrote for the old size is on the screen first: else a frame that was on its
    /// way would now and then be drawn for a window that is none any more.
    pub fn resize(&self, columns: u16, rows: u16) {
        self.kill(Signal::STOP);
        let stat = format!("/proc/{}/stat", self.pid().as_raw_nonzero());
        until("the program holds still", || std::fs::read_to_string(&stat).is_ok_and(|stat| stat.contains(") T ")));
        let keys = self.keys.as_ref().unwrap();
        let drained = || poll(&mut [PollFd::new(keys, PollFlags::IN)], Some(&Default::default())) == Ok(0);
        until("all is on the screen", || {
            let mut state = self.seen.lock();
            if drained() {
                state.show_all();
                state.parser.set_size(size(rows), size(columns));
                return true;
            }
            false
        });
        let new = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        self.master.as_ref().unwrap().resize(new).unwrap();
        self.kill(Signal::CONT);
    }

    fn wait(&self, what: &str, holds: impl Fn(&State) -> bool) {
        let from = Instant::now();
        let mut state = self.seen.lock();
        while !holds(&state) {
            if from.elapsed() > DEADLINE || state.over {
                let over = if state.over { " (the terminal is closed)" } else { "" };
                let history = state.history();
                let last = history[history.len().saturating_sub(80)..].join("\n");
                drop(state);
                panic!("waited in vain{over} until {what}; the screen:\n{last}");
            }
            state = self.seen.0.1.wait_timeout(state, Duration::from_millis(50)).unwrap().0;
        }
    }

    /// On the screen or above it.
    pub fn sees(&mut self, text: &str) -> &mut Self {
        self.wait(&format!("{text:?} is seen"), |state| state.history().join("\n").contains(text));
        self
    }

    /// So many times, on the screen or above it.
    pub fn sees_times(&mut self, text: &str, times: usize) -> &mut Self {
        self.wait(&format!("{text:?} is seen {times} times"), |state| state.history().join("\n").matches(text).count() == times);
        self
    }

    /// On the screen now.
    pub fn shows(&mut self, text: &str) -> &mut Self {
        self.wait(&format!("{text:?} is on the screen"), |state| state.parser.screen().contents().contains(text));
        self
    }

    /// Not on the screen any more.
    pub fn hides(&mut self, text: &str) -> &mut Self {
        self.wait(&format!("{text:?} is gone"), |state| !state.parser.screen().contents().contains(text));
        self
    }

    /// The screen satisfies any condition.
    pub fn screen_is(&mut self, what: &str, holds: impl Fn(&str) -> bool) -> &mut Self {
        self.wait(what, |state| holds(&state.parser.screen().contents()));
        self
    }

    /// The prompt can be used, and what is printed is not held back any more for the terminal's background: the header is above
    /// it.
    pub fn ready(&mut self) -> &mut Self {
        self.shows("❯").shows(" keys").sees("/ command")
    }

    // --- the end ---

    /// Waits for the end of the program, and for all that anybody still writes to the terminal.
    pub fn exits(&mut self) -> ExitStatus {
        let status = self.ends();
        let from = Instant::now();
        let mut state = self.seen.lock();
        while !state.over {
            assert!(from.elapsed() < DEADLINE, "something keeps the terminal open");
            state = self.seen.0.1.wait_timeout(state, Duration::from_millis(50)).unwrap().0;
        }
        status
    }

    /// Waits for the end of the program alone.
    pub fn ends(&mut self) -> ExitStatus {
        let from = Instant::now();
        let mut status = None;
        let seen = self.seen.clone();
        until("the program ends", || {
            status = self.child.try_wait().unwrap();
            assert!(status.is_some() || from.elapsed() < DEADLINE - Duration::from_secs(1), "{}", seen.lock().history().join("\n"));
            status.is_some()
        });
        status.unwrap()
    }

    /// Modes that were not switched off, and whether the line discipline differs from what it was.
    pub fn left_on(&self) -> BTreeSet<String> {
        let mut left = bytes::modes_left_on(&self.raw());
        let now = tcgetattr(self.keys.as_ref().unwrap()).unwrap();
        let same = now.local_modes == self.before.local_modes
            && now.input_modes == self.before.input_modes
            && now.output_modes == self.before.output_modes
            && now.control_modes == self.before.control_modes;
        if !same {
            left.insert("line discipline".into());
        }
        left
    }

    pub fn is_raw(&self) -> bool {
        !tcgetattr(self.keys.as_ref().unwrap()).unwrap().local_modes.contains(rustix::termios::LocalModes::ICANON)
    }

    /// The window is closed: the terminal is gone for whoever uses it.
    pub fn hang_up(&mut self) {
        self.stop = None;
        self.reader.take().unwrap().join().unwrap();
        (self.keys, self.master) = (None, None);
    }
}

impl Drop for Term {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        self.stop = None;
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

const FRAME: &[u8] = b"\x1b[?2026h";
const FRAME_END: &[u8] = b"\x1b[?2026l";

impl State {
    /// Shows what was read up to the last frame that is whole; at the end (nothing read) all.
    fn take(&mut self, read: &[u8]) {
        self.raw.extend_from_slice(read);
        self.unfinished.extend_from_slice(read);
        let last = |what: &[u8]| self.unfinished.windows(what.len()).rposition(|at| at == what);
        let begun = last(FRAME).filter(|&begin| last(FRAME_END).is_none_or(|end| end < begin));
        // The mark itself may be cut, too.
        let cut = || (1..FRAME.len()).rev().find(|&n| self.unfinished.ends_with(&FRAME[..n])).map(|n| self.unfinished.len() - n);
        let whole = begun.or_else(cut).filter(|_| !read.is_empty()).unwrap_or(self.unfinished.len());
        let shown: Vec<u8> = self.unfinished.drain(..whole).collect();
        self.parser.process(&shown);
    }

    fn show_all(&mut self) {
        let rest = std::mem::take(&mut self.unfinished);
        self.parser.process(&rest);
    }

    fn history(&self) -> Vec<String> {
        let mut screen = self.parser.screen().clone();
        let (rows, columns) = screen.size();
        let mut above = screen.scrollback_len();
        let mut all = vec![];
        while above > 0 {
            screen.set_scrollback(above);
            let take = above.min(usize::from(rows.get()));
            all.extend(screen.rows(0, columns.get()).take(take).map(|row| row.trim_end().to_owned()));
            above -= take;
        }
        screen.set_scrollback(0);
        all.extend(screen.rows(0, columns.get()).map(|row| row.trim_end().to_owned()));
        all
    }
}

impl Seen {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn read(&self, terminal: &OwnedFd, stop: &OwnedFd) {
        let mut buffer = [0; 65536];
        loop {
            let mut ready = [PollFd::new(terminal, PollFlags::IN), PollFd::new(stop, PollFlags::IN)];
            let stopped = poll(&mut ready, None).is_ok() && !ready[1].revents().is_empty();
            // What was read is on the screen before anybody else looks.
            let mut state = self.lock();
            let read = if stopped { 0 } else { rustix::io::read(terminal, &mut buffer).unwrap_or(0) };
            state.take(&buffer[..read]);
            state.over = read == 0;
            drop(state);
            self.0.1.notify_all();
            if read == 0 {
                return;
            }
        }
    }
}
