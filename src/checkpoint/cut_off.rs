//! The plan of a restore that is under way, on disk: whoever comes after a crash can finish it.
//!
//! Written before the first file is touched, removed after the last. Paths are kept as bytes, since names need not be text.

use super::CheckpointError;
use crate::{
    atomic, project,
    protocol::{CheckpointId, Plan, Planned, Version, Wanted},
};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

const NAME: &str = "restoring";

/// A [`Plan`] with paths that JSON can hold whatever they are.
#[derive(Serialize, Deserialize)]
struct Written {
    to: CheckpointId,
    since: Option<CheckpointId>,
    only: Option<Vec<OsString>>,
    files: Vec<(OsString, Option<Version>, Option<Version>)>,
    skipped: Vec<(OsString, String)>,
}

/// Was a restore in this project cut off? Only looks whether a file exists.
pub fn was_cut_off(data: &Path, root: &Path) -> bool {
    let (Ok(data), Ok(root)) = (data.canonicalize(), root.canonicalize()) else { return false };
    super::git::folder_of(&data, &project::key(&root)).join(NAME).exists()
}

pub fn write(folder: &Path, plan: &Plan) -> Result<(), CheckpointError> {
    let os = |path: &PathBuf| path.clone().into_os_string();
    let written = Written {
        to: plan.wanted.to.clone(),
        since: plan.wanted.since.clone(),
        only: plan.wanted.only.as_ref().map(|only| only.iter().map(os).collect()),
        files: plan.files.iter().map(|f| (os(&f.path), f.now.clone(), f.then.clone())).collect(),
        skipped: plan.skipped.iter().map(|(path, why)| (os(path), why.clone())).collect(),
    };
    let path = folder.join(NAME);
    let bytes = serde_json::to_vec(&written).map_err(|e| CheckpointError::Store(e.to_string()))?;
    let options = atomic::Options { private: true, durable: true, ..Default::default() };
    atomic::write(&path, &bytes, options).map(|_| ()).map_err(CheckpointError::io(&path))
}

/// `None` also for a file that can't be understood: no restore of ours wrote it.
pub fn read(folder: &Path) -> Result<Option<Plan>, CheckpointError> {
    let path = folder.join(NAME);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(CheckpointError::io(&path)(e)),
    };
    let Ok(written) = serde_json::from_slice::<Written>(&bytes) else { return Ok(None) };
    let only = written.only.map(|only| only.into_iter().map(PathBuf::from).collect());
    Ok(Some(Plan {
        wanted: Wanted { to: written.to, since: written.since, only },
        files: written.files.into_iter().map(|(path, now, then)| Planned { path: path.into(), now, then }).collect(),
        skipped: written.skipped.into_iter().map(|(path, why)| (path.into(), why)).collect(),
    }))
}

/// What was being written when the restore was cut off is of no use any more.
pub fn tidy(plan: &Plan, root: &Path) {
    let folders: BTreeSet<PathBuf> = plan.files.iter().filter_map(|file| Some(root.join(&file.path).parent()?.to_owned())).collect();
    folders.iter().for_each(|folder| atomic::forget_left_over(folder));
}

pub fn remove(folder: &Path) {
    let _ = fs::remove_file(folder.join(NAME));
}
