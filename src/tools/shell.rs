//! `Bash`: runs a command and waits for its end, in every case.
//!
//! - The command has its own session and process group and no terminal: nothing can prompt, and one signal reaches all of it.
//! - On a timeout or an interrupt the group gets TERM, half a second, KILL; the outcome is awaited.
//! - What a command leaves running in its group ends with the workspace, also when we are killed ([`Children`]).

mod children;
mod clean;
mod history;
mod output;
pub(super) mod reader;
mod touching;

pub use children::Children;

use super::{RunContext, Tool, Workspace, args::Args, registry};
use crate::protocol::{Access, Block, Preview, ToolCall, ToolError, ToolOutput, ToolSpec};
use futures::future::BoxFuture;
use output::Output;
use rustix::process::{Pid, Signal};
use serde_json::{Value, json};
use std::{
    os::unix::process::ExitStatusExt,
    process::{ExitStatus, Stdio},
    time::{Duration, Instant},
};
use tokio::{io::AsyncReadExt, net::unix::pipe, process::Command, time};

const TIMEOUT: u64 = 120_000;
const LONGEST: u64 = 600_000;
const GRACE: Duration = Duration::from_millis(500);
/// How long to look for output after the shell has ended: a child in the background may hold the pipe for ever.
const DRAIN: Duration = Duration::from_millis(100);
const PROGRESS: Duration = Duration::from_millis(50);

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

#[derive(Debug)]
pub struct Bash;

impl Tool for Bash {
    fn spec(&self) -> ToolSpec {
        registry::spec(
            "Bash",
            &["execute_bash", "shell", "run_command", "run_terminal_cmd"],
            include_str!("../../assets/tools/bash.md"),
            json!({
                "command": {"type": "string"},
                "description": {"type": "string", "description": "5–10 words on what it does"},
                "timeout": {"type": "integer", "description": "ms, default 120000, at most 600000"},
            }),
            &["command"],
        )
    }

    fn preview(&self, args: &Value, workspace: &Workspace) -> Result<Preview, ToolError> {
        let (command, _) = wanted(args)?;
        let (parts, named) = touching::parts(command, workspace);
        let access = Access::Run { command: command.into(), parts };
        let block = Block::Command { command: command.into(), directory: workspace.cwd() };
        Ok(Preview { named, ..Preview::new(access, command.lines().next().unwrap_or_default().into(), block) })
    }

    fn run<'a>(&'a self, call: &'a ToolCall, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let (command, timeout) = wanted(&call.args)?;
            execute(command, timeout, cx).await
        })
    }
}

fn wanted(args: &Value) -> Result<(&str, Duration), ToolError> {
    let args = Args::new("Bash", args)?;
    let command = args.filled("command")?;
    if command.contains('\0') {
        return Err(ToolError::new("Bash: `command` contains a NUL character."));
    }
    let timeout = args.opt_number("timeout")?.filter(|t| *t > 0).unwrap_or(TIMEOUT).min(LONGEST);
    Ok((command.trim(), Duration::from_millis(timeout)))
}

enum End {
    Exited(ExitStatus),
    TimedOut,
    Interrupted,
}

async fn execute(text: &str, timeout: Duration, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
    let failed = |e: std::io::Error| ToolError(format!("The command could not be started: {e}."));
    cx.cancel.check()?;
    let begun = Instant::now();
    let (read, write) = std::io::pipe().map_err(failed)?;
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(text).current_dir(cx.workspace.cwd()).stdin(Stdio::null());
    command.stdout(write.try_clone().map_err(failed)?).stderr(write).envs(ENVIRONMENT.iter().copied()).kill_on_drop(true);
    let announcer = cx.workspace.children.announcer();
    // SAFETY: only system calls that are allowed between fork and exec, and no allocation.
    unsafe {
        command.pre_exec(move || {
            rustix::process::setsid()?;
            announcer.announce()
        });
    }
    let mut child = command.spawn().map_err(failed)?;
    // Closes our ends of the pipe's write side; only the command holds it now.
    drop(command);
    let group = child.id().and_then(|id| Pid::from_raw(id as i32)).ok_or_else(|| ToolError::new("The command has no process id."))?;
    let guard = cx.workspace.children.watch(group);
    let mut pipe = pipe::Receiver::from_owned_fd(read.into()).map_err(failed)?;
    let mut output = Output::new(cx.workspace);

    let end = {
        let limit = time::sleep(timeout);
        tokio::pin!(limit);
        let mut tick = time::interval(PROGRESS);
        tick.set_missed_tick_behavior(time::MissedTickBehavior::Delay);
        let (mut buffer, mut open) = (vec![0; 64 * 1024], true);
        loop {
            tokio::select! {
                biased;
                _ = cx.cancel.cancelled() => break End::Interrupted,
                _ = &mut limit => break End::TimedOut,
                _ = tick.tick() => show(&mut output, cx),
                // Before the pipe: a child in the background may never stop writing.
                status = child.wait() => break End::Exited(status.map_err(failed)?),
                got = pipe.read(&mut buffer), if open => match got {
                    Ok(n) if n > 0 => output.push(&buffer[..n]),
                    _ => open = false,
                },
            }
        }
    };
    let status = match &end {
        End::Exited(status) => Some(*status),
        _ => stop(group, &mut child, &mut pipe, &mut output).await,
    };
    drain(&mut pipe, &mut output).await;
    show(&mut output, cx);
    guard.finished();
    Ok(report(end, status, begun.elapsed(), timeout, output))
}

