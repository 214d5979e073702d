//! What goes wrong at the edge of the program: a kind, a message, and what the user can do about it.
//!
//! Every error that ends the program or refuses a request of the user becomes a [`Failure`]; its kind alone decides the exit code.

use std::fmt;

/// Nothing went wrong.
pub const EXIT_OK: u8 = 0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The command line asks for something that can't be.
    Usage,
    /// A file of the configuration, or a setting in it.
    Config,
    /// The model's server.
    Provider,
    /// A call needed an approval that nobody was there to give.
    Approval,
    /// A fault of ours, or of the machine.
    Internal,
    Interrupted,
}

impl Kind {
    pub fn exit_code(self) -> u8 {
        match self {
            Kind::Usage | Kind::Config | Kind::Provider | Kind::Internal => 1,
            Kind::Approval => 2,
            // What a shell reports for a program that Ctrl-C ended.
            Kind::Interrupted => 130,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Failure {
    pub kind: Kind,
    pub message: String,
    /// What the user can do, one sentence each.
    pub hints: Vec<String>,
}

impl Failure {
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Failure { kind, message: message.into(), hints: vec![] }
    }
    pub fn usage(message: impl Into<String>) -> Self {
        Failure::new(Kind::Usage, message)
    }
    pub fn config(message: impl Into<String>) -> Self {
        Failure::new(Kind::Config, message)
    }
    pub fn provider(message: impl Into<String>) -> Self {
        Failure::new(Kind::Provider, message)
    }
    pub fn approval(message: impl Into<String>) -> Self {
        Failure::new(Kind::Approval, message)
    }
    pub fn internal(message: impl Into<String>) -> Self {
        Failure::new(Kind::Internal, message)
    }
    pub fn interrupted() -> Self {
        Failure::new(Kind::Interrupted, "Interrupted.")
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    pub fn exit_code(&self) -> u8 {
        self.kind.exit_code()
    }
}

/// The message, then one line for each hint.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.hints.iter().try_for_each(|hint| write!(f, "\n  hint: {hint}"))
    }
}

/// The right name that a wrong one was probably meant to be: at the most one slip in three letters.
pub fn nearest<'a>(wrong: &str, right: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wrong: Vec<char> = wrong.to_lowercase().chars().take(64).collect();
    let near = |name: &str| {
        let name: Vec<char> = name.to_lowercase().chars().take(64).collect();
        let slips = slips(&wrong, &name);
        (slips * 3 <= wrong.len().max(name.len())).then_some(slips)
    };
    right.into_iter().filter_map(|name| Some((near(name)?, name))).min_by_key(|(slips, _)| *slips).map(|(_, name)| name)
}

/// Letters to add, drop, change or swap with their neighbour to make one of the other.
fn slips(a: &[char], b: &[char]) -> usize {
    let mut before = vec![];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                let before: &Vec<usize> = &before;
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_follow_the_message_and_the_kind_gives_the_exit_code() {
        let failure = Failure::usage("No provider is called 'olama'.").hint("Did you mean 'Ollama'?").hint("See agents.config.json.");
        assert_eq!(failure.to_string(), "No provider is called 'olama'.\n  hint: Did you mean 'Ollama'?\n  hint: See agents.config.json.");
        assert_eq!(failure.exit_code(), 1);
        assert_eq!(Failure::approval("x").exit_code(), 2);
        assert_eq!(Failure::interrupted().exit_code(), 130);
    }

    #[test]
    fn the_nearest_name_is_near() {
        let names = ["providers", "defaultMode", "theme", "maxTurns"];
        for (wrong, right) in
            [("provider", Some("providers")), ("maxturn", Some("maxTurns")), ("tehme", Some("theme")), ("x", None), ("", None)]
        {
            assert_eq!(nearest(wrong, names), right, "{wrong}");
        }
    }
}
