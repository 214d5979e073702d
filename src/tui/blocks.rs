//! What tools show, as rows: the only place that knows both a `Block` and how it looks.

use crate::protocol::{Access, Block, FileChange};
use backstitch_components::{
    chat_log::{TOOL_INDENT, change_counts, output_tail},
    code::Highlighter,
    diff_view::DiffModel,
    text::{sanitize::reveal, span::Line, wrap::wrap_hanging},
    theme::Role,
};

/// Rows of a block below its tool line; at the most `max_rows`, with a count of what is left out.
pub fn rows(block: &Block, width: usize, max_rows: Option<usize>) -> Vec<Line> {
    match block {
        Block::Nothing => vec![],
        Block::Diff(changes) => changes.iter().flat_map(|c| diff(c, width, max_rows)).collect(),
        Block::Command { command, .. } => command_rows(command, width),
        Block::Terminal { output, .. } => output_tail(output, max_rows.unwrap_or(usize::MAX), width),
        Block::Text(text) | Block::Markdown(text) => output_tail(text, max_rows.unwrap_or(usize::MAX), width),
        Block::Code { text, .. } => output_tail(text, max_rows.unwrap_or(usize::MAX), width),
        Block::Files(files) => {
            let names = files.iter().map(|f| format!("{}{}", f.path.display(), if f.folder { "/" } else { "" }));
            output_tail(&names.collect::<Vec<_>>().join("\n"), max_rows.unwrap_or(usize::MAX), width)
        }
        Block::Hits(hits) => {
            let lines = hits.iter().map(|h| format!("{}:{}: {}", h.path.display(), h.line, h.text));
            output_tail(&lines.collect::<Vec<_>>().join("\n"), max_rows.unwrap_or(usize::MAX), width)
        }
    }
}

/// Does the block open by itself below a call that went well? What was only read does not.
pub fn opens(block: &Block) -> bool {
    matches!(block, Block::Diff(_) | Block::Terminal { .. })
}

fn model(change: &FileChange) -> DiffModel {
    DiffModel::new(change.old.as_deref(), change.new.as_deref(), &change.path.to_string_lossy())
}

fn diff(change: &FileChange, width: usize, max_rows: Option<usize>) -> Vec<Line> {
    let indent = TOOL_INDENT - 2;
    if change.binary {
        return vec![Line::styled("binary file", Role::Dim).indented(TOOL_INDENT)];
    }
    model(change).rows(width.saturating_sub(indent), max_rows).into_iter().map(|row| row.indented(indent)).collect()
}

/// `+3 −1` for edits, nothing for the rest.
pub fn counts(block: &Block) -> Line {
    match block {
        Block::Diff(changes) => {
            let stats = changes.iter().map(|c| model(c).stats()).fold((0, 0), |sum, s| (sum.0 + s.0, sum.1 + s.1));
            change_counts(stats.0, stats.1)
        }
        _ => Line::new(),
    }
}

/// A command in full: each of its lines, wrapped, never cut, nothing in it invisible: nobody can approve what they could not read.
fn command_rows(command: &str, width: usize) -> Vec<Line> {
    let mut highlighter = Highlighter::for_language("sh");
    let clean = reveal(command);
    let mut rows = vec![];
    for (n, line) in clean.trim_end().split('\n').enumerate() {
        let mark = if n == 0 { "    $ " } else { "      " };
        let line: Line = highlighter.push_line(line).into_iter().collect();
        rows.extend(wrap_hanging(&line, width, &Line::styled(mark, Role::Dim), &Line::plain("      ")));
    }
    rows
}

/// What a call is about to do, in the words of the question.
pub fn question(access: &Access, root: &std::path::Path) -> &'static str {
    match access {
        Access::Read(_) => "Read this, outside the project?",
        Access::Write(paths) if paths.iter().any(|p| !p.starts_with(root)) => "Write this, outside the project?",
        Access::Write(_) => "Make this change?",
        Access::Run { .. } => "Run this command?",
        Access::Network { .. } => "Connect to this host?",
    }
}
