//! The events of OpenAI's Responses. What is of no kind that we know is passed over.

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
    items: BTreeMap<u64, Item>,
    refused: bool,
}

/// An item of the output, as far as it has come.
#[derive(Debug, Default)]
struct Item {
    call: Option<usize>,
    /// Some of what it says has come piece by piece, and is not taken again from its end.
    said: bool,
    done: bool,
}

impl Dialect for Events {
    const FORMAT: WireFormat = WireFormat::Responses;
    type Event = Value;

    fn read(&mut self, mut event: Value, raw: &[u8], whole: bool, to: &mut State) {
        let kind = event["type"].as_str().unwrap_or_default().to_owned();
        let index = event["output_index"].as_u64().unwrap_or_default();
        let piece = event["delta"].as_str().unwrap_or_default();
        match kind.as_str() {
            "response.output_text.delta" => {
                self.items.entry(index).or_default().said = true;
                to.text(piece);
            }
            "response.refusal.delta" => {
                self.items.entry(index).or_default().said = true;
                self.refused = true;
                to.text(piece);
            }
            "response.reasoning_summary_part.added" if self.items.get(&index).is_some_and(|item| item.said) => to.reasoning("\n\n"),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.items.entry(index).or_default().said = true;
                to.reasoning(piece);
            }
            "response.output_item.added" => {
                to.begun = true;
                self.begin(index, &event["item"], to);
            }
            "response.function_call_arguments.delta" => {
                if let Some(item) = self.items.get_mut(&index)
                    && let Some(call) = item.call
                {
                    item.said |= !piece.is_empty();
                    to.call_arguments(call, piece);
                }
            }
            "response.output_item.done" => self.end(index, event["item"].take(), to),
            "response.completed" | "response.incomplete" | "response.failed" | "response.done" => {
                self.over(event["response"].take(), raw, to)
            }
            "response.cancelled" => to.fail(error(Kind::Cut, "The answer was cut off: the server cancelled it.")),
            _ if event.get("error").is_some_and(is_error) => to.fail(errors::in_stream(event.get("error"), raw)),
            "error" => to.fail(errors::in_stream(Some(&event), raw)),
            _ if event["object"] == "response" => self.over(event, raw, to),
            _ if whole && !to.ended => {
                let words = errors::words(raw).unwrap_or_else(|| format!("The server's answer holds no response: {}", excerpt(raw)));
                to.fail(error(Kind::Malformed, words));
            }
            _ => {}
        }
    }
}

impl Events {
    fn begin(&mut self, index: u64, item: &Value, to: &mut State) {
        to.grow(16);
        let known = self.items.entry(index).or_default();
        if item["type"] == "function_call" && known.call.is_none() {
            let id = item["call_id"].as_str().or_else(|| item["id"].as_str());
            known.call = Some(to.begin_call(id, item["name"].as_str().unwrap_or_default()));
        }
    }

    /// The item as a whole: what of it has not come in pieces comes now.
    fn end(&mut self, index: u64, mut item: Value, to: &mut State) {
        to.begun = true;
        self.begin(index, &item, to);
        let known = self.items.entry(index).or_default();
        if std::mem::replace(&mut known.done, true) {
            return;
        }
        let in_pieces = known.said;
        match item["type"].as_str() {
            Some("function_call") => {
                if let Some(call) = known.call.filter(|_| !in_pieces) {
                    match &item["arguments"] {
                        Value::String(arguments) => to.call_arguments(call, arguments),
                        Value::Object(_) => to.call_arguments(call, &item["arguments"].to_string()),
                        _ => {}
                    }
                }
            }
            Some("message") => {
                for part in item["content"].as_array().into_iter().flatten() {
                    let refusal = part["type"] == "refusal";
                    self.refused |= refusal;
                    if !in_pieces {
                        to.text(part[if refusal { "refusal" } else { "text" }].as_str().unwrap_or_default());
                    }
                }
                if let Some(phase) = item["phase"].as_str() {
                    to.keep(json!({ "phase": phase }));
                }
            }
            Some("reasoning") => {
                if !in_pieces {
                    let texts = |key: &str| {
                        let parts = item[key].as_array().into_iter().flatten();
                        parts.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n\n")
                    };
                    let summary = texts("summary");
                    to.reasoning(if summary.is_empty() { texts("content") } else { summary }.as_str());
                }
                // Without its content the server knows nothing of it any more.
                let whole = item["encrypted_content"].is_string() || item["content"].as_array().is_some_and(|list| !list.is_empty());
                if let (true, Value::Object(fields)) = (whole, &mut item) {
                    fields.retain(|key, value| key != "status" && !value.is_null());
                    to.keep(item);
                }
            }
            _ => {}
        }
    }

    fn over(&mut self, mut response: Value, raw: &[u8], to: &mut State) {
        if let Value::Array(output) = response["output"].take() {
            for (index, item) in (0..).zip(output) {
                self.end(index, item, to);
            }
        }
        if response["usage"].is_object() {
            to.usage = Some(usage(&response["usage"]));
        }
        if let Some(found) = response.get("error").filter(|found| is_error(found)) {
            return to.fail(errors::in_stream(Some(found), raw));
        }
        let refused = if self.refused { StopReason::Refused } else { StopReason::Finished };
        to.stop = Some(match response["status"].as_str() {
            Some("failed") => return to.fail(error(Kind::Busy, "The server could not finish the answer and does not say why.")),
            Some("incomplete") if response.pointer("/incomplete_details/reason").is_some_and(|why| why == "content_filter") => {
                StopReason::Refused
            }
            Some("incomplete") => StopReason::Length,
            _ => refused,
        });
        to.done();
    }
}

fn usage(counts: &Value) -> Usage {
    Usage {
        input: count(counts, "/input_tokens"),
        output: count(counts, "/output_tokens"),
        cached: count(counts, "/input_tokens_details/cached_tokens"),
        reasoning: count(counts, "/output_tokens_details/reasoning_tokens"),
        written: 0,
    }
}
