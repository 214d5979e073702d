//! The shape of a tool, and what it is given to run with.

use super::Workspace;
use crate::protocol::{Job, JobEnd, Preview, ToolCall, ToolError, ToolOutput, ToolSpec};
use futures::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::watch;

pub trait Tool: Send + Sync {
    fn spec(&self) -> ToolSpec;

    /// Is the model told of it? If not, it is there for models that know it by themselves.
    fn offered(&self) -> bool {
        true
    }

    /// Is the model told of it only when a command has been started in the background?
    fn offered_with_jobs(&self) -> bool {
        false
    }

    /// What a call with these arguments would touch and do. Reads, never writes.
    fn preview(&self, args: &Value, workspace: &Workspace) -> Result<Preview, ToolError>;

    /// Does it. May block the thread that polls it.
    fn run<'a>(&'a self, call: &'a ToolCall, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>>;
}

pub struct RunContext<'a> {
    pub workspace: &'a Workspace,
    pub cancel: Cancel,
    /// Takes output as it comes; adds to what it got before.
    pub progress: &'a (dyn Fn(String) + Sync),
    /// Takes what goes on when the call has ended: it is to be driven to its end, which it tells. Needs a runtime.
    pub background: &'a (dyn Fn(Job, BoxFuture<'static, JobEnd>) + Sync),
}

/// Asks a running call to stop. Clones are the same request; once made it cannot be taken back.
#[derive(Debug, Clone)]
pub struct Cancel(Arc<watch::Sender<bool>>);

impl Default for Cancel {
    fn default() -> Self {
        Cancel(Arc::new(watch::Sender::new(false)))
    }
}

impl Cancel {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn cancel(&self) {
        self.0.send_replace(true);
    }

    pub fn is_cancelled(&self) -> bool {
        *self.0.borrow()
    }

    pub async fn cancelled(&self) {
        // Fails only when the sender is gone, and `self` holds it.
        let _ = self.0.subscribe().wait_for(|stop| *stop).await;
    }

    /// For loops in tools that block.
    pub fn check(&self) -> Result<(), ToolError> {
        if self.is_cancelled() { Err(ToolError::new("Interrupted.")) } else { Ok(()) }
    }
}
