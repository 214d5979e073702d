//! Keeps what a model's commands write inside the project, temporary folders and caches, as far as the system can do that.
//!
//! - What it can is tried once, when the first command comes, and said in `/status`; nothing is weakened for a single command, but for what
//!   the user was asked about.
//! - A command may write what was shown when it was approved. What steers git, shells or us it may not, whoever approved what.
//! - A command that can't be put in does not run.

#[cfg(target_os = "linux")]
mod bubblewrap;
mod confines;
mod guard;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(target_os = "macos", test))]
mod seatbelt;

use crate::protocol::SandboxSettings;
use confines::{Around, Confines};
use guard::Guard;
use std::{
    env,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    process::Stdio,
    sync::OnceLock,
};

pub struct Sandbox {
    settings: SandboxSettings,
    /// Folders of ours that no command writes.
    ours: Vec<PathBuf>,
    temporary: Vec<PathBuf>,
    home: Option<PathBuf>,
    means: OnceLock<Means>,
}

/// By what commands are kept inside.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Means {
    /// With the reason.
    Nothing(String),
    #[cfg(target_os = "linux")]
    Kernel(linux::Can),
    #[cfg(target_os = "linux")]
    Bubblewrap(PathBuf),
    #[cfg(target_os = "macos")]
    Seatbelt,
}

/// What one command is put in.
pub struct Cage {
    /// Programs that stand before the command, with their arguments.
    pub before: Vec<OsString>,
    #[cfg(target_os = "linux")]
    cell: Option<linux::Cell>,
    #[cfg(target_os = "linux")]
    filter: Option<std::os::fd::OwnedFd>,
    guard: Guard,
}

impl Default for Sandbox {
    /// None: whoever wants one says so.
    fn default() -> Self {
        Sandbox::new(SandboxSettings { on: false, ..SandboxSettings::default() }, vec![])
    }
}

impl Sandbox {
    /// `ours`: folders with our settings and data.
    pub fn new(settings: SandboxSettings, ours: Vec<PathBuf>) -> Sandbox {
        let temporary = ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from).into_iter().chain(set("TMPDIR")).collect();
        Sandbox { settings, ours, temporary, home: dirs::home_dir(), means: OnceLock::new() }
    }

    /// Are commands in this project kept inside at all?
    pub fn is_on(&self, root: &Path) -> bool {
        !matches!(self.means(root), Means::Nothing(_))
    }

    /// For `/status`.
    pub fn status(&self, root: &Path) -> String {
        let by = match self.means(root) {
            Means::Nothing(why) => return format!("off: {why}"),
            #[cfg(target_os = "linux")]
            Means::Kernel(can) => match (can.landlock, can.view != linux::View::No) {
                (true, true) => "Landlock, a file system view of its own, seccomp",
                (false, _) => "a file system view of its own, seccomp; the kernel has no Landlock",
                (true, false) => {
                    "Landlock, seccomp; no namespaces here: what steers git is only put back after a command, and services can be reached"
                }
            },
            #[cfg(target_os = "linux")]
            Means::Bubblewrap(_) => "bubblewrap, seccomp",
            #[cfg(target_os = "macos")]
            Means::Seatbelt => "seatbelt",
        };
        let network = if self.settings.network { "network on" } else { "network off" };
        format!("on: commands write only to the project, temporary folders and caches; {network} · {by}")
    }

    fn means(&self, root: &Path) -> &Means {
        self.means.get_or_init(|| if self.settings.on { self.find(root) } else { Means::Nothing("the settings say so".into()) })
    }

    fn confines(&self, root: &Path, opened: &[PathBuf]) -> Confines {
        let more: Vec<PathBuf> = self.settings.writable.iter().chain(opened).cloned().collect();
        let (home, temporary) = (self.home.as_deref(), &self.temporary);
        Confines::look(&Around { root, home, temporary, ours: &self.ours, more: &more, env: &set })
    }

    /// `folder` is where the command starts; `opened`, what it may write besides, because that was shown when it was approved.
    pub fn cage(&self, root: &Path, folder: &Path, opened: &[PathBuf]) -> io::Result<Option<Cage>> {
        match self.means(root) {
            Means::Nothing(_) => Ok(None),
            means => self.build(means, &self.confines(root, opened), folder).map(Some),
        }
    }

    fn build(&self, means: &Means, confines: &Confines, folder: &Path) -> io::Result<Cage> {
        let network = self.settings.network;
        let cage = |before: Vec<OsString>, enforced: bool| Cage {
            before,
            #[cfg(target_os = "linux")]
            cell: None,
            #[cfg(target_os = "linux")]
            filter: None,
            guard: Guard::look(confines, enforced),
        };
        Ok(match means {
            Means::Nothing(why) => return Err(io::Error::other(why.clone())),
            #[cfg(target_os = "linux")]
            Means::Kernel(can) => {
                let cell = linux::Cell::build(*can, confines, network, folder)?;
                Cage { cell: Some(cell), ..cage(vec![], can.view != linux::View::No) }
            }
            #[cfg(target_os = "linux")]
            Means::Bubblewrap(program) => {
                let filter = linux::filter_file()?;
                let mut before = vec![program.into()];
                before.extend(bubblewrap::arguments(confines, network, std::os::fd::AsRawFd::as_raw_fd(&filter), folder));
                Cage { filter: Some(filter), ..cage(before, true) }
            }
            #[cfg(target_os = "macos")]
            Means::Seatbelt => cage(vec![seatbelt::PROGRAM.into(), "-p".into(), seatbelt::profile(confines, network).into()], true),
        })
    }

    #[cfg(target_os = "linux")]
    fn find(&self, root: &Path) -> Means {
        use linux::{Can, View};
        let landlock = linux::landlock_version() > 0;
        let confines = self.confines(root, &[]);
        let works = |means: Means| self.build(&means, &confines, root).is_ok_and(runs).then_some(means);
        let privileged = rustix::process::geteuid().is_root().then_some(View::Privileged);
        let view = privileged.into_iter().chain([View::Own]).find_map(|view| works(Means::Kernel(Can { landlock, view })));
        view.or_else(|| works(Means::Bubblewrap(program("bwrap", root)?)))
            .or_else(|| works(Means::Kernel(Can { landlock, view: View::No })).filter(|_| landlock))
            .unwrap_or_else(|| {
                Means::Nothing("this system has neither Landlock nor namespaces that a user may make, nor bubblewrap".into())
            })
    }

    #[cfg(target_os = "macos")]
    fn find(&self, root: &Path) -> Means {
        let works = self.build(&Means::Seatbelt, &self.confines(root, &[]), root).is_ok_and(runs);
        if works { Means::Seatbelt } else { Means::Nothing("sandbox-exec does not work here".into()) }
    }

    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    fn find(&self, _: &Path) -> Means {
        Means::Nothing("there is none for this system".into())
    }
}

