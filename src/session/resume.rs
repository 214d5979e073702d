//! Which session goes on, and what it has.

use super::{JsonlStore, Loaded, SessionError, listing};
use crate::protocol::{Resume, SessionId};
use std::{io, path::Path};

/// Opens it for writing. `None`: a new one.
pub fn resume(data: &Path, root: &Path, which: Option<&Resume>) -> Result<(JsonlStore, Loaded), SessionError> {
    match which {
        None | Some(Resume::Ask) => {
            let store = JsonlStore::create(data, root).map_err(|error: io::Error| SessionError::Io { path: root.into(), error })?;
            Ok((store, Loaded::default()))
        }
        Some(Resume::Fork { of, position }) => JsonlStore::fork(data, root, of, *position),
        Some(Resume::Last) => JsonlStore::resume(data, root, &meant(data, root, "1")?),
        Some(Resume::Named(name)) => JsonlStore::resume(data, root, &meant(data, root, name)?),
    }
}

/// Is there such a session, and is it free?
pub fn can_resume(data: &Path, root: &Path, which: &Resume) -> Result<(), SessionError> {
    match which {
        Resume::Ask | Resume::Fork { .. } => Ok(()),
        Resume::Last => JsonlStore::is_free(data, root, &meant(data, root, "1")?),
        Resume::Named(name) => JsonlStore::is_free(data, root, &meant(data, root, name)?),
    }
}

