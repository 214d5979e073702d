//! Bodies as OpenAI's Responses come (our own, in their shape), cut at every byte; what is sent, and over the wire.

use super::*;
use crate::{
    llm::{
        answer::tests as checks,
        history::tests::{call, image, mixed_up, request_of, result, said},
        provider::Provider,
        wire::tests::{OK, refusing, run, say, server},
    },
    protocol::{Kept, Message, ModelId, Parameters, StopReason, StreamItem, WireFormat},
};
use futures::StreamExt;
use serde_json::json;

fn check(body: &str, expected: &[&str]) {
    checks::check(Events::default, body, expected);
}

fn events(list: &[&str]) -> String {
    let kind = |event: &str| serde_json::from_str::<Value>(event).unwrap()["type"].as_str().unwrap_or("x").to_owned();
    list.iter().map(|event| format!("event: {}\ndata: {event}\n\n", kind(event))).collect()
}

const CREATED: &str = r#"{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","error":null,"output":[]}}"#;
const HELLO: &str =
    r#"{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"Žluť 🦀","logprobs":[]}"#;
const USAGE: &str = r#""usage":{"input_tokens":20,"input_tokens_details":{"cached_tokens":16},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":3}}"#;

fn over(kind: &str, rest: &str) -> String {
    let status = kind.rsplit('.').next().unwrap();
    format!(r#"{{"type":"{kind}","response":{{"object":"response","status":"{status}",{rest}"output":[],{USAGE}}}}}"#)
}

fn with_everything() -> String {
    events(&[
        CREATED,
        r#"{"type":"response.in_progress","response":{"status":"in_progress"}}"#,
        r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}"#,
        r#"{"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}"#,
        r#"{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"hm, 🦀"}"#,
        r#"{"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":1,"part":{"type":"summary_text","text":""}}"#,
        r#"{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":1,"delta":"so"}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","status":null,"summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"ZW5j"}}"#,
        r#"{"type":"response.output_item.added","output_index":1,"item":{"id":"msg_1","type":"message","role":"assistant","content":[]}}"#,
        r#"{"type":"response.output_text.delta","output_index":1,"delta":"I look."}"#,
        r#"{"type":"response.output_text.done","output_index":1,"text":"I look."}"#,
        r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"message","content":[{"type":"output_text","text":"I look."}],"phase":"commentary"}}"#,
        r#"{"type":"response.news_of_next_year","output_index":1,"delta":"x"}"#,
        r#"{"type":"response.output_item.added","output_index":2,"item":{"id":"fc_1","type":"function_call","call_id":"call_a","name":"View","arguments":""}}"#,
        r#"{"type":"response.output_item.added","output_index":3,"item":{"id":"fc_2","type":"function_call","call_id":"call_a","name":"LS","arguments":""}}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":2,"delta":"{\"p\":"}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":2,"delta":"\"ž\"}"}"#,
        r#"{"type":"response.function_call_arguments.done","output_index":2,"arguments":"{\"p\":\"ž\"}"}"#,
        r#"{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","call_id":"call_a","name":"View","arguments":"{\"p\":\"ž\"}"}}"#,
        r#"{"type":"response.output_item.done","output_index":3,"item":{"type":"function_call","call_id":"call_a","name":"LS","arguments":"{}"}}"#,
        &over("response.completed", ""),
    ])
}

#[test]
fn text_reasoning_and_calls() {
    check(&events(&[CREATED, HELLO, &over("response.completed", "")]), &["text Žluť 🦀", "usage 20 5 16 3", "done Finished"]);
    check(
        &with_everything(),
        &[
            "reasoning hm, 🦀\n\nso",
            r#"kept 0 0 {"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"ZW5j"}"#,
            "text I look.",
            r#"kept 7 0 {"phase":"commentary"}"#,
            "call 0 call_a View ",
            "call 1 - LS ",
            r#"call 0 - - {"p":"ž"}"#,
            // The same id twice: the second call gets one of ours.
            "call 1 c00012001 - {}",
            "usage 20 5 16 3",
            "done Calls",
        ],
    );
    checks::check_cuts(Events::default, &with_everything());
    checks::check_garbage(Events::default, &with_everything());
}

