//! The search itself: each file where the walk comes to it, on all cores, with what is kept bounded whatever matches.

use crate::tools::decode;
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use std::{
    collections::BTreeMap,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Characters that are kept of a line.
const LINE_CHARS: usize = 300;

/// What is looked for, and how much of what is found is kept.
pub struct Search<'a> {
    pub matcher: &'a RegexMatcher,
    pub multiline: bool,
    /// Lines around each match.
    pub before: usize,
    pub after: usize,
    /// Rows to keep, from the first one on; without any, the names of the files that have a match.
    pub keep: usize,
    /// One match tells all that is wanted of a file.
    pub once: bool,
}

/// A line that is shown. `matched` is false for one around a match.
#[derive(Debug)]
pub struct Row {
    pub line: u64,
    pub text: String,
    pub matched: bool,
}

#[derive(Debug, Default)]
pub struct Found {
    /// The first rows, in the order of the files.
    pub rows: BTreeMap<PathBuf, Vec<Row>>,
    kept: usize,
    /// Files that have a match, each with its matching lines, where no rows are kept.
    pub names: Vec<(PathBuf, usize)>,
    /// How many have one.
    pub files: usize,
    /// Matching lines, also those that are not kept.
    pub lines: usize,
    /// Files that were looked into.
    pub searched: usize,
}

impl Found {
    fn add(&mut self, path: PathBuf, rows: Vec<Row>, lines: usize, keep: usize) {
        self.files += 1;
        self.lines += lines;
        if keep == 0 {
            self.names.push((path, lines));
            return;
        }
        let full = self.kept >= keep;
        if full && self.rows.last_key_value().is_some_and(|(last, _)| *last < path) {
            return;
        }
        self.kept += rows.len();
        self.rows.insert(path, rows);
        // What comes after the first rows is not shown, whatever else is found.
        while let Some(last) = self.rows.last_entry()
            && self.kept - last.get().len() >= keep
        {
            self.kept -= last.remove().len();
        }
    }
}

/// A search that goes on, from several threads.
pub struct Running<'a> {
    search: Search<'a>,
    /// Those that nobody searches with now: each has its buffers.
    idle: Mutex<Vec<Searcher>>,
    searched: AtomicUsize,
    found: Mutex<Found>,
}

impl<'a> Running<'a> {
    pub fn new(search: Search<'a>) -> Self {
        Running { search, idle: Mutex::default(), searched: AtomicUsize::new(0), found: Mutex::default() }
    }

    fn searcher(&self) -> Searcher {
        lock(&self.idle).pop().unwrap_or_else(|| {
            SearcherBuilder::new()
                .line_number(true)
                .multi_line(self.search.multiline)
                .before_context(self.search.before)
                .after_context(self.search.after)
                .binary_detection(BinaryDetection::quit(0))
                .build()
        })
    }

    pub fn file(&self, path: PathBuf) {
        self.searched.fetch_add(1, Ordering::Relaxed);
        // A file that can't be read has no matches, as for grep -s.
        let Ok(file) = open(&path) else { return };
        let mut searcher = self.searcher();
        let mut rows = Rows { rows: vec![], lines: 0, keep: self.search.keep, once: self.search.once };
        let _ = searcher.search_file(self.search.matcher, &file, &mut rows);
        lock(&self.idle).push(searcher);
        if rows.lines > 0 {
            lock(&self.found).add(path, rows.rows, rows.lines, self.search.keep);
        }
    }

    pub fn end(self) -> Found {
        let mut found = self.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.searched = self.searched.into_inner();
        found.names.sort();
        found
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A regular file, and by no link that has come since the walk saw it: in one step, where the kernel can do that.
fn open(path: &Path) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    use rustix::{
        fs::{CWD, FileType, Mode, OFlags, ResolveFlags},
        io::Errno,
    };
    #[cfg(target_os = "linux")]
    match rustix::fs::openat2(CWD, path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(fd) if FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode) == FileType::RegularFile => return Ok(fd.into()),
        Ok(_) => return Err(io::ErrorKind::InvalidInput.into()),
        // An old kernel, or one that is asked by a sandbox that knows nothing of it.
        Err(Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::AGAIN) => {}
        Err(e) => return Err(e.into()),
    }
    decode::open(path, "").map(|(file, _)| file).map_err(io::Error::other)
}

struct Rows {
    rows: Vec<Row>,
    lines: usize,
    keep: usize,
    once: bool,
}

impl Rows {
    fn take(&mut self, line: Option<u64>, bytes: &[u8], matched: bool) {
        self.lines += usize::from(matched);
        if self.rows.len() < self.keep {
            self.rows.push(Row { line: line.unwrap_or(0), text: shown(bytes), matched });
        }
    }
}

impl Sink for Rows {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        // Across lines, one match has several.
        (0..).zip(found.lines()).for_each(|(n, line)| self.take(found.line_number().map(|first| first + n), line, true));
        Ok(!self.once)
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> Result<bool, io::Error> {
        self.take(around.line_number(), around.bytes(), false);
        Ok(true)
    }
}

fn shown(bytes: &[u8]) -> String {
    let end = bytes.len().min(4 * LINE_CHARS);
    let mut text = decode::show(bytes[..end].trim_ascii_end());
    if let Some((at, _)) = text.char_indices().nth(LINE_CHARS) {
        text.truncate(at);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the order in which files come, the first rows are kept, and not many more.
    #[test]
    fn the_first_rows_are_kept_in_whatever_order_they_come() {
        let row = || Row { line: 1, text: String::new(), matched: true };
        for order in [[0, 1, 2, 3, 4, 5, 6, 7], [7, 6, 5, 4, 3, 2, 1, 0], [4, 0, 7, 2, 5, 1, 6, 3]] {
            let mut found = Found::default();
            for n in order {
                found.add(format!("f{n}").into(), (0..3).map(|_| row()).collect(), 3, 5);
                assert!(found.kept < 9, "{order:?}");
            }
            let names: Vec<_> = found.rows.keys().map(|path| path.display().to_string()).collect();
            assert_eq!((names, found.files, found.lines), (vec!["f0".to_owned(), "f1".into()], 8, 24), "{order:?}");
        }
    }
}
