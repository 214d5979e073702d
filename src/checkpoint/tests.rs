//! The git store against plain copies of the tree, and real git's opinion of what it wrote.

mod crash;
mod damage;
mod packs;
mod plans;
pub mod random;
mod retention;
mod trouble;
mod twin;

use super::*;
use crate::protocol::{CheckpointId, FileChange, Plan, Wanted};
use std::{
    collections::BTreeMap,
    fs,
    os::unix::{
        ffi::OsStrExt,
        fs::{PermissionsExt, symlink},
    },
    path::{Path, PathBuf},
    process::Command,
};

struct Bench {
    _dir: tempfile::TempDir,
    data: PathBuf,
    root: PathBuf,
    store: GitStore,
}

/// Mode and contents of everything that is no folder, by path.
type Copied = BTreeMap<Vec<u8>, (u32, Vec<u8>)>;

fn copy(root: &Path) -> Copied {
    fn visit(folder: &Path, root: &Path, all: &mut Copied) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = fs::symlink_metadata(&path).unwrap();
            let name = path.strip_prefix(root).unwrap().as_os_str().as_bytes().to_vec();
            if meta.is_dir() {
                visit(&path, root, all);
            } else if meta.is_symlink() {
                all.insert(name, (1, fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()));
            } else if meta.is_file() {
                all.insert(name, (meta.permissions().mode() & 0o100, fs::read(&path).unwrap()));
            }
        }
    }
    let mut all = Copied::new();
    visit(root, root, &mut all);
    all
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let (root, data) = (top.join("project"), top.join("data"));
        fs::create_dir(&root).unwrap();
        let store = GitStore::open(&data, &root).unwrap();
        Bench { _dir: dir, data, root, store }
    }

    fn write(&self, path: &str, contents: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    fn take(&mut self) -> CheckpointId {
        self.store.take(&Label::new(Kind::Manual, "test")).unwrap().id
    }

    /// All of it.
    fn plan(&mut self, to: &CheckpointId) -> Plan {
        self.store.plan(&all(to)).unwrap()
    }

    fn restore(&mut self, to: &CheckpointId) -> Restored {
        let plan = self.plan(to);
        self.store.restore(&plan).unwrap()
    }

    fn commits(&mut self) -> usize {
        self.store.list().unwrap().len()
    }

    /// Real git, if there is one, has nothing to say against the store.
    fn fsck(&self) {
        let repo = self.store.folder().join("repo.git");
        let mut git = Command::new("git");
        git.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").arg("--git-dir").arg(repo);
        let Ok(out) = git.args(["fsck", "--full", "--strict", "--no-dangling"]).output() else { return };
        let text = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success() && !text.contains("error") && !text.contains("missing"), "{text}");
    }
}

fn all(to: &CheckpointId) -> Wanted {
    Wanted { to: to.clone(), since: None, only: None }
}

fn names(changes: &[FileChange]) -> Vec<String> {
    changes
        .iter()
        .map(|c| {
            format!(
                "{}{}",
                ["-", "+", "~"][usize::from(c.new.is_some()) + usize::from(c.old.is_some() && c.new.is_some())],
                c.path.display()
            )
        })
        .collect()
}

fn undo(b: &mut Bench, to: &CheckpointId, since: &CheckpointId) -> Restored {
    let plan = b.store.plan(&Wanted { since: Some(since.clone()), ..all(to) }).unwrap();
    b.store.restore(&plan).unwrap()
}

