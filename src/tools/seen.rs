//! Which files the model has seen, and as what: only such a file may be changed by a tool, and only while it is still the same.

use super::{Workspace, decode, write};
use crate::{
    command_line,
    protocol::{PathState, ToolError},
};
use sha2::{Digest, Sha256};
use similar::TextDiff;
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// A larger file, in bytes, is not edited, so nothing has to be known of it.
pub const LARGEST: u64 = 50 << 20;

/// Contents up to this size, in bytes, are kept to say what has changed since.
const KEPT: usize = 64 << 10;
/// And no more than that in all.
const KEPT_IN_ALL: usize = 8 << 20;
/// Lines and characters of what is told of a change.
const TOLD: (usize, usize) = (40, 200);

#[derive(Debug, Default)]
pub struct Seen(Mutex<HashMap<PathBuf, Known>>);

#[derive(Debug, Clone)]
struct Known {
    state: PathState,
    contents: Option<Arc<[u8]>>,
}

impl Seen {
    pub fn note(&self, path: &Path, contents: &[u8]) {
        let mut all = lock(&self.0);
        all.remove(path);
        let kept: usize = all.values().filter_map(|known| known.contents.as_ref()).map(|contents| contents.len()).sum();
        let room = contents.len() <= KEPT && kept + contents.len() <= KEPT_IN_ALL;
        all.insert(path.into(), Known { state: state(Some(contents)), contents: room.then(|| contents.into()) });
    }

    /// The same for a file that a part was shown of. One that can't be read any more has not been seen.
    pub fn note_file(&self, path: &Path) {
        if let Ok(Some(contents)) = decode::read(path, "", LARGEST) {
            self.note(path, &contents);
        }
    }

    /// What was seen of a file is known of it under its new name.
    pub fn moved(&self, from: &Path, to: &Path) {
        let mut all = lock(&self.0);
        if let Some(known) = all.remove(from) {
            all.insert(to.into(), known);
        }
    }

    /// And of its copy.
    pub fn copied(&self, from: &Path, to: &Path) {
        let mut all = lock(&self.0);
        if let Some(known) = all.get(from).cloned() {
            all.insert(to.into(), known);
        }
    }

    /// May a file with these contents be changed? If it has changed since, the error says how, where anybody may read that.
    pub fn check(&self, path: &Path, contents: &[u8], workspace: &Workspace) -> Result<(), ToolError> {
        let shown = workspace.shown(path);
        let Some(known) = lock(&self.0).get(path).cloned() else {
            return Err(ToolError(format!("You have not seen {shown} in this session; nothing was written. View it first.")));
        };
        if known.state == state(Some(contents)) {
            return Ok(());
        }
        let open = path.starts_with(workspace.root()) && !command_line::is_secret(path) && !workspace.policy().hides(path);
        let since = known.contents.filter(|_| open).and_then(|before| difference(&before, contents));
        let since = since.map_or(String::new(), |since| format!("\nSince then:\n{since}"));
        Err(ToolError(format!("{shown} has changed since you saw it; nothing was written. View it again.{since}")))
    }
}

fn lock(all: &Mutex<HashMap<PathBuf, Known>>) -> MutexGuard<'_, HashMap<PathBuf, Known>> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}

fn difference(before: &[u8], now: &[u8]) -> Option<String> {
    let binary = |bytes| decode::detect(bytes) == decode::Encoding::Binary;
    if binary(before) || binary(now) || now.len() > 4 * KEPT {
        return None;
    }
    let (before, now) = (write::text(before), write::text(now));
    let diff = TextDiff::configure().timeout(Duration::from_millis(100)).diff_lines(&before, &now);
    let text = diff.unified_diff().context_radius(1).missing_newline_hint(false).to_string();
    let cut = |line: &str| line.chars().take(TOLD.1).collect::<String>();
    let mut told: Vec<String> = text.lines().take(TOLD.0).map(cut).collect();
    let more = text.lines().count() - told.len();
    told.extend((more > 0).then(|| format!("(and {more} lines more)")));
    (!told.is_empty()).then(|| told.join("\n"))
}

pub fn state(contents: Option<&[u8]>) -> PathState {
    match contents {
        None => PathState::Missing,
        Some(bytes) => PathState::Contents(Sha256::digest(bytes).into()),
    }
}
