//! The agent against scripts (every transition) and against random inputs (what it promises, whatever happens).

mod jobs;
mod kept;
mod property;
mod script;
mod story;

use super::*;
use std::path::PathBuf;

fn settings() -> Settings {
    Settings {
        session: SessionId("s".into()),
        model: Some(ModelInfo { id: ModelId { provider: "p".into(), model: "m".into() }, context_window: Some(1000), vision: None }),
        mode: Mode::Normal,
        asked_mode: None,
        system: "system".into(),
        tools: Arc::new(vec![]),
        job_tools: Arc::new(vec![]),
        profile: ToolProfile::default(),
        bounds: Bounds { root: PathBuf::from("/p"), readable: vec![] },
        rules: vec![],
        max_requests: 20,
    }
}
