//! A session that goes on looks as it did: what its records tell is what was told when it happened.

use super::*;
use crate::agent::story::story;

/// What a front end makes cells of; texts as a whole, without times.
pub fn digest(told: &[(Option<TurnId>, EventBody)]) -> Vec<String> {
    let (mut lines, mut text, mut thought) = (vec![], String::new(), String::new());
    for (turn, body) in told {
        let line = match body {
            EventBody::Text(TextEvent::Answer(more)) => {
                text.push_str(more);
                continue;
            }
            EventBody::Text(TextEvent::Reasoning(more)) => {
                thought.push_str(more);
                continue;
            }
            EventBody::Text(TextEvent::Done) => format!("{turn:?} text {} {}", std::mem::take(&mut thought), std::mem::take(&mut text)),
            EventBody::Turn(TurnEvent::UserSaid(prompt)) => format!("{turn:?} said {}", prompt.text),
            EventBody::Turn(TurnEvent::Ended(end)) => format!("{turn:?} ended {:?} {:?}", end.how, end.usage),
            EventBody::Call(CallEvent::Finished { id, outcome }) => format!("{turn:?} {id} {:?}", outcome.kept()),
            // One by hand that a turn has overtaken is no part of the conversation.
            EventBody::Checkpoint(CheckpointEvent::Taken { kind: CheckpointKind::Manual, .. }) => continue,
            EventBody::Checkpoint(CheckpointEvent::Taken { id, label, kind, files_changed }) => {
                format!("{turn:?} {id:?} {label} {kind:?} {files_changed}")
            }
            EventBody::Checkpoint(CheckpointEvent::Restored { forward: true, changes, .. }) => format!("redone {}", changes.len()),
            EventBody::Checkpoint(CheckpointEvent::Restored { to, scope, changes, .. }) => format!("{to:?} {scope:?} {}", changes.len()),
            EventBody::Session(SessionEvent::Cleared) => {
                (text, thought) = (String::new(), String::new());
                lines.clear();
                continue;
            }
            _ => continue,
        };
        lines.push(line);
    }
    lines
}

pub fn retold(records: &[RecordBody]) -> Vec<(Option<TurnId>, EventBody)> {
    story(&stamped(records))
}

/// A second between any two.
pub fn stamped(records: &[RecordBody]) -> Vec<Record> {
    (1..).zip(records).map(|(n, body)| Record { at: n * 1_000, ..Record::new(body.clone()) }).collect()
}

fn started(turn: u64, text: &str) -> RecordBody {
    RecordBody::TurnStarted { turn: TurnId(turn), prompt: text.into() }
}

fn ended(turn: u64, how: TurnOutcome, context: u64) -> RecordBody {
    RecordBody::TurnEnded { turn: TurnId(turn), how, usage: Usage::default(), context }
}

#[test]
fn times_the_context_and_errors_are_told_as_they_were() {
    let said = |text: &str| RecordBody::Said { turn: TurnId(1), message: Message::User(text.into()) };
    let told = retold(&[started(1, "go"), said("go"), said("and faster"), ended(1, TurnOutcome::Failed("no route".into()), 700)]);
    let bodies: Vec<&EventBody> = told.iter().map(|(_, body)| body).collect();
    let end = TurnEnd { how: TurnOutcome::Failed("no route".into()), usage: Usage::default(), took: Duration::from_secs(3) };
    assert_eq!(
        bodies,
        [
            &EventBody::Turn(TurnEvent::UserSaid("go".into())),
            &EventBody::Turn(TurnEvent::Started),
            &EventBody::Turn(TurnEvent::UserSaid("and faster".into())),
            &EventBody::Turn(TurnEvent::Used(Usage { input: 700, ..Usage::default() })),
            &EventBody::Notice(Notice::error("no route")),
            &EventBody::Turn(TurnEvent::Ended(end)),
        ]
    );
}

