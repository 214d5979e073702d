//! The user's own keys, as their file has them: what they mean is for the front end to say.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnKeys {
    pub keys: Vec<OwnKey>,
    /// What could not be read, one sentence each.
    pub warnings: Vec<String>,
}

/// These keys, and no others, do this here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnKey {
    /// File and line.
    pub place: String,
    pub context: String,
    pub action: String,
    pub keys: Vec<String>,
}
