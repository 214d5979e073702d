//! The paths of a project: names in one block of memory, under a tree of folders. Pure.
//!
//! Invariants: the same entries, in whatever order they came, and the same query give the same answer; hidden paths are found
//! only by a query that says so (a leading dot, or `/.`) or because they were used lately.

use super::{
    Answer, Query,
    characters::letters,
    folders::{Folder, Folders, ROOT, name_in},
    search,
};
use std::{cmp::Ordering, collections::HashMap};

/// Entries beyond these are left out: a tree that large is searched by tools, not by a popup.
pub const MOST_ENTRIES: usize = 2_000_000;

#[derive(Debug, Default)]
pub struct Index {
    text: String,
    folders: Folders,
    entries: Vec<Entry>,
    /// The entries stand in the order of their paths.
    settled: bool,
    /// Where the last entry went: the next one is likely to be beside it.
    beside: (String, u32),
}

#[derive(Debug, Clone, Copy)]
pub struct Entry {
    start: u32,
    pub folder: u32,
    /// What its name consists of: [`letters`].
    pub letters: u32,
    length: u16,
    pub hidden: bool,
    pub changed: bool,
}

impl Index {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What it takes of the memory.
    pub fn bytes(&self) -> usize {
        self.text.capacity() + self.folders.bytes() + self.entries.capacity() * size_of::<Entry>()
    }

    /// Folders end in `/`.
    pub fn add(&mut self, path: &str) {
        let (above, name) = split(path);
        if name.is_empty() || path.len() > usize::from(u16::MAX) || self.entries.len() >= MOST_ENTRIES {
            return;
        }
        if self.beside.0 != above {
            let Some(folder) = self.folders.make(&mut self.text, above) else { return };
            self.beside = (above.to_owned(), folder);
        }
        let folder = self.beside.1;
        let (start, length) = match name.ends_with('/') {
            // The folder and its entry share one name.
            true => match self.folders.make(&mut self.text, path).map(|id| self.folders.get(id)) {
                Some(own) => (own.start, own.length),
                None => return,
            },
            false => {
                let (Ok(start), Ok(length)) = (u32::try_from(self.text.len()), u16::try_from(name.len())) else { return };
                self.text.push_str(name);
                (start, length)
            }
        };
        let hidden = self.folders.get(folder).hidden || name.starts_with('.');
        self.entries.push(Entry { start, folder, letters: letters(name), length, hidden, changed: false });
        self.settled = false;
    }

    /// Everything has come: brings all of it into the order of the paths, so that comparing entries is cheap and a search reads the
    /// memory from its beginning to its end, and gives back what is not needed.
    pub fn settle(&mut self) {
        let mut entries = std::mem::take(&mut self.entries);
        entries.sort_unstable_by(|a, b| self.compare(a, b));
        let (text, count) = (String::with_capacity(self.text.len()), entries.len());
        let mut settled = Index { text, entries: Vec::with_capacity(count), ..Index::default() };
        for entry in &entries {
            settled.add(&self.path(entry));
            if let Some(last) = settled.entries.last_mut() {
                last.changed = entry.changed;
            }
        }
        settled.folders.shrink();
        settled.settled = true;
        *self = settled;
    }

    pub fn mark_changed(&mut self, changed: &[String]) {
        self.entries.iter_mut().for_each(|entry| entry.changed = false);
        for at in self.find(changed.iter().map(String::as_str)).into_keys() {
            self.entries[at as usize].changed = true;
        }
    }

    pub fn search(&self, query: &Query) -> Answer {
        self.search_unless(query, &|| false).unwrap_or_default()
    }

    /// `None` if `stale` said so meanwhile.
    pub fn search_unless(&self, query: &Query, stale: &(dyn Fn() -> bool + Sync)) -> Option<Answer> {
        search::search(self, query, stale)
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(super) fn folders(&self) -> &Folders {
        &self.folders
    }

    pub(super) fn folder(&self, id: u32) -> Folder {
        self.folders.get(id)
    }

    pub(super) fn folder_at(&self, path: &str) -> Option<u32> {
        self.folders.find(&self.text, path)
    }

    /// With its `/`.
    pub(super) fn folder_name(&self, folder: &Folder) -> &str {
        name_in(&self.text, folder.start, folder.length)
    }

    /// With the `/` of a folder.
    pub(super) fn name(&self, entry: &Entry) -> &str {
        name_in(&self.text, entry.start, entry.length)
    }

    /// Of the path.
    pub(super) fn length(&self, entry: &Entry) -> u32 {
        self.folders.get(entry.folder).path_length + u32::from(entry.length)
    }

    pub(super) fn path(&self, entry: &Entry) -> String {
        let mut names = vec![self.name(entry)];
        let mut id = entry.folder;
        while id != ROOT {
            let (above, name) = self.up(id);
            names.push(name);
            id = above;
        }
        names.into_iter().rev().collect()
    }

    /// Where these paths are, each with its number in `paths`.
    pub(super) fn find<'p>(&self, paths: impl Iterator<Item = &'p str>) -> HashMap<u32, usize> {
        // Asked for each entry, and cheaper than a hash: is anything in this folder wanted?
        let mut wanted_in = vec![false; self.folders.len()];
        let mut wanted = HashMap::new();
        for (n, path) in paths.enumerate() {
            let (above, name) = split(path);
            if let Some(folder) = self.folder_at(above) {
                wanted_in[folder as usize] = true;
                wanted.entry((folder, name)).or_insert(n);
            }
        }
        if wanted.is_empty() {
            return HashMap::new();
        }
        let inside = self.entries.iter().enumerate().filter(|(_, entry)| wanted_in[entry.folder as usize]);
        inside.filter_map(|(at, entry)| Some((at as u32, *wanted.get(&(entry.folder, self.name(entry)))?))).collect()
    }

    pub(super) fn order(&self, a: u32, b: u32) -> Ordering {
        if self.settled {
            return a.cmp(&b);
        }
        self.compare(&self.entries[a as usize], &self.entries[b as usize])
    }

    /// By the bytes of their paths, without putting these together: at the folder that both are in, the names decide.
    fn compare(&self, a: &Entry, b: &Entry) -> Ordering {
        let (mut above_a, mut above_b) = (a.folder, b.folder);
        let (mut name_a, mut name_b) = (self.name(a), self.name(b));
        let (depth_a, depth_b) = (self.folders.get(above_a).depth, self.folders.get(above_b).depth);
        (depth_b..depth_a).for_each(|_| (above_a, name_a) = self.up(above_a));
        (depth_a..depth_b).for_each(|_| (above_b, name_b) = self.up(above_b));
        while above_a != above_b {
            (above_a, name_a) = self.up(above_a);
            (above_b, name_b) = self.up(above_b);
        }
        // A folder comes before what is in it.
        name_a.cmp(name_b).then(depth_a.cmp(&depth_b))
    }

    /// The folder that this one is in, and its name there.
    fn up(&self, id: u32) -> (u32, &str) {
        let folder = self.folders.get(id);
        (folder.parent, self.folder_name(&folder))
    }
}

/// The folder with its `/`, or nothing, and the name in it.
fn split(path: &str) -> (&str, &str) {
    let end = path.strip_suffix('/').unwrap_or(path);
    path.split_at(end.rfind('/').map_or(0, |at| at + 1))
}
