//! Keys and events in, commands and rows out: the screen without a terminal.

use super::{
    app::{Cmd, Model, Msg, Opened, Setting, tick_every, update},
    jobs::Job,
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
        self.event(Some(1), call(CallEvent::Asked { id }));
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
    let model = model.then_some(ModelInfo { id, context_window: Some(10_000) });
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
       2 enter an address and a key                                             e
       3 try the demo: a scripted model, a small project, everything else real  d
     normal · no model                                                      ? keys
    ");
    assert_eq!(bench.keys("1"), [Cmd::Send(Command::Connect(settings.clone()))]);
    let info = ModelInfo { id: ModelId { provider: "Ollama".into(), model: "q".into() }, context_window: None };
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
fn the_header_the_keys_and_a_small_window() {
    let mut bench = Bench::ready();
    insta::assert_snapshot!(bench.printed, @"
    backstitch 0.1.0 · qwen3-coder:30b · ~/src/shop (main)
    / commands   ! shell   shift+tab mode   ? keys
    ");
    insta::assert_snapshot!(bench.screen(), @"
     ───────────────────────────────────────────────────────────────────────────
    ❯ What should be done?
      normal · qwen3-coder:30b                                               ? keys
    ");
    bench.keys("?");
    insta::assert_snapshot!(bench.screen(), @"
    ───────────────────────────────────────────────────────────────────────────
     Keys
     enter                           send
     ctrl+j, alt+enter, shift+enter  new line
     up                              earlier prompt, or take a waiting one back
     down                            later prompt
     ctrl+r                          search what was typed before
     tab                             complete the word
     ctrl+g                          write in $EDITOR
     shift+tab                       normal, auto-accept, plan
     ?                               these keys (on an empty prompt)
     esc                             interrupt the turn
     ctrl+s                          send into the running turn
     ctrl+t                          show or hide reasoning
     ctrl+l                          redraw
     pageup                          a page up (fullscreen)
     pagedown                        a page down
     ctrl+home                       to the first line (fullscreen)
     ctrl+end                        to the newest line
     ctrl+z                          to the shell (fg returns)
     down shows more, any other key closes this
     normal · qwen3-coder:30b                                               ? keys
    ");
    bench.keys("esc");
    bench.msg(Msg::Resize(19, 24));
    insta::assert_snapshot!(bench.screen(), @"window too small");
}

/// A turn with everything in it, at three widths: what is printed and what is live.
fn conversation(size: (u16, u16)) -> String {
    let mut bench = Bench::new(setting(), size);
    bench.event(None, started(true));
    let (access, block) = edit();
    bench.turn();
    let text = |t: &str| EventBody::Text(TextEvent::Answer(t.into()));
    bench.event(Some(1), EventBody::Text(TextEvent::Reasoning("Let me see.".into())));
    bench.event(Some(1), text("The parser drops the **29th**. I'll look at the `dates` module first, then at its tests.\n"));
    bench.event(Some(1), EventBody::Text(TextEvent::Done));
    let (view, edit, bash) = (CallId(1), CallId(2), CallId(3));
    for (id, name) in [(view, "View"), (edit, "Edit"), (bash, "Bash")] {
        bench.event(Some(1), call(CallEvent::Proposed { id, name: name.into(), title: String::new() }));
    }
    let read = Access::Read(vec!["/p/src/dates.rs".into()]);
    bench.event(Some(1), call(CallEvent::Previewed { id: view, access: read, title: "src/dates.rs".into(), block: Block::Nothing }));
    let done = |block: Block, summary: &str, failed| {
        Outcome::Done(ToolOutput { for_model: String::new(), for_user: block, summary: summary.into(), failed })
    };
    bench.event(Some(1), call(CallEvent::Finished { id: view, outcome: done(Block::Nothing, "212 lines", false) }));
    bench.event(Some(1), call(CallEvent::Previewed { id: edit, access, title: "src/dates.rs".into(), block: block.clone() }));
    bench.event(Some(1), call(CallEvent::Asked { id: edit }));
    let mut out = format!("--- asked\n{}", bench.screen());
    bench.event(Some(1), call(CallEvent::Finished { id: edit, outcome: done(block, "", false) }));
    let run = Access::Run { command: "cargo test".into() };
    bench.event(Some(1), call(CallEvent::Previewed { id: bash, access: run, title: "cargo test".into(), block: Block::Nothing }));
    bench.event(Some(1), call(CallEvent::Started { id: bash }));
    bench.event(Some(1), call(CallEvent::Progress { id: bash, output: "running 14 tests\n".into() }));
    write!(out, "--- running\n{}", bench.screen()).unwrap();
    let terminal = Block::Terminal { output: "running 14 tests\n13 passed; 1 failed\n".into(), status: Some(101) };
    bench.event(Some(1), call(CallEvent::Finished { id: bash, outcome: done(terminal, "exit 101 · 1.4 s", true) }));
    bench.event(Some(1), text("One test is left:\n\n- `leap`\n- more"));
    write!(out, "--- streaming\n{}", bench.screen()).unwrap();
    bench.event(Some(1), EventBody::Text(TextEvent::Done));
    let taken =
        CheckpointEvent::Taken { id: CheckpointId("c".into()), label: String::new(), kind: CheckpointKind::Closing, files_changed: 0 };
    bench.event(Some(1), EventBody::Checkpoint(taken));
    let usage = Usage { input: 4_000, output: 100, ..Usage::default() };
    bench.event(Some(1), EventBody::Turn(TurnEvent::Used(usage)));
    let end = TurnEnd { how: TurnOutcome::Answered, usage, took: Duration::from_secs(12) };
    bench.event(Some(1), EventBody::Turn(TurnEvent::Ended(end)));
    write!(out, "--- printed\n{}--- at rest\n{}", bench.printed, bench.screen()).unwrap();
    for row in bench.screen().lines().chain(bench.printed.lines()) {
        let width = backstitch_components::text::width::width(row);
        assert!(width < usize::from(size.0), "{width} cells: {row}");
    }
    out
}

#[test]
fn a_conversation_at_three_widths() {
    insta::assert_snapshot!("conversation_40", conversation((40, 20)));
    insta::assert_snapshot!("conversation_80", conversation((80, 24)));
    insta::assert_snapshot!("conversation_120", conversation((120, 40)));
}

#[test]
fn the_live_region_stays_two_rows_below_the_screen() {
    for height in 6..30u16 {
        let mut bench = Bench::new(setting(), (60, height));
        bench.event(None, started(true));
        let text: String = (0..100).map(|n| format!("line {n}\n")).collect();
        let change = FileChange { path: "a".into(), old: None, new: Some(text.as_str().into()), binary: false };
        bench.asks(Access::Write(vec!["/p/a".into()]), Block::Diff(vec![change]));
        let rows = bench.screen().lines().count();
        assert!(rows <= usize::from(height) - 2, "{rows} rows of {height}\n{}", bench.screen());
        assert!(bench.screen().contains("1 yes"), "{height} rows:\n{}", bench.screen());
        let mut bench = Bench::new(setting(), (60, height));
        bench.event(None, started(true));
        bench.turn();
        bench.event(Some(1), EventBody::Text(TextEvent::Answer("| a | b |\n|---|---|\n".to_string() + &"| 1 | 2 |\n".repeat(60))));
        bench.msg(Msg::Paste("x\n".repeat(9)));
        let rows = bench.screen().lines().count();
        assert!(rows <= usize::from(height) - 2, "{rows} rows of {height}\n{}", bench.screen());
        let cursor = view::frame(&bench.model).cursor;
        assert!(cursor.is_some_and(|(_, y)| usize::from(y) < rows), "{height} rows, {cursor:?}:\n{}", bench.screen());
    }
}
