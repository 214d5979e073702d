//! `/rewind`: goes back to a checkpoint.

use super::{Outcome, Screen, SlashCommand};

pub const COMMAND: SlashCommand = SlashCommand {
    name: "rewind",
    arguments: "",
    help: "look at the checkpoints, and go back to one",
    run: |_, _| Outcome::Screen(Screen::Checkpoints(None)),
};
