//! The name of a project in the data folder, the same for all that is kept about it.

use sha2::{Digest, Sha256};
use std::{os::unix::ffi::OsStrExt, path::Path};

/// `root` has to be canonical.
pub fn key(root: &Path) -> String {
    Sha256::digest(root.as_os_str().as_bytes()).iter().take(10).map(|b| format!("{b:02x}")).collect()
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
