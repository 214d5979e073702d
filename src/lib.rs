//! Backstitch: a coding agent for the terminal in which every step can be walked back.
//!
//! `ARCHITECTURE.md` has the map and the rules; `tests/it/tidy.rs` holds them.

pub mod atomic;
pub mod checkpoint;
pub mod mailbox;
pub mod project;
pub mod protocol;
pub mod session;
pub mod tools;
pub mod walk;
