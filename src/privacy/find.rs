//! Where in a text there are secrets.
//!
//! By what is known already, by shape, by what it is assigned to, by the user's own patterns. Each looks through the text once, and
//! what is remembered between the steps is bounded: the time grows with the length of the text, whatever is in it.

use super::{assigned, shapes, vault::Vault};
use aho_corasick::{AhoCorasick, MatchKind};
use regex::{Regex, RegexBuilder};
use std::{
    cell::{OnceCell, RefCell},
    collections::BTreeMap,
    ops::Range,
};

/// A secret that is known is not looked for if it is shorter: it would be found in words that have nothing to do with it.
pub const SHORTEST_KNOWN: usize = 8;
/// One that is this long is found within other words too.
const WITHIN_WORDS: usize = 24;
/// What a pattern of the user's may cost to build.
const PATTERN_SIZE: usize = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    pub at: Range<usize>,
    pub kind: String,
    /// It is a secret, and counted as one.
    pub told: bool,
}

impl Span {
    pub fn new(at: Range<usize>, kind: impl Into<String>) -> Span {
        Span { at, kind: kind.into(), told: true }
    }
}

/// Everything that has to be built is built with the first text.
pub struct Finder {
    patterns: Vec<String>,
    own: OnceCell<Vec<Regex>>,
    known: RefCell<Option<Known>>,
}

struct Known {
    generation: usize,
    kinds: Vec<String>,
    search: Option<AhoCorasick>,
}

impl Finder {
    pub fn new(patterns: Vec<String>) -> Finder {
        Finder { patterns, own: OnceCell::new(), known: RefCell::new(None) }
    }

    /// They may overlap.
    pub fn spans(&self, text: &str, vault: &Vault) -> Vec<Span> {
        let mut spans = vec![];
        self.known(text, vault, &mut spans);
        shapes::find(text, &mut spans);
        assigned::find(text, &mut spans);
        for own in self.own.get_or_init(|| self.patterns.iter().filter_map(|text| pattern(text).ok()).collect()) {
            for found in own.captures_iter(text) {
                // A group says which part of it is the secret.
                if let Some(part) = found.get(1).or(found.get(0)).filter(|part| !part.is_empty()) {
                    spans.push(Span::new(part.range(), "private text"));
                }
            }
        }
        spans
    }

    fn known(&self, text: &str, vault: &Vault, spans: &mut Vec<Span>) {
        let mut known = self.known.borrow_mut();
        let known = match &mut *known {
            Some(known) if known.generation == vault.generation() => known,
            stale => stale.insert(Known::of(vault)),
        };
        let Some(search) = &known.search else { return };
        for found in search.find_iter(text) {
            let (start, end) = (found.start(), found.end());
            if end - start >= WITHIN_WORDS || is_apart(text, start, end) {
                spans.push(Span::new(start..end, known.kinds[found.pattern().as_usize()].clone()));
            }
        }
    }
}

impl Known {
    fn of(vault: &Vault) -> Known {
        let (kinds, secrets): (Vec<String>, Vec<&str>) = vault.everywhere().map(|(kind, secret)| (kind.to_owned(), secret)).unzip();
        // More than can be searched for at once is not searched for: the other ways remain.
        let search = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&secrets).ok().filter(|_| !secrets.is_empty());
        Known { generation: vault.generation(), kinds, search }
    }
}

fn is_apart(text: &str, start: usize, end: usize) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let joins = |inner: Option<char>, outer: Option<char>| inner.is_some_and(word) && outer.is_some_and(word);
    !joins(text[start..].chars().next(), text[..start].chars().next_back())
        && !joins(text[..end].chars().next_back(), text[end..].chars().next())
}

/// Is it a secret wherever it stands, or only where it was found? A word may mean something else elsewhere.
pub fn stands_out(secret: &str) -> bool {
    let digits = secret.bytes().filter(u8::is_ascii_digit).count();
    let letters = secret.bytes().filter(u8::is_ascii_alphabetic).count();
    secret.len() >= SHORTEST_KNOWN && !secret.contains('\n') && digits > 0 && letters > 0 || secret.len() >= 24 && !secret.contains(' ')
}

/// Those that are left when of two that overlap the longer one counts; in the order of the text.
pub fn apart(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| std::cmp::Reverse(span.at.len()));
    let mut kept: BTreeMap<usize, Span> = BTreeMap::new();
    for span in spans {
        let before = kept.range(..span.at.end).next_back();
        if before.is_none_or(|(_, before)| before.at.end <= span.at.start) {
            kept.insert(span.at.start, span);
        }
    }
    kept.into_values().collect()
}

pub fn pattern(text: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(text).size_limit(PATTERN_SIZE).dfa_size_limit(PATTERN_SIZE).build();
    let regex = built.map_err(|error| error.to_string().lines().last().unwrap_or_default().trim().to_owned())?;
    if regex.is_match("") { Err("it matches where there is nothing".into()) } else { Ok(regex) }
}
