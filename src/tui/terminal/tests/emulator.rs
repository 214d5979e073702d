//! Terminals as they are when their size changes: tmux, which breaks rows anew, and xterm, which cuts them. Only what our frames use.
//!
//! tmux was measured: the same sequences and sizes, thousands of them at random, were sent to tmux 3.3a in windows from 10×3 to 100×40, and
//! what `capture-pane` showed of screen and scrollback was the same, as was where the cursor stood.

use std::collections::VecDeque;
use unicode_width::UnicodeWidthChar;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    Tmux,
    Xterm,
}

#[derive(Debug, Clone, Default)]
struct Line {
    /// A character of two columns is followed by nothing.
    cells: Vec<Option<String>>,
    wrapped: bool,
}

impl Line {
    fn put(&mut self, x: usize, cell: Option<String>) {
        if self.cells.len() <= x {
            self.cells.resize(x + 1, Some(" ".into()));
        }
        self.cells[x] = cell;
    }

    fn is_wide(&self, x: usize) -> bool {
        self.cells.get(x + 1).is_some_and(Option::is_none)
    }

    fn text(&self) -> String {
        self.cells.iter().flatten().map(String::as_str).collect()
    }
}

pub struct Emulator {
    kind: Kind,
    pub columns: usize,
    pub rows: usize,
    /// The scrollback, then the screen.
    lines: VecDeque<Line>,
    /// Lines of the scrollback that have scrolled there and may come back.
    scrolled: usize,
    x: usize,
    y: usize,
    saved: (usize, usize),
    wraps: bool,
    rest: String,
    /// A line that is followed, from the first one of the scrollback.
    marked: usize,
}

impl Emulator {
    pub fn new(kind: Kind, columns: usize, rows: usize) -> Emulator {
        let lines = vec![Line::default(); rows].into();
        let rest = String::new();
        Emulator { kind, columns, rows, lines, scrolled: 0, x: 0, y: 0, saved: (0, 0), wraps: true, rest, marked: 0 }
    }

    fn above(&self) -> usize {
        self.lines.len() - self.rows
    }

    fn line(&mut self) -> &mut Line {
        let at = self.above() + self.y;
        &mut self.lines[at]
    }

    /// Follows the line so many above the cursor.
    pub fn mark(&mut self, above: usize) {
        self.marked = (self.above() + self.y).saturating_sub(above);
    }

    pub fn mark_is_gone(&self) -> bool {
        self.marked < self.above()
    }

    pub fn cursor(&self) -> (usize, usize) {
        (self.x, self.y)
    }

    /// The rows of the screen.
    pub fn shown(&self) -> Vec<String> {
        self.lines.iter().skip(self.above()).map(|line| line.text().trim_end().to_string()).collect()
    }

    /// Lines as they were written, broken or not, without blank ones at the end.
    pub fn text(&self) -> Vec<String> {
        let mut text: Vec<String> = vec![];
        let mut goes_on = false;
        for line in &self.lines {
            match text.last_mut().filter(|_| goes_on) {
                Some(last) => last.push_str(&line.text()),
                None => text.push(line.text()),
            }
            goes_on = line.wrapped;
        }
        text.iter_mut().for_each(|line| line.truncate(line.trim_end().len()));
        while text.last().is_some_and(String::is_empty) {
            text.pop();
        }
        text
    }

    pub fn feed(&mut self, text: &str) {
        let text = std::mem::take(&mut self.rest) + text;
        let mut rest = text.as_str();
        while let Some(c) = rest.chars().next() {
            let taken = match c {
                '\u{1b}' => match self.escape(rest) {
                    Some(taken) => taken,
                    None => break,
                },
                _ => {
                    self.character(c);
                    c.len_utf8()
                }
            };
            rest = &rest[taken..];
        }
        self.rest = rest.into();
    }

    fn line_feed(&mut self) {
        if self.y + 1 < self.rows {
            self.y += 1;
        } else {
            self.lines.push_back(Line::default());
            self.scrolled += 1;
        }
    }

    fn character(&mut self, c: char) {
        match c {
            '\n' => self.line_feed(),
            '\r' => self.x = 0,
            _ if c.is_control() => {}
            _ => {
                let width = c.width().unwrap_or(0);
                if width == 0 {
                    let x = self.x;
                    if let Some(Some(cell)) = x.checked_sub(1).and_then(|x| self.line().cells.get_mut(x)) {
                        cell.push(c);
                    }
                    return;
                }
                if width > self.columns {
                    return;
                }
                if self.x + width > self.columns {
                    if !self.wraps {
                        if width > 1 {
                            return;
                        }
                        self.x = self.columns - width;
                    } else {
                        self.line().wrapped = true;
                        self.x = 0;
                        self.line_feed();
                    }
                }
                let x = self.x;
                let line = self.line();
                if line.cells.get(x).is_some_and(Option::is_none) {
                    line.put(x - 1, Some(" ".into()));
                }
                if line.is_wide(x + width - 1) {
                    line.put(x + width, Some(" ".into()));
                }
                line.put(x, Some(c.to_string()));
                if width > 1 {
                    line.put(x + 1, None);
                }
                self.x += width;
            }
        }
    }

