//! `/image`: a picture from a file into the prompt.

use super::{Outcome, SlashCommand};

pub const COMMAND: SlashCommand = SlashCommand {
    name: "image",
    arguments: "path",
    help: "put a picture into the prompt",
    run: |arguments, _| Outcome::Image(arguments.into()),
};
