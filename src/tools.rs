//! What a model can do: one file per tool, each describing itself, its effect in advance, and doing it.
//!
//! - A tool knows nothing of approval, events or front ends: `preview` says what a call would touch, `run` does it.
//! - `preview` changes nothing; `run` fails when a file that the preview looked at has changed since.
//! - Programs are started only by `shell`; only `web` opens connections.

mod aliases;
pub mod args;
pub mod ask;
pub mod decode;
pub mod edit;
mod edit_adapt;
pub mod edit_match;
pub mod file_op;
pub mod glob;
pub mod grep;
pub mod ls;
mod patch;
pub mod plan;
pub mod registry;
pub mod replace;
mod schema;
mod seen;
pub mod shell;
pub mod todo;
mod tool;
pub mod view;
pub mod web;
pub mod workspace;
pub mod write;

#[cfg(test)]
mod tests;

pub use registry::Registry;
pub use tool::{Cancel, RunContext, Tool};
pub use workspace::Workspace;
