//! Sessions as lists show them, and which of them goes on.

use super::SessionId;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionInfo {
    pub id: SessionId,
    /// The first thing that the user said; empty if nothing.
    pub title: String,
    /// Milliseconds since 1970.
    pub started: u64,
    pub changed: u64,
    /// Ways that the conversation had taken and that were walked back, oldest first.
    pub branches: Vec<Branch>,
}

/// What was cut off by going back and then going on differently, or by starting an empty conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    /// It is what the first records of the session tell, so many of them.
    pub position: u64,
    /// The first line of the first request that was cut off.
    pub title: String,
    /// Requests that were cut off.
    pub turns: usize,
    /// When it was cut off, in milliseconds since 1970.
    pub at: u64,
}

/// Which session goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Resume {
    /// The one that was used last.
    Last,
    /// By its id or the beginning of it, or by its number in the list, counted from 1.
    Named(String),
    /// A session of its own begins from the first records of another one.
    Fork { of: SessionId, position: u64 },
    /// The user is asked.
    Ask,
}
