//! What checkpoints of a large tree cost, against real git on the same tree in the same run, and how that grows.
//!
//! `BACKSTITCH_BENCH_FILES` makes the tree smaller or larger than 100,001 files.

use crate::{clock::median, report::Report};
use anyhow::{Context, ensure};
use backstitch::{
    checkpoint::{CheckpointStore, GitStore, Kind, Label, Retention},
    protocol::{CheckpointId, Wanted},
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

const FILES: usize = 100_001;
const PER_FOLDER: usize = 50;
const ROUNDS: usize = 7;

/// A tree of files, some of them ignored, with a store of ours and a repository of git's.
struct Tree {
    folder: tempfile::TempDir,
    files: usize,
    changes: usize,
}

impl Tree {
    fn make(files: usize) -> anyhow::Result<Self> {
        let tree = Tree { folder: tempfile::tempdir()?, files, changes: 0 };
        fs::create_dir_all(tree.root())?;
        fs::write(tree.root().join(".gitignore"), "target/\n*.log\n")?;
        for n in 1..files {
            let path = tree.file(n);
            if n % PER_FOLDER == 1 || n == 1 {
                fs::create_dir_all(path.parent().context("a folder")?)?;
            }
            fs::write(path, contents(n, 0))?;
        }
        tree.git(&["init", "-q", "--bare"])?;
        Ok(tree)
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn file(&self, n: usize) -> PathBuf {
        let folder = (n - 1) / PER_FOLDER;
        self.root().join(format!("packages/pkg{}/module{}/src/component_{n}.rs", folder % 40, folder / 40))
    }

    /// Milliseconds.
    fn git(&self, args: &[&str]) -> anyhow::Result<f64> {
        let home = self.folder.path().join("home");
        fs::create_dir_all(&home)?;
        let from = Instant::now();
        let out = Command::new("git")
            .args(args)
            .current_dir(self.root())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_DIR", self.folder.path().join("git"))
            .envs((args[0] != "init").then(|| ("GIT_WORK_TREE", self.root())))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .output()?;
        ensure!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
        Ok(from.elapsed().as_secs_f64() * 1e3)
    }

    fn store(&self) -> anyhow::Result<GitStore> {
        Ok(GitStore::open(&self.folder.path().join("data"), &self.root())?)
    }

    /// Other contents for ten files all over the tree.
    fn change_ten(&mut self) -> anyhow::Result<()> {
        self.changes += 1;
        for n in 0..10 {
            let n = 1 + (n * self.files / 10 + self.changes * 7) % (self.files - 1);
            fs::write(self.file(n), contents(n, self.changes))?;
        }
        Ok(())
    }
}

fn contents(n: usize, change: usize) -> String {
    (0..8).map(|line| format!("pub fn f{line}_{change}(x: u64) -> u64 {{ x * {n} + {line} }}\n")).collect()
}

fn take(store: &mut GitStore, changed: usize) -> anyhow::Result<(CheckpointId, f64)> {
    let from = Instant::now();
    let taken = store.take(&Label::new(Kind::Manual, "bench"))?;
    let cost = from.elapsed().as_secs_f64() * 1e3;
    ensure!(taken.files_changed == changed, "{} files changed, not {changed}", taken.files_changed);
    Ok((taken.id, cost))
}

/// Medians of ours and of git's, measured in turns.
fn in_turns(mut both: impl FnMut() -> anyhow::Result<(f64, f64)>) -> anyhow::Result<(f64, f64)> {
    let (ours, gits): (Vec<f64>, Vec<f64>) = (0..ROUNDS).map(|_| both()).collect::<anyhow::Result<Vec<_>>>()?.into_iter().unzip();
    Ok((median(ours), median(gits)))
}

fn against(report: &mut Report, what: &str, (ours, gits): (f64, f64), than: &str, most: f64) {
    report.noted(what, format!("{ours:.1} ms"));
    report.bound(&format!("  against {than} ({gits:.1} ms)"), ours / gits, "×", most);
}

fn ten_changed(tree: &mut Tree, store: &mut GitStore) -> anyhow::Result<f64> {
    let mut costs = vec![];
    for _ in 0..ROUNDS {
        tree.change_ten()?;
        costs.push(take(store, 10)?.1);
    }
    Ok(median(costs))
}

pub fn store(report: &mut Report) -> anyhow::Result<()> {
    let files = std::env::var("BACKSTITCH_BENCH_FILES").ok().and_then(|text| text.parse().ok()).unwrap_or(FILES);
    let mut tree = Tree::make(files)?;
    let mut store = tree.store()?;

    let gits = tree.git(&["add", "-A"])? + tree.git(&["write-tree"])?;
    let (_, ours) = take(&mut store, files)?;
    against(report, &format!("first checkpoint of {files} files"), (ours, gits), "git add -A && git write-tree", 1.0);
    // Once more for both: files that were too new to be trusted are read again.
    take(&mut store, 0)?;
    tree.git(&["status"])?;

    let both = in_turns(|| Ok((take(&mut store, 0)?.1, tree.git(&["status"])?)))?;
    against(report, "checkpoint, nothing changed", both, "git status", 1.0);
    let both = in_turns(|| {
        let from = Instant::now();
        let mut store = tree.store()?;
        store.take(&Label::new(Kind::Manual, "bench"))?;
        Ok((from.elapsed().as_secs_f64() * 1e3, tree.git(&["status"])?))
    })?;
    against(report, "  with opening the store", both, "git status", 1.25);
    let both = in_turns(|| {
        tree.change_ten()?;
        let ours = take(&mut store, 10)?.1;
        Ok((ours, tree.git(&["add", "-A"])? + tree.git(&["write-tree"])?))
    })?;
    let changed = both.0;
    against(report, "checkpoint, 10 files changed", both, "git add -A && git write-tree", 1.1);

    let (id, _) = take(&mut store, 0)?;
    let (mut plans, mut restores, mut takes) = (vec![], vec![], vec![]);
    for _ in 0..ROUNDS {
        tree.change_ten()?;
        take(&mut store, 10)?;
        let from = Instant::now();
        let plan = store.plan(&Wanted { to: id.clone(), since: None, only: None })?;
        plans.push(from.elapsed().as_secs_f64() * 1e3);
        ensure!(plan.files.len() == 10, "{} files are planned", plan.files.len());
        let from = Instant::now();
        let restored = store.restore(&plan)?;
        restores.push(from.elapsed().as_secs_f64() * 1e3);
        ensure!(restored.changes.len() == 10 && restored.skipped.is_empty(), "{:?}", restored.skipped);
        takes.push(take(&mut store, 10)?.1);
    }
    report.noted("plan of going back 10 files", format!("{:.1} ms", median(plans)));
    let restore = median(restores);
    report.noted("restore of 10 files", format!("{restore:.1} ms"));
    report.bound("  against a checkpoint with 10 files changed", restore / median(takes), "×", 2.5);

    let mut small = Tree::make(files / 10)?;
    let mut of_small = small.store()?;
    take(&mut of_small, files / 10)?;
    let of_small = ten_changed(&mut small, &mut of_small)?;
    report.bound(&format!("10 changed in {files} against in {}", files / 10), changed / of_small, "×", 12.0);
    checked(&tree)?;
    many_checkpoints(report)
}

/// However many there are, the next one costs the same.
fn many_checkpoints(report: &mut Report) -> anyhow::Result<()> {
    let mut tree = Tree::make(1_000)?;
    let mut store = tree.store()?;
    take(&mut store, 1_000)?;
    for _ in 0..500 {
        tree.change_ten()?;
        take(&mut store, 10)?;
    }
    // In turns with a new store, and without new files: file systems get slower for a while after so many.
    let fresh = Tree::make(1_000)?;
    let mut of_fresh = fresh.store()?;
    take(&mut of_fresh, 1_000)?;
    // Files are read again until they are old enough to be trusted.
    let made = Instant::now();
    while made.elapsed() < Duration::from_secs(3) {
        take(&mut store, 0)?;
        take(&mut of_fresh, 0)?;
    }
    let (many, few) = in_turns(|| Ok((take(&mut store, 0)?.1, take(&mut of_fresh, 0)?.1)))?;
    report.bound("nothing changed in 1,000 files, 500 checkpoints against 1", many / few, "×", 2.0);
    let from = Instant::now();
    store.list()?;
    report.told(&format!("list of {} checkpoints", store.list()?.len()), from.elapsed().as_secs_f64() * 1e3, " ms", 100.0);
    let from = Instant::now();
    let pruned = store.prune(&Retention::default())?;
    report.noted(
        &format!("prune of {} checkpoints, repacking the rest", pruned.checkpoints),
        format!("{:.0} ms", from.elapsed().as_secs_f64() * 1e3),
    );
    let from = Instant::now();
    let usage = store.usage()?;
    report.told(&format!("disk use told: {} kB", usage.bytes >> 10), from.elapsed().as_secs_f64() * 1e3, " ms", 50.0);
    checked(&tree)
}

/// All that was written is what git understands.
fn checked(tree: &Tree) -> anyhow::Result<()> {
    let store = tree.store()?;
    let repo = store.folder().join("repo.git");
    let path = |path: &Path| path.display().to_string();
    tree.git(&["--git-dir", &path(&repo), "fsck", "--strict", "--no-dangling", "--connectivity-only"]).map(drop)
}