fn show(output: &mut Output, cx: &RunContext) {
    if let Some(new) = output.take_progress() {
        (cx.progress)(new);
    }
}

/// TERM, a grace period, KILL; the pipe is emptied meanwhile so that nobody waits for us.
async fn stop(group: Pid, child: &mut tokio::process::Child, pipe: &mut pipe::Receiver, output: &mut Output<'_>) -> Option<ExitStatus> {
    let _ = rustix::process::kill_process_group(group, Signal::TERM);
    let mut buffer = vec![0; 64 * 1024];
    let grace = time::sleep(GRACE);
    tokio::pin!(grace);
    let (mut open, mut status) = (true, None);
    // Until the whole group is gone, not only the shell.
    while status.is_none() || rustix::process::test_kill_process_group(group).is_ok() {
        tokio::select! {
            biased;
            _ = &mut grace => break,
            got = child.wait(), if status.is_none() => status = got.ok(),
            got = pipe.read(&mut buffer), if open => match got {
                Ok(n) if n > 0 => output.push(&buffer[..n]),
                _ => open = false,
            },
            _ = time::sleep(Duration::from_millis(5)), if status.is_some() => {}
        }
    }
    let _ = rustix::process::kill_process_group(group, Signal::KILL);
    match status {
        Some(status) => Some(status),
        None => child.wait().await.ok(),
    }
}

async fn drain(pipe: &mut pipe::Receiver, output: &mut Output<'_>) {
    let mut buffer = vec![0; 64 * 1024];
    let _ = time::timeout(DRAIN, async {
        while let Ok(n @ 1..) = pipe.read(&mut buffer).await {
            output.push(&buffer[..n]);
        }
    })
    .await;
}

fn report(end: End, status: Option<ExitStatus>, took: Duration, timeout: Duration, output: Output) -> ToolOutput {
    let took = if took < Duration::from_secs(1) { format!("{} ms", took.as_millis()) } else { format!("{:.1} s", took.as_secs_f64()) };
    let (code, signal) = (status.and_then(|s| s.code()), status.and_then(|s| s.signal()));
    let mut text = output.finish();
    let (summary, note) = match end {
        End::TimedOut => {
            let hint = "If it waits for input, it can't get any: there is no terminal. If it needs longer, set timeout (ms)";
            (format!("timed out · {took}"), format!("[stopped: not done after {} s. {hint}.]", timeout.as_secs_f64()))
        }
        End::Interrupted => (format!("interrupted · {took}"), "[stopped by the user]".into()),
        End::Exited(_) => match (code, signal) {
            (Some(0), _) if text.is_empty() => (format!("exit 0 · {took}"), "(no output)".into()),
            (Some(0), _) => (format!("exit 0 · {took}"), String::new()),
            (Some(code), _) => (format!("exit {code} · {took}"), format!("[exit code {code}]")),
            (None, signal) => {
                let signal = signal.unwrap_or_default();
                let name = Signal::from_named_raw(signal).map_or(String::new(), |s| format!(" ({s:?})"));
                (format!("signal {signal} · {took}"), format!("[ended by signal {signal}{name}]"))
            }
        },
    };
    let shown = text.as_str().into();
    if !note.is_empty() {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&note);
    }
    let succeeded = matches!(end, End::Exited(_)) && code == Some(0);
    let status = code.or(signal.map(|s| 128 + s)).or(Some(-1));
    ToolOutput { for_model: text, for_user: Block::Terminal { output: shown, status }, summary, failed: !succeeded }
}
