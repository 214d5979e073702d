//! Processes that carry a mark in their environment: what a test started, and whatever that started.

use rustix::process::{Pid, Signal, kill_process};

/// Those that run; a process that has ended but was not waited for is not among them.
pub fn with_mark(mark: &str) -> Vec<(i32, String)> {
    let mut found = vec![];
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        let Ok(environ) = std::fs::read(entry.path().join("environ")) else { continue };
        if environ.windows(mark.len()).any(|w| w == mark.as_bytes()) {
            let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push((pid, String::from_utf8_lossy(&command).replace('\0', " ")));
        }
    }
    found
}

pub fn end_all(mark: &str) {
    for (pid, _) in with_mark(mark) {
        let _ = Pid::from_raw(pid).map(|pid| kill_process(pid, Signal::KILL));
    }
}
