//! Fuzzy matching of short lists: commands, their arguments, lines of the history. Pure.

use nucleo_matcher::{
    Config, Matcher, Utf32Str,
    pattern::{Atom, AtomKind, CaseMatching, Normalization},
};

/// A name that matches: its index, and which of its characters did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    pub at: usize,
    pub positions: Vec<usize>,
}

pub(super) fn atom(text: &str) -> Atom {
    Atom::new(text, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy, false)
}

/// Those that match, the best first; equally good ones, and all of them without a query, in the order given.
pub fn rank<'a>(query: &str, names: impl Iterator<Item = &'a str>) -> Vec<Match> {
    if query.is_empty() {
        return names.enumerate().map(|(at, _)| Match { at, positions: vec![] }).collect();
    }
    let (atom, mut matcher) = (atom(query), Matcher::new(Config::DEFAULT));
    let (mut buffer, mut found) = (vec![], vec![]);
    for (at, name) in names.enumerate() {
        let mut positions = vec![];
        if let Some(score) = atom.indices(Utf32Str::new(name, &mut buffer), &mut matcher, &mut positions) {
            // What was typed in full is what is meant, however good the others look.
            let begins = u16::from(name.starts_with(query)) + u16::from(name == query);
            found.push((begins, score, Match { at, positions: rising(positions) }));
        }
    }
    // Stable: the given order decides the rest.
    found.sort_by_key(|(begins, score, _)| std::cmp::Reverse((*begins, *score)));
    found.into_iter().map(|(_, _, found)| found).collect()
}

/// Those that contain every word of the query, whatever the case, in the order given.
pub fn contain<'a>(query: &str, texts: impl Iterator<Item = &'a str>) -> Vec<Match> {
    let folded = |text: &str| text.chars().map(|c| c.to_lowercase().next().unwrap_or(c)).collect::<Vec<char>>();
    let words: Vec<Vec<char>> = query.split_whitespace().map(folded).collect();
    let found = texts.enumerate().filter_map(|(at, text)| {
        let text = folded(text);
        let starts: Option<Vec<usize>> = words.iter().map(|word| text.windows(word.len()).position(|window| window == word)).collect();
        let mut positions: Vec<usize> = starts?.into_iter().zip(&words).flat_map(|(start, word)| start..start + word.len()).collect();
        positions.sort_unstable();
        positions.dedup();
        Some(Match { at, positions })
    });
    found.collect()
}

pub(super) fn rising(positions: Vec<u32>) -> Vec<usize> {
    let mut positions: Vec<usize> = positions.into_iter().map(|at| at as usize).collect();
    positions.sort_unstable();
    positions.dedup();
    positions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_with_the_query_comes_first() {
        let names = ["export", "exit", "help", "next"];
        let order = |query| rank(query, names.into_iter()).into_iter().map(|m| names[m.at]).collect::<Vec<_>>();
        assert_eq!(order("ex"), ["export", "exit", "next"]);
        assert_eq!(order("xt"), ["next", "exit", "export"]);
        assert_eq!(order(""), names);
        assert!(order("zz").is_empty());
        assert_eq!(rank("hp", names.into_iter())[0].positions, [0, 3]);
        let found = contain("xt ne", names.into_iter());
        assert_eq!(found, [Match { at: 3, positions: vec![0, 1, 2, 3] }]);
    }
}
