//! Walks a folder by the project's ignore rules: the one notion of "the files of this project" that search and checkpoints share.
//!
//! - `.gitignore` counts also where there is no repository; the user's own git configuration is never read.
//! - Hidden files are in, `.git` and our temporary files are out, links are reported and never followed.
//! - Rules of folders above the start count up to the repository (or `within`), unless they exclude the start itself: whoever
//!   names an ignored folder wants to see it.

use ignore::{
    DirEntry, WalkBuilder, WalkState,
    gitignore::{Gitignore, GitignoreBuilder},
};
use std::{
    fs::FileType,
    os::unix::fs::FileTypeExt,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

#[derive(Debug, Clone)]
pub struct Walk {
    pub start: PathBuf,
    /// Where ignore rules begin when `start` is in no repository.
    pub within: PathBuf,
    /// `Some(1)`: only what is directly in `start`.
    pub depth: Option<usize>,
    pub threads: usize,
    /// Also what the rules leave out.
    pub ignored: bool,
}

/// `false` ends the walk.
pub type Visit<'a> = &'a (dyn Fn(Result<DirEntry, ignore::Error>) -> bool + Sync);

impl Walk {
    pub fn new(start: &Path, within: &Path) -> Self {
        let threads = std::thread::available_parallelism().map_or(2, |n| n.get()).min(8);
        Walk { start: start.into(), within: within.into(), depth: None, threads, ignored: false }
    }

    /// Calls `visit` for everything below `start` (not for `start` itself), from several threads, in no order.
    pub fn run(&self, visit: Visit) {
        let top = self.top();
        if top != self.start && self.run_from(&top, visit) {
            return;
        }
        self.run_from(&self.start, visit);
    }

    /// Where the rules that count begin.
    pub fn top(&self) -> PathBuf {
        let repository = self.start.ancestors().find(|a| a.join(".git").symlink_metadata().is_ok());
        match repository {
            Some(top) => top.into(),
            None if self.start.starts_with(&self.within) => self.within.clone(),
            None => self.start.clone(),
        }
    }

    /// Did the walk from `top` come to `start`?
    fn run_from(&self, top: &Path, visit: Visit) -> bool {
        let reached = Arc::new(AtomicBool::new(top == self.start));
        let above = self.start.components().count() - top.components().count().min(self.start.components().count());
        // All that is met is inside then, which need not be found out for each.
        let whole = top == self.start;
        let (start, seen) = (self.start.clone(), reached.clone());
        let mut builder = WalkBuilder::new(top);
        builder
            .standard_filters(false)
            .git_ignore(!self.ignored)
            .require_git(false)
            .threads(self.threads)
            .max_depth(self.depth.map(|d| d + above))
            .filter_entry(move |entry| {
                let path = entry.path();
                if !whole && path == start {
                    seen.store(true, Ordering::Relaxed);
                    return true;
                }
                let ours = || entry.file_name() != ".git" && !crate::atomic::is_temporary(entry.file_name());
                if whole || path.starts_with(&start) { ours() } else { start.starts_with(path) }
            });
        builder.build_parallel().run(|| {
            Box::new(|entry| {
                if let Ok(entry) = &entry
                    && if whole { entry.depth() == 0 } else { entry.path() == self.start || !entry.path().starts_with(&self.start) }
                {
                    return WalkState::Continue;
                }
                if visit(entry) { WalkState::Continue } else { WalkState::Quit }
            })
        });
        reached.load(Ordering::Relaxed)
    }
}

/// Would a walk below `root` leave this path out, if it were there?
pub fn ignored(path: &Path, root: &Path) -> bool {
    let walk = Walk { depth: None, threads: 1, ignored: false, start: root.into(), within: root.into() };
    let top = walk.top();
    let by = |top: &Path, path: &Path| match path.strip_prefix(top) {
        Ok(inside) => ignored_by(inside, |folder| std::fs::read(top.join(folder).join(".gitignore")).ok()),
        Err(_) => false,
    };
    // Rules that exclude the root itself don't count.
    if top != root && by(&top, root) { by(root, path) } else { by(&top, path) }
}

/// The same with ignore files from anywhere: `rules` gives the one of a folder. `path` is relative to where the rules begin.
pub fn ignored_by(path: &Path, rules: impl Fn(&Path) -> Option<Vec<u8>>) -> bool {
    let mut matchers: Vec<Gitignore> = vec![];
    let mut folder = PathBuf::new();
    let parts: Vec<_> = path.components().collect();
    for (n, part) in parts.iter().enumerate() {
        if let Some(text) = rules(&folder) {
            let mut builder = GitignoreBuilder::new(Path::new("/").join(&folder));
            for line in String::from_utf8_lossy(&text).lines() {
                // A line that is no pattern ignores nothing.
                let _ = builder.add_line(None, line);
            }
            matchers.extend(builder.build());
        }
        folder.push(part);
        if part.as_os_str() == ".git" {
            return true;
        }
        let at = Path::new("/").join(&folder);
        let verdict = matchers.iter().rev().map(|m| m.matched(&at, n + 1 < parts.len())).find(|m| !m.is_none());
        // Nothing below an ignored folder can be brought back.
        if verdict.is_some_and(|m| m.is_ignore()) {
            return true;
        }
    }
    false
}

/// What something is that is neither a file, a folder nor a link.
pub fn special(kind: FileType) -> &'static str {
    if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, sync::Mutex};

    fn found(start: &Path, within: &Path) -> Vec<String> {
        let names = Mutex::new(vec![]);
        Walk::new(start, within).run(&|entry| {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_file() {
                names.lock().unwrap().push(entry.path().strip_prefix(within).unwrap().display().to_string());
            }
            true
        });
        let mut names = names.into_inner().unwrap();
        names.sort();
        names
    }

    #[test]
    fn rules_of_folders_above_count_but_not_against_the_start() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for (path, text) in [
            (".gitignore", "*.log\nout/\n"),
            ("a.log", ""),
            ("src/a.rs", ""),
            ("src/b.log", ""),
            ("src/.hidden", ""),
            ("src/.git/config", ""),
            ("src/.gitignore", "!keep.log"),
            ("src/keep.log", ""),
            ("out/x", ""),
        ] {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), text).unwrap();
        }
        fs::remove_dir_all(root.join("src/.git")).unwrap();
        fs::write(root.join(".backstitch-x.tmp"), "").unwrap();
        assert_eq!(found(&root, &root), [".gitignore", "src/.gitignore", "src/.hidden", "src/a.rs", "src/keep.log"]);
        assert_eq!(found(&root.join("src"), &root), ["src/.gitignore", "src/.hidden", "src/a.rs", "src/keep.log"]);
        assert_eq!(found(&root.join("out"), &root), ["out/x"]);
        for (path, expected) in
            [("a.log", true), ("src/b.log", true), ("src/keep.log", false), ("out/x", true), ("out", false), ("new", false)]
        {
            assert_eq!(ignored(&root.join(path), &root), expected, "{path}");
        }
    }

    /// The home folder as a repository that ignores everything, a monorepo, a linked worktree.
    #[test]
    fn rules_of_the_repository_above_count_unless_they_exclude_the_project() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let root = top.join("project");
        fs::create_dir_all(root.join("sub")).unwrap();
        for path in ["a.log", "b.rs", "sub/c.rs"] {
            fs::write(root.join(path), "").unwrap();
        }
        let all = ["a.log", "b.rs", "sub/c.rs"];
        for (rules, expected, log) in [("*\n", &all[..], false), ("*.log\n", &all[1..], true), ("project/sub/\n", &all[..2], false)] {
            fs::write(top.join(".gitignore"), rules).unwrap();
            // Above the project and outside a repository they are somebody else's.
            let _ = fs::remove_file(top.join(".git"));
            assert_eq!(found(&root, &root), all, "{rules}");
            fs::write(top.join(".git"), "gitdir: elsewhere").unwrap();
            assert_eq!(found(&root, &root), expected, "{rules}");
            assert_eq!(ignored(&root.join("a.log"), &root), log, "{rules}");
        }
    }
}
