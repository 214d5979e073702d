//! The place in a command line: characters, blanks, comments, joined lines.

use super::{Refusal, refuse};

pub struct Cursor<'a> {
    pub text: &'a str,
    pub at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str) -> Self {
        Cursor { text, at: 0 }
    }

    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub fn second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    pub fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    pub fn eat(&mut self, what: &str) -> bool {
        let there = self.rest().starts_with(what);
        if there {
            self.at += what.len();
        }
        there
    }

    /// Characters from here on for which `wanted` holds.
    pub fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Blanks, comments and lines that go on. A line that goes on within a word or an operator is for another reader to untangle.
    pub fn skip_blanks(&mut self, comments: bool) -> Result<(), Refusal> {
        let begin = self.at;
        loop {
            match self.peek() {
                Some(' ' | '\t') => drop(self.next()),
                Some('\\') if self.second() == Some('\n') => {
                    let before = &self.text[..self.at];
                    let apart = self.at > begin || before.is_empty() || before.ends_with([' ', '\t', '\n']);
                    if !apart && !before.ends_with("&&") && !before.ends_with("||") {
                        return refuse("a line that goes on within a word");
                    }
                    self.at += 2;
                }
                Some('#') if self.at > begin || self.at == 0 || self.text[..self.at].ends_with(['\n', ';', '&', '|', '(', ')']) => {
                    if !comments {
                        return refuse("a comment within a substitution");
                    }
                    self.take_while(|c| c != '\n');
                }
                _ => return Ok(()),
            }
        }
    }
}
