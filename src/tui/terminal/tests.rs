//! Frames against a terminal emulator, keys against their bytes.

pub mod emulator;
pub mod reflow;

use super::{input::Decoder, *};
use iocraft::{
    ElementExt, FlexDirection, KeyCode, KeyModifiers,
    components::{Text, View},
    element,
};
use proptest::prelude::*;

/// A terminal with scrollback, and what was written to it.
struct Recording {
    size: (u16, u16),
    modes: Modes,
    terminal: Arc<Mutex<vt100::Parser>>,
    writes: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Surface for Recording {
    fn size(&self) -> Option<(u16, u16)> {
        Some(self.size)
    }
    fn modes(&self) -> Modes {
        self.modes
    }
    fn switch(&mut self, modes: Modes) -> io::Result<Vec<u8>> {
        Ok(std::mem::replace(&mut self.modes, modes).change(modes))
    }
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.terminal.lock().unwrap().process(bytes);
        self.writes.lock().unwrap().push(bytes.to_vec());
        Ok(())
    }
    fn events(&mut self) -> io::Result<BoxStream<'static, io::Result<TerminalEvent>>> {
        Ok(futures::stream::pending().boxed())
    }
    fn ask(&mut self) -> &'static [u8] {
        b""
    }
    fn answer(&mut self) -> Option<(u16, u16)> {
        None
    }
    fn reflow(&self) -> Reflow {
        Reflow::Never
    }
    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

struct Bench {
    screen: Option<Screen<Recording>>,
    terminal: Arc<Mutex<vt100::Parser>>,
    writes: Arc<Mutex<Vec<Vec<u8>>>>,
    stage: SharedStage,
    prev: Option<Canvas>,
    columns: u16,
}

impl Bench {
    fn new(columns: u16, rows: u16, before: &str) -> Bench {
        let size = |n: u16| n.try_into().unwrap();
        let terminal = Arc::new(Mutex::new(vt100::Parser::new(size(rows), size(columns), 10_000)));
        terminal.lock().unwrap().process(before.as_bytes());
        let (writes, stage) = (Arc::default(), SharedStage::default());
        let surface = Recording { size: (columns, rows), modes: Modes::default(), terminal: terminal.clone(), writes: Arc::clone(&writes) };
        let screen = Some(Screen::new(surface, stage.clone()));
        Bench { screen, terminal, writes, stage, prev: None, columns }
    }

    /// As iocraft's loop does it: printed lines, then the frame, in one update.
    fn frame(&mut self, printed: &[String], rows: &[String], cursor: Option<(u16, u16)>) {
        self.stage.lock().unwrap().cursor = cursor;
        let canvas = canvas(rows, self.columns);
        let screen = self.screen.as_mut().unwrap();
        screen.refresh_size();
        screen.begin_frame().unwrap();
        if !printed.is_empty() {
            screen.clear_canvas().unwrap();
            let messages: Vec<Passthrough<'_>> = printed
                .iter()
                .map(|l| Passthrough { stream: iocraft::Output::Stdout, content: l.as_str().into(), newline: true })
                .collect();
            screen.print_above(&messages).unwrap();
            self.prev = None;
        }
        if self.prev.as_ref() != Some(&canvas) {
            screen.write_canvas(self.prev.as_ref(), &canvas).unwrap();
        }
        self.prev = Some(canvas);
        screen.end_frame().unwrap();
    }

    /// Everything from the first line of the scrollback to the last line of the screen, without trailing blank lines.
    fn everything(&self) -> Vec<String> {
        let mut terminal = self.terminal.lock().unwrap();
        let columns = terminal.screen().size().1.into();
        terminal.screen_mut().set_scrollback(usize::MAX);
        let depth = terminal.screen().scrollback();
        let mut lines = vec![];
        for back in (1..=depth).rev() {
            terminal.screen_mut().set_scrollback(back);
            lines.extend(terminal.screen().rows(0, columns).next());
        }
        terminal.screen_mut().set_scrollback(0);
        lines.extend(terminal.screen().rows(0, columns));
        let mut lines: Vec<String> = lines.into_iter().map(|l| l.trim_end().to_string()).collect();
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines
    }
}

fn canvas(rows: &[String], columns: u16) -> Canvas {
    element! {
        View(flex_direction: FlexDirection::Column, width: columns) {
            #(rows.iter().map(|row| element!(View(height: 1) { Text(content: row.clone(), wrap: iocraft::components::TextWrap::NoWrap) })))
        }
    }
    .render(Some(columns.into()))
}

