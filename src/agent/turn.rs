//! One turn: the user's request and all that follows from it until the model has nothing more to do.

use super::calls::Call;
use crate::protocol::{CallId, Kept, Prompt, ProviderError, RequestId, StreamItem, TimerId, TurnId, TurnOutcome, Usage};
use std::{collections::BTreeMap, time::Duration};

#[derive(Debug)]
pub struct Turn {
    pub id: TurnId,
    pub kind: TurnKind,
    pub started: Duration,
    pub prompt: Prompt,
    pub phase: Phase,
    pub draft: Draft,
    pub calls: Vec<Call>,
    /// Failed requests since the last one that brought something.
    pub attempt: u32,
    pub requests: u32,
    pub steering: Vec<String>,
    /// The checkpoint before the change at hand.
    pub guard: Guard,
    /// Something other than a read has run.
    pub changed: bool,
    pub usage: Usage,
    /// Tokens of the last request and answer.
    pub context: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnKind {
    Prompt,
    /// The user's own command: no model, no approval.
    Shell,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phase {
    Streaming(RequestId),
    /// Waits to send the request again.
    Backoff(TimerId),
    /// Calls are previewed, asked about, run.
    Acting,
    /// Interrupted; what ran is given until the timer to end.
    Stopping(TimerId),
    /// Waits for the closing checkpoint.
    Closing(TurnOutcome),
}

/// The checkpoint that precedes each change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    NotYet,
    Taking,
    /// For the next change, and for that only.
    Taken,
    /// None could be taken: each change asks, whatever the mode.
    Failed,
    /// The user goes on without, to the end of the turn.
    Waived,
}

impl Turn {
    pub fn new(id: TurnId, kind: TurnKind, prompt: Prompt, started: Duration) -> Self {
        Turn {
            id,
            kind,
            started,
            prompt,
            phase: Phase::Acting,
            draft: Draft::default(),
            calls: vec![],
            attempt: 0,
            requests: 0,
            steering: vec![],
            guard: Guard::NotYet,
            changed: false,
            usage: Usage::default(),
            context: 0,
        }
    }

    pub fn call(&mut self, id: CallId) -> Option<&mut Call> {
        self.calls.iter_mut().find(|c| c.id == id)
    }

    /// What a request took, as the provider counted it.
    pub fn used(&mut self, usage: Usage) {
        self.usage += usage;
        if usage != Usage::default() {
            self.context = usage.input + usage.output;
        }
    }

    pub fn label(&self) -> String {
        self.prompt.text.lines().next().unwrap_or_default().chars().take(100).collect()
    }
}

/// An answer while it comes in.
#[derive(Debug, Default)]
pub struct Draft {
    pub text: String,
    pub reasoning: String,
    pub calls: BTreeMap<usize, DraftCall>,
    pub kept: Vec<Kept>,
    pub usage: Usage,
}

#[derive(Debug, Default)]
pub struct DraftCall {
    pub id: String,
    pub name: String,
    pub arguments: String,
}

impl Draft {
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.reasoning.is_empty() && self.calls.is_empty()
    }

    pub fn add(&mut self, item: &StreamItem) {
        match item {
            StreamItem::Text(text) => self.text.push_str(text),
            StreamItem::Reasoning(text) => self.reasoning.push_str(text),
            StreamItem::CallDelta { index, id, name, arguments } => {
                let call = self.calls.entry(*index).or_default();
                if let Some(id) = id.as_ref().filter(|_| call.id.is_empty()) {
                    call.id.clone_from(id);
                }
                if let Some(name) = name.as_ref().filter(|_| call.name.is_empty()) {
                    call.name.clone_from(name);
                }
                call.arguments.push_str(arguments);
            }
            StreamItem::Kept(kept) => self.kept.push(kept.clone()),
            StreamItem::Usage(usage) => self.usage = *usage,
            StreamItem::Done(_) | StreamItem::Failed(_) => {}
        }
    }
}

/// Requests that are sent again before a turn gives up.
pub const RETRIES: u32 = 5;

/// Doubling from half a second, or what the server asked for. At most two minutes: a longer wait is the user's to decide.
pub fn backoff(attempt: u32, error: &ProviderError) -> Duration {
    let doubled = Duration::from_millis(500) * 2u32.pow(attempt.saturating_sub(1).min(6));
    error.retry_after.unwrap_or(doubled).min(Duration::from_secs(120))
}
