//! Taking checkpoints, and walking back and forward again: files, conversation or both become as they were. That only at rest, never
//! under a running turn.

use super::{
    Agent, CheckpointRequest, Checkpointed, Effect, Restored,
    reading::files,
    turn::{Guard, Phase},
};
use crate::protocol::*;
use std::path::PathBuf;

/// Changed files whose names the journal keeps of one restore.
const MOST_NAMED: usize = 1_000;

/// Waits for the files to be restored.
#[derive(Debug, Clone, PartialEq)]
pub struct Rewinding {
    pub to: CheckpointId,
    /// Where that was in the conversation.
    pub mark: Option<usize>,
    pub scope: RewindScope,
    /// What was walked back becomes as it was.
    pub forward: bool,
    stage: Stage,
}

#[derive(Debug, Clone, PartialEq)]
enum Stage {
    /// What would be done is being found out.
    Planning,
    /// The user is asked.
    Asked(Plan),
    Restoring,
}

impl Agent {
    // --- taking checkpoints ---

    pub(super) fn checkpoint(&mut self, kind: CheckpointKind, cover: Vec<PathBuf>) {
        let Some(turn) = &self.turn else { return };
        let messages = self.transcript.messages.len();
        self.out.push(Effect::TakeCheckpoint(CheckpointRequest { turn: turn.id, label: turn.label(), kind, messages, cover }));
    }

    pub(super) fn checkpointed(&mut self, id: TurnId, result: Result<Checkpointed, String>) {
        let Some(turn) = self.turn.as_mut().filter(|t| t.id == id) else { return };
        let closing = match &turn.phase {
            Phase::Closing(outcome) => Some(outcome.clone()),
            Phase::Acting if turn.guard == Guard::Taking => None,
            _ => return,
        };
        let label = turn.label();
        match result {
            Ok(taken) => {
                turn.guard = Guard::Taken;
                let purpose = match (closing.is_some(), turn.changed) {
                    (true, _) => CheckpointKind::Closing,
                    (false, true) => CheckpointKind::Between,
                    (false, false) => CheckpointKind::Opening,
                };
                let record = RecordBody::CheckpointTaken {
                    turn: Some(id),
                    id: taken.id.clone(),
                    label: label.clone(),
                    files_changed: taken.files_changed,
                    purpose,
                };
                self.record(record);
                let event = CheckpointEvent::Taken { id: taken.id, label, kind: purpose, files_changed: taken.files_changed };
                self.emit_here(EventBody::Checkpoint(event));
                if let Some(text) = taken.notice {
                    self.notice(Notice::warning(text));
                }
                if !taken.skipped.is_empty() && purpose == CheckpointKind::Opening {
                    let mut notice = Notice::warning(format!("Not covered by the checkpoint: {}.", files(taken.skipped.len())));
                    notice.hints = taken.skipped.into_iter().take(5).collect();
                    self.notice(notice);
                }
            }
            Err(why) => {
                if closing.is_none() {
                    turn.guard = Guard::Failed;
                }
                let notice = Notice::error(format!("No checkpoint could be taken: {why}"));
                self.notice(notice.hint("what is changed now can't be walked back"));
            }
        }
        match closing {
            Some(outcome) => self.end_turn(outcome),
            None => self.advance(),
        }
    }

    // --- going back ---

    pub(super) fn rewind(&mut self, to: CheckpointId, scope: RewindScope, plan: Option<Plan>) {
        match self.transcript.mark(&to) {
            None if scope.conversation() => {
                self.notice(Notice::error(format!("Checkpoint {} is not part of this conversation.", to.short())));
            }
            mark => {
                let wanted = Wanted { to: to.clone(), since: None, only: None };
                let plan = plan.filter(|plan| plan.wanted.to == to);
                self.walk(Rewinding { to, mark, scope, forward: false, stage: Stage::Restoring }, wanted, plan);
            }
        }
    }

    pub(super) fn undo(&mut self) {
        match self.transcript.last_opening() {
            Some(at) => {
                let (to, since) = (self.transcript.marks[at].id.clone(), self.transcript.closing(at));
                let wanted = Wanted { to: to.clone(), since, only: None };
                let (mark, scope, stage) = (Some(at), RewindScope::Both, Stage::Planning);
                self.walk(Rewinding { to, mark, scope, forward: false, stage }, wanted, None);
            }
            None => self.notice(Notice::info("There is nothing to undo: no turn of this conversation has changed anything.")),
        }
    }