/// Files that others may not read, or that nobody may write, come back as they were; the others need no list.
#[test]
fn permissions_that_git_does_not_know_come_back() {
    let mut b = Bench::new();
    let set = |b: &Bench, path: &str, bits: u32| fs::set_permissions(b.root.join(path), fs::Permissions::from_mode(bits)).unwrap();
    let bits = |b: &Bench, path: &str| fs::metadata(b.root.join(path)).unwrap().permissions().mode() & 0o777;
    let files = [("a/b/secret", 0o600), ("a/key", 0o400), ("fixed", 0o444), ("run", 0o700), ("ignored.env", 0o640), ("plain", 0o644)];
    b.write(".gitignore", "*.env\n");
    b.write("plain", "1");
    let modes = |b: &Bench, id: &CheckpointId| {
        let repo = git2::Repository::open_bare(b.store.folder().join("repo.git")).unwrap();
        let tree = repo.find_commit(git2::Oid::from_str(&id.0).unwrap()).unwrap().tree().unwrap();
        tree.get_name("modes").is_some()
    };
    let without = b.take();
    assert!(!modes(&b, &without));
    for (path, mode) in files {
        b.write(path, "1");
        set(&b, path, mode);
    }
    b.store.cover(&[b.root.join("ignored.env")]);
    let first = b.take();
    assert!(modes(&b, &first));
    b.fsck();
    // Deleted; replaced by others; opened for everybody. Each seen by a store that knows, and by one that has to read all.
    for round in 0..6 {
        for (path, mode) in files {
            if round % 3 < 2 {
                fs::remove_file(b.root.join(path)).unwrap();
            }
            if round % 3 == 1 {
                b.write(path, "2");
            }
            if round % 3 == 2 {
                set(&b, path, mode | 0o644);
            }
        }
        if round > 2 {
            b.store = GitStore::open(&b.data, &b.root).unwrap();
            fs::remove_file(b.store.folder().join("index")).unwrap();
        }
        assert_eq!(b.plan(&first).files.len(), if round % 3 == 2 { 5 } else { 6 });
        assert_eq!(b.restore(&first).skipped, []);
        assert_eq!(files.map(|(path, _)| (path, bits(&b, path))), files);
        assert!(files.iter().all(|(path, _)| fs::read(b.root.join(path)).unwrap() == b"1"));
        assert_eq!(b.plan(&first).files, []);
        b.fsck();
    }
    // What a checkpoint says nothing of is no reason to open a file for others.
    set(&b, "plain", 0o600);
    assert_eq!(b.plan(&first).files, []);
    b.write("plain", "2");
    b.restore(&first);
    assert_eq!(bits(&b, "plain"), 0o600);
    assert_eq!(b.store.unfinished().unwrap(), None);
}

/// `/undo` walks back what the turn did; what the user (or another instance) did after it is not the turn's.
#[test]
fn undo_leaves_what_was_done_after_the_turn() {
    let mut b = Bench::new();
    for file in ["turn", "user", "both", "deleted"] {
        b.write(file, "one\n");
    }
    let opening = b.take();
    for file in ["turn", "both", "new", "new-and-edited"] {
        b.write(file, "two\n");
    }
    let closing = b.take();
    for file in ["user", "both", "users-new", "new-and-edited"] {
        b.write(file, "three\n");
    }
    fs::remove_file(b.root.join("deleted")).unwrap();
    let restored = undo(&mut b, &opening, &closing);
    assert_eq!(names(&restored.changes), ["-new", "~turn"]);
    let skipped: Vec<_> = restored.skipped.iter().map(|(path, why)| format!("{}: {why}", path.display())).collect();
    assert_eq!(skipped, ["both: changed after the turn; left as it is", "new-and-edited: changed after the turn; left as it is"]);
    let is = |file: &str| fs::read_to_string(b.root.join(file)).unwrap_or_default();
    assert_eq!(["turn", "user", "both", "new-and-edited", "users-new"].map(is), ["one\n", "three\n", "three\n", "three\n", "three\n"]);
    assert!(!b.root.join("new").exists() && !b.root.join("deleted").exists());
}