impl Cage {
    /// Puts itself around a command that is about to start.
    pub fn enclose(&mut self, command: &mut std::process::Command) {
        #[cfg(target_os = "linux")]
        {
            use std::os::unix::process::CommandExt;
            let (cell, filter) = (self.cell.take(), self.filter.take());
            let enter = move || {
                filter.as_ref().map_or(Ok(()), linux::pass_on)?;
                cell.as_ref().map_or(Ok(()), linux::Cell::enter)
            };
            // SAFETY: only system calls that are allowed between fork and exec, and no allocation.
            unsafe { command.pre_exec(enter) };
        }
        #[cfg(not(target_os = "linux"))]
        let _ = command;
    }

    /// The command has ended: puts right what it must not have changed, a sentence on each.
    pub fn check(self) -> Vec<String> {
        self.guard.check()
    }
}

/// A variable of ours that names a path.
fn set(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Does anything run in it?
fn runs(mut cage: Cage) -> bool {
    let mut words = cage.before.iter().cloned().chain(["/bin/sh", "-c", ":"].map(OsString::from));
    let Some(program) = words.next() else { return false };
    let mut command = std::process::Command::new(program);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    cage.enclose(&mut command);
    command.status().is_ok_and(|status| status.success())
}

/// Not one that the project brings along.
#[cfg(target_os = "linux")]
fn program(name: &str, root: &Path) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let found =
        env::split_paths(&path).filter(|folder| folder.is_absolute()).map(|folder| folder.join(name)).find(|program| program.is_file())?;
    let real = found.canonicalize().ok()?;
    (!real.starts_with(root)).then_some(real)
}

/// Does a command that failed speak of what a sandbox does?
pub fn may_have_stopped(output: &str) -> bool {
    const SIGNS: [&str; 16] = [
        "read-only file system",
        "permission denied",
        "operation not permitted",
        "device or resource busy",
        "cross-device link",
        "erofs",
        "eacces",
        "eperm",
        "bad owner or permissions",
        "cannot connect to the docker daemon",
        "failed to connect to bus",
        "could not resolve host",
        "network is unreachable",
        "name resolution",
        "enotfound",
        "bad system call",
    ];
    // What went wrong stands at the end, as a rule.
    let from = output.char_indices().rev().nth(8_000).map_or(0, |(at, _)| at);
    let tail = output[from..].to_lowercase();
    SIGNS.iter().any(|sign| tail.contains(sign))
}

#[cfg(test)]
mod tests;
