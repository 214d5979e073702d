//! `/copy`: copy the last answer to the clipboard.

use super::{Outcome, Screen, SlashCommand};

pub const COMMAND: SlashCommand =
    SlashCommand { name: "copy", arguments: "", help: "copy the last answer to the clipboard", run: |_, _| Outcome::Screen(Screen::Copy) };
