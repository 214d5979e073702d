//! Checkpoints as commits of a bare repository of our own in the data folder, one per working tree.
//!
//! - No git configuration is read, and no filter, hook or attribute runs: blobs are the files' raw bytes.
//! - A checkpoint exists once its reference does; whatever dies before leaves only objects that nothing names.
//! - Processes take turns by a lock file. A store that can't be read is set aside, never repaired in place.

use super::{
    CheckpointError, CheckpointStore, Entry, Kind, Label, Pruned, Restored, Retention, Taken, label, prune,
    restore::{self, Restore},
    scan::Scan,
    stat_cache::StatCache,
    tree::{self, File, Place, Snapshot},
};
use crate::{
    project,
    protocol::{CheckpointId, FileChange, SharedText},
};
use git2::{Oid, Repository, RepositoryInitOptions, Signature, Time};
use std::{
    collections::BTreeSet,
    fs,
    os::unix::{ffi::OsStrExt, fs::DirBuilderExt},
    path::{Path, PathBuf},
    sync::Once,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

pub(super) const REFS: &str = "refs/checkpoints/";
const LIMIT: u64 = 20 << 20;
const PATIENCE: Duration = Duration::from_secs(30);
/// Larger texts are named in a diff and not shown.
const SHOWN: usize = 1 << 20;
const SHOWN_TOTAL: usize = 16 << 20;

pub struct GitStore {
    root: PathBuf,
    /// Holds the repository, the lock and the stat cache.
    folder: PathBuf,
    /// The data of all projects: never part of a checkpoint, even if it is inside the root.
    data: PathBuf,
    repo: Repository,
    cache: StatCache,
    covered: BTreeSet<Place>,
    limit: u64,
    notice: Option<String>,
}

/// One checkpoint as its reference names it.
pub(super) struct Named {
    pub number: u64,
    pub id: Oid,
}

impl GitStore {
    /// `data` is the folder for the data of all projects.
    pub fn open(data: &Path, root: &Path) -> Result<Self, CheckpointError> {
        let root = root.canonicalize().map_err(CheckpointError::io(root))?;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(data).map_err(CheckpointError::io(data))?;
        let data = data.canonicalize().map_err(CheckpointError::io(data))?;
        let folder = data.join("checkpoints").join(project::key(&root));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(CheckpointError::io(&folder))?;
        // For people who wonder whose store this is.
        let _ = fs::write(folder.join("root"), root.as_os_str().as_bytes());
        let _lock = lock(&folder)?;
        let mut notice = None;
        let repo = match open_checked(&folder) {
            Ok(repo) => repo,
            Err(CheckpointError::Damaged(why)) => {
                notice = Some(set_aside(&folder, &why)?);
                open_checked(&folder)?
            }
            Err(e) => return Err(e),
        };
        let mut store = GitStore { cache: StatCache::default(), covered: BTreeSet::new(), limit: LIMIT, root, folder, data, repo, notice };
        store.cache = store.load_cache()?;
        Ok(store)
    }

    /// Files larger than this are not kept.
    pub fn set_limit(&mut self, bytes: u64) {
        self.limit = bytes;
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn load_cache(&self) -> Result<StatCache, CheckpointError> {
        let odb = self.repo.odb()?;
        Ok(StatCache::load(&self.folder.join("stat-cache"), |id| odb.exists(id)))
    }

    fn newest(&self) -> Result<Option<Named>, CheckpointError> {
        Ok(named(&self.repo)?.pop())
    }

    fn snapshot(&self, id: Oid) -> Result<Snapshot, CheckpointError> {
        let commit = self.repo.find_commit(id).map_err(tree::damaged)?;
        tree::read(&self.repo, commit.tree_id())
    }

    fn find(&self, id: &CheckpointId) -> Result<Oid, CheckpointError> {
        let unknown = || CheckpointError::Unknown(id.clone());
        let oid = Oid::from_str(&id.0).map_err(|_| unknown())?;
        if named(&self.repo)?.iter().any(|n| n.id == oid) { Ok(oid) } else { Err(unknown()) }
    }

    /// The present. `also` are places to look at besides.
    fn present(&mut self, also: impl IntoIterator<Item = Place>) -> Result<Snapshot, CheckpointError> {
        let mut covered = self.covered.clone();
        if let Some(newest) = self.newest()? {
            covered.extend(self.snapshot(newest.id)?.covered);
        }
        covered.extend(also);
        let odb = self.repo.odb()?;
        let (limit, written) = (self.limit, &self.covered);
        Scan { root: &self.root, odb: &odb, cache: &mut self.cache, limit, written, own: &self.data }.run(&covered)
    }

    fn commit(&mut self, present: &Snapshot, label: &Label) -> Result<Taken, CheckpointError> {
        let tree = tree::write(&self.repo.odb()?, present)?;
        let skipped = present.skipped.iter().map(|(p, why)| (tree::shown(p), why.clone())).collect();
        let newest = self.newest()?;
        let parent = newest.as_ref().map(|n| self.repo.find_commit(n.id)).transpose().map_err(tree::damaged)?;
        self.cache.save(&self.folder.join("stat-cache"), |place| present.files.contains_key(place));
        if let Some(parent) = parent.as_ref().filter(|p| p.tree_id() == tree) {
            return Ok(Taken { id: CheckpointId(parent.id().to_string()), files_changed: 0, skipped });
        }
        let before = parent.as_ref().map(|p| self.snapshot(p.id())).transpose()?.unwrap_or_default();
        let files_changed = before.changes(present).len();
        let at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs() as i64);
        let who = Signature::new("Backstitch", "backstitch@localhost", &Time::new(at, 0))?;
        let parents: Vec<_> = parent.iter().collect();
        let message = label::write(label, files_changed);
        let id = self.repo.commit(None, &who, &who, &message, &self.repo.find_tree(tree)?, &parents)?;
        let number = newest.map_or(1, |n| n.number + 1);
        let name = format!("{REFS}{number:010}");
        // We hold the store's lock, so this one is of a process that was killed.
        let _ = fs::remove_file(self.repo.path().join(format!("{name}.lock")));
        self.repo.reference(&name, id, false, "checkpoint")?;
        Ok(Taken { id: CheckpointId(id.to_string()), files_changed, skipped })
    }

    fn take_locked(&mut self, label: &Label) -> Result<Taken, CheckpointError> {
        let present = self.present([])?;
        self.commit(&present, label)
    }

    /// Where the target knows nothing of a file that a tool wrote later, the checkpoint before that writing says how it was.
    fn later(&self, to: Oid) -> Result<Vec<Oid>, CheckpointError> {
        Ok(named(&self.repo)?.into_iter().map(|n| n.id).skip_while(|id| *id != to).skip(1).collect())
    }

    fn restore_locked(&mut self, to: &CheckpointId, since: Option<&CheckpointId>) -> Result<Restored, CheckpointError> {
        let oid = self.find(to)?;
        let mut target = self.snapshot(oid)?;
        let since = since.map(|id| self.snapshot(self.find(id)?)).transpose()?;
        let present = self.present(target.files.keys().cloned().chain(target.covered.iter().cloned()))?;
        let before = self.commit(&present, &Label::new(Kind::BeforeRestore, format!("before going back to {}", to.short())))?;
        let later = self.later(oid)?;
        let kept = since.map(|since| restore::keep_later_changes(&present, &since, &mut target)).unwrap_or_default();
        let mut unknown = Restore::unknown(&self.repo, &target, &present);
        for id in later {
            if unknown.is_empty() {
                break;
            }
            let snapshot = self.snapshot(id)?;
            unknown.retain(|place| {
                if !snapshot.covered.contains(place) {
                    return true;
                }
                target.files.extend(snapshot.files.get(place).map(|file| (place.clone(), *file)));
                false
            });
        }
        let (done, mut skipped) =
            Restore { repo: &self.repo, root: &self.root, present: &present, target: &target, unknown: &unknown }.run();
        skipped.extend(kept.into_iter().map(|place| (place, "changed after the turn; left as it is".into())));
        Ok(Restored {
            before: before.id,
            changes: self.describe(done),
            skipped: skipped.into_iter().map(|(place, why)| (tree::shown(&place), why)).collect(),
        })
    }

    fn describe(&self, changes: Vec<(Place, Option<File>, Option<File>)>) -> Vec<FileChange> {
        let mut shown = 0;
        let mut describe = |(place, old, new): (Place, Option<File>, Option<File>)| {
            let mut text = |file: Option<File>| -> Option<Option<SharedText>> {
                let Some(file) = file else { return Some(None) };
                let blob = self.repo.find_blob(file.id).ok()?;
                shown += blob.size();
                if blob.size() > SHOWN || shown > SHOWN_TOTAL || blob.is_binary() {
                    return None;
                }
                std::str::from_utf8(blob.content()).ok().map(|t| Some(t.into()))
            };
            let (path, texts) = (tree::shown(&place), (text(old), text(new)));
            match texts {
                (Some(old), Some(new)) => FileChange { path, old, new, binary: false },
                _ => FileChange { path, old: old.map(|_| "".into()), new: new.map(|_| "".into()), binary: true },
            }
        };
        changes.into_iter().map(&mut describe).collect()
    }

    /// Runs under the lock; a store that turns out to be damaged is replaced by a new one.
    fn guarded<T>(&mut self, work: impl Fn(&mut Self) -> Result<T, CheckpointError>) -> Result<T, CheckpointError> {
        let _lock = lock(&self.folder)?;
        match work(self) {
            Err(CheckpointError::Damaged(why)) => {
                self.notice = Some(set_aside(&self.folder, &why)?);
                self.repo = open_checked(&self.folder)?;
                self.cache = StatCache::default();
                work(self)
            }
            result => result,
        }
    }
}

impl CheckpointStore for GitStore {
    fn cover(&mut self, paths: &[PathBuf]) {
        // Repositories are never touched, so neither kept nor restored.
        let outside_git = paths.iter().filter(|p| p.components().all(|part| part.as_os_str() != ".git"));
        self.covered.extend(outside_git.map(|p| tree::place_of(&self.root.join(p), &self.root)));
    }

    fn take(&mut self, label: &Label) -> Result<Taken, CheckpointError> {
        self.guarded(|store| store.take_locked(label))
    }

    fn diff(&mut self, from: &CheckpointId, to: Option<&CheckpointId>) -> Result<Vec<FileChange>, CheckpointError> {
        self.guarded(|store| {
            let old = store.snapshot(store.find(from)?)?;
            let new = match to {
                Some(to) => store.snapshot(store.find(to)?)?,
                None => store.present(old.files.keys().cloned())?,
            };
            let unclear = |place: &[u8]| old.skips(place) || new.skips(place);
            Ok(store.describe(old.changes(&new).into_iter().filter(|(place, _, _)| !unclear(place)).collect()))
        })
    }

    fn restore(&mut self, to: &CheckpointId) -> Result<Restored, CheckpointError> {
        self.guarded(|store| store.restore_locked(to, None))
    }

    fn undo(&mut self, to: &CheckpointId, since: &CheckpointId) -> Result<Restored, CheckpointError> {
        self.guarded(|store| store.restore_locked(to, Some(since)))
    }

    fn list(&mut self) -> Result<Vec<Entry>, CheckpointError> {
        self.guarded(|store| {
            let mut entries = vec![];
            for Named { id, .. } in named(&store.repo)? {
                let commit = store.repo.find_commit(id).map_err(tree::damaged)?;
                let (label, files_changed) = label::read(&String::from_utf8_lossy(commit.message_bytes()));
                let at = commit.time().seconds().max(0) as u64 * 1000;
                entries.push(Entry { id: CheckpointId(id.to_string()), label, at, files_changed });
            }
            Ok(entries)
        })
    }

    fn prune(&mut self, keep: &Retention) -> Result<Pruned, CheckpointError> {
        self.guarded(|store| {
            let pruned = prune::prune(&store.repo, keep)?;
            // It may name contents that are gone now.
            store.cache = store.load_cache()?;
            Ok(pruned)
        })
    }

    fn notice(&mut self) -> Option<String> {
        self.notice.take()
    }
}

/// Oldest first.
pub(super) fn named(repo: &Repository) -> Result<Vec<Named>, CheckpointError> {
    let mut all = vec![];
    for reference in repo.references_glob(&format!("{REFS}*")).map_err(tree::damaged)? {
        let reference = reference.map_err(tree::damaged)?;
        let number = reference.name().ok().and_then(|n| n.strip_prefix(REFS)?.parse().ok());
        if let (Some(number), Some(id)) = (number, reference.target()) {
            all.push(Named { number, id });
        }
    }
    all.sort_by_key(|n| n.number);
    Ok(all)
}

fn lock(folder: &Path) -> Result<fs::File, CheckpointError> {
    let path = folder.join("lock");
    let file = fs::File::options().create(true).truncate(false).write(true).open(&path).map_err(CheckpointError::io(&path))?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::WouldBlock) if begun.elapsed() > PATIENCE => return Err(CheckpointError::Busy(PATIENCE)),
            Err(fs::TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(10)),
            Err(fs::TryLockError::Error(e)) => return Err(CheckpointError::io(&path)(e)),
        }
    }
}

