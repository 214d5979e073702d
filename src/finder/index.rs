//! The paths of a project in one block of memory, and the search through them. Pure but for the threads that share a search.
//!
//! Invariants: the same entries, in whatever order they came, and the same query give the same answer; hidden paths are found
//! only by a query that says so (a leading dot, or `/.`) or because they were used lately.

use super::{Answer, Hit, MOST_HITS, Mark, Query, fuzzy};
use nucleo_matcher::{Config, Matcher, Utf32Str, pattern::Atom};
use std::{cmp::Ordering, collections::HashMap, collections::HashSet};

/// Entries beyond these are left out: a tree that large is searched by tools, not by a popup.
pub const MOST_ENTRIES: usize = 2_000_000;
/// From so many on a search is shared by threads.
const SHARED: usize = 20_000;

#[derive(Debug, Default)]
pub struct Index {
    text: String,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    start: u32,
    length: u16,
    hidden: bool,
    changed: bool,
}

#[derive(Debug, Clone, Copy)]
struct Found {
    score: u32,
    at: u32,
}

impl Index {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Folders end in `/`.
    pub fn add(&mut self, path: &str) {
        let (Ok(start), Ok(length)) = (u32::try_from(self.text.len()), u16::try_from(path.len())) else { return };
        if length == 0 || self.entries.len() >= MOST_ENTRIES || start > u32::MAX - u32::from(u16::MAX) {
            return;
        }
        self.text.push_str(path);
        let hidden = path.starts_with('.') || path.contains("/.");
        self.entries.push(Entry { start, length, hidden, changed: false });
    }

    pub fn mark_changed(&mut self, changed: &[String]) {
        let changed: HashSet<&str> = changed.iter().map(String::as_str).collect();
        for at in 0..self.entries.len() {
            self.entries[at].changed = changed.contains(self.path(&self.entries[at]));
        }
    }

    fn path(&self, entry: &Entry) -> &str {
        let start = entry.start as usize;
        self.text.get(start..start + usize::from(entry.length)).unwrap_or_default()
    }

    pub fn search(&self, query: &Query) -> Answer {
        let text = query.text.strip_prefix("./").unwrap_or(&query.text);
        let recent: HashMap<&str, u32> = query.recent.iter().rev().enumerate().map(|(rank, path)| (path.as_str(), rank as u32)).collect();
        let search = Search { index: self, text, atom: fuzzy::atom(text), recent, hidden: text.starts_with('.') || text.contains("/.") };
        let (mut found, by_name) = match text {
            "" => (search.first(), false),
            folder if folder.ends_with('/') && self.entries.iter().any(|e| self.path(e).starts_with(folder)) => (search.folder(), true),
            _ => (search.all(), false),
        };
        let matching = if text.is_empty() { self.entries.iter().filter(|e| !e.hidden).count() } else { found.len() };
        let order = |a: &Found, b: &Found| self.order(a, b, by_name || text.is_empty());
        if found.len() > MOST_HITS {
            found.select_nth_unstable_by(MOST_HITS, order);
            found.truncate(MOST_HITS);
        }
        found.sort_unstable_by(order);
        let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
        let hits = found.iter().map(|found| search.hit(found, &mut matcher)).collect();
        Answer { id: query.id, hits, matching, indexing: false }
    }

    fn order(&self, a: &Found, b: &Found, by_name: bool) -> Ordering {
        let path = |found: &Found| self.entries.get(found.at as usize).map_or("", |e| self.path(e));
        let length = |found: &Found| if by_name { 0 } else { path(found).len() };
        b.score.cmp(&a.score).then_with(|| length(a).cmp(&length(b))).then_with(|| path(a).cmp(path(b)))
    }
}

struct Search<'a> {
    index: &'a Index,
    text: &'a str,
    atom: Atom,
    /// The higher the newer.
    recent: HashMap<&'a str, u32>,
    hidden: bool,
}

