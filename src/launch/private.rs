//! What hides secrets, put together from the settings, the environment and the key of this installation.

use crate::{
    config::{self, Config},
    privacy::{Key, Privacy},
};
use std::{
    collections::hash_map::RandomState,
    fs::File,
    hash::BuildHasher,
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

pub fn privacy(data: &Path, config: &Config) -> Privacy {
    let known = config::privacy::known(&config.providers, &config.web, &mut config::privacy::variables());
    let file = data.join("privacy.key");
    // One that can't be kept lasts for the session, which is no reason to send secrets.
    let key = Key::new(move || key(&file).unwrap_or_else(|_| of_this_process()));
    Privacy::new(config.privacy.on, key, known, &config.privacy.patterns)
}

/// The key in this file, which is made where there is none.
fn key(file: &PathBuf) -> io::Result<[u8; 32]> {
    let read = || -> io::Result<[u8; 32]> {
        let mut key = [0; 32];
        File::open(file)?.read_exact(&mut key)?;
        Ok(key)
    };
    match read() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        result => return result,
    }
    let mut key = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut key)?;
    let folder = file.parent().ok_or_else(|| io::Error::other("it has no folder"))?;
    std::fs::create_dir_all(folder)?;
    // For its owner's eyes only, and there as a whole or not at all.
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.write_all(&key)?;
    match new.persist_noclobber(file) {
        Ok(_) => Ok(key),
        // Another process was faster.
        Err(_) => read(),
    }
}

fn of_this_process() -> [u8; 32] {
    let mut key = [0; 32];
    for (at, part) in key.chunks_mut(8).enumerate() {
        part.copy_from_slice(&RandomState::new().hash_one(at).to_le_bytes());
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_key_is_made_once_and_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data/privacy.key");
        let made = key(&file).unwrap();
        assert_eq!((key(&file).unwrap(), made == [0; 32]), (made, false));
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::write(&file, "short").unwrap();
        assert!(key(&file).is_err(), "it is not written over: placeholders of other sessions depend on it");
    }
}
