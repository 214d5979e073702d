//! Looks at the working tree and keeps the contents of what changed. Reads files, never writes outside the store.

use super::{
    CheckpointError,
    folders::{Folders, Listing},
    index::{Folder, Index, Stat, loose_entry, split},
    kept,
    objects::{Objects, Workspace},
    reading::{Outcome, read, refusal},
    tree::{self, Place},
};
use crate::walk;
use git2::Oid;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

/// What a tool is about to write has to come back, whatever a walk would leave out.
const LARGEST_WRITTEN: u64 = 64 << 20;
/// So many files are read before a thread asks for more.
const BATCH: usize = 16;

/// The present, but for the files, which are in the index.
#[derive(Debug)]
pub struct Present {
    pub tree: Oid,
    /// Places that are covered though no walk finds them. One that is not in the index did not exist.
    pub covered: BTreeSet<Place>,
    /// Places that exist but are not kept, with the reason. Nothing is known below them either.
    pub skipped: BTreeMap<Place, String>,
}

impl Present {
    pub fn skips(&self, place: &[u8]) -> bool {
        kept::skips(&self.skipped, place)
    }
}

pub struct Scan<'a> {
    pub root: &'a Path,
    /// What is known from before.
    pub old: &'a Index,
    /// Larger files are skipped.
    pub limit: u64,
    /// But for what tools write: nothing larger than [`LARGEST_WRITTEN`].
    pub written: &'a BTreeSet<Place>,
    /// Our own data, which may be inside the root.
    pub own: &'a Path,
}

/// An entry that has to be read: of which folder, and which one.
type Unread = (usize, usize);

