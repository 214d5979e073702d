//! Random operations on a small tree: after every restore the tree is what a plain copy of it was.

use super::*;
use std::collections::BTreeSet;

pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    fn path(&mut self) -> PathBuf {
        let names: [&[u8]; 8] = [b"a", b"A", b"b", b"c.txt", b"d-e", b"d.e", b"caf\xe9", b"sp ace\n"];
        (0..1 + self.below(3)).map(|_| std::ffi::OsStr::from_bytes(names[self.below(8) as usize])).collect()
    }

    /// Larger than what is kept, small, gone, or larger than what is read into memory at once.
    fn contents(&mut self) -> Vec<u8> {
        let length = [0, 1, 10, 300, 5000, 20_000][(self.below(10) as usize).min(5).min(self.0 as usize % 6)];
        (0..length).map(|_| self.below(256) as u8).collect()
    }
}

/// What nothing is kept of: a file in the root that has this name and is too large.
const HUGE: &str = "huge";
const LIMIT: usize = 60_000;

fn remove(path: &Path) {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}

/// Makes the folder of `path`, whatever is in its way.
fn make_room(root: &Path, path: &Path) {
    let mut at = root.to_path_buf();
    for part in path.parent().unwrap().components() {
        at.push(part);
        if fs::symlink_metadata(&at).is_ok_and(|m| !m.is_dir()) {
            fs::remove_file(&at).unwrap();
        }
        if !at.exists() {
            fs::create_dir(&at).unwrap();
        }
    }
    remove(&root.join(path));
}

fn change(root: &Path, dice: &mut Dice) {
    let path = dice.path();
    let full = root.join(&path);
    match dice.below(14) {
        0..4 => {
            make_room(root, &path);
            fs::write(&full, dice.contents()).unwrap();
        }
        4 => remove(&full),
        5 => {
            make_room(root, &path);
            symlink(dice.path(), &full).unwrap();
        }
        6 if full.is_file() && !full.is_symlink() => {
            let mode = [0o644, 0o755, 0o700, 0o444][dice.below(4) as usize];
            fs::set_permissions(&full, fs::Permissions::from_mode(mode)).unwrap();
        }
        7 | 8 if fs::symlink_metadata(&full).is_ok() => {
            let to = dice.path();
            if !to.starts_with(&path) && !path.starts_with(&to) {
                make_room(root, &to);
                let _ = fs::rename(&full, root.join(&to));
            }
        }
        9 if full.is_file() && !full.is_symlink() => {
            use std::io::Write;
            let mode = fs::metadata(&full).unwrap().permissions();
            fs::set_permissions(&full, fs::Permissions::from_mode(0o644)).unwrap();
            fs::File::options().append(true).open(&full).unwrap().write_all(b"more").unwrap();
            fs::set_permissions(&full, mode).unwrap();
        }
        // A repository in the tree: what is its own is not ours.
        10 => {
            fs::create_dir_all(root.join("nested/.git")).unwrap();
            fs::write(root.join("nested/.git/config"), dice.contents()).unwrap();
            fs::write(root.join("nested/code"), dice.contents()).unwrap();
        }
        11 => remove(&root.join("nested/code")),
        12 => {
            let huge = dice.below(2) == 0;
            fs::write(root.join(HUGE), vec![b'h'; if huge { LIMIT + 1 } else { dice.below(3) as usize }]).unwrap();
        }
        13 if root.join("many").exists() => remove(&root.join("many")),
        13 if dice.below(20) == 0 => {
            let folder = root.join("many");
            fs::create_dir(&folder).unwrap();
            let from = dice.below(1000);
            (0..220).for_each(|n| fs::write(folder.join(format!("f{n}")), format!("{}", from + n)).unwrap());
        }
        _ => {}
    }
}

/// Of the working tree as it is, without what checkpoints neither keep nor touch.
fn kept(root: &Path) -> Copied {
    let mut all = copy(root);
    all.retain(|name, _| !name.starts_with(b"nested/.git/"));
    all
}

fn is_huge(tree: &Copied) -> bool {
    tree.get(HUGE.as_bytes()).is_some_and(|(_, contents)| contents.len() > LIMIT)
}

fn chosen(name: &[u8], only: &Option<PathBuf>) -> bool {
    only.as_ref().is_none_or(|only| Path::new(std::ffi::OsStr::from_bytes(name)).starts_with(only))
}

/// What the present has to become; `None` if a file would have to be where a folder stays, or the other way round.
fn expected(present: &Copied, then: &Copied, only: &Option<PathBuf>) -> Option<Copied> {
    let mut tree: Copied = present.iter().filter(|(name, _)| !chosen(name, only)).map(|(n, f)| (n.clone(), f.clone())).collect();
    tree.extend(then.iter().filter(|(name, _)| chosen(name, only)).map(|(n, f)| (n.clone(), f.clone())));
    if is_huge(present) || is_huge(then) {
        tree.remove(HUGE.as_bytes());
        tree.extend(present.get_key_value(HUGE.as_bytes()).map(|(n, f)| (n.clone(), f.clone())));
    }
    let clash = tree.keys().any(|name| name.iter().enumerate().any(|(at, b)| *b == b'/' && tree.contains_key(&name[..at])));
    (!clash).then_some(tree)
}

struct Run {
    b: Bench,
    dice: Dice,
    taken: Vec<(CheckpointId, Copied)>,
    pinned: BTreeSet<String>,
}

impl Run {
    fn any(&mut self) -> (CheckpointId, Copied) {
        let n = self.dice.below(self.taken.len() as u64) as usize;
        self.taken[n].clone()
    }

