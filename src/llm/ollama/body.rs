//! What is sent: a request of ours in Ollama's own words.

use crate::{
    llm::{
        history::{self, Called, Said, Step, steps},
        openai::functions,
    },
    protocol::{Image, Parameters, Prompt, ProviderSettings, Request, WireFormat},
};
use serde_json::{Value, json};

pub fn body(settings: &ProviderSettings, request: &Request, thinks: bool) -> Value {
    let set = &settings.parameters;
    let model = &request.model.model;
    let mut options = json!({ "num_ctx": settings.window(model).or(WireFormat::Ollama.default_window()) });
    history::set(
        &mut options,
        [
            ("temperature", set.temperature.map(Value::from)),
            ("top_p", set.top_p.map(Value::from)),
            ("top_k", set.top_k.map(Value::from)),
            ("num_predict", set.max_tokens.map(Value::from)),
            ("stop", (!set.stop.is_empty()).then(|| set.stop.clone().into())),
            ("frequency_penalty", set.frequency_penalty.map(Value::from)),
            ("presence_penalty", set.presence_penalty.map(Value::from)),
        ],
    );
    let mut body = json!({ "model": model, "messages": messages(request), "stream": true, "options": options });
    let tools = (!settings.disable_tools && !request.tools.is_empty()).then(|| functions(request).into());
    history::set(&mut body, [("tools", tools), ("think", think(set, model).filter(|_| thinks))]);
    body
}

fn think(set: &Parameters, model: &str) -> Option<Value> {
    let effort = set.reasoning_effort.as_deref();
    match (set.reasoning_budget, effort) {
        (None, None) => None,
        (Some(0), _) | (None, Some("none")) => Some(false.into()),
        // It knows no yes and no, only how much.
        (_, Some(effort)) if model.contains("gpt-oss") => Some(
            match effort {
                "minimal" | "low" => "low",
                "medium" => "medium",
                _ => "high",
            }
            .into(),
        ),
        _ => Some(true.into()),
    }
}

fn messages(request: &Request) -> Vec<Value> {
    let mut out: Vec<Value> = vec![];
    if !request.system.is_empty() {
        out.push(json!({ "role": "system", "content": &*request.system }));
    }
    for step in steps(request, WireFormat::Ollama, &|_| true) {
        match step {
            Step::User(prompts) => push_user(&mut out, &prompts),
            Step::Assistant(said) => out.push(said_by_model(&said)),
            Step::Results(results) => {
                for result in &results {
                    out.push(json!({ "role": "tool", "content": result.content, "tool_name": result.name, "tool_call_id": result.id }));
                }
                let images: Vec<Image> = results.iter().flat_map(|result| result.images).cloned().collect();
                if let Some(prompt) = history::shown(images) {
                    push_user(&mut out, &[&prompt]);
                }
            }
        }
    }
    out
}

/// Templates often insist on alternating roles.
fn push_user(out: &mut Vec<Value>, prompts: &[&Prompt]) {
    let text = history::joined(prompts);
    let images = prompts.iter().flat_map(|prompt| &prompt.images).map(|image| Value::from(&*image.data));
    match out.last_mut().filter(|last| last["role"] == "user") {
        Some(last) => {
            let before = last["content"].as_str().unwrap_or_default();
            last["content"] = [before, text.as_str()].into_iter().filter(|t| !t.is_empty()).collect::<Vec<_>>().join("\n\n").into();
            let all: Vec<Value> = last["images"].as_array().cloned().into_iter().flatten().chain(images).collect();
            history::set(last, [("images", (!all.is_empty()).then(|| all.into()))]);
        }
        None => {
            let images: Vec<Value> = images.collect();
            let mut message = json!({ "role": "user", "content": text });
            history::set(&mut message, [("images", (!images.is_empty()).then(|| images.into()))]);
            out.push(message);
        }
    }
}

fn said_by_model(said: &Said) -> Value {
    let mut message = json!({ "role": "assistant", "content": said.text });
    let call = |call: &Called| json!({ "id": call.id, "function": { "name": call.name, "arguments": call.arguments() } });
    let calls: Vec<Value> = said.calls.iter().map(call).collect();
    // Its own thoughts; whether they count is known to the model's template.
    let thoughts = (!said.kept.is_empty() && !said.reasoning.is_empty()).then(|| said.reasoning.into());
    history::set(&mut message, [("thinking", thoughts), ("tool_calls", (!calls.is_empty()).then(|| calls.into()))]);
    message
}
