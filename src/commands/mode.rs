//! `/mode`: what may happen without asking.

use super::{Outcome, SlashCommand};
use crate::protocol::{Command, Mode};

pub const COMMAND: SlashCommand = SlashCommand {
    name: "mode",
    arguments: "normal|auto-accept|plan|yolo",
    help: "what may happen without asking (yolo: everything)",
    run: |arguments, _| match Mode::from_name(arguments) {
        Some(mode) => Outcome::Send(Command::SetMode(mode)),
        None => Outcome::Fail("A mode is one of normal, auto-accept, plan, yolo.".into()),
    },
};
