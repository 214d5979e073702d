//! The checkpoint browser on what the store tells.

use super::*;

fn info(id: &str, origin: Origin, session: &str) -> CheckpointInfo {
    CheckpointInfo {
        id: CheckpointId(id.into()),
        text: format!("text of {id}"),
        ago: 90,
        files_changed: 2,
        origin,
        session: Some(SessionId(session.into())),
        named: false,
        pinned: false,
    }
}

fn version(id: &str, mode: u32) -> Option<Version> {
    Some(Version { id: id.into(), mode })
}

fn wanted(id: &str) -> Wanted {
    Wanted { to: CheckpointId(id.into()), since: None, only: None }
}

fn plan(id: &str) -> Plan {
    let file = |path: &str, now, then| Planned { path: path.into(), now, then };
    let files = vec![
        file("a.txt", version("1", 0o100_644), version("2", 0o100_644)),
        file("moved/to.txt", version("3", 0o100_644), None),
        file("new.bin", version("4", 0o100_644), version("5", 0o100_644)),
        file("old.txt", None, version("3", 0o100_644)),
        file("run.sh", version("6", 0o100_644), version("6", 0o100_755)),
    ];
    Plan { wanted: wanted(id), files, skipped: vec![("big".into(), "larger than 20 MB".into())] }
}

fn changes() -> Vec<FileChange> {
    let change = |path: &str, old: Option<&str>, new: Option<&str>, binary| FileChange {
        path: path.into(),
        old: old.map(Into::into),
        new: new.map(Into::into),
        binary,
    };
    vec![
        change("a.txt", Some("now\n"), Some("then\n"), false),
        change("moved/to.txt", Some("same\n"), None, false),
        change("new.bin", Some(""), Some(""), true),
        change("old.txt", None, Some("same\n"), false),
        change("run.sh", Some("x\n"), Some("x\n"), false),
    ]
}

/// At rest, after one turn of this session, with the browser open and the list there.
fn browsing() -> (Bench, Vec<Cmd>) {
    let mut bench = Bench::new(setting(), (140, 40));
    bench.event(None, started(true));
    let own = bench.model.status.session.clone().unwrap().0;
    let taken = |kind| {
        EventBody::Checkpoint(CheckpointEvent::Taken { id: CheckpointId("turn".into()), label: "ask".into(), kind, files_changed: 1 })
    };
    bench.turn();
    bench.event(Some(1), taken(CheckpointKind::Opening));
    let end = TurnEnd { how: TurnOutcome::Answered, usage: Usage::default(), took: Duration::ZERO };
    bench.event(Some(1), EventBody::Turn(TurnEvent::Ended(end)));
    bench.keys("esc esc");
    let all = vec![
        info("other", Origin::Turn, "another"),
        info("within", Origin::Call, "another"),
        info("turn", Origin::Turn, &own),
        info("mine", Origin::Manual, &own),
    ];
    let cmds = bench.event(None, EventBody::Session(SessionEvent::Checkpoints { all, bytes: 5 }));
    (bench, cmds)
}

fn planned(bench: &mut Bench, id: &str) {
    bench.event(None, EventBody::Session(SessionEvent::Planned { plan: plan(id), changes: changes() }));
}

#[test]
fn the_plan_is_shown_and_single_files_are_left_out() {
    let (mut bench, cmds) = browsing();
    assert_eq!(cmds, [Cmd::Send(Command::Plan(wanted("mine")))], "the newest");
    planned(&mut bench, "mine");
    let screen = bench.screen();
    for text in ["text of other", "❯ ask", "text of mine", "+ then", "3 changed", "1 deleted", "1 recreated", "1 left as it is"] {
        assert!(screen.contains(text), "{text} in\n{screen}");
    }
    assert!(!screen.contains("text of within"), "what a turn took within it is no entry:\n{screen}");
    // The first file stays out; what is restored is the rest of the plan that was shown.
    bench.keys("right space");
    let cmds = bench.keys("enter f");
    let [Cmd::Send(Command::Rewind { to, scope: RewindScope::Files, plan: Some(done) })] = &cmds[..] else { panic!("{cmds:?}") };
    assert_eq!((to, &done.files[..]), (&CheckpointId("mine".into()), &plan("mine").files[1..]));
    assert_eq!(done.wanted.only.as_ref().unwrap().len(), 4);
}

#[test]
fn what_texts_do_not_tell_is_said() {
    let (mut bench, _) = browsing();
    planned(&mut bench, "mine");
    bench.keys("right");
    let mut seen = String::new();
    for _ in 0..5 {
        seen += &bench.screen();
        bench.keys("tab");
    }
    for text in ["a binary file", "was moved/to.txt", "becomes executable"] {
        assert!(seen.contains(text), "{text} in\n{seen}");
    }
}

