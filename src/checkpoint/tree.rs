//! Snapshots and how they are kept as git trees.
//!
//! Files are named by their *place*: `root/…` below the project, `outside/…` by their absolute path. Places sort bytewise, which
//! is the order that git wants, folders included.

use super::{CheckpointError, scan::Stat};
use git2::{ObjectType, Odb, Oid, Repository};
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

const COVERED: &[u8] = b"covered";
const SKIPPED: &[u8] = b"skipped";
const INSIDE: &[u8] = b"root/";
const OUTSIDE: &[u8] = b"outside/";

pub type Place = Vec<u8>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File {
    pub mode: u32,
    pub id: Oid,
}

#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    pub files: BTreeMap<Place, File>,
    /// Places that are covered though no walk finds them. One that is not in `files` did not exist.
    pub covered: BTreeSet<Place>,
    /// Places that exist but are not kept, with the reason. Nothing is known below them either.
    pub skipped: BTreeMap<Place, String>,
    /// Only for the present: what the files looked like when they were read.
    pub stats: BTreeMap<Place, Stat>,
}

impl Snapshot {
    pub fn skips(&self, place: &[u8]) -> bool {
        std::iter::once(place.len())
            .chain(place.iter().enumerate().rev().filter(|(_, b)| **b == b'/').map(|(at, _)| at))
            .any(|end| self.skipped.contains_key(&place[..end]))
    }

    /// What differs, in order of place.
    pub fn changes(&self, to: &Snapshot) -> Vec<(Place, Option<File>, Option<File>)> {
        let places: BTreeSet<&Place> = self.files.keys().chain(to.files.keys()).collect();
        let both = |place: &Place| (self.files.get(place).copied(), to.files.get(place).copied());
        places.into_iter().map(|p| (p, both(p))).filter(|(_, (a, b))| a != b).map(|(p, (a, b))| (p.clone(), a, b)).collect()
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

pub fn read(repo: &Repository, tree: Oid) -> Result<Snapshot, CheckpointError> {
    let mut snapshot = Snapshot::default();
    read_folder(repo, tree, &mut vec![], &mut snapshot.files)?;
    let mut list = |name: &[u8]| -> Result<Vec<Vec<u8>>, CheckpointError> {
        let Some(file) = snapshot.files.remove(name) else { return Ok(vec![]) };
        let blob = repo.find_blob(file.id).map_err(damaged)?;
        let mut items: Vec<Vec<u8>> = blob.content().split(|b| *b == 0).map(<[u8]>::to_vec).collect();
        items.pop();
        Ok(items)
    };
    let (covered, skipped) = (list(COVERED)?, list(SKIPPED)?);
    snapshot.covered = covered.into_iter().collect();
    snapshot.skipped =
        skipped.as_chunks::<2>().0.iter().map(|[place, why]| (place.clone(), String::from_utf8_lossy(why).into_owned())).collect();
    Ok(snapshot)
}

fn read_folder(repo: &Repository, tree: Oid, prefix: &mut Place, files: &mut BTreeMap<Place, File>) -> Result<(), CheckpointError> {
    let tree = repo.find_tree(tree).map_err(damaged)?;
    for entry in tree.iter() {
        let name = entry.name_bytes();
        // Never written by us; a store that has them must not lead a restore elsewhere.
        if name.is_empty() || name == b"." || name == b".." || name == b".git" || name.contains(&b'/') {
            return Err(CheckpointError::Damaged(format!("a file is named {:?}", String::from_utf8_lossy(name))));
        }
        let length = prefix.len();
        prefix.extend_from_slice(name);
        if entry.kind() == Some(ObjectType::Tree) {
            prefix.push(b'/');
            read_folder(repo, entry.id(), prefix, files)?;
        } else {
            files.insert(prefix.clone(), File { mode: entry.filemode_raw() as u32, id: entry.id() });
        }
        prefix.truncate(length);
    }
    Ok(())
}

pub fn damaged(error: git2::Error) -> CheckpointError {
    CheckpointError::Damaged(error.message().into())
}
