//! Removes objects that no checkpoint needs, and gathers many loose ones in a pack.
//!
//! - What is needed lies in a new pack on the disk before the old place of it goes, so that a crash loses nothing.
//! - Objects are copied as they are, one after the other: memory does not grow with their sizes.

use super::{
    CheckpointError,
    objects::{Workspace, deflate_all},
    pack::{self, Pack, Packed},
    stored,
};
use git2::{ObjectType, Odb, Oid, Repository};
use std::{
    collections::{HashMap, HashSet},
    fs, io,
    path::{Path, PathBuf},
};

/// What a small file takes on a disk.
const BLOCK: u64 = 4096;
/// So many loose objects are gathered.
const LOOSE: usize = 1000;
const PACKS: usize = 8;
/// Larger ones stay files of their own.
const SMALL: u64 = 256 << 10;

struct StoredPack {
    path: PathBuf,
    objects: Vec<(Packed, u64)>,
    needed: u64,
    bytes: u64,
}

/// All objects of a store, where they are.
pub struct Stock {
    objects: PathBuf,
    loose: Vec<(PathBuf, Option<Oid>, u64)>,
    packs: Vec<StoredPack>,
}

impl Stock {
    pub fn of(repo: &Repository) -> Result<Self, CheckpointError> {
        let objects = repo.path().join("objects");
        let mut stock = Stock { loose: vec![], packs: vec![], objects: objects.clone() };
        for folder in fs::read_dir(&objects).map_err(CheckpointError::io(&objects))?.flatten() {
            let start = folder.file_name().into_string().unwrap_or_default();
            if start.len() != 2 {
                continue;
            }
            for object in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
                let name = object.file_name().into_string().unwrap_or_default();
                let id = Oid::from_str(&format!("{start}{name}")).ok().filter(|_| name.len() == 38);
                stock.loose.push((object.path(), id, object.metadata().map_or(0, |m| m.len())));
            }
        }
        for file in fs::read_dir(objects.join("pack")).into_iter().flatten().flatten() {
            let path = file.path();
            if path.extension().is_some_and(|e| e == "idx") {
                let path = path.with_extension("pack");
                // An index without its pack is a leftover.
                let Ok(objects) = pack::read(&path) else { continue };
                let bytes = objects.iter().map(|(_, bytes)| bytes).sum();
                stock.packs.push(StoredPack { path, objects, needed: 0, bytes });
            }
        }
        Ok(stock)
    }

    /// Is it worth while to gather them?
    pub fn is_scattered(&self) -> bool {
        self.packs.len() > PACKS || self.loose.iter().filter(|(_, _, bytes)| *bytes <= SMALL).count() >= LOOSE
    }

    /// What each object takes on the disk.
    pub fn sizes(&self) -> HashMap<Oid, u64> {
        let loose = self.loose.iter().filter_map(|(_, id, bytes)| Some(((*id)?, bytes.next_multiple_of(BLOCK))));
        let packed = self.packs.iter().flat_map(|pack| pack.objects.iter().map(|(object, bytes)| (object.id, *bytes)));
        packed.chain(loose).collect()
    }

    /// Returns how many objects are gone.
    pub fn sweep(mut self, repo: &Repository, needed: &HashSet<Oid>) -> Result<usize, CheckpointError> {
        let is_needed = |id: &Option<Oid>| id.is_some_and(|id| needed.contains(&id));
        for pack in &mut self.packs {
            pack.needed = pack.objects.iter().filter(|(object, _)| needed.contains(&object.id)).map(|(_, bytes)| bytes).sum();
        }
        let few = self.packs.len() <= PACKS;
        let gathers = self.loose.iter().filter(|(_, id, bytes)| is_needed(id) && *bytes <= SMALL).count() >= LOOSE;
        let (rewritten, kept): (Vec<_>, Vec<_>) = self.packs.into_iter().partition(|pack| !few || pack.needed * 2 < pack.bytes || gathers);
        let failed = CheckpointError::io(&self.objects);
        let mut there: HashSet<Oid> = kept.iter().flat_map(|pack| pack.objects.iter().map(|(object, _)| object.id)).collect();
        let mut gone: HashSet<Oid> = HashSet::new();
        let odb = repo.odb()?;
        let mut write = || -> io::Result<Option<PathBuf>> {
            let mut new = Pack::begin(&self.objects.join("pack"))?;
            for pack in &rewritten {
                gone.extend(pack.objects.iter().map(|(object, _)| object.id).filter(|id| !needed.contains(id)));
                copy_pack(pack, &odb, &self.objects, &mut new, |id| needed.contains(&id) && there.insert(id))?;
            }
            let mut space = Workspace::default();
            for (_, id, bytes) in self.loose.iter().filter(|_| gathers) {
                if let Some(id) = id.filter(|id| *bytes <= SMALL && needed.contains(id) && there.insert(*id)) {
                    copy_object(&odb, &self.objects, id, &mut new, &mut space)?;
                }
            }
            new.finish()
        };
        let new = write().map_err(failed)?;
        // What `git gc` wrote about objects that go.
        for file in ["info/commit-graph", "pack/multi-pack-index"] {
            let _ = fs::remove_file(self.objects.join(file));
        }
        let _ = fs::remove_dir_all(self.objects.join("info/commit-graphs"));
        // From here on everything that is needed is there twice, or stays.
        for pack in rewritten.iter().filter(|pack| new.as_ref() != Some(&pack.path)) {
            // First the index: what is in no index is in no pack.
            for extension in ["idx", "rev", "bitmap", "mtimes", "pack"] {
                let _ = fs::remove_file(pack.path.with_extension(extension));
            }
        }
        let garbage = self.loose.iter().filter_map(|(_, id, _)| id.filter(|id| !needed.contains(id))).collect();
        let place = order(&odb, &self.objects, garbage);
        self.loose.sort_by_key(|(_, id, _)| id.and_then(|id| place.get(&id).copied()));
        for (path, id, _) in &self.loose {
            let packed = id.is_some_and(|id| there.contains(&id));
            let removed = (packed || !is_needed(id)) && fs::remove_file(path).is_ok();
            if removed && !packed {
                gone.extend(id);
            }
        }
        remove_leftovers(&self.objects);
        Ok(gone.len())
    }
}

