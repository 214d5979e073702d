//! `backstitch replay FILE`: does again, step by step, what a recording tells, without a model, a tool or a terminal.
//!
//! The screen as plain rows (all that was printed, then the live region), or the agent's inputs with their effects. Either way the
//! agent is run, and what it tells the screen is compared with what the screen was told.

mod agent;
mod read;
mod screen;

use crate::failure::Failure;
use agent::Rerun;
use read::{Entry, Recording};
use screen::Screens;
use std::{
    io::{self, Write},
    path::Path,
};

pub fn run(file: &Path, agent: bool, size: Option<(u16, u16)>) -> Result<(), Failure> {
    let recording = read::read(file)?;
    let shown = replay(&recording, size);
    // A reader who has had enough closes the pipe: that is no error of ours.
    let mut out = io::stdout().lock();
    let rows = if agent { &shown.steps } else { &shown.rows };
    let _ = rows.iter().try_for_each(|row| writeln!(out, "{row}")).and_then(|()| out.flush());
    let mut err = io::stderr().lock();
    shown.notes.iter().for_each(|note| drop(writeln!(err, "! {note}")));
    match shown.difference {
        Some(difference) => Err(Failure::internal(format!("The replay went another way than the recording at {difference}"))),
        None => {
            let _ = writeln!(err, "{} inputs and {} messages were replayed, with the same events.", shown.inputs, shown.messages);
            Ok(())
        }
    }
}

#[derive(Debug, Default)]
struct Shown {
    /// The screen.
    rows: Vec<String>,
    /// The agent.
    steps: Vec<String>,
    notes: Vec<String>,
    inputs: usize,
    messages: usize,
    difference: Option<String>,
}

fn replay(recording: &Recording, size: Option<(u16, u16)>) -> Shown {
    let mut shown = Shown::default();
    if recording.version != env!("CARGO_PKG_VERSION") {
        let (theirs, ours) = (&recording.version, env!("CARGO_PKG_VERSION"));
        shown.notes.push(format!("The recording is of version {theirs} and this is {ours}: it may not go the same way."));
    }
    if recording.torn {
        shown.notes.push("The last line of the recording is cut; all before it was read.".into());
    }
    // A run without a screen: what it would have shown is folded from the agent's own events.
    let bare = !recording.entries.iter().any(|entry| matches!(entry, Entry::Setting(_)));
    let mut screens = Screens::new(size);
    let mut rerun = Rerun::default();
    for entry in &recording.entries {
        match entry {
            Entry::Settings(settings, records) => {
                if bare {
                    screens.open_bare(settings);
                }
                let events = rerun.start((**settings).clone(), records);
                screens.fold(bare, Default::default(), events);
            }
            Entry::Setting(facts) => screens.open(facts.clone()),
            Entry::Input(now, input) => {
                shown.inputs += 1;
                let events = rerun.step(*now, (**input).clone());
                screens.fold(bare, *now, events);
            }
            Entry::Msg(now, msg) => {
                shown.messages += 1;
                rerun.shown(msg);
                screens.update(*now, (**msg).clone());
            }
            Entry::Backstitch(_) => {}
            Entry::Lost(what) => shown.notes.push(format!("A line could not be recorded ({what}): from there on it may go another way.")),
        }
    }
    (shown.rows, shown.difference, shown.steps) = (screens.finish(), rerun.difference(), rerun.steps);
    shown
}

#[cfg(test)]
mod tests;
