//! A store that can't be written is looked at through one of its own that borrows the objects: comparing with now has to keep what is
//! now, and that must go somewhere.

use super::{CheckpointError, GitStore, git::folder_of, repository::lock_to_read};
use crate::project;
use git2::{Repository, RepositoryInitOptions};
use rustix::fs::{Access, access};
use std::{
    fs, io,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// What of a store is copied. What is missing is not there.
const COPIED: [&str; 7] =
    ["index", "notes.json", "restoring", "repo.git/packed-refs", "repo.git/shallow", "repo.git/stamp", "repo.git/refs/checkpoints"];

impl GitStore {
    /// To list, show and compare: also where the data folder is only read. What is changed in it is lost then.
    pub fn open_to_read(data: &Path, root: &Path) -> Result<Self, CheckpointError> {
        let root = root.canonicalize().map_err(CheckpointError::io(root))?;
        let data = data.canonicalize().map_err(CheckpointError::io(data))?;
        let folder = folder_of(&data, &project::key(&root));
        let places = [folder.clone(), folder.join("lock"), folder.join("repo.git/objects"), folder.join("repo.git/objects/pack")];
        let may_write = |place: &Path| !place.exists() || access(place, Access::WRITE_OK).is_ok();
        if places.iter().all(|place| may_write(place)) {
            return Self::open(&data, &root);
        }
        Self::borrowed(&folder, data, root)
    }

    fn borrowed(from: &Path, data: PathBuf, root: PathBuf) -> Result<Self, CheckpointError> {
        let aside = borrow(from).map_err(CheckpointError::io(from))?;
        let folder = aside.path().to_path_buf();
        Self::at(folder, data, root, Some(aside))
    }
}

fn borrow(folder: &Path) -> io::Result<TempDir> {
    let aside = tempfile::Builder::new().prefix("backstitch-checkpoints-").tempdir()?;
    let _lock = lock_to_read(folder);
    let repo = aside.path().join("repo.git");
    let options = &mut RepositoryInitOptions::new();
    Repository::init_opts(&repo, options.bare(true).no_reinit(true).mkdir(true).external_template(false)).map_err(io::Error::other)?;
    for name in COPIED {
        copy(&folder.join(name), &aside.path().join(name))?;
    }
    let objects = folder.join("repo.git/objects");
    fs::create_dir_all(repo.join("objects/info"))?;
    fs::write(repo.join("objects/info/alternates"), [objects.as_os_str().as_encoded_bytes(), b"\n"].concat())?;
    Ok(aside)
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)?.flatten() {
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
        return Ok(());
    }
    match fs::read(from) {
        // Not its mode: that may forbid writing.
        Ok(bytes) => fs::write(to, bytes),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        checkpoint::{CheckpointStore, Kind, Label, Revision},
        protocol::Wanted,
    };
    use std::collections::BTreeMap;

    fn contents(folder: &Path, all: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            match entry.path() {
                path if path.is_dir() => contents(&path, all),
                path => drop(all.insert(path.clone(), fs::read(path).unwrap())),
            }
        }
    }

    #[test]
    fn a_store_is_listed_shown_and_compared_without_a_byte_written_into_it() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path().canonicalize().unwrap();
        let (root, data) = (top.join("project"), top.join("data"));
        fs::create_dir_all(root.join("dir")).unwrap();
        let mut store = GitStore::open(&data, &root).unwrap();
        let mut take = |text: &str| {
            (0..220).for_each(|n| fs::write(root.join(format!("dir/f{n}")), format!("{text} {n}")).unwrap());
            fs::write(root.join("loose"), text).unwrap();
            store.take(&Label::new(Kind::Manual, text)).unwrap().id
        };
        let (first, second) = (take("one"), take("two"));
        store.revise(&first, Revision::Rename("start".into())).unwrap();
        let folder = store.folder().to_path_buf();
        let listed = store.list().unwrap();
        drop(store);
        fs::write(root.join("loose"), "three").unwrap();
        fs::write(root.join("new"), "new").unwrap();
        let state = || {
            let mut all = BTreeMap::new();
            contents(&folder, &mut all);
            all
        };
        let before = state();
        let mut borrowed = GitStore::borrowed(&folder, data.clone(), root.clone()).unwrap();
        assert_eq!(borrowed.list().unwrap(), listed);
        assert_eq!(borrowed.diff(&first, Some(&second)).unwrap().len(), 221);
        let changes = borrowed.diff(&second, None).unwrap();
        assert_eq!(changes.iter().map(|c| c.new.as_deref().unwrap()).collect::<Vec<_>>(), ["three", "new"]);
        assert_eq!(borrowed.plan(&Wanted { to: first, since: None, only: None }).unwrap().files.len(), 222);
        let aside = borrowed.folder().to_path_buf();
        assert!(aside.exists());
        drop(borrowed);
        assert!(!aside.exists());
        assert_eq!(state(), before);
        // Where it may be written it is the store itself.
        assert_eq!(GitStore::open_to_read(&data, &root).unwrap().folder(), folder);
    }

    /// Else whoever looks would wait for ever: libgit2 never comes back from such a file.
    #[test]
    fn an_object_that_was_cut_is_found_where_it_is_borrowed_too() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path().canonicalize().unwrap();
        let (root, data) = (top.join("project"), top.join("data"));
        fs::create_dir_all(root.join("dir")).unwrap();
        let mut store = GitStore::open(&data, &root).unwrap();
        let mut take = |text: &str| {
            fs::write(root.join("dir/f"), text.repeat(50)).unwrap();
            store.take(&Label::new(Kind::Manual, text)).unwrap().id
        };
        let (first, second) = (take("one"), take("two"));
        let folder = store.folder().to_path_buf();
        drop(store);
        let mut objects = BTreeMap::new();
        contents(&folder.join("repo.git/objects"), &mut objects);
        let loose: Vec<_> =
            objects.iter().filter(|(path, _)| path.parent().and_then(Path::file_name).is_some_and(|n| n.len() == 2)).collect();
        assert!(loose.len() >= 6, "{loose:?}");
        let mut refused = 0;
        for (path, bytes) in loose {
            fs::remove_file(path).unwrap();
            fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
            if let Ok(mut borrowed) = GitStore::borrowed(&folder, data.clone(), root.clone()) {
                let listed = borrowed.list().is_ok();
                let plan = borrowed.plan(&Wanted { to: first.clone(), since: None, only: None });
                let diff = borrowed.diff(&first, Some(&second));
                let lost = plan.as_ref().is_ok_and(|plan| !plan.skipped.is_empty());
                refused += usize::from(!listed || plan.is_err() || lost || diff.is_err());
            } else {
                refused += 1;
            }
            fs::write(path, bytes).unwrap();
        }
        assert!(refused >= 4, "{refused}");
    }
}
