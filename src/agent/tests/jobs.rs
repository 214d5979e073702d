//! Commands in the background: what the user sees of their ends, and when the model hears of them.

use super::{script::run_with, *};

fn with_tools() -> Settings {
    let spec = |name: &str| ToolSpec { name: name.into(), aliases: vec![], description: String::new(), schema: serde_json::Value::Null };
    Settings { job_tools: Arc::new(vec![spec("BashOutput")]), ..settings() }
}

/// What the last request told the model.
fn last_call(log: &str) -> &str {
    log.lines().rev().find(|line| line.contains("CALL MODEL")).unwrap().trim()
}

const START: &str = "mode yolo\n prompt go\n call Bash {}\n done\n preview 1 run serve\n checkpoint c1\n started bash_1\n ran 1 runs\n";
const TOLD: &str = "The command bash_1 (serve bash_1) has ended in the background: exit 1. BashOutput has what it printed. \
                    (This is from Backstitch, not from the user.)";

#[test]
fn an_end_between_turns_is_shown_at_once_and_told_with_the_next_prompt() {
    let log =
        run_with(with_tools(), &format!("{START} text Up.\n done\n checkpoint c2\n ended bash_1 exit 1\n prompt and now?\n text x\n done"));
    let ended = log.split("> ended bash_1 exit 1\n").nth(1).unwrap();
    assert!(ended.starts_with("  Session(Background([]))\n  Warning: Ended in the background: bash_1 · exit 1 · serve bash_1\n> prompt"));
    assert!(last_call(&log).ends_with(&format!("assistant \"Up.\"  | user {TOLD:?} | user \"and now?\"")), "{log}");
    let again =
        run_with(with_tools(), &format!("{START} done\n checkpoint c2\n ended bash_1 exit 1\n prompt a\n text x\n done\n prompt b"));
    assert_eq!(last_call(&again).matches("has ended").count(), 1, "{again}");
}

#[test]
fn an_end_within_a_turn_is_told_with_its_next_request_and_never_between_a_call_and_its_result() {
    let script = format!("{START} call View {{}}\n done\n preview 2 read /p/a\n ended bash_1 exit 1\n ran 2 two");
    let log = run_with(with_tools(), &script);
    assert!(last_call(&log).ends_with(&format!("result 1 \"runs\" | assistant \"\" View{{}} | result 2 \"two\" | user {TOLD:?}")), "{log}");
}

#[test]
fn what_the_model_has_read_of_or_ended_itself_it_is_not_told() {
    let read = "call BashOutput {}\n done\n preview 2 job bash_1\n";
    // Whichever comes first.
    for order in ["ended bash_1 exit 1\n read 2 all\n", "read 2 all\n ended bash_1 exit 1\n"] {
        let log = run_with(with_tools(), &format!("{START} {read} {order} text x\n done\n checkpoint c2\n prompt b"));
        assert!(!last_call(&log).contains("This is from Backstitch"), "{log}");
        assert!(log.contains("Warning: Ended in the background: bash_1"), "the user sees it all the same: {log}");
    }
    let log = run_with(with_tools(), &format!("{START} text x\n done\n checkpoint c2\n killed bash_1\n prompt b"));
    assert!(!log.contains("has ended") && !log.contains("Ended in"), "{log}");
    // Read of while it ran.
    let log =
        run_with(with_tools(), &format!("{START} {read} ran 2 some\n ended bash_1 exit 0\n text x\n done\n checkpoint c2\n prompt b"));
    assert_eq!(last_call(&log).matches("has ended in the background: exit 0").count(), 1, "{log}");
}

#[test]
fn reading_asks_nobody_and_ending_is_refused_in_plan_mode() {
    let log = run_with(
        with_tools(),
        "mode plan\n prompt a\n call BashOutput {}\n call KillBash {}\n done\n preview 1 job bash_1\n preview 2 kill bash_1\n ran 1 x",
    );
    assert!(log.contains("RUN 1 BashOutput") && log.contains("finished 2: Not allowed: plan mode is for reading only"), "{log}");
}

#[test]
fn what_runs_ends_with_the_session_and_whoever_goes_on_knows() {
    let (mut agent, _) = Agent::start(settings(), &[]);
    agent.step(Duration::ZERO, Input::JobStarted(Job { id: "bash_1".into(), command: "serve".into() }));
    let effects = agent.step(Duration::ZERO, Input::Command(Command::Close));
    let said = "Ended with the session, in the background: bash_1 (serve).";
    assert!(effects.contains(&Effect::Emit(None, EventBody::Notice(Notice::info(said)))), "{effects:?}");
    let told = |effect: &Effect| matches!(effect, Effect::Append(RecordBody::Told { text }) if text.starts_with(said));
    assert!(effects.iter().any(told) && effects.last() == Some(&Effect::Stop));
}

#[test]
fn the_tools_for_it_are_offered_once_there_is_something_to_reach() {
    let (mut agent, _) = Agent::start(with_tools(), &[]);
    let mut offered = |input| match agent.step(Duration::ZERO, input).into_iter().find_map(|effect| match effect {
        Effect::CallModel(request) => Some(request.tools),
        _ => None,
    }) {
        Some(tools) => tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>(),
        None => vec!["nothing was asked".into()],
    };
    assert_eq!(offered(Input::Command(Command::Prompt("a".into()))), [] as [&str; 0]);
    offered(Input::Stream(RequestId(1), StreamItem::Text("x".into())));
    offered(Input::Stream(RequestId(1), StreamItem::Done(StopReason::Finished)));
    offered(Input::JobStarted(Job { id: "bash_1".into(), command: "serve".into() }));
    assert_eq!(offered(Input::Command(Command::Prompt("b".into()))), ["BashOutput"]);
}
