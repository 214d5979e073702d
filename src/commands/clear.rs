//! `/clear`: start an empty conversation; the files stay as they are.

use super::{Outcome, SlashCommand};
use crate::protocol::Command;

pub const COMMAND: SlashCommand = SlashCommand {
    name: "clear",
    arguments: "",
    help: "start an empty conversation; the files stay as they are",
    run: |_, _| Outcome::Send(Command::Clear),
};
