//! `/resume`: goes on with another session of this project, or with what was cut off from this one.

use super::{Outcome, Screen, SlashCommand};

pub const COMMAND: SlashCommand = SlashCommand {
    name: "resume",
    arguments: "[id]",
    help: "go on with an earlier session, or with what going back has cut off",
    run: |arguments, _| Outcome::Screen(Screen::Sessions((!arguments.is_empty()).then(|| arguments.into()))),
};
