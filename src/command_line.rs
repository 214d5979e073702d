//! What a shell's command line would do, by its syntax tree: every simple command in it, and what each would touch.
//!
//! - What any shell might read in another way, what can't be known before it runs, and what is not known to be safe is never
//!   called a read. A line that is not understood as a whole is one part that can't be analysed.
//! - Nothing here looks at a disk: [`Surroundings`] answers for it.
//! - Time is linear in the length of the line, which is bounded, and so is depth.

mod compound;
mod cursor;
mod offer;
mod parser;
mod paths;
mod programs;
mod refuse;
mod syntax;
mod unseen;
mod walk;
mod words;

pub use offer::{covers, offers, parse_patterns};
pub use paths::{is_plain_file, is_secret};
pub use programs::git::{GitRead, read_of as git_read_of};
pub use refuse::{Speaks, speaks_of};

use crate::protocol::{CommandPart, Touch};
use std::{
    ops::Range,
    path::{Path, PathBuf},
};

/// Longer lines are not analysed.
const LONGEST: usize = 16 * 1024;

/// What is asked of the world around a command.
pub trait Surroundings {
    /// Where the command starts.
    fn cwd(&self) -> PathBuf;
    /// The folder that is meant where a command is allowed word by word; and where a way up ends that is known to be one.
    fn granted_in(&self) -> PathBuf {
        self.cwd()
    }
    fn home(&self) -> Option<PathBuf>;
    /// Where a path leads: absolute, without `.` and `..`, links followed; `None` if it leads elsewhere for every process.
    fn resolve(&self, path: &Path) -> Option<PathBuf>;
    /// Names in a folder that match a pattern; `None` if nobody looked.
    fn names(&self, folder: &Path, pattern: &str) -> Option<Vec<String>>;
    /// What a search through a folder reads that it should not: secrets that are neither hidden nor ignored.
    fn in_search_of(&self, _folder: &Path) -> Vec<Touch> {
        vec![]
    }
    /// Does the name of a program mean what it means everywhere?
    fn trusts(&self, _program: &str) -> bool {
        true
    }
}

/// Why a line can't be analysed, in a few words.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Refusal(String);

fn refuse<T>(why: &str) -> Result<T, Refusal> {
    Err(Refusal(why.into()))
}

/// Does a part of a command only read, and only what it may? What holds secrets it may not.
pub fn is_free(part: &CommandPart, may_read: &dyn Fn(&Path) -> bool) -> bool {
    part.touches.iter().all(|touch| match touch {
        Touch::Reads(path) => may_read(path) && !is_secret(path),
        Touch::Lists(path) => may_read(path),
        _ => false,
    })
}

/// Every simple command of a line, in the order in which they stand, and what each would touch.
pub fn analyse(line: &str, around: &dyn Surroundings) -> Vec<CommandPart> {
    match checked(line) {
        Ok(tree) => walk::parts(&tree, line, around),
        Err(Refusal(why)) => vec![CommandPart { at: (0, line.len()), words: vec![], touches: vec![Touch::Unknown(why)], said: vec![] }],
    }
}

fn checked(line: &str) -> Result<syntax::List, Refusal> {
    if line.len() > LONGEST {
        return refuse("too long");
    }
    if line.chars().any(is_odd) {
        return refuse("an invisible character");
    }
    parser::parse(line)
}

/// Control characters, blanks that look like others, and characters that can't be seen or turn the text around.
fn is_odd(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
        || c.is_whitespace() && !matches!(c, ' ' | '\n' | '\t')
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

/// The parts of a chain as they are read, each with the operator that ends it; pipes stay together. For the eye only: what runs is the
/// command as it is. A line that is not understood is one row.
pub fn rows(line: &str) -> Vec<Range<usize>> {
    let Ok(tree) = checked(line) else { return std::iter::once(0..line.len()).collect() };
    let starts: Vec<usize> = tree.0.iter().map(|(pipeline, _)| pipeline.at.start).collect();
    // A job in the background ends no part that is worth a row.
    let apart = |n: usize| n > 0 && tree.0[n - 1].1 != syntax::Join::Background;
    let mut from = 0;
    let mut rows = vec![];
    for (_, start) in starts.into_iter().enumerate().filter(|(n, _)| apart(*n)) {
        rows.push(from..start);
        from = start;
    }
    rows.push(from..line.len());
    rows
}

#[cfg(test)]
mod tests;
