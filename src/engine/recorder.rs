//! `--record FILE`: every input of the agent and every message of the screen as they were handled, one JSON object a line, after
//! what the two were started with, so that `backstitch replay FILE` can do it all again.
//!
//! - Keys and header values of providers are masked; the conversation itself is all there.
//! - Not a stable format: a recording is read by the build that wrote it.

use serde::Serialize;
use serde_json::Value;
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
        let line = match serde_json::to_value(what) {
            Ok(mut value) => {
                mask(&mut value);
                serde_json::json!({ kind: value })
            }
            // Such as a path that is not UTF-8: a reader must know that something is missing here.
            Err(error) => serde_json::json!({ "lost": format!("{kind}: {error}") }),
        };
        let mut file = file.lock().unwrap_or_else(|e| e.into_inner());
        let _ = writeln!(file, "{line}").and_then(|()| file.flush());
    }
}

const MASK: &str = "•";

/// Takes the secrets out of every provider's settings, which are told by their fields.
fn mask(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(mask),
        Value::Object(fields) if fields.contains_key("baseUrl") && fields.contains_key("name") => {
            if let Some(key) = fields.get_mut("apiKey") {
                *key = MASK.into();
            }
            if let Some(Value::Object(headers)) = fields.get_mut("headers") {
                headers.values_mut().for_each(|header| *header = MASK.into());
            }
            if let Some(Value::String(url)) = fields.get_mut("baseUrl") {
                *url = without_secrets(url);
            }
        }
        Value::Object(fields) => fields.values_mut().for_each(mask),
        _ => {}
    }
}

/// An address without a password or a query.
fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let (host, path) = rest.split_once('/').map_or((rest, ""), |(host, path)| (host, path));
    match host.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://{MASK}@{host}/{path}"),
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        agent::Input,
        protocol::{Command, FoundServer, ProviderSettings},
    };

    #[test]
    fn secrets_of_providers_are_never_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("r");
        let recorder = Recorder::to(&file).unwrap();
        let settings = ProviderSettings {
            name: "box".into(),
            base_url: "https://me:hunter2@box:8000/v1?token=hunter2".into(),
            api_key: Some("hunter2".into()),
            headers: [("Authorization".to_owned(), "Bearer hunter2".to_owned())].into(),
            ..Default::default()
        };
        recorder.line("input", &Input::Command(Command::Connect(settings.clone())));
        recorder.line("input", &Input::Found(vec![FoundServer { settings }]));
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains("hunter2"), "{text}");
        assert!(text.contains("https://•@box:8000/v1"), "{text}");
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(lines[1..].iter().all(|line| serde_json::from_value::<Input>(line["input"].clone()).is_ok()));
    }

    #[test]
    fn what_cannot_be_written_is_said_to_be_missing() {
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("r");
        Recorder::to(&file).unwrap().line("input", &Path::new(std::ffi::OsStr::from_bytes(b"\xff")));
        assert!(std::fs::read_to_string(&file).unwrap().lines().nth(1).unwrap().starts_with(r#"{"lost":"input: "#));
    }
}