    fn go_back(&mut self, at: &str) {
        let (id, then) = self.any();
        let only = (self.dice.below(3) == 0).then(|| self.dice.path());
        let wanted = Wanted { only: only.clone().map(|path| vec![path]), ..all(&id) };
        let planned_in = kept(&self.b.root);
        let plan = self.b.store.plan(&wanted).unwrap();
        assert!(kept(&self.b.root) == planned_in, "{at}: a plan changes nothing");
        if self.dice.below(4) == 0 {
            change(&self.b.root, &mut self.dice);
        }
        let present = kept(&self.b.root);
        let repository = fs::read(self.b.root.join("nested/.git/config")).ok();
        let shown = self.b.store.show(&plan).unwrap();
        let restored = self.b.store.restore(&plan).unwrap();
        let now = kept(&self.b.root);
        assert_eq!(fs::read(self.b.root.join("nested/.git/config")).ok(), repository);
        let huge = is_huge(&present) || is_huge(&then) || is_huge(&planned_in);
        match expected(&present, &then, &only).filter(|_| present == planned_in) {
            Some(expected) => {
                assert!(now == expected, "{at}: {only:?} {:?}", restored.skipped);
                // That a repository came or went is said, and nothing else.
                let others = restored.skipped.iter().filter(|(path, _)| path != Path::new("nested/.git")).count();
                assert!(huge || others == 0, "{at}: {:?}", restored.skipped);
                assert_eq!(names(&restored.changes), names(&shown), "{at}");
                if only.is_none() && (is_huge(&then) || (is_huge(&present) && then.get(HUGE.as_bytes()) != present.get(HUGE.as_bytes()))) {
                    assert!(restored.skipped.iter().any(|(path, _)| path == Path::new(HUGE)), "{at}: {:?}", restored.skipped);
                }
            }
            // Something is in the way, or changed since the plan: each file is as it was or as it was to be, and what changed stays.
            None => {
                for name in present.keys().chain(now.keys()).chain(then.keys()) {
                    let is = now.get(name);
                    assert!(is == present.get(name) || (is == then.get(name) && chosen(name, &only)), "{at}: {name:?}");
                    let meanwhile = present.get(name) != planned_in.get(name);
                    assert!(!meanwhile || is == present.get(name), "{at}: {name:?} changed since the plan");
                }
            }
        }
        if !is_huge(&present) && !is_huge(&now) && self.dice.below(2) == 0 {
            let back = self.b.restore(&restored.before);
            assert!(kept(&self.b.root) == present, "{at}: {:?}", back.skipped);
        }
        self.taken.push((restored.before, present));
    }

    fn forget(&mut self) {
        let (id, _) = self.any();
        match self.dice.below(4) {
            0 => {
                let deleted = self.b.store.delete(&id);
                assert_eq!(deleted.is_err(), self.pinned.contains(&id.0), "{deleted:?}");
            }
            1 => {
                let pinned = self.pinned.insert(id.0.clone()) || !self.pinned.remove(&id.0);
                self.b.store.revise(&id, Revision::Pin(pinned)).unwrap();
            }
            2 => {
                let keep = 1 + self.dice.below(6) as usize;
                self.b.store.prune(&Retention { count: keep, ..Default::default() }).unwrap();
                assert!(self.b.commits() <= keep.max(self.pinned.len() + 1));
            }
            _ => {
                self.b.store.revise(&id, Revision::Rename(format!("n{}", self.dice.below(100)))).unwrap();
            }
        }
        let left: BTreeSet<String> = self.b.store.list().unwrap().into_iter().map(|e| e.id.0).collect();
        assert!(self.pinned.is_subset(&left));
        self.taken.retain(|(id, _)| left.contains(&id.0));
    }

    fn step(&mut self, at: &str) {
        for _ in 0..1 + self.dice.below(4) {
            change(&self.b.root, &mut self.dice);
        }
        match self.dice.below(12) {
            0..3 if !self.taken.is_empty() => self.go_back(at),
            3..6 => {
                let id = self.b.take();
                self.taken.push((id, kept(&self.b.root)));
            }
            6 => self.open(),
            7 if !self.taken.is_empty() => self.forget(),
            _ => {}
        }
    }

    fn open(&mut self) {
        self.b.store = GitStore::open(&self.b.data, &self.b.root).unwrap();
        self.b.store.set_limit(LIMIT as u64);
        assert_eq!(self.b.store.notice(), None);
    }
}

fn run(seeds: std::ops::Range<u64>, steps: usize) {
    for seed in seeds {
        let mut run = Run { b: Bench::new(), dice: Dice(seed), taken: vec![], pinned: BTreeSet::new() };
        run.open();
        for step in 0..steps {
            run.step(&format!("seed {seed}, step {step}"));
        }
        let names: Vec<_> = copy(&run.b.root).into_keys().collect();
        assert!(!names.iter().any(|name| name.windows(12).any(|part| part == b".backstitch-")), "{names:?}");
        run.b.fsck();
        for (id, then) in run.taken.clone().into_iter().rev().step_by(9).take(9) {
            let expected = expected(&kept(&run.b.root), &then, &None).unwrap();
            run.b.restore(&id);
            assert!(kept(&run.b.root) == expected, "seed {seed}, at the end");
        }
    }
}

#[test]
fn restores_equal_plain_copies() {
    run(1..7, 200);
}

#[test]
fn long_stories_end_well() {
    run(100..103, 300);
}
