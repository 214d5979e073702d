//! Looks at the working tree and keeps the contents of what changed. Reads files, never writes outside the store.

use super::{
    CheckpointError,
    stat_cache::StatCache,
    tree::{self, File, Place, Snapshot},
};
use crate::walk::{self, Walk};
use git2::{ObjectType, Odb, Oid};
use std::{
    collections::BTreeSet,
    fs::{self, Metadata, OpenOptions},
    io::{self, Read, Write},
    os::unix::{
        ffi::OsStrExt,
        fs::{MetadataExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
    sync::Mutex,
    time::{SystemTime, UNIX_EPOCH},
};

/// What tells whether a file may have changed. Times in nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    pub mtime: i128,
    pub ctime: i128,
    pub size: u64,
    pub inode: u64,
    pub mode: u32,
}

impl Stat {
    pub fn of(meta: &Metadata) -> Stat {
        let time = |s: i64, ns: i64| i128::from(s) * 1_000_000_000 + i128::from(ns);
        Stat {
            mtime: time(meta.mtime(), meta.mtime_nsec()),
            ctime: time(meta.ctime(), meta.ctime_nsec()),
            size: meta.size(),
            inode: meta.ino(),
            mode: meta.mode(),
        }
    }
}

/// What a tool is about to write has to come back, whatever a walk would leave out.
const LARGEST_WRITTEN: u64 = 64 << 20;

pub struct Scan<'a> {
    pub root: &'a Path,
    pub odb: &'a Odb<'a>,
    pub cache: &'a mut StatCache,
    /// Larger files are skipped.
    pub limit: u64,
    /// But for what tools write: nothing larger than [`LARGEST_WRITTEN`].
    pub written: &'a BTreeSet<Place>,
    /// Our own data, which may be inside the root.
    pub own: &'a Path,
}

enum Read1 {
    Kept(Oid, Stat),
    Gone,
    Skipped(String),
}

