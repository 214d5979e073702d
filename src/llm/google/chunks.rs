//! The chunks of Gemini's answers. What is of no kind that we know is passed over.

use crate::{
    llm::{
        answer::{Dialect, State, count, excerpt, is_error},
        errors,
        provider::error,
    },
    protocol::{ProviderErrorKind as Kind, StopReason, Usage, WireFormat},
};
use serde_json::{Map, Value, json};

#[derive(Debug, Default)]
pub struct Chunks;

impl Dialect for Chunks {
    const FORMAT: WireFormat = WireFormat::Google;
    type Event = Value;

    fn read(&mut self, chunk: Value, raw: &[u8], whole: bool, to: &mut State) {
        if let Some(found) = chunk.get("error").filter(|found| is_error(found)) {
            return to.fail(errors::in_stream(Some(found), raw));
        }
        if let Some(counts) = chunk.get("usageMetadata").filter(|counts| counts.is_object()) {
            to.usage = Some(usage(counts));
        }
        if let Some(reason) = chunk.pointer("/promptFeedback/blockReason").and_then(Value::as_str) {
            let words = chunk.pointer("/promptFeedback/blockReasonMessage").and_then(Value::as_str).unwrap_or_default();
            let words = errors::bounded(&format!("The server refuses to answer this: {reason}. {words}"), 300);
            return to.fail(error(Kind::Refused, words.trim_end()));
        }
        let Some(candidate) = chunk.get("candidates").and_then(|list| list.get(0)) else {
            if whole && !to.ended && chunk.get("usageMetadata").is_none() {
                let words = errors::words(raw).unwrap_or_else(|| format!("The server's answer holds no candidate: {}", excerpt(raw)));
                to.fail(error(Kind::Malformed, words));
            }
            return;
        };
        for part in candidate.pointer("/content/parts").and_then(Value::as_array).into_iter().flatten() {
            read_part(part, to);
        }
        if let Some(reason) = candidate["finishReason"].as_str().filter(|reason| !reason.is_empty()) {
            finished(reason, candidate, to);
        }
    }
}

fn read_part(part: &Value, to: &mut State) {
    let signature = part.get("thoughtSignature").filter(|signature| signature.as_str().is_some_and(|s| !s.is_empty()));
    if let Some(call) = part.get("functionCall").filter(|call| call.is_object()) {
        let id = call["id"].as_str().filter(|id| !id.is_empty());
        let number = to.begin_call(id, call["name"].as_str().unwrap_or_default());
        if call["args"].is_object() {
            to.call_arguments(number, &call["args"].to_string());
        }
        let own = [("id", id.map(Value::from)), ("thoughtSignature", signature.cloned())];
        let own: Map<String, Value> = own.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
        if !own.is_empty() {
            let mut kept = json!({ "call": number });
            own.into_iter().for_each(|(key, value)| kept[key] = value);
            to.keep(kept);
        }
        return;
    }
    let text = part["text"].as_str().unwrap_or_default();
    match part["thought"].as_bool() {
        Some(true) => {
            to.reasoning(text);
            // A summary without a signature is of no use to the model.
            if signature.is_some() {
                to.keep(json!({ "part": part }));
            }
        }
        _ => {
            to.text(text);
            if let Some(signature) = signature {
                to.keep(json!({ "thoughtSignature": signature }));
            }
        }
    }
}

fn finished(reason: &str, candidate: &Value, to: &mut State) {
    match reason {
        "STOP" => to.stop = Some(StopReason::Finished),
        "MAX_TOKENS" => to.stop = Some(StopReason::Length),
        "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "MODEL_ARMOR" => {
            to.stop = Some(StopReason::Refused);
        }
        _ if reason.starts_with("IMAGE_") => to.stop = Some(StopReason::Refused),
        // The model tried and failed; the same request may well succeed.
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "MALFORMED_RESPONSE" | "MISSING_THOUGHT_SIGNATURE" | "TOO_MANY_TOOL_CALLS" => {
            let words = candidate["finishMessage"].as_str().unwrap_or_default();
            let words = errors::bounded(&format!("The model's call could not be read ({reason}). {words}"), 300);
            to.fail(error(Kind::Busy, words.trim_end()));
        }
        _ => to.stop = to.stop.or(Some(StopReason::Finished)),
    }
}

fn usage(counts: &Value) -> Usage {
    let thoughts = count(counts, "/thoughtsTokenCount");
    Usage {
        input: count(counts, "/promptTokenCount") + count(counts, "/toolUsePromptTokenCount"),
        output: count(counts, "/candidatesTokenCount") + thoughts,
        cached: count(counts, "/cachedContentTokenCount"),
        reasoning: thoughts,
        written: 0,
    }
}
