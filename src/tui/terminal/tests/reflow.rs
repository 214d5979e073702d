//! Changes of size against terminals that break lines anew or cut them, and that tell of their new size later than they have it.

use super::{
    emulator::{Emulator, Kind},
    *,
};

/// A terminal that is none.
pub enum Fake {
    Avt(Box<avt::Terminal>),
    Own(Emulator, Kind),
}

impl Fake {
    pub fn new(kind: Option<Kind>, columns: usize, rows: usize) -> Fake {
        match kind {
            None => Fake::Avt(Box::new(avt::Terminal::with_scrollback(columns, rows, None).unwrap())),
            Some(kind) => Fake::Own(Emulator::new(kind, columns, rows), kind),
        }
    }

    pub fn feed(&mut self, text: &str) {
        match self {
            Fake::Avt(terminal) => terminal.feed(text),
            Fake::Own(terminal, _) => terminal.feed(text),
        }
    }

    pub fn resize(&mut self, columns: u16, rows: u16) {
        match self {
            Fake::Avt(terminal) => terminal.resize(columns.into(), rows.into()),
            Fake::Own(terminal, _) => terminal.resize(columns.into(), rows.into()),
        }
    }

    /// A frame has been drawn: what is to be watched while sizes change.
    pub fn drawn<S: Surface>(&mut self, screen: &Screen<S>) -> Watch {
        let rows = screen.region.rows.iter().map(|row| row.width).collect::<Vec<_>>();
        let end = (self.row() + rows.len()).saturating_sub(screen.row_at);
        if let Fake::Own(terminal, _) = self {
            terminal.mark(screen.row_at);
        }
        Watch { rows, empty: usize::from(screen.screen_rows() as u16).saturating_sub(end) }
    }

    /// Has something of the region left the screen, or may it have?
    pub fn overflows(&self, watch: &Watch, columns: u16, rows: u16) -> bool {
        match self {
            Fake::Own(terminal, _) => terminal.mark_is_gone(),
            Fake::Avt(_) => {
                let needed: usize = watch.rows.iter().map(|width| width.div_ceil(columns.into()).max(1)).sum();
                needed + watch.empty > rows.into()
            }
        }
    }

    /// Scrollback and screen, lines as they were written, without blank ones at the end.
    pub fn text(&self) -> Vec<String> {
        let mut text = match self {
            Fake::Avt(terminal) => terminal.screen().text(),
            Fake::Own(terminal, _) => terminal.text(),
        };
        while text.last().is_some_and(|line| line.trim_end().is_empty()) {
            text.pop();
        }
        text
    }

    /// The rows of the screen.
    fn shown(&self) -> Vec<String> {
        match self {
            Fake::Avt(terminal) => terminal.screen().text(),
            Fake::Own(terminal, _) => terminal.shown(),
        }
    }

    /// Row and column, as a terminal tells it.
    fn cursor(&self) -> (u16, u16) {
        let (column, columns) = match self {
            Fake::Avt(terminal) => (terminal.cursor().col, usize::MAX),
            Fake::Own(terminal, _) => (terminal.cursor().0, terminal.columns),
        };
        (self.row() as u16, column.min(columns - 1) as u16)
    }

    fn row(&self) -> usize {
        match self {
            Fake::Avt(terminal) => terminal.cursor().row,
            Fake::Own(terminal, _) => terminal.cursor().1,
        }
    }
}

/// Widths of the region's rows, and how many empty ones are below.
#[derive(Default)]
pub struct Watch {
    rows: Vec<usize>,
    empty: usize,
}

/// The screen's end of it.
pub struct Reflowing {
    pub terminal: Arc<Mutex<Fake>>,
    /// As the program is told.
    pub size: Arc<Mutex<(u16, u16)>>,
    pub now: Arc<Mutex<Duration>>,
    modes: Modes,
    asked: bool,
    answer: Option<(u16, u16)>,
    asked_size: bool,
    /// As it was when it was asked.
    was: Option<(u16, u16)>,
}

