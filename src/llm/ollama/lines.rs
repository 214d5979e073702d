//! The lines of Ollama's answers: one JSON object each.

use crate::{
    llm::{
        answer::{Dialect, State, count, is_error},
        errors,
    },
    protocol::{StopReason, Usage, WireFormat},
};
use serde_json::{Value, json};

#[derive(Debug, Default)]
pub struct Lines {
    thought: bool,
}

impl Dialect for Lines {
    const FORMAT: WireFormat = WireFormat::Ollama;
    const LINES: bool = true;
    type Event = Value;

    fn read(&mut self, line: Value, raw: &[u8], _: bool, to: &mut State) {
        if let Some(found) = line.get("error").filter(|found| is_error(found)) {
            return to.fail(errors::in_stream(Some(found), raw));
        }
        let message = &line["message"];
        let thought = message["thinking"].as_str().unwrap_or_default();
        self.thought |= !thought.is_empty();
        to.reasoning(thought);
        to.text(message["content"].as_str().unwrap_or_default());
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            // Whole calls, each in one piece.
            let function = &call["function"];
            let number = to.begin_call(call["id"].as_str(), function["name"].as_str().unwrap_or_default());
            match &function["arguments"] {
                Value::String(arguments) => to.call_arguments(number, arguments),
                Value::Object(_) => to.call_arguments(number, &function["arguments"].to_string()),
                _ => {}
            }
        }
        if line["done"] == true {
            let usage = Usage { input: count(&line, "/prompt_eval_count"), output: count(&line, "/eval_count"), ..Usage::default() };
            to.usage = Some(usage).filter(|usage| *usage != Usage::default());
            let length = line["done_reason"] == "length";
            to.stop = Some(if length { StopReason::Length } else { StopReason::Finished });
            self.finish(to);
            to.done();
        }
    }

    fn finish(&mut self, to: &mut State) {
        if std::mem::take(&mut self.thought) {
            to.keep(json!({ "thought": true }));
        }
    }
}
