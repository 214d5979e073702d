//! Keys and events in, commands and rows out: the screen without a terminal.

mod background;
mod checkpoints;
mod commands;
mod looks;
mod random;
mod window;

use super::{
    app::{Cmd, Model, Msg, Opened, Setting, tick_every, update},
    jobs::{Draft, Job, Report},
    view,
};
use crate::protocol::*;
use backstitch_components::{
    key::Chord,
    theme::{ColorDepth, Theme},
};
use iocraft::{KeyCode, KeyModifiers};
use std::{fmt::Write, sync::Arc, time::Duration};

pub(super) fn setting() -> Setting {
    Setting {
        root: "/p".into(),
        place: "~/src/shop (main)".into(),
        demo: false,
        trusted: true,
        placeholder: "What should be done?".into(),
        theme: Arc::new(Theme::default()),
        depth: ColorDepth::None,
        still: true,
        keys: Default::default(),
        fullscreen: false,
    }
}

pub(super) struct Bench {
    pub(super) model: Model,
    /// What went into the history on disk: every sending does, so it is not among what the tests compare.
    pub(super) remembered: Vec<String>,
    clock: Duration,
    seq: u64,
    printed: String,
}

impl Bench {
    pub(super) fn new(setting: Setting, size: (u16, u16)) -> Bench {
        let (model, _) = Model::new(setting, size);
        Bench { model, clock: Duration::ZERO, seq: 0, printed: String::new(), remembered: vec![] }
    }

    /// In a session with a model, at rest.
    pub(super) fn ready() -> Bench {
        let mut bench = Bench::new(setting(), (80, 24));
        bench.event(None, started(true));
        bench
    }

    /// Each message comes a second after the one before, unless told otherwise.
    pub(super) fn msg(&mut self, msg: Msg) -> Vec<Cmd> {
        self.clock += Duration::from_secs(1);
        self.msg_now(msg)
    }

    pub(super) fn msg_now(&mut self, msg: Msg) -> Vec<Cmd> {
        let mut cmds = update(&mut self.model, self.clock, msg);
        cmds.retain(|cmd| match cmd {
            Cmd::Do(Job::Remember(text)) => {
                self.remembered.push(text.clone());
                false
            }
            _ => true,
        });
        for row in self.model.take_outbox() {
            writeln!(self.printed, "{}", row.text().trim_end()).unwrap();
        }
        cmds
    }

    pub(super) fn event(&mut self, turn: Option<u64>, body: EventBody) -> Vec<Cmd> {
        self.seq += 1;
        self.msg(Msg::Event(Event { seq: self.seq, turn: turn.map(TurnId), body }))
    }

    /// Keys by name, separated by blanks; everything that comes of them.
    pub(super) fn keys(&mut self, keys: &str) -> Vec<Cmd> {
        keys.split(' ').flat_map(|key| self.msg(press(key))).collect()
    }

    pub(super) fn typed(&mut self, text: &str) {
        for c in text.chars() {
            self.msg(Msg::Key(KeyCode::Char(c), KeyModifiers::NONE));
        }
    }

    pub(super) fn screen(&self) -> String {
        let frame = view::frame(&self.model);
        frame.rows().map(|row| format!("{}\n", row.text().trim_end())).collect()
    }

    pub(super) fn turn(&mut self) {
        self.event(Some(1), EventBody::Turn(TurnEvent::UserSaid("fix it".into())));
        self.event(Some(1), EventBody::Turn(TurnEvent::Started));
        self.event(Some(1), EventBody::Turn(TurnEvent::Called));
    }

    pub(super) fn asks(&mut self, access: Access, block: Block) {
        self.turn();
        let id = CallId(1);
        self.event(Some(1), call(CallEvent::Proposed { id, name: "Edit".into(), title: String::new() }));
        self.event(Some(1), call(CallEvent::Previewed { id, access, title: "src/dates.rs".into(), block }));
        self.event(Some(1), call(CallEvent::Asked { id, why: None }));
    }
}

