//! Sessions on disk: an append-only journal of records for each.
//!
//! A record is on its way to the disk before the event that shows it; a crash costs at most the line that was being written.

pub mod jsonl;
pub mod memory;
pub mod store;

pub use jsonl::JsonlStore;
pub use memory::MemorySessions;
pub use store::{Loaded, SessionError, SessionInfo, SessionStore, new_id};
