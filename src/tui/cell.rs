//! The parts of the conversation, and how each looks: folded to what matters, or opened.

use super::blocks::Shown;
use crate::protocol::*;
use backstitch_components::{
    chat_log::{self, GUTTER, ToolState},
    diff_view::Change,
    markdown::render,
    text::span::Line,
};
use std::{sync::Arc, time::Duration};

/// Rows of a diff that are printed without being asked for.
pub const DIFF_ROWS: usize = 24;
pub const OUTPUT_ROWS: usize = 6;
/// Rows that are printed when all is asked for: more would hold the keyboard while they are coloured.
pub const ALL_ROWS: usize = 2_000;
/// Rows of a prompt that are printed: a pasted log is not read again on the screen.
pub const PROMPT_ROWS: usize = 20;

/// Parts of a kind stand together; between kinds there is an empty row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    User,
    Answer,
    Reasoning,
    Call,
    Notice,
    Footer,
}

/// A finished part of the conversation.
#[derive(Debug, Clone)]
pub enum Cell {
    User(String),
    Answer(String),
    Reasoning {
        text: String,
        took: Duration,
    },
    Call(Box<CallCell>),
    /// Reads of the same kind that stand together: one line for all.
    Reads(Vec<CallCell>),
    Notice(Notice),
    Footer {
        parts: Vec<String>,
        figures: Vec<String>,
    },
    /// Plain rows of a slash command.
    Said(String),
}

#[derive(Debug, Clone)]
pub struct CallCell {
    pub id: CallId,
    pub name: String,
    pub title: String,
    pub access: Option<Access>,
    /// What it is about to do.
    pub shown: Arc<Shown>,
    pub state: CallState,
    /// The rule that makes it a question.
    pub why: Option<Box<str>>,
    /// What a running command has printed so far: its tail.
    pub output: String,
}

impl CallCell {
    /// A read that went well needs no line of its own.
    pub fn folds(&self) -> bool {
        let read = self.access.as_ref().is_some_and(Access::is_read) && !self.shown.is_list();
        read && matches!(&self.state, CallState::Finished(Outcome::Done(output)) if !output.failed)
    }

    /// What it would write, where that is one text.
    pub fn editable(&self) -> Option<Editable<'_>> {
        match self.shown.diffs() {
            [diff] if diff.change() != Change::Deleted => Some(Editable { text: diff.new_text(), path: diff.path() }),
            _ => self.plan().map(|text| Editable { text, path: "plan.md" }),
        }
    }

    /// The answers that the model offers to its question.
    pub fn options(&self) -> Option<&[String]> {
        match &self.access {
            Some(Access::Question { options }) => Some(options),
            _ => None,
        }
    }

    /// The plan that the user is asked about.
    pub fn plan(&self) -> Option<&str> {
        self.shown.document().filter(|_| self.access == Some(Access::Plan))
    }

    fn summary(&self) -> String {
        match &self.state {
            CallState::Finished(Outcome::Done(output)) => output.summary.clone(),
            _ => String::new(),
        }
    }
}

/// What the user may change before it is done.
pub struct Editable<'a> {
    pub text: &'a str,
    /// Of the file, or what it would be called.
    pub path: &'a str,
}

#[derive(Debug, Clone, PartialEq)]
pub enum CallState {
    Waiting,
    Asked,
    Running,
    Finished(Outcome),
}

pub fn tool_state(outcome: &Outcome) -> ToolState {
    match outcome {
        Outcome::Done(output) if output.failed => ToolState::Failed,
        Outcome::Done(_) => ToolState::Done,
        Outcome::Failed(_) => ToolState::Failed,
        Outcome::Denied { .. } | Outcome::Forbidden(_) | Outcome::Interrupted { .. } => ToolState::Denied,
    }
}

/// `✓ View    a.rs, b.rs, c.rs      ×3`
pub fn reads_row(reads: &[CallCell], width: usize) -> Line {
    let (name, titles) = (reads.first().map_or("", |r| &r.name), reads.iter().map(|r| r.title.as_str()).collect::<Vec<_>>());
    let count = if reads.len() > 1 { format!("×{}", reads.len()) } else { reads.first().map_or(String::new(), CallCell::summary) };
    chat_log::tool_line(ToolState::Done, name, &titles.join(", "), count.into(), width)
}

