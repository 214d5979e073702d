//! Names and pins that checkpoints got later. They lie beside the repository, since a checkpoint's id must not change.

use super::{CheckpointError, Revision, tree::Place};
use crate::{atomic, protocol::CheckpointId};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::Path,
};

const NAME: &str = "notes.json";

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Notes {
    #[serde(default)]
    checkpoints: BTreeMap<String, Note>,
    /// What a deleted checkpoint covered and the next one has to cover.
    #[serde(default)]
    pub covered: BTreeSet<Place>,
}

impl Notes {
    /// Notes that can't be read are an error: pruning without them would drop what was pinned.
    pub fn load(folder: &Path) -> Result<Self, CheckpointError> {
        let path = folder.join(NAME);
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|e| CheckpointError::Store(format!("{}: {e}", path.display()))),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Notes::default()),
            Err(e) => Err(CheckpointError::io(&path)(e)),
        }
    }

    pub fn save(&self, folder: &Path) -> Result<(), CheckpointError> {
        let path = folder.join(NAME);
        let bytes = serde_json::to_vec_pretty(self).map_err(|e| CheckpointError::Store(e.to_string()))?;
        let options = atomic::Options { private: true, durable: true, ..Default::default() };
        atomic::write(&path, &bytes, options).map(|_| ()).map_err(CheckpointError::io(&path))
    }

    pub fn get(&self, id: &str) -> Note {
        self.checkpoints.get(id).cloned().unwrap_or_default()
    }

    /// An empty name gives the first one back.
    pub fn revise(&mut self, id: &CheckpointId, revision: Revision) {
        let note = self.checkpoints.entry(id.0.clone()).or_default();
        match revision {
            Revision::Rename(name) => note.name = Some(name.trim().to_owned()).filter(|name| !name.is_empty()),
            Revision::Pin(pinned) => note.pinned = pinned,
        }
        self.checkpoints.retain(|_, note| *note != Note::default());
    }

    /// Forgets those of checkpoints that are gone. Was there one?
    pub fn retain(&mut self, alive: impl Fn(&str) -> bool) -> bool {
        let before = self.checkpoints.len();
        self.checkpoints.retain(|id, _| alive(id));
        self.checkpoints.len() != before
    }
}