#[test]
fn everything_comes_back() {
    let mut b = Bench::new();
    b.write("a.txt", "one\n");
    b.write("bin", [0, 255, 13, 10, 0]);
    b.write("empty", "");
    b.write("run.sh", "#!/bin/sh\n");
    fs::set_permissions(b.root.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    b.write(".hidden/x", "h");
    b.write("dir/file", "in a folder");
    b.write("nested/.git/config", "not ours");
    b.write("nested/code", "theirs");
    symlink("nowhere", b.root.join("dangling")).unwrap();
    fs::write(b.root.join(std::ffi::OsStr::from_bytes(b"caf\xe9")), "latin").unwrap();
    let (first, before) = (b.take(), copy(&b.root));

    b.write("a.txt", "two\n");
    b.write("new/deep/file", "n");
    fs::remove_file(b.root.join("bin")).unwrap();
    fs::set_permissions(b.root.join("run.sh"), fs::Permissions::from_mode(0o644)).unwrap();
    fs::remove_dir_all(b.root.join("dir")).unwrap();
    b.write("dir", "now a file");
    fs::remove_file(b.root.join("empty")).unwrap();
    b.write("empty/now/a/folder", "x");
    fs::remove_file(b.root.join("dangling")).unwrap();
    symlink("a.txt", b.root.join("dangling")).unwrap();
    let changed = copy(&b.root);

    let restored = b.restore(&first);
    assert_eq!(copy(&b.root), before);
    assert_eq!(restored.skipped, []);
    assert_eq!(
        names(&restored.changes),
        ["~a.txt", "+bin", "~dangling", "-dir", "+dir/file", "+empty", "-empty/now/a/folder", "-new/deep/file", "~run.sh"]
    );
    assert!(!b.root.join("new").exists(), "folders that became empty are gone");
    assert_eq!(b.restore(&restored.before).skipped, []);
    assert_eq!(copy(&b.root), changed);
    b.fsck();
}

#[test]
fn an_unchanged_tree_makes_no_new_checkpoint() {
    let mut b = Bench::new();
    b.write("a", "1");
    let first = b.store.take(&Label::new(Kind::BeforeTurn, "first")).unwrap();
    assert_eq!(first.files_changed, 1);
    let again = b.store.take(&Label::new(Kind::AfterTurn, "again")).unwrap();
    assert_eq!((again.id.clone(), again.files_changed, b.commits()), (first.id.clone(), 0, 1));
    // Neither does a file that a tool is about to make where a walk will find it.
    b.store.cover(&[b.root.join("new.rs")]);
    assert_eq!(b.take(), first.id);
    b.write("a", "2");
    assert_ne!(b.take(), first.id);
    let list = b.store.list().unwrap();
    assert_eq!((list[0].label.text.as_str(), list[0].label.kind, list[1].files_changed), ("first", Kind::BeforeTurn, 1));
}

/// A change that leaves size and time stamps alone, made right after a checkpoint, is seen.
#[test]
fn racy_changes_are_seen() {
    let mut b = Bench::new();
    b.write("a", "1");
    let first = b.take();
    for text in ["2", "3", "4"] {
        let time = fs::metadata(b.root.join("a")).unwrap().modified().unwrap();
        b.write("a", text);
        fs::File::options().write(true).open(b.root.join("a")).unwrap().set_modified(time).unwrap();
        let id = b.take();
        let diff = b.store.diff(&first, Some(&id)).unwrap();
        assert_eq!(diff[0].new.as_deref(), Some(text));
    }
}

#[test]
fn the_users_repository_is_not_touched() {
    let mut b = Bench::new();
    for (path, text) in [
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".git/config", "[core]\n\tautocrlf = true\n\thooksPath = /nowhere\n"),
        (".gitattributes", "* filter=lfs text eol=lf\n"),
        ("crlf", "a\r\nb\n"),
    ] {
        b.write(path, text);
    }
    let (id, before) = (b.take(), copy(&b.root));
    b.write("crlf", "gone");
    fs::write(b.root.join(".git/index"), "the user's").unwrap();
    b.restore(&id);
    let mut expected = before;
    expected.insert(b".git/index".to_vec(), (0, b"the user's".to_vec()));
    assert_eq!(copy(&b.root), expected);
    b.store.cover(&[b.root.join(".git/config")]);
    b.take();
    b.fsck();
}

/// With a configuration that git can't even parse, nothing goes wrong: it is not read.
#[test]
fn the_users_git_configuration_is_not_read() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join(".config/git")).unwrap();
    for file in [".gitconfig", ".config/git/config"] {
        fs::write(home.path().join(file), "[garbage\n").unwrap();
    }
    let out = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "checkpoint::tests::everything_comes_back"])
        .env("HOME", home.path())
        .env("XDG_CONFIG_HOME", home.path().join(".config"))
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stdout));
    assert!(String::from_utf8_lossy(&out.stdout).contains("1 passed"));
}

