//! Without a screen: one task in, the answer on standard output, progress on standard error.
//!
//! Never waits for a person: a call that would have to be asked about ends the run with exit code 2.

mod plain;
mod question;
pub mod talk;

use crate::{
    engine::Engine,
    failure::Failure,
    handle::Handle,
    launch::{Options, Prepared, Project, WAITING, prepare},
    llm, picture,
    protocol::{Access, Command, Decision, ModelInfo, Prompt, Resume, TurnId},
};
use backstitch_components::text::sanitize::one_line;
use plain::{Call, Line, Plain, Stop};
use std::{
    io::{self, Read, Write},
    path::PathBuf,
};
use tokio::{
    runtime::Runtime,
    signal::unix::{SignalKind, signal},
};

pub fn run(options: &Options, task: &[String], images: &[PathBuf], trust: bool, demo: bool) -> Result<(), Failure> {
    let prompt = with_images(task_text(task)?, images)?;
    let mut project = if demo { Project::demo()? } else { Project::here()? };
    if trust {
        let root = project.root.clone();
        project.trust.trust_for_now(&root);
    }
    if !project.is_trusted() {
        return Err(Failure::config(format!("{} is not trusted, so nothing in it was read.", project.shown()))
            .hint("--trust-directory trusts it for this run")
            .hint("backstitch without a command asks, and remembers"));
    }
    let (runtime, Prepared { services, settings, records, opened }) = prepared(&project, options)?;
    if let Some(blind) = settings.model.as_ref().filter(|model| !prompt.images.is_empty() && model.vision == Some(false)) {
        return Err(
            Failure::usage(format!("{} sees no images: its provider's settings say so.", blind.id)).hint("--model names another one")
        );
    }
    opened.warnings.iter().for_each(|w| progress(&format!("! {w}")));
    let mode = settings.mode;
    let (handle, engine) = Engine::start(services, settings, records).map_err(no_start)?;
    handle.send(Command::Prompt(prompt));
    let mut plain = Plain::new(mode);
    let result = runtime.block_on(follow(&handle, &mut plain));
    plain.left().iter().for_each(|left| progress(left));
    handle.send(Command::Close);
    drop(handle);
    engine.join();
    result
}

/// What a run or a talk begins with. A model is there.
fn prepared(project: &Project, options: &Options) -> Result<(Runtime, Prepared), Failure> {
    if options.resume == Some(Resume::Ask) {
        return Err(which_session(project));
    }
    let mut prepared = prepare(project, options, options.recorder()?)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(no_start)?;
    if prepared.settings.model.is_none() {
        let found = runtime.block_on(first_model(&prepared.services.models));
        let waits = |failure: Failure| if prepared.opened.waiting_providers { failure.hint(WAITING) } else { failure };
        prepared.settings.model = Some(found.map_err(waits)?);
    }
    Ok((runtime, prepared))
}

/// Nobody can choose here: the newest ones, each with its number.
fn which_session(project: &Project) -> Failure {
    const MOST: usize = 10;
    let all = project.sessions();
    let failure = Failure::usage("Which session is to go on? --resume takes its id, or its number.");
    let rows = (1..).zip(&all).take(MOST).map(|(n, info)| format!("{n}: {}", one_line(&info.title)));
    rows.fold(failure, |failure, row| failure.hint(row))
}

fn no_start(error: io::Error) -> Failure {
    Failure::internal(format!("The engine could not start: {error}"))
}

/// A provider that is configured without a model says itself what it has.
async fn first_model(models: &llm::Registry) -> Result<ModelInfo, Failure> {
    let listed = models.all_models().await;
    match (listed.models.into_iter().next(), listed.failed.into_iter().next()) {
        (Some(model), _) => Ok(model),
        (None, Some((name, error))) => Err(Failure::provider(format!("{name}: {}", error.message))),
        // The registry's own words for what is missing.
        (None, None) => models.resolve(None, None),
    }
}

