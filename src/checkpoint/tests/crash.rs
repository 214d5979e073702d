//! A process that takes, restores and prunes is killed again and again: the store stays whole, and each file is old or new.

use super::*;
use std::io::{BufRead, BufReader, Write};

const FILES: usize = 12;
const SIZE: usize = 3000;

/// Run by the test below in a process of its own.
#[test]
fn victim() {
    let Some(folder) = std::env::var_os("BACKSTITCH_TEST_CRASH").map(PathBuf::from) else { return };
    let mut store = GitStore::open(&folder.join("data"), &folder.join("project")).unwrap();
    let mut last: Option<CheckpointId> = None;
    for round in 0u64.. {
        for n in 0..FILES {
            let path = folder.join(format!("project/f{n}"));
            let contents = vec![b'a' + ((round + n as u64) % 26) as u8; SIZE];
            crate::atomic::write(&path, &contents, Default::default()).unwrap();
        }
        let id = store.take(&Label::new(Kind::AfterCall, format!("round {round}"))).unwrap().id;
        // The test counts these to choose its moment.
        println!("taken {id}", id = id.0);
        std::io::stdout().flush().unwrap();
        if let Some(last) = last.replace(id) {
            let plan = store.plan(&all(&last)).unwrap();
            store.restore(&plan).unwrap();
            println!("restored");
            std::io::stdout().flush().unwrap();
        }
    }
}

#[test]
fn a_kill_at_any_moment_leaves_the_store_whole() {
    let mut b = Bench::new();
    let folder = b.root.parent().unwrap().to_path_buf();
    let mut promised = vec![];
    for round in 0..5 {
        let mut victim = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture", "checkpoint::tests::crash::victim"])
            .env("BACKSTITCH_TEST_CRASH", &folder)
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // Kept until the victim is dead: writing to a closed pipe is another way to die.
        let mut lines = BufReader::new(victim.stdout.take().unwrap()).lines();
        for line in lines.by_ref().map_while(Result::ok).filter(|l| l.contains("taken") || l.contains("restored")).take(3 + round) {
            promised.extend(line.split_once("taken ").map(|(_, id)| CheckpointId(id.into())));
        }
        // However far it got meanwhile.
        for _ in 0..round * 1000 {
            std::thread::yield_now();
        }
        victim.kill().unwrap();
        victim.wait().unwrap();

        for (path, (_, contents)) in copy(&b.root) {
            if !crate::atomic::is_temporary(std::ffi::OsStr::from_bytes(&path)) {
                assert!(contents.len() == SIZE && contents.iter().all(|c| *c == contents[0]), "half a file");
            }
        }
        b.store = GitStore::open(&b.data, &b.root).unwrap();
        assert_eq!(b.store.notice(), None);
        b.fsck();
        if was_cut_off(&b.data, &b.root)
            && let Some(rest) = b.store.unfinished().unwrap()
        {
            assert_eq!(b.store.restore(&rest).unwrap().skipped, []);
            assert_eq!(b.plan(&rest.wanted.to).files, []);
        }
        let known: Vec<_> = b.store.list().unwrap().into_iter().map(|e| e.id).collect();
        assert!(promised.iter().all(|id| known.contains(id)), "a checkpoint that was promised is gone");
        b.restore(&promised[0]);
        let first: Vec<u8> = (0..FILES).map(|n| fs::read(b.root.join(format!("f{n}"))).unwrap()[0]).collect();
        assert_eq!(first, (0..FILES).map(|n| b'a' + n as u8).collect::<Vec<_>>());
    }
    b.take();
    // A lock file of git's own that a killed process left.
    let number = fs::read_dir(b.store.folder().join("repo.git/refs/checkpoints")).unwrap().count() + 1;
    fs::write(b.store.folder().join(format!("repo.git/refs/checkpoints/{number:010}.lock")), "").unwrap();
    b.write("f0", "more");
    assert_eq!(b.store.take(&Label::new(Kind::Manual, "after")).unwrap().files_changed, 1);
}

const MANY: usize = 230;

fn write_all(root: &Path, round: u64) {
    for n in 0..MANY {
        // Some are the same in several rounds, so that packs are needed in part.
        let contents = if n % 4 == 0 { format!("always {n}") } else { format!("{round} {n}") };
        fs::write(root.join(format!("f{n}")), contents).unwrap();
    }
}

/// Run by the test below in a process of its own: packs, restores that take a while, and packs rewritten.
#[test]
fn victim_with_packs() {
    let Some(folder) = std::env::var_os("BACKSTITCH_TEST_CRASH_PACKS").map(PathBuf::from) else { return };
    let root = folder.join("project");
    let mut store = GitStore::open(&folder.join("data"), &root).unwrap();
    let say = |what: &str| {
        println!("{what}");
        std::io::stdout().flush().unwrap();
    };
    for round in u64::from(std::process::id()) * 1000.. {
        write_all(&root, round);
        store.take(&Label::new(Kind::AfterCall, format!("{round}"))).unwrap();
        say("did take");
        if round % 2 == 0 {
            let to = store.list().unwrap()[0].id.clone();
            let plan = store.plan(&all(&to)).unwrap();
            say("did plan");
            store.restore(&plan).unwrap();
        }
        say("did restore");
        store.prune(&Retention { count: 3, ..Default::default() }).unwrap();
        say("did prune");
    }
}

#[test]
fn a_kill_while_packs_are_written_or_restored_or_rewritten_loses_nothing() {
    let mut b = Bench::new();
    let folder = b.root.parent().unwrap().to_path_buf();
    write_all(&b.root, 7);
    let pinned = b.take();
    b.store.revise(&pinned, Revision::Pin(true)).unwrap();
    let mut dice = random::Dice(std::process::id().into());
    for _ in 0..6 {
        let mut victim = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture", "checkpoint::tests::crash::victim_with_packs"])
            .env("BACKSTITCH_TEST_CRASH_PACKS", &folder)
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(victim.stdout.take().unwrap()).lines();
        let (some, spin) = (3 + dice.below(6) as usize, dice.below(6000));
        lines.by_ref().map_while(Result::ok).filter(|l| l.contains("did ")).take(some).for_each(drop);
        (0..spin).for_each(|_| std::thread::yield_now());
        victim.kill().unwrap();
        victim.wait().unwrap();

        b.store = GitStore::open(&b.data, &b.root).unwrap();
        b.fsck();
        if was_cut_off(&b.data, &b.root)
            && let Some(rest) = b.store.unfinished().unwrap()
        {
            assert_eq!(b.store.restore(&rest).unwrap().skipped, []);
            assert_eq!(b.plan(&rest.wanted.to).files, []);
        }
        let list = b.store.list().unwrap();
        assert!(list.iter().any(|entry| entry.id == pinned));
        // All that is left can be restored, and is of one moment.
        for entry in list {
            assert_eq!(b.restore(&entry.id).skipped, []);
            let round = fs::read_to_string(b.root.join("f1")).unwrap();
            let round = round.split(' ').next().unwrap();
            let is_its =
                |(n, contents): (usize, String)| contents == if n % 4 == 0 { format!("always {n}") } else { format!("{round} {n}") };
            let all = (0..MANY).map(|n| (n, fs::read_to_string(b.root.join(format!("f{n}"))).unwrap()));
            let whole = all.filter(|file| !is_its(file.clone())).count() == 0;
            assert!(whole || entry.label.kind == Kind::BeforeRestore, "{entry:?}");
        }
        assert_eq!(b.store.notice(), None);
    }
}
