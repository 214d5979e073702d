//! The look of a conversation: each cell of the transcript as rows.
//!
//! Invariants:
//! - one glyph column, then text; nothing is decorated in a way that copying would copy;
//! - every state has its own glyph: nothing is said by colour alone;
//! - texts given are cleaned here; rows given (Markdown, diffs) are taken as they are.

mod said;

pub use said::said;

use crate::spinner::frame;
use crate::text::row::{join, split};
use crate::text::sanitize::{one_line, sanitize, sanitize_output};
use crate::text::span::{Line, Span, Style, spaces};
use crate::text::width::width;
use crate::text::wrap::{cut, truncate, truncate_middle, wrap, wrap_exact, wrap_hanging};
use crate::theme::Role;

/// Cells of the glyph column.
pub const GUTTER: usize = 2;
/// Cells before what belongs to a tool call: its output or diff.
pub const TOOL_INDENT: usize = 4;
/// Cells in which tool names stand, so that what they work on is aligned.
const NAME: usize = 8;

/// Where a tool call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolState {
    Waiting,
    /// With the tick of the spinner; `still` for reduced motion.
    Running {
        tick: u64,
        still: bool,
    },
    Done,
    Failed,
    Denied,
}

impl ToolState {
    fn glyph(self) -> Span {
        match self {
            Self::Waiting => Span::new("·", Role::Dim),
            Self::Running { tick, still } => Span::new(frame(tick, still), Role::Spinner),
            Self::Done => Span::new("✓", Role::Success),
            Self::Failed => Span::new("✗", Style::from(Role::Error).bold()),
            Self::Denied => Span::new("⊘", Role::Warning),
        }
    }
}

/// How loud a notice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Info,
    Warning,
    Error,
}

/// What the user said: `❯ text`. With `max_rows`, the rest is counted.
pub fn user_prompt(text: &str, width: usize, max_rows: Option<usize>) -> Vec<Line> {
    let (first, rest) = (Line::styled("❯ ", Style::from(Role::User).bold()), Line::from(spaces(GUTTER)));
    let clean = sanitize(text);
    let mut rows: Vec<Line> = Vec::new();
    for line in clean.trim_end().split('\n') {
        let prefix = if rows.is_empty() { &first } else { &rest };
        rows.extend(wrap_hanging(&Line::styled(line.to_owned(), Style::new().bold()), width, prefix, &rest));
    }
    shorten(rows, max_rows, GUTTER, width)
}

/// A prompt that waits until the agent is free.
pub fn queued_prompt(text: &str, width: usize) -> Line {
    let text = one_line(text).into_owned();
    truncate(&Line::styled("  ↳ ", Role::Dim).and("queued  ", Role::Dim).with(text), width)
}

/// What the model said: `●` before the first row, the rest below its text. `rows` are laid out for
/// `width - GUTTER`; `begins` is false for rows that go on with an answer already shown.
pub fn assistant(rows: Vec<Line>, begins: bool) -> Vec<Line> {
    let mut glyph = begins;
    rows.into_iter()
        .map(|row| {
            if row.is_empty() && row.fill.is_none() {
                return row;
            }
            if !std::mem::take(&mut glyph) {
                return row.indented(GUTTER);
            }
            let mut line = Line::styled("●", Role::Assistant).with(" ");
            line.fill = row.fill;
            line.extend(row.spans);
            line
        })
        .collect()
}

/// Reasoning that is over: `∴ thought for 6 s`.
pub fn reasoning_folded(seconds: u64, width: usize) -> Line {
    let text = if seconds == 0 { "∴ thought".to_owned() } else { format!("∴ thought for {}", duration(seconds)) };
    truncate(&Line::styled(text, Style::from(Role::Dim).italic()), width)
}

/// Reasoning in full.
pub fn reasoning(text: &str, width: usize) -> Vec<Line> {
    let style = Style::from(Role::Dim).italic();
    let (first, rest) = (Line::styled("∴ ", style), Line::from(spaces(GUTTER)));
    let clean = sanitize(text);
    let mut rows: Vec<Line> = Vec::new();
    for line in clean.trim().split('\n') {
        if line.trim().is_empty() && !rows.is_empty() {
            rows.push(Line::new());
            continue;
        }
        let prefix = if rows.is_empty() { &first } else { &rest };
        rows.extend(wrap_hanging(&Line::styled(line.to_owned(), style), width, prefix, &rest));
    }
    rows
}

