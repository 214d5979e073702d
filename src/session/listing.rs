//! The sessions of a project, as a list shows them. Reads of each journal no more than that takes.

use super::{JsonlStore, Loaded, SessionError, SessionStore, store::title};
use crate::protocol::{Record, RecordBody, SessionId, SessionInfo, record::VERSION};
use memchr::memmem;
use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, Read, Seek},
    path::Path,
    time::UNIX_EPOCH,
};

/// Of so many sessions the newest are listed.
const MOST: usize = 1_000;
/// How far into a journal its title may be, in bytes.
const TITLE_WITHIN: u64 = 64 << 20;
/// A longer journal, in bytes, is not searched for what was walked back.
const SEARCHED: u64 = 64 << 20;

/// Newest first.
pub fn list(data: &Path, root: &Path) -> Result<Vec<SessionInfo>, SessionError> {
    JsonlStore::create(data, root).map_err(|error| SessionError::Io { path: root.into(), error })?.list()
}

pub(super) fn list_with(
    folder: &Path,
    load: impl Fn(&SessionId) -> Result<Loaded, SessionError>,
) -> Result<Vec<SessionInfo>, SessionError> {
    let journals = journals(folder)?.into_iter().take(MOST);
    Ok(journals.filter_map(|(changed, id)| info(folder, changed, id, &load)).collect())
}

/// All journals with the time of their last change, newest first.
pub(super) fn journals(folder: &Path) -> Result<Vec<(u64, SessionId)>, SessionError> {
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        Err(error) => return Err(SessionError::Io { path: folder.into(), error }),
        Ok(entries) => entries,
    };
    let mut journals: Vec<(u64, SessionId)> = entries.flatten().filter_map(|entry| journal(&entry.path())).collect();
    journals.sort_by(|a, b| (b.0, &b.1.0).cmp(&(a.0, &a.1.0)));
    Ok(journals)
}

/// Was anything said in it? Only such a session is in the list.
pub(super) fn is_listed(folder: &Path, id: &SessionId) -> bool {
    let file = File::open(folder.join(format!("{}.jsonl", id.0)));
    file.is_ok_and(|mut file| beginning(&mut file).is_some_and(|records| !title(&records).is_empty()))
}

fn journal(path: &Path) -> Option<(u64, SessionId)> {
    let id = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    let changed = path.metadata().ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((changed.as_millis() as u64, SessionId(id.into())))
}

/// `None` for what is no journal, or one that this version does not understand.
fn info(folder: &Path, changed: u64, id: SessionId, load: impl Fn(&SessionId) -> Result<Loaded, SessionError>) -> Option<SessionInfo> {
    let mut file = File::open(folder.join(format!("{}.jsonl", id.0))).ok()?;
    let first = beginning(&mut file)?;
    let (mut own, started) = (title(&first), first.first()?.at);
    if own.is_empty() {
        return None;
    }
    let mut branches = vec![];
    if has_cuts(&mut file).unwrap_or(false) {
        let records = load(&id).ok()?.records;
        branches = super::branches::branches(&records);
        // What was said first before it was cleared away is the title of a branch.
        let cleared = records.iter().rposition(|record| record.body == RecordBody::Cleared);
        own = cleared.map(|at| title(&records[at..])).filter(|title| !title.is_empty()).unwrap_or(own);
    }
    Some(SessionInfo { title: own, started, id, changed, branches })
}

/// The first records, up to the first thing that the user said.
fn beginning(file: &mut File) -> Option<Vec<Record>> {
    let mut records = vec![];
    let mut reader = BufReader::new(file.take(TITLE_WITHIN));
    let mut line = vec![];
    while reader.read_until(b'\n', &mut line).ok()? > 0 {
        let Ok(record) = serde_json::from_slice::<Record>(&line) else { break };
        if record.v != VERSION {
            return None;
        }
        let said = matches!(record.body, RecordBody::TurnStarted { .. });
        records.push(record);
        if said {
            break;
        }
        line.clear();
    }
    Some(records)
}

/// Was anything walked back or cleared away? A text that only says so costs time, nothing else.
fn has_cuts(file: &mut File) -> io::Result<bool> {
    file.rewind()?;
    let mut bytes = vec![];
    file.take(SEARCHED).read_to_end(&mut bytes)?;
    Ok([r#""kind":"rewound""#, r#""kind":"cleared""#].iter().any(|kind| memmem::find(&bytes, kind.as_bytes()).is_some()))
}
