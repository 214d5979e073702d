//! Walking back: files, conversation or both return to a checkpoint. Only at rest, never under a running turn.

use super::{Agent, Effect, Restored};
use crate::protocol::*;

/// Waits for the files to be restored.
#[derive(Debug, Clone, PartialEq)]
pub struct Rewinding {
    pub to: CheckpointId,
    pub scope: RewindScope,
}

impl Agent {
    pub(super) fn rewind(&mut self, to: CheckpointId, scope: RewindScope) {
        if !self.idle() {
            return self.notice(Notice::warning("A turn is running: nothing was walked back.").hint("esc interrupts the turn"));
        }
        if scope.conversation() && self.transcript.mark(&to).is_none() {
            return self.notice(Notice::error(format!("Checkpoint {} is not part of this conversation.", to.short())));
        }
        if !scope.files() {
            return self.rewound(to, scope, None);
        }
        self.out.push(Effect::Restore(to.clone()));
        self.rewinding = Some(Rewinding { to, scope });
    }

    pub(super) fn undo(&mut self) {
        match self.transcript.last_opening().map(|m| m.id.clone()) {
            Some(to) => self.rewind(to, RewindScope::Both),
            None => self.notice(Notice::info("There is nothing to undo: no turn of this conversation has changed anything.")),
        }
    }

    pub(super) fn restored(&mut self, to: CheckpointId, result: Result<Restored, String>) {
        let Some(rewinding) = self.rewinding.take_if(|r| r.to == to) else { return };
        match result {
            Ok(restored) => self.rewound(to, rewinding.scope, Some(restored)),
            Err(why) => self
                .notice(Notice::error(format!("The files could not be restored: {why}")).hint("nothing of the conversation was changed")),
        }
        self.start_queued();
    }

    fn rewound(&mut self, to: CheckpointId, scope: RewindScope, restored: Option<Restored>) {
        let mark = self.transcript.mark(&to).cloned();
        let keep = match &mark {
            Some(mark) if scope.conversation() => mark.keep,
            _ => self.transcript.messages.len(),
        };
        self.record(RecordBody::Rewound { to: to.clone(), scope, keep });
        let (before, changes, skipped) = match restored {
            Some(r) => (Some(r.before), r.changes, r.skipped),
            None => (None, vec![], vec![]),
        };
        let event = CheckpointEvent::Restored { to, before, scope, changes, kept_messages: keep };
        self.emit(None, EventBody::Checkpoint(event));
        if !skipped.is_empty() {
            let mut notice = Notice::warning(format!("{} files were left as they are.", skipped.len()));
            notice.hints = skipped.into_iter().take(5).collect();
            self.notice(notice);
        }
        if let Some(mark) = mark.filter(|_| scope.conversation()) {
            self.give_back(mark.prompt);
        }
    }
}
