//! The search against a plain one that asks nucleo for every path and sorts everything: on random paths and queries, same answers.

use super::super::{MOST_HITS, Query, bound, fuzzy, index::Index};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use std::collections::BTreeSet;

/// Numbers from a seed (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

const WORDS: [&str; 24] = [
    "src", "main", "comp", "Comp", "test", "a", "aa", "s", "Model", "x9", "12", "7", "index", "mod", "日本", "é", "Ünï", "b c", "ß", "'q'",
    "tests", "io", "R", "ss",
];
const JOINTS: [&str; 9] = ["", "", "_", "-", ".", " ", ".rs", "/", "/"];

fn path(dice: &mut Dice) -> String {
    let mut path = String::new();
    if dice.below(20) == 0 {
        path.push('.');
    }
    for _ in 0..=dice.below(8) {
        path.push_str(dice.one(&WORDS));
        path.push_str(dice.one(&JOINTS));
    }
    path
}

/// A piece of a path, or some of its characters, or anything.
fn query(dice: &mut Dice, paths: &[String]) -> String {
    let path: Vec<char> = paths[dice.below(paths.len())].chars().collect();
    let from = dice.below(path.len());
    let most = 1 + dice.below(9);
    let mut text: String = match dice.below(4) {
        0 => path[from..].iter().take(most).collect(),
        1 => (0..most).map(|_| dice.one(&["s", "c", "m", "t", "é", "日", "1", "/", "_", "x", "M"])).collect(),
        _ => path.iter().filter(|_| dice.below(3) == 0).take(most).collect(),
    };
    if dice.below(2) == 0 {
        text = text.to_lowercase();
    }
    text
}

fn plainly(paths: &BTreeSet<String>, changed: &[String], query: &Query) -> (Vec<String>, usize) {
    let text = query.text.strip_prefix("./").unwrap_or(&query.text);
    let hidden = |text: &str| text.starts_with('.') || text.contains("/.");
    let (atom, mut matcher, mut buffer) = (fuzzy::atom(text), Matcher::new(Config::DEFAULT.match_paths()), vec![]);
    let mut found = vec![];
    for path in paths {
        let recent = query.recent.iter().rev().position(|used| used == path);
        if hidden(path) && !hidden(text) && recent.is_none() {
            continue;
        }
        let Some(score) = atom.score(Utf32Str::new(path, &mut buffer), &mut matcher) else { continue };
        let inside = path.trim_end_matches('/');
        let name = inside.rsplit('/').next().unwrap_or(inside).as_bytes();
        let begins = name.len() >= text.len() && name[..text.len()].eq_ignore_ascii_case(text.as_bytes());
        let exact = begins && (name.len() == text.len() || name[text.len()] == b'.');
        let depth = inside.bytes().filter(|b| *b == b'/').count().min(10);
        let used = recent.map_or(0, |rank| 64 + rank.min(12));
        let bonus = usize::from(begins) * 16 + usize::from(exact) * 16 + usize::from(changed.contains(path)) * 12 + used + (10 - depth);
        found.push((std::cmp::Reverse(usize::from(score) + bonus), path.len(), path));
    }
    found.sort();
    (found.iter().take(MOST_HITS).map(|(_, _, path)| (*path).clone()).collect(), found.len())
}

/// nucleo looks at a single character in a path with others than ASCII in a way of its own: the bonus there is by what came before the
/// last match.
fn of_its_own(text: &str, path: &str) -> bool {
    text.chars().count() == 1 && !path.is_ascii()
}

#[test]
fn bounds_are_what_nucleo_says() {
    let mut dice = Dice(0x5eed);
    let (mut matcher, mut buffer, mut matching) = (Matcher::new(Config::DEFAULT.match_paths()), vec![], 0);
    for _ in 0..20_000 {
        let paths = [path(&mut dice), path(&mut dice)];
        let text = query(&mut dice, &paths);
        for path in &paths {
            if text.is_empty() || path.contains("//") || of_its_own(&text, path) {
                continue;
            }
            let score = fuzzy::atom(&text).score(Utf32Str::new(path, &mut buffer), &mut matcher).map(u32::from);
            assert_eq!(bound::of_path(&text, path), score, "{text:?} in {path:?}");
            matching += usize::from(score.is_some());
        }
    }
    assert!(matching > 10_000, "{matching}");
}

#[test]
fn the_best_are_those_of_a_plain_search() {
    let mut dice = Dice(0xfeed);
    for round in 0..12 {
        let wanted = if round % 4 == 0 { 12_000 } else { 500 };
        let paths: BTreeSet<String> = (0..wanted).map(|_| path(&mut dice)).filter(|path| !path.contains("//")).collect();
        let listed: Vec<String> = paths.iter().cloned().collect();
        let mut some = |n: usize| -> Vec<String> { (0..n).map(|_| listed[dice.below(listed.len())].clone()).collect() };
        let (mut recent, changed) = (some(10), some(20));
        recent.dedup();
        let mut index = Index::default();
        // In an order that is not the one of their names.
        let step = 7919;
        (0..listed.len()).for_each(|n| index.add(&listed[n * step % listed.len()]));
        let settles = round % 2 == 0;
        if settles {
            index.settle();
        }
        index.mark_changed(&changed);
        for n in 0..12 {
            let mut text = query(&mut dice, &listed);
            // Longer than what bounds are for.
            if n == 11 {
                text = listed.iter().max_by_key(|path| path.len()).cloned().unwrap_or_default();
                text.pop();
            }
            if text.chars().count() < 2 || text.ends_with('/') {
                continue;
            }
            let query = Query { text, recent: recent.clone(), ..Query::default() };
            let answer = index.search(&query);
            let hits: Vec<String> = answer.hits.into_iter().map(|hit| hit.path).collect();
            assert_eq!((hits, answer.matching), plainly(&paths, &changed, &query), "{:?}, settled: {settles}", query.text);
        }
    }
}

#[test]
fn a_search_that_nobody_waits_for_ends() {
    let mut index = Index::default();
    (0..30_000).for_each(|n| index.add(&format!("dir{}/file{n}.rs", n % 97)));
    let query = Query { text: "f".into(), ..Query::default() };
    assert!(index.search_unless(&query, &|| true).is_none());
    assert_eq!(index.search_unless(&query, &|| false).map(|answer| answer.matching), Some(30_000));
}

#[test]
fn a_path_costs_little_memory() {
    let mut index = Index::default();
    (0..100_000).for_each(|n| index.add(&format!("packages/pkg{}/src/module{}/component_{n}.rs", n % 40, n % 400)));
    index.settle();
    assert!(index.bytes() < 50 * 100_000, "{} bytes", index.bytes());
}
