//! `cargo bench`: what a frame, a delta, a step and a key cost, and how that grows.
//!
//! One table, each row with its budget. Bounds on ratios, growth and completeness hold on a busy machine too: a broken one ends
//! with exit code 1. Absolute times depend on the machine: they are told against their budget and never fail.
//!
//! `cargo bench -- NAME` runs the groups whose name contains NAME: start, echo, stream, frame, delta, diff, step, journal, resume,
//! finder, checkpoint, search, command.

#[path = "bench/checkpoint.rs"]
mod checkpoint;
#[path = "bench/clock.rs"]
mod clock;
#[path = "bench/core.rs"]
mod core;
#[path = "bench/diff.rs"]
mod diff;
#[path = "bench/finder.rs"]
mod finder;
#[path = "bench/frame.rs"]
mod frame;
#[path = "bench/model_server.rs"]
mod model_server;
#[path = "bench/program.rs"]
mod program;
#[path = "bench/pty.rs"]
mod pty;
#[path = "bench/report.rs"]
mod report;
#[path = "bench/tools.rs"]
mod tools;

use report::Report;
use std::process::ExitCode;

type Group = fn(&mut Report) -> anyhow::Result<()>;

/// Those that start the program come first: a small parent forks faster.
const GROUPS: [(&str, Group); 14] = [
    ("start", program::start),
    ("echo", program::echo),
    ("stream", program::stream),
    ("command", tools::commands),
    ("frame", frame::messages),
    ("delta", frame::deltas),
    ("diff", diff::viewer),
    ("step", core::steps),
    ("journal", core::journal),
    ("resume", core::resume),
    ("finder", finder::queries),
    ("finder walk", finder::walk),
    ("checkpoint", checkpoint::store),
    ("search", tools::search),
];

fn main() -> ExitCode {
    // What cargo passes to every harness.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let mut report = Report::new();
    for (name, group) in GROUPS {
        if !wanted.is_empty() && !wanted.iter().any(|w| name.contains(w.as_str())) {
            continue;
        }
        if let Err(error) = group(&mut report) {
            report.failed(name, &error);
        }
    }
    report.end()
}
