//! Changes of size against a terminal that breaks lines anew, and that tells of its new size later than it has it.

use super::*;

pub struct Reflowing {
    pub terminal: Arc<Mutex<avt::Terminal>>,
    /// As the program is told.
    pub size: Arc<Mutex<(u16, u16)>>,
    pub modes: Modes,
}

impl Surface for Reflowing {
    fn size(&self) -> Option<(u16, u16)> {
        Some(*self.size.lock().unwrap())
    }
    fn modes(&self) -> Modes {
        self.modes
    }
    fn switch(&mut self, modes: Modes) -> io::Result<Vec<u8>> {
        Ok(std::mem::replace(&mut self.modes, modes).change(modes))
    }
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.terminal.lock().unwrap().feed(std::str::from_utf8(bytes).unwrap());
        Ok(())
    }
    fn events(&mut self) -> io::Result<BoxStream<'static, io::Result<TerminalEvent>>> {
        Ok(futures::stream::pending().boxed())
    }
    fn reflows(&self) -> bool {
        true
    }
}

#[derive(Debug, Clone)]
enum Step {
    /// Rows to print, and how many rows are live.
    Frame(usize, usize),
    /// The terminal changes.
    Resize(u16, u16),
    /// The program learns of it.
    Told,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0usize..3, 1usize..6).prop_map(|(printed, live)| Step::Frame(printed, live)),
        2 => (20u16..60, 8u16..20).prop_map(|(c, r)| Step::Resize(c, r)),
        2 => Just(Step::Told),
    ];
    prop::collection::vec(step, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// However the size changes and however late that is known: every line from before and every printed line is there once, in
    /// order, and after the last frame nothing else is.
    #[test]
    fn nothing_printed_is_lost_and_nothing_stays_behind(steps in steps()) {
        let mut truth = (40u16, 12u16);
        let terminal = Arc::new(Mutex::new(avt::Terminal::with_scrollback(40, 12, None).unwrap()));
        let size = Arc::new(Mutex::new(truth));
        let mut expected: Vec<String> = (0..5).map(|n| format!("before {n}")).collect();
        terminal.lock().unwrap().feed(expected.iter().map(|l| format!("{l}\r\n")).collect::<String>());
        let surface = Reflowing { terminal: terminal.clone(), size: size.clone(), modes: Modes::default() };
        // As the screen does while sizes change: the cursor is at the region's beginning.
        let mut screen = Screen::new(surface, Cursor::default());
        let (mut prev, mut count) = (None, 0);
        let end = [Step::Told, Step::Frame(1, 3)];
        for step in steps.iter().chain(&end) {
            match step {
                Step::Resize(columns, rows) => {
                    truth = (*columns, *rows);
                    terminal.lock().unwrap().resize(usize::from(*columns), usize::from(*rows));
                }
                Step::Told => *size.lock().unwrap() = truth,
                Step::Frame(printed, live) => {
                    screen.refresh_size();
                    let columns = size.lock().unwrap().0;
                    screen.begin_frame().unwrap();
                    if *printed > 0 {
                        screen.clear_canvas().unwrap();
                        let lines: Vec<String> = (0..*printed).map(|n| format!("line {} {}", count + n, "x".repeat(usize::from(columns) / 2))).collect();
                        count += printed;
                        let messages: Vec<Passthrough<'_>> = lines
                            .iter()
                            .map(|l| Passthrough { stream: iocraft::Output::Stdout, content: l.as_str().into(), newline: true })
                            .collect();
                        screen.print_above(&messages).unwrap();
                        expected.extend(lines);
                        prev = None;
                    }
                    let rows: Vec<String> = (0..*live).map(|n| format!("live {n} {}", "─".repeat(usize::from(columns) - 9))).collect();
                    let canvas = canvas(&rows, columns);
                    if prev.as_ref() != Some(&canvas) {
                        screen.write_canvas(prev.as_ref(), &canvas).unwrap();
                    }
                    prev = Some(canvas);
                    screen.end_frame().unwrap();
                }
            }
        }
        let columns = usize::from(truth.0);
        expected.extend((0..3).map(|n| format!("live {n} {}", "─".repeat(columns - 9))));
        let mut text = terminal.lock().unwrap().screen().text();
        while text.last().is_some_and(String::is_empty) {
            text.pop();
        }
        prop_assert_eq!(text, expected);
    }
}

/// tmux remembers which rows go on in the next one, even after both were overwritten, until one is erased whole: else it joins what we
/// drew there when the size changes again.
#[test]
fn after_a_change_of_size_every_row_is_erased_whole_before_it_is_written() {
    let mut bench = Bench::new(40, 12, "");
    let rows: Vec<String> = (0..3).map(|n| format!("live {n}")).collect();
    bench.frame(&[], &rows, None);
    bench.columns = 30;
    bench.screen.as_mut().unwrap().surface.size = (30, 12);
    bench.writes.lock().unwrap().clear();
    bench.frame(&[], &rows, None);
    let written = String::from_utf8(bench.writes.lock().unwrap().concat()).unwrap();
    assert_eq!(written.matches("\x1b[2K").count(), 3, "{written:?}");
    bench.writes.lock().unwrap().clear();
    bench.frame(&[], &["live 0".into(), "other".into(), "live 2".into()], None);
    let written = String::from_utf8(bench.writes.lock().unwrap().concat()).unwrap();
    assert!(written.contains("other") && !written.contains("\x1b[2K"), "{written:?}");
}
