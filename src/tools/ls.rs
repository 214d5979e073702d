//! `LS`: what is in a folder, folders first.

use super::{RunContext, Tool, Workspace, args::Args, decode, glob, registry};
use crate::{
    atomic::spot,
    protocol::{Access, Block, FileEntry, Preview, ToolCall, ToolError, ToolOutput, ToolSpec},
    walk::Walk,
};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    sync::Mutex,
};

const MOST: usize = 1_000;

#[derive(Debug)]
pub struct Ls;

impl Tool for Ls {
    fn spec(&self) -> ToolSpec {
        registry::spec(
            "LS",
            &["list_directory", "list_dir"],
            include_str!("../../assets/tools/ls.md"),
            json!({
                "path": {"type": "string"},
                "ignore": {"type": "array", "items": {"type": "string"}, "description": "globs"},
            }),
            &["path"],
        )
    }

    fn also_takes(&self) -> Value {
        json!({"properties": {"ignored": {"type": "boolean"}, "recursive": {"type": "boolean"}}, "required": []})
    }

    fn preview(&self, args: &Value, workspace: &Workspace) -> Result<Preview, ToolError> {
        let path = folder(args, workspace)?;
        let title = workspace.titled(&path);
        Ok(Preview::new(Access::Read(vec![path]), title, Block::Nothing))
    }

    fn run<'a>(&'a self, call: &'a ToolCall, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move { listed(call, cx) })
    }
}

fn folder(args: &Value, workspace: &Workspace) -> Result<PathBuf, ToolError> {
    Ok(workspace.resolve(Args::new("LS", args)?.opt_text("path")?.unwrap_or(".")))
}

fn listed(call: &ToolCall, cx: &RunContext) -> Result<ToolOutput, ToolError> {
    let path = folder(&call.args, cx.workspace)?;
    cx.as_approved(call, [&path])?;
    let args = Args::new("LS", &call.args)?;
    let ignore = args.list("ignore")?.iter().map(|g| glob::Pattern::new(g)).collect::<Result<Vec<_>, _>>()?;
    list(&path, &ignore, args.flag("ignored")?, cx)
}

pub(super) fn list(path: &Path, ignore: &[glob::Pattern], ignored: bool, cx: &RunContext) -> Result<ToolOutput, ToolError> {
    let shown = cx.workspace.shown(path);
    // The walk would be silent about these.
    match spot::is_folder(path).and_then(|()| std::fs::read_dir(path)) {
        Ok(_) => {}
        Err(e) if e.kind() == std::io::ErrorKind::NotADirectory => {
            return Err(ToolError(format!("{shown} is a file. Use View to read it.")));
        }
        Err(e) => return Err(decode::explain(&e, &shown)),
    }
    let policy = cx.workspace.policy();
    let found = Mutex::new(vec![]);
    Walk { depth: Some(1), ignored, ..Walk::new(path, cx.workspace.root()) }.run(&|entry| {
        if let Ok(entry) = entry
            && !policy.hides(entry.path())
            && !ignore.iter().any(|g| g.matches(entry.path(), path))
        {
            let name = entry.file_name().to_string_lossy().into_owned();
            let kind = entry.file_type();
            let folder = kind.is_some_and(|k| k.is_dir());
            let link = if kind.is_some_and(|k| k.is_symlink()) { std::fs::read_link(entry.path()).ok() } else { None };
            found.lock().unwrap_or_else(|e| e.into_inner()).push((!folder, name, link));
        }
        !cx.cancel.is_cancelled()
    });
    cx.cancel.check()?;
    spot::is_folder(path).map_err(|e| decode::explain(&e, &shown))?;
    let mut found = found.into_inner().unwrap_or_else(|e| e.into_inner());
    found.sort();
    let total = found.len();
    let mut text = String::new();
    for (file, name, link) in found.iter().take(MOST) {
        let suffix = match link {
            Some(target) => format!(" -> {}", target.display()),
            None if *file => String::new(),
            None => "/".into(),
        };
        text.push_str(&format!("{name}{suffix}\n"));
    }
    if total == 0 {
        text = format!("({shown} is empty, or everything in it is ignored)");
    } else if total > MOST {
        text.push_str(&format!("({MOST} of {total} entries)\n"));
    }
    let entries = found.into_iter().take(MOST).map(|(file, name, _)| FileEntry { path: name.into(), folder: !file }).collect();
    let summary = if total == 1 { "1 entry".into() } else { format!("{total} entries") };
    Ok(ToolOutput { for_model: text, for_user: Block::Files(entries), summary, failed: false })
}
