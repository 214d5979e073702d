//! The real program in a pseudo-terminal, and what the kernel knows of it and its children.

use crate::clock::process_cpu;
use std::{
    fs::File,
    io::{self, Read, Write},
    num::NonZero,
    os::{
        fd::{AsRawFd, FromRawFd},
        unix::process::CommandExt,
    },
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

const SIZE: (u16, u16) = (110, 40);

pub struct Term {
    master: File,
    child: Child,
    /// Just before the program was started.
    pub began: Instant,
    pub screen: vt100::Parser,
    /// All that it wrote.
    pub written: Vec<u8>,
}

impl Term {
    pub fn start(mut command: Command) -> io::Result<Term> {
        let (mut master, mut slave) = (0, 0);
        let size = libc::winsize { ws_col: SIZE.0, ws_row: SIZE.1, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: both descriptors are written on success, and only then taken.
        let (master, slave) = unsafe {
            if libc::openpty(&mut master, &mut slave, std::ptr::null_mut(), std::ptr::null_mut(), &size) != 0 {
                return Err(io::Error::last_os_error());
            }
            libc::fcntl(master, libc::F_SETFD, libc::FD_CLOEXEC);
            (File::from_raw_fd(master), File::from_raw_fd(slave))
        };
        command.stdin(Stdio::from(slave.try_clone()?)).stdout(Stdio::from(slave.try_clone()?)).stderr(Stdio::from(slave));
        // SAFETY: only calls that are allowed between fork and exec.
        unsafe {
            command.pre_exec(|| {
                libc::setsid();
                libc::ioctl(0, libc::TIOCSCTTY, 0);
                Ok(())
            });
        }
        let began = Instant::now();
        let child = command.spawn()?;
        drop(command);
        let at_least_one = |n: u16| NonZero::new(n).unwrap_or(NonZero::<u16>::MIN);
        let screen = vt100::Parser::new(at_least_one(SIZE.1), at_least_one(SIZE.0), 0);
        Ok(Term { master, child, began, screen, written: vec![] })
    }

    /// What it writes next; nothing if it stays quiet for `wait`.
    pub fn read(&mut self, wait: Duration) -> io::Result<Vec<u8>> {
        let mut poll = libc::pollfd { fd: self.master.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let millis = i32::try_from(wait.as_millis()).unwrap_or(i32::MAX);
        // SAFETY: one pollfd, as told.
        if unsafe { libc::poll(&mut poll, 1, millis) } <= 0 {
            return Ok(vec![]);
        }
        let mut bytes = vec![0; 65_536];
        let n = self.master.read(&mut bytes)?;
        bytes.truncate(n);
        self.screen.process(&bytes);
        self.written.extend_from_slice(&bytes);
        Ok(bytes)
    }

    /// The moment at which the screen shows `text`.
    pub fn sees(&mut self, text: &str) -> anyhow::Result<Instant> {
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            if self.screen.screen().contents().contains(text) {
                return Ok(Instant::now());
            }
            anyhow::ensure!(Instant::now() < until, "never saw {text:?} on\n{}", self.screen.screen().contents());
            self.read(Duration::from_secs(1))?;
        }
    }

    /// Reads until nothing comes for `quiet`.
    pub fn settle(&mut self, quiet: Duration) -> io::Result<()> {
        while !self.read(quiet)?.is_empty() {}
        Ok(())
    }

    pub fn send(&mut self, keys: &str) -> io::Result<()> {
        self.master.write_all(keys.as_bytes())
    }

    pub fn processes(&self) -> Vec<u32> {
        let mut all = vec![self.child.id()];
        let mut at = 0;
        while let Some(pid) = all.get(at).copied() {
            for task in tasks(pid) {
                let children = std::fs::read_to_string(format!("/proc/{pid}/task/{task}/children")).unwrap_or_default();
                all.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
            }
            at += 1;
        }
        all
    }

    pub fn cpu(&self) -> Duration {
        self.processes().into_iter().map(process_cpu).sum()
    }

    /// A figure of `/proc/PID/smaps_rollup` in MB, over all processes.
    pub fn memory(&self, field: &str) -> f64 {
        let of = |pid: u32| number(&format!("/proc/{pid}/smaps_rollup"), field);
        self.processes().into_iter().map(of).sum::<f64>() / 1024.0
    }

    /// How often a thread of it has gone to sleep by itself.
    pub fn wakeups(&self) -> f64 {
        let of = |pid: u32| -> f64 {
            tasks(pid).iter().map(|task| number(&format!("/proc/{pid}/task/{task}/status"), "voluntary_ctxt_switches")).sum()
        };
        self.processes().into_iter().map(of).sum()
    }
}

impl Drop for Term {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn tasks(pid: u32) -> Vec<String> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn number(file: &str, field: &str) -> f64 {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0.0)
}