    pub(super) fn redo(&mut self) {
        let Some(cut) = self.transcript.undone.last() else {
            return self.notice(Notice::info("There is nothing to redo: nothing was walked back since the last request."));
        };
        // Without files there is no checkpoint to go to.
        let to = cut.before.clone().unwrap_or_else(|| CheckpointId(String::new()));
        let scope = if cut.before.is_none() { RewindScope::Conversation } else { cut.scope };
        let wanted = Wanted { to: to.clone(), since: cut.after.clone(), only: None };
        self.walk(Rewinding { to, mark: None, scope, forward: true, stage: Stage::Planning }, wanted, None);
    }

    fn walk(&mut self, rewinding: Rewinding, wanted: Wanted, plan: Option<Plan>) {
        if !self.idle() {
            return self.notice(Notice::warning("A turn is running: nothing was walked back.").hint("esc interrupts the turn"));
        }
        if !rewinding.scope.files() {
            return self.walked(rewinding, None);
        }
        self.out.push(match rewinding.stage {
            Stage::Restoring => Effect::Restore(wanted, plan),
            _ => Effect::PlanStep(wanted),
        });
        self.rewinding = Some(rewinding);
    }

    /// What an undo or redo would do is said before it is done. Where not all of it goes back, or where what came after the turn would
    /// go with it, the user is asked.
    pub(super) fn step_planned(&mut self, to: &CheckpointId, result: Result<Plan, String>) {
        let Some(mut rewinding) = self.rewinding.take_if(|r| r.to == *to && r.stage == Stage::Planning) else { return };
        let plan = match result {
            Ok(plan) => plan,
            Err(why) => return self.not_restored(&why),
        };
        let title = match rewinding.mark.and_then(|at| self.transcript.marks.get(at)) {
            Some(mark) => format!("Going back to before “{}”", first_line(&mark.prompt)),
            None => "Going forward again".into(),
        };
        let takes_all = !rewinding.forward && plan.wanted.since.is_none() && !plan.files.is_empty();
        if plan.is_partial() || takes_all {
            rewinding.stage = Stage::Asked(plan.clone());
            self.rewinding = Some(rewinding);
            return self.emit(None, EventBody::Session(SessionEvent::StepAsked { title, plan }));
        }
        self.notice(Notice::info(format!("{title}: {}.", plan.summary())));
        self.go(rewinding, plan);
    }

    fn go(&mut self, rewinding: Rewinding, plan: Plan) {
        self.rewinding = Some(Rewinding { stage: Stage::Restoring, ..rewinding });
        self.out.push(Effect::Restore(plan.wanted.clone(), Some(plan)));
    }

    pub(super) fn answer_step(&mut self, go: bool) {
        let Some(rewinding) = self.rewinding.take_if(|r| matches!(r.stage, Stage::Asked(_))) else { return };
        match &rewinding.stage {
            Stage::Asked(plan) if go => {
                let plan = plan.clone();
                self.go(rewinding, plan);
            }
            _ => {
                self.notice(Notice::info("Everything was left as it is."));
                self.start_queued();
            }
        }
    }

    fn not_restored(&mut self, why: &str) {
        let notice = Notice::error(format!("The files could not be restored: {why}"));
        self.notice(notice.hint("nothing of the conversation was changed; /rewind shows what there is to go back to"));
        self.start_queued();
    }

    pub(super) fn restored(&mut self, to: CheckpointId, result: Result<Restored, String>) {
        let Some(rewinding) = self.rewinding.take_if(|r| r.to == to && r.stage == Stage::Restoring) else { return };
        match result {
            Ok(restored) => {
                self.walked(rewinding, Some(restored));
                self.start_queued();
            }
            Err(why) => self.not_restored(&why),
        }
    }

