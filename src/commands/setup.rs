//! `/setup`: add a model provider.

use super::{Outcome, Screen, SlashCommand};

pub const COMMAND: SlashCommand =
    SlashCommand { name: "setup", arguments: "", help: "add a model provider", run: |_, _| Outcome::Screen(Screen::Setup) };
