//! The terminal front end: an Elm loop over iocraft. `app` and `view` are pure; `root`, `terminal` and `perform` touch the world.

pub mod app;
mod approval;
mod blocks;
pub mod keymap;
mod panel;
mod prompt;
mod status;
pub mod terminal;
mod transcript;
pub mod view;
