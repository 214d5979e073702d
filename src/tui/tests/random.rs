//! A long life of the screen at random: keys, pastes, changes of size and events in any order, drawn on terminals that break rows anew or
//! cut them. Nothing panics, nothing printed is lost, and what is on the screen in the end is what a fresh drawing would show.

use super::*;
use crate::tui::terminal::{
    Screen, SharedStage,
    tests::{
        emulator::Kind,
        reflow::{Fake, Reflowing, Watch},
    },
};
use backstitch_components::ansi::to_ansi;
use iocraft::{Canvas, ElementExt, Passthrough, TerminalBackend};
use proptest::prelude::*;
use std::sync::Mutex;

/// The screen's loop without its waiting.
struct Life {
    bench: Bench,
    screen: Screen<Reflowing>,
    stage: SharedStage,
    terminal: Arc<Mutex<Fake>>,
    size: Arc<Mutex<(u16, u16)>>,
    now: Arc<Mutex<Duration>>,
    prev: Option<Canvas>,
    /// Has something of the live region left the screen?
    overflowed: bool,
    watch: Watch,
    /// Lines that must be in the terminal, in order.
    expected: Vec<String>,
    turn: u64,
    call: u64,
}

impl Life {
    fn new(kind: Option<Kind>) -> Life {
        let (terminal, stage) = (Fake::new(kind, 70, 24), SharedStage::default());
        let surface = Reflowing::new(terminal, (70, 24));
        let (terminal, size, now) = (surface.terminal.clone(), surface.size.clone(), surface.now.clone());
        let expected: Vec<String> = (0..8).map(|n| format!("before {n}")).collect();
        terminal.lock().unwrap().feed(&expected.iter().map(|l| format!("{l}\r\n")).collect::<String>());
        let screen = Screen::new(surface, stage.clone());
        let bench = Bench::new(setting(), (70, 24));
        let mut life = Life {
            bench,
            screen,
            stage,
            terminal,
            size,
            now,
            prev: None,
            overflowed: false,
            watch: Watch::default(),
            expected,
            turn: 0,
            call: 0,
        };
        life.event(None, started(true));
        life
    }

    fn event(&mut self, turn: Option<u64>, body: EventBody) {
        self.bench.seq += 1;
        let event = Event { seq: self.bench.seq, turn: turn.map(TurnId), body };
        self.msg(Msg::Event(event));
    }

    fn msg(&mut self, msg: Msg) {
        self.bench.clock += Duration::from_millis(40);
        update(&mut self.bench.model, self.bench.clock, msg);
        // The long views have the other screen; here they are left at once.
        while self.bench.model.is_fullscreen() {
            update(&mut self.bench.model, self.bench.clock, press("esc"));
        }
        self.frame();
    }

    fn frame(&mut self) {
        *self.now.lock().unwrap() = self.bench.clock;
        let model = &mut self.bench.model;
        self.screen.refresh_size();
        self.screen.begin_frame().unwrap();
        let held = model.held.is_some();
        self.stage.lock().unwrap().held = held;
        let rows = if model.prints() { model.take_outbox() } else { vec![] };
        if !rows.is_empty() {
            self.expected.extend(rows.iter().map(|row| row.text().trim_end().to_string()));
            let text = to_ansi(&rows, &model.setting.theme, model.setting.depth, model.width());
            let text = text.strip_suffix("\r\n").unwrap();
            self.screen.clear_canvas().unwrap();
            let message = Passthrough { stream: iocraft::Output::Stdout, content: text.into(), newline: true };
            self.screen.print_above(&[message]).unwrap();
            self.prev = None;
        }
        let frame = if held { view::Frame::default() } else { view::frame(model) };
        self.stage.lock().unwrap().cursor = frame.cursor;
        let columns = usize::from(self.size.lock().unwrap().0);
        let canvas = view::view(model, frame).render(Some(columns));
        if self.prev.as_ref() != Some(&canvas) {
            self.screen.write_canvas(self.prev.as_ref(), &canvas).unwrap();
        }
        self.prev = Some(canvas);
        self.screen.end_frame().unwrap();
        if !held {
            self.watch = self.terminal.lock().unwrap().drawn(&self.screen);
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Key(at) => self.msg(press(KEYS[*at])),
            Step::Paste(text) => self.msg(Msg::Paste(text.clone())),
            Step::Resize(columns, rows) => {
                let mut terminal = self.terminal.lock().unwrap();
                terminal.resize(*columns, *rows);
                self.overflowed |= terminal.overflows(&self.watch, *columns, *rows);
                drop(terminal);
                *self.size.lock().unwrap() = (*columns, *rows);
                self.msg(Msg::Resize(*columns, *rows));
            }
            Step::Tick => self.msg(Msg::Tick),
            Step::Text(text) if self.turn > 0 => self.event(Some(self.turn), EventBody::Text(TextEvent::Answer(text.clone()))),
            Step::Text(_) => {}
            Step::Turn => {
                self.end();
                self.turn += 1;
                self.event(Some(self.turn), EventBody::Turn(TurnEvent::UserSaid("do it".into())));
                self.event(Some(self.turn), EventBody::Turn(TurnEvent::Started));
            }
            Step::Call(asks) if self.turn > 0 => {
                self.call += 1;
                let (id, turn) = (CallId(self.call), Some(self.turn));
                self.event(turn, EventBody::Text(TextEvent::Done));
                self.event(turn, call(CallEvent::Proposed { id, name: "Edit".into(), title: String::new() }));
                let (access, block) = edit();
                self.event(turn, call(CallEvent::Previewed { id, access, title: "src/dates.rs".into(), block: block.clone() }));
                if *asks {
                    self.event(turn, call(CallEvent::Asked { id, why: None }));
                } else {
                    let output = ToolOutput { for_model: String::new(), for_user: block, summary: String::new(), failed: false };
                    self.event(turn, call(CallEvent::Finished { id, outcome: Outcome::Done(output) }));
                }
            }
            Step::Call(_) => {}
            Step::Notice(text) => self.event(None, EventBody::Notice(Notice::warning(text.clone()).hint("do something"))),
        }
    }

