//! Makes the working tree be as a plan says.
//!
//! - Only planned files are touched, each at once; one that can't be is listed and the rest goes on.
//! - A file that is not as the plan found it is left alone, and so is one that changed after the present was kept: its contents
//!   are in no checkpoint.
//! - Nothing is written through a symbolic link.

use super::{
    durable,
    index::{Index, Stat},
    kept::Change,
    scan::Present,
    stored,
    tree::{self, File, Place, git_mode},
};
use crate::{
    atomic::{self, Spot},
    protocol::{Planned, Version},
};
use git2::{ObjectType, Oid, Repository};
use std::{
    ffi::OsStr,
    fs, io,
    os::unix::ffi::OsStrExt,
    path::{Component, Path},
};

/// So many files are waited for one by one until they are on the disk; of more all together, at the end.
const MOST_ONE_BY_ONE: usize = 64;

pub struct Restore<'a> {
    pub repo: &'a Repository,
    pub root: &'a Path,
    pub present: &'a Present,
    /// The files of the present.
    pub index: &'a Index,
}

/// The plan as places. What no plan of ours says is listed instead.
pub fn changes_of(files: &[Planned], root: &Path) -> (Vec<Change>, Vec<(Place, String)>) {
    let (mut changes, mut refused) = (vec![], vec![]);
    for file in files {
        let place = tree::place_of(&root.join(&file.path), root);
        let plain = file.path.components().all(|part| match part {
            Component::Normal(name) => name != ".git",
            part => part == Component::RootDir,
        });
        let versions = (file.now.as_ref().map(file_of), file.then.as_ref().map(file_of));
        match versions {
            (Some(None), _) | (_, Some(None)) => refused.push((place, "the plan can't be understood".into())),
            _ if !plain => refused.push((place, "not a file of the project".into())),
            (now, then) => changes.push((place, now.flatten(), then.flatten())),
        }
    }
    (changes, refused)
}

pub fn file_of(version: &Version) -> Option<File> {
    let known = tree::mode_of(version.mode) == version.mode;
    Oid::from_str(&version.id).ok().filter(|_| known).map(|id| File { mode: version.mode, id })
}

impl Restore<'_> {
    /// What was done, and what was not.
    pub fn run(&self, changes: Vec<Change>) -> (Vec<Change>, Vec<(Place, String)>) {
        let (mut done, mut skipped) = (vec![], vec![]);
        let each = changes.len() <= MOST_ONE_BY_ONE;
        // Deletions first, deepest first: what is a folder now may have to become a file.
        let (gone, written): (Vec<_>, Vec<_>) = changes.into_iter().partition(|(_, _, new)| new.is_none());
        for change in gone.into_iter().rev().chain(written) {
            match self.apply(&change, each) {
                Ok(()) => done.push(change),
                Err(why) => skipped.push((change.0, why)),
            }
        }
        if !each {
            durable::settle(self.root);
        }
        done.sort_by(|a, b| a.0.cmp(&b.0));
        (done, skipped)
    }

    /// `durable`: not before it is on the disk does the file get its name.
    fn apply(&self, (place, old, new): &Change, durable: bool) -> Result<(), String> {
        let path = tree::path_of(place, self.root);
        let top = if tree::is_inside(place) { self.root } else { Path::new("/") };
        let told = |error: io::Error| match error.raw_os_error() {
            Some(libc::ELOOP) => "a folder above it is a symbolic link now".to_owned(),
            _ => error.to_string(),
        };
        self.no_link_above(place, &path)?;
        if self.present.skips(place) {
            return Err("what is there now could not be kept; left as it is".into());
        }
        if self.index.file(place) != *old {
            return Err("it changed since the plan was made; left as it is".into());
        }
        let now = fs::symlink_metadata(&path).ok();
        match (old, &now) {
            (Some(_), Some(meta)) if self.index.find(place).is_some_and(|entry| entry.stat == Stat::of(meta)) => {}
            // Another name of the same file may have been written just now, which changes its times: the contents tell.
            (Some(old), Some(meta)) if is_version(old, &path, meta) => {}
            (None, None) => {}
            // Empty folders are nothing that could be lost.
            (None, Some(meta)) if meta.is_dir() && remove_folders(&path).is_ok() => {}
            (None, Some(meta)) if meta.is_dir() => return Err("a folder with files that stay is in its place".into()),
            _ => return Err("it changed meanwhile; left as it is".into()),
        }
        let Some(new) = new else {
            Spot::below(top, &path).and_then(|spot| spot.remove_file()).map_err(told)?;
            if tree::is_inside(place) {
                self.remove_empty_folders(&path);
            }
            return Ok(());
        };
        let blob = stored::blob(self.repo, new.id).map_err(|e| format!("its contents are lost: {e}"))?;
        let spot = Spot::made_below(top, &path).map_err(told)?;
        if new.mode == tree::LINK {
            return atomic::symlink_at(&spot, Path::new(OsStr::from_bytes(blob.content()))).map_err(told);
        }
        // Bits are only touched if the file is not already (not) a program: its mode has more to it than we keep.
        let is = now.as_ref().filter(|m| m.is_file()).map(|m| git_mode(Stat::of(m).mode));
        let executable = (is != Some(git_mode(new.mode))).then_some(git_mode(new.mode) == tree::PROGRAM);
        // Nobody runs it as us because it once was so.
        let cleared = old.filter(|old| old.mode & tree::SPECIAL != 0 && is.is_some()).map(|old| match git_mode(new.mode) {
            tree::PROGRAM => old.mode & 0o777 | (old.mode & 0o444) >> 2,
            _ => old.mode & 0o666,
        });
        let bits = tree::own_bits(new.mode).or(cleared);
        let options = atomic::Options { executable, bits, durable, replace_link: true, ..Default::default() };
        atomic::write_at(&spot, blob.content(), options).map(|_| ()).map_err(told)
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

/// Are these the contents and the kind?
fn is_version(file: &File, path: &Path, meta: &fs::Metadata) -> bool {
    let id = if meta.is_symlink() {
        fs::read_link(path).ok().and_then(|to| Oid::hash_object(ObjectType::Blob, to.as_os_str().as_bytes()).ok())
    } else {
        Some(path).filter(|_| meta.is_file()).and_then(|path| Oid::hash_file(ObjectType::Blob, path).ok())
    };
    id == Some(file.id) && tree::mode_of(Stat::of(meta).mode) == file.mode
}

/// Removes a folder in which there is nothing but folders; fails at the first file.
fn remove_folders(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        remove_folders(&entry.path())?;
    }
    fs::remove_dir(folder)
}
