//! Many objects at once are one pack; pruning rewrites packs and gathers loose objects, and loses nothing.

use super::*;

fn count(b: &Bench, extension: &str) -> usize {
    let packs = fs::read_dir(b.store.folder().join("repo.git/objects/pack")).unwrap();
    packs.filter(|e| e.as_ref().unwrap().path().extension().is_some_and(|x| x == extension)).count()
}

fn loose(b: &Bench) -> usize {
    let folders = fs::read_dir(b.store.folder().join("repo.git/objects")).unwrap().flatten();
    folders.filter(|f| f.file_name().len() == 2).map(|f| fs::read_dir(f.path()).unwrap().count()).sum()
}

#[test]
fn a_large_first_checkpoint_is_one_pack() {
    let mut b = Bench::new();
    for n in 0..700 {
        b.write(&format!("dir{}/f{n}", n % 7), format!("{} same for some", n / 2));
    }
    b.write("large", vec![3u8; 3 << 20]);
    let (first, before) = (b.take(), copy(&b.root));
    // The commit and the large file are on their own.
    assert_eq!((count(&b, "pack"), count(&b, "idx"), loose(&b)), (1, 1, 2));
    b.fsck();
    b.store = GitStore::open(&b.data, &b.root).unwrap();
    fs::remove_dir_all(b.root.join("dir3")).unwrap();
    b.write("dir4/f4", "other");
    assert_eq!(b.plan(&first).files.len(), 101);
    b.restore(&first);
    assert_eq!(copy(&b.root), before);
    b.fsck();
}

#[test]
fn packs_that_are_mostly_unneeded_are_rewritten() {
    let mut b = Bench::new();
    let mut taken = vec![];
    for round in 0..3 {
        for n in 0..300 {
            b.write(&format!("dir{}/f{n}", n % 3), format!("{round} {n}").repeat(20));
        }
        taken.push((b.take(), copy(&b.root)));
    }
    assert_eq!(count(&b, "pack"), 3);
    let before = b.store.usage().unwrap().bytes;
    let pruned = b.store.prune(&Retention { count: 1, ..Default::default() }).unwrap();
    // Two commits and two times all files, all folders and the roots.
    assert_eq!((pruned.checkpoints, pruned.objects), (2, 2 * (300 + 3 + 2 + 1)));
    assert_eq!(count(&b, "pack"), 1);
    assert!(b.store.usage().unwrap().bytes < before);
    b.fsck();
    // The index still knows what is kept: nothing is written again.
    assert_eq!(b.take(), taken[2].0);
    assert_eq!(count(&b, "pack"), 1);
    b.write("dir0/f0", "changed");
    b.restore(&taken[2].0);
    assert_eq!(copy(&b.root), taken[2].1);
    // What was pruned is written when it comes back, also by a process that knew it from before.
    let mut other = GitStore::open(&b.data, &b.root).unwrap();
    for n in 0..300 {
        b.write(&format!("dir{}/f{n}", n % 3), format!("0 {n}").repeat(20));
    }
    let again = other.take(&Label::new(Kind::Manual, "again")).unwrap().id;
    b.fsck();
    b.restore(&taken[2].0);
    b.restore(&again);
    assert_eq!(copy(&b.root), taken[0].1);
}

#[test]
fn loose_objects_are_gathered() {
    let mut b = Bench::new();
    b.write("large", vec![1u8; 2 << 20]);
    let mut taken = vec![];
    for round in 0..12 {
        for n in 0..100 {
            b.write(&format!("f{n}"), format!("{round} {n}"));
        }
        taken.push((b.take(), copy(&b.root)));
    }
    assert!(count(&b, "pack") == 0 && loose(&b) > 1200);
    assert_eq!(b.store.prune(&Retention::default()).unwrap(), Pruned::default());
    assert!(count(&b, "pack") == 1 && loose(&b) <= 1, "{} loose", loose(&b));
    b.fsck();
    for n in [3, 11, 0] {
        b.restore(&taken[n].0);
        assert_eq!(copy(&b.root), taken[n].1);
    }
    b.fsck();
}

/// As a user's `git gc` leaves it: packed references, differences instead of contents.
#[test]
fn a_store_that_git_tidied_is_understood() {
    let mut b = Bench::new();
    let text = |n: usize| (0..400).map(|line| format!("line {line} of {}\n", if line == n { n } else { 0 })).collect::<String>();
    let mut taken = vec![];
    for n in 0..6 {
        b.write("a", text(n * 10 + 1));
        taken.push((b.take(), copy(&b.root)));
    }
    let mut git = Command::new("git");
    git.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").arg("--git-dir").arg(b.store.folder().join("repo.git"));
    if !git.args(["gc", "-q", "--prune=now"]).status().is_ok_and(|s| s.success()) {
        return;
    }
    assert_eq!(b.commits(), 6);
    b.restore(&taken[2].0);
    assert_eq!(copy(&b.root), taken[2].1);
    b.write("a", "new");
    b.take();
    b.store.delete(&taken[0].0).unwrap();
    b.store.prune(&Retention { count: 2, ..Default::default() }).unwrap();
    assert_eq!(b.commits(), 2);
    b.fsck();
    b.store.prune(&Retention { count: 1, ..Default::default() }).unwrap();
    b.fsck();
}

/// Files that changed too recently to be trusted are read again; that is no reason for a pack for each checkpoint.
#[test]
fn what_is_only_read_again_makes_no_pack() {
    let mut b = Bench::new();
    for n in 0..300 {
        b.write(&format!("f{n}"), format!("{n}"));
    }
    b.take();
    let packs = |b: &Bench| {
        let entries = fs::read_dir(b.store.folder().join("repo.git/objects/pack")).unwrap().flatten();
        entries.filter(|entry| entry.path().extension().is_some_and(|e| e == "pack")).count()
    };
    assert_eq!(packs(&b), 1);
    for n in 0..3 {
        b.write("f7", format!("again {n}"));
        b.take();
    }
    assert_eq!(packs(&b), 1);
    b.fsck();
}