pub(super) fn press(key: &str) -> Msg {
    let Chord { code, ctrl, alt, shift } = key.parse().unwrap();
    let mut modifiers = KeyModifiers::NONE;
    for (on, modifier) in [(ctrl, KeyModifiers::CONTROL), (alt, KeyModifiers::ALT), (shift, KeyModifiers::SHIFT)] {
        if on {
            modifiers |= modifier;
        }
    }
    Msg::Key(code, modifiers)
}

fn started(model: bool) -> EventBody {
    let id = ModelId { provider: "local".into(), model: "qwen3-coder:30b".into() };
    let model = model.then_some(ModelInfo { id, context_window: Some(10_000), vision: None });
    EventBody::Session(SessionEvent::Started { id: SessionId("s".into()), model, mode: Mode::Normal })
}

pub(super) fn call(event: CallEvent) -> EventBody {
    EventBody::Call(event)
}

fn edit() -> (Access, Block) {
    let change = FileChange {
        path: "src/dates.rs".into(),
        old: Some("fn a() {\n    28\n}\n".into()),
        new: Some("fn a() {\n    29\n}\n".into()),
        binary: false,
    };
    (Access::Write(vec!["/p/src/dates.rs".into()]), Block::Diff(vec![change]))
}

pub(super) fn prompt(text: &str) -> Cmd {
    Cmd::Send(Command::Prompt(text.into()))
}

#[test]
fn enter_sends_what_was_typed_and_ctrl_j_does_not() {
    let mut bench = Bench::ready();
    bench.typed("fix");
    assert_eq!(bench.keys("ctrl+j"), []);
    bench.typed("it");
    assert_eq!(bench.keys("enter"), [prompt("fix\nit")]);
    assert_eq!(bench.keys("enter"), [], "an empty prompt is not sent");
}

#[test]
fn a_pasted_line_end_does_not_send() {
    let mut bench = Bench::ready();
    assert_eq!(bench.msg(Msg::Paste("one\ntwo\n".into())), []);
    assert_eq!(bench.keys("enter"), [prompt("one\ntwo\n")]);
}

#[test]
fn a_large_paste_is_sent_whole() {
    let mut bench = Bench::ready();
    let text: String = (0..2_000).map(|n| format!("line {n}\n")).collect();
    bench.msg(Msg::Paste(text.clone()));
    assert!(bench.screen().contains("[paste 1: "), "{}", bench.screen());
    assert_eq!(bench.keys("enter"), [prompt(&text)]);
}

#[test]
fn commands_shell_lines_and_mistakes() {
    let mut bench = Bench::ready();
    bench.typed("!ls -l");
    assert_eq!(bench.keys("enter"), [Cmd::Send(Command::RunShell("ls -l".into()))]);
    bench.typed("/undo");
    assert_eq!(bench.keys("enter"), [Cmd::Send(Command::Undo)]);
    bench.typed("/udno");
    assert_eq!(bench.keys("enter"), []);
    assert!(bench.printed.contains("There is no command /udno"), "{}", bench.printed);
    assert!(bench.screen().contains("❯ /udno"), "a misspelt command stays to be mended");
    bench.keys("ctrl+c");
    bench.typed("/etc/hosts is wrong");
    assert_eq!(bench.keys("enter"), [prompt("/etc/hosts is wrong")]);
}

#[test]
fn ctrl_c_clears_then_interrupts_then_exits_when_pressed_twice() {
    let mut bench = Bench::ready();
    bench.turn();
    bench.typed("x");
    assert_eq!(bench.keys("ctrl+c"), []);
    assert_eq!(bench.keys("ctrl+c"), [Cmd::Send(Command::Interrupt(TurnId(1)))]);
    let end = TurnEnd { how: TurnOutcome::Interrupted, usage: Usage::default(), took: Duration::ZERO };
    bench.event(Some(1), EventBody::Turn(TurnEvent::Ended(end)));
    assert_eq!(bench.keys("ctrl+c"), []);
    assert!(bench.screen().contains("ctrl+c again to exit"));
    assert_eq!(bench.keys("ctrl+c"), [Cmd::Exit]);
    assert_eq!(bench.keys("ctrl+c"), []);
    bench.clock += Duration::from_secs(5);
    assert_eq!(bench.keys("ctrl+c"), [], "too late to be the second one");
}