impl Search<'_> {
    fn each(&self) -> impl Iterator<Item = (u32, &Entry, &str)> {
        self.index.entries.iter().enumerate().map(|(at, entry)| (at as u32, entry, self.index.path(entry)))
    }

    /// Without a query: what was used, what has changed, what is at the top.
    fn first(&self) -> Vec<Found> {
        let found = self.each().filter_map(|(at, entry, path)| {
            let top = !path.trim_end_matches('/').contains('/');
            let score = match self.recent.get(path) {
                Some(rank) => 1_000 + rank,
                None if entry.hidden => return None,
                None if entry.changed => 500,
                None if top => u32::from(path.ends_with('/')),
                None => return None,
            };
            Some(Found { score, at })
        });
        found.collect()
    }

    /// What is in a folder, its own entries before those further down.
    fn folder(&self) -> Vec<Found> {
        let found = self.each().filter_map(|(at, entry, path)| {
            let inside = path.strip_prefix(self.text).filter(|rest| !rest.is_empty())?;
            let own = !inside.trim_end_matches('/').contains('/');
            let shown = self.hidden || !(inside.starts_with('.') || inside.contains("/.")) || !entry.hidden;
            shown.then_some(Found { score: u32::from(own) * 2 + u32::from(own && path.ends_with('/')), at })
        });
        found.collect()
    }

    fn all(&self) -> Vec<Found> {
        let entries = &self.index.entries;
        let threads = if entries.len() < SHARED { 1 } else { std::thread::available_parallelism().map_or(1, |n| n.get()).min(4) };
        let share = entries.len().div_ceil(threads).max(1);
        if threads == 1 {
            return self.some(0, entries);
        }
        std::thread::scope(|scope| {
            let parts: Vec<_> =
                entries.chunks(share).enumerate().map(|(n, part)| scope.spawn(move || self.some(n * share, part))).collect();
            parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect()
        })
    }

    fn some(&self, from: usize, entries: &[Entry]) -> Vec<Found> {
        let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
        let (mut buffer, mut found) = (vec![], vec![]);
        for (n, entry) in entries.iter().enumerate() {
            let path = self.index.path(entry);
            let recent = if self.recent.is_empty() { None } else { self.recent.get(path) };
            if entry.hidden && !self.hidden && recent.is_none() {
                continue;
            }
            let Some(score) = self.atom.score(Utf32Str::new(path, &mut buffer), &mut matcher) else { continue };
            let score = u32::from(score) + self.bonus(path, entry.changed, recent.copied());
            found.push(Found { score, at: (from + n) as u32 });
        }
        found
    }

    /// Beyond how well the characters match: a name says more than a folder, what is in use more than what is not.
    fn bonus(&self, path: &str, changed: bool, recent: Option<u32>) -> u32 {
        let path = path.trim_end_matches('/');
        let name = path.rsplit('/').next().unwrap_or(path);
        let begins = name.len() >= self.text.len() && name.as_bytes()[..self.text.len()].eq_ignore_ascii_case(self.text.as_bytes());
        let exact = begins && (name.len() == self.text.len() || name.as_bytes()[self.text.len()] == b'.');
        let depth = path.bytes().filter(|b| *b == b'/').count().min(10) as u32;
        let used = recent.map_or(0, |rank| 64 + rank.min(12));
        u32::from(begins) * 16 + u32::from(exact) * 16 + u32::from(changed) * 12 + used + (10 - depth)
    }

    fn hit(&self, found: &Found, matcher: &mut Matcher) -> Hit {
        let Some(entry) = self.index.entries.get(found.at as usize) else { return Hit::default() };
        let path = self.index.path(entry);
        let (mut buffer, mut positions) = (vec![], vec![]);
        if !self.text.is_empty() {
            self.atom.indices(Utf32Str::new(path, &mut buffer), matcher, &mut positions);
        }
        let mark = match self.recent.contains_key(path) {
            true => Some(Mark::Recent),
            false => entry.changed.then_some(Mark::Changed),
        };
        Hit { path: path.to_owned(), positions: fuzzy::rising(positions), mark }
    }
}
