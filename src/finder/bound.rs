//! What a query can be worth on a path, cheaply enough to be asked for every path of a large project. Pure.
//!
//! nucleo scores a path by a table of its characters against those of the query: half a microsecond and more, too much for a hundred
//! thousand of them. This is the same sum, but
//! - what a folder adds is counted once for everything in it ([`Bound`] keeps one row for each folder on the way down);
//! - of a table only the cells where characters are the same are filled: what lies between is known from the distance.
//!
//! It counts what matches and chooses what nucleo is asked for; which are shown, in what order and why is for nucleo to say. Tests hold
//! the two against each other on random paths.

use super::{
    characters::{BONUS, CLASS, OTHER, SLASH, WORD_START, class, letters},
    folders::{Folder, ROOT},
    index::{Entry, Index},
};
use nucleo_matcher::{Config, Matcher, Utf32Str, chars, pattern::Atom};

// What nucleo counts, with its configuration for paths.
const MATCH: i32 = 16;
const RUN: i32 = 4;
/// Far below any score, and far from overflowing.
const NEVER: i32 = i32::MIN / 4;

/// Characters of a query: one bit for each, and one for what comes after them.
const MOST: usize = 63;

/// A query, prepared.
#[derive(Debug)]
pub struct Needle {
    length: usize,
    /// Where in the query an ASCII character of a path can stand: one bit for each place.
    places: [u64; 128],
    others: Vec<(char, u64)>,
    fold: bool,
    normalize: bool,
    /// The letters of the query from each place on.
    needs: Vec<u32>,
}

impl Needle {
    /// `None` for queries that are empty or longer than anything that is typed.
    pub fn new(atom: &Atom) -> Option<Needle> {
        // The matcher is told by the atom how it treats case and accents, and says so.
        let mut matcher = Matcher::new(Config::DEFAULT);
        atom.score(Utf32Str::Ascii(b""), &mut matcher);
        let (fold, normalize) = (matcher.config.ignore_case, matcher.config.normalize);
        let text: Vec<char> = atom.needle_text().chars().collect();
        if text.is_empty() || text.len() > MOST {
            return None;
        }
        let (mut places, mut others) = ([0; 128], vec![]);
        for (place, c) in text.iter().enumerate() {
            match places.get_mut(*c as usize) {
                Some(bits) => *bits |= 1 << place,
                None => others.push((*c, 1 << place)),
            }
        }
        if fold {
            (b'A'..=b'Z').for_each(|upper| places[usize::from(upper)] = places[usize::from(upper.to_ascii_lowercase())]);
        }
        let one = |c: &char| if c.is_ascii() { letters(c.encode_utf8(&mut [0; 4])) } else { 1 << 31 };
        let needs = (0..=text.len()).map(|from| text[from..].iter().fold(0, |all, c| all | one(c))).collect();
        Some(Needle { length: text.len(), places, others, fold, normalize, needs })
    }

    fn places_of(&self, c: char) -> u64 {
        let mut c = c;
        if c.is_ascii() {
            return self.places[c as usize];
        }
        if self.normalize {
            c = chars::normalize(c);
        }
        if self.fold {
            c = chars::to_lower_case(c);
        }
        match self.places.get(c as usize) {
            Some(bits) => *bits,
            None => self.others.iter().filter(|(other, _)| *other == c).fold(0, |all, (_, bit)| all | bit),
        }
    }
}

/// The matches of the query up to one of its characters, as far as a path has been read.
#[derive(Debug, Clone, Copy)]
struct Cell {
    /// The best of those before the last, score and column in one: what a gap costs grows with the columns.
    before: i32,
    score: i32,
    column: i32,
    bonus: i32,
}

const NOTHING: Cell = Cell { before: NEVER, score: NEVER, column: -2, bonus: 0 };

/// Where a path has been read to.
#[derive(Debug, Clone, Copy)]
struct Read {
    column: i32,
    best: i32,
    /// One bit for each character of the query that was found, or whose turn it is: what may come next.
    open: u64,
}

/// What the tables of Unicode say of the characters that were met, since they are asked again and again and take their time.
#[derive(Debug, Default)]
struct Wide {
    /// Each at the place that its number gives, unless another came after it. Nothing until there is one.
    known: Vec<(char, u64, u8)>,
}

impl Wide {
    const SLOTS: usize = 1024;

    fn look_up(&mut self, needle: &Needle, c: char) -> (u64, u8) {
        if c.is_ascii() {
            return (needle.places[c as usize & 127], CLASS[c as usize & 127]);
        }
        if self.known.is_empty() {
            self.known = vec![('\0', 0, OTHER); Self::SLOTS];
        }
        let slot = &mut self.known[c as usize % Self::SLOTS];
        if slot.0 != c {
            *slot = (c, needle.places_of(c), class(c));
        }
        (slot.1, slot.2)
    }
}

/// One for each thread.
pub struct Bound<'a> {
    index: &'a Index,
    needle: &'a Needle,
    /// The folders on the way down, each with its row of cells in `rows`.
    way: Vec<(u32, Read)>,
    rows: Vec<Cell>,
    row: Vec<Cell>,
    missing: Vec<(u32, Folder)>,
    wide: Wide,
}

impl<'a> Bound<'a> {
    pub fn new(index: &'a Index, needle: &'a Needle) -> Self {
        let start = Read { column: 0, best: NEVER, open: 1 };
        let row = vec![NOTHING; needle.length];
        Bound { index, needle, way: vec![(ROOT, start)], rows: row.clone(), row, missing: vec![], wide: Wide::default() }
    }

