//! The conversation as the model sees it.

use super::CallId;
use serde::{Deserialize, Serialize};

/// What the user sends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    pub text: String,
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Prompt { text: text.into() }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Message {
    User(String),
    Assistant {
        text: String,
        reasoning: String,
        calls: Vec<CallRequest>,
    },
    /// Exactly one for each call, in the order in which the model asked.
    Result {
        call: CallId,
        provider_id: String,
        name: String,
        content: String,
        failed: bool,
    },
}

/// A call as the model wrote it. `arguments` is always a valid JSON object by the time it is stored: some servers refuse a
/// whole history because of one broken string in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallRequest {
    pub id: CallId,
    pub provider_id: String,
    pub name: String,
    pub arguments: String,
}

/// Tokens, as counted by the provider; 0 where it did not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
    pub cached: u64,
    pub reasoning: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cached += other.cached;
        self.reasoning += other.reasoning;
    }
}
