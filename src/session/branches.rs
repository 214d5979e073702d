//! The ways that a conversation had taken and that were walked back: they are still in the journal, and can be opened again.

use crate::protocol::{Branch, Record, RecordBody};

/// The first line of a request, short enough for a row.
pub fn first_line(text: &str) -> String {
    text.lines().find(|line| !line.trim().is_empty()).map(|line| line.trim().chars().take(80).collect()).unwrap_or_default()
}

#[derive(Default)]
struct Walk {
    messages: usize,
    /// The requests of the conversation: messages before each, and its first line.
    turns: Vec<(usize, String)>,
    /// What was walked back since the last request. `None`: only files.
    undone: Vec<Option<Cut>>,
    branches: Vec<Branch>,
}

struct Cut {
    messages: usize,
    /// The request in whose midst it was cut.
    within: Option<String>,
    turns: Vec<(usize, String)>,
    position: u64,
    at: u64,
}

/// Oldest first. What can still be brought forward by a redo is none yet.
pub fn branches(records: &[Record]) -> Vec<Branch> {
    let mut walk = Walk::default();
    (0..).zip(records).for_each(|(position, record)| walk.record(position, record));
    walk.branches
}

impl Walk {
    fn record(&mut self, position: u64, record: &Record) {
        match &record.body {
            RecordBody::TurnStarted { prompt, .. } => {
                self.part();
                self.turns.push((self.messages, first_line(&prompt.text)));
            }
            RecordBody::Said { .. } => self.messages += 1,
            RecordBody::Rewound { scope, keep, .. } => {
                let cut = scope.conversation().then(|| {
                    let from = self.turns.partition_point(|(before, _)| before < keep);
                    let (turns, messages) = (self.turns.split_off(from), self.messages.saturating_sub(*keep));
                    let begins = turns.first().map_or(self.messages, |(before, _)| *before) == *keep;
                    let within = self.turns.last().filter(|_| !begins).map(|(_, title)| title.clone());
                    Cut { messages, within, turns, position, at: record.at }
                });
                self.messages -= cut.as_ref().map_or(0, |cut| cut.messages);
                self.undone.push(cut);
            }
            RecordBody::Redone { .. } => {
                if let Some(Some(cut)) = self.undone.pop() {
                    self.messages += cut.messages;
                    self.turns.extend(cut.turns);
                }
            }
            RecordBody::Cleared => {
                self.part();
                let titles = std::mem::take(&mut self.turns).into_iter().map(|(_, title)| title).collect();
                self.keep(titles, position, record.at);
                self.messages = 0;
            }
            _ => {}
        }
    }

    /// The conversation takes another way: the first walk back has all that is cut off before it.
    fn part(&mut self) {
        let mut cuts: Vec<Cut> = std::mem::take(&mut self.undone).into_iter().flatten().collect();
        if let Some(first) = cuts.first() {
            let (position, at) = (first.position, first.at);
            let titles = |cut: Cut| cut.within.into_iter().chain(cut.turns.into_iter().map(|(_, title)| title));
            // Each further one began earlier.
            let titles = cuts.drain(..).rev().flat_map(titles).collect();
            self.keep(titles, position, at);
        }
    }

    fn keep(&mut self, titles: Vec<String>, position: u64, at: u64) {
        let turns = titles.len();
        if let Some(title) = titles.into_iter().next() {
            self.branches.push(Branch { position, title, turns, at });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{CheckpointId, Message, RewindScope, TurnId};

    fn turn(n: u64) -> Vec<RecordBody> {
        let (turn, prompt) = (TurnId(n), format!("\n ask {n} \nmore").into());
        let message = Message::Assistant { text: "yes".into(), reasoning: String::new(), calls: vec![], kept: vec![] };
        vec![
            RecordBody::TurnStarted { turn, prompt },
            RecordBody::Said { turn, message: Message::User(format!("ask {n}").into()) },
            RecordBody::Said { turn, message },
        ]
    }

    fn back(keep: usize, scope: RewindScope) -> Vec<RecordBody> {
        let to = CheckpointId("c".into());
        vec![RecordBody::Rewound { to, scope, keep, marks: 0, before: None, after: None, files: vec![] }]
    }

    fn found(parts: &[Vec<RecordBody>]) -> Vec<(u64, String, usize)> {
        let records: Vec<Record> = parts.concat().into_iter().map(Record::new).collect();
        branches(&records).into_iter().map(|branch| (branch.position, branch.title, branch.turns)).collect()
    }

    #[test]
    fn a_branch_is_what_was_walked_back_before_going_on_differently() {
        use RewindScope::*;
        let redo = || vec![RecordBody::Redone { files: vec![] }];
        let branch = |position, title: &str, turns| (position, title.to_string(), turns);
        let (a, b, c) = (turn(1), turn(2), turn(3));
        // Nothing was walked back, or only files, or it was brought forward again, or it still can be.
        assert_eq!(found(&[a.clone(), b.clone()]), []);
        assert_eq!(found(&[a.clone(), back(0, Files), b.clone()]), []);
        assert_eq!(found(&[a.clone(), back(0, Both), redo(), b.clone()]), []);
        assert_eq!(found(&[a.clone(), b.clone(), back(2, Both)]), []);
        // Another way.
        assert_eq!(found(&[a.clone(), b.clone(), back(2, Both), c.clone()]), [branch(6, "ask 2", 1)]);
        // Twice back: both requests are in what stood before the first.
        assert_eq!(found(&[a.clone(), b.clone(), back(2, Both), back(0, Conversation), c.clone()]), [branch(6, "ask 1", 2)]);
        // Twice back, once forward: only the second is cut off.
        assert_eq!(found(&[a.clone(), b.clone(), back(2, Both), back(0, Both), redo(), c.clone()]), [branch(6, "ask 2", 1)]);
        // In the midst of a turn: what followed its request. Where nothing was cut off there is nothing to open.
        assert_eq!(found(&[a.clone(), back(1, Both), b.clone()]), [branch(3, "ask 1", 1)]);
        assert_eq!(found(&[a.clone(), back(2, Both), b.clone()]), []);
        // An empty conversation leaves all of it behind; what was walked back before it is a branch of its own.
        assert_eq!(found(&[a, b, back(2, Both), vec![RecordBody::Cleared], c]), [branch(6, "ask 2", 1), branch(7, "ask 1", 1)]);
    }
}
