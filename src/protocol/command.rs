//! What the parts of a command line would touch, and the patterns by which the user allows them.

use serde::{Deserialize, Serialize};
use std::{fmt, path::PathBuf};

/// One simple command of a command line, wherever in it: in a chain, a substitution, a wrapper, a string given to `sh -c`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandPart {
    /// Where it stands in the command line, in bytes; what is inside a string is where the string is.
    pub at: (usize, usize),
    /// Program and arguments, if a pattern may speak for them: all literal, without assignments, redirections or wrapper.
    pub words: Vec<String>,
    /// Nothing at all: it only prints or computes.
    pub touches: Vec<Touch>,
    /// Program and arguments as far as they can be told, whatever stands around them; `None` for a word (or several) that can't.
    /// Only for what refuses: nothing is ever allowed by it.
    #[serde(default)]
    pub said: Vec<Option<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Touch {
    /// The contents of a file, or of what is in a folder.
    Reads(PathBuf),
    /// Names, sizes and dates.
    Lists(PathBuf),
    /// Reads by way of git, which does as the configuration of this folder's repository says.
    Repository(PathBuf),
    Writes(PathBuf),
    Deletes,
    Network,
    /// Builds, tests or starts what is in the project.
    Project,
    /// A program that nothing is known about.
    Program(String),
    /// What can't be known before it runs, and why.
    Unknown(String),
}

impl CommandPart {
    /// Does it change nothing? Whether it may read what it reads is another question.
    pub fn is_read(&self) -> bool {
        self.touches.iter().all(|t| matches!(t, Touch::Reads(_) | Touch::Lists(_)))
    }

    /// Is all that it does to files known, by path?
    pub fn is_certain(&self) -> bool {
        let named = self.touches.iter().any(|t| matches!(t, Touch::Writes(_)));
        // Its scripts may write elsewhere.
        let sed = self.said.first().is_some_and(|name| name.as_deref().is_none_or(|name| name.ends_with("sed"))) && !self.is_read();
        !sed && self.touches.iter().all(|t| match t {
            Touch::Reads(_) | Touch::Lists(_) | Touch::Writes(_) => true,
            Touch::Deletes => named,
            _ => false,
        })
    }
}

/// What stands in `Bash(…)`: the words of a simple command; `*` as the last one stands for any further words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandPattern {
    pub words: Vec<String>,
    pub open: bool,
}

impl fmt::Display for CommandPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.words.iter().map(|word| quoted(word)).collect();
        write!(f, "{}{}", words.join(" "), if self.open { " *" } else { "" })
    }
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./,:=@%+^".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.into() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}
