//! Secrets that a model is not told: what is asked about them, and what is known.

use serde::{Deserialize, Serialize};

/// How it is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivacySettings {
    pub on: bool,
    /// Regular expressions of what is secret besides.
    pub patterns: Vec<String>,
}

/// On, since what has been sent can't be taken back.
impl Default for PrivacySettings {
    fn default() -> Self {
        PrivacySettings { on: true, patterns: vec![] }
    }
}

/// What the user asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Privacy {
    Show,
    /// For this session.
    Set(bool),
    /// What a text would be for a model.
    Inspect(String),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrivacyState {
    pub on: bool,
    /// In the order in which they were found.
    pub hidden: Vec<Hidden>,
}

/// A secret that was replaced. It is not in here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hidden {
    pub kind: String,
    pub placeholder: String,
    /// Its first and last characters, where it is long enough.
    pub hint: String,
    pub times: usize,
    /// Where it stood.
    pub places: Vec<String>,
}

impl PrivacyState {
    /// For the eye, a row each.
    pub fn rows(&self) -> Vec<String> {
        let on = if self.on { "on: models are sent placeholders for secrets" } else { "off: secrets are sent as they are" };
        let mut rows = vec![format!("Privacy is {on}.")];
        if self.hidden.is_empty() {
            rows.push(
                if self.on { "Nothing was replaced in this session." } else { "/privacy on switches it on for this session." }.into(),
            );
        }
        // The lines of one private key are many.
        let mut at = 0;
        while at < self.hidden.len() {
            let first = &self.hidden[at];
            let same = self.hidden[at..].iter().take_while(|next| next.kind == "private key" && next.places == first.places).count();
            let more = if same > 1 { format!(" and {} lines more", same - 1) } else { String::new() };
            let times = if first.times == 1 { "once".into() } else { format!("{} times", first.times) };
            rows.push(format!("{} {}{more} · {times} · {} · {}", first.kind, first.hint, first.placeholder, first.places.join(", ")));
            at += same.max(1);
        }
        rows
    }
}

/// What the work on requests says of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum PrivacyNews {
    State(PrivacyState),
    /// A text, as a model would be sent it.
    Inspected(String),
    /// Kinds of secrets that were replaced for the first time.
    Replaced(Vec<String>),
}