#[test]
fn checkpoints_are_named_pinned_deleted_and_compared_with_the_one_before() {
    let (mut bench, _) = browsing();
    planned(&mut bench, "mine");
    let revise = |revision| vec![Cmd::Send(Command::Revise { id: CheckpointId("mine".into()), revision })];
    assert_eq!(bench.keys("p"), revise(Revision::Pin(true)));
    assert_eq!(bench.keys("d y"), revise(Revision::Delete));
    assert_eq!(bench.keys("d n"), []);
    bench.keys("r ctrl+u");
    bench.typed("better");
    assert_eq!(bench.keys("enter"), revise(Revision::Rename("better".into())));
    let compare = Command::Compare { from: CheckpointId("turn".into()), to: CheckpointId("mine".into()) };
    assert_eq!(bench.keys("c"), [Cmd::Send(compare)]);
    let (from, to) = (CheckpointId("turn".into()), CheckpointId("mine".into()));
    bench.event(None, EventBody::Session(SessionEvent::Compared { from, to, changes: changes() }));
    assert!(bench.screen().contains("+ then"), "{}", bench.screen());
    // What another session did can be walked back, but is no part of this conversation.
    assert_eq!(bench.keys("c"), [Cmd::Send(Command::Plan(wanted("mine")))]);
    assert_eq!(bench.keys("end"), [Cmd::Send(Command::Plan(wanted("other")))]);
    planned(&mut bench, "other");
    bench.keys("enter");
    let screen = bench.screen();
    assert!(screen.contains("files only") && !screen.contains("files and conversation"), "{screen}");
}

#[test]
fn one_is_opened_by_its_name() {
    let (mut bench, _) = browsing();
    bench.keys("esc");
    bench.typed("/checkpoint restore text of other");
    bench.keys("enter");
    let all = vec![info("other", Origin::Turn, "another"), info("mine", Origin::Manual, "x")];
    let cmds = bench.event(None, EventBody::Session(SessionEvent::Checkpoints { all, bytes: 5 }));
    assert_eq!(cmds, [Cmd::Send(Command::Plan(wanted("other")))]);
}

/// Where nothing has changed since the end of one turn, the next one begins with the same checkpoint.
#[test]
fn each_request_is_an_entry_though_it_began_with_the_end_of_another() {
    let (mut bench, _) = browsing();
    bench.keys("esc");
    let own = bench.model.status.session.clone().unwrap().0;
    let taken = |kind| {
        EventBody::Checkpoint(CheckpointEvent::Taken { id: CheckpointId("end".into()), label: "ask again".into(), kind, files_changed: 1 })
    };
    bench.turn();
    bench.event(Some(1), taken(CheckpointKind::Opening));
    bench.event(
        Some(1),
        EventBody::Turn(TurnEvent::Ended(TurnEnd { how: TurnOutcome::Answered, usage: Usage::default(), took: Duration::ZERO })),
    );
    let listed = |named| {
        let end = CheckpointInfo { named, ..info("end", Origin::Call, &own) };
        EventBody::Session(SessionEvent::Checkpoints { all: vec![info("turn", Origin::Turn, &own), end], bytes: 5 })
    };
    bench.keys("esc esc");
    bench.event(None, listed(false));
    assert!(bench.screen().contains("ask again"), "{}", bench.screen());
    bench.event(None, listed(true));
    assert!(bench.screen().contains("text of end"), "a name by hand counts more: {}", bench.screen());
}

#[test]
fn single_steps_are_shown_when_they_are_asked_for() {
    let (mut bench, _) = browsing();
    let shows = |bench: &Bench| bench.screen().contains("text of within");
    assert!(!shows(&bench));
    assert_eq!(bench.keys("s"), [Cmd::Send(Command::Plan(wanted("mine")))], "the same one stays selected");
    assert!(shows(&bench) && bench.screen().contains("▸ ◆ text of mine"), "{}", bench.screen());
    bench.keys("s");
    assert!(!shows(&bench));
    // One that was asked for by its id is there and selected, whatever it is.
    let open = |bench: &mut Bench, sought: &str| {
        bench.keys("esc");
        bench.typed(&format!("/checkpoint restore {sought}"));
        bench.keys("enter");
        let own = bench.model.status.session.clone().unwrap().0;
        let all = vec![info("within", Origin::Call, &own), info("mine", Origin::Manual, &own)];
        bench.event(None, EventBody::Session(SessionEvent::Checkpoints { all, bytes: 5 }))
    };
    assert_eq!(open(&mut bench, "withi"), [Cmd::Send(Command::Plan(wanted("within")))]);
    assert!(bench.screen().contains("a step"), "{}", bench.screen());
    // One that is not there is said, instead of another one being offered.
    assert_eq!(open(&mut bench, "nonsense"), []);
    assert!(bench.model.panel.is_none());
    let said = bench.model.transcript.all_rows(100).iter().map(|row| row.text()).collect::<Vec<_>>().join("\n");
    assert!(said.contains("There is no checkpoint 'nonsense'."), "{said}");
}

#[test]
fn an_undo_that_leaves_something_asks_and_whatever_closes_the_question_is_a_no() {
    let file = |path: &str, now, then| Planned { path: path.into(), now, then };
    let (old, new) = (version("1", 0o100_644), version("2", 0o100_644));
    let plan = Plan {
        wanted: wanted("c1"),
        files: vec![file("a.rs", new.clone(), old), file("new\u{1b}[2J.rs", new, None)],
        skipped: vec![("both.rs".into(), "changed after the turn; left as it is".into())],
    };
    let asked = || {
        let mut bench = Bench::ready();
        let title = "Going back to before “go”".into();
        bench.event(None, EventBody::Session(SessionEvent::StepAsked { title, plan: plan.clone() }));
        bench
    };
    for (key, go) in [("enter", true), ("y", true), ("n", false), ("esc", false), ("ctrl+c", false)] {
        let mut bench = asked();
        assert_eq!(bench.msg_now(press("y")), [], "a key that comes at once is no answer");
        assert_eq!(bench.keys(key), [Cmd::Send(Command::Step { go })], "{key}");
        assert!(bench.model.panel.is_none());
    }
    insta::assert_snapshot!(asked().screen());
}