/// Opens or makes the repository, and looks whether its newest checkpoint is whole as far as its folders go.
fn open_checked(folder: &Path) -> Result<Repository, CheckpointError> {
    static ALONE: Once = Once::new();
    ALONE.call_once(|| {
        for level in [git2::ConfigLevel::System, git2::ConfigLevel::Global, git2::ConfigLevel::XDG, git2::ConfigLevel::ProgramData] {
            // SAFETY: nothing else of ours uses libgit2, and `Once` runs this before the first use here.
            let _ = unsafe { git2::opts::set_search_path(level, "") };
        }
    });
    let path = folder.join("repo.git");
    if !path.exists() {
        return Ok(Repository::init_opts(
            &path,
            RepositoryInitOptions::new().bare(true).no_reinit(true).mkdir(true).external_template(false),
        )?);
    }
    let repo = Repository::open_bare(&path).map_err(tree::damaged)?;
    if let Some(newest) = named(&repo)?.pop() {
        let commit = repo.find_commit(newest.id).map_err(tree::damaged)?;
        tree::read(&repo, commit.tree_id())?;
    }
    Ok(repo)
}

fn set_aside(folder: &Path, why: &str) -> Result<String, CheckpointError> {
    let repo = folder.join("repo.git");
    let aside = (1..).map(|n| folder.join(format!("damaged-{n}.git"))).find(|p| !p.exists()).unwrap_or_else(|| folder.join("damaged.git"));
    fs::rename(&repo, &aside).map_err(CheckpointError::io(&repo))?;
    let _ = fs::remove_file(folder.join("stat-cache"));
    Ok(format!(
        "The checkpoint store was damaged ({why}). It was set aside as {} and a new one begun; earlier checkpoints can't be restored.",
        aside.display()
    ))
}
