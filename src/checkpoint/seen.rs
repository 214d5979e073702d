//! How the objects' folder looked after our own last writing: what tells cheaply that somebody else changed it.
//!
//! - While it looks the same, everything that the index names is there. Otherwise each of them has to be looked for.
//! - A folder that changed so shortly before that its next change might leave the same time stamp is known by its count, too.

use rustix::fs::{AtFlags, statat};
use std::{
    collections::BTreeMap,
    fmt::Write,
    fs, io,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

const FILE: &str = "seen";
/// Coarser than the time stamps of any file system in use.
const RACY: i128 = 2_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Folder {
    changed: i128,
    count: Option<usize>,
}

/// Not equal to any folder until it was looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// The folders of loose objects.
    loose: BTreeMap<String, Folder>,
    /// The packs and what belongs to them, with their sizes.
    packs: BTreeMap<String, u64>,
}

impl Seen {
    /// `objects`: the repository's folder for them.
    pub fn look(objects: &Path) -> io::Result<Seen> {
        let now = now();
        Seen::look_at(objects, |_, changed| changed + RACY >= now)
    }

    /// Does it still look like this? Then what is old enough by now is known by its time stamp alone from here on.
    pub fn is_now(&mut self, objects: &Path) -> bool {
        let now = now();
        // Counted is what was counted then.
        let counted = |name: &str, _| self.loose.get(name).is_some_and(|folder| folder.count.is_some());
        let is_now = *self != Seen::default() && Seen::look_at(objects, counted).is_ok_and(|found| found == *self);
        if is_now {
            self.loose.values_mut().filter(|folder| folder.changed + RACY < now).for_each(|folder| folder.count = None);
        }
        is_now
    }

    fn look_at(objects: &Path, counted: impl Fn(&str, i128) -> bool) -> io::Result<Seen> {
        let mut seen = Seen::default();
        // Not read but asked for: a folder that is missing costs no more than one that is there, and nothing has to be sorted.
        let folder = fs::File::open(objects)?;
        for byte in 0..=255u8 {
            let name = format!("{byte:02x}");
            let Ok(stat) = statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let changed = i128::from(stat.st_ctime) * 1_000_000_000 + i128::from(stat.st_ctime_nsec);
            let count = counted(&name, changed).then(|| fs::read_dir(objects.join(&name)).map(Iterator::count)).transpose()?;
            seen.loose.insert(name, Folder { changed, count });
        }
        for entry in fs::read_dir(objects.join("pack"))? {
            let entry = entry?;
            seen.packs.insert(entry.file_name().to_string_lossy().into_owned(), entry.metadata()?.len());
        }
        Ok(seen)
    }

    /// What was written last; nothing if that can't be read.
    pub fn load(store: &Path) -> Seen {
        fs::read_to_string(store.join(FILE)).ok().and_then(|text| parse(&text)).unwrap_or_default()
    }

    pub fn save(&self, store: &Path) {
        let mut text = String::new();
        for (name, Folder { changed, count }) in &self.loose {
            // Writing to memory does not fail.
            let _ = writeln!(text, "{name} {changed} {}", count.map_or("-".into(), |n| n.to_string()));
        }
        for (name, size) in &self.packs {
            let _ = writeln!(text, "pack {size} {name}");
        }
        // Cut off it must not be mistaken for a whole one.
        text.push_str("end\n");
        // Without it everything is looked for once more, that is all.
        let _ = crate::atomic::write(&store.join(FILE), text.as_bytes(), crate::atomic::Options { private: true, ..Default::default() });
    }
}

fn now() -> i128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as i128)
}

fn parse(text: &str) -> Option<Seen> {
    let mut seen = Seen::default();
    for line in text.strip_suffix("end\n")?.lines() {
        let mut parts = line.splitn(3, ' ');
        match (parts.next()?, parts.next()?, parts.next()?) {
            ("pack", size, name) => drop(seen.packs.insert(name.into(), size.parse().ok()?)),
            (name, changed, "-") => drop(seen.loose.insert(name.into(), Folder { changed: changed.parse().ok()?, count: None })),
            (name, changed, count) => {
                let folder = Folder { changed: changed.parse().ok()?, count: Some(count.parse().ok()?) };
                seen.loose.insert(name.into(), folder);
            }
        }
    }
    Some(seen)
}
