//! Sessions on disk: an append-only journal of records for each.
//!
//! A record is on its way to the disk before the event that shows it; a crash costs at most the line that was being written.

mod branches;
pub mod jsonl;
mod listing;
pub mod memory;
mod resume;
pub mod store;

pub use jsonl::JsonlStore;
pub use listing::list;
pub use memory::MemorySessions;
pub use resume::{can_resume, resume};
pub use store::{Loaded, SessionError, SessionStore, new_id};
