//! The project's files folder by folder, from several threads: the same as [`crate::walk`] finds, with what a scan has to know.
//!
//! Files are looked at relative to their folder, which is much cheaper than by their whole path. Links are never followed.

use super::index::Stat;
use crate::{atomic, walk::Walk};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, open, statat};
use std::{
    ffi::OsStr,
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

/// What is directly in a folder, without folders and without what is ignored.
#[derive(Debug, Default)]
pub struct Listing {
    pub path: PathBuf,
    pub names: Vec<u8>,
    /// Where each name is in `names`, and what it looks like.
    pub files: Vec<(std::ops::Range<usize>, Stat)>,
    /// What could not be looked at, with the reason.
    pub errors: Vec<(PathBuf, String)>,
}

/// Why a `.git` is not kept: worth a word only if it goes.
pub const REPOSITORY: &str = "repositories are never touched";

/// The ignore file of a folder, and those of the folders above it.
struct Rules {
    own: Gitignore,
    above: Option<Arc<Rules>>,
}

type Chain = Option<Arc<Rules>>;

#[derive(Default)]
struct Queue {
    waiting: Vec<(PathBuf, Chain)>,
    busy: usize,
}

pub struct Folders<'a> {
    pub root: &'a Path,
    /// A folder to leave out.
    pub but: &'a Path,
}

impl Folders<'_> {
    /// Calls `visit` for the root and every folder below it that is not ignored, in no order.
    pub fn run(&self, threads: usize, visit: &(dyn Fn(Listing) + Sync)) {
        if self.root.starts_with(self.but) {
            return;
        }
        let queue = Mutex::new(Queue { waiting: vec![(self.root.to_path_buf(), self.rules_above())], busy: 0 });
        let more = Condvar::new();
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| self.work(&queue, &more, visit));
            }
            self.work(&queue, &more, visit);
        });
    }

    /// Rules that exclude the root itself don't count.
    fn rules_above(&self) -> Chain {
        let top = Walk::new(self.root, self.root).top();
        let mut chain = None;
        for folder in self.root.ancestors().skip(1).take_while(|a| a.starts_with(&top)).collect::<Vec<_>>().into_iter().rev() {
            chain = extended(chain, folder);
            let below = self.root.ancestors().find(|a| a.parent() == Some(folder))?;
            if ignored(&chain, below, true) {
                return None;
            }
        }
        chain
    }

    fn work(&self, queue: &Mutex<Queue>, more: &Condvar, visit: &(dyn Fn(Listing) + Sync)) {
        let mut guard = locked(queue);
        loop {
            if let Some((path, rules)) = guard.waiting.pop() {
                guard.busy += 1;
                drop(guard);
                let mut below = vec![];
                let listing = self.list(path, rules, &mut below);
                let found = below.len();
                guard = locked(queue);
                guard.waiting.append(&mut below);
                if found > 0 {
                    more.notify_all();
                }
                drop(guard);
                visit(listing);
                guard = locked(queue);
                guard.busy -= 1;
                if guard.busy == 0 && guard.waiting.is_empty() {
                    more.notify_all();
                }
            } else if guard.busy == 0 {
                return;
            } else {
                guard = more.wait(guard).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    fn list(&self, path: PathBuf, rules: Chain, below: &mut Vec<(PathBuf, Chain)>) -> Listing {
        let mut listing = Listing { path, ..Listing::default() };
        if let Err(error) = self.try_list(rules, below, &mut listing)
            && !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        {
            listing.errors.push((listing.path.clone(), error.to_string()));
        }
        listing
    }

    fn try_list(&self, rules: Chain, below: &mut Vec<(PathBuf, Chain)>, listing: &mut Listing) -> io::Result<()> {
        let folder = open(&listing.path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())?;
        let mut found = vec![];
        let mut has_rules = false;
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b".git" {
                listing.errors.push((listing.path.join(".git"), REPOSITORY.into()));
                continue;
            }
            if name == b"." || name == b".." || atomic::is_temporary(OsStr::from_bytes(name)) {
                continue;
            }
            has_rules |= name == b".gitignore";
            let start = listing.names.len();
            listing.names.extend_from_slice(name);
            found.push((start..listing.names.len(), entry.file_type()));
        }
        let rules = if has_rules { extended(rules, &listing.path) } else { rules };
        for (range, mut kind) in found {
            let name = OsStr::from_bytes(&listing.names[range.clone()]);
            let mut stat = None;
            if kind != FileType::Directory {
                match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(meta) => {
                        kind = FileType::from_raw_mode(meta.st_mode as _);
                        stat = Some(Stat::of_raw(&meta));
                    }
                    Err(rustix::io::Errno::NOENT) => continue,
                    Err(e) => {
                        listing.errors.push((listing.path.join(name), io::Error::from(e).to_string()));
                        continue;
                    }
                }
            }
            let is_folder = kind == FileType::Directory;
            if rules.is_some() && ignored(&rules, &listing.path.join(name), is_folder) {
                continue;
            }
            match stat.filter(|_| !is_folder) {
                Some(stat) => listing.files.push((range, stat)),
                None => {
                    let path = listing.path.join(name);
                    if path != self.but {
                        below.push((path, rules.clone()));
                    }
                }
            }
        }
        Ok(())
    }
}