fn row() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z ]{0,19}",
        1 => "(日|本|語|é|x){0,9}",
        1 => Just(String::new()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// What was there before, then all that was printed, then the last frame: nothing lost, nothing doubled, no debris.
    #[test]
    fn the_screen_is_the_history_the_printed_lines_and_the_last_frame(
        frames in prop::collection::vec((prop::collection::vec(row(), 0..4), prop::collection::vec(row(), 1..8), any::<bool>()), 1..25),
        before in 0usize..20,
    ) {
        let mut expected: Vec<String> = (0..before).map(|n| format!("before {n}")).collect();
        let mut bench = Bench::new(20, 10, &expected.iter().map(|l| format!("{l}\r\n")).collect::<String>());
        for (printed, rows, at_end) in &frames {
            let y = if *at_end { rows.len() as u16 - 1 } else { 0 };
            bench.frame(printed, rows, Some((3, y)));
            expected.extend(printed.iter().map(|l| l.trim_end().to_string()));
            let mut now = expected.clone();
            now.extend(rows.iter().map(|l| l.trim_end().to_string()));
            let cursor = bench.terminal.lock().unwrap().screen().cursor_position();
            let line = bench.everything();
            while now.last().is_some_and(String::is_empty) {
                now.pop();
            }
            prop_assert_eq!(&line, &now);
            prop_assert_eq!(cursor.1, 3);
        }
        bench.frame(&[], &[], None);
        bench.screen = None;
        while expected.last().is_some_and(String::is_empty) {
            expected.pop();
        }
        prop_assert_eq!(bench.everything(), expected);
        prop_assert!(!bench.terminal.lock().unwrap().screen().hide_cursor());
        let sent: Vec<u8> = bench.writes.lock().unwrap().concat();
        for purge in [&b"\x1b[2J"[..], b"\x1b[3J"] {
            prop_assert!(!sent.windows(purge.len()).any(|w| w == purge), "the scrollback is not ours to erase");
        }
    }

    #[test]
    fn keys_do_not_depend_on_how_their_bytes_were_cut(bytes in prop::collection::vec(prop_oneof![
        Just(b"a".to_vec()), Just("é".into()), Just("日".into()), Just(b"\r".to_vec()), Just(b"\n".to_vec()), Just(b"\x1b[A".to_vec()), Just(b"\x1b[13;2u".to_vec()),
        Just(b"\x1b[27;2;13~".to_vec()), Just(b"\x1b\r".to_vec()), Just(b"\x1b[200~one\r\ntwo\x1b[201~".to_vec()), Just(b"\x1b]11;rgb:0/0/0\x07".to_vec()),
        Just(b"\x1b[<0;3;4M".to_vec()), Just(b"\x1bOP".to_vec()), Just(b"\x1b[?62c".to_vec()), Just(b"\xff".to_vec()), Just(b"\x1b[99999z".to_vec()),
    ], 0..12), cuts in prop::collection::vec(1usize..5, 1..8)) {
        let all = bytes.concat();
        let mut whole = vec![];
        Decoder::default().feed(&all, &mut whole);
        let (mut cut, mut decoder, mut rest, mut sizes) = (vec![], Decoder::default(), all.as_slice(), cuts.iter().cycle());
        while !rest.is_empty() {
            let n = (*sizes.next().unwrap()).min(rest.len());
            decoder.feed(&rest[..n], &mut cut);
            rest = &rest[n..];
        }
        prop_assert_eq!(format!("{whole:?}"), format!("{cut:?}"));
    }

    #[test]
    fn no_bytes_upset_the_decoder(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut events = vec![];
        let mut decoder = Decoder::default();
        decoder.feed(&bytes, &mut events);
        decoder.flush(&mut events);
    }
}

fn keys(bytes: &[u8]) -> Vec<(KeyCode, KeyModifiers)> {
    let mut events = vec![];
    let mut decoder = Decoder::default();
    decoder.feed(bytes, &mut events);
    if decoder.waits() {
        decoder.flush(&mut events);
    }
    events
        .into_iter()
        .map(|e| match e {
            TerminalEvent::Key(k) => (k.code, k.modifiers),
            other => panic!("{other:?} is no key"),
        })
        .collect()
}

