//! "Always allow": which patterns are offered for a command, and what a changed one has to be.

use super::CallCell;
use crate::{
    command_line::{self, covers},
    protocol::{Access, CommandPart, CommandPattern},
};
use backstitch_components::text::{sanitize::one_line, wrap::truncate_middle};
use std::path::Path;

/// The parts of a command that don't merely read what may be read.
pub fn needing(call: &CallCell, root: &Path) -> Vec<CommandPart> {
    // Outside the sandbox no pattern reaches.
    let Some(Access::Run { parts, outside: false, .. }) = &call.access else { return vec![] };
    parts.iter().filter(|part| !command_line::is_free(part, &|path| path.starts_with(root))).cloned().collect()
}

/// `None` if nothing less than the very command can be allowed.
pub fn offered(needing: &[CommandPart]) -> Option<Vec<CommandPattern>> {
    command_line::offers(needing.iter())
}

/// As they can be changed.
pub fn written(needing: &[CommandPart]) -> String {
    let patterns = offered(needing).unwrap_or_default();
    patterns.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

pub fn label(patterns: &[CommandPattern], width: usize) -> String {
    let names: Vec<String> = patterns.iter().map(|pattern| format!("`{}`", one_line(&pattern.to_string()))).collect();
    let names = names.join(" + ");
    // The number before it and the key behind it need their room.
    let (before, after) = if width < 60 { ("always ", "") } else { ("always allow ", " this session") };
    let room = width.saturating_sub(before.len() + after.len() + if width < 60 { 11 } else { 20 });
    format!("{before}{}{after}", truncate_middle(&names, room.max(8)))
}

/// What was typed, if it covers the command; or why not, in a few words.
pub fn read(typed: &str, needing: &[CommandPart]) -> Result<Vec<CommandPattern>, String> {
    let patterns = command_line::parse_patterns(typed)?;
    match needing.iter().find(|part| !patterns.iter().any(|pattern| covers(pattern, part))) {
        Some(part) => Err(format!("does not cover `{}`", one_line(&part.words.join(" ")))),
        None => Ok(patterns),
    }
}
