//! Sessions on disk: an append-only journal of records for each.
//!
//! A record is on its way to the disk before the event that shows it; a crash costs at most the line that was being written. An answer
//! that comes in is written part by part beside the journal, which gets it when it is whole.

mod branches;
pub mod jsonl;
mod listing;
pub mod memory;
mod partial;
mod resume;
pub mod store;

pub use jsonl::JsonlStore;
pub use listing::list;
pub use memory::MemorySessions;
pub use resume::{can_resume, resume};
pub use store::{Loaded, SessionError, SessionStore, new_id};
