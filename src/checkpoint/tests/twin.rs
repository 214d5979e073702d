//! The store in memory does what the one on disk does.

use super::*;
use std::sync::{Arc, Mutex};

/// What a store says, without what only one of them can know.
#[derive(Debug, PartialEq)]
struct Told {
    planned: Vec<(String, bool, bool)>,
    shown: Vec<String>,
    restored: Vec<FileChange>,
    skipped: Vec<Skipped>,
    list: Vec<(usize, bool)>,
}

/// Plans, lets `meanwhile` happen, and restores.
fn go(store: &mut dyn CheckpointStore, wanted: &Wanted, meanwhile: impl FnOnce()) -> Told {
    let plan = store.plan(wanted).unwrap();
    meanwhile();
    let shown = names(&store.show(&plan).unwrap());
    let restored = store.restore(&plan).unwrap();
    Told {
        planned: plan.files.iter().map(|f| (f.path.display().to_string(), f.now.is_some(), f.then.is_some())).collect(),
        shown,
        restored: restored.changes,
        skipped: restored.skipped,
        list: store.list().unwrap().into_iter().map(|e| (e.files_changed, e.pinned)).collect(),
    }
}

/// The same story for either store; `set` writes a file of its world.
fn story(store: &mut dyn CheckpointStore, set: &dyn Fn(&str, &str)) -> Vec<Told> {
    let label = |text: &str| Label::new(Kind::Manual, text);
    ["a", "dir/b", "later"].iter().for_each(|path| set(path, "1"));
    let first = store.take(&label("first")).unwrap();
    assert_eq!(store.take(&label("again")).unwrap(), Taken { files_changed: 0, ..first.clone() });
    ["a", "dir/b", "dir/new"].iter().for_each(|path| set(path, "2"));
    let second = store.take(&label("second")).unwrap().id;
    ["later", "a", "users"].iter().for_each(|path| set(path, "3"));
    let mut told = vec![
        go(store, &Wanted { since: Some(second.clone()), ..all(&first.id) }, || {}),
        go(store, &Wanted { only: Some(vec!["a".into(), "dir".into()]), ..all(&second) }, || {}),
    ];
    assert!(store.revise(&second, Revision::Pin(true)).unwrap().pinned);
    assert_eq!(store.revise(&second, Revision::Rename(" named ".into())).unwrap().label.text, "named");
    assert_eq!(store.revise(&second, Revision::Rename(String::new())).unwrap().label.text, "second");
    told.push(go(store, &all(&first.id), || set("a", "changed since the plan")));
    told.push(go(store, &all(&second), || {}));
    store.delete(&first.id).unwrap();
    assert!(matches!(store.delete(&first.id), Err(CheckpointError::Unknown(_))));
    assert!(matches!(store.plan(&all(&first.id)), Err(CheckpointError::Unknown(_))));
    store.prune(&Retention { count: 1, ..Default::default() }).unwrap();
    let left = store.list().unwrap();
    assert_eq!((left.len(), left[0].pinned, store.usage().unwrap().checkpoints), (2, true, 2));
    told
}

#[test]
fn the_twin_in_memory_behaves_the_same() {
    let mut b = Bench::new();
    let root = b.root.clone();
    let on_disk = story(&mut b.store, &|path, text| {
        fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        fs::write(root.join(path), text).unwrap();
    });
    let world = Arc::new(Mutex::new(memory::Files::new()));
    let mut twin = MemoryStore::new(world.clone());
    let in_memory = story(&mut twin, &|path, text| drop(world.lock().unwrap().insert(path.into(), text.into())));
    assert_eq!(in_memory, on_disk);
    twin.fail_next("full disk");
    assert!(twin.take(&Label::new(Kind::Manual, "z")).is_err());
}