#[test]
fn every_way_to_end() {
    let end = |kind: &str, rest: &str| events(&[HELLO, &over(kind, rest)]);
    let usage = "usage 20 5 16 3";
    for (kind, rest, done) in [
        ("response.incomplete", r#""incomplete_details":{"reason":"max_output_tokens"},"#, "done Length"),
        ("response.incomplete", r#""incomplete_details":{"reason":"content_filter"},"#, "done Refused"),
        ("response.failed", r#""error":{"code":"server_error","message":"Oops"},"#, "failed Busy None Oops"),
        ("response.failed", r#""error":{"code":"rate_limit_exceeded","message":"Slow"},"#, "failed Busy None Slow"),
        ("response.failed", r#""error":{"code":"invalid_prompt","message":"No"},"#, "failed Refused None No"),
        ("response.failed", "", "failed Busy None The server could not finish the answer and does not say why."),
    ] {
        check(&end(kind, rest), &["text Žluť 🦀", usage, done]);
    }
    let refusal = r#"{"type":"response.refusal.delta","output_index":0,"delta":"I won't."}"#;
    check(&events(&[refusal, &over("response.completed", "")]), &["text I won't.", usage, "done Refused"]);
    let cut = "failed Cut None The answer was cut off: the server closed the connection.";
    check(&events(&[CREATED, HELLO]), &["text Žluť 🦀", cut]);
    check("", &["failed Cut None The server closed the connection without an answer."]);
}

#[test]
fn errors_and_what_is_no_answer() {
    check(
        &events(&[HELLO, r#"{"type":"error","code":"server_error","message":"Oops","param":null}"#]),
        &["text Žluť 🦀", "failed Busy None Oops"],
    );
    check(
        &events(&[HELLO, r#"{"type":"error","error":{"type":"invalid_request_error","message":"No"}}"#]),
        &["text Žluť 🦀", "failed Refused None No"],
    );
    check("<html>", &["failed Malformed None The server answered with a web page instead of an answer of a model."]);
    check(r#"{"choices":[]}"#, &[r#"failed Malformed None The server's answer holds no response: {"choices":[]}"#]);
    check(
        &format!(
            r#"{{"object":"response","status":"completed","error":null,"output":[{{"type":"reasoning","summary":[{{"type":"summary_text","text":"hm"}}]}},{{"type":"message","content":[{{"type":"output_text","text":"Hi"}}]}},{{"type":"function_call","call_id":"a","name":"LS","arguments":"{{}}"}}],{USAGE}}}"#
        ),
        &["reasoning hm", "text Hi", "call 0 a LS {}", "usage 20 5 16 3", "done Calls"],
    );
    check(r#"{"object":"response","status":"comp"#, &["failed Cut None The answer was cut off: the server closed the connection."]);
}

fn kept(model: &str, text: usize, calls: usize, value: Value) -> Kept {
    Kept { format: WireFormat::Responses, model: ModelId { provider: "P".into(), model: model.into() }, text, calls, value }
}

#[test]
fn this_is_exactly_what_is_sent() {
    let model = "gpt-5.1-codex";
    let reasoning = |id: &str| json!({ "id": id, "type": "reasoning", "summary": [], "encrypted_content": "ZW5j" });
    let own = vec![kept(model, 0, 0, reasoning("rs_1")), kept(model, 7, 0, json!({ "phase": "commentary" }))];
    let mut shown = result(2, "call_b", "A picture.");
    if let Message::Result { images, .. } = &mut shown {
        images.push(image("[image a.png: 2×1 png]"));
    }
    let request = request_of(
        model,
        vec![
            Message::User("Look at a and b".into()),
            said("I look.", vec![call(1, "call_a", "View"), call(2, "call_b", "View")], own),
            result(1, "call_a", "Error: no such file"),
            shown,
            Message::User("And?".into()),
            // It was cut off after its reasoning.
            said("Well", vec![], vec![kept(model, 4, 0, reasoning("rs_2"))]),
            Message::User("Go on.".into()),
        ],
    );
    let parameters = Parameters {
        temperature: Some(0.5),
        top_p: Some(0.9),
        top_k: Some(40),
        max_tokens: Some(20_000),
        reasoning_effort: Some("low".into()),
        ..Default::default()
    };
    let settings = ProviderSettings { parameters: parameters.into(), ..Default::default() };
    insta::assert_snapshot!(serde_json::to_string_pretty(&Responses::default().body(&settings, &request)).unwrap());
}

#[test]
fn whatever_was_said_before_it_is_a_valid_history() {
    let body = Responses::default().body(&ProviderSettings::default(), &request_of("gpt-4.1", mixed_up()));
    insta::assert_snapshot!(serde_json::to_string_pretty(&body["input"]).unwrap());
    assert!(body.get("reasoning").is_none());
}

#[test]
fn over_the_wire() {
    let no_encrypted = r#"{"error":{"message":"Encrypted content is not supported with this model.","type":"invalid_request_error"}}"#;
    let no_summary =
        r#"{"error":{"message":"Your organization must be verified to generate reasoning summaries.","param":"reasoning.summary"}}"#;
    let body = events(&[CREATED, HELLO, &over("response.completed", "")]);
    let server = server(vec![
        refusing("400 Bad Request", "", no_encrypted),
        refusing("400 Bad Request", "", no_summary),
        say(format!("{OK}{body}")),
    ]);
    let settings = ProviderSettings {
        name: "test".into(),
        base_url: format!("http://127.0.0.1:{}/v1", server.port),
        api_key: Some("sk-1".into()),
        format: WireFormat::Responses,
        ..Default::default()
    };
    let request = request_of("o4-mini", vec![Message::User("hi".into())]);
    let items: Vec<_> = run(async { OpenAiResponses::new(settings).stream(request).collect().await });
    assert_eq!(items.last(), Some(&StreamItem::Done(StopReason::Finished)));
    let requests: Vec<String> = (0..3).map(|_| server.sent.recv().unwrap()).collect();
    assert!(requests.iter().all(|r| r.starts_with("POST /v1/responses HTTP/1.1\r\n") && r.contains("authorization: Bearer sk-1\r\n")));
    let told: Vec<_> = requests.iter().map(|r| (r.contains("encrypted_content"), r.contains("summary"))).collect();
    assert_eq!(told, [(true, true), (false, true), (false, false)]);
}

#[test]
fn an_answer_without_an_end_is_stopped() {
    let long = "x".repeat(10_000);
    let call =
        events(&[r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"a","name":"LS"}}"#]);
    for kind in ["output_text", "reasoning_summary_text", "refusal", "function_call_arguments"] {
        let event = events(&[&format!(r#"{{"type":"response.{kind}.delta","output_index":0,"delta":"{long}"}}"#)]);
        checks::check_endless(Events::default, &call, |_| event.clone());
    }
    checks::check_endless(Events::default, "", |n| {
        let item = format!(r#"{{"type":"reasoning","summary":[],"encrypted_content":"{long}"}}"#);
        format!("data: {{\"type\":\"response.output_item.done\",\"output_index\":{n},\"item\":{item}}}\n\n")
    });
}
