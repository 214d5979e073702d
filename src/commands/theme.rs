//! `/theme`: choose a theme, with a look at each, or take one by name.

use super::{Outcome, SlashCommand};

pub const COMMAND: SlashCommand = SlashCommand {
    name: "theme",
    arguments: "[name]",
    help: "choose a colour theme, or take one by name",
    run: |arguments, _| Outcome::Theme(arguments.into()),
};
