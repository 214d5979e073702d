//! A journal as a file: one JSON object a line, only ever appended to.
//!
//! - The file is made with the first record, for its owner only, and locked while it is open for writing.
//! - A line that was cut by a crash is dropped; a line of a version that is not known makes the whole file untouchable.
//! - What looks damaged in the middle is copied aside before anything is written after it.
//! - A session that was begun from another one names it in its first record; the other's records are read, never copied or changed.

use super::{Loaded, SessionError, SessionStore, listing, partial::Partial, store};
use crate::{
    project,
    protocol::{Record, RecordBody, SessionId, SessionInfo, record::VERSION},
};
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, BufRead, BufReader, Read, Write},
    os::unix::{
        ffi::OsStrExt,
        fs::{DirBuilderExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
    time::Duration,
};

/// Sessions that go on from one another, at the most.
const DEEPEST: usize = 100;

pub struct JsonlStore {
    folder: PathBuf,
    root: PathBuf,
    id: SessionId,
    file: Option<File>,
    /// Of a session that goes on from another one: written before all else.
    first: Option<Record>,
    length: u64,
    position: u64,
    /// What has come of an answer that is not whole.
    partial: Partial,
}

/// A record as a line.
pub(super) fn line(record: &Record) -> io::Result<Vec<u8>> {
    #[derive(Serialize)]
    struct Stamped<'a> {
        v: u32,
        at: u64,
        #[serde(flatten)]
        body: &'a RecordBody,
    }
    let line = serde_json::to_vec(&Stamped { v: record.v, at: store::now_ms(), body: &record.body });
    let mut line = line.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    line.push(b'\n');
    Ok(line)
}

impl JsonlStore {
    /// A new session. Nothing is on disk before its first record.
    pub fn create(data: &Path, root: &Path) -> io::Result<Self> {
        let root = root.canonicalize()?;
        let folder = data.join("sessions").join(project::key(&root));
        let id = store::new_id();
        let partial = Partial::new(&folder, &id);
        Ok(JsonlStore { folder, root, id, file: None, first: None, length: 0, position: 0, partial })
    }

