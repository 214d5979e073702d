//! `GrepTool`: lines that match a regular expression, in path order.

mod search;

use super::{
    RunContext, Tool, Workspace,
    args::Args,
    decode,
    glob::{self, Pattern},
    registry,
};
use crate::{
    command_line,
    protocol::{Access, Block, FileEntry, Hit, Preview, ToolCall, ToolError, ToolOutput, ToolSpec},
    walk::Walk,
};
use futures::future::BoxFuture;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use ignore::types::{Types, TypesBuilder};
use search::{Found, Running, Search};
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

/// Rows that are shown unless more or fewer are asked for, and those that are at the most.
const ROWS: usize = 200;
const MOST: usize = 2_000;
/// Files that count as seen because lines of them are shown.
const MOST_NOTED: usize = 20;

#[derive(Debug)]
pub struct Grep;

/// What is told of what was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Show {
    Content,
    Files,
    Count,
}

/// A call's arguments.
struct Wanted<'a> {
    pattern: &'a str,
    matcher: RegexMatcher,
    include: Option<Pattern>,
    types: Option<Types>,
    show: Show,
    before: usize,
    after: usize,
    multiline: bool,
    ignored: bool,
    offset: usize,
    limit: usize,
}

impl<'a> Wanted<'a> {
    fn of(args: Args<'a>) -> Result<Self, ToolError> {
        let pattern = args.text("pattern")?;
        let multiline = args.flag("multiline")?;
        let number = |name: &str, or: usize| Ok::<_, ToolError>(args.opt_number(name)?.map_or(or, |n| n as usize));
        let around = number("context", 0)?.min(50);
        let show = match args.opt_text("mode")?.unwrap_or("content") {
            "content" => Show::Content,
            "files" | "files_with_matches" => Show::Files,
            "count" => Show::Count,
            other => return Err(ToolError(format!("GrepTool: `mode` is content, files or count, not {other:?}."))),
        };
        Ok(Wanted {
            pattern,
            matcher: matcher(pattern, args.flag("ignore_case")?, multiline)?,
            include: args.opt_text("include")?.filter(|i| !i.is_empty() && *i != "*").map(Pattern::new).transpose()?,
            types: args.opt_text("type")?.filter(|name| !name.is_empty()).map(types).transpose()?,
            show,
            before: number("before", around)?.min(50),
            after: number("after", around)?.min(50),
            multiline,
            ignored: args.flag("ignored")?,
            offset: number("offset", 0)?.min(100_000),
            limit: number("limit", ROWS)?.clamp(1, MOST),
        })
    }
}

impl Tool for Grep {
    fn spec(&self) -> ToolSpec {
        registry::spec(
            "GrepTool",
            &["search_file_contents", "Grep", "grep_search"],
            include_str!("../../assets/tools/grep.md"),
            json!({
                "pattern": {"type": "string"},
                "path": {"type": "string", "description": "file or folder"},
                "include": {"type": "string", "description": "glob, e.g. *.{ts,tsx}"},
                "ignore_case": {"type": "boolean"},
                "context": {"type": "integer", "description": "lines around"},
                "mode": {"type": "string", "enum": ["content", "files", "count"]},
            }),
            &["pattern"],
        )
    }

    fn preview(&self, args: &Value, workspace: &Workspace) -> Result<Preview, ToolError> {
        let args = Args::new("GrepTool", args)?;
        // In quotes: it may hold blanks, or end in some.
        let (path, title) = glob::start(&args, workspace, &format!("\"{}\"", Wanted::of(args)?.pattern))?;
        Ok(Preview::new(Access::Read(vec![path]), title, Block::Nothing))
    }

    fn run<'a>(&'a self, call: &'a ToolCall, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move { grep(&call.args, cx) })
    }
}

