//! The twin of the store for tests: a world of files in memory that tests and scripted tools change.

use super::{CheckpointError, CheckpointStore, Entry, Kind, Label, Pruned, Restored, Retention, Revision, Taken, Usage};
use crate::protocol::{CheckpointId, FileChange, Plan, Planned, Version, Wanted};
use git2::{ObjectType, Oid};
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

pub type Files = BTreeMap<PathBuf, String>;

#[derive(Debug, Default)]
pub struct MemoryStore {
    world: Arc<Mutex<Files>>,
    /// With what it was called first.
    taken: Vec<(Entry, Files, String)>,
    made: u64,
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
        let found = self.taken.iter().find(|(entry, _, _)| entry.id == *id);
        found.map(|(_, files, _)| files).ok_or_else(|| CheckpointError::Unknown(id.clone()))
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
        if let Some((entry, files, _)) = newest
            && *files == present
        {
            return Ok(Taken { id: entry.id.clone(), files_changed: 0, skipped: vec![] });
        }
        let nothing = Files::new();
        let files_changed = changes(newest.map_or(&nothing, |(_, files, _)| files), &present).len();
        self.made += 1;
        let number = self.made;
        let id = CheckpointId(format!("{number:040x}"));
        let entry = Entry { id: id.clone(), label: label.clone(), at: number * 1000, files_changed, named: false, pinned: false };
        self.taken.push((entry, present, label.text.clone()));
        Ok(Taken { id, files_changed, skipped: vec![] })
    }

    fn diff(&mut self, from: &CheckpointId, to: Option<&CheckpointId>) -> Result<Vec<FileChange>, CheckpointError> {
        let present = self.present()?;
        let new = to.map_or(Ok(&present), |to| self.files(to))?;
        Ok(changes(self.files(from)?, new))
    }

    fn plan(&mut self, wanted: &Wanted) -> Result<Plan, CheckpointError> {
        let (target, present) = (self.files(&wanted.to)?.clone(), self.present()?);
        let since = wanted.since.as_ref().map(|id| self.files(id).cloned()).transpose()?;
        let (mut files, mut skipped) = (vec![], vec![]);
        for FileChange { path, .. } in changes(&present, &target) {
            let (now, then) = (present.get(&path), target.get(&path));
            if wanted.only.as_ref().is_some_and(|only| !only.iter().any(|at| path.starts_with(at))) {
                continue;
            }
            match since.as_ref().map(|since| since.get(&path)).filter(|then| *then != now) {
                Some(since) if since == then => {}
                Some(_) => skipped.push((path, "changed after the turn; left as it is".into())),
                None => files.push(Planned { path, now: now.map(|t| version(t)), then: then.map(|t| version(t)) }),
            }
        }
        Ok(Plan { wanted: wanted.clone(), files, skipped })
    }

    fn restore(&mut self, plan: &Plan) -> Result<Restored, CheckpointError> {
        let (target, present) = (self.files(&plan.wanted.to)?.clone(), self.present()?);
        let before = self.take(&Label::new(Kind::BeforeRestore, format!("before going back to {}", plan.wanted.to.short())))?.id;
        let (mut world, mut skipped) = (present.clone(), plan.skipped.clone());
        for Planned { path, now, then } in &plan.files {
            match then {
                _ if present.get(path).map(|t| version(t)) != *now => {
                    skipped.push((path.clone(), "it changed since the plan was made; left as it is".into()));
                }
                Some(_) => world.extend(target.get(path).map(|text| (path.clone(), text.clone()))),
                None => drop(world.remove(path)),
            }
        }
        let changes = changes(&present, &world);
        *self.world.lock().unwrap_or_else(PoisonError::into_inner) = world;
        Ok(Restored { before, changes, skipped })
    }

    fn show(&mut self, plan: &Plan) -> Result<Vec<FileChange>, CheckpointError> {
        let (target, present) = (self.files(&plan.wanted.to)?.clone(), self.present()?);
        let text = |files: &Files, path: &PathBuf| files.get(path).map(|t| t.as_str().into());
        let change = |path: &PathBuf| FileChange { path: path.clone(), old: text(&present, path), new: text(&target, path), binary: false };
        Ok(plan.files.iter().map(|file| change(&file.path)).collect())
    }

    fn list(&mut self) -> Result<Vec<Entry>, CheckpointError> {
        Ok(self.taken.iter().map(|(entry, _, _)| entry.clone()).collect())
    }

    fn revise(&mut self, id: &CheckpointId, revision: Revision) -> Result<Entry, CheckpointError> {
        let found = self.taken.iter_mut().find(|(entry, _, _)| entry.id == *id);
        let (entry, _, first) = found.ok_or_else(|| CheckpointError::Unknown(id.clone()))?;
        match revision {
            Revision::Rename(name) => {
                entry.named = !name.trim().is_empty();
                entry.label.text = if entry.named { name.trim().into() } else { first.clone() };
            }
            Revision::Pin(pinned) => entry.pinned = pinned,
        }
        Ok(entry.clone())
    }

    fn delete(&mut self, id: &CheckpointId) -> Result<(), CheckpointError> {
        self.files(id)?;
        if self.taken.iter().any(|(entry, _, _)| entry.id == *id && entry.pinned) {
            return Err(CheckpointError::Pinned(id.clone()));
        }
        self.taken.retain(|(entry, _, _)| entry.id != *id);
        Ok(())
    }

    fn prune(&mut self, keep: &Retention) -> Result<Pruned, CheckpointError> {
        let (before, newest) = (self.taken.len(), self.taken.last().map(|(entry, _, _)| entry.id.clone()));
        let mut left = before.saturating_sub(keep.count);
        self.taken.retain(|(entry, _, _)| {
            let stays = left == 0 || entry.pinned || newest.as_ref() == Some(&entry.id);
            left -= usize::from(!stays);
            stays
        });
        Ok(Pruned { checkpoints: before - self.taken.len(), objects: 0 })
    }

    fn usage(&mut self) -> Result<Usage, CheckpointError> {
        let bytes = self.taken.iter().flat_map(|(_, files, _)| files.values()).map(|text| text.len() as u64).sum();
        Ok(Usage { bytes, checkpoints: self.taken.len() })
    }
}

fn version(text: &str) -> Version {
    let id = Oid::hash_object(ObjectType::Blob, text.as_bytes()).unwrap_or(Oid::ZERO_SHA1);
    Version { id: id.to_string(), mode: super::tree::FILE }
}
