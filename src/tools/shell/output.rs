//! Collects the output of a command in bounded memory: its head and tail for the model, all of it in a file.

use super::clean::Cleaner;
use crate::tools::workspace::Spills;
use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

/// What the model gets at most, in bytes (so never more characters).
pub const BUDGET: usize = 30_000;
/// Errors stand at the end.
const HEAD: usize = 10_000;
const TAIL: usize = BUDGET - HEAD - 300;
/// A command that never ends must not fill the disk.
const SPILL_LIMIT: u64 = if cfg!(test) { 64 << 20 } else { 1 << 30 };
const PROGRESS_LIMIT: usize = 8 * 1024;

pub struct Output {
    spills: Arc<Spills>,
    cleaner: Cleaner,
    /// Everything until it is over the budget, then the first part.
    head: Vec<u8>,
    /// At least the last `TAIL` bytes once it is over the budget.
    tail: Vec<u8>,
    total: u64,
    over: bool,
    spill: Option<Spill>,
    progress: Vec<u8>,
    /// How much of the incomplete line has been shown.
    line_shown: usize,
    restarts: u64,
}

struct Spill {
    file: Option<File>,
    path: Option<PathBuf>,
    written: u64,
}

impl Output {
    pub fn new(spills: Arc<Spills>) -> Self {
        Output {
            spills,
            cleaner: Cleaner::default(),
            head: vec![],
            tail: vec![],
            total: 0,
            over: false,
            spill: None,
            progress: vec![],
            line_shown: 0,
            restarts: 0,
        }
    }

    /// All of it goes to a file from the beginning, and is taken from here bit by bit.
    pub fn kept(spills: Arc<Spills>) -> Self {
        let spill = Some(Spill::new(&spills));
        Output { spill, ..Output::new(spills) }
    }

    pub fn file(&self) -> Option<&Path> {
        self.spill.as_ref()?.path.as_deref()
    }

    pub fn push(&mut self, bytes: &[u8]) {
        let mut lines = vec![];
        self.cleaner.push(bytes, &mut lines);
        if self.cleaner.restarts() != self.restarts {
            self.restarts = self.cleaner.restarts();
            if std::mem::take(&mut self.line_shown) > 0 {
                self.progress.push(b'\r');
            }
        }
        self.keep(&lines);
    }

    fn keep(&mut self, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        // The first of these lines may have been shown in part already.
        let line_end = text.iter().position(|b| *b == b'\n').unwrap_or(text.len());
        self.progress.extend_from_slice(&text[self.line_shown.min(line_end)..]);
        self.line_shown = 0;
        if self.progress.len() > 2 * PROGRESS_LIMIT {
            self.progress.drain(..self.progress.len() - PROGRESS_LIMIT);
        }
        self.total += text.len() as u64;
        if let Some(spill) = &mut self.spill {
            spill.write(text);
        }
        if !self.over && self.head.len() + text.len() <= BUDGET {
            self.head.extend_from_slice(text);
            return;
        }
        if !std::mem::replace(&mut self.over, true) {
            if self.spill.is_none() {
                let mut spill = Spill::new(&self.spills);
                spill.write(&self.head);
                spill.write(text);
                self.spill = Some(spill);
            }
            let room = HEAD.saturating_sub(self.head.len()).min(text.len());
            if room > 0 {
                self.head.extend_from_slice(&text[..room]);
                self.tail.extend_from_slice(&text[room..]);
            } else {
                self.tail = self.head.split_off(HEAD);
                self.tail.extend_from_slice(text);
            }
        } else {
            self.tail.extend_from_slice(text);
        }
        if self.tail.len() > 4 * TAIL {
            self.tail.drain(..self.tail.len() - TAIL);
        }
    }