#[test]
fn keys_by_their_bytes() {
    use KeyCode::*;
    let (none, shift, ctrl, alt) = (KeyModifiers::NONE, KeyModifiers::SHIFT, KeyModifiers::CONTROL, KeyModifiers::ALT);
    for (bytes, expected) in [
        (&b"hi\r"[..], vec![(Char('h'), none), (Char('i'), none), (Enter, none)]),
        (b"\n", vec![(Char('j'), ctrl)]),
        (b"\x03\x04\x1a\x0c\x1f", vec![(Char('c'), ctrl), (Char('d'), ctrl), (Char('z'), ctrl), (Char('l'), ctrl), (Char('_'), ctrl)]),
        (b"\x1b", vec![(Esc, none)]),
        (b"\x1b\x1b", vec![(Esc, none), (Esc, none)]),
        (b"\x1bb\x1b\r\x1b\x7f", vec![(Char('b'), alt), (Enter, alt), (Backspace, alt)]),
        (
            b"\x1b[A\x1bOB\x1b[1;5C\x1b[1;3D\x1b[H\x1b[4~",
            vec![(Up, none), (Down, none), (Right, ctrl), (Left, alt), (Home, none), (End, none)],
        ),
        (b"\x1b[Z\x1b[3~\x1b[5~\x1b[15~\x1bOP", vec![(BackTab, shift), (Delete, none), (PageUp, none), (F(5), none), (F(1), none)]),
        (
            b"\x1b[13;2u\x1b[27;2;13~\x1b[27u\x1b[9;2u\x1b[97;5u",
            vec![(Enter, shift), (Enter, shift), (Esc, none), (BackTab, shift), (Char('a'), ctrl)],
        ),
        ("é日🙂".as_bytes(), vec![(Char('é'), none), (Char('日'), none), (Char('🙂'), none)]),
        (b"\x1b[I\x1b[O\x1b[?1;2c\x1bP1$r\x1b\\a", vec![(Char('a'), none)]),
    ] {
        assert_eq!(keys(bytes), expected, "{}", bytes.escape_ascii());
    }
}

#[test]
fn a_paste_is_text_whatever_it_holds() {
    let mut events = vec![];
    let mut decoder = Decoder::default();
    let text = format!("{}\r\n\x1b[A\x03end", "x".repeat(100_000));
    for chunk in format!("\x1b[200~{text}\x1b[201~q").as_bytes().chunks(64) {
        decoder.feed(chunk, &mut events);
    }
    let [TerminalEvent::BracketedPaste(pasted), TerminalEvent::Key(after)] = &events[..] else { panic!("{} events", events.len()) };
    assert_eq!(*pasted, text.replace("\r\n", "\n"));
    assert_eq!(after.code, KeyCode::Char('q'));
}

#[test]
fn one_key_costs_a_few_bytes_and_one_write() {
    let mut bench = Bench::new(80, 24, "");
    let rows = |prompt: &str| vec!["─".repeat(78), prompt.to_string(), "  normal · model".to_string()];
    bench.frame(&[], &rows("❯ hel"), Some((5, 1)));
    bench.writes.lock().unwrap().clear();
    bench.frame(&[], &rows("❯ hell"), Some((6, 1)));
    let writes = bench.writes.lock().unwrap();
    assert_eq!(writes.len(), 1);
    assert!(writes[0].len() < 32, "{} bytes: {}", writes[0].len(), writes[0].escape_ascii());
}

#[test]
fn what_cells_hold_never_controls_the_terminal() {
    let mut bench = Bench::new(40, 6, "");
    bench.frame(&[], &["a\u{9b}2Jb\u{7}c\u{8}d\u{1b}[31me".into()], None);
    let sent = bench.writes.lock().unwrap().concat();
    let text = String::from_utf8(sent).unwrap();
    assert!(!text.contains('\u{9b}') && !text.contains('\u{7}') && !text.contains('\u{8}') && !text.contains("[31m"), "{text:?}");
}

#[test]
fn modes_are_switched_off_in_the_reverse_of_what_was_switched_on() {
    let all = Modes { keys: true, mouse: true, fullscreen: true, title: true };
    for byte in 0..16 {
        assert_eq!(Modes::from_byte(byte).to_byte(), byte);
    }
    let on = String::from_utf8(Modes::default().change(all)).unwrap();
    let off = String::from_utf8(all.change(Modes::default())).unwrap();
    for mode in ["?1049", "?1000", "?1002", "?1006", "?1004", "?2004"] {
        assert!(on.contains(&format!("{mode}h")) && off.contains(&format!("{mode}l")), "{mode}");
    }
    assert!(on.contains("\x1b[>1u") && off.contains("\x1b[<u"));
    assert!(on.contains("\x1b[22;2t") && off.contains("\x1b[23;2t"));
    assert!(all.change(all).is_empty());
}

#[test]
fn a_smaller_terminal_gets_the_region_redrawn_in_place() {
    let mut bench = Bench::new(20, 10, "before\r\n");
    let rows: Vec<String> = ["one", "two", "three"].map(String::from).to_vec();
    bench.frame(&["printed".into()], &rows, Some((0, 2)));
    for (columns, height) in [(12u16, 8u16), (30, 20), (8, 6)] {
        bench.terminal.lock().unwrap().screen_mut().set_size(height.try_into().unwrap(), columns.try_into().unwrap());
        bench.screen.as_mut().unwrap().surface.size = (columns, height);
        bench.columns = columns;
        bench.frame(&[], &rows, Some((0, 2)));
        assert_eq!(bench.everything(), ["before", "printed", "one", "two", "three"], "{columns}×{height}");
    }
}
