//! Which session was changing what, and between which checkpoints: where two were at it at once, whose a change is can't be told from
//! the files alone.
//!
//! - A call is noted after the checkpoint that precedes it, and its end when it has ended; one of a process that is gone ended with it.
//! - What runs in the background counts as a call until it ends, besides those that come and go meanwhile.
//! - What a tool writes is known by name. A command may change anything, so what changes while another session's runs is not walked
//!   back with one's own, unless one's own tool wrote it.
//! - What no other session can have to do with is forgotten, so that this stays small.

use super::{
    CheckpointError, GitStore, Kind, Label,
    kept::{Kept, changes},
    label,
    repository::{Named, find_in, lock, newest},
    stored,
    tree::{self, Place},
};
use crate::{
    atomic,
    protocol::{CheckpointId, SessionId},
};
use git2::{Oid, Repository};
use rustix::process::{Pid, getpid, test_kill_process};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

const NAME: &str = "activity.json";
const THEIRS: &str = "another session changed it meanwhile; left as it is";
const UNCLEAR: &str = "another session's command ran at the same time; left as it is";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Call {
    session: SessionId,
    process: i32,
    /// The newest checkpoint when it began, and when it had ended.
    from: u64,
    to: Option<u64>,
    /// `None`: anything.
    files: Option<BTreeSet<Place>>,
    /// It runs in the background: the end of a call is not its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    lasts: bool,
}

/// What is said of a session.
pub(super) enum Noted<'a> {
    /// A call begins that changes these files, or any if none is named.
    Begins(&'a [PathBuf]),
    Ends,
    Lasts,
    LastsNoMore,
}

impl Noted<'_> {
    pub fn lasting(lasts: bool) -> Self {
        if lasts { Noted::Lasts } else { Noted::LastsNoMore }
    }
}

impl Call {
    /// May what it did be what changed up to that checkpoint?
    fn is_in(&self, number: u64) -> bool {
        self.from < number && self.to.is_none_or(|to| number <= to + 1)
    }

    fn wrote(&self, place: &Place) -> bool {
        self.files.as_ref().is_some_and(|files| files.contains(place))
    }

    fn may_have_changed(&self, place: &Place) -> bool {
        self.files.as_ref().is_none_or(|files| files.contains(place))
    }

    fn overlaps(&self, other: &Call) -> bool {
        let ends = |call: &Call| call.to.map_or(u64::MAX, |to| to.saturating_add(1));
        self.from < ends(other) && other.from < ends(self)
    }
}

/// Without the file nothing is known; that is how it was before there was one.
fn load(folder: &Path) -> Vec<Call> {
    fs::read(folder.join(NAME)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

impl GitStore {
    /// Under the lock.
    pub(super) fn note(&self, session: &SessionId, what: Noted) -> Result<(), CheckpointError> {
        let (folder, root) = (self.folder(), self.root());
        let _lock = lock(folder)?;
        let number = newest(self.repo())?.map_or(0, |newest| newest.number);
        let mut calls = load(folder);
        let own = getpid().as_raw_nonzero().get();
        for call in calls.iter_mut().filter(|call| call.to.is_none()) {
            let gone = Pid::from_raw(call.process).is_none_or(|process| test_kill_process(process).is_err());
            let ends = match what {
                Noted::Begins(_) | Noted::Ends => !call.lasts,
                Noted::Lasts | Noted::LastsNoMore => call.lasts,
            };
            if gone || call.session == *session && ends {
                call.to = Some(number);
            }
        }
        let begins = match what {
            Noted::Begins(files) => Some((files, false)),
            Noted::Lasts => Some((&[][..], true)),
            Noted::Ends | Noted::LastsNoMore => None,
        };
        if let Some((files, lasts)) = begins {
            let files = files.iter().map(|path| tree::place_of(&root.join(path), root)).collect();
            let files = Some(files).filter(|files: &BTreeSet<Place>| !files.is_empty());
            calls.push(Call { session: session.clone(), process: own, from: number, to: None, files, lasts });
        }
        let past = |call: &Call| call.to.is_some_and(|to| to < number);
        let alone = |call: &Call| !calls.iter().any(|other| other.session != call.session && other.overlaps(call));
        let kept: Vec<&Call> = calls.iter().filter(|call| !past(call) || !alone(call)).collect();
        // So many at once are more than anybody walks back one by one.
        let kept = &kept[kept.len().saturating_sub(1_000)..];
        let bytes = serde_json::to_vec(kept).map_err(|e| CheckpointError::Store(e.to_string()))?;
        let path = folder.join(NAME);
        let options = atomic::Options { private: true, ..Default::default() };
        atomic::write(&path, &bytes, options).map(drop).map_err(CheckpointError::io(&path))
    }
}

/// What is not to be walked back with the work of the session whose checkpoint `end` is, after `after`: it is, or may be, another
/// session's. With the reasons.
pub fn of_others(
    (repo, folder): (&Repository, &Path),
    all: &[Named],
    after: u64,
    end: &CheckpointId,
    own: Option<&SessionId>,
) -> Result<BTreeMap<Place, &'static str>, CheckpointError> {
    let mut theirs = BTreeMap::new();
    let end = find_in(all, end)?;
    let label = |id: Oid| -> Result<Label, CheckpointError> {
        Ok(label::read(&String::from_utf8_lossy(stored::commit(repo, id)?.message_bytes())).0)
    };
    // An unchanged tree has the label of whoever kept it first.
    let Some(own) = own.cloned().map_or_else(|| label(end.id).map(|label| label.session), |own| Ok(Some(own)))? else { return Ok(theirs) };
    let calls = load(folder);
    for pair in all.windows(2).filter(|pair| pair[1].number > after && pair[1].number <= end.number) {
        let (number, label) = (pair[1].number, label(pair[1].id)?);
        let (mine, others): (Vec<&Call>, Vec<&Call>) = calls.iter().filter(|call| call.is_in(number)).partition(|call| call.session == own);
        // Who kept it had done something before, if nothing better is known of that.
        let acted = matches!(label.kind, Kind::AfterCall | Kind::AfterTurn)
            && label.session.is_some_and(|session| session != own && !others.iter().any(|call| call.session == session));
        if !acted && others.is_empty() {
            continue;
        }
        let (before, now) = (Kept::of_commit(repo, pair[0].id)?.tree, Kept::of_commit(repo, pair[1].id)?.tree);
        for (place, _, _) in changes(repo, before, now)? {
            if mine.iter().any(|call| call.wrote(&place)) {
                continue;
            }
            let surely = others.iter().any(|call| call.wrote(&place)) || !mine.iter().any(|call| call.may_have_changed(&place));
            if acted || others.iter().any(|call| call.may_have_changed(&place)) {
                theirs.insert(place, if surely { THEIRS } else { UNCLEAR });
            }
        }
    }
    Ok(theirs)
}
