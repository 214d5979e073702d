//! Finds out what a restore would do. Nothing outside the store is written here.
//!
//! - A file that the target does not know is left alone: that it is not in it does not mean that it did not exist.
//! - What can't be done is found out now as far as the working tree tells, and is listed with its reason.

use super::{
    CheckpointError,
    folders::REPOSITORY,
    intact,
    kept::{Change, Kept, changes},
    scan::Present,
    stored,
    tree::{self, File, Place},
};
use crate::{
    project,
    protocol::{Plan, Planned, Wanted, plan::NOT_KEPT},
    walk,
};
use git2::{Oid, Repository};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

pub struct Planning<'a> {
    pub repo: &'a Repository,
    pub root: &'a Path,
    pub present: &'a Present,
    pub target: &'a Kept<'a>,
    /// The checkpoints after the target, oldest first.
    pub later: Vec<Oid>,
    pub since: Option<Oid>,
    /// What another session changed in the meantime is not walked back with this one.
    pub theirs: BTreeMap<Place, &'static str>,
}

impl Planning<'_> {
    /// `differing`: the present compared with the target.
    /// Besides the plan: what it lacks because the store has it no more.
    pub fn plan(&self, wanted: &Wanted, mut differing: Vec<Change>) -> Result<(Plan, BTreeMap<Place, String>), CheckpointError> {
        let only = wanted.only.as_ref().map(|paths| paths.iter().map(|path| chosen(path, self.root)).collect::<Vec<_>>());
        let within = |place: &[u8]| only.as_ref().is_none_or(|only| only.iter().any(|at| is_below(place, at)));
        differing.retain(|(place, _, _)| within(place));
        let mut skipped = BTreeMap::new();
        let since = self.since.map(|since| Kept::of_commit(self.repo, since)).transpose()?;
        if let Some(since) = &since {
            self.keep_later_changes(since, &mut differing, &mut skipped)?;
        }
        differing.retain(|(place, _, _)| {
            let theirs = self.theirs.get(place);
            skipped.extend(theirs.map(|why| (place.clone(), (*why).into())));
            theirs.is_none()
        });
        self.ask_later_checkpoints(&mut differing, &mut skipped)?;
        differing.retain(|(place, _, _)| {
            let lost = self.present.skips(place);
            if lost {
                skipped.insert(place.clone(), "what is there now could not be kept; left as it is".into());
            }
            !lost
        });
        let lost = intact::leave_out(&self.repo.odb()?, &self.repo.path().join("objects"), &mut differing);
        skipped.extend(lost.clone());
        self.drop_blocked(&mut differing, &mut skipped);
        let below_chosen = |place: &[u8]| within(place) || only.iter().flatten().any(|at| is_below(at, place));
        // A repository that is still there has nothing to be told of.
        let told = |place: &[u8], why: &str| below_chosen(place) && !(why == REPOSITORY && self.present.skips(place));
        for (place, why) in self.target.skipped.iter().filter(|(place, why)| told(place, why)) {
            skipped.entry(place.clone()).or_insert_with(|| format!("{NOT_KEPT}{why}"));
        }
        // What is there now, was not then, and can't go because nothing would bring it back.
        let was_there = |place: &[u8]| self.target.skips(place) || since.as_ref().is_some_and(|since| !since.skips(place));
        for place in self.present.skipped.keys().filter(|place| below_chosen(place) && !was_there(place)) {
            skipped.entry(place.clone()).or_insert_with(|| "what is there now could not be kept; left as it is".into());
        }
        let plan = Plan {
            wanted: wanted.clone(),
            files: differing.into_iter().map(planned).collect(),
            skipped: skipped.into_iter().map(|(place, why)| (tree::shown(&place), why)).collect(),
        };
        Ok((plan, lost))
    }

    /// What changed after `since` stays; what is not walked back because of that is listed.
    fn keep_later_changes(
        &self,
        since: &Kept,
        differing: &mut Vec<Change>,
        skipped: &mut BTreeMap<Place, String>,
    ) -> Result<(), CheckpointError> {
        let stays: BTreeMap<Place, Option<File>> =
            changes(self.repo, self.present.tree, since.tree)?.into_iter().map(|(place, _, then)| (place, then)).collect();
        differing.retain(|(place, _, old)| {
            let Some(then) = stays.get(place) else { return true };
            if old != then {
                skipped.insert(place.clone(), "changed after the turn; left as it is".into());
            }
            false
        });
        Ok(())
    }

    /// Where the target knows nothing of a file that a tool wrote later, the checkpoint before that writing says how it was.
    fn ask_later_checkpoints(&self, differing: &mut Vec<Change>, skipped: &mut BTreeMap<Place, String>) -> Result<(), CheckpointError> {
        let mut unknown: BTreeSet<Place> = BTreeSet::new();
        for (place, _, new) in differing.iter() {
            if new.is_none() && !self.knows(self.target, place) {
                unknown.insert(place.clone());
            }
        }
        let mut found: BTreeMap<Place, Option<File>> = BTreeMap::new();
        for id in &self.later {
            if unknown.is_empty() {
                break;
            }
            let kept = Kept::of_commit(self.repo, *id)?;
            // One that would have found it, had it been there, says as much as one that was told to look. But what was there at the
            // time and not kept was there.
            let absent = |place: &Place| !self.target.skips(place) && self.knows(&kept, place) && !matches!(kept.file(place), Ok(Some(_)));
            let tells = |place: &Place| kept.covered.contains(place) || absent(place);
            for place in unknown.extract_if(.., |place| tells(place)) {
                let file = kept.file(&place)?;
                found.insert(place, file);
            }
        }
        differing.retain_mut(|(place, old, new)| {
            if let Some(file) = found.get(place) {
                *new = *file;
                return tree::differ(*old, *new);
            }
            let known = !unknown.contains(place);
            if !known {
                skipped.insert(place.clone(), "that checkpoint does not cover it; left as it is".into());
            }
            known
        });
        Ok(())
    }

    /// Does a checkpoint say that there was no such file, or what it was like, if it was covered?
    fn knows(&self, kept: &Kept, place: &Place) -> bool {
        let rules = |folder: &Path| {
            let place = tree::place_of(&Path::new("/r").join(folder).join(".gitignore"), Path::new("/r"));
            let file = kept.file(&place).ok().flatten()?;
            stored::blob(self.repo, file.id).ok().map(|b| b.content().to_vec())
        };
        kept.covered.contains(place) || (tree::is_inside(place) && !kept.skips(place) && !walk::ignored_by(&tree::shown(place), rules))
    }

    /// A file can't come where something else stays, or below what is no folder.
    fn drop_blocked(&self, differing: &mut Vec<Change>, skipped: &mut BTreeMap<Place, String>) {
        let removed: BTreeSet<Place> = differing.iter().filter(|(_, _, new)| new.is_none()).map(|(place, _, _)| place.clone()).collect();
        differing.retain(|(place, old, new)| {
            let why = if old.is_none() && new.is_some() { self.in_the_way(place, &removed) } else { None };
            let free = why.is_none();
            skipped.extend(why.map(|why| (place.clone(), why)));
            free
        });
    }

    fn in_the_way(&self, place: &Place, removed: &BTreeSet<Place>) -> Option<String> {
        let path = tree::path_of(place, self.root);
        let top = if tree::is_inside(place) { self.root } else { Path::new("/") };
        let above: Vec<&Path> = path.ancestors().skip(1).take_while(|a| *a != top && a.starts_with(top)).collect();
        // From the top: what is below a link is not at its place.
        for folder in above.into_iter().rev() {
            match fs::symlink_metadata(folder) {
                Ok(meta) if meta.is_dir() => {}
                Ok(_) if removed.contains(&tree::place_of(folder, self.root)) => return None,
                Ok(meta) if meta.is_symlink() => return Some(format!("{} is a symbolic link now", folder.display())),
                Ok(_) => return Some(format!("{} is no folder now", folder.display())),
                Err(_) => return None,
            }
        }
        let stays = fs::symlink_metadata(&path).is_ok_and(|m| m.is_dir()) && self.holds_more(&path, removed);
        stays.then(|| "a folder with files that stay is in its place".into())
    }

    /// Is there anything in the folder but what is removed, and folders?
    fn holds_more(&self, folder: &Path, removed: &BTreeSet<Place>) -> bool {
        let Ok(entries) = fs::read_dir(folder) else { return true };
        entries.flatten().any(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => self.holds_more(&entry.path(), removed),
            _ => !removed.contains(&tree::place_of(&entry.path(), self.root)),
        })
    }
}

fn planned((place, now, then): Change) -> Planned {
    Planned { path: tree::shown(&place), now: now.map(File::version), then: then.map(File::version) }
}

/// The place of a path that somebody named, without a slash at its end.
fn chosen(path: &Path, root: &Path) -> Place {
    let mut place = tree::place_of(&project::named(path, root), root);
    place.pop_if(|last| *last == b'/');
    place
}

fn is_below(place: &[u8], at: &[u8]) -> bool {
    place.strip_prefix(at).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}
