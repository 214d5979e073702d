//! Bodies as Ollama sends them (our own, in its shape), cut at every byte; what is sent to it, and over the wire.

use super::*;
use crate::{
    llm::{
        answer::tests as checks,
        history::tests::{call, image, mixed_up, request_of, result, said},
        provider::Provider,
        wire::tests::{answering, refusing, run, say, server},
    },
    protocol::{Kept, Message, ModelId, Parameters, StopReason, StreamItem},
};

fn check(body: &str, expected: &[&str]) {
    checks::check(Lines::default, body, expected);
}

const HELLO: &str = "{\"model\":\"m\",\"created_at\":\"2026-11-30T12:00:00Z\",\"message\":{\"role\":\"assistant\",\"content\":\"Žluť 🦀\"},\"done\":false}\n";
const END: &str = "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"total_duration\":5,\"prompt_eval_count\":20,\"eval_count\":5}\n";

fn with_everything() -> String {
    [
        "{\"message\":{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"hm, 🦀\"},\"done\":false}\n",
        "{\"message\":{\"role\":\"assistant\",\"content\":\"I look.\",\"news\":1},\"done\":false}\n",
        "{\"message\":{\"content\":\"\",\"tool_calls\":[{\"function\":{\"index\":0,\"name\":\"View\",\"arguments\":{\"p\":\"ž\"}}}]},\"done\":false}\n",
        "{\"message\":{\"content\":\"\",\"tool_calls\":[{\"id\":\"call_x\",\"function\":{\"name\":\"View\",\"arguments\":{\"p\":2}}},{\"id\":\"call_x\",\"function\":{\"name\":\"LS\",\"arguments\":{}}}]},\"done\":false}\n",
        END,
    ]
    .concat()
}

#[test]
fn text_thoughts_and_calls() {
    check(&[HELLO, END].concat(), &["text Žluť 🦀", "usage 20 5 0 0", "done Finished"]);
    check([HELLO, END].concat().trim_end(), &["text Žluť 🦀", "usage 20 5 0 0", "done Finished"]);
    // In one piece.
    check(&HELLO.replace("false", "true"), &["text Žluť 🦀", "done Finished"]);
    // A proxy that makes events of it.
    check(&format!("data: {HELLO}\ndata: {END}\n"), &["text Žluť 🦀", "usage 20 5 0 0", "done Finished"]);
    check(
        &with_everything(),
        &[
            "reasoning hm, 🦀",
            "text I look.",
            r#"call 0 - View {"p":"ž"}"#,
            r#"call 1 call_x View {"p":2}"#,
            "call 2 - LS {}",
            r#"kept 7 3 {"thought":true}"#,
            "call 0 c00012000 - ",
            "call 2 c00012002 - ",
            "usage 20 5 0 0",
            "done Calls",
        ],
    );
    checks::check_cuts(Lines::default, &with_everything());
    checks::check_garbage(Lines::default, &with_everything());
}

#[test]
fn every_way_to_end() {
    check(&[HELLO, &END.replace("stop", "length")].concat(), &["text Žluť 🦀", "usage 20 5 0 0", "done Length"]);
    check(HELLO, &["text Žluť 🦀", "failed Cut None The answer was cut off: the server closed the connection."]);
    check("", &["failed Cut None The server closed the connection without an answer."]);
    check(
        &[HELLO, "{\"error\":\"an internal error was encountered\"}\n"].concat(),
        &["text Žluť 🦀", "failed Busy None an internal error was encountered"],
    );
    check("{\"error\":\"model requires more memory\"}", &["failed Refused None model requires more memory"]);
    check(&[HELLO, "{broken}\n"].concat(), &["text Žluť 🦀", "failed Malformed None The server sent broken JSON: {broken}"]);
    check("<html>Hi</html>", &["failed Malformed None The server answered with a web page instead of an answer of a model."]);
}

#[test]
fn this_is_exactly_what_is_sent() {
    let model = "gpt-oss:20b";
    let own = |model: &str| {
        let model = ModelId { provider: "P".into(), model: model.into() };
        vec![Kept { format: WireFormat::Ollama, model, text: 7, calls: 1, value: json!({ "thought": true }) }]
    };
    let mut shown = result(1, "call_x", "A picture.");
    if let Message::Result { images, .. } = &mut shown {
        images.push(image("[image a.png: 2×1 png]"));
    }
    let request = request_of(
        model,
        vec![
            Message::User("Look".into()),
            said("I look.", vec![call(1, "call_x", "View")], own(model)),
            shown,
            said("Another model thought this.", vec![], own("other")),
            Message::User("And?".into()),
        ],
    );
    let parameters = Parameters {
        temperature: Some(0.5),
        top_p: Some(0.9),
        top_k: Some(40),
        max_tokens: Some(2_000),
        stop: vec!["END".into()],
        frequency_penalty: Some(0.1),
        presence_penalty: Some(-0.1),
        reasoning_effort: Some("minimal".into()),
        ..Default::default()
    };
    let settings =
        ProviderSettings { parameters: parameters.into(), context_windows: [(model.to_owned(), 32_768)].into(), ..Default::default() };
    insta::assert_snapshot!(serde_json::to_string_pretty(&Chat::default().body(&settings, &request)).unwrap());
}

