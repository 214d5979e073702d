//! `/keys`: list the keys.

use super::{Outcome, Screen, SlashCommand};

pub const COMMAND: SlashCommand =
    SlashCommand { name: "keys", arguments: "", help: "list the keys", run: |_, _| Outcome::Screen(Screen::Keys) };
