//! The grammar: lists, pipelines, compound commands, redirections, here-documents. Time and depth are bounded by the input's.

use super::{
    Refusal,
    cursor::Cursor,
    refuse,
    syntax::{Command, Join, Kind, List, Pipeline, Redirect, RedirectKind, Word, each_command, stand_at},
};

/// How deep constructs may stand in one another. Far more than anybody writes, far less than the stack holds.
const DEEPEST: usize = 24;

pub struct Parser<'a> {
    pub(super) cursor: Cursor<'a>,
    depth: usize,
    /// How many substitutions this is in.
    pub(super) substitutions: usize,
    /// Here-documents whose text begins at the next line: their end, whether tabs go, whether it expands, and where they belong.
    pending: Vec<HereDocument>,
    texts: Vec<(usize, Word)>,
}

struct HereDocument {
    end: String,
    strips_tabs: bool,
    expands: bool,
    /// Where its operator stands.
    at: usize,
}

const RESERVED: [&str; 16] =
    ["if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "{", "}", "!", "in"];
/// Reserved by some shells, programs for others.
const CONTESTED: [&str; 5] = ["[[", "function", "select", "coproc", "]]"];

/// The tree of a whole command line.
pub fn parse(text: &str) -> Result<List, Refusal> {
    parse_at(text, 0)
}

/// The tree of a text that stands `depth` deep in others.
pub fn parse_at(text: &str, depth: usize) -> Result<List, Refusal> {
    let mut parser = Parser { cursor: Cursor::new(text), depth, substitutions: 0, pending: vec![], texts: vec![] };
    parser.deeper()?;
    parser.whole()
}

impl<'a> Parser<'a> {
    fn deeper(&mut self) -> Result<(), Refusal> {
        self.depth += 1;
        if self.depth > DEEPEST { refuse("too many things in one another") } else { Ok(()) }
    }

    fn whole(mut self) -> Result<List, Refusal> {
        let mut list = self.list()?;
        if self.cursor.peek().is_some() {
            return refuse("something that no shell expects");
        }
        if !self.pending.is_empty() {
            return refuse("a here-document without its end");
        }
        place(&mut list, &mut self.texts);
        Ok(list)
    }

    /// A reader for a text within this one.
    pub(super) fn inside<'b>(&self, text: &'b str) -> Result<Parser<'b>, Refusal> {
        let substitutions = self.substitutions + 1;
        let mut parser = Parser { cursor: Cursor::new(text), depth: self.depth, substitutions, pending: vec![], texts: vec![] };
        parser.deeper()?;
        Ok(parser)
    }

    pub(super) fn nested(&self, text: &str) -> Result<List, Refusal> {
        let mut list = self.inside(text)?.whole()?;
        stand_at(&mut list, self.cursor.at);
        Ok(list)
    }

    /// What stands between `$(` and its `)`.
    pub(super) fn substituted(&mut self) -> Result<List, Refusal> {
        self.deeper()?;
        self.substitutions += 1;
        let list = self.list()?;
        self.substitutions -= 1;
        self.depth -= 1;
        if self.cursor.eat(")") { Ok(list) } else { refuse("a substitution without its end") }
    }

    pub(super) fn blanks(&mut self) -> Result<(), Refusal> {
        self.cursor.skip_blanks(self.substitutions == 0)
    }

    /// Blanks and empty lines, with the here-documents that begin after them.
    pub(super) fn lines(&mut self) -> Result<bool, Refusal> {
        let mut any = false;
        loop {
            self.blanks()?;
            if !self.cursor.eat("\n") {
                return Ok(any);
            }
            any = true;
            self.here_documents()?;
        }
    }

    /// Pipelines up to the end or to a word that ends a list.
    pub(super) fn list(&mut self) -> Result<List, Refusal> {
        let mut list = vec![];
        self.lines()?;
        loop {
            self.blanks()?;
            let Some(pipeline) = self.pipeline()? else { return Ok(List(list)) };
            self.blanks()?;
            let join = if self.cursor.eat("&&") {
                Join::And
            } else if self.cursor.eat("||") {
                Join::Or
            } else if self.cursor.rest().starts_with(";;") {
                list.push((pipeline, Join::Then));
                return Ok(List(list));
            } else if self.cursor.eat(";") {
                Join::Then
            } else if self.cursor.rest().starts_with("&>") {
                return refuse("a redirection that not every shell knows");
            } else if self.cursor.eat("&") {
                Join::Background
            } else if self.lines()? {
                list.push((pipeline, Join::Then));
                continue;
            } else {
                list.push((pipeline, Join::Then));
                return Ok(List(list));
            };
            list.push((pipeline, join));
            self.lines()?;
            if matches!(join, Join::And | Join::Or) && !self.begins()? {
                return refuse("an operator without its command");
            }
        }
    }

    /// Does a command begin here?
    fn begins(&mut self) -> Result<bool, Refusal> {
        Ok(!matches!(self.cursor.peek(), None | Some(')' | ';' | '&' | '|' | '\n')) && !self.at_end_word()?)
    }

    /// Is here a reserved word that ends a list?
    fn at_end_word(&mut self) -> Result<bool, Refusal> {
        let begin = self.cursor.at;
        let plain = self.cursor.take_while(|c| c.is_ascii_alphabetic() || c == '}');
        let ended = !matches!(self.cursor.peek(), Some(c) if !" \t\n;&|<>()".contains(c));
        self.cursor.at = begin;
        Ok(ended && ["then", "elif", "else", "fi", "do", "done", "esac", "}"].contains(&plain))
    }

    fn pipeline(&mut self) -> Result<Option<Pipeline>, Refusal> {
        let begin = self.cursor.at;
        if !self.begins()? {
            return match self.cursor.peek() {
                Some('&' | '|') => refuse("an operator without its command"),
                _ => Ok(None),
            };
        }
        let mut negated = false;
        while self.reserved("!") {
            negated = !negated;
            self.blanks()?;
        }
        let mut commands = vec![];
        loop {
            commands.push(self.command()?);
            self.blanks()?;
            if self.cursor.rest().starts_with("||") || !self.cursor.eat("|") {
                break;
            }
            if self.cursor.peek() == Some('&') {
                return refuse("a pipe that not every shell knows");
            }
            self.lines()?;
        }
        let end = commands.last().map_or(begin, |c| c.at.end);
        Ok(Some(Pipeline { at: begin..end, negated, commands }))
    }

    /// Takes a reserved word if it stands here.
    pub(super) fn reserved(&mut self, word: &str) -> bool {
        let after = self.cursor.rest().strip_prefix(word).map(|rest| rest.chars().next());
        let there = matches!(after, Some(None | Some(' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')')));
        if there {
            self.cursor.at += word.len();
        }
        there
    }

    pub(super) fn wants(&mut self, word: &str) -> Result<(), Refusal> {
        self.lines()?;
        if self.reserved(word) { Ok(()) } else { refuse("a compound command without its end") }
    }

    pub(super) fn command(&mut self) -> Result<Command, Refusal> {
        self.deeper()?;
        self.blanks()?;
        let begin = self.cursor.at;
        let rest = self.cursor.rest();
        if rest.starts_with("((") {
            return refuse("arithmetic");
        }
        let compound = if self.cursor.eat("(") {
            let list = self.list()?;
            if !self.cursor.eat(")") {
                return refuse("a compound command without its end");
            }
            Some(Kind::Subshell(list))
        } else if self.reserved("{") {
            let list = self.list()?;
            self.wants("}")?;
            Some(Kind::Group(list))
        } else if self.reserved("if") {
            Some(self.conditional()?)
        } else if self.reserved("while") || self.reserved("until") {
            let condition = self.list()?;
            Some(Kind::While { condition, body: self.body()? })
        } else if self.reserved("for") {
            Some(self.counted()?)
        } else if self.reserved("case") {
            Some(self.case()?)
        } else {
            None
        };
        let command = match compound {
            Some(kind) => {
                let mut redirects = vec![];
                loop {
                    self.blanks()?;
                    match self.redirect()? {
                        Some(redirect) => redirects.push(redirect),
                        None => break,
                    }
                }
                // Another word here is an error for every shell.
                if !matches!(self.cursor.peek(), None | Some(')' | ';' | '&' | '|' | '\n')) && !self.at_end_word()? {
                    return refuse("something that no shell expects");
                }
                Command { at: begin..self.cursor.at, kind, redirects }
            }
            None => self.simple(begin)?,
        };
        self.depth -= 1;
        Ok(command)
    }

    fn simple(&mut self, begin: usize) -> Result<Command, Refusal> {
        let (mut assignments, mut words, mut redirects) = (vec![], vec![], vec![]);
        let mut end = begin;
        loop {
            self.blanks()?;
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                end = self.cursor.at;
                continue;
            }
            if self.cursor.peek() == Some('(') {
                let named = words.len() == 1 && assignments.is_empty() && redirects.is_empty();
                if !named {
                    return refuse("a bracket that not every shell understands");
                }
                return self.function(begin);
            }
            let at = self.cursor.at;
            let Some(word) = self.word()? else { break };
            if !self.pending.is_empty() && self.cursor.text[at..self.cursor.at].contains('\n') {
                return refuse("a line's end between a here-document and its text");
            }
            if words.is_empty() && !word.looks.quoted {
                if RESERVED.contains(&word.text.as_str()) || CONTESTED.contains(&word.text.as_str()) {
                    return refuse("a word that not every shell reads alike");
                }
                if assigns_oddly(&self.cursor.text[at..self.cursor.at]) {
                    return refuse("an assignment that not every shell knows");
                }
            }
            end = self.cursor.at;
            let unquoted_name = self.cursor.text[at..].split_once('=').is_some_and(|(name, _)| Some(name) == word.assigns());
            match words.is_empty() && unquoted_name {
                true => assignments.push(word),
                false => words.push(word),
            }
        }
        if words.is_empty() && assignments.is_empty() && redirects.is_empty() {
            return refuse("something that no shell expects");
        }
        Ok(Command { at: begin..end, kind: Kind::Simple { assignments, words }, redirects })
    }

    /// A redirection, if one stands here.
    fn redirect(&mut self) -> Result<Option<Redirect>, Refusal> {
        let begin = self.cursor.at;
        let digits = self.cursor.take_while(|c| c.is_ascii_digit());
        if !matches!(self.cursor.peek(), Some('<' | '>')) {
            self.cursor.at = begin;
            return Ok(None);
        }
        if digits.len() > 1 {
            return refuse("a redirection that not every shell knows");
        }
        let at = self.cursor.at;
        for operator in ["<<<", "<(", ">("] {
            if self.cursor.rest().starts_with(operator) {
                return refuse(if operator == "<<<" { "a redirection that not every shell knows" } else { "a process substitution" });
            }
        }
        let kinds = [
            ("<<-", RedirectKind::Here),
            ("<<", RedirectKind::Here),
            ("<&", RedirectKind::Duplicate),
            (">&", RedirectKind::Duplicate),
            ("<>", RedirectKind::Write),
            (">>", RedirectKind::Write),
            (">|", RedirectKind::Write),
            (">", RedirectKind::Write),
            ("<", RedirectKind::Read),
        ];
        let Some((operator, kind)) = kinds.into_iter().find(|(operator, _)| self.cursor.eat(operator)) else { return Ok(None) };
        self.blanks()?;
        let Some(target) = self.word()? else { return refuse("a redirection without its target") };
        if kind == RedirectKind::Here {
            let source = &self.cursor.text[target.at.clone()];
            let bare = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
            let in_quotes = ['\'', '"'].iter().any(|q| source.strip_prefix(*q).and_then(|s| s.strip_suffix(*q)).is_some_and(bare));
            if !in_quotes && !bare(source) || self.substitutions > 0 {
                return refuse("a here-document of an odd kind");
            }
            self.pending.push(HereDocument { end: target.text, strips_tabs: operator == "<<-", expands: !in_quotes, at });
            return Ok(Some(Redirect { kind, target: Word { at: at..at, ..Word::default() } }));
        }
        let known = target.literal().is_some_and(|t| t == "-" || t.len() == 1 && t.chars().all(|c| c.is_ascii_digit()));
        // `>&file` writes a file where it is known at all.
        let kind = if kind == RedirectKind::Duplicate && !known { RedirectKind::Write } else { kind };
        Ok(Some(Redirect { kind, target }))
    }

    /// The texts of the here-documents that the line before asked for.
    fn here_documents(&mut self) -> Result<(), Refusal> {
        for document in std::mem::take(&mut self.pending) {
            let from = self.cursor.at;
            let to = loop {
                let begin = self.cursor.at;
                if self.cursor.peek().is_none() {
                    return refuse("a here-document without its end");
                }
                let line = self.cursor.take_while(|c| c != '\n');
                self.cursor.eat("\n");
                if document.end == if document.strips_tabs { line.trim_start_matches('\t') } else { line } {
                    break begin;
                }
            };
            if document.expands {
                let mut word = self.here_text(&self.cursor.text[from..to])?;
                word.commands.iter_mut().for_each(|list| stand_at(list, document.at));
                self.texts.push((document.at, word));
            }
        }
        Ok(())
    }
}

/// `a[1]=x`, `a+=x`: arrays and more in some shells, programs in others.
fn assigns_oddly(source: &str) -> bool {
    let name = source.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    name.len() < source.len() && (name.starts_with("+=") || name.starts_with('[') && name.contains("]=") || name.contains("]+="))
}

/// Puts the texts of here-documents into their redirections.
fn place(list: &mut List, texts: &mut Vec<(usize, Word)>) {
    each_command(list, &mut |command| {
        for redirect in command.redirects.iter_mut().filter(|r| r.kind == RedirectKind::Here) {
            let at = redirect.target.at.start;
            if let Some(found) = texts.iter().position(|(where_, _)| *where_ == at) {
                redirect.target = texts.swap_remove(found).1;
            }
        }
    });
}
