//! Everything that can happen to an agent: one closed list.

use crate::protocol::{
    Access, CallId, CheckpointId, CheckpointInfo, Command, FileChange, FoundServer, Job, JobEnd, ModelInfo, Plan, Preview, RequestId,
    StreamItem, TimerId, ToolError, ToolOutput, TurnId,
};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Input {
    Command(Command),
    Stream(RequestId, StreamItem),
    Previewed(CallId, Result<Preview, ToolError>),
    Progress(CallId, String),
    Ran(CallId, Result<ToolOutput, ToolError>),
    /// A command goes on in the background; before the `Ran` of its call.
    JobStarted(Job),
    JobEnded(Job, JobEnd),
    Checkpointed(TurnId, Result<Checkpointed, String>),
    Restored(CheckpointId, Result<Restored, String>),
    /// The user's own checkpoint, with its name.
    Kept(String, Result<Checkpointed, String>),
    Planned(Result<(Plan, Vec<FileChange>), String>),
    /// Of an undo or redo.
    StepPlanned(CheckpointId, Result<Plan, String>),
    Compared(CheckpointId, CheckpointId, Result<Vec<FileChange>, String>),
    /// All checkpoints of the store, and its bytes.
    Listed(Result<(Vec<CheckpointInfo>, u64), String>),
    /// What was left of a restore that was cut off: where it went to, and what was done.
    Finished(Result<Option<(CheckpointId, Restored)>, String>),
    TimerFired(TimerId),
    /// Answer to `UseModel` and `Connect`: the model that is in use from now on.
    ModelReady(Result<ModelInfo, String>),
    /// What a call would touch that was only asked about: its tool, its access, the links on the way.
    Tried(String, Result<(String, Access, Vec<PathBuf>), String>),
    /// What only the workers know for `/status`.
    Facts(Vec<(String, String)>),
    Found(Vec<FoundServer>),
    /// What the providers have, and what went wrong with those that could not be asked.
    Models(Vec<ModelInfo>, Vec<String>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpointed {
    pub id: CheckpointId,
    pub files_changed: usize,
    /// Files that the checkpoint does not cover, each with the reason.
    pub skipped: Vec<String>,
    /// Something else that the user should know, such as that a damaged store was set aside.
    pub notice: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Restored {
    /// The state just before: the way back.
    pub before: CheckpointId,
    /// The state just after: what changes later is somebody else's.
    pub after: Option<CheckpointId>,
    pub changes: Vec<FileChange>,
    /// Files that could not be restored, each with the reason.
    pub skipped: Vec<String>,
}
