//! Walking back: files, conversation or both return to a checkpoint. Only at rest, never under a running turn.

use super::{Agent, Effect, Restored, reading::files};
use crate::protocol::*;

/// Waits for the files to be restored.
#[derive(Debug, Clone, PartialEq)]
pub struct Rewinding {
    pub to: CheckpointId,
    /// Where that was in the conversation.
    pub mark: Option<usize>,
    pub scope: RewindScope,
}

impl Agent {
    pub(super) fn rewind(&mut self, to: CheckpointId, scope: RewindScope) {
        match self.transcript.mark(&to) {
            None if scope.conversation() => {
                self.notice(Notice::error(format!("Checkpoint {} is not part of this conversation.", to.short())));
            }
            mark => self.walk_back(to, None, mark, scope),
        }
    }

    pub(super) fn undo(&mut self) {
        match self.transcript.last_opening() {
            Some(at) => {
                let (to, since) = (self.transcript.marks[at].id.clone(), self.transcript.closing(at));
                self.walk_back(to, since, Some(at), RewindScope::Both);
            }
            None => self.notice(Notice::info("There is nothing to undo: no turn of this conversation has changed anything.")),
        }
    }

    fn walk_back(&mut self, to: CheckpointId, since: Option<CheckpointId>, mark: Option<usize>, scope: RewindScope) {
        if !self.idle() {
            return self.notice(Notice::warning("A turn is running: nothing was walked back.").hint("esc interrupts the turn"));
        }
        let rewinding = Rewinding { to, mark, scope };
        if !scope.files() {
            return self.walked_back(rewinding, None);
        }
        self.out.push(Effect::Restore(rewinding.to.clone(), since));
        self.rewinding = Some(rewinding);
    }

    pub(super) fn restored(&mut self, to: CheckpointId, result: Result<Restored, String>) {
        let Some(rewinding) = self.rewinding.take_if(|r| r.to == to) else { return };
        match result {
            Ok(restored) => self.walked_back(rewinding, Some(restored)),
            Err(why) => {
                let notice = Notice::error(format!("The files could not be restored: {why}"));
                self.notice(notice.hint("nothing of the conversation was changed"));
            }
        }
        self.start_queued();
    }

    fn walked_back(&mut self, Rewinding { to, mark, scope }: Rewinding, restored: Option<Restored>) {
        let at = mark.filter(|_| scope.conversation());
        let prompt = at.map(|at| self.transcript.marks[at].prompt.clone());
        let keep = at.map_or(self.transcript.messages.len(), |at| self.transcript.marks[at].keep);
        let marks = at.unwrap_or(self.transcript.marks.len());
        self.record(RecordBody::Rewound { to: to.clone(), scope, keep, marks });
        let (before, changes, skipped) = match restored {
            Some(r) => (Some(r.before), r.changes, r.skipped),
            None => (None, vec![], vec![]),
        };
        let event = CheckpointEvent::Restored { to, before, scope, changes, kept_messages: keep };
        self.emit(None, EventBody::Checkpoint(event));
        if !skipped.is_empty() {
            let mut notice = Notice::warning(format!("Left as they are: {}.", files(skipped.len())));
            notice.hints = skipped.into_iter().take(5).collect();
            self.notice(notice);
        }
        if let Some(prompt) = prompt {
            self.give_back(prompt);
        }
    }
}
