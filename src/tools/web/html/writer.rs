//! Writes Markdown as it comes: blanks, line ends and marks wait until there is something to be written after them, and are
//! never written if nothing comes.

/// Deeper lists and quotes are not set in further: each of their lines would cost more than the one before.
const DEEPEST: usize = 10;
/// Cells of the line below a table's head.
const WIDEST: usize = 200;

#[derive(Default)]
pub struct Writer {
    out: String,
    /// Line ends that are due.
    breaks: usize,
    blank: bool,
    /// Marks that are due, such as `[` and `**`.
    marks: Vec<String>,
    frames: Vec<Frame>,
    /// In a cell there are no line ends.
    in_cell: bool,
}

/// What stands at the beginning of each line.
enum Frame {
    Quote,
    Item { marker: String, begun: bool },
    Nothing,
}

impl Writer {
    pub fn len(&self) -> usize {
        self.out.len()
    }

    pub fn finish(self) -> String {
        self.out
    }

    /// A new line; with two an empty one before it.
    pub fn block(&mut self, breaks: usize) {
        // What an item begins with stands beside its marker.
        let begins = matches!(self.frames.last(), Some(Frame::Item { begun: false, .. }));
        if self.in_cell {
            self.blank = true;
        } else {
            self.breaks = self.breaks.max(if begins { breaks.min(1) } else { breaks });
        }
    }

    pub fn space(&mut self) {
        self.blank = true;
    }

    /// Opens something that [`Writer::close`] ends.
    pub fn mark(&mut self, mark: &str) {
        self.marks.push(mark.into());
    }

    /// What was opened last ends; nothing is written if there was nothing in it.
    pub fn close(&mut self, mark: &str) {
        if self.marks.pop().is_none() {
            self.out.push_str(mark);
        }
    }

    pub fn quote(&mut self) {
        self.frame(Frame::Quote);
    }

    pub fn item(&mut self, marker: String) {
        self.frame(Frame::Item { marker, begun: false });
    }

    fn frame(&mut self, frame: Frame) {
        let deep = self.frames.len() >= DEEPEST;
        self.frames.push(if deep { Frame::Nothing } else { frame });
    }

    pub fn leave(&mut self) {
        self.frames.pop();
    }

    pub fn text(&mut self, text: &str) {
        self.blank |= text.starts_with(char::is_whitespace);
        for (n, word) in text.split_whitespace().enumerate() {
            self.blank |= n > 0;
            self.begin();
            if self.in_cell { self.out.push_str(&word.replace('|', "\\|")) } else { self.out.push_str(word) }
        }
        self.blank |= text.ends_with(char::is_whitespace);
    }

    pub fn code(&mut self, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() {
            return;
        }
        self.begin();
        let ticks = "`".repeat(longest_run(&text) + 1);
        let room = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
        let text = if self.in_cell { text.replace('|', "\\|") } else { text };
        self.out.push_str(&format!("{ticks}{room}{text}{room}{ticks}"));
    }

    pub fn fenced(&mut self, text: &str, language: &str) {
        let text = text.strip_prefix('\n').unwrap_or(text).trim_end();
        if text.is_empty() {
            return;
        }
        self.block(2);
        self.begin();
        let fence = "`".repeat((longest_run(text) + 1).max(3));
        self.out.push_str(&fence);
        self.out.push_str(language);
        for line in text.split('\n').chain([fence.as_str()]) {
            self.new_line(line.is_empty());
            self.out.push_str(line);
        }
        self.block(2);
    }

    pub fn rule(&mut self) {
        self.block(2);
        if !self.in_cell {
            self.begin();
            self.out.push_str("---");
            self.block(2);
        }
    }

    pub fn cell(&mut self, first: bool) {
        if first {
            self.begin();
            self.out.push_str("| ");
        } else {
            self.out.push_str(if self.out.ends_with(' ') { "| " } else { " | " });
        }
        (self.in_cell, self.blank) = (true, false);
    }

    pub fn cell_ends(&mut self) {
        (self.in_cell, self.blank) = (false, false);
    }

    /// `head`: so many cells, if what ends is a table's first row.
    pub fn row_ends(&mut self, head: Option<usize>) {
        self.out.push_str(if self.out.ends_with(' ') { "|" } else { " |" });
        if let Some(cells) = head {
            self.block(1);
            self.begin();
            self.out.push('|');
            self.out.push_str(&" --- |".repeat(cells.min(WIDEST)));
        }
    }

    /// Writes what is due.
    fn begin(&mut self) {
        if self.out.is_empty() {
            self.prefix(false);
        } else if self.breaks > 0 {
            for n in (0..self.breaks).rev() {
                self.new_line(n > 0);
            }
        } else if self.blank && !self.out.ends_with([' ', '\n']) {
            self.out.push(' ');
        }
        (self.breaks, self.blank) = (0, false);
        for mark in self.marks.drain(..) {
            self.out.push_str(&mark);
        }
    }

    fn new_line(&mut self, empty: bool) {
        self.out.push('\n');
        self.prefix(empty);
    }

    fn prefix(&mut self, empty: bool) {
        for frame in &mut self.frames {
            match frame {
                Frame::Nothing => {}
                Frame::Quote => self.out.push_str("> "),
                // An empty line comes before the item, not in it.
                Frame::Item { begun: false, .. } if empty => break,
                Frame::Item { marker, begun: false } => self.out.push_str(marker),
                Frame::Item { marker, .. } => self.out.extend(std::iter::repeat_n(' ', marker.len())),
            }
            if let Frame::Item { begun, .. } = frame {
                *begun = true;
            }
        }
        if empty {
            self.out.truncate(self.out.trim_end_matches(' ').len());
        }
    }
}

/// Of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}
