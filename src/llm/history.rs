//! The conversation in a form that every wire format can take as it is.
//!
//! Whatever model said what, and whatever was cut off: the user speaks first, no message is empty, each call has an id that the
//! format takes and that no other call has, a name that it takes, and exactly one answer right behind it. What was kept for a model
//! goes to that model, in that format, and to nobody else.

use super::calls::made_up_id;
use crate::protocol::{CallId, CallRequest, Image, Kept, Message, Prompt, Request, WireFormat};
use serde_json::Value;
use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

/// What Google names as the signature of calls that another model has made: from Gemini 3 on one without any is refused.
pub const UNSIGNED: &str = "skip_thought_signature_validator";

#[derive(Debug)]
pub enum Step<'a> {
    /// Never empty; what was said in a row is one step.
    User(Vec<&'a Prompt>),
    Assistant(Said<'a>),
    /// The answers to the calls of the step before, in its order.
    Results(Vec<Answered<'a>>),
}

#[derive(Debug)]
pub struct Said<'a> {
    pub text: &'a str,
    pub reasoning: &'a str,
    pub calls: Vec<Called<'a>>,
    pub kept: Vec<&'a Kept>,
}

#[derive(Debug)]
pub struct Called<'a> {
    pub id: String,
    pub name: Cow<'a, str>,
    pub request: &'a CallRequest,
}

#[derive(Debug)]
pub struct Answered<'a> {
    pub id: String,
    pub name: Cow<'a, str>,
    pub content: &'a str,
    pub failed: bool,
    pub images: &'a [Image],
}

impl Called<'_> {
    /// An object, always.
    pub fn arguments(&self) -> Value {
        serde_json::from_str(&self.request.arguments).ok().filter(Value::is_object).unwrap_or_else(|| Value::Object(Default::default()))
    }
}

/// A part of an answer, in its order.
#[derive(Debug)]
pub enum Part<'a, 'b> {
    Text(&'a str),
    Call(usize, &'b Called<'a>),
    Kept(&'a Kept),
}

impl<'a> Said<'a> {
    /// Text, what was kept, and calls, as they followed each other. Calls follow the text that they came with.
    pub fn parts(&self) -> Vec<Part<'a, '_>> {
        let (mut parts, mut text, mut call) = (vec![], 0, 0);
        for kept in &self.kept {
            let (to, calls) = (kept.text.clamp(text, self.text.len()), kept.calls.clamp(call, self.calls.len()));
            if let Some(piece) = self.text.get(text..to).filter(|piece| !piece.is_empty()) {
                parts.push(Part::Text(piece));
                text = to;
            }
            parts.extend(self.calls[call..calls].iter().enumerate().map(|(n, called)| Part::Call(call + n, called)));
            call = calls;
            parts.push(Part::Kept(kept));
        }
        // Text that came after calls is rare, and no format minds it before them.
        parts.extend(self.text.get(text..).filter(|rest| !rest.is_empty()).map(Part::Text));
        parts.extend(self.calls[call..].iter().enumerate().map(|(n, called)| Part::Call(call + n, called)));
        parts
    }
}

/// `fits`: whether the format takes an id as it is.
pub fn steps<'a>(request: &'a Request, format: WireFormat, fits: &dyn Fn(&str) -> bool) -> Vec<Step<'a>> {
    let mut ids = Ids { taken: BTreeSet::new(), given: BTreeMap::new(), fits };
    let results = results(&request.messages);
    let mut steps: Vec<Step<'a>> = vec![];
    for message in request.messages.iter() {
        match message {
            Message::User(prompt) if prompt.text.trim().is_empty() && prompt.images.is_empty() => {}
            Message::User(prompt) => match steps.last_mut() {
                Some(Step::User(prompts)) => prompts.push(prompt),
                _ => steps.push(Step::User(vec![prompt])),
            },
            // A turn that was stopped before the first word: an empty message is refused by many servers.
            Message::Assistant { text, calls, .. } if text.trim().is_empty() && calls.is_empty() => {}
            Message::Assistant { text, reasoning, calls, kept } => {
                if steps.is_empty() {
                    steps.push(Step::User(vec![opening()]));
                }
                let calls: Vec<_> = calls.iter().map(|call| called(call, &mut ids)).collect();
                let kept = kept.iter().filter(|kept| kept.format == format && kept.model == request.model).collect();
                let answered: Vec<_> = calls.iter().map(|call| answered(call, &results)).collect();
                steps.push(Step::Assistant(Said { text, reasoning, calls, kept }));
                if !answered.is_empty() {
                    steps.push(Step::Results(answered));
                }
            }
            // It stands behind its call already.
            Message::Result { .. } => {}
        }
    }
    steps
}