/// What names others before what it names: of objects that go one after the other, none ever names one that is gone.
fn order(odb: &Odb, objects: &Path, garbage: HashSet<Oid>) -> HashMap<Oid, usize> {
    let mut left = garbage.len();
    let (mut place, mut seen) = (HashMap::new(), HashSet::new());
    for root in &garbage {
        // Depth first; the second time that an object comes up, all that it names has its place.
        let mut waiting = vec![(*root, false)];
        while let Some((id, done)) = waiting.pop() {
            if done {
                left -= 1;
                place.insert(id, left);
            } else if seen.insert(id) {
                waiting.push((id, true));
                waiting.extend(named_by(odb, objects, id).into_iter().filter(|id| garbage.contains(id)).map(|id| (id, false)));
            }
        }
    }
    place
}

fn named_by(odb: &Odb, objects: &Path, id: Oid) -> Vec<Oid> {
    let Ok(object) = stored::object(odb, objects, id) else { return vec![] };
    match object.kind() {
        ObjectType::Commit => {
            let text = String::from_utf8_lossy(object.data());
            let lines = text.lines().take_while(|line| !line.is_empty());
            lines.filter_map(|line| Oid::from_str(line.strip_prefix("tree ").or(line.strip_prefix("parent "))?).ok()).collect()
        }
        ObjectType::Tree => {
            let mut rest = object.data();
            let mut ids = vec![];
            while let Some(end) = rest.iter().position(|byte| *byte == 0) {
                let Some((id, after)) = rest[end + 1..].split_at_checked(20) else { break };
                ids.extend(Oid::from_bytes(id));
                rest = after;
            }
            ids
        }
        _ => vec![],
    }
}

fn copy_pack(from: &StoredPack, odb: &Odb, objects: &Path, to: &mut Pack, mut wanted: impl FnMut(Oid) -> bool) -> io::Result<()> {
    let mut file = fs::File::open(&from.path)?;
    let mut space = Workspace::default();
    for (object, bytes) in &from.objects {
        if !wanted(object.id) {
            continue;
        }
        if pack::stands_alone(&mut file, object.offset)? {
            to.copy(*object, &mut file, *bytes)?;
        } else {
            copy_object(odb, objects, object.id, to, &mut space)?;
        }
    }
    Ok(())
}

fn copy_object(odb: &Odb, objects: &Path, id: Oid, to: &mut Pack, space: &mut Workspace) -> io::Result<()> {
    let object = stored::object(odb, objects, id)?;
    let kind = match object.kind() {
        ObjectType::Commit => 1,
        ObjectType::Tree => 2,
        ObjectType::Blob => 3,
        _ => return Err(io::Error::other("an object of another kind")),
    };
    let deflated = deflate_all(space, &[object.data()]);
    to.add(id, kind, object.len() as u64, deflated)
}

/// Of writes that were killed.
fn remove_leftovers(objects: &Path) {
    for folder in [objects.to_path_buf(), objects.join("pack")] {
        for file in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = file.path();
            let orphan = path.extension().is_some_and(|e| e == "pack") && !path.with_extension("idx").exists();
            if orphan || file.file_name().as_encoded_bytes().starts_with(b"tmp_") {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// What the files below a folder take on the disk.
pub fn bytes_of(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => bytes_of(&entry.path()),
        Ok(meta) => meta.len().next_multiple_of(BLOCK),
        Err(_) => 0,
    };
    entries.map(size).sum()
}
