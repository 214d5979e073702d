//! Reads one file of the working tree into the store. Never follows a link, never waits for a pipe.

use super::{
    CheckpointError,
    index::Stat,
    objects::{Kind, Objects, Workspace},
};
use git2::Oid;
use std::{
    fs::{self, OpenOptions},
    io::{self, Read},
    os::unix::{ffi::OsStrExt, fs::OpenOptionsExt},
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

/// Larger files are not held in memory.
const IN_MEMORY: u64 = if cfg!(test) { 16 << 10 } else { 1 << 20 };

pub enum Outcome {
    /// Its contents, what it looked like, and when it was read, at the latest.
    Kept(Oid, Stat, i64),
    Gone,
    Skipped(String),
}

/// Why a file that looks like this is not kept.
pub fn refusal(stat: &Stat, limit: u64) -> Option<String> {
    match rustix::fs::FileType::from_raw_mode(stat.mode as _) {
        rustix::fs::FileType::RegularFile if stat.size > limit => Some(format!("larger than {} MB", limit >> 20)),
        rustix::fs::FileType::RegularFile | rustix::fs::FileType::Symlink => None,
        rustix::fs::FileType::Fifo => Some("a pipe".into()),
        rustix::fs::FileType::Socket => Some("a socket".into()),
        _ => Some("a device".into()),
    }
}

pub fn read(path: &Path, stat: &Stat, limit: u64, objects: &Objects, space: &mut Workspace) -> Result<Outcome, CheckpointError> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as i64);
    if let Some(why) = refusal(stat, limit) {
        return Ok(Outcome::Skipped(why));
    }
    if rustix::fs::FileType::from_raw_mode(stat.mode as _) == rustix::fs::FileType::Symlink {
        return match fs::read_link(path) {
            Ok(target) => Ok(Outcome::Kept(objects.write(Kind::Blob, target.as_os_str().as_bytes(), space)?, *stat, now)),
            Err(e) => Ok(unreadable(e)),
        };
    }
    let mut file = match OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path) {
        Ok(file) => file,
        Err(e) => return Ok(unreadable(e)),
    };
    // A file that is written while it is read: once more, and then as it is.
    for attempt in 0.. {
        let before = match file.metadata() {
            Ok(meta) if !meta.is_file() => return Ok(Outcome::Skipped("no longer a file".into())),
            Ok(meta) => Stat::of(&meta),
            Err(e) => return Ok(unreadable(e)),
        };
        if let Some(why) = refusal(&before, limit) {
            return Ok(Outcome::Skipped(why));
        }
        match contents(&mut file, before.size, objects, space)? {
            Ok(Some(id)) => {
                let after = file.metadata().map_or(None, |m| Some(Stat::of(&m)));
                if after == Some(before) || attempt == 2 {
                    return Ok(Outcome::Kept(id, before, now));
                }
            }
            Ok(None) if attempt == 2 => return Ok(Outcome::Skipped("it is being written all the time".into())),
            Ok(None) => {}
            Err(e) => return Ok(unreadable(e)),
        }
        if let Err(e) = io::Seek::rewind(&mut file) {
            return Ok(unreadable(e));
        }
    }
    Ok(Outcome::Gone)
}

/// `None` when the file turned out to have another size.
fn contents(file: &mut fs::File, size: u64, objects: &Objects, space: &mut Workspace) -> Result<io::Result<Option<Oid>>, CheckpointError> {
    if size > IN_MEMORY {
        return objects.stream(file, size, space);
    }
    let mut bytes = Vec::with_capacity(size as usize + 1);
    match file.take(IN_MEMORY + 1).read_to_end(&mut bytes) {
        Ok(n) if n as u64 == size => Ok(Ok(Some(objects.write(Kind::Blob, &bytes, space)?))),
        Ok(_) => Ok(Ok(None)),
        Err(e) => Ok(Err(e)),
    }
}

fn unreadable(error: io::Error) -> Outcome {
    if error.kind() == io::ErrorKind::NotFound { Outcome::Gone } else { Outcome::Skipped(error.to_string()) }
}
