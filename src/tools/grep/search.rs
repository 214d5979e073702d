//! The search itself: on all cores, with what is kept bounded whatever matches.

use crate::tools::{RunContext, decode};
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Mutex,
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
    /// Rows (or files) to keep, from the first one on.
    pub keep: usize,
}

/// A line that is shown. `matched` is false for one around a match.
#[derive(Debug)]
pub struct Row {
    pub line: u64,
    pub text: String,
    pub matched: bool,
}

#[derive(Debug)]
pub struct InFile {
    /// In the list of files that was searched.
    pub file: usize,
    pub rows: Vec<Row>,
    /// Matching lines, also those that are not kept.
    pub lines: usize,
}

#[derive(Debug, Default)]
pub struct Found {
    /// In the order of the files.
    pub files: Vec<InFile>,
    pub lines: usize,
}

impl Found {
    fn add(&mut self, found: InFile, keep: usize) {
        self.lines += found.lines;
        self.files.push(found);
        let rows: usize = self.files.iter().map(|found| found.rows.len()).sum();
        if rows > 10 * keep {
            self.trim(keep);
        }
    }

    /// Keeps the first rows. Later ones can't come before them: each file is added whole.
    fn trim(&mut self, keep: usize) {
        self.files.sort_by_key(|found| found.file);
        let mut room = keep;
        for found in &mut self.files {
            found.rows.truncate(room);
            room -= found.rows.len();
        }
    }
}

impl Search<'_> {
    pub fn run(&self, files: &[PathBuf], cx: &RunContext) -> Found {
        let (next, found) = (AtomicUsize::new(0), Mutex::new(Found::default()));
        let work = || {
            let mut searcher = SearcherBuilder::new()
                .line_number(true)
                .multi_line(self.multiline)
                .before_context(self.before)
                .after_context(self.after)
                .binary_detection(BinaryDetection::quit(0))
                .build();
            loop {
                let file = next.fetch_add(1, Ordering::Relaxed);
                let Some(path) = files.get(file) else { break };
                if cx.cancel.is_cancelled() {
                    break;
                }
                let in_file = self.search_file(&mut searcher, path, file);
                if in_file.lines > 0 {
                    found.lock().unwrap_or_else(|e| e.into_inner()).add(in_file, self.keep);
                }
            }
        };
        let threads = std::thread::available_parallelism().map_or(2, |n| n.get()).min(8).min(files.len().div_ceil(16));
        if threads < 2 {
            work();
        } else {
            std::thread::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(work);
                }
            });
        }
        let mut found = found.into_inner().unwrap_or_else(|e| e.into_inner());
        found.trim(self.keep);
        found
    }

    fn search_file(&self, searcher: &mut Searcher, path: &Path, file: usize) -> InFile {
        let mut rows = Rows { found: InFile { file, rows: vec![], lines: 0 }, keep: self.keep };
        // A file that can't be read has no matches, as for grep -s.
        if let Ok((file, _)) = decode::open(path, "") {
            let _ = searcher.search_file(self.matcher, &file, &mut rows);
        }
        rows.found
    }
}

struct Rows {
    found: InFile,
    keep: usize,
}

impl Rows {
    fn take(&mut self, line: Option<u64>, bytes: &[u8], matched: bool) {
        self.found.lines += usize::from(matched);
        if self.found.rows.len() < self.keep {
            self.found.rows.push(Row { line: line.unwrap_or(0), text: shown(bytes), matched });
        }
    }
}

impl Sink for Rows {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        // Across lines, one match has several.
        (0..).zip(found.lines()).for_each(|(n, line)| self.take(found.line_number().map(|first| first + n), line, true));
        Ok(true)
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
