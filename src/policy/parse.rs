//! Rules as they are written.

use super::{
    hosts::Hosts,
    paths::{self, Paths},
};
use crate::{
    command_line,
    failure::nearest,
    protocol::{CommandPattern, Rule, RuleSource, Ruling},
};
use std::path::Path;

/// What a rule is about. `None`: all of its kind.
#[derive(Debug, Clone)]
pub enum What {
    Commands(Option<Vec<CommandPattern>>),
    Read(Option<Paths>),
    Write(Option<Paths>),
    Host(Option<Hosts>),
    Tool(Tool),
}

#[derive(Debug, Clone)]
pub struct Tool {
    name: String,
    /// `mcp__server` stands for all of the server's.
    open: bool,
    /// May a rule let it run, whatever it does? Not what paths, commands or hosts tell.
    pub allows: bool,
}

impl Tool {
    pub fn is(&self, tool: &str, exactly: bool) -> bool {
        let (tool, name) = if exactly { (tool.to_owned(), self.name.clone()) } else { (tool.to_lowercase(), self.name.to_lowercase()) };
        tool == name || self.open && tool.strip_prefix(&name).is_some_and(|rest| rest.starts_with("__") || name.ends_with('_'))
    }
}

/// What is wrong with a rule, for the user.
pub type Mistake = String;

const COMMANDS: &[&str] = &["Bash", "execute_bash", "shell", "run_command", "run_terminal_cmd"];
const READING: &[&str] = &["View", "Read", "read_file", "read_many_files"];
const WRITING: &[&str] = &[
    "Edit",
    "Write",
    "Replace",
    "MultiEdit",
    "apply_patch",
    "string_replace",
    "str_replace",
    "write_file",
    "edit_file",
    "create_file",
    "FileOp",
    "file_op",
];
/// With a path they are about reading it; alone they are the tool itself.
const SEARCHING: &[(&str, &str)] = &[
    ("LS", "LS"),
    ("list_directory", "LS"),
    ("GrepTool", "GrepTool"),
    ("Grep", "GrepTool"),
    ("search_file_contents", "GrepTool"),
    ("GlobTool", "GlobTool"),
    ("Glob", "GlobTool"),
    ("find_files", "GlobTool"),
];
const FETCHING: &[&str] = &["WebFetch", "fetch_url"];
const OTHERS: &[&str] = &["WebSearch", "Git", "Todo", "AskUser", "Diagnostics"];

fn names() -> impl Iterator<Item = &'static str> {
    let searching = SEARCHING.iter().map(|(name, _)| *name);
    COMMANDS.iter().chain(READING).chain(WRITING).chain(FETCHING).chain(OTHERS).copied().chain(searching)
}

/// Can the rule be understood? What is wrong with it otherwise, with the nearest right name.
pub fn check(ruling: Ruling, text: &str) -> Result<(), Mistake> {
    let mut rule = Rule::new(ruling, RuleSource::Session, text);
    // Where it leads is another question.
    rule.leads = Some("/".into());
    parse(&rule, Path::new("/")).map(drop)
}

/// Several rules with commas between them, as they stand on a command line.
pub fn split(text: &str) -> Vec<String> {
    let (mut rules, mut depth) = (vec![String::new()], 0usize);
    for c in text.chars() {
        match c {
            ',' if depth == 0 => rules.push(String::new()),
            c => {
                depth = if c == '(' { depth + 1 } else { depth.saturating_sub(usize::from(c == ')')) };
                rules.last_mut().into_iter().for_each(|rule| rule.push(c));
            }
        }
    }
    rules.into_iter().map(|rule| rule.trim().to_owned()).filter(|rule| !rule.is_empty()).collect()
}

