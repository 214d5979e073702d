//! `GrepTool`: lines that match a regular expression, in path order, searched on all cores.
//!
//! What is kept is bounded whatever matches: beyond the hits that can be shown, matches are only counted.

use super::{
    RunContext, Tool, Workspace,
    args::Args,
    decode,
    glob::{self, Pattern},
    registry,
};
use crate::{
    protocol::{Access, Basis, Block, Hit, Preview, ToolCall, ToolError, ToolOutput, ToolSpec},
    walk::Walk,
};
use futures::future::BoxFuture;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, sinks::Bytes};
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

const MOST: usize = 200;
const LINE_CHARS: usize = 300;

#[derive(Debug)]
pub struct Grep;

impl Tool for Grep {
    fn spec(&self) -> ToolSpec {
        registry::spec(
            "GrepTool",
            &["search_file_contents", "Grep", "grep_search"],
            include_str!("../../assets/tools/grep.md"),
            json!({
                "pattern": {"type": "string"},
                "path": {"type": "string", "description": "file or folder, default the project"},
                "include": {"type": "string", "description": "glob, e.g. *.{ts,tsx}"},
            }),
            &["pattern"],
        )
    }

    fn preview(&self, args: &Value, workspace: &Workspace) -> Result<Preview, ToolError> {
        let args = Args::new("GrepTool", args)?;
        let pattern = args.text("pattern")?;
        matcher(pattern)?;
        let (path, title) = glob::start(&args, workspace, pattern)?;
        Ok(Preview { access: Access::Read(vec![path]), title, block: Block::Nothing, basis: Basis::default() })
    }

    fn run<'a>(&'a self, call: &'a ToolCall, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move { grep(&call.args, cx) })
    }
}

fn matcher(pattern: &str) -> Result<RegexMatcher, ToolError> {
    if pattern.is_empty() {
        return Err(ToolError::new("GrepTool: `pattern` is empty."));
    }
    RegexMatcherBuilder::new().multi_line(true).crlf(true).line_terminator(Some(b'\n')).build(pattern).map_err(|e| {
        let why = e.to_string();
        let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
        let literal = regex_escape(pattern);
        ToolError(format!("{pattern:?} is not a valid regular expression: {why}. To search for it literally: {literal}"))
    })
}

fn regex_escape(text: &str) -> String {
    text.chars().flat_map(|c| if r"\.+*?()|[]{}^$#&-~".contains(c) { vec!['\\', c] } else { vec![c] }).collect()
}

fn grep(args: &Value, cx: &RunContext) -> Result<ToolOutput, ToolError> {
    let args = Args::new("GrepTool", args)?;
    let pattern = args.text("pattern")?;
    let matcher = matcher(pattern)?;
    let include = args.opt_text("include")?.filter(|i| !i.is_empty() && *i != "*").map(Pattern::new).transpose()?;
    let (start, _) = glob::start(&args, cx.workspace, pattern)?;
    let shown = cx.workspace.shown(&start);
    let files = if std::fs::metadata(&start).map_err(|e| decode::explain(&e, &shown))?.is_dir() {
        files(&start, include.as_ref(), cx)?
    } else {
        decode::open(&start, &shown)?;
        vec![start]
    };
    let found = search(&files, &matcher, cx);
    cx.cancel.check()?;
    let hits: Vec<_> = found
        .hits
        .into_iter()
        .map(|(_, mut hit)| {
            hit.path = cx.workspace.relative(&hit.path);
            hit
        })
        .collect();
    let mut text: String = hits.iter().map(|h| format!("{}:{}: {}\n", h.path.display(), h.line, h.text)).collect();
    let (lines, matched) = (found.lines, found.files);
    if lines == 0 {
        text = format!("No matches in {} files.", files.len());
    } else if lines > hits.len() {
        text.push_str(&format!("({} of {lines} matching lines in {matched} files; narrow the pattern, path or include)\n", hits.len()));
    }
    let summary = if lines == 1 { "1 match".into() } else { format!("{lines} matches") };
    Ok(ToolOutput { for_model: text, for_user: Block::Hits(hits), summary, failed: false })
}

fn files(start: &Path, include: Option<&Pattern>, cx: &RunContext) -> Result<Vec<PathBuf>, ToolError> {
    let found = Mutex::new(vec![]);
    Walk::new(start, cx.workspace.root()).run(&|entry| {
        if let Ok(entry) = entry
            && entry.file_type().is_some_and(|k| k.is_file())
            && include.is_none_or(|g| g.matches(entry.path(), start))
        {
            found.lock().unwrap_or_else(|e| e.into_inner()).push(entry.into_path());
        }
        !cx.cancel.is_cancelled()
    });
    cx.cancel.check()?;
    let mut found = found.into_inner().unwrap_or_else(|e| e.into_inner());
    found.sort();
    Ok(found)
}

#[derive(Default)]
struct Found {
    /// With the index of the file, so that hits of several threads come into path order.
    hits: Vec<(usize, Hit)>,
    lines: usize,
    files: usize,
}

impl Found {
    fn add(&mut self, hits: Vec<(usize, Hit)>, lines: usize) {
        self.lines += lines;
        self.files += usize::from(lines > 0);
        self.hits.extend(hits);
        if self.hits.len() > 10 * MOST {
            self.trim();
        }
    }

    /// Keeps the first hits. Later ones of the same list can't come before them: each file is added whole.
    fn trim(&mut self) {
        self.hits.sort_by_key(|(file, hit)| (*file, hit.line));
        self.hits.truncate(MOST);
    }
}

fn search(files: &[PathBuf], matcher: &RegexMatcher, cx: &RunContext) -> Found {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Found::default()));
    let work = || {
        let mut searcher = SearcherBuilder::new().line_number(true).binary_detection(BinaryDetection::quit(0)).build();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = files.get(index) else { break };
            if cx.cancel.is_cancelled() {
                break;
            }
            let (hits, lines) = search_file(&mut searcher, matcher, path, index);
            if lines > 0 {
                found.lock().unwrap_or_else(|e| e.into_inner()).add(hits, lines);
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
    found.trim();
    found
}

fn search_file(searcher: &mut Searcher, matcher: &RegexMatcher, path: &Path, index: usize) -> (Vec<(usize, Hit)>, usize) {
    let (mut hits, mut lines) = (vec![], 0);
    let sink = Bytes(|line, bytes| {
        lines += 1;
        if hits.len() < MOST {
            let end = bytes.len().min(4 * LINE_CHARS);
            let mut text = decode::show(bytes[..end].trim_ascii_end());
            if let Some((at, _)) = text.char_indices().nth(LINE_CHARS) {
                text.truncate(at);
                text.push('…');
            }
            hits.push((index, Hit { path: path.into(), line, text }));
        }
        Ok(true)
    });
    // A file that can't be read has no matches, as for grep -s.
    let Ok((file, _)) = decode::open(path, "") else { return (vec![], 0) };
    let _ = searcher.search_file(matcher, &file, sink);
    (hits, lines)
}
