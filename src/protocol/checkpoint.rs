//! Checkpoints as both sides speak of them.

use super::{CheckpointId, FileChange, RewindScope, SessionId};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum CheckpointEvent {
    Taken {
        id: CheckpointId,
        label: String,
        kind: CheckpointKind,
        files_changed: usize,
    },
    /// Files (and, by scope, the conversation) are as they were at `to`; `before` is the way back.
    Restored {
        to: CheckpointId,
        before: Option<CheckpointId>,
        scope: RewindScope,
        changes: Vec<FileChange>,
        kept_messages: usize,
        /// What was walked back is there again.
        forward: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckpointKind {
    /// Before the first change of a turn: going back to it undoes the turn.
    Opening,
    /// Before each further change.
    Between,
    /// At the end of a turn that changed something.
    Closing,
    /// By the user, between turns.
    Manual,
}

/// A checkpoint of the store, whichever session made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointInfo {
    pub id: CheckpointId,
    /// The request that followed, or the name that it was given.
    pub text: String,
    /// Seconds since it was taken, when it was listed.
    pub ago: u64,
    /// Compared with the checkpoint before.
    pub files_changed: usize,
    pub origin: Origin,
    pub session: Option<SessionId>,
    /// The text was given by hand, later.
    pub named: bool,
    pub pinned: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// Before the first change of a turn.
    Turn,
    /// Within a turn, at its end, or after going back: no place of its own.
    Call,
    Manual,
    /// The state before going back.
    Restore,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Revision {
    /// An empty name gives the first one back.
    Rename(String),
    Pin(bool),
    Delete,
}

/// Which checkpoints somebody may mean, as indexes into `all`: the one of this id, else the newest of this name, else those whose ids
/// begin so; `@` and `last` are the newest. `all`: oldest first; `told`: the id and the text of one.
pub fn meant<T>(all: &[T], asked: &str, told: impl for<'a> Fn(&'a T) -> (&'a CheckpointId, &'a str)) -> Vec<usize> {
    if asked.is_empty() || all.is_empty() {
        return vec![];
    }
    if matches!(asked, "@" | "last") {
        return vec![all.len() - 1];
    }
    let whole = all.iter().position(|one| told(one).0.0 == asked);
    if let Some(at) = whole.or_else(|| all.iter().rposition(|one| told(one).1 == asked)) {
        return vec![at];
    }
    let start = asked.to_ascii_lowercase();
    (0..all.len()).filter(|at| told(&all[*at]).0.0.starts_with(&start)).collect()
}
