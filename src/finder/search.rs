//! The search through an index: which of its paths match, and the best of them in order. Pure but for the threads that share a search.
//!
//! Invariant: every path is rated, none is sorted but the best few; of those nucleo has the last word.

use super::{
    Answer, Hit, MOST_HITS, Mark, Query,
    bound::{Bound, Needle},
    folders::{Folder, ROOT},
    fuzzy,
    index::{Entry, Index},
};
use nucleo_matcher::{Config, Matcher, Utf32Str, pattern::Atom};
use std::{
    cmp::Ordering,
    sync::atomic::{self, AtomicUsize},
    thread,
};

/// From so many entries on a search is shared by threads.
const SHARED: usize = 10_000;
/// Entries that a thread takes at a time, and looks up after: has something newer been asked?
const BLOCK: usize = 2_048;
/// Beyond the hits, in case nucleo thinks less of some than their bounds say.
const MOST_KEPT: usize = 2 * MOST_HITS;

pub fn search(index: &Index, query: &Query, stale: &(dyn Fn() -> bool + Sync)) -> Option<Answer> {
    let search = Search::new(index, query);
    let folder = search.text.ends_with('/').then(|| index.folder_at(search.text)).flatten();
    let (hits, matching) = match (search.text, folder) {
        ("", _) => (search.in_order(search.first()), index.entries().iter().filter(|entry| !entry.hidden).count()),
        (_, Some(folder)) => {
            let best = search.inside(folder);
            let matching = best.matching;
            (search.in_order(best), matching)
        }
        _ => {
            let best = search.all(stale)?;
            let matching = best.matching;
            (search.judged(best), matching)
        }
    };
    Some(Answer { id: query.id, hits, matching, indexing: false })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Found {
    score: u32,
    /// Of the path, where the shorter comes first.
    length: u32,
    at: u32,
}

/// The best of what is found.
struct Best<'a> {
    index: &'a Index,
    kept: Vec<Found>,
    most: usize,
    /// What does not come before this is not among them.
    last: Option<Found>,
    matching: usize,
}

impl<'a> Best<'a> {
    fn new(index: &'a Index, most: usize) -> Self {
        Best { index, kept: Vec::with_capacity(2 * most), most, last: None, matching: 0 }
    }

    fn order(index: &Index, a: &Found, b: &Found) -> Ordering {
        b.score.cmp(&a.score).then_with(|| a.length.cmp(&b.length)).then_with(|| index.order(a.at, b.at))
    }

    fn find(&mut self, found: Found) {
        self.matching += 1;
        self.keep(found);
    }

    fn keep(&mut self, found: Found) {
        if self.last.is_some_and(|last| Self::order(self.index, &found, &last).is_gt()) {
            return;
        }
        self.kept.push(found);
        if self.kept.len() >= 2 * self.most {
            let (_, last, _) = self.kept.select_nth_unstable_by(self.most - 1, |a, b| Self::order(self.index, a, b));
            self.last = Some(*last);
            self.kept.truncate(self.most);
        }
    }

    fn join(&mut self, other: Best) {
        self.matching += other.matching;
        other.kept.into_iter().for_each(|found| self.keep(found));
    }

    fn sorted(mut self) -> Vec<Found> {
        self.kept.sort_unstable_by(|a, b| Self::order(self.index, a, b));
        self.kept.truncate(self.most);
        self.kept
    }
}

struct Search<'a> {
    index: &'a Index,
    text: &'a str,
    atom: Atom,
    needle: Option<Needle>,
    /// Entries that were used lately, rising, and their ranks: the higher the newer.
    recent: Vec<(u32, u32)>,
    hidden: bool,
}

impl<'a> Search<'a> {
    fn new(index: &'a Index, query: &'a Query) -> Self {
        let text = query.text.strip_prefix("./").unwrap_or(&query.text);
        let found = index.find(query.recent.iter().map(String::as_str));
        let mut recent: Vec<(u32, u32)> = found.into_iter().map(|(at, n)| (at, (query.recent.len() - 1 - n) as u32)).collect();
        recent.sort_unstable();
        let atom = fuzzy::atom(text);
        let needle = Needle::new(&atom);
        Search { index, text, atom, needle, recent, hidden: text.starts_with('.') || text.contains("/.") }
    }

