//! What a session store does, whatever keeps the records.

use super::branches::first_line;
use crate::protocol::{Record, RecordBody, SessionId, SessionInfo};
use std::{
    hash::BuildHasher,
    io,
    path::PathBuf,
    time::{SystemTime, UNIX_EPOCH},
};

/// The journal of one session, and a look at the others of the same project.
pub trait SessionStore: Send {
    fn id(&self) -> &SessionId;

    /// Stamps the time. Handed to the system when it returns, on the disk after [`SessionStore::sync`]. A `Partial` is kept until a
    /// record comes that ends its answer, and has no position.
    fn append(&mut self, record: &Record) -> io::Result<()>;

    /// Nothing of it is kept yet.
    fn is_new(&self) -> bool;

    fn sync(&mut self) -> io::Result<()>;

    /// How many records there are: the position that a checkpoint remembers.
    fn position(&self) -> u64;

    fn load(&self, id: &SessionId) -> Result<Loaded, SessionError>;

    /// Newest first.
    fn list(&self) -> Result<Vec<SessionInfo>, SessionError>;
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Loaded {
    pub records: Vec<Record>,
    /// Something after the last of them was not readable: the line of a crash, or damage.
    pub torn: bool,
    /// There were good records after damaged ones: all of it as it was is in this copy.
    pub damaged: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("there is no session {}", .0.0)]
    Unknown(SessionId),
    #[error("several sessions begin with {0}")]
    Ambiguous(String),
    #[error("there is no session in this project yet")]
    NoneYet,
    #[error("session {} is open in another process", .0.0)]
    InUse(SessionId),
    #[error("session {} goes on from others that can't be read any more: {why}", id.0)]
    Orphaned { id: SessionId, why: String },
    #[error("session {} was written by a newer Backstitch (line {line}); it was left alone", id.0)]
    Version { id: SessionId, line: usize },
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
}

/// Sorts by time; the random end tells sessions of the same millisecond apart.
pub fn new_id() -> SessionId {
    let now = jiff::Timestamp::now();
    let random = std::hash::RandomState::new().hash_one((std::process::id(), now.as_nanosecond()));
    let millisecond = now.subsec_millisecond();
    SessionId(format!("{}-{millisecond:03}-{:06x}", now.strftime("%Y%m%dT%H%M%S"), random & 0xFF_FFFF))
}

pub(super) fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64)
}

/// The first thing that the user said.
pub(super) fn title<'a>(records: impl IntoIterator<Item = &'a Record>) -> String {
    let said = records.into_iter().find_map(|record| match &record.body {
        RecordBody::TurnStarted { prompt, .. } => Some(prompt.text.as_str()),
        _ => None,
    });
    said.map(first_line).unwrap_or_default()
}
