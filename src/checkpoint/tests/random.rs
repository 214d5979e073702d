//! Random operations on a small tree: after every restore the tree is what a plain copy of it was.

use super::*;

pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    fn path(&mut self) -> PathBuf {
        let names = ["a", "b", "c.txt", "d-e", "d.e"];
        (0..1 + self.below(3)).map(|_| names[self.below(5) as usize]).collect()
    }
}

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
    match dice.below(9) {
        0..4 => {
            make_room(root, &path);
            let length = [0, 1, 10, 5000][dice.below(4) as usize];
            fs::write(&full, (0..length).map(|_| dice.below(256) as u8).collect::<Vec<_>>()).unwrap();
        }
        4 => remove(&full),
        5 => {
            make_room(root, &path);
            symlink(dice.path(), &full).unwrap();
        }
        6 if full.is_file() && !full.is_symlink() => {
            let mode = [0o644, 0o755, 0o700][dice.below(3) as usize];
            fs::set_permissions(&full, fs::Permissions::from_mode(mode)).unwrap();
        }
        7 if fs::symlink_metadata(&full).is_ok() => {
            let to = dice.path();
            if !to.starts_with(&path) && !path.starts_with(&to) {
                make_room(root, &to);
                let _ = fs::rename(&full, root.join(&to));
            }
        }
        8 if full.is_file() && !full.is_symlink() => {
            use std::io::Write;
            fs::File::options().append(true).open(&full).unwrap().write_all(b"more").unwrap();
        }
        _ => {}
    }
}

#[test]
fn restores_equal_plain_copies() {
    for seed in 1..4 {
        let mut b = Bench::new();
        let mut dice = Dice(seed);
        let mut taken: Vec<(CheckpointId, Copied)> = vec![];
        for step in 0..120 {
            for _ in 0..1 + dice.below(4) {
                change(&b.root, &mut dice);
            }
            match dice.below(5) {
                0 if !taken.is_empty() => {
                    let (id, expected) = taken[dice.below(taken.len() as u64) as usize].clone();
                    let present = copy(&b.root);
                    let planned = b.store.diff(&id, None).unwrap().len();
                    let restored = b.restore(&id);
                    assert_eq!(restored.skipped, [], "seed {seed}, step {step}");
                    assert_eq!(restored.changes.len(), planned);
                    assert!(copy(&b.root) == expected, "seed {seed}, step {step}");
                    taken.push((restored.before, present));
                }
                1 | 2 => taken.push((b.take(), copy(&b.root))),
                3 => b.store = GitStore::open(&b.data, &b.root).unwrap(),
                _ => {}
            }
        }
        let mut names: Vec<_> = fs::read_dir(&b.root).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.retain(|n| crate::atomic::is_temporary(n));
        assert!(names.is_empty());
        b.fsck();
    }
}
