//! Makes the working tree be as a snapshot says.
//!
//! - Only files that differ are touched, each at once; one that can't be is listed and the rest goes on.
//! - A file that is not as it was when the present was kept is left alone: its contents are in no checkpoint.
//! - Nothing is written through a symbolic link.

use super::{
    scan::{Stat, mode_of},
    tree::{self, File, Place, Snapshot},
};
use crate::{atomic, walk};
use git2::Repository;
use std::{collections::BTreeSet, ffi::OsStr, fs, io, os::unix::ffi::OsStrExt, path::Path};

pub struct Restore<'a> {
    pub repo: &'a Repository,
    pub root: &'a Path,
    pub present: &'a Snapshot,
    pub target: &'a Snapshot,
    pub unknown: &'a BTreeSet<Place>,
}

/// Lets the target have what changed after `since`. Returns the files of which something is not walked back because of that.
pub fn keep_later_changes(present: &Snapshot, since: &Snapshot, target: &mut Snapshot) -> Vec<Place> {
    let mut kept = vec![];
    for (place, now, then) in present.changes(since) {
        let old = target.files.get(&place).copied();
        if old != then && old != now {
            kept.push(place.clone());
        }
        match now {
            Some(file) => drop(target.files.insert(place, file)),
            None => drop(target.files.remove(&place)),
        }
    }
    kept
}

type Change = (Place, Option<File>, Option<File>);

impl Restore<'_> {
    /// Files of the present of which the target does not say that they did not exist.
    pub fn unknown(repo: &Repository, target: &Snapshot, present: &Snapshot) -> BTreeSet<Place> {
        let rules = |folder: &Path| {
            let place = tree::place_of(&Path::new("/r").join(folder).join(".gitignore"), Path::new("/r"));
            target.files.get(&place).and_then(|f| repo.find_blob(f.id).ok()).map(|b| b.content().to_vec())
        };
        let ignored = |place: &Place| walk::ignored_by(&tree::shown(place), rules);
        let known = |place: &Place| {
            target.files.contains_key(place)
                || target.covered.contains(place)
                || (tree::is_inside(place) && !target.skips(place) && !ignored(place))
        };
        present.files.keys().filter(|place| !known(place)).cloned().collect()
    }

    /// What was done, and what was not.
    pub fn run(&self) -> (Vec<Change>, Vec<(Place, String)>) {
        let (mut done, mut skipped) = (vec![], vec![]);
        let mut plan = vec![];
        for (place, old, new) in self.present.changes(self.target) {
            if old.is_some() && new.is_none() && self.unknown.contains(&place) {
                skipped.push((place, "that checkpoint does not cover it; left as it is".into()));
            } else if self.present.skips(&place) {
                skipped.push((place, "what is there now could not be kept; left as it is".into()));
            } else {
                plan.push((place, old, new));
            }
        }
        // Deletions first, deepest first: what is a folder now may have to become a file.
        let (gone, written): (Vec<_>, Vec<_>) = plan.into_iter().partition(|(_, _, new)| new.is_none());
        for change in gone.into_iter().rev().chain(written) {
            match self.apply(&change) {
                Ok(()) => done.push(change),
                Err(why) => skipped.push((change.0, why)),
            }
        }
        done.sort_by(|a, b| a.0.cmp(&b.0));
        skipped.extend(self.target.skipped.iter().map(|(p, why)| (p.clone(), format!("not in that checkpoint: {why}"))));
        (done, skipped)
    }

    fn apply(&self, (place, old, new): &Change) -> Result<(), String> {
        let path = tree::path_of(place, self.root);
        self.no_link_above(place, &path)?;
        let now = fs::symlink_metadata(&path).ok();
        match (old, &now) {
            (Some(_), Some(meta)) if self.present.stats.get(place) == Some(&Stat::of(meta)) => {}
            (None, None) => {}
            // An empty folder is nothing that could be lost.
            (None, Some(meta)) if meta.is_dir() && fs::remove_dir(&path).is_ok() => {}
            (None, Some(meta)) if meta.is_dir() => return Err("a folder with files that are not covered is in its place".into()),
            _ => return Err("it changed meanwhile; left as it is".into()),
        }
        let Some(new) = new else {
            fs::remove_file(&path).map_err(|e| e.to_string())?;
            if tree::is_inside(place) {
                self.remove_empty_folders(&path);
            }
            return Ok(());
        };
        let blob = self.repo.find_blob(new.id).map_err(|e| format!("its contents are lost: {}", e.message()))?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|e| e.to_string())?;
        }
        if new.mode == tree::LINK {
            return atomic::symlink(&path, Path::new(OsStr::from_bytes(blob.content()))).map_err(|e| e.to_string());
        }
        // Bits are only touched if the file is not already (not) a program: its mode has more to it than we keep.
        let is = now.as_ref().filter(|m| m.is_file()).map(|m| mode_of(Stat::of(m).mode));
        let executable = (is != Some(new.mode)).then_some(new.mode == tree::PROGRAM);
        let options = atomic::Options { executable, replace_link: true, ..Default::default() };
        atomic::write(&path, blob.content(), options).map(|_| ()).map_err(|e| e.to_string())
    }

    fn no_link_above(&self, place: &[u8], path: &Path) -> Result<(), String> {
        let top = if tree::is_inside(place) { self.root } else { Path::new("/") };
        for folder in path.ancestors().skip(1).take_while(|a| *a != top && a.starts_with(top)) {
            match fs::symlink_metadata(folder) {
                Ok(meta) if meta.is_symlink() => return Err(format!("{} is a symbolic link now", folder.display())),
                Err(e) if e.kind() != io::ErrorKind::NotFound && e.kind() != io::ErrorKind::NotADirectory => return Err(e.to_string()),
                _ => {}
            }
        }
        Ok(())
    }

    fn remove_empty_folders(&self, path: &Path) {
        for folder in path.ancestors().skip(1).take_while(|a| *a != self.root && a.starts_with(self.root)) {
            // Fails when something is in it.
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }
}
