//! Requests out, arguments in.

use super::*;
use crate::protocol::{CheckpointId, ModelId, RequestId, RewindScope};

fn request(messages: &Arc<Vec<Message>>) -> Request {
    let model = ModelId { provider: "p".into(), model: "m".into() };
    Request { id: RequestId(1), model, system: "be good".into(), messages: messages.clone(), tools: Arc::default() }
}

fn result(call: u64, content: &str) -> Message {
    let (provider_id, name, content) = (format!("c{call}"), "View".into(), content.into());
    Message::Result { call: CallId(call), provider_id, name, content, failed: false, images: vec![] }
}

fn asked(call: u64, arguments: &str) -> Message {
    let calls = vec![CallRequest { id: CallId(call), provider_id: format!("c{call}"), name: "View".into(), arguments: arguments.into() }];
    Message::Assistant { text: String::new(), reasoning: String::new(), calls, kept: vec![] }
}

fn texts(request: &Request) -> Vec<String> {
    let text = |message: &Message| match message {
        Message::User(prompt) => prompt.text.clone(),
        Message::Assistant { text, calls, .. } => format!("{text}{}", calls.iter().map(|c| c.arguments.as_str()).collect::<String>()),
        Message::Result { content, .. } => content.clone(),
    };
    request.messages.iter().map(text).collect()
}

