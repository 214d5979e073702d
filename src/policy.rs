//! **Pure**: what rules say about a call. One meaning of patterns for settings, sessions and the command line.
//!
//! - Who refuses is understood widely (any case, any link, whatever is below), who allows narrowly.
//! - What can't be told asks; a rule that is not understood asks about everything.
//! - More rules that ask or refuse never make anything more permitted (property tests in `policy/tests.rs`).

mod hosts;
mod parse;
mod paths;

pub use parse::{Mistake, check, literal_beginning, split};

use crate::{
    command_line::{self, Speaks},
    protocol::{Access, CommandPart, Rule, Ruling, Touch, is_own_file},
};
use parse::What;
use std::path::{Path, PathBuf};

/// What rules that ask or refuse say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Limit {
    /// With the reason, for the model and the user.
    Denied(String),
    Asks(String),
    /// What the call does can't be seen, and there is a rule that it might touch: it runs only if it is allowed by name.
    Unseen(String),
}

/// A call as rules see it.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The tool's own name.
    pub tool: &'a str,
    pub access: &'a Access,
    /// Names by which its paths were reached, where links stood in between.
    pub named: &'a [PathBuf],
}

#[derive(Debug, Clone, Default)]
pub struct Policy {
    rules: Vec<Known>,
}

#[derive(Debug, Clone)]
struct Known {
    rule: Rule,
    /// `None`: it is not understood.
    what: Option<What>,
}

/// How far a rule reaches.
enum Reach {
    No,
    Unseen,
    Perhaps(String),
    Yes(String),
}

impl Policy {
    pub fn new<'a>(rules: impl IntoIterator<Item = &'a Rule>, root: &Path) -> Policy {
        let known = |rule: &Rule| Known { rule: rule.clone(), what: parse::parse(rule, root).ok() };
        Policy { rules: rules.into_iter().map(known).collect() }
    }

    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().map(|known| &known.rule)
    }

    fn of(&self, ruling: Ruling) -> impl Iterator<Item = &Known> {
        self.rules.iter().filter(move |known| known.rule.ruling == ruling)
    }

    /// What keeps the call from running unasked; the strictest.
    pub fn limit(&self, asked: &Asked) -> Option<Limit> {
        let (mut asks, mut unseen) = (None, None);
        for known in self.of(Ruling::Deny).chain(self.of(Ruling::Ask)) {
            let told = |of: &str| format!("the rule `{}` ({}) {of}", known.rule, known.rule.source.name());
            let Some(what) = &known.what else {
                asks.get_or_insert_with(|| Limit::Asks(told("is not understood")));
                continue;
            };
            match what.reach(asked) {
                Reach::No => {}
                Reach::Unseen => drop(unseen.get_or_insert_with(|| Limit::Unseen(told("may be broken by what can't be seen")))),
                Reach::Yes(of) if known.rule.ruling == Ruling::Deny => return Some(Limit::Denied(told(&format!("forbids {of}")))),
                Reach::Yes(of) => drop(asks.get_or_insert_with(|| Limit::Asks(told(&format!("asks about {of}"))))),
                Reach::Perhaps(of) => drop(asks.get_or_insert_with(|| Limit::Asks(told(&format!("may be about {of}"))))),
            }
        }
        asks.or(unseen)
    }

    /// Is this path kept from whoever reads folders as a whole?
    pub fn hides(&self, path: &Path) -> bool {
        let strict = self.of(Ruling::Deny).chain(self.of(Ruling::Ask));
        strict.filter_map(|known| known.what.as_ref()).any(|what| matches!(what, What::Read(Some(paths)) if paths.covers_widely(path)))
    }

    /// Is this path kept from whoever writes?
    pub fn keeps(&self, path: &Path) -> bool {
        let strict = self.of(Ruling::Deny).chain(self.of(Ruling::Ask));
        strict.filter_map(|known| known.what.as_ref()).any(|what| matches!(what, What::Write(Some(paths)) if paths.covers_widely(path)))
    }

    /// Are there rules about paths that must not be read, or written?
    pub fn guards(&self, write: bool) -> bool {
        let strict = self.of(Ruling::Deny).chain(self.of(Ruling::Ask));
        strict.filter_map(|known| known.what.as_ref()).any(|what| match what {
            What::Read(_) => !write,
            What::Write(_) => write,
            _ => false,
        })
    }

    fn allowing(&self) -> impl Iterator<Item = &What> {
        self.of(Ruling::Allow).filter_map(|known| known.what.as_ref())
    }

    pub fn allows_read(&self, path: &Path, root: &Path) -> bool {
        let secret = command_line::is_secret(path);
        self.allowing().any(|what| match what {
            What::Read(None) => path.starts_with(root) && !secret,
            What::Read(Some(paths)) => paths.covers(path) && (!secret || paths.ends_plainly()),
            _ => false,
        })
    }

    pub fn allows_write(&self, path: &Path, root: &Path) -> bool {
        let (own, secret) = (is_own_file(root, path), command_line::is_secret(path));
        self.allowing().any(|what| match what {
            What::Write(None) => own,
            // What steers git or us has to be named.
            What::Write(Some(paths)) => {
                paths.covers(path) && (own || !path.starts_with(root) || paths.is_plain()) && (!secret || paths.ends_plainly())
            }
            _ => false,
        })
    }

    /// Only what has words of its own, all of them known.
    pub fn allows_part(&self, part: &CommandPart) -> bool {
        self.allowing().any(|what| match what {
            What::Commands(None) => !part.words.is_empty(),
            What::Commands(Some(patterns)) => patterns.iter().any(|pattern| command_line::covers(pattern, part)),
            _ => false,
        })
    }

    pub fn allows_host(&self, host: &str) -> bool {
        self.allowing().any(|what| match what {
            What::Host(None) => true,
            What::Host(Some(hosts)) => hosts.covers(host),
            _ => false,
        })
    }

    /// By its very name: for tools whose reach is not told by paths, commands or hosts.
    pub fn allows_tool(&self, tool: &str) -> bool {
        self.allowing().any(|what| matches!(what, What::Tool(name) if name.allows && name.is(tool, true)))
    }
}

