//! A disk that is full, files that may not be written, folders that vanish, files without end, repositories in the tree.

use super::*;

fn manual() -> Label {
    Label::new(Kind::Manual, "test")
}

/// Bytes that no compression makes smaller.
fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut dice = random::Dice(seed);
    (0..length).map(|_| dice.below(256) as u8).collect()
}

fn temporary_files(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_temporary = |name: &std::ffi::OsStr| name.as_bytes().starts_with(b"tmp_") || crate::atomic::is_temporary(name);
    entries.map(|e| usize::from(is_temporary(&e.file_name())) + if e.path().is_dir() { temporary_files(&e.path()) } else { 0 }).sum()
}

/// Runs one of the tests below in a process of its own.
fn child(test: &str, folder: &Path) {
    let out = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", &format!("checkpoint::tests::trouble::{test}")])
        .env("BACKSTITCH_TEST_TROUBLE", folder)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success() && text.contains("1 passed"), "{text}{}", String::from_utf8_lossy(&out.stderr));
}

/// No file of this process can be longer than 60 kB: a disk that is full at some point of a file.
#[test]
fn victim_of_a_full_disk() {
    let Some(folder) = std::env::var_os("BACKSTITCH_TEST_TROUBLE").map(PathBuf::from) else { return };
    let root = folder.join("project");
    let mut store = GitStore::open(&folder.join("data"), &root).unwrap();
    let first = store.list().unwrap()[0].id.clone();
    // SAFETY: only makes writes that are too long fail instead of killing the process.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let most = rustix::process::Rlimit { current: Some(60_000), maximum: None };
    rustix::process::setrlimit(rustix::process::Resource::Fsize, most).unwrap();
    // A large file, and many small ones at once.
    for (name, count) in [("large", 1), ("many", 300)] {
        for n in 0..count {
            let (at, length) = (root.join(format!("{name}{n}")), 90_000 / count);
            (0..3).for_each(|part| {
                use std::io::Write;
                let mut file = fs::File::options().create(true).append(true).open(&at).unwrap();
                let _ = file.write_all(&noise(length / 3, n as u64 * 3 + part));
            });
        }
    }
    fs::remove_file(root.join("large0")).unwrap();
    assert!(matches!(store.take(&manual()), Err(CheckpointError::Io { .. })));
    (0..300).for_each(|n| fs::remove_file(root.join(format!("many{n}"))).unwrap());
    // What can't be written is as it was, the rest comes back.
    fs::write(root.join("large"), "short").unwrap();
    fs::write(root.join("small"), "other").unwrap();
    let plan = store.plan(&all(&first)).unwrap();
    let restored = store.restore(&plan).unwrap();
    assert_eq!(names(&restored.changes), ["~small"]);
    assert_eq!(restored.skipped.len(), 1);
    assert_eq!(fs::read(root.join("large")).unwrap(), b"short");
}

#[test]
fn a_full_disk_costs_nothing_that_was_there() {
    let mut b = Bench::new();
    b.write("large", noise(90_000, 1));
    b.write("small", "one");
    let (first, before) = (b.take(), copy(&b.root));
    child("victim_of_a_full_disk", b.root.parent().unwrap());
    b.store = GitStore::open(&b.data, &b.root).unwrap();
    assert_eq!(b.store.notice(), None);
    assert_eq!(temporary_files(b.root.parent().unwrap()), 0);
    b.fsck();
    b.restore(&first);
    assert_eq!(copy(&b.root), before);
}

