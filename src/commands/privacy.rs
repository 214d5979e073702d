//! `/privacy`: what models are not told: whether secrets are replaced, and which were.

use super::{Outcome, SlashCommand};
use crate::protocol::{Command, Privacy};

pub const COMMAND: SlashCommand = SlashCommand {
    name: "privacy",
    arguments: "[on|off|inspect text]",
    help: "secrets that models are sent placeholders for: what was replaced; on or off; or what would be sent of a text",
    run: |arguments, _| {
        let (first, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
        let asked = match (first, rest.trim()) {
            ("", _) => Privacy::Show,
            ("on", "") => Privacy::Set(true),
            ("off", "") => Privacy::Set(false),
            ("inspect", text) if !text.is_empty() => Privacy::Inspect(text.into()),
            _ => return Outcome::Fail("/privacy alone tells what was replaced; on, off, or inspect with a text.".into()),
        };
        Outcome::Send(Command::Privacy(asked))
    },
};
