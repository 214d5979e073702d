//! Calls as other agents' models write them, in our words: argument names, and tools that are several of ours.

mod git;

use crate::protocol::ToolError;
use serde_json::{Map, Value, json};

/// Argument names of other agents' tools, by our tool. Ours wins when both are given.
const ARGUMENTS: &[(&str, &[(&str, &str)])] = &[
    ("Bash", &[("cmd", "command"), ("timeout_ms", "timeout"), ("is_background", "run_in_background"), ("background", "run_in_background")]),
    ("BashOutput", &[("bash_id", "id"), ("shell_id", "id"), ("task_id", "id"), ("timeout", "wait")]),
    ("KillBash", &[("bash_id", "id"), ("shell_id", "id"), ("task_id", "id")]),
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
            ("contextLines", "context"),
            ("output_mode", "mode"),
            ("head_limit", "limit"),
            ("maxResults", "limit"),
            ("no_ignore", "ignored"),
        ],
    ),
    ("GlobTool", &[("glob", "pattern"), ("directory", "path")]),
    (
        "FileOp",
        &[
            ("source", "path"),
            ("source_path", "path"),
            ("file_path", "path"),
            ("from", "path"),
            ("directory", "path"),
            ("target", "destination"),
            ("to", "destination"),
            ("new_path", "destination"),
            ("destination_path", "destination"),
        ],
    ),
    ("apply_patch", &[("input", "patch"), ("diff", "patch"), ("file_path", "path"), ("patch_text", "patch")]),
    ("WebFetch", &[("uri", "url"), ("link", "url"), ("address", "url"), ("start_index", "offset"), ("start", "offset")]),
    (
        "WebSearch",
        &[
            ("q", "query"),
            ("search_query", "query"),
            ("search_term", "query"),
            ("max_results", "count"),
            ("num_results", "count"),
            ("limit", "count"),
        ],
    ),
    ("Todo", &[("plan", "todos"), ("items", "todos"), ("tasks", "todos")]),
];

/// One tool with a `command` that says which of ours is meant.
const EDITORS: [&str; 2] = ["str_replace_editor", "str_replace_based_edit_tool"];

/// Name and arguments, where a tool of another agent does what several of ours do, or means something else by an argument.
pub fn translated(name: &str, args: Value) -> Result<(String, Value), ToolError> {
    let Value::Object(mut given) = args else { return Ok((name.into(), args)) };
    let is = |known: &str| name.trim().eq_ignore_ascii_case(known);
    if EDITORS.iter().any(|editor| is(editor)) {
        return editor(name, given);
    }
    if let Some(command) = git::command(name, &given) {
        return Ok(("Bash".into(), json!({ "command": command? })));
    }
    if is("search_file_contents") {
        if let Some(exact) = given.remove("caseSensitive") {
            given.entry("ignore_case").or_insert(Value::Bool(!(exact == true || exact == "true")));
        }
        if given.remove("wholeWord").is_some_and(|flag| flag == true || flag == "true")
            && let Some(Value::String(pattern)) = given.get_mut("query")
        {
            *pattern = format!(r"\b(?:{pattern})\b");
        }
    }
    const FILES: [(&str, &str); 8] = [
        ("move_file", "move"),
        ("rename_file", "move"),
        ("copy_file", "copy"),
        ("delete_file", "delete"),
        ("remove_file", "delete"),
        ("create_directory", "mkdir"),
        ("make_directory", "mkdir"),
        ("delete_directory", "delete"),
    ];
    if let Some((_, operation)) = FILES.iter().find(|(known, _)| is(known)) {
        given.insert("operation".into(), (*operation).into());
        return Ok(("FileOp".into(), Value::Object(given)));
    }
    if is("list_directory") && given.get("recursive").is_some_and(|flag| *flag == true || *flag == "true") {
        let path = given.remove("path").unwrap_or_else(|| ".".into());
        return Ok(("GlobTool".into(), json!({"pattern": "**/*", "path": path})));
    }
    Ok((name.into(), Value::Object(given)))
}

fn editor(name: &str, mut given: Map<String, Value>) -> Result<(String, Value), ToolError> {
    let command = given.remove("command");
    let ours = match command.as_ref().and_then(Value::as_str) {
        Some("view") => {
            if let Some(Value::Array(range)) = given.remove("view_range") {
                let number = |at: usize| range.get(at).and_then(Value::as_i64);
                let first = number(0).unwrap_or(1).max(1);
                given.insert("offset".into(), first.into());
                // Minus one is the end.
                if let Some(last) = number(1).filter(|last| *last >= first) {
                    given.insert("limit".into(), (last - first + 1).into());
                }
            }
            "View"
        }
        Some("create") => "Replace",
        Some("str_replace") => "Edit",
        _ => {
            let told = command.map_or("nothing".into(), |command| command.to_string());
            return Err(ToolError(format!(
                "{name}: `command` is view, create or str_replace, not {told}. To insert text, use Edit with a line that is there already."
            )));
        }
    };
    // It may leave out what is to stand there instead.
    if ours == "Edit" && !given.contains_key("new_str") && !given.contains_key("new_string") {
        given.insert("new_string".into(), "".into());
    }
    Ok((ours.into(), Value::Object(given)))
}

/// Our names for the arguments of one of our tools.
pub fn renamed(tool: &str, given: Map<String, Value>) -> Map<String, Value> {
    let renames = ARGUMENTS.iter().find(|(name, _)| *name == tool).map_or(&[][..], |(_, renames)| renames);
    let mut own = Map::new();
    for (key, value) in &given {
        match renames.iter().find(|(from, _)| from == key) {
            Some((_, to)) if given.contains_key(*to) => {}
            Some((_, to)) => drop(own.insert((*to).into(), value.clone())),
            None => drop(own.insert(key.clone(), value.clone())),
        }
    }
    own
}
