//! Writes a whole file so that a reader, a crash or a full disk leaves either the old contents or the new, never a mixture.
//!
//! - Temporary files live beside the target under a name that [`is_temporary`] knows, and go away on every error.
//! - A file that exists keeps its permission bits and, where allowed, its owner.
//! - Only where renaming is impossible (folder not writable, file is a mount point) is the file written in place; the caller
//!   is told by [`Written::in_place`].

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
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
    let old = match fs::symlink_metadata(&target) {
        Ok(meta) if meta.is_file() => Some(meta),
        Ok(meta) if meta.is_symlink() && options.replace_link => None,
        Ok(meta) if meta.is_dir() => return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a folder")),
        Ok(_) => return Err(io::Error::new(io::ErrorKind::InvalidInput, "is not a regular file")),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(e),
    };
    let folder = folder_of(&target)?;
    let mode = mode_for(old.as_ref(), options);
    let temporary = tempfile::Builder::new().prefix(&prefix()).suffix(SUFFIX).permissions(Permissions::from_mode(mode)).tempfile_in(folder);
    let mut temporary = match temporary {
        Ok(temporary) => temporary,
        Err(e) if old.is_some() && cannot_rename(&e) => return overwrite(&target, contents, options),
        Err(e) => return Err(e),
    };
    temporary.write_all(contents)?;
    if old.is_none() && options.bits.is_some() {
        temporary.as_file().set_permissions(Permissions::from_mode(mode))?;
    }
    if let Some(old) = &old {
        // Owner first: changing it clears the set-user bits. Not being allowed to is no reason to fail.
        let own = temporary.as_file().metadata()?;
        let other = own.uid() != old.uid() || own.gid() != old.gid();
        let stays_ours = other && std::os::unix::fs::fchown(temporary.as_file(), Some(old.uid()), Some(old.gid())).is_err();
        // A program that ran as its owner must not run as us instead.
        let mode = if stays_ours { mode & 0o1777 } else { mode };
        temporary.as_file().set_permissions(Permissions::from_mode(mode))?;
    }
    if options.durable {
        temporary.as_file().sync_all()?;
    }
    match temporary.persist(&target) {
        Ok(_) => {}
        Err(e) if old.is_some() && cannot_rename(&e.error) => {
            drop(e.file);
            return overwrite(&target, contents, options);
        }
        Err(e) => return Err(e.error),
    }
    if options.durable {
        sync_folder(folder);
    }
    Ok(Written { in_place: false, other_links: old.map_or(0, |m| m.nlink().saturating_sub(1)) })
}

/// Puts a symbolic link at `path`, replacing a file or link there.
pub fn symlink(path: &Path, points_to: &Path) -> io::Result<()> {
    let folder = folder_of(path)?;
    let made = tempfile::Builder::new().prefix(&prefix()).suffix(SUFFIX).make_in(folder, |at| std::os::unix::fs::symlink(points_to, at))?;
    made.into_temp_path().persist(path).map_err(|e| e.error)
}

fn folder_of(path: &Path) -> io::Result<&Path> {
    match path.parent() {
        Some(p) if p.as_os_str().is_empty() => Ok(Path::new(".")),
        Some(p) => Ok(p),
        None => Err(io::Error::new(io::ErrorKind::InvalidInput, "has no folder")),
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

fn mode_for(old: Option<&fs::Metadata>, options: Options) -> u32 {
    if let Some(bits) = options.bits {
        return bits;
    }
    let mode = match old {
        Some(meta) => meta.permissions().mode() & 0o7777,
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
fn overwrite(target: &Path, contents: &[u8], options: Options) -> io::Result<Written> {
    let mut file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(target)?;
    let meta = file.metadata()?;
    let mut old = Vec::new();
    file.read_to_end(&mut old)?;
    if let Err(error) = put(&mut file, contents) {
        put(&mut file, &old)?;
        return Err(error);
    }
    let mode = mode_for(Some(&meta), options);
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

fn sync_folder(folder: &Path) {
    // Some file systems refuse to sync a folder; the contents are safe either way.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
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
        assert!(overwrite(&file, b"new", Options::default()).unwrap().in_place);
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
