//! Commands that go on when their call has ended, `BashOutput` that reads what they print, `KillBash` that ends them.
//!
//! - Whoever runs the call drives the command, by what [`RunContext::background`] is given, and waits for its end.
//! - Of each there is in memory what nobody has read yet, within a command's budget; all of it is in a file.
//! - Only commands of this very workspace are ever reached, by the names that they got here. When it closes, all of them end.

use super::{
    asks, code_of, ended, lasted,
    output::Output,
    process::{Started, Within},
};
use crate::{
    protocol::{Access, Block, Job, JobEnd, Preview, ToolCall, ToolError, ToolOutput, ToolSpec},
    tools::{Cancel, RunContext, Tool, Workspace, args::Args, registry},
};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::{
    process::ExitStatus,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};
use tokio::{io::AsyncReadExt, sync::watch, time};

/// So many at once are a mistake.
const MOST: usize = 16;
/// Ended ones that can still be read.
const KEPT: usize = 16;
const LONGEST_WAIT: u64 = 60_000;
/// TERM, KILL, and the rest of the output take less.
const ENDS_WITHIN: Duration = Duration::from_secs(5);

#[derive(Default)]
pub struct Jobs(Mutex<Set>);

#[derive(Default)]
struct Set {
    jobs: Vec<Arc<Running>>,
    started: usize,
    closed: bool,
}

struct Running {
    job: Job,
    began: Instant,
    output: Mutex<Output>,
    /// Everything is in `output` when this is there.
    end: watch::Sender<Option<End>>,
    stop: Cancel,
}

#[derive(Debug, Clone)]
struct End {
    code: i32,
    told: JobEnd,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Jobs {
    /// Ends all that run, and lets none begin any more. Whoever drives them sees their ends.
    pub fn close(&self) {
        let mut set = lock(&self.0);
        set.closed = true;
        set.jobs.iter().for_each(|running| running.stop.cancel());
    }

    fn add(&self, command: &str, output: Output) -> Result<Arc<Running>, ToolError> {
        let mut set = lock(&self.0);
        if set.closed {
            return Err(ToolError::new("The session is ending."));
        }
        let runs = |running: &Arc<Running>| running.end.borrow().is_none();
        if set.jobs.iter().filter(|running| runs(running)).count() >= MOST {
            return Err(ToolError(format!("{MOST} commands run in the background already: end one with KillBash.")));
        }
        let ended: Vec<usize> = (0..set.jobs.len()).filter(|n| !runs(&set.jobs[*n])).collect();
        if ended.len() > KEPT {
            set.jobs.remove(ended[0]);
        }
        set.started += 1;
        let job = Job { id: format!("bash_{}", set.started), command: command.into() };
        let (output, end) = (Mutex::new(output), watch::Sender::new(None));
        let running = Arc::new(Running { job, began: Instant::now(), output, end, stop: Cancel::new() });
        set.jobs.push(running.clone());
        Ok(running)
    }

    fn find(&self, id: &str) -> Result<Arc<Running>, ToolError> {
        let set = lock(&self.0);
        let found = set.jobs.iter().find(|running| running.job.id == id.trim());
        found.cloned().ok_or_else(|| {
            let names: Vec<&str> = set.jobs.iter().map(|running| running.job.id.as_str()).collect();
            let there = if names.is_empty() { "none has been started".into() } else { format!("there are {}", names.join(", ")) };
            ToolError(format!("There is no background command {id:?} in this session: {there}. Those of an earlier session ended with it."))
        })
    }
}

/// Starts it and comes back at once.
pub fn start(command: &str, within: Within<'_>, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
    cx.cancel.check()?;
    let output = Output::kept(cx.workspace.spills());
    let file = output.file().map(|path| format!(" All of its output is kept in {}.", path.display())).unwrap_or_default();
    let running = cx.workspace.jobs.add(command, output)?;
    let started = match super::process::start(command, None, within, cx.workspace) {
        Ok(started) => started,
        Err(error) => {
            lock(&cx.workspace.jobs.0).jobs.retain(|known| !Arc::ptr_eq(known, &running));
            return Err(error);
        }
    };
    let id = running.job.id.clone();
    (cx.background)(running.job.clone(), Box::pin(drive(running, started)));
    Ok(ToolOutput {
        for_model: format!(
            "It runs in the background as {id}. BashOutput with this id tells what it prints and whether it still runs; KillBash ends it.{file}"
        ),
        for_user: Block::Terminal { output: "".into(), status: None },
        summary: format!("runs as {id}"),
        failed: false,
    })
}

/// Reads what it prints until it ends, or is to end.
async fn drive(running: Arc<Running>, mut started: Started) -> JobEnd {
    let mut push = |bytes: &[u8]| lock(&running.output).push(bytes);
    let (mut buffer, mut open) = (vec![0; 64 * 1024], true);
    let (status, asked) = loop {
        tokio::select! {
            biased;
            _ = running.stop.cancelled() => break (started.stop(&mut push).await, true),
            status = started.child.wait() => break (status.ok(), false),
            got = started.pipe.read(&mut buffer), if open => match got {
                Ok(n) if n > 0 => push(&buffer[..n]),
                _ => open = false,
            },
        }
    };
    started.finish(&mut push).await;
    let end = End { code: code_of(status), told: told(status, running.began.elapsed(), asked) };
    running.end.send_replace(Some(end.clone()));
    end.told
}

fn told(status: Option<ExitStatus>, took: Duration, asked: bool) -> JobEnd {
    JobEnd { how: format!("{} · {}", ended(status), lasted(took)), failed: !asked && code_of(status) != 0, asked }
}

impl Running {
    fn end(&self) -> Option<End> {
        self.end.borrow().clone()
    }

