//! Conversations of any kind, with whatever models left in them, are ones that every wire format takes.

use super::{image, request_of, *};
use crate::{
    llm::{anthropic::Messages, google::Generate, ollama::Chat, openai::Completions, responses::Responses, wire::Wire},
    protocol::{ModelId, Parameters, ProviderSettings},
};
use proptest::prelude::*;
use serde_json::json;

const FORMATS: [WireFormat; 5] =
    [WireFormat::Completions, WireFormat::Responses, WireFormat::Anthropic, WireFormat::Google, WireFormat::Ollama];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), Just(" \n".to_owned()), Just("žluť 🦀".to_owned()), "[a-z ]{1,12}"]
}

/// What a model of this format could have left.
fn left_behind(format: WireFormat, kind: u8) -> Value {
    match (format, kind % 3) {
        (WireFormat::Anthropic, 0) => json!({ "type": "redacted_thinking", "data": "ZW5j" }),
        (WireFormat::Anthropic, _) => json!({ "type": "thinking", "thinking": "hm", "signature": "c2ln" }),
        (WireFormat::Google, 0) => json!({ "call": 0, "thoughtSignature": "c2ln" }),
        (WireFormat::Google, 1) => json!({ "thoughtSignature": "c2ln" }),
        (WireFormat::Google, _) => json!({ "part": { "text": "hm", "thought": true, "thoughtSignature": "c2ln" } }),
        (WireFormat::Responses, 0) => json!({ "phase": "commentary" }),
        (WireFormat::Responses, _) => json!({ "type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "ZW5j" }),
        (WireFormat::Completions, 0) => json!({ "call": 0, "extra_content": { "x": 1 } }),
        (WireFormat::Completions, 1) => json!({ "reasoning_details": [{ "type": "reasoning.text", "text": "hm" }] }),
        (WireFormat::Completions, _) => json!({ "reasoning_content": true }),
        (WireFormat::Ollama, _) => json!({ "thought": true }),
    }
}

fn kept() -> impl Strategy<Value = Kept> {
    (0..5_usize, any::<u8>(), any::<bool>(), 0..14_usize, 0..4_usize).prop_map(|(format, kind, own, text, calls)| {
        let model = if own { "m" } else { "other" };
        let (format, model) = (FORMATS[format], ModelId { provider: "P".into(), model: model.into() });
        Kept { format, model, text, calls, value: left_behind(format, kind) }
    })
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), Just("call_0".to_owned()), Just("functions.View:0".to_owned()), Just("x".repeat(90)), "[a-z0-9]{9}"]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![Just("View".to_owned()), Just(String::new()), Just("tool.x/y z".to_owned()), Just("9".repeat(99))]
}

/// An answer, and what came of its calls: all of it, or not.
type Round = (String, Vec<(String, String, Option<String>)>, Vec<Kept>);

fn round() -> impl Strategy<Value = Round> {
    let call = (id(), name(), prop::option::weighted(0.9, text()));
    (text(), prop::collection::vec(call, 0..3), prop::collection::vec(kept(), 0..3))
}

fn conversation() -> impl Strategy<Value = Vec<Message>> {
    let user = (text(), any::<bool>()).prop_map(|(text, picture)| {
        let images = if picture { vec![image("[image 1]")] } else { vec![] };
        (Some(Prompt { text, images }), None)
    });
    let answer = round().prop_map(|round| (None, Some(round)));
    prop::collection::vec(prop_oneof![user, answer], 0..8).prop_map(|list| {
        let (mut messages, mut number) = (vec![], 0);
        for (prompt, round) in list {
            messages.extend(prompt.map(Message::User));
            let Some((text, calls, kept)) = round else { continue };
            let (mut requests, mut results) = (vec![], vec![]);
            for (provider_id, name, result) in calls {
                number += 1;
                let (id, arguments) = (CallId(number), "{}".to_owned());
                let images = if number % 3 == 0 { vec![image("[image 2]")] } else { vec![] };
                results.extend(result.map(|content| Message::Result {
                    call: id,
                    provider_id: provider_id.clone(),
                    name: name.clone(),
                    content,
                    failed: number % 2 == 0,
                    images,
                }));
                requests.push(CallRequest { id, provider_id, name, arguments });
            }
            messages.push(Message::Assistant { text, reasoning: "hm".into(), calls: requests, kept });
            messages.extend(results);
        }
        messages
    })
}

