//! What commands of a model are kept from: from the user's own settings; a project can only make it stricter.

use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSettings {
    /// Are commands kept inside the project, as far as the system can do that?
    pub on: bool,
    /// May they use the network?
    pub network: bool,
    /// Folders and files outside the project that they may write, besides the usual caches.
    pub writable: Vec<PathBuf>,
}

impl Default for SandboxSettings {
    fn default() -> Self {
        SandboxSettings { on: true, network: true, writable: vec![] }
    }
}