#[test]
fn nothing_moves_at_rest_or_while_a_question_waits() {
    let mut bench = Bench::ready();
    assert_eq!(tick_every(&bench.model), None);
    bench.turn();
    assert!(tick_every(&bench.model).is_some());
    let (access, block) = edit();
    let mut bench = Bench::ready();
    bench.asks(access, block);
    assert_eq!(tick_every(&bench.model), None);
}

#[test]
fn a_question_takes_no_key_before_the_keyboard_was_quiet() {
    let (access, block) = edit();
    let mut bench = Bench::ready();
    bench.asks(access, block);
    let decide = |decision| vec![Cmd::Send(Command::Decide { call: CallId(1), decision })];
    // Typed on while the question opened: it goes into the prompt, and nothing is approved.
    for _ in 0..5 {
        bench.clock += Duration::from_millis(100);
        assert_eq!(bench.msg_now(press("y")), []);
    }
    bench.clock += Duration::from_millis(299);
    assert_eq!(bench.msg_now(press("y")), []);
    bench.clock += Duration::from_millis(300);
    assert_eq!(bench.msg_now(press("y")), decide(Decision::Allow));
    assert_eq!(bench.model.prompt.editor.text(), "yyyyyy");

    // Once it may be answered, keys may follow each other as fast as fingers go.
    let (access, block) = edit();
    let mut bench = Bench::ready();
    bench.asks(access, block);
    bench.msg(press("down"));
    assert_eq!(bench.msg_now(press("enter")), decide(Decision::AllowSession));
}

#[test]
fn the_set_up_that_opens_by_itself_takes_no_type_ahead() {
    let mut bench = Bench::new(setting(), (80, 24));
    bench.event(None, started(false));
    for key in ["d", "e", "enter"] {
        assert_eq!(bench.msg_now(press(key)), []);
    }
    assert_eq!(bench.model.prompt.editor.text(), "de");
    assert_eq!(bench.msg(press("d")), [Cmd::Demo]);
}

#[test]
fn answers_to_a_question() {
    let answer = |keys: &str| {
        let (access, block) = edit();
        let mut bench = Bench::ready();
        bench.asks(access, block);
        bench.keys(keys)
    };
    let decide = |decision| vec![Cmd::Send(Command::Decide { call: CallId(1), decision })];
    assert_eq!(answer("y"), decide(Decision::Allow));
    assert_eq!(answer("enter"), decide(Decision::Allow));
    assert_eq!(answer("1"), decide(Decision::Allow));
    assert_eq!(answer("a"), decide(Decision::AllowSession));
    assert_eq!(answer("down down enter enter"), decide(Decision::Deny { reason: None }));
    assert_eq!(answer("n u s e space x enter"), decide(Decision::Deny { reason: Some("use x".into()) }));
    assert_eq!(answer("n x esc y"), decide(Decision::Allow));
    assert_eq!(answer("esc"), [Cmd::Send(Command::Interrupt(TurnId(1)))]);
    assert_eq!(answer("ctrl+c"), [Cmd::Send(Command::Interrupt(TurnId(1)))]);
    assert_eq!(answer("q z"), []);
}

#[test]
fn a_waiting_prompt_comes_back_with_the_up_key() {
    let mut bench = Bench::ready();
    bench.turn();
    bench.typed("later");
    assert_eq!(bench.keys("enter"), [prompt("later")]);
    bench.event(None, EventBody::Session(SessionEvent::Queued { waiting: vec!["later".into()] }));
    assert!(bench.screen().contains("queued  later"), "{}", bench.screen());
    assert_eq!(bench.keys("up"), [Cmd::Send(Command::Unqueue)]);
    bench.event(None, EventBody::Session(SessionEvent::Unqueued { prompt: "later".into(), waiting: vec![] }));
    assert!(bench.screen().contains("❯ later"), "{}", bench.screen());
}

