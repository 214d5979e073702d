//! `/exit`: leave Backstitch.

use super::{Outcome, Screen, SlashCommand};

pub const COMMAND: SlashCommand =
    SlashCommand { name: "exit", arguments: "", help: "leave Backstitch", run: |_, _| Outcome::Screen(Screen::Exit) };