    /// Goes on with a session, and gives what it has.
    pub fn resume(data: &Path, root: &Path, id: &SessionId) -> Result<(Self, Loaded), SessionError> {
        let store = Self::create(data, root).map_err(|error| SessionError::Io { path: root.into(), error })?;
        let path = store.path(id)?;
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => SessionError::Unknown(id.clone()),
            _ => SessionError::Io { path: path.clone(), error },
        };
        let mut file = OpenOptions::new().read(true).append(true).open(&path).map_err(failed)?;
        lock(&file).map_err(|e| e.map_or_else(|| SessionError::InUse(id.clone()), failed))?;
        let mut parsed = parse(&mut file, id).map_err(|e| e.or(failed))?;
        if parsed.damaged {
            let aside = (1..).map(|n| path.with_extension(format!("damaged-{n}"))).find(|p| !p.exists());
            let aside = aside.unwrap_or_else(|| path.with_extension("damaged"));
            fs::copy(&path, &aside).map_err(failed)?;
            parsed.loaded.damaged = Some(aside);
        }
        if parsed.loaded.torn {
            file.set_len(parsed.length).map_err(failed)?;
        }
        if parsed.unended {
            file.write_all(b"\n").map_err(failed)?;
        }
        let (length, mut loaded) = (parsed.length + u64::from(parsed.unended), store.whole(id, parsed.loaded, 0)?);
        let (position, mut partial) = (loaded.records.len() as u64, Partial::new(&store.folder, id));
        loaded.records.extend(partial.load(&loaded.records));
        Ok((JsonlStore { id: id.clone(), file: Some(file), length, position, partial, ..store }, loaded))
    }

    /// Is nobody writing it?
    pub fn is_free(data: &Path, root: &Path, id: &SessionId) -> Result<(), SessionError> {
        let path = Self::create(data, root).and_then(|store| store.path(id).map_err(|_| io::Error::from(io::ErrorKind::NotFound)));
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => SessionError::Unknown(id.clone()),
            _ => SessionError::Io { path: root.into(), error },
        };
        let file = path.and_then(File::open).map_err(failed)?;
        lock(&file).map_err(|e| e.map_or_else(|| SessionError::InUse(id.clone()), failed))
    }

    /// A session of its own that begins with the first records of another one. Nothing is on disk before it has more than those.
    pub fn fork(data: &Path, root: &Path, of: &SessionId, position: u64) -> Result<(Self, Loaded), SessionError> {
        let mut store = Self::create(data, root).map_err(|error| SessionError::Io { path: root.into(), error })?;
        let mut loaded = store.load(of)?;
        loaded.records.truncate(usize::try_from(position).unwrap_or(usize::MAX));
        let first = Record::new(RecordBody::Forked { from: of.clone(), position: loaded.records.len() as u64 });
        loaded.records.push(first.clone());
        (store.position, store.first) = (loaded.records.len() as u64, Some(first));
        Ok((store, loaded))
    }

    /// With the records of the session that it goes on from.
    fn whole(&self, id: &SessionId, mut own: Loaded, depth: usize) -> Result<Loaded, SessionError> {
        let Some(RecordBody::Forked { from, position }) = own.records.first().map(|record| &record.body) else { return Ok(own) };
        let orphaned = |why: String| SessionError::Orphaned { id: id.clone(), why };
        if depth == DEEPEST {
            return Err(orphaned("there are too many of them".into()));
        }
        let mut records = self.read(from, depth + 1).map_err(|error| orphaned(error.to_string()))?.records;
        records.truncate(usize::try_from(*position).unwrap_or(usize::MAX));
        own.records.splice(0..0, records);
        Ok(own)
    }

    fn read(&self, id: &SessionId, depth: usize) -> Result<Loaded, SessionError> {
        let path = self.path(id)?;
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => SessionError::Unknown(id.clone()),
            _ => SessionError::Io { path: path.clone(), error },
        };
        let mut file = File::open(&path).map_err(failed)?;
        let own = parse(&mut file, id).map_err(|e| e.or(failed))?.loaded;
        self.whole(id, own, depth)
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Ids also come from the command line.
    fn path(&self, id: &SessionId) -> Result<PathBuf, SessionError> {
        if id.0.is_empty() || !id.0.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            return Err(SessionError::Unknown(id.clone()));
        }
        Ok(self.folder.join(format!("{}.jsonl", id.0)))
    }

    fn open(&mut self) -> io::Result<&mut File> {
        if self.file.is_none() {
            DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
            // For people who wonder whose sessions these are.
            let _ = fs::write(self.folder.join("root"), self.root.as_os_str().as_bytes());
            let path = self.folder.join(format!("{}.jsonl", self.id.0));
            let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)?;
            file.try_lock().map_err(io::Error::from)?;
            self.file = Some(file);
        }
        self.file.as_mut().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }
}

impl SessionStore for JsonlStore {
    fn id(&self) -> &SessionId {
        &self.id
    }

    fn append(&mut self, record: &Record) -> io::Result<()> {
        if matches!(record.body, RecordBody::Partial { .. }) {
            return self.partial.append(record, self.position);
        }
        if let Some(first) = self.first.take() {
            // It has been counted with those that it stands for.
            self.append(&first)?;
            self.position -= 1;
        }
        let (line, length) = (line(record)?, self.length);
        let file = self.open()?;
        if let Err(error) = file.write_all(&line) {
            // Half a line would spoil the next one.
            let _ = file.set_len(length);
            return Err(error);
        }
        self.length += line.len() as u64;
        self.position += 1;
        if !record.body.within_answer() {
            self.partial.forget();
        }
        Ok(())
    }

    fn is_new(&self) -> bool {
        self.file.is_none()
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.as_ref().map_or(Ok(()), File::sync_data)
    }

    fn position(&self) -> u64 {
        self.position
    }

    fn load(&self, id: &SessionId) -> Result<Loaded, SessionError> {
        self.read(id, 0)
    }

    fn list(&self) -> Result<Vec<SessionInfo>, SessionError> {
        listing::list_with(&self.folder, |id| self.load(id))
    }
}