fn extended(above: Chain, folder: &Path) -> Chain {
    let mut builder = GitignoreBuilder::new(folder);
    // Lines that are no patterns ignore nothing.
    let _ = builder.add(folder.join(".gitignore"));
    match builder.build() {
        Ok(own) if !own.is_empty() => Some(Arc::new(Rules { own, above })),
        _ => above,
    }
}

fn ignored(rules: &Chain, path: &Path, is_folder: bool) -> bool {
    let mut at = rules;
    while let Some(rules) = at {
        let verdict = rules.own.matched(path, is_folder);
        if !verdict.is_none() {
            return verdict.is_ignore();
        }
        at = &rules.above;
    }
    false
}

fn locked(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::tests::random::Dice;
    use std::{collections::BTreeSet, fs};

    fn by_walk(root: &Path) -> BTreeSet<PathBuf> {
        let found = Mutex::new(BTreeSet::new());
        Walk::new(root, root).run(&|entry| {
            // Ignore files with lines that are no patterns are found, and told besides.
            let Ok(entry) = entry else { return true };
            if !entry.file_type().unwrap().is_dir() {
                found.lock().unwrap().insert(entry.into_path());
            }
            true
        });
        found.into_inner().unwrap()
    }

    fn by_folders(root: &Path) -> BTreeSet<PathBuf> {
        let found = Mutex::new(BTreeSet::new());
        Folders { root, but: Path::new("/nowhere") }.run(3, &|listing| {
            let names = listing.files.iter().map(|(range, _)| listing.path.join(OsStr::from_bytes(&listing.names[range.clone()])));
            found.lock().unwrap().extend(names);
        });
        found.into_inner().unwrap()
    }

    /// There is one notion of the files of a project.
    #[test]
    fn finds_what_the_walk_finds() {
        for seed in 0..150 {
            let mut dice = Dice(seed);
            let dir = tempfile::tempdir().unwrap();
            let top = dir.path().canonicalize().unwrap();
            let names = ["a", "b.log", "out", ".hidden", "a b", "keep.log"];
            let rules = ["*.log", "!keep.log", "/a", "out/", "a/b.log", "**/out", "*", "!*/", "# x", "a b", "!out", "[", "\\", "b.log/**"];
            let root = top.join("sub/project");
            fs::create_dir_all(&root).unwrap();
            if dice.below(2) == 0 {
                fs::create_dir(top.join(".git")).unwrap();
            }
            for _ in 0..12 {
                let mut path = if dice.below(6) == 0 { top.clone() } else { root.clone() };
                for _ in 0..1 + dice.below(3) {
                    path.push(names[dice.below(names.len() as u64) as usize]);
                }
                let _ = fs::create_dir_all(path.parent().unwrap());
                if dice.below(3) == 0 {
                    let text: String =
                        (0..1 + dice.below(3)).map(|_| rules[dice.below(rules.len() as u64) as usize].to_owned() + "\n").collect();
                    let _ = fs::write(path.parent().unwrap().join(".gitignore"), text);
                }
                let _ = if dice.below(8) == 0 { std::os::unix::fs::symlink("..", &path) } else { fs::write(&path, "x") };
            }
            assert_eq!(by_folders(&root), by_walk(&root), "seed {seed}");
        }
    }
}
