//! Ranking on an index in memory, the worker over a twin of the disk, and the disk itself.

mod ranking;

use super::{index::Index, *};
use crossbeam_channel::{Receiver, bounded, unbounded};
use std::{
    fs,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

fn index(paths: &[&str]) -> Index {
    let mut index = Index::default();
    paths.iter().for_each(|path| index.add(path));
    index
}

fn query(text: &str) -> Query {
    Query { text: text.into(), ..Query::default() }
}

fn paths(index: &Index, query: &Query) -> Vec<String> {
    index.search(query).hits.into_iter().map(|hit| hit.path).collect()
}

const TREE: [&str; 10] = [
    "Cargo.toml",
    "docs/",
    "docs/a b.md",
    "docs/日本語.md",
    ".github/",
    ".github/ci.yml",
    "src/",
    "src/main.rs",
    "src/tui/",
    "src/tui/domain/remains.rs",
];

#[test]
fn without_a_query_folders_and_files_of_the_top_are_shown() {
    let answer = index(&TREE).search(&query(""));
    assert_eq!(answer.hits.iter().map(|hit| hit.path.as_str()).collect::<Vec<_>>(), ["docs/", "src/", "Cargo.toml"]);
    assert_eq!(answer.matching, 8);
}

#[test]
fn names_come_before_folders_and_what_is_used_before_both() {
    let mut index = index(&TREE);
    assert_eq!(paths(&index, &query("main")), ["src/main.rs", "src/tui/domain/remains.rs"]);
    let recent = Query { recent: vec!["src/tui/domain/remains.rs".into()], ..query("mai") };
    let answer = index.search(&recent);
    assert_eq!(answer.hits[0].mark, Some(Mark::Recent));
    assert_eq!(answer.hits[0].path, "src/tui/domain/remains.rs");
    index.mark_changed(&["docs/a b.md".into()]);
    assert_eq!(paths(&index, &query(""))[0], "docs/a b.md");
    assert_eq!(index.search(&query("a")).hits.iter().filter(|hit| hit.mark == Some(Mark::Changed)).count(), 1);
}

#[test]
fn hidden_paths_are_found_on_demand() {
    let index = index(&TREE);
    assert!(paths(&index, &query("yml")).is_empty());
    assert_eq!(paths(&index, &query(".ci")), [".github/ci.yml"]);
    assert_eq!(paths(&index, &query(".github/")), [".github/ci.yml"]);
    assert_eq!(paths(&index, &query(".g"))[0], ".github/");
    // Whoever used it lately need not say so.
    assert_eq!(paths(&index, &Query { recent: vec![".github/ci.yml".into()], ..query("yml") }), [".github/ci.yml"]);
}

#[test]
fn a_folder_is_listed_its_own_entries_first() {
    let index = index(&TREE);
    assert_eq!(paths(&index, &query("src/")), ["src/tui/", "src/main.rs", "src/tui/domain/remains.rs"]);
    assert_eq!(paths(&index, &query("./src/")), paths(&index, &query("src/")));
    assert_eq!(paths(&index, &query("src/ma"))[0], "src/main.rs");
}

#[test]
fn matched_characters_are_counted_as_characters() {
    let answer = index(&TREE).search(&query("語m"));
    assert_eq!((answer.hits[0].path.as_str(), &answer.hits[0].positions), ("docs/日本語.md", &vec![7, 9]));
    assert_eq!(paths(&index(&TREE), &query("a b")), ["docs/a b.md"]);
}

#[test]
fn the_order_of_arrival_does_not_matter() {
    let mut names: Vec<String> = (0..30_000).map(|n| format!("dir{}/file{n}.rs", n % 97)).collect();
    let of = |names: &[String]| {
        let mut index = Index::default();
        names.iter().for_each(|name| index.add(name));
        (index.search(&query("fi12")), index.search(&query("dir5/")))
    };
    let there = of(&names);
    names.reverse();
    assert_eq!(of(&names), there);
    assert_eq!(there.0.hits.len(), MOST_HITS);
}

/// Paths in memory; a walk gives one batch for each time it is let.
struct Memory {
    paths: Mutex<Vec<String>>,
    go: Receiver<()>,
    walks: AtomicUsize,
}

impl Memory {
    fn new(paths: &[&str], go: Receiver<()>) -> Memory {
        Memory { paths: Mutex::new(paths.iter().map(|path| path.to_string()).collect()), go, walks: AtomicUsize::new(0) }
    }
}

impl Tree for Memory {
    fn walk(&self, found: &(dyn Fn(Vec<String>) -> bool + Sync)) {
        let paths = self.paths.lock().unwrap().clone();
        self.walks.fetch_add(1, Ordering::SeqCst);
        for path in paths {
            if self.go.recv().is_err() || !found(vec![path]) {
                return;
            }
        }
        let _ = self.go.recv();
    }

    fn changed(&self) -> Vec<String> {
        vec![]
    }
}

#[test]
fn a_question_is_answered_while_the_walk_goes_on_and_again_at_its_end() {
    let ((go, gate), (sent, answers)) = (unbounded(), unbounded());
    let tree = Memory::new(&["a.rs", "b.rs"], gate);
    let finder = Finder::start(Arc::new(tree), Pace::default(), Box::new(move |answer| drop(sent.send(answer)))).unwrap();
    let next = || -> Answer { answers.recv_timeout(Duration::from_secs(10)).unwrap() };
    finder.ask(Query { id: 1, ..query("rs") });
    let first = next();
    assert_eq!((first.id, first.indexing, first.hits.len()), (1, true, 0));
    (0..3).for_each(|_| go.send(()).unwrap());
    let mut last = next();
    while last.indexing {
        last = next();
    }
    assert_eq!((last.id, last.hits.len()), (1, 2));
    finder.ask(Query { id: 2, ..query("a") });
    assert_eq!(next().id, 2);
    drop(finder);
    assert!(answers.recv().is_err(), "the worker is gone");
}

#[test]
fn the_first_walk_begins_without_a_question() {
    let (go, gate) = bounded(0);
    let tree = Memory::new(&["a.rs"], gate);
    let pace = Pace { idle: Duration::ZERO, ..Pace::default() };
    let finder = Finder::start(Arc::new(tree), pace, Box::new(|_| {})).unwrap();
    // Nobody takes it but a walk.
    go.send_timeout((), Duration::from_secs(10)).unwrap();
    drop((go, finder));
}

#[test]
fn what_comes_and_goes_while_it_runs_is_seen() {
    let ((go, gate), (sent, answers)) = (unbounded(), unbounded());
    let tree = Arc::new(Memory::new(&["old.rs", "kept.rs"], gate));
    // Only questions begin a walk, and each of them.
    let pace = Pace { idle: Duration::MAX, stale: Duration::ZERO };
    let finder = Finder::start(tree.clone(), pace, Box::new(move |answer| drop(sent.send(answer)))).unwrap();
    // Whole answers only.
    let next = || -> Vec<String> {
        let one = || -> Answer { answers.recv_timeout(Duration::from_secs(10)).unwrap() };
        let whole = std::iter::repeat_with(one).find(|answer| !answer.indexing).unwrap();
        whole.hits.into_iter().map(|hit| hit.path).collect()
    };
    (0..3).for_each(|_| go.send(()).unwrap());
    finder.ask(Query { id: 1, opens: true, ..query("rs") });
    assert_eq!(next(), ["old.rs", "kept.rs"]);
    *tree.paths.lock().unwrap() = vec!["kept.rs".into(), "new.rs".into()];
    // The walk waits: what was known answers meanwhile. Until the first walk has told what has changed, no other begins.
    let mut id = 1;
    while tree.walks.load(Ordering::SeqCst) < 2 {
        id += 1;
        finder.ask(Query { id, opens: true, ..query("rs") });
        assert_eq!(next(), ["old.rs", "kept.rs"]);
    }
    (0..3).for_each(|_| go.send(()).unwrap());
    assert_eq!(next(), ["new.rs", "kept.rs"]);
}

#[test]
fn dropping_it_in_the_middle_of_a_walk_does_not_wait() {
    let (go, gate) = unbounded();
    let tree = Memory::new(&["a.rs"], gate);
    drop(Finder::start(Arc::new(tree), Pace::default(), Box::new(|_| {})).unwrap());
    drop(go);
}

#[test]
fn the_disk_is_read_by_the_projects_rules_and_git_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let repository = git2::Repository::init(&root).unwrap();
    for path in [".gitignore", "a.rs", "sub/b c.rs", "out/x.o", ".hidden/y"] {
        fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        fs::write(root.join(path), if path == ".gitignore" { "out/\n" } else { "" }).unwrap();
    }
    let mut staged = repository.index().unwrap();
    staged.add_path(std::path::Path::new("a.rs")).unwrap();
    staged.write().unwrap();
    let broken = std::ffi::OsStr::from_bytes(b"bro\xffken\x1b[2J");
    use std::os::unix::ffi::OsStrExt;
    fs::write(root.join(broken), "").unwrap();
    let before = (fs::read(root.join(".git/index")).unwrap(), fs::metadata(root.join(".git/index")).unwrap().modified().unwrap());
    let tree = Disk { root: root.clone() };
    let found = Mutex::new(vec![]);
    tree.walk(&|paths| {
        found.lock().unwrap().extend(paths);
        true
    });
    let mut found = found.into_inner().unwrap();
    found.sort();
    assert_eq!(found, [".gitignore", ".hidden/", ".hidden/y", "a.rs", "bro\u{fffd}ken\u{1b}[2J", "sub/", "sub/b c.rs"]);
    let mut changed = tree.changed();
    changed.sort();
    assert_eq!(changed, [".gitignore", ".hidden/y", "a.rs", "bro\u{fffd}ken\u{1b}[2J", "sub/b c.rs"]);
    assert_eq!(Disk { root: root.join("sub") }.changed(), ["b c.rs"]);
    let after = (fs::read(root.join(".git/index")).unwrap(), fs::metadata(root.join(".git/index")).unwrap().modified().unwrap());
    assert_eq!(before, after);
    assert!(!root.join(".git/index.lock").exists());
}