/// One row for a tool call: state, name, the argument that matters, the result at the right edge.
pub fn tool_line(state: ToolState, name: &str, argument: &str, result: Line, columns: usize) -> Line {
    let mut left = Line::from(spaces(GUTTER)).with(state.glyph()).with(" ");
    let look = if state == ToolState::Waiting { Style::from(Role::Dim) } else { Style::from(Role::Tool).bold() };
    left.push(Span::new(one_line(name).into_owned(), look));
    let argument = one_line(argument);
    // In a narrow window the column would take the room that the argument needs.
    left = if columns < 60 { left.with(" ") } else { left.pad_to(GUTTER + 2 + NAME).with(if width(name) >= NAME { " " } else { "" }) };
    let result = result.over(Role::Dim);
    let mut room = columns.saturating_sub(left.width());
    let taken = if result.is_empty() { 0 } else { result.width() + 2 };
    let keeps_result = room >= taken + width(&argument).min(12);
    if keeps_result {
        room -= taken;
    }
    let shown = truncate_middle(&argument, room).into_owned();
    left.push(Span::plain(shown));
    if keeps_result { split(left, result, columns, 0) } else { truncate(&left, columns) }
}

/// `+3 −1`.
pub fn change_counts(added: usize, removed: usize) -> Line {
    Line::styled(format!("+{added}"), Role::DiffAdded).and(format!(" −{removed}"), Role::DiffRemoved)
}

/// How far a step of a plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Open,
    Current,
    Done,
}

/// The steps of a plan, below their tool line: what is done is dim, what is at hand stands out, and each says so by its sign. Where
/// there is no room for all, the ones around the first that is not done are shown.
pub fn steps(steps: &[(Step, &str)], max_rows: usize, width: usize) -> Vec<Line> {
    let row = |(step, text): &(Step, &str)| {
        let (sign, style) = match step {
            Step::Open => (Span::new("○ ", Role::Dim), Style::new()),
            Step::Current => (Span::new("▸ ", Role::Accent), Style::new().bold()),
            Step::Done => (Span::new("✓ ", Role::Success), Style::from(Role::Dim)),
        };
        let indent = spaces(TOOL_INDENT);
        let first = Line::from(indent.clone()).with(sign);
        wrap_hanging(&Line::styled(one_line(text).into_owned(), style), width, &first, &Line::from(indent).with("  "))
    };
    let rows: Vec<Vec<Line>> = steps.iter().map(row).collect();
    let total: usize = rows.iter().map(Vec::len).sum();
    if total <= max_rows {
        return rows.into_iter().flatten().collect();
    }
    let at_hand = steps.iter().position(|(step, _)| *step != Step::Done).unwrap_or(steps.len() - 1);
    // One done step above it shows where the work is.
    let from = at_hand.saturating_sub(1);
    let room = max_rows.saturating_sub(1);
    let mut out: Vec<Line> = rows[from..].iter().flatten().take(room).cloned().collect();
    out.push(cut(&Line::styled(format!("… {} steps in all", steps.len()), Role::Dim).indented(TOOL_INDENT), width));
    out.truncate(max_rows);
    out
}

/// The last rows of a command's output, so far or in the end; what is above is counted.
pub fn output_tail(text: &str, max_rows: usize, width: usize) -> Vec<Line> {
    tail(text, max_rows, width, wrap_exact)
}

/// The same of sentences: they break between words.
pub fn words_tail(text: &str, max_rows: usize, width: usize) -> Vec<Line> {
    tail(text, max_rows, width, wrap)
}

fn tail(text: &str, max_rows: usize, width: usize, wrap: fn(&Line, usize) -> Vec<Line>) -> Vec<Line> {
    let room = width.saturating_sub(TOOL_INDENT).max(2);
    let text = text.trim_end_matches(['\n', '\r', ' ']);
    if text.is_empty() || max_rows == 0 {
        return Vec::new();
    }
    // From the end, so that the cost does not grow with the output: the rows, each with the number of its
    // line counted from the end and whether it begins that line.
    let mut rows: Vec<(Line, usize, bool)> = Vec::new();
    for (at, line) in text.rsplit('\n').enumerate() {
        if rows.len() > max_rows {
            break;
        }
        let clean = sanitize_output(line.trim_end_matches('\r')).trim_end().to_owned();
        let wrapped = wrap(&Line::styled(clean, Role::Dim), room);
        rows.extend(wrapped.into_iter().enumerate().rev().map(|(part, row)| (row, at, part == 0)));
    }
    let mut out = Vec::with_capacity(max_rows);
    if rows.len() > max_rows {
        rows.truncate(max_rows.saturating_sub(1).max(1));
        let lines = text.bytes().filter(|b| *b == b'\n').count() + 1;
        let whole = rows.last().map_or(0, |(_, at, begins)| at + usize::from(*begins));
        if max_rows > 1 {
            let hidden = lines - whole;
            out.push(Line::styled(format!("… {hidden} earlier line{}", if hidden == 1 { "" } else { "s" }), Role::Dim));
        }
    }
    out.extend(rows.into_iter().rev().map(|(row, _, _)| row));
    out.into_iter().map(|row| if row.is_empty() { row } else { cut(&row.indented(TOOL_INDENT), width) }).collect()
}

