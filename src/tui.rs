//! The terminal front end: an Elm loop over iocraft. `app` and `view` are pure; `root`, `terminal` and `perform` touch the world.

pub mod terminal;