/// By its id or the beginning of it, or by its number in the list, counted from 1. Looks into no more journals than that takes.
fn meant(data: &Path, root: &Path, name: &str) -> Result<SessionId, SessionError> {
    let store = JsonlStore::create(data, root).map_err(|error: io::Error| SessionError::Io { path: root.into(), error })?;
    let all = listing::journals(store.folder())?;
    let unknown = || SessionError::Unknown(SessionId(name.into()));
    if let Some((_, id)) = all.iter().find(|(_, id)| id.0 == name) {
        return Ok(id.clone());
    }
    let mut listed = all.iter().map(|(_, id)| id).filter(|id| listing::is_listed(store.folder(), id)).peekable();
    if let Some(number) = name.parse::<usize>().ok().filter(|_| name.len() < 4) {
        let none = listed.peek().is_none();
        let found = number.checked_sub(1).and_then(|skipped| listed.nth(skipped));
        return found.cloned().ok_or_else(|| if none { SessionError::NoneYet } else { unknown() });
    }
    let mut begun = all.iter().map(|(_, id)| id).filter(|id| !name.is_empty() && id.0.starts_with(name));
    match (begun.next(), begun.next()) {
        (Some(one), None) => Ok(one.clone()),
        (None, _) => Err(unknown()),
        (Some(_), Some(_)) => Err(SessionError::Ambiguous(name.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Mode, Record, RecordBody, TurnId};
    use crate::session::{SessionStore, list};
    use std::fs;

    fn record(n: u64) -> Record {
        Record::new(RecordBody::TurnStarted { turn: TurnId(n), prompt: format!("say {n}").into() })
    }

    fn bodies(records: &[Record]) -> Vec<RecordBody> {
        records.iter().map(|record| record.body.clone()).collect()
    }

    struct Bench {
        folder: tempfile::TempDir,
    }

    impl Bench {
        fn new() -> Bench {
            Bench { folder: tempfile::tempdir().unwrap() }
        }
        fn open(&self, which: Option<Resume>) -> Result<(JsonlStore, Loaded), SessionError> {
            resume(&self.folder.path().join("data"), self.folder.path(), which.as_ref())
        }
        /// A session with these requests, closed.
        fn session(&self, turns: std::ops::Range<u64>) -> SessionId {
            let (mut store, _) = self.open(None).unwrap();
            store.append(&Record::new(RecordBody::ModeChanged { mode: Mode::Plan })).unwrap();
            turns.for_each(|n| store.append(&record(n)).unwrap());
            store.id().clone()
        }
        fn listed(&self) -> Vec<String> {
            list(&self.folder.path().join("data"), self.folder.path()).unwrap().into_iter().map(|info| info.title).collect()
        }
        fn path(&self, id: &SessionId) -> std::path::PathBuf {
            self.open(None).unwrap().0.folder().join(format!("{}.jsonl", id.0))
        }
        fn aged(&self, id: &SessionId, seconds: u64) {
            let then = std::time::SystemTime::now() - std::time::Duration::from_secs(seconds);
            fs::File::open(self.path(id)).unwrap().set_modified(then).unwrap();
        }
    }

    #[test]
    fn the_last_one_or_by_number_or_by_the_beginning_of_its_id() {
        let b = Bench::new();
        assert!(matches!(b.open(Some(Resume::Last)), Err(SessionError::NoneYet)));
        let (old, new) = (b.session(1..2), b.session(2..4));
        b.aged(&old, 60);
        assert_eq!(b.listed(), ["say 2", "say 1"]);
        let opened = |which: Resume| b.open(Some(which)).map(|(store, loaded)| (store.id().clone(), loaded.records.len()));
        assert_eq!(opened(Resume::Last).unwrap(), (new.clone(), 3));
        for name in ["2", &old.0, &old.0[..old.0.len() - 1]] {
            assert_eq!(opened(Resume::Named(name.into())).unwrap().0, old, "{name}");
        }
        assert!(matches!(opened(Resume::Named("3".into())), Err(SessionError::Unknown(_))));
        assert!(matches!(opened(Resume::Named("x".into())), Err(SessionError::Unknown(_))));
        assert!(matches!(opened(Resume::Named(old.0[..8].into())), Err(SessionError::Ambiguous(_))));
        // The one that is used last is the first. File systems tell times only every few milliseconds.
        b.aged(&new, 30);
        let (mut store, _) = b.open(Some(Resume::Named("2".into()))).unwrap();
        store.append(&record(9)).unwrap();
        assert_eq!(b.listed(), ["say 1", "say 2"]);
    }

    #[test]
    fn a_long_first_request_and_an_empty_session() {
        let b = Bench::new();
        let (mut store, _) = b.open(None).unwrap();
        assert!(store.is_new());
        let prompt = format!("look at this\n{}", "x".repeat(3 << 20));
        store.append(&Record::new(RecordBody::TurnStarted { turn: TurnId(1), prompt: prompt.into() })).unwrap();
        assert!(!store.is_new());
        drop(store);
        let empty = b.session(1..1);
        assert_eq!(b.listed(), ["look at this"]);
        assert_eq!(b.open(Some(Resume::Last)).unwrap().1.records.len(), 1);
        assert!(b.open(Some(Resume::Named(empty.0))).is_ok(), "by its id");
    }

    #[test]
    fn a_fork_has_the_first_records_of_another_and_leaves_it_alone() {
        let b = Bench::new();
        let of = b.session(1..4);
        let before = fs::read(b.path(&of)).unwrap();
        let (mut fork, loaded) = b.open(Some(Resume::Fork { of: of.clone(), position: 3 })).unwrap();
        let forked = RecordBody::Forked { from: of.clone(), position: 3 };
        let mode = RecordBody::ModeChanged { mode: Mode::Plan };
        let mut expected = vec![mode, record(1).body, record(2).body, forked];
        assert_eq!((bodies(&loaded.records), fork.position()), (expected.clone(), 4));
        assert_eq!(b.listed(), ["say 1"], "nothing is on disk yet");
        fork.append(&record(7)).unwrap();
        expected.push(record(7).body);
        assert_eq!((bodies(&fork.load(fork.id()).unwrap().records), fork.position()), (expected.clone(), 5));
        let id = fork.id().clone();
        drop(fork);
        let (mut again, loaded) = b.open(Some(Resume::Named(id.0.clone()))).unwrap();
        assert_eq!((bodies(&loaded.records), again.position()), (expected.clone(), 5));
        // Of a fork, too, and while both are open.
        let (mut second, loaded) = b.open(Some(Resume::Fork { of: id.clone(), position: 5 })).unwrap();
        assert_eq!(loaded.records.len(), 6);
        second.append(&record(8)).unwrap();
        again.append(&record(9)).unwrap();
        assert_eq!(bodies(&second.load(second.id()).unwrap().records)[6..], [record(8).body]);
        assert_eq!(fs::read(b.path(&of)).unwrap(), before);
        assert_eq!(b.listed().len(), 3);
    }

    #[test]
    fn a_session_whose_beginning_is_gone_says_so_and_one_that_goes_round_in_circles_too() {
        let b = Bench::new();
        let of = b.session(1..4);
        let (mut fork, _) = b.open(Some(Resume::Fork { of: of.clone(), position: 3 })).unwrap();
        fork.append(&record(7)).unwrap();
        let id = fork.id().clone();
        drop(fork);
        fs::copy(b.path(&id), b.path(&of)).unwrap();
        let text = fs::read_to_string(b.path(&id)).unwrap().replace(&of.0, &id.0);
        fs::write(b.path(&of), text).unwrap();
        assert!(matches!(b.open(Some(Resume::Named(id.0.clone()))), Err(SessionError::Orphaned { .. })));
        fs::remove_file(b.path(&of)).unwrap();
        let error = b.open(Some(Resume::Named(id.0.clone()))).err().unwrap().to_string();
        assert_eq!(error, format!("session {} goes on from others that can't be read any more: there is no session {}", id.0, of.0));
    }

    #[test]
    fn what_was_walked_back_is_listed_with_its_session() {
        let b = Bench::new();
        let (mut store, _) = b.open(None).unwrap();
        store.append(&record(1)).unwrap();
        store.append(&Record::new(RecordBody::Cleared)).unwrap();
        store.append(&record(2)).unwrap();
        // A text that looks like it is none.
        let other = Record::new(RecordBody::TurnStarted { turn: TurnId(3), prompt: r#""kind":"cleared""#.into() });
        store.append(&other).unwrap();
        let all = store.list().unwrap();
        let branches: Vec<_> = all[0].branches.iter().map(|branch| (branch.position, branch.title.as_str())).collect();
        assert_eq!(branches, [(1, "say 1")]);
        assert_eq!(all[0].title, "say 2", "of what is there now");
    }
}
