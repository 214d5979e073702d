//! A store in which something is not what it was: that is found before a file is touched, told, and the next turn has a new store.

use super::*;

fn repo(b: &Bench) -> git2::Repository {
    git2::Repository::open_bare(b.store.folder().join("repo.git")).unwrap()
}

fn object(b: &Bench, id: &str) -> PathBuf {
    b.store.folder().join("repo.git/objects").join(&id[..2]).join(&id[2..])
}

fn blob_of(text: &str) -> String {
    git2::Oid::hash_object(git2::ObjectType::Blob, text.as_bytes()).unwrap().to_string()
}

/// Other bytes of the same length in the middle.
fn spoil(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..].iter_mut().take(4).for_each(|byte| *byte ^= 0x5a);
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(path, bytes).unwrap();
}

fn reasons(skipped: &[Skipped]) -> Vec<String> {
    skipped.iter().map(|(path, why)| format!("{}: {why}", path.display())).collect()
}

fn begins(b: &mut Bench) -> CheckpointId {
    b.store.take(&Label::new(Kind::BeforeTurn, "next turn")).unwrap().id
}

#[test]
fn contents_that_are_damaged_are_in_the_plan_and_the_rest_comes_back() {
    for (how, why) in [("spoiled", "damaged"), ("emptied", "damaged"), ("cut", "damaged"), ("gone", "missing")] {
        let mut b = Bench::new();
        for file in ["a", "b", "c"] {
            b.write(file, format!("{file} one, and some more text").repeat(20));
        }
        let first = b.take();
        for file in ["a", "b", "c"] {
            b.write(file, "two");
        }
        let second = b.take();
        let path = object(&b, &blob_of(&"b one, and some more text".repeat(20)));
        match how {
            "gone" => fs::remove_file(&path).unwrap(),
            "spoiled" => spoil(&path),
            _ => {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
                fs::File::options().write(true).open(&path).unwrap().set_len(if how == "cut" { 20 } else { 0 }).unwrap();
            }
        }
        let told = [format!("b: its contents are {why} in the checkpoint store; left as it is")];
        let plan = b.plan(&first);
        assert_eq!((plan.files.len(), reasons(&plan.skipped)), (2, told.to_vec()), "{how}");
        let restored = b.store.restore(&plan).unwrap();
        assert_eq!((names(&restored.changes), reasons(&restored.skipped)), (vec!["~a".to_string(), "~c".into()], told.to_vec()));
        assert_eq!(fs::read(b.root.join("b")).unwrap(), b"two");
        assert_eq!(b.store.notice(), None, "what is whole of it stays in use");
        // The way forward is still there.
        let plan = b.store.plan(&all(&restored.before)).unwrap();
        assert_eq!(b.store.restore(&plan).unwrap().skipped, []);
        // The next turn has a store that is whole, and says so.
        let next = begins(&mut b);
        let notice = b.store.notice().unwrap();
        assert!(notice.contains("the contents of b can't be read") && notice.contains("set aside as"), "{notice}");
        assert!(b.store.list().unwrap().iter().map(|e| &e.id).eq([&next]));
        assert!(matches!(b.store.plan(&all(&second)), Err(CheckpointError::Unknown(_))));
        b.fsck();
        b.write("b", "three");
        begins(&mut b);
        assert_eq!(b.store.notice(), None, "once");
    }
}

/// A plan that was made before the damage changes nothing that it can't complete.
#[test]
fn nothing_is_taken_away_for_what_cannot_come() {
    let text = |name: &str| format!("{name}, the whole of it").repeat(20);
    let mut b = Bench::new();
    b.write("x", text("x"));
    b.write("dir/one", text("one"));
    b.write("mixed/one", text("lost"));
    b.write("mixed/two", text("two"));
    let first = b.take();
    fs::remove_file(b.root.join("x")).unwrap();
    b.write("x/y/inside", "now a folder");
    for folder in ["dir", "mixed"] {
        fs::remove_dir_all(b.root.join(folder)).unwrap();
        b.write(folder, "now a file");
    }
    b.take();
    let plan = b.plan(&first);
    assert_eq!(plan.files.len(), 7);
    for name in ["x", "one", "lost"] {
        spoil(&object(&b, &blob_of(&text(name))));
    }
    let before = copy(&b.root);
    let damaged = |path: &str| format!("{path}: its contents are damaged in the checkpoint store; left as it is");
    let no_room = |path: &str| format!("{path}: what was in its place can't come back; left as it is");
    let expected = vec![no_room("dir"), damaged("dir/one"), damaged("mixed/one"), damaged("x"), no_room("x/y/inside")];
    assert_eq!(reasons(&b.plan(&first).skipped), expected);
    let restored = b.store.restore(&plan).unwrap();
    assert_eq!(reasons(&restored.skipped), expected);
    assert_eq!(names(&restored.changes), ["-mixed", "+mixed/two"]);
    let mut now = before;
    now.remove(b"mixed".as_slice());
    now.insert(b"mixed/two".to_vec(), (0, text("two").into_bytes()));
    assert_eq!(copy(&b.root), now);
    assert!(!was_cut_off(&b.data, &b.root));
}

