//! What every file looked like when it was last read, which contents it had then, and which tree its folder made.
//!
//! - An unchanged tree need not be read again, nor an unchanged folder be written again.
//! - A file that changed so shortly before it was read that its next change might leave the same time stamps is read once more.
//! - On disk it is only a cache: lost, foreign, broken or older than the last pruning, it costs time and nothing else.

use super::tree::{self, File, Place};
use git2::Oid;
use std::{
    fs::{self, Metadata},
    os::unix::fs::MetadataExt,
    path::Path,
};

const MAGIC: &[u8] = b"backstitch index 1\n";
/// Coarser than the time stamps of any file system in use.
const RACY: i64 = 2_000_000_000;

/// What tells whether a file may have changed. Times in nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stat {
    pub mtime: i64,
    pub ctime: i64,
    pub size: u64,
    pub inode: u64,
    pub mode: u32,
}

impl Stat {
    pub fn of(meta: &Metadata) -> Stat {
        Stat {
            mtime: nanoseconds(meta.mtime(), meta.mtime_nsec()),
            ctime: nanoseconds(meta.ctime(), meta.ctime_nsec()),
            size: meta.size(),
            inode: meta.ino(),
            mode: own_mode(meta.mode(), meta.uid()),
        }
    }

    pub fn of_raw(meta: &rustix::fs::Stat) -> Stat {
        Stat {
            mtime: nanoseconds(meta.st_mtime as _, meta.st_mtime_nsec as _),
            ctime: nanoseconds(meta.st_ctime as _, meta.st_ctime_nsec as _),
            size: meta.st_size as _,
            inode: meta.st_ino as _,
            mode: own_mode(meta.st_mode as _, meta.st_uid as _),
        }
    }
}

/// A file of somebody else's that runs as its owner would run as us when it is put back: of that nothing is known.
fn own_mode(mode: u32, owner: u32) -> u32 {
    let special = mode & tree::SPECIAL != 0 && mode & 0o170000 == 0o100000;
    if special && owner != rustix::process::geteuid().as_raw() { mode & !tree::SPECIAL } else { mode }
}

fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

#[derive(Debug, Clone, Copy)]
pub struct Entry {
    start: u32,
    len: u32,
    pub stat: Stat,
    pub id: Oid,
    /// It changed too shortly before it was read.
    racy: bool,
}

impl Entry {
    /// The contents of a file that looks like this, if that is sure.
    pub fn trusted(&self, stat: &Stat) -> Option<Oid> {
        (self.stat == *stat && !self.racy).then_some(self.id)
    }

    /// `read_at`: when the file was read, at the latest.
    pub fn read(&mut self, stat: Stat, id: Oid, read_at: i64) {
        (self.stat, self.id) = (stat, id);
        // A time stamp of the future is no news of when the file changed.
        let changed = if stat.mtime > read_at { stat.ctime } else { stat.mtime.max(stat.ctime) };
        self.racy = changed.saturating_add(RACY) >= read_at;
    }

    pub fn file(&self) -> File {
        File { mode: tree::mode_of(self.stat.mode), id: self.id }
    }
}

#[derive(Debug, Clone, Default)]
pub struct Folder {
    /// With a slash at the end.
    pub place: Place,
    names: Vec<u8>,
    /// Sorted by name.
    pub entries: Vec<Entry>,
    /// What was written of it, and how many folders were in that.
    pub tree: Option<Oid>,
    pub folders: u32,
    /// Its entries may differ from what the tree has.
    pub touched: bool,
}

impl Folder {
    pub fn new(place: Place, names: Vec<u8>) -> Self {
        Folder { place, names, ..Folder::default() }
    }

    pub fn name(&self, entry: &Entry) -> &[u8] {
        &self.names[entry.start as usize..(entry.start + entry.len) as usize]
    }

    pub fn name_at(&self, range: &std::ops::Range<usize>) -> &[u8] {
        &self.names[range.clone()]
    }

    /// A name that is in `names` already.
    pub fn push(&mut self, range: std::ops::Range<usize>, stat: Stat) {
        self.entries.push(Entry { start: range.start as u32, len: range.len() as u32, stat, id: Oid::ZERO_SHA1, racy: true });
    }

