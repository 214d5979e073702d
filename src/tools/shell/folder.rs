//! The folder that commands and relative paths start in: a `cd` of a command that succeeded stays in force for those that come.
//!
//! - Only inside the project: whoever leaves it is back in the project's folder with the next call.
//! - The shell itself tells where it ended, when it exits by itself; what the line says is not guessed at. A line that sets a trap of its
//!   own, or becomes another program, tells nothing, and nothing changes.

use crate::tools::Workspace;
use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

/// Longer paths are no folders.
const LONGEST: u64 = 4096;
const VARIABLE: &str = "BACKSTITCH_FOLDER";

/// Where a shell that may change its folder is to write it down.
pub struct Told(NamedTempFile);

/// What became of the folder.
#[derive(Debug, PartialEq, Eq)]
pub enum Moved {
    Stayed,
    To(PathBuf),
    /// Out of the project, so back to the project's own.
    Left(PathBuf),
}

impl Told {
    /// For a line that may change it; another line runs as it is.
    pub fn for_line(line: &str, workspace: &Workspace) -> Option<Told> {
        let may = ["cd", "pushd", "popd"].iter().any(|word| line.contains(word));
        // Of another shell nothing is known, not even how it is told this.
        let known = workspace.shell().strange().is_none();
        if may && known { NamedTempFile::new().ok().map(Told) } else { None }
    }

    /// The line, and the variable that it needs. On the same row, so that a mistake in it is told at its own.
    pub fn with(&self, line: &str) -> (String, (&'static str, &Path)) {
        (format!("trap '{{ pwd -P >|\"${VARIABLE}\"; }} 2>/dev/null' EXIT; {line}"), (VARIABLE, self.0.path()))
    }

    /// The command has succeeded: where it ended is where the next one starts.
    pub fn follow(self, workspace: &Workspace) -> Moved {
        let mut bytes = vec![];
        let file = fs::File::open(self.0.path());
        let read = file.and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes));
        let path = match read.ok().and(bytes.strip_suffix(b"\n")) {
            Some(path) if bytes.len() as u64 <= LONGEST => {
                PathBuf::from(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(path))
            }
            _ => return Moved::Stayed,
        };
        let Ok(path) = path.canonicalize() else { return Moved::Stayed };
        let inside = path.starts_with(workspace.root()) && path.is_dir();
        let to = if inside { path.clone() } else { workspace.root().to_path_buf() };
        let stays = to == workspace.cwd();
        workspace.set_cwd(to);
        match (inside, stays) {
            (false, _) => Moved::Left(path),
            (true, true) => Moved::Stayed,
            (true, false) => Moved::To(path),
        }
    }
}
