//! What is sent: a request of ours in the words of OpenAI's chat completions.
//!
//! Only fields that every compatible server knows. Names are canonical, never aliases; what a server made up (call ids) goes back
//! to it as it came.

use crate::protocol::{CallId, Image, Message, Prompt, Request};
use serde_json::{Value, json};

pub fn body(request: &Request, tools: bool, usage: bool) -> Value {
    let mut body = json!({
        "model": request.model.model,
        "messages": messages(request),
        "stream": true,
    });
    if usage {
        body["stream_options"] = json!({ "include_usage": true });
    }
    if tools && !request.tools.is_empty() {
        body["tools"] = request
            .tools
            .iter()
            .map(|tool| {
                json!({ "type": "function", "function": {
                    "name": tool.name, "description": tool.description, "parameters": tool.schema } })
            })
            .collect();
    }
    body
}

fn messages(request: &Request) -> Vec<Value> {
    let mut out: Vec<Value> = vec![];
    if !request.system.is_empty() {
        out.push(json!({ "role": "system", "content": &*request.system }));
    }
    // What calls showed: tools answer in words, so it follows their answers.
    let mut seen: Vec<&Image> = vec![];
    for message in request.messages.iter() {
        if !matches!(message, Message::Result { .. }) {
            out.extend(shown(&mut seen));
        }
        match message {
            Message::User(prompt) => match out.last_mut() {
                // Chat templates of local models often insist on alternating roles.
                Some(last) if last["role"] == "user" => last["content"] = joined(last["content"].take(), prompt),
                _ => out.push(json!({ "role": "user", "content": content(prompt) })),
            },
            // A turn that was stopped before the first word: an empty message is refused by many servers.
            Message::Assistant { text, calls, .. } if text.is_empty() && calls.is_empty() => {}
            Message::Assistant { text, calls, .. } => {
                let mut said = json!({ "role": "assistant", "content": text });
                if !calls.is_empty() {
                    if text.is_empty() {
                        said["content"] = Value::Null;
                    }
                    said["tool_calls"] = calls
                        .iter()
                        .map(|call| {
                            json!({ "id": wire_id(&call.provider_id, call.id), "type": "function", "function": {
                                "name": call.name, "arguments": call.arguments } })
                        })
                        .collect();
                }
                out.push(said);
            }
            Message::Result { call, provider_id, content, images, .. } => {
                seen.extend(images);
                out.push(json!({ "role": "tool", "tool_call_id": wire_id(provider_id, *call), "content": content }));
            }
        }
    }
    out.extend(shown(&mut seen));
    out
}

fn shown(seen: &mut Vec<&Image>) -> Option<Value> {
    let images: Vec<Image> = seen.drain(..).cloned().collect();
    let text = images.iter().map(|image| image.label.as_str()).collect::<Vec<_>>().join(" ");
    (!images.is_empty()).then(|| json!({ "role": "user", "content": parts(&Prompt { text, images }) }))
}

/// Plain text where that is enough: not every server takes a list of parts.
fn content(prompt: &Prompt) -> Value {
    if prompt.images.is_empty() { prompt.text.as_str().into() } else { parts(prompt).into() }
}

fn parts(prompt: &Prompt) -> Vec<Value> {
    let url = |image: &Image| format!("data:{};base64,{}", image.media_type, image.data);
    let text = (!prompt.text.is_empty()).then(|| json!({ "type": "text", "text": prompt.text }));
    text.into_iter().chain(prompt.images.iter().map(|image| json!({ "type": "image_url", "image_url": { "url": url(image) } }))).collect()
}

fn joined(before: Value, prompt: &Prompt) -> Value {
    match before {
        Value::String(text) if prompt.images.is_empty() => format!("{text}\n\n{}", prompt.text).into(),
        Value::String(text) => [vec![json!({ "type": "text", "text": text })], parts(prompt)].concat().into(),
        Value::Array(list) => [list, parts(prompt)].concat().into(),
        other => other,
    }
}

fn wire_id(provider_id: &str, call: CallId) -> String {
    if provider_id.is_empty() { made_up_id('h', call.0, 0) } else { provider_id.to_owned() }
}

/// Nine letters and digits: the only form that every server takes.
pub fn made_up_id(kind: char, number: u64, index: usize) -> String {
    format!("{kind}{:05}{:03}", number % 100_000, index % 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{CallRequest, ModelId, RequestId, ToolSpec};

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
        let asked = Message::Assistant { text: String::new(), reasoning: String::new(), calls: vec![call(1), call(2)] };
        let told = |messages: Vec<Message>| {
            let model = ModelId { provider: "p".into(), model: "sees".into() };
            let request = Request { id: RequestId(1), model, system: "".into(), messages: messages.into(), tools: vec![].into() };
            super::messages(&request).into_iter().skip_while(|m| m["role"] != "tool").collect::<Vec<_>>()
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
                Message::Assistant { text: "Red.".into(), reasoning: String::new(), calls: vec![] },
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
                },
                result(1, "call_a", "     1\tA"),
                result(2, "", "Error: no such file"),
                Message::Assistant { text: String::new(), reasoning: "stopped".into(), calls: vec![] },
                Message::Assistant { text: "b is missing".into(), reasoning: String::new(), calls: vec![] },
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
