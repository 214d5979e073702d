//! Which turns `backstitch undo` has taken back, so that the next one goes further and `redo` knows the way.
//!
//! A small file beside the project's history. One that can't be read, or that names checkpoints that are gone, says nothing: then
//! only the files tell what has been taken back.

use crate::{
    atomic,
    checkpoint::Entry,
    project,
    protocol::{CheckpointId, SessionId, TurnId},
};
use serde::{Deserialize, Serialize};
use std::{
    fs, io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TakenBack {
    pub session: SessionId,
    pub turn: TurnId,
    pub label: String,
    /// The files before it was taken back, and after.
    pub before: CheckpointId,
    pub after: CheckpointId,
}

pub struct Record {
    path: PathBuf,
    /// The latest last.
    pub steps: Vec<TakenBack>,
}

impl Record {
    /// `root` has to be canonical.
    pub fn load(data: &Path, root: &Path, entries: &[Entry]) -> Record {
        let path = data.join("projects").join(project::key(root)).join("taken-back.json");
        let mut steps: Vec<TakenBack> = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let known = |id: &CheckpointId| entries.iter().any(|entry| entry.id == *id);
        steps.retain(|step| known(&step.before) && known(&step.after));
        Record { path, steps }
    }

    pub fn has(&self, session: &SessionId, turn: TurnId) -> bool {
        self.steps.iter().any(|step| (&step.session, step.turn) == (session, turn))
    }

    pub fn save(&self) -> io::Result<()> {
        if self.steps.is_empty() {
            return match fs::remove_file(&self.path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
                _ => Ok(()),
            };
        }
        if let Some(folder) = self.path.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let bytes = serde_json::to_vec(&self.steps)?;
        atomic::write(&self.path, &bytes, atomic::Options { private: true, ..Default::default() }).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::{Kind, Label};

    #[test]
    fn steps_are_kept_while_their_checkpoints_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let id = |name: &str| CheckpointId(name.into());
        let entries = ["a", "b", "c"].map(|name| Entry {
            id: id(name),
            label: Label::new(Kind::Manual, "x"),
            at: 0,
            files_changed: 0,
            named: false,
            pinned: false,
        });
        let load = |entries: &[Entry]| Record::load(folder.path(), Path::new("/p"), entries);
        let step = |turn: u64, before: &str, after: &str| {
            let session = SessionId("s".into());
            TakenBack { session, turn: TurnId(turn), label: "fix".into(), before: id(before), after: id(after) }
        };
        let mut record = load(&entries);
        assert!(record.steps.is_empty());
        record.steps = vec![step(2, "a", "b"), step(1, "b", "c")];
        record.save().unwrap();
        assert_eq!(load(&entries).steps, record.steps);
        assert!(load(&entries).has(&SessionId("s".into()), TurnId(2)) && !load(&entries).has(&SessionId("t".into()), TurnId(2)));
        assert_eq!(load(&entries[1..]).steps, record.steps[1..]);
        record.steps.clear();
        record.save().unwrap();
        record.save().unwrap();
        assert!(!record.path.exists());
        fs::write(&record.path, "{ broken").unwrap();
        assert!(load(&entries).steps.is_empty());
    }
}