#[test]
fn whatever_was_said_before_it_is_a_valid_history() {
    let body = Chat::default().body(&ProviderSettings::default(), &request_of("qwen3:8b", mixed_up()));
    insta::assert_snapshot!(serde_json::to_string_pretty(&body["messages"]).unwrap());
    assert_eq!((body["options"].to_string().as_str(), body.get("think")), (r#"{"num_ctx":16384}"#, None));
}

#[test]
fn over_the_wire() {
    let no = r#"{"error":"\"m\" does not support thinking"}"#;
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\nconnection: close\r\n\r\n{HELLO}{END}");
    let settings = |port| ProviderSettings {
        name: "test".into(),
        base_url: format!("http://127.0.0.1:{port}/v1"),
        format: WireFormat::Ollama,
        parameters: Box::new(Parameters { reasoning_effort: Some("high".into()), ..Default::default() }),
        ..Default::default()
    };
    let chat = server(vec![refusing("400 Bad Request", "", no), say(answer)]);
    let request = request_of("m", vec![Message::User("hi".into())]);
    let items: Vec<_> = run(async { Ollama::new(settings(chat.port)).stream(request).collect().await });
    assert_eq!(items.last(), Some(&StreamItem::Done(StopReason::Finished)));
    let requests: Vec<String> = (0..2).map(|_| chat.sent.recv().unwrap()).collect();
    assert!(requests.iter().all(|request| request.starts_with("POST /api/chat HTTP/1.1\r\n")));
    assert_eq!(requests.iter().map(|r| r.contains(r#""think":true"#)).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn models_are_asked_what_they_can() {
    let server = answering(5, |request| {
        let show = request.split_once("\r\n\r\n").unwrap().1;
        match show {
            "" => r#"{"models":[{"name":"qwen3:8b","model":"qwen3:8b","size":5},{"name":"embed:1b"},{"name":"tiny"},{"name":"odd"}]}"#,
            show if show.contains("qwen3") => {
                r#"{"capabilities":["completion","tools"],"model_info":{"general.architecture":"qwen3","qwen3.context_length":40960}}"#
            }
            show if show.contains("tiny") => r#"{"capabilities":["completion","vision"],"model_info":{"tiny.context_length":2048}}"#,
            show if show.contains("embed") => r#"{"capabilities":["embedding"],"model_info":{}}"#,
            _ => "<html>",
        }
        .to_owned()
    });
    let provider = Ollama::new(ProviderSettings {
        name: "test".into(),
        base_url: format!("http://127.0.0.1:{}", server.port),
        format: WireFormat::Ollama,
        context_windows: [("own".to_owned(), 8_192)].into(),
        models: vec!["own".into()],
        ..Default::default()
    });
    let models = run(provider.models()).unwrap();
    let found: Vec<_> = models.iter().map(|m| (m.id.model.as_str(), m.context_window, m.vision)).collect();
    // What is not set is what a request will be given.
    assert_eq!(
        found,
        [("own", Some(8_192), None), ("qwen3:8b", Some(16_384), Some(false)), ("tiny", Some(2_048), Some(true)), ("odd", None, None)]
    );
    let mut asked: Vec<String> = (0..5).map(|_| server.sent.recv().unwrap().lines().next().unwrap().to_owned()).collect();
    asked.dedup();
    assert_eq!(asked, ["GET /api/tags HTTP/1.1", "POST /api/show HTTP/1.1"]);
}

#[test]
fn an_answer_without_an_end_is_stopped() {
    let long = "x".repeat(10_000);
    for message in [
        format!(r#"{{"content":"{long}"}}"#),
        format!(r#"{{"thinking":"{long}"}}"#),
        format!(r#"{{"tool_calls":[{{"function":{{"name":"LS","arguments":{{"p":"{long}"}}}}}}]}}"#),
    ] {
        checks::check_endless(Lines::default, "", |_| format!("{{\"message\":{message},\"done\":false}}\n"));
    }
}
