//! Backstitch: a coding agent for the terminal in which every step can be walked back.
//!
//! `ARCHITECTURE.md` has the map and the rules; `tests/it/tidy.rs` holds them.

pub mod agent;
pub mod app;
pub mod atomic;
pub mod checkpoint;
pub mod checkpoint_cli;
pub mod cli;
pub mod command_line;
pub mod commands;
pub mod config;
pub mod desktop;
pub mod engine;
pub mod failure;
pub mod finder;
pub mod handle;
pub mod headless;
pub mod history;
pub mod launch;
pub mod llm;
pub mod mailbox;
pub mod picture;
pub mod policy;
pub mod privacy;
pub mod project;
pub mod protocol;
pub mod replay;
pub mod session;
pub mod tools;
pub mod tui;
pub mod walk;
