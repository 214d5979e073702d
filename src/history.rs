//! What was typed into the prompt of a project, on disk: one JSON object a line, the newest last.
//!
//! - Several instances share the file: each line is appended, and the file shortened, under a lock beside it.
//! - It is bounded: beyond [`MOST`] entries (with some slack) or [`MOST_BYTES`] the oldest go, by a new file that replaces it.
//! - A line that is cut or damaged is skipped. Only the owner may read any of it.
//! - The [`Keeper`] does this in a thread of its own, which starts with the first thing to do; what was handed to it is on disk
//!   when it is dropped.

use crate::{atomic, project};
use crossbeam_channel::{Sender, unbounded};
use serde::{Deserialize, Serialize};
use std::{
    collections::HashSet,
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    thread::{self, JoinHandle},
};

pub const MOST: usize = 1_000;
/// Lines beyond [`MOST`] that may gather before the file is shortened.
const SLACK: usize = 200;
pub const MOST_BYTES: usize = 4 << 20;
/// A longer entry lasts only as long as its session.
const LONGEST: usize = 256 << 10;

#[derive(Serialize, Deserialize)]
struct Line<'a> {
    text: std::borrow::Cow<'a, str>,
}

/// Where the history of a project is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    folder: PathBuf,
}

impl History {
    /// `root` has to be canonical.
    pub fn of(data: &Path, root: &Path) -> Self {
        History { folder: data.join("projects").join(project::key(root)) }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.join("history.jsonl")
    }

    /// Oldest first, each text once, where it was typed last.
    pub fn load(&self) -> io::Result<Vec<String>> {
        let bytes = match fs::read(self.path()) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
            Err(e) => return Err(e),
        };
        let mut texts: Vec<String> = parse(&bytes).collect();
        let mut seen = HashSet::new();
        texts.reverse();
        texts.retain(|text| seen.insert(text.clone()));
        texts.truncate(MOST);
        texts.reverse();
        Ok(texts)
    }

    pub fn append(&self, text: &str) -> io::Result<()> {
        if text.len() > LONGEST {
            return Ok(());
        }
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let lock = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(self.folder.join("history.lock"))?;
        lock.lock()?;
        let mut file = OpenOptions::new().create(true).read(true).append(true).mode(0o600).open(self.path())?;
        let mut line = Vec::with_capacity(text.len() + 16);
        if !ends_whole(&file)? {
            // Somebody died while writing: what they wrote stays a line of its own.
            line.push(b'\n');
        }
        serde_json::to_writer(&mut line, &Line { text: text.into() })?;
        line.push(b'\n');
        file.write_all(&line)?;
        drop(file);
        self.shorten()
    }

    /// Only under the lock.
    fn shorten(&self) -> io::Result<()> {
        let bytes = fs::read(self.path())?;
        let lines = bytes.iter().filter(|b| **b == b'\n').count();
        if lines <= MOST + SLACK && bytes.len() <= MOST_BYTES + LONGEST {
            return Ok(());
        }
        let mut texts = self.load()?;
        let mut room = MOST_BYTES;
        let kept = texts.iter().rev().take_while(|text| room.checked_sub(text.len()).inspect(|left| room = *left).is_some()).count();
        texts.drain(..texts.len() - kept);
        let mut out = vec![];
        for text in &texts {
            serde_json::to_writer(&mut out, &Line { text: text.into() })?;
            out.push(b'\n');
        }
        atomic::write(&self.path(), &out, atomic::Options { private: true, ..atomic::Options::default() }).map(drop)
    }
}

fn parse(bytes: &[u8]) -> impl Iterator<Item = String> {
    bytes.split(|b| *b == b'\n').filter_map(|line| Some(serde_json::from_slice::<Line>(line).ok()?.text.into_owned()))
}

fn ends_whole(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::FileExt;
    let length = file.metadata()?.len();
    let mut last = [b'\n'];
    if length > 0 {
        file.read_exact_at(&mut last, length - 1)?;
    }
    Ok(last == *b"\n")
}

/// What comes back from the keeper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    Loaded(Vec<String>),
    /// Said once: the disk can't keep it.
    Failed(String),
}

enum Task {
    Append(String),
    Load,
}

