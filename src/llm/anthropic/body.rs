//! What is sent: a request of ours in the words of Anthropic's Messages.

use crate::{
    llm::history::{self, Answered, Part, Said, Step, plain_id, steps},
    protocol::{Image, Parameters, Prompt, ProviderSettings, Request, WireFormat},
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Of an answer, where nothing is set. The format wants a number.
const MAX_TOKENS: u64 = 32_000;
const LEAST_BUDGET: u64 = 1_024;

#[derive(Debug, Clone, Copy)]
pub struct Allowed {
    pub eager_input: bool,
    pub caching: bool,
    pub longest: Option<u64>,
}

pub fn body(settings: &ProviderSettings, request: &Request, allowed: Allowed) -> Value {
    let set = &settings.parameters;
    let steps = steps(request, WireFormat::Anthropic, &|id| plain_id(id, 64));
    let (thinking, effort, max_tokens) = thinking(set, &request.model.model, interrupted(&steps), allowed);
    let thinks = thinking.is_some();
    let mut body = json!({ "model": request.model.model, "max_tokens": max_tokens, "stream": true });
    if !request.system.trim().is_empty() {
        let mut system = json!({ "type": "text", "text": &*request.system });
        mark(&mut system, allowed);
        body["system"] = json!([system]);
    }
    if !settings.disable_tools && !request.tools.is_empty() {
        body["tools"] = tools(request, allowed).into();
    } else if let called @ [_, ..] = &called(&steps)[..] {
        // A history with calls is refused without the tools that they are of.
        let stub = |name: &String| json!({ "name": name, "input_schema": { "type": "object" } });
        body["tools"] = called.iter().map(stub).collect();
        body["tool_choice"] = json!({ "type": "none" });
    }
    body["messages"] = messages(&steps, allowed).into();
    history::set(
        &mut body,
        [
            ("thinking", thinking),
            ("output_config", effort.map(|effort| json!({ "effort": effort }))),
            // What thinks takes neither.
            ("temperature", set.temperature.filter(|_| !thinks).map(Value::from)),
            ("top_k", set.top_k.filter(|_| !thinks).map(Value::from)),
            ("top_p", set.top_p.filter(|p| !thinks || *p >= 0.95).map(Value::from)),
            ("stop_sequences", (!set.stop.is_empty()).then(|| set.stop.clone().into())),
        ],
    );
    body
}

fn tools(request: &Request, allowed: Allowed) -> Vec<Value> {
    let mut tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| {
            let mut tool = json!({ "name": tool.name, "description": tool.description, "input_schema": tool.schema });
            if allowed.eager_input {
                tool["eager_input_streaming"] = true.into();
            }
            tool
        })
        .collect();
    tools.iter_mut().next_back().into_iter().for_each(|last| mark(last, allowed));
    tools
}

/// The names of the tools that were called, each once.
fn called(steps: &[Step]) -> Vec<String> {
    let calls = steps.iter().flat_map(|step| if let Step::Assistant(said) = step { said.calls.as_slice() } else { &[] });
    calls.map(|call| call.name.to_string()).collect::<BTreeSet<_>>().into_iter().collect()
}

fn mark(block: &mut Value, allowed: Allowed) {
    if allowed.caching {
        block["cache_control"] = json!({ "type": "ephemeral" });
    }
}

fn messages(steps: &[Step], allowed: Allowed) -> Vec<Value> {
    let mut out: Vec<(&str, Vec<Value>)> = vec![];
    for step in steps {
        let (role, content) = match step {
            Step::User(prompts) => ("user", prompts.iter().flat_map(|prompt| said_by_user(prompt)).collect::<Vec<_>>()),
            Step::Assistant(said) => ("assistant", said_by_model(said)),
            // All of them in one message, in front of what the user says.
            Step::Results(results) => ("user", results.iter().map(answer).collect()),
        };
        match out.last_mut() {
            Some((before, list)) if *before == role => list.extend(content),
            _ if content.is_empty() => {}
            _ => out.push((role, content)),
        }
    }
    // The newest is what the next request reads; the one before is what this one reads.
    let newest = out.iter_mut().rev().filter(|(role, _)| *role == "user").take(2);
    newest.filter_map(|(_, content)| content.last_mut()).for_each(|block| mark(block, allowed));
    out.into_iter().map(|(role, content)| json!({ "role": role, "content": content })).collect()
}

