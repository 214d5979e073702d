//! The thread that holds the index, and the one that walks for it.
//!
//! - Of the questions that wait, only the newest is answered; a search for an older one is broken off.
//! - The walking thread makes an index of its own and hands it over in order: whoever asks meanwhile is answered by the old one, or,
//!   during the first walk, by what has been found so far, and never waits for either.
//! - Dropping the [`Finder`] ends the thread; a walk ends at its next batch. What git is asked can't be cut short, so nobody waits
//!   for the walking thread: it has nothing but a channel that leads nowhere then.
//! - Between questions nothing runs.

use super::{
    Answer, Query, Tree,
    index::{Index, MOST_ENTRIES},
};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Between two answers to the same question while the first walk goes on.
const PARTIAL: Duration = Duration::from_millis(50);
/// While a popup is open a walk is repeated after this many times as long as it took: that much of a processor at most.
const REST: u32 = 10;
/// Instead of the number of a question.
const STOPPED: u64 = u64::MAX;

pub type Report = Box<dyn Fn(Answer) + Send>;

/// When to walk.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Without a question for so long, the first walk begins by itself.
    pub idle: Duration,
    /// A walk older than this is repeated with the next question.
    pub stale: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Pace { idle: Duration::from_millis(300), stale: Duration::from_secs(2) }
    }
}

enum Input {
    /// With its number.
    Ask(u64, Query),
    Found(Vec<String>),
    Walked(Index),
    /// The end of a walk that took so long.
    Changed(Vec<String>, Duration),
    Stop,
}

pub struct Finder {
    inputs: Sender<Input>,
    /// The number of the newest question.
    newest: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Finder {
    /// `None` if the system has no thread to give.
    pub fn start(tree: Arc<dyn Tree>, pace: Pace, report: Report) -> Option<Finder> {
        let (inputs, inbox) = unbounded();
        let newest = Arc::default();
        let worker = Worker {
            tree,
            pace,
            report,
            inputs: inputs.clone(),
            newest: Arc::clone(&newest),
            index: Index::default(),
            indexed: false,
            walking: false,
            walked: None,
            changed: vec![],
            asked: None,
            answered: None,
            news: false,
        };
        let thread = thread::Builder::new().name("finder".into()).spawn(move || worker.run(&inbox)).ok()?;
        Some(Finder { inputs, newest, thread: Some(thread) })
    }

    pub fn ask(&self, query: Query) {
        let number = self.newest.fetch_add(1, Ordering::Relaxed) + 1;
        // A worker that is gone has nothing to say.
        let _ = self.inputs.send(Input::Ask(number, query));
    }
}

impl Drop for Finder {
    fn drop(&mut self) {
        self.newest.store(STOPPED, Ordering::Relaxed);
        let _ = self.inputs.send(Input::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Worker {
    tree: Arc<dyn Tree>,
    pace: Pace,
    report: Report,
    inputs: Sender<Input>,
    newest: Arc<AtomicU64>,
    index: Index,
    /// A walk has come to its end: until then the index is partial.
    indexed: bool,
    walking: bool,
    /// When the last walk ended, and how long it took.
    walked: Option<(Instant, Duration)>,
    changed: Vec<String>,
    asked: Option<(u64, Query)>,
    answered: Option<(Instant, Answer)>,
    /// Something has come that may change the answer.
    news: bool,
}

impl Worker {
    fn run(mut self, inbox: &Receiver<Input>) {
        let mut next = match inbox.recv_timeout(self.pace.idle) {
            Err(RecvTimeoutError::Timeout) => {
                self.start_walk();
                inbox.recv().ok()
            }
            first => first.ok(),
        };
        while let Some(input) = next {
            let mut asked = None;
            for input in std::iter::once(input).chain(inbox.try_iter()) {
                match input {
                    Input::Ask(number, query) => asked = Some((number, query)),
                    Input::Stop => return,
                    other => self.take(other),
                }
            }
            if let Some((number, query)) = asked {
                self.refresh(query.opens);
                self.asked = Some((number, query));
                self.answered = None;
                self.news = true;
            }
            self.answer();
            next = inbox.recv().ok();
        }
    }

    fn take(&mut self, input: Input) {
        match input {
            // What was on its way when the whole index came is in it.
            Input::Found(paths) if !self.indexed => {
                paths.iter().for_each(|path| self.index.add(path));
                self.news = true;
            }
            Input::Walked(index) => {
                (self.index, self.indexed, self.news) = (index, true, true);
                self.index.mark_changed(&self.changed);
            }
            Input::Changed(changed, took) => {
                self.walking = false;
                self.walked = Some((Instant::now(), took));
                if self.changed != changed {
                    self.changed = changed;
                    self.index.mark_changed(&self.changed);
                    self.news = true;
                }
            }
            Input::Found(_) | Input::Ask(..) | Input::Stop => {}
        }
    }

    /// The newest question, unless it has its answer or had one a moment ago.
    fn answer(&mut self) {
        let Some((number, query)) = self.asked.as_ref().filter(|_| self.news) else { return };
        // Something is better than nothing, and soon.
        let pause = |answer: &Answer| if answer.hits.is_empty() { PARTIAL / 10 } else { PARTIAL };
        if !self.indexed && self.answered.as_ref().is_some_and(|(at, answer)| at.elapsed() < pause(answer)) {
            return;
        }
        // Broken off: the question that did it is in the inbox.
        let stale = || self.newest.load(Ordering::Relaxed) != *number;
        let Some(answer) = self.index.search_unless(query, &stale) else { return };
        self.news = false;
        let answer = Answer { indexing: !self.indexed, ..answer };
        if self.answered.as_ref().is_none_or(|(_, before)| *before != answer) {
            (self.report)(answer.clone());
        }
        self.answered = Some((Instant::now(), answer));
    }

    /// Looks again for what has come and gone. `opens`: also if that takes long.
    fn refresh(&mut self, opens: bool) {
        let stale = |(at, took): (Instant, Duration)| {
            let rest = if opens { self.pace.stale } else { self.pace.stale.max(took * REST) };
            at.elapsed() >= rest
        };
        if !self.walking && self.walked.is_none_or(stale) {
            self.start_walk();
        }
    }

    fn start_walk(&mut self) {
        self.walking = true;
        let (tree, inputs, newest, first) = (self.tree.clone(), self.inputs.clone(), self.newest.clone(), !self.indexed);
        let walk = move || {
            let (began, index) = (Instant::now(), Mutex::new(Index::default()));
            let stopped = || newest.load(Ordering::Relaxed) == STOPPED;
            tree.walk(&|paths| {
                let mut index = index.lock().unwrap_or_else(PoisonError::into_inner);
                paths.iter().for_each(|path| index.add(path));
                let full = index.len() >= MOST_ENTRIES;
                drop(index);
                if first {
                    // A worker that is gone has stopped us, too.
                    let _ = inputs.send(Input::Found(paths));
                }
                !full && !stopped()
            });
            if stopped() {
                return;
            }
            let mut index = index.into_inner().unwrap_or_else(PoisonError::into_inner);
            index.settle();
            let _ = inputs.send(Input::Walked(index));
            let changed = if stopped() { vec![] } else { tree.changed() };
            let _ = inputs.send(Input::Changed(changed, began.elapsed()));
        };
        if thread::Builder::new().name("finder-walk".into()).spawn(walk).is_err() {
            // What is known is all there is for now.
            (self.walking, self.indexed, self.news) = (false, true, true);
            self.walked = Some((Instant::now(), Duration::ZERO));
        }
    }
}
