//! What is written to the terminal besides frames: the window's title, calls to the user, the questions for its background and its
//! cursor; and where its answers go.
//!
//! - Nothing is written while the terminal is not ours.
//! - No answer reaches the shell: one that is still to come is waited for, briefly, before the terminal is given back.

use super::{
    answer::Answer,
    tty::{Modes, Tty},
};
use crate::tui::outside::{Call, News};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::{
    io,
    time::{Duration, Instant},
};

/// The background, then what every terminal knows: with the second answer the first one has come or never will.
const QUESTION: &[u8] = b"\x1b]11;?\x1b\\\x1b[c";
/// Where the cursor is.
const ASK: &[u8] = b"\x1b[6n";
const ASK_SIZE: &[u8] = b"\x1b[18t";
/// A terminal that has not answered by then never will.
const ANSWERS_WITHIN: Duration = Duration::from_secs(1);
/// How long the end waits for an answer that may still come.
const LAST_WAIT: Duration = Duration::from_millis(100);

pub type Listener = Box<dyn Fn(News) + Send>;

/// A question that is asked again and again.
struct Asked<T> {
    owed: usize,
    since: Option<Instant>,
    /// The answer that came last.
    last: Option<T>,
}

impl<T> Default for Asked<T> {
    fn default() -> Self {
        Asked { owed: 0, since: None, last: None }
    }
}

impl<T> Asked<T> {
    fn is_fresh(&self) -> bool {
        self.since.is_some_and(|at| at.elapsed() < ANSWERS_WITHIN)
    }

    /// May it be asked now? One that has left a question open is not asked again. What it was asked before counts no more.
    fn ask(&mut self) -> bool {
        self.last = None;
        if self.owed > 0 && !self.is_fresh() {
            return false;
        }
        if self.owed == 0 {
            self.since = Some(Instant::now());
        }
        self.owed += 1;
        true
    }

    fn came(&mut self, answer: T) {
        (self.owed, self.last, self.since) = (self.owed.saturating_sub(1), Some(answer), Some(Instant::now()));
    }

    /// The answer, if none is owed.
    fn take(&mut self) -> Option<T> {
        if self.owed > 0 { None } else { self.last.take() }
    }

    /// How many are still to come.
    fn to_come(&self) -> usize {
        if self.is_fresh() { self.owed } else { 0 }
    }
}

#[derive(Default)]
pub struct Window {
    pub title: Option<String>,
    asked: bool,
    /// Since when an answer is owed.
    owed: Option<Instant>,
    /// Where the cursor is.
    places: Asked<(u16, u16)>,
    /// How large the terminal is.
    sizes: Asked<(u16, u16)>,
    listener: Option<Listener>,
    /// Read while waiting for an answer: for whoever reads next.
    pub rest: Vec<u8>,
}

impl Window {
    fn tell(&self, report: News) {
        if let Some(listener) = &self.listener {
            listener(report);
        }
    }
}

impl std::fmt::Debug for Window {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Window").field("title", &self.title).field("owed", &self.owed).finish_non_exhaustive()
    }
}

fn text(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

/// The bytes that name the window.
pub fn title(title: &str) -> Vec<u8> {
    format!("\x1b]2;{}\x1b\\", text(title)).into_bytes()
}

impl Tty {
    /// Who hears what the terminal tells.
    pub fn listen(&self, listener: Listener) {
        self.window().listener = Some(listener);
    }

    pub fn heard(&self, answer: Answer) {
        let mut window = self.window();
        match answer {
            Answer::Attributes => {
                window.owed = None;
                window.tell(News::Answered);
            }
            Answer::Place(row, column) => window.places.came((row, column)),
            Answer::Size(one, other) => window.sizes.came((one, other)),
            Answer::News(report) => window.tell(report),
        }
    }

    /// The bytes that ask where the cursor is.
    pub fn ask(&self) -> &'static [u8] {
        if !deaf(&["linux"]) && self.window().places.ask() { ASK } else { b"" }
    }

    /// The screen's row and column in which the cursor is, from 0, if every question for it has been answered.
    pub fn answer(&self) -> Option<(u16, u16)> {
        self.window().places.take()
    }

    /// How many places of the cursor are still to come.
    pub fn places_owed(&self) -> usize {
        self.window().places.to_come()
    }

    /// The bytes that ask how large the terminal is, in the order of what else is written.
    pub fn ask_size(&self) -> &'static [u8] {
        if self.window().sizes.ask() { ASK_SIZE } else { b"" }
    }

    /// Was it as large when it was asked last? `None` while that is not known.
    pub fn was(&self, (columns, rows): (u16, u16)) -> Option<bool> {
        self.window().sizes.take().map(|size| size == (rows, columns) || size == (columns, rows))
    }

    /// The question for the background, once, for a terminal that can be asked.
    pub fn question(&self) -> &'static [u8] {
        let mut window = self.window();
        if std::mem::replace(&mut window.asked, true) || deaf(&[]) || std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty()) {
            return b"";
        }
        window.owed = Some(Instant::now());
        window.tell(News::Asked);
        QUESTION
    }

    /// Waits for an answer that is owed; what is read meanwhile is kept.
    pub fn wait_for_answer(&self) {
        let (places, sizes) = (self.places_owed(), self.window().sizes.to_come());
        let attributes = self.window().owed.take().filter(|owed| owed.elapsed() < ANSWERS_WITHIN);
        let until = Instant::now() + LAST_WAIT;
        let mut read = vec![];
        while !is_over(&read, attributes.is_some(), places, sizes) {
            let left = until.saturating_duration_since(Instant::now());
            let mut ready = [PollFd::new(self.fd(), PollFlags::IN)];
            let wait = Timespec { tv_sec: 0, tv_nsec: left.as_nanos() as i64 };
            if left.is_zero() || !matches!(poll(&mut ready, Some(&wait)), Ok(1)) {
                break;
            }
            let mut bytes = [0; 256];
            match rustix::io::read(self.fd(), &mut bytes) {
                Ok(n) if n > 0 => read.extend_from_slice(&bytes[..n]),
                _ => break,
            }
        }
        self.window().rest.append(&mut read);
    }

    pub fn set_title(&self, new: &str) -> io::Result<()> {
        self.window().title = Some(new.to_owned());
        let modes = self.modes();
        if !modes.keys {
            return Ok(());
        }
        // The first one keeps the old title.
        let bytes = if modes.title { title(new) } else { self.switch(Modes { title: true, ..modes })? };
        self.write_all(&bytes)
    }

    pub fn call(&self, call: &Call) -> io::Result<()> {
        if !self.modes().keys {
            return Ok(());
        }
        let mut bytes = vec![];
        if call.terminal {
            let env = |name: &str| std::env::var(name).unwrap_or_default();
            bytes = notification(&call.text, &env("TERM"), !env("VTE_VERSION").is_empty());
        }
        if call.bell {
            bytes.push(7);
        }
        self.write_all(&bytes)
    }
}

