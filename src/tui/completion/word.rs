//! The word at the cursor that can be completed: what kind it is, what it asks for, and which bytes it stands on. Pure.
//!
//! - A mention begins with `@` where a word begins or a bracket or quote has opened: an address such as `a@b.c` is none.
//! - `@"a b` may hold blanks; `:10-20` behind a name is a range of lines, kept whatever the name becomes.
//! - Taking a completion replaces the word and nothing else, also where the cursor is inside it.

use crate::commands;
use backstitch_components::editor::is_fold;
use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `@path`
    Mention,
    /// `/command`
    Command,
    /// What follows a command: its name.
    Argument(&'static str),
    /// `!command`, from the history.
    ShellLine,
    /// A path in a `!` line.
    ShellPath,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    pub kind: Kind,
    /// In the text, with the sign before it.
    pub range: Range<usize>,
    pub query: String,
    /// The range of lines behind a mention.
    pub lines: String,
}

impl Word {
    /// What can be completed where the cursor is.
    pub fn at(text: &str, cursor: usize) -> Option<Word> {
        let (head, tail) = text.split_at_checked(cursor)?;
        match text.chars().next()? {
            '/' if !text.contains('\n') => slash(text, head, tail).or_else(|| mention(head, tail)),
            '!' => shell(text, head, tail),
            _ => mention(head, tail),
        }
    }

    /// Enter means the text as it is until the user has moved to an entry.
    pub fn is_shy(&self) -> bool {
        match self.kind {
            Kind::ShellLine | Kind::ShellPath => true,
            Kind::Mention => self.query.ends_with('/'),
            Kind::Command | Kind::Argument(_) => false,
        }
    }

    /// What stands there instead, once `taken` was chosen.
    pub fn replaced(&self, taken: &str) -> String {
        let folder = taken.ends_with('/');
        match self.kind {
            Kind::Mention if taken.contains(|c: char| c.is_whitespace() || c == '"') => {
                let closing = if folder { "" } else { "\"" };
                format!("@\"{}{closing}{}", taken.replace('"', "\\\""), self.lines)
            }
            Kind::Mention => format!("@{taken}{}", self.lines),
            Kind::Command | Kind::Argument(_) => taken.to_owned(),
            Kind::ShellLine => format!("!{taken}"),
            Kind::ShellPath => escaped(taken),
        }
    }
}

fn ends_word(c: char) -> bool {
    c.is_whitespace() || is_fold(c)
}

/// Bytes of the word that follow the cursor.
fn rest(tail: &str, also: &str) -> usize {
    tail.find(|c: char| ends_word(c) || also.contains(c)).unwrap_or(tail.len())
}

fn mention(head: &str, tail: &str) -> Option<Word> {
    let line = head.rfind('\n').map_or(0, |at| at + 1);
    let opens = |at: usize| head[..at].chars().next_back().is_none_or(|c| ends_word(c) || "([{<\"'`=,:".contains(c));
    let quoted = head[line..].rfind("@\"").map(|at| line + at).filter(|at| opens(*at));
    if let Some(start) = quoted {
        let name = &head[start + 2..];
        if !name.contains(|c| c == '"' || is_fold(c)) {
            let mut end = rest(tail, "\"");
            end += usize::from(tail[end..].starts_with('"'));
            return Some(Word { kind: Kind::Mention, range: start..head.len() + end, query: name.into(), lines: String::new() });
        }
    }
    let word = head.rfind(ends_word).map_or(0, |at| at + head[at..].chars().next().map_or(1, char::len_utf8));
    let start = head[word..].match_indices('@').map(|(at, _)| word + at).find(|at| opens(*at))?;
    let name = &head[start + 1..];
    if name.contains('"') {
        return None;
    }
    let (name, lines) = name.split_at(lines_at(name));
    let range = start..head.len() + rest(tail, ")]}>\"'`,");
    Some(Word { kind: Kind::Mention, range, query: name.into(), lines: lines.into() })
}

/// Where `:10`, `:10-20` or the colon that will begin it stands; the end if there is none.
fn lines_at(name: &str) -> usize {
    let lines =
        |tail: &str| tail.chars().all(|c| c.is_ascii_digit() || c == '-') && tail.matches('-').count() <= 1 && !tail.starts_with('-');
    name.rfind(':').filter(|at| lines(&name[at + 1..])).unwrap_or(name.len())
}

fn slash(text: &str, head: &str, tail: &str) -> Option<Word> {
    let Some(blank) = head.find(char::is_whitespace) else {
        let query = &head[1.min(head.len())..];
        let end = head.len() + rest(tail, "");
        return (!head.is_empty() && !text[1..end].contains('/')).then(|| Word {
            kind: Kind::Command,
            range: 0..end,
            query: query.into(),
            lines: String::new(),
        });
    };
    let command = commands::ALL.iter().find(|command| command.name == &head[1..blank])?;
    let start = blank + head[blank..].len() - head[blank..].trim_start().len();
    let query = head[start..].into();
    (!command.arguments.is_empty()).then(|| Word {
        kind: Kind::Argument(command.name),
        range: start..text.len(),
        query,
        lines: String::new(),
    })
}

