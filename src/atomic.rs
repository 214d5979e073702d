//! Writes a whole file so that a reader, a crash or a full disk leaves either the old contents or the new, never a mixture.
//!
//! - Temporary files live beside the target under a name that [`is_temporary`] knows, and go away on every error.
//! - A file that exists keeps its permission bits and, where allowed, its owner.
//! - Only where renaming is impossible (folder not writable, file is a mount point) is the file written in place; the caller
//!   is told by [`Written::in_place`]. Not if it has other names: they would change too.
//! - All of it happens in the folder that was opened at first ([`Spot`]), whatever its name leads to meanwhile.

pub mod spot;

use rustix::fs::{FileType, OFlags, Stat};
pub use spot::Spot;
use std::{
    ffi::OsString,
    fs::{self, File, Permissions},
    io::{self, Read, Write},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

const PREFIX: &str = ".backstitch-";
const SUFFIX: &str = ".tmp";

/// The beginning of our temporary files' names: whoever finds one can tell whether it is still being written.
fn prefix() -> String {
    format!("{PREFIX}{}-", std::process::id())
}

/// Removes the temporary files of processes that have ended without doing so.
pub fn forget_left_over(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let writer = name.to_str().filter(|_| is_temporary(&name)).and_then(|name| name[PREFIX.len()..].split('-').next()?.parse().ok());
        let ended = writer.and_then(rustix::process::Pid::from_raw).is_some_and(|pid| rustix::process::test_kill_process(pid).is_err());
        if ended {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Is this file name one of our own temporary files?
pub fn is_temporary(name: &std::ffi::OsStr) -> bool {
    name.to_str().is_some_and(|n| n.starts_with(PREFIX) && n.ends_with(SUFFIX))
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// `Some(true)` sets the executable bits wherever the file is readable, `Some(false)` clears them, `None` keeps them.
    pub executable: Option<bool>,
    /// Exactly these permission bits, whatever the umask and the file that exists say.
    pub bits: Option<u32>,
    /// Only the owner may read a file that is created (an existing one keeps its mode).
    pub private: bool,
    /// Replace a symbolic link itself; otherwise the link stays and its target is written.
    pub replace_link: bool,
    /// Wait until the contents are on the disk.
    pub durable: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// The file could not be replaced by renaming, so it was overwritten where it is.
    pub in_place: bool,
    /// Other names of the old file, which keep the old contents.
    pub other_links: u64,
}

/// Writes `contents` to `path`. The parent folder has to exist.
pub fn write(path: &Path, contents: &[u8], options: Options) -> io::Result<Written> {
    let target = if options.replace_link { path.to_path_buf() } else { follow(path)? };
    write_at(&Spot::followed(&target)?, contents, options)
}

/// The same where links have been followed already: what is there now is a file, or nothing, or a link that is replaced.
pub fn write_at(spot: &Spot, contents: &[u8], options: Options) -> io::Result<Written> {
    let stat = spot.stat()?;
    let old = match stat.map(|stat| (FileType::from_raw_mode(stat.st_mode), stat)) {
        None => None,
        Some((FileType::RegularFile, stat)) => Some(stat),
        Some((FileType::Symlink, _)) if options.replace_link => None,
        Some((FileType::Symlink, _)) => return Err(io::Error::from_raw_os_error(libc::ELOOP)),
        Some((FileType::Directory, _)) => return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a folder")),
        Some(_) => return Err(io::Error::new(io::ErrorKind::InvalidInput, "is not a regular file")),
    };
    let mode = mode_for(old.as_ref().map(|old| old.st_mode as _), options);
    let mut temporary = match Temporary::create(spot, mode) {
        Ok(temporary) => temporary,
        Err(e) if old.is_some() && cannot_rename(&e) => return overwrite(spot, contents, options),
        Err(e) => return Err(e),
    };
    temporary.file.write_all(contents)?;
    if old.is_none() && options.bits.is_some() {
        temporary.file.set_permissions(Permissions::from_mode(mode))?;
    }
    if let Some(old) = &old {
        // Owner first: changing it clears the set-user bits. Not being allowed to is no reason to fail.
        let own = temporary.file.metadata()?;
        let other = own.uid() != old.st_uid || own.gid() != old.st_gid;
        let stays_ours = other && std::os::unix::fs::fchown(&temporary.file, Some(old.st_uid), Some(old.st_gid)).is_err();
        // A program that ran as its owner must not run as us instead.
        let mode = if stays_ours { mode & 0o1777 } else { mode };
        temporary.file.set_permissions(Permissions::from_mode(mode))?;
    }
    if options.durable {
        temporary.file.sync_all()?;
    }
    match temporary.name.become_the(spot) {
        Ok(()) => {}
        Err(e) if old.is_some() && cannot_rename(&e) => {
            drop(temporary);
            return overwrite(spot, contents, options);
        }
        Err(e) => return Err(e),
    }
    if options.durable {
        spot.sync_folder();
    }
    Ok(Written { in_place: false, other_links: old.as_ref().map_or(0, other_links) })
}

/// Puts a symbolic link at `path`, replacing a file or link there.
pub fn symlink(path: &Path, points_to: &Path) -> io::Result<()> {
    symlink_at(&Spot::followed(path)?, points_to)
}

pub fn symlink_at(spot: &Spot, points_to: &Path) -> io::Result<()> {
    Name::taken(spot, |at| at.make_link(points_to))?.0.become_the(spot)
}

/// Names of a file besides the one that it was looked up by.
pub fn other_links(stat: &Stat) -> u64 {
    // Its width is the system's.
    #[allow(clippy::useless_conversion)]
    u64::from(stat.st_nlink).saturating_sub(1)
}

/// A temporary name, which goes unless it becomes the one that is meant.
struct Name {
    spot: Spot,
    settled: bool,
}

struct Temporary {
    file: File,
    name: Name,
}

impl Name {
    fn taken<T>(beside: &Spot, make: impl Fn(&Spot) -> io::Result<T>) -> io::Result<(Name, T)> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        loop {
            let name = format!("{}{}{SUFFIX}", prefix(), COUNT.fetch_add(1, Ordering::Relaxed));
            let spot = beside.beside(OsString::from(name))?;
            match make(&spot) {
                Ok(made) => return Ok((Name { spot, settled: false }, made)),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
    }

    fn become_the(&mut self, wanted: &Spot) -> io::Result<()> {
        rustix::fs::renameat(self.spot.folder(), self.spot.name(), wanted.folder(), wanted.name())?;
        self.settled = true;
        Ok(())
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        if !self.settled {
            let _ = self.spot.remove_file();
        }
    }
}

impl Temporary {
    fn create(beside: &Spot, mode: u32) -> io::Result<Temporary> {
        let (name, file) = Name::taken(beside, |at| at.create(mode))?;
        Ok(Temporary { file, name })
    }
}

/// The file at the end of a chain of links, also when it does not exist yet.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut at = path.to_path_buf();
    for _ in 0..40 {
        match fs::read_link(&at) {
            Ok(next) => at = at.parent().unwrap_or(Path::new("/")).join(next),
            Err(_) => return Ok(at),
        }
    }
    Err(io::Error::from_raw_os_error(libc::ELOOP))
}

fn mode_for(old: Option<u32>, options: Options) -> u32 {
    if let Some(bits) = options.bits {
        return bits;
    }
    let mode = match old {
        Some(mode) => mode & 0o7777,
        None if options.private => 0o600,
        None => 0o666,
    };
    match options.executable {
        None => mode,
        Some(true) => mode | ((mode & 0o444) >> 2),
        Some(false) => mode & !0o111,
    }
}

fn cannot_rename(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM | libc::EBUSY | libc::EXDEV | libc::EROFS))
}

/// Nothing is truncated before everything is written, and the old bytes are put back if that fails.
fn overwrite(spot: &Spot, contents: &[u8], options: Options) -> io::Result<Written> {
    let mut file = spot.opened(OFlags::RDWR | OFlags::NONBLOCK, 0)?;
    let meta = file.metadata()?;
    if meta.nlink() > 1 {
        return Err(io::Error::other("has other names (hard links), which would change with it where it is; they may be anywhere"));
    }
    let mut old = Vec::new();
    file.read_to_end(&mut old)?;
    if let Err(error) = put(&mut file, contents) {
        put(&mut file, &old)?;
        return Err(error);
    }
    let mode = mode_for(Some(meta.permissions().mode()), options);
    if mode != meta.permissions().mode() & 0o7777 {
        file.set_permissions(Permissions::from_mode(mode))?;
    }
    if options.durable {
        file.sync_all()?;
    }
    Ok(Written { in_place: true, other_links: 0 })
}

fn put(file: &mut File, contents: &[u8]) -> io::Result<()> {
    use std::io::Seek;
    file.seek(io::SeekFrom::Start(0))?;
    file.write_all(contents)?;
    file.set_len(contents.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn keeps_mode_and_leaves_no_temporary_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.sh");
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o754)).unwrap();
        let written = write(&file, b"new", Options { durable: true, ..Options::default() }).unwrap();
        assert_eq!(written, Written::default());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o754);
        assert_eq!(names(dir.path()), ["a.sh"]);
    }

    #[test]
    fn follows_a_link_or_replaces_it() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        write(&link, b"new", Options::default()).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        write(&link, b"own", Options { replace_link: true, ..Options::default() }).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_file());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        symlink(&link, Path::new("nowhere")).unwrap();
        assert_eq!(fs::read_link(&link).unwrap(), Path::new("nowhere"));
        assert_eq!(names(dir.path()), ["file", "link"]);
    }

    #[test]
    fn refuses_folders_and_pipes() {
        let dir = tempfile::tempdir().unwrap();
        assert!(write(dir.path(), b"x", Options::default()).is_err());
        let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("s")).unwrap();
        assert!(write(&dir.path().join("s"), b"x", Options::default()).is_err());
        assert_eq!(names(dir.path()), ["s"]);
    }

    #[test]
    fn a_hard_link_keeps_its_contents_and_is_counted() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        fs::write(&a, "old").unwrap();
        fs::hard_link(&a, &b).unwrap();
        assert_eq!(write(&a, b"new", Options::default()).unwrap().other_links, 1);
        assert_eq!(fs::read(&b).unwrap(), b"old");
    }

    #[test]
    fn in_place_writing_shrinks_and_grows() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        fs::write(&file, "a long old text").unwrap();
        let spot = Spot::followed(&file).unwrap();
        assert!(overwrite(&spot, b"new", Options::default()).unwrap().in_place);
        assert_eq!(fs::read(&file).unwrap(), b"new");
        // Its other name may be anywhere.
        fs::hard_link(&file, dir.path().join("b")).unwrap();
        assert!(overwrite(&spot, b"newer", Options::default()).unwrap_err().to_string().contains("other names"));
        assert_eq!(fs::read(&file).unwrap(), b"new");
    }

    #[test]
    fn what_a_process_left_over_goes_once_it_has_ended() {
        let dir = tempfile::tempdir().unwrap();
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        let name = |pid: u32| format!("{PREFIX}{pid}-abc{SUFFIX}");
        let names = [name(ended.id()), name(std::process::id()), format!("{PREFIX}abc{SUFFIX}"), "mine.tmp".into()];
        for name in &names {
            fs::write(dir.path().join(name), "x").unwrap();
        }
        forget_left_over(dir.path());
        let left: Vec<bool> = names.iter().map(|name| dir.path().join(name).exists()).collect();
        assert_eq!(left, [false, true, true, true]);
    }
}
