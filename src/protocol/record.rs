//! What a session writes to disk. Versioned: a record of a version that this build doesn't know is refused, never guessed at.

use super::{
    CallId, CheckpointId, CheckpointKind, Message, Mode, ModelId, Outcome, Prompt, RewindScope, SessionId, TurnId, TurnOutcome, Usage,
    lossy,
};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

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
    /// Something that the model is to know, from us: part of the conversation, and not the user's words.
    Told {
        text: String,
    },
    /// What has come of an answer since the last of these: not part of the conversation, and of use only while the answer is not whole,
    /// which a `Said` or `Thought` tells.
    Partial {
        turn: TurnId,
        #[serde(default)]
        reasoning: String,
        #[serde(default)]
        text: String,
    },
    /// Reasoning that no answer followed: for the eye, no part of the conversation.
    Thought {
        turn: TurnId,
        text: String,
    },
    /// Stands first instead of `SessionStarted`: the records of another session up to this position come before those of this one.
    Forked {
        from: SessionId,
        position: u64,
    },
    /// What was shown of a call, so that a resumed screen is the same screen. `outcome` is `None` while it is not known, and lacks
    /// what the model was told: that is a message of its own.
    CallShown {
        turn: TurnId,
        call: CallId,
        #[serde(default)]
        name: String,
        title: String,
        /// It did nothing but read.
        #[serde(default)]
        read: bool,
        #[serde(default)]
        outcome: Option<Outcome>,
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
        /// What became as it was.
        #[serde(default, with = "lossy::paths")]
        files: Vec<PathBuf>,
    },
    /// The last `Rewound` that is still in force was taken back.
    Redone {
        #[serde(default, with = "lossy::paths")]
        files: Vec<PathBuf>,
    },
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
        /// Tokens of its last request and answer; 0 if the provider did not say.
        #[serde(default)]
        context: u64,
    },
    Cleared,
}

impl RecordBody {
    /// May it stand between the parts of an answer that comes in?
    pub fn within_answer(&self) -> bool {
        matches!(self, RecordBody::Partial { .. } | RecordBody::ModeChanged { .. } | RecordBody::ModelChanged { .. })
    }
}
