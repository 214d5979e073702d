//! `apply_patch`: changes several files by a patch, all or none. Not offered to models; for those that were trained on it.

mod grammar;

use super::{
    RunContext, Tool, Workspace,
    args::Args,
    decode::{self, Encoding},
    edit::{self, Step},
    registry,
    write::{self, Change},
};
use crate::atomic::Spot;
use crate::protocol::{Preview, ToolCall, ToolError, ToolOutput, ToolSpec};
use futures::future::BoxFuture;
use grammar::{Hunk, Part};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub struct Patch;

impl Tool for Patch {
    fn spec(&self) -> ToolSpec {
        registry::spec(
            "apply_patch",
            &["ApplyPatch", "replace_in_file"],
            include_str!("../../assets/tools/patch.md"),
            json!({"patch": {"type": "string"}}),
            &["patch"],
        )
    }

    fn offered(&self) -> bool {
        false
    }

    fn also_takes(&self) -> Value {
        json!({"properties": {"path": {"type": "string"}}})
    }

    fn preview(&self, args: &Value, workspace: &Workspace) -> Result<Preview, ToolError> {
        Ok(write::preview(&plan(args, workspace)?, workspace))
    }

    fn run<'a>(&'a self, call: &'a ToolCall, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let changes = plan(&call.args, cx.workspace).map_err(|error| write::stale(call, error, cx.workspace))?;
            write::make(&changes, call, cx.workspace)
        })
    }
}

fn plan(args: &Value, workspace: &Workspace) -> Result<Vec<Change>, ToolError> {
    let args = Args::new("apply_patch", args)?;
    let mut changes: Vec<Change> = vec![];
    for part in grammar::parse(args.filled("patch")?, args.opt_text("path")?)? {
        for change in planned(part, workspace)? {
            if changes.iter().any(|earlier| earlier.path == change.path) {
                let shown = workspace.shown(&change.path);
                return Err(ToolError(format!("apply_patch: {shown} is in the patch twice; nothing was changed. Put its hunks together.")));
            }
            changes.push(change);
        }
    }
    Ok(changes)
}

fn planned(part: Part, workspace: &Workspace) -> Result<Vec<Change>, ToolError> {
    Ok(match part {
        Part::Add { path, content } => {
            let path = workspace.resolve(&path);
            absent(&path, workspace)?;
            vec![Change { path, new: Some(content.into_bytes()), ..Change::default() }]
        }
        Part::Delete { path } => {
            let (path, old) = present(&path, workspace)?;
            vec![Change { path, old: Some(old), ..Change::default() }]
        }
        Part::Update { path, to, hunks } => {
            let (path, old) = present(&path, workspace)?;
            let new = Some(patched(&old, &hunks, &workspace.shown(&path))?);
            match to.map(|to| workspace.resolve(&to)).filter(|to| *to != path) {
                None => vec![Change { path, old: Some(old), new, ..Change::default() }],
                Some(to) => {
                    absent(&to, workspace)?;
                    let bits = Spot::of(&path).and_then(|spot| spot.stat()).ok().flatten().map(|stat| stat.st_mode & 0o7777);
                    let moved = Change { path: to, new, bits, ..Change::default() };
                    vec![moved, Change { path, old: Some(old), ..Change::default() }]
                }
            }
        }
    })
}

fn present(path: &str, workspace: &Workspace) -> Result<(PathBuf, Vec<u8>), ToolError> {
    let path = workspace.resolve(path);
    let shown = workspace.shown(&path);
    let Some(old) = decode::read(&path, &shown, write::LARGEST)? else {
        return Err(ToolError(format!("apply_patch: {shown} does not exist; nothing was changed.")));
    };
    workspace.seen.check(&path, &old, workspace)?;
    Ok((path, old))
}

fn absent(path: &Path, workspace: &Workspace) -> Result<(), ToolError> {
    match path.symlink_metadata() {
        Err(_) => Ok(()),
        Ok(_) => Err(ToolError(format!("apply_patch: {} exists already; nothing was changed.", workspace.shown(path)))),
    }
}

