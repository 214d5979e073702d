//! What a session writes to disk. Versioned: a record of a version that this build doesn't know is refused, never guessed at.

use super::{CallId, CheckpointId, CheckpointKind, Message, Mode, ModelId, Prompt, RewindScope, TurnId, TurnOutcome, Usage};
use serde::{Deserialize, Serialize};

pub const VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub v: u32,
    /// Milliseconds since 1970, stamped by the journal.
    #[serde(default)]
    pub at: u64,
    #[serde(flatten)]
    pub body: RecordBody,
}

impl Record {
    pub fn new(body: RecordBody) -> Self {
        Record { v: VERSION, at: 0, body }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum RecordBody {
    SessionStarted {
        root: String,
        model: Option<ModelId>,
        mode: Mode,
    },
    TurnStarted {
        turn: TurnId,
        prompt: Prompt,
    },
    Said {
        turn: TurnId,
        message: Message,
    },
    /// What was shown of a call, so that a resumed screen is the same screen.
    CallShown {
        turn: TurnId,
        call: CallId,
        title: String,
        summary: String,
    },
    CheckpointTaken {
        turn: Option<TurnId>,
        id: CheckpointId,
        label: String,
        files_changed: usize,
        purpose: CheckpointKind,
    },
    /// The conversation goes on from its first `keep` messages and `marks` checkpoints.
    Rewound {
        to: CheckpointId,
        scope: RewindScope,
        keep: usize,
        marks: usize,
        /// The files just before and just after, where files were restored.
        #[serde(default)]
        before: Option<CheckpointId>,
        #[serde(default)]
        after: Option<CheckpointId>,
    },
    /// The last `Rewound` that is still in force was taken back.
    Redone,
    ModelChanged {
        model: ModelId,
    },
    ModeChanged {
        mode: Mode,
    },
    TurnEnded {
        turn: TurnId,
        how: TurnOutcome,
        usage: Usage,
    },
    Cleared,
}
