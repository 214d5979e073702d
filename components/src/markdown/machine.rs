//! The block machine: one line in, the pieces that it settles out.
//!
//! Invariants:
//! - what it holds back is bounded: 8 lines or 2,000 bytes of a paragraph, 500 rows of a table;
//! - a line changes only the state after it, never a piece already given out;
//! - an open fence ends with its own marks, its quote or the text, and with nothing else.

use super::blocks::{self, FenceOpen, ListMarker};
use super::inline::{inline, open_delimiters};
use super::layout::{Body, Piece};
use super::table::Table;
use crate::code::Highlighter;
use crate::text::sanitize::Clean;
use crate::text::span::{Line, Span, Style, spaces};
use crate::text::width::width;
use crate::theme::Role;

const MAX_HELD_LINES: usize = 8;
const MAX_HELD_BYTES: usize = 2_000;
const MAX_TABLE_ROWS: usize = 500;
/// Of a table, a preview shows this many of the last rows.
const PREVIEW_TABLE_ROWS: usize = 40;
/// Deeper nesting is shown as text.
const MAX_DEPTH: usize = 16;

#[derive(Clone)]
enum Container {
    Quote,
    Item {
        /// Columns to take off from a line that belongs to the item.
        content: usize,
        marker: String,
        /// The marker has not been shown yet.
        fresh: bool,
    },
}

impl Container {
    /// What stands before the first row of a piece; uses up a fresh list marker.
    fn first(&mut self) -> Span {
        match self {
            Self::Item { marker, fresh, .. } if *fresh => {
                *fresh = false;
                Span::new(marker.clone(), Role::Dim)
            }
            other => other.rest(),
        }
    }

    /// What stands before each further row.
    fn rest(&self) -> Span {
        match self {
            Self::Quote => Span::new("│ ", Role::Border),
            Self::Item { marker, .. } => spaces(width(marker)),
        }
    }
}

#[derive(Clone, Default)]
enum Leaf {
    #[default]
    None,
    Paragraph {
        held: Vec<String>,
        /// Lines of it have settled already.
        begun: bool,
    },
    Fence {
        open: FenceOpen,
        code: Highlighter,
    },
    Indented {
        /// Blank lines that belong to the code if more code follows.
        blanks: usize,
    },
    Table(Table),
}

/// What a piece is, to decide about the blank row before it.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Text,
    Heading,
    Code,
    Table,
    Rule,
}

#[derive(Clone, Default)]
pub(super) struct Machine {
    containers: Vec<Container>,
    leaf: Leaf,
    out: Vec<Piece>,
    /// The source had a blank line since the last piece.
    gap: bool,
    last: Option<Kind>,
    /// Containers that the last piece lay in and that are still open.
    shared: usize,
    /// The next piece begins a block.
    begins: bool,
    /// Runs on text that may go on: open delimiters are closed for the look of it.
    previews: bool,
}

impl Machine {
    /// The pieces settled since the last call.
    pub fn take(&mut self) -> Vec<Piece> {
        std::mem::take(&mut self.out)
    }

    /// A copy to run to the end of the text so far; its size is bounded.
    pub fn preview(&self) -> Machine {
        let leaf = match &self.leaf {
            Leaf::Table(table) => Leaf::Table(Table {
                header: table.header.clone(),
                align: table.align.clone(),
                body: table.body[table.body.len().saturating_sub(PREVIEW_TABLE_ROWS)..].to_vec(),
            }),
            other => other.clone(),
        };
        let Self { containers, gap, last, shared, begins, .. } = self;
        Machine {
            containers: containers.clone(),
            leaf,
            out: Vec::new(),
            gap: *gap,
            last: *last,
            shared: *shared,
            begins: *begins,
            previews: true,
        }
    }