/// What was said in a row, as one text.
pub fn joined(prompts: &[&Prompt]) -> String {
    prompts.iter().map(|prompt| prompt.text.as_str()).filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// What calls showed, for formats in which tools answer in words: the user shows it.
pub fn shown(images: Vec<Image>) -> Option<Prompt> {
    let text = images.iter().map(|image| image.label.as_str()).collect::<Vec<_>>().join(" ");
    (!images.is_empty()).then_some(Prompt { text, images })
}

/// Adds the fields that there are.
pub fn set<const N: usize>(to: &mut Value, fields: [(&str, Option<Value>); N]) {
    for (name, value) in fields {
        if let Some(value) = value {
            to[name] = value;
        }
    }
}

fn opening() -> &'static Prompt {
    static OPENING: std::sync::OnceLock<Prompt> = std::sync::OnceLock::new();
    OPENING.get_or_init(|| Prompt::from("(The conversation goes on.)"))
}

type Results<'a> = BTreeMap<CallId, (&'a str, bool, &'a [Image])>;

fn results(messages: &[Message]) -> Results<'_> {
    let mut results = BTreeMap::new();
    for message in messages {
        if let Message::Result { call, content, failed, images, .. } = message {
            results.entry(*call).or_insert((content.as_str(), *failed, images.as_slice()));
        }
    }
    results
}

fn called<'a>(request: &'a CallRequest, ids: &mut Ids) -> Called<'a> {
    Called { id: ids.give(request), name: wire_name(&request.name), request }
}

fn answered<'a>(call: &Called<'a>, results: &Results<'a>) -> Answered<'a> {
    let nothing: (&str, bool, &[Image]) = ("There is no result: it was stopped.", true, &[]);
    let (content, failed, images) = results.get(&call.request.id).copied().unwrap_or(nothing);
    Answered { id: call.id.clone(), name: call.name.clone(), content, failed, images }
}

struct Ids<'f> {
    taken: BTreeSet<String>,
    given: BTreeMap<CallId, String>,
    fits: &'f dyn Fn(&str) -> bool,
}

impl Ids<'_> {
    fn give(&mut self, call: &CallRequest) -> String {
        if let Some(id) = self.given.get(&call.id) {
            return id.clone();
        }
        let own = Some(call.provider_id.clone()).filter(|id| !id.is_empty() && (self.fits)(id) && !self.taken.contains(id));
        let id = own.unwrap_or_else(|| {
            let made_up = (0..).map(|n| made_up_id('h', call.id.0, n)).find(|id| !self.taken.contains(id));
            made_up.unwrap_or_default()
        });
        self.taken.insert(id.clone());
        self.given.insert(call.id, id.clone());
        id
    }
}

/// The names that all servers take. A model may have called what there is not, by any name.
fn wire_name(name: &str) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let begins_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if begins_well && name.len() <= 64 && name.chars().all(fits) {
        return name.into();
    }
    let cleaned: String = name.chars().map(|c| if fits(c) { c } else { '_' }).take(60).collect();
    if begins_well { cleaned.into() } else { format!("x_{cleaned}").into() }
}

/// Letters, digits, `_` and `-`, at the most `longest`.
pub fn plain_id(id: &str, longest: usize) -> bool {
    id.len() <= longest && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

/// What is in a name is in it as a word or at the end of one: `gemini-2.5-pro` is a Gemini of 2 and 5.
pub fn version(model: &str, family: &str) -> Option<(u32, u32)> {
    let model = model.to_ascii_lowercase();
    let rest = &model[model.find(family)? + family.len()..];
    let mut numbers = rest.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty() && part.len() <= 2);
    Some((numbers.next()?.parse().ok()?, numbers.next().and_then(|n| n.parse().ok()).unwrap_or_default()))
}

#[cfg(test)]
pub mod tests;