/// Without what a file's encoding puts around its text, and with it again.
fn patched(old: &[u8], hunks: &[Hunk], shown: &str) -> Result<Vec<u8>, ToolError> {
    match decode::detect(old) {
        Encoding::Utf16 { big_endian } => {
            let text = decode::utf16(old, big_endian)
                .ok_or_else(|| ToolError(format!("{shown} is not valid UTF-16 and can't be edited without damage.")))?;
            let bytes = by_hunks(text.as_bytes(), hunks, shown)?;
            Ok(decode::to_utf16(&String::from_utf8_lossy(&bytes), big_endian))
        }
        _ => match old.strip_prefix(decode::BOM) {
            Some(text) => Ok([decode::BOM, &by_hunks(text, hunks, shown)?].concat()),
            None => by_hunks(old, hunks, shown),
        },
    }
}

/// Hunk by hunk, each after the one before, unless it may be anywhere.
fn by_hunks(old: &[u8], hunks: &[Hunk], shown: &str) -> Result<Vec<u8>, ToolError> {
    let (mut done, mut rest) = (vec![], old.to_vec());
    for (n, hunk) in (1..).zip(hunks) {
        let wrong = |why: String| ToolError(format!("Hunk {n} of {} for {shown}: {why}", hunks.len()));
        if hunk.anywhere {
            done.append(&mut rest);
            rest = std::mem::take(&mut done);
        }
        let start = after(&rest, &hunk.after).ok_or_else(|| wrong(format!("{:?} was not found; nothing was changed.", hunk.after)))?;
        let tail = rest.split_off(start);
        done.append(&mut rest);
        rest = replaced(tail.clone(), hunk, shown).map_err(|error| wrong(error.0))?;
        // What has been changed is not looked at again; what follows it may be the context of the next hunk.
        let same_end = rest.iter().rev().zip(tail.iter().rev()).take_while(|(a, b)| a == b).count();
        let changed = rest.len() - same_end;
        let passed = rest[..changed].iter().rposition(|b| *b == b'\n').map_or(0, |end| end + 1);
        done.extend(rest.drain(..passed));
    }
    done.append(&mut rest);
    Ok(done)
}

fn replaced(tail: Vec<u8>, hunk: &Hunk, shown: &str) -> Result<Vec<u8>, ToolError> {
    if hunk.old.is_empty() {
        // Nothing to find: it is added where the headers lead to, or at the end.
        let new = hunk.new.as_bytes();
        if !hunk.after.is_empty() {
            return Ok([new, &tail].concat());
        }
        let gap: &[u8] = if tail.is_empty() || tail.ends_with(b"\n") { b"" } else { b"\n" };
        return Ok([&tail, gap, new].concat());
    }
    let step = Step { old: &hunk.old, new: &hunk.new, expected: Some(1) };
    let unended = !tail.ends_with(b"\n");
    match edit::apply(Some(tail.clone()), &step, shown) {
        Ok((bytes, _)) => Ok(bytes),
        // The last line of a file may have no end; a patch can't say so.
        Err(error) if unended => {
            let (old, new) = (hunk.old.trim_end_matches('\n'), hunk.new.strip_suffix('\n').unwrap_or(&hunk.new));
            edit::apply(Some(tail), &Step { old, new, expected: Some(1) }, shown).map(|(bytes, _)| bytes).map_err(|_| error)
        }
        Err(error) => Err(error),
    }
}

/// The end of the line that is last named, each looked for after the one before.
fn after(text: &[u8], names: &[String]) -> Option<usize> {
    names.iter().try_fold(0, |from, name| {
        let at = from + find_line(&text[from..], name)?;
        Some(text[at..].iter().position(|b| *b == b'\n').map_or(text.len(), |end| at + end + 1))
    })
}

/// Where the line begins that is this one, but for blanks around it.
fn find_line(text: &[u8], wanted: &str) -> Option<usize> {
    let mut at = 0;
    text.split_inclusive(|b| *b == b'\n').find_map(|line| {
        at += line.len();
        (line.trim_ascii() == wanted.trim().as_bytes()).then_some(at - line.len())
    })
}
