//! The checkpoint lane: one thread that owns the store, so that what was asked for first is done first.

use crate::{
    agent::{CheckpointRequest, Checkpointed, Input, Restored},
    checkpoint::{CheckpointStore, Kind, Label},
    mailbox::Mailbox,
    protocol::{CheckpointId, CheckpointKind, SessionId, Wanted},
};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use std::{
    io,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

/// How long the end waits for a checkpoint. One that is given up leaves nothing but contents that nobody names.
const LAST_WAIT: Duration = Duration::from_secs(1);

pub enum Job {
    Take(CheckpointRequest),
    Restore(CheckpointId, Option<CheckpointId>),
    Compare(CheckpointId),
}

pub type Open = Box<dyn FnOnce() -> Result<Box<dyn CheckpointStore>, String> + Send>;

pub struct Lane {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    /// Closed when the thread has done its work.
    ended: Receiver<()>,
    restoring: Arc<AtomicBool>,
}

impl Lane {
    pub fn start(open: Open, session: SessionId, inputs: Mailbox<Input>) -> io::Result<Lane> {
        let (jobs, rx) = unbounded();
        let (alive, ended) = unbounded();
        let restoring = Arc::new(AtomicBool::new(false));
        let flag = restoring.clone();
        let thread = std::thread::Builder::new().name("checkpoints".into()).spawn(move || {
            work(open, &session, &inputs, &rx, &flag);
            drop::<Sender<()>>(alive);
        })?;
        Ok(Lane { jobs: Some(jobs), thread: Some(thread), ended, restoring })
    }

    pub fn send(&self, job: Job) {
        let _ = self.jobs.as_ref().map(|jobs| jobs.send(job));
    }
}

impl Drop for Lane {
    /// A restore that has begun is finished. A checkpoint of a very large tree must not hold the exit.
    fn drop(&mut self) {
        self.jobs = None;
        while self.ended.recv_timeout(LAST_WAIT) == Err(RecvTimeoutError::Timeout) {
            if !self.restoring.load(Ordering::SeqCst) {
                return;
            }
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn work(open: Open, session: &SessionId, inputs: &Mailbox<Input>, jobs: &Receiver<Job>, restoring: &AtomicBool) {
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
                restoring.store(true, Ordering::SeqCst);
                let result = with(&mut store, |s| restore(s, &to, since.as_ref()));
                restoring.store(false, Ordering::SeqCst);
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
    let wanted = Wanted { to: to.clone(), since: since.cloned(), only: None };
    let restored = store.plan(&wanted).and_then(|plan| store.restore(&plan));
    let restored = restored.map_err(|e| e.to_string())?;
    Ok(Restored { before: restored.before, changes: restored.changes, skipped: restored.skipped.iter().map(skipped).collect() })
}

fn skipped((path, why): &(PathBuf, String)) -> String {
    format!("{}: {why}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        checkpoint::{CheckpointError, Entry, Pruned, Restored as Back, Retention, Revision, Taken, Usage},
        mailbox::mailbox,
        protocol::{FileChange, Plan, TurnId},
    };

    /// Says when it begins, and goes on only when it is allowed to.
    struct Slow {
        begun: Sender<()>,
        go_on: Receiver<()>,
    }

    impl Slow {
        fn wait<T>(&self) -> Result<T, CheckpointError> {
            let _ = self.begun.send(());
            let _ = self.go_on.recv();
            Err(CheckpointError::Store("slow".into()))
        }
    }

    impl CheckpointStore for Slow {
        fn cover(&mut self, _: &[PathBuf]) {}
        fn take(&mut self, _: &Label) -> Result<Taken, CheckpointError> {
            self.wait()
        }
        fn diff(&mut self, _: &CheckpointId, _: Option<&CheckpointId>) -> Result<Vec<FileChange>, CheckpointError> {
            self.wait()
        }
        fn plan(&mut self, _: &Wanted) -> Result<Plan, CheckpointError> {
            self.wait()
        }
        fn restore(&mut self, _: &Plan) -> Result<Back, CheckpointError> {
            self.wait()
        }
        fn show(&mut self, _: &Plan) -> Result<Vec<FileChange>, CheckpointError> {
            self.wait()
        }
        fn revise(&mut self, _: &CheckpointId, _: Revision) -> Result<Entry, CheckpointError> {
            self.wait()
        }
        fn delete(&mut self, _: &CheckpointId) -> Result<(), CheckpointError> {
            self.wait()
        }
        fn usage(&mut self) -> Result<Usage, CheckpointError> {
            self.wait()
        }
        fn list(&mut self) -> Result<Vec<Entry>, CheckpointError> {
            self.wait()
        }
        fn prune(&mut self, _: &Retention) -> Result<Pruned, CheckpointError> {
            self.wait()
        }
    }

    /// Starts a job that hangs and drops the lane. Returns what the job waits for, and what tells that the drop is over.
    fn dropped_during(job: Job) -> (Sender<()>, Receiver<()>) {
        let ((begun, has_begun), (go_on, may)) = (unbounded(), unbounded());
        let (inputs, _inbox) = mailbox();
        let open: Open = Box::new(move || Ok(Box::new(Slow { begun, go_on: may }) as Box<dyn CheckpointStore>));
        let lane = Lane::start(open, SessionId("s".into()), inputs).unwrap();
        lane.send(job);
        has_begun.recv().unwrap();
        let (over, is_over) = unbounded();
        std::thread::spawn(move || {
            drop(lane);
            over.send(())
        });
        (go_on, is_over)
    }

    #[test]
    fn a_checkpoint_of_a_large_tree_does_not_hold_the_exit() {
        let request =
            CheckpointRequest { turn: TurnId(1), label: String::new(), kind: CheckpointKind::Opening, messages: 0, cover: vec![] };
        let (_go_on, over) = dropped_during(Job::Take(request));
        over.recv_timeout(LAST_WAIT * 20).unwrap();
    }

    #[test]
    fn a_restore_is_waited_for() {
        let (go_on, over) = dropped_during(Job::Restore(CheckpointId("c".into()), None));
        assert!(over.recv_timeout(LAST_WAIT * 2).is_err());
        drop(go_on);
        over.recv_timeout(LAST_WAIT * 20).unwrap();
    }
}