    pub fn sort(&mut self) {
        let names = &self.names;
        let name = |entry: &Entry| &names[entry.start as usize..(entry.start + entry.len) as usize];
        self.entries.sort_unstable_by(|a, b| name(a).cmp(name(b)));
    }

    /// Takes over what the same folder had when it was looked at before. Returns the entries that have to be read.
    pub fn learn_from(&mut self, old: &Folder) -> Vec<usize> {
        (self.tree, self.folders) = (old.tree, old.folders);
        let mut unread = vec![];
        let mut before = old.entries.iter().peekable();
        self.touched = self.entries.len() != old.entries.len();
        for at in 0..self.entries.len() {
            let name = self.name(&self.entries[at]);
            while before.next_if(|entry| old.name(entry) < name).is_some() {}
            let known = before.next_if(|entry| old.name(entry) == name).filter(|entry| entry.stat == self.entries[at].stat);
            if let Some(entry) = known {
                // If it is not sure, reading will tell; most likely it is what it was.
                (self.entries[at].id, self.entries[at].racy) = (entry.id, entry.racy);
            }
            if self.entries[at].racy {
                unread.push(at);
            }
        }
        self.touched |= !unread.is_empty();
        unread
    }

    pub fn find(&self, name: &[u8]) -> Option<&Entry> {
        self.position(name).ok().map(|at| &self.entries[at])
    }

    fn position(&self, name: &[u8]) -> Result<usize, usize> {
        self.entries.binary_search_by(|entry| self.name(entry).cmp(name))
    }

    /// Are this entry's contents most likely new?
    pub fn is_new(&self, at: usize) -> bool {
        self.entries[at].id.is_zero()
    }

    /// Adds a file that is not in it yet.
    pub fn insert(&mut self, name: &[u8], mut entry: Entry) {
        if let Err(at) = self.position(name) {
            (entry.start, entry.len) = (self.names.len() as u32, name.len() as u32);
            self.names.extend_from_slice(name);
            self.entries.insert(at, entry);
            self.touched = true;
        }
    }
}

/// An entry that belongs nowhere yet.
pub fn loose_entry(stat: Stat, id: Oid, read_at: i64) -> Entry {
    let mut entry = Entry { start: 0, len: 0, stat, id, racy: true };
    entry.read(stat, id, read_at);
    entry
}

#[derive(Debug, Clone, Default)]
pub struct Index {
    /// Sorted by place: what is below a folder follows it.
    pub folders: Vec<Folder>,
    /// There is something that the disk does not know.
    pub dirty: bool,
}

impl Index {
    pub fn folder(&self, place: &[u8]) -> Option<&Folder> {
        self.folders.binary_search_by(|folder| folder.place.as_slice().cmp(place)).ok().map(|at| &self.folders[at])
    }

    pub fn find(&self, place: &[u8]) -> Option<&Entry> {
        let (folder, name) = split(place);
        self.folder(folder)?.find(name)
    }

    pub fn file(&self, place: &[u8]) -> Option<File> {
        self.find(place).map(Entry::file)
    }

    pub fn files(&self) -> usize {
        self.folders.iter().map(|folder| folder.entries.len()).sum()
    }

    /// `stamp` tells whose contents it vouches for; `exists` is asked if the machine was started anew since, for then the last
    /// writes may be lost.
    pub fn load(file: &Path, stamp: &str, exists: impl Fn(Oid) -> bool) -> Self {
        let mut index = Index::default();
        let Some((boot, folders)) = fs::read(file).ok().and_then(|bytes| parse(&bytes, stamp)) else { return index };
        index.folders = folders;
        if boot != this_boot() {
            index.forget_missing(exists);
        }
        index
    }

    /// Was anything missing?
    pub fn forget_missing(&mut self, exists: impl Fn(Oid) -> bool) -> bool {
        let mut missing = 0;
        let mut there = |id: Oid| {
            let there = exists(id);
            missing += usize::from(!there);
            there
        };
        for folder in &mut self.folders {
            folder.tree = folder.tree.filter(|id| there(*id));
            folder.entries.retain(|entry| there(entry.id));
        }
        self.dirty = true;
        missing > 0
    }

