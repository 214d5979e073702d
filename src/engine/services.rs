//! What an engine works with. Built by the wiring, or by tests from in-memory twins.

use super::recorder::Recorder;
use crate::{checkpoint::CheckpointStore, llm, privacy::Privacy, session::SessionStore, tools};
use std::sync::Arc;

pub struct Services {
    pub models: llm::Registry,
    /// Where local model servers are looked for: name and port.
    pub places: Vec<(String, u16)>,
    pub tools: Arc<tools::Registry>,
    pub workspace: Arc<tools::Workspace>,
    /// Opened when it is first needed: a session that only talks never touches it.
    pub checkpoints: Box<dyn FnOnce() -> Result<Box<dyn CheckpointStore>, String> + Send>,
    pub session: Box<dyn SessionStore>,
    pub recorder: Recorder,
    pub privacy: Privacy,
}
