//! The calls of one answer: the model's order is kept, reads that stand together run side by side.

use super::reading;
use crate::policy::Asked;
use crate::protocol::{Access, CallId, CallRequest, Outcome, Preview};
use serde_json::Value;

#[derive(Debug)]
pub struct Call {
    pub id: CallId,
    pub provider_id: String,
    pub name: String,
    pub args: Value,
    pub preview: Option<Preview>,
    pub state: State,
    /// The user said yes to this very call.
    pub decided: bool,
    /// The user allowed only a part: what runs instead, and what the model is told of it.
    pub part: Option<(String, String)>,
    /// What was wrong with the arguments before they were read as they were meant.
    pub repaired: Option<String>,
    /// The result has joined the conversation.
    pub told: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum State {
    New,
    Previewing,
    /// Waits for the user.
    Asked,
    /// Allowed; waits for its turn to run, or for the checkpoint before it.
    Allowed,
    Running,
    /// Told to stop; its outcome is awaited.
    Stopping,
    Finished(Outcome),
}

/// What may happen next, in the order of the calls.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    Preview(CallId),
    Run(CallId),
}

impl Call {
    /// A call whose arguments can't be used is answered at once: it must have a result all the same.
    pub fn new(request: &CallRequest, args: Result<(Value, Option<String>), String>) -> Self {
        let (args, repaired, state) = match args {
            Ok((args, repaired)) => (args, repaired, State::New),
            Err(why) => (Value::Null, None, State::Finished(Outcome::Failed(why))),
        };
        Call {
            id: request.id,
            provider_id: request.provider_id.clone(),
            name: request.name.clone(),
            args,
            preview: None,
            state,
            decided: false,
            part: None,
            repaired,
            told: false,
        }
    }

    pub fn access(&self) -> Option<&Access> {
        self.preview.as_ref().map(|p| &p.access)
    }

    /// As rules see it, once it has been previewed.
    pub fn asked(&self) -> Option<Asked<'_>> {
        let preview = self.preview.as_ref()?;
        // Who was not told the tool's own name has the one that it was called by.
        let tool = if preview.tool.is_empty() { &self.name } else { &preview.tool };
        Some(Asked { tool, access: &preview.access, named: &preview.named })
    }

    /// The name and arguments that run: what was previewed, or the part of it that was allowed.
    pub fn to_run(&self) -> (String, Value) {
        match (&self.part, self.access()) {
            (Some((content, _)), Some(Access::Write(paths))) if paths.len() == 1 => {
                ("Replace".into(), serde_json::json!({ "file_path": paths[0], "content": content }))
            }
            (part, Some(Access::Question { .. })) => {
                let mut args = self.args.clone();
                // Whatever the model has put there.
                args["answer"] = part.as_ref().map_or(Value::Null, |(answer, _)| answer.as_str().into());
                (self.name.clone(), args)
            }
            (Some((plan, _)), Some(Access::Plan)) => (self.name.clone(), serde_json::json!({ "plan": plan })),
            _ => (self.name.clone(), self.args.clone()),
        }
    }

    /// Can the user change what it says before it is carried out? Only what one file will have, or a plan; and what a question is answered.
    pub fn takes_part(&self) -> bool {
        matches!(self.access(), Some(Access::Plan | Access::Question { .. }))
            || matches!(&self.preview, Some(Preview { access: Access::Write(paths), tool, .. }) if paths.len() == 1 && tool != "FileOp")
    }

    pub fn is_read(&self) -> bool {
        self.access().is_some_and(Access::is_read)
    }

    pub fn changes_nothing(&self) -> bool {
        self.access().is_some_and(Access::changes_nothing)
    }

    pub fn finished(&self) -> bool {
        matches!(self.state, State::Finished(_))
    }

    pub fn title(&self) -> String {
        match &self.preview {
            Some(preview) => preview.title.clone(),
            // What could not be previewed has a name all the same.
            None => reading::title(&self.args),
        }
    }
}

/// The first thing that may happen now. A preview must see what the changes before it left behind, and nothing may
/// overtake a change.
pub fn next(calls: &[Call]) -> Option<Next> {
    for call in calls {
        match call.state {
            State::New => return Some(Next::Preview(call.id)),
            State::Previewing => return None,
            State::Allowed if call.is_read() => return Some(Next::Run(call.id)),
            // The reads before it must not see what it does.
            State::Allowed => {
                let earlier_done = calls.iter().take_while(|c| c.id != call.id).all(Call::finished);
                return earlier_done.then_some(Next::Run(call.id));
            }
            State::Finished(_) => {}
            State::Asked | State::Running | State::Stopping if call.is_read() => {}
            State::Asked | State::Running | State::Stopping => return None,
        }
    }
    None
}