fn shell(text: &str, head: &str, tail: &str) -> Option<Word> {
    let line = head.strip_prefix('!')?;
    let first = line.trim_start();
    if !first.contains(char::is_whitespace) {
        let all = !text.contains('\n') && tail.is_empty() && !first.is_empty();
        return all.then(|| Word { kind: Kind::ShellLine, range: 0..text.len(), query: line.trim_start().into(), lines: String::new() });
    }
    // A blank after a backslash belongs to the word.
    let mut start = head.len();
    for (at, c) in head.char_indices().rev() {
        if ends_word(c) && !head[..at].ends_with('\\') {
            break;
        }
        start = at;
    }
    let query = head[start..].replace('\\', "");
    let path = !query.is_empty() && !query.starts_with(['-', '/', '~', '$', '"', '\'', '|', '&', '>', '<']);
    path.then(|| Word { kind: Kind::ShellPath, range: start..head.len() + rest(tail, ""), query, lines: String::new() })
}

fn escaped(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        if c.is_ascii() && !c.is_ascii_alphanumeric() && !"/._-+:@%,".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Paths that a text mentions.
pub fn mentions(text: &str) -> impl Iterator<Item = String> {
    text.match_indices('@').filter_map(|(at, _)| {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| !c.is_whitespace() && !"([{<\"'`=,:".contains(c)) {
            return None;
        }
        let rest = &text[at + 1..];
        let name = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next()?,
            None => {
                let word = rest.split(char::is_whitespace).next()?;
                let word = word.trim_end_matches(|c| ".,;:!?)]}>\"'`".contains(c));
                &word[..lines_at(word)]
            }
        };
        (!name.is_empty()).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cursor is at `|`: kind, query, lines and what the word stands on.
    fn word(text: &str) -> Option<(Kind, String, String, String)> {
        let cursor = text.find('|').unwrap();
        let text = text.replacen('|', "", 1);
        let word = Word::at(&text, cursor)?;
        Some((word.kind, word.query, word.lines, text[word.range].to_owned()))
    }

    fn found(kind: Kind, query: &str, lines: &str, on: &str) -> Option<(Kind, String, String, String)> {
        Some((kind, query.into(), lines.into(), on.into()))
    }

    #[test]
    fn mentions_are_found_where_words_begin() {
        for (text, query, lines, on) in [
            ("@|", "", "", "@"),
            ("look at @src/ma|", "src/ma", "", "@src/ma"),
            ("look at @src/ma|in.rs now", "src/ma", "", "@src/main.rs"),
            ("(see @a|)", "a", "", "@a"),
            ("(@a|)", "a", "", "@a"),
            ("a\n@b|", "b", "", "@b"),
            ("@日本|語", "日本", "", "@日本語"),
            ("@main.rs:10-2|", "main.rs", ":10-2", "@main.rs:10-2"),
            ("@main.rs:|", "main.rs", ":", "@main.rs:"),
            ("@a:b|", "a:b", "", "@a:b"),
            ("@\"a b|", "a b", "", "@\"a b"),
            ("@\"a b| c", "a b", "", "@\"a b"),
            ("@\"a b|c\" d", "a b", "", "@\"a bc\""),
            ("@\"a b\" and @c|", "c", "", "@c"),
        ] {
            assert_eq!(word(text), found(Kind::Mention, query, lines, on), "{text}");
        }
        for text in ["|", "a|", "me@home|", "@a |", "@\"a b\"|", "|@a", "@a\n|"] {
            assert_eq!(word(text), None, "{text}");
        }
    }

    #[test]
    fn commands_and_what_follows_them() {
        assert_eq!(word("/|"), found(Kind::Command, "", "", "/"));
        assert_eq!(word("/mo|de x"), found(Kind::Command, "mo", "", "/mode"));
        assert_eq!(word("/mode |"), found(Kind::Argument("mode"), "", "", ""));
        assert_eq!(word("/mode pl|an"), found(Kind::Argument("mode"), "pl", "", "plan"));
        assert_eq!(word("/model a b|"), found(Kind::Argument("model"), "a b", "", "a b"));
        for text in ["/usr/bin|", "/us|r/bin", "/exit |", "/nothing |", "say /he|", "/help\n|", "|/help"] {
            assert_eq!(word(text), None, "{text}");
        }
        assert_eq!(word("/usr/bin is @a|"), found(Kind::Mention, "a", "", "@a"));
    }

    #[test]
    fn shell_lines_and_their_paths() {
        assert_eq!(word("!car|"), found(Kind::ShellLine, "car", "", "!car"));
        assert_eq!(word("!cat src/m|"), found(Kind::ShellPath, "src/m", "", "src/m"));
        assert_eq!(word("!cat a\\ b|"), found(Kind::ShellPath, "a b", "", "a\\ b"));
        for text in ["!|", "!cat |", "!ls -l|", "!ca|t x", "!cat \"a|"] {
            assert_eq!(word(text), None, "{text}");
        }
    }

    #[test]
    fn names_are_written_so_that_they_stay_one_word() {
        let at = |text: &str| Word::at(text, text.len()).unwrap();
        assert_eq!(at("@a").replaced("src/a.rs"), "@src/a.rs");
        assert_eq!(at("@a:3-4").replaced("a.rs"), "@a.rs:3-4");
        assert_eq!(at("@a").replaced("a b.txt"), "@\"a b.txt\"");
        assert_eq!(at("@a").replaced("my \"own\".txt"), "@\"my \\\"own\\\".txt\"");
        assert_eq!(at("@a").replaced("my dir/"), "@\"my dir/");
        assert_eq!(at("!cat a").replaced("a b's.txt"), "a\\ b\\'s.txt");
        assert_eq!(at("!cat a").replaced("日本.txt"), "日本.txt");
    }

    #[test]
    fn what_a_prompt_mentions() {
        let found: Vec<String> = mentions("see @src/a.rs:1-2, @\"a b.txt\" and (@c) not me@home or @.").collect();
        assert_eq!(found, ["src/a.rs", "a b.txt", "c"]);
    }
}
