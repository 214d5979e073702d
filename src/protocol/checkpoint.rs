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
    /// Milliseconds since 1970.
    pub at: u64,
    /// Seconds since then, when it was listed.
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
    /// Within a turn, or at its end.
    Call,
    Manual,
    /// The state before (or after) going back.
    Restore,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Revision {
    /// An empty name gives the first one back.
    Rename(String),
    Pin(bool),
    Delete,
}
