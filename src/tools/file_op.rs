//! `FileOp`: moves, copies and deletes files and folders, and makes folders. Never overwrites; what the call names is what it touches,
//! file by file, so that the checkpoint before it has all of them, ignored ones too.

mod tree;

use super::{RunContext, Tool, Workspace, args::Args, decode, registry, seen};
use crate::protocol::{Access, Basis, Block, PathState, Preview, ToolCall, ToolError, ToolOutput, ToolSpec};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::{
    fs, io,
    path::{Path, PathBuf},
};
use tree::{Entry, Kind};

#[derive(Debug)]
pub struct FileOp;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Move,
    Copy,
    Delete,
    Mkdir,
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Operation::Move => "move",
            Operation::Copy => "copy",
            Operation::Delete => "delete",
            Operation::Mkdir => "mkdir",
        }
    }
}

/// What a call would do, worked out but not done.
#[derive(Debug)]
struct Planned {
    operation: Operation,
    from: PathBuf,
    to: Option<PathBuf>,
    /// What is there, the thing itself first; nothing for a folder that is still to be made.
    entries: Vec<Entry>,
}

impl Tool for FileOp {
    fn spec(&self) -> ToolSpec {
        registry::spec(
            "FileOp",
            &["file_op"],
            include_str!("../../assets/tools/file_op.md"),
            json!({
                "operation": {"type": "string", "enum": ["move", "copy", "delete", "mkdir"]},
                "path": {"type": "string"},
                "destination": {"type": "string"},
            }),
            &["operation", "path"],
        )
    }

    fn preview(&self, args: &Value, workspace: &Workspace) -> Result<Preview, ToolError> {
        let planned = plan(args, workspace)?;
        let files = planned.entries.iter().map(|entry| (entry.path.clone(), entry.state())).collect();
        let basis = Basis { files, ..Basis::default() };
        let access = Access::Write(planned.touched());
        Ok(Preview { basis, ..Preview::new(access, planned.title(workspace), planned.block(workspace)) })
    }

    fn run<'a>(&'a self, call: &'a ToolCall, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let planned = plan(&call.args, cx.workspace)?;
            let now: Vec<(PathBuf, PathState)> = planned.entries.iter().map(|entry| (entry.path.clone(), entry.state())).collect();
            if !call.basis.files.is_empty() && call.basis.files != now {
                return Err(ToolError(format!(
                    "{} has changed since this call was shown; nothing was done. Look at it and try again.",
                    cx.workspace.shown(&planned.from)
                )));
            }
            planned.carry_out(cx)
        })
    }
}

fn plan(args: &Value, workspace: &Workspace) -> Result<Planned, ToolError> {
    let args = Args::new("FileOp", args)?;
    let operation = match args.filled("operation")?.trim().to_lowercase().as_str() {
        "move" | "rename" | "mv" => Operation::Move,
        "copy" | "cp" => Operation::Copy,
        "delete" | "remove" | "rm" => Operation::Delete,
        "mkdir" | "create_directory" => Operation::Mkdir,
        other => return Err(ToolError(format!("FileOp: `operation` is move, copy, delete or mkdir, not {other:?}."))),
    };
    let from = entry_at(args.filled("path")?, workspace)?;
    let shown = workspace.shown(&from);
    if operation == Operation::Mkdir {
        if from.symlink_metadata().is_ok() {
            return Err(ToolError(format!("{shown} exists already; nothing was done.")));
        }
        return Ok(Planned { operation, from, to: None, entries: vec![] });
    }
    if workspace.root().starts_with(&from) {
        return Err(ToolError(format!("{shown} is the project's folder, or one around it; nothing was done.")));
    }
    if from.symlink_metadata().is_err_and(|e| e.kind() == io::ErrorKind::NotFound) {
        return Err(ToolError(format!("{shown} does not exist.")));
    }
    let entries = tree::below(&from).map_err(|why| ToolError(format!("{shown}: {why}")))?;
    let to = match operation {
        Operation::Delete => None,
        _ => Some(destination(&args, &from, workspace)?),
    };
    Ok(Planned { operation, from, to, entries })
}

/// Where it goes: into a folder that is there, under its own name, else to the path itself.
fn destination(args: &Args, from: &Path, workspace: &Workspace) -> Result<PathBuf, ToolError> {
    let given = args.filled("destination")?;
    let named = entry_at(given, workspace);
    let folder = workspace.resolve(given);
    let to = match (from.file_name(), folder.is_dir()) {
        (Some(name), true) if named.as_ref().ok() != Some(&from.to_path_buf()) => folder.join(name),
        _ => named?,
    };
    let shown = workspace.shown(&to);
    if to.starts_with(from) && to != from {
        return Err(ToolError(format!("{shown} is within {}, so it can't go there; nothing was done.", workspace.shown(from))));
    }
    let same = || matches!((from.symlink_metadata(), to.symlink_metadata()), (Ok(a), Ok(b)) if tree::is_same(&a, &b));
    // Where letters of either case are the same, a name may change its letters.
    let only_case = to != from && to.to_string_lossy().to_lowercase() == from.to_string_lossy().to_lowercase();
    if to.symlink_metadata().is_ok() && !(only_case && same()) {
        return Err(ToolError(format!("{shown} exists already; nothing was done. Delete it first if it is to be replaced.")));
    }
    Ok(to)
}

/// The thing itself that a path names: of a link the link, not what it leads to.
fn entry_at(path: &str, workspace: &Workspace) -> Result<PathBuf, ToolError> {
    workspace.resolve_entry(path).ok_or_else(|| ToolError(format!("{path:?} names neither a file nor a folder.")))
}

