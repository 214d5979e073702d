//! What a tool shows: tools describe, front ends draw. A new tool needs no drawing code.

use super::{Image, SharedText, lossy};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Block {
    Nothing,
    Text(SharedText),
    Markdown(SharedText),
    /// `first_line` counts from 1.
    Code {
        #[serde(with = "lossy::path")]
        path: PathBuf,
        first_line: usize,
        text: SharedText,
    },
    Diff(Vec<FileChange>),
    Command {
        command: SharedText,
        #[serde(with = "lossy::path")]
        directory: PathBuf,
    },
    /// Output of a command; `status` is `None` while it runs.
    Terminal {
        output: SharedText,
        status: Option<i32>,
    },
    Files(Vec<FileEntry>),
    Hits(Vec<Hit>),
    Todo(Vec<TodoItem>),
    /// For the model too, if it sees any.
    Image(Box<Image>),
}

impl Block {
    /// Bytes of text in it.
    pub fn weight(&self) -> usize {
        match self {
            Block::Nothing => 0,
            Block::Text(text) | Block::Markdown(text) | Block::Code { text, .. } => text.len(),
            Block::Diff(files) => files.iter().flat_map(|file| [&file.old, &file.new]).flatten().map(|text| text.len()).sum(),
            Block::Command { command, .. } => command.len(),
            Block::Terminal { output, .. } => output.len(),
            Block::Files(files) => files.iter().map(|file| file.path.as_os_str().len()).sum(),
            Block::Hits(hits) => hits.iter().map(|hit| hit.path.as_os_str().len() + hit.text.len()).sum(),
            Block::Image(image) => image.data.len(),
            Block::Todo(items) => items.iter().map(|item| item.content.len()).sum(),
        }
    }
}

/// A step of the model's list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoItem {
    pub content: String,
    pub state: TodoState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TodoState {
    Pending,
    InProgress,
    Completed,
}

impl TodoState {
    pub const ALL: [TodoState; 3] = [TodoState::Pending, TodoState::InProgress, TodoState::Completed];

    pub fn name(self) -> &'static str {
        match self {
            TodoState::Pending => "pending",
            TodoState::InProgress => "in_progress",
            TodoState::Completed => "completed",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase().replace(['-', ' '], "_");
        match name.as_str() {
            "done" | "complete" => Some(TodoState::Completed),
            "todo" | "open" => Some(TodoState::Pending),
            "active" | "doing" => Some(TodoState::InProgress),
            name => Self::ALL.into_iter().find(|state| state.name() == name),
        }
    }
}

/// One file before and after. `None` = the file does not exist on that side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileChange {
    #[serde(with = "lossy::path")]
    pub path: PathBuf,
    pub old: Option<SharedText>,
    pub new: Option<SharedText>,
    /// Contents are not text: only named, never shown.
    pub binary: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    #[serde(with = "lossy::path")]
    pub path: PathBuf,
    pub folder: bool,
}

/// One line found by a search; `line` counts from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    #[serde(with = "lossy::path")]
    pub path: PathBuf,
    pub line: u64,
    pub text: String,
}