#[test]
fn a_damaged_pack_is_found() {
    let mut b = Bench::new();
    for n in 0..300 {
        b.write(&format!("f{n}"), format!("file number {n}").repeat(30));
    }
    let first = b.take();
    for n in 0..300 {
        b.write(&format!("f{n}"), "two");
    }
    b.take();
    let packs = fs::read_dir(b.store.folder().join("repo.git/objects/pack")).unwrap().flatten().map(|file| file.path());
    let packs = packs.filter(|path| path.extension().is_some_and(|e| e == "pack"));
    let pack = packs.max_by_key(|path| fs::metadata(path).unwrap().len()).unwrap();
    // Where some of the contents are.
    let mut bytes = fs::read(&pack).unwrap();
    bytes[200..1200].fill(0xee);
    fs::set_permissions(&pack, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(&pack, bytes).unwrap();
    b.store = GitStore::open(&b.data, &b.root).unwrap();
    let plan = b.plan(&first);
    let lost = plan.skipped.len();
    assert!(lost > 0 && lost < 300 && plan.files.len() == 300 - lost, "{lost}");
    let restored = b.store.restore(&plan).unwrap();
    assert_eq!((restored.changes.len(), restored.skipped.len()), (300 - lost, lost));
    for n in 0..300 {
        let text = fs::read_to_string(b.root.join(format!("f{n}"))).unwrap();
        let then = format!("file number {n}").repeat(30);
        assert_eq!(text == "two", plan.skipped.iter().any(|(path, _)| path == Path::new(&format!("f{n}"))));
        assert!(text == "two" || text == then);
    }
    begins(&mut b);
    assert!(b.store.notice().unwrap().contains("set aside"));
    b.fsck();
}

/// Folders and checkpoints themselves: nothing can be compared without them.
#[test]
fn a_damaged_tree_or_commit_is_told_with_the_error_and_nothing_is_changed() {
    for what in ["tree", "commit"] {
        let mut b = Bench::new();
        b.write("dir/sub/a", "one");
        let first = b.take();
        b.write("dir/sub/a", "two");
        b.write("dir/sub/b", "two");
        b.take();
        let repo = repo(&b);
        let commit = repo.find_commit(git2::Oid::from_str(&first.0).unwrap()).unwrap();
        let tree = commit.tree().unwrap().get_path(Path::new("root/dir/sub")).unwrap().id().to_string();
        spoil(&object(&b, if what == "tree" { &tree } else { &first.0 }));
        let before = copy(&b.root);
        let error = b.store.plan(&all(&first)).unwrap_err();
        assert!(matches!(error, CheckpointError::Gone(_)), "{error}");
        assert!(error.to_string().contains("set aside as") && error.to_string().contains("can't be restored"), "{error}");
        assert_eq!(b.store.notice(), None, "it is told once");
        assert_eq!(copy(&b.root), before);
        assert_eq!(b.store.list().unwrap(), []);
        b.take();
        b.fsck();
    }
}

/// The name of a checkpoint that a power cut left without contents is none, and no reason to give up the others.
#[test]
fn a_reference_without_contents_is_no_checkpoint() {
    let mut b = Bench::new();
    b.write("a", "1");
    let first = b.take();
    let refs = b.store.folder().join("repo.git/refs/checkpoints");
    for (number, text) in [(2, ""), (3, "\0\0\0\0")] {
        fs::write(refs.join(format!("{number:010}")), text).unwrap();
    }
    b.store = GitStore::open(&b.data, &b.root).unwrap();
    assert_eq!(b.store.notice(), None);
    b.write("a", "2");
    let second = b.take();
    assert!(b.store.list().unwrap().iter().map(|e| &e.id).eq([&first, &second]));
    fs::remove_file(refs.join("0000000003")).unwrap();
    b.fsck();
    b.restore(&first);
    assert_eq!(fs::read(b.root.join("a")).unwrap(), b"1");
}