    /// The line that is not complete.
    pub fn line(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.cleaner.line())
    }

    /// What has come since the last time, also of a line that is not complete.
    pub fn take_progress(&mut self) -> Option<String> {
        let line = self.cleaner.line();
        self.line_shown = self.line_shown.min(line.len());
        self.progress.extend_from_slice(&line[self.line_shown..]);
        self.line_shown = line.len();
        // A character that is not complete waits for its rest.
        let partial = match std::str::from_utf8(last_bytes(&self.progress)) {
            Err(e) if e.error_len().is_none() => last_bytes(&self.progress).len() - e.valid_up_to(),
            _ => 0,
        };
        let rest = self.progress.split_off(self.progress.len() - partial);
        let new = std::mem::replace(&mut self.progress, rest);
        let from = new.len().saturating_sub(PROGRESS_LIMIT);
        let new = if from > 0 { skip_partial(&new[from..]) } else { &new };
        if new.is_empty() { None } else { Some(String::from_utf8_lossy(new).into_owned()) }
    }

    pub fn finish(&mut self) -> String {
        let mut rest = vec![];
        self.cleaner.finish(&mut rest);
        self.keep(&rest);
        self.take()
    }

    /// The whole lines that have come since the last time.
    pub fn take(&mut self) -> String {
        let text = self.taken();
        (self.head, self.tail, self.total, self.over) = (vec![], vec![], 0, false);
        text
    }

    fn taken(&mut self) -> String {
        let Some(spill) = self.spill.as_mut().filter(|_| self.over) else { return String::from_utf8_lossy(&self.head).into_owned() };
        let head_end = self.head.iter().rposition(|b| *b == b'\n').filter(|at| *at > HEAD / 2).map_or(self.head.len(), |at| at + 1);
        let least = self.tail.len().saturating_sub(TAIL);
        let tail_start = self.tail[least..].iter().position(|b| *b == b'\n').filter(|at| *at < TAIL / 2).map_or(least, |at| least + at + 1);
        let (head, tail) = (whole_chars(&self.head[..head_end]), String::from_utf8_lossy(skip_partial(&self.tail[tail_start..])));
        let left_out = self.total as usize - head.len().min(self.total as usize) - tail.len().min(self.total as usize - head.len());
        let end = if head.ends_with('\n') { "" } else { "\n" };
        format!("{head}{end}[… {left_out} bytes left out; {} …]\n{tail}", spill.describe())
    }
}

fn whole_chars(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Err(e) if e.error_len().is_none() => String::from_utf8_lossy(&bytes[..e.valid_up_to()]).into_owned(),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// From the beginning of the last character, as far as that can be told.
fn last_bytes(bytes: &[u8]) -> &[u8] {
    let start = (1..=bytes.len().min(4)).find(|n| bytes[bytes.len() - n] & 0xC0 != 0x80).unwrap_or(0);
    &bytes[bytes.len() - start..]
}

/// Without the rest of a character that was cut.
fn skip_partial(bytes: &[u8]) -> &[u8] {
    &bytes[bytes.iter().take(3).take_while(|b| **b & 0xC0 == 0x80).count()..]
}

impl Spill {
    fn new(spills: &Spills) -> Self {
        match spills.file() {
            Ok((file, path)) => Spill { file: Some(file), path: Some(path), written: 0 },
            Err(_) => Spill { file: None, path: None, written: 0 },
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        let room = SPILL_LIMIT.saturating_sub(self.written).min(bytes.len() as u64) as usize;
        let Some(file) = &mut self.file else { return };
        match file.write_all(&bytes[..room]) {
            Ok(()) => self.written += room as u64,
            // A full disk is no reason to lose the command's outcome.
            Err(_) => self.file = None,
        }
    }

    fn describe(&mut self) -> String {
        match &self.path {
            Some(path) if self.file.is_some() && self.written < SPILL_LIMIT => format!("all of it is in {}", path.display()),
            Some(path) if self.written > 0 => format!("the first {} bytes are in {}", self.written, path.display()),
            _ => "it could not be kept in a file".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::Workspace;

    /// Whatever the lengths and however it comes: within the budget, no character torn, nothing shown twice or left out.
    #[test]
    fn any_output_stays_within_the_budget() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(dir.path(), &dir.path().join("spill")).unwrap();
        let mut seed = 3u64;
        let mut dice = |n: usize| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize % n
        };
        for round in 0..60 {
            let (mut text, mut line) = (String::new(), 0);
            let (size, longest) = ([10, 9_999, 29_999, 30_001, 200_000][dice(5)], [5, 100, 40_000][dice(3)]);
            while text.len() < size {
                text.push_str(&format!("{line}:{}\n", "€".repeat(dice(longest))));
                line += 1;
            }
            let (mut output, mut shown) = (Output::new(workspace.spills()), String::new());
            let mut rest = text.as_bytes();
            while !rest.is_empty() {
                let (part, after) = rest.split_at((1 + dice(4000)).min(rest.len()));
                output.push(part);
                shown.push_str(&output.take_progress().unwrap_or_default());
                rest = after;
            }
            let whole = output.finish();
            assert!(shown == text, "round {round}");
            assert!(!whole.contains('\u{fffd}') && whole.len() <= BUDGET, "round {round}: {}", whole.len());
            if text.len() <= BUDGET {
                assert!(whole == text, "round {round}");
                continue;
            }
            let (head, after) = whole.split_once("[… ").unwrap();
            let (note, tail) = after.split_once(" …]\n").unwrap();
            assert!(text.starts_with(head.trim_end_matches('\n')) && text.ends_with(tail), "round {round}");
            let path = note.split_once("all of it is in ").unwrap().1;
            assert!(std::fs::read_to_string(path).unwrap() == text, "round {round}");
        }
    }
}
