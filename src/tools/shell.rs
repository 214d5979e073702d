//! `Bash`: runs a command and waits for its end, in every case.
//!
//! - The command has its own session and process group and no terminal: nothing can prompt, and one signal reaches all of it.
//! - On a timeout or an interrupt the group gets TERM, half a second, KILL; the outcome is awaited.
//! - What a command leaves running in its group ends with the workspace, also when we are killed ([`Children`]).
//! - One that waits for somebody's answer is told by what it printed ([`asks`]): the result says how it runs without.

mod asks;
mod background;
mod children;
mod clean;
mod folder;
mod history;
mod output;
mod process;
mod program;
pub(super) mod reader;
mod sandbox;
mod touching;

pub use background::{BashOutput, Jobs, KillBash};
pub use children::Children;
pub use program::Shell;
pub use sandbox::Sandbox;

use super::{RunContext, Tool, Workspace, args::Args, registry};
use crate::protocol::{Access, Basis, Block, CommandPart, Preview, ToolCall, ToolError, ToolOutput, ToolSpec, Touch};
use folder::{Moved, Told};
use futures::future::BoxFuture;
use output::Output;
use process::Within;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::{
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::ExitStatus,
    time::{Duration, Instant},
};
use tokio::{io::AsyncReadExt, time};

const TIMEOUT: u64 = 120_000;
const LONGEST: u64 = 600_000;
const PROGRESS: Duration = Duration::from_millis(50);
/// Who asks says nothing more; who is at work does, as a rule.
const SILENCE: Duration = Duration::from_millis(1500);

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
                "run_in_background": {"type": "boolean"},
                "unsandboxed": {"type": "boolean"},
            }),
            &["command"],
        )
    }

    fn preview(&self, args: &Value, workspace: &Workspace) -> Result<Preview, ToolError> {
        let Wanted { command, background, unsandboxed, .. } = wanted(args)?;
        let (parts, named) = touching::parts(command, workspace);
        let outside = unsandboxed && workspace.sandbox().is_on(workspace.root());
        let opens = opened(&parts, workspace);
        let access = Access::Run { command: command.into(), parts, folder: workspace.elsewhere(), outside };
        let block = Block::Command { command: command.into(), directory: workspace.cwd() };
        let title = command.lines().next().unwrap_or_default();
        let mut title = title.to_owned();
        if let Some(folder) = workspace.elsewhere() {
            title.push_str(&format!("  (in {})", workspace.titled(&folder)));
        }
        if background {
            title.push_str("  (in the background)");
        }
        if outside {
            title.push_str("  (outside the sandbox)");
        }
        let preview = Preview::new(access, title, block);
        Ok(Preview { named, basis: Basis { opens, outside, ..preview.basis }, ..preview })
    }

    fn run<'a>(&'a self, call: &'a ToolCall, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let Wanted { command, timeout, background, .. } = wanted(&call.args)?;
            let within = if call.basis.outside { Within::Everything } else { Within::Sandbox(&call.basis.opens) };
            if background { background::start(command, within, cx) } else { execute(command, timeout, within, cx).await }
        })
    }
}

struct Wanted<'a> {
    command: &'a str,
    timeout: Duration,
    background: bool,
    unsandboxed: bool,
}

/// What was shown that it writes outside the project.
fn opened(parts: &[CommandPart], workspace: &Workspace) -> Vec<PathBuf> {
    let written = parts.iter().flat_map(|part| &part.touches).filter_map(|touch| match touch {
        Touch::Writes(path) if !path.starts_with(workspace.root()) => Some(path.clone()),
        _ => None,
    });
    written.collect()
}

fn wanted(args: &Value) -> Result<Wanted<'_>, ToolError> {
    let args = Args::new("Bash", args)?;
    let command = args.filled("command")?;
    if command.contains('\0') {
        return Err(ToolError::new("Bash: `command` contains a NUL character."));
    }
    let timeout = args.opt_number("timeout")?.filter(|t| *t > 0).unwrap_or(TIMEOUT).min(LONGEST);
    let (background, unsandboxed) = (args.flag("run_in_background")?, args.flag("unsandboxed")?);
    Ok(Wanted { command: command.trim(), timeout: Duration::from_millis(timeout), background, unsandboxed })
}

enum End {
    Exited(ExitStatus),
    TimedOut,
    Interrupted,
}

