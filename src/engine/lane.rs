//! The checkpoint lane: one thread that owns the store, so that what was asked for first is done first.

use crate::{
    agent::{CheckpointRequest, Checkpointed, Input, Restored},
    checkpoint::{self, CheckpointError, CheckpointStore, Entry, Kind, Label, Retention, Taken},
    mailbox::Mailbox,
    protocol::{CheckpointId, CheckpointInfo, CheckpointKind, FileChange, Origin, Plan, Revision, SessionId, Wanted, checkpoint::meant},
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
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// How long the end waits for a checkpoint. One that is given up leaves nothing but contents that nobody names.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// What the lane is told.
enum Told {
    Job(Job),
    /// A call has ended.
    Rest,
    /// Something runs in the background, or nothing does any more.
    Lasts(bool),
}

pub enum Job {
    Take(CheckpointRequest),
    /// The user's own: its name, and the length of the conversation.
    Keep(String, usize),
    Restore(Wanted, Option<Plan>),
    Plan(Wanted),
    PlanStep(Wanted),
    Compare(CheckpointId, CheckpointId),
    List,
    Revise(CheckpointId, Revision),
    /// A restore that was cut off: finished if true, else forgotten.
    Unfinished(bool),
}

pub type Open = Box<dyn FnOnce() -> Result<Box<dyn CheckpointStore>, String> + Send>;

pub struct Lane {
    jobs: Option<Sender<Told>>,
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
        if let Some(jobs) = &self.jobs {
            let _ = jobs.send(Told::Job(job));
        }
    }

    /// A call has ended: what changes from here on is not its own.
    pub fn rest(&self) {
        if let Some(jobs) = &self.jobs {
            let _ = jobs.send(Told::Rest);
        }
    }
}

impl Lane {
    /// From now on something runs in the background that may change anything; or nothing does any more.
    pub fn lasts(&self, lasts: bool) {
        if let Some(jobs) = &self.jobs {
            let _ = jobs.send(Told::Lasts(lasts));
        }
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

fn work(open: Open, session: &SessionId, inputs: &Mailbox<Input>, jobs: &Receiver<Told>, restoring: &AtomicBool) {
    let mut open = Some(open);
    let mut store: Result<Box<dyn CheckpointStore>, String> = Err("the store was never opened".into());
    let (mut pruned, mut acts) = (false, false);
    for told in jobs {
        if let Told::Lasts(lasts) = told {
            // Without a store nothing has been changed by us.
            if let Ok(store) = &mut store {
                store.lasts(session, lasts);
            }
            continue;
        }
        let Told::Job(job) = told else {
            if let (true, Ok(store)) = (std::mem::take(&mut acts), &mut store) {
                store.rests(session);
            }
            continue;
        };
        // The call that it is for may change files as soon as it is there.
        acts |= matches!(&job, Job::Take(request) if request.kind != CheckpointKind::Closing);
        let closes = matches!(&job, Job::Take(request) if request.kind == CheckpointKind::Closing);
        if let Some(open) = open.take() {
            store = open();
        }
        let restores = matches!(job, Job::Restore(..) | Job::Unfinished(_));
        restoring.store(restores, Ordering::SeqCst);
        inputs.send(match &mut store {
            Ok(store) => answer(store.as_mut(), session, job),
            Err(why) => fail(job, why.clone()),
        });
        restoring.store(false, Ordering::SeqCst);
        // Once, when nobody waits: old checkpoints go.
        if closes
            && jobs.is_empty()
            && !std::mem::replace(&mut pruned, true)
            && let Ok(store) = &mut store
        {
            // Next time, else: it is only housekeeping.
            let _ = store.prune(&Retention::default());
        }
    }
}

fn answer(store: &mut dyn CheckpointStore, session: &SessionId, job: Job) -> Input {
    match job {
        Job::Take(request) => Input::Checkpointed(request.turn, take(store, session, request).map_err(said)),
        Job::Keep(name, messages) => {
            let kept = keep(store, session, &name, messages).map_err(said);
            Input::Kept(name, kept)
        }
        Job::Restore(wanted, plan) => {
            let to = wanted.to.clone();
            Input::Restored(to, restore(store, &wanted, plan).map_err(said))
        }
        Job::Plan(wanted) => Input::Planned(plan(store, wanted).map_err(said)),
        Job::PlanStep(wanted) => {
            let plan = store.plan(&wanted).map_err(said);
            Input::StepPlanned(wanted.to, plan)
        }
        Job::Compare(from, to) => {
            let changes = store.diff(&from, Some(&to)).map_err(|e| format!("It could not be compared: {e}"));
            Input::Compared(from, to, changes)
        }
        Job::List => Input::Listed(list(store).map_err(|e| format!("The checkpoints could not be listed: {e}"))),
        Job::Revise(id, revision) => {
            Input::Listed(revise(store, &id, revision).map_err(|e| format!("The checkpoint stays as it was: {e}")))
        }
        Job::Unfinished(finish) => Input::Finished(unfinished(store, finish).map_err(said)),
    }
}

/// There is no store.
fn fail(job: Job, why: String) -> Input {
    match job {
        Job::Take(request) => Input::Checkpointed(request.turn, Err(why)),
        Job::Keep(name, _) => Input::Kept(name, Err(why)),
        Job::Restore(wanted, _) => Input::Restored(wanted.to, Err(why)),
        Job::Plan(_) => Input::Planned(Err(why)),
        Job::PlanStep(wanted) => Input::StepPlanned(wanted.to, Err(why)),
        Job::Compare(from, to) => Input::Compared(from, to, Err(why)),
        Job::List | Job::Revise(..) => Input::Listed(Err(why)),
        Job::Unfinished(_) => Input::Finished(Err(why)),
    }
}

fn said(error: CheckpointError) -> String {
    error.to_string()
}

fn take(store: &mut dyn CheckpointStore, session: &SessionId, request: CheckpointRequest) -> Result<Checkpointed, CheckpointError> {
    let label = Label {
        text: request.label,
        session: Some(session.clone()),
        turn: Some(request.turn),
        record: Some(request.messages as u64),
        kind: match request.kind {
            CheckpointKind::Opening => Kind::BeforeTurn,
            CheckpointKind::Between => Kind::AfterCall,
            CheckpointKind::Closing => Kind::AfterTurn,
            CheckpointKind::Manual => Kind::Manual,
        },
    };
    store.cover(&request.cover);
    let taken = store.take(&label)?;
    match request.kind {
        CheckpointKind::Opening | CheckpointKind::Between => store.acts(session, &request.cover),
        CheckpointKind::Closing | CheckpointKind::Manual => {}
    }
    Ok(checkpointed(store, taken))
}

fn keep(store: &mut dyn CheckpointStore, session: &SessionId, name: &str, messages: usize) -> Result<Checkpointed, CheckpointError> {
    let text = if name.is_empty() { "by hand" } else { name };
    let label = Label { session: Some(session.clone()), record: Some(messages as u64), ..Label::new(Kind::Manual, text) };
    let taken = store.take_named(&label, name)?;
    Ok(checkpointed(store, taken))
}

fn checkpointed(store: &mut dyn CheckpointStore, taken: Taken) -> Checkpointed {
    let skipped = taken.skipped.iter().map(skipped).collect();
    Checkpointed { id: taken.id, files_changed: taken.files_changed, skipped, notice: store.notice() }
}

fn restore(store: &mut dyn CheckpointStore, wanted: &Wanted, plan: Option<Plan>) -> Result<Restored, CheckpointError> {
    let plan = match plan {
        Some(plan) => plan,
        None => store.plan(wanted)?,
    };
    let done = store.restore(&plan)?;
    if let (true, false, Some((path, why))) = (done.changes.is_empty(), plan.files.is_empty(), done.skipped.last()) {
        // The conversation does not go back alone because the disk is full.
        return Err(CheckpointError::Store(format!("no file could be put back: {}: {why}", path.display())));
    }
    // What changes from here on is somebody else's: going forward again leaves it alone.
    let after = Label::new(Kind::AfterRestore, format!("after going back to {}", wanted.to.short()));
    let after = store.take(&after).ok().map(|taken| taken.id);
    Ok(Restored { before: done.before, after, changes: done.changes, skipped: done.skipped.iter().map(skipped).collect() })
}

fn plan(store: &mut dyn CheckpointStore, wanted: Wanted) -> Result<(Plan, Vec<FileChange>), CheckpointError> {
    let to = resolve(store, &wanted.to)?;
    let plan = store.plan(&Wanted { to, ..wanted })?;
    let changes = store.show(&plan)?;
    Ok((plan, changes))
}

fn list(store: &mut dyn CheckpointStore) -> Result<(Vec<CheckpointInfo>, u64), CheckpointError> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64);
    let info = |entry: Entry| CheckpointInfo {
        ago: now.saturating_sub(entry.at) / 1000,
        id: entry.id,
        text: entry.label.text,
        files_changed: entry.files_changed,
        origin: match entry.label.kind {
            Kind::BeforeTurn => Origin::Turn,
            Kind::AfterCall | Kind::AfterTurn | Kind::AfterRestore => Origin::Call,
            Kind::Manual => Origin::Manual,
            Kind::BeforeRestore => Origin::Restore,
        },
        session: entry.label.session,
        named: entry.named,
        pinned: entry.pinned,
    };
    Ok((store.list()?.into_iter().map(info).collect(), store.usage()?.bytes))
}

