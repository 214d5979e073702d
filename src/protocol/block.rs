//! What a tool shows: tools describe, front ends draw. A new tool needs no drawing code.

use super::SharedText;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Block {
    Nothing,
    Text(SharedText),
    Markdown(SharedText),
    /// `first_line` counts from 1.
    Code {
        path: PathBuf,
        first_line: usize,
        text: SharedText,
    },
    Diff(Vec<FileChange>),
    Command {
        command: SharedText,
        directory: PathBuf,
    },
    /// Output of a command; `status` is `None` while it runs.
    Terminal {
        output: SharedText,
        status: Option<i32>,
    },
    Files(Vec<FileEntry>),
    Hits(Vec<Hit>),
}

/// One file before and after. `None` = the file does not exist on that side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileChange {
    pub path: PathBuf,
    pub old: Option<SharedText>,
    pub new: Option<SharedText>,
    /// Contents are not text: only named, never shown.
    pub binary: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    pub path: PathBuf,
    pub folder: bool,
}

/// One line found by a search; `line` counts from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    pub path: PathBuf,
    pub line: u64,
    pub text: String,
}
