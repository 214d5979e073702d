//! `/undo`: walk the last turn back: its files and its part of the conversation.

use super::{Outcome, SlashCommand};
use crate::protocol::Command;

pub const COMMAND: SlashCommand = SlashCommand {
    name: "undo",
    arguments: "",
    help: "walk the last turn back: its files and its part of the conversation",
    run: |_, _| Outcome::Send(Command::Undo),
};