fn said_by_user(prompt: &Prompt) -> Vec<Value> {
    text(&prompt.text).into_iter().chain(prompt.images.iter().map(picture)).collect()
}

fn said_by_model(said: &Said) -> Vec<Value> {
    let block = |part: Part| match part {
        Part::Text(words) => text(words),
        Part::Call(_, call) => Some(json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments() })),
        Part::Kept(kept) => Some(kept.value.clone()),
    };
    said.parts().into_iter().filter_map(block).collect()
}

fn answer(result: &Answered) -> Value {
    // An error without words is refused.
    let words = text(result.content).unwrap_or_else(|| json!({ "type": "text", "text": "(nothing)" }));
    // So is an error that shows something.
    let images = if result.failed { &[] } else { result.images };
    let content: Vec<Value> = std::iter::once(words).chain(images.iter().map(picture)).collect();
    let mut answer = json!({ "type": "tool_result", "tool_use_id": result.id, "content": content });
    if result.failed {
        answer["is_error"] = true.into();
    }
    answer
}

/// Blank text is refused.
fn text(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({ "type": "text", "text": text }))
}

fn picture(image: &Image) -> Value {
    json!({ "type": "image", "source": { "type": "base64", "media_type": image.media_type, "data": &*image.data } })
}

/// Do the newest calls come from another model, or from one that did not think? Then an answer to them can't be thought about.
fn interrupted(steps: &[Step]) -> bool {
    let said = steps.iter().rev().find_map(|step| if let Step::Assistant(said) = step { Some(said) } else { None });
    said.is_some_and(|said| !said.calls.is_empty() && !matches!(said.parts().first(), Some(Part::Kept(_))))
}

/// How it thinks, with what effort, and how long an answer may be.
fn thinking(set: &Parameters, model: &str, interrupted: bool, allowed: Allowed) -> (Option<Value>, Option<&'static str>, u64) {
    let version = history::version(model, "claude");
    let default = match version {
        Some(old) if old < (3, 5) => 4_096,
        Some((3, 5)) => 8_192,
        _ => MAX_TOKENS,
    };
    let most = allowed.longest.unwrap_or(u64::MAX);
    let max_tokens = set.max_tokens.unwrap_or(default).min(most);
    let effort = set.reasoning_effort.as_deref().filter(|effort| *effort != "none");
    let adapts = version >= Some((4, 7)) || version == Some((4, 6)) && set.reasoning_budget.is_none();
    // From the fifth on they think without being told to.
    let by_itself = version >= Some((5, 0));
    if set.reasoning_budget == Some(0) || set.reasoning_effort.as_deref() == Some("none") && set.reasoning_budget.is_none() {
        return (by_itself.then(|| json!({ "type": "disabled" })), None, max_tokens);
    }
    if effort.is_none() && set.reasoning_budget.is_none() && !by_itself {
        return (None, None, max_tokens);
    }
    if adapts {
        let effort = effort.map(|effort| match effort {
            "minimal" | "low" => "low",
            "medium" => "medium",
            "max" => "max",
            "xhigh" if version >= Some((4, 7)) => "xhigh",
            _ => "high",
        });
        let mut adaptive = json!({ "type": "adaptive" });
        if version >= Some((4, 7)) {
            // From then on thoughts are left out where nobody asks for them.
            adaptive["display"] = "summarized".into();
        }
        return (Some(adaptive), effort, max_tokens);
    }
    let wanted = set.reasoning_budget.unwrap_or(match effort {
        Some("minimal" | "low") => 2_048,
        Some("medium") => 8_192,
        Some("xhigh" | "max") => 32_000,
        _ => 16_384,
    });
    let wanted = wanted.max(LEAST_BUDGET);
    // Thoughts count as part of the answer.
    let max_tokens = if set.max_tokens.is_none() { max_tokens.max(wanted.saturating_add(8_192)).min(most) } else { max_tokens };
    if interrupted || max_tokens <= LEAST_BUDGET {
        return (None, None, max_tokens);
    }
    let budget = wanted.min(max_tokens - 1);
    (Some(json!({ "type": "enabled", "budget_tokens": budget })), None, max_tokens)
}
