//! Rules by which calls are allowed, asked about or refused: as they are written, with where they come from.

use super::Grant;
use serde::{Deserialize, Serialize};
use std::{fmt, path::PathBuf};

/// The strictest last; it wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ruling {
    Allow,
    Ask,
    Deny,
}

impl Ruling {
    pub const ALL: [Ruling; 3] = [Ruling::Allow, Ruling::Ask, Ruling::Deny];

    pub fn name(self) -> &'static str {
        match self {
            Ruling::Allow => "allow",
            Ruling::Ask => "ask",
            Ruling::Deny => "deny",
        }
    }

    pub fn from_name(name: &str) -> Option<Ruling> {
        Ruling::ALL.into_iter().find(|ruling| ruling.name() == name)
    }
}

/// Who made a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleSource {
    /// The command line.
    Flags,
    /// The user's configuration.
    User,
    /// The user, for this project: kept in the data folder, where nothing of the project can reach it.
    Local,
    /// The project's own configuration.
    Project,
    /// The user, until the session ends.
    Session,
}

impl RuleSource {
    pub fn name(self) -> &'static str {
        match self {
            RuleSource::Flags => "command line",
            RuleSource::User => "user",
            RuleSource::Local => "you, this project",
            RuleSource::Project => "project",
            RuleSource::Session => "session",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Rule {
    pub ruling: Ruling,
    pub source: RuleSource,
    /// `Bash(cargo test *)`, `Edit(src/**)`, `WebFetch(domain:docs.rs)`, a tool's name.
    pub text: String,
    /// Where the beginning of its path leads that has no `*` in it: links followed, `~` known. Looked up by whoever may look.
    #[serde(default)]
    pub leads: Option<PathBuf>,
}

impl Rule {
    pub fn new(ruling: Ruling, source: RuleSource, text: impl Into<String>) -> Rule {
        Rule { ruling, source, text: text.into(), leads: None }
    }

    /// Do they say the same, wherever they come from?
    pub fn says(&self, other: &Rule) -> bool {
        self.ruling == other.ruling && self.text == other.text
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.ruling.name(), self.text)
    }
}

/// What is done about rules while a session runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Permit {
    List,
    /// For this session; what is kept longer is written down by whoever asks for it.
    Add(Rule),
    Remove(Rule),
    /// Takes back what was allowed for this session.
    Revoke(Grant),
    /// What would become of this: a command, or `Edit path`, `View path`, `WebFetch host`.
    Try(String),
}

/// Which tools a model is told of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolProfile {
    /// By the size of the model, as far as its name tells.
    #[default]
    Auto,
    Full,
    Minimal,
    Nano,
}

impl ToolProfile {
    pub const ALL: [ToolProfile; 4] = [ToolProfile::Auto, ToolProfile::Full, ToolProfile::Minimal, ToolProfile::Nano];

    pub fn name(self) -> &'static str {
        match self {
            ToolProfile::Auto => "auto",
            ToolProfile::Full => "full",
            ToolProfile::Minimal => "minimal",
            ToolProfile::Nano => "nano",
        }
    }

    pub fn from_name(name: &str) -> Option<ToolProfile> {
        ToolProfile::ALL.into_iter().find(|profile| profile.name() == name)
    }
}
