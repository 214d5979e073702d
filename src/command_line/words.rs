//! Words: quotes, backslashes, variables, substitutions. What `dash` and `bash` read differently is refused.

use super::{
    Refusal,
    parser::Parser,
    refuse,
    syntax::{Word, is_name},
};

/// Characters that end a word.
const ENDS: &str = " \t\n;&|<>()";

impl<'a> Parser<'a> {
    /// The word that begins here; `None` where there is none.
    pub(super) fn word(&mut self) -> Result<Option<Word>, Refusal> {
        let begin = self.cursor.at;
        let mut word = Word::default();
        while let Some(c) = self.cursor.peek() {
            match c {
                _ if ENDS.contains(c) => break,
                '\'' => {
                    self.cursor.next();
                    word.looks.quoted = true;
                    word.text += self.cursor.take_while(|c| c != '\'');
                    if !self.cursor.eat("'") {
                        return refuse("a quote without its end");
                    }
                }
                '"' => {
                    self.cursor.next();
                    word.looks.quoted = true;
                    self.double_quoted(&mut word, begin)?;
                }
                '\\' => {
                    self.cursor.next();
                    match self.cursor.next() {
                        None => return refuse("a backslash at the end"),
                        Some('\n') => return refuse("a line that goes on within a word"),
                        Some(c) => word.text.push(c),
                    }
                    word.looks.quoted = true;
                }
                '$' | '`' => self.expansion(&mut word, false, self.cursor.at == begin)?,
                '~' if self.cursor.at == begin => {
                    self.cursor.next();
                    // `~somebody` is another home.
                    match self.cursor.peek() {
                        Some(c) if c != '/' && !ENDS.contains(c) => word.looks.dynamic = true,
                        _ => word.looks.home = true,
                    }
                    word.text.push('~');
                }
                // After these some shells put a home in, others don't.
                '~' if word.text.ends_with([':', '=']) => {
                    self.cursor.next();
                    word.text.push('~');
                    word.looks.dynamic = true;
                }
                _ => {
                    self.cursor.next();
                    word.text.push(c);
                    // A bracket that is never closed is only a bracket.
                    let closed = || self.cursor.rest().split(|c| ENDS.contains(c)).next().is_some_and(|rest| rest.contains(']'));
                    word.looks.glob |= matches!(c, '*' | '?') || c == '[' && closed();
                }
            }
        }
        word.at = begin..self.cursor.at;
        let source = &self.cursor.text[word.at.clone()];
        // Braces make several words in some shells. `{}` does not, and is what find and xargs fill in.
        if source.contains('{') && source.contains('}') && (source.contains(',') || source.contains("..")) && !braces_are_quoted(source) {
            (word.looks.dynamic, word.looks.splits) = (true, true);
        }
        Ok((self.cursor.at > begin).then_some(word))
    }

    fn double_quoted(&mut self, word: &mut Word, begin: usize) -> Result<(), Refusal> {
        loop {
            let first = self.cursor.at == begin + 1;
            match self.cursor.peek() {
                None => return refuse("a quote without its end"),
                Some('"') => {
                    self.cursor.next();
                    return Ok(());
                }
                Some('$' | '`') => self.expansion(word, true, first)?,
                Some('\\') => {
                    self.cursor.next();
                    match self.cursor.next() {
                        None => return refuse("a quote without its end"),
                        Some('\n') if self.cursor.text[..self.cursor.at - 2].ends_with(['$', '{', '`', '\\']) => {
                            return refuse("a line that goes on within a word");
                        }
                        Some('\n') => {}
                        Some(c @ ('$' | '`' | '"' | '\\')) => word.text.push(c),
                        Some(c) => word.text.extend(['\\', c]),
                    }
                }
                Some(c) => {
                    self.cursor.next();
                    word.text.push(c);
                }
            }
        }
    }