#[test]
fn what_may_not_be_written_is_left_and_listed() {
    let mut b = Bench::new();
    b.write("file", "1");
    b.write("folder/inside", "1");
    b.write("folder/gone", "1");
    fs::set_permissions(b.root.join("file"), fs::Permissions::from_mode(0o444)).unwrap();
    let first = b.take();
    for file in ["file", "folder/inside", "folder/new"] {
        remove_and_write(&b, file, "2");
    }
    fs::remove_file(b.root.join("folder/gone")).unwrap();
    fs::set_permissions(b.root.join("file"), fs::Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(b.root.join("folder"), fs::Permissions::from_mode(0o555)).unwrap();
    let restored = b.restore(&first);
    fs::set_permissions(b.root.join("folder"), fs::Permissions::from_mode(0o755)).unwrap();
    // A file that is only read keeps being so.
    let file = fs::metadata(b.root.join("file")).unwrap();
    assert_eq!((fs::read(b.root.join("file")).unwrap(), file.permissions().mode() & 0o777), (b"1".to_vec(), 0o444));
    if rustix::process::geteuid().is_root() {
        assert_eq!(restored.skipped, []);
    } else {
        // In a folder that is only read a file can be overwritten, but none made or removed.
        let left: Vec<_> = restored.skipped.iter().map(|(path, _)| path.display().to_string()).collect();
        assert_eq!(left, ["folder/new", "folder/gone"]);
        b.restore(&first);
    }
    assert_eq!(names(&b.store.diff(&first, None).unwrap()), Vec::<String>::new());
}

fn remove_and_write(b: &Bench, path: &str, text: &str) {
    let _ = fs::remove_file(b.root.join(path));
    b.write(path, text);
}

#[test]
fn folders_may_vanish_while_they_are_looked_at() {
    let mut b = Bench::new();
    b.write("stays", "1");
    let root = b.root.clone();
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0.. {
                if over.load(std::sync::atomic::Ordering::Relaxed) {
                    break;
                }
                for n in 0..20 {
                    let folder = root.join(format!("dir{n}/sub"));
                    fs::create_dir_all(&folder).unwrap();
                    fs::write(folder.join("file"), format!("{round}")).unwrap();
                }
                for n in 0..20 {
                    fs::remove_dir_all(root.join(format!("dir{n}"))).unwrap();
                }
            }
        });
        let takes: Vec<_> = (0..40).map(|_| b.store.take(&manual())).collect();
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        for taken in takes {
            assert_eq!(taken.unwrap().skipped, []);
        }
    });
    b.fsck();
    assert_eq!(b.store.notice(), None);
}

/// Two gigabytes without contents on the disk, wanted or not.
#[test]
fn a_file_without_end_is_listed() {
    let mut b = Bench::new();
    let sparse = fs::File::create(b.root.join("sparse")).unwrap();
    sparse.set_len(2 << 30).unwrap();
    b.write("a", "1");
    let first = b.store.take(&manual()).unwrap();
    assert_eq!(first.skipped, [("sparse".into(), "larger than 20 MB".into())]);
    b.store.cover(&[b.root.join("sparse")]);
    b.write("a", "2");
    let second = b.store.take(&manual()).unwrap();
    assert_eq!(second.skipped, [("sparse".into(), "larger than 64 MB".into())]);
    let plan = b.plan(&first.id);
    assert_eq!(plan.skipped, [("sparse".into(), "not in that checkpoint: larger than 20 MB".into())]);
    let restored = b.store.restore(&plan).unwrap();
    assert_eq!(names(&restored.changes), ["~a"]);
    assert_eq!(fs::metadata(b.root.join("sparse")).unwrap().len(), 2 << 30);
    b.fsck();
}

/// What is there now and can't be kept can't be taken away: the plan says so.
#[test]
fn a_large_file_that_came_later_is_in_the_plan() {
    let mut b = Bench::new();
    b.store.set_limit(1 << 20);
    b.write("a", "1");
    let opening = b.take();
    b.write("build/large", vec![0u8; (1 << 20) + 1]);
    let closing = b.take();
    b.write("users", vec![0u8; (1 << 20) + 1]);
    let listed = |plan: Plan| plan.skipped.into_iter().map(|(path, _)| path.display().to_string()).collect::<Vec<_>>();
    assert_eq!(listed(b.plan(&opening)), ["build/large", "users"]);
    // Of the turn's work only.
    assert_eq!(listed(b.store.plan(&Wanted { since: Some(closing), ..all(&opening) }).unwrap()), ["build/large"]);
}

