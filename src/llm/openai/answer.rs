//! What comes back: the bytes of a chat completion, streamed or whole, as stream items.
//!
//! The same bytes give the same items (after merging) however they are cut. Servers differ in everything but the idea, so each
//! field is taken in every shape that has been seen; what is plainly not the protocol ends the stream as `Malformed`.
//! After `Done` or `Failed` nothing more comes out.

use super::{calls::Calls, errors};
use crate::{
    llm::{
        provider::{error, push_merged},
        sse::{self, SseDecoder},
    },
    protocol::{ProviderError, ProviderErrorKind as Kind, RequestId, StopReason, StreamItem, Usage},
};
use serde::Deserialize;
use serde_json::Value;

pub struct Answer {
    form: Form,
    sse: SseDecoder,
    state: State,
    waits_after_stop: u32,
}

/// An answer may hold this much text: one without end must not fill the memory, nor the screen for minutes after an interrupt.
/// The longest outputs of models are a tenth of it.
const LONGEST: usize = 4 << 20;

/// How often more bytes are waited for after the end of an answer: a server may send pings for ever.
const MOST_WAITS: u32 = 16;

enum Form {
    /// Nothing but white space has come.
    Unknown,
    Events,
    /// Not events: one JSON object, whatever the content type says. Kept until it is whole.
    Whole(Vec<u8>),
}

struct State {
    calls: Calls,
    /// Bytes of text, reasoning and arguments so far.
    size: usize,
    usage: Option<Usage>,
    stop: Option<StopReason>,
    /// Something of an answer came.
    begun: bool,
    refused: bool,
    ended: bool,
    out: Vec<StreamItem>,
}

#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<Value>,
    error: Option<Value>,
    x_groq: Option<Value>,
    object: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Option<Delta>,
    message: Option<Delta>,
    finish_reason: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<Value>,
    reasoning_content: Option<Value>,
    reasoning: Option<Value>,
    refusal: Option<Value>,
    tool_calls: Option<Value>,
    function_call: Option<Value>,
}

impl Answer {
    pub fn new(request: RequestId) -> Self {
        let state =
            State { calls: Calls::new(request), size: 0, usage: None, stop: None, begun: false, refused: false, ended: false, out: vec![] };
        Answer { form: Form::Unknown, sse: SseDecoder::default(), state, waits_after_stop: 0 }
    }

    pub fn feed(&mut self, mut bytes: &[u8]) {
        if matches!(self.form, Form::Unknown) {
            // A byte order mark counts as white space here.
            let blank = |b: &u8| b.is_ascii_whitespace() || matches!(b, 0xEF | 0xBB | 0xBF);
            let start = bytes.iter().position(|b| !blank(b)).unwrap_or(bytes.len());
            bytes = &bytes[start..];
            self.form = match bytes.first() {
                None => return,
                Some(b'{' | b'[' | b'<') => Form::Whole(vec![]),
                Some(_) => Form::Events,
            };
        }
        let state = &mut self.state;
        let fits = match &mut self.form {
            Form::Whole(whole) if whole.len() + bytes.len() <= sse::LIMIT => {
                whole.extend_from_slice(bytes);
                true
            }
            Form::Whole(_) => false,
            _ => self.sse.feed(bytes, &mut |data| state.event(data, false)).is_ok(),
        };
        if !fits {
            state.fail(error(Kind::Malformed, "The server sent an event of more than 16 MB."));
        }
    }

    /// The server closed the connection, properly or (`broken`) not.
    pub fn close(&mut self, broken: Option<ProviderError>) {
        let state = &mut self.state;
        match std::mem::replace(&mut self.form, Form::Unknown) {
            Form::Whole(whole) => state.whole(&whole),
            _ => drop(self.sse.finish(&mut |data| state.event(data, true))),
        }
        match broken {
            _ if state.stop.is_some() => state.done(),
            Some(broken) => state.fail(broken),
            None if state.begun => state.fail(error(Kind::Cut, "The answer was cut off: the server closed the connection.")),
            None => state.fail(error(Kind::Cut, "The server closed the connection without an answer.")),
        }
    }

    /// What has come out since the last time.
    pub fn take(&mut self) -> Vec<StreamItem> {
        std::mem::take(&mut self.state.out)
    }

    pub fn ended(&self) -> bool {
        self.state.ended
    }

