//! The tools in the order in which the model reads them, and the other names that models know them by.
//!
//! Whatever name and argument names come in, tools see only their own.

use super::{Tool, edit, glob, grep, ls, patch, replace, shell, todo, view};
use crate::protocol::{ToolError, ToolSpec};
use serde_json::{Map, Value};

type Make = fn() -> Box<dyn Tool>;

const TOOLS: &[Make] = &[
    || Box::new(shell::Bash),
    || Box::new(view::View),
    || Box::new(edit::Edit),
    || Box::new(replace::Replace),
    || Box::new(ls::Ls),
    || Box::new(grep::Grep),
    || Box::new(glob::Glob),
    || Box::new(todo::Todo),
    || Box::new(patch::Patch),
];

/// Argument names of other agents' tools, by our tool. Ours wins when both are given.
const ARGUMENTS: &[(&str, &[(&str, &str)])] = &[
    ("Bash", &[("cmd", "command"), ("timeout_ms", "timeout")]),
    ("View", &[("path", "file_path"), ("filePath", "file_path"), ("paths", "file_paths"), ("start_line", "offset")]),
    (
        "Edit",
        &[
            ("path", "file_path"),
            ("filePath", "file_path"),
            ("old_str", "old_string"),
            ("oldString", "old_string"),
            ("new_str", "new_string"),
            ("newString", "new_string"),
        ],
    ),
    ("Replace", &[("path", "file_path"), ("filePath", "file_path"), ("contents", "content"), ("file_text", "content")]),
    ("LS", &[("directory", "path"), ("dir_path", "path")]),
    (
        "GrepTool",
        &[
            ("query", "pattern"),
            ("glob", "include"),
            ("directory", "path"),
            ("-i", "ignore_case"),
            ("case_insensitive", "ignore_case"),
            ("-A", "after"),
            ("-B", "before"),
            ("-C", "context"),
            ("output_mode", "mode"),
            ("head_limit", "limit"),
            ("no_ignore", "ignored"),
        ],
    ),
    ("GlobTool", &[("glob", "pattern"), ("directory", "path")]),
    ("apply_patch", &[("input", "patch"), ("diff", "patch"), ("file_path", "path"), ("patch_text", "patch")]),
    ("Todo", &[("plan", "todos"), ("items", "todos"), ("tasks", "todos")]),
];

pub struct Registry {
    tools: Vec<(ToolSpec, Box<dyn Tool>)>,
}

impl Default for Registry {
    fn default() -> Self {
        Registry::new(TOOLS.iter().map(|make| make()))
    }
}

impl Registry {
    /// Other tools than ours: scripted ones in tests, later those of servers.
    pub fn new(tools: impl IntoIterator<Item = Box<dyn Tool>>) -> Self {
        Registry { tools: tools.into_iter().map(|tool| (tool.spec(), tool)).collect() }
    }

    /// Of those that the model is told of.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().filter(|(_, tool)| tool.offered()).map(|(spec, _)| spec.clone()).collect()
    }

    pub fn get(&self, name: &str) -> Result<&dyn Tool, ToolError> {
        self.find(name).map(|(_, tool)| tool.as_ref())
    }

    /// The tool's own name and its own argument names for a call as a model wrote it.
    pub fn canonical(&self, name: &str, args: Value) -> Result<(String, Value), ToolError> {
        let name = self.find(name)?.0.name.clone();
        let Value::Object(given) = args else { return Ok((name, args)) };
        let renames = ARGUMENTS.iter().find(|(tool, _)| *tool == name).map_or(&[][..], |(_, renames)| renames);
        let mut own = Map::new();
        for (key, value) in &given {
            match renames.iter().find(|(from, _)| from == key) {
                Some((_, to)) if given.contains_key(*to) => {}
                Some((_, to)) => drop(own.insert((*to).into(), value.clone())),
                None => drop(own.insert(key.clone(), value.clone())),
            }
        }
        Ok((name, Value::Object(own)))
    }

    fn find(&self, name: &str) -> Result<&(ToolSpec, Box<dyn Tool>), ToolError> {
        let known = |same: &dyn Fn(&str) -> bool| self.tools.iter().find(|(s, _)| same(&s.name) || s.aliases.iter().any(|a| same(a)));
        known(&|n| n == name).or_else(|| known(&|n| n.eq_ignore_ascii_case(name.trim()))).ok_or_else(|| {
            let names: Vec<_> = self.tools.iter().filter(|(_, tool)| tool.offered()).map(|(s, _)| s.name.as_str()).collect();
            ToolError(format!("There is no tool {name:?}. The tools are: {}.", names.join(", ")))
        })
    }
}

/// A tool's description of itself; the prose is in `assets/tools`.
pub(super) fn spec(name: &str, aliases: &[&str], prose: &str, properties: Value, required: &[&str]) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        aliases: aliases.iter().map(|a| (*a).into()).collect(),
        description: prose.trim().into(),
        schema: serde_json::json!({"type": "object", "properties": properties, "required": required}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_alias_finds_its_tool() {
        let registry = Registry::default();
        for (alias, name) in [
            ("read_file", "View"),
            ("Read", "View"),
            ("write_file", "Replace"),
            ("Write", "Replace"),
            ("string_replace", "Edit"),
            ("str_replace", "Edit"),
            ("execute_bash", "Bash"),
            ("shell", "Bash"),
            ("find_files", "GlobTool"),
            ("Glob", "GlobTool"),
            ("search_file_contents", "GrepTool"),
            ("Grep", "GrepTool"),
            ("list_directory", "LS"),
            ("bash", "Bash"),
            ("ls", "LS"),
        ] {
            assert_eq!(registry.canonical(alias, Value::Null).unwrap().0, name);
            assert_eq!(registry.get(alias).unwrap().spec().name, name);
        }
        let error = registry.get("frobnicate").err().unwrap();
        assert_eq!(error.0, "There is no tool \"frobnicate\". The tools are: Bash, View, Edit, Replace, LS, GrepTool, GlobTool, Todo.");
    }

    #[test]
    fn argument_names_are_translated() {
        let registry = Registry::default();
        let edit = registry.canonical("str_replace", json!({"path": "a", "old_str": "b", "new_str": "c"})).unwrap();
        assert_eq!(edit, ("Edit".into(), json!({"file_path": "a", "old_string": "b", "new_string": "c"})));
        let both = registry.canonical("View", json!({"path": "x", "file_path": "y"})).unwrap();
        assert_eq!(both.1, json!({"file_path": "y"}));
        assert_eq!(registry.canonical("search_file_contents", json!({"query": "q"})).unwrap().1, json!({"pattern": "q"}));
    }

    /// Local models pay for every token.
    #[test]
    fn all_specs_together_stay_small() {
        let sent: Vec<_> = Registry::default()
            .specs()
            .into_iter()
            .map(|s| json!({"type": "function", "function": {"name": s.name, "description": s.description, "parameters": s.schema}}))
            .collect();
        let size = serde_json::to_string(&sent).unwrap().len();
        assert!(size < 5_000, "{size} bytes");
    }
}
