//! What a restore would do, before it is done.

use super::CheckpointId;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Which files are to be as they were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    pub to: CheckpointId,
    /// Only what happened up to that checkpoint: what changed after it is somebody else's work, and stays.
    pub since: Option<CheckpointId>,
    /// Only these files, and what is below these folders; relative to the root where they are inside. `None`: all.
    pub only: Option<Vec<PathBuf>>,
}

/// Exact: a restore by it does this and nothing else. A file that is no longer as it was when the plan was made is left alone and
/// reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub wanted: Wanted,
    /// Sorted by path.
    pub files: Vec<Planned>,
    /// Files that will not be as they were then, each with the reason.
    pub skipped: Vec<(PathBuf, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planned {
    /// Relative to the root where it is inside.
    pub path: PathBuf,
    pub now: Option<Version>,
    pub then: Option<Version>,
}

/// Contents and kind of a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Version {
    /// Git's object id of the contents, in hexadecimal.
    pub id: String,
    /// Git's mode: [`FILE`], [`PROGRAM`] or [`LINK`]; or 0o100000 with the file's own permission bits, where these allow less.
    pub mode: u32,
}

/// So begins the reason of a file that the checkpoint never had.
pub const NOT_KEPT: &str = "not in that checkpoint: ";

/// Git's modes.
pub const FILE: u32 = 0o100644;
pub const PROGRAM: u32 = 0o100755;
pub const LINK: u32 = 0o120000;

/// What git knows of a file's mode.
pub fn git_mode(mode: u32) -> u32 {
    match mode & 0o170000 {
        LINK => LINK,
        _ if mode & 0o100 != 0 => PROGRAM,
        _ => FILE,
    }
}

impl Version {
    pub fn git_mode(&self) -> u32 {
        git_mode(self.mode)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    Change,
    Delete,
    Recreate,
}

impl Planned {
    pub fn action(&self) -> Action {
        match (&self.now, &self.then) {
            (_, None) => Action::Delete,
            (None, _) => Action::Recreate,
            _ => Action::Change,
        }
    }
}

impl Plan {
    pub fn count(&self, action: Action) -> usize {
        self.files.iter().filter(|file| file.action() == action).count()
    }

    /// In numbers, without an end.
    pub fn summary(&self) -> String {
        let past = [(Action::Change, "changed"), (Action::Delete, "deleted"), (Action::Recreate, "recreated")];
        let numbers = past.iter().map(|(action, past)| (self.count(*action), past)).filter(|(n, _)| *n > 0);
        let mut numbers: Vec<String> = numbers.map(|(n, past)| format!("{n} {past}")).collect();
        if numbers.is_empty() {
            numbers.push("nothing to do".into());
        }
        if !self.skipped.is_empty() {
            numbers.push(format!("{} skipped", self.skipped.len()));
        }
        numbers.join(", ")
    }

    /// Does something stay that would have been walked back?
    pub fn is_partial(&self) -> bool {
        self.skipped.iter().any(|(_, why)| !why.starts_with(NOT_KEPT))
    }
}