    /// `$…` or a command in backticks. `first`: nothing is before it in its word.
    pub(super) fn expansion(&mut self, word: &mut Word, quoted: bool, first: bool) -> Result<(), Refusal> {
        if self.cursor.eat("`") {
            let inner = self.cursor.take_while(|c| c != '`');
            if !self.cursor.eat("`") {
                return refuse("a substitution without its end");
            }
            if inner.contains('\\') {
                return refuse("a backslash in backticks");
            }
            word.commands.push(self.nested(inner)?);
            return self.becomes_something(word, quoted);
        }
        self.cursor.next();
        let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        match self.cursor.peek() {
            Some('(') if self.cursor.second() == Some('(') => {
                self.arithmetic()?;
                self.becomes_something(word, quoted)
            }
            Some('(') => {
                self.cursor.next();
                let list = self.substituted()?;
                word.commands.push(list);
                self.becomes_something(word, quoted)
            }
            Some('{') => {
                self.cursor.next();
                let (name, plainly) = self.braced()?;
                self.variable(word, name, quoted, first && plainly)
            }
            Some(c) if name(c) && !c.is_ascii_digit() => {
                let name = self.cursor.take_while(name);
                self.variable(word, name, quoted, first)
            }
            Some('\'' | '"') if !quoted => refuse("a kind of quotes that not every shell knows"),
            Some('[') => refuse("arithmetic"),
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => {
                self.cursor.next();
                self.becomes_something(word, quoted)
            }
            Some('\\') if self.cursor.second() == Some('\n') => refuse("a line that goes on within a word"),
            _ => {
                word.text.push('$');
                Ok(())
            }
        }
    }

    fn becomes_something(&self, word: &mut Word, quoted: bool) -> Result<(), Refusal> {
        word.looks.dynamic = true;
        word.looks.splits |= !quoted;
        Ok(())
    }

    fn variable(&self, word: &mut Word, name: &str, quoted: bool, first: bool) -> Result<(), Refusal> {
        let whole = matches!(self.cursor.peek(), None | Some('/' | '"' | ' ' | '\t' | '\n' | ';' | '&' | '|'));
        if name == "HOME" && first && whole {
            word.text.push('~');
            word.looks.home = true;
            return Ok(());
        }
        word.variables.push(name.to_owned());
        self.becomes_something(word, quoted)
    }

    /// `${name}`, `${#name}`, `${name:-plain}` up to its brace; the name, and whether it is plainly the variable's value.
    fn braced(&mut self) -> Result<(&'a str, bool), Refusal> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_./ :,-+*?%@".contains(c);
        let counted = self.cursor.eat("#");
        let name = self.cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        let numbered = !name.is_empty() && name.chars().all(|c| c.is_ascii_digit());
        if !is_name(name) && !numbered {
            return refuse("an expansion that not every shell knows");
        }
        if self.cursor.eat("}") {
            return Ok((name, !counted));
        }
        let operator = [":-", ":+", ":?", "-", "+", "?", "%%", "%", "##", "#"].into_iter().any(|op| self.cursor.eat(op));
        if counted || !operator {
            return refuse("an expansion that not every shell knows");
        }
        let begin = self.cursor.at;
        let other = self.cursor.take_while(plain);
        // What stands in for a value is looked up among files.
        if self.cursor.text[..begin].ends_with(['-', '+']) && other.contains(['*', '?']) {
            return refuse("a pattern for files");
        }
        if !self.cursor.eat("}") {
            return refuse("an expansion within an expansion");
        }
        Ok((name, false))
    }

    /// Numbers alone: a variable in arithmetic is evaluated again, and may have commands in it.
    fn arithmetic(&mut self) -> Result<(), Refusal> {
        self.cursor.at += 2;
        self.cursor.take_while(|c| c.is_ascii_digit() || " +-*/%<>=!&|?:,".contains(c));
        if self.cursor.eat("))") { Ok(()) } else { refuse("arithmetic") }
    }

    /// The expansions in the text of a here-document.
    pub(super) fn here_text(&self, body: &str) -> Result<Word, Refusal> {
        if body.contains("\\\n") {
            return refuse("a line that goes on in a here-document");
        }
        let mut inner = self.inside(body)?;
        let mut word = Word::default();
        while let Some(c) = inner.cursor.peek() {
            match c {
                '$' | '`' => inner.expansion(&mut word, true, false)?,
                '\\' => {
                    inner.cursor.next();
                    inner.cursor.next();
                }
                _ => drop(inner.cursor.next()),
            }
        }
        Ok(word)
    }
}

/// Are all the braces of a word in single quotes, in double quotes or behind backslashes, so that they are nothing but characters?
fn braces_are_quoted(source: &str) -> bool {
    let (mut quote, mut chars) = (None, source.chars());
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => drop(chars.next()),
            (None, '\'' | '"') => quote = Some(c),
            (None, '{' | '}') => return false,
            _ => {}
        }
    }
    true
}