fn git(folder: &Path, args: &[&str]) -> bool {
    let mut git = Command::new("git");
    git.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").current_dir(folder);
    git.args(["-c", "user.name=x", "-c", "user.email=x@y", "-c", "protocol.file.allow=always"]).args(args);
    git.output().is_ok_and(|out| out.status.success())
}

#[test]
fn fifty_submodules_and_a_linked_worktree_keep_their_repositories() {
    let mut b = Bench::new();
    let top = b.root.parent().unwrap().to_path_buf();
    let (library, main) = (top.join("library"), top.join("main"));
    fs::create_dir(&library).unwrap();
    fs::write(library.join("lib.rs"), "theirs").unwrap();
    fs::create_dir(&main).unwrap();
    fs::write(main.join("main.rs"), "ours").unwrap();
    for folder in [&library, &main] {
        if !git(folder, &["init", "-q", "-b", "main"]) {
            return;
        }
        assert!(git(folder, &["add", "-A"]) && git(folder, &["commit", "-qm", "first"]));
    }
    fs::remove_dir(&b.root).unwrap();
    assert!(git(&main, &["worktree", "add", "-q", b.root.to_str().unwrap(), "-b", "work"]));
    assert!(git(&b.root, &["submodule", "add", "-q", library.to_str().unwrap(), "sub0"]));
    // The same repository, fifty times, without waiting for git.
    for n in 1..50 {
        let link = fs::read_to_string(b.root.join("sub0/.git")).unwrap();
        b.write(&format!("sub{n}/.git"), link);
        b.write(&format!("sub{n}/lib.rs"), format!("theirs {n}"));
    }
    b.store = GitStore::open(&b.data, &b.root).unwrap();
    let repository = copy(&main.join(".git"));
    let (first, before) = (b.take(), copy(&b.root));
    for n in 0..50 {
        b.write(&format!("sub{n}/lib.rs"), "changed");
        b.write(&format!("sub{n}/new.rs"), "new");
    }
    assert_eq!(b.plan(&first).files.len(), 100);
    b.restore(&first);
    assert_eq!(copy(&b.root), before);
    assert_eq!(copy(&main.join(".git")), repository, "not a byte of theirs");
    b.fsck();
}

#[test]
fn several_work_in_one_tree() {
    let mut b = Bench::new();
    b.write("shared", "1");
    let (data, root) = (b.data.clone(), b.root.clone());
    std::thread::scope(|scope| {
        for n in 0..3 {
            let (data, root) = (&data, &root);
            scope.spawn(move || {
                let own = format!("own{n}/file");
                fs::create_dir_all(root.join(format!("own{n}"))).unwrap();
                let mut store = GitStore::open(data, root).unwrap();
                for round in 0..6 {
                    fs::write(root.join(&own), format!("{round}")).unwrap();
                    // Between the two, the others may take enough to have it pruned: then it is taken again.
                    let mut pinned = || {
                        let id = store.take(&manual()).unwrap().id;
                        store.revise(&id, Revision::Pin(true)).is_ok().then_some(id)
                    };
                    let id = (0..20).find_map(|_| pinned()).unwrap();
                    fs::write(root.join(&own), "later").unwrap();
                    let plan = store.plan(&Wanted { only: Some(vec![own.clone().into()]), ..all(&id) }).unwrap();
                    let restored = store.restore(&plan).unwrap();
                    assert_eq!((restored.changes.len(), restored.skipped), (1, vec![]));
                    assert_eq!(fs::read_to_string(root.join(&own)).unwrap(), format!("{round}"));
                    store.prune(&Retention { count: 3, ..Default::default() }).unwrap();
                    assert!(store.list().unwrap().iter().any(|e| e.id == id), "a pinned checkpoint is gone");
                    store.revise(&id, Revision::Pin(false)).unwrap();
                    assert_eq!(store.notice(), None);
                }
            });
        }
    });
    b.take();
    assert_eq!(b.store.notice(), None);
    b.fsck();
}

