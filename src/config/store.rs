//! Small files that several processes change: under a lock, and whole or not at all.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

const PATIENCE: Duration = Duration::from_secs(5);

/// Runs `change` while no other process changes `path`. The lock file stays: taking it away would give two owners a lock each.
pub fn locked<T>(path: &Path, change: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    // Through a link to the file that is meant: many people keep their settings elsewhere.
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().ok_or_else(|| io::Error::other("it has no folder"))?;
    std::fs::create_dir_all(folder)?;
    let lock = OpenOptions::new().create(true).truncate(false).write(true).open(lock_path(&path))?;
    let started = Instant::now();
    loop {
        match lock.try_lock() {
            Ok(()) => break,
            // Some network file systems have no locks: atomic replacement is what remains.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => break,
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if started.elapsed() > PATIENCE => {
                return Err(io::Error::other("another process has locked it for more than 5 s"));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(2)),
        }
    }
    change(&path)
}

fn lock_path(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".lock");
    path.with_file_name(name)
}

/// Replaces the file: readers see the old one or the new one. For its owner's eyes only (0600).
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::other("it has no folder"))?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    // So that the name survives a power cut too; not every file system lets a folder be synced.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}
