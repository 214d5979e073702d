//! `--record FILE`: every input of the agent and every message of the screen as they were handled, one JSON object a line, so
//! that `backstitch replay FILE` can show what happened.
//!
//! Not a stable format: a recording is read by the build that wrote it.

use serde::Serialize;
use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
    sync::{Arc, Mutex},
};

/// Cheap to clone; one that is off costs a branch.
#[derive(Clone, Default)]
pub struct Recorder(Option<Arc<Mutex<BufWriter<File>>>>);

impl Recorder {
    pub fn off() -> Self {
        Self::default()
    }

    pub fn to(path: &Path) -> io::Result<Self> {
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        // It holds the whole conversation.
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let recorder = Recorder(Some(Arc::new(Mutex::new(BufWriter::new(options.open(path)?)))));
        recorder.line("backstitch", &env!("CARGO_PKG_VERSION"));
        Ok(recorder)
    }

    pub fn on(&self) -> bool {
        self.0.is_some()
    }

    /// A recording that can't be written is not worth disturbing the session for.
    pub fn line(&self, kind: &str, what: &impl Serialize) {
        let Some(file) = &self.0 else { return };
        let Ok(value) = serde_json::to_value(what) else { return };
        let line = serde_json::json!({ kind: value });
        let mut file = file.lock().unwrap_or_else(|e| e.into_inner());
        let _ = writeln!(file, "{line}").and_then(|()| file.flush());
    }
}