    async fn ended(&self) {
        // Fails only when the sender is gone, and `self` holds it.
        let _ = self.end.subscribe().wait_for(Option::is_some).await;
    }

    /// What has come since the last time, and how it stands.
    fn read(&self) -> ToolOutput {
        // Before the output: what is there when it has ended is all.
        let end = self.end();
        let mut output = lock(&self.output);
        let (mut text, line) = match &end {
            Some(_) => (output.finish(), String::new()),
            None => (output.take(), output.line().into_owned()),
        };
        drop(output);
        // It comes once more when it is whole: it may be written anew until then.
        text.push_str(&line);
        let shown = text.as_str().into();
        let (mut summary, mut note) = match &end {
            Some(end) => (end.told.how.clone(), format!("[it has ended: {}]", end.told.how)),
            None => {
                let took = lasted(self.began.elapsed());
                (format!("running · {took}"), format!("[still running, for {took}]"))
            }
        };
        let wants = match &end {
            None => asks::question(&line),
            Some(end) => asks::unanswered(&text).filter(|_| end.told.failed),
        };
        if let Some(wants) = wants {
            (summary, note) = (format!("{} · {summary}", wants.summary()), format!("{note}\n[{}]", wants.hint()));
        }
        if text.is_empty() {
            text.push_str("(nothing new)");
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let status = end.as_ref().map(|end| end.code);
        let failed = end.is_some_and(|end| end.told.failed);
        ToolOutput { for_model: text + &note, for_user: Block::Terminal { output: shown, status }, summary, failed }
    }
}

#[derive(Debug)]
pub struct BashOutput;

impl Tool for BashOutput {
    fn spec(&self) -> ToolSpec {
        registry::spec(
            "BashOutput",
            &["bash_output", "TaskOutput", "read_background_output"],
            include_str!("../../../assets/tools/bash_output.md"),
            json!({
                "id": {"type": "string"},
                "wait": {"type": "integer", "description": "ms to wait for its end, at most 60000"},
            }),
            &["id"],
        )
    }

    fn offered_with_jobs(&self) -> bool {
        true
    }

    fn preview(&self, args: &Value, workspace: &Workspace) -> Result<Preview, ToolError> {
        preview("BashOutput", args, workspace, false)
    }

    fn run<'a>(&'a self, call: &'a ToolCall, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let args = Args::new("BashOutput", &call.args)?;
            let running = cx.workspace.jobs.find(args.filled("id")?)?;
            let wait = Duration::from_millis(args.opt_number("wait")?.unwrap_or_default().min(LONGEST_WAIT));
            if !wait.is_zero() {
                tokio::select! {
                    biased;
                    _ = cx.cancel.cancelled() => {}
                    _ = running.ended() => {}
                    _ = time::sleep(wait) => {}
                }
            }
            // Nothing is taken that nobody will read.
            cx.cancel.check()?;
            Ok(running.read())
        })
    }
}

#[derive(Debug)]
pub struct KillBash;

impl Tool for KillBash {
    fn spec(&self) -> ToolSpec {
        registry::spec(
            "KillBash",
            &["kill_bash", "KillShell", "kill_shell", "TaskStop"],
            include_str!("../../../assets/tools/kill_bash.md"),
            json!({"id": {"type": "string"}}),
            &["id"],
        )
    }

    fn offered_with_jobs(&self) -> bool {
        true
    }

    fn preview(&self, args: &Value, workspace: &Workspace) -> Result<Preview, ToolError> {
        preview("KillBash", args, workspace, true)
    }

    fn run<'a>(&'a self, call: &'a ToolCall, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let running = cx.workspace.jobs.find(Args::new("KillBash", &call.args)?.filled("id")?)?;
            running.stop.cancel();
            let _ = time::timeout(ENDS_WITHIN, running.ended()).await;
            Ok(running.read())
        })
    }
}

fn preview(tool: &str, args: &Value, workspace: &Workspace, end: bool) -> Result<Preview, ToolError> {
    let running = workspace.jobs.find(Args::new(tool, args)?.filled("id")?)?;
    let Job { id, command } = running.job.clone();
    let block = Block::Command { command: command.as_str().into(), directory: workspace.root().into() };
    Ok(Preview::new(Access::Job { id, end }, running.job.named(), block))
}