    fn recent(&self, at: u32) -> Option<u32> {
        self.recent.binary_search_by_key(&at, |(at, _)| *at).ok().map(|n| self.recent[n].1)
    }

    fn each(&self) -> impl Iterator<Item = (u32, &'a Entry)> {
        self.index.entries().iter().enumerate().map(|(at, entry)| (at as u32, entry))
    }

    /// Without a query: what was used, what has changed, what is at the top.
    fn first(&self) -> Best<'a> {
        let mut best = Best::new(self.index, MOST_HITS);
        for (at, entry) in self.each() {
            let score = match self.recent(at) {
                Some(rank) => 1_000 + rank,
                None if entry.hidden => continue,
                None if entry.changed => 500,
                None if entry.folder == ROOT => u32::from(self.index.name(entry).ends_with('/')),
                None => continue,
            };
            best.find(Found { score, length: 0, at });
        }
        best
    }

    /// What is in a folder, its own entries before those further down.
    fn inside(&self, folder: u32) -> Best<'a> {
        #[derive(Clone, Copy, PartialEq)]
        enum Place {
            Elsewhere,
            Inside,
            Hidden,
        }
        let mut places: Vec<Place> = Vec::with_capacity(self.index.folders().len());
        for (id, f) in self.index.folders().iter().enumerate() {
            places.push(match places.get(f.parent as usize).copied().unwrap_or(Place::Elsewhere) {
                _ if id == folder as usize => Place::Inside,
                Place::Inside if self.index.folder_name(f).starts_with('.') => Place::Hidden,
                above => above,
            });
        }
        let mut best = Best::new(self.index, MOST_HITS);
        for (at, entry) in self.each() {
            let place = places[entry.folder as usize];
            if place == Place::Elsewhere {
                continue;
            }
            let name = self.index.name(entry);
            if self.hidden || (place == Place::Inside && !name.starts_with('.')) {
                let own = u32::from(entry.folder == folder);
                best.find(Found { score: own * 2 + (own & u32::from(name.ends_with('/'))), length: 0, at });
            }
        }
        best
    }

    /// What matches, by the bounds of the scores.
    fn all(&self, stale: &(dyn Fn() -> bool + Sync)) -> Option<Best<'a>> {
        let entries = self.index.entries();
        let next = AtomicUsize::new(0);
        let work = || {
            let mut best = Best::new(self.index, MOST_KEPT);
            let mut bound = self.needle.as_ref().map(|needle| Bound::new(self.index, needle));
            let mut judge = bound.is_none().then(Judge::default);
            loop {
                let from = next.fetch_add(BLOCK, atomic::Ordering::Relaxed);
                if from >= entries.len() {
                    return Some(best);
                }
                if stale() {
                    return None;
                }
                let block = &entries[from..entries.len().min(from + BLOCK)];
                self.rate(from, block, &mut best, |entry| match &mut bound {
                    Some(bound) => bound.of(entry),
                    None => judge.as_mut()?.score(self, entry, None),
                });
            }
        };
        let processors = if entries.len() < SHARED { 1 } else { thread::available_parallelism().map_or(1, |n| n.get()).min(4) };
        thread::scope(|scope| {
            // What the system has no thread for is done by those that there are.
            let others: Vec<_> = (1..processors)
                .filter_map(|_| thread::Builder::new().name("finder-search".into()).spawn_scoped(scope, work).ok())
                .collect();
            let mut best = work();
            for other in others {
                let other = other.join().ok().flatten();
                best = best.zip(other).map(|(mut best, other)| {
                    best.join(other);
                    best
                });
            }
            best
        })
    }

    fn rate(&self, from: usize, block: &[Entry], best: &mut Best, mut score: impl FnMut(&Entry) -> Option<u32>) {
        let (from, to) = (from as u32, (from + block.len()) as u32);
        let used = self.recent.iter().any(|(at, _)| (from..to).contains(at));
        for (at, entry) in (from..to).zip(block) {
            let recent = if used { self.recent(at) } else { None };
            if entry.hidden && !self.hidden && recent.is_none() {
                continue;
            }
            let Some(score) = score(entry) else { continue };
            let folder = self.index.folder(entry.folder);
            let score = score + self.bonus(&folder, self.index.name(entry), entry.changed, recent);
            best.find(Found { score, length: self.index.length(entry), at });
        }
    }

    /// Beyond how well the characters match: a name says more than a folder, what is in use more than what is not.
    fn bonus(&self, folder: &Folder, name: &str, changed: bool, recent: Option<u32>) -> u32 {
        let name = name.trim_end_matches('/').as_bytes();
        let begins = name.len() >= self.text.len() && name[..self.text.len()].eq_ignore_ascii_case(self.text.as_bytes());
        let exact = begins && (name.len() == self.text.len() || name[self.text.len()] == b'.');
        let depth = u32::from(folder.depth.min(10));
        let used = recent.map_or(0, |rank| 64 + rank.min(12));
        u32::from(begins) * 16 + u32::from(exact) * 16 + u32::from(changed) * 12 + used + (10 - depth)
    }

    /// By what nucleo says. What is bound to come after the last hit is not asked for.
    fn judged(&self, best: Best) -> Vec<Hit> {
        let mut judge = Judge::default();
        let mut judged = Best::new(self.index, MOST_HITS);
        let mut positions = vec![];
        let mut hits = vec![];
        for (n, bound) in best.sorted().into_iter().enumerate() {
            if n >= MOST_HITS && judged.kept.iter().filter(|found| Best::order(self.index, found, &bound).is_lt()).count() >= MOST_HITS {
                break;
            }
            let Some(entry) = self.index.entries().get(bound.at as usize) else { continue };
            positions.clear();
            let Some(score) = judge.score(self, entry, Some(&mut positions)) else { continue };
            let folder = self.index.folder(entry.folder);
            let score = score + self.bonus(&folder, self.index.name(entry), entry.changed, self.recent(bound.at));
            hits.push((bound.at, self.hit(bound.at, entry, &judge.path, &positions)));
            judged.keep(Found { score, ..bound });
        }
        let mut taken = |found: Found| hits.iter().position(|(at, _)| *at == found.at).map(|n| hits.swap_remove(n).1);
        judged.sorted().into_iter().filter_map(&mut taken).collect()
    }

    /// By name, whatever nucleo says.
    fn in_order(&self, best: Best) -> Vec<Hit> {
        let (mut judge, mut positions) = (Judge::default(), vec![]);
        let hit = |found: Found| {
            let entry = self.index.entries().get(found.at as usize)?;
            positions.clear();
            judge.score(self, entry, Some(&mut positions));
            Some(self.hit(found.at, entry, &judge.path, &positions))
        };
        best.sorted().into_iter().filter_map(hit).collect()
    }

    fn hit(&self, at: u32, entry: &Entry, path: &str, positions: &[u32]) -> Hit {
        let mark = match self.recent(at) {
            Some(_) => Some(Mark::Recent),
            None => entry.changed.then_some(Mark::Changed),
        };
        Hit { path: path.to_owned(), positions: fuzzy::rising(positions.to_vec()), mark }
    }
}

/// nucleo, with what it needs.
struct Judge {
    matcher: Matcher,
    path: String,
    buffer: Vec<char>,
}

impl Default for Judge {
    fn default() -> Self {
        Judge { matcher: Matcher::new(Config::DEFAULT.match_paths()), path: String::new(), buffer: vec![] }
    }
}

impl Judge {
    fn score(&mut self, search: &Search, entry: &Entry, positions: Option<&mut Vec<u32>>) -> Option<u32> {
        self.path = search.index.path(entry);
        let path = Utf32Str::new(&self.path, &mut self.buffer);
        let score = match positions {
            Some(_) if search.text.is_empty() => None,
            Some(positions) => search.atom.indices(path, &mut self.matcher, positions),
            None => search.atom.score(path, &mut self.matcher),
        };
        score.map(u32::from)
    }
}
