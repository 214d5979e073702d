//! Drops old checkpoints, then the objects that no checkpoint needs. Runs under the store's lock.

use super::{
    CheckpointError, Pruned, Retention,
    repack::{Stock, bytes_of},
    repository::{Named, forget, named, new_stamp},
    stored,
};
use git2::{ObjectType, Oid, Repository};
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    fs,
    time::{SystemTime, UNIX_EPOCH},
};

/// Exists while there may be objects that nobody needs though nothing is to be dropped.
const GARBAGE: &str = "garbage";

pub fn leave_garbage(repo: &Repository) -> Result<(), CheckpointError> {
    let path = repo.path().join(GARBAGE);
    fs::write(&path, "").map_err(CheckpointError::io(&path))
}

pub fn prune(repo: &Repository, keep: &Retention, pinned: &dyn Fn(Oid) -> bool) -> Result<Pruned, CheckpointError> {
    let all = named(repo)?;
    let mut dropped = too_many_or_too_old(repo, &all, keep, pinned)?;
    let garbage = repo.path().join(GARBAGE);
    let stock = Stock::of(repo)?;
    if dropped.is_empty() && !garbage.exists() && !stock.is_scattered() && bytes_of(repo.path()) <= keep.bytes {
        return Ok(Pruned::default());
    }
    let needed = within_bytes(repo, &all, keep.bytes, &stock.sizes(), pinned, &mut dropped)?;
    leave_garbage(repo)?;
    forget(repo, &all, &dropped)?;
    // Before anything goes: whoever remembers contents has to look again.
    new_stamp(repo.path())?;
    let objects = stock.sweep(repo, &needed)?;
    let _ = fs::remove_file(garbage);
    Ok(Pruned { checkpoints: dropped.len(), objects })
}

/// Those that may be dropped, oldest first.
fn droppable<'a>(all: &'a [Named], pinned: &'a dyn Fn(Oid) -> bool) -> impl DoubleEndedIterator<Item = Oid> + 'a {
    all.iter().take(all.len().saturating_sub(1)).map(|n| n.id).filter(|id| !pinned(*id))
}

fn too_many_or_too_old(
    repo: &Repository,
    all: &[Named],
    keep: &Retention,
    pinned: &dyn Fn(Oid) -> bool,
) -> Result<BTreeSet<Oid>, CheckpointError> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let oldest = now.saturating_sub(keep.age.as_secs()) as i64;
    let too_many = all.len().saturating_sub(keep.count);
    let mut dropped = BTreeSet::new();
    for (n, id) in droppable(all, pinned).enumerate() {
        if n >= too_many && stored::commit(repo, id)?.time().seconds() >= oldest {
            break;
        }
        dropped.insert(id);
    }
    Ok(dropped)
}

/// Drops more until the rest fits. Returns the objects that the rest needs.
fn within_bytes(
    repo: &Repository,
    all: &[Named],
    most: u64,
    sizes: &HashMap<Oid, u64>,
    pinned: &dyn Fn(Oid) -> bool,
    dropped: &mut BTreeSet<Oid>,
) -> Result<HashSet<Oid>, CheckpointError> {
    let (mut needed, mut bytes, mut full) = (HashSet::new(), 0, false);
    let may_go: Vec<Oid> = droppable(all, pinned).rev().collect();
    let stay = all.iter().map(|n| n.id).filter(|id| !may_go.contains(id));
    // The newest of those that may go have the best claim to what is left.
    for (id, may_go) in stay.map(|id| (id, false)).chain(may_go.iter().map(|id| (*id, true))).collect::<Vec<_>>() {
        if full || dropped.contains(&id) {
            dropped.insert(id);
            continue;
        }
        let mut new = vec![];
        mark(repo, id, &mut needed, &mut new)?;
        let size: u64 = new.iter().filter_map(|id| sizes.get(id)).sum();
        if may_go && bytes + size > most {
            full = true;
            dropped.insert(id);
            for id in &new {
                needed.remove(id);
            }
        } else {
            bytes += size;
        }
    }
    Ok(needed)
}

fn mark(repo: &Repository, commit: Oid, needed: &mut HashSet<Oid>, new: &mut Vec<Oid>) -> Result<(), CheckpointError> {
    let mut waiting = vec![stored::commit(repo, commit)?.tree_id()];
    if needed.insert(commit) {
        new.push(commit);
    }
    while let Some(id) = waiting.pop() {
        if !needed.insert(id) {
            continue;
        }
        new.push(id);
        for entry in stored::tree(repo, id)?.iter() {
            match entry.kind() {
                Some(ObjectType::Tree) => waiting.push(entry.id()),
                _ if needed.insert(entry.id()) => new.push(entry.id()),
                _ => {}
            }
        }
    }
    Ok(())
}
