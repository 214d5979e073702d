//! Bodies as Gemini sends them (our own, in its shape), cut at every byte; what is sent to it, and over the wire.

use super::*;
use crate::{
    llm::{
        answer::tests as checks,
        history::tests::{call, image, mixed_up, request_of, result, said},
        provider::Provider,
        wire::tests::{OK, failed, refusing, run, say, server},
    },
    protocol::{Kept, Message, ModelId, Parameters, ProviderErrorKind as Kind, StopReason, StreamItem, WireFormat},
};
use futures::StreamExt;
use serde_json::json;
use std::time::Duration;

fn check(body: &str, expected: &[&str]) {
    checks::check(|| Chunks, body, expected);
}

fn events(list: &[&str]) -> String {
    list.iter().map(|event| format!("data: {event}\n\n")).collect()
}

const HELLO: &str = r#"{"candidates":[{"content":{"parts":[{"text":"Žluť 🦀"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":20,"totalTokenCount":20},"modelVersion":"gemini-x","responseId":"r"}"#;
const END: &str = r#"{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":20,"candidatesTokenCount":5,"cachedContentTokenCount":16,"thoughtsTokenCount":3}}"#;

fn with_everything() -> String {
    events(&[
        r#"{"candidates":[{"content":{"parts":[{"text":"hm, ","thought":true}],"role":"model"}}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"🦀","thought":true,"thoughtSignature":"dGg="}],"role":"model"}}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"I "},{"newsOfNextYear":1}],"role":"model"}}],"more":{}}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"look.","thoughtSignature":"dGV4dA=="}],"role":"model"}}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"View","args":{"p":"ž"}},"thoughtSignature":"Y2FsbA=="},{"functionCall":{"name":"View","args":{"p":2}}}]}}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"functionCall":{"id":"fc1","name":"LS","args":{}}}]}}]}"#,
        r#"{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":20,"candidatesTokenCount":5}}"#,
    ])
}

#[test]
fn text_thoughts_and_calls() {
    check(&events(&[HELLO, END]), &["text Žluť 🦀", "usage 20 8 16 3", "done Finished"]);
    check(
        &with_everything(),
        &[
            "reasoning hm, 🦀",
            r#"kept 0 0 {"part":{"text":"🦀","thought":true,"thoughtSignature":"dGg="}}"#,
            "text I look.",
            r#"kept 7 0 {"thoughtSignature":"dGV4dA=="}"#,
            r#"call 0 - View {"p":"ž"}"#,
            r#"kept 7 1 {"call":0,"thoughtSignature":"Y2FsbA=="}"#,
            r#"call 1 - View {"p":2}"#,
            "call 2 fc1 LS {}",
            r#"kept 7 3 {"call":2,"id":"fc1"}"#,
            "call 0 c00012000 - ",
            "call 1 c00012001 - ",
            "usage 20 5 0 0",
            "done Calls",
        ],
    );
    checks::check_cuts(|| Chunks, &with_everything());
    checks::check_garbage(|| Chunks, &with_everything());
}

