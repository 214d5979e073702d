//! Files and folders as they lie on the disk, without following a link.

use crate::atomic::Spot;
use sha2::{Digest, Sha256};
use std::{
    fs::{self, Metadata, Permissions},
    io::{self, Read},
    os::unix::fs::{MetadataExt, PermissionsExt},
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
    let (mut file, mut hash) = (Spot::of(path).and_then(|spot| spot.open()).ok()?, Sha256::new());
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
        let (from, to) = (Spot::of(&self.path)?, Spot::made(to)?);
        match self.kind {
            // Its own permissions come when all is in it.
            Kind::Folder => to.make_folder(),
            Kind::Link => to.make_link(&from.read_link()?),
            Kind::File => {
                let mut from = from.open()?;
                let meta = from.metadata()?;
                if !meta.is_file() {
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, "is no file any more"));
                }
                let permissions = meta.permissions();
                let mut file = to.create(permissions.mode() & 0o777)?;
                let done = io::copy(&mut from, &mut file).and_then(|_| file.set_permissions(permissions)).and_then(|()| file.sync_all());
                if done.is_err() {
                    // Half a file would look like a whole one.
                    let _ = to.remove_file();
                }
                done
            }
        }
    }

    /// Gives a folder's permissions to its copy.
    pub fn copy_bits(&self, to: &Path) -> io::Result<()> {
        let Some(stat) = Spot::of(&self.path)?.stat()? else { return Ok(()) };
        Spot::of(to)?.open()?.set_permissions(Permissions::from_mode(stat.st_mode & 0o7777))
    }

    pub fn remove(&self) -> io::Result<()> {
        let spot = Spot::of(&self.path)?;
        if self.kind == Kind::Folder { spot.remove_folder() } else { spot.remove_file() }
    }
}

/// Fails where something is in the way, also if it came just now.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    Spot::of(from)?.rename(&Spot::made(to)?)
}
