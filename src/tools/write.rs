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
#[derive(Debug)]
pub struct Change {
    pub path: PathBuf,
    pub old: Option<Vec<u8>>,
    pub new: Vec<u8>,
    /// What the model should know beyond "done".
    pub remark: String,
}

impl Change {
    pub fn preview(&self, workspace: &Workspace) -> Preview {
        Preview {
            access: Access::Write(vec![self.path.clone()]),
            title: workspace.shown(&self.path),
            block: self.block(workspace),
            basis: Basis(vec![(self.path.clone(), state(self.old.as_deref()))]),
        }
    }

    /// Makes it, provided that the file is as it was when the call was previewed.
    pub fn make(&self, call: &ToolCall, workspace: &Workspace) -> Result<ToolOutput, ToolError> {
        let shown = workspace.shown(&self.path);
        check(call, &self.path, self.old.as_deref(), &shown)?;
        let (added, removed) = count(&text(self.old.as_deref().unwrap_or_default()), &text(&self.new));
        let summary = format!("+{added} −{removed}");
        let mut for_model = if self.old.is_some() { format!("Changed {shown} ({summary}).") } else { format!("Created {shown}.") };
        if self.old.as_deref() == Some(&self.new) {
            for_model = format!("{shown} already has exactly this content; nothing was changed.");
        } else {
            let written = store(&self.path, &self.new, &shown, self.old.is_none())?;
            if written.in_place {
                for_model.push_str(" It could not be replaced as a whole, so it was overwritten in place.");
            }
            if written.other_links > 0 {
                for_model.push_str(" It had other hard links, which keep the old content.");
            }
        }
        workspace.seen.note(&self.path, &self.new);
        for_model.push_str(&self.remark);
        Ok(ToolOutput { for_model, for_user: self.block(workspace), summary, failed: false })
    }

    fn block(&self, workspace: &Workspace) -> Block {
        // What is written came as text, whatever it has in it: it is always shown. What was there before may be none.
        let side = |bytes: &[u8]| if decode::detect(bytes) == decode::Encoding::Binary { "".into() } else { text(bytes).into() };
        Block::Diff(vec![FileChange {
            path: workspace.relative(&self.path),
            old: self.old.as_deref().map(side),
            new: Some(text(&self.new).into()),
            binary: false,
        }])
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
        call.basis.0.iter().any(|(path, seen)| matches!(decode::read(path, "", LARGEST), Ok(now) if state(now.as_deref()) != *seen));
    if changed { ToolError(format!("The file has changed since this call was shown; nothing was written. {error}")) } else { error }
}

/// A call without a basis was not previewed, and its caller takes the file as it is.
fn check(call: &ToolCall, path: &Path, now: Option<&[u8]>, shown: &str) -> Result<(), ToolError> {
    if call.basis.0.is_empty() {
        return Ok(());
    }
    match call.basis.0.iter().find(|(p, _)| p == path) {
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
