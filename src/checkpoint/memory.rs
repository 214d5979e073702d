//! The twin of the store for tests: a world of files in memory that tests and scripted tools change.

use super::{CheckpointError, CheckpointStore, Entry, Kind, Label, Pruned, Restored, Retention, Taken};
use crate::protocol::{CheckpointId, FileChange};
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

pub type Files = BTreeMap<PathBuf, String>;

#[derive(Debug, Default)]
pub struct MemoryStore {
    world: Arc<Mutex<Files>>,
    taken: Vec<(Entry, Files)>,
    /// The next call fails with this.
    fail: Option<String>,
}

impl MemoryStore {
    /// `world` is shared with whoever plays the tools.
    pub fn new(world: Arc<Mutex<Files>>) -> Self {
        MemoryStore { world, ..Default::default() }
    }

    pub fn fail_next(&mut self, why: &str) {
        self.fail = Some(why.into());
    }

    fn present(&mut self) -> Result<Files, CheckpointError> {
        match self.fail.take() {
            Some(why) => Err(CheckpointError::Store(why)),
            None => Ok(self.world.lock().unwrap_or_else(PoisonError::into_inner).clone()),
        }
    }

    fn files(&self, id: &CheckpointId) -> Result<&Files, CheckpointError> {
        let found = self.taken.iter().find(|(entry, _)| entry.id == *id);
        found.map(|(_, files)| files).ok_or_else(|| CheckpointError::Unknown(id.clone()))
    }
}

fn changes(old: &Files, new: &Files) -> Vec<FileChange> {
    let mut paths: Vec<_> = old.keys().chain(new.keys()).collect();
    paths.sort();
    paths.dedup();
    let text = |files: &Files, path: &PathBuf| files.get(path).map(|t| t.as_str().into());
    let change = |path: &PathBuf| FileChange { path: path.clone(), old: text(old, path), new: text(new, path), binary: false };
    paths.into_iter().map(change).filter(|c| c.old != c.new).collect()
}

impl CheckpointStore for MemoryStore {
    fn cover(&mut self, _: &[PathBuf]) {}

    fn take(&mut self, label: &Label) -> Result<Taken, CheckpointError> {
        let present = self.present()?;
        let newest = self.taken.last();
        if let Some((entry, files)) = newest
            && *files == present
        {
            return Ok(Taken { id: entry.id.clone(), files_changed: 0, skipped: vec![] });
        }
        let nothing = Files::new();
        let files_changed = changes(newest.map_or(&nothing, |(_, files)| files), &present).len();
        let number = self.taken.len() as u64 + 1;
        let id = CheckpointId(format!("{number:040x}"));
        self.taken.push((Entry { id: id.clone(), label: label.clone(), at: number * 1000, files_changed }, present));
        Ok(Taken { id, files_changed, skipped: vec![] })
    }

    fn diff(&mut self, from: &CheckpointId, to: Option<&CheckpointId>) -> Result<Vec<FileChange>, CheckpointError> {
        let present = self.present()?;
        let new = to.map_or(Ok(&present), |to| self.files(to))?;
        Ok(changes(self.files(from)?, new))
    }

    fn restore(&mut self, to: &CheckpointId) -> Result<Restored, CheckpointError> {
        let target = self.files(to)?.clone();
        let present = self.present()?;
        let before = self.take(&Label::new(Kind::BeforeRestore, format!("before going back to {}", to.short())))?.id;
        let changes = changes(&present, &target);
        *self.world.lock().unwrap_or_else(PoisonError::into_inner) = target;
        Ok(Restored { before, changes, skipped: vec![] })
    }

    fn undo(&mut self, to: &CheckpointId, since: &CheckpointId) -> Result<Restored, CheckpointError> {
        let (mut target, since, present) = (self.files(to)?.clone(), self.files(since)?.clone(), self.present()?);
        let before = self.take(&Label::new(Kind::BeforeRestore, format!("before going back to {}", to.short())))?.id;
        let mut skipped = vec![];
        for FileChange { path, .. } in changes(&since, &present) {
            if ![since.get(&path), present.get(&path)].contains(&target.get(&path)) {
                skipped.push((path.clone(), "changed after the turn; left as it is".into()));
            }
            match present.get(&path) {
                Some(text) => drop(target.insert(path, text.clone())),
                None => drop(target.remove(&path)),
            }
        }
        let changes = changes(&present, &target);
        *self.world.lock().unwrap_or_else(PoisonError::into_inner) = target;
        Ok(Restored { before, changes, skipped })
    }

    fn list(&mut self) -> Result<Vec<Entry>, CheckpointError> {
        Ok(self.taken.iter().map(|(entry, _)| entry.clone()).collect())
    }

    fn prune(&mut self, keep: &Retention) -> Result<Pruned, CheckpointError> {
        let drop = self.taken.len().saturating_sub(keep.count.max(1));
        self.taken.drain(..drop);
        Ok(Pruned { checkpoints: drop, objects: 0 })
    }
}
