//! The thread that holds the index, and the one that walks for it.
//!
//! - Of the questions that wait, only the newest is answered: the others are stale.
//! - Dropping the [`Finder`] ends the thread; a walk ends at its next batch. What git is asked can't be cut short, so nobody waits
//!   for the walking thread: it has nothing but a channel that leads nowhere then.

use super::{Answer, Query, Tree, index::Index};
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// A walk older than this is repeated when a popup opens.
pub const STALE: Duration = Duration::from_secs(2);
/// Between two answers to the same question while the first walk goes on.
const PARTIAL: Duration = Duration::from_millis(50);

pub type Report = Box<dyn Fn(Answer) + Send>;

enum Input {
    Ask(Query),
    Found(Vec<String>),
    Walked,
    Changed(Vec<String>),
    Stop,
}

pub struct Finder {
    inputs: Sender<Input>,
    thread: Option<JoinHandle<()>>,
}

impl Finder {
    /// `None` if the system has no thread to give.
    pub fn start(tree: Arc<dyn Tree>, report: Report) -> Option<Finder> {
        let (inputs, inbox) = unbounded();
        let own = inputs.clone();
        let worker = Worker {
            tree,
            report,
            inputs: own,
            stopped: Arc::default(),
            index: Index::default(),
            walk: None,
            walked: None,
            changed: vec![],
            asked: None,
            answered: None,
            news: false,
        };
        let thread = thread::Builder::new().name("finder".into()).spawn(move || worker.run(&inbox)).ok()?;
        Some(Finder { inputs, thread: Some(thread) })
    }

    pub fn ask(&self, query: Query) {
        // A worker that is gone has nothing to say.
        let _ = self.inputs.send(Input::Ask(query));
    }
}

impl Drop for Finder {
    fn drop(&mut self) {
        let _ = self.inputs.send(Input::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Worker {
    tree: Arc<dyn Tree>,
    report: Report,
    inputs: Sender<Input>,
    stopped: Arc<AtomicBool>,
    index: Index,
    /// What the walk under way has found, unless it is the first: that one fills the index itself.
    walk: Option<Index>,
    /// When the last walk ended; a walk is under way if there is none.
    walked: Option<Instant>,
    changed: Vec<String>,
    asked: Option<Query>,
    answered: Option<(Instant, Answer)>,
    /// Something has come that may change the answer.
    news: bool,
}

impl Worker {
    fn run(mut self, inbox: &Receiver<Input>) {
        self.start_walk();
        while let Ok(input) = inbox.recv() {
            let mut asked = None;
            for input in std::iter::once(input).chain(inbox.try_iter()) {
                match input {
                    Input::Ask(query) => asked = Some(query),
                    Input::Stop => {
                        self.stopped.store(true, Ordering::Relaxed);
                        return;
                    }
                    other => self.take(other),
                }
            }
            if let Some(query) = asked {
                if query.opens && self.walked.is_some_and(|at| at.elapsed() > STALE) {
                    self.walk = Some(Index::default());
                    self.start_walk();
                }
                self.asked = Some(query);
                self.answered = None;
                self.news = true;
            }
            self.answer();
        }
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Found(paths) => {
                self.news |= self.walk.is_none();
                let index = self.walk.as_mut().unwrap_or(&mut self.index);
                paths.iter().for_each(|path| index.add(path));
            }
            Input::Walked => {
                if let Some(index) = self.walk.take() {
                    self.index = index;
                }
                self.index.mark_changed(&self.changed);
                self.news = true;
                self.walked = Some(Instant::now());
                self.answered = self.answered.take().map(|(_, answer)| (Instant::now() - PARTIAL, answer));
            }
            Input::Changed(changed) => {
                self.changed = changed;
                self.news = true;
                self.index.mark_changed(&self.changed);
            }
            Input::Ask(_) | Input::Stop => {}
        }
    }

    /// The newest question, unless it has its answer or had one a moment ago.
    fn answer(&mut self) {
        let Some(query) = self.asked.as_ref().filter(|_| self.news) else { return };
        let first = self.walked.is_none() && self.walk.is_none();
        if first && self.answered.as_ref().is_some_and(|(at, _)| at.elapsed() < PARTIAL) {
            return;
        }
        self.news = false;
        let answer = Answer { indexing: first, ..self.index.search(query) };
        if self.answered.as_ref().is_none_or(|(_, before)| *before != answer) {
            (self.report)(answer.clone());
        }
        self.answered = Some((Instant::now(), answer));
    }

    fn start_walk(&mut self) {
        self.walked = None;
        let (tree, inputs, stopped) = (self.tree.clone(), self.inputs.clone(), self.stopped.clone());
        let walk = move || {
            tree.walk(&|paths| inputs.send(Input::Found(paths)).is_ok() && !stopped.load(Ordering::Relaxed));
            let _ = inputs.send(Input::Walked);
            if !stopped.load(Ordering::Relaxed) {
                let _ = inputs.send(Input::Changed(tree.changed()));
            }
        };
        if thread::Builder::new().name("finder-walk".into()).spawn(walk).is_err() {
            let _ = self.inputs.send(Input::Walked);
        }
    }
}
