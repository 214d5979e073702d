//! What stands below both sides of the browser: the keys, or the question that is to be answered.
//!
//! Invariants: hints come in the order of their use, so that what does not fit is what is needed least; each choice has its letter.

use super::changes::Changes;
use super::timeline::ONE_ROW;
use super::view::left;
use super::{Against, Browser, Scope, Step};
use crate::key_hints::Hint;
use crate::list::Item;
use crate::text::sanitize::one_line;
use crate::text::span::{Line, Span, Style};
use crate::text::wrap::{cut, truncate};
use crate::theme::Role;

/// One answer to what goes back.
pub(super) struct Choice {
    pub scope: Scope,
    key: char,
    label: String,
}

pub(super) fn items(choices: &[Choice]) -> Vec<Item> {
    choices.iter().map(|choice| Item::new(Line::from(Span::plain(choice.label.clone()))).key(choice.key)).collect()
}

impl Browser {
    /// What can go back. Where files are left out, the others go back alone: the conversation would tell of all of them.
    pub(super) fn choices(&self) -> Vec<Choice> {
        let conversation = self.entry().is_some_and(|entry| entry.conversation);
        let choice = |scope, key, label: &str| Choice { scope, key, label: label.to_owned() };
        let mut choices = match self.changes.chosen().map(|files| files.len()) {
            None if conversation => vec![choice(Scope::Both, 'b', "files and conversation"), choice(Scope::Files, 'f', "files only")],
            None => vec![choice(Scope::Files, 'f', "files only")],
            Some(0) => vec![],
            Some(1) => vec![choice(Scope::Files, 'f', "this one file only")],
            Some(n) => vec![choice(Scope::Files, 'f', &format!("these {n} files only"))],
        };
        if conversation {
            choices.push(choice(Scope::Conversation, 'c', "conversation only"));
        }
        choices
    }

    pub(super) fn footer(&self, width: usize) -> Vec<Line> {
        let two = left(width) > 0;
        // Beside the timeline it is seen anyway.
        let notes = || if two { vec![] } else { self.changes.notes(width) };
        let mut rows = vec![rule(width)];
        match &self.step {
            Step::Look if !two && !self.in_changes && width >= ONE_ROW && !self.entries.is_empty() => rows.extend(notes()),
            Step::Look | Step::Skipped(_) => rows.clear(),
            Step::Rename(_) => rows.push(self.field(width).0),
            Step::Filter(_) => {
                rows.extend(notes());
                rows.push(self.field(width).0);
            }
            Step::Delete => {
                let (title, pinned) = self.entry().map_or(("", false), |entry| (entry.title.as_str(), entry.pinned));
                let question = if pinned { "  Delete the pinned " } else { "  Delete " };
                let row =
                    Line::styled(question, Style::from(Role::Warning).bold()).and(format!("“{}”?", one_line(title)), Style::new().bold());
                rows.push(truncate(&row, width));
            }
            Step::Scope(list) => {
                let choices = self.choices();
                rows.push(truncate(&Line::styled("  What should be as it was then?", Style::new().bold()), width));
                rows.extend(notes());
                let called = |item: Item| {
                    let name = item.key.and_then(|key| self.names.name(key.encode_utf8(&mut [0; 4])));
                    item.called(name)
                };
                let items: Vec<Item> = items(&choices).into_iter().map(called).collect();
                rows.extend(list.clone().view(&items, width, choices.len(), true));
                if choices.is_empty() {
                    rows.push(cut(&Line::styled("  every file is left out", Role::Dim), width));
                }
                let safe = if width < ONE_ROW { "." } else { ", so that this can be undone." };
                rows.push(cut(&Line::styled(format!("  A checkpoint of now is taken first{safe}"), Role::Dim), width));
            }
        }
        rows.push(self.changes.sign().map_or_else(|| self.names.row(&self.hints(), width), |sign| truncate(&sign, width)));
        rows
    }

    fn hints(&self) -> Vec<Hint<'static>> {
        match &self.step {
            Step::Look => self.look_hints(),
            Step::Skipped(_) => vec![("esc", "back"), ("up down", "scroll")],
            Step::Rename(_) => vec![("enter", "rename"), ("esc", "keep the name")],
            Step::Filter(_) => vec![("enter", "keep the filter"), ("esc", "all files")],
            Step::Delete => vec![("y", "delete"), ("n", "keep")],
            Step::Scope(_) if self.choices().is_empty() => vec![("esc", "look again")],
            Step::Scope(_) => vec![("enter", "go back"), ("esc", "look again")],
        }
    }

    /// The row of the text that is being typed, and the column of its cursor.
    pub(super) fn field(&self, width: usize) -> (Line, Option<usize>) {
        let label = |text: &'static str| Line::styled(text, Style::from(Role::Accent).bold());
        let (row, column) = match &self.step {
            Step::Rename(text) => text.field(label("  Name  "), "what it is called", width),
            Step::Filter(text) => text.field(label("  Files  "), "part of a path", width),
            _ => return (Line::new(), None),
        };
        (row, Some(column))
    }

    fn look_hints(&self) -> Vec<Hint<'static>> {
        if self.entries.is_empty() {
            return vec![("esc", "close")];
        }
        if self.changes.is_searching() {
            return vec![("enter", "find"), ("esc", "back")];
        }
        let against = against(&self.changes);
        let mut hints = if self.in_changes {
            let chooses = self.changes.is_plan() && self.changes.count() > 0;
            let turn = if self.changes.is_left_out() { "take again" } else { "leave out" };
            let mut hints = if chooses { vec![("space", turn)] } else { vec![] };
            hints.extend([("esc", "back"), ("?", "keys"), ("enter", "go back")]);
            if self.changes.count() > 1 {
                hints.push(("tab", "file"));
            }
            hints.extend([("left right", "hunk"), ("y", "copy hunk"), against]);
            hints
        } else {
            let mut hints = vec![("enter", "go back"), ("right", "changes"), ("?", "keys"), ("esc", "close"), against];
            hints.extend([("f", "filter"), ("p", "pin"), ("r", "rename"), ("d", "delete")]);
            hints
        };
        if !self.changes.skipped().is_empty() {
            // Before what is only convenient: this one must not be cut off.
            hints.insert(hints.len().min(3), ("l", "left as they are"));
        }
        hints
    }
}

/// A line over a question, which the line between the columns ends in.
fn rule(width: usize) -> Line {
    let mut rule = "─".repeat(width);
    if let Some(at) = left(width).checked_sub(1) {
        rule = format!("{}┴{}", "─".repeat(at), "─".repeat(width - at - 1));
    }
    Line::styled(rule, Role::Border)
}

fn against(changes: &Changes) -> Hint<'static> {
    ("c", if changes.against == Against::Now { "against previous" } else { "against now" })
}
