//! A long life of the screen at random: keys, pastes, changes of size and events in any order, drawn on a terminal that reflows.
//! Nothing panics, nothing printed is lost, and what is on the screen in the end is what a fresh drawing would show.

use super::*;
use crate::tui::terminal::{Cursor, Modes, Screen, tests::reflow::Reflowing};
use backstitch_components::ansi::to_ansi;
use iocraft::{Canvas, ElementExt, Passthrough, TerminalBackend};
use proptest::prelude::*;
use std::sync::Mutex;

/// The screen's loop without its waiting.
struct Life {
    bench: Bench,
    screen: Screen<Reflowing>,
    cursor: Cursor,
    emulator: Arc<Mutex<avt::Terminal>>,
    size: Arc<Mutex<(u16, u16)>>,
    prev: Option<Canvas>,
    /// Lines that must be in the terminal, in order.
    expected: Vec<String>,
    turn: u64,
    call: u64,
}

impl Life {
    fn new() -> Life {
        let size = (70u16, 24u16);
        let emulator = Arc::new(Mutex::new(avt::Terminal::with_scrollback(70, 24, None).unwrap()));
        let expected: Vec<String> = (0..8).map(|n| format!("before {n}")).collect();
        emulator.lock().unwrap().feed(expected.iter().map(|l| format!("{l}\r\n")).collect::<String>());
        let (size, cursor) = (Arc::new(Mutex::new(size)), Cursor::default());
        let surface = Reflowing { terminal: emulator.clone(), size: size.clone(), modes: Modes::default() };
        let screen = Screen::new(surface, cursor.clone());
        let bench = Bench::new(setting(), (70, 24));
        let mut life = Life { bench, screen, cursor, emulator, size, prev: None, expected, turn: 0, call: 0 };
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
        // Not lower than what is live: what has left the screen at the top is the terminal's, and stays.
        // The long views have the other screen; here they are left at once.
        while self.bench.model.is_fullscreen() {
            update(&mut self.bench.model, self.bench.clock, press("esc"));
        }
        self.frame();
    }

    fn frame(&mut self) {
        let model = &mut self.bench.model;
        self.screen.refresh_size();
        self.screen.begin_frame().unwrap();
        let rows = model.take_outbox();
        if !rows.is_empty() {
            self.expected.extend(rows.iter().map(|row| row.text().trim_end().to_string()));
            let text = to_ansi(&rows, &model.setting.theme, model.setting.depth, model.width());
            let text = text.strip_suffix("\r\n").unwrap();
            self.screen.clear_canvas().unwrap();
            let message = Passthrough { stream: iocraft::Output::Stdout, content: text.into(), newline: true };
            self.screen.print_above(&[message]).unwrap();
            self.prev = None;
        }
        let frame = view::frame(model);
        *self.cursor.lock().unwrap() = frame.cursor;
        let columns = usize::from(self.size.lock().unwrap().0);
        let canvas = view::view(model, frame).render(Some(columns));
        if self.prev.as_ref() != Some(&canvas) {
            self.screen.write_canvas(self.prev.as_ref(), &canvas).unwrap();
        }
        self.prev = Some(canvas);
        self.screen.end_frame().unwrap();
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Key(at) => self.msg(press(KEYS[*at])),
            Step::Paste(text) => self.msg(Msg::Paste(text.clone())),
            Step::Resize(columns, rows) => {
                self.emulator.lock().unwrap().resize(usize::from(*columns), usize::from(*rows));
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

/// The last ones open something tall.
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
/// Of these keys, how many do not.
const LOW: usize = 16;

const JOINED: &str = "日本語のテキスト 👨\u{200d}👩\u{200d}👧 e\u{301} ";
/// Terminals do not agree on the width of joined characters, so nobody knows where one breaks a row that has become too long.
const NARROWED: &str = "日本語のテキスト 👨 e\u{301} ";

/// `resizes`: with changes of size, and then without what makes the live region much lower when it goes: a terminal may take the
/// empty rows below for a reason to move the rows above out of reach.
fn steps(most: usize, resizes: bool) -> impl Strategy<Value = Vec<Step>> {
    let tall = u32::from(!resizes);
    let text = prop_oneof![
        4 => "[a-z ]{1,60}",
        4 => "[a-z\n*`#-]{1,40}",
        2 => Just(if resizes { NARROWED } else { JOINED }.to_string()),
        2 => Just("\u{1b}[2J\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\u{200b}".to_string()),
        2 => Just("```rust\nfn a() {}\n```\n".to_string()),
        2 * tall => Just("| a | b |\n|---|---|\n| 1 | 2 |\n\n".to_string()),
    ];
    let keys = if resizes { LOW } else { KEYS.len() };
    let step = prop_oneof![
        8 => (0..keys).prop_map(Step::Key),
        tall => "[a-z\n]{0,40}".prop_map(Step::Paste),
        2 * u32::from(resizes) => (24u16..100, 24u16..40).prop_map(|(c, r)| Step::Resize(c, r)),
        2 => Just(Step::Tick),
        8 => text.prop_map(Step::Text),
        2 => Just(Step::Turn),
        2 => Just(Step::Call(false)),
        tall => Just(Step::Call(true)),
        1 => "[a-z ]{1,50}".prop_map(Step::Notice),
    ];
    prop::collection::vec(step, 1..most)
}

/// Lives through it all; what is on the terminal in the end must be all that was printed and a fresh frame.
fn live(steps: &[Step]) -> Result<(), TestCaseError> {
    let mut life = Life::new();
    for step in steps {
        life.step(step);
    }
    life.end();
    // Everything has settled.
    life.bench.clock += Duration::from_secs(10);
    life.msg(Msg::Tick);
    let mut expected = life.expected.clone();
    expected.extend(view::frame(&life.bench.model).rows().map(|row| row.text().trim_end().to_string()));
    let mut text = life.emulator.lock().unwrap().screen().text();
    for lines in [&mut expected, &mut text] {
        // A wide character that doesn't fit at the end of a row leaves a blank there.
        lines.iter_mut().for_each(|line| line.retain(|c| c != ' '));
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
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
        live(&steps)?;
    }

    #[test]
    fn whatever_size_it_gets_meanwhile_the_screen_is_whole(steps in steps(120, true)) {
        live(&steps)?;
    }
}

/// The line of a call that runs, and what it prints, leave nothing behind when the window gets narrower.
#[test]
fn narrowing_while_a_command_runs_leaves_nothing_behind() {
    for (columns, rows) in [(40, 24), (30, 24), (55, 30)] {
        let mut life = Life::new();
        life.step(&Step::Turn);
        let (id, turn) = (CallId(1), Some(1));
        let command = "for i in $(seq 1 120); do echo line $i; sleep 0.02; done";
        life.event(turn, call(CallEvent::Proposed { id, name: "Bash".into(), title: String::new() }));
        let block = Block::Command { command: command.into(), directory: "/p".into() };
        life.event(
            turn,
            call(CallEvent::Previewed {
                id,
                access: Access::Run { command: command.into(), parts: vec![], folder: None },
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
        let text = life.emulator.lock().unwrap().screen().text().join("\n");
        assert_eq!(text.matches("for i").count(), 1, "{columns}x{rows}\n{text}");
        assert_eq!(text.matches("earlier").count(), 0, "{columns}x{rows}\n{text}");
    }
}