/// Something that the program has to say, with hints what to do.
pub fn notice(level: Level, text: &str, hints: &[&str], width: usize) -> Vec<Line> {
    let (glyph, style) = match level {
        Level::Info => ("› ", Style::from(Role::Accent)),
        Level::Warning => ("! ", Style::from(Role::Warning).bold()),
        Level::Error => ("✗ ", Style::from(Role::Error).bold()),
    };
    let look = if level == Level::Error { Style::from(Role::Error) } else { Style::new() };
    let (first, rest) = (Line::styled(glyph, style), Line::from(spaces(GUTTER)));
    let clean = sanitize(text);
    let mut rows: Vec<Line> = Vec::new();
    for line in clean.trim_end().split('\n') {
        let prefix = if rows.is_empty() { &first } else { &rest };
        rows.extend(wrap_hanging(&Line::styled(line.to_owned(), look), width, prefix, &rest));
    }
    for hint in hints {
        let line = Line::styled(one_line(hint).into_owned(), Role::Dim);
        rows.extend(wrap_hanging(&line, width, &Line::styled("  → ", Role::Dim), &Line::from(spaces(4))));
    }
    rows
}

/// What a turn came to: parts joined by ` · ` on the left, figures at the right edge.
pub fn turn_footer(parts: &[&str], figures: &[&str], width: usize) -> Line {
    let dot = Span::new(" · ", Role::Dim);
    let dim = |texts: &[&str]| join(texts.iter().map(|t| Line::styled(one_line(t).into_owned(), Role::Dim)), &dot);
    let right = dim(figures);
    // Whole parts give way, the last first; half a part says nothing.
    for kept in (1..=parts.len()).rev() {
        let mut row = Line::styled("  ◇ ", Role::Accent);
        row.extend(dim(&parts[..kept]).spans);
        if kept == 1 || row.width() + 2 + right.width() <= width {
            return split(row, right, width, 12);
        }
    }
    let left = if parts.is_empty() { Line::new() } else { Line::styled("  ◇", Role::Accent) };
    split(left, right, width, 1)
}

/// The header of a session, at most 3 rows: name and version, where it runs, what keys there are.
pub fn welcome(name: &str, version: &str, parts: &[&str], keys: &[(&str, &str)], width: usize) -> Vec<Line> {
    let dot = Span::new(" · ", Role::Dim);
    let title = Line::styled(format!("  {name}"), Style::from(Role::Accent).bold()).and(format!(" {version}"), Role::Dim);
    let whole = join([title.clone(), join(parts.iter().map(|p| Line::plain(one_line(p).into_owned())), &dot)], &dot);
    let mut rows = if whole.width() <= width {
        vec![whole]
    } else {
        let below = join(parts.iter().map(|p| Line::plain(one_line(p).into_owned())), &dot).indented(GUTTER);
        vec![title, truncate(&below, width)]
    };
    let mut hints = Line::new();
    for (key, what) in keys {
        let longer = hints.clone().with(spaces(if hints.is_empty() { 2 } else { 3 }));
        let longer = longer.and((*key).to_owned(), Role::Accent).and(format!(" {what}"), Role::Dim);
        if longer.width() > width {
            break;
        }
        hints = longer;
    }
    if !hints.is_empty() {
        rows.push(hints);
    }
    rows
}

/// The rule above the prompt, shorter than the row so that no terminal wraps it when it shrinks a little.
pub fn rule(width: usize) -> Line {
    Line::styled(format!(" {}", "─".repeat(width.saturating_sub(4))), Role::Border)
}

/// What the agent is doing, above the prompt: spinner, what, how long, and what stops it.
pub fn busy_line(tick: u64, still: bool, what: &str, details: &[&str], width: usize) -> Line {
    let left = Line::styled(frame(tick, still), Role::Spinner).with(" ").with(one_line(what).into_owned());
    let dot = Span::new(" · ", Role::Dim);
    let details = join(details.iter().map(|t| Line::styled(one_line(t).into_owned(), Role::Dim)), &dot);
    split(left, details, width, 12)
}

/// `6 s`, `2 min 5 s`, `1 h 3 min`.
pub fn duration(seconds: u64) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, 0) => format!("{m} min"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, 0, _) => format!("{h} h"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

/// `just now`, `12 s ago`, `5 min ago`, `3 h ago`, `2 days ago`: no finer than anybody wants to know.
pub fn ago(seconds: u64) -> String {
    match seconds {
        0..5 => "just now".into(),
        5..60 => format!("{seconds} s ago"),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..172_800 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

fn shorten(mut rows: Vec<Line>, max_rows: Option<usize>, indent: usize, width: usize) -> Vec<Line> {
    let Some(max) = max_rows.filter(|max| rows.len() > *max) else { return rows };
    let kept = max.saturating_sub(1);
    let hidden = rows.len() - kept;
    rows.truncate(kept);
    rows.push(cut(&Line::styled(format!("… {hidden} more rows"), Role::Dim).indented(indent), width));
    rows
}

#[cfg(test)]
mod tests;
