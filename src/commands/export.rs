//! `/export`: the conversation as a Markdown file.

use super::{Outcome, Screen, SlashCommand};

pub const COMMAND: SlashCommand = SlashCommand {
    name: "export",
    arguments: "[file]",
    help: "write the conversation to a Markdown file",
    run: |arguments, _| Outcome::Screen(Screen::Export((!arguments.is_empty()).then(|| arguments.into()))),
};
