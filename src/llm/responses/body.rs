//! What is sent: a request of ours in the words of OpenAI's Responses.

use crate::{
    llm::history::{self, Answered, Part, Said, Step, plain_id, steps},
    protocol::{Image, Parameters, Prompt, ProviderSettings, Request, WireFormat},
};
use serde_json::{Value, json};

pub fn body(settings: &ProviderSettings, request: &Request, encrypted: bool, summary: bool) -> Value {
    let set = &settings.parameters;
    let mut body = json!({ "model": request.model.model, "input": input(request), "stream": true, "store": false });
    let system = (!request.system.trim().is_empty()).then(|| Value::from(&*request.system));
    let tools = (!settings.disable_tools && !request.tools.is_empty()).then(|| tools(request).into());
    history::set(
        &mut body,
        [
            ("instructions", system),
            ("tools", tools),
            ("include", encrypted.then(|| json!(["reasoning.encrypted_content"]))),
            ("reasoning", reasoning(set, &request.model.model, summary)),
            ("temperature", set.temperature.map(Value::from)),
            ("top_p", set.top_p.map(Value::from)),
            ("max_output_tokens", set.max_tokens.map(Value::from)),
        ],
    );
    body
}

fn tools(request: &Request) -> Vec<Value> {
    let tool = |tool: &crate::protocol::ToolSpec| json!({ "type": "function", "name": tool.name, "description": tool.description, "parameters": tool.schema, "strict": false });
    request.tools.iter().map(tool).collect()
}

fn reasoning(set: &Parameters, model: &str, summary: bool) -> Option<Value> {
    let mut reasoning = json!({});
    let own = set.reasoning_summary.clone().or_else(|| (set.reasoning_effort.is_some() || reasons(model)).then(|| "auto".to_owned()));
    history::set(
        &mut reasoning,
        [("effort", set.reasoning_effort.clone().map(Value::from)), ("summary", own.filter(|_| summary).map(Value::from))],
    );
    (reasoning != json!({})).then_some(reasoning)
}

/// Others refuse to be asked for a summary.
fn reasons(model: &str) -> bool {
    let model = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let of_the_o_series = model.strip_prefix('o').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let gpt = model.starts_with("gpt-") && history::version(&model, "gpt-").is_some_and(|version| version >= (5, 0));
    of_the_o_series || model.contains("codex") || gpt && !model.contains("chat") && !model.contains("oss")
}

fn input(request: &Request) -> Vec<Value> {
    let mut out: Vec<Value> = vec![];
    for step in steps(request, WireFormat::Responses, &|id| plain_id(id, 64)) {
        match step {
            Step::User(prompts) => push_user(&mut out, prompts.iter().flat_map(|prompt| said_by_user(prompt)).collect()),
            Step::Assistant(said) => out.extend(said_by_model(&said)),
            Step::Results(results) => {
                let answer = |result: &Answered| json!({ "type": "function_call_output", "call_id": result.id, "output": result.content });
                out.extend(results.iter().map(answer));
                // Not every server takes pictures as the output of a call.
                let images: Vec<Image> = results.iter().flat_map(|result| result.images).cloned().collect();
                if let Some(prompt) = history::shown(images) {
                    push_user(&mut out, said_by_user(&prompt));
                }
            }
        }
    }
    out
}

fn push_user(out: &mut Vec<Value>, content: Vec<Value>) {
    match out.last_mut().filter(|last| last["role"] == "user").and_then(|last| last["content"].as_array_mut()) {
        Some(list) => list.extend(content),
        None => out.push(json!({ "type": "message", "role": "user", "content": content })),
    }
}

fn said_by_user(prompt: &Prompt) -> Vec<Value> {
    let text = (!prompt.text.trim().is_empty()).then(|| json!({ "type": "input_text", "text": prompt.text }));
    let picture = |image: &Image| json!({ "type": "input_image", "image_url": format!("data:{};base64,{}", image.media_type, image.data) });
    text.into_iter().chain(prompt.images.iter().map(picture)).collect()
}

fn said_by_model(said: &Said) -> Vec<Value> {
    let mut out: Vec<Value> = vec![];
    for part in said.parts() {
        match part {
            Part::Text(text) if text.trim().is_empty() => {}
            Part::Text(text) => {
                out.push(json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": text }] }));
            }
            Part::Call(_, call) => {
                let arguments = &call.request.arguments;
                out.push(json!({ "type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments }));
            }
            Part::Kept(kept) if kept.value["type"] == "reasoning" => out.push(kept.value.clone()),
            // What kind of message the one before it is.
            Part::Kept(kept) => {
                if let (Some(last), Some(phase)) = (out.last_mut().filter(|last| last["type"] == "message"), kept.value.get("phase")) {
                    last["phase"] = phase.clone();
                }
            }
        }
    }
    // Reasoning is refused without what it led to.
    while out.last().is_some_and(|last| last["type"] == "reasoning") {
        out.pop();
    }
    out
}
