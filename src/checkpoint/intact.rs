//! Contents that the store has lost or that are no longer what they were: found before anything is changed.
//!
//! - What can't come back is left out of a plan and listed, together with what would only have made room for it.
//! - The store is then marked. It stays in use for going back, since most of it may be whole; the next turn begins a new one.

use super::{
    CheckpointError,
    kept::Change,
    stored,
    tree::{self, Place},
};
use crate::atomic;
use git2::{Odb, Oid};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs, io,
    path::Path,
};

const MARK: &str = "damaged";
const MISSING: &str = "its contents are missing in the checkpoint store; left as it is";
const DAMAGED: &str = "its contents are damaged in the checkpoint store; left as it is";

/// Takes out of `changes` what can't be completed. Returns that, with the reasons.
pub fn leave_out(odb: &Odb, objects: &Path, changes: &mut Vec<Change>) -> BTreeMap<Place, String> {
    let mut known: HashMap<Oid, Option<&str>> = HashMap::new();
    let mut lost: BTreeMap<Place, String> = BTreeMap::new();
    for (place, _, new) in changes.iter() {
        if let Some(why) = new.and_then(|new| *known.entry(new.id).or_insert_with(|| damage(odb, objects, new.id))) {
            lost.insert(place.clone(), why.into());
        }
    }
    if lost.is_empty() {
        return lost;
    }
    changes.retain(|(place, _, _)| !lost.contains_key(place));
    let comes: BTreeSet<Place> = changes.iter().filter(|(_, _, new)| new.is_some()).map(|(place, _, _)| place.clone()).collect();
    let no_room = |place: &Place| {
        let below = |other: &Place| other.starts_with(place) && other.get(place.len()) == Some(&b'/');
        // A file goes for what was to be below it, if any of that comes; what is below goes for a file that comes in its place.
        (lost.keys().any(below) && !comes.iter().any(below)) || above(place).any(|folder| lost.contains_key(folder))
    };
    let made_room: Vec<Place> =
        changes.iter().filter(|(place, _, new)| new.is_none() && no_room(place)).map(|(p, _, _)| p.clone()).collect();
    changes.retain(|(place, _, _)| !made_room.contains(place));
    lost.extend(made_room.into_iter().map(|place| (place, "what was in its place can't come back; left as it is".into())));
    lost
}

/// The places of the folders that a place is in, without a slash at the end.
fn above(place: &[u8]) -> impl Iterator<Item = &[u8]> {
    place.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| &place[..at])
}

/// Reading compares the contents with their id.
fn damage(odb: &Odb, objects: &Path, id: Oid) -> Option<&'static str> {
    match stored::object(odb, objects, id) {
        Ok(_) => None,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some(MISSING),
        Err(_) => Some(DAMAGED),
    }
}

/// Remembers that the store is damaged.
pub fn mark(folder: &Path, lost: &BTreeMap<Place, String>) {
    if let Some(place) = lost.keys().next() {
        let path = tree::shown(place);
        let more = if lost.len() > 1 { format!(" and {} more", lost.len() - 1) } else { String::new() };
        let text = format!("the contents of {}{more} can't be read", path.display());
        // Without it the damage is found again.
        let _ = atomic::write(&folder.join(MARK), text.as_bytes(), atomic::Options { private: true, ..Default::default() });
    }
}

/// What was found, if anything was.
pub fn marked(folder: &Path) -> Option<String> {
    fs::read_to_string(folder.join(MARK)).ok()
}

pub fn unmark(folder: &Path) -> Result<(), CheckpointError> {
    let path = folder.join(MARK);
    match fs::remove_file(&path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(CheckpointError::io(&path)(e)),
        _ => Ok(()),
    }
}
