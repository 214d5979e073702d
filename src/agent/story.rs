//! The session so far, as a front end needs it to show a session that goes on: the events of its records. Pure.
//!
//! It is told as it was: what was walked back later is told, too, and that it was. Only what was cleared away is not.

use super::reading;
use crate::protocol::*;
use std::{collections::BTreeMap, path::PathBuf, time::Duration};

type Told = (Option<TurnId>, EventBody);

#[derive(Default)]
struct Story {
    told: Vec<Told>,
    turn: Option<Open>,
    /// What has come of an answer that is not whole.
    reasoning: String,
    answer: String,
    /// Calls of which it is not known what came of them: name and title.
    open: BTreeMap<CallId, (String, String)>,
}

/// A turn that has not ended yet.
struct Open {
    id: TurnId,
    /// Milliseconds since 1970.
    began: u64,
    prompt: Prompt,
    /// What it was asked for has become a message.
    said: bool,
    /// It runs a command of the user's own, whose output is a message of the user.
    own: bool,
}

/// What the records amount to for a front end. A turn that was cut off ends as interrupted.
pub fn story(records: &[Record]) -> Vec<Told> {
    let mut story = Story::default();
    records.iter().for_each(|record| story.record(record));
    story.cut_off();
    story.told
}

/// The last turn that has no end: the process ended before it did.
pub fn unended(records: &[Record]) -> Option<TurnId> {
    records.iter().fold(None, |open, record| match &record.body {
        RecordBody::TurnStarted { turn, .. } => Some(*turn),
        RecordBody::TurnEnded { .. } | RecordBody::Cleared => None,
        _ => open,
    })
}

/// Reasoning and text of the answer that was coming in when the process ended.
pub fn half_said(records: &[Record]) -> (String, String) {
    let mut words = (String::new(), String::new());
    let begins = records.iter().rposition(|record| !record.body.within_answer()).map_or(0, |last| last + 1);
    for record in &records[begins..] {
        if let RecordBody::Partial { reasoning, text, .. } = &record.body {
            words.0.push_str(reasoning);
            words.1.push_str(text);
        }
    }
    words
}

impl Story {
    fn tell(&mut self, body: EventBody) {
        let turn = self.turn.as_ref().map(|turn| turn.id);
        self.told.push((turn, body));
    }

    fn turn(&mut self, event: TurnEvent) {
        self.tell(EventBody::Turn(event));
    }

    fn record(&mut self, record: &Record) {
        if !record.body.within_answer() && !matches!(record.body, RecordBody::TurnStarted { .. }) {
            // It is whole, and tells itself what was said.
            (self.reasoning, self.answer) = (String::new(), String::new());
        }
        match &record.body {
            RecordBody::TurnStarted { turn, prompt } => {
                self.cut_off();
                self.turn = Some(Open { id: *turn, began: record.at, prompt: prompt.clone(), said: false, own: false });
                self.turn(TurnEvent::UserSaid(prompt.clone()));
                self.turn(TurnEvent::Started);
            }
            RecordBody::Said { message, .. } => self.said(message),
            RecordBody::Told { text } => self.tell(EventBody::Notice(Notice::info(text.clone()))),
            RecordBody::Thought { text, .. } => self.text(text, ""),
            RecordBody::Partial { reasoning, text, .. } => {
                self.reasoning.push_str(reasoning);
                self.answer.push_str(text);
            }
            // The user's own command has begun.
            RecordBody::CallShown { outcome: None, .. } => {
                if let Some(turn) = &mut self.turn {
                    turn.own = true;
                }
            }
            RecordBody::CallShown { call, name, title, read, outcome: Some(outcome), .. } => {
                self.open.remove(call);
                self.call(*call, name, title, *read, outcome.clone());
            }
            RecordBody::CheckpointTaken { id, label, files_changed, purpose, .. } => {
                let (id, label, kind) = (id.clone(), label.clone(), *purpose);
                self.tell(EventBody::Checkpoint(CheckpointEvent::Taken { id, label, kind, files_changed: *files_changed }));
            }
            RecordBody::Rewound { to, scope, before, files, keep, .. } => self.restored(to, *scope, before, files, *keep),
            RecordBody::Redone { files } => self.redone(files),
            RecordBody::TurnEnded { how, usage, context, .. } => {
                let took = record.at.saturating_sub(self.turn.as_ref().map_or(record.at, |turn| turn.began));
                if *context > 0 {
                    self.turn(TurnEvent::Used(Usage { input: *context, ..Usage::default() }));
                }
                if let TurnOutcome::Failed(why) = how {
                    self.tell(EventBody::Notice(Notice::error(why.clone())));
                }
                self.turn(TurnEvent::Ended(TurnEnd { how: how.clone(), usage: *usage, took: Duration::from_millis(took) }));
                self.turn = None;
            }
            RecordBody::Cleared => {
                self.told.clear();
                self.tell(EventBody::Session(SessionEvent::Cleared));
            }
            RecordBody::SessionStarted { .. }
            | RecordBody::Forked { .. }
            | RecordBody::ModelChanged { .. }
            | RecordBody::ModeChanged { .. } => {}
        }
    }