    /// Takes one line, without its `\n`.
    pub fn line(&mut self, raw: &str) {
        let raw = raw.strip_suffix('\r').unwrap_or(raw);
        let clean = Clean::default().apply(raw);
        let (matched, rest) = self.match_containers(&clean);
        let fenced = matches!(self.leaf, Leaf::Fence { .. });
        if fenced && matched == self.containers.len() {
            self.fence_line(rest);
        } else if blocks::is_blank(rest) {
            self.blank_line(matched);
        } else {
            self.block_line(matched, rest);
        }
    }

    /// Ends the text.
    pub fn end(&mut self) {
        self.close_to(0);
        self.gap = false;
    }

    /// How many of the open containers the line belongs to, and what is left of it.
    fn match_containers<'a>(&self, line: &'a str) -> (usize, &'a str) {
        let mut rest = line;
        let fenced = matches!(self.leaf, Leaf::Fence { .. });
        for (at, container) in self.containers.iter().enumerate() {
            match container {
                Container::Quote => match blocks::quote(rest) {
                    Some(inner) => rest = inner,
                    None => return (at, rest),
                },
                Container::Item { content, .. } => {
                    let indent = blocks::indent(rest);
                    if blocks::is_blank(rest) {
                        rest = rest.get(*content..).unwrap_or("");
                    } else if indent >= *content {
                        rest = &rest[*content..];
                    } else if fenced {
                        // Models indent fences in lists badly; the fence's own end decides.
                        rest = &rest[indent..];
                    } else if indent >= 2 && blocks::list_marker(&rest[indent..]).is_some() {
                        // `1. a` with `  - b` below it is meant as nested, though it lacks a column.
                        rest = &rest[indent..];
                    } else {
                        return (at, rest);
                    }
                }
            }
        }
        (self.containers.len(), rest)
    }

    fn blank_line(&mut self, matched: usize) {
        if let Leaf::Indented { blanks } = &mut self.leaf {
            *blanks += 1;
        } else {
            self.end_leaf();
        }
        if matched < self.containers.len() {
            self.close_to(matched);
        }
        self.gap = true;
    }

    fn block_line(&mut self, matched: usize, line: &str) {
        let mut rest = line;
        let mut depth = matched;
        let open = self.containers.len();
        while depth < MAX_DEPTH {
            if let Some(inner) = blocks::quote(rest) {
                self.close_to(depth);
                self.containers.push(Container::Quote);
                rest = inner;
            } else if let Some(marker) = blocks::list_marker(rest).filter(|_| !self.takes_underline(depth, rest)) {
                self.close_to(depth);
                let content = marker.content.min(rest.len());
                let text = &rest[content..];
                let (task, text) = task(text);
                let marker = self.marker(&marker, task);
                self.containers.push(Container::Item { content, marker, fresh: true });
                rest = text;
            } else {
                break;
            }
            depth += 1;
        }
        let starts_block =
            blocks::fence_open(rest).is_some() || blocks::heading(rest).is_some() || blocks::is_rule(rest) || blocks::is_blank(rest);
        // A line of plain text goes on with the paragraph, also if it lacks the paragraph's indent or `>`.
        let lazy = depth == matched && matched < open && matches!(self.leaf, Leaf::Paragraph { .. }) && !starts_block;
        if !lazy && depth == matched && matched < open {
            self.close_to(matched);
        }
        if !blocks::is_blank(rest) {
            self.leaf_line(rest);
        }
    }

    /// `-` alone under a paragraph's first line is an underline, not an empty list item.
    fn takes_underline(&self, depth: usize, line: &str) -> bool {
        depth == self.containers.len()
            && matches!(&self.leaf, Leaf::Paragraph { held, begun: false } if held.len() == 1)
            && blocks::setext(line).is_some()
    }

    fn leaf_line(&mut self, line: &str) {
        if self.paragraph_line(line) {
            return;
        }
        match &mut self.leaf {
            Leaf::Table(table) if line.contains('|') => {
                table.body.push(blocks::table_cells(line));
                if table.body.len() >= MAX_TABLE_ROWS {
                    let next = Table { body: Vec::new(), ..table.clone() };
                    self.end_leaf();
                    self.leaf = Leaf::Table(next);
                }
                return;
            }
            Leaf::Indented { blanks } if blocks::indent(line) >= 4 => {
                let blanks = std::mem::take(blanks);
                self.gap = false;
                for _ in 0..blanks {
                    self.emit(Kind::Code, Body::Code(Line::new()));
                }
                self.emit(Kind::Code, Body::Code(Line::plain(line[4..].to_owned())));
                return;
            }
            _ => {}
        }
        self.end_leaf();
        self.open_leaf(line);
    }

    /// Goes on with the open paragraph; false if the line begins another block.
    fn paragraph_line(&mut self, line: &str) -> bool {
        let Leaf::Paragraph { held, begun } = &mut self.leaf else { return false };
        if let (Some(level), 1, false) = (blocks::setext(line), held.len(), *begun) {
            let text = std::mem::take(held).concat();
            self.leaf = Leaf::None;
            self.heading(level, &text);
            return true;
        }
        let header = held.last().filter(|last| last.contains('|')).map(|last| blocks::table_cells(last));
        if let Some((align, header)) = blocks::table_delimiter(line).zip(header).filter(|(align, cells)| align.len() == cells.len()) {
            held.pop();
            self.settle_held();
            self.end_leaf();
            self.leaf = Leaf::Table(Table { header, align, body: Vec::new() });
            return true;
        }
        if blocks::fence_open(line).is_some() || blocks::heading(line).is_some() || blocks::is_rule(line) {
            return false;
        }
        let text = held.join("\n");
        let settles = held.len() >= MAX_HELD_LINES || text.len() >= MAX_HELD_BYTES || open_delimiters(&text).is_empty();
        if let Some(last) = held.last_mut().filter(|last| settles && last.trim_end_matches('\\').len() % 2 != last.len() % 2) {
            // A backslash before a line end is a hard break, and every line end is one here.
            last.pop();
        }
        if settles {
            self.settle_held();
        }
        if let Leaf::Paragraph { held, .. } = &mut self.leaf {
            held.push(line.trim_start_matches(' ').to_owned());
        }
        true
    }

    fn open_leaf(&mut self, line: &str) {
        self.begins = true;
        if let Some(open) = blocks::fence_open(line) {
            let code = Highlighter::for_language(&open.language);
            self.leaf = Leaf::Fence { open, code };
        } else if let Some((level, text)) = blocks::heading(line) {
            self.heading(level, text);
        } else if blocks::is_rule(line) {
            self.emit(Kind::Rule, Body::Rule);
        } else if blocks::indent(line) >= 4 {
            self.emit(Kind::Code, Body::Code(Line::plain(line[4..].to_owned())));
            self.leaf = Leaf::Indented { blanks: 0 };
        } else {
            self.leaf = Leaf::Paragraph { held: vec![line.trim_start_matches(' ').to_owned()], begun: false };
        }
    }

    fn fence_line(&mut self, line: &str) {
        let Leaf::Fence { open, code } = &mut self.leaf else { return };
        if blocks::fence_close(line, open) {
            self.end_leaf();
            return;
        }
        let text = &line[blocks::indent(line).min(open.indent)..];
        let spans = code.push_line(text).into_iter().collect();
        self.emit(Kind::Code, Body::Code(spans));
    }

    /// Would this line stay plain only because the grammar of its code is not there yet?
    pub fn awaits_colours(&self, line: &str) -> bool {
        matches!(&self.leaf, Leaf::Fence { code, .. } if code.awaits(line))
    }

    fn heading(&mut self, level: usize, text: &str) {
        self.begins = true;
        let style = Style::from(Role::Heading).bold();
        let style = match level {
            1 => style.underline(),
            2 => style,
            _ => style.italic(),
        };
        let text = self.closed(text);
        for line in inline(&text, style) {
            self.emit(Kind::Heading, Body::Text(line));
        }
    }

    /// Settles the lines held back; the paragraph stays open.
    fn settle_held(&mut self) {
        let Leaf::Paragraph { held, begun } = &mut self.leaf else { return };
        if held.is_empty() {
            return;
        }
        *begun = true;
        let text = std::mem::take(held).join("\n");
        let text = self.closed(&text);
        let quoted = self.containers.iter().any(|c| matches!(c, Container::Quote));
        let base = if quoted { Role::Quote.into() } else { Style::new() };
        for line in inline(&text, base) {
            self.emit(Kind::Text, Body::Text(line));
        }
    }

    /// In a preview, `text` with its open delimiters closed.
    fn closed(&self, text: &str) -> String {
        let mut text = text.to_owned();
        if self.previews {
            let closers = open_delimiters(&text);
            // Marks with nothing after them yet would be shown; so would `****`.
            if !closers.is_empty() {
                let end = text.trim_end_matches(['*', '_', '~', '`', '[', ' ']).len();
                text.truncate(end);
                let closers = open_delimiters(&text);
                text.push_str(&closers);
            }
        }
        text
    }

    fn end_leaf(&mut self) {
        self.settle_held();
        match std::mem::take(&mut self.leaf) {
            Leaf::Table(table) => {
                self.begins = true;
                self.emit(Kind::Table, Body::Table(Box::new(table)));
            }
            Leaf::Indented { blanks } => self.gap |= blanks > 0,
            _ => {}
        }
        self.begins = true;
    }

    /// Ends the open leaf and the containers below `depth`; an item without text still shows its marker.
    fn close_to(&mut self, depth: usize) {
        self.end_leaf();
        while self.containers.len() > depth {
            if matches!(self.containers.last(), Some(Container::Item { fresh: true, .. })) {
                self.emit(Kind::Text, Body::Text(Line::new()));
            }
            self.containers.pop();
        }
        self.shared = self.shared.min(depth);
    }

    fn emit(&mut self, kind: Kind, body: Body) {
        let begins = std::mem::take(&mut self.begins);
        let gap = std::mem::take(&mut self.gap);
        if let Some(last) = self.last {
            let set_off = |kind: Kind| matches!(kind, Kind::Code | Kind::Table | Kind::Rule);
            let forced = begins && self.containers.is_empty() && (set_off(last) || set_off(kind) || kind == Kind::Heading);
            if gap || forced {
                // The bar of a quote that only begins here does not reach up into the blank row.
                let rest = self.containers[..self.shared].iter().map(Container::rest).collect();
                self.out.push(Piece { first: Line::new(), rest, body: Body::Blank });
            }
        }
        self.last = Some(kind);
        self.shared = self.containers.len();
        let first = self.containers.iter_mut().map(Container::first).collect();
        let rest = self.containers.iter().map(Container::rest).collect();
        self.out.push(Piece { first, rest, body });
    }

    fn marker(&self, marker: &ListMarker, task: Option<bool>) -> String {
        let bullets = self.containers.iter().filter(|c| matches!(c, Container::Item { .. })).count();
        let number = marker.number.map(|(number, end)| format!("{number}{end} "));
        let tick = task.map(|done| if done { "☑ " } else { "☐ " });
        match (number, tick) {
            (Some(number), tick) => number + tick.unwrap_or(""),
            (None, Some(tick)) => tick.to_owned(),
            (None, None) => ["• ", "◦ ", "▪ "][bullets % 3].to_owned(),
        }
    }
}

/// Whether the text of an item begins with `[ ]` or `[x]`, and what follows.
fn task(text: &str) -> (Option<bool>, &str) {
    for (mark, done) in [("[ ] ", false), ("[x] ", true), ("[X] ", true)] {
        if let Some(rest) = text.strip_prefix(mark) {
            return (Some(done), rest);
        }
    }
    (None, text)
}

impl Machine {
    #[cfg(test)]
    pub fn held_bytes(&self) -> usize {
        match &self.leaf {
            Leaf::Paragraph { held, .. } => held.iter().map(String::len).sum(),
            Leaf::Table(table) => table.body.iter().flatten().map(String::len).sum(),
            _ => 0,
        }
    }
}
