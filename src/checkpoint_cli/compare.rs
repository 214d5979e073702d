//! What changed between two checkpoints, or since one, with the modes of the files.
//!
//! A comparison tells contents; modes are told by plans alone. A file that a plan does not name is now as it was then.

use super::{patch::Compared, store_failure};
use crate::{
    checkpoint::CheckpointStore,
    failure::Failure,
    project,
    protocol::{CheckpointId, Plan, Version, Wanted},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

/// `to: None` = the present; `only`: these files and folders, if there are any.
pub fn compare(
    store: &mut dyn CheckpointStore,
    from: &CheckpointId,
    to: Option<&CheckpointId>,
    only: &[PathBuf],
    root: &Path,
) -> Result<Vec<Compared>, Failure> {
    let mut all = texts(store, from, to)?;
    if !only.is_empty() {
        let only: Vec<PathBuf> = only.iter().map(|path| project::named(path, root)).collect();
        all.retain(|compared| only.iter().any(|only| root.join(&compared.change.path).starts_with(only)));
    }
    let old = Versions::of(store, from)?;
    let new = to.map(|to| Versions::of(store, to)).transpose()?;
    for Compared { change, old: was, new: is } in &mut all {
        let path = change.path.as_path();
        let now = old.now(path).or_else(|| new.as_ref()?.now(path)).flatten();
        *was = change.old.as_ref().and_then(|_| old.then(path, now.as_ref()));
        *is = change.new.as_ref().and_then(|_| new.as_ref().map_or(now.clone(), |new| new.then(path, now.as_ref())));
    }
    Ok(all)
}

/// Without modes.
pub fn texts(store: &mut dyn CheckpointStore, from: &CheckpointId, to: Option<&CheckpointId>) -> Result<Vec<Compared>, Failure> {
    let changes = store.diff(from, to).map_err(store_failure)?;
    Ok(changes.into_iter().map(|change| Compared { change, old: None, new: None }).collect())
}

struct Versions {
    /// Now and at the checkpoint.
    files: BTreeMap<PathBuf, (Option<Version>, Option<Version>)>,
    /// Of these nothing is known.
    unclear: BTreeSet<PathBuf>,
}

impl Versions {
    fn of(store: &mut dyn CheckpointStore, id: &CheckpointId) -> Result<Versions, Failure> {
        let Plan { files, skipped, .. } = store.plan(&Wanted { to: id.clone(), since: None, only: None }).map_err(store_failure)?;
        let files = files.into_iter().map(|file| (file.path, (file.now, file.then))).collect();
        Ok(Versions { files, unclear: skipped.into_iter().map(|(path, _)| path).collect() })
    }

    fn now(&self, path: &Path) -> Option<Option<Version>> {
        self.files.get(path).map(|(now, _)| now.clone())
    }

    fn then(&self, path: &Path, now: Option<&Version>) -> Option<Version> {
        match self.files.get(path) {
            Some((_, then)) => then.clone(),
            None if self.unclear.contains(path) => None,
            None => now.cloned(),
        }
    }
}
