//! What a checkpoint's tree says, read as far as it is asked for.
//!
//! - Two trees are compared by their ids: folders that are the same on both sides are never opened.
//! - Permission bits that git has no place for are in a list of their own. A file that is not in it has those that a new file
//!   gets, or was kept before there was such a list: that says nothing.

use super::{
    CheckpointError, stored,
    tree::{self, File, Place},
};
use git2::{ObjectType, Oid, Repository};
use std::{
    cell::OnceCell,
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
    /// Once they were asked for.
    modes: OnceCell<Modes>,
}

/// Files with permission bits of their own, and their modes.
type Modes = BTreeMap<Place, u32>;

impl<'r> Kept<'r> {
    pub fn of_commit(repo: &'r Repository, commit: Oid) -> Result<Self, CheckpointError> {
        Self::of(repo, stored::commit(repo, commit)?.tree_id())
    }

    fn of(repo: &'r Repository, tree: Oid) -> Result<Self, CheckpointError> {
        let mut kept = Kept { repo, tree, covered: BTreeSet::new(), skipped: BTreeMap::new(), modes: OnceCell::new() };
        kept.covered = list(repo, tree, tree::COVERED)?.into_iter().collect();
        let skipped = list(repo, tree, tree::SKIPPED)?;
        let pairs = skipped.as_chunks::<2>().0.iter();
        kept.skipped = pairs.map(|[place, why]| (place.clone(), String::from_utf8_lossy(why).into_owned())).collect();
        Ok(kept)
    }

    pub fn file(&self, place: &[u8]) -> Result<Option<File>, CheckpointError> {
        let Some(file) = find(self.repo, self.tree, place)? else { return Ok(None) };
        let modes = match self.modes.get() {
            Some(modes) => modes,
            None => {
                let modes = modes(self.repo, self.tree)?;
                self.modes.get_or_init(|| modes)
            }
        };
        Ok(Some(with_mode(file, modes, place)))
    }

    pub fn skips(&self, place: &[u8]) -> bool {
        skips(&self.skipped, place)
    }
}

fn list(repo: &Repository, tree: Oid, name: &[u8]) -> Result<Vec<Vec<u8>>, CheckpointError> {
    let Some(file) = find(repo, tree, name)? else { return Ok(vec![]) };
    let blob = stored::blob(repo, file.id)?;
    let mut items: Vec<Vec<u8>> = blob.content().split(|b| *b == 0).map(<[u8]>::to_vec).collect();
    items.pop();
    Ok(items)
}

fn modes(repo: &Repository, tree: Oid) -> Result<Modes, CheckpointError> {
    let listed = list(repo, tree, tree::MODES)?;
    let mode = |bits: &[u8]| {
        let bits = u32::from_str_radix(std::str::from_utf8(bits).ok()?, 8).ok()?;
        let mode = tree::mode_of(0o100000 | bits & 0o7777);
        tree::own_bits(mode).map(|_| mode)
    };
    Ok(listed.as_chunks::<2>().0.iter().filter_map(|[place, bits]| Some((place.clone(), mode(bits)?))).collect())
}

/// A file as git has it.
fn find(repo: &Repository, tree: Oid, place: &[u8]) -> Result<Option<File>, CheckpointError> {
    let mut at = tree;
    let mut parts = place.split(|b| *b == b'/').peekable();
    while let Some(part) = parts.next() {
        let tree = stored::tree(repo, at)?;
        let found = tree.iter().find(|entry| entry.name_bytes() == part).map(|e| (e.kind(), e.filemode_raw() as u32, e.id()));
        match (found, parts.peek().is_some()) {
            (Some((Some(ObjectType::Tree), _, id)), true) => at = id,
            (Some((kind, mode, id)), false) if kind != Some(ObjectType::Tree) => return Ok(Some(File { mode, id })),
            _ => return Ok(None),
        }
    }
    Ok(None)
}

fn with_mode(file: File, modes: &Modes, place: &[u8]) -> File {
    // A list that does not belong to the tree must make no program of a file, nor a file of a link.
    let mode = modes.get(place).copied().filter(|mode| tree::git_mode(*mode) == file.mode);
    File { mode: mode.unwrap_or(file.mode), ..file }
}

/// Is the place, or a folder above it, one of these?
pub fn skips(skipped: &BTreeMap<Place, String>, place: &[u8]) -> bool {
    std::iter::once(place.len())
        .chain(place.iter().enumerate().rev().filter(|(_, b)| **b == b'/').map(|(at, _)| at))
        .any(|end| skipped.contains_key(&place[..end]))
}

/// What differs between two root trees, in order of place. Of files with the same contents also those of which only `to` knows the
/// permission bits, or knows others.
pub fn changes(repo: &Repository, from: Oid, to: Oid) -> Result<Vec<Change>, CheckpointError> {
    let mut all = vec![];
    if from == to {
        return Ok(all);
    }
    let mut compare = Compare { repo, all: &mut all };
    compare.folders(Some(from), Some(to), &mut vec![])?;
    let (old, new) = (modes(repo, from)?, modes(repo, to)?);
    for (place, from, to) in &mut all {
        *from = from.map(|file| with_mode(file, &old, place));
        *to = to.map(|file| with_mode(file, &new, place));
    }
    let mut only_bits = vec![];
    for (place, _) in new.iter().filter(|(place, mode)| old.get(*place) != Some(mode)) {
        let (was, is) = (find(repo, from, place)?, find(repo, to, place)?);
        if let (Some(was), Some(is)) = (was, is)
            && was == is
        {
            only_bits.push((place.clone(), Some(with_mode(was, &old, place)), Some(with_mode(is, &new, place))));
        }
    }
    for (place, mode) in old.iter().filter(|(place, mode)| **mode & tree::SPECIAL != 0 && !new.contains_key(*place)) {
        if let Some(is) = find(repo, to, place)?.filter(|is| tree::git_mode(*mode) == is.mode)
            && find(repo, from, place)? == Some(is)
        {
            only_bits.push((place.clone(), Some(File { mode: *mode, ..is }), Some(is)));
        }
    }
    if !only_bits.is_empty() {
        all.extend(only_bits);
        all.sort_by(|a, b| a.0.cmp(&b.0));
    }
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
        let tree = stored::tree(self.repo, id)?;
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
