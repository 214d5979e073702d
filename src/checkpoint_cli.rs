//! `backstitch checkpoint …`, `undo` and `redo`: the checkpoints of a folder from the shell, with or without a session in it.
//!
//! - No screen, no model, no trust: nothing of the project's configuration is read.
//! - A folder without a store gets none but by `checkpoint create`.
//! - Files change only by a plan that was shown, and only after a yes.

pub mod arguments;
mod compare;
mod find;
mod going_back;
mod keeping;
mod list;
mod output;
mod patch;
mod steps;
mod taken_back;
mod turns;

use crate::{
    checkpoint::{CheckpointError, CheckpointStore, Entry, GitStore, Revision},
    config::{Env, Places, project_root},
    failure::Failure,
    project,
    protocol::{Plan, Wanted},
};
use arguments::{Checkpoint, Consent, Step, What};
use find::find;
use going_back::{Asked, finish, go};
use list::{ChangeJson, EntryJson, PageJson, named};
use output::{columns, count, note, print, print_json, print_patch, shown};
use serde_json::json;
use std::{
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

/// The folder, and where the data of all folders is.
struct Here {
    root: PathBuf,
    data: PathBuf,
}

impl Here {
    fn find(env: &Env) -> Result<Here, Failure> {
        let unreadable = |e| Failure::usage(format!("This folder can't be read: {e}"));
        let root = std::env::current_dir().and_then(|here| project_root(&here)).map_err(unreadable)?;
        Ok(Here { root, data: Places::find(env).data })
    }

    /// Is there a store of this folder? Opening it would make one.
    fn has_store(&self, folder: &Path) -> bool {
        self.data.join("checkpoints").join(project::key(folder)).join("repo.git").exists()
    }

    fn open(&self, only_read: bool) -> Result<GitStore, Failure> {
        let open = if only_read { GitStore::open_to_read } else { GitStore::open };
        let mut store = open(&self.data, &self.root).map_err(store_failure)?;
        if let Some(notice) = store.notice() {
            note(&format!("! {notice}"));
        }
        Ok(store)
    }

    fn none(&self) -> Failure {
        let failure = Failure::usage(format!("There are no checkpoints of {}.", shown(&self.root)));
        match self.root.ancestors().skip(1).find(|folder| self.has_store(folder)) {
            Some(folder) => failure.hint(format!("There are some of {}: ask in that folder", shown(folder))),
            None => failure.hint("a session takes them before it changes something, and so does backstitch checkpoint create"),
        }
    }
}

fn store_failure(error: CheckpointError) -> Failure {
    match error {
        CheckpointError::Unknown(id) => Failure::usage(format!("There is no checkpoint {} any more.", id.short())),
        CheckpointError::Pinned(id) => {
            let short = id.short();
            Failure::usage(format!("Checkpoint {short} is pinned.")).hint(format!("backstitch checkpoint unpin {short} lets it go"))
        }
        CheckpointError::Busy(_) => Failure::internal(format!("The checkpoints can't be used: {error}")).hint("try again later"),
        error => Failure::internal(format!("The checkpoints can't be used: {error}")),
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis() as u64)
}

pub fn undo(step: &Step, env: &Env) -> Result<(), Failure> {
    let (here, mut store) = opened(env, step)?;
    told_unfinished(&mut store)?;
    steps::undo(&here, &mut store, step)
}

pub fn redo(step: &Step, env: &Env) -> Result<(), Failure> {
    let (here, mut store) = opened(env, step)?;
    told_unfinished(&mut store)?;
    steps::redo(&here, &mut store, step)
}

/// A store that is there already.
fn opened(env: &Env, step: &Step) -> Result<(Here, GitStore), Failure> {
    let here = Here::find(env)?;
    if !here.has_store(&here.root) {
        return Err(here.none());
    }
    let store = here.open(step.consent.dry_run)?;
    Ok((here, store))
}

fn told_unfinished(store: &mut dyn CheckpointStore) -> Result<(), Failure> {
    if let Some(plan) = store.unfinished().map_err(store_failure)? {
        let (files, to) = (count(plan.files.len(), "file"), plan.wanted.to.short());
        note(&format!("! A restore to {to} was cut off, with {files} left."));
        note("  backstitch checkpoint restore --finish does the rest; --forget leaves the files as they are.");
    }
    Ok(())
}

pub fn run(checkpoint: Checkpoint, env: &Env) -> Result<(), Failure> {
    let (here, json) = (Here::find(env)?, checkpoint.json);
    if !here.has_store(&here.root) {
        match &checkpoint.what {
            What::Create { .. } => {}
            // Nothing is what there is; that is no error.
            What::List { .. } if json => return print_json(&json!([])),
            What::List { .. } => {
                note(&here.none().to_string());
                return Ok(());
            }
            _ => return Err(here.none()),
        }
    }
    let mut store = here.open(checkpoint.what.only_reads())?;
    let speaks_of_it =
        matches!(checkpoint.what, What::Prune { .. } | What::Restore { finish: true, .. } | What::Restore { forget: true, .. });
    if !speaks_of_it {
        told_unfinished(&mut store)?;
    }
    let result = perform(&here, &mut store, checkpoint.what, json, env);
    // It may have been found out only now.
    if let Some(notice) = store.notice() {
        note(&format!("! {notice}"));
    }
    result
}

fn perform(here: &Here, store: &mut dyn CheckpointStore, what: What, json: bool, env: &Env) -> Result<(), Failure> {
    if let What::Create { name } = &what {
        return keeping::create(store, name.as_deref().unwrap_or_default(), json);
    }
    let entries = store.list().map_err(store_failure)?;
    match what {
        What::Create { .. } => Ok(()),
        What::List { newest } => list(&entries[entries.len() - newest.unwrap_or(usize::MAX).min(entries.len())..], json),
        What::Show { id } => show(store, &entries, &id, json),
        What::Diff { id, to, paths } => {
            let (id, to) = (find(&entries, &id)?, to.map(|to| find(&entries, &to)).transpose()?);
            let changes = compare::compare(store, &id.id, to.map(|to| &to.id), &paths, &here.root)?;
            diff(changes, !paths.is_empty(), json, env)
        }
        What::Restore { id: Some(id), paths, consent, .. } => {
            let entry = find(&entries, &id)?;
            restore(here, store, &entries, entry, paths, consent, json)
        }
        What::Restore { finish: true, consent, .. } => finish_restore(store, consent, json),
        What::Restore { .. } => {
            store.forget_unfinished();
            Ok(())
        }
        What::Rename { id, name } => keeping::revise(store, &entries, &id, Revision::Rename(name), "is called", json),
        What::Pin { id } => keeping::revise(store, &entries, &id, Revision::Pin(true), "is pinned:", json),
        What::Unpin { id } => keeping::revise(store, &entries, &id, Revision::Pin(false), "is not pinned any more:", json),
        What::Delete { id } => keeping::delete(store, find(&entries, &id)?, json),
        What::Prune { keep, older_than, size, all } => keeping::prune(store, &keeping::retention(keep, older_than, size, all), json),
    }
}

fn list(entries: &[Entry], json: bool) -> Result<(), Failure> {
    if json {
        return print_json(&entries.iter().map(EntryJson::new).collect::<Vec<_>>());
    }
    if entries.is_empty() {
        note("There are no checkpoints.");
    }
    print(&list::table(entries, now(), columns()))
}

fn show(store: &mut dyn CheckpointStore, entries: &[Entry], id: &str, json: bool) -> Result<(), Failure> {
    let entry = find(entries, id)?;
    let before = entries.iter().take_while(|other| other.id != entry.id).last().map(|before| &before.id);
    let changes = match before {
        Some(before) => compare::texts(store, before, Some(&entry.id))?,
        None => vec![],
    };
    if json {
        let files = changes.iter().map(ChangeJson::new).collect();
        return print_json(&PageJson { entry: EntryJson::new(entry), compared_with: before.map(|id| id.0.as_str()), files });
    }
    print(&list::page(entry, before, &changes, now()))
}

fn diff(changes: Vec<patch::Compared>, chosen: bool, json: bool, env: &Env) -> Result<(), Failure> {
    if json {
        let with_patch = |change: &patch::Compared| {
            let patch = patch::patch(std::slice::from_ref(change));
            ChangeJson { patch: Some(patch), ..ChangeJson::new(change) }
        };
        return print_json(&changes.iter().map(with_patch).collect::<Vec<_>>());
    }
    // Who names a file outside of the project wants to see it; for anybody else a patch is of the project.
    let changes = if chosen {
        changes
    } else {
        let (inside, outside) = patch::inside(changes);
        outside
            .iter()
            .for_each(|path| note(&format!("! {} changed too; it is outside of this folder: name it after -- to see it", shown(path))));
        inside
    };
    print_patch(&patch::patch(&changes), env)
}

fn restore(
    here: &Here,
    store: &mut dyn CheckpointStore,
    entries: &[Entry],
    entry: &Entry,
    paths: Vec<PathBuf>,
    consent: Consent,
    json: bool,
) -> Result<(), Failure> {
    let only = Some(paths.clone()).filter(|paths| !paths.is_empty());
    let plan = store.plan(&Wanted { to: entry.id.clone(), since: None, only }).map_err(store_failure)?;
    if let Some(path) = paths.iter().find(|path| unheard_of(path, &plan, &here.root)) {
        return Err(Failure::usage(format!("There is no {}, neither here nor in {}.", shown(path), entry.id.short())));
    }
    let heading = format!("Going back to {}", named(entry));
    let asked = Asked { heading, remark: None, question: "Go back?", consent, json };
    let Some(restored) = go(store, &plan, &asked)? else { return Ok(()) };
    if paths.is_empty() {
        steps::forget(here, entries);
    }
    finish(&plan, &restored, &way_back(&restored.before.0), json)
}

/// A file that was in the checkpoint is here or in the plan.
fn unheard_of(path: &Path, plan: &Plan, root: &Path) -> bool {
    let path = project::named(path, root);
    let mut planned = plan.files.iter().map(|file| &file.path).chain(plan.skipped.iter().map(|(path, _)| path));
    path.symlink_metadata().is_err() && !planned.any(|file| root.join(file).starts_with(&path))
}

fn way_back(before: &str) -> String {
    format!("The way back: backstitch checkpoint restore {}", before.get(..8).unwrap_or(before))
}

fn finish_restore(store: &mut dyn CheckpointStore, consent: Consent, json: bool) -> Result<(), Failure> {
    let Some(plan) = store.unfinished().map_err(store_failure)? else {
        return Err(Failure::usage("There is no restore to finish."));
    };
    let heading = format!("The rest of going back to {}", plan.wanted.to.short());
    let asked = Asked { heading, remark: None, question: "Finish it?", consent, json };
    let Some(restored) = go(store, &plan, &asked)? else { return Ok(()) };
    finish(&plan, &restored, &way_back(&restored.before.0), json)
}

#[cfg(test)]
mod tests;
