//! Commands that run in the background: on from the call that started them, and at the longest until the session ends.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// By which the model calls it: `bash_1`.
    pub id: String,
    pub command: String,
}

impl Job {
    /// `bash_1 (npm run dev)`.
    pub fn named(&self) -> String {
        format!("{} ({})", self.id, self.short())
    }

    /// The command's first line, or the beginning of it.
    pub fn short(&self) -> String {
        const MOST: usize = 60;
        let line = self.command.lines().next().unwrap_or_default();
        let short: String = line.chars().take(MOST).collect();
        let more = if short.len() < self.command.trim_end().len() { "…" } else { "" };
        short + more
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobEnd {
    /// `exit 1 · 12.3 s`.
    pub how: String,
    pub failed: bool,
    /// Somebody had asked for it: the model, or the end of the session.
    pub asked: bool,
}