/// Where the loose object is that the newest checkpoint has at this place.
fn loose_object(b: &Bench, place: &str) -> PathBuf {
    let repo = git2::Repository::open_bare(b.store.folder().join("repo.git")).unwrap();
    let newest = repository::newest(&repo).unwrap().unwrap();
    let tree = repo.find_commit(newest.id).unwrap().tree().unwrap();
    let id = tree.get_path(Path::new(place)).unwrap().id().to_string();
    repo.path().join("objects").join(&id[..2]).join(&id[2..])
}

#[test]
fn objects_that_are_missing_are_written_again() {
    for (place, again) in [("root/a/b/file", true), ("root/a/b", true), ("root/a", true), ("root/a/b/file", false), ("root/a/b", false)] {
        let mut b = Bench::new();
        b.write("a/b/file", "one");
        b.write("a/other", "two");
        let first = b.take();
        fs::remove_file(loose_object(&b, place)).unwrap();
        if again {
            b.store = GitStore::open(&b.data, &b.root).unwrap();
            // Something that writes nothing, and yet another process.
            b.store.list().unwrap();
            b.store = GitStore::open(&b.data, &b.root).unwrap();
        }
        assert_eq!(b.take(), first, "{place}");
        b.fsck();
        let before = copy(&b.root);
        b.write("a/b/file", "changed");
        b.take();
        assert_eq!(b.restore(&first).skipped, []);
        assert_eq!(copy(&b.root), before);
        assert_eq!(b.store.notice(), None);
        b.fsck();
    }
}

#[test]
fn a_store_that_is_gone_begins_anew_and_says_so() {
    let mut b = Bench::new();
    b.write("file", "one");
    b.take();
    fs::remove_dir_all(b.store.folder().join("repo.git")).unwrap();
    // While it is open, and when it is opened.
    let id = b.take();
    assert!(b.store.notice().unwrap().starts_with("The checkpoint store was gone"));
    b.fsck();
    fs::remove_dir_all(b.store.folder().join("repo.git")).unwrap();
    b.store = GitStore::open(&b.data, &b.root).unwrap();
    assert!(b.store.notice().unwrap().starts_with("The checkpoint store was gone"));
    assert!(matches!(b.store.plan(&all(&id)), Err(CheckpointError::Unknown(_))));
    let first = b.take();
    b.write("file", "two");
    assert_eq!(names(&b.restore(&first).changes), ["~file"]);
    b.fsck();
}

/// The rules of a checkpoint may have left out what a later one would have seen.
#[test]
fn a_file_that_a_tool_made_goes_also_where_the_rules_have_changed_meanwhile() {
    let mut b = Bench::new();
    b.write(".gitignore", "build/\n");
    let before = b.take();
    fs::rename(b.root.join(".gitignore"), b.root.join("gi")).unwrap();
    b.store.cover(&[b.root.join("build/gen")]);
    b.take();
    b.write("build/gen", "hi");
    b.take();
    let restored = b.restore(&before);
    assert_eq!(restored.skipped, []);
    assert!(!b.root.join("build/gen").exists() && b.root.join(".gitignore").exists());
    b.restore(&restored.before);
    assert_eq!(fs::read(b.root.join("build/gen")).unwrap(), b"hi");
}

