//! `/redraw`: print the conversation again at this width.

use super::{Outcome, Screen, SlashCommand};

pub const COMMAND: SlashCommand = SlashCommand {
    name: "redraw",
    arguments: "",
    help: "print the conversation again at this width",
    run: |_, _| Outcome::Screen(Screen::Redraw),
};
