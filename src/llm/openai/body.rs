//! What is sent: a request of ours in the words of OpenAI's chat completions.
//!
//! Only fields that every compatible server knows, and the parameters that the user has set. Names are canonical, never aliases;
//! what a server made up (call ids) goes back to it as it came.

use crate::{
    llm::history::{self, Answered, Called, Said, Step, plain_id, steps},
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
    let steps = steps(request, WireFormat::Completions, fits);
    let asked = steps.iter().rposition(|step| matches!(step, Step::User(_))).unwrap_or_default();
    // Google serves its models in this format, too.
    let signs = address.contains("googleapis.com") && history::version(&model, "gemini").is_some_and(|version| version >= (3, 0));
    for (number, step) in steps.into_iter().enumerate() {
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
                    message["tool_calls"] = calls(&said, signs).into();
                }
                let kept = |key: &str| said.kept.iter().find_map(|kept| kept.value.get(key));
                // While it works on the same request: before that some models refuse it, and none needs it.
                let thoughts = kept("reasoning_content").filter(|_| number > asked).map(|_| said.reasoning.into());
                let own = [("reasoning_details", kept("reasoning_details").cloned()), ("reasoning_content", thoughts)];
                history::set(&mut message, own);
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

fn calls(said: &Said, signs: bool) -> Vec<Value> {
    let call = |(number, call): (usize, &Called)| {
        let mut out = json!({ "id": call.id, "type": "function", "function": {
            "name": call.name, "arguments": call.request.arguments } });
        let own = said.kept.iter().find(|kept| kept.value["call"] == number).and_then(|kept| kept.value.get("extra_content").cloned());
        let unsigned = (signs && number == 0).then(|| json!({ "google": { "thought_signature": history::UNSIGNED } }));
        history::set(&mut out, [("extra_content", own.or(unsigned))]);
        out
    };
    said.calls.iter().enumerate().map(call).collect()
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
    fn what_was_kept_goes_back_to_its_model() {
        let kept = |model: &str, value| crate::protocol::Kept {
            format: WireFormat::Completions,
            model: ModelId { provider: "p".into(), model: model.into() },
            text: 0,
            calls: 1,
            value,
        };
        let round = |id: u64, model: &str| {
            let own = vec![
                kept(model, json!({ "reasoning_content": true })),
                kept(model, json!({ "call": 0, "extra_content": { "x": id } })),
                kept(model, json!({ "reasoning_details": [id] })),
            ];
            let call = CallRequest { id: CallId(id), provider_id: format!("call_{id}"), name: "LS".into(), arguments: "{}".into() };
            let said = Message::Assistant { text: String::new(), reasoning: format!("hm {id}"), calls: vec![call], kept: own };
            let (content, name, provider_id) = ("x".into(), "LS".into(), format!("call_{id}"));
            [said, Message::Result { call: CallId(id), provider_id, name, content, failed: false, images: vec![] }]
        };
        let asked = |model: &str, base_url: &str| {
            let user = || [Message::User("go".into())];
            let messages: Vec<Message> = user().into_iter().chain(round(1, "m")).chain(user()).chain(round(2, "m")).collect();
            let model = ModelId { provider: "p".into(), model: model.into() };
            let request = Request { id: RequestId(1), model, system: "".into(), messages: messages.into(), tools: vec![].into() };
            let said = super::messages(&ProviderSettings { base_url: base_url.into(), ..Default::default() }, &request);
            let show = |m: &Value| format!("{} {} {}", m["reasoning_content"], m["reasoning_details"], m["tool_calls"][0]["extra_content"]);
            said.iter().filter(|m| m["role"] == "assistant").map(show).collect::<Vec<_>>()
        };
        assert_eq!(asked("m", "http://x"), [r#"null [1] {"x":1}"#, r#""hm 2" [2] {"x":2}"#]);
        assert_eq!(asked("other", "http://x"), ["null null null", "null null null"]);
        let unsigned = r#"null null {"google":{"thought_signature":"skip_thought_signature_validator"}}"#;
        let google = "https://generativelanguage.googleapis.com/v1beta/openai";
        assert_eq!(asked("gemini-3-pro-preview", google), [unsigned, unsigned]);
    }

    #[test]
    fn parameters_are_sent_by_the_names_that_the_server_knows() {
        let asked = |base_url: &str, budget, completion_tokens| {
            let parameters = crate::protocol::Parameters {
                temperature: Some(0.5),
                top_p: Some(0.9),
                top_k: Some(40),
                max_tokens: Some(2_000),
                stop: vec!["END".into()],
                frequency_penalty: Some(0.1),
                presence_penalty: Some(-0.1),
                reasoning_effort: Some("low".into()),
                reasoning_budget: budget,
                reasoning_summary: None,
            };
            let settings = ProviderSettings { base_url: base_url.into(), parameters: parameters.into(), ..Default::default() };
            let model = ModelId { provider: "p".into(), model: "m".into() };
            let request = Request { id: RequestId(1), model, system: "".into(), messages: vec![].into(), tools: vec![].into() };
            super::body(&settings, &request, false, completion_tokens).to_string()
        };
        let common = r#"{"model":"m","messages":[],"stream":true,"temperature":0.5,"top_p":0.9,"top_k":40,"#;
        let rest = r#":2000,"stop":["END"],"frequency_penalty":0.1,"presence_penalty":-0.1,"#;
        let effort = r#""reasoning_effort":"low"}"#;
        assert_eq!(asked("http://x", Some(9), false), format!(r#"{common}"max_tokens"{rest}{effort}"#));
        assert_eq!(asked("http://x", None, true), format!(r#"{common}"max_completion_tokens"{rest}{effort}"#));
        let router = "https://openrouter.ai/api/v1";
        assert_eq!(asked(router, Some(9), false), format!(r#"{common}"max_tokens"{rest}"reasoning":{{"max_tokens":9}}}}"#));
        assert_eq!(asked(router, None, false), format!(r#"{common}"max_tokens"{rest}"reasoning":{{"effort":"low"}}}}"#));
    }

    #[test]
    fn ids_have_the_form_that_the_server_takes() {
        let ids = |model: &str, base_url: &str| {
            let call =
                |id: u64, own: &str| CallRequest { id: CallId(id), provider_id: own.into(), name: "LS".into(), arguments: "{}".into() };
            let calls = vec![call(1, "functions.LS:0"), call(2, &"x".repeat(45)), call(3, "abcdefghi")];
            let said = Message::Assistant { text: String::new(), reasoning: String::new(), calls, kept: vec![] };
            let model = ModelId { provider: "p".into(), model: model.into() };
            let request = Request { id: RequestId(1), model, system: "".into(), messages: vec![said].into(), tools: vec![].into() };
            let said = super::messages(&ProviderSettings { base_url: base_url.into(), ..Default::default() }, &request);
            let calls = said.iter().find_map(|m| m["tool_calls"].as_array().cloned()).unwrap();
            calls.iter().map(|call| call["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(ids("kimi-k2", "https://x.example"), ["functions.LS:0".to_owned(), "x".repeat(45), "abcdefghi".into()]);
        assert_eq!(ids("gpt-4.1", "https://api.openai.com/v1"), ["h00001000", "h00002000", "abcdefghi"]);
        assert_eq!(ids("devstral-small", "http://localhost:8000/v1"), ["h00001000", "h00002000", "abcdefghi"]);
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
