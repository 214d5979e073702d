//! Files and folders as they lie on the disk, without following a link.

use sha2::{Digest, Sha256};
use std::{
    fs::{self, Metadata, OpenOptions},
    io::{self, Read},
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

/// More files than that in one call nobody looks through, and no checkpoint need take one by one.
const MOST: usize = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    File,
    Link,
    Folder,
}

#[derive(Debug)]
pub struct Entry {
    pub path: PathBuf,
    pub kind: Kind,
}

/// A thing and all that is below it, each folder before what is in it, by name.
pub fn below(top: &Path) -> Result<Vec<Entry>, String> {
    let (mut found, mut waiting) = (vec![], vec![top.to_path_buf()]);
    while let Some(path) = waiting.pop() {
        let kind = path.symlink_metadata().map_err(|e| e.to_string())?.file_type();
        let kind = match kind {
            kind if kind.is_symlink() => Kind::Link,
            kind if kind.is_dir() => Kind::Folder,
            kind if kind.is_file() => Kind::File,
            _ => return Err(format!("{} is neither a file nor a folder", path.display())),
        };
        if kind == Kind::Folder {
            let names = fs::read_dir(&path).and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(|e| e.to_string())?;
            let mut names: Vec<PathBuf> = names.into_iter().map(|entry| entry.path()).collect();
            names.sort_unstable_by(|a, b| b.cmp(a));
            waiting.extend(names);
        }
        found.push(Entry { path, kind });
        if found.len() > MOST {
            return Err(format!("there are more than {MOST} files and folders in it; take it in parts, or use a command"));
        }
    }
    Ok(found)
}

/// SHA-256 of a file's contents, however large.
pub fn digest(path: &Path) -> Option<[u8; 32]> {
    let (mut file, mut hash) = (fs::File::open(path).ok()?, Sha256::new());
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece).ok()? {
            0 => return Some(hash.finalize().into()),
            read => hash.update(&piece[..read]),
        }
    }
}

pub fn is_same(a: &Metadata, b: &Metadata) -> bool {
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

impl Entry {
    /// To where nothing is, with its permissions.
    pub fn copy(&self, to: &Path) -> io::Result<()> {
        match self.kind {
            // Its own permissions come when all is in it.
            Kind::Folder => fs::create_dir(to),
            Kind::Link => std::os::unix::fs::symlink(fs::read_link(&self.path)?, to),
            Kind::File => {
                let mut from = fs::File::open(&self.path)?;
                let permissions = from.metadata()?.permissions();
                let mut file = OpenOptions::new().write(true).create_new(true).mode(permissions.mode() & 0o777).open(to)?;
                let done = io::copy(&mut from, &mut file).and_then(|_| file.set_permissions(permissions)).and_then(|()| file.sync_all());
                if done.is_err() {
                    // Half a file would look like a whole one.
                    let _ = fs::remove_file(to);
                }
                done
            }
        }
    }
}

/// Fails where something is in the way, also if it came just now.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS | rustix::io::Errno::NOTSUP) => {
            // This file system can't promise that: the look before it has to do.
            let in_the_way = matches!((from.symlink_metadata(), to.symlink_metadata()), (Ok(a), Ok(b)) if !is_same(&a, &b));
            if in_the_way { Err(io::ErrorKind::AlreadyExists.into()) } else { fs::rename(from, to) }
        }
        Err(rustix::io::Errno::EXIST) if matches!((from.symlink_metadata(), to.symlink_metadata()), (Ok(a), Ok(b)) if is_same(&a, &b)) => {
            fs::rename(from, to)
        }
        done => Ok(done?),
    }
}
