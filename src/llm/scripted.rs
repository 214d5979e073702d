//! A model that follows a script: for tests, and for the demo that needs no model.
//!
//! What it answers depends on the request alone: the last thing that the user said picks the rule, the number of answers since
//! then picks the step. (Only `fail.times` remembers: it is there to be outlived by a retry.)

use super::provider::{Provider, error, push_merged};
use crate::protocol::{
    Message, ModelId, ModelInfo, Prompt, ProviderError, ProviderErrorKind as Kind, Request, StopReason, StreamItem, Usage,
};
use futures::{
    FutureExt, StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use serde::Deserialize;
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

pub const CONTEXT_WINDOW: u64 = 32_768;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Script {
    /// The first that fits is taken.
    pub rules: Vec<Rule>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rule {
    /// Beginnings of words, one of which must be in what the user said; none = fits everything.
    #[serde(rename = "match")]
    pub fits: Vec<String>,
    pub steps: Vec<Step>,
}

/// One answer of the model.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Step {
    pub reasoning: String,
    pub text: String,
    pub calls: Vec<Call>,
    pub fail: Option<Fail>,
    /// Breaks off after so many words of the text.
    pub cut_after: Option<usize>,
    /// Said instead if a call of the answer before failed or was declined.
    pub if_failed: Option<Box<Step>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    pub name: String,
    pub args: serde_json::Value,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fail {
    pub status: u16,
    pub retry_after_ms: Option<u64>,
    /// Fails only the first so many times.
    pub times: Option<u32>,
}

pub struct Scripted {
    provider: String,
    model: String,
    script: Script,
    /// Between two words.
    delay: Duration,
    failures: Mutex<HashMap<(usize, usize), u32>>,
}

impl Script {
    pub fn from_json(text: &str) -> serde_json::Result<Script> {
        serde_json::from_str(text)
    }

    fn step(&self, messages: &[Message]) -> Option<((usize, usize), &Step)> {
        let said = messages.iter().rposition(|message| matches!(message, Message::User(_)))?;
        let Message::User(Prompt { text, .. }) = &messages[said] else { return None };
        let text = words_of(text);
        let fits = |rule: &Rule| rule.fits.is_empty() || rule.fits.iter().any(|words| text.contains(words_of(words).trim_end()));
        let rule = self.rules.iter().position(fits)?;
        let answers = messages[said..].iter().filter(|message| matches!(message, Message::Assistant { .. })).count();
        let step = self.rules[rule].steps.get(answers)?;
        let mut results = messages.iter().rev().map_while(|message| match message {
            Message::Result { failed, .. } => Some(*failed),
            _ => None,
        });
        let failed = results.any(|failed| failed);
        Some(((rule, answers), step.if_failed.as_deref().filter(|_| failed).unwrap_or(step)))
    }
}

/// In small letters, with one space before each word and after the last.
fn words_of(text: &str) -> String {
    let mut words = String::from(" ");
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        words.push_str(word);
        words.push(' ');
    }
    words
}

impl Scripted {
    pub fn new(model: ModelId, script: Script, delay: Duration) -> Self {
        Scripted { provider: model.provider, model: model.model, script, delay, failures: Mutex::default() }
    }

    fn items(&self, request: &Request) -> Vec<StreamItem> {
        let Some((at, step)) = self.script.step(&request.messages) else {
            let over = "The script has no more to say here.".to_owned();
            return vec![StreamItem::Text(over), StreamItem::Done(StopReason::Finished)];
        };
        if let Some(fail) = step.fail.as_ref().filter(|fail| self.fails(at, fail)) {
            return vec![StreamItem::Failed(ProviderError {
                status: Some(fail.status),
                retry_after: fail.retry_after_ms.map(Duration::from_millis),
                ..error(kind_of(fail.status), format!("The script fails here (HTTP {}).", fail.status))
            })];
        }
        let mut items: Vec<_> = pieces(&step.reasoning).map(StreamItem::Reasoning).collect();
        let words = step.cut_after.unwrap_or(usize::MAX);
        items.extend(pieces(&step.text).take(words).map(StreamItem::Text));
        if step.cut_after.is_some() {
            items.push(StreamItem::Failed(error(Kind::Cut, "The answer was cut off: the script breaks off here.")));
            return items;
        }
        for (index, call) in step.calls.iter().enumerate() {
            let id = format!("s{:05}{index:03}", request.id.0 % 100_000);
            let arguments = call.args.to_string();
            let half = arguments.char_indices().nth(arguments.chars().count() / 2).map_or(0, |(at, _)| at);
            items.push(StreamItem::CallDelta { index, id: Some(id), name: Some(call.name.clone()), arguments: arguments[..half].into() });
            items.push(StreamItem::CallDelta { index, id: None, name: None, arguments: arguments[half..].into() });
        }
        items.push(StreamItem::Usage(usage(request, step)));
        items.push(StreamItem::Done(if step.calls.is_empty() { StopReason::Finished } else { StopReason::Calls }));
        items
    }

    fn fails(&self, at: (usize, usize), fail: &Fail) -> bool {
        let Some(times) = fail.times else { return true };
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let count = failures.entry(at).or_default();
        *count += 1;
        *count <= times
    }
}

impl Provider for Scripted {
    fn models(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ProviderError>> {
        let id = ModelId { provider: self.provider.clone(), model: self.model.clone() };
        async move { Ok(vec![ModelInfo { id, context_window: Some(CONTEXT_WINDOW), vision: None }]) }.boxed()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, StreamItem> {
        let items = self.items(&request);
        let delay = self.delay;
        if delay.is_zero() {
            return stream::iter(merged(items)).boxed();
        }
        let slow = move |item: StreamItem| async move {
            if matches!(item, StreamItem::Text(_) | StreamItem::Reasoning(_) | StreamItem::CallDelta { .. }) {
                tokio::time::sleep(delay).await;
            }
            item
        };
        stream::iter(items).then(slow).boxed()
    }
}

/// With no delay everything arrives at once.
fn merged(items: Vec<StreamItem>) -> Vec<StreamItem> {
    let mut out = vec![];
    items.into_iter().for_each(|item| push_merged(&mut out, item));
    out
}

/// Word by word; the white space goes with the word before it.
fn pieces(text: &str) -> impl Iterator<Item = String> {
    text.split_inclusive(char::is_whitespace).map(str::to_owned)
}

/// About four bytes are a token.
fn usage(request: &Request, step: &Step) -> Usage {
    let said: usize = request
        .messages
        .iter()
        .map(|message| match message {
            Message::User(prompt) => prompt.text.len(),
            Message::Assistant { text, calls, .. } => text.len() + calls.iter().map(|call| call.arguments.len()).sum::<usize>(),
            Message::Result { content, .. } => content.len(),
        })
        .sum();
    let answered: usize = step.text.len() + step.reasoning.len() + step.calls.iter().map(|call| call.args.to_string().len()).sum::<usize>();
    Usage {
        input: (request.system.len() + said) as u64 / 4 + 1,
        output: answered as u64 / 4 + 1,
        cached: 0,
        reasoning: step.reasoning.len() as u64 / 4,
        written: 0,
    }
}

fn kind_of(status: u16) -> Kind {
    match status {
        401 | 403 => Kind::Unauthorised,
        408 | 409 | 429 | 500.. => Kind::Busy,
        _ => Kind::Refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{CallId, CallRequest, RequestId};

    const SCRIPT: &str = r#"{ "rules": [
        { "match": ["test", "leap year"], "steps": [
            { "reasoning": "Look first.", "text": "Let me look.", "calls": [ { "name": "View", "args": { "file_path": "ž.sh" } } ] },
            { "text": "Fixed." } ] },
        { "match": ["busy"], "steps": [ { "fail": { "status": 429, "retry_after_ms": 5, "times": 1 }, "text": "Here I am." } ] },
        { "match": ["cut"], "steps": [ { "text": "one two three", "cut_after": 2 } ] },
        { "steps": [ { "text": "Hello." } ] } ] }"#;

    fn request(messages: Vec<Message>) -> Request {
        Request {
            id: RequestId(3),
            model: ModelId { provider: "demo".into(), model: "scripted".into() },
            system: "".into(),
            messages: messages.into(),
            tools: vec![].into(),
        }
    }

    fn model(delay: u64) -> Scripted {
        let id = ModelId { provider: "demo".into(), model: "scripted".into() };
        Scripted::new(id, Script::from_json(SCRIPT).unwrap(), Duration::from_millis(delay))
    }

    fn answer(model: &Scripted, messages: Vec<Message>) -> Vec<StreamItem> {
        futures::executor::block_on(model.stream(request(messages)).collect())
    }

    #[test]
    fn the_conversation_picks_the_step() {
        let asked = Message::User("Why does the leap-year TEST fail?".into());
        let items = answer(&model(0), vec![asked.clone()]);
        let [
            StreamItem::Reasoning(r),
            StreamItem::Text(t),
            StreamItem::CallDelta { id, name, arguments, .. },
            StreamItem::Usage(_),
            StreamItem::Done(StopReason::Calls),
        ] = &items[..]
        else {
            panic!("{items:?}")
        };
        assert_eq!(
            (r.as_str(), t.as_str(), id.as_deref(), name.as_deref()),
            ("Look first.", "Let me look.", Some("s00003000"), Some("View"))
        );
        assert_eq!(arguments, r#"{"file_path":"ž.sh"}"#);

        let call = CallRequest { id: CallId(1), provider_id: "s".into(), name: "View".into(), arguments: "{}".into() };
        let looked = Message::Assistant { text: String::new(), reasoning: String::new(), calls: vec![call], kept: vec![] };
        let result = Message::Result {
            call: CallId(1),
            provider_id: "s".into(),
            name: "View".into(),
            content: "x".into(),
            images: vec![],
            failed: false,
        };
        let items = answer(&model(0), vec![asked.clone(), looked.clone(), result]);
        assert_eq!(items[0], StreamItem::Text("Fixed.".into()));
        let items = answer(&model(0), vec![asked.clone(), looked.clone(), looked]);
        assert!(matches!(items.last(), Some(StreamItem::Done(StopReason::Finished))));

        for other in ["contest", "hi"] {
            assert_eq!(
                answer(&model(0), vec![asked.clone(), Message::User(other.into())])[0],
                StreamItem::Text("Hello.".into()),
                "{other}"
            );
        }
    }

    #[test]
    fn failures_and_cuts_are_scripted_too() {
        let busy = model(0);
        let failed = answer(&busy, vec![Message::User("busy".into())]);
        assert!(matches!(&failed[..], [StreamItem::Failed(e)] if e.kind == Kind::Busy && e.retry_after == Some(Duration::from_millis(5))));
        assert_eq!(answer(&busy, vec![Message::User("busy".into())])[0], StreamItem::Text("Here I am.".into()));

        let cut = answer(&model(0), vec![Message::User("cut it".into())]);
        assert!(matches!(&cut[..], [StreamItem::Text(t), StreamItem::Failed(e)] if t == "one two " && e.kind == Kind::Cut));
    }

    #[tokio::test]
    async fn with_a_delay_it_comes_word_by_word() {
        let items: Vec<_> = model(1).stream(request(vec![Message::User("cut it".into())])).collect().await;
        assert_eq!(items[..2], [StreamItem::Text("one ".into()), StreamItem::Text("two ".into())]);
    }
}
