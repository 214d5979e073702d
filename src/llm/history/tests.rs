//! Conversations as they come about when models, formats and fates change in the middle.

mod property;

use super::*;
use crate::protocol::{ModelId, RequestId};

pub fn call(id: u64, provider_id: &str, name: &str) -> CallRequest {
    CallRequest { id: CallId(id), provider_id: provider_id.into(), name: name.into(), arguments: r#"{"file_path":"a"}"#.into() }
}

pub fn result(id: u64, provider_id: &str, content: &str) -> Message {
    Message::Result {
        call: CallId(id),
        provider_id: provider_id.into(),
        name: "View".into(),
        content: content.into(),
        failed: content.starts_with("Error"),
        images: vec![],
    }
}

pub fn said(text: &str, calls: Vec<CallRequest>, kept: Vec<Kept>) -> Message {
    Message::Assistant { text: text.into(), reasoning: "hm".into(), calls, kept }
}

pub fn image(label: &str) -> Image {
    Image { label: label.into(), media_type: "image/png".into(), data: "iVBORw0KGgo=".into(), width: 2, height: 1 }
}

pub fn request_of(model: &str, messages: Vec<Message>) -> Request {
    Request {
        id: RequestId(7),
        model: ModelId { provider: "P".into(), model: model.into() },
        system: "Be brief.".into(),
        messages: messages.into(),
        tools: vec![crate::protocol::ToolSpec {
            name: "View".into(),
            aliases: vec!["read_file".into()],
            description: "Shows a file.".into(),
            schema: serde_json::json!({ "type": "object", "additionalProperties": false, "required": ["file_path"], "properties": {
                "file_path": { "type": "string" }, "limit": { "type": ["integer", "null"], "minimum": 1 } } }),
        }]
        .into(),
    }
}

/// All that can go wrong in one conversation: what other formats left behind, what was cut off, what is empty.
pub fn mixed_up() -> Vec<Message> {
    let foreign = |value| Kept {
        format: WireFormat::Completions,
        model: ModelId { provider: "other".into(), model: "x".into() },
        text: 0,
        calls: 0,
        value,
    };
    let long = "x".repeat(200);
    vec![
        Message::User("Look".into()),
        Message::User(" ".into()),
        said("", vec![call(1, "functions.View:0", "View"), call(2, "functions.View:0", "no such tool!")], vec![foreign("secret".into())]),
        result(1, "functions.View:0", ""),
        result(2, "functions.View:0", "Error: no such tool"),
        said("", vec![], vec![]),
        said("  ", vec![call(3, &long, "View")], vec![]),
        Message::Result {
            call: CallId(3),
            provider_id: long,
            name: "View".into(),
            content: "A picture.".into(),
            failed: false,
            images: vec![image("[image a.png: 2×1 png]")],
        },
        Message::User("What is it?".into()),
        said("Nothing.", vec![call(4, "", "View"), call(5, "lost", "View")], vec![]),
        result(4, "", "4"),
        result(99, "nobody", "an answer to nothing"),
        Message::User(Prompt { text: String::new(), images: vec![image("[image 1: 2×1 png]")] }),
    ]
}

fn brief(steps: &[Step]) -> Vec<String> {
    let show = |step: &Step| match step {
        Step::User(prompts) => format!("user {}", joined(prompts)),
        Step::Assistant(said) => {
            let calls: Vec<_> = said.calls.iter().map(|call| format!(" {}:{}", call.name, call.id)).collect();
            format!("assistant {:?}{} kept {}", said.text, calls.concat(), said.kept.len())
        }
        Step::Results(results) => {
            results.iter().map(|r| format!("result {} {:?} {}", r.id, r.content, r.failed)).collect::<Vec<_>>().join(", ")
        }
    };
    steps.iter().map(show).collect()
}

#[test]
fn every_call_has_an_id_of_its_own_and_one_answer_behind_it() {
    let request = request_of("m", mixed_up());
    let steps = steps(&request, WireFormat::Anthropic, &|id| plain_id(id, 64));
    assert_eq!(
        brief(&steps),
        [
            "user Look",
            "assistant \"\" View:h00001000 no_such_tool_:h00002000 kept 0",
            "result h00001000 \"\" false, result h00002000 \"Error: no such tool\" true",
            "assistant \"  \" View:h00003000 kept 0",
            "result h00003000 \"A picture.\" false",
            "user What is it?",
            "assistant \"Nothing.\" View:h00004000 View:lost kept 0",
            "result h00004000 \"4\" false, result lost \"There is no result: it was stopped.\" true",
            "user ",
        ]
    );
}

#[test]
fn the_user_speaks_first() {
    let request = request_of("m", vec![said("I was here before.", vec![], vec![])]);
    assert_eq!(
        brief(&steps(&request, WireFormat::Google, &|_| true)),
        ["user (The conversation goes on.)", "assistant \"I was here before.\" kept 0"]
    );
}

#[test]
fn what_was_kept_is_for_the_same_model_and_format_and_stands_where_it_stood() {
    let kept = |format, model: &str, text, calls, value: &str| Kept {
        format,
        model: ModelId { provider: "P".into(), model: model.into() },
        text,
        calls,
        value: value.into(),
    };
    let list = vec![
        kept(WireFormat::Anthropic, "m", 0, 0, "first"),
        kept(WireFormat::Anthropic, "other", 0, 0, "another model's"),
        kept(WireFormat::Google, "m", 0, 0, "another format's"),
        kept(WireFormat::Anthropic, "m", 3, 1, "between"),
        kept(WireFormat::Anthropic, "m", 99, 99, "beyond the end"),
    ];
    let request = request_of("m", vec![Message::User("x".into()), said("one two", vec![call(1, "a", "View"), call(2, "b", "LS")], list)]);
    let steps = steps(&request, WireFormat::Anthropic, &|_| true);
    let Step::Assistant(said) = &steps[1] else { panic!("{steps:?}") };
    let parts: Vec<_> = said
        .parts()
        .iter()
        .map(|part| match part {
            Part::Text(text) => format!("text {text}"),
            Part::Call(n, call) => format!("call {n} {}", call.name),
            Part::Kept(kept) => format!("kept {}", kept.value),
        })
        .collect();
    assert_eq!(
        parts,
        ["kept \"first\"", "text one", "call 0 View", "kept \"between\"", "text  two", "call 1 LS", "kept \"beyond the end\""]
    );
}

#[test]
fn versions_are_read_from_names() {
    let cases = [
        ("claude-sonnet-4-6", "claude", Some((4, 6))),
        ("claude-3-7-sonnet-20250219", "claude", Some((3, 7))),
        ("claude-sonnet-4-20250514", "claude", Some((4, 0))),
        ("anthropic/Claude-Opus-5", "claude", Some((5, 0))),
        ("models/gemini-2.5-flash-lite", "gemini", Some((2, 5))),
        ("gemini-flash-latest", "gemini", None),
        ("kimi-k2", "claude", None),
    ];
    for (model, family, expected) in cases {
        assert_eq!(version(model, family), expected, "{model}");
    }
}