struct Parsed {
    loaded: Loaded,
    /// Up to the end of the last good line.
    length: u64,
    /// The last good line has no line end.
    unended: bool,
    /// There are good lines after a bad one.
    damaged: bool,
}

enum ParseError {
    Io(io::Error),
    Session(SessionError),
}

impl ParseError {
    fn or(self, io: impl FnOnce(io::Error) -> SessionError) -> SessionError {
        match self {
            ParseError::Io(error) => io(error),
            ParseError::Session(error) => error,
        }
    }
}

fn parse(from: &mut dyn Read, id: &SessionId) -> Result<Parsed, ParseError> {
    #[derive(Deserialize)]
    struct Head {
        v: u32,
    }
    let mut parsed = Parsed { loaded: Loaded::default(), length: 0, unended: false, damaged: false };
    let mut reader = BufReader::new(from);
    let mut line = vec![];
    for number in 1.. {
        line.clear();
        let read = reader.read_until(b'\n', &mut line).map_err(ParseError::Io)?;
        if read == 0 {
            break;
        }
        let Ok(head) = serde_json::from_slice::<Head>(&line) else {
            parsed.loaded.torn = true;
            continue;
        };
        if parsed.loaded.torn {
            parsed.damaged = true;
            break;
        }
        let record = (head.v == VERSION).then(|| serde_json::from_slice::<Record>(&line).ok()).flatten();
        let Some(record) = record else {
            return Err(ParseError::Session(SessionError::Version { id: id.clone(), line: number }));
        };
        parsed.loaded.records.push(record);
        parsed.length += read as u64;
        parsed.unended = line.last() != Some(&b'\n');
    }
    Ok(parsed)
}

