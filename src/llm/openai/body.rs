//! What is sent: a request of ours in the words of OpenAI's chat completions.
//!
//! Only fields that every compatible server knows, and the parameters that the user has set. Names are canonical, never aliases;
//! what a server made up (call ids) goes back to it as it came.

use crate::{
    llm::history::{self, Answered, Step, plain_id, steps},
    protocol::{Image, Prompt, ProviderSettings, Request, WireFormat},
};
use serde_json::{Value, json};

pub fn body(settings: &ProviderSettings, request: &Request, usage: bool, completion_tokens: bool) -> Value {
    let mut body = json!({
        "model": request.model.model,
        "messages": messages(settings, request),
        "stream": true,
    });
    if usage {
        body["stream_options"] = json!({ "include_usage": true });
    }
    if !settings.disable_tools && !request.tools.is_empty() {
        body["tools"] = functions(request).into();
    }
    let set = &settings.parameters;
    let max_tokens = if completion_tokens { "max_completion_tokens" } else { "max_tokens" };
    // OpenRouter has one object for all ways to reason; elsewhere a budget has no place.
    let one_object = settings.base_url.contains("openrouter.ai");
    let reasoning = match (&set.reasoning_budget, &set.reasoning_effort) {
        (Some(budget), _) => Some(json!({ "max_tokens": budget })),
        (None, Some(effort)) => Some(json!({ "effort": effort })),
        (None, None) => None,
    };
    history::set(
        &mut body,
        [
            ("temperature", set.temperature.map(Value::from)),
            ("top_p", set.top_p.map(Value::from)),
            ("top_k", set.top_k.map(Value::from)),
            (max_tokens, set.max_tokens.map(Value::from)),
            ("stop", (!set.stop.is_empty()).then(|| set.stop.clone().into())),
            ("frequency_penalty", set.frequency_penalty.map(Value::from)),
            ("presence_penalty", set.presence_penalty.map(Value::from)),
            ("reasoning_effort", set.reasoning_effort.clone().filter(|_| !one_object).map(Value::from)),
            ("reasoning", reasoning.filter(|_| one_object)),
        ],
    );
    body
}

/// The tools in the form that Ollama has taken over.
pub fn functions(request: &Request) -> Vec<Value> {
    let function = |tool: &crate::protocol::ToolSpec| {
        json!({ "type": "function", "function": {
            "name": tool.name, "description": tool.description, "parameters": tool.schema } })
    };
    request.tools.iter().map(function).collect()
}

fn messages(settings: &ProviderSettings, request: &Request) -> Vec<Value> {
    let mut out: Vec<Value> = vec![];
    if !request.system.is_empty() {
        out.push(json!({ "role": "system", "content": &*request.system }));
    }
    let address = settings.base_url.to_ascii_lowercase();
    let model = request.model.model.to_ascii_lowercase();
    let fits: &dyn Fn(&str) -> bool = if ["mistral", "devstral", "codestral"].iter().any(|m| model.contains(m) || address.contains(m)) {
        // Their templates take no other.
        &|id| id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric())
    } else if address.contains("openai") {
        &|id| plain_id(id, 40)
    } else {
        &|id| id.len() <= 128 && id.bytes().all(|b| b.is_ascii_graphic())
    };
    for step in steps(request, WireFormat::Completions, fits) {
        match step {
            Step::User(prompts) => match out.last_mut() {
                // What calls showed. Chat templates of local models often insist on alternating roles.
                Some(last) if last["role"] == "user" => {
                    if let Some(list) = last["content"].as_array_mut() {
                        list.extend(prompts.iter().flat_map(|prompt| parts(prompt)));
                    }
                }
                _ => out.push(json!({ "role": "user", "content": content(&prompts) })),
            },
            Step::Assistant(said) => {
                let mut message = json!({ "role": "assistant", "content": said.text });
                if !said.calls.is_empty() {
                    if said.text.is_empty() {
                        message["content"] = Value::Null;
                    }
                    message["tool_calls"] = said
                        .calls
                        .iter()
                        .map(|call| {
                            json!({ "id": call.id, "type": "function", "function": {
                                "name": call.name, "arguments": call.request.arguments } })
                        })
                        .collect();
                }
                out.push(message);
            }
            Step::Results(results) => {
                let answer = |result: &Answered| json!({ "role": "tool", "tool_call_id": result.id, "content": result.content });
                out.extend(results.iter().map(answer));
                // Tools answer in words, so what they show follows their answers.
                let images: Vec<Image> = results.iter().flat_map(|result| result.images).cloned().collect();
                out.extend(history::shown(images).map(|prompt| json!({ "role": "user", "content": parts(&prompt) })));
            }
        }
    }
    out
}

/// Plain text where that is enough: not every server takes a list of parts.
fn content(prompts: &[&Prompt]) -> Value {
    if prompts.iter().all(|prompt| prompt.images.is_empty()) {
        return history::joined(prompts).into();
    }
    prompts.iter().flat_map(|prompt| parts(prompt)).collect()
}

