//! The shape of a tool, and what it is given to run with.

use super::Workspace;
use crate::protocol::{Job, JobEnd, Preview, ToolCall, ToolError, ToolOutput, ToolSpec};
use futures::future::BoxFuture;
use serde_json::Value;
use std::{path::PathBuf, sync::Arc};
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

    /// What it takes besides what the model is told of, or more widely, as a part of the schema: for models that know it by themselves.
    fn also_takes(&self) -> Value {
        Value::Null
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

impl RunContext<'_> {
    /// Do the paths of a call still lead where they did when it was decided on? A call without a preview takes them as they are.
    pub fn as_approved<'a>(&self, call: &ToolCall, paths: impl IntoIterator<Item = &'a PathBuf>) -> Result<(), ToolError> {
        let approved = &call.basis.paths;
        match paths.into_iter().find(|path| !approved.is_empty() && !approved.contains(path)) {
            None => Ok(()),
            Some(path) => Err(led_elsewhere(&self.workspace.shown(path))),
        }
    }
}

pub fn led_elsewhere(shown: &str) -> ToolError {
    ToolError(format!(
        "The path of this call leads to {shown} now, elsewhere than when it was shown: a folder in it, or the file, has become a link \
         since, or another one. Nothing was done. Call it again."
    ))
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