#[test]
fn a_prompt_that_comes_back_does_not_replace_what_was_typed_since() {
    let mut bench = Bench::ready();
    bench.typed("new");
    bench.event(None, EventBody::Session(SessionEvent::Unqueued { prompt: "old".into(), waiting: vec![] }));
    assert_eq!(bench.keys("enter"), [prompt("old\nnew")]);
}

#[test]
fn trust_is_asked_first_and_no_is_the_answer_of_enter() {
    let untrusted = || Bench::new(Setting { trusted: false, ..setting() }, (80, 24));
    let mut bench = untrusted();
    assert!(bench.screen().contains("Do you trust the files in ~/src/shop (main)?"), "{}", bench.screen());
    assert_eq!(bench.keys("enter"), [Cmd::Exit]);
    assert_eq!(untrusted().keys("esc"), [Cmd::Exit]);
    assert_eq!(untrusted().keys("ctrl+c"), [Cmd::Exit]);
    assert_eq!(untrusted().keys("y"), [Cmd::Trust]);
}

#[test]
fn without_a_model_the_screen_offers_what_was_found_an_address_and_the_demo() {
    let mut bench = Bench::new(setting(), (80, 24));
    assert_eq!(bench.event(None, started(false)), [Cmd::Send(Command::Discover)]);
    let settings = ProviderSettings {
        name: "Ollama".into(),
        base_url: "http://127.0.0.1:11434/v1".into(),
        models: vec!["q".into()],
        ..Default::default()
    };
    bench.event(None, EventBody::Session(SessionEvent::Found(vec![FoundServer { settings: settings.clone() }])));
    insta::assert_snapshot!(bench.screen(), @"
    ───────────────────────────────────────────────────────────────────────────
     Backstitch has no model to talk to yet.
     Found on this machine:
     ▸ 1 Ollama at http://127.0.0.1:11434/v1                                     q
       2 enter an address and a key           e
       3 try the demo                         d                     needs no model
     normal · no model                                                      ? keys
    ");
    assert_eq!(bench.keys("1"), [Cmd::Send(Command::Connect(settings.clone()))]);
    let info = ModelInfo { id: ModelId { provider: "Ollama".into(), model: "q".into() }, context_window: None, vision: None };
    let saved = bench.event(None, EventBody::Session(SessionEvent::ModelChanged(info)));
    assert_eq!(saved, [Cmd::SaveProvider(settings)]);
}

#[test]
fn a_provider_that_is_asked_for_its_models_needs_no_set_up() {
    let mut bench = Bench::new(setting(), (80, 24));
    bench.msg(Msg::Opened(Ok(Opened { asks_for_model: true, ..Opened::default() })));
    assert_eq!(bench.event(None, started(false)), []);
    assert!(bench.model.panel.is_none());
}

#[test]
fn esc_twice_at_rest_opens_the_checkpoints_and_going_back_takes_two_steps() {
    let mut bench = Bench::ready();
    let taken = |id: &str, kind| {
        let event = CheckpointEvent::Taken { id: CheckpointId(id.into()), label: format!("request {id}"), kind, files_changed: 1 };
        EventBody::Checkpoint(event)
    };
    for id in ["one", "two"] {
        bench.turn();
        bench.event(Some(1), taken(id, CheckpointKind::Opening));
        bench.event(Some(1), taken(id, CheckpointKind::Closing));
        let end = TurnEnd { how: TurnOutcome::Answered, usage: Usage::default(), took: Duration::ZERO };
        bench.event(Some(1), EventBody::Turn(TurnEvent::Ended(end)));
    }
    let wanted = |id: &str| Wanted { to: CheckpointId(id.into()), since: None, only: None };
    let look = |id: &str| Cmd::Send(Command::Plan(wanted(id)));
    assert_eq!(bench.keys("esc"), []);
    bench.clock += Duration::from_secs(5);
    assert_eq!(bench.keys("esc"), [], "too late to be the second one");
    assert_eq!(bench.keys("esc"), [look("two"), Cmd::Send(Command::ListCheckpoints)]);
    assert!(bench.model.is_fullscreen());
    assert_eq!(bench.keys("down"), [look("one")]);
    let change = FileChange { path: "a.txt".into(), old: Some("now\n".into()), new: Some("then\n".into()), binary: false };
    let version = |id: &str| Some(Version { id: id.into(), mode: 0o100_644 });
    let file = Planned { path: "a.txt".into(), now: version("1"), then: version("2") };
    let plan = |id: &str| Plan { wanted: wanted(id), files: vec![file.clone()], skipped: vec![] };
    let planned = |id: &str| EventBody::Session(SessionEvent::Planned { plan: plan(id), changes: vec![change.clone()] });
    bench.event(None, planned("two"));
    assert!(bench.screen().contains("request one"));
    assert!(!bench.screen().contains("a.txt"), "an answer about another checkpoint comes too late");
    bench.event(None, planned("one"));
    bench.keys("right");
    let screen = bench.screen();
    assert!(screen.contains("− now") && screen.contains("+ then"), "what going back would do: {screen}");
    bench.keys("tab");
    let rewind = Command::Rewind { to: CheckpointId("one".into()), scope: RewindScope::Files, plan: Some(plan("one")) };
    assert_eq!(bench.keys("enter f"), [Cmd::Send(rewind)]);
    assert!(!bench.model.is_fullscreen());
}

#[test]
fn single_hunks_of_a_change_are_accepted_in_the_viewer() {
    let old: String = (1..=40).map(|n| format!("line {n}\n")).collect();
    let new = old.replace("line 5\n", "LINE 5\n").replace("line 30\n", "LINE 30\n");
    let change = FileChange { path: "a.txt".into(), old: Some(old.as_str().into()), new: Some(new.as_str().into()), binary: false };
    let mut bench = Bench::ready();
    bench.asks(Access::Write(vec!["/p/a.txt".into()]), Block::Diff(vec![change]));
    assert_eq!(bench.keys("v right space"), []);
    let cmds = bench.keys("enter");
    let [Cmd::Send(Command::Decide { decision: Decision::AllowPart { content, note }, .. })] = &cmds[..] else { panic!("{cmds:?}") };
    assert_eq!(*content, old.replace("line 5\n", "LINE 5\n"));
    assert!(note.contains("1 of 2 hunks") && note.contains("line 27"), "{note}");
    assert_eq!(bench.keys("v a a"), []);
    let call = CallId(1);
    assert_eq!(bench.keys("enter"), [Cmd::Send(Command::Decide { call, decision: Decision::Allow })]);
    assert_eq!(bench.keys("v a enter"), [Cmd::Send(Command::Decide { call, decision: Decision::Deny { reason: None } })]);
    assert_eq!(bench.keys("v q y"), [Cmd::Send(Command::Decide { call, decision: Decision::Allow })]);
}

#[test]
fn a_change_that_the_user_edits_is_made_as_edited() {
    let mut bench = Bench::ready();
    let change = FileChange { path: "d.x/a.rs".into(), old: Some("old\n".into()), new: Some("new\n".into()), binary: false };
    bench.asks(Access::Write(vec!["/p/d.x/a.rs".into()]), Block::Diff(vec![change]));
    let call = CallId(1);
    let draft = Draft { text: "new\n".into(), call: Some(call), ending: ".rs".into() };
    assert_eq!(bench.keys("e"), [Cmd::Do(Job::Edit(draft))]);
    assert_eq!(bench.msg(Msg::Report(Report::Revised(call, "new\n".into()))), [], "nothing was edited: the question stays");
    assert_eq!(bench.msg(Msg::Report(Report::Revised(CallId(9), "x".into()))), [], "too late");
    assert!(bench.screen().contains("Make this change?"));
    let cmds = bench.msg(Msg::Report(Report::Revised(call, "mine\n".into())));
    let [Cmd::Send(Command::Decide { call: CallId(1), decision: Decision::AllowPart { content, note } })] = &cmds[..] else {
        panic!("{cmds:?}")
    };
    assert!(content == "mine\n" && note.contains("edited"), "{content} {note}");
    bench.keys("?");
    assert!(bench.screen().contains("edit the change first"), "{}", bench.screen());
    bench.keys("esc v ?");
    assert!(bench.screen().contains("refuse hunk"), "{}", bench.screen());
    bench.keys("? q");
    assert!(bench.screen().contains("Make this change?"), "the keys, then the viewer are closed");
    // A command can't be edited.
    let mut bench = Bench::ready();
    let block = Block::Command { command: "ls".into(), directory: "/p".into() };
    bench.asks(Access::Run { command: "ls".into(), parts: vec![], folder: None, outside: false }, block);
    assert!(!bench.screen().contains("$EDITOR"));
    assert_eq!(bench.keys("e"), []);
}

#[test]
fn the_window_scrolls_and_comes_back_with_what_was_said_meanwhile() {
    let mut bench = Bench::ready();
    bench.typed("/fullscreen");
    bench.keys("enter");
    assert!(bench.model.is_fullscreen());
    let before = bench.printed.clone();
    bench.turn();
    let text: String = (0..60).map(|n| format!("line {n}\n\n")).collect();
    bench.event(Some(1), EventBody::Text(TextEvent::Answer(text)));
    assert_eq!(bench.printed, before, "nothing goes to the terminal meanwhile");
    assert!(bench.screen().contains("line 58") && !bench.screen().contains("line 3\n"));
    assert_eq!(bench.screen().lines().count(), 24);
    bench.keys("ctrl+home");
    assert!(bench.screen().contains("line 3\n"), "{}", bench.screen());
    bench.event(Some(1), EventBody::Text(TextEvent::Answer("more\n\n".into())));
    assert!(bench.screen().contains("line 3\n") && bench.screen().contains("new"), "new text does not move what is read");
    bench.keys("ctrl+f");
    bench.typed("line 42");
    assert!(bench.screen().contains("line 42") && bench.screen().contains("1 of 1"), "{}", bench.screen());
    bench.keys("esc");
    assert!(bench.model.is_fullscreen(), "the window was there before the search");
    bench.typed("/fullscreen");
    bench.keys("enter");
    assert!(bench.printed.contains("line 0\n") && bench.printed.contains("line 59\n"));
    assert_eq!(bench.printed.matches("line 30\n").count(), 1);
}

#[test]
fn enter_takes_the_demos_suggestion_and_nobody_elses() {
    let mut bench = Bench::ready();
    assert_eq!(bench.keys("enter"), []);
    let mut bench = Bench::new(Setting { demo: true, ..setting() }, (80, 24));
    bench.event(None, started(true));
    assert_eq!(bench.keys("enter"), [Cmd::Send(Command::Prompt("What should be done?".into()))]);
    assert_eq!(bench.keys("enter"), [], "once");
}

#[test]
fn what_is_folded_is_opened_by_a_click_and_by_a_key() {
    let mut bench = Bench::ready();
    bench.turn();
    let id = CallId(1);
    bench.event(Some(1), call(CallEvent::Proposed { id, name: "Bash".into(), title: String::new() }));
    let output: String = (1..=30).map(|n| format!("out {n}\n")).collect();
    let done = ToolOutput {
        for_model: String::new(),
        for_user: Block::Terminal { output: output.as_str().into(), status: Some(0) },
        summary: "exit 0".into(),
        failed: false,
    };
    bench.event(Some(1), call(CallEvent::Finished { id, outcome: Outcome::Done(done) }));
    assert!(bench.printed.contains("out 30") && !bench.printed.contains("out 2\n"), "{}", bench.printed);
    bench.keys("ctrl+o");
    assert!(bench.model.is_fullscreen());
    assert!(bench.screen().contains("out 2\n"), "{}", bench.screen());
    let row = bench.screen().lines().position(|row| row.contains("out 9")).unwrap();
    bench.msg(Msg::Click(4, row as u16));
    assert!(!bench.screen().contains("out 2\n") && bench.screen().contains("out 30"), "{}", bench.screen());
    let row = bench.screen().lines().position(|row| row.contains("Bash")).unwrap();
    bench.msg(Msg::Click(0, row as u16));
    assert!(bench.screen().contains("out 2\n"));
    bench.msg(Msg::Click(0, 23));
    assert!(bench.screen().contains("out 2\n"), "nothing is folded there");
}