fn parts(prompt: &Prompt) -> Vec<Value> {
    let url = |image: &Image| format!("data:{};base64,{}", image.media_type, image.data);
    let text = (!prompt.text.is_empty()).then(|| json!({ "type": "text", "text": prompt.text }));
    text.into_iter().chain(prompt.images.iter().map(|image| json!({ "type": "image_url", "image_url": { "url": url(image) } }))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{CallId, CallRequest, Message, ModelId, RequestId, ToolSpec};

    fn body(request: &Request, tools: bool, usage: bool) -> Value {
        super::body(&ProviderSettings { disable_tools: !tools, ..Default::default() }, request, usage, false)
    }

    #[test]
    fn what_calls_showed_follows_their_answers() {
        let image =
            Image { label: "[image a.png: 2×1 png]".into(), media_type: "image/png".into(), data: "aWE=".into(), width: 2, height: 1 };
        let result = |id: u64, images: Vec<Image>| Message::Result {
            call: CallId(id),
            provider_id: format!("c{id}"),
            name: "View".into(),
            content: "x".into(),
            failed: false,
            images,
        };
        let call = |id: u64| CallRequest { id: CallId(id), provider_id: format!("c{id}"), name: "View".into(), arguments: "{}".into() };
        let asked = Message::Assistant { text: String::new(), reasoning: String::new(), calls: vec![call(1), call(2)], kept: vec![] };
        let told = |messages: Vec<Message>| {
            let model = ModelId { provider: "p".into(), model: "sees".into() };
            let request = Request { id: RequestId(1), model, system: "".into(), messages: messages.into(), tools: vec![].into() };
            super::messages(&ProviderSettings::default(), &request).into_iter().skip_while(|m| m["role"] != "tool").collect::<Vec<_>>()
        };
        let before = [Message::User("look".into()), asked, result(1, vec![image]), result(2, vec![])];
        let said = told(before.to_vec());
        let roles: Vec<&str> = said.iter().filter_map(|m| m["role"].as_str()).collect();
        assert_eq!(roles, ["tool", "tool", "user"], "no answer is missing before anything else");
        assert_eq!(said[2]["content"][0]["text"], "[image a.png: 2×1 png]");
        assert_eq!(said[2]["content"][1]["image_url"]["url"], "data:image/png;base64,aWE=");
        // What the user says then joins it.
        let said = told([before.to_vec(), vec![Message::User("and?".into())]].concat());
        assert_eq!((said.len(), said[2]["content"][2]["text"].as_str()), (3, Some("and?")));
    }

    #[test]
    fn images_are_parts_of_what_the_user_says() {
        let image = |n: u32| Image {
            label: format!("[image {n}: 2×1 png]"),
            media_type: "image/png".into(),
            data: "iVBORw0KGgo=".into(),
            width: 2,
            height: 1,
        };
        let request = Request {
            id: RequestId(1),
            model: ModelId { provider: "Ollama".into(), model: "sees".into() },
            system: "".into(),
            messages: vec![
                Message::User(Prompt { text: "What is [image 1: 2×1 png]?".into(), images: vec![image(1)] }),
                Message::User("In one word.".into()),
                Message::Assistant { text: "Red.".into(), reasoning: String::new(), calls: vec![], kept: vec![] },
                Message::User("And".into()),
                Message::User(Prompt { text: "[image 2: 2×1 png]?".into(), images: vec![image(2)] }),
            ]
            .into(),
            tools: vec![].into(),
        };
        insta::assert_snapshot!("images", serde_json::to_string_pretty(&body(&request, false, false)["messages"]).unwrap());
    }

    #[test]
    fn this_is_exactly_what_is_sent() {
        let call = |id, provider_id: &str, arguments: &str| CallRequest {
            id: CallId(id),
            provider_id: provider_id.into(),
            name: "View".into(),
            arguments: arguments.into(),
        };
        let result = |id, provider_id: &str, content: &str| Message::Result {
            call: CallId(id),
            provider_id: provider_id.into(),
            name: "View".into(),
            content: content.into(),
            images: vec![],
            failed: false,
        };
        let request = Request {
            id: RequestId(7),
            model: ModelId { provider: "Ollama".into(), model: "qwen3:8b".into() },
            system: "Be brief.".into(),
            messages: vec![
                Message::User("Look at a and b".into()),
                Message::Assistant {
                    text: String::new(),
                    reasoning: "not sent back".into(),
                    calls: vec![call(1, "call_a", r#"{"file_path":"a"}"#), call(2, "", r#"{"file_path":"b"}"#)],
                    kept: vec![],
                },
                result(1, "call_a", "     1\tA"),
                result(2, "", "Error: no such file"),
                Message::Assistant { text: String::new(), reasoning: "stopped".into(), calls: vec![], kept: vec![] },
                Message::Assistant { text: "b is missing".into(), reasoning: String::new(), calls: vec![], kept: vec![] },
                Message::User("Never mind".into()),
                Message::User("Thanks".into()),
            ]
            .into(),
            tools: vec![ToolSpec {
                name: "View".into(),
                aliases: vec!["read_file".into()],
                description: "Shows a file.".into(),
                schema: json!({ "type": "object", "properties": { "file_path": { "type": "string" } }, "required": ["file_path"] }),
            }]
            .into(),
        };
        insta::assert_snapshot!(serde_json::to_string_pretty(&body(&request, true, true)).unwrap());
        let bare = body(&request, false, false);
        assert!(bare.get("tools").is_none() && bare.get("stream_options").is_none());
    }
}