    /// The answer is whole; what may follow is only the count of tokens.
    pub fn stopped(&self) -> bool {
        self.state.stop.is_some()
    }

    /// May the stream be waited for once more?
    pub fn wait(&mut self) -> bool {
        self.waits_after_stop += u32::from(self.stopped());
        self.waits_after_stop <= MOST_WAITS
    }
}

impl State {
    fn event(&mut self, data: &[u8], last: bool) {
        if self.ended {
            return;
        }
        let data = data.trim_ascii();
        if is_done(data) {
            return self.done();
        }
        match parse(data) {
            Some(chunk) => self.chunk(chunk, data, false),
            // Several objects that no blank line parts.
            None if data.contains(&b'\n') => data.split(|b| *b == b'\n').for_each(|line| self.event(line, last)),
            // A stream that breaks off inside an event was cut.
            None if last => {}
            None if data.first() == Some(&b'{') => {
                self.fail(error(Kind::Malformed, format!("The server sent broken JSON: {}", excerpt(data))))
            }
            // "ping", "keep-alive", numbers: not for us.
            None => {}
        }
    }

    fn whole(&mut self, body: &[u8]) {
        let body = body.trim_ascii();
        match parse(body) {
            Some(chunk) => self.chunk(chunk, body, true),
            None if body.first() == Some(&b'<') => {
                self.fail(error(Kind::Malformed, "The server answered with a web page instead of an answer of a model."));
            }
            None if body.iter().any(is_line_end) => {
                body.split(is_line_end).for_each(|line| match line.trim_ascii().strip_prefix(b"data:") {
                    Some(data) => self.event(data, true),
                    None => self.event(line, true),
                })
            }
            None if serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok() => {
                let words = errors::words(body).unwrap_or_else(|| excerpt(body));
                self.fail(error(Kind::Malformed, words));
            }
            None => self.begun = true,
        }
    }

    fn chunk(&mut self, chunk: Chunk, raw: &[u8], whole: bool) {
        let choice = chunk.choices.and_then(|choices| choices.into_iter().next());
        let found = [chunk.error, choice.as_ref().and_then(|c| c.error.clone())].into_iter().flatten().find(is_error);
        if found.is_some() || chunk.object.is_some_and(|kind| kind == "error") {
            return self.fail(errors::in_stream(found.as_ref(), raw));
        }
        let groq = chunk.x_groq.and_then(|mut groq| groq.get_mut("usage").map(Value::take));
        // Some servers count in every chunk, always from the start: the last count is the right one.
        if let Some(usage) = chunk.usage.or(groq).as_ref().and_then(usage) {
            self.usage = Some(usage);
        }
        let Some(choice) = choice else {
            if whole && !self.ended {
                let words = errors::words(raw).unwrap_or_else(|| format!("The server's answer holds no choice: {}", excerpt(raw)));
                self.fail(error(Kind::Malformed, words));
            }
            return;
        };
        match (choice.delta, choice.message) {
            (Some(delta), _) => self.delta(delta),
            // Some servers repeat the whole message at the end of a stream.
            (None, Some(message)) if !self.begun => self.delta(message),
            _ => {}
        }
        match choice.finish_reason.as_ref().and_then(Value::as_str) {
            Some("error") => self.fail(error(Kind::Busy, "The server stopped in the middle of the answer with an error.")),
            Some(reason) if !reason.is_empty() => self.stop = Some(stop_reason(reason)),
            _ if whole => self.stop = self.stop.or(Some(StopReason::Finished)),
            _ => {}
        }
    }

