//! What tools show, as rows: the only place that knows both a `Block` and how it looks.

use super::cell::ALL_ROWS;
use super::chain;
use crate::{
    command_line,
    protocol::{Access, Block, FileChange, TodoState, is_own_file},
};
use backstitch_components::{
    chat_log::{self, TOOL_INDENT, change_counts, output_tail},
    diff_view::DiffModel,
    markdown::render,
    text::{sanitize::one_line, span::Line},
    theme::Role,
};
use std::{collections::HashMap, sync::Arc};

/// A block made ready to be drawn: what is costly to find out is found out once.
#[derive(Debug)]
pub struct Shown {
    block: Block,
    diffs: Vec<Arc<DiffModel>>,
}

impl Shown {
    pub fn new(block: Block) -> Self {
        let diffs = match &block {
            Block::Diff(changes) => changes.iter().filter(|c| !c.binary).map(|c| Arc::new(diff_model(c))).collect(),
            _ => vec![],
        };
        Shown { block, diffs }
    }

    /// Rows below the tool line; at the most `max_rows`, with a count of what is left out.
    pub fn rows(&self, width: usize, max_rows: usize) -> Vec<Line> {
        match &self.block {
            Block::Nothing => vec![],
            Block::Diff(changes) => self.diff_rows(changes, width, max_rows),
            Block::Command { command, .. } => chain::rows(command, width),
            Block::Markdown(text) => document(text, width, max_rows),
            Block::Terminal { output: text, .. } | Block::Text(text) | Block::Code { text, .. } => output_tail(text, max_rows, width),
            Block::Files(files) => {
                let names = files.iter().map(|f| format!("{}{}", f.path.display(), if f.folder { "/" } else { "" }));
                output_tail(&names.collect::<Vec<_>>().join("\n"), max_rows, width)
            }
            Block::Image(image) => vec![Line::styled(one_line(&image.label).into_owned(), Role::Dim).indented(TOOL_INDENT)],
            Block::Todo(items) => {
                let items: Vec<(chat_log::Step, &str)> = items.iter().map(|item| (step(item.state), item.content.as_str())).collect();
                chat_log::steps(&items, max_rows, width)
            }
            Block::Hits(hits) => {
                let lines = hits.iter().map(|h| format!("{}:{}: {}", h.path.display(), h.line, h.text));
                output_tail(&lines.collect::<Vec<_>>().join("\n"), max_rows, width)
            }
        }
    }

    fn diff_rows(&self, changes: &[FileChange], width: usize, max_rows: usize) -> Vec<Line> {
        let text = self.diffs.iter().flat_map(|diff| {
            let rows = diff.rows(width.saturating_sub(DIFF_INDENT), Some(max_rows));
            rows.into_iter().map(|row| row.indented(DIFF_INDENT))
        });
        binaries(changes).chain(text).collect()
    }

    /// The first rows of what a question is about, and how many lines there are beside them.
    pub fn beginning(&self, width: usize, max_rows: usize) -> (Vec<Line>, usize) {
        if let Block::Markdown(text) = &self.block {
            let rows = document(text, width, ALL_ROWS);
            // What somebody says yes to is seen: addresses behind links, surplus cells of a table.
            let rows = if tells_all(&rows, text) { rows } else { output_tail(text, ALL_ROWS, width) };
            return (rows, 0);
        }
        let Block::Diff(changes) = &self.block else { return (self.rows(width, max_rows), 0) };
        let mut rows: Vec<Line> = binaries(changes).collect();
        let (room, mut missing) = (width.saturating_sub(DIFF_INDENT), 0);
        for diff in &self.diffs {
            let first = if diff.hunk_count() == 0 { diff.rows(room, None) } else { diff.window(0..max_rows, room, true) };
            rows.extend(first.into_iter().map(|row| row.indented(DIFF_INDENT)));
            missing += diff.line_count().saturating_sub(max_rows);
        }
        (rows, missing)
    }

    /// Does it open by itself below a call that went well? What was only read does not.
    pub fn opens(&self) -> bool {
        matches!(self.block, Block::Diff(_) | Block::Terminal { .. } | Block::Todo(_) | Block::Markdown(_))
    }

    pub fn diffs(&self) -> &[Arc<DiffModel>] {
        &self.diffs
    }

    /// Text to be read from its beginning.
    pub fn document(&self) -> Option<&str> {
        match &self.block {
            Block::Markdown(text) => Some(text),
            _ => None,
        }
    }

    pub fn is_list(&self) -> bool {
        matches!(self.block, Block::Todo(_))
    }

    pub fn is_diff(&self) -> bool {
        matches!(self.block, Block::Diff(_))
    }

    /// `+3 −1` for edits, nothing for the rest.
    pub fn counts(&self) -> Line {
        if self.diffs.is_empty() {
            return Line::new();
        }
        let stats = self.stats();
        change_counts(stats.0, stats.1)
    }

