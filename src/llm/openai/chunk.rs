//! The events of chat completions.
//!
//! Servers differ in everything but the idea, so each field is taken in every shape that has been seen; what is plainly not the
//! protocol ends the stream as `Malformed`.

use crate::{
    llm::{
        answer::{Dialect, State, excerpt, is_error},
        errors,
        provider::error,
    },
    protocol::{ProviderErrorKind as Kind, StopReason, StreamItem, Usage, WireFormat},
};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, Default)]
pub struct Chunks {
    refused: bool,
    /// Reasoning came as `reasoning_content`: some models want it back there while they work.
    reasoned: bool,
    /// OpenRouter's form of reasoning, with signatures and encrypted parts.
    details: Vec<Value>,
}

#[derive(Deserialize)]
pub struct Chunk {
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
    reasoning_details: Option<Value>,
    refusal: Option<Value>,
    tool_calls: Option<Value>,
    function_call: Option<Value>,
}

impl Dialect for Chunks {
    const FORMAT: WireFormat = WireFormat::Completions;
    type Event = Chunk;

    fn read(&mut self, chunk: Chunk, raw: &[u8], whole: bool, to: &mut State) {
        let choice = chunk.choices.and_then(|choices| choices.into_iter().next());
        let found = [chunk.error, choice.as_ref().and_then(|c| c.error.clone())].into_iter().flatten().find(is_error);
        if found.is_some() || chunk.object.is_some_and(|kind| kind == "error") {
            return to.fail(errors::in_stream(found.as_ref(), raw));
        }
        let groq = chunk.x_groq.and_then(|mut groq| groq.get_mut("usage").map(Value::take));
        // Some servers count in every chunk, always from the start: the last count is the right one.
        if let Some(usage) = chunk.usage.or(groq).as_ref().and_then(usage) {
            to.usage = Some(usage);
        }
        let Some(choice) = choice else {
            if whole && !to.ended {
                let words = errors::words(raw).unwrap_or_else(|| format!("The server's answer holds no choice: {}", excerpt(raw)));
                to.fail(error(Kind::Malformed, words));
            }
            return;
        };
        match (choice.delta, choice.message) {
            (Some(delta), _) => self.delta(delta, to),
            // Some servers repeat the whole message at the end of a stream.
            (None, Some(message)) if !to.begun => self.delta(message, to),
            _ => {}
        }
        match choice.finish_reason.as_ref().and_then(Value::as_str) {
            Some("error") => to.fail(error(Kind::Busy, "The server stopped in the middle of the answer with an error.")),
            Some(reason) if !reason.is_empty() => to.stop = Some(stop_reason(reason)),
            _ if whole => to.stop = to.stop.or(Some(StopReason::Finished)),
            _ => {}
        }
    }

    fn finish(&mut self, to: &mut State) {
        if self.refused && to.stop != Some(StopReason::Length) {
            to.stop = Some(StopReason::Refused);
        }
        if !self.details.is_empty() {
            to.keep(json!({ "reasoning_details": std::mem::take(&mut self.details) }));
        } else if self.reasoned && !to.calls.is_empty() {
            to.keep(json!({ "reasoning_content": true }));
        }
        self.reasoned = false;
        for (call, extra) in to.calls.extras() {
            to.keep(json!({ "call": call, "extra_content": extra }));
        }
    }
}

impl Chunks {
    fn delta(&mut self, delta: Delta, to: &mut State) {
        let reasoning = delta.reasoning_content.as_ref().map(text).filter(|t| !t.is_empty());
        self.reasoned |= reasoning.is_some();
        if let Some(Value::Array(details)) = delta.reasoning_details {
            for detail in details {
                to.grow(detail.to_string().len());
                self.detail(detail);
            }
        }
        let reasoning = reasoning.or_else(|| delta.reasoning.as_ref().map(text)).unwrap_or_default();
        to.say(StreamItem::Reasoning(reasoning));
        match delta.content {
            Some(Value::Array(parts)) => parts.iter().for_each(|part| match part.get("type").and_then(Value::as_str) {
                Some("thinking" | "reasoning") => to.say(StreamItem::Reasoning(text(part))),
                _ => to.say(StreamItem::Text(text(part))),
            }),
            Some(content) => to.say(StreamItem::Text(text(&content))),
            None => {}
        }
        let refusal = delta.refusal.as_ref().map(text).unwrap_or_default();
        self.refused |= !refusal.is_empty();
        to.say(StreamItem::Text(refusal));
        let calls = match delta.tool_calls {
            Some(Value::Array(calls)) => calls,
            Some(Value::Object(call)) => vec![Value::Object(call)],
            _ => delta.function_call.filter(Value::is_object).map(|f| json!({ "function": f })).into_iter().collect(),
        };
        to.add_calls(&calls);
    }
}

impl Chunks {
    /// Pieces of one part become one part again; the rest is left as it came.
    fn detail(&mut self, mut detail: Value) {
        let same = |before: &&mut Value| before["type"] == detail["type"] && before.get("index") == detail.get("index");
        let pieces = ["text", "summary", "data"].iter().find(|key| detail[**key].is_string());
        let (Some(before), Some(key), Value::Object(fields)) = (self.details.last_mut().filter(same), pieces, &mut detail) else {
            return self.details.push(detail);
        };
        let more = fields.remove(*key).unwrap_or_default();
        if let (Value::String(text), Some(more)) = (&mut before[*key], more.as_str()) {
            text.push_str(more);
        }
        for (name, value) in std::mem::take(fields).into_iter().filter(|(_, value)| !value.is_null()) {
            before[name.as_str()] = value;
        }
    }
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
        written: number(&["/prompt_tokens_details/cache_write_tokens"]),
    })
}

#[cfg(test)]
mod tests;
