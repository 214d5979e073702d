//! Bodies as Anthropic's server sends them (our own, in their shape), cut at every byte; what is sent to it, and over the wire.

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

fn check(body: &str, expected: &[&str]) {
    checks::check(Events::default, body, expected);
}

fn events(list: &[&str]) -> String {
    let kind = |event: &str| serde_json::from_str::<Value>(event).unwrap()["type"].as_str().unwrap().to_owned();
    list.iter().map(|event| format!("event: {}\ndata: {event}\n\n", kind(event))).collect()
}

const START: &str = r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"stop_reason":null,"usage":{"input_tokens":5,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":1}}}"#;
const TEXT: &str = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
const HELLO: &str = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Žluť 🦀"}}"#;
const STOP_0: &str = r#"{"type":"content_block_stop","index":0}"#;
const END: &str = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":15}}"#;
const OVER: &str = r#"{"type":"message_stop"}"#;

fn with_everything() -> String {
    events(&[
        START,
        r#"{"type":"ping"}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm, "}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"🦀"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}"#,
        STOP_0,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"ZW5j"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"I look."}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"citations_delta","citation":{"x":1}}}"#,
        r#"{"type":"content_block_stop","index":2}"#,
        r#"{"type":"a_kind_of_next_year","index":9,"news":[1]}"#,
        r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"View","input":{},"caller":{"type":"direct"}}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"p\":"}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"\"ž\"}"}}"#,
        r#"{"type":"content_block_stop","index":3}"#,
        r#"{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_1","name":"LS","input":{"a":1}}}"#,
        r#"{"type":"content_block_stop","index":4}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":70}}"#,
        OVER,
    ])
}

#[test]
fn text_thoughts_and_calls() {
    check(&events(&[START, TEXT, HELLO, STOP_0, END, OVER]), &["text Žluť 🦀", "usage 125 15 100 0 written 20", "done Finished"]);
    check(
        &with_everything(),
        &[
            "reasoning hm, 🦀",
            r#"kept 0 0 {"type":"thinking","thinking":"hm, 🦀","signature":"c2ln"}"#,
            r#"kept 0 0 {"type":"redacted_thinking","data":"ZW5j"}"#,
            "text I look.",
            r#"call 0 toolu_1 View {"p":"ž"}"#,
            // The same id twice: the second call gets one of ours.
            r#"call 1 c00012001 LS {"a":1}"#,
            "usage 125 70 100 0 written 20",
            "done Calls",
        ],
    );
    checks::check_cuts(Events::default, &with_everything());
    checks::check_garbage(Events::default, &with_everything());
}

#[test]
fn every_way_to_end() {
    let ends = |reason: &str| events(&[TEXT, HELLO, STOP_0, &END.replace("end_turn", reason), OVER]);
    for (reason, done) in [
        ("end_turn", "done Finished"),
        ("stop_sequence", "done Finished"),
        ("max_tokens", "done Length"),
        ("model_context_window_exceeded", "done Length"),
        ("refusal", "done Refused"),
        ("pause_turn", "done Paused"),
        ("something new", "done Finished"),
    ] {
        check(&ends(reason), &["text Žluť 🦀", "usage 0 15 0 0", done]);
    }
    // The last event is missing; the answer is whole.
    check(&events(&[TEXT, HELLO, END]), &["text Žluť 🦀", "usage 0 15 0 0", "done Finished"]);
    let cut = "failed Cut None The answer was cut off: the server closed the connection.";
    check(&events(&[TEXT, HELLO, STOP_0]), &["text Žluť 🦀", cut]);
    check(&(events(&[TEXT, HELLO]) + "data: {\"type\":\"content_bl"), &["text Žluť 🦀", cut]);
    // A thought that was cut off has no signature, and does not go back.
    let thought = r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#;
    check(&events(&[thought]), &["reasoning hm", cut]);
    check("", &["failed Cut None The server closed the connection without an answer."]);
}

