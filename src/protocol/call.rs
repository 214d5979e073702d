//! Tool calls: what a model may ask for, what it would touch, what was decided, what came of it.

use super::{Block, CallId, CommandPart, CommandPattern};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A tool as the model reads it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: String,
    /// Other names that models were trained to call it by.
    pub aliases: Vec<String>,
    pub description: String,
    /// JSON schema of the arguments.
    pub schema: Value,
}

/// A call as it is carried out: what was approved is what runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: CallId,
    pub name: String,
    pub args: Value,
    /// What the preview looked at; the run fails if it has changed since.
    pub basis: Basis,
}

/// What a preview depended on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    /// The state of every file.
    pub files: Vec<(PathBuf, PathState)>,
    /// Where commands and relative paths started, if somebody looked.
    #[serde(default)]
    pub folder: Option<PathBuf>,
    /// Outside the project: what a command was shown to write, so that it may.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opens: Vec<PathBuf>,
    /// It runs outside the sandbox: that was approved, or the user typed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outside: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PathState {
    Missing,
    /// SHA-256 of the contents.
    Contents([u8; 32]),
}

/// What a call touches: the only thing that approval decides on. Paths are absolute, with symbolic links resolved as far as
/// they exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Access {
    Read(Vec<PathBuf>),
    Write(Vec<PathBuf>),
    Run {
        command: String,
        /// Every simple command in it. Without any, nothing is known of it.
        #[serde(default)]
        parts: Vec<CommandPart>,
        /// Where it starts, if that is not the project's own folder.
        #[serde(default)]
        folder: Option<PathBuf>,
        /// Not in the sandbox that commands are kept in.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        outside: bool,
    },
    Network {
        host: String,
    },
    /// Nothing: the user is asked whether a plan is to be carried out, which ends plan mode.
    Plan,
    /// Nothing: the model asks the user.
    Question {
        options: Vec<String>,
    },
    /// A command of this session that runs in the background: what it prints is read, or it is ended.
    Job {
        id: String,
        end: bool,
    },
}

impl Access {
    /// Reads may run side by side; everything else has the workspace to itself.
    pub fn is_read(&self) -> bool {
        matches!(self, Access::Read(_) | Access::Job { end: false, .. })
    }

    /// Does it leave everything as it is? A command that only reads does, but has the workspace to itself all the same.
    pub fn changes_nothing(&self) -> bool {
        match self {
            Access::Read(_) | Access::Plan | Access::Question { .. } | Access::Job { end: false, .. } => true,
            Access::Run { parts, .. } => !parts.is_empty() && parts.iter().all(CommandPart::is_read),
            Access::Write(_) | Access::Network { .. } | Access::Job { end: true, .. } => false,
        }
    }
}

/// Names of files and folders that steer git or us: git runs its hooks, does as its configuration says, and no checkpoint has it; our
/// own settings hold the rules.
const STEERING: [&str; 3] = [".git", ".backstitch", "agents.config.json"];

/// Is this one of the project's own files? What steers git or us is not, nor is what makes any folder a repository, which git obeys too.
pub fn is_own_file(root: &Path, path: &Path) -> bool {
    let steers = |part: std::path::Component| STEERING.iter().any(|name| part.as_os_str().eq_ignore_ascii_case(name));
    let founds = path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("HEAD"));
    !founds && path.strip_prefix(root).is_ok_and(|inside| !inside.components().any(steers))
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Preview {
    pub access: Access,
    /// The argument that matters, for the tool line: a path, a command, a pattern.
    pub title: String,
    pub block: Block,
    pub basis: Basis,
    /// The tool's own name, whatever it was called by.
    #[serde(default)]
    pub tool: String,
    /// Names by which its paths were reached, where links stood in between: rules may be about these.
    #[serde(default)]
    pub named: Vec<PathBuf>,
}

