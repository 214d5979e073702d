//! Backstitch: a coding agent for the terminal in which every step can be walked back.
//!
//! `ARCHITECTURE.md` has the map and the rules; `tests/it/tidy.rs` holds them.

pub mod config;
pub mod failure;
pub mod llm;
pub mod mailbox;
pub mod protocol;