    fn delta(&mut self, delta: Delta) {
        let reasoning = delta.reasoning_content.as_ref().map(text).filter(|t| !t.is_empty());
        let reasoning = reasoning.or_else(|| delta.reasoning.as_ref().map(text)).unwrap_or_default();
        self.say(StreamItem::Reasoning(reasoning));
        match delta.content {
            Some(Value::Array(parts)) => parts.iter().for_each(|part| match part.get("type").and_then(Value::as_str) {
                Some("thinking" | "reasoning") => self.say(StreamItem::Reasoning(text(part))),
                _ => self.say(StreamItem::Text(text(part))),
            }),
            Some(content) => self.say(StreamItem::Text(text(&content))),
            None => {}
        }
        let refusal = delta.refusal.as_ref().map(text).unwrap_or_default();
        self.refused |= !refusal.is_empty();
        self.say(StreamItem::Text(refusal));
        let calls = match delta.tool_calls {
            Some(Value::Array(calls)) => calls,
            Some(Value::Object(call)) => vec![Value::Object(call)],
            _ => delta.function_call.filter(Value::is_object).map(|f| serde_json::json!({ "function": f })).into_iter().collect(),
        };
        self.begun |= !calls.is_empty();
        self.size += self.calls.add(&calls, &mut self.out);
        if self.size > LONGEST {
            self.fail(error(Kind::Malformed, format!("The answer did not end: it was stopped after {} MB.", LONGEST >> 20)));
        }
    }

    fn say(&mut self, item: StreamItem) {
        self.begun |= !matches!(&item, StreamItem::Text(t) | StreamItem::Reasoning(t) if t.is_empty());
        if let StreamItem::Text(text) | StreamItem::Reasoning(text) = &item {
            self.size += text.len();
        }
        push_merged(&mut self.out, item);
    }

    fn done(&mut self) {
        let reason = match self.stop {
            // Servers say "stop" even when they ask for a tool, so what there is decides.
            Some(StopReason::Length) => StopReason::Length,
            _ if !self.calls.is_empty() => StopReason::Calls,
            _ if self.refused => StopReason::Refused,
            Some(StopReason::Refused) => StopReason::Refused,
            _ => StopReason::Finished,
        };
        self.end(StreamItem::Done(reason));
    }

    fn fail(&mut self, error: ProviderError) {
        self.end(StreamItem::Failed(error));
    }

    fn end(&mut self, last: StreamItem) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        self.calls.finish(&mut self.out);
        self.out.extend(self.usage.take().map(StreamItem::Usage));
        self.out.push(last);
    }
}

fn parse(data: &[u8]) -> Option<Chunk> {
    if data.first() != Some(&b'{') {
        return None;
    }
    // One byte that isn't UTF-8 must not cost the answer.
    serde_json::from_slice(data).ok().or_else(|| {
        let fixed = String::from_utf8_lossy(data);
        matches!(fixed, std::borrow::Cow::Owned(_)).then(|| serde_json::from_str(&fixed).ok()).flatten()
    })
}

fn is_done(data: &[u8]) -> bool {
    data.len() < 16 && data.iter().filter(|b| !b.is_ascii_whitespace()).map(u8::to_ascii_uppercase).eq(*b"[DONE]")
}

fn is_line_end(b: &u8) -> bool {
    matches!(b, b'\n' | b'\r')
}

fn is_error(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false)) && *value != "" && *value != serde_json::json!({})
}

/// The text of a string, of a part, or of a list of parts.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text).collect(),
        Value::Object(part) => {
            ["text", "content", "thinking", "refusal", "value"].iter().find_map(|key| part.get(*key)).map(text).unwrap_or_default()
        }
        _ => String::new(),
    }
}

fn stop_reason(reason: &str) -> StopReason {
    match reason.to_ascii_lowercase().as_str() {
        "length" | "max_tokens" | "model_length" | "max_output_tokens" => StopReason::Length,
        "content_filter" | "refusal" | "safety" | "recitation" => StopReason::Refused,
        "tool_calls" | "tool_use" | "function_call" => StopReason::Calls,
        _ => StopReason::Finished,
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let number = |paths: &[&str]| paths.iter().find_map(|path| value.pointer(path).and_then(Value::as_f64)).unwrap_or(0.0) as u64;
    value.is_object().then(|| Usage {
        input: number(&["/prompt_tokens", "/input_tokens"]),
        output: number(&["/completion_tokens", "/output_tokens"]),
        cached: number(&[
            "/prompt_tokens_details/cached_tokens",
            "/input_tokens_details/cached_tokens",
            "/prompt_cache_hit_tokens",
            "/cached_tokens",
        ]),
        reasoning: number(&["/completion_tokens_details/reasoning_tokens", "/output_tokens_details/reasoning_tokens", "/reasoning_tokens"]),
    })
}

fn excerpt(data: &[u8]) -> String {
    errors::bounded(&String::from_utf8_lossy(&data[..data.len().min(400)]), 200)
}

#[cfg(test)]
mod tests;
