//! What stays and what goes: names, pins, deleting, pruning.

use super::*;

#[test]
fn pruning_drops_old_ones_and_what_only_they_need() {
    let mut b = Bench::new();
    let mut ids = vec![];
    for n in 0..6 {
        b.write("a", format!("version {n}"));
        b.write(&format!("f{n}"), format!("{n}"));
        ids.push((b.take(), copy(&b.root)));
    }
    let pruned = b.store.prune(&Retention { count: 2, ..Default::default() }).unwrap();
    assert_eq!(pruned.checkpoints, 4);
    assert!(pruned.objects >= 8, "{pruned:?}");
    b.fsck();
    assert!(matches!(b.store.plan(&all(&ids[0].0)), Err(CheckpointError::Unknown(_))));
    b.restore(&ids[4].0);
    assert_eq!(copy(&b.root), ids[4].1);
    // Old contents that come back are kept again.
    b.write("a", "version 0");
    let again = b.take();
    b.write("a", "x");
    b.restore(&again);
    assert_eq!(fs::read(b.root.join("a")).unwrap(), b"version 0");
    let none = Retention { count: 100, age: std::time::Duration::from_secs(3600), ..Default::default() };
    assert_eq!(b.store.prune(&none).unwrap(), Pruned::default());
    b.fsck();
}

/// Names and pins leave the id as it is, for journals name it.
#[test]
fn names_and_pins_leave_the_checkpoint_as_it_is() {
    let mut b = Bench::new();
    b.write("a", "1");
    let first = b.take();
    b.write("a", "2");
    b.take();
    let entry = b.store.revise(&first, Revision::Rename("before the mess\n".into())).unwrap();
    assert_eq!((entry.id.clone(), entry.label.text.as_str(), entry.pinned), (first.clone(), "before the mess", false));
    b.store.revise(&first, Revision::Pin(true)).unwrap();
    b.store = GitStore::open(&b.data, &b.root).unwrap();
    let entry = b.store.list().unwrap().remove(0);
    assert_eq!((entry.label.text.as_str(), entry.pinned), ("before the mess", true));
    b.store.revise(&first, Revision::Rename(String::new())).unwrap();
    assert_eq!(b.store.list().unwrap()[0].label.text, "test");
    let unknown = CheckpointId("0".repeat(40));
    assert!(matches!(b.store.revise(&unknown, Revision::Pin(true)), Err(CheckpointError::Unknown(_))));
    b.fsck();
}

#[test]
fn pinned_ones_stay() {
    let mut b = Bench::new();
    let mut ids = vec![];
    for n in 0..6 {
        b.write("a", format!("version {n}"));
        ids.push((b.take(), copy(&b.root)));
    }
    b.store.revise(&ids[1].0, Revision::Pin(true)).unwrap();
    assert_eq!(b.store.prune(&Retention { count: 3, ..Default::default() }).unwrap().checkpoints, 3);
    let left: Vec<_> = b.store.list().unwrap().into_iter().map(|e| (e.id, e.pinned)).collect();
    assert_eq!(left, [(ids[1].0.clone(), true), (ids[4].0.clone(), false), (ids[5].0.clone(), false)]);
    b.fsck();
    for n in [1, 4, 5] {
        b.restore(&ids[n].0);
        assert_eq!(copy(&b.root), ids[n].1);
    }
    b.store.revise(&ids[1].0, Revision::Pin(false)).unwrap();
    b.store.prune(&Retention { count: 1, ..Default::default() }).unwrap();
    assert_eq!(b.commits(), 1);
    b.fsck();
}

#[test]
fn one_of_several_is_deleted_and_the_others_can_be_restored() {
    for gone in 0..5 {
        let mut b = Bench::new();
        b.write(".gitignore", ".env");
        let mut ids = vec![];
        for n in 0..5 {
            if n == 4 {
                b.write(".env", "mine");
                b.store.cover(&[b.root.join(".env")]);
            }
            b.write("a", format!("version {n}"));
            ids.push((b.take(), copy(&b.root)));
        }
        let (id, _) = ids.remove(gone);
        b.store.delete(&id).unwrap();
        b.store = GitStore::open(&b.data, &b.root).unwrap();
        assert_eq!(b.store.notice(), None);
        assert!(matches!(b.store.delete(&id), Err(CheckpointError::Unknown(_))));
        b.fsck();
        let pruned = b.store.prune(&Retention::default()).unwrap();
        assert!(pruned.checkpoints == 0 && pruned.objects >= 2, "{pruned:?}");
        b.fsck();
        for (id, expected) in &ids {
            b.restore(id);
            let mut expected = expected.clone();
            // Not in the earlier ones; the deleted one's knowledge of it is not lost.
            expected.insert(b".env".to_vec(), (0, b"mine".to_vec()));
            assert_eq!(copy(&b.root), expected);
        }
        b.write(".env", "changed");
        let taken = b.store.take(&Label::new(Kind::Manual, "next")).unwrap();
        b.write(".env", "and again");
        assert_eq!(names(&b.restore(&taken.id).changes), ["~.env"]);
        b.fsck();
    }
}

#[test]
fn the_oldest_go_until_the_rest_fits_on_the_disk() {
    let mut b = Bench::new();
    let mut ids = vec![];
    for n in 0..6u8 {
        // Contents that no compression makes smaller.
        let mut dice = random::Dice(u64::from(n) + 1);
        b.write("a", (0..100_000).map(|_| dice.below(256) as u8).collect::<Vec<_>>());
        ids.push((b.take(), copy(&b.root)));
    }
    b.store.revise(&ids[0].0, Revision::Pin(true)).unwrap();
    let before = b.store.usage().unwrap();
    assert!(before.checkpoints == 6 && before.bytes > 600_000, "{before:?}");
    let pruned = b.store.prune(&Retention { bytes: 400_000, ..Default::default() }).unwrap();
    let after = b.store.usage().unwrap();
    assert_eq!((pruned.checkpoints, after.checkpoints), (3, 3));
    // What is remembered about the objects comes on top of them, in files of a block each.
    assert!(after.bytes < 400_000 + 2 * 4096, "{after:?}");
    let left: Vec<_> = b.store.list().unwrap().into_iter().map(|e| e.id).collect();
    assert_eq!(left, [0, 4, 5].map(|n: usize| ids[n].0.clone()));
    // The newest stays whatever it takes.
    b.store.prune(&Retention { bytes: 1, ..Default::default() }).unwrap();
    assert_eq!(b.commits(), 2);
    b.fsck();
    b.restore(&ids[0].0);
    assert_eq!(copy(&b.root), ids[0].1);
}

/// As after a kill between the cut and the dropping: what is still named has its cut.
#[test]
fn a_pruning_that_stops_at_a_reference_leaves_the_cuts() {
    let mut b = Bench::new();
    for n in 0..6 {
        b.write("a", format!("version {n}"));
        b.take();
    }
    b.store.prune(&Retention { count: 3, ..Default::default() }).unwrap();
    let references = b.store.folder().join("repo.git/refs/checkpoints");
    let lock = references.join("0000000004.lock");
    fs::write(&lock, "").unwrap();
    b.store.prune(&Retention { count: 2, ..Default::default() }).unwrap_err();
    fs::remove_file(lock).unwrap();
    assert!(references.join("0000000004").exists(), "it is still named");
    b.fsck();
    b.store.prune(&Retention { count: 2, ..Default::default() }).unwrap();
    assert_eq!(b.store.list().unwrap().len(), 2);
    b.fsck();
}
