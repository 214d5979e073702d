//! Bodies as servers send them (our own, in their shapes), cut at every byte.

use super::*;
use crate::llm::answer::{
    Answer,
    tests::{self as checks, request, show},
};

fn check(body: &str, expected: &[&str]) {
    checks::check(Chunks::default, body, expected);
}

/// A stream of chunks with these choices, then what follows.
fn stream(choices: &[&str], rest: &str) -> String {
    let chunks: String = choices.iter().map(|choice| format!("data: {{\"choices\":[{choice}]}}\n\n")).collect();
    chunks + rest
}

/// Texts and calls alike: whatever a server sends, what is kept has an end.
#[test]
fn an_answer_without_an_end_is_stopped() {
    let text = |key: &str| format!("data: {{\"choices\":[{{\"delta\":{{\"{key}\":\"{}\"}}}}]}}\n\n", "x".repeat(100_000));
    let call = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{{\"index\":0,\"function\":{{\"name\":\"f\",\"arguments\":\"{}\"}}}}]}}}}]}}\n\n",
        "x".repeat(100_000)
    );
    for event in [text("content"), text("reasoning"), call] {
        let mut answer = Answer::new(&request(), Chunks::default());
        let fed = (0..1000).take_while(|_| {
            answer.feed(event.as_bytes());
            !answer.ended()
        });
        assert!((30..60).contains(&fed.count()));
        let Some(StreamItem::Failed(why)) = answer.take().pop() else { panic!("{event:.60}") };
        assert_eq!(why.message, "The answer did not end: it was stopped after 4 MB.");
    }
}

const DONE: &str = "data: [DONE]\n\n";

#[test]
fn text_and_usage() {
    check(
        "\u{feff}: hello\n\ndata: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n\
         event: message\ndata:{\"choices\":[{\"delta\":{\"content\":\"Žluť \"}}],\"usage\":null,\"error\":null}\n\n\
         data: {\"choices\":[{\"delta\":{\"content\":\"🦀 \\\"q\\\"\"}}]}\n\n\
         data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
         data: {\"choices\":[],\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":5,\"prompt_tokens_details\":{\"cached_tokens\":16},\"completion_tokens_details\":{\"reasoning_tokens\":3}}}\n\n\
         data:   [DONE]  \n\n",
        &["text Žluť 🦀 \"q\"", "usage 20 5 16 3", "done Finished"],
    );
}

#[test]
fn every_way_to_end() {
    let text = r#"{"delta":{"content":"a"}}"#;
    let stop = r#"{"delta":null,"finish_reason":"stop"}"#;
    check(&stream(&[text, stop], ""), &["text a", "done Finished"]);
    check(stream(&[text, stop], "").trim_end(), &["text a", "done Finished"]);
    check(&stream(&[text], DONE), &["text a", "done Finished"]);
    check(&stream(&[text], "data:[DONE]"), &["text a", "done Finished"]);
    check(&stream(&[text], "data: [ done ]\n\n"), &["text a", "done Finished"]);
    check(
        &stream(&[text, stop], "data: [DONE]\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"late\"}}]}\n\n"),
        &["text a", "done Finished"],
    );
    check(&stream(&[text], ""), &["text a", "failed Cut None The answer was cut off: the server closed the connection."]);
    check(
        &stream(&[text], "data: {\"choices\":[{\"del"),
        &["text a", "failed Cut None The answer was cut off: the server closed the connection."],
    );
    check("", &["failed Cut None The server closed the connection without an answer."]);
    check(": ping\n\n", &["failed Cut None The server closed the connection without an answer."]);
    check(&stream(&[text, r#"{"delta":{},"finish_reason":"length"}"#], DONE), &["text a", "done Length"]);
    check(&stream(&[text, r#"{"delta":{},"finish_reason":"eos"}"#], DONE), &["text a", "done Finished"]);
    check(&stream(&[text, r#"{"delta":{},"finish_reason":"content_filter"}"#], DONE), &["text a", "done Refused"]);
    check(&stream(&[text, r#"{"delta":{},"finish_reason":17}"#], DONE), &["text a", "done Finished"]);
    check(&stream(&[r#"{"delta":{"refusal":"I won't."}}"#, stop], DONE), &["text I won't.", "done Refused"]);
}

#[test]
fn reasoning_under_every_name() {
    let cases = [
        r#"{"delta":{"reasoning_content":"hm","content":null}}"#,
        r#"{"delta":{"reasoning":"hm"}}"#,
        r#"{"delta":{"reasoning":"hm","reasoning_content":"hm"}}"#,
        r#"{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}}"#,
        r#"{"delta":{"reasoning":{"text":"hm"}}}"#,
    ];
    for case in cases {
        check(
            &stream(&[case, r#"{"delta":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}"#], DONE),
            &["reasoning hm", "text ab", "done Finished"],
        );
    }
}

#[test]
fn what_the_server_wants_back_is_kept() {
    let call = r#"{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"LS","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}}}]}}"#;
    let stop = r#"{"delta":{},"finish_reason":"tool_calls"}"#;
    check(
        &stream(&[r#"{"delta":{"reasoning_content":"hm"}}"#, call, stop], DONE),
        &[
            "reasoning hm",
            "call 0 a LS {}",
            r#"kept 0 1 {"reasoning_content":true}"#,
            r#"kept 0 1 {"call":0,"extra_content":{"google":{"thought_signature":"c2ln"}}}"#,
            "done Calls",
        ],
    );
    let details = [
        r#"{"delta":{"reasoning":"h","reasoning_details":[{"type":"reasoning.text","text":"h","index":0,"signature":null}]}}"#,
        r#"{"delta":{"reasoning":"m","reasoning_details":[{"type":"reasoning.text","text":"m","index":0}]}}"#,
        r#"{"delta":{"reasoning_details":[{"type":"reasoning.text","text":"","signature":"c2ln","index":0},{"type":"reasoning.encrypted","data":"ZW5j","index":1}]}}"#,
        r#"{"delta":{"content":"a"},"finish_reason":"stop"}"#,
    ];
    let kept = r#"kept 1 0 {"reasoning_details":[{"type":"reasoning.text","text":"hm","index":0,"signature":"c2ln"},{"type":"reasoning.encrypted","data":"ZW5j","index":1}]}"#;
    check(&stream(&details, DONE), &["reasoning hm", "text a", kept, "done Finished"]);
    checks::check_cuts(Chunks::default, &stream(&details, DONE));
}

#[test]
fn calls_from_fragments() {
    let stop = r#"{"delta":{},"finish_reason":"tool_calls"}"#;
    // The plain case: index always, id and name only in the first piece; two calls.
    check(
        &stream(
            &[
                r#"{"delta":{"content":"I look."}}"#,
                r#"{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"View","arguments":""}}]}}"#,
                r#"{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"p\":"}}]}}"#,
                r#"{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"ž\"}"}}]}}"#,
                r#"{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"LS","arguments":"{}"}}]}}"#,
                stop,
            ],
            DONE,
        ),
        &["text I look.", "call 0 a View {\"p\":\"ž\"}", "call 1 b LS {}", "done Calls"],
    );
    let two = ["call 0 a View {\"p\":1}", "call 1 b View {\"p\":2}", "done Calls"];
    let made_up = ["call 0 - View {\"p\":1}", "call 1 - View {\"p\":2}", "call 0 c00012000 - ", "call 1 c00012001 - ", "done Calls"];
    let cases: [(&[&str], &[&str]); 8] = [
        // Whole calls in one chunk, with and without an index; "stop" although there are calls.
        (
            &[
                r#"{"delta":{"tool_calls":[{"id":"a","function":{"name":"View","arguments":"{\"p\":1}"}},{"id":"b","function":{"name":"View","arguments":"{\"p\":2}"}}]},"finish_reason":"stop"}"#,
            ],
            &two,
        ),
        // Every call has the index 0.
        (
            &[
                r#"{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"View","arguments":"{\"p\":1}"}}]}}"#,
                r#"{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"View","arguments":"{\"p\":2}"}}]}}"#,
            ],
            &two,
        ),
        // Id and name with every piece, no index.
        (
            &[
                r#"{"delta":{"tool_calls":[{"id":"a","function":{"name":"View","arguments":"{\"p\""}}]}}"#,
                r#"{"delta":{"tool_calls":[{"id":"a","function":{"name":"View","arguments":":1}"}}]}}"#,
                r#"{"delta":{"tool_calls":[{"id":"b","function":{"name":"View","arguments":"{\"p\":2}"}}]}}"#,
                r#"{"delta":{"tool_calls":[{"id":"b","function":{"name":"View","arguments":""}}]}}"#,
            ],
            &two,
        ),
        // Arguments as an object; ids empty or null.
        (
            &[
                r#"{"message":{"content":null,"tool_calls":[{"id":"","function":{"name":"View","arguments":{"p":1}}},{"id":null,"function":{"name":"View","arguments":{"p":2}}}]}}"#,
            ],
            &made_up,
        ),
        // Whole calls one by one, with neither index nor id.
        (
            &[
                r#"{"delta":{"tool_calls":[{"function":{"name":"View","arguments":"{\"p\":1}"}}]}}"#,
                r#"{"delta":{"tool_calls":[{"function":{"name":"View","arguments":"{\"p\":2}"}}]}}"#,
            ],
            &made_up,
        ),
        // Fragments without an index: each goes to the latest call.
        (
            &[
                r#"{"delta":{"tool_calls":[{"id":"a","function":{"name":"View","arguments":null}}]}}"#,
                r#"{"delta":{"tool_calls":[{"function":{"name":null,"arguments":"{\"p\":1}"}}]}}"#,
                r#"{"delta":{"tool_calls":[{"id":"b","function":{"name":"View"}}]}}"#,
                r#"{"delta":{"tool_calls":[{"function":{"arguments":"{\"p\":2}"}}]}}"#,
            ],
            &two,
        ),
        // The same id twice: the second call gets one of ours.
        (
            &[
                r#"{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"View","arguments":"{}"}}]}}"#,
                r#"{"delta":{"tool_calls":[{"index":1,"id":"a","function":{"name":"LS","arguments":"{}"}}]}}"#,
            ],
            &["call 0 a View {}", "call 1 c00012001 LS {}", "done Calls"],
        ),
        // The old way.
        (
            &[
                r#"{"delta":{"function_call":{"name":"View","arguments":""}}}"#,
                r#"{"delta":{"function_call":{"arguments":"{}"}},"finish_reason":"function_call"}"#,
            ],
            &["call 0 c00012000 View {}", "done Calls"],
        ),
    ];
    for (choices, expected) in cases {
        check(&stream(choices, DONE), expected);
    }
}

#[test]
fn a_plain_json_answer_is_taken_too() {
    let body = r#"{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hi","reasoning_content":"hm","tool_calls":[{"id":"a","function":{"name":"LS","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}"#;
    check(body, &["reasoning hm", "text Hi", "call 0 a LS {}", r#"kept 2 1 {"reasoning_content":true}"#, "usage 3 2 0 0", "done Calls"]);
    let lines =
        "{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n{\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\n";
    check(lines, &["text ab", "done Finished"]);
    check(r#"{"choices":[{"message":{"content":"no reason"}}]}"#, &["text no reason", "done Finished"]);
    check("<!doctype html><h1>Hi</h1>", &["failed Malformed None The server answered with a web page instead of an answer of a model."]);
    check(r#"{"models":[]}"#, &["failed Malformed None The server's answer holds no choice: {\"models\":[]}"]);
    check(r#"{"choices":[{"message":{"content":"half"#, &["failed Cut None The answer was cut off: the server closed the connection."]);
}

#[test]
fn errors_inside_the_stream() {
    let text = r#"{"delta":{"content":"a"}}"#;
    let cases = [
        ("data: {\"error\":{\"message\":\"Overloaded\",\"type\":\"overloaded_error\"}}\n\n", "failed Busy None Overloaded"),
        ("data: {\"error\":{\"message\":\"Too long\",\"code\":400}}\n\n", "failed Refused Some(400) Too long"),
        ("data: {\"error\":{\"message\":\"Slow down\",\"code\":\"429\"}}\n\n", "failed Busy Some(429) Slow down"),
        ("data: {\"error\":\"nope\"}\n\n", "failed Refused None nope"),
        ("{\"error\":{\"message\":\"bare\"}}\n", "failed Refused None bare"),
        ("data: {\"object\":\"error\",\"message\":\"from vLLM\",\"code\":404}\n\n", "failed Refused None from vLLM"),
        (
            "data: {\"choices\":[{\"delta\":{},\"error\":{\"code\":502,\"message\":\"upstream\"},\"finish_reason\":\"error\"}]}\n\n",
            "failed Busy Some(502) upstream",
        ),
        (
            "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"error\"}]}\n\n",
            "failed Busy None The server stopped in the middle of the answer with an error.",
        ),
        ("data: {broken}\n\n", "failed Malformed None The server sent broken JSON: {broken}"),
    ];
    for (rest, expected) in cases {
        check(&stream(&[text], rest), &["text a", expected]);
    }
    check("{\"error\":{\"message\":\"at once\"}}", &["failed Refused None at once"]);
}

#[test]
fn noise_between_the_events() {
    let body = "data: ping\n\ndata:\n\ndata: null\n\nretry: 100\n\ndata: {\"choices\":null}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\
                data: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\ndata: {\"choices\":[{}],\"x_groq\":{\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2.0}}}\n\ndata: [DONE]\n\n";
    check(body, &["text ab", "usage 1 2 0 0", "done Finished"]);
}

#[test]
fn a_broken_byte_costs_one_letter() {
    let body = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\xFFb\"}}]}\n\ndata: [DONE]\n\n";
    assert_eq!(checks::decode(Chunks::default(), &[body]), ["text a\u{fffd}b", "done Finished"]);
}

#[test]
fn an_answer_that_is_whole_outlives_a_broken_connection() {
    let mut answer = Answer::new(&request(), Chunks::default());
    answer.feed(stream(&[r#"{"delta":{"content":"a"},"finish_reason":"stop"}"#], "").as_bytes());
    answer.close(Some(error(Kind::Cut, "reset")));
    assert_eq!(show(answer.take()), ["text a", "done Finished"]);
}

#[test]
fn garbage_ends_once_and_never_panics() {
    let seed = stream(
        &[
            r#"{"delta":{"content":"ž","tool_calls":[{"index":0,"id":"a","function":{"name":"V","arguments":"{}"}}]}}"#,
            r#"{"delta":{},"finish_reason":"stop"}"#,
        ],
        "data: {\"usage\":{\"prompt_tokens\":1}}\n\ndata: [DONE]\n\n",
    );
    checks::check_garbage(Chunks::default, &seed);
}

#[test]
fn a_connection_that_ends_anywhere_keeps_what_came() {
    let body = stream(
        &[
            r#"{"delta":{"reasoning_content":"hm 🦀"}}"#,
            r#"{"delta":{"content":"Žluť"}}"#,
            r#"{"delta":{"content":" and"}}"#,
            r#"{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"View","arguments":"{\"p\":"}}]}}"#,
            r#"{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}}"#,
            r#"{"delta":{},"finish_reason":"tool_calls"}"#,
        ],
        "data: {\"usage\":{\"prompt_tokens\":1}}\n\ndata: [DONE]\n\n",
    );
    checks::check_cuts(Chunks::default, &body);
}
