//! Reads a program's words against what the table allows it: options, their values, operands.

use crate::command_line::syntax::Word;

#[derive(Debug, Default)]
pub struct Read<'a> {
    pub operands: Vec<&'a Word>,
    /// Files that options name.
    pub files: Vec<Word>,
    /// Options that are there, without dashes and values.
    pub options: Vec<String>,
    /// Their values, with their names.
    pub values: Vec<(String, String)>,
}

impl<'a> Read<'a> {
    /// The value of an option. After the first operand some systems know no more options: then it is a file as well.
    fn value(&mut self, name: &str, word: &'a Word) -> Option<()> {
        self.values.push((name.into(), word.literal()?.into()));
        if !self.operands.is_empty() {
            self.files.push(word.clone());
        }
        Some(())
    }
}

/// `None`: there is an option that is not known to be safe.
pub fn read<'a>(short: &str, long: &[&str], words: &'a [Word]) -> Option<Read<'a>> {
    let mut read = Read::default();
    let mut words = words.iter();
    let mut only_operands = false;
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        // `--include=*.rs` is the same option whatever files there are.
        let named = text.starts_with("--") && text.split(['*', '?', '[']).next().is_some_and(|before| before.contains('='));
        // Where nothing matches, a pattern is a word, and this one would be an option.
        if !only_operands && word.looks.glob && !named && text.starts_with('-') {
            return None;
        }
        if only_operands || word.looks.glob && !named || word.looks.home || !text.starts_with('-') || text == "-" {
            read.operands.push(word);
            continue;
        }
        if text == "--" {
            only_operands = true;
            continue;
        }
        // An option that goes on as something else may be any option.
        if !named || word.looks.dynamic {
            word.literal()?;
        }
        match text.strip_prefix("--") {
            Some(given) => {
                let (name, value) = given.split_once('=').map_or((given, None), |(name, value)| (name, Some(value)));
                let kind = long.iter().flat_map(|names| names.split_whitespace()).find_map(|known| {
                    let (known, kind) = known.split_once('=').map_or((known, None), |(known, kind)| (known, Some(kind)));
                    (known == name).then_some(kind)
                })?;
                match (kind, value) {
                    (None, None) | (Some("?"), _) => {}
                    (None, Some(_)) => return None,
                    (Some(""), Some(value)) => read.values.push((name.into(), value.into())),
                    (Some("@"), Some(value)) => read.files.push(Word { text: value.into(), ..Word::default() }),
                    (Some("@"), None) => read.files.push(words.next()?.clone()),
                    (Some(_), None) => read.value(name, words.next()?)?,
                    (Some(_), Some(_)) => return None,
                }
                read.options.push(name.into());
            }
            None => {
                let letters = &text[1..];
                if letters.starts_with(|c: char| c.is_ascii_digit()) && short.contains('#') {
                    if letters.chars().all(|c| c.is_ascii_digit()) {
                        continue;
                    }
                    return None;
                }
                for (at, letter) in letters.char_indices() {
                    let place = short.find(letter).filter(|_| !matches!(letter, ':' | '@' | '#'))?;
                    read.options.push(letter.into());
                    let rest = &letters[at + letter.len_utf8()..];
                    match short[place + letter.len_utf8()..].chars().next() {
                        Some(':') if rest.is_empty() => read.value(&letter.to_string(), words.next()?)?,
                        Some('@') if rest.is_empty() => read.files.push(words.next()?.clone()),
                        Some('@') => read.files.push(Word { text: rest.into(), ..Word::default() }),
                        Some(':') => read.values.push((letter.to_string(), rest.into())),
                        _ => continue,
                    }
                    break;
                }
            }
        }
    }
    Some(read)
}
