//! The whole conversation between a front end and an agent, and the payloads that both sides and the workers share.
//!
//! Plain data only: nothing here does anything. `Event` lives in one process and may change freely; what goes to disk is
//! [`record::Record`].

pub mod alike;
pub mod block;
pub mod call;
pub mod checkpoint;
pub mod command;
pub mod ids;
pub mod job;
pub mod keys;
pub mod looks;
mod lossy;
pub mod message;
pub mod model;
pub mod plan;
pub mod privacy;
pub mod record;
pub mod rule;
mod sandbox;
pub mod session;
pub mod web;
pub mod wire;

pub use block::{Block, FileChange, FileEntry, Hit, TodoItem, TodoState};
pub use call::{Access, Basis, Decision, Grant, Mode, Outcome, PathState, Preview, ToolCall, ToolError, ToolOutput, ToolSpec, is_own_file};
pub use checkpoint::{CheckpointEvent, CheckpointInfo, CheckpointKind, Origin, Revision};
pub use command::{CommandPart, CommandPattern, Touch};
pub use ids::{CallId, CheckpointId, ModelId, RequestId, SessionId, TimerId, TurnId};
pub use job::{Job, JobEnd};
pub use keys::{OwnKey, OwnKeys};
pub use looks::{Looks, Notifications, OwnTheme, ThemeChoice};
pub use message::{CallRequest, Image, Kept, Message, Prompt, Usage};
pub use model::{FoundServer, ModelInfo, ProviderError, ProviderErrorKind, ProviderSettings, Request, StopReason, StreamItem};
pub use plan::{Action, Plan, Planned, Version, Wanted};
pub use privacy::{Hidden, Privacy, PrivacyNews, PrivacySettings, PrivacyState};
pub use record::{Record, RecordBody};
pub use rule::{Permit, Rule, RuleSource, Ruling, ToolProfile};
pub use sandbox::SandboxSettings;
pub use session::{Branch, Resume, SessionInfo};
pub use web::{SearchProvider, SearchSettings, Secret, WebSettings};
pub use wire::{Parameters, WireFormat};

use serde::{Deserialize, Serialize};
use std::{sync::Arc, time::Duration};

/// What a front end asks of the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// Starts a turn, or waits in the queue while one runs.
    Prompt(Prompt),
    /// Reaches the model within the running turn, after the calls in flight.
    Steer(String),
    /// Takes the newest queued prompt back; answered by [`SessionEvent::Unqueued`].
    Unqueue,
    Decide {
        call: CallId,
        decision: Decision,
    },
    /// Cancels exactly this turn; a stale id is ignored.
    Interrupt(TurnId),
    SetModel(ModelId),
    SetMode(Mode),
    /// Changes or looks at the rules; answered by [`SessionEvent::Permissions`] or [`SessionEvent::Judged`].
    Permit(Permit),
    /// Changes or shows what is done about secrets; answered by [`SessionEvent::Privacy`] or [`SessionEvent::Inspected`].
    Privacy(Privacy),
    /// Makes a provider known (set-up screen) and switches to its first model.
    Connect(ProviderSettings),
    /// Looks for model servers on this machine; answered by [`SessionEvent::Found`].
    Discover,
    /// Asks each configured provider for its models; answered by [`SessionEvent::Models`].
    ListModels,
    /// Runs the user's own shell command: no approval, and its output joins the conversation.
    RunShell(String),
    Rewind {
        to: CheckpointId,
        scope: RewindScope,
        /// As it was shown: this and nothing else is done to files. `None`: whatever has to be.
        plan: Option<Plan>,
    },
    /// Looks up what a restore would do; answered by [`SessionEvent::Planned`].
    Plan(Wanted),
    /// Looks up what differs between two checkpoints; answered by [`SessionEvent::Compared`].
    Compare {
        from: CheckpointId,
        to: CheckpointId,
    },
    /// Walks the last turn that changed files back: its files and its part of the conversation.
    Undo,
    /// Makes what was walked back last be there again.
    Redo,
    /// The answer to [`SessionEvent::StepAsked`].
    Step {
        go: bool,
    },
    /// Takes a checkpoint, with a name or without.
    Checkpoint(String),
    /// What only the workers know for `/status`; answered by [`SessionEvent::Facts`].
    Facts,
    /// Answered by [`SessionEvent::Checkpoints`].
    ListCheckpoints,
    /// Answered by the list.
    Revise {
        id: CheckpointId,
        revision: Revision,
    },
    /// Finishes a restore that was cut off, or lets it be.
    Unfinished {
        finish: bool,
    },
    /// Starts an empty conversation in the same session folder.
    Clear,
    Close,
}

/// What the agent tells its front ends. `seq` has no gaps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    pub seq: u64,
    /// `None` for what belongs to no turn.
    pub turn: Option<TurnId>,
    pub body: EventBody,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum EventBody {
    Session(SessionEvent),
    Turn(TurnEvent),
    Text(TextEvent),
    Call(CallEvent),
    Checkpoint(CheckpointEvent),
    Notice(Notice),
}