impl Reflowing {
    pub fn new(terminal: Fake, size: (u16, u16)) -> Reflowing {
        let (modes, now, asked, answer, asked_size, was) = Default::default();
        Reflowing { terminal: Arc::new(Mutex::new(terminal)), size: Arc::new(Mutex::new(size)), now, modes, asked, answer, asked_size, was }
    }
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
        let mut terminal = self.terminal.lock().unwrap();
        terminal.feed(std::str::from_utf8(bytes).unwrap());
        if std::mem::take(&mut self.asked) {
            self.answer = Some(terminal.cursor());
        }
        if let (true, Fake::Own(terminal, _)) = (std::mem::take(&mut self.asked_size), &*terminal) {
            self.was = Some((terminal.columns as u16, terminal.rows as u16));
        }
        Ok(())
    }
    fn events(&mut self) -> io::Result<BoxStream<'static, io::Result<TerminalEvent>>> {
        Ok(futures::stream::pending().boxed())
    }
    fn ask(&mut self) -> &'static [u8] {
        (self.asked, self.answer) = (true, None);
        b"\x1b[6n"
    }
    fn answer(&mut self) -> Option<(u16, u16)> {
        self.answer.take()
    }
    fn ask_size(&mut self) -> &'static [u8] {
        if self.reflow() != Reflow::Tmux {
            return b"";
        }
        (self.asked_size, self.was) = (true, None);
        b"\x1b[18t"
    }
    fn was(&mut self, size: (u16, u16)) -> Option<bool> {
        self.was.take().map(|was| was == size)
    }
    fn reflow(&self) -> Reflow {
        match &*self.terminal.lock().unwrap() {
            Fake::Avt(_) => Reflow::Breaks,
            Fake::Own(_, Kind::Tmux) => Reflow::Tmux,
            Fake::Own(_, Kind::Xterm) => Reflow::Never,
        }
    }
    fn now(&self) -> Duration {
        *self.now.lock().unwrap()
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

struct Table {
    terminal: Arc<Mutex<Fake>>,
    size: Arc<Mutex<(u16, u16)>>,
    now: Arc<Mutex<Duration>>,
    stage: SharedStage,
    screen: Screen<Reflowing>,
    prev: Option<Canvas>,
    expected: Vec<String>,
    printed: usize,
    truth: (u16, u16),
    watch: Watch,
    overflowed: bool,
    /// Has a frame been drawn in a window that was another already?
    late: bool,
    /// Is a change of size seen at the latest when the frame is made? tmux tells at once when it has told nothing for a while.
    sees: bool,
    /// The last frame was not drawn, since it was seen then.
    skipped: bool,
    /// Has something left the screen of a window that got higher? Nobody knows how much of it, since nobody knows what it had to give back.
    unknown: bool,
}

impl Table {
    fn new(kind: Option<Kind>, size: (u16, u16)) -> Table {
        let surface = Reflowing::new(Fake::new(kind, size.0.into(), size.1.into()), size);
        let (terminal, told, now, stage) = (surface.terminal.clone(), surface.size.clone(), surface.now.clone(), SharedStage::default());
        let expected: Vec<String> = (0..5).map(|n| format!("before {n}")).collect();
        terminal.lock().unwrap().feed(&expected.iter().map(|l| format!("{l}\r\n")).collect::<String>());
        let screen = Screen::new(surface, stage.clone());
        Table {
            terminal,
            size: told,
            now,
            stage,
            screen,
            prev: None,
            expected,
            printed: 0,
            truth: size,
            watch: Watch::default(),
            overflowed: false,
            late: false,
            sees: false,
            skipped: false,
            unknown: false,
        }
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        let (_, before) = std::mem::replace(&mut self.truth, (columns, rows));
        let mut terminal = self.terminal.lock().unwrap();
        terminal.resize(columns, rows);
        let gone = terminal.overflows(&self.watch, columns, rows);
        self.overflowed |= gone;
        self.unknown |= gone && rows > before;
    }

    /// As the root does it: a frame that is held, then, when all is quiet, one that is drawn.
    fn told(&mut self) {
        *self.size.lock().unwrap() = self.truth;
        if !std::mem::take(&mut self.late) {
            *self.now.lock().unwrap() += Duration::from_secs(1);
        }
        self.stage.lock().unwrap().held = true;
        self.draw(0, &[], None);
    }

    fn live(rows: usize, columns: u16) -> Vec<String> {
        (0..rows).map(|n| format!("live {n}{}", "─".repeat(usize::from(columns).saturating_sub(8 + n % 4)))).collect()
    }

    fn frame(&mut self, printed: usize, live: usize, cursor: Option<u16>) {
        if std::mem::take(&mut self.skipped) {
            self.told();
        }
        self.stage.lock().unwrap().held = false;
        let columns = self.size.lock().unwrap().0;
        self.draw(printed, &Table::live(live, columns), cursor.map(|y| (2, y)));
        if self.skipped {
            return;
        }
        self.late |= *self.size.lock().unwrap() != self.truth && !self.sees;
        self.watch = self.terminal.lock().unwrap().drawn(&self.screen);
    }

    fn draw(&mut self, printed: usize, rows: &[String], cursor: Option<(u16, u16)>) {
        let columns = self.size.lock().unwrap().0;
        let screen = &mut self.screen;
        screen.refresh_size();
        screen.begin_frame().unwrap();
        self.stage.lock().unwrap().cursor = cursor;
        if self.sees {
            self.skipped = std::mem::replace(&mut *self.size.lock().unwrap(), self.truth) != self.truth;
        }
        if printed > 0 {
            screen.clear_canvas().unwrap();
            let count = self.printed;
            let lines: Vec<String> = (0..printed).map(|n| format!("line {} {}", count + n, "x".repeat(usize::from(columns) / 2))).collect();
            self.printed += printed;
            let messages: Vec<Passthrough<'_>> =
                lines.iter().map(|l| Passthrough { stream: iocraft::Output::Stdout, content: l.as_str().into(), newline: true }).collect();
            screen.print_above(&messages).unwrap();
            self.expected.extend(lines);
            self.prev = None;
        }
        let canvas = canvas(rows, columns);
        if self.prev.as_ref() != Some(&canvas) {
            screen.write_canvas(self.prev.as_ref(), &canvas).unwrap();
        }
        self.prev = Some(canvas);
        screen.end_frame().unwrap();
    }

    fn text(&self) -> Vec<String> {
        self.terminal.lock().unwrap().text()
    }

    fn expected(&self, live: usize) -> Vec<String> {
        let mut expected = self.expected.clone();
        expected.extend(Table::live(live, self.truth.0));
        expected
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// However the size changes and however late that is known: every line from before and every printed line is there once, in
    /// order, and after the last frame nothing else is.
    #[test]
    fn nothing_printed_is_lost_and_nothing_stays_behind(steps in steps()) {
        for kind in [None, Some(Kind::Tmux)] {
            let mut table = Table::new(kind, (40, 12));
            table.sees = kind.is_some();
            for step in &steps {
                match step {
                    Step::Resize(columns, rows) => table.resize(*columns, *rows),
                    Step::Told => table.told(),
                    // The cursor is at the region's beginning: elsewhere nobody can know what was broken when.
                    Step::Frame(printed, live) => table.frame(*printed, *live, None),
                }
            }
            table.told();
            table.frame(1, 3, None);
            let (text, expected) = (table.text(), table.expected(3));
            if kind.is_some() && table.overflowed {
                // What has left the screen with something printed below it can't be taken back.
                prop_assert!(text.ends_with(&expected[expected.len() - 4..]), "{:#?}", text);
                let mut text = text.iter();
                prop_assert!(expected.iter().all(|line| text.any(|there| there == line)));
            } else {
                prop_assert_eq!(text, expected, "{:?}", kind);
            }
        }
    }

    /// However tall the region is, and wherever its cursor: as long as nothing is printed, what has left the screen of tmux is taken
    /// back as soon as tmux shows it.
    #[test]
    fn what_has_left_the_screen_is_taken_back(
        printed in 0usize..30,
        live in 1usize..16,
        last in any::<bool>(),
        sizes in prop::collection::vec((10u16..90, 3u16..30), 1..8),
    ) {
        let mut table = Table::new(Some(Kind::Tmux), (60, 18));
        let cursor = |live: usize| last.then_some(live as u16 - 1);
        table.frame(printed, live, cursor(live));
        table.frame(0, live, cursor(live));
        for (columns, rows) in sizes {
            table.resize(columns, rows);
            table.told();
            let room = live.min(usize::from(rows).saturating_sub(2).max(1));
            table.frame(0, room, cursor(room));
            let (text, fresh) = (table.text(), Table::live(room, columns));
            prop_assert!(text.starts_with(&table.expected), "{:#?}", text);
            if table.screen.region.has_lost() {
                let shown = table.terminal.lock().unwrap().shown();
                prop_assert!(shown.starts_with(&fresh) && shown[room..].iter().all(String::is_empty), "{:#?}", shown);
            } else {
                prop_assert!(text.ends_with(&fresh), "{:#?}", text);
                prop_assert!(table.unknown || text == table.expected(room), "{:#?}", text);
            }
        }
    }

    #[test]
    fn there_and_back_leaves_nothing_behind(
        printed in 0usize..30,
        live in 1usize..16,
        last in any::<bool>(),
        other in (10u16..120, 3u16..30),
        lower in any::<bool>(),
        drawn in any::<bool>(),
    ) {
        let other = (other.0, if lower { other.1 } else { 18 });
        for kind in [Kind::Tmux, Kind::Xterm] {
            let mut table = Table::new(Some(kind), (80, 18));
            let cursor = |live: usize| last.then_some(live as u16 - 1);
            table.frame(printed, live, cursor(live));
            table.frame(0, live, cursor(live));
            table.resize(other.0, other.1);
            if drawn {
                table.told();
                let room = live.min(usize::from(other.1).saturating_sub(2).max(1));
                table.frame(0, room, cursor(room));
            }
            table.resize(80, 18);
            table.told();
            table.frame(0, live, cursor(live));
            let mut text = table.text();
            for (line, full) in text.iter_mut().zip(table.expected(live)).filter(|_| kind == Kind::Xterm) {
                if full.starts_with(&*line) {
                    *line = full;
                }
            }
            // What needs more rows when the window gets narrower may not fit; one that gets only a little wider gives back only a little,
            // and one that was lower no more rows than it had scrolled away. A cursor that has left the screen and come back before that
            // was told stands anywhere.
            let lost = table.screen.region.has_lost() && (other.0 > 40 || lower) || table.overflowed && !drawn || table.unknown;
            prop_assert!(kind == Kind::Tmux && lost || text == table.expected(live), "{:?} {:#?}", kind, text);
        }
    }
}