    fn said(&mut self, message: &Message) {
        match message {
            Message::User(prompt) => {
                let Some(turn) = &mut self.turn else { return };
                // The request itself has been told with the turn, and a command of the user's own as a call.
                if !turn.own && (std::mem::replace(&mut turn.said, true) || turn.prompt != *prompt) {
                    self.turn(TurnEvent::UserSaid(prompt.clone()));
                }
            }
            Message::Assistant { text, reasoning, calls, .. } => {
                self.text(reasoning, text);
                self.open.extend(calls.iter().map(|call| {
                    (call.id, (call.name.clone(), reading::title(&serde_json::from_str(&call.arguments).unwrap_or_default())))
                }));
            }
            // If nothing was shown of it, the process ended before it was known what came of it.
            Message::Result { call, .. } => {
                if let Some((name, title)) = self.open.remove(call) {
                    self.call(*call, &name, &title, false, Outcome::Interrupted { output: String::new() });
                }
            }
        }
    }

    fn text(&mut self, reasoning: &str, text: &str) {
        if !reasoning.is_empty() {
            self.tell(EventBody::Text(TextEvent::Reasoning(reasoning.into())));
        }
        if !text.is_empty() {
            self.tell(EventBody::Text(TextEvent::Answer(text.into())));
        }
        if !text.is_empty() || !reasoning.is_empty() {
            self.tell(EventBody::Text(TextEvent::Done));
        }
    }

    fn call(&mut self, id: CallId, name: &str, title: &str, read: bool, outcome: Outcome) {
        let (name, title) = (name.to_owned(), title.to_owned());
        self.tell(EventBody::Call(CallEvent::Proposed { id, name, title: title.clone() }));
        // What a front end reads from it: did it only read, and what did it change?
        let previewed = match &outcome {
            _ if read => Some((Access::Read(vec![]), Block::Nothing)),
            Outcome::Done(ToolOutput { for_user: block @ Block::Diff(_), .. }) => Some((Access::Write(vec![]), block.clone())),
            _ => None,
        };
        if let Some((access, block)) = previewed {
            self.tell(EventBody::Call(CallEvent::Previewed { id, access, title, block }));
        }
        self.tell(EventBody::Call(CallEvent::Finished { id, outcome }));
    }

    fn restored(&mut self, to: &CheckpointId, scope: RewindScope, before: &Option<CheckpointId>, files: &[PathBuf], keep: usize) {
        let (to, before, changes) = (to.clone(), before.clone(), named(files));
        let event = CheckpointEvent::Restored { to, before, scope, changes, kept_messages: keep, forward: false };
        self.tell(EventBody::Checkpoint(event));
    }

    fn redone(&mut self, files: &[PathBuf]) {
        // Which one it was is not told by the record, and no front end asks.
        let (to, scope) = (CheckpointId(String::new()), RewindScope::Both);
        let event = CheckpointEvent::Restored { to, before: None, scope, changes: named(files), kept_messages: 0, forward: true };
        self.tell(EventBody::Checkpoint(event));
    }

    fn cut_off(&mut self) {
        let (reasoning, answer) = (std::mem::take(&mut self.reasoning), std::mem::take(&mut self.answer));
        if self.turn.is_some() {
            self.text(&reasoning, &answer);
            for (call, (name, title)) in std::mem::take(&mut self.open) {
                self.call(call, &name, &title, false, Outcome::Interrupted { output: String::new() });
            }
            let (how, usage, took) = (TurnOutcome::Interrupted, Usage::default(), Duration::ZERO);
            self.turn(TurnEvent::Ended(TurnEnd { how, usage, took }));
            self.turn = None;
        }
    }
}

/// That these changed; what is in them is not kept.
fn named(files: &[PathBuf]) -> Vec<FileChange> {
    files.iter().map(|path| FileChange { path: path.clone(), old: None, new: None, binary: true }).collect()
}
