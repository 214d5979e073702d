//! Slash commands: one file each, listed here in the order in which users see them.

mod checkpoint;
mod clear;
mod copy;
mod exit;
mod export;
mod fullscreen;
mod help;
mod image;
mod keys;
mod mode;
mod model;
mod permissions;
mod privacy;
mod redo;
mod redraw;
mod resume;
mod rewind;
mod setup;
mod status;
mod theme;
mod undo;
mod usage;

use crate::protocol::{Command, ModelInfo};

pub struct SlashCommand {
    pub name: &'static str,
    /// What follows the name, for the help.
    pub arguments: &'static str,
    pub help: &'static str,
    pub run: fn(&str, &Around) -> Outcome,
}

impl SlashCommand {
    /// Does it come to nothing without one?
    pub fn needs_argument(&self) -> bool {
        // Without one, it lists or switches to what there is.
        !self.arguments.is_empty() && !self.arguments.starts_with('[')
    }
}

/// What a command may look at.
#[derive(Debug, Default)]
pub struct Around {
    pub models: Vec<ModelInfo>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// For the agent.
    Send(Command),
    /// For the screen.
    Screen(Screen),
    /// Pictures by path.
    Image(String),
    /// A theme by name; none for the choice among all.
    Theme(String),
    /// Plain text to show: each line a row.
    Say(String),
    /// What is wrong with the arguments.
    Fail(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Screen {
    Keys,
    Redraw,
    Fullscreen,
    Copy,
    /// To this file, or to one with a name of its own.
    Export(Option<String>),
    Status,
    Usage,
    /// With this one selected, by its name or the beginning of its id.
    Checkpoints(Option<String>),
    /// This one goes on, by its id, or the choice among all.
    Sessions(Option<String>),
    Permissions,
    Setup,
    Exit,
}

pub const ALL: &[SlashCommand] = &[
    help::COMMAND,
    model::COMMAND,
    mode::COMMAND,
    permissions::COMMAND,
    privacy::COMMAND,
    undo::COMMAND,
    redo::COMMAND,
    rewind::COMMAND,
    checkpoint::COMMAND,
    clear::COMMAND,
    resume::COMMAND,
    copy::COMMAND,
    export::COMMAND,
    status::COMMAND,
    usage::COMMAND,
    image::COMMAND,
    setup::COMMAND,
    theme::COMMAND,
    keys::COMMAND,
    fullscreen::COMMAND,
    redraw::COMMAND,
    exit::COMMAND,
];

/// `None` when the text is no command but something for the model: `/usr/bin is missing` must reach it.
pub fn parse(text: &str) -> Option<Result<(&'static SlashCommand, &str), String>> {
    let rest = text.strip_prefix('/')?;
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if name.is_empty() || name.contains('/') {
        return None;
    }
    let found = ALL.iter().find(|c| c.name == name);
    Some(found.map(|c| (c, arguments.trim())).ok_or_else(|| unknown(name)))
}

fn unknown(name: &str) -> String {
    let near = ALL.iter().map(|c| c.name).filter(|c| c.starts_with(name) || name.starts_with(c)).collect::<Vec<_>>();
    match near.as_slice() {
        [] => format!("There is no command /{name}; /help lists them."),
        near => format!("There is no command /{name}. Did you mean /{}?", near.join(" or /")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_no_command_and_an_unknown_name_is_said_to_be_one() {
        assert!(parse("/usr/bin/env is missing").is_none());
        assert!(parse("say /help").is_none());
        assert!(parse("/").is_none());
        assert_eq!(parse("/hel").unwrap().err().unwrap(), "There is no command /hel. Did you mean /help?");
        let (command, arguments) = parse("/model  qwen 3 ").unwrap().ok().unwrap();
        assert_eq!((command.name, arguments), ("model", "qwen 3"));
    }

    #[test]
    fn every_command_runs_without_arguments() {
        for command in ALL {
            assert_ne!((command.run)("", &Around::default()), Outcome::Fail(String::new()), "/{}", command.name);
            assert!(!command.help.is_empty());
        }
    }
}