    fn walked(&mut self, Rewinding { to, mark, scope, forward, .. }: Rewinding, restored: Option<Restored>) {
        let (before, after, changes, skipped) = match restored {
            Some(r) => (Some(r.before), r.after, r.changes, r.skipped),
            None => (None, None, vec![], vec![]),
        };
        let at = mark.filter(|_| scope.conversation());
        let prompt = at.map(|at| self.transcript.marks[at].prompt.clone());
        let files = changes.iter().take(MOST_NAMED).map(|change| change.path.clone()).collect();
        if forward {
            self.record(RecordBody::Redone { files });
        } else {
            let keep = at.map_or(self.transcript.messages.len(), |at| self.transcript.marks[at].keep);
            let marks = at.unwrap_or(self.transcript.marks.len());
            self.record(RecordBody::Rewound { to: to.clone(), scope, keep, marks, before: before.clone(), after, files });
        }
        let kept_messages = self.transcript.messages.len();
        let event = CheckpointEvent::Restored { to, before, scope, changes, kept_messages, forward };
        self.emit(None, EventBody::Checkpoint(event));
        self.left_alone(skipped);
        if let Some(prompt) = prompt.filter(|prompt| *prompt != Prompt::default()) {
            self.give_back(prompt);
        }
    }

    fn left_alone(&mut self, skipped: Vec<String>) {
        if !skipped.is_empty() {
            let mut notice = Notice::warning(format!("Left as they are: {}.", files(skipped.len())));
            notice.hints = skipped.into_iter().take(5).collect();
            self.notice(notice);
        }
    }

    /// A checkpoint by the user.
    pub(super) fn keep(&mut self, name: String) {
        if !self.idle() {
            let notice = Notice::warning("A turn is running: it takes checkpoints of its own.");
            return self.notice(notice.hint("/checkpoint works between turns"));
        }
        self.out.push(Effect::KeepCheckpoint(name, self.transcript.messages.len()));
    }

    pub(super) fn kept(&mut self, name: String, result: Result<Checkpointed, String>) {
        let taken = match result {
            Ok(taken) => taken,
            Err(why) => return self.notice(Notice::error(format!("No checkpoint could be taken: {why}"))),
        };
        let (id, label, files_changed) = (taken.id, name, taken.files_changed);
        let what = match files_changed {
            0 => format!("Nothing has changed since checkpoint {}", id.short()),
            n => format!("Checkpoint {}: {} changed", id.short(), files(n)),
        };
        // A turn that has begun meanwhile has messages of its own by now: then this one is for files alone.
        if self.idle() {
            let purpose = CheckpointKind::Manual;
            self.record(RecordBody::CheckpointTaken { turn: None, id: id.clone(), label: label.clone(), files_changed, purpose });
        }
        self.emit(
            None,
            EventBody::Checkpoint(CheckpointEvent::Taken { id, label: label.clone(), kind: CheckpointKind::Manual, files_changed }),
        );
        let name = if label.is_empty() { String::new() } else { format!(" It is called “{label}”.") };
        self.notice(Notice::info(format!("{what}.{name}")));
        taken.notice.into_iter().for_each(|notice| self.notice(Notice::warning(notice)));
        self.left_alone(taken.skipped);
    }

    pub(super) fn unfinished(&mut self, finish: bool) {
        if !self.idle() {
            return self.notice(Notice::warning("A turn is running: nothing was restored.").hint("esc interrupts the turn"));
        }
        self.out.push(Effect::Unfinished(finish));
    }

    pub(super) fn finished(&mut self, result: Result<Option<(CheckpointId, Restored)>, String>) {
        match result {
            Err(why) => self.notice(Notice::error(format!("The files could not be restored: {why}"))),
            Ok(None) => self.notice(Notice::info("No restore is unfinished now.")),
            Ok(Some((to, restored))) => {
                let (scope, kept_messages) = (RewindScope::Files, self.transcript.messages.len());
                let Restored { before, changes, skipped, .. } = restored;
                let event = CheckpointEvent::Restored { to, before: Some(before), scope, changes, kept_messages, forward: false };
                self.emit(None, EventBody::Checkpoint(event));
                self.left_alone(skipped);
            }
        }
    }

    /// The answer to a question, or why there is none.
    pub(super) fn tell<T>(&mut self, result: Result<T, String>, answer: impl FnOnce(T) -> SessionEvent) {
        match result {
            Ok(found) => self.emit(None, EventBody::Session(answer(found))),
            Err(why) => self.notice(Notice::error(why)),
        }
    }
}

fn first_line(prompt: &Prompt) -> String {
    prompt.text.lines().next().unwrap_or_default().chars().take(60).collect()
}
