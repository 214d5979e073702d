//! `/redo`: what was walked back is there again.

use super::{Outcome, SlashCommand};
use crate::protocol::Command;

pub const COMMAND: SlashCommand = SlashCommand {
    name: "redo",
    arguments: "",
    help: "go forward again: what was walked back last is there again",
    run: |_, _| Outcome::Send(Command::Redo),
};