impl What {
    fn reach(&self, asked: &Asked) -> Reach {
        let parts = match asked.access {
            Access::Run { parts, .. } => &parts[..],
            _ => &[],
        };
        let run = matches!(asked.access, Access::Run { .. });
        let unseen = run && (parts.is_empty() || parts.iter().any(|part| !part.is_certain()));
        let found = match self {
            What::Tool(name) => return if name.is(asked.tool, false) { Reach::Yes(asked.tool.into()) } else { Reach::No },
            What::Commands(None) => return if run { Reach::Yes("every command".into()) } else { Reach::No },
            What::Commands(Some(patterns)) => return commands(patterns, parts, run),
            What::Host(hosts) => match asked.access {
                Access::Network { host } if hosts.as_ref().is_none_or(|hosts| hosts.covers_widely(host)) => Some(Reach::Yes(host.clone())),
                _ => None,
            },
            What::Read(paths) => {
                let read: Vec<&PathBuf> = match asked.access {
                    Access::Read(read) => read.iter().chain(asked.named).collect(),
                    // What is copied or moved can be read where it is then.
                    Access::Write(written) if asked.tool == "FileOp" => written.iter().chain(asked.named).collect(),
                    Access::Run { .. } => touched(parts, |t| match t {
                        Touch::Reads(path) | Touch::Lists(path) | Touch::Repository(path) => Some(path),
                        _ => None,
                    })
                    .chain(asked.named)
                    .collect(),
                    _ => vec![],
                };
                paths_reach(paths.as_ref(), &read, false)
            }
            What::Write(paths) => {
                let written: Vec<&PathBuf> = match asked.access {
                    Access::Write(written) => written.iter().chain(asked.named).collect(),
                    Access::Run { .. } if asked.access.changes_nothing() => vec![],
                    Access::Run { .. } => {
                        touched(parts, |t| if let Touch::Writes(path) = t { Some(path) } else { None }).chain(asked.named).collect()
                    }
                    _ => vec![],
                };
                paths_reach(paths.as_ref(), &written, true)
            }
        };
        found.unwrap_or(if unseen { Reach::Unseen } else { Reach::No })
    }
}

fn touched<'a>(parts: &'a [CommandPart], path: impl Fn(&'a Touch) -> Option<&'a PathBuf> + 'a) -> impl Iterator<Item = &'a PathBuf> {
    parts.iter().flat_map(|part| &part.touches).filter_map(path)
}

fn paths_reach(rule: Option<&paths::Paths>, touched: &[&PathBuf], write: bool) -> Option<Reach> {
    let covered = touched.iter().find(|path| rule.is_none_or(|rule| rule.covers_widely(path)));
    if let Some(path) = covered {
        return Some(Reach::Yes(path.display().to_string()));
    }
    // A folder that is taken away or put somewhere else takes with it what is in it.
    let around = touched.iter().find(|path| write && rule.is_some_and(|rule| rule.is_within(path)));
    around.map(|path| Reach::Perhaps(path.display().to_string()))
}

fn commands(patterns: &[crate::protocol::CommandPattern], parts: &[CommandPart], run: bool) -> Reach {
    if !run {
        return Reach::No;
    }
    if parts.is_empty() {
        return Reach::Unseen;
    }
    let mut reach = Reach::No;
    for part in parts {
        for pattern in patterns {
            match command_line::speaks_of(pattern, part) {
                Speaks::Yes => return Reach::Yes(format!("`{pattern}`")),
                Speaks::Perhaps => reach = Reach::Perhaps(format!("`{pattern}`")),
                Speaks::No => {}
            }
        }
    }
    reach
}

#[cfg(test)]
mod tests;
