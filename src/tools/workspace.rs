//! The folder that the tools work in: how the paths that a model writes are understood, and how paths are shown to it.
//!
//! Nothing here forbids a path: `Access` names where it leads, and approval decides.

use super::{
    seen::Seen,
    shell::{Children, Jobs, Sandbox, Shell},
};
use crate::{policy::Policy, protocol::Rule};
use std::{
    cell::RefCell,
    fs, io,
    path::{Component, Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

thread_local! {
    /// What [`Workspace::named_in`] gathers. Whoever understands a path goes by [`Workspace::resolve`], so no tool can forget one.
    static NAMED: RefCell<Option<Vec<PathBuf>>> = const { RefCell::new(None) };
}

pub struct Workspace {
    root: PathBuf,
    home: Option<PathBuf>,
    cwd: Mutex<PathBuf>,
    spills: Arc<Spills>,
    policy: RwLock<Arc<Policy>>,
    shell: Shell,
    sandbox: Sandbox,
    /// Process groups of commands that left something running; they end with the workspace.
    pub(crate) children: Children,
    /// Commands that run on when their call has ended.
    pub jobs: Jobs,
    pub(crate) seen: Seen,
}

impl Workspace {
    /// `spill` is the folder for outputs that are too long to pass on; created when the first one comes.
    pub fn new(root: &Path, spill: &Path) -> io::Result<Self> {
        let root = root.canonicalize()?;
        forget_old(spill);
        Ok(Workspace {
            cwd: Mutex::new(root.clone()),
            root,
            home: dirs::home_dir(),
            spills: Arc::new(Spills { folder: spill.into(), count: AtomicU64::new(0) }),
            policy: RwLock::default(),
            shell: Shell::default(),
            sandbox: Sandbox::default(),
            children: Children::default(),
            jobs: Jobs::default(),
            seen: Seen::default(),
        })
    }

    /// For the session: what a command's line means depends on it.
    pub fn with_shell(self, shell: Shell) -> Self {
        Workspace { shell, ..self }
    }

    /// For the session: where its commands may write.
    pub fn with_sandbox(self, sandbox: Sandbox) -> Self {
        Workspace { sandbox, ..self }
    }

    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    pub fn shell(&self) -> &Shell {
        &self.shell
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where relative paths and commands start: the project's folder, or one in it that a command went to.
    pub fn cwd(&self) -> PathBuf {
        self.cwd.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// That, if it is not the project's folder.
    pub fn elsewhere(&self) -> Option<PathBuf> {
        Some(self.cwd()).filter(|cwd| *cwd != self.root)
    }

    /// Back to the project's folder, if the one that a command went to is gone, or is another one by now.
    pub fn settle(&self) {
        if self.elsewhere().is_some_and(|cwd| cwd.canonicalize().ok().as_ref() != Some(&cwd) || !cwd.is_dir()) {
            self.set_cwd(self.root.clone());
        }
    }

    pub fn set_cwd(&self, to: PathBuf) {
        *self.cwd.lock().unwrap_or_else(PoisonError::into_inner) = to;
    }

    /// The absolute path that a model means, with symbolic links resolved as far as it exists: what is approved is where
    /// reading and writing really happens.
    pub fn resolve(&self, path: &str) -> PathBuf {
        let path = self.cwd().join(self.meant(path));
        NAMED.with_borrow_mut(|named| named.as_mut().map(|named| named.extend(self.links_on(&path))));
        resolve_links(&path)
    }

    /// The thing itself that a path names, not what it leads to if it is a link; `None` if the path ends in `..` or is empty.
    pub fn resolve_entry(&self, path: &str) -> Option<PathBuf> {
        let meant = self.meant(path.trim_end_matches('/'));
        let (folder, name) = (meant.parent()?, meant.file_name()?);
        let folder = self.cwd().join(folder);
        NAMED.with_borrow_mut(|named| named.as_mut().map(|named| named.extend(self.links_on(&folder.join(name)))));
        Some(resolve_links(&folder).join(name))
    }

    /// What this comes to, and all names inside the project by which paths were reached in it where links stand in between.
    pub fn named_in<T>(&self, work: impl FnOnce() -> T) -> (T, Vec<PathBuf>) {
        let before = NAMED.replace(Some(vec![]));
        let done = work();
        (done, NAMED.replace(before).unwrap_or_default())
    }

    /// Names inside the project by which a path is reached, where links stand in between.
    pub fn links(&self, path: &str) -> Vec<PathBuf> {
        self.links_on(&self.cwd().join(self.meant(path)))
    }

    pub(crate) fn links_on(&self, path: &Path) -> Vec<PathBuf> {
        let mut names = vec![];
        follow(path, &mut |_, name| names.push(name));
        names.retain(|name| name.starts_with(&self.root));
        names
    }

    fn meant(&self, path: &str) -> PathBuf {
        let path = path.trim_end_matches('\n');
        let path = match (path.strip_prefix('~'), &self.home) {
            (Some(""), Some(home)) => home.clone(),
            (Some(rest), Some(home)) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
            _ => PathBuf::from(path),
        };
        if path.to_str().is_some_and(|path| path.contains(char::REPLACEMENT_CHARACTER)) { self.looks_like(&path) } else { path }
    }

    /// Names that are no text are shown with a sign for what can't be; written so, the one that looks like it is meant.
    fn looks_like(&self, path: &Path) -> PathBuf {
        let mut done = PathBuf::new();
        for part in path.components() {
            let here = self.cwd().join(&done);
            let name = part.as_os_str().to_string_lossy();
            let real = (name.contains(char::REPLACEMENT_CHARACTER) && here.join(part).symlink_metadata().is_err())
                .then(|| {
                    let entries = fs::read_dir(&here).into_iter().flatten().flatten();
                    let mut alike = entries.map(|entry| entry.file_name()).filter(|other| other.to_string_lossy() == name);
                    alike.next().filter(|_| alike.next().is_none())
                })
                .flatten();
            match real {
                Some(real) => done.push(real),
                None => done.push(part),
            }
        }
        done
    }

    /// The rules that tools keep to when they go through folders; the verdict on a call is somebody else's.
    pub fn policy(&self) -> Arc<Policy> {
        self.policy.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn set_rules(&self, rules: &[Rule]) {
        *self.policy.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(Policy::new(rules, &self.root));
    }

    pub(crate) fn spills(&self) -> Arc<Spills> {
        self.spills.clone()
    }

    /// As the model should write it: relative to the folder that relative paths start in, where it is in the project.
    pub fn shown(&self, path: &Path) -> String {
        let Some(cwd) = self.elsewhere().filter(|_| path.starts_with(&self.root)) else { return self.titled(path) };
        let common = cwd.ancestors().find(|above| path.starts_with(above)).unwrap_or(&self.root);
        let up = cwd.strip_prefix(common).map_or(0, |rest| rest.components().count());
        let rest = path.strip_prefix(common).unwrap_or(path);
        let shown: PathBuf = std::iter::repeat_n(Path::new(".."), up).chain([rest]).collect();
        if shown.as_os_str().is_empty() { ".".into() } else { shown.display().to_string().trim_end_matches('/').to_owned() }
    }

    /// As the user knows it: relative to the root where possible.
    pub fn titled(&self, path: &Path) -> String {
        self.relative(path).display().to_string()
    }

    pub fn relative(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.root) {
            Ok(rest) if rest.as_os_str().is_empty() => ".".into(),
            Ok(rest) => rest.into(),
            Err(_) => path.into(),
        }
    }
}

/// Files for outputs that are too long to pass on.
pub(crate) struct Spills {
    folder: PathBuf,
    count: AtomicU64,
}

impl Spills {
    /// A fresh one.
    pub(crate) fn file(&self) -> io::Result<(fs::File, PathBuf)> {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        loop {
            let n = self.count.fetch_add(1, Ordering::Relaxed) + 1;
            let path = self.folder.join(format!("output-{}-{n}.txt", std::process::id()));
            match fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                file => return Ok((file?, path)),
            }
        }
    }
}

/// Removes outputs that no conversation is likely to come back to.
fn forget_old(spill: &Path) {
    const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);
    for entry in fs::read_dir(spill).into_iter().flatten().flatten() {
        let ours = entry.file_name().to_str().is_some_and(|n| n.starts_with("output-") && n.ends_with(".txt"));
        let old = entry.metadata().and_then(|m| m.modified()).is_ok_and(|t| t.elapsed().is_ok_and(|age| age > KEPT));
        if ours && old {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Resolves links, `.` and `..` step by step as the kernel would; components that don't exist are taken as written.
pub fn resolve_links(path: &Path) -> PathBuf {
    follow(path, &mut |_, _| {})
}

/// The same, unless the way goes through a link of the kernel's that leads elsewhere for every process, such as `/proc/self/cwd`.
pub fn leads_for_all(path: &Path) -> Option<PathBuf> {
    let own = |path: &Path| ["/proc", "/dev/fd"].iter().any(|folder| path.starts_with(folder));
    let mut each = false;
    let end = follow(path, &mut |link, _| each |= own(link));
    (!each && !end.starts_with("/dev/fd")).then_some(end)
}

/// `through`: each link on the way, and the whole path as it was called there.
fn follow(path: &Path, through: &mut dyn FnMut(&Path, PathBuf)) -> PathBuf {
    let mut todo: Vec<std::ffi::OsString> = path.components().rev().map(|c| c.as_os_str().to_owned()).collect();
    let mut done = PathBuf::new();
    let mut links = 0;
    while let Some(part) = todo.pop() {
        match Path::new(&part).components().next() {
            Some(Component::RootDir) => done = PathBuf::from("/"),
            Some(Component::ParentDir) => {
                done.pop();
            }
            Some(Component::Normal(name)) => {
                let next = done.join(name);
                match fs::read_link(&next) {
                    Ok(target) if links < 40 => {
                        links += 1;
                        through(&next, todo.iter().rev().fold(next.clone(), |name, part| name.join(part)));
                        todo.extend(target.components().rev().map(|c| c.as_os_str().to_owned()));
                    }
                    _ => done = next,
                }
            }
            _ => {}
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_old_outputs_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        for (name, days) in [("output-1-1.txt", 8), ("output-1-2.txt", 1), ("mine.txt", 8)] {
            let file = fs::File::create(dir.path().join(name)).unwrap();
            file.set_modified(std::time::SystemTime::now() - Duration::from_secs(days * 86400)).unwrap();
        }
        Workspace::new(dir.path(), dir.path()).unwrap();
        let mut left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        left.sort();
        assert_eq!(left, ["mine.txt", "output-1-2.txt"]);
    }

    #[test]
    fn paths_lead_where_the_kernel_would_go() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let root = top.join("root");
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::create_dir(top.join("outside")).unwrap();
        std::os::unix::fs::symlink("../outside", root.join("out")).unwrap();
        std::os::unix::fs::symlink("../outside/new", root.join("dangling")).unwrap();
        std::os::unix::fs::symlink("loop", root.join("loop")).unwrap();
        let w = Workspace::new(&root, &top.join("spill")).unwrap();
        assert_eq!(w.resolve("sub/../a.txt"), root.join("a.txt"));
        assert_eq!(w.resolve("out/x"), top.join("outside/x"));
        assert_eq!(w.resolve("out/../x"), top.join("x"), "`..` leaves the target of the link, not its name");
        assert_eq!(w.resolve("dangling"), top.join("outside/new"));
        assert_eq!(w.resolve("missing/a/../b"), root.join("missing/b"));
        assert_eq!(w.resolve("/../../etc"), Path::new("/etc"));
        assert_eq!(w.resolve("loop"), root.join("loop"));
        assert_eq!(w.shown(&root.join("sub/a")), "sub/a");
        assert_eq!(w.shown(&top.join("outside/x")), top.join("outside/x").display().to_string());
        if let Some(home) = dirs::home_dir() {
            assert_eq!(w.resolve("~/a b"), resolve_links(&home.join("a b")));
            assert_eq!(w.resolve("~user"), root.join("~user"));
        }
    }
}
