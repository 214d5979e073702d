//! What is sent: a request of ours in the words of Gemini.

use super::schema;
use crate::{
    llm::history::{self, Answered, Part, Said, Step, steps},
    protocol::{Image, Kept, Parameters, Prompt, ProviderSettings, Request, WireFormat},
};
use serde_json::{Value, json};

pub fn body(settings: &ProviderSettings, request: &Request) -> Value {
    let set = &settings.parameters;
    let mut body = json!({ "contents": contents(request) });
    if !request.system.trim().is_empty() {
        body["systemInstruction"] = json!({ "parts": [{ "text": &*request.system }] });
    }
    if !settings.disable_tools && !request.tools.is_empty() {
        body["tools"] = json!([{ "functionDeclarations": functions(request) }]);
    }
    let mut config = json!({});
    history::set(
        &mut config,
        [
            ("temperature", set.temperature.map(Value::from)),
            ("topP", set.top_p.map(Value::from)),
            ("topK", set.top_k.map(Value::from)),
            ("maxOutputTokens", set.max_tokens.map(Value::from)),
            ("stopSequences", (!set.stop.is_empty()).then(|| set.stop.clone().into())),
            ("frequencyPenalty", set.frequency_penalty.map(Value::from)),
            ("presencePenalty", set.presence_penalty.map(Value::from)),
            ("thinkingConfig", thinking(set, &request.model.model)),
        ],
    );
    if config != json!({}) {
        body["generationConfig"] = config;
    }
    body
}

fn functions(request: &Request) -> Vec<Value> {
    let function = |tool: &crate::protocol::ToolSpec| {
        let mut function = json!({ "name": tool.name, "description": tool.description });
        history::set(&mut function, [("parameters", schema::parameters(&tool.schema))]);
        function
    };
    request.tools.iter().map(function).collect()
}

fn contents(request: &Request) -> Vec<Value> {
    let signs = history::version(&request.model.model, "gemini").is_some_and(|version| version >= (3, 0));
    let mut out: Vec<(&str, Vec<Value>)> = vec![];
    // Ids of ours are not sent; those of the server's are in what was kept.
    let steps = steps(request, WireFormat::Google, &|_| true);
    let mut ids: Vec<Option<Value>> = vec![];
    for step in &steps {
        let (role, parts) = match step {
            Step::User(prompts) => ("user", prompts.iter().flat_map(|prompt| said_by_user(prompt)).collect::<Vec<_>>()),
            Step::Assistant(said) => {
                ids = (0..said.calls.len()).map(|call| own(said, call).and_then(|kept| kept.value.get("id").cloned())).collect();
                ("model", said_by_model(said, signs))
            }
            Step::Results(results) => ("user", answers(results, &ids)),
        };
        match out.last_mut() {
            Some((before, list)) if *before == role => list.extend(parts),
            _ if parts.is_empty() => {}
            _ => out.push((role, parts)),
        }
    }
    out.into_iter().map(|(role, parts)| json!({ "role": role, "parts": parts })).collect()
}

fn said_by_user(prompt: &Prompt) -> Vec<Value> {
    let text = (!prompt.text.trim().is_empty()).then(|| json!({ "text": prompt.text }));
    text.into_iter().chain(prompt.images.iter().map(picture)).collect()
}

fn picture(image: &Image) -> Value {
    json!({ "inlineData": { "mimeType": image.media_type, "data": &*image.data } })
}

/// What was kept of this call.
fn own<'a>(said: &Said<'a>, call: usize) -> Option<&'a Kept> {
    said.kept.iter().copied().find(|kept| kept.value["call"] == call)
}

fn said_by_model(said: &Said, signs: bool) -> Vec<Value> {
    let mut out: Vec<Value> = vec![];
    for part in said.parts() {
        match part {
            Part::Text(text) if text.trim().is_empty() => {}
            Part::Text(text) => out.push(json!({ "text": text })),
            Part::Call(number, call) => {
                let mut part = json!({ "functionCall": { "name": call.name, "args": call.arguments() } });
                let kept = |key: &str| own(said, number).and_then(|kept| kept.value.get(key).cloned());
                history::set(&mut part["functionCall"], [("id", kept("id"))]);
                let signature = kept("thoughtSignature").or_else(|| (signs && number == 0).then(|| history::UNSIGNED.into()));
                history::set(&mut part, [("thoughtSignature", signature)]);
                out.push(part);
            }
            // A part that means nothing without its signature.
            Part::Kept(kept) if kept.value.get("part").is_some() => out.push(kept.value["part"].clone()),
            // The signature of the text before it.
            Part::Kept(kept) if kept.value.get("call").is_none() => match out.last_mut().filter(|part| part.get("text").is_some()) {
                Some(text) if text.get("thoughtSignature").is_none() => {
                    history::set(text, [("thoughtSignature", kept.value.get("thoughtSignature").cloned())]);
                }
                _ => out.push(json!({ "text": "", "thoughtSignature": kept.value["thoughtSignature"] })),
            },
            Part::Kept(_) => {}
        }
    }
    out
}

fn answers(results: &[Answered], ids: &[Option<Value>]) -> Vec<Value> {
    let answer = |(number, result): (usize, &Answered)| {
        let key = if result.failed { "error" } else { "output" };
        let mut response = json!({ "name": result.name, "response": { key: result.content } });
        history::set(&mut response, [("id", ids.get(number).cloned().flatten())]);
        json!({ "functionResponse": response })
    };
    let pictures = results.iter().flat_map(|result| result.images).map(picture);
    results.iter().enumerate().map(answer).chain(pictures).collect()
}

fn thinking(set: &Parameters, model: &str) -> Option<Value> {
    let effort = set.reasoning_effort.as_deref();
    let budget = match (set.reasoning_budget, effort) {
        (Some(budget), _) => budget,
        (None, Some(effort)) if history::version(model, "gemini").is_some_and(|version| version >= (3, 0)) => {
            let level = match effort {
                "none" | "minimal" => "minimal",
                "low" => "low",
                "medium" => "medium",
                _ => "high",
            };
            return Some(json!({ "thinkingLevel": level, "includeThoughts": level != "minimal" }));
        }
        (None, Some("none")) => 0,
        (None, Some("minimal")) => 512,
        (None, Some("low")) => 2_048,
        (None, Some("medium")) => 8_192,
        (None, Some(_)) => 24_576,
        (None, None) => return None,
    };
    Some(json!({ "thinkingBudget": budget, "includeThoughts": budget > 0 }))
}
