//! A second process that puts the terminal right when ours is killed and can't.
//!
//! It is forked before any thread or terminal mode exists, holds one end of a pipe and a descriptor of the terminal, and ends
//! with us: the pipe's end is its only event. In its own session, so that no signal to our group reaches it.

use super::tty::{self, Modes};
use rustix::{
    fd::{AsFd, AsRawFd, OwnedFd},
    io::Errno,
    termios::Termios,
};

/// Our end of the pipe: tells the watchdog what there would be to put right.
#[derive(Debug)]
pub struct Watchdog {
    pipe: OwnedFd,
}

impl Watchdog {
    /// `None` when it can't be had: then a kill leaves the terminal to the shell, as with any other program.
    ///
    /// Must be called while the process has one thread: the child of a fork has only that one.
    pub fn start(terminal: &OwnedFd, saved: &Termios) -> Option<Watchdog> {
        let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).ok()?;
        // SAFETY: no other thread exists yet (see above), so the child may go on with any code.
        match unsafe { libc::fork() } {
            -1 => None,
            0 => {
                drop(writer);
                watch(&reader, terminal, saved);
                // SAFETY: ends the child without running what the parent registered for its own exit.
                unsafe { libc::_exit(0) }
            }
            _ => Some(Watchdog { pipe: writer }),
        }
    }

    pub fn note(&self, modes: Modes) {
        // If the watchdog is gone there is nobody to tell.
        let _ = rustix::io::write(&self.pipe, &[modes.to_byte()]);
    }
}

fn watch(pipe: &OwnedFd, terminal: &OwnedFd, saved: &Termios) {
    let _ = rustix::process::setsid();
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM, libc::SIGTTOU, libc::SIGPIPE] {
        // SAFETY: ignoring a signal installs no handler that could run.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    // By a name of its own: `killall -9 backstitch` is meant for the program, and this is what is left to do then.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_name(c"terminal-guard");
    // Whoever reads our parent's output must see its end when the parent ends.
    for fd in 0..64 {
        if fd != pipe.as_raw_fd() && fd != terminal.as_raw_fd() {
            // SAFETY: nothing in this process uses the descriptor any more.
            unsafe { libc::close(fd) };
        }
    }
    let mut modes = Modes::default();
    let mut bytes = [0u8; 64];
    loop {
        match rustix::io::read(pipe, &mut bytes) {
            Ok(0) => break,
            Ok(n) => modes = Modes::from_byte(bytes[n - 1]),
            Err(Errno::INTR) => {}
            Err(_) => break,
        }
    }
    if modes != Modes::default() {
        tty::restore(terminal.as_fd(), saved, modes);
    }
}
