//! The checkpoint lane: one thread that owns the store, so that what was asked for first is done first.

use crate::{
    agent::{CheckpointRequest, Checkpointed, Input, Restored},
    checkpoint::{CheckpointStore, Kind, Label},
    mailbox::Mailbox,
    protocol::{CheckpointId, CheckpointKind, SessionId},
};
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::{io, path::PathBuf, thread::JoinHandle};

pub enum Job {
    Take(CheckpointRequest),
    Restore(CheckpointId, Option<CheckpointId>),
    Compare(CheckpointId),
}

pub type Open = Box<dyn FnOnce() -> Result<Box<dyn CheckpointStore>, String> + Send>;

pub struct Lane {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Lane {
    pub fn start(open: Open, session: SessionId, inputs: Mailbox<Input>) -> io::Result<Lane> {
        let (jobs, rx) = unbounded();
        let thread = std::thread::Builder::new().name("checkpoints".into()).spawn(move || work(open, &session, &inputs, &rx))?;
        Ok(Lane { jobs: Some(jobs), thread: Some(thread) })
    }

    pub fn send(&self, job: Job) {
        let _ = self.jobs.as_ref().map(|jobs| jobs.send(job));
    }
}

impl Drop for Lane {
    /// A restore that has begun is finished.
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn work(open: Open, session: &SessionId, inputs: &Mailbox<Input>, jobs: &Receiver<Job>) {
    let mut open = Some(open);
    let mut store: Result<Box<dyn CheckpointStore>, String> = Err("the store was never opened".into());
    for job in jobs {
        if let Some(open) = open.take() {
            store = open();
        }
        match job {
            Job::Take(request) => {
                let turn = request.turn;
                inputs.send(Input::Checkpointed(turn, with(&mut store, |s| take(s, session, request))));
            }
            Job::Compare(id) => {
                let result = with(&mut store, |s| s.diff(&id, None).map_err(|e| e.to_string()));
                inputs.send(Input::Compared(id, result));
            }
            Job::Restore(to, since) => {
                let result = with(&mut store, |s| restore(s, &to, since.as_ref()));
                inputs.send(Input::Restored(to, result));
            }
        }
    }
}

fn with<T>(
    store: &mut Result<Box<dyn CheckpointStore>, String>,
    job: impl FnOnce(&mut dyn CheckpointStore) -> Result<T, String>,
) -> Result<T, String> {
    match store {
        Ok(store) => job(store.as_mut()),
        Err(why) => Err(why.clone()),
    }
}

fn take(store: &mut dyn CheckpointStore, session: &SessionId, request: CheckpointRequest) -> Result<Checkpointed, String> {
    let label = Label {
        text: request.label,
        session: Some(session.clone()),
        turn: Some(request.turn),
        record: Some(request.messages as u64),
        kind: match request.kind {
            CheckpointKind::Opening => Kind::BeforeTurn,
            CheckpointKind::Between => Kind::AfterCall,
            CheckpointKind::Closing => Kind::AfterTurn,
        },
    };
    store.cover(&request.cover);
    let taken = store.take(&label).map_err(|e| e.to_string())?;
    Ok(Checkpointed {
        id: taken.id,
        files_changed: taken.files_changed,
        skipped: taken.skipped.iter().map(skipped).collect(),
        notice: store.notice(),
    })
}

fn restore(store: &mut dyn CheckpointStore, to: &CheckpointId, since: Option<&CheckpointId>) -> Result<Restored, String> {
    let restored = match since {
        Some(since) => store.undo(to, since),
        None => store.restore(to),
    };
    let restored = restored.map_err(|e| e.to_string())?;
    Ok(Restored { before: restored.before, changes: restored.changes, skipped: restored.skipped.iter().map(skipped).collect() })
}

fn skipped((path, why): &(PathBuf, String)) -> String {
    format!("{}: {why}", path.display())
}