fn call_rows(call: &CallCell, width: usize, open: bool) -> Vec<Line> {
    let CallState::Finished(outcome) = &call.state else {
        return vec![chat_log::tool_line(ToolState::Denied, &call.name, &call.title, "interrupted".into(), width)];
    };
    let most = if open { ALL_ROWS } else { OUTPUT_ROWS };
    let (result, below) = match outcome {
        Outcome::Done(output) => {
            let shown = Shown::new(output.for_user.clone());
            let result = match shown.counts() {
                counts if counts.is_empty() => Line::plain(output.summary.clone()),
                counts => counts,
            };
            let limit = if open {
                ALL_ROWS
            } else if shown.is_diff() || shown.is_list() || shown.document().is_some() {
                DIFF_ROWS
            } else {
                OUTPUT_ROWS
            };
            (result, if open || shown.opens() || output.failed { shown.rows(width, limit) } else { vec![] })
        }
        Outcome::Failed(why) => ("failed".into(), chat_log::words_tail(why, most, width)),
        Outcome::Forbidden(why) => ("not allowed".into(), chat_log::words_tail(why, most, width)),
        Outcome::Denied { reason: None } => ("declined".into(), vec![]),
        Outcome::Denied { reason: Some(reason) } => ("declined".into(), chat_log::words_tail(reason, most, width)),
        Outcome::Interrupted { output } => ("interrupted".into(), chat_log::output_tail(output, most, width)),
    };
    let mut rows = vec![chat_log::tool_line(tool_state(outcome), &call.name, &call.title, result, width)];
    rows.extend(below);
    rows
}

/// `open`: all of it, not only what matters.
pub fn cell_rows(cell: &Cell, width: usize, open: bool) -> (Kind, Vec<Line>) {
    match cell {
        Cell::User(text) => (Kind::User, chat_log::user_prompt(text, width, (!open).then_some(PROMPT_ROWS))),
        Cell::Answer(text) => (Kind::Answer, chat_log::assistant(render(text, width.saturating_sub(GUTTER)), true)),
        Cell::Reasoning { text, .. } if open => (Kind::Reasoning, chat_log::reasoning(text, width)),
        Cell::Reasoning { took, .. } => (Kind::Reasoning, vec![chat_log::reasoning_folded(took.as_secs(), width)]),
        Cell::Call(call) => (Kind::Call, call_rows(call, width, open)),
        Cell::Reads(reads) if open => (Kind::Call, reads.iter().flat_map(|read| call_rows(read, width, false)).collect()),
        Cell::Reads(reads) => (Kind::Call, vec![reads_row(reads, width)]),
        Cell::Notice(notice) => {
            let level = match notice.level {
                Level::Info => chat_log::Level::Info,
                Level::Warning => chat_log::Level::Warning,
                Level::Error => chat_log::Level::Error,
            };
            let hints: Vec<&str> = notice.hints.iter().map(String::as_str).collect();
            (Kind::Notice, chat_log::notice(level, &notice.text, &hints, width))
        }
        Cell::Footer { parts, figures } => {
            let (parts, figures): (Vec<&str>, Vec<&str>) =
                (parts.iter().map(String::as_str).collect(), figures.iter().map(String::as_str).collect());
            (Kind::Footer, vec![chat_log::turn_footer(&parts, &figures, width)])
        }
        Cell::Said(text) => (Kind::Notice, chat_log::said(text, width)),
    }
}

/// Is there more of it than is shown? Only such parts can be opened.
pub fn has_more(cell: &Cell, width: usize) -> bool {
    match cell {
        Cell::Reads(_) | Cell::Reasoning { .. } => true,
        Cell::User(_) | Cell::Call(_) => cell_rows(cell, width, false).1 != cell_rows(cell, width, true).1,
        Cell::Answer(_) | Cell::Notice(_) | Cell::Footer { .. } | Cell::Said(_) => false,
    }
}