    /// How long the sequence is at the start of the text, if all of it is there.
    fn escape(&mut self, text: &str) -> Option<usize> {
        let bytes = text.as_bytes();
        match bytes.get(1)? {
            b'[' => {
                let end = 2 + bytes[2..].iter().position(|b| (0x40..=0x7e).contains(b))?;
                self.control(&text[2..end], bytes[end]);
                Some(end + 1)
            }
            b']' => [("\u{7}", 1), ("\u{1b}\\", 2)].iter().filter_map(|(end, n)| Some(text.find(end)? + n)).min(),
            b'7' => {
                self.saved = (self.x, self.y);
                Some(2)
            }
            b'8' => {
                (self.x, self.y) = self.saved;
                Some(2)
            }
            other => panic!("escape {other}"),
        }
    }

    fn control(&mut self, body: &str, end: u8) {
        let n = body.parse::<usize>().unwrap_or(0);
        match (end, body) {
            (b'A', _) => self.y = self.y.saturating_sub(n.max(1)),
            (b'B', _) => self.y = (self.y + n.max(1)).min(self.rows - 1),
            (b'G', _) => self.x = n.max(1).min(self.columns) - 1,
            (b'K', "2") => self.erase(self.y),
            (b'K', _) => self.erase_right(),
            (b'J', _) => {
                assert!(self.rows == 1 || (self.x, self.y) != (0, 0), "tmux takes this for clearing the screen");
                self.erase_right();
                (self.y + 1..self.rows).for_each(|y| self.erase(y));
            }
            (b'h' | b'l', "?7") => self.wraps = end == b'h',
            (b'm' | b'h' | b'l' | b'u' | b't' | b'n', _) => {}
            _ => panic!("{body} {}", end as char),
        }
    }

    fn erase(&mut self, y: usize) {
        let at = self.above() + y;
        // tmux forgets that the line above went on here; xterm has nothing to forget.
        if at > 0 {
            self.lines[at - 1].wrapped = false;
        }
        self.lines[at] = Line::default();
    }

    fn erase_right(&mut self) {
        let x = self.x;
        if x == 0 {
            return self.erase(self.y);
        }
        // What is erased is still as long as it was.
        let line = self.line();
        (x..line.cells.len()).for_each(|x| line.cells[x] = Some(" ".into()));
    }

    pub fn resize(&mut self, columns: usize, rows: usize) {
        self.x = self.x.min(self.columns - 1);
        let mut at = self.above() + self.y;
        let before = self.rows;
        if rows < before {
            let deleted = (before - 1 - self.y).min(before - rows);
            self.lines.truncate(self.lines.len() - deleted);
            self.scrolled += before - rows - deleted;
        } else {
            let back = self.scrolled.min(rows - before);
            self.scrolled -= back;
            let blank = rows - before - back;
            self.lines.extend(std::iter::repeat_n(Line::default(), blank));
        }
        self.rows = rows;
        if columns != self.columns {
            match self.kind {
                Kind::Tmux => at = self.reflow(columns, at),
                Kind::Xterm => {
                    let from = self.above();
                    for line in self.lines.iter_mut().skip(from) {
                        line.cells.truncate(columns);
                    }
                    self.x = self.x.min(columns - 1);
                }
            }
        }
        self.columns = columns;
        match at.checked_sub(self.above()) {
            Some(y) => self.y = y,
            None => (self.x, self.y) = (0, 0),
        }
    }

    /// Puts together what was broken, breaks what is too long; where the line of the cursor is then.
    fn reflow(&mut self, columns: usize, at: usize) -> usize {
        let mut lines = VecDeque::new();
        let (mut cursor, mut marked) = (at, self.marked);
        let (mut whole, mut within, mut mark) = (Line::default(), None, None);
        let (last, mut parts, mut scrolled) = (self.lines.len() - 1, 0, self.scrolled);
        for (n, line) in std::mem::take(&mut self.lines).into_iter().enumerate() {
            if n == at {
                within = Some(whole.cells.len() + self.x);
            }
            parts += 1;
            if n == self.marked {
                mark = Some(whole.cells.len());
            }
            let wrapped = line.wrapped;
            whole.cells.extend(line.cells);
            if wrapped && n < last {
                continue;
            }
            let (first, from) = (lines.len(), n + 1 - parts);
            let mut rest = std::mem::take(&mut whole.cells);
            let mut starts = vec![0];
            while rest.len() > columns {
                let cut = if columns > 1 && rest[columns].is_none() { columns - 1 } else { columns };
                let tail = rest.split_off(cut);
                lines.push_back(Line { cells: std::mem::replace(&mut rest, tail), wrapped: true });
                starts.push(starts.last().unwrap() + cut);
            }
            lines.push_back(Line { cells: rest, wrapped });
            let more = starts.len().saturating_sub(std::mem::take(&mut parts));
            let fewer = (n + 1 - from).saturating_sub(starts.len());
            if from <= scrolled {
                scrolled += more;
            }
            if fewer > 0 && scrolled > first {
                scrolled = first.max(scrolled.saturating_sub(fewer)).min(scrolled);
            }
            let piece_of = |x: usize| starts.iter().rposition(|start| *start <= x).unwrap();
            if let Some(x) = mark.take() {
                marked = first + piece_of(x);
            }
            if let Some(x) = within.take() {
                let piece = piece_of(x);
                (cursor, self.x) = (first + piece, (x - starts[piece]).min(columns - 1));
            }
        }
        while lines.len() < self.rows {
            lines.push_back(Line::default());
        }
        (self.lines, self.marked) = (lines, marked);
        self.scrolled = scrolled.min(self.lines.len() - self.rows);
        cursor
    }
}