#[test]
fn errors_and_what_is_no_answer() {
    let failing = |error: &str| events(&[START, TEXT, HELLO]) + &events(&[&format!(r#"{{"type":"error","error":{error}}}"#)]);
    for (error, expected) in [
        (r#"{"type":"overloaded_error","message":"Overloaded"}"#, "failed Busy None Overloaded"),
        (r#"{"type":"rate_limit_error","message":"Slow down"}"#, "failed Busy None Slow down"),
        (r#"{"type":"api_error","message":"Oops"}"#, "failed Busy None Oops"),
        (r#"{"type":"invalid_request_error","message":"internal names are wrong"}"#, "failed Refused None internal names are wrong"),
        (r#"{"type":"authentication_error","message":"Bad key"}"#, "failed Unauthorised None Bad key"),
    ] {
        check(&failing(error), &["text Žluť 🦀", "usage 125 1 100 0 written 20", expected]);
    }
    check("<html>Hi</html>", &["failed Malformed None The server answered with a web page instead of an answer of a model."]);
    check(r#"{"choices":[]}"#, &[r#"failed Malformed None The server's answer holds no message: {"choices":[]}"#]);
    check(r#"{"type":"error","error":{"type":"not_found_error","message":"no model x"}}"#, &["failed Refused None no model x"]);
    check(r#"{"type":"message","content":[{"type":"te"#, &["failed Cut None The answer was cut off: the server closed the connection."]);
    check(
        r#"{"type":"message","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"Hi"},{"type":"tool_use","id":"a","name":"LS","input":{"p":1}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":2}}"#,
        &[
            "reasoning hm",
            r#"kept 0 0 {"type":"thinking","thinking":"hm","signature":"s"}"#,
            "text Hi",
            r#"call 0 a LS {"p":1}"#,
            "usage 3 2 0 0",
            "done Calls",
        ],
    );
    let huge = format!("data: {{\"x\":\"{}", "x".repeat(17 << 20));
    assert_eq!(
        checks::decode(Events::default(), &[huge.as_bytes()]),
        ["failed Malformed None The server sent an event of more than 16 MB."]
    );
}

fn sent(settings: &ProviderSettings, request: &Request) -> Value {
    Messages::default().body(settings, request)
}

fn thought(model: &str, text: usize) -> Kept {
    Kept {
        format: WireFormat::Anthropic,
        model: ModelId { provider: "P".into(), model: model.into() },
        text,
        calls: 0,
        value: json!({ "type": "thinking", "thinking": "hm", "signature": "c2ln" }),
    }
}

#[test]
fn this_is_exactly_what_is_sent() {
    let model = "claude-sonnet-4-5";
    let mut shown = result(2, "toolu_2", "A picture.");
    if let Message::Result { images, .. } = &mut shown {
        images.push(image("[image a.png: 2×1 png]"));
    }
    let request = request_of(
        model,
        vec![
            Message::User("Look at a and b".into()),
            said("I look.", vec![call(1, "toolu_1", "View"), call(2, "toolu_2", "View")], vec![thought(model, 0)]),
            result(1, "toolu_1", "Error: no such file"),
            shown,
            Message::User("And?".into()),
        ],
    );
    let parameters = Parameters {
        temperature: Some(0.5),
        top_p: Some(0.9),
        top_k: Some(40),
        max_tokens: Some(20_000),
        stop: vec!["END".into()],
        reasoning_budget: Some(5_000),
        ..Default::default()
    };
    let settings = ProviderSettings { parameters: parameters.into(), ..Default::default() };
    insta::assert_snapshot!(serde_json::to_string_pretty(&sent(&settings, &request)).unwrap());
}

#[test]
fn whatever_was_said_before_it_is_a_valid_history() {
    let body = sent(&ProviderSettings { prompt_caching: Some(false), ..Default::default() }, &request_of("claude-haiku-4-5", mixed_up()));
    insta::assert_snapshot!(serde_json::to_string_pretty(&body["messages"]).unwrap());
    assert!(!body.to_string().contains("cache_control"));
}

#[test]
fn without_tools_the_history_keeps_those_that_were_called() {
    let settings = ProviderSettings { disable_tools: true, ..Default::default() };
    let body = sent(&settings, &request_of("claude-x", mixed_up()));
    let names: Vec<_> = body["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!((names, body["tool_choice"].to_string().as_str()), (vec!["View", "no_such_tool_"], r#"{"type":"none"}"#));
    let plain = sent(&settings, &request_of("claude-x", vec![Message::User("hi".into())]));
    assert!(plain.get("tools").is_none() && plain.get("tool_choice").is_none());
}

#[test]
fn how_it_thinks_depends_on_the_model() {
    let asked = |model: &str, effort: Option<&str>, budget: Option<u64>, max_tokens: Option<u64>, kept: Vec<Kept>| {
        let parameters =
            Parameters { reasoning_effort: effort.map(Into::into), reasoning_budget: budget, max_tokens, ..Default::default() };
        let settings = ProviderSettings { parameters: Box::new(Parameters { temperature: Some(1.5), ..parameters }), ..Default::default() };
        let history = vec![Message::User("x".into()), said("", vec![call(1, "a", "View")], kept), result(1, "a", "1")];
        let body = sent(&settings, &request_of(model, history));
        let show = |key: &str| body.get(key).map_or("-".to_owned(), Value::to_string);
        [show("thinking"), show("output_config"), show("max_tokens"), show("temperature")].join(" ")
    };
    let own = |model: &str| vec![thought(model, 0)];
    let sonnet = "claude-sonnet-4-5";
    assert_eq!(asked(sonnet, None, None, None, vec![]), "- - 32000 1.5");
    assert_eq!(asked("claude-3-5-haiku-20241022", None, None, None, vec![]), "- - 8192 1.5");
    assert_eq!(asked(sonnet, Some("none"), None, None, own(sonnet)), "- - 32000 1.5");
    assert_eq!(asked(sonnet, Some("medium"), None, None, own(sonnet)), r#"{"type":"enabled","budget_tokens":8192} - 32000 -"#);
    assert_eq!(asked(sonnet, None, Some(60_000), None, own(sonnet)), r#"{"type":"enabled","budget_tokens":60000} - 68192 -"#);
    assert_eq!(asked(sonnet, None, Some(60_000), Some(4_000), own(sonnet)), r#"{"type":"enabled","budget_tokens":3999} - 4000 -"#);
    // The calls are another model's: what answers them must begin with a thought that there is not.
    assert_eq!(asked(sonnet, Some("high"), None, None, own("other")), "- - 32000 1.5");
    assert_eq!(asked("claude-opus-4-6", Some("max"), None, None, vec![]), r#"{"type":"adaptive"} {"effort":"max"} 32000 -"#);
    // These think of themselves.
    assert_eq!(asked("claude-opus-5", None, None, None, vec![]), r#"{"type":"adaptive","display":"summarized"} - 32000 -"#);
    assert_eq!(asked("claude-opus-5", Some("none"), None, None, vec![]), r#"{"type":"disabled"} - 32000 -"#);
    assert_eq!(
        asked("claude-opus-5", Some("minimal"), Some(9_999), None, vec![]),
        r#"{"type":"adaptive","display":"summarized"} {"effort":"low"} 32000 -"#
    );
}

#[test]
fn over_the_wire() {
    let list = r#"{"data":[{"type":"model","id":"claude-a","display_name":"A"}],"has_more":false}"#;
    let too_long = r#"{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for claude-x"}}"#;
    let unknown = r#"{"type":"error","error":{"type":"invalid_request_error","message":"tools.0.custom.eager_input_streaming: Extra inputs are not permitted"}}"#;
    let overloaded = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let body = events(&[START, TEXT, HELLO, STOP_0, END, OVER]);
    let server = server(vec![
        refusing("400 Bad Request", "", too_long),
        refusing("400 Bad Request", "", unknown),
        say(format!("{OK}{body}")),
        refusing("529 Overloaded", "retry-after: 3\r\n", overloaded),
        refusing("200 OK", "", list),
    ]);
    let settings = ProviderSettings {
        name: "test".into(),
        base_url: format!("http://127.0.0.1:{}", server.port),
        api_key: Some("sk-ant".into()),
        ..Default::default()
    };
    let settings = ProviderSettings { format: WireFormat::Anthropic, ..settings };
    let (answered, busy, models) = run(async {
        let provider = Anthropic::new(settings);
        let request = request_of("claude-x", vec![Message::User("hi".into())]);
        let answered: Vec<_> = provider.stream(request.clone()).collect().await;
        let busy: Vec<_> = provider.stream(request).collect().await;
        (answered, busy, provider.models().await.unwrap())
    });
    assert_eq!(answered.last(), Some(&StreamItem::Done(StopReason::Finished)));
    assert_eq!((failed(&busy).kind, failed(&busy).message.as_str()), (Kind::Busy, "Overloaded (HTTP 529)"));
    assert_eq!(models.iter().map(|model| model.id.model.as_str()).collect::<Vec<_>>(), ["claude-a"]);
    let requests: Vec<String> = (0..5).map(|_| server.sent.recv().unwrap()).collect();
    for request in &requests {
        assert!(request.contains("x-api-key: sk-ant\r\n") && request.contains("anthropic-version: 2023-06-01\r\n"), "{request}");
        assert!(!request.to_lowercase().contains("authorization"), "{request}");
        assert!(!request.lines().next().unwrap().contains("sk-ant"), "{request}");
    }
    assert!(requests[0].starts_with("POST /v1/messages HTTP/1.1\r\n") && requests[4].starts_with("GET /v1/models HTTP/1.1\r\n"));
    let told: Vec<_> = requests[..4].iter().map(|r| (r.contains(r#""max_tokens":8192"#), r.contains("eager_input_streaming"))).collect();
    assert_eq!(told, [(false, true), (true, true), (true, false), (true, false)]);
}

#[test]
fn an_answer_without_an_end_is_stopped() {
    let long = "x".repeat(10_000);
    let start = |block: &str| events(&[&format!(r#"{{"type":"content_block_start","index":0,"content_block":{block}}}"#)]);
    let delta = |piece: &str| events(&[&format!(r#"{{"type":"content_block_delta","index":0,"delta":{piece}}}"#)]);
    let thought = start(r#"{"type":"thinking","thinking":""}"#);
    let call = start(r#"{"type":"tool_use","id":"a","name":"LS","input":{}}"#);
    for (first, piece) in [
        ("", format!(r#"{{"type":"text_delta","text":"{long}"}}"#)),
        (&*thought, format!(r#"{{"type":"thinking_delta","thinking":"{long}"}}"#)),
        (&*thought, format!(r#"{{"type":"signature_delta","signature":"{long}"}}"#)),
        (&*call, format!(r#"{{"type":"input_json_delta","partial_json":"{long}"}}"#)),
    ] {
        checks::check_endless(Events::default, first, |_| delta(&piece));
    }
    checks::check_endless(Events::default, "", |n| {
        format!(
            "data: {{\"type\":\"content_block_start\",\"index\":{n},\"content_block\":{{\"type\":\"tool_use\",\"name\":\"{:040}\"}}}}\n\n",
            n
        )
    });
}
