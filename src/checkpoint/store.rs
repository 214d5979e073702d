//! What a checkpoint store does, whatever keeps the files.

use crate::protocol::{CheckpointId, FileChange, Plan, SessionId, TurnId, Wanted};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// Why a file is not in a checkpoint, or was not restored. Paths are relative to the root where they are inside.
pub type Skipped = (PathBuf, String);

pub trait CheckpointStore: Send {
    /// Makes these files part of every checkpoint from now on, even if ignored or outside the root. To be called before a tool
    /// writes them.
    fn cover(&mut self, paths: &[PathBuf]);

    /// From now on a session changes these files, or, where none is named, any. To be called after the checkpoint before that.
    fn acts(&mut self, _: &SessionId, _: &[PathBuf]) {}

    /// It does no more.
    fn rests(&mut self, _: &SessionId) {}

    /// From now on something that a session started may change any file, also when its calls rest; or no more.
    fn lasts(&mut self, _: &SessionId, _: bool) {}

    /// Keeps the present. If it is what the newest checkpoint has, that one is given.
    fn take(&mut self, label: &Label) -> Result<Taken, CheckpointError>;

    /// The same by hand: where nothing has changed, the newest one gets the name, if there is one.
    fn take_named(&mut self, label: &Label, name: &str) -> Result<Taken, CheckpointError> {
        let taken = self.take(label)?;
        if taken.files_changed == 0 && !name.is_empty() {
            self.revise(&taken.id, Revision::Rename(name.into()))?;
        }
        Ok(taken)
    }

    /// `to: None` = the present.
    fn diff(&mut self, from: &CheckpointId, to: Option<&CheckpointId>) -> Result<Vec<FileChange>, CheckpointError>;

    /// What a restore would do. Makes no checkpoint.
    fn plan(&mut self, wanted: &Wanted) -> Result<Plan, CheckpointError>;

    /// Takes a checkpoint of the present, then does what the plan says and nothing else. A file that is no longer as the plan
    /// found it is left alone and listed.
    fn restore(&mut self, plan: &Plan) -> Result<Restored, CheckpointError>;

    /// What the plan would change, with texts: from now to then.
    fn show(&mut self, plan: &Plan) -> Result<Vec<FileChange>, CheckpointError>;

    /// The rest of a restore that was cut off.
    fn unfinished(&mut self) -> Result<Option<Plan>, CheckpointError> {
        Ok(None)
    }

    /// It is to stay as it is.
    fn forget_unfinished(&mut self) {}

    /// Oldest first.
    fn list(&mut self) -> Result<Vec<Entry>, CheckpointError>;

    /// The id stays.
    fn revise(&mut self, id: &CheckpointId, revision: Revision) -> Result<Entry, CheckpointError>;

    /// What only this one needs goes with the next pruning. One that is pinned stays.
    fn delete(&mut self, id: &CheckpointId) -> Result<(), CheckpointError>;

    fn prune(&mut self, keep: &Retention) -> Result<Pruned, CheckpointError>;

    fn usage(&mut self) -> Result<Usage, CheckpointError>;

    /// Something that the user should know (a damaged store was set aside), once.
    fn notice(&mut self) -> Option<String> {
        None
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    BeforeTurn,
    AfterCall,
    AfterTurn,
    Manual,
    BeforeRestore,
    AfterRestore,
}

impl Kind {
    pub const ALL: [Kind; 6] = [Kind::BeforeTurn, Kind::AfterCall, Kind::AfterTurn, Kind::Manual, Kind::BeforeRestore, Kind::AfterRestore];

    pub fn name(self) -> &'static str {
        match self {
            Kind::BeforeTurn => "before-turn",
            Kind::AfterCall => "after-call",
            Kind::AfterTurn => "after-turn",
            Kind::Manual => "manual",
            Kind::BeforeRestore => "before-restore",
            Kind::AfterRestore => "after-restore",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    pub text: String,
    pub session: Option<SessionId>,
    pub turn: Option<TurnId>,
    /// How many records the session's journal had.
    pub record: Option<u64>,
    pub kind: Kind,
}

impl Label {
    pub fn new(kind: Kind, text: impl Into<String>) -> Self {
        Label { text: text.into(), session: None, turn: None, record: None, kind }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    pub id: CheckpointId,
    /// Compared with the checkpoint before; 0 when `id` is that one.
    pub files_changed: usize,
    pub skipped: Vec<Skipped>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Restored {
    /// The way back.
    pub before: CheckpointId,
    /// What was done, not what was planned.
    pub changes: Vec<FileChange>,
    pub skipped: Vec<Skipped>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub id: CheckpointId,
    pub label: Label,
    /// Milliseconds since 1970.
    pub at: u64,
    pub files_changed: usize,
    /// The label's text was given by hand, later.
    pub named: bool,
    pub pinned: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revision {
    /// An empty name gives the first one back.
    Rename(String),
    Pin(bool),
}

/// The newest checkpoint and the pinned ones always stay.
#[derive(Debug, Clone, Copy)]
pub struct Retention {
    pub count: usize,
    pub age: Duration,
    /// On the disk.
    pub bytes: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// On the disk.
    pub bytes: u64,
    pub checkpoints: usize,
}

impl Default for Retention {
    fn default() -> Self {
        Retention { count: 500, age: Duration::from_secs(30 * 24 * 3600), bytes: 2 << 30 }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    pub checkpoints: usize,
    pub objects: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    #[error("the checkpoint store: {0}")]
    Store(String),
    #[error("the checkpoint store is damaged: {0}")]
    Damaged(String),
    /// The store was damaged and a new one begun, which does not have what was asked for. Says so as a whole.
    #[error("{0}")]
    Gone(String),
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: std::io::Error },
    #[error("there is no checkpoint {}", .0.short())]
    Unknown(CheckpointId),
    #[error("checkpoint {} is pinned; unpin it first", .0.short())]
    Pinned(CheckpointId),
    #[error("another process has used the checkpoint store for over {} s", .0.as_secs())]
    Busy(Duration),
}

impl CheckpointError {
    pub(super) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> CheckpointError + '_ {
        move |error| CheckpointError::Io { path: path.into(), error }
    }
}

impl From<git2::Error> for CheckpointError {
    fn from(error: git2::Error) -> Self {
        CheckpointError::Store(error.message().into())
    }
}
