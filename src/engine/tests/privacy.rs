//! Secrets through whole turns: what a provider is sent, what tools are given, what is kept.

use super::*;
use crate::{llm, privacy::Key};
use futures::{FutureExt, StreamExt, future::BoxFuture, stream::BoxStream};
use serde_json::{Value, json};
use std::sync::Mutex;

/// Says what to answer to what it was sent.
type Answer = dyn Fn(usize, &str) -> Vec<StreamItem> + Send + Sync;

/// A model that notes every request.
struct Watching {
    sent: Arc<Mutex<Vec<Request>>>,
    answer: Box<Answer>,
}

impl llm::provider::Provider for Watching {
    fn models(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ProviderError>> {
        async { Ok(vec![]) }.boxed()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, StreamItem> {
        let mut sent = self.sent.lock().unwrap();
        let items = (self.answer)(sent.len(), &all(&request));
        sent.push(request);
        futures::stream::iter(items).boxed()
    }
}

/// All that is in a request.
fn all(request: &Request) -> String {
    serde_json::to_string(&request.messages).unwrap() + &request.system
}

fn bench(
    on: bool,
    earlier: Vec<Record>,
    answer: impl Fn(usize, &str) -> Vec<StreamItem> + Send + Sync + 'static,
) -> (Bench, Arc<Mutex<Vec<Request>>>) {
    let sent: Arc<Mutex<Vec<Request>>> = Arc::default();
    let sessions = MemorySessions::new(SessionId("s".into()));
    let records = sessions.sibling(SessionId("s".into()));
    let privacy = Privacy::new(on, Key::fixed([1; 32]), vec![], &[]);
    let provider = Arc::new(Watching { sent: sent.clone(), answer: Box::new(answer) });
    (Bench::of(provider, Box::new(sessions), records, tools::Registry::default(), privacy, earlier), sent)
}

/// A call whose arguments come in pieces of this many bytes.
fn call(name: &str, args: &Value, piece: usize) -> Vec<StreamItem> {
    let arguments = args.to_string();
    let pieces = arguments.as_bytes().chunks(piece).map(|piece| String::from_utf8(piece.to_vec()).unwrap());
    let delta = |(n, arguments)| StreamItem::CallDelta {
        index: 0,
        id: (n == 0).then(|| "c".into()),
        name: (n == 0).then(|| name.into()),
        arguments,
    };
    pieces.enumerate().map(delta).chain([StreamItem::Done(StopReason::Calls)]).collect()
}

fn say(text: &str) -> Vec<StreamItem> {
    vec![StreamItem::Text(text.into()), StreamItem::Done(StopReason::Finished)]
}

/// The placeholder behind the last `before`, as a model would copy it.
fn placeholder(sent: &str, before: &str) -> String {
    let at =
        sent.rfind(&format!("{before}[secret:")).unwrap_or_else(|| panic!("no placeholder behind {before:?} in {sent}")) + before.len();
    sent[at..=at + sent[at..].find(']').unwrap()].to_owned()
}

const SECRET: &str = "Tr0ub4dor\\\"&3x";

/// It reads the file, puts the secret in an edit and a command, and says it.
fn copies(step: usize, sent: &str) -> Vec<StreamItem> {
    match step {
        0 => call("View", &json!({ "file_path": "app.ini" }), 1000),
        1 => {
            let old = format!("PASSWORD={}", placeholder(sent, "PASSWORD="));
            call("Edit", &json!({ "file_path": "app.ini", "old_string": old, "new_string": format!("{old}\nCOPY_{old}") }), 7)
        }
        2 => call("Bash", &json!({ "command": format!("printf '%s' '{}' > out.txt; cat app.ini", placeholder(sent, "PASSWORD=")) }), 3),
        _ => say(&format!("It is {}.", placeholder(sent, "COPY_PASSWORD="))),
    }
}

#[test]
fn a_provider_sees_no_secret_and_the_tools_get_the_real_one() {
    let (mut bench, sent) = bench(true, vec![], copies);
    std::fs::write(bench.folder.path().join("project/app.ini"), format!("PASSWORD={SECRET}\n")).unwrap();
    bench.prompt("My token=ab12cd34ef is here. Copy the password.");
    let told = bench.until("notice", |e| matches!(e, EventBody::Notice(notice) if notice.text.starts_with("Replaced")));
    assert!(matches!(&told, EventBody::Notice(notice) if notice.text.contains("secret value")), "{told:?}");
    // What is approved is what will run.
    let preview = |e: &EventBody| matches!(e, EventBody::Call(CallEvent::Previewed { access: Access::Write(_), .. }));
    let shown = bench.until("preview", preview);
    assert!(format!("{shown:?}").contains("Tr0ub4dor") && !format!("{shown:?}").contains("[secret:"), "{shown:?}");
    bench.allow();
    bench.allow();
    assert_eq!(bench.ended(), TurnOutcome::Answered);
    assert_eq!(bench.file("app.ini"), Some(format!("PASSWORD={SECRET}\nCOPY_PASSWORD={SECRET}\n")));
    assert_eq!(bench.file("out.txt").as_deref(), Some(SECRET));
    let sent = sent.lock().unwrap();
    assert_eq!(sent.len(), 4);
    for request in sent.iter() {
        let all = all(request);
        assert!(!all.contains("Tr0ub4dor") && !all.contains("ab12cd34ef"), "{all}");
    }
    assert!(matches!(&sent[0].messages[0], Message::User(prompt) if prompt.text.contains("token=[secret:secret-value:")));
    // What is kept is what was there: the answer says its placeholder, the file's text its secret.
    let kept = serde_json::to_string(&bench.records.records()).unwrap();
    assert!(kept.contains("Tr0ub4dor") && kept.contains("It is [secret:password:"), "{kept}");
    bench.send(Command::Privacy(protocol_privacy(true)));
    let state = bench.until("state", |e| matches!(e, EventBody::Session(SessionEvent::Privacy(_))));
    let EventBody::Session(SessionEvent::Privacy(state)) = state else { unreachable!() };
    let rows = state.rows().join("\n");
    assert!(rows.contains("what you wrote") && rows.contains("View app.ini") && !rows.contains(SECRET), "{rows}");
}

fn protocol_privacy(on: bool) -> crate::protocol::Privacy {
    crate::protocol::Privacy::Set(on)
}

#[test]
fn a_session_that_goes_on_still_knows_what_its_placeholders_stand_for() {
    let (mut first, _) = bench(true, vec![], copies);
    std::fs::write(first.folder.path().join("project/app.ini"), format!("PASSWORD={SECRET}\n")).unwrap();
    first.prompt("Copy the password.");
    first.allow();
    first.allow();
    assert_eq!(first.ended(), TurnOutcome::Answered);
    first.close();
    let (mut second, sent) = bench(true, first.records.records(), |step, sent| match step {
        // From its own words, of the time before.
        0 => call("Bash", &json!({ "command": format!("printf '%s' '{}' > again.txt", placeholder(sent, "It is ")) }), 5),
        _ => say("Done."),
    });
    second.prompt("Once more.");
    second.allow();
    assert_eq!(second.ended(), TurnOutcome::Answered);
    assert_eq!(second.file("again.txt").as_deref(), Some(SECRET));
    assert!(sent.lock().unwrap().iter().all(|request| !all(request).contains("Tr0ub4dor")));
}

#[test]
fn a_placeholder_that_a_model_makes_up_fails_the_call_and_is_no_end() {
    let (mut bench, sent) = bench(true, vec![], |step, _| match step {
        0 => call("Bash", &json!({ "command": "echo [secret:password:abcdefgh] > out.txt" }), 4),
        _ => say("Sorry."),
    });
    bench.send(Command::SetMode(Mode::Yolo));
    bench.prompt("Go.");
    assert_eq!(bench.ended(), TurnOutcome::Answered);
    assert_eq!(bench.file("out.txt"), None);
    assert!(all(&sent.lock().unwrap()[1]).contains("no secret of this session has the placeholder secret:password:abcdefgh"));
}

#[test]
fn switched_off_everything_is_sent_as_it_is() {
    let (mut bench, sent) = bench(false, vec![], |step, _| match step {
        0 => call("Bash", &json!({ "command": "echo '[secret:password:abcdefgh]' > out.txt" }), 1000),
        _ => say("Done."),
    });
    let text = "PASSWORD=hunter2 and [secret:password:abcdefgh]";
    bench.prompt(text);
    bench.allow();
    assert_eq!(bench.ended(), TurnOutcome::Answered);
    assert_eq!(bench.file("out.txt").as_deref(), Some("[secret:password:abcdefgh]\n"));
    assert!(matches!(&sent.lock().unwrap()[1].messages[0], Message::User(prompt) if prompt.text == text));
    // On from here; what was said before is looked through as well.
    bench.send(Command::Privacy(protocol_privacy(true)));
    bench.prompt("And now?");
    assert_eq!(bench.ended(), TurnOutcome::Answered);
    assert!(!all(&sent.lock().unwrap()[2]).contains("hunter2"));
    bench.send(Command::Privacy(crate::protocol::Privacy::Inspect("PASSWORD=hunter3".into())));
    let told = bench.until("answer", |e| matches!(e, EventBody::Session(SessionEvent::Inspected(_))));
    assert!(
        matches!(&told, EventBody::Session(SessionEvent::Inspected(text)) if text.starts_with("PASSWORD=[secret:password:")),
        "{told:?}"
    );
}
