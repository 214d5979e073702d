//! `/fullscreen`: between the terminal's scrollback and a window of its own.

use super::{Outcome, Screen, SlashCommand};

pub const COMMAND: SlashCommand = SlashCommand {
    name: "fullscreen",
    arguments: "",
    help: "switch between the terminal's scrollback and a window of its own",
    run: |_, _| Outcome::Screen(Screen::Fullscreen),
};
