//! Drops old checkpoints, then the objects that no checkpoint needs. Runs under the store's lock.

use super::{
    CheckpointError, Pruned, Retention,
    git::{Named, REFS, named},
    tree,
};
use git2::{ObjectType, Oid, Repository};
use std::{
    collections::HashSet,
    fs,
    time::{SystemTime, UNIX_EPOCH},
};

pub fn prune(repo: &Repository, keep: &Retention) -> Result<Pruned, CheckpointError> {
    let all = named(repo)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let oldest = now.saturating_sub(keep.age.as_secs()) as i64;
    let most = keep.count.max(1);
    let mut drop = all.len().saturating_sub(most);
    for (n, Named { id, .. }) in all.iter().enumerate().take(all.len().saturating_sub(1)).skip(drop) {
        if repo.find_commit(*id).map_err(tree::damaged)?.time().seconds() >= oldest {
            break;
        }
        drop = n + 1;
    }
    if drop == 0 {
        return Ok(Pruned::default());
    }
    // Checkpoints keep their ids, so the history is cut, not rewritten. First the cut: a crash after it loses nothing.
    let first = all[drop].id;
    let shallow = repo.path().join("shallow");
    crate::atomic::write(&shallow, format!("{first}\n").as_bytes(), Default::default()).map_err(CheckpointError::io(&shallow))?;
    for Named { number, .. } in &all[..drop] {
        repo.find_reference(&format!("{REFS}{number:010}"))?.delete()?;
    }
    let mut needed = HashSet::new();
    for Named { id, .. } in &all[drop..] {
        needed.insert(*id);
        mark(repo, repo.find_commit(*id).map_err(tree::damaged)?.tree_id(), &mut needed)?;
    }
    Ok(Pruned { checkpoints: drop, objects: sweep(repo, &needed)? })
}

fn mark(repo: &Repository, tree: Oid, needed: &mut HashSet<Oid>) -> Result<(), CheckpointError> {
    if !needed.insert(tree) {
        return Ok(());
    }
    for entry in repo.find_tree(tree).map_err(tree::damaged)?.iter() {
        match entry.kind() {
            Some(ObjectType::Tree) => mark(repo, entry.id(), needed)?,
            _ => drop(needed.insert(entry.id())),
        }
    }
    Ok(())
}

/// Removes loose objects; packs are not made yet.
fn sweep(repo: &Repository, needed: &HashSet<Oid>) -> Result<usize, CheckpointError> {
    let objects = repo.path().join("objects");
    let mut removed = 0;
    for folder in fs::read_dir(&objects).map_err(CheckpointError::io(&objects))?.flatten() {
        let start = folder.file_name().into_string().unwrap_or_default();
        if start.starts_with("tmp_") {
            // Of a write that was killed.
            let _ = fs::remove_file(folder.path());
        }
        if start.len() != 2 {
            continue;
        }
        for object in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            let name = object.file_name().into_string().unwrap_or_default();
            // Others are leftovers of writes that died.
            let kept = Oid::from_str(&format!("{start}{name}")).is_ok_and(|id| needed.contains(&id));
            if !kept && fs::remove_file(object.path()).is_ok() {
                removed += 1;
            }
        }
    }
    Ok(removed)
}