    /// Lines added and removed.
    pub fn stats(&self) -> (usize, usize) {
        self.diffs.iter().map(|d| d.stats()).fold((0, 0), |sum, s| (sum.0 + s.0, sum.1 + s.1))
    }
}

/// A diff's numbers stand further right than its sign column needs.
const DIFF_INDENT: usize = TOOL_INDENT - 2;

/// Its beginning, if there is no room for all.
fn document(text: &str, width: usize, max_rows: usize) -> Vec<Line> {
    let mut rows: Vec<Line> =
        render(text, width.saturating_sub(TOOL_INDENT).max(2)).into_iter().map(|row| row.indented(TOOL_INDENT)).collect();
    if rows.len() > max_rows {
        let hidden = rows.len() + 1 - max_rows;
        rows.truncate(max_rows.saturating_sub(1));
        rows.push(Line::styled(format!("… {hidden} more rows"), Role::Dim).indented(TOOL_INDENT));
    }
    rows
}

/// Is every word of a text, as often as it is there, in its rows? The language of a code block need not be.
fn tells_all(rows: &[Line], text: &str) -> bool {
    let mut counts: HashMap<String, isize> = HashMap::new();
    let mut count = |text: &str, by: isize| {
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            *counts.entry(word.to_owned()).or_default() += by;
        }
    };
    rows.iter().for_each(|row| count(&row.text(), -1));
    text.lines().filter(|line| !line.trim_start().starts_with("```")).for_each(|line| count(line, 1));
    counts.values().all(|left| *left <= 0)
}

fn binaries(changes: &[FileChange]) -> impl Iterator<Item = Line> {
    changes.iter().filter(|c| c.binary).map(|c| {
        let name = one_line(&c.path.to_string_lossy()).into_owned();
        Line::styled(format!("{name}: a binary file"), Role::Dim).indented(TOOL_INDENT)
    })
}

pub fn diff_model(change: &FileChange) -> DiffModel {
    if change.binary {
        return DiffModel::binary(change.old.is_some(), change.new.is_some(), &change.path.to_string_lossy());
    }
    DiffModel::new(change.old.as_deref(), change.new.as_deref(), &change.path.to_string_lossy())
}

fn step(state: TodoState) -> chat_log::Step {
    match state {
        TodoState::Pending => chat_log::Step::Open,
        TodoState::InProgress => chat_log::Step::Current,
        TodoState::Completed => chat_log::Step::Done,
    }
}

/// What a call is about to do, in the words of the question.
pub fn question(access: &Access, root: &std::path::Path) -> &'static str {
    match access {
        Access::Read(paths) if paths.iter().all(|p| p.starts_with(root)) => "Read this? It may hold secrets.",
        Access::Read(_) => "Read this, outside the project?",
        Access::Write(paths) if paths.iter().any(|p| !p.starts_with(root)) => "Write this, outside the project?",
        Access::Write(paths) if paths.iter().any(|p| !is_own_file(root, p)) => "Write this? It steers git, or Backstitch.",
        Access::Write(paths) if paths.iter().any(|p| command_line::is_secret(p)) => "Write this? It may hold secrets.",
        Access::Write(_) => "Make this change?",
        Access::Run { .. } => "Run this command?",
        Access::Network { .. } => "Connect to this host?",
        Access::Plan => "Go ahead with this plan?",
        Access::Question { .. } => "The model asks:",
        Access::Job { end: false, .. } => "Read what this command prints?",
        Access::Job { end: true, .. } => "End this command?",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(plan: &str) -> (String, bool) {
        let (rows, missing) = Shown::new(Block::Markdown(plan.into())).beginning(60, 3);
        assert_eq!(missing, 0, "{plan}");
        let text = rows.iter().map(Line::text).collect::<Vec<_>>().join("\n");
        let drawn = !text.contains(plan.lines().next().unwrap_or_default());
        (text, drawn)
    }

    #[test]
    fn all_of_a_plan_is_on_the_screen_before_it_is_accepted() {
        for (plan, hidden) in [
            ("# Plan\n\nRead [the docs](https://evil.invalid/run).", "evil.invalid"),
            ("# Plan\n\n| a | b |\n|---|---|\n| 1 | 2 | rm everything |", "rm everything"),
            ("# Plan\n\n![x](a.png \"and then push\")", "and then push"),
            ("# Plan\n\n<!-- and then push -->", "and then push"),
            ("# Plan\n\n[x]: https://evil.invalid/a", "evil.invalid"),
        ] {
            let (text, _) = seen(plan);
            assert!(text.contains(hidden), "{plan}\n{text}");
        }
        let (text, drawn) = seen("# Plan\n\n1. **Add** `x` to *y*\n2. Test\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```rust\nfn x() {}\n```");
        assert!(drawn && !text.contains("**") && !text.contains("```"), "{text}");
    }
}
