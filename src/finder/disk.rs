//! The project as it is on disk. Only reads: git's own index file is neither written nor locked.

use super::Tree;
use crate::walk::Walk;
use git2::{Repository, StatusOptions};
use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

/// Paths that are handed on together.
const BATCH: usize = 512;
/// Changed paths beyond these carry no information: everything has changed.
const MOST_CHANGED: usize = 5_000;

pub struct Disk {
    pub root: PathBuf,
}

impl Tree for Disk {
    fn walk(&self, found: &(dyn Fn(Vec<String>) -> bool + Sync)) {
        let mut walk = Walk::new(&self.root, &self.root);
        // Half of the machine is left to whoever is being talked to.
        walk.threads = (walk.threads / 2).max(1);
        let waiting = Mutex::new(Vec::with_capacity(BATCH));
        walk.run(&|entry| {
            // What can't be read can't be chosen.
            let Ok(entry) = entry else { return true };
            let Ok(path) = entry.path().strip_prefix(&self.root) else { return true };
            let mut path = path.to_string_lossy().into_owned();
            if entry.file_type().is_some_and(|t| t.is_dir()) {
                path.push('/');
            }
            let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.push(path);
            if waiting.len() < BATCH {
                return true;
            }
            let full = std::mem::replace(&mut *waiting, Vec::with_capacity(BATCH));
            drop(waiting);
            found(full)
        });
        found(waiting.into_inner().unwrap_or_else(PoisonError::into_inner));
    }

    fn changed(&self) -> Vec<String> {
        // Without a repository, or with one that is somebody else's, nothing has changed.
        self.status().unwrap_or_default()
    }
}

impl Disk {
    fn status(&self) -> Option<Vec<String>> {
        let repository = Repository::discover(&self.root).ok()?;
        let inside = self.root.strip_prefix(repository.workdir()?.canonicalize().ok()?).ok()?.to_path_buf();
        let mut options = StatusOptions::new();
        options.include_untracked(true).recurse_untracked_dirs(true).exclude_submodules(true).update_index(false).no_refresh(false);
        let statuses = repository.statuses(Some(&mut options)).ok()?;
        let paths = statuses.iter().filter_map(|status| {
            let path = String::from_utf8_lossy(status.path_bytes()).into_owned();
            Some(std::path::Path::new(&path).strip_prefix(&inside).ok()?.to_string_lossy().into_owned())
        });
        Some(paths.take(MOST_CHANGED).collect())
    }
}
