//! A process that takes and restores is killed again and again: the store stays whole, and each file is old or new.

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