    /// `None` if the path does not match.
    pub fn of(&mut self, entry: &Entry) -> Option<u32> {
        let needs = self.needle.needs[0];
        if (entry.letters | self.index.folder(entry.folder).letters) & needs != needs {
            return None;
        }
        if self.way.last().is_none_or(|(folder, _)| *folder != entry.folder) {
            self.go(entry.folder);
        }
        let (_, read) = *self.way.last()?;
        let needs = self.needle.needs[63 - read.open.leading_zeros() as usize];
        if entry.letters & needs != needs {
            return None;
        }
        let length = self.needle.length;
        // It matches by its folders already, and its name adds nothing.
        let found = 1 << length;
        if read.open & found != 0 && (entry.letters & self.needle.needs[0] == 0 || self.needle.has_enough(&read)) {
            return Some(read.best.max(0) as u32);
        }
        self.row.copy_from_slice(&self.rows[self.rows.len() - length..]);
        let read = self.needle.read(self.index.name(entry), read, &mut self.row, &mut self.wide);
        (read.open & found != 0).then_some(read.best.max(0) as u32)
    }

    /// Reads the names of the folders down to this one, from the last that was on the way before.
    fn go(&mut self, folder: u32) {
        self.missing.clear();
        let mut at = folder;
        loop {
            let here = self.index.folder(at);
            let depth = usize::from(here.depth);
            if self.way.get(depth).is_some_and(|(there, _)| *there == at) {
                self.way.truncate(depth + 1);
                break;
            }
            self.missing.push((at, here));
            at = here.parent;
        }
        self.rows.truncate(self.way.len() * self.needle.length);
        while let Some((id, folder)) = self.missing.pop() {
            let Some((_, read)) = self.way.last().copied() else { return };
            let from = self.rows.len() - self.needle.length;
            self.rows.extend_from_within(from..);
            let row = &mut self.rows[from + self.needle.length..];
            let read = self.needle.read(self.index.folder_name(&folder), read, row, &mut self.wide);
            self.way.push((id, read));
        }
    }
}

impl Needle {
    /// Of a single character nucleo takes the first place that is good enough, not the best.
    fn has_enough(&self, read: &Read) -> bool {
        self.length == 1 && read.best >= MATCH + 2 * WORD_START
    }

    /// One name more. Names begin after a `/`, or where the path begins, which counts as much.
    fn read(&self, name: &str, mut read: Read, row: &mut [Cell], wide: &mut Wide) -> Read {
        let from = read.column;
        if name.is_ascii() {
            let name = name.as_bytes();
            for (n, byte) in name.iter().enumerate() {
                let places = self.places[usize::from(byte & 127)] & read.open;
                // Most characters are none of the query's: nothing else is looked up for these.
                if places != 0 {
                    let before = n.checked_sub(1).map_or(SLASH, |n| CLASS[usize::from(name[n] & 127)]);
                    let bonus = BONUS[usize::from(before & 7)][usize::from(CLASS[usize::from(byte & 127)] & 7)];
                    self.found(places, from + n as i32, bonus, &mut read, row);
                }
            }
            read.column = from + name.len() as i32;
        } else {
            let mut before = SLASH;
            for c in name.chars() {
                let (places, own) = wide.look_up(self, c);
                if places & read.open != 0 {
                    let bonus = BONUS[usize::from(before & 7)][usize::from(own & 7)];
                    self.found(places & read.open, read.column, bonus, &mut read, row);
                }
                before = own;
                read.column += 1;
            }
        }
        read
    }

    /// A character that can stand at these places of the query. From the last of them, so that it counts once.
    #[inline(always)]
    fn found(&self, mut places: u64, column: i32, bonus: i32, read: &mut Read, row: &mut [Cell]) {
        while places != 0 {
            let place = 63 - places.leading_zeros() as usize;
            places ^= 1 << place;
            let (score, run) = match place.checked_sub(1) {
                None => (MATCH + 2 * bonus, bonus),
                Some(previous) => continued(row[previous], column, bonus),
            };
            let cell = &mut row[place];
            let before = cell.before.max(cell.score + cell.column);
            *cell = Cell { before, score, column, bonus: run };
            read.open |= 2 << place;
            if place + 1 == self.length && !self.has_enough(read) {
                read.best = read.best.max(score);
            }
        }
    }
}

/// The score of a character after what was found before it, and what the next in a run gets.
#[inline(always)]
fn continued(previous: Cell, column: i32, bonus: i32) -> (i32, i32) {
    if previous.column + 1 != column {
        let passed = previous.before.max(previous.score + previous.column);
        return ((passed - column - 1).max(0) + bonus + MATCH, bonus);
    }
    let run = previous.bonus.max(RUN);
    let run = if bonus >= WORD_START { run.max(bonus) } else { run };
    let (goes_on, skips) = (previous.score + run.max(bonus), (previous.before - column - 1).max(0) + bonus);
    if goes_on > skips { (goes_on + MATCH, run) } else { (skips + MATCH, bonus) }
}

#[cfg(test)]
pub fn of_path(query: &str, path: &str) -> Option<u32> {
    let mut index = Index::default();
    index.add(path);
    let needle = Needle::new(&super::fuzzy::atom(query))?;
    index.entries().first().and_then(|entry| Bound::new(&index, &needle).of(entry))
}
