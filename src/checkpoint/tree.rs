//! Snapshots and how they are kept as git trees.
//!
//! Files are named by their *place*: `root/…` below the project, `outside/…` by their absolute path. Places sort bytewise, which
//! is the order that git wants, folders included.

use super::{CheckpointError, kept, scan::Stat};
use crate::protocol::Version;
use git2::{ObjectType, Odb, Oid};
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

pub const FILE: u32 = 0o100644;
pub const PROGRAM: u32 = 0o100755;
pub const LINK: u32 = 0o120000;
const FOLDER: u32 = 0o040000;

pub const COVERED: &[u8] = b"covered";
pub const SKIPPED: &[u8] = b"skipped";
const INSIDE: &[u8] = b"root/";
const OUTSIDE: &[u8] = b"outside/";

pub type Place = Vec<u8>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File {
    pub mode: u32,
    pub id: Oid,
}

impl File {
    pub fn version(self) -> Version {
        Version { id: self.id.to_string(), mode: self.mode }
    }
}

/// The present.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    pub files: BTreeMap<Place, File>,
    /// Places that are covered though no walk finds them. One that is not in `files` did not exist.
    pub covered: BTreeSet<Place>,
    /// Places that exist but are not kept, with the reason. Nothing is known below them either.
    pub skipped: BTreeMap<Place, String>,
    /// What the files looked like when they were read.
    pub stats: BTreeMap<Place, Stat>,
}

impl Snapshot {
    pub fn skips(&self, place: &[u8]) -> bool {
        kept::skips(&self.skipped, place)
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

/// Writes the snapshot's tree (its blobs are there already).
pub fn write(odb: &Odb, snapshot: &Snapshot) -> Result<Oid, CheckpointError> {
    let covered: Vec<u8> = snapshot.covered.iter().flat_map(|p| p.iter().copied().chain([0])).collect();
    let skipped: Vec<u8> = snapshot
        .skipped
        .iter()
        .flat_map(|(p, why)| p.iter().copied().chain([0]).chain(why.bytes().filter(|b| *b != 0)).chain([0]))
        .collect();
    let mut files: Vec<(&[u8], File)> = snapshot.files.iter().map(|(p, f)| (p.as_slice(), *f)).collect();
    for (name, list) in [(COVERED, covered), (SKIPPED, skipped)] {
        if !list.is_empty() {
            files.push((name, File { mode: FILE, id: odb.write(ObjectType::Blob, &list)? }));
        }
    }
    files.sort_by_key(|(place, _)| *place);
    write_folder(odb, &files, 0)
}

fn write_folder(odb: &Odb, files: &[(&[u8], File)], depth: usize) -> Result<Oid, CheckpointError> {
    let mut tree = Vec::with_capacity(files.len() * 40);
    let mut rest = files;
    while let Some((place, file)) = rest.first() {
        let name = &place[depth..];
        let (name, mode, id, used) = match name.iter().position(|b| *b == b'/') {
            None => (name, file.mode, file.id, 1),
            Some(end) => {
                let prefix = &place[..depth + end + 1];
                let used = rest.iter().position(|(p, _)| !p.starts_with(prefix)).unwrap_or(rest.len());
                (&name[..end], FOLDER, write_folder(odb, &rest[..used], depth + end + 1)?, used)
            }
        };
        tree.extend_from_slice(format!("{mode:o} ").as_bytes());
        tree.extend_from_slice(name);
        tree.push(0);
        tree.extend_from_slice(id.as_bytes());
        rest = &rest[used..];
    }
    Ok(odb.write(ObjectType::Tree, &tree)?)
}

pub fn damaged(error: git2::Error) -> CheckpointError {
    CheckpointError::Damaged(error.message().into())
}
