//! The checkpoints of this conversation as the screen knows them: one for each request that changed something.

use crate::protocol::{CheckpointEvent, CheckpointId, CheckpointKind, RewindScope};
use std::time::Duration;

#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    pub id: CheckpointId,
    /// The request that followed, or the name that was given by hand.
    pub label: String,
    pub manual: bool,
    pub at: Duration,
    /// Files that the request changed.
    pub files: usize,
    /// Lines that its edits added and removed.
    pub lines: (usize, usize),
}

#[derive(Debug, Default)]
pub struct Checkpoints {
    marks: Vec<Mark>,
    /// What was walked back, the last of it last.
    cut: Vec<Vec<Mark>>,
}

impl Checkpoints {
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    pub fn fold(&mut self, event: &CheckpointEvent, now: Duration) {
        match event {
            CheckpointEvent::Taken { id, label, kind: CheckpointKind::Opening, .. } => {
                self.cut.clear();
                self.marks.push(Mark { id: id.clone(), label: label.clone(), manual: false, at: now, files: 0, lines: (0, 0) });
            }
            CheckpointEvent::Taken { id, label, kind: CheckpointKind::Manual, .. } => {
                self.marks.push(Mark { id: id.clone(), label: label.clone(), manual: true, at: now, files: 0, lines: (0, 0) });
            }
            CheckpointEvent::Restored { forward: true, .. } => self.marks.extend(self.cut.pop().unwrap_or_default()),
            // What was said after that place is no longer part of the conversation.
            CheckpointEvent::Restored { to, scope, .. } => {
                let at = self.marks.iter().rposition(|mark| mark.id == *to).filter(|_| *scope != RewindScope::Files);
                self.cut.push(self.marks.split_off(at.unwrap_or(self.marks.len())));
            }
            _ => {}
        }
    }

    /// The turn since the newest one has ended.
    pub fn changed(&mut self, files: usize) {
        if let Some(mark) = self.marks.last_mut() {
            mark.files = files;
        }
    }

    /// An edit of the running turn.
    pub fn edited(&mut self, (added, removed): (usize, usize)) {
        if let Some(Mark { lines, .. }) = self.marks.last_mut() {
            *lines = (lines.0 + added, lines.1 + removed);
        }
    }

    pub fn clear(&mut self) {
        self.marks.clear();
        self.cut.clear();
    }
}