#[test]
fn every_way_to_end() {
    let usage = "usage 20 8 16 3";
    for (reason, done) in [
        ("MAX_TOKENS", "done Length"),
        ("SAFETY", "done Refused"),
        ("PROHIBITED_CONTENT", "done Refused"),
        ("IMAGE_SAFETY", "done Refused"),
        ("SOMETHING_NEW", "done Finished"),
        ("MALFORMED_FUNCTION_CALL", "failed Busy None The model's call could not be read (MALFORMED_FUNCTION_CALL)."),
    ] {
        check(&events(&[HELLO, &END.replace("STOP", reason)]), &["text Žluť 🦀", usage, done]);
    }
    let cut = "failed Cut None The answer was cut off: the server closed the connection.";
    check(&events(&[HELLO]), &["text Žluť 🦀", "usage 20 0 0 0", cut]);
    check(
        &events(&[r#"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":9}}"#]),
        &["usage 9 0 0 0", "failed Refused None The server refuses to answer this: SAFETY."],
    );
    check("", &["failed Cut None The server closed the connection without an answer."]);
}

#[test]
fn errors_and_what_is_no_answer() {
    check(
        &(events(&[HELLO]) + "data: {\"error\":{\"code\":503,\"message\":\"Overloaded\",\"status\":\"UNAVAILABLE\"}}\n\n"),
        &["text Žluť 🦀", "usage 20 0 0 0", "failed Busy Some(503) Overloaded"],
    );
    check("<!doctype html>", &["failed Malformed None The server answered with a web page instead of an answer of a model."]);
    check(r#"{"choices":[]}"#, &[r#"failed Malformed None The server's answer holds no candidate: {"choices":[]}"#]);
    check(r#"[{"error":{"code":400,"message":"API key not valid"}}]"#, &["failed Refused Some(400) API key not valid"]);
    // A proxy that has lost `alt=sse`: a list, on several lines.
    check(&format!("[{HELLO}\n,\n{END}\n]\n"), &["text Žluť 🦀", "usage 20 8 16 3", "done Finished"]);
    check(&format!("[{HELLO}\n,"), &["failed Cut None The answer was cut off: the server closed the connection."]);
    check(
        &events(&[HELLO, "{broken}"]),
        &["text Žluť 🦀", "usage 20 0 0 0", "failed Malformed None The server sent broken JSON: {broken}"],
    );
}

fn kept(model: &str, text: usize, calls: usize, value: Value) -> Kept {
    Kept { format: WireFormat::Google, model: ModelId { provider: "P".into(), model: model.into() }, text, calls, value }
}

#[test]
fn this_is_exactly_what_is_sent() {
    let model = "gemini-2.5-pro";
    let mut shown = result(2, "fc1", "A picture.");
    if let Message::Result { images, .. } = &mut shown {
        images.push(image("[image a.png: 2×1 png]"));
    }
    let own = vec![
        kept(model, 0, 0, json!({ "part": { "text": "🦀", "thought": true, "thoughtSignature": "dGg=" } })),
        kept(model, 7, 0, json!({ "thoughtSignature": "dGV4dA==" })),
        kept(model, 7, 1, json!({ "call": 0, "thoughtSignature": "Y2FsbA==" })),
        kept(model, 7, 2, json!({ "call": 1, "id": "fc1" })),
    ];
    let request = request_of(
        model,
        vec![
            Message::User("Look at a and b".into()),
            said("I look.", vec![call(1, "c00012000", "View"), call(2, "fc1", "View")], own),
            result(1, "c00012000", "Error: no such file"),
            shown,
            said("", vec![call(3, "c00012000", "View")], vec![kept(model, 0, 0, json!({ "thoughtSignature": "ZW1wdHk=" }))]),
            result(3, "c00012000", "x"),
            Message::User("And?".into()),
        ],
    );
    let parameters = Parameters {
        temperature: Some(0.5),
        top_p: Some(0.9),
        top_k: Some(40),
        max_tokens: Some(20_000),
        stop: vec!["END".into()],
        frequency_penalty: Some(0.1),
        presence_penalty: Some(-0.1),
        reasoning_effort: Some("medium".into()),
        ..Default::default()
    };
    let settings = ProviderSettings { parameters: parameters.into(), ..Default::default() };
    insta::assert_snapshot!(serde_json::to_string_pretty(&Generate.body(&settings, &request)).unwrap());
}

#[test]
fn whatever_was_said_before_it_is_a_valid_history() {
    let body = Generate.body(&ProviderSettings::default(), &request_of("gemini-3-pro-preview", mixed_up()));
    insta::assert_snapshot!(serde_json::to_string_pretty(&body["contents"]).unwrap());
    assert!(body.get("generationConfig").is_none());
    let old = Generate.body(&ProviderSettings::default(), &request_of("gemini-2.5-flash", mixed_up()));
    assert!(body.to_string().contains("skip_thought_signature_validator") && !old.to_string().contains("thoughtSignature"));
}

#[test]
fn how_it_thinks_depends_on_the_model() {
    let asked = |model: &str, effort: Option<&str>, budget| {
        let parameters = Parameters { reasoning_effort: effort.map(Into::into), reasoning_budget: budget, ..Default::default() };
        let body = Generate.body(&ProviderSettings { parameters: parameters.into(), ..Default::default() }, &request_of(model, vec![]));
        body.pointer("/generationConfig/thinkingConfig").map_or("-".to_owned(), Value::to_string)
    };
    assert_eq!(asked("gemini-2.5-pro", None, None), "-");
    assert_eq!(asked("gemini-2.5-flash", Some("none"), None), r#"{"thinkingBudget":0,"includeThoughts":false}"#);
    assert_eq!(asked("gemini-2.5-flash", Some("high"), Some(99)), r#"{"thinkingBudget":99,"includeThoughts":true}"#);
    assert_eq!(asked("gemini-3-pro-preview", Some("high"), None), r#"{"thinkingLevel":"high","includeThoughts":true}"#);
}

#[test]
fn over_the_wire() {
    let busy = r#"[{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}]"#;
    let list = r#"{"models":[{"name":"models/gemini-x","inputTokenLimit":1048576,"supportedGenerationMethods":["generateContent"]},{"name":"models/embedding-1","supportedGenerationMethods":["embedContent"]}]}"#;
    let server = server(vec![
        say(format!("{OK}{}", events(&[HELLO, END]))),
        refusing("429 Too Many Requests", "", busy),
        refusing("200 OK", "", list),
    ]);
    let settings = ProviderSettings {
        name: "test".into(),
        base_url: format!("http://127.0.0.1:{}", server.port),
        api_key: Some("AIza".into()),
        format: WireFormat::Google,
        ..Default::default()
    };
    let (answered, busy, models) = run(async {
        let provider = Google::new(settings);
        let request = request_of("gemini-x", vec![Message::User("hi".into())]);
        let answered: Vec<_> = provider.stream(request.clone()).collect().await;
        let busy: Vec<_> = provider.stream(request).collect().await;
        (answered, busy, provider.models().await.unwrap())
    });
    assert_eq!(answered.last(), Some(&StreamItem::Done(StopReason::Finished)));
    assert_eq!((failed(&busy).kind, failed(&busy).retry_after), (Kind::Busy, Some(Duration::from_millis(34_500))));
    assert_eq!(models.iter().map(|m| (m.id.model.as_str(), m.context_window)).collect::<Vec<_>>(), [("gemini-x", Some(1_048_576))]);
    let requests: Vec<String> = (0..3).map(|_| server.sent.recv().unwrap()).collect();
    let first: Vec<_> = requests.iter().map(|request| request.lines().next().unwrap()).collect();
    assert_eq!(
        first,
        [
            "POST /v1beta/models/gemini-x:streamGenerateContent?alt=sse HTTP/1.1",
            "POST /v1beta/models/gemini-x:streamGenerateContent?alt=sse HTTP/1.1",
            "GET /v1beta/models?pageSize=1000 HTTP/1.1"
        ]
    );
    assert!(requests.iter().all(|request| request.contains("x-goog-api-key: AIza\r\n")));
}

#[test]
fn an_answer_without_an_end_is_stopped() {
    let long = "x".repeat(10_000);
    let part = |part: &str| events(&[&format!(r#"{{"candidates":[{{"content":{{"parts":[{part}]}}}}]}}"#)]);
    for piece in [
        format!(r#"{{"text":"{long}"}}"#),
        format!(r#"{{"text":"{long}","thought":true}}"#),
        format!(r#"{{"text":"","thoughtSignature":"{long}"}}"#),
        format!(r#"{{"functionCall":{{"name":"LS","args":{{"p":"{long}"}}}}}}"#),
    ] {
        checks::check_endless(|| Chunks, "", |_| part(&piece));
    }
}