impl Preview {
    pub fn new(access: Access, title: String, block: Block) -> Preview {
        Preview { access, title, block, basis: Basis::default(), tool: String::new(), named: vec![] }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Decision {
    Allow,
    /// Allows this and whatever the given grant covers until the session ends.
    AllowSession,
    /// Allows this, and until the session ends whatever these patterns cover.
    AllowCommands(Vec<CommandPattern>),
    Deny {
        reason: Option<String>,
    },
    /// Allows a part of a change to one file: this is what the file is to be. `note` tells the model what was refused.
    AllowPart {
        content: String,
        note: String,
    },
}

/// What the user allowed for the rest of the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Grant {
    /// Every write inside the project.
    Edits,
    /// This command, to the letter, in the project's own folder.
    Command(String),
    /// This command, to the letter, in this folder.
    CommandIn(PathBuf, String),
    /// This command, to the letter, outside the sandbox: in this folder, or in the project's own.
    Outside(Option<PathBuf>, String),
    /// Commands of which it covers every part that does more than read.
    Commands(CommandPattern),
    /// Reading below this path, outside the project.
    Read(PathBuf),
    /// Writing this file, outside the project.
    Write(PathBuf),
    Host(String),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Reads run, the rest asks.
    #[default]
    Normal,
    /// Edits inside the project run, the rest asks.
    AutoAccept,
    /// Nothing but reading is possible.
    Plan,
    /// Everything runs.
    Yolo,
}

impl Mode {
    pub const ALL: [Mode; 4] = [Mode::Normal, Mode::AutoAccept, Mode::Plan, Mode::Yolo];

    pub fn name(self) -> &'static str {
        match self {
            Mode::Normal => "normal",
            Mode::AutoAccept => "auto-accept",
            Mode::Plan => "plan",
            Mode::Yolo => "yolo",
        }
    }

    pub fn from_name(name: &str) -> Option<Mode> {
        Mode::ALL.into_iter().find(|m| m.name() == name)
    }
}

/// What a tool gives back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolOutput {
    pub for_model: String,
    pub for_user: Block,
    /// A few words for the right edge of the tool line: `+3 −1`, `6 matches`, `exit 0 · 1.4 s`.
    pub summary: String,
    /// The tool did its work, but what it ran failed (a command with exit code 1).
    pub failed: bool,
}

/// Why a call came to nothing: data for the model, in words that it can act on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{0}")]
pub struct ToolError(pub String);

impl ToolError {
    pub fn new(message: impl Into<String>) -> Self {
        ToolError(message.into())
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Outcome {
    Done(ToolOutput),
    Failed(String),
    Denied {
        reason: Option<String>,
    },
    /// The mode doesn't allow it, whatever the user might say.
    Forbidden(String),
    /// Stopped by the user; `output` is what there was by then.
    Interrupted {
        output: String,
    },
}

/// Bytes of a block that are kept on disk: a longer one is told by its summary.
const KEPT: usize = 256 << 10;

impl Outcome {
    /// As it is kept on disk: without what the model was told, which is a message of its own.
    pub fn kept(&self) -> Outcome {
        match self {
            Outcome::Done(output) => {
                let for_user = match &output.for_user {
                    // The message has its bytes.
                    Block::Image(image) => Block::Text(image.label.as_str().into()),
                    block if block.weight() <= KEPT => block.clone(),
                    _ => Block::Nothing,
                };
                Outcome::Done(ToolOutput { for_model: String::new(), for_user, ..output.clone() })
            }
            Outcome::Interrupted { output } if output.len() > KEPT => Outcome::Interrupted { output: String::new() },
            other => other.clone(),
        }
    }

    /// The tool result as the model reads it.
    pub fn for_model(&self) -> String {
        match self {
            Outcome::Done(output) => output.for_model.clone(),
            Outcome::Failed(why) => format!("Error: {why}"),
            Outcome::Forbidden(why) => format!("Not allowed: {why}"),
            Outcome::Denied { reason: Some(reason) } => format!("The user declined this call and said: {reason}"),
            Outcome::Denied { reason: None } => "The user declined this call. Do not repeat it; ask or choose another way.".into(),
            Outcome::Interrupted { output } if output.is_empty() => "Interrupted by the user before it finished.".into(),
            Outcome::Interrupted { output } => format!("{output}\nInterrupted by the user before it finished."),
        }
    }
}