fn revise(store: &mut dyn CheckpointStore, id: &CheckpointId, revision: Revision) -> Result<(Vec<CheckpointInfo>, u64), CheckpointError> {
    let id = resolve(store, id)?;
    match revision {
        Revision::Rename(name) => drop(store.revise(&id, checkpoint::Revision::Rename(name))?),
        Revision::Pin(pinned) => drop(store.revise(&id, checkpoint::Revision::Pin(pinned))?),
        Revision::Delete => store.delete(&id)?,
    }
    list(store)
}

fn resolve(store: &mut dyn CheckpointStore, id: &CheckpointId) -> Result<CheckpointId, CheckpointError> {
    let all = store.list()?;
    match meant(&all, &id.0, |entry| (&entry.id, &entry.label.text))[..] {
        [at] => Ok(all[at].id.clone()),
        [] => Err(CheckpointError::Unknown(id.clone())),
        [..] => Err(CheckpointError::Store(format!("several checkpoints begin with {}", id.0))),
    }
}

fn unfinished(store: &mut dyn CheckpointStore, finish: bool) -> Result<Option<(CheckpointId, Restored)>, CheckpointError> {
    let plan = store.unfinished()?;
    match plan {
        Some(plan) if finish => {
            let wanted = plan.wanted.clone();
            let restored = restore(store, &wanted, Some(plan))?;
            Ok(Some((wanted.to, restored)))
        }
        _ => {
            store.forget_unfinished();
            Ok(None)
        }
    }
}

fn skipped((path, why): &(PathBuf, String)) -> String {
    format!("{}: {why}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        checkpoint::{Pruned, Restored as Back, Revision, Usage},
        mailbox::mailbox,
        protocol::TurnId,
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
        let (go_on, over) = dropped_during(Job::Restore(Wanted { to: CheckpointId("c".into()), since: None, only: None }, None));
        assert!(over.recv_timeout(LAST_WAIT * 2).is_err());
        drop(go_on);
        over.recv_timeout(LAST_WAIT * 20).unwrap();
    }
}
