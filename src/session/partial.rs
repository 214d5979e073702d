//! What has come so far of an answer, in a file beside the journal: the journal itself gets the answer when it is whole.
//!
//! - Written before it is shown, so that a process that is killed loses nothing of what stood on the screen.
//! - The file goes as soon as the journal has the answer, so it takes no room for long. One that a crash left behind after that is
//!   recognised by the position at which it began.

use super::jsonl::line;
use crate::protocol::{Record, RecordBody, SessionId, record::VERSION};
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

pub struct Partial {
    path: PathBuf,
    file: Option<File>,
    length: u64,
    /// There is one of a process that ended.
    left: bool,
}

/// The first line.
#[derive(Serialize, Deserialize)]
struct Head {
    v: u32,
    /// Records of the session when the answer began.
    position: u64,
}

impl Partial {
    pub fn new(folder: &Path, id: &SessionId) -> Self {
        Partial { path: folder.join(format!("{}.partial", id.0)), file: None, length: 0, left: false }
    }

    /// `position`: of the journal.
    pub fn append(&mut self, record: &Record, position: u64) -> io::Result<()> {
        let mut bytes = vec![];
        if self.file.is_none() {
            self.remove();
            self.file = Some(OpenOptions::new().append(true).create_new(true).mode(0o600).open(&self.path)?);
            self.length = 0;
            bytes = serde_json::to_vec(&Head { v: VERSION, position })?;
            bytes.push(b'\n');
        }
        bytes.extend(line(record)?);
        let Some(file) = &mut self.file else { return Ok(()) };
        if let Err(error) = file.write_all(&bytes) {
            // Half a line would spoil the next one.
            let _ = file.set_len(self.length);
            return Err(error);
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// The journal has it now.
    pub fn forget(&mut self) {
        if self.file.take().is_some() || self.left {
            self.remove();
        }
    }

    fn remove(&mut self) {
        let _ = fs::remove_file(&self.path);
        self.left = false;
    }

    /// What a process that was killed had written of an answer that these records don't have. A line that was cut ends it.
    pub fn load(&mut self, records: &[Record]) -> Vec<Record> {
        let bytes = fs::read(&self.path).unwrap_or_default();
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let head = lines.next().and_then(|line| serde_json::from_slice::<Head>(line).ok()).filter(|head| head.v == VERSION);
        let since = head.and_then(|head| records.get(usize::try_from(head.position).ok()?..));
        if since.is_none_or(|since| since.iter().any(|record| !record.body.within_answer())) {
            self.remove();
            return vec![];
        }
        self.left = true;
        let record = |line: &[u8]| serde_json::from_slice::<Record>(line).ok();
        lines.map_while(record).take_while(|record| record.v == VERSION && matches!(record.body, RecordBody::Partial { .. })).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        protocol::{Message, TurnId},
        session::{JsonlStore, SessionStore},
    };

    fn partial(text: &str) -> Record {
        Record::new(RecordBody::Partial { turn: TurnId(1), reasoning: String::new(), text: text.into() })
    }

    fn said(text: &str) -> Record {
        let message = Message::Assistant { text: text.into(), reasoning: String::new(), calls: vec![], kept: vec![] };
        Record::new(RecordBody::Said { turn: TurnId(1), message })
    }

    /// A store with a request, and where its files are.
    fn begun() -> (tempfile::TempDir, JsonlStore, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let mut store = JsonlStore::create(&folder.path().join("data"), folder.path()).unwrap();
        store.append(&Record::new(RecordBody::TurnStarted { turn: TurnId(1), prompt: "go".into() })).unwrap();
        let path = store.folder().join(format!("{}.partial", store.id().0));
        (folder, store, path)
    }

    fn resumed(folder: &tempfile::TempDir, id: &SessionId) -> (JsonlStore, Vec<RecordBody>) {
        let (store, loaded) = JsonlStore::resume(&folder.path().join("data"), folder.path(), id).unwrap();
        (store, loaded.records.into_iter().map(|record| record.body).skip(1).collect())
    }

    #[test]
    fn what_has_come_of_an_answer_is_there_wherever_it_is_cut() {
        let (folder, mut store, path) = begun();
        for text in ["On", "ce\nthe", "re"] {
            store.append(&partial(text)).unwrap();
        }
        assert_eq!(store.position(), 1, "it is no record of the journal");
        let id = store.id().clone();
        drop(store);
        let bytes = fs::read(&path).unwrap();
        let ends: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == b'\n').collect();
        for cut in 0..=bytes.len() {
            fs::write(&path, &bytes[..cut]).unwrap();
            // Without its line end a line is whole all the same.
            let whole = ends.iter().filter(|end| **end <= cut).count().saturating_sub(1);
            let (store, records) = resumed(&folder, &id);
            assert_eq!(records, ["On", "ce\nthe", "re"][..whole].iter().map(|t| partial(t).body).collect::<Vec<_>>(), "cut at {cut}");
            assert_eq!(store.position(), 1);
        }
    }

    #[test]
    fn it_goes_when_the_journal_has_the_answer_and_what_a_crash_left_is_not_told_twice() {
        let (folder, mut store, path) = begun();
        store.append(&partial("On")).unwrap();
        let mode = Record::new(RecordBody::ModeChanged { mode: crate::protocol::Mode::Plan });
        store.append(&mode).unwrap();
        store.append(&partial("ce")).unwrap();
        let id = store.id().clone();
        drop(store);
        let left = fs::read(&path).unwrap();
        // It goes on: what there was of it becomes an answer.
        let (mut store, records) = resumed(&folder, &id);
        assert_eq!(records, [mode.body.clone(), partial("On").body, partial("ce").body]);
        assert!(path.exists(), "nothing has taken its place yet");
        store.append(&said("Once")).unwrap();
        assert!(!path.exists());
        drop(store);
        // Killed between the two.
        fs::write(&path, &left).unwrap();
        let (mut store, records) = resumed(&folder, &id);
        assert_eq!(records, [mode.body, said("Once").body]);
        assert!(!path.exists());
        // The next answer begins anew, whatever lies there.
        fs::write(&path, &left).unwrap();
        store.append(&partial("Twice")).unwrap();
        drop(store);
        assert_eq!(resumed(&folder, &id).1[2..], [partial("Twice").body]);
    }

    #[test]
    fn a_file_that_is_none_or_of_another_version_is_nothing() {
        let (folder, store, path) = begun();
        let id = store.id().clone();
        drop(store);
        for text in ["", "garbage\n", "{\"v\":9,\"position\":1}\n", "{\"v\":1,\"position\":7}\n"] {
            fs::write(&path, text.as_bytes()).unwrap();
            assert_eq!(resumed(&folder, &id).1, [], "{text}");
        }
    }
}
