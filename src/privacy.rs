//! What of a conversation is a secret, and what stands for it where a model reads it.
//!
//! Pure: told of the environment's secrets and of the key by values. It stands at two borders of the engine:
//! - **out**: whatever goes to a model is looked through, and each secret replaced by its placeholder (`find`, `vault`). A message is
//!   looked through once, when it is first sent;
//! - **in**: in the arguments of a call the placeholder becomes the secret again, before anything looks at them. One that stands for
//!   nothing fails the call: it would end up in a file or a command as it is.
//!
//! What is kept (journal, screen, what the user approves) has the secrets as they are: it is the user's own, and what is approved must
//! be what runs. So nothing about secrets has to be kept for a session that goes on: its messages are looked through again, and a
//! placeholder depends on nothing but the secret and a key of this installation.

mod assigned;
mod find;
mod made_up;
mod shapes;
mod shell;
mod vault;

#[cfg(test)]
mod tests;

use crate::protocol::{CallId, CallRequest, Hidden, Message, PrivacyState, Prompt, RecordBody, Request, ToolCall};
use find::{Finder, Span};
use serde_json::Value;
use std::{collections::HashMap, sync::Arc};
use vault::{Unrevealed, Vault};

/// Stands between a conversation and the model that reads it.
pub struct Privacy {
    on: bool,
    finder: Finder,
    vault: Vault,
    /// Messages of the conversation that have been looked through.
    seen: usize,
    /// These as they are sent; none while there is nothing to hide in them, and they are sent as they are.
    sent: Option<Arc<Vec<Message>>>,
    system: Option<(Arc<str>, Arc<str>)>,
    /// Arguments of the running turn's calls: as the model wrote them, and with the secrets in them.
    calls: HashMap<CallId, (Value, Value)>,
    /// Secrets of which the user has been told.
    told: usize,
}

/// Arguments that a shell reads.
const SHELL: [&str; 2] = ["command", "cmd"];

/// Where a text comes from, which decides what a placeholder in it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// It may have copied one from the screen.
    User,
    /// It copies those that it was given.
    Model,
    /// Whatever looks like one there is text like any other.
    World,
}

/// For the model, once it has been sent a placeholder.
const EXPLAINED: &str = "Secrets are not shown to you: `[secret:KIND:ID]` stands for each. Where a secret is meant in a call or an answer, copy its placeholder exactly, with the brackets: in the arguments of a call it becomes the secret again. Never make one up, shorten or split one.";

impl Privacy {
    /// `known`: what is secret whatever it looks like, with what it is called. `patterns` are the user's own, checked by [`check`].
    pub fn new(on: bool, key: vault::Key, known: Vec<(String, String)>, patterns: &[String]) -> Privacy {
        Privacy {
            on,
            finder: Finder::new(patterns.to_vec()),
            vault: Vault::new(key, known),
            seen: 0,
            sent: None,
            system: None,
            calls: HashMap::new(),
            told: 0,
        }
    }

    pub fn off() -> Privacy {
        Privacy::new(false, vault::Key::fixed([0; 32]), vec![], &[])
    }

    /// One more that is secret whatever it looks like, and what it is called.
    pub fn know(&mut self, kind: String, secret: String) {
        self.vault.know(kind, secret);
    }

    pub fn set(&mut self, on: bool) {
        if on != self.on {
            self.on = on;
            self.forget(0);
            self.system = None;
        }
    }

    // --- out ---

    /// The request without secrets; as it is, to the byte, when this is off.
    pub fn outgoing(&mut self, mut request: Request) -> Request {
        if !self.on {
            return request;
        }
        if request.messages.len() < self.seen {
            self.forget(request.messages.len());
        }
        for at in self.seen..request.messages.len() {
            let message = &request.messages[at];
            let changed = self.message(message, &request.messages[..at]);
            match (&mut self.sent, changed) {
                (None, None) => {}
                (Some(sent), changed) => Arc::make_mut(sent).push(changed.unwrap_or_else(|| message.clone())),
                (None, Some(changed)) => {
                    self.sent = Some(Arc::new(request.messages[..at].iter().cloned().chain([changed]).collect()));
                }
            }
        }
        self.seen = request.messages.len();
        if let Some(sent) = &self.sent {
            request.messages = sent.clone();
        }
        request.system = self.system(&request.system);
        request
    }

    /// What the records tell of messages that are gone; all else only adds some.
    pub fn recorded(&mut self, record: &RecordBody) {
        match record {
            RecordBody::Rewound { scope, keep, .. } if scope.conversation() => self.forget(*keep),
            RecordBody::Cleared => self.forget(0),
            RecordBody::TurnEnded { .. } => self.calls.clear(),
            _ => {}
        }
    }

