//! Everything that an agent can ask of the world: plain requests, carried out in order by the engine.

use crate::protocol::{
    CallId, CheckpointId, CheckpointKind, EventBody, ModelId, Plan, ProviderSettings, RecordBody, Request, RequestId, Revision, Rule,
    TimerId, ToolCall, TurnId, Wanted,
};
use serde_json::Value;
use std::{path::PathBuf, time::Duration};

#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    Emit(Option<TurnId>, EventBody),
    /// Durable before any `Emit` after it is shown.
    Append(RecordBody),
    CallModel(Request),
    StopModel(RequestId),
    Preview {
        id: CallId,
        name: String,
        args: Value,
    },
    RunTool(ToolCall),
    /// The call's `Ran` is still awaited.
    StopTool(CallId),
    TakeCheckpoint(CheckpointRequest),
    /// The user's own, between turns, with its name and the length of the conversation.
    KeepCheckpoint(String, usize),
    /// By the plan if there is one, else whatever has to be done.
    Restore(Wanted, Option<Plan>),
    Plan(Wanted),
    /// Of an undo or redo, which goes on by it.
    PlanStep(Wanted),
    Compare(CheckpointId, CheckpointId),
    Facts,
    ListCheckpoints,
    Revise(CheckpointId, Revision),
    /// A restore that was cut off: finished if true, else forgotten.
    Unfinished(bool),
    StartTimer(TimerId, Duration),
    UseModel(ModelId),
    /// For tools that go through folders.
    UseRules(Vec<Rule>),
    /// Commands and relative paths start in the project's folder again.
    LeaveFolder,
    /// Looks up what this would touch; answered by `Tried`.
    Try(String),
    Connect(ProviderSettings),
    Discover,
    ListModels,
    Stop,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CheckpointRequest {
    pub turn: TurnId,
    /// First line of the prompt: what the checkpoint is called in a list.
    pub label: String,
    pub kind: CheckpointKind,
    /// Messages in the conversation when it is taken.
    pub messages: usize,
    /// Files that are about to be written: covered from this checkpoint on, also where `.gitignore` leaves them out.
    pub cover: Vec<PathBuf>,
}