async fn execute(text: &str, timeout: Duration, within: Within<'_>, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
    cx.cancel.check()?;
    let begun = Instant::now();
    let folder = cx.workspace.elsewhere();
    let told = Told::for_line(text, cx.workspace);
    let mut started = process::start(text, told.as_ref(), within, cx.workspace)?;
    let caged = started.is_caged();
    let mut output = Output::new(cx.workspace.spills());
    let end = {
        let limit = time::sleep(timeout);
        tokio::pin!(limit);
        let mut tick = time::interval(PROGRESS);
        tick.set_missed_tick_behavior(time::MissedTickBehavior::Delay);
        let (mut buffer, mut open) = (vec![0; 64 * 1024], true);
        let mut heard = Some(Instant::now());
        loop {
            tokio::select! {
                biased;
                _ = cx.cancel.cancelled() => break End::Interrupted,
                _ = &mut limit => break End::TimedOut,
                _ = tick.tick() => {
                    show(&mut output, cx);
                    if heard.take_if(|last| last.elapsed() > SILENCE).is_some() && let Some(wants) = asks::question(&output.line()) {
                        (cx.progress)(format!("\n[{}]\n", wants.shown()));
                    }
                }
                // Before the pipe: a child in the background may never stop writing.
                status = started.child.wait() => break End::Exited(status.map_err(|e| ToolError(format!("The command is lost: {e}.")))?),
                got = started.pipe.read(&mut buffer), if open => match got {
                    Ok(n) if n > 0 => {
                        heard = Some(Instant::now());
                        output.push(&buffer[..n]);
                    }
                    _ => open = false,
                },
            }
        }
    };
    let status = match &end {
        End::Exited(status) => Some(*status),
        _ => started.stop(&mut |bytes| output.push(bytes)).await,
    };
    let righted = started.finish(&mut |bytes| output.push(bytes)).await;
    show(&mut output, cx);
    let succeeded = matches!(&end, End::Exited(status) if status.success());
    let moved = told.filter(|_| succeeded).map_or(Moved::Stayed, |told| told.follow(cx.workspace));
    let mut output = report(end, status, begun.elapsed(), timeout, output);
    if caged {
        tell_sandbox(&mut output, &righted);
    }
    tell_folder(&mut output, folder.as_deref(), moved, cx.workspace);
    Ok(output)
}

fn show(output: &mut Output, cx: &RunContext) {
    if let Some(new) = output.take_progress() {
        (cx.progress)(new);
    }
}

/// What the sandbox had to put right, and that it may be why a command failed.
fn tell_sandbox(output: &mut ToolOutput, righted: &[String]) {
    for sentence in righted {
        add_note(output, &format!("[sandbox: {sentence}]"));
    }
    if !righted.is_empty() {
        output.summary = format!("kept by the sandbox · {}", output.summary);
    } else if output.failed && sandbox::may_have_stopped(&output.for_model) {
        add_note(
            output,
            "[Commands run in a sandbox: they write only in the project, temporary folders and caches. If that is why it failed, call Bash \
             again with \"unsandboxed\": true; the user is asked.]",
        );
        output.summary = format!("perhaps stopped by the sandbox · {}", output.summary);
    }
}

/// On a line of its own.
fn add_note(output: &mut ToolOutput, note: &str) {
    if output.for_model == "(no output)" {
        output.for_model.clear();
    } else if !output.for_model.ends_with('\n') {
        output.for_model.push('\n');
    }
    output.for_model.push_str(note);
}

/// Where the command ran, if that is not what everybody takes it for, and where the next one will.
fn tell_folder(output: &mut ToolOutput, ran_in: Option<&Path>, moved: Moved, workspace: &Workspace) {
    let (note, summary) = match moved {
        Moved::Stayed => match ran_in {
            Some(folder) => (format!("[in {}]", workspace.titled(folder)), None),
            None => return,
        },
        Moved::To(folder) => {
            let shown = if folder == workspace.root() { "the project folder again".into() } else { workspace.titled(&folder) };
            (format!("[the working folder is now {shown}; relative paths start there, for all tools]"), Some(format!("now in {shown}")))
        }
        Moved::Left(folder) => {
            let why = format!("[it ended in {}, outside the project: the working folder is the project folder]", folder.display());
            (why, Some("back in the project folder".into()))
        }
    };
    add_note(output, &note);
    if let Some(summary) = summary {
        output.summary = format!("{summary} · {}", output.summary);
    }
}

fn report(end: End, status: Option<ExitStatus>, took: Duration, timeout: Duration, mut output: Output) -> ToolOutput {
    let took = lasted(took);
    let (code, signal) = (status.and_then(|s| s.code()), status.and_then(|s| s.signal()));
    let mut text = output.finish();
    let failed = !matches!(end, End::Exited(_)) || code != Some(0);
    let wants = asks::unanswered(&text).filter(|_| failed);
    let (mut summary, mut note) = match end {
        End::TimedOut => {
            let hint = if wants.is_some() { "" } else { " If it waits for input, it can't get any: there is no terminal." };
            let longer = "If it needs longer, set timeout (ms).";
            (format!("timed out · {took}"), format!("[stopped: not done after {} s.{hint} {longer}]", timeout.as_secs_f64()))
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
    if let Some(wants) = wants {
        summary = format!("{} · {summary}", wants.summary());
        note = format!("{note}\n[{}]", wants.hint());
    }
    let shown = text.as_str().into();
    if !note.is_empty() {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&note);
    }
    ToolOutput { for_model: text, for_user: Block::Terminal { output: shown, status: Some(code_of(status)) }, summary, failed }
}

fn lasted(took: Duration) -> String {
    if took < Duration::from_secs(1) { format!("{} ms", took.as_millis()) } else { format!("{:.1} s", took.as_secs_f64()) }
}

/// `exit 1`, `signal 15`.
fn ended(status: Option<ExitStatus>) -> String {
    match (status.and_then(|s| s.code()), status.and_then(|s| s.signal())) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "gone".into(),
    }
}

/// As a shell tells it: a signal is 128 and its number.
fn code_of(status: Option<ExitStatus>) -> i32 {
    status.and_then(|s| s.code().or(s.signal().map(|signal| 128 + signal))).unwrap_or(-1)
}
