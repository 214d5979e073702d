//! What a session amounts to: a fold over its records. The live agent changes it only by applying the record that it
//! appends, so replaying the journal gives the same state.

use crate::protocol::{CallId, CheckpointId, CheckpointKind, Message, Mode, ModelId, Prompt, RecordBody, RewindScope, TurnId, Usage};
use std::{collections::BTreeMap, sync::Arc};

/// A checkpoint, and where the conversation stood when it was taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    pub id: CheckpointId,
    pub turn: Option<TurnId>,
    /// Taken before the turn's first change.
    pub opening: bool,
    /// Taken after the turn's last change.
    pub closing: bool,
    /// Messages to keep when the conversation goes back to it.
    pub keep: usize,
    /// What the user had asked for: returns into the input when it is walked back over.
    pub prompt: Prompt,
}

/// What a walk back took away, so that it can be there again.
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    pub scope: RewindScope,
    /// The files just before and just after it.
    pub before: Option<CheckpointId>,
    pub after: Option<CheckpointId>,
    messages: Vec<Message>,
    marks: Vec<Mark>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transcript {
    pub messages: Arc<Vec<Message>>,
    pub marks: Vec<Mark>,
    /// What was walked back since the last turn began, the last of it last.
    pub undone: Vec<Cut>,
    pub turns: u64,
    pub calls: u64,
    pub mode: Mode,
    pub model: Option<ModelId>,
    pub usage: Usage,
    /// Of the turn that runs: its messages start here.
    turn_at: usize,
    turn_prompt: Prompt,
}

impl Transcript {
    pub fn apply(&mut self, record: &RecordBody) {
        match record {
            RecordBody::SessionStarted { model, mode, .. } => {
                self.model = model.clone();
                self.mode = *mode;
            }
            RecordBody::TurnStarted { turn, prompt } => {
                self.turns = turn.0;
                self.turn_at = self.messages.len();
                self.turn_prompt = prompt.clone();
                // The conversation has taken another way.
                self.undone.clear();
            }
            RecordBody::Said { message, .. } => {
                if let Message::Assistant { calls, .. } = message {
                    self.calls = calls.iter().map(|c| c.id.0).fold(self.calls, u64::max);
                }
                Arc::make_mut(&mut self.messages).push(message.clone());
            }
            RecordBody::Told { text } => Arc::make_mut(&mut self.messages).push(Message::User(text.clone().into())),
            RecordBody::CallShown { call, .. } => self.calls = self.calls.max(call.0),
            RecordBody::CheckpointTaken { turn, id, purpose, .. } => {
                let (opening, closing) = (*purpose == CheckpointKind::Opening, *purpose == CheckpointKind::Closing);
                let keep = if opening { self.turn_at } else { self.messages.len() };
                let prompt = if turn.is_some() { self.turn_prompt.clone() } else { Prompt::default() };
                self.marks.push(Mark { id: id.clone(), turn: *turn, opening, closing, keep, prompt });
            }
            RecordBody::Rewound { scope, keep, marks, before, after, .. } => {
                let mut cut = Cut { scope: *scope, before: before.clone(), after: after.clone(), messages: vec![], marks: vec![] };
                if scope.conversation() {
                    let keep = (*keep).min(self.messages.len());
                    cut.messages = Arc::make_mut(&mut self.messages).split_off(keep);
                    cut.marks = self.marks.split_off((*marks).min(self.marks.len()));
                }
                self.undone.push(cut);
            }
            RecordBody::Redone { .. } => {
                if let Some(cut) = self.undone.pop() {
                    Arc::make_mut(&mut self.messages).extend(cut.messages);
                    self.marks.extend(cut.marks);
                }
            }
            RecordBody::ModelChanged { model } => self.model = Some(model.clone()),
            RecordBody::ModeChanged { mode } => self.mode = *mode,
            RecordBody::TurnEnded { usage, .. } => self.usage += *usage,
            RecordBody::Partial { .. } | RecordBody::Thought { .. } | RecordBody::Forked { .. } => {}
            RecordBody::Cleared => {
                self.messages = Arc::default();
                self.marks.clear();
                self.undone.clear();
            }
        }
    }

    /// The newest place in the conversation at which the files were so. An unchanged tree has the same id more than once.
    pub fn mark(&self, id: &CheckpointId) -> Option<usize> {
        self.marks.iter().rposition(|m| m.id == *id)
    }

    /// Where the last turn that changed something began.
    pub fn last_opening(&self) -> Option<usize> {
        self.marks.iter().rposition(|m| m.opening)
    }

    /// How the files were at the end of the turn that began there, if that is known.
    pub fn closing(&self, opening: usize) -> Option<CheckpointId> {
        let marks = self.marks.get(opening..)?;
        marks.iter().find(|m| m.closing && m.turn == marks[0].turn).map(|m| m.id.clone())
    }

    /// Calls that never got their result (a crash, an older build): the messages that complete them.
    pub fn missing_results(&self) -> Vec<Message> {
        let mut open: BTreeMap<CallId, Message> = BTreeMap::new();
        for message in self.messages.iter() {
            match message {
                Message::Assistant { calls, .. } => {
                    for c in calls {
                        let result = Message::Result {
                            call: c.id,
                            provider_id: c.provider_id.clone(),
                            name: c.name.clone(),
                            content: "Interrupted before it finished; nothing is known of its effect.".into(),
                            failed: true,
                            images: vec![],
                        };
                        open.insert(c.id, result);
                    }
                }
                Message::Result { call, .. } => drop(open.remove(call)),
                Message::User(_) => {}
            }
        }
        open.into_values().collect()
    }
}
