//! Places of files, and how folders are kept as git trees.
//!
//! Files are named by their *place*: `root/…` below the project, `outside/…` by their absolute path. Places sort bytewise, which
//! is the order that git wants, folders included.

use super::{
    CheckpointError,
    index::{Folder, Index, Stat, loose_entry},
    objects::{Kind, Objects, Workspace},
    scan::Present,
};
use crate::protocol::Version;
pub use crate::protocol::plan::{FILE, LINK, PROGRAM, git_mode};
use git2::{ErrorClass, Oid};
use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

const FOLDER: u32 = 0o040000;

pub const COVERED: &[u8] = b"covered";
pub const SKIPPED: &[u8] = b"skipped";
pub const MODES: &[u8] = b"modes";
const INSIDE: &[u8] = b"root/";
const OUTSIDE: &[u8] = b"outside/";

/// Set-user, set-group, sticky.
pub const SPECIAL: u32 = 0o7000;

pub type Place = Vec<u8>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File {
    /// See [`mode_of`].
    pub mode: u32,
    pub id: Oid,
}

impl File {
    pub fn version(self) -> Version {
        Version { id: self.id.to_string(), mode: self.mode }
    }
}

pub fn place_of(path: &Path, root: &Path) -> Place {
    match path.strip_prefix(root) {
        Ok(inside) => [INSIDE, inside.as_os_str().as_bytes()].concat(),
        Err(_) => [OUTSIDE, path.strip_prefix("/").unwrap_or(path).as_os_str().as_bytes()].concat(),
    }
}

pub fn path_of(place: &[u8], root: &Path) -> PathBuf {
    match (place.strip_prefix(INSIDE), place.strip_prefix(OUTSIDE)) {
        (Some(inside), _) => root.join(OsStr::from_bytes(inside)),
        (_, Some(outside)) => Path::new("/").join(OsStr::from_bytes(outside)),
        _ => root.join(OsStr::from_bytes(place)),
    }
}

/// As it is shown: relative inside the root, absolute outside.
pub fn shown(place: &[u8]) -> PathBuf {
    path_of(place, Path::new(""))
}

pub fn is_inside(place: &[u8]) -> bool {
    place.starts_with(INSIDE)
}

/// What git would say, but for files that others may use less than git thinks, or that run as their owner or group: these have their
/// own permission bits.
pub fn mode_of(mode: u32) -> u32 {
    let plain = git_mode(mode);
    let narrow = plain != LINK && mode & plain & 0o777 != plain & 0o777;
    let special = plain != LINK && mode & SPECIAL != 0;
    if narrow || special { 0o100000 | mode & 0o7777 } else { plain }
}

/// Permission bits that git knows nothing of.
pub fn own_bits(mode: u32) -> Option<u32> {
    (![FILE, PROGRAM, LINK].contains(&mode)).then_some(mode & 0o7777)
}

/// Is there anything to do to make one of the other? Where no bits are known, the file keeps what it has, but for those with which it
/// would run as somebody else.
pub fn differ(now: Option<File>, then: Option<File>) -> bool {
    match (now, then) {
        (Some(now), Some(then)) if own_bits(then.mode).is_none() => {
            (now.id, git_mode(now.mode)) != (then.id, then.mode) || now.mode & SPECIAL != 0 && then.mode != LINK
        }
        _ => now != then,
    }
}

/// Writes the trees of the folders that changed, and returns the root's. The blobs are there already.
pub fn write(index: &mut Index, present: &Present, objects: &Objects) -> Result<Oid, CheckpointError> {
    let mut space = Workspace::default();
    // Folders whose tree is known and which are in none yet, the first of them last; and whether they are as they were.
    let mut waiting: Vec<(usize, bool)> = vec![];
    for at in (0..index.folders.len()).rev() {
        let mut below = vec![];
        while let Some(inner) = waiting.pop_if(|(inner, _)| index.folders[*inner].place.starts_with(&index.folders[at].place)) {
            below.push(inner);
        }
        let folder = &index.folders[at];
        let as_before = folder.tree.is_some() && !folder.touched && below.len() == folder.folders as usize && below.iter().all(|b| b.1);
        if as_before {
            waiting.push((at, true));
            continue;
        }
        let inner =
            below.iter().filter_map(|(inner, _)| Some((&index.folders[*inner].place[folder.place.len()..], index.folders[*inner].tree?)));
        let bytes = contents(folder, inner);
        let count = below.len() as u32;
        let tree = if bytes.is_empty() { None } else { Some(objects.write(Kind::Tree, &bytes, &mut space)?) };
        let folder = &mut index.folders[at];
        let same = tree == folder.tree;
        index.dirty |= !same || folder.folders != count;
        (folder.tree, folder.folders, folder.touched) = (tree, count, false);
        if tree.is_some() {
            waiting.push((at, same));
        }
    }
    let mut top = Folder::new(vec![], vec![]);
    let covered: Vec<u8> = present.covered.iter().flat_map(|p| p.iter().copied().chain([0])).collect();
    let skipped: Vec<u8> = present
        .skipped
        .iter()
        .flat_map(|(p, why)| p.iter().copied().chain([0]).chain(why.bytes().filter(|b| *b != 0)).chain([0]))
        .collect();
    for (name, list) in [(COVERED, covered), (MODES, modes(index)), (SKIPPED, skipped)] {
        if !list.is_empty() {
            let stat = Stat { mode: FILE, ..Stat::default() };
            top.insert(name, loose_entry(stat, objects.write(Kind::Blob, &list, &mut space)?, 0));
        }
    }
    let below = waiting.iter().rev().filter_map(|(at, _)| Some((index.folders[*at].place.as_slice(), index.folders[*at].tree?)));
    objects.write(Kind::Tree, &contents(&top, below), &mut space)
}

/// The files that have their own permission bits, with these.
fn modes(index: &Index) -> Vec<u8> {
    let mut list = vec![];
    for folder in &index.folders {
        for entry in &folder.entries {
            if let Some(bits) = own_bits(mode_of(entry.stat.mode)) {
                list.extend_from_slice(&folder.place);
                list.extend_from_slice(folder.name(entry));
                list.extend_from_slice(format!("\0{bits:o}\0").as_bytes());
            }
        }
    }
    list
}

/// As git has it; `below` are folders, in order, with a slash at the end of their names.
fn contents<'a>(folder: &Folder, below: impl Iterator<Item = (&'a [u8], Oid)>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(folder.entries.len() * 50);
    let mut put = |mode: u32, name: &[u8], id: Oid| {
        bytes.extend_from_slice(format!("{mode:o} ").as_bytes());
        bytes.extend_from_slice(name);
        bytes.push(0);
        bytes.extend_from_slice(id.as_bytes());
    };
    let mut entries = folder.entries.iter().peekable();
    for (name, id) in below {
        while let Some(entry) = entries.next_if(|entry| folder.name(entry) < name) {
            put(git_mode(entry.stat.mode), folder.name(entry), entry.id);
        }
        put(FOLDER, name.strip_suffix(b"/").unwrap_or(name), id);
    }
    for entry in entries {
        put(git_mode(entry.stat.mode), folder.name(entry), entry.id);
    }
    bytes
}

/// What an object that can't be read says of the store. That the system does not give it says nothing.
pub fn damaged(error: git2::Error) -> CheckpointError {
    match error.class() {
        ErrorClass::Os | ErrorClass::NoMemory => error.into(),
        _ => CheckpointError::Damaged(error.message().into()),
    }
}