/// `Err(None)`: somebody else has it. A program that is just being started has for a moment what we have open, locks included, so
/// that one look is not enough.
fn lock(file: &File) -> Result<(), Option<io::Error>> {
    const LOOKS: u32 = 20;
    for look in 1.. {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if look < LOOKS => std::thread::sleep(Duration::from_millis(10)),
            Err(TryLockError::WouldBlock) => return Err(None),
            Err(TryLockError::Error(error)) => return Err(Some(error)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Mode, TurnId};
    use std::os::unix::fs::PermissionsExt;

    fn record(n: u64) -> Record {
        Record::new(RecordBody::TurnStarted { turn: TurnId(n), prompt: format!("say {n}\nü").into() })
    }

    fn bodies(loaded: &Loaded) -> Vec<RecordBody> {
        loaded.records.iter().map(|r| r.body.clone()).collect()
    }

    struct Bench {
        dir: tempfile::TempDir,
    }

    impl Bench {
        fn new() -> Self {
            Bench { dir: tempfile::tempdir().unwrap() }
        }
        fn create(&self) -> JsonlStore {
            JsonlStore::create(&self.dir.path().join("data"), self.dir.path()).unwrap()
        }
        fn resume(&self, id: &SessionId) -> Result<(JsonlStore, Loaded), SessionError> {
            JsonlStore::resume(&self.dir.path().join("data"), self.dir.path(), id)
        }
        /// A session of three records, closed.
        fn three(&self) -> (SessionId, PathBuf, Vec<u8>) {
            let mut store = self.create();
            for n in 1..4 {
                store.append(&record(n)).unwrap();
            }
            let path = store.path(store.id()).unwrap();
            (store.id.clone(), path.clone(), fs::read(path).unwrap())
        }
    }

    #[test]
    fn nothing_is_on_disk_before_the_first_record() {
        let b = Bench::new();
        let mut store = b.create();
        assert!(!b.dir.path().join("data").exists());
        assert_eq!(store.list().unwrap(), []);
        store.append(&record(1)).unwrap();
        store.sync().unwrap();
        let path = store.path(store.id()).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(store.folder()).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 1);
        let loaded = store.load(store.id()).unwrap();
        assert!(loaded.records[0].at > 1_600_000_000_000);
        assert_eq!((bodies(&loaded), loaded.torn), (vec![record(1).body], false));
        let list = store.list().unwrap();
        assert_eq!((list.len(), list[0].title.as_str(), &list[0].id), (1, "say 1", store.id()));
    }

    #[test]
    fn a_session_goes_on_where_it_was_cut_at_any_byte() {
        let b = Bench::new();
        let (id, path, bytes) = b.three();
        let ends: Vec<_> = bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at).collect();
        for cut in 0..=bytes.len() {
            fs::write(&path, &bytes[..cut]).unwrap();
            // Without its line end a line is whole all the same.
            let whole = ends.iter().filter(|end| **end <= cut).count() as u64;
            let (mut store, loaded) = b.resume(&id).unwrap();
            assert_eq!(loaded.records.len() as u64, whole, "cut at {cut}");
            assert_eq!(store.position(), whole);
            store.append(&record(9)).unwrap();
            let again = store.load(&id).unwrap();
            let mut expected: Vec<_> = (1..=whole).map(|n| record(n).body).collect();
            expected.push(record(9).body);
            assert_eq!((bodies(&again), again.torn), (expected, false), "cut at {cut}");
        }
    }

    #[test]
    fn an_unknown_version_is_left_alone() {
        let b = Bench::new();
        let (id, path, bytes) = b.three();
        for line in [r#"{"v":2,"kind":"whatever"}"#, r#"{"v":1,"kind":"from the future"}"#] {
            let text = [&bytes[..], line.as_bytes(), b"\n"].concat();
            fs::write(&path, &text).unwrap();
            assert!(matches!(b.resume(&id), Err(SessionError::Version { line: 4, .. })));
            assert!(b.create().load(&id).is_err());
            assert_eq!(fs::read(&path).unwrap(), text);
        }
    }

    #[test]
    fn damage_in_the_middle_is_copied_aside() {
        let b = Bench::new();
        let (id, path, mut bytes) = b.three();
        let second = bytes.iter().position(|b| *b == b'\n').unwrap() + 1;
        bytes[second] = b'#';
        fs::write(&path, &bytes).unwrap();
        let (_, loaded) = b.resume(&id).unwrap();
        assert_eq!((loaded.records.len(), loaded.torn), (1, true));
        assert_eq!(fs::read(path.with_extension("damaged-1")).unwrap(), bytes);
        assert_eq!(fs::read(&path).unwrap(), bytes[..second]);
    }

    #[test]
    fn one_process_writes_a_session() {
        let b = Bench::new();
        let mut store = b.create();
        store.append(&record(1)).unwrap();
        let id = store.id().clone();
        assert!(matches!(b.resume(&id), Err(SessionError::InUse(_))));
        drop(store);
        assert!(b.resume(&id).is_ok());
        for odd in ["", "../x", "a/b", "none"] {
            assert!(matches!(b.resume(&SessionId(odd.into())), Err(SessionError::Unknown(_))), "{odd}");
        }
    }

    #[test]
    fn ids_sort_by_time_and_differ() {
        let ids: Vec<_> = (0..50).map(|_| store::new_id().0).collect();
        let times: Vec<_> = ids.iter().map(|id| &id[..19]).collect();
        assert!(times.is_sorted(), "{times:?}");
        assert_eq!(ids.iter().collect::<std::collections::HashSet<_>>().len(), 50);
        assert!(ids[0].bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'), "{}", ids[0]);
    }

    #[test]
    fn the_twin_in_memory_behaves_the_same() {
        use crate::session::MemorySessions;
        let mut store = MemorySessions::new(SessionId("a".into()));
        assert_eq!(store.list().unwrap(), []);
        store.append(&Record::new(RecordBody::ModeChanged { mode: Mode::Plan })).unwrap();
        store.append(&record(1)).unwrap();
        let other = store.sibling(SessionId("b".into()));
        assert_eq!((store.position(), other.position()), (2, 0));
        assert_eq!(other.load(store.id()).unwrap().records, store.records());
        assert_eq!(other.list().unwrap()[0].title, "say 1");
        assert!(matches!(store.load(other.id()), Err(SessionError::Unknown(_))));
    }
}