    /// Writes if there is anything new.
    pub fn save(&mut self, file: &Path, stamp: &str) {
        if !self.dirty {
            return;
        }
        let mut bytes = Vec::with_capacity(self.files() * 90);
        bytes.extend_from_slice(MAGIC);
        for text in [stamp, &this_boot()] {
            put(&mut bytes, text.as_bytes());
        }
        for folder in &self.folders {
            put(&mut bytes, &folder.place);
            bytes.extend_from_slice(folder.tree.as_ref().unwrap_or(&Oid::ZERO_SHA1).as_bytes());
            bytes.extend_from_slice(&folder.folders.to_le_bytes());
            put(&mut bytes, &folder.names);
            bytes.extend_from_slice(&(folder.entries.len() as u32).to_le_bytes());
            for Entry { start, len, stat, id, racy } in &folder.entries {
                bytes.extend_from_slice(&start.to_le_bytes());
                bytes.extend_from_slice(&len.to_le_bytes());
                bytes.extend_from_slice(&stat.mtime.to_le_bytes());
                bytes.extend_from_slice(&stat.ctime.to_le_bytes());
                bytes.extend_from_slice(&stat.size.to_le_bytes());
                bytes.extend_from_slice(&stat.inode.to_le_bytes());
                bytes.extend_from_slice(&stat.mode.to_le_bytes());
                bytes.extend_from_slice(id.as_bytes());
                bytes.push(u8::from(*racy));
            }
        }
        // Without it the next checkpoint is slower, that is all.
        let _ = crate::atomic::write(file, &bytes, crate::atomic::Options { private: true, ..Default::default() });
        self.dirty = false;
    }
}

/// The folder (with a slash) and the name.
pub fn split(place: &[u8]) -> (&[u8], &[u8]) {
    place.split_at(place.iter().rposition(|b| *b == b'/').map_or(0, |at| at + 1))
}

fn this_boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default()
}

fn put(bytes: &mut Vec<u8>, text: &[u8]) {
    bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
    bytes.extend_from_slice(text);
}

fn parse(bytes: &[u8], stamp: &str) -> Option<(String, Vec<Folder>)> {
    let mut rest = bytes.strip_prefix(MAGIC)?;
    if text(&mut rest)? != stamp.as_bytes() {
        return None;
    }
    let boot = String::from_utf8(text(&mut rest)?.to_vec()).ok()?;
    let mut folders: Vec<Folder> = vec![];
    while !rest.is_empty() {
        let place = text(&mut rest)?.to_vec();
        let tree = Oid::from_bytes(&array::<20>(&mut rest)?).ok().filter(|id| !id.is_zero());
        let count = u32::from_le_bytes(array(&mut rest)?);
        let names = text(&mut rest)?.to_vec();
        let length = u32::from_le_bytes(array(&mut rest)?) as usize;
        let mut entries = Vec::with_capacity(length.min(rest.len() / 60));
        for _ in 0..length {
            let (start, len) = (u32::from_le_bytes(array(&mut rest)?), u32::from_le_bytes(array(&mut rest)?));
            let stat = Stat {
                mtime: i64::from_le_bytes(array(&mut rest)?),
                ctime: i64::from_le_bytes(array(&mut rest)?),
                size: u64::from_le_bytes(array(&mut rest)?),
                inode: u64::from_le_bytes(array(&mut rest)?),
                mode: u32::from_le_bytes(array(&mut rest)?),
            };
            let id = Oid::from_bytes(&array::<20>(&mut rest)?).ok()?;
            let racy = array::<1>(&mut rest)? != [0];
            if u64::from(start) + u64::from(len) > names.len() as u64 {
                return None;
            }
            entries.push(Entry { start, len, stat, id, racy });
        }
        folders.push(Folder { place, names, entries, tree, folders: count, touched: false });
    }
    folders.is_sorted_by(|a, b| a.place < b.place).then_some((boot, folders))
}

fn text<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = u32::from_le_bytes(array(rest)?) as usize;
    let (head, tail) = rest.split_at_checked(length)?;
    *rest = tail;
    Some(head)
}

fn array<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk::<N>()?;
    *rest = tail;
    Some(*head)
}