fn matcher(pattern: &str, ignore_case: bool, multiline: bool) -> Result<RegexMatcher, ToolError> {
    if pattern.is_empty() {
        return Err(ToolError::new("GrepTool: `pattern` is empty."));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder.multi_line(true).case_insensitive(ignore_case).crlf(true);
    // Without a line end that ends the search, a match may go over several lines.
    builder.line_terminator((!multiline).then_some(b'\n')).dot_matches_new_line(multiline);
    builder.build(pattern).map_err(|e| {
        let why = e.to_string();
        let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
        let literal = regex_escape(pattern);
        ToolError(format!("{pattern:?} is not a valid regular expression: {why}. To search for it literally: {literal}"))
    })
}

fn regex_escape(text: &str) -> String {
    text.chars().flat_map(|c| if r"\.+*?()|[]{}^$#&-~".contains(c) { vec!['\\', c] } else { vec![c] }).collect()
}

/// Files of a language, by the names that ripgrep knows them by.
fn types(name: &str) -> Result<Types, ToolError> {
    let mut builder = TypesBuilder::new();
    builder.add_defaults().select(name);
    builder.build().map_err(|_| ToolError(format!("GrepTool: there is no file type {name:?}; `include` takes a glob instead.")))
}

fn grep(args: &Value, cx: &RunContext) -> Result<ToolOutput, ToolError> {
    let args = Args::new("GrepTool", args)?;
    let wanted = Wanted::of(args)?;
    let (start, _) = glob::start(&args, cx.workspace, wanted.pattern)?;
    let shown = cx.workspace.shown(&start);
    let content = wanted.show == Show::Content;
    let search = Search {
        matcher: &wanted.matcher,
        multiline: wanted.multiline,
        before: if content { wanted.before } else { 0 },
        after: if content { wanted.after } else { 0 },
        keep: if content { wanted.offset + wanted.limit } else { 0 },
        once: wanted.show == Show::Files,
    };
    let running = Running::new(search);
    let kept = if std::fs::metadata(&start).map_err(|e| decode::explain(&e, &shown))?.is_dir() {
        search_folder(&running, &start, &wanted, cx)
    } else {
        decode::open(&start, &shown)?;
        running.file(start);
        Kept::default()
    };
    cx.cancel.check()?;
    let found = running.end();
    if content {
        // Whoever has seen a line of it may change it.
        found.rows.keys().take(MOST_NOTED).for_each(|path| cx.workspace.seen.note_file(path));
    }
    // As the model writes it, and as the user knows it.
    let names = |path: &Path| (cx.workspace.shown(path), cx.workspace.relative(path));
    let summary = match (wanted.show, found.files, found.lines) {
        (Show::Files, 1, _) => "1 file".into(),
        (Show::Files, n, _) => format!("{n} files"),
        (_, _, 1) => "1 match".into(),
        (_, _, n) => format!("{n} matches"),
    };
    let (mut for_model, for_user) = match wanted.show {
        _ if found.lines == 0 => (format!("No matches in {} files.", found.searched), Block::Hits(vec![])),
        Show::Content => contents(&found, &wanted, names),
        Show::Files | Show::Count => per_file(&found, &wanted, names),
    };
    let Kept { secrets, ruled } = kept;
    if secrets > 0 {
        for_model =
            format!("{}\n({secrets} not searched, because of the secrets that may be in them; path names one)\n", for_model.trim_end());
    }
    if ruled > 0 {
        for_model = format!("{}\n({ruled} not searched, because of a rule)\n", for_model.trim_end());
    }
    Ok(ToolOutput { for_model, for_user, summary, failed: false })
}

/// `file:line: content` for a match, `file-line- content` for a line around one.
fn contents(found: &Found, wanted: &Wanted, name: impl Fn(&Path) -> (String, PathBuf)) -> (String, Block) {
    let (mut text, mut hits, mut shown) = (String::new(), vec![], 0);
    let gaps = wanted.before + wanted.after > 0;
    let mut before: Option<(&Path, u64)> = None;
    let rows = found.rows.iter().flat_map(|(path, rows)| rows.iter().map(move |row| (path.as_path(), row)));
    for (file, row) in rows.skip(wanted.offset).take(wanted.limit) {
        if gaps && before.is_some_and(|(last, line)| last != file || line + 1 != row.line) {
            text.push_str("--\n");
        }
        before = Some((file, row.line));
        let ((shown_path, path), mark) = (name(file), if row.matched { ':' } else { '-' });
        text.push_str(&format!("{shown_path}{mark}{}{mark} {}\n", row.line, row.text));
        if row.matched {
            shown += 1;
            hits.push(Hit { path, line: row.line, text: row.text.clone() });
        }
    }
    if shown < found.lines {
        let (lines, files) = (found.lines, found.files);
        let more = wanted.offset + wanted.limit;
        text.push_str(&format!(
            "({shown} of {lines} matching lines in {files} files; narrow the pattern, path or include, or offset {more})\n"
        ));
    }
    (text, Block::Hits(hits))
}

fn per_file(found: &Found, wanted: &Wanted, name: impl Fn(&Path) -> (String, PathBuf)) -> (String, Block) {
    let (mut text, mut entries) = (String::new(), vec![]);
    for (file, lines) in found.names.iter().skip(wanted.offset).take(wanted.limit) {
        let (shown, path) = name(file);
        match wanted.show {
            Show::Count => text.push_str(&format!("{shown}: {lines}\n")),
            _ => text.push_str(&format!("{shown}\n")),
        }
        entries.push(FileEntry { path, folder: false });
    }
    let total = found.files;
    if entries.len() < total {
        text.push_str(&format!("({} of {total} files; go on with offset {})\n", entries.len(), wanted.offset + wanted.limit));
    }
    (text, Block::Files(entries))
}

/// Files that a search leaves alone: because of what they are called, and because of a rule.
#[derive(Debug, Default)]
struct Kept {
    secrets: usize,
    ruled: usize,
}

/// And how many are left out because only their owner should see them, or a rule is about them: whoever wants one names it, and the user is asked.
fn search_folder(running: &Running, start: &Path, wanted: &Wanted, cx: &RunContext) -> Kept {
    let (secrets, ruled) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let policy = cx.workspace.policy();
    let of_type = |path: &Path| wanted.types.as_ref().is_none_or(|types| types.matched(path, false).is_whitelist());
    Walk { ignored: wanted.ignored, ..Walk::new(start, cx.workspace.root()) }.run(&|entry| {
        if let Ok(entry) = entry
            && entry.file_type().is_some_and(|k| k.is_file())
            && wanted.include.as_ref().is_none_or(|g| g.matches(entry.path(), start))
            && of_type(entry.path())
        {
            if policy.hides(entry.path()) {
                ruled.fetch_add(1, Ordering::Relaxed);
            } else if command_line::is_secret(entry.path()) {
                secrets.fetch_add(1, Ordering::Relaxed);
            } else {
                running.file(entry.into_path());
            }
        }
        !cx.cancel.is_cancelled()
    });
    Kept { secrets: secrets.into_inner(), ruled: ruled.into_inner() }
}