#[test]
fn a_call_of_which_nothing_is_known_was_interrupted_and_so_was_its_turn() {
    let call = CallRequest { id: CallId(1), provider_id: "c".into(), name: "Bash".into(), arguments: r#"{"command":"make"}"#.into() };
    let asks = Message::Assistant { text: String::new(), reasoning: String::new(), calls: vec![call], kept: vec![] };
    let result = Message::Result {
        call: CallId(1),
        provider_id: "c".into(),
        name: "Bash".into(),
        content: "?".into(),
        failed: true,
        images: vec![],
    };
    let said = |message: &Message| RecordBody::Said { turn: TurnId(1), message: message.clone() };
    // The same before and after it was completed with a result.
    for records in [vec![started(1, "go"), said(&asks)], vec![started(1, "go"), said(&asks), said(&result)]] {
        let told = retold(&records);
        let last: Vec<&EventBody> = told.iter().rev().take(3).map(|(_, body)| body).collect();
        assert!(matches!(last[2], EventBody::Call(CallEvent::Proposed { title, .. }) if title == "make"), "{told:?}");
        assert!(matches!(last[1], EventBody::Call(CallEvent::Finished { outcome: Outcome::Interrupted { .. }, .. })), "{told:?}");
        assert!(matches!(last[0], EventBody::Turn(TurnEvent::Ended(TurnEnd { how: TurnOutcome::Interrupted, .. }))), "{told:?}");
    }
}

#[test]
fn what_was_cut_off_is_completed_and_said_and_yolo_is_asked_for_anew() {
    let started = |mode| RecordBody::SessionStarted { root: "/p".into(), model: None, mode };
    let begun = RecordBody::TurnStarted { turn: TurnId(1), prompt: "go".into() };
    let (agent, effects) = Agent::start(settings(), &stamped(&[started(Mode::Yolo), begun]));
    assert_eq!(agent.transcript().mode, Mode::Normal);
    let notices: Vec<&Notice> = effects
        .iter()
        .filter_map(|effect| if let Effect::Emit(_, EventBody::Notice(notice)) = effect { Some(notice) } else { None })
        .collect();
    assert_eq!(notices.len(), 1);
    assert!(notices[0].text.contains("cut off"));
    let appended = effects.iter().filter(|effect| matches!(effect, Effect::Append(RecordBody::TurnEnded { .. }))).count();
    assert_eq!(appended, 1);
    let (agent, _) = Agent::start(settings(), &stamped(&[started(Mode::Plan)]));
    assert_eq!(agent.transcript().mode, Mode::Plan, "as it was left");
    let (agent, _) = Agent::start(Settings { asked_mode: Some(Mode::Yolo), ..settings() }, &stamped(&[started(Mode::Plan)]));
    assert_eq!(agent.transcript().mode, Mode::Yolo, "as was asked for now");
}

#[test]
fn words_of_an_answer_that_was_cut_off_are_told_and_kept_once() {
    let part = |reasoning: &str, text: &str| RecordBody::Partial { turn: TurnId(1), reasoning: reasoning.into(), text: text.into() };
    let whole = |text: &str| RecordBody::Said {
        turn: TurnId(1),
        message: Message::Assistant { text: text.into(), reasoning: String::new(), calls: vec![], kept: vec![] },
    };
    let started = [RecordBody::SessionStarted { root: "/p".into(), model: None, mode: Mode::Normal }, started(1, "go")];
    let mode = RecordBody::ModeChanged { mode: Mode::Plan };
    // The words of a whole answer are in the answer; what came after it is all that is half.
    let records = [&started[..], &[part("", "a"), whole("a."), part("hm", ""), mode, part("", "b"), part("", "c")]].concat();
    let told = digest(&retold(&records));
    assert_eq!(told[1..3], ["Some(TurnId(1)) text  a.", "Some(TurnId(1)) text hm bc"]);
    let (agent, effects) = Agent::start(settings(), &stamped(&records));
    let said: Vec<&Effect> = effects.iter().filter(|effect| matches!(effect, Effect::Append(RecordBody::Said { .. }))).collect();
    let words = Message::Assistant { text: "bc".into(), reasoning: "hm".into(), calls: vec![], kept: vec![] };
    assert_eq!(said, [&Effect::Append(RecordBody::Said { turn: TurnId(1), message: words.clone() })]);
    assert_eq!(agent.transcript().messages.last(), Some(&words));
    // Reasoning alone is for the eye.
    let (agent, effects) = Agent::start(settings(), &stamped(&[&started[..], &[part("hm", "")]].concat()));
    assert!(agent.transcript().messages.is_empty());
    assert!(effects.contains(&Effect::Append(RecordBody::Thought { turn: TurnId(1), text: "hm".into() })));
}
