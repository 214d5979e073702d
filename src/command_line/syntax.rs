//! The syntax tree of a command line: only what every `sh` understands alike.

use std::ops::Range;

/// Pipelines with what is between them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct List(pub Vec<(Pipeline, Join)>);

/// What ends a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    And,
    Or,
    /// `;`, a new line, or the end.
    Then,
    Background,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Pipeline {
    pub at: Range<usize>,
    /// With `!`: it went well if it did not.
    pub negated: bool,
    pub commands: Vec<Command>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    pub at: Range<usize>,
    pub kind: Kind,
    pub redirects: Vec<Redirect>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Simple {
        assignments: Vec<Word>,
        words: Vec<Word>,
    },
    Group(List),
    Subshell(List),
    If {
        /// Conditions with what follows them.
        branches: Vec<(List, List)>,
        otherwise: Option<List>,
    },
    /// `while` and `until`.
    While {
        condition: List,
        body: List,
    },
    For {
        variable: String,
        words: Vec<Word>,
        body: List,
    },
    Case {
        word: Word,
        arms: Vec<(Vec<Word>, List)>,
    },
    Function {
        body: Box<Command>,
    },
}

/// A word with its quotes taken off.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Word {
    pub at: Range<usize>,
    /// What is known of it: what expands is left out.
    pub text: String,
    pub looks: Looks,
    /// Commands that are substituted into it.
    pub commands: Vec<List>,
    /// Variables whose values go into it.
    pub variables: Vec<String>,
}

/// What a shell would do with a word.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Looks {
    /// Something in it is quoted: it is no reserved word and no assignment.
    pub quoted: bool,
    /// Is looked up among the names of files.
    pub glob: bool,
    /// Begins with the home folder, whose `~` is in the text.
    pub home: bool,
    /// Becomes something else that can't be known.
    pub dynamic: bool,
    /// Becomes any number of words.
    pub splits: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Redirect {
    pub kind: RedirectKind,
    pub target: Word,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectKind {
    Read,
    Write,
    /// To or from what is open already.
    Duplicate,
    /// The text is in the command line; the target has what is expanded in it.
    Here,
}

impl Word {
    /// The word, if it is the same whenever and wherever it is read.
    pub fn literal(&self) -> Option<&str> {
        let looks = &self.looks;
        (!looks.glob && !looks.home && !looks.dynamic && self.commands.is_empty()).then_some(self.text.as_str())
    }

    /// The name in `name=value`.
    pub fn assigns(&self) -> Option<&str> {
        let (name, _) = self.text.split_once('=')?;
        is_name(name).then_some(name)
    }
}

pub fn is_name(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit()) && !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// What was found in another text stands where that text does.
pub fn stand_at(list: &mut List, at: usize) {
    each_command(list, &mut |command| command.at = at..at);
}

/// Every command of a list, however deep.
pub fn each_command(list: &mut List, visit: &mut dyn FnMut(&mut Command)) {
    for command in list.0.iter_mut().flat_map(|(pipeline, _)| pipeline.commands.iter_mut()) {
        each_inner(command, visit);
    }
}

fn each_inner(command: &mut Command, visit: &mut dyn FnMut(&mut Command)) {
    visit(command);
    let in_words = |words: &mut Vec<Word>, visit: &mut dyn FnMut(&mut Command)| {
        words.iter_mut().flat_map(|w| w.commands.iter_mut()).for_each(|list| each_command(list, visit));
    };
    command.redirects.iter_mut().flat_map(|r| r.target.commands.iter_mut()).for_each(|list| each_command(list, visit));
    match &mut command.kind {
        Kind::Simple { assignments, words } => {
            in_words(assignments, visit);
            in_words(words, visit);
        }
        Kind::Group(list) | Kind::Subshell(list) => each_command(list, visit),
        Kind::If { branches, otherwise } => {
            for (condition, body) in branches {
                each_command(condition, visit);
                each_command(body, visit);
            }
            otherwise.iter_mut().for_each(|list| each_command(list, visit));
        }
        Kind::While { condition, body } => {
            each_command(condition, visit);
            each_command(body, visit);
        }
        Kind::For { words, body, .. } => {
            in_words(words, visit);
            each_command(body, visit);
        }
        Kind::Case { word, arms } => {
            word.commands.iter_mut().for_each(|list| each_command(list, visit));
            for (patterns, body) in arms {
                in_words(patterns, visit);
                each_command(body, visit);
            }
        }
        Kind::Function { body } => each_inner(body, visit),
    }
}