/// The beginning of a rule's path that has no `*` in it, for whoever can look where it leads.
pub fn literal_beginning(text: &str) -> Option<String> {
    let (name, pattern) = parts(text).ok()?;
    let pattern = pattern?;
    let of_paths = |name: &str| {
        let is = |known: &str| known.eq_ignore_ascii_case(name);
        READING.iter().chain(WRITING).any(|n| is(n)) || SEARCHING.iter().any(|(n, _)| is(n))
    };
    let literal = paths::split(pattern.strip_suffix('/').unwrap_or(pattern)).0;
    (of_paths(name) && !literal.is_empty()).then_some(literal)
}

fn parts(text: &str) -> Result<(&str, Option<&str>), Mistake> {
    let text = text.trim();
    match text.split_once('(') {
        None if text.contains(')') => Err("a parenthesis is missing".into()),
        None => Ok((text, None)),
        Some((name, rest)) => match rest.strip_suffix(')') {
            Some(pattern) => Ok((name.trim(), Some(pattern.trim()))),
            None => Err("the closing parenthesis is missing".into()),
        },
    }
}

pub fn parse(rule: &Rule, root: &Path) -> Result<What, Mistake> {
    let (name, pattern) = parts(&rule.text)?;
    let is = |known: &str| known.eq_ignore_ascii_case(name);
    // Whoever allows a folder of the project means that folder, not what somebody has put a link to there.
    let foreign = pattern.is_some_and(|text| text.starts_with('~') || text.starts_with('/') && !Path::new(text).starts_with(root));
    let leads = rule.leads.as_deref().filter(|_| rule.ruling != Ruling::Allow || foreign);
    let paths = || pattern.map(|pattern| Paths::parse(pattern, root, leads)).transpose();
    if COMMANDS.iter().any(|n| is(n)) {
        return commands(pattern).map(What::Commands);
    }
    if READING.iter().any(|n| is(n)) {
        return paths().map(What::Read);
    }
    if WRITING.iter().any(|n| is(n)) {
        return paths().map(What::Write);
    }
    if let Some((_, tool)) = SEARCHING.iter().find(|(n, _)| is(n)) {
        return match paths()? {
            Some(paths) => Ok(What::Read(Some(paths))),
            None => Ok(What::Tool(Tool { name: (*tool).into(), open: false, allows: false })),
        };
    }
    if FETCHING.iter().any(|n| is(n)) {
        return pattern.map(Hosts::parse).transpose().map(What::Host);
    }
    if let Some(server) = name.strip_prefix("mcp__") {
        return match pattern {
            Some(_) => Err("a rule about a server's tool takes no pattern".into()),
            None => mcp(name, server).map(What::Tool),
        };
    }
    match OTHERS.iter().find(|n| is(n)) {
        Some(_) if pattern.is_some() => Err(format!("a rule about {name} takes no pattern")),
        Some(known) => Ok(What::Tool(Tool { name: (*known).into(), open: false, allows: true })),
        None => {
            let near = nearest(name, names()).map(|near| format!(" Did you mean \"{near}\"?")).unwrap_or_default();
            Err(format!("there is no tool \"{name}\".{near}"))
        }
    }
}

fn mcp(name: &str, server: &str) -> Result<Tool, Mistake> {
    let (server_name, tool) = server.split_once("__").map_or((server, None), |(server, tool)| (server, Some(tool)));
    let whole = tool.is_none() || tool == Some("*");
    let wild = |text: &str| text.contains(['*', '?', ' ', ',']);
    if server_name.is_empty() || wild(server_name) || !whole && tool.is_some_and(|tool| tool.is_empty() || wild(tool)) {
        return Err("a server's tool is written mcp__server__tool, all of them mcp__server".into());
    }
    let name = if whole { format!("mcp__{server_name}") } else { name.to_owned() };
    Ok(Tool { name, open: whole, allows: true })
}

fn commands(pattern: Option<&str>) -> Result<Option<Vec<CommandPattern>>, Mistake> {
    let Some(text) = pattern.filter(|text| *text != "*" && *text != "**") else { return Ok(None) };
    if let Some(beginning) = text.strip_suffix(":*") {
        return Err(format!("what may follow is written with a blank before it: `Bash({beginning} *)`"));
    }
    command_line::parse_patterns(text).map(Some)
}
