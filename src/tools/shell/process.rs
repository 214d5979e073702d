//! A command's process: how it is started, and how all of it ends.

use super::{children::Guard, folder::Told, sandbox::Cage};
use crate::{protocol::ToolError, tools::Workspace};
use rustix::process::{Pid, Signal};
use std::{
    io,
    path::PathBuf,
    process::{ExitStatus, Stdio},
    time::Duration,
};
use tokio::{
    io::AsyncReadExt,
    net::unix::pipe,
    process::{Child, Command},
    time,
};

const GRACE: Duration = Duration::from_millis(500);
/// How long to look for output after the shell has ended: a child in the background may hold the pipe for ever.
const DRAIN: Duration = Duration::from_millis(100);

/// Nothing may page, edit, prompt or colour.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("EDITOR", "false"),
    ("VISUAL", "false"),
    ("GIT_EDITOR", "false"),
    ("GIT_SEQUENCE_EDITOR", "false"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    // `cd` goes where it says.
    ("CDPATH", ""),
];

/// By these a shell would read something first, or read the line otherwise.
const OBEYED: [&str; 4] = ["BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS"];

pub struct Started {
    pub child: Child,
    pub pipe: pipe::Receiver,
    group: Pid,
    guard: Guard,
    /// Nothing, where it runs outside.
    cage: Option<Cage>,
}

/// Where a command may write.
#[derive(Debug, Clone, Copy)]
pub enum Within<'a> {
    /// The sandbox, and these: they were shown when it was approved.
    Sandbox(&'a [PathBuf]),
    Everything,
}

/// In a session and group of its own, without a terminal. `told` is to learn where it ends. Needs a runtime.
pub fn start(text: &str, told: Option<&Told>, within: Within, workspace: &Workspace) -> Result<Started, ToolError> {
    let (read, write) = std::io::pipe().map_err(failed)?;
    let folder = workspace.cwd();
    let mut cage = match within {
        Within::Sandbox(opened) => workspace.sandbox().cage(workspace.root(), &folder, opened).map_err(no_cage)?,
        Within::Everything => None,
    };
    let shell = workspace.shell().program();
    let mut command = match cage.as_ref().and_then(|cage| cage.before.split_first()) {
        Some((program, args)) => {
            let mut command = Command::new(program);
            command.args(args).arg(shell);
            command
        }
        None => Command::new(shell),
    };
    let (text, variable) = match told {
        Some(told) => {
            let (text, variable) = told.with(text);
            (text, Some(variable))
        }
        None => (text.to_owned(), None),
    };
    // Under another name for its folder a shell would go up from there instead.
    command.arg("-c").arg(text).current_dir(&folder).env("PWD", &folder).stdin(Stdio::null()).envs(variable);
    command.stdout(write.try_clone().map_err(failed)?).stderr(write).envs(ENVIRONMENT.iter().copied()).kill_on_drop(true);
    for name in OBEYED {
        command.env_remove(name);
    }
    let announcer = workspace.children.announcer();
    // SAFETY: only system calls that are allowed between fork and exec, and no allocation.
    unsafe {
        command.pre_exec(move || {
            rustix::process::setsid()?;
            announcer.announce()
        });
    }
    if let Some(cage) = &mut cage {
        cage.enclose(command.as_std_mut());
    }
    let child = command.spawn().map_err(if cage.is_some() { no_cage } else { failed })?;
    // Closes our ends of the pipe's write side; only the command holds it now.
    drop(command);
    let group = child.id().and_then(|id| Pid::from_raw(id as i32)).ok_or_else(|| ToolError::new("The command has no process id."))?;
    let guard = workspace.children.watch(group);
    let pipe = pipe::Receiver::from_owned_fd(read.into()).map_err(failed)?;
    Ok(Started { child, pipe, group, guard, cage })
}

fn failed(e: io::Error) -> ToolError {
    ToolError(format!("The command could not be started: {e}."))
}

fn no_cage(e: io::Error) -> ToolError {
    ToolError(format!(
        "The command could not be started in the sandbox: {e}. With \"unsandboxed\": true the user is asked to run it outside."
    ))
}

impl Started {
    /// TERM, a grace period, KILL; the pipe is emptied meanwhile so that nobody waits for us.
    pub async fn stop(&mut self, push: &mut impl FnMut(&[u8])) -> Option<ExitStatus> {
        let _ = rustix::process::kill_process_group(self.group, Signal::TERM);
        let mut buffer = vec![0; 64 * 1024];
        let grace = time::sleep(GRACE);
        tokio::pin!(grace);
        let (mut open, mut status) = (true, None);
        // Until the whole group is gone, not only the shell.
        while status.is_none() || rustix::process::test_kill_process_group(self.group).is_ok() {
            tokio::select! {
                biased;
                _ = &mut grace => break,
                got = self.child.wait(), if status.is_none() => status = got.ok(),
                got = self.pipe.read(&mut buffer), if open => match got {
                    Ok(n) if n > 0 => push(&buffer[..n]),
                    _ => open = false,
                },
                _ = time::sleep(Duration::from_millis(5)), if status.is_some() => {}
            }
        }
        let _ = rustix::process::kill_process_group(self.group, Signal::KILL);
        match status {
            Some(status) => Some(status),
            None => self.child.wait().await.ok(),
        }
    }

    /// What is still in the pipe, when the shell has ended; and what had to be put right behind it, a sentence on each. What it has left
    /// running ends with the workspace.
    pub async fn finish(mut self, push: &mut impl FnMut(&[u8])) -> Vec<String> {
        let mut buffer = vec![0; 64 * 1024];
        let _ = time::timeout(DRAIN, async {
            while let Ok(n @ 1..) = self.pipe.read(&mut buffer).await {
                push(&buffer[..n]);
            }
        })
        .await;
        self.guard.finished();
        self.cage.take().map(Cage::check).unwrap_or_default()
    }

    /// Is it kept inside?
    pub fn is_caged(&self) -> bool {
        self.cage.is_some()
    }
}
