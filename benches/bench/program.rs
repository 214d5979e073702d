//! The real program against a model server on loopback: its start, its keys, its stream, its rest.

use crate::{clock::median, model_server, pty::Term, report::Report};
use std::{
    collections::HashSet,
    process::{Command, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

const MODEL: &str = "bench-model";
const CHUNKS: usize = 5_000;

/// A home and a project of its own, which it trusts.
struct World {
    folder: TempDir,
    server: String,
}

impl World {
    fn new() -> anyhow::Result<World> {
        let world = World { folder: tempfile::tempdir()?, server: model_server::start()? };
        std::fs::create_dir(world.folder.path().join("project"))?;
        let mut term = world.open()?;
        term.sees("Do you trust")?;
        // Keys count for an answer only after the question has stood for a moment.
        term.settle(Duration::from_millis(600))?;
        term.send("y")?;
        term.sees(MODEL)?;
        Ok(world)
    }

    fn open(&self) -> anyhow::Result<Term> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_backstitch"));
        command.current_dir(self.folder.path().join("project")).env_clear();
        command.env("HOME", self.folder.path()).env("TERM", "xterm-256color").env("COLORTERM", "truecolor").env("LANG", "C.UTF-8");
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("OPENAI_BASE_URL", &self.server).env("OPENAI_API_KEY", "none").env("OPENAI_MODEL", MODEL);
        Ok(Term::start(command)?)
    }

    /// At its prompt, with everything drawn.
    fn ready(&self) -> anyhow::Result<Term> {
        let mut term = self.open()?;
        term.sees(MODEL)?;
        term.settle(Duration::from_millis(200))?;
        Ok(term)
    }
}

fn millis(from: Instant, to: Instant) -> f64 {
    to.duration_since(from).as_secs_f64() * 1e3
}

pub fn start(report: &mut Report) -> anyhow::Result<()> {
    let mut times = vec![];
    for _ in 0..21 {
        let from = Instant::now();
        let mut command = Command::new(env!("CARGO_BIN_EXE_backstitch"));
        anyhow::ensure!(command.arg("--version").stdout(Stdio::null()).status()?.success(), "--version fails");
        times.push(millis(from, Instant::now()));
    }
    report.told("--version, wall, median of 21", median(times), " ms", 5.0);
    let world = World::new()?;
    let mut times = vec![];
    for _ in 0..21 {
        let mut term = world.open()?;
        let seen = term.sees(MODEL)?;
        times.push(millis(term.began, seen));
    }
    report.told("exec to the usable prompt with its model, median of 21", median(times), " ms", 20.0);
    let mut term = world.ready()?;
    report.told("resident at the prompt, all processes (RSS)", term.memory("Rss"), " MB", 20.0);
    report.noted("  of it not shared (PSS)", format!("{:.2} MB", term.memory("Pss")));
    report.noted("  CPU until then", format!("{:.1} ms", term.cpu().as_secs_f64() * 1e3));
    let pass = |term: &mut Term, seconds: u64| -> anyhow::Result<()> {
        let until = Instant::now() + Duration::from_secs(seconds);
        while Instant::now() < until {
            term.read(until.saturating_duration_since(Instant::now()))?;
        }
        Ok(())
    };
    // In the first second the index of the files is made.
    let written = term.written.len();
    pass(&mut term, 1)?;
    let wakeups = term.wakeups();
    pass(&mut term, 3)?;
    report.bound("idle for 3 s: bytes written", (term.written.len() - written) as f64, "", 0.0);
    report.bound("idle for 3 s: wakeups of all threads", term.wakeups() - wakeups, "", 3.0);
    Ok(())
}

/// Milliseconds from a key to its character among the bytes written. The letters are none that end an escape sequence of ours.
fn echoes(term: &mut Term, samples: usize) -> anyhow::Result<Vec<f64>> {
    let mut times = vec![];
    for n in 0..samples {
        let letter = ["Q", "V", "Y", "W"][n % 4];
        let from = Instant::now();
        term.send(letter)?;
        while !term.read(Duration::from_secs(2))?.contains(&letter.as_bytes()[0]) {
            anyhow::ensure!(from.elapsed() < Duration::from_secs(5), "{letter} was never shown");
        }
        times.push(millis(from, Instant::now()));
        // As a person pauses, and at no fixed phase of the frames.
        let until = Instant::now() + Duration::from_millis(23 + (n as u64 * 7) % 19);
        while Instant::now() < until {
            term.read(until.saturating_duration_since(Instant::now()))?;
        }
    }
    Ok(times)
}

pub fn echo(report: &mut Report) -> anyhow::Result<()> {
    let world = World::new()?;
    let mut term = world.ready()?;
    let idle = echoes(&mut term, 60)?;
    report.told("key to its echo, idle, median of 60", median(idle), " ms", 1.0);
    term.send("\x15")?;
    term.settle(Duration::from_millis(100))?;
    term.send("stream 4000 1")?;
    term.sees("stream 4000 1")?;
    term.send("\r")?;
    term.sees("w20 ")?;
    let busy = echoes(&mut term, 60)?;
    let done = term.screen.screen().contents().contains(model_server::LAST);
    anyhow::ensure!(!done, "the stream ended before the keys did");
    report.told("key to its echo, while an answer streams, median of 60", median(busy.clone()), " ms", 1.0);
    report.noted("  the slowest", format!("{:.2} ms", busy.into_iter().fold(0.0, f64::max)));
    Ok(())
}

pub fn stream(report: &mut Report) -> anyhow::Result<()> {
    let world = World::new()?;
    let text: usize = (0..CHUNKS).map(|n| model_server::word(n).len()).sum();
    let (mut cpu, mut wall, mut per, mut shown) = (vec![], vec![], vec![], usize::MAX);
    for _ in 0..5 {
        let (mut term, seen) = streamed(&world, CHUNKS, 0)?;
        cpu.push(seen.cpu);
        wall.push(seen.wall);
        per.push(seen.written as f64 / text as f64 * 20.0);
        shown = shown.min(words(&term.written).intersection(&expected()).count());
        term.send("\x04")?;
    }
    report.told("5,000 chunks at once: CPU of the process tree", median(cpu), " s", 0.15);
    report.told("  written to the terminal for 20 KB of text", median(per), " KB", 40.0);
    report.noted("  enter to the last word, wall", format!("{:.3} s", median(wall)));
    report.bound("  words that were never shown", (CHUNKS - shown) as f64, "", 0.0);
    let count = 1_000;
    let (_, seen) = streamed(&world, count, 4)?;
    let text: usize = (0..count).map(|n| model_server::word(n).len()).sum();
    report.noted("1,000 chunks, 4 ms apart: CPU", format!("{:.3} s", seen.cpu));
    report.noted("  written for 20 KB of text", format!("{:.1} KB", seen.written as f64 / text as f64 * 20.0));
    Ok(())
}

struct Seen {
    cpu: f64,
    wall: f64,
    written: usize,
}

fn streamed(world: &World, count: usize, pause: usize) -> anyhow::Result<(Term, Seen)> {
    let mut term = world.ready()?;
    let prompt = format!("stream {count} {pause}");
    term.send(&prompt)?;
    term.sees(&prompt)?;
    let (cpu, written, from) = (term.cpu(), term.written.len(), Instant::now());
    term.send("\r")?;
    let until = term.sees(model_server::LAST)?;
    term.settle(Duration::from_millis(300))?;
    let seen = Seen {
        cpu: (term.cpu() - cpu).as_secs_f64(),
        wall: until.duration_since(from).as_secs_f64(),
        written: term.written.len() - written,
    };
    Ok((term, seen))
}

fn expected() -> HashSet<String> {
    (0..CHUNKS).map(|n| model_server::word(n).trim().to_owned()).collect()
}

/// The words among the bytes for a terminal, without its sequences.
fn words(bytes: &[u8]) -> HashSet<String> {
    let text = String::from_utf8_lossy(bytes);
    let mut plain = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            // A control sequence ends with a letter, after its `[`.
            '\x1b' if chars.next() == Some('[') => drop(chars.find(|c| matches!(c, '@'..='~'))),
            '\x1b' => {}
            c => plain.push(c),
        }
    }
    plain.split_whitespace().map(str::to_owned).collect()
}
