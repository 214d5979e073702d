//! Which files the model has seen, and as what: only such a file may be changed by a tool, and only while it is still the same.

use super::decode;
use crate::protocol::{PathState, ToolError};
use sha2::{Digest, Sha256};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// A larger file, in bytes, is not edited, so nothing has to be known of it.
pub const LARGEST: u64 = 50 << 20;

#[derive(Debug, Default)]
pub struct Seen(Mutex<HashMap<PathBuf, PathState>>);

impl Seen {
    pub fn note(&self, path: &Path, contents: &[u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path.into(), state(Some(contents)));
    }

    /// The same for a file that a part was shown of. One that can't be read any more has not been seen.
    pub fn note_file(&self, path: &Path) {
        if let Ok(Some(contents)) = decode::read(path, "", LARGEST) {
            self.note(path, &contents);
        }
    }

    /// What was seen of a file is known of it under its new name.
    pub fn moved(&self, from: &Path, to: &Path) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = all.remove(from) {
            all.insert(to.into(), state);
        }
    }

    /// And of its copy.
    pub fn copied(&self, from: &Path, to: &Path) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = all.get(from).copied() {
            all.insert(to.into(), state);
        }
    }

    /// May a file with these contents be changed?
    pub fn check(&self, path: &Path, contents: &[u8], shown: &str) -> Result<(), ToolError> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).get(path) {
            Some(seen) if *seen == state(Some(contents)) => Ok(()),
            Some(_) => Err(ToolError(format!("{shown} has changed since you saw it; nothing was written. View it again."))),
            None => Err(ToolError(format!("You have not seen {shown} in this session; nothing was written. View it first."))),
        }
    }
}

pub fn state(contents: Option<&[u8]>) -> PathState {
    match contents {
        None => PathState::Missing,
        Some(bytes) => PathState::Contents(Sha256::digest(bytes).into()),
    }
}