    fn forget(&mut self, keep: usize) {
        self.seen = self.seen.min(keep);
        if self.seen == 0 {
            self.sent = None;
        } else if let Some(sent) = &mut self.sent {
            Arc::make_mut(sent).truncate(self.seen);
        }
    }

    /// Says what placeholders are once there is one.
    fn system(&mut self, text: &Arc<str>) -> Arc<str> {
        if let Some((_, hidden)) = self.system.as_ref().filter(|(known, _)| known == text) {
            return hidden.clone();
        }
        let hidden = self.hide(text, Origin::World, "the instructions");
        if hidden.is_none() && self.sent.is_none() {
            // Nothing is noted: a placeholder may come.
            return text.clone();
        }
        let hidden: Arc<str> = format!("{}\n\n{EXPLAINED}", hidden.as_deref().unwrap_or(text)).into();
        self.system = Some((text.clone(), hidden.clone()));
        hidden
    }

    /// `None` if there is nothing to hide in it.
    fn message(&mut self, message: &Message, before: &[Message]) -> Option<Message> {
        match message {
            Message::User(prompt) => {
                let text = self.hide(&prompt.text, Origin::User, "what you wrote")?;
                Some(Message::User(Prompt { text, images: prompt.images.clone() }))
            }
            Message::Assistant { text, reasoning, calls, kept } => {
                let place = "the model's answer";
                let (said, thought) = (self.hide(text, Origin::Model, place), self.hide(reasoning, Origin::Model, place));
                let asked: Vec<Option<CallRequest>> = calls.iter().map(|call| self.arguments(call)).collect();
                if said.is_none() && thought.is_none() && asked.iter().all(Option::is_none) {
                    return None;
                }
                let calls = asked.into_iter().zip(calls).map(|(new, old)| new.unwrap_or_else(|| old.clone())).collect();
                Some(Message::Assistant {
                    text: said.unwrap_or_else(|| text.clone()),
                    reasoning: thought.unwrap_or_else(|| reasoning.clone()),
                    calls,
                    // As the provider gave it, which has been given no secrets.
                    kept: kept.clone(),
                })
            }
            Message::Result { call, provider_id, name, content, failed, images } => {
                let place = place(*call, name, before);
                let content = self.hide(content, Origin::World, &place)?;
                let (call, failed) = (*call, *failed);
                Some(Message::Result {
                    call,
                    provider_id: provider_id.clone(),
                    name: name.clone(),
                    content,
                    failed,
                    images: images.clone(),
                })
            }
        }
    }

    /// What the model wrote while this was off may have secrets in it.
    fn arguments(&mut self, call: &CallRequest) -> Option<CallRequest> {
        let mut args: Value = serde_json::from_str(&call.arguments).ok()?;
        let mut changed = false;
        strings(&mut args, &mut |text| {
            if let Some(hidden) = self.hide(text, Origin::Model, &call.name) {
                (*text, changed) = (hidden, true);
            }
        });
        changed.then(|| CallRequest { arguments: args.to_string(), ..call.clone() })
    }

    fn hide(&mut self, text: &str, origin: Origin, place: &str) -> Option<String> {
        let spans = spans(&self.finder, &self.vault, text, origin);
        (!spans.is_empty()).then(|| replaced(text, spans, |secret, span| self.vault.hide(secret, &span.kind, span.told.then_some(place))))
    }

    // --- in ---

    /// The arguments of a call with the secrets in them, or what is wrong with a placeholder.
    pub fn previewed(&mut self, id: CallId, args: Value) -> Result<Value, String> {
        if !self.on && self.vault.is_empty() {
            return Ok(args);
        }
        let (mut real, mut wrong) = (args.clone(), None);
        let mut reveal = |text: &mut String, in_shell: bool| match self.vault.reveal(text, in_shell) {
            Ok(Some(revealed)) => *text = revealed,
            Ok(None) => {}
            Err(why) => drop(wrong.get_or_insert(why)),
        };
        match &mut real {
            Value::Object(entries) => entries.iter_mut().for_each(|(key, value)| {
                let in_shell = SHELL.contains(&key.as_str());
                strings(value, &mut |text| reveal(text, in_shell));
            }),
            other => strings(other, &mut |text| reveal(text, false)),
        }
        match wrong {
            Some(Unrevealed::Unknown(placeholder)) if self.on => {
                return Err(format!(
                    "Nothing was done: no secret of this session has the placeholder {placeholder} in square brackets. A placeholder stands for a secret that is not shown, and must be copied exactly as it was given."
                ));
            }
            Some(Unrevealed::Active(placeholder)) => {
                return Err(format!(
                    "Nothing was done: the secret behind the placeholder {placeholder} has characters that a shell would read as its own. Put the placeholder within plain single quotes, without a here-document or substitution before it in the command, and outside comments."
                ));
            }
            _ => {}
        }
        if real != args {
            self.calls.insert(id, (args, real.clone()));
        }
        Ok(real)
    }

