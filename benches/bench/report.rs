//! The table: a row as soon as it is measured, and whether a bound was broken.

use std::{
    fmt::Display,
    io::{self, Write},
    process::ExitCode,
};

pub struct Report {
    broken: usize,
}

impl Report {
    pub fn new() -> Self {
        let report = Report { broken: 0 };
        report.row("", "measured", "budget", &format!("load {}", load()));
        report
    }

    /// A bound that holds whatever else the machine does.
    pub fn bound(&mut self, what: &str, measured: f64, unit: &str, most: f64) {
        let holds = measured <= most;
        self.broken += usize::from(!holds);
        self.row(what, &format!("{measured:.2}{unit}"), &format!("≤ {most}{unit}"), if holds { "ok" } else { "BROKEN" });
    }

    /// A figure of this machine, now.
    pub fn told(&mut self, what: &str, measured: f64, unit: &str, budget: f64) {
        let verdict = if measured <= budget { "ok" } else { "over (not judged)" };
        self.row(what, &format!("{measured:.2}{unit}"), &format!("≤ {budget}{unit}"), verdict);
    }

    pub fn noted(&mut self, what: &str, measured: impl Display) {
        self.row(what, &measured.to_string(), "", "");
    }

    pub fn failed(&mut self, what: &str, error: &anyhow::Error) {
        self.broken += 1;
        self.row(what, "", "", &format!("FAILED: {error:#}"));
    }

    fn row(&self, what: &str, measured: &str, budget: &str, verdict: &str) {
        let _ = writeln!(io::stdout(), "{what:<58} {measured:>14} {budget:>14}  {verdict}");
    }

    pub fn end(self) -> ExitCode {
        if self.broken == 0 {
            return ExitCode::SUCCESS;
        }
        let _ = writeln!(io::stderr(), "{} of the bounds are broken.", self.broken);
        ExitCode::FAILURE
    }
}

fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("?").to_owned()
}
