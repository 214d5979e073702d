//! The screens once more, from their recorded messages, as plain rows. What they ask for is not carried out: what came of it is in
//! the recording too.

use crate::{
    agent::Settings,
    protocol::{Event, EventBody, TurnId},
    tui::{
        app::{Model, Msg, update},
        recording::Facts,
        view,
    },
};
use backstitch_components::text::span::Line;
use std::time::Duration;

pub struct Screens {
    /// Instead of the recorded ones.
    size: Option<(u16, u16)>,
    open: Option<Model>,
    rows: Vec<String>,
    seq: u64,
}

impl Screens {
    pub fn new(size: Option<(u16, u16)>) -> Self {
        Screens { size, open: None, rows: vec![], seq: 0 }
    }

    pub fn open(&mut self, facts: Facts) {
        self.close();
        let size = self.size.unwrap_or(facts.size);
        self.open = Some(Model::new(facts.setting(), size).0);
    }

    /// For an agent that had no screen.
    pub fn open_bare(&mut self, settings: &Settings) {
        let root = settings.bounds.root.clone();
        let place = root.display().to_string();
        let placeholder = String::new();
        self.open(Facts {
            root,
            place,
            demo: false,
            trusted: true,
            placeholder,
            still: true,
            fullscreen: false,
            keys: Default::default(),
            size: (80, 24),
        });
    }

    pub fn update(&mut self, now: Duration, msg: Msg) {
        let Some(model) = &mut self.open else { return };
        if self.size.is_some() && matches!(msg, Msg::Resize(..)) {
            return;
        }
        update(model, now, msg);
        self.rows.extend(model.take_outbox().iter().map(plain));
    }

    /// Events as the engine would hand them on, to a screen that has no messages of its own.
    pub fn fold(&mut self, bare: bool, now: Duration, events: Vec<(Option<TurnId>, EventBody)>) {
        for (turn, body) in events.into_iter().filter(|_| bare) {
            self.seq += 1;
            self.update(now, Msg::Event(Event { seq: self.seq, turn, body }));
        }
    }

    fn close(&mut self) {
        if let Some(model) = self.open.take() {
            self.rows.extend(view::frame(&model).rows().map(plain));
        }
    }

    pub fn finish(mut self) -> Vec<String> {
        self.close();
        self.rows
    }
}

fn plain(line: &Line) -> String {
    let text: String = line.text().chars().filter(|c| !c.is_control()).collect();
    text.trim_end().to_owned()
}
