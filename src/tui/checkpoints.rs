//! The checkpoints of this conversation as the screen knows them: one for each request that changed something.

use crate::protocol::{CheckpointEvent, CheckpointId, CheckpointKind, RewindScope};
use std::time::Duration;

#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    pub id: CheckpointId,
    /// The request that followed.
    pub label: String,
    pub at: Duration,
    /// Files that the request changed.
    pub files: usize,
}

#[derive(Debug, Default)]
pub struct Checkpoints(Vec<Mark>);

impl Checkpoints {
    pub fn marks(&self) -> &[Mark] {
        &self.0
    }

    pub fn fold(&mut self, event: &CheckpointEvent, now: Duration) {
        match event {
            CheckpointEvent::Taken { id, label, kind: CheckpointKind::Opening, .. } => {
                self.0.push(Mark { id: id.clone(), label: label.clone(), at: now, files: 0 });
            }
            // What was said after that place is no longer part of the conversation.
            CheckpointEvent::Restored { to, scope, .. } if *scope != RewindScope::Files => {
                if let Some(at) = self.0.iter().rposition(|mark| mark.id == *to) {
                    self.0.truncate(at);
                }
            }
            _ => {}
        }
    }

    /// The turn since the newest one has ended.
    pub fn changed(&mut self, files: usize) {
        if let Some(mark) = self.0.last_mut() {
            mark.files = files;
        }
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}