fn task_text(task: &[String]) -> Result<String, Failure> {
    let from_stdin = task.is_empty() || task == ["-"];
    let mut text = task.join(" ");
    if from_stdin {
        if io::IsTerminal::is_terminal(&io::stdin()) {
            return Err(Failure::usage("There is no task.").hint("backstitch run \"what should be done\", or the task on standard input"));
        }
        text.clear();
        io::stdin().read_to_string(&mut text).map_err(|e| Failure::usage(format!("Standard input can't be read as text: {e}")))?;
    }
    if text.trim().is_empty() {
        return Err(Failure::usage("The task is empty."));
    }
    Ok(text)
}

fn with_images(text: String, paths: &[PathBuf]) -> Result<Prompt, Failure> {
    let load = |(n, path): (usize, &PathBuf)| match picture::load(path) {
        Ok(image) => Ok(image.numbered(n + 1)),
        Err(why) => Err(Failure::usage(format!("{} {why}.", path.display()))),
    };
    let images = paths.iter().enumerate().map(load).collect::<Result<Vec<_>, _>>()?;
    let labels: Vec<&str> = images.iter().map(|image| image.label.as_str()).collect();
    let text = if labels.is_empty() { text } else { format!("{text}\n\n{}", labels.join(" ")) };
    Ok(Prompt { text, images })
}

async fn follow(handle: &Handle, plain: &mut Plain) -> Result<(), Failure> {
    let failed = |e: io::Error| Failure::internal(format!("Signals can't be watched: {e}"));
    let mut interrupts = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut terminations = signal(SignalKind::terminate()).map_err(failed)?;
    let mut stopped: Option<Failure> = None;
    loop {
        let event = tokio::select! {
            biased;
            _ = interrupts.recv() => None,
            _ = terminations.recv() => None,
            event = handle.events.next() => Some(event),
        };
        let event = match event {
            Some(Some(event)) => event,
            Some(None) => return Err(Failure::internal("The engine has stopped: this is a fault of Backstitch.")),
            None => {
                // The second time there is no waiting for anything.
                if stopped.replace(Failure::interrupted()).is_some() || !interrupt(handle, plain.turn) {
                    return Err(Failure::interrupted());
                }
                continue;
            }
        };
        let (lines, stop) = plain.fold(event);
        for line in lines {
            match line {
                Line::Answer(text) => {
                    if let Err(e) = answer(&text) {
                        stopped.get_or_insert(Failure::internal(format!("The answer can't be written: {e}")));
                    }
                }
                Line::Progress(text) => progress(&text),
            }
        }
        match stop {
            None => {}
            Some(Stop::Ended(result)) => return stopped.map_or(result, Err),
            Some(Stop::Asked(call, failure)) => {
                if matches!(plain.call_of(call).and_then(|call| call.access.as_ref()), Some(Access::Question { .. })) {
                    let reason = Some("Nobody is here to be asked: decide yourself, and say what you assumed.".into());
                    handle.send(Command::Decide { call, decision: Decision::Deny { reason } });
                    continue;
                }
                match plain.call_of(call).and_then(Call::plan) {
                    // What was asked for: nobody is here to have it carried out.
                    Some(plan) => {
                        if let Err(e) = answer(&plan) {
                            stopped.get_or_insert(Failure::internal(format!("The answer can't be written: {e}")));
                        }
                        return stopped.map_or(Ok(()), Err);
                    }
                    None => drop(stopped.get_or_insert(failure)),
                }
                interrupt(handle, plain.turn);
            }
        }
    }
}

fn interrupt(handle: &Handle, turn: Option<TurnId>) -> bool {
    if let Some(turn) = turn {
        handle.send(Command::Interrupt(turn));
    }
    turn.is_some()
}

/// A reader who has had enough closes the pipe: that is no error of ours.
fn answer(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(e),
        _ => Ok(()),
    }
}

fn progress(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