#[test]
fn ignored_files_are_kept_only_if_a_tool_wrote_them() {
    let mut b = Bench::new();
    b.write(".gitignore", "target/\n.env\n");
    b.write("target/big", "build");
    b.write(".env", "the user's");
    let first = b.take();
    // A tool writes it: covered, and kept as it was before.
    b.store.cover(&[b.root.join(".env"), b.root.join("target/new")]);
    let second = b.take();
    b.write(".env", "the tool's");
    b.write("target/new", "the tool's");
    b.write("target/big", "rebuilt");
    let third = b.take();
    assert_eq!(names(&b.store.diff(&second, Some(&third)).unwrap()), ["~.env", "+target/new"]);
    // The first one did not know it; it was then as the next one has it.
    let restored = b.restore(&first);
    assert_eq!(names(&restored.changes), ["~.env", "-target/new"]);
    assert_eq!(fs::read(b.root.join(".env")).unwrap(), b"the user's");
    assert_eq!(fs::read(b.root.join("target/big")).unwrap(), b"rebuilt");
    b.restore(&third);
    assert_eq!(fs::read(b.root.join(".env")).unwrap(), b"the tool's");
    assert_eq!(fs::read(b.root.join("target/new")).unwrap(), b"the tool's");
    b.fsck();
}

#[test]
fn files_that_were_ignored_then_are_not_deleted() {
    let mut b = Bench::new();
    b.write(".gitignore", "out/\n");
    b.write("out/mine", "precious");
    let first = b.take();
    b.write(".gitignore", "");
    b.take();
    b.write("out/mine", "precious still");
    let restored = b.restore(&first);
    assert_eq!(names(&restored.changes), ["~.gitignore"]);
    assert_eq!(restored.skipped.len(), 1, "{:?}", restored.skipped);
    assert_eq!(fs::read(b.root.join("out/mine")).unwrap(), b"precious still");
    // And the other way round: kept then, ignored now.
    b.write("kept", "1");
    let second = b.take();
    b.write(".gitignore", "kept\n");
    b.write("kept", "2");
    let restored = b.restore(&second);
    assert_eq!(fs::read(b.root.join("kept")).unwrap(), b"1");
    b.restore(&restored.before);
    assert_eq!(fs::read(b.root.join("kept")).unwrap(), b"2", "what was overwritten was kept first");
}

#[test]
fn files_outside_are_restored_where_they_are() {
    let mut b = Bench::new();
    let outside = b.root.parent().unwrap().join("elsewhere/conf");
    b.store.cover(std::slice::from_ref(&outside));
    b.write("a", "1");
    let first = b.take();
    fs::create_dir(outside.parent().unwrap()).unwrap();
    fs::write(&outside, "tool").unwrap();
    let second = b.take();
    let restored = b.restore(&first);
    assert_eq!(restored.changes[0].path, outside);
    assert!(!outside.exists() && outside.parent().unwrap().exists());
    b.restore(&second);
    assert_eq!(fs::read(&outside).unwrap(), b"tool");
    b.fsck();
}

/// However large: an edit that was allowed without a question has to be undone.
#[test]
fn a_file_that_is_about_to_be_written_is_kept_beyond_the_limit() {
    let mut b = Bench::new();
    b.store.set_limit(1 << 20);
    let large = vec![b'a'; 3 << 20];
    b.write("large", &large);
    b.write("other", &large);
    b.store.cover(&[b.root.join("large")]);
    let opening = b.take();
    b.write("large", "cut");
    b.restore(&opening);
    assert_eq!(fs::read(b.root.join("large")).unwrap(), large);
    let skipped = b.store.take(&Label::new(Kind::Manual, "test")).unwrap().skipped;
    assert_eq!(skipped.iter().map(|(path, _)| path.display().to_string()).collect::<Vec<_>>(), ["other"]);
}