impl Scan<'_> {
    /// What the project's files are.
    pub fn walk(&self, objects: &mut Objects) -> Result<(Index, Present), CheckpointError> {
        let threads = std::thread::available_parallelism().map_or(2, |n| n.get()).min(8);
        let found = Mutex::new((vec![], BTreeMap::new()));
        Folders { root: self.root, but: self.own }.run(threads, &|listing| {
            let (folder, unread, skipped) = self.compare(listing);
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found.0.push((folder, unread));
            found.1.extend(skipped);
        });
        let (mut folders, skipped) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        folders.sort_unstable_by(|(a, _), (b, _)| a.place.cmp(&b.place));
        // What is only read again, because it changed so recently, makes no pack.
        let new = folders.iter().map(|(folder, unread)| unread.iter().filter(|at| folder.is_new(**at)).count()).sum();
        let unread: Vec<Unread> =
            folders.iter().enumerate().flat_map(|(f, (_, unread))| unread.iter().map(move |entry| (f, *entry))).collect();
        let folders = folders.into_iter().map(|(folder, _)| folder).collect();
        let mut index = Index { folders, dirty: false };
        let mut present = Present { tree: Oid::ZERO_SHA1, covered: BTreeSet::new(), skipped };
        objects.prepare(new)?;
        self.read(&unread, threads, objects, &mut index, &mut present)?;
        Ok((index, present))
    }

    fn limit(&self, place: &[u8]) -> u64 {
        if self.written.contains(place) { self.limit.max(LARGEST_WRITTEN) } else { self.limit }
    }

    /// What is known already, the entries that have to be read, and what is not kept.
    fn compare(&self, listing: Listing) -> (Folder, Vec<usize>, Vec<(Place, String)>) {
        let mut place = tree::place_of(&listing.path, self.root);
        if !place.ends_with(b"/") {
            place.push(b'/');
        }
        let mut skipped: Vec<_> = listing.errors.into_iter().map(|(path, why)| (tree::place_of(&path, self.root), why)).collect();
        let mut folder = Folder::new(place, listing.names);
        for (range, stat) in listing.files {
            let refused = refusal(&stat, self.limit).and_then(|_| {
                let place = [&folder.place, folder.name_at(&range)].concat();
                refusal(&stat, self.limit(&place)).map(|why| (place, why))
            });
            match refused {
                Some(refused) => skipped.push(refused),
                None => folder.push(range, stat),
            }
        }
        folder.sort();
        let unread = match self.old.folder(&folder.place) {
            Some(old) => folder.learn_from(old),
            None => {
                folder.touched = true;
                (0..folder.entries.len()).collect()
            }
        };
        (folder, unread, skipped)
    }

    fn read(
        &self,
        unread: &[Unread],
        threads: usize,
        objects: &Objects,
        index: &mut Index,
        present: &mut Present,
    ) -> Result<(), CheckpointError> {
        let next = AtomicUsize::new(0);
        let work = |index: &Index| -> Result<Vec<(Unread, Outcome)>, CheckpointError> {
            let (mut done, mut space) = (vec![], Workspace::default());
            loop {
                let from = next.fetch_add(BATCH, Ordering::Relaxed);
                let Some(batch) = unread.get(from..unread.len().min(from + BATCH)).filter(|batch| !batch.is_empty()) else {
                    return Ok(done);
                };
                for (f, e) in batch {
                    let folder = &index.folders[*f];
                    let entry = &folder.entries[*e];
                    let place = [&folder.place, folder.name(entry)].concat();
                    let path = tree::path_of(&place, self.root);
                    let outcome = read(&path, &entry.stat, self.limit(&place), objects, &mut space);
                    if outcome.is_err() {
                        // The others need not go on.
                        next.store(unread.len(), Ordering::Relaxed);
                    }
                    done.push(((*f, *e), outcome?));
                }
            }
        };
        let threads = threads.min(unread.len().div_ceil(BATCH)).max(1);
        let shared: &Index = index;
        let results: Vec<_> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(|| work(shared))).collect();
            let own = work(shared);
            let stopped = || Err(CheckpointError::Store("a thread that read files stopped".into()));
            others.into_iter().map(|other| other.join().unwrap_or_else(|_| stopped())).chain([own]).collect()
        });
        let mut gone: Vec<Unread> = vec![];
        for result in results {
            for ((f, e), outcome) in result? {
                let folder = &mut index.folders[f];
                match outcome {
                    Outcome::Kept(id, stat, at) => {
                        folder.entries[e].read(stat, id, at);
                        index.dirty = true;
                        continue;
                    }
                    Outcome::Skipped(why) => {
                        let place = [&folder.place, folder.name(&folder.entries[e])].concat();
                        present.skipped.insert(place, why);
                    }
                    Outcome::Gone => {}
                }
                gone.push((f, e));
            }
        }
        gone.sort_unstable();
        for (f, e) in gone.into_iter().rev() {
            index.folders[f].entries.remove(e);
        }
        Ok(())
    }

    /// And these places, wherever they are.
    pub fn look(
        &self,
        places: &BTreeSet<Place>,
        objects: &Objects,
        index: &mut Index,
        present: &mut Present,
    ) -> Result<(), CheckpointError> {
        let mut found = vec![];
        let mut space = Workspace::default();
        for place in places {
            if index.find(place).is_some() || present.skips(place) {
                continue;
            }
            let path = tree::path_of(place, self.root);
            let top = if tree::is_inside(place) { self.root } else { Path::new("/") };
            // What is behind a link is not at this place.
            if path.ancestors().skip(1).take_while(|a| *a != top && a.starts_with(top)).any(Path::is_symlink) {
                continue;
            }
            match fs::symlink_metadata(&path) {
                Ok(meta) if meta.is_dir() => continue,
                Ok(meta) => {
                    let stat = Stat::of(&meta);
                    let known = self.old.find(place).filter(|entry| entry.trusted(&stat).is_some()).copied();
                    match known {
                        Some(entry) => found.push((place, entry)),
                        None => match read(&path, &stat, self.limit(place), objects, &mut space)? {
                            Outcome::Kept(id, stat, at) => {
                                index.dirty = true;
                                found.push((place, loose_entry(stat, id, at)));
                            }
                            Outcome::Skipped(why) => drop(present.skipped.insert(place.clone(), why)),
                            Outcome::Gone => {}
                        },
                    }
                }
                // That it was not there is worth knowing only of what no walk would find.
                Err(_) if tree::is_inside(place) && !walk::ignored(&path, self.root) => continue,
                Err(_) => {}
            }
            present.covered.insert(place.clone());
        }
        let missing: BTreeSet<&[u8]> =
            found.iter().flat_map(|(place, _)| above(place)).filter(|folder| index.folder(folder).is_none()).collect();
        for folder in missing {
            let mut new = Folder::new(folder.to_vec(), vec![]);
            (new.tree, new.folders) = self.old.folder(folder).map_or((None, 0), |old| (old.tree, old.folders));
            new.touched = true;
            index.folders.push(new);
        }
        index.folders.sort_unstable_by(|a, b| a.place.cmp(&b.place));
        for (place, entry) in found {
            let (folder, name) = split(place);
            if let Ok(at) = index.folders.binary_search_by(|f| f.place.as_slice().cmp(folder)) {
                index.folders[at].insert(name, entry);
            }
        }
        Ok(())
    }
}

/// The folders that a place is in.
fn above(place: &[u8]) -> impl Iterator<Item = &[u8]> {
    place.iter().enumerate().filter(|(_, b)| **b == b'/').map(|(at, _)| &place[..=at])
}