impl Planned {
    /// Every file that is there now or will be; a folder only if it has none.
    fn touched(&self) -> Vec<PathBuf> {
        let files = || self.entries.iter().filter(|entry| entry.kind != Kind::Folder).map(|entry| entry.path.clone());
        let mut touched: Vec<PathBuf> = files().collect();
        if touched.is_empty() {
            touched.push(self.from.clone());
        }
        if let Some(to) = &self.to {
            let moved: Vec<PathBuf> = touched.iter().map(|path| self.moved(path, to)).collect();
            touched.extend(moved);
        }
        touched
    }

    fn moved(&self, path: &Path, to: &Path) -> PathBuf {
        match path.strip_prefix(&self.from) {
            Ok(rest) if !rest.as_os_str().is_empty() => to.join(rest),
            _ => to.into(),
        }
    }

    fn title(&self, workspace: &Workspace) -> String {
        let to = self.to.as_ref().map_or(String::new(), |to| format!(" → {}", workspace.titled(to)));
        format!("{} {}{to}", self.operation.name(), workspace.titled(&self.from))
    }

    /// File by file, where there are several.
    fn block(&self, workspace: &Workspace) -> Block {
        let files: Vec<&Entry> = self.entries.iter().filter(|entry| entry.kind != Kind::Folder).collect();
        let told = |entry: &&Entry| {
            let to = self.to.as_ref().map(|to| format!(" → {}", workspace.titled(&self.moved(&entry.path, to))));
            format!("{} {}{}\n", self.operation.name(), workspace.titled(&entry.path), to.unwrap_or_default())
        };
        match files.len() {
            0 | 1 => Block::Nothing,
            n => Block::Text((files.iter().map(told).collect::<String>() + &format!("{n} files")).as_str().into()),
        }
    }

    fn carry_out(&self, cx: &RunContext) -> Result<ToolOutput, ToolError> {
        let workspace = cx.workspace;
        let shown = workspace.shown(&self.from);
        let failed = |path: &Path, e: io::Error| decode::explain(&e, &workspace.shown(path));
        let files = self.entries.iter().filter(|entry| entry.kind != Kind::Folder).count();
        let what = if self.entries.first().is_some_and(|first| first.kind == Kind::Folder) {
            format!("the folder {shown} ({files} files)")
        } else {
            shown.clone()
        };
        if let Some(folder) = self.to.as_ref().and_then(|to| to.parent()) {
            fs::create_dir_all(folder).map_err(|e| failed(folder, e))?;
        }
        let told = match (self.operation, &self.to) {
            (Operation::Mkdir, _) => {
                fs::create_dir_all(&self.from).map_err(|e| failed(&self.from, e))?;
                format!("Made the folder {shown}.")
            }
            (Operation::Delete, _) => {
                self.delete(cx)?;
                format!("Deleted {what}.")
            }
            (Operation::Copy, Some(to)) => {
                self.copy(to, cx)?;
                format!("Copied {what} to {}.", workspace.shown(to))
            }
            (Operation::Move, Some(to)) => {
                match tree::rename(&self.from, to) {
                    Ok(()) => {}
                    // To another disk.
                    Err(e) if e.kind() == io::ErrorKind::CrossesDevices => {
                        self.copy(to, cx)?;
                        self.delete(cx)?;
                    }
                    Err(e) => return Err(failed(to, e)),
                }
                for entry in self.entries.iter().filter(|entry| entry.kind == Kind::File) {
                    workspace.seen.moved(&entry.path, &self.moved(&entry.path, to));
                }
                format!("Moved {what} to {}.", workspace.shown(to))
            }
            (Operation::Copy | Operation::Move, None) => return Err(ToolError::new("FileOp: `destination` is missing.")),
        };
        let summary = match self.operation {
            Operation::Mkdir => "made".into(),
            _ if files == 1 => "1 file".into(),
            _ => format!("{files} files"),
        };
        Ok(ToolOutput { for_model: told, for_user: Block::Nothing, summary, failed: false })
    }

    /// What was listed and nothing else: a folder that has got something new stays, with it.
    fn delete(&self, cx: &RunContext) -> Result<(), ToolError> {
        for entry in self.entries.iter().rev() {
            cx.cancel.check()?;
            let done = if entry.kind == Kind::Folder { fs::remove_dir(&entry.path) } else { fs::remove_file(&entry.path) };
            done.map_err(|e| decode::explain(&e, &cx.workspace.shown(&entry.path)))?;
        }
        Ok(())
    }

    fn copy(&self, to: &Path, cx: &RunContext) -> Result<(), ToolError> {
        for entry in &self.entries {
            cx.cancel.check()?;
            let target = self.moved(&entry.path, to);
            entry.copy(&target).map_err(|e| decode::explain(&e, &cx.workspace.shown(&target)))?;
            if entry.kind == Kind::File {
                cx.workspace.seen.copied(&entry.path, &target);
            }
        }
        // Last, or a folder that may not be written could not be filled.
        for entry in self.entries.iter().rev().filter(|entry| entry.kind == Kind::Folder) {
            let target = self.moved(&entry.path, to);
            if let Ok(meta) = fs::metadata(&entry.path) {
                fs::set_permissions(&target, meta.permissions()).map_err(|e| decode::explain(&e, &cx.workspace.shown(&target)))?;
            }
        }
        Ok(())
    }
}

impl Entry {
    /// As far as it matters whether it is still the same: the contents of a file, the target of a link.
    fn state(&self) -> PathState {
        match self.kind {
            Kind::Folder => seen::state(Some(b"")),
            Kind::Link => seen::state(fs::read_link(&self.path).ok().map(|to| to.into_os_string().into_encoded_bytes()).as_deref()),
            Kind::File => tree::digest(&self.path).map_or(PathState::Missing, PathState::Contents),
        }
    }
}