/// May events of this body be merged with their neighbours when the reader is slower than the writer?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Class {
    Mergeable,
    MustArrive,
}

impl EventBody {
    /// Bytes of text that a front end has to lay out for it.
    pub fn weight(&self) -> usize {
        match self {
            EventBody::Text(TextEvent::Answer(text) | TextEvent::Reasoning(text)) => text.len(),
            EventBody::Call(CallEvent::Progress { output, .. }) => output.len(),
            _ => 0,
        }
    }

    pub fn class(&self) -> Class {
        match self {
            EventBody::Text(_) | EventBody::Call(CallEvent::Progress { .. }) | EventBody::Turn(TurnEvent::Used(_)) => Class::Mergeable,
            _ => Class::MustArrive,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum SessionEvent {
    Started {
        id: SessionId,
        model: Option<ModelInfo>,
        mode: Mode,
    },
    ModelChanged(ModelInfo),
    ModeChanged(Mode),
    Queued {
        waiting: Vec<Prompt>,
    },
    /// A prompt was taken back out of the queue (or returned by a rewind) and belongs in the input box again.
    Unqueued {
        prompt: Prompt,
        waiting: Vec<Prompt>,
    },
    Found(Vec<FoundServer>),
    /// For `/status`: names and values.
    Facts(Vec<(String, String)>),
    /// With the contents: from now to then.
    Planned {
        plan: Plan,
        changes: Vec<FileChange>,
    },
    /// `/undo` or `/redo` would do this, and leave something or take what may be somebody else's: it waits for [`Command::Step`].
    StepAsked {
        /// Where it goes, in words.
        title: String,
        plan: Plan,
    },
    Compared {
        from: CheckpointId,
        to: CheckpointId,
        changes: Vec<FileChange>,
    },
    /// All of the store, oldest first, and its bytes on the disk.
    Checkpoints {
        all: Vec<CheckpointInfo>,
        bytes: u64,
    },
    Models(Vec<ModelInfo>),
    /// The rules and grants as they are now.
    Permissions {
        rules: Vec<Rule>,
        grants: Vec<Grant>,
    },
    /// What is done about secrets, and was.
    Privacy(PrivacyState),
    /// A text as a model would be sent it.
    Inspected(String),
    /// The commands that run in the background now.
    Background(Vec<Job>),
    /// What would become of a call that was only asked about.
    Judged {
        text: String,
        verdict: String,
        why: String,
    },
    /// What a session that goes on had told its front end before.
    Retold(Vec<(Option<TurnId>, EventBody)>),
    Cleared,
    Closed,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum TurnEvent {
    /// The cell of what the user said; comes before the turn's `Started`.
    UserSaid(Prompt),
    Started,
    /// A request was sent to the model.
    Called,
    /// The request failed and is sent again after `wait`.
    Retrying {
        attempt: u32,
        of: u32,
        wait: Duration,
        why: String,
    },
    Used(Usage),
    Ended(TurnEnd),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnEnd {
    pub how: TurnOutcome,
    pub usage: Usage,
    pub took: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TurnOutcome {
    Answered,
    Interrupted,
    Failed(String),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum TextEvent {
    Answer(String),
    Reasoning(String),
    /// The answer (or the part of it before its tool calls) is complete.
    Done,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum CallEvent {
    Proposed {
        id: CallId,
        name: String,
        title: String,
    },
    /// What the call will do is known; shown before anything happens.
    Previewed {
        id: CallId,
        access: Access,
        title: String,
        block: Block,
    },
    /// Waits for [`Command::Decide`].
    Asked {
        id: CallId,
        /// The rule that makes it a question.
        #[serde(default)]
        why: Option<String>,
    },
    Started {
        id: CallId,
    },
    /// Latest lines of output; replaces nothing, only adds.
    Progress {
        id: CallId,
        output: String,
    },
    Finished {
        id: CallId,
        outcome: Outcome,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Level {
    Info,
    Warning,
    Error,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    pub level: Level,
    pub text: String,
    /// What the user can do about it, one sentence each.
    pub hints: Vec<String>,
}

impl Notice {
    pub fn info(text: impl Into<String>) -> Self {
        Self { level: Level::Info, text: text.into(), hints: vec![] }
    }
    pub fn warning(text: impl Into<String>) -> Self {
        Self { level: Level::Warning, text: text.into(), hints: vec![] }
    }
    pub fn error(text: impl Into<String>) -> Self {
        Self { level: Level::Error, text: text.into(), hints: vec![] }
    }
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RewindScope {
    Files,
    Conversation,
    Both,
}

impl RewindScope {
    pub fn files(self) -> bool {
        self != RewindScope::Conversation
    }
    pub fn conversation(self) -> bool {
        self != RewindScope::Files
    }
}

/// Output that several owners read: never copied on its way from a tool to the screen and the disk.
pub type SharedText = Arc<str>;
