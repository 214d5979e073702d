//! What a checkpoint's tree says, read as far as it is asked for.
//!
//! Two trees are compared by their ids: folders that are the same on both sides are never opened.

use super::{
    CheckpointError,
    tree::{self, File, Place, damaged},
};
use git2::{ObjectType, Oid, Repository};
use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

/// A place with what is there on one side and on the other.
pub type Change = (Place, Option<File>, Option<File>);

pub struct Kept<'r> {
    repo: &'r Repository,
    pub tree: Oid,
    /// Places that were covered though no walk found them. One that is no file of the tree did not exist.
    pub covered: BTreeSet<Place>,
    /// Places that existed but were not kept, with the reason. Nothing is known below them either.
    pub skipped: BTreeMap<Place, String>,
}

impl<'r> Kept<'r> {
    pub fn of_commit(repo: &'r Repository, commit: Oid) -> Result<Self, CheckpointError> {
        Self::of(repo, repo.find_commit(commit).map_err(damaged)?.tree_id())
    }

    fn of(repo: &'r Repository, tree: Oid) -> Result<Self, CheckpointError> {
        let mut kept = Kept { repo, tree, covered: BTreeSet::new(), skipped: BTreeMap::new() };
        kept.covered = kept.list(tree::COVERED)?.into_iter().collect();
        let skipped = kept.list(tree::SKIPPED)?;
        let pairs = skipped.as_chunks::<2>().0.iter();
        kept.skipped = pairs.map(|[place, why]| (place.clone(), String::from_utf8_lossy(why).into_owned())).collect();
        Ok(kept)
    }

    fn list(&self, name: &[u8]) -> Result<Vec<Vec<u8>>, CheckpointError> {
        let Some(file) = self.file(name)? else { return Ok(vec![]) };
        let blob = self.repo.find_blob(file.id).map_err(damaged)?;
        let mut items: Vec<Vec<u8>> = blob.content().split(|b| *b == 0).map(<[u8]>::to_vec).collect();
        items.pop();
        Ok(items)
    }

    pub fn file(&self, place: &[u8]) -> Result<Option<File>, CheckpointError> {
        let mut at = self.tree;
        let mut parts = place.split(|b| *b == b'/').peekable();
        while let Some(part) = parts.next() {
            let tree = self.repo.find_tree(at).map_err(damaged)?;
            let found = tree.iter().find(|entry| entry.name_bytes() == part).map(|e| (e.kind(), e.filemode_raw() as u32, e.id()));
            match (found, parts.peek().is_some()) {
                (Some((Some(ObjectType::Tree), _, id)), true) => at = id,
                (Some((kind, mode, id)), false) if kind != Some(ObjectType::Tree) => return Ok(Some(File { mode, id })),
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    pub fn skips(&self, place: &[u8]) -> bool {
        skips(&self.skipped, place)
    }
}

/// Is the place, or a folder above it, one of these?
pub fn skips(skipped: &BTreeMap<Place, String>, place: &[u8]) -> bool {
    std::iter::once(place.len())
        .chain(place.iter().enumerate().rev().filter(|(_, b)| **b == b'/').map(|(at, _)| at))
        .any(|end| skipped.contains_key(&place[..end]))
}

/// What differs between two root trees, in order of place.
pub fn changes(repo: &Repository, from: Oid, to: Oid) -> Result<Vec<Change>, CheckpointError> {
    let mut all = vec![];
    let mut compare = Compare { repo, all: &mut all };
    compare.folders(Some(from), Some(to), &mut vec![])?;
    Ok(all)
}

/// Something in a folder: its name, with a slash if it is a folder itself, since git sorts them so.
struct Item {
    name: Vec<u8>,
    file: File,
}

struct Compare<'a> {
    repo: &'a Repository,
    all: &'a mut Vec<Change>,
}

impl Compare<'_> {
    fn items(&self, tree: Option<Oid>, top: bool) -> Result<Vec<Item>, CheckpointError> {
        let Some(id) = tree else { return Ok(vec![]) };
        let tree = self.repo.find_tree(id).map_err(damaged)?;
        let mut items = Vec::with_capacity(tree.len());
        for entry in tree.iter() {
            let mut name = entry.name_bytes().to_vec();
            // Never written by us; a store that has them must not lead a restore elsewhere.
            if name.is_empty() || name == b"." || name == b".." || name == b".git" || name.contains(&b'/') {
                return Err(CheckpointError::Damaged(format!("a file is named {:?}", String::from_utf8_lossy(&name))));
            }
            if entry.kind() == Some(ObjectType::Tree) {
                name.push(b'/');
            } else if top {
                continue;
            }
            items.push(Item { name, file: File { mode: entry.filemode_raw() as u32, id: entry.id() } });
        }
        Ok(items)
    }

    fn folders(&mut self, from: Option<Oid>, to: Option<Oid>, prefix: &mut Place) -> Result<(), CheckpointError> {
        if from == to {
            return Ok(());
        }
        let (old, new) = (self.items(from, prefix.is_empty())?, self.items(to, prefix.is_empty())?);
        let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
        loop {
            let order = match (old.peek(), new.peek()) {
                (Some(old), Some(new)) => old.name.cmp(&new.name),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return Ok(()),
            };
            let old = if order.is_le() { old.next() } else { None };
            let new = if order.is_ge() { new.next() } else { None };
            self.both(old, new, prefix)?;
        }
    }

    fn both(&mut self, old: Option<&Item>, new: Option<&Item>, prefix: &mut Place) -> Result<(), CheckpointError> {
        let (from, to) = (old.map(|i| i.file), new.map(|i| i.file));
        let Some(name) = old.or(new).map(|i| &i.name) else { return Ok(()) };
        if from == to {
            return Ok(());
        }
        let length = prefix.len();
        prefix.extend_from_slice(name);
        if name.ends_with(b"/") {
            self.folders(from.map(|f| f.id), to.map(|f| f.id), prefix)?;
        } else {
            self.all.push((prefix.clone(), from, to));
        }
        prefix.truncate(length);
        Ok(())
    }
}
