//! The folders of an index as a tree of names. Pure.
//!
//! Invariants: a folder comes after the one that it is in; the first is the project itself, without a name; no folder is there twice.

use super::characters::letters;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The project itself.
pub const ROOT: u32 = 0;

#[derive(Debug, Clone, Copy, Default)]
pub struct Folder {
    pub parent: u32,
    /// Where its name is in the index's text, with the `/` at its end.
    pub start: u32,
    pub length: u16,
    pub depth: u16,
    /// Of its path.
    pub path_length: u32,
    /// Of its path: what it consists of.
    pub letters: u32,
    pub hidden: bool,
}

#[derive(Debug)]
pub struct Folders {
    all: Vec<Folder>,
    /// Where a folder is by the hash of its parent and name, or at the next free place after it; `ROOT` where nothing is. Four bytes
    /// for each folder instead of a map's sixteen and more.
    table: Vec<u32>,
}

impl Default for Folders {
    fn default() -> Self {
        Folders { all: vec![Folder::default()], table: vec![ROOT; 64] }
    }
}

impl Folders {
    pub fn get(&self, id: u32) -> Folder {
        self.all.get(id as usize).copied().unwrap_or_default()
    }

    /// Parents before children.
    pub fn iter(&self) -> impl Iterator<Item = &Folder> {
        self.all.iter()
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The folder with this name, `/` at its end, or the place where it would go.
    fn place(&self, text: &str, parent: u32, name: &str) -> Result<u32, usize> {
        let mut place = hash(parent, name) as usize & (self.table.len() - 1);
        loop {
            let id = self.table[place];
            let folder = self.get(id);
            if id == ROOT {
                return Err(place);
            }
            if folder.parent == parent && name_in(text, folder.start, folder.length) == name {
                return Ok(id);
            }
            place = (place + 1) & (self.table.len() - 1);
        }
    }

    /// The folder at this path, which is empty or ends in `/`.
    pub fn find(&self, text: &str, path: &str) -> Option<u32> {
        path.split_inclusive('/').try_fold(ROOT, |parent, name| self.place(text, parent, name).ok())
    }

    /// The same, made where it is missing; `None` for what can't be kept.
    pub fn make(&mut self, text: &mut String, path: &str) -> Option<u32> {
        path.split_inclusive('/').try_fold(ROOT, |parent, name| match self.place(text, parent, name) {
            Ok(id) => Some(id),
            Err(place) => self.push(text, parent, name, place),
        })
    }

    fn push(&mut self, text: &mut String, parent: u32, name: &str, place: usize) -> Option<u32> {
        let above = self.get(parent);
        let id = u32::try_from(self.all.len()).ok()?;
        let folder = Folder {
            parent,
            start: u32::try_from(text.len()).ok()?,
            length: u16::try_from(name.len()).ok()?,
            depth: above.depth.checked_add(1)?,
            path_length: above.path_length + u32::try_from(name.len()).ok()?,
            letters: above.letters | letters(name),
            hidden: above.hidden || name.starts_with('.'),
        };
        text.push_str(name);
        self.all.push(folder);
        self.table[place] = id;
        // Half of it stays free, so that a place is found within a few steps.
        if self.all.len() * 2 > self.table.len() {
            self.grow(text);
        }
        Some(id)
    }

    fn grow(&mut self, text: &str) {
        self.table = vec![ROOT; self.table.len() * 2];
        for id in 1..self.all.len() {
            let folder = self.all[id];
            if let Err(place) = self.place(text, folder.parent, name_in(text, folder.start, folder.length)) {
                self.table[place] = id as u32;
            }
        }
    }

    pub fn shrink(&mut self) {
        self.all.shrink_to_fit();
    }

    pub fn bytes(&self) -> usize {
        self.all.capacity() * size_of::<Folder>() + self.table.capacity() * size_of::<u32>()
    }
}

pub fn name_in(text: &str, start: u32, length: u16) -> &str {
    let start = start as usize;
    text.get(start..start + usize::from(length)).unwrap_or_default()
}

fn hash(parent: u32, name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (parent, name).hash(&mut hasher);
    hasher.finish()
}
