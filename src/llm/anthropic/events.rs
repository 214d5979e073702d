//! The events of Anthropic's Messages. What is of no kind that we know is passed over.

use crate::{
    llm::{
        answer::{Dialect, State, count, excerpt, is_error},
        errors,
        provider::error,
    },
    protocol::{ProviderErrorKind as Kind, StopReason, Usage, WireFormat},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub struct Events {
    blocks: BTreeMap<u64, Block>,
    usage: Value,
}

#[derive(Debug)]
enum Block {
    Text,
    /// As it is to go back: `thinking` or `redacted_thinking`.
    Thought(Value),
    Call {
        number: usize,
        /// What stood in its first event already; counts if nothing else comes.
        input: Option<String>,
    },
    Other,
}

impl Dialect for Events {
    const FORMAT: WireFormat = WireFormat::Anthropic;
    type Event = Value;

    fn read(&mut self, mut event: Value, raw: &[u8], whole: bool, to: &mut State) {
        if event.get("error").is_some_and(is_error) {
            return to.fail(errors::in_stream(event.get("error"), raw));
        }
        let index = event["index"].as_u64().unwrap_or_default();
        match event["type"].as_str() {
            Some("message_start") => self.count(&event["message"]["usage"], to),
            Some("content_block_start") => {
                to.begun = true;
                self.end_block(index, to);
                self.begin_block(index, event["content_block"].take(), to);
            }
            Some("content_block_delta") => self.delta(index, &event["delta"], to),
            Some("content_block_stop") => self.end_block(index, to),
            Some("message_delta") => {
                self.count(&event["usage"], to);
                if let Some(reason) = event["delta"]["stop_reason"].as_str() {
                    to.stop = Some(stop_reason(reason));
                }
            }
            Some("message_stop") => {
                self.finish(to);
                to.done();
            }
            Some("message") => self.message(event, to),
            _ if whole && !to.ended => {
                let words = errors::words(raw).unwrap_or_else(|| format!("The server's answer holds no message: {}", excerpt(raw)));
                to.fail(error(Kind::Malformed, words));
            }
            _ => {}
        }
    }

    fn finish(&mut self, to: &mut State) {
        while let Some(index) = self.blocks.keys().next().copied() {
            self.end_block(index, to);
        }
    }
}

impl Events {
    /// The whole answer at once.
    fn message(&mut self, mut message: Value, to: &mut State) {
        let Value::Array(blocks) = message["content"].take() else {
            return to.fail(error(Kind::Malformed, "The server's answer has no content."));
        };
        to.begun = true;
        for (index, block) in (0..).zip(blocks) {
            self.begin_block(index, block, to);
            self.end_block(index, to);
        }
        self.count(&message["usage"], to);
        to.stop = Some(message["stop_reason"].as_str().map_or(StopReason::Finished, stop_reason));
    }

    fn begin_block(&mut self, index: u64, block: Value, to: &mut State) {
        let begun = match block["type"].as_str() {
            Some("text") => {
                to.text(block["text"].as_str().unwrap_or_default());
                Block::Text
            }
            Some("thinking") => {
                to.reasoning(block["thinking"].as_str().unwrap_or_default());
                Block::Thought(block)
            }
            Some("redacted_thinking") => Block::Thought(block),
            Some("tool_use") => {
                let number = to.begin_call(block["id"].as_str(), block["name"].as_str().unwrap_or_default());
                let input = match &block["input"] {
                    Value::Object(input) if !input.is_empty() => Some(block["input"].to_string()),
                    Value::String(input) => Some(input.clone()),
                    _ => None,
                };
                Block::Call { number, input }
            }
            _ => Block::Other,
        };
        to.grow(16);
        self.blocks.insert(index, begun);
    }

    fn delta(&mut self, index: u64, delta: &Value, to: &mut State) {
        let piece = |key: &str| delta[key].as_str().unwrap_or_default();
        // Some servers leave the beginning of a block out.
        let kind = delta["type"].as_str().unwrap_or_default();
        let block = self.blocks.entry(index).or_insert_with(|| match kind {
            "text_delta" => Block::Text,
            "thinking_delta" => Block::Thought(json!({ "type": "thinking", "thinking": "" })),
            _ => Block::Other,
        });
        match (kind, block) {
            ("text_delta", _) => to.text(piece("text")),
            ("thinking_delta", Block::Thought(thought)) => {
                to.reasoning(piece("thinking"));
                append(thought, "thinking", piece("thinking"));
            }
            ("signature_delta", Block::Thought(thought)) => {
                to.grow(piece("signature").len());
                append(thought, "signature", piece("signature"));
            }
            ("input_json_delta", Block::Call { number, input }) if !piece("partial_json").is_empty() => {
                *input = None;
                to.call_arguments(*number, piece("partial_json"));
            }
            _ => {}
        }
    }

    fn end_block(&mut self, index: u64, to: &mut State) {
        match self.blocks.remove(&index) {
            Some(Block::Thought(thought)) => to.keep(thought),
            Some(Block::Call { number, input: Some(input) }) => to.call_arguments(number, &input),
            _ => {}
        }
    }

    /// Each count is of the whole answer so far; one event has some of them, another the rest.
    fn count(&mut self, usage: &Value, to: &mut State) {
        let Value::Object(counts) = usage else { return };
        if !self.usage.is_object() {
            self.usage = json!({});
        }
        for (key, value) in counts.iter().filter(|(_, value)| value.is_number()) {
            self.usage[key] = value.clone();
        }
        let (read, written) = (count(&self.usage, "/cache_read_input_tokens"), count(&self.usage, "/cache_creation_input_tokens"));
        to.usage = Some(Usage {
            // Here the cached ones are counted apart.
            input: count(&self.usage, "/input_tokens") + read + written,
            output: count(&self.usage, "/output_tokens"),
            cached: read,
            reasoning: 0,
            written,
        });
    }
}

fn append(to: &mut Value, key: &str, piece: &str) {
    match &mut to[key] {
        Value::String(text) => text.push_str(piece),
        other => *other = piece.into(),
    }
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "refusal" => StopReason::Refused,
        "pause_turn" => StopReason::Paused,
        "tool_use" => StopReason::Calls,
        _ => StopReason::Finished,
    }
}