impl Scan<'_> {
    /// What the project's files are.
    pub fn walk(&mut self, snapshot: &mut Snapshot) -> Result<(), CheckpointError> {
        let (found, errors) = self.find();
        for (path, why) in errors {
            snapshot.skipped.insert(tree::place_of(&path, self.root), why);
        }
        for (path, meta) in found {
            self.add(&path, &meta, snapshot)?;
        }
        Ok(())
    }

    /// And these places, wherever they are.
    pub fn look(&mut self, covered: &BTreeSet<Place>, snapshot: &mut Snapshot) -> Result<(), CheckpointError> {
        for place in covered {
            if snapshot.files.contains_key(place) || snapshot.skips(place) {
                continue;
            }
            let path = tree::path_of(place, self.root);
            let top = if tree::is_inside(place) { self.root } else { Path::new("/") };
            // What is behind a link is not at this place.
            if path.ancestors().skip(1).take_while(|a| *a != top && a.starts_with(top)).any(Path::is_symlink) {
                continue;
            }
            match fs::symlink_metadata(&path) {
                Ok(meta) if meta.is_dir() => continue,
                Ok(meta) => self.add(&path, &meta, snapshot)?,
                // That it was not there is worth knowing only of what no walk would find.
                Err(_) if tree::is_inside(place) && !walk::ignored(&path, self.root) => continue,
                Err(_) => {}
            }
            snapshot.covered.insert(place.clone());
        }
        Ok(())
    }

    fn find(&self) -> (Vec<(PathBuf, Metadata)>, Vec<super::Skipped>) {
        let (found, errors) = (Mutex::new(vec![]), Mutex::new(vec![]));
        Walk::new(self.root, self.root).run(&|entry| {
            match entry {
                Ok(entry) if entry.file_type().is_some_and(|t| t.is_dir()) || entry.path().starts_with(self.own) => {}
                Ok(entry) => match fs::symlink_metadata(entry.path()) {
                    Ok(meta) => found.lock().unwrap_or_else(|e| e.into_inner()).push((entry.into_path(), meta)),
                    Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                    Err(e) => errors.lock().unwrap_or_else(|e| e.into_inner()).push((entry.into_path(), e.to_string())),
                },
                Err(error) => {
                    if let Some((path, why)) = explain(&error) {
                        errors.lock().unwrap_or_else(|e| e.into_inner()).push((path, why));
                    }
                }
            }
            true
        });
        (found.into_inner().unwrap_or_else(|e| e.into_inner()), errors.into_inner().unwrap_or_else(|e| e.into_inner()))
    }

    fn add(&mut self, path: &Path, meta: &Metadata, snapshot: &mut Snapshot) -> Result<(), CheckpointError> {
        let place = tree::place_of(path, self.root);
        let stat = Stat::of(meta);
        let kept = match self.cache.get(&place, &stat) {
            Some(id) => Read1::Kept(id, stat),
            None => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as i128);
                let limit = if self.written.contains(&place) { self.limit.max(LARGEST_WRITTEN) } else { self.limit };
                let read = self.read(path, meta, limit)?;
                if let Read1::Kept(id, stat) = &read {
                    self.cache.put(&place, stat, *id, now);
                }
                read
            }
        };
        match kept {
            Read1::Kept(id, stat) => {
                snapshot.files.insert(place.clone(), File { mode: mode_of(stat.mode), id });
                snapshot.stats.insert(place, stat);
            }
            Read1::Gone => {}
            Read1::Skipped(why) => drop(snapshot.skipped.insert(place, why)),
        }
        Ok(())
    }

    fn read(&self, path: &Path, meta: &Metadata, limit: u64) -> Result<Read1, CheckpointError> {
        let kind = meta.file_type();
        if kind.is_symlink() {
            return match fs::read_link(path) {
                Ok(target) => Ok(Read1::Kept(self.odb.write(ObjectType::Blob, target.as_os_str().as_bytes())?, Stat::of(meta))),
                Err(e) => Ok(unreadable(e)),
            };
        }
        if !kind.is_file() {
            return Ok(Read1::Skipped(walk::special(kind).into()));
        }
        let mut file = match OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path) {
            Ok(file) => file,
            Err(e) => return Ok(unreadable(e)),
        };
        // A file that is written while it is read: once more, and then as it is.
        for attempt in 0.. {
            let before = match file.metadata() {
                Ok(meta) if !meta.is_file() => return Ok(Read1::Skipped("no longer a file".into())),
                Ok(meta) => meta,
                Err(e) => return Ok(unreadable(e)),
            };
            if before.size() > limit {
                return Ok(Read1::Skipped(format!("larger than {} MB", limit >> 20)));
            }
            match self.copy(&mut file, before.size())? {
                Ok(Some(id)) => {
                    let after = file.metadata().map_or(None, |m| Some(Stat::of(&m)));
                    if after == Some(Stat::of(&before)) || attempt == 2 {
                        return Ok(Read1::Kept(id, Stat::of(&before)));
                    }
                }
                Ok(None) if attempt == 2 => return Ok(Read1::Skipped("it is being written all the time".into())),
                Ok(None) => {}
                Err(e) => return Ok(unreadable(e)),
            }
            if let Err(e) = io::Seek::rewind(&mut file) {
                return Ok(unreadable(e));
            }
        }
        Ok(Read1::Gone)
    }

    /// `None` when the file turned out to have another size.
    fn copy(&self, file: &mut fs::File, size: u64) -> Result<io::Result<Option<Oid>>, CheckpointError> {
        const IN_MEMORY: u64 = 1 << 20;
        if size <= IN_MEMORY {
            let mut bytes = Vec::with_capacity(size as usize + 1);
            return match file.take(IN_MEMORY + 1).read_to_end(&mut bytes) {
                Ok(n) if n as u64 == size => Ok(Ok(Some(self.odb.write(ObjectType::Blob, &bytes)?))),
                Ok(_) => Ok(Ok(None)),
                Err(e) => Ok(Err(e)),
            };
        }
        let mut writer = self.odb.writer(size as usize, ObjectType::Blob)?;
        let (mut buffer, mut left) = (vec![0; 256 * 1024], size);
        while left > 0 {
            let part = buffer.len().min(left as usize);
            match file.read(&mut buffer[..part]) {
                Ok(0) => return Ok(Ok(None)),
                Ok(n) => {
                    writer.write_all(&buffer[..n]).map_err(|e| CheckpointError::Store(e.to_string()))?;
                    left -= n as u64;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Ok(Err(e)),
            }
        }
        Ok(Ok(Some(writer.finalize()?)))
    }
}

pub fn mode_of(mode: u32) -> u32 {
    match mode & 0o170000 {
        0o120000 => tree::LINK,
        _ if mode & 0o100 != 0 => tree::PROGRAM,
        _ => tree::FILE,
    }
}

fn unreadable(error: io::Error) -> Read1 {
    if error.kind() == io::ErrorKind::NotFound { Read1::Gone } else { Read1::Skipped(error.to_string()) }
}

/// Errors of the walk that hide files; not those of ignore files that can't be understood, and not what is gone.
fn explain(error: &ignore::Error) -> Option<(PathBuf, String)> {
    match error {
        ignore::Error::WithPath { path, err } => match err.io_error() {
            Some(e) if e.kind() != io::ErrorKind::NotFound => Some((path.clone(), e.to_string())),
            _ => None,
        },
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => explain(err),
        _ => None,
    }
}
