//! The grammar of compound commands: conditions, loops, cases, functions.

use super::{
    Refusal,
    parser::Parser,
    refuse,
    syntax::{Command, Kind, List},
};

impl Parser<'_> {
    pub(super) fn function(&mut self, begin: usize) -> Result<Command, Refusal> {
        self.cursor.next();
        self.blanks()?;
        if !self.cursor.eat(")") {
            return refuse("a bracket that not every shell understands");
        }
        self.lines()?;
        let body = Box::new(self.command()?);
        Ok(Command { at: begin..self.cursor.at, kind: Kind::Function { body }, redirects: vec![] })
    }

    pub(super) fn conditional(&mut self) -> Result<Kind, Refusal> {
        let mut branches = vec![];
        let mut otherwise = None;
        loop {
            let condition = self.list()?;
            self.wants("then")?;
            branches.push((condition, self.list()?));
            self.lines()?;
            if self.reserved("elif") {
                continue;
            }
            if self.reserved("else") {
                otherwise = Some(self.list()?);
            }
            self.wants("fi")?;
            return Ok(Kind::If { branches, otherwise });
        }
    }

    /// `do …; done`
    pub(super) fn body(&mut self) -> Result<List, Refusal> {
        self.wants("do")?;
        let body = self.list()?;
        self.wants("done")?;
        Ok(body)
    }

    pub(super) fn counted(&mut self) -> Result<Kind, Refusal> {
        self.blanks()?;
        let variable = self.cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_').to_owned();
        if variable.is_empty() {
            return refuse("a loop that not every shell knows");
        }
        self.lines()?;
        let mut words = vec![];
        if self.reserved("in") {
            loop {
                self.blanks()?;
                match self.word()? {
                    Some(word) => words.push(word),
                    None => break,
                }
            }
        } else {
            // Over the arguments, which nobody here knows.
            return refuse("a loop over arguments");
        }
        self.cursor.eat(";");
        Ok(Kind::For { variable, words, body: self.body()? })
    }

    pub(super) fn case(&mut self) -> Result<Kind, Refusal> {
        if self.substitutions > 0 {
            return refuse("a case within a substitution");
        }
        self.blanks()?;
        let Some(word) = self.word()? else { return refuse("something that no shell expects") };
        self.lines()?;
        if !self.reserved("in") {
            return refuse("something that no shell expects");
        }
        let mut arms = vec![];
        loop {
            self.lines()?;
            if self.reserved("esac") {
                return Ok(Kind::Case { word, arms });
            }
            self.cursor.eat("(");
            let mut patterns = vec![];
            loop {
                self.blanks()?;
                match self.word()? {
                    Some(pattern) => patterns.push(pattern),
                    None => return refuse("something that no shell expects"),
                }
                self.blanks()?;
                if !self.cursor.eat("|") {
                    break;
                }
            }
            if !self.cursor.eat(")") {
                return refuse("something that no shell expects");
            }
            let body = self.list()?;
            arms.push((patterns, body));
            self.lines()?;
            if self.cursor.eat(";;") {
                if self.cursor.peek() == Some('&') {
                    return refuse("a case that not every shell knows");
                }
                continue;
            }
            self.wants("esac")?;
            return Ok(Kind::Case { word, arms });
        }
    }
}