#[test]
fn nothing_is_copied_while_there_is_nothing_to_hide_and_nothing_is_looked_through_twice() {
    let mut privacy = privacy();
    let mut messages = Arc::new(vec![Message::User("hello".into())]);
    let sent = privacy.outgoing(request(&messages));
    assert!(Arc::ptr_eq(&sent.messages, &messages) && &*sent.system == "be good");
    drop(sent);
    Arc::make_mut(&mut messages).extend([asked(1, r#"{"file_path":".env"}"#), result(1, "TOKEN=abc123def")]);
    let sent = privacy.outgoing(request(&messages));
    let placeholder = texts(&sent)[2].strip_prefix("TOKEN=").unwrap().to_owned();
    assert_eq!((texts(&sent)[0].as_str(), vault::placeholders(&placeholder).len()), ("hello", 1));
    assert!(sent.system.starts_with("be good\n\nSecrets are not shown"), "what a placeholder is, once there is one");
    let Hidden { kind, times, places, hint, .. } = privacy.state().hidden.remove(0);
    assert_eq!((kind.as_str(), times, places, hint.as_str()), ("secret value", 1, vec!["View .env".to_owned()], "…"));
    let again = privacy.outgoing(request(&messages));
    assert!(Arc::ptr_eq(&again.messages, &sent.messages), "the very same");
    assert_eq!(privacy.state().hidden[0].times, 1);
    assert_eq!((privacy.news(), privacy.news()), (vec!["secret value".to_owned()], vec![]));
}

#[test]
fn what_is_walked_back_is_forgotten_and_what_comes_then_is_looked_through() {
    let mut privacy = privacy();
    let all = |last: &str| Arc::new(vec![Message::User("one".into()), result(1, "TOKEN=abc123def"), Message::User(last.into())]);
    privacy.outgoing(request(&all("two")));
    let rewound = |keep| RecordBody::Rewound {
        to: CheckpointId("c".into()),
        scope: RewindScope::Both,
        keep,
        marks: 0,
        before: None,
        after: None,
        files: vec![],
    };
    privacy.recorded(&rewound(2));
    let sent = privacy.outgoing(request(&all("TOKEN=other123")));
    assert!(texts(&sent)[2].starts_with("TOKEN=[secret:"), "{:?}", texts(&sent));
    privacy.recorded(&RecordBody::Cleared);
    let sent = privacy.outgoing(request(&all("three")));
    assert!(texts(&sent)[1].starts_with("TOKEN=[secret:") && texts(&sent)[2] == "three");
}

#[test]
fn a_session_that_goes_on_has_the_same_placeholders() {
    let messages = Arc::new(vec![result(1, "A_TOKEN=abc123def"), Message::User("B_TOKEN=xyz987uvw".into())]);
    let live = privacy().outgoing(request(&messages));
    let mut resumed = privacy();
    assert_eq!(texts(&resumed.outgoing(request(&messages))), texts(&live));
    let written = serde_json::json!({ "a": texts(&live)[0], "b": [texts(&live)[1]], "n": 1 });
    let real = serde_json::json!({ "a": "A_TOKEN=abc123def", "b": ["B_TOKEN=xyz987uvw"], "n": 1 });
    assert_eq!(resumed.previewed(CallId(1), written.clone()), Ok(real.clone()));
    // What was previewed runs, whatever was found since; what the user put in its place is as it is.
    let call = |args: &Value| ToolCall { id: CallId(1), name: "Edit".into(), args: args.clone(), basis: Default::default() };
    assert_eq!(resumed.to_run(call(&written)).args, real);
    resumed.previewed(CallId(1), written.clone()).unwrap();
    let own = serde_json::json!({ "file_path": "x", "content": texts(&live)[0] });
    assert_eq!(resumed.to_run(call(&own)).args, own);
}

#[test]
fn a_placeholder_that_stands_for_nothing_fails_the_call() {
    let mut privacy = privacy();
    let args = serde_json::json!({ "command": "echo [secret:token:abcdefgh]" });
    let why = privacy.previewed(CallId(1), args.clone()).unwrap_err();
    assert!(why.contains("placeholder secret:token:abcdefgh in square brackets"), "{why}");
    // What only begins like one is text.
    let args_of = |text: &str| serde_json::json!({ "command": text });
    for text in ["[secret:token:abc]", "[secret:token:ABCDEFGH]", "[secret:]", "[secret:token:abcdefgh", "[secret::abcdefgh]"] {
        assert_eq!(privacy.previewed(CallId(1), args_of(text)), Ok(args_of(text)));
    }
    assert_eq!(Privacy::off().previewed(CallId(1), args.clone()), Ok(args));
}

#[test]
fn what_looks_like_a_placeholder_in_a_file_is_text_like_any_other() {
    let mut privacy = privacy();
    let docs = "it looks like `[secret:github-token:abcdefgh]`";
    let messages = Arc::new(vec![result(1, docs)]);
    let sent = texts(&privacy.outgoing(request(&messages))).remove(0);
    assert!(sent.starts_with("it looks like `[secret:text:") && sent.ends_with("]`"), "{sent}");
    assert_eq!(privacy.previewed(CallId(1), sent.into()), Ok(docs.into()));
    assert_eq!(privacy.state().hidden, [], "it is no secret");
}

#[test]
fn a_placeholder_that_the_user_copied_stands_for_its_secret() {
    let mut privacy = privacy();
    let hidden = privacy.hide("TOKEN=abc123def", Origin::World, "x").unwrap();
    let messages = Arc::new(vec![Message::User(hidden.as_str().into()), Message::User("[secret:token:abcdefgh]".into())]);
    let sent = privacy.outgoing(request(&messages));
    assert_eq!(texts(&sent)[0], hidden);
    assert_eq!(privacy.previewed(CallId(1), texts(&sent)[1].as_str().into()), Ok("[secret:token:abcdefgh]".into()));
}

#[test]
fn switched_off_nothing_changes_and_switched_on_again_all_is_looked_through() {
    let messages = Arc::new(vec![result(1, "TOKEN=abc123def"), asked(2, r#"{"old_string":"TOKEN=abc123def","n":[1]}"#)]);
    let mut privacy = privacy();
    privacy.set(false);
    let sent = privacy.outgoing(request(&messages));
    assert!(Arc::ptr_eq(&sent.messages, &messages));
    privacy.set(true);
    let sent = texts(&privacy.outgoing(request(&messages)));
    assert!(sent.iter().all(|text| !text.contains("abc123def") && text.contains("[secret:")), "{sent:?}");
    assert!(serde_json::from_str::<Value>(&sent[1]).is_ok());
    privacy.set(false);
    let sent = privacy.outgoing(request(&messages));
    assert!(Arc::ptr_eq(&sent.messages, &messages));
}

#[test]
fn an_answer_to_a_question_is_added_to_what_was_previewed() {
    let mut privacy = privacy();
    let hidden = privacy.hide("TOKEN=abc123def", Origin::World, "x").unwrap();
    let written = serde_json::json!({ "question": hidden });
    privacy.previewed(CallId(1), written).unwrap();
    let args = serde_json::json!({ "question": hidden, "answer": hidden });
    let call = privacy.to_run(ToolCall { id: CallId(1), name: "AskUser".into(), args, basis: Default::default() });
    assert_eq!(call.args, serde_json::json!({ "question": "TOKEN=abc123def", "answer": hidden }));
}

/// `password:…` within one is not an assignment.
#[test]
fn nothing_within_a_placeholder_is_a_secret() {
    let mut privacy = privacy();
    for n in 0..50 {
        let hidden = privacy.hide(&format!("PASSWORD=hunter{n}x"), Origin::World, "x").unwrap();
        for text in [hidden.clone(), format!("It is {}.", &hidden[9..]), format!("password: \"{}\"", &hidden[9..])] {
            assert_eq!(privacy.hide(&text, Origin::Model, "x"), None, "{text}");
            assert_eq!(privacy.inspect(&text), text);
        }
    }
}
