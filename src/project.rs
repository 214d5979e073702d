//! A project's name in the data folder, the same for all that is kept about it, and names of what is in the project.

use sha2::{Digest, Sha256};
use std::{
    os::unix::ffi::OsStrExt,
    path::{Component, Path, PathBuf},
};

/// `root` has to be canonical.
pub fn key(root: &Path) -> String {
    Sha256::digest(root.as_os_str().as_bytes()).iter().take(10).map(|b| format!("{b:02x}")).collect()
}

/// A path that somebody named from the project's folder, without `.` and `..`; links on the way are not looked at.
pub fn named(path: &Path, root: &Path) -> PathBuf {
    let mut named = PathBuf::new();
    for part in root.join(path).components() {
        match part {
            Component::ParentDir => drop(named.pop()),
            Component::CurDir => {}
            part => named.push(part),
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stores are found by it: it must never change.
    #[test]
    fn stays_the_same() {
        assert_eq!(key(Path::new("/a")), "6a50dc8584134c7de537");
        assert_ne!(key(Path::new("/a")), key(Path::new("/b")));
    }
}
