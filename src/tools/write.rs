//! What the tools that change files share: the state that a preview saw, the diff, and the write itself.

use super::{Workspace, decode};
use crate::{
    atomic,
    protocol::{Access, Basis, Block, FileChange, Preview, ToolCall, ToolError, ToolOutput},
};
use similar::{ChangeTag, TextDiff};
use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

pub use super::seen::{LARGEST, state};

/// A change of one file, worked out but not made.
#[derive(Debug, Default)]
pub struct Change {
    pub path: PathBuf,
    pub old: Option<Vec<u8>>,
    /// `None`: it is deleted.
    pub new: Option<Vec<u8>>,
    /// The file that it was moved from: it has the same permissions.
    pub like: Option<PathBuf>,
    /// What the model should know beyond "done".
    pub remark: String,
}

/// What a call with these changes would do.
pub fn preview(changes: &[Change], workspace: &Workspace) -> Preview {
    let access = Access::Write(changes.iter().map(|change| change.path.clone()).collect());
    let title = changes.iter().map(|change| workspace.titled(&change.path)).collect::<Vec<_>>().join(", ");
    Preview {
        basis: Basis {
            files: changes.iter().map(|change| (change.path.clone(), state(change.old.as_deref()))).collect(),
            ..Basis::default()
        },
        ..Preview::new(access, title, block(changes, workspace))
    }
}

/// Makes them, provided that the files are as they were when the call was previewed.
pub fn make(changes: &[Change], call: &ToolCall, workspace: &Workspace) -> Result<ToolOutput, ToolError> {
    for change in changes {
        check(call, &change.path, change.old.as_deref(), &workspace.shown(&change.path))?;
    }
    let (mut told, mut added, mut removed) = (vec![], 0, 0);
    for change in changes {
        let counts = change.count();
        (added, removed) = (added + counts.0, removed + counts.1);
        match change.make(workspace, counts) {
            Ok(done) => told.push(done),
            Err(error) if told.is_empty() => return Err(error),
            Err(error) => return Err(ToolError(format!("{}\nThen: {error}", told.join("\n")))),
        }
    }
    Ok(ToolOutput {
        for_model: told.join("\n"),
        for_user: block(changes, workspace),
        summary: format!("+{added} −{removed}"),
        failed: false,
    })
}

fn block(changes: &[Change], workspace: &Workspace) -> Block {
    // What is written came as text, whatever it has in it: it is always shown. What was there before may be none.
    let side = |bytes: &[u8]| if decode::detect(bytes) == decode::Encoding::Binary { "".into() } else { text(bytes).into() };
    let file = |change: &Change| FileChange {
        path: workspace.relative(&change.path),
        old: change.old.as_deref().map(side),
        new: change.new.as_deref().map(|new| text(new).into()),
        binary: false,
    };
    Block::Diff(changes.iter().map(file).collect())
}

impl Change {
    /// Lines added and removed.
    fn count(&self) -> (usize, usize) {
        let text = |side: &Option<Vec<u8>>| text(side.as_deref().unwrap_or_default());
        count(&text(&self.old), &text(&self.new))
    }

    fn make(&self, workspace: &Workspace, (added, removed): (usize, usize)) -> Result<String, ToolError> {
        let shown = workspace.shown(&self.path);
        let failed = |e: std::io::Error| decode::explain(&e, &shown);
        let Some(new) = &self.new else {
            fs::remove_file(&self.path).map_err(failed)?;
            return Ok(format!("Deleted {shown}.{}", self.remark));
        };
        let mut told = if self.old.is_some() { format!("Changed {shown} (+{added} −{removed}).") } else { format!("Created {shown}.") };
        if self.old.as_ref() == Some(new) {
            told = format!("{shown} already has exactly this content; nothing was changed.");
        } else {
            let written = store(&self.path, new, &shown, self.old.is_none())?;
            if let Some(permissions) = self.like.as_ref().and_then(|like| fs::metadata(like).ok()).map(|meta| meta.permissions()) {
                fs::set_permissions(&self.path, permissions).map_err(failed)?;
            }
            if written.in_place {
                told.push_str(" It could not be replaced as a whole, so it was overwritten in place.");
            }
            if written.other_links > 0 {
                told.push_str(" It had other hard links, which keep the old content.");
            }
        }
        workspace.seen.note(&self.path, new);
        Ok(told + &self.remark)
    }
}

/// A file that can't be overwritten is not replaced behind the back of its permission bits.
fn store(path: &Path, contents: &[u8], shown: &str, create: bool) -> Result<atomic::Written, ToolError> {
    let failed = |e: std::io::Error| decode::explain(&e, shown);
    if create {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
    } else if rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_err() {
        return Err(ToolError(format!("{shown} is read-only.")));
    }
    atomic::write(path, contents, atomic::Options { durable: true, ..Default::default() }).map_err(failed)
}

/// If a file changed since its call was shown, that is the better reason.
pub fn stale(call: &ToolCall, error: ToolError) -> ToolError {
    let changed =
        call.basis.files.iter().any(|(path, seen)| matches!(decode::read(path, "", LARGEST), Ok(now) if state(now.as_deref()) != *seen));
    if changed { ToolError(format!("The file has changed since this call was shown; nothing was written. {error}")) } else { error }
}

/// A call without a basis was not previewed, and its caller takes the file as it is.
fn check(call: &ToolCall, path: &Path, now: Option<&[u8]>, shown: &str) -> Result<(), ToolError> {
    if call.basis.files.is_empty() {
        return Ok(());
    }
    match call.basis.files.iter().find(|(p, _)| p == path) {
        Some((_, seen)) if *seen == state(now) => Ok(()),
        Some(_) => Err(ToolError(format!("{shown} has changed since this call was shown; nothing was written. View it and try again."))),
        None => {
            Err(ToolError(format!("The path of this call leads to {shown} now, elsewhere than when it was shown; nothing was written.")))
        }
    }
}

/// For the diff: in whatever encoding, and never wrong about which lines changed.
pub fn text(bytes: &[u8]) -> String {
    if let decode::Encoding::Utf16 { big_endian } = decode::detect(bytes)
        && let Some(text) = decode::utf16(bytes, big_endian)
    {
        return text;
    }
    decode::show(bytes)
}

/// Lines added and removed.
pub fn count(old: &str, new: &str) -> (usize, usize) {
    let diff = TextDiff::configure().timeout(Duration::from_millis(300)).diff_lines(old, new);
    let of = |tag| diff.iter_all_changes().filter(|c| c.tag() == tag).count();
    (of(ChangeTag::Insert), of(ChangeTag::Delete))
}
