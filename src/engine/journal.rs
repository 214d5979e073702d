//! The one way out of the engine: a thread that writes records and hands on events, in the order in which the agent gave them.
//!
//! A record is on its way to the disk before any later event is shown. Events that may be merged are, when several wait; `seq`
//! is given last, so it has no gaps. When the disk fails, that is said once and the session goes on in memory.

use crate::{
    mailbox::Mailbox,
    protocol::{CallEvent, Class, Event, EventBody, Notice, Record, RecordBody, TextEvent, TurnEvent, TurnId},
    session::SessionStore,
};
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::{io, thread::JoinHandle};

/// The one thing that the journal itself has to say.
pub const UNSAVED: &str = "The session can't be saved";

/// No event is made longer than this by merging, so that a front end may stop between two.
const LONGEST: usize = 64 << 10;

pub enum Item {
    Append(RecordBody),
    Emit(Option<TurnId>, EventBody),
}

pub struct Journal {
    items: Option<Sender<Item>>,
    thread: Option<JoinHandle<()>>,
}

impl Journal {
    pub fn start(store: Box<dyn SessionStore>, events: Mailbox<Event>) -> io::Result<Journal> {
        let (tx, rx) = unbounded();
        let writer = Writer { store, events, seq: 0, waiting: vec![], held: vec![], partial: None, broken: false };
        let thread = std::thread::Builder::new().name("journal".into()).spawn(move || writer.run(&rx))?;
        Ok(Journal { items: Some(tx), thread: Some(thread) })
    }

    pub fn send(&self, item: Item) {
        // The thread ends only when this sender does.
        if let Some(items) = &self.items {
            let _ = items.send(item);
        }
    }
}

impl Drop for Journal {
    /// Everything that was sent is written and handed on first.
    fn drop(&mut self) {
        self.items = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Writer {
    store: Box<dyn SessionStore>,
    events: Mailbox<Event>,
    seq: u64,
    waiting: Vec<(Option<TurnId>, EventBody)>,
    /// The first records, while nothing has come of them: nobody looks for a session in which nothing was said.
    held: Vec<Record>,
    /// What has come of an answer, several parts as one: written before the events that show it are handed on.
    partial: Option<RecordBody>,
    broken: bool,
}

impl Writer {
    fn run(mut self, items: &Receiver<Item>) {
        while let Ok(first) = items.recv() {
            for item in std::iter::once(first).chain(items.try_iter().take(4096)) {
                match item {
                    Item::Append(record) => self.append(record),
                    Item::Emit(turn, body) => self.take(turn, body),
                }
            }
            self.write_partial();
            self.hand_on();
        }
        self.store_result(|store| store.sync());
    }

    fn append(&mut self, body: RecordBody) {
        if let (RecordBody::Partial { turn, reasoning, text }, Some(RecordBody::Partial { turn: of, reasoning: before, text: said })) =
            (&body, &mut self.partial)
            && turn == of
        {
            before.push_str(reasoning);
            said.push_str(text);
            return;
        }
        self.write_partial();
        if matches!(body, RecordBody::Partial { .. }) {
            self.partial = Some(body);
            return;
        }
        // Durable at the ends of turns; between them a crash of the machine may cost the last records, a crash of ours none.
        let ends = matches!(body, RecordBody::TurnEnded { .. });
        let record = Record::new(body);
        let idle =
            matches!(record.body, RecordBody::SessionStarted { .. } | RecordBody::ModeChanged { .. } | RecordBody::ModelChanged { .. });
        if idle && self.store.is_new() {
            self.held.push(record);
            return;
        }
        for held in std::mem::take(&mut self.held) {
            self.store_result(|store| store.append(&held));
        }
        self.store_result(|store| store.append(&record));
        if ends {
            self.store_result(|store| store.sync());
        }
    }

    fn write_partial(&mut self) {
        if let Some(body) = self.partial.take() {
            self.store_result(|store| store.append(&Record::new(body)));
        }
    }

    fn store_result(&mut self, write: impl FnOnce(&mut dyn SessionStore) -> io::Result<()>) {
        if self.broken {
            return;
        }
        if let Err(error) = write(self.store.as_mut()) {
            // One record that can't be written down is no reason to lose the next ones.
            self.broken = error.kind() != io::ErrorKind::InvalidData;
            let notice = Notice::warning(format!("{UNSAVED}: {error}"));
            self.take(None, EventBody::Notice(notice.hint("it goes on, but is lost when Backstitch ends")));
        }
    }

    fn take(&mut self, turn: Option<TurnId>, body: EventBody) {
        if body.class() == Class::Mergeable
            && let Some((last_turn, last)) = self.waiting.last_mut()
            && *last_turn == turn
            && merge(last, &body)
        {
            return;
        }
        self.waiting.push((turn, body));
    }

    fn hand_on(&mut self) {
        for (turn, body) in self.waiting.drain(..) {
            self.seq += 1;
            self.events.send(Event { seq: self.seq, turn, body });
        }
    }
}

/// Adds `new` to `last` where the two say no more than one could.
pub fn merge(last: &mut EventBody, new: &EventBody) -> bool {
    match (last, new) {
        (EventBody::Text(TextEvent::Answer(a)), EventBody::Text(TextEvent::Answer(b)))
        | (EventBody::Text(TextEvent::Reasoning(a)), EventBody::Text(TextEvent::Reasoning(b)))
            if a.len() + b.len() <= LONGEST =>
        {
            a.push_str(b);
        }
        (EventBody::Call(CallEvent::Progress { id: a, output }), EventBody::Call(CallEvent::Progress { id: b, output: more }))
            if a == b && output.len() + more.len() <= LONGEST =>
        {
            output.push_str(more);
        }
        (EventBody::Turn(TurnEvent::Used(a)), EventBody::Turn(TurnEvent::Used(b))) => *a = *b,
        _ => return false,
    }
    true
}