/// A terminal that can't be asked, besides those that only know this question.
fn deaf(knowing: &[&str]) -> bool {
    let term = std::env::var("TERM").unwrap_or_default();
    matches!(term.as_str(), "" | "dumb" | "linux" | "cons25" | "unknown") && !knowing.contains(&term.as_str())
}

/// Has all come that is owed: the attributes, which end in `c` whatever comes before them, and so many places of the cursor and sizes?
fn is_over(read: &[u8], attributes: bool, places: usize, sizes: usize) -> bool {
    let (mut attributes_came, mut places_came, mut sizes_came) = (false, 0, 0);
    for at in read.windows(2).enumerate().filter(|(_, w)| *w == b"\x1b[").map(|(at, _)| at + 2) {
        match (read.get(at), read[at..].iter().find(|b| b.is_ascii_alphabetic())) {
            (Some(b'?'), Some(b'c')) => attributes_came = true,
            (_, Some(b'R')) => places_came += 1,
            (Some(b'8'), Some(b't')) => sizes_came += 1,
            _ => {}
        }
    }
    (attributes_came || !attributes) && places_came >= places && sizes_came >= sizes
}

/// In the words of this terminal. One that knows none of them ignores it.
fn notification(said: &str, term: &str, vte: bool) -> Vec<u8> {
    let said = text(said);
    match term {
        t if t.contains("kitty") => format!("\x1b]99;;Backstitch: {said}\x1b\\"),
        t if t.starts_with("foot") || t.starts_with("rxvt") || vte => format!("\x1b]777;notify;Backstitch;{said}\x1b\\"),
        // Never a digit first: that is another command to some.
        _ => format!("\x1b]9;Backstitch: {said}\x1b\\"),
    }
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_terminal_is_told_in_its_own_words_and_nothing_else_gets_through() {
        let said = |term, vte| String::from_utf8(notification("shop\x1b]0;x\x07 done", term, vte)).unwrap();
        assert_eq!(said("xterm-kitty", false), "\x1b]99;;Backstitch: shop]0;x done\x1b\\");
        assert_eq!(said("foot", false), "\x1b]777;notify;Backstitch;shop]0;x done\x1b\\");
        assert_eq!(said("xterm-256color", true), "\x1b]777;notify;Backstitch;shop]0;x done\x1b\\");
        assert_eq!(said("xterm-256color", false), "\x1b]9;Backstitch: shop]0;x done\x1b\\");
        assert_eq!(title("a\x1b\\b\u{9c}"), b"\x1b]2;a\\b\x1b\\");
    }

    #[test]
    fn the_last_answer_is_recognised_among_keys() {
        assert!(is_over(b"x\x1b]11;rgb:0/0/0\x1b\\\x1b[?62;1c", true, 0, 0));
        assert!(!is_over(b"x\x1b]11;rgb:0/0/0\x1b\\\x1b[?62;", true, 0, 0));
        assert!(!is_over(b"\x1b[?1u c", true, 0, 0));
        assert!(is_over(b"", false, 0, 0));
        assert!(!is_over(b"\x1b[?62;1c\x1b[3;1R", true, 2, 0));
        assert!(is_over(b"\x1b[?62;1c\x1b[3;1Rx\x1b[13;1R", true, 2, 0));
        assert!(!is_over(b"\x1b[8;24", false, 0, 1));
        assert!(is_over(b"\x1b[8;24;80t", false, 0, 1));
    }
}
