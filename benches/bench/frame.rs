//! The screen without a terminal: a message, the frame after it, its elements on a canvas, and the bytes that a terminal gets.

use crate::{
    clock::{each_us, in_turns},
    report::Report,
};
use backstitch::{
    protocol::{Event, EventBody, TextEvent, TurnEvent, TurnId},
    tui::{
        app::{Model, Msg, Setting, update},
        terminal::{Modes, Reflow, Screen, Surface},
        view,
    },
};
use backstitch_components::theme::{ColorDepth, Theme};
use futures::{StreamExt, stream::BoxStream};
use iocraft::prelude::*;
use iocraft::{Canvas, TerminalBackend};
use std::{io, time::Duration};

const SIZE: (u16, u16) = (110, 40);

struct Sink;

impl Surface for Sink {
    fn size(&self) -> Option<(u16, u16)> {
        Some(SIZE)
    }
    fn modes(&self) -> Modes {
        Modes::default()
    }
    fn switch(&mut self, _: Modes) -> io::Result<Vec<u8>> {
        Ok(vec![])
    }
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        std::hint::black_box(bytes);
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
        Reflow::Breaks
    }
    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

struct Subject {
    model: Model,
    screen: Screen<Sink>,
    drawn: Option<Canvas>,
    typed: bool,
    seq: u64,
}

impl Subject {
    fn new(fullscreen: bool) -> Self {
        let setting = Setting {
            root: "/home/someone/project".into(),
            place: "~/project (main)".into(),
            demo: false,
            trusted: true,
            placeholder: "What should be done?".into(),
            theme: Theme::for_background(true),
            depth: ColorDepth::TrueColor,
            still: false,
            keys: Default::default(),
            fullscreen,
        };
        let (model, _) = Model::new(setting, SIZE);
        Subject { model, screen: Screen::new(Sink, Default::default()), drawn: None, typed: false, seq: 0 }
    }

    fn tell(&mut self, body: EventBody) {
        self.seq += 1;
        update(&mut self.model, Duration::ZERO, Msg::Event(Event { seq: self.seq, turn: Some(TurnId(1)), body }));
        std::hint::black_box(self.model.take_outbox());
    }

    fn answer(&mut self, text: &str) {
        self.tell(EventBody::Text(TextEvent::Answer(text.into())));
    }

    /// A conversation of so many messages, and an answer that is just arriving.
    fn with_messages(count: usize, fullscreen: bool) -> Self {
        let mut subject = Self::new(fullscreen);
        for n in 0..count / 2 {
            subject.tell(EventBody::Turn(TurnEvent::UserSaid(format!("Question {n}: why is `f({n})` wrong?").into())));
            subject.answer(&format!("Because **{n}** is\n\n- odd\n- not `{n}u8`\n\nSo it goes.\n"));
            subject.tell(EventBody::Text(TextEvent::Done));
        }
        subject.tell(EventBody::Turn(TurnEvent::Started));
        subject.answer("The answer that is *arriving* now");
        subject
    }

    /// An answer of so many bytes, and more to come.
    fn with_answer(bytes: usize) -> Self {
        let mut subject = Self::new(false);
        subject.tell(EventBody::Turn(TurnEvent::Started));
        let line = "Some words of the answer, with `code` and **weight**, a line like any other.\n";
        (0..bytes / line.len()).for_each(|_| subject.answer(line));
        subject
    }

    fn frame(&mut self) -> io::Result<()> {
        let frame = view::frame(&self.model);
        let canvas = view::view(&self.model, frame).render(Some(usize::from(SIZE.0)));
        self.screen.refresh_size();
        self.screen.begin_frame()?;
        self.screen.write_canvas(self.drawn.as_ref(), &canvas)?;
        self.screen.end_frame()?;
        self.drawn = Some(canvas);
        Ok(())
    }

    /// A key and its frame.
    fn press(&mut self) -> io::Result<()> {
        self.typed = !self.typed;
        let code = if self.typed { KeyCode::Char('x') } else { KeyCode::Backspace };
        update(&mut self.model, Duration::ZERO, Msg::Key(code, KeyModifiers::NONE));
        self.frame()
    }
}

pub fn messages(report: &mut Report) -> anyhow::Result<()> {
    for (fullscreen, place) in [(false, "inline"), (true, "fullscreen")] {
        let sizes = [10, 1_000, 100_000];
        let mut subjects = sizes.map(|size| Subject::with_messages(size, fullscreen));
        for (subject, size) in subjects.iter_mut().zip(sizes) {
            anyhow::ensure!(subject.model.transcript.cells.len() == size, "the conversation is not there");
            // The first frame lays out what the others find laid out.
            (0..20).try_for_each(|_| subject.press())?;
        }
        let costs = in_turns(41, &mut subjects, |subject| each_us(40, || drop(subject.press())));
        for (size, cost) in sizes.iter().zip(&costs) {
            report.noted(&format!("frame of a key, {place}, {size} messages, CPU"), format!("{cost:.1} µs"));
        }
        report.bound("  1,000 messages against 10", costs[1] / costs[0], "×", 1.1);
        report.bound("  100,000 messages against 10", costs[2] / costs[0], "×", 1.1);
    }
    Ok(())
}

pub fn deltas(report: &mut Report) -> anyhow::Result<()> {
    let mut subjects = [1_024, 1_048_576].map(Subject::with_answer);
    let mut words = 0usize;
    let costs = in_turns(31, &mut subjects, |subject| {
        // From the start of a line to its end: what is held back of the answer is the same for all.
        subject.answer("\n");
        each_us(20, || {
            words += 1;
            subject.answer("word ");
            drop(subject.frame());
        })
    });
    report.noted("delta of an answer with its frame, at 1 KB, CPU", format!("{:.1} µs", costs[0]));
    report.noted("delta of an answer with its frame, at 1 MB, CPU", format!("{:.1} µs", costs[1]));
    report.bound("  1 MB against 1 KB", costs[1] / costs[0], "×", 1.25);
    Ok(())
}
