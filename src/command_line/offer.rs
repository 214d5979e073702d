//! Patterns by which the user allows commands for longer: which are offered, what they cover, how they are written.
//!
//! A pattern speaks for one simple command, word by word, and only for one whose words are all literal; nothing that is written,
//! set, wrapped or unknown is ever covered by one.

use super::{checked, programs::known, syntax::Kind};
use crate::protocol::{CommandPart, CommandPattern};

/// Does the pattern speak for this part?
pub fn covers(pattern: &CommandPattern, part: &CommandPart) -> bool {
    let (words, wanted) = (&part.words, &pattern.words);
    let begins = !wanted.is_empty() && words.len() >= wanted.len() && words.starts_with(wanted);
    begins && (words.len() == wanted.len() || pattern.open && follow(wanted, &words[wanted.len()..]))
}

/// Where it is offered, `*` stands for what chooses among the project's own. Behind two dashes it is for what of the project is run.
fn follow(wanted: &[String], more: &[String]) -> bool {
    let offered = known::open_after(wanted) == Some(wanted.len());
    let own = matches!(wanted[0].as_str(), "cargo" | "npm" | "pnpm") && wanted.get(1).is_some_and(|w| w != "fmt" && w != "clippy");
    let end = more.iter().position(|word| own && word == "--").unwrap_or(more.len());
    !offered || more[..end].iter().all(|word| known::may_follow(&wanted[0], word))
}

/// One pattern for each part that needs one; `None` if there is a part that no pattern can speak for.
pub fn offers<'a>(needing: impl Iterator<Item = &'a CommandPart>) -> Option<Vec<CommandPattern>> {
    let mut offers: Vec<CommandPattern> = vec![];
    for part in needing {
        if part.words.is_empty() {
            return None;
        }
        if offers.iter().any(|offer| covers(offer, part)) {
            continue;
        }
        offers.push(match known::open_after(&part.words) {
            Some(length) if follow(&part.words[..length], &part.words[length..]) => {
                CommandPattern { words: part.words[..length].to_vec(), open: true }
            }
            _ => CommandPattern { words: part.words.clone(), open: false },
        });
    }
    (!offers.is_empty()).then_some(offers)
}

/// Patterns as they are written, with `;` between several; or what is wrong, in a few words.
pub fn parse_patterns(text: &str) -> Result<Vec<CommandPattern>, String> {
    let tree = checked(text).map_err(|why| format!("not a pattern: {}", why.0))?;
    let mut patterns = vec![];
    for (pipeline, _) in &tree.0 {
        let [command] = &pipeline.commands[..] else { return Err("one pattern for each part, with ; between them".into()) };
        let Kind::Simple { assignments, words } = &command.kind else { return Err("a pattern is a program and its words".into()) };
        if !assignments.is_empty() || !command.redirects.is_empty() {
            return Err("a pattern can't set or redirect anything".into());
        }
        let open = words.len() > 1 && words.last().is_some_and(|word| word.text == "*" && word.looks.glob && !word.looks.quoted);
        let literal: Option<Vec<String>> =
            words[..words.len() - usize::from(open)].iter().map(|w| w.literal().map(str::to_owned)).collect();
        match literal {
            Some(words) if !words.is_empty() => patterns.push(CommandPattern { words, open }),
            _ => return Err("* may only be the last word; the others stand for themselves".into()),
        }
    }
    if patterns.is_empty() { Err("a pattern is a program and its words".into()) } else { Ok(patterns) }
}