    fn end(&mut self) {
        if self.turn > 0 {
            let end = TurnEnd { how: TurnOutcome::Answered, usage: Usage::default(), took: Duration::from_secs(12) };
            self.event(Some(self.turn), EventBody::Turn(TurnEvent::Ended(end)));
        }
    }
}

#[derive(Debug, Clone)]
enum Step {
    Key(usize),
    Paste(String),
    Resize(u16, u16),
    Tick,
    Text(String),
    Turn,
    /// A call that asks, or one that is done.
    Call(bool),
    Notice(String),
}

const KEYS: [&str; 22] = [
    "a",
    "b",
    "space",
    "enter",
    "backspace",
    "left",
    "right",
    "esc",
    "ctrl+u",
    "ctrl+w",
    "shift+tab",
    "ctrl+c",
    "ctrl+t",
    "y",
    "n",
    "tab",
    "ctrl+j",
    "up",
    "@",
    "/",
    "!",
    "?",
];
const JOINED: &str = "日本語のテキスト 👨\u{200d}👩\u{200d}👧 e\u{301} ";
/// Terminals do not agree on the width of joined characters, so nobody knows where one breaks a row that has become too long.
const NARROWED: &str = "日本語のテキスト 👨 e\u{301} ";

fn steps(most: usize, resizes: bool) -> impl Strategy<Value = Vec<Step>> {
    // Never one column: some terminals drop what takes two.
    let text = prop_oneof![
        4 => "[a-z ]{1,60}",
        4 => "[a-z\n*`#-]{1,40}",
        2 => Just(if resizes { NARROWED } else { JOINED }.to_string()),
        2 => Just("\u{1b}[2J\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\u{200b}".to_string()),
        2 => Just("```rust\nfn a() {}\n```\n".to_string()),
        2 => Just("| a | b |\n|---|---|\n| 1 | 2 |\n\n".to_string()),
    ];
    let step = prop_oneof![
        8 => (0..KEYS.len()).prop_map(Step::Key),
        1 => "[a-z\n]{0,40}".prop_map(Step::Paste),
        2 * u32::from(resizes) => (24u16..100, 6u16..40).prop_map(|(c, r)| Step::Resize(c, r)),
        u32::from(resizes) => (2u16..24, 1u16..8).prop_map(|(c, r)| Step::Resize(c, r)),
        2 => Just(Step::Tick),
        8 => text.prop_map(Step::Text),
        2 => Just(Step::Turn),
        2 => Just(Step::Call(false)),
        1 => Just(Step::Call(true)),
        1 => "[a-z ]{1,50}".prop_map(Step::Notice),
    ];
    prop::collection::vec(step, 1..most)
}

