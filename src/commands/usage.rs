//! `/usage`: tokens so far, and how full the context is.

use super::{Outcome, Screen, SlashCommand};

pub const COMMAND: SlashCommand = SlashCommand {
    name: "usage",
    arguments: "",
    help: "tokens so far, and how full the context is",
    run: |_, _| Outcome::Screen(Screen::Usage),
};