fn settings(format: WireFormat) -> ProviderSettings {
    let parameters = Parameters { reasoning_effort: Some("high".into()), ..Default::default() };
    ProviderSettings { format, parameters: parameters.into(), ..Default::default() }
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn texts(list: &[Value], kind: &str, key: &str) -> Vec<String> {
    list.iter().filter(|one| one["type"] == kind).map(|one| one[key].as_str().unwrap().to_owned()).collect()
}

/// Roles take turns, the user's first, and nobody says nothing.
fn takes_turns(messages: &[Value], content: &str) {
    for (at, message) in messages.iter().enumerate() {
        assert_eq!(message["role"] == "user", at % 2 == 0, "{messages:?}");
        assert!(!list(message, content).is_empty(), "{message}");
    }
}

fn each_once(ids: &[String]) {
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
    assert!(ids.iter().all(|id| !id.is_empty() && plain_id(id, 64)), "{ids:?}");
}

fn anthropic(request: &Request) {
    let body = Messages::new(&settings(WireFormat::Anthropic)).body(&settings(WireFormat::Anthropic), request);
    let messages = list(&body, "messages");
    takes_turns(messages, "content");
    let mut all = vec![];
    for (at, message) in messages.iter().enumerate() {
        let content = list(message, "content");
        assert!(texts(content, "text", "text").iter().all(|text| !text.trim().is_empty()));
        let called = texts(content, "tool_use", "id");
        let next = messages.get(at + 1).map_or(&[][..], |next| list(next, "content"));
        assert_eq!(texts(next, "tool_result", "tool_use_id"), called, "{body}");
        assert!(next.iter().take(called.len()).all(|block| block["type"] == "tool_result"), "answers come first");
        all.extend(called);
    }
    each_once(&all);
    assert!(body.to_string().matches("cache_control").count() <= 4);
    let answering = messages.last().is_some_and(|last| list(last, "content")[0]["type"] == "tool_result");
    if answering && body["thinking"]["type"] == "enabled" {
        assert!(list(&messages[messages.len() - 2], "content")[0]["type"].as_str().unwrap().ends_with("thinking"), "{body}");
    }
}

fn google(request: &Request) {
    let body = Generate::new(&settings(WireFormat::Google)).body(&settings(WireFormat::Google), request);
    let contents = list(&body, "contents");
    takes_turns(contents, "parts");
    for (at, content) in contents.iter().enumerate() {
        let names = |parts: &[Value], key: &str| parts.iter().filter_map(|part| part[key]["name"].as_str().map(str::to_owned)).collect();
        let called: Vec<String> = names(list(content, "parts"), "functionCall");
        let answered: Vec<String> = contents.get(at + 1).map(|next| names(list(next, "parts"), "functionResponse")).unwrap_or_default();
        assert_eq!(called, answered, "{body}");
        let first = list(content, "parts").iter().find(|part| part.get("functionCall").is_some());
        assert!(first.is_none_or(|part| part.get("thoughtSignature").is_some()) || request.model.model == "m");
    }
}

fn responses(request: &Request) {
    let body = Responses::new(&settings(WireFormat::Responses)).body(&settings(WireFormat::Responses), request);
    let input = list(&body, "input");
    let called = texts(input, "function_call", "call_id");
    assert_eq!(called, texts(input, "function_call_output", "call_id"));
    each_once(&called);
    for (at, item) in input.iter().enumerate() {
        let next = input.get(at + 1).map_or(&Value::Null, |next| &next["type"]);
        assert!(item["type"] != "reasoning" || *next != Value::Null && *next != "function_call_output", "{body}");
        assert!(item["type"] != "message" || !list(item, "content").is_empty(), "{body}");
    }
}

fn chat(format: WireFormat, body: &Value) {
    let messages = list(body, "messages");
    let calls = |message: &Value| list(message, "tool_calls").iter().map(|call| call["id"].clone()).collect::<Vec<_>>();
    let mut waiting: Vec<Value> = vec![];
    let mut before = "system".to_owned();
    for message in messages {
        let role = message["role"].as_str().unwrap();
        if role == "tool" {
            assert_eq!(message["tool_call_id"], waiting.remove(0), "{body}");
        } else {
            assert!(waiting.is_empty(), "{body}");
            waiting = calls(message);
        }
        assert!(!(role == "user" && before == "user"), "{body}");
        let says = message["content"].as_str().is_some_and(|text| !text.is_empty()) || !list(message, "content").is_empty();
        assert!(says || role == "tool" || !waiting.is_empty() || format == WireFormat::Ollama && role == "user", "{message}");
        role.clone_into(&mut before);
    }
    assert!(waiting.is_empty(), "{body}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_format_takes_every_conversation(messages in conversation(), model in prop_oneof![Just("m"), Just("gemini-3-pro")]) {
        let request = request_of(model, messages);
        anthropic(&request);
        google(&request);
        responses(&request);
        chat(WireFormat::Completions, &Completions::new(&settings(WireFormat::Completions)).body(&settings(WireFormat::Completions), &request));
        chat(WireFormat::Ollama, &Chat::new(&settings(WireFormat::Ollama)).body(&settings(WireFormat::Ollama), &request));
    }
}