/// The history's thread.
pub struct Keeper {
    tasks: Option<Sender<Task>>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// `None` if the system has no thread to give.
    pub fn start(history: History, report: Box<dyn Fn(Report) + Send>) -> Option<Keeper> {
        let (tasks, inbox) = unbounded();
        let mut said = false;
        let work = move || {
            for task in inbox {
                let done = match task {
                    Task::Append(text) => history.append(&text),
                    Task::Load => history.load().map(|texts| report(Report::Loaded(texts))).inspect_err(|_| report(Report::Loaded(vec![]))),
                };
                if let Err(error) = done
                    && !std::mem::replace(&mut said, true)
                {
                    report(Report::Failed(error.to_string()));
                }
            }
        };
        let thread = thread::Builder::new().name("history".into()).spawn(work).ok()?;
        Some(Keeper { tasks: Some(tasks), thread: Some(thread) })
    }

    pub fn append(&self, text: String) {
        self.send(Task::Append(text));
    }

    /// Comes back as [`Report::Loaded`], with all that was appended before.
    pub fn load(&self) {
        self.send(Task::Load);
    }

    fn send(&self, task: Task) {
        let _ = self.tasks.as_ref().map(|tasks| tasks.send(task));
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.tasks = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn history(dir: &tempfile::TempDir) -> History {
        History::of(dir.path(), Path::new("/p"))
    }

    #[test]
    fn entries_come_back_whole_and_each_once() {
        let dir = tempfile::tempdir().unwrap();
        let history = history(&dir);
        assert_eq!(history.load().unwrap(), [""; 0]);
        for text in ["one", "two\nlines \"quoted\" 世界", "one", "!ls"] {
            history.append(text).unwrap();
        }
        assert_eq!(history.load().unwrap(), ["two\nlines \"quoted\" 世界", "one", "!ls"]);
        let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(history.path()), mode(history.folder.clone())), (0o600, 0o700));
    }

    #[test]
    fn damaged_lines_are_skipped() {
        let dir = tempfile::tempdir().unwrap();
        let history = history(&dir);
        history.append("good").unwrap();
        let mut file = OpenOptions::new().append(true).open(history.path()).unwrap();
        file.write_all(b"\xff\xfe\n{\"text\":3}\nnothing\n{\"text\":\"cut").unwrap();
        history.append("after").unwrap();
        assert_eq!(history.load().unwrap(), ["good", "after"]);
    }

    #[test]
    fn it_is_bounded_by_number_and_by_size() {
        let dir = tempfile::tempdir().unwrap();
        let history = history(&dir);
        for n in 0..MOST + SLACK + 50 {
            history.append(&format!("entry {n}")).unwrap();
        }
        let texts = history.load().unwrap();
        assert_eq!((texts.len(), texts.last().unwrap().as_str()), (MOST, "entry 1249"));
        assert!(fs::read_to_string(history.path()).unwrap().lines().count() <= MOST + SLACK);
        for n in 0..20 {
            history.append(&format!("{n}{}", "x".repeat(LONGEST - 10))).unwrap();
        }
        history.append(&"y".repeat(LONGEST + 1)).unwrap();
        assert!(fs::metadata(history.path()).unwrap().len() as usize <= MOST_BYTES + 2 * LONGEST);
        assert_eq!(fs::metadata(history.path()).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(history.load().unwrap().last().unwrap().starts_with("19x"));
    }

    #[test]
    fn instances_that_write_at_the_same_time_lose_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let history = history(&dir);
        // Enough for the file to be shortened while the others write.
        (0..MOST).for_each(|n| history.append(&format!("old {n}")).unwrap());
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let history = &history;
                scope.spawn(move || (0..100).for_each(|n| history.append(&format!("{thread}/{n}")).unwrap()));
            }
        });
        let texts: HashSet<String> = history.load().unwrap().into_iter().collect();
        assert!((0..4).all(|thread| (0..100).all(|n| texts.contains(&format!("{thread}/{n}")))));
        assert_eq!(texts.len(), MOST);
    }

    #[test]
    fn the_keeper_finishes_its_work_and_says_once_that_it_cannot() {
        let dir = tempfile::tempdir().unwrap();
        let (sent, reports) = unbounded();
        let start = |history| {
            let sent = sent.clone();
            Keeper::start(history, Box::new(move |report| drop(sent.send(report)))).unwrap()
        };
        let keeper = start(history(&dir));
        ["a", "b"].into_iter().for_each(|text| keeper.append(text.into()));
        keeper.load();
        drop(keeper);
        assert_eq!(reports.try_iter().collect::<Vec<_>>(), [Report::Loaded(vec!["a".into(), "b".into()])]);
        let keeper = start(History { folder: "/dev/null/nowhere".into() });
        ["a", "b"].into_iter().for_each(|text| keeper.append(text.into()));
        drop(keeper);
        assert!(matches!(reports.try_iter().collect::<Vec<_>>().as_slice(), [Report::Failed(_)]));
    }
}