    /// What was previewed is what runs. What the user has put in its place is as it is meant.
    pub fn to_run(&mut self, call: ToolCall) -> ToolCall {
        match self.calls.remove(&call.id) {
            Some((written, real)) if written == call.args => ToolCall { args: real, ..call },
            // An answer was added to a question.
            Some((written, Value::Object(mut real))) if added(&written, &call.args) => {
                if let Some(answer) = call.args.get("answer") {
                    real.insert("answer".into(), answer.clone());
                }
                ToolCall { args: Value::Object(real), ..call }
            }
            _ => call,
        }
    }

    // --- what is told ---

    pub fn state(&self) -> PrivacyState {
        PrivacyState { on: self.on, hidden: self.vault.told() }
    }

    /// The kinds of secrets that were hidden since the last time, for a word to the user.
    pub fn news(&mut self) -> Vec<String> {
        let all = self.vault.told();
        let mut new: Vec<String> = vec![];
        for Hidden { kind, .. } in all.iter().skip(self.told) {
            if !new.contains(kind) {
                new.push(kind.clone());
            }
        }
        self.told = all.len();
        new
    }

    /// What a text would be for a model, if this is on. Nothing is noted.
    pub fn inspect(&self, text: &str) -> String {
        let mut vault = self.vault.clone();
        let spans = spans(&self.finder, &self.vault, text, Origin::User);
        replaced(text, spans, |secret, span| vault.hide(secret, &span.kind, None))
    }
}

/// What has to be replaced in a text, in its order.
fn spans(finder: &Finder, vault: &Vault, text: &str, origin: Origin) -> Vec<Span> {
    let placeholders = vault::placeholders(text);
    let mut spans = finder.spans(text, vault);
    // What is within one is no secret, whatever it looks like.
    spans.retain(|span| {
        let next = placeholders.partition_point(|(placeholder, _)| placeholder.end <= span.at.start);
        placeholders.get(next).is_none_or(|(placeholder, _)| span.at.end <= placeholder.start)
    });
    spans.extend(placeholders.into_iter().filter_map(|(at, id)| {
        let stays = match origin {
            Origin::Model => true,
            Origin::User => vault.knows(id),
            Origin::World => false,
        };
        (!stays).then(|| Span { at, kind: "text".into(), told: false })
    }));
    find::apart(spans)
}

fn replaced(text: &str, spans: Vec<Span>, mut placeholder: impl FnMut(&str, &Span) -> String) -> String {
    let (mut hidden, mut from) = (String::with_capacity(text.len()), 0);
    for span in spans {
        hidden.push_str(&text[from..span.at.start]);
        hidden.push_str(&placeholder(&text[span.at.clone()], &span));
        from = span.at.end;
    }
    hidden + &text[from..]
}

/// Is a pattern of the user's one that can be searched for?
pub fn check(pattern: &str) -> Result<(), String> {
    find::pattern(pattern).map(drop)
}

pub use vault::Key;

fn added(written: &Value, args: &Value) -> bool {
    let (Value::Object(written), Value::Object(args)) = (written, args) else { return false };
    args.iter().all(|(key, value)| key == "answer" || written.get(key) == Some(value))
}

/// The tool and what it was about.
fn place(call: CallId, name: &str, before: &[Message]) -> String {
    let asked = before.iter().rev().find_map(|message| match message {
        Message::Assistant { calls, .. } => calls.iter().find(|c| c.id == call),
        _ => None,
    });
    let args: Value = asked.and_then(|call| serde_json::from_str(&call.arguments).ok()).unwrap_or_default();
    let about = ["file_path", "path", "command", "url", "pattern"].iter().find_map(|key| args.get(key)?.as_str());
    match about {
        Some(about) => {
            let short = about.chars().take(60).map(|c| if c.is_control() { ' ' } else { c });
            format!("{name} {}", short.collect::<String>())
        }
        None => name.to_owned(),
    }
}

/// Every text in a value.
fn strings(value: &mut Value, each: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) => each(text),
        Value::Array(items) => items.iter_mut().for_each(|item| strings(item, each)),
        Value::Object(entries) => entries.values_mut().for_each(|item| strings(item, each)),
        _ => {}
    }
}
