//! Checkpoints: the files of the working tree at a moment, kept so that every step can be walked back.
//!
//! - The user's own repository is neither read nor written, whatever the state of it.
//! - A restore does what its plan says, and is itself preceded by a checkpoint; what a checkpoint does not know is left alone and
//!   listed.

mod activity;
mod aside;
mod cut_off;
mod describe;
mod durable;
mod folders;
pub mod git;
mod index;
mod intact;
mod kept;
mod label;
pub mod memory;
mod notes;
mod objects;
mod pack;
mod planning;
mod prune;
mod reading;
mod repack;
mod repository;
mod restore;
mod scan;
mod seen;
pub mod store;
mod stored;
mod tree;

#[cfg(test)]
mod tests;

pub use cut_off::was_cut_off;
pub use git::GitStore;
pub use memory::MemoryStore;
pub use store::{CheckpointError, CheckpointStore, Entry, Kind, Label, Pruned, Restored, Retention, Revision, Skipped, Taken, Usage};