/// What makes a program run as its owner comes back with it, and goes when it was not there.
#[test]
fn set_user_and_set_group_and_sticky_bits_go_back() {
    let mut b = Bench::new();
    let set = |b: &Bench, path: &str, bits: u32| fs::set_permissions(b.root.join(path), fs::Permissions::from_mode(bits)).unwrap();
    let bits = |b: &Bench, path: &str| fs::metadata(b.root.join(path)).unwrap().permissions().mode() & 0o7777;
    let files = [("suid", 0o4755), ("sgid", 0o2750), ("sticky", 0o1644), ("plain", 0o755)];
    for (path, mode) in files {
        b.write(path, "1");
        set(&b, path, mode);
    }
    let first = b.take();
    b.fsck();
    for round in 0..4 {
        for (path, mode) in files {
            match round {
                0 => set(&b, path, mode & 0o777),
                1 => remove_and_write(&b, path, "2"),
                2 => fs::remove_file(b.root.join(path)).unwrap(),
                // The other way round: the one that had none has them now.
                _ => set(&b, path, if path == "plain" { 0o6755 } else { mode }),
            }
        }
        let second = b.store.take(&manual()).unwrap();
        assert!(second.files_changed > 0, "{round}");
        let plan = b.plan(&first);
        assert_eq!(plan.files.len(), [3, 4, 4, 1][round], "{round}");
        assert_eq!(b.store.restore(&plan).unwrap().skipped, []);
        assert_eq!(files.map(|(path, _)| (path, bits(&b, path))), files, "{round}");
        assert_eq!(b.plan(&first).files, []);
        b.fsck();
    }
}

/// Repositories are neither kept nor put back: that one is gone is said.
#[test]
fn a_repository_that_went_is_named() {
    let mut b = Bench::new();
    b.write("nested/.git/HEAD", "ref: x\n");
    b.write("nested/a", "a");
    b.write("other/.git", "gitdir: elsewhere\n");
    b.write("other/b", "b");
    b.write("c", "1");
    let taken = b.store.take(&manual()).unwrap();
    assert_eq!(taken.skipped, [], "while they are there they are nobody's business");
    b.write("c", "2");
    assert_eq!(b.plan(&taken.id).skipped, []);
    fs::remove_dir_all(b.root.join("nested")).unwrap();
    b.write("new/.git/HEAD", "ref: y\n");
    let plan = b.plan(&taken.id);
    let skipped: Vec<String> = plan.skipped.iter().map(|(path, why)| format!("{}: {why}", path.display())).collect();
    assert_eq!(
        skipped,
        [
            "nested/.git: not in that checkpoint: repositories are never touched",
            "new/.git: what is there now could not be kept; left as it is",
        ]
    );
    b.restore(&taken.id);
    assert_eq!(fs::read(b.root.join("nested/a")).unwrap(), b"a");
    assert!(b.root.join("new/.git/HEAD").exists() && b.root.join("other/.git").exists() && !b.root.join("nested/.git").exists());
}

/// A folder that becomes a link while files go back into it leads none of them out of the project.
#[test]
fn nothing_goes_back_through_a_folder_that_was_swapped() {
    for nth in 1..=4 {
        let mut b = Bench::new();
        let outside = b.root.parent().unwrap().join("outside");
        fs::create_dir(&outside).unwrap();
        for file in ["changed", "new", "gone", "link"] {
            fs::write(outside.join(file), "theirs").unwrap();
        }
        b.write("sub/changed", "1");
        b.write("sub/gone", "1");
        symlink("changed", b.root.join("sub/link")).unwrap();
        let first = b.take();
        b.write("sub/changed", "2");
        b.write("sub/new", "theirs");
        fs::remove_file(b.root.join("sub/gone")).unwrap();
        fs::remove_file(b.root.join("sub/link")).unwrap();
        let plan = b.plan(&first);
        let (root, to) = (b.root.clone(), outside.clone());
        crate::atomic::spot::tests::when_opened(nth, move || {
            fs::rename(root.join("sub"), root.join("was")).unwrap();
            symlink(to, root.join("sub")).unwrap();
        });
        let _ = b.store.restore(&plan);
        assert!(b.root.join("was").exists(), "{nth}: the moment is found");
        for file in ["changed", "new", "gone", "link"] {
            assert_eq!(fs::read(outside.join(file)).unwrap(), b"theirs", "{nth}: {file}");
        }
    }
}