/// Lives through it all; what is on the terminal in the end must be all that was printed and a fresh frame.
fn live(kind: Option<Kind>, steps: &[Step]) -> Result<(), TestCaseError> {
    let mut life = Life::new(kind);
    for step in steps {
        life.step(step);
    }
    life.end();
    // Everything has settled, in a window that shows something.
    let (columns, rows) = life.bench.model.size;
    if life.bench.model.too_small() {
        life.step(&Step::Resize(columns.max(30), rows.max(20)));
    }
    life.bench.clock += Duration::from_secs(10);
    life.msg(Msg::Tick);
    let mut expected = life.expected.clone();
    let frame: Vec<String> = view::frame(&life.bench.model).rows().map(|row| row.text().trim_end().to_string()).collect();
    expected.extend(frame.iter().cloned());
    let mut text = life.terminal.lock().unwrap().text();
    for lines in [&mut expected, &mut text] {
        // A wide character that doesn't fit at the end of a row leaves a blank there.
        lines.iter_mut().for_each(|line| line.retain(|c| c != ' '));
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
    }
    // xterm has cut what it had.
    let same = |there: &String, line: &String| there == line || kind == Some(Kind::Xterm) && line.starts_with(there);
    // Some take a row for the rest of one above that has left the screen, whatever is written there.
    let joined = |there: &String, line: &String| kind.is_none() && there.ends_with(line);
    if life.overflowed {
        // Part of the region left the screen, and may have had to stay in the scrollback. All else is there once, in order, and below it
        // the frame and nothing else.
        let shown = frame.iter().rev().skip_while(|line| line.is_empty()).count();
        let (text, end) = text.split_at(text.len().saturating_sub(shown));
        let (expected, fresh) = expected.split_at(expected.len() - shown);
        prop_assert_eq!(end, fresh);
        let mut text = text.iter();
        for line in expected {
            prop_assert!(
                text.any(|there| same(there, line) || joined(there, line)),
                "{:?}: {} is gone\n{:#?}\n{:#?}",
                kind,
                line,
                expected,
                life.terminal.lock().unwrap().text()
            );
        }
        return Ok(());
    }
    if text.len() == expected.len() && text.iter().zip(&expected).all(|(there, line)| same(there, line)) {
        return Ok(());
    }
    prop_assert_eq!(text, expected);
    Ok(())
}

/// A few, unless more are asked for (`just soak`).
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(24)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_the_screen_is_whole(steps in steps(120, false)) {
        live(None, &steps)?;
    }

    #[test]
    fn whatever_size_it_gets_meanwhile_the_screen_is_whole(steps in steps(120, true)) {
        for kind in [None, Some(Kind::Tmux), Some(Kind::Xterm)] {
            live(kind, &steps)?;
        }
    }
}

/// The line of a call that runs, and what it prints, leave nothing behind when the window gets narrower.
#[test]
fn narrowing_while_a_command_runs_leaves_nothing_behind() {
    let kinds = [None, Some(Kind::Tmux), Some(Kind::Xterm)];
    for (kind, (columns, rows)) in kinds.into_iter().flat_map(|kind| [(40, 24), (30, 24), (55, 30)].map(|size| (kind, size))) {
        let mut life = Life::new(kind);
        life.step(&Step::Turn);
        let (id, turn) = (CallId(1), Some(1));
        let command = "for i in $(seq 1 120); do echo line $i; sleep 0.02; done";
        life.event(turn, call(CallEvent::Proposed { id, name: "Bash".into(), title: String::new() }));
        let block = Block::Command { command: command.into(), directory: "/p".into() };
        life.event(
            turn,
            call(CallEvent::Previewed {
                id,
                access: Access::Run { command: command.into(), parts: vec![], folder: None, outside: false },
                title: command.into(),
                block,
            }),
        );
        life.event(turn, call(CallEvent::Started { id }));
        for n in 0..40 {
            life.event(turn, call(CallEvent::Progress { id, output: format!("line {n}\n") }));
        }
        life.step(&Step::Resize(columns, rows));
        for n in 40..60 {
            life.event(turn, call(CallEvent::Progress { id, output: format!("line {n}\n") }));
            life.step(&Step::Tick);
        }
        let output = ToolOutput {
            for_model: String::new(),
            for_user: Block::Terminal { output: "line 59\n".into(), status: Some(0) },
            summary: "exit 0".into(),
            failed: false,
        };
        life.event(turn, call(CallEvent::Finished { id, outcome: Outcome::Done(output) }));
        life.end();
        let text = life.terminal.lock().unwrap().text().join("\n");
        assert_eq!(text.matches("for i").count(), 1, "{columns}x{rows}\n{text}");
        assert_eq!(text.matches("earlier").count(), 0, "{columns}x{rows}\n{text}");
    }
}
