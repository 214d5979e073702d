//! Remembers which contents a file had when it looked a certain way, so that an unchanged tree need not be read again.
//!
//! Only a cache: lost, foreign or broken, it costs time and nothing else. A file that changed so recently that its next change
//! might leave the same time stamp is never trusted.

use super::scan::Stat;
use git2::Oid;
use std::{collections::HashMap, fs, path::Path};

const MAGIC: &[u8] = b"backstitch stat cache 1\n";
/// Coarser than the time stamps of any file system in use.
const RACY: i128 = 2_000_000_000;

#[derive(Debug, Default)]
pub struct StatCache {
    known: HashMap<Vec<u8>, (Stat, Oid)>,
    dirty: bool,
}

impl StatCache {
    pub fn load(file: &Path, exists: impl Fn(Oid) -> bool) -> Self {
        let known = fs::read(file).ok().and_then(|bytes| parse(&bytes)).unwrap_or_default();
        StatCache { known: known.into_iter().filter(|(_, (_, id))| exists(*id)).collect(), dirty: false }
    }

    pub fn get(&self, place: &[u8], stat: &Stat) -> Option<Oid> {
        self.known.get(place).filter(|(seen, _)| seen == stat).map(|(_, id)| *id)
    }

    /// `now`: when the file was read, at the latest.
    pub fn put(&mut self, place: &[u8], stat: &Stat, id: Oid, now: i128) {
        self.dirty = true;
        if stat.mtime.max(stat.ctime) + RACY < now {
            self.known.insert(place.to_vec(), (*stat, id));
        } else {
            self.known.remove(place);
        }
    }

    /// Forgets what is gone, and writes if anything is new.
    pub fn save(&mut self, file: &Path, alive: impl Fn(&[u8]) -> bool) {
        let before = self.known.len();
        self.known.retain(|place, _| alive(place));
        if !self.dirty && before == self.known.len() {
            return;
        }
        let mut bytes = MAGIC.to_vec();
        for (place, (stat, id)) in &self.known {
            bytes.extend_from_slice(&(place.len() as u32).to_le_bytes());
            bytes.extend_from_slice(place);
            bytes.extend_from_slice(&stat.mtime.to_le_bytes());
            bytes.extend_from_slice(&stat.ctime.to_le_bytes());
            bytes.extend_from_slice(&stat.size.to_le_bytes());
            bytes.extend_from_slice(&stat.inode.to_le_bytes());
            bytes.extend_from_slice(&stat.mode.to_le_bytes());
            bytes.extend_from_slice(id.as_bytes());
        }
        // Without it the next checkpoint is slower, that is all.
        let _ = crate::atomic::write(file, &bytes, crate::atomic::Options { private: true, ..Default::default() });
        self.dirty = false;
    }
}

fn parse(bytes: &[u8]) -> Option<HashMap<Vec<u8>, (Stat, Oid)>> {
    let mut rest = bytes.strip_prefix(MAGIC)?;
    let mut known = HashMap::new();
    while !rest.is_empty() {
        let length = u32::from_le_bytes(array(&mut rest)?) as usize;
        let (place, after) = rest.split_at_checked(length)?;
        rest = after;
        let stat = Stat {
            mtime: i128::from_le_bytes(array(&mut rest)?),
            ctime: i128::from_le_bytes(array(&mut rest)?),
            size: u64::from_le_bytes(array(&mut rest)?),
            inode: u64::from_le_bytes(array(&mut rest)?),
            mode: u32::from_le_bytes(array(&mut rest)?),
        };
        let id = Oid::from_bytes(&array::<20>(&mut rest)?).ok()?;
        known.insert(place.to_vec(), (stat, id));
    }
    Some(known)
}

fn array<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk::<N>()?;
    *rest = tail;
    Some(*head)
}