#[test]
fn what_is_not_kept_is_listed_and_left_alone() {
    let mut b = Bench::new();
    b.store.set_limit(2 << 20);
    b.write("large", vec![7u8; (2 << 20) + 1]);
    b.write("streamed", vec![7u8; 2 << 20]);
    b.write("shrinks", "small");
    let _socket = std::os::unix::net::UnixListener::bind(b.root.join("socket")).unwrap();
    let taken = b.store.take(&Label::new(Kind::Manual, "x")).unwrap();
    let skipped: Vec<_> = taken.skipped.iter().map(|(p, why)| format!("{}: {why}", p.display())).collect();
    assert_eq!(skipped, ["large: larger than 2 MB", "socket: a socket"]);
    fs::remove_file(b.root.join("streamed")).unwrap();
    b.write("large", "now small");
    b.write("shrinks", vec![8u8; 3 << 20]);
    let restored = b.restore(&taken.id);
    assert_eq!(names(&restored.changes), ["+streamed"]);
    assert_eq!(fs::metadata(b.root.join("streamed")).unwrap().len(), 2 << 20);
    assert_eq!(fs::read(b.root.join("large")).unwrap(), b"now small", "its earlier contents are unknown");
    assert_eq!(fs::metadata(b.root.join("shrinks")).unwrap().len(), 3 << 20, "its present contents are in no checkpoint");
    assert!(restored.skipped.len() >= 3, "{:?}", restored.skipped);
}

#[test]
fn nothing_is_written_through_a_link() {
    let mut b = Bench::new();
    let outside = b.root.parent().unwrap().join("outside");
    fs::create_dir(&outside).unwrap();
    b.write("dir/file", "1");
    let first = b.take();
    fs::remove_dir_all(b.root.join("dir")).unwrap();
    symlink(&outside, b.root.join("dir")).unwrap();
    fs::write(outside.join("file"), "the user's").unwrap();
    b.restore(&first);
    assert_eq!(fs::read(b.root.join("dir/file")).unwrap(), b"1");
    assert!(!b.root.join("dir").is_symlink());
    assert_eq!(fs::read(outside.join("file")).unwrap(), b"the user's");
}

#[test]
fn the_store_does_not_keep_itself() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a"), "1").unwrap();
    let mut store = GitStore::open(&dir.path().join("data/share"), dir.path()).unwrap();
    let label = Label::new(Kind::Manual, "x");
    let first = store.take(&label).unwrap();
    assert_eq!(first.files_changed, 1);
    assert_eq!(store.take(&label).unwrap().id, first.id);
}

#[test]
fn a_damaged_store_is_set_aside() {
    let mut b = Bench::new();
    b.write("a", "1");
    let first = b.take();
    let objects = b.store.folder().join("repo.git/objects");
    for folder in fs::read_dir(&objects).unwrap().flatten().filter(|f| f.file_name().len() == 2) {
        fs::remove_dir_all(folder.path()).unwrap();
    }
    let mut store = GitStore::open(&b.data, &b.root).unwrap();
    assert!(store.notice().unwrap().contains("set aside"));
    assert_eq!(store.notice(), None);
    let taken = store.take(&Label::new(Kind::Manual, "new")).unwrap();
    assert_eq!((store.list().unwrap().len(), taken.files_changed), (1, 1));
    assert!(matches!(store.plan(&all(&CheckpointId("0".repeat(40)))), Err(CheckpointError::Unknown(_))));
    assert!(store.folder().join("damaged-1.git").exists());
    b.store = store;
    b.fsck();
    // The cache does not vouch for contents that are gone.
    assert_ne!(first, taken.id);
    assert!(b.restore(&taken.id).changes.is_empty());
}

#[test]
fn two_processes_share_a_store() {
    let mut b = Bench::new();
    let (data, root) = (b.data.clone(), b.root.clone());
    std::thread::scope(|scope| {
        for n in 0..4 {
            let (data, root) = (&data, &root);
            scope.spawn(move || {
                let mut store = GitStore::open(data, root).unwrap();
                for i in 0..5 {
                    fs::write(root.join(format!("f{n}")), format!("{i}")).unwrap();
                    let id = store.take(&Label::new(Kind::AfterCall, format!("{n} {i}"))).unwrap().id;
                    assert!(store.list().unwrap().iter().any(|e| e.id == id), "no checkpoint is lost");
                }
            });
        }
    });
    b.take();
    b.fsck();
}
