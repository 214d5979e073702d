//! `/status`: what is going on where: model, mode, files.

use super::{Outcome, Screen, SlashCommand};

pub const COMMAND: SlashCommand = SlashCommand {
    name: "status",
    arguments: "",
    help: "what is going on where: model, mode, files",
    run: |_, _| Outcome::Screen(Screen::Status),
};
