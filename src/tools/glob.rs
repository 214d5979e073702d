//! `GlobTool`: files by name, newest first; and the name patterns that the other tools take.

use super::{RunContext, Tool, Workspace, args::Args, decode, registry};
use crate::{
    atomic::spot,
    protocol::{Access, Block, FileEntry, Preview, ToolCall, ToolError, ToolOutput, ToolSpec},
    walk::Walk,
};
use futures::future::BoxFuture;
use globset::{GlobBuilder, GlobMatcher};
use serde_json::{Value, json};
use std::{
    cmp::Reverse,
    path::{Path, PathBuf},
    sync::Mutex,
    time::SystemTime,
};

const MOST: usize = 200;

/// A glob with braces; without a `/` it matches the file name in any folder, with one the path below the start.
#[derive(Debug)]
pub struct Pattern {
    glob: GlobMatcher,
    name_only: bool,
}

impl Pattern {
    pub fn new(pattern: &str) -> Result<Self, ToolError> {
        let clean = pattern.strip_prefix("./").unwrap_or(pattern);
        let clean = clean.strip_suffix('/').unwrap_or(clean);
        let glob = GlobBuilder::new(clean)
            .literal_separator(true)
            .build()
            .map_err(|e| ToolError(format!("{pattern:?} is not a valid glob: {}.", e.kind())))?;
        Ok(Pattern { glob: glob.compile_matcher(), name_only: !clean.contains('/') })
    }

    pub fn matches(&self, path: &Path, start: &Path) -> bool {
        if self.name_only {
            path.file_name().is_some_and(|n| self.glob.is_match(n))
        } else {
            self.glob.is_match(path.strip_prefix(start).unwrap_or(path)) || self.glob.is_match(path)
        }
    }
}

#[derive(Debug)]
pub struct Glob;

impl Tool for Glob {
    fn spec(&self) -> ToolSpec {
        registry::spec(
            "GlobTool",
            &["find_files", "Glob", "glob_files"],
            include_str!("../../assets/tools/glob.md"),
            json!({
                "pattern": {"type": "string"},
                "path": {"type": "string", "description": "folder"},
            }),
            &["pattern"],
        )
    }

    fn also_takes(&self) -> Value {
        json!({"properties": {"ignored": {"type": "boolean"}, "offset": {"type": "integer"}}})
    }

    fn preview(&self, args: &Value, workspace: &Workspace) -> Result<Preview, ToolError> {
        let args = Args::new("GlobTool", args)?;
        let pattern = args.filled("pattern")?;
        Pattern::new(pattern)?;
        let (path, title) = start(&args, workspace, pattern)?;
        Ok(Preview::new(Access::Read(vec![path]), title, Block::Nothing))
    }

    fn run<'a>(&'a self, call: &'a ToolCall, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move { find(call, cx) })
    }
}

/// Where a search starts, and its title.
pub(super) fn start(args: &Args, workspace: &Workspace, pattern: &str) -> Result<(PathBuf, String), ToolError> {
    Ok(match args.opt_text("path")?.filter(|p| !p.trim().is_empty()) {
        None => (workspace.resolve("."), pattern.to_owned()),
        Some(path) => {
            let path = workspace.resolve(path);
            let title = format!("{pattern} in {}", workspace.titled(&path));
            (path, title)
        }
    })
}

fn find(call: &ToolCall, cx: &RunContext) -> Result<ToolOutput, ToolError> {
    let args = Args::new("GlobTool", &call.args)?;
    let pattern = args.filled("pattern")?;
    let glob = Pattern::new(pattern)?;
    let (start, _) = start(&args, cx.workspace, pattern)?;
    cx.as_approved(call, [&start])?;
    let failed = |e: std::io::Error| decode::explain(&e, &cx.workspace.shown(&start));
    spot::is_folder(&start).and_then(|()| std::fs::read_dir(&start)).map_err(failed)?;
    let policy = cx.workspace.policy();
    let found = Mutex::new(Vec::<(Reverse<SystemTime>, PathBuf)>::new());
    Walk { ignored: args.flag("ignored")?, ..Walk::new(&start, cx.workspace.root()) }.run(&|entry| {
        if let Ok(entry) = entry
            && !entry.file_type().is_some_and(|k| k.is_dir())
            && glob.matches(entry.path(), &start)
            && !policy.hides(entry.path())
        {
            let time = entry.metadata().ok().and_then(|m| m.modified().ok()).unwrap_or(SystemTime::UNIX_EPOCH);
            found.lock().unwrap_or_else(|e| e.into_inner()).push((Reverse(time), entry.into_path()));
        }
        !cx.cancel.is_cancelled()
    });
    cx.cancel.check()?;
    spot::is_folder(&start).map_err(failed)?;
    let mut found = found.into_inner().unwrap_or_else(|e| e.into_inner());
    found.sort();
    let total = found.len();
    let offset = args.opt_number("offset")?.map_or(0, |n| n as usize).min(total);
    found.drain(..offset);
    found.truncate(MOST);
    let mut text: String = found.iter().map(|(_, path)| format!("{}\n", cx.workspace.shown(path))).collect();
    let files: Vec<_> = found.into_iter().map(|(_, path)| FileEntry { path: cx.workspace.relative(&path), folder: false }).collect();
    if total == 0 {
        text = "No files match.".into();
    } else if offset + files.len() < total {
        let (shown, next) = (files.len(), offset + files.len());
        let which = if offset == 0 { format!("the newest {shown}") } else { format!("{shown}, from offset {offset},") };
        text.push_str(&format!("({which} of {total} files; go on with offset {next})\n"));
    }
    let summary = if total == 1 { "1 file".into() } else { format!("{total} files") };
    Ok(ToolOutput { for_model: text, for_user: Block::Files(files), summary, failed: false })
}
