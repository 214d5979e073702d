//! Finds files of the project by a few characters of their names: an index in a thread of its own, asked and answered by messages.
//!
//! - The first walk begins with the first question, or by itself when nothing has been asked for a moment; the index lives as long
//!   as the [`Finder`].
//! - Asking never waits. Answers carry the id of their question; while the first walk goes on, the newest question is answered
//!   again and again with what is known so far.
//! - A walk is repeated with the next question after the last one has become stale ([`Pace`]); the old index answers meanwhile.
//! - The project is only read, also its repository.

mod bound;
mod characters;
mod disk;
mod folders;
pub mod fuzzy;
pub mod index;
mod search;
#[cfg(test)]
mod tests;
pub mod worker;

pub use disk::Disk;
pub use worker::{Finder, Pace};

use serde::{Deserialize, Serialize};

/// Hits in an answer: more than anyone scrolls through.
pub const MOST_HITS: usize = 100;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Query {
    pub id: u64,
    /// What the path is to match; `/` at its end lists a folder.
    pub text: String,
    /// Paths that were used lately, the newest first.
    pub recent: Vec<String>,
    /// The popup has just opened: the moment to look for new files, even in a project where that takes long.
    pub opens: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub id: u64,
    /// The best first.
    pub hits: Vec<Hit>,
    /// How many there are in all.
    pub matching: usize,
    /// More may be found: the first walk goes on.
    pub indexing: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// Relative to the project; a folder ends in `/`.
    pub path: String,
    /// Which characters matched, by count, rising.
    pub positions: Vec<usize>,
    pub mark: Option<Mark>,
}

/// Why a path comes early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mark {
    Recent,
    /// Differs from what git has.
    Changed,
}

/// Where paths come from. The twin in `tests` holds them in memory.
pub trait Tree: Send + Sync {
    /// Everything that is not ignored, in no order, in batches; folders end in `/`. Ends early when `found` says `false`.
    fn walk(&self, found: &(dyn Fn(Vec<String>) -> bool + Sync));
    /// Paths that differ from what git has.
    fn changed(&self) -> Vec<String>;
}
