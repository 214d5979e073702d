//! `/permissions`: the rules and what they come to; with a command behind it, what would become of that one.

use super::{Outcome, Screen, SlashCommand};
use crate::protocol::{Command, Permit};

pub const COMMAND: SlashCommand = SlashCommand {
    name: "permissions",
    arguments: "[command]",
    help: "what runs, asks or is refused: the rules; or what would become of a command",
    run: |arguments, _| match arguments {
        "" => Outcome::Screen(Screen::Permissions),
        text => Outcome::Send(Command::Permit(Permit::Try(text.into()))),
    },
};
