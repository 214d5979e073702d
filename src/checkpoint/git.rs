//! Checkpoints as commits of a bare repository of our own in the data folder, one per working tree.
//!
//! - No git configuration is read, and no filter, hook or attribute runs: blobs are the files' raw bytes.
//! - A checkpoint exists once its reference does; whatever dies before leaves only objects that nothing names.
//! - Processes take turns by a lock file. A store that can't be read is set aside, never repaired in place.

use super::{
    CheckpointError, CheckpointStore, Entry, Kind, Label, Pruned, Restored, Retention, Revision, Taken, Usage, activity, cut_off,
    describe::describe,
    folders::REPOSITORY,
    index::Index,
    intact,
    kept::{Change, Kept, changes},
    label,
    notes::Notes,
    objects::{self, Objects, Workspace},
    planning::Planning,
    prune, repack,
    repository::{Named, begun_anew, find, find_in, forget, lock, named, newest, open_checked, set_aside, stamp},
    restore::{Restore, changes_of, file_of},
    scan::{Present, Scan},
    seen::Seen,
    stored,
    tree::{self, Place},
};
use crate::{
    project,
    protocol::{CheckpointId, FileChange, Plan, SessionId, Wanted},
};
use git2::{OdbLookupFlags, Oid, Repository, Signature, Time};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::{ffi::OsStrExt, fs::DirBuilderExt},
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};
use tempfile::TempDir;

const LIMIT: u64 = 20 << 20;
pub(super) const INDEX: &str = "index";

pub struct GitStore {
    root: PathBuf,
    /// Holds the repository, the lock and the index.
    folder: PathBuf,
    /// The data of all projects: never part of a checkpoint, even if it is inside the root.
    data: PathBuf,
    repo: Repository,
    index: Index,
    /// Whose contents the index vouches for.
    stamp: String,
    /// How the objects looked when all of those that the index names were there.
    seen: Seen,
    /// The work at hand has changed them.
    wrote: bool,
    covered: BTreeSet<Place>,
    /// For which it keeps checkpoints.
    session: Option<SessionId>,
    limit: u64,
    notice: Option<String>,
    /// Goes with the store.
    _aside: Option<TempDir>,
}

/// Where the store of a project is.
pub(super) fn folder_of(data: &Path, key: &str) -> PathBuf {
    data.join("checkpoints").join(key)
}

impl GitStore {
    /// `data` is the folder for the data of all projects.
    pub fn open(data: &Path, root: &Path) -> Result<Self, CheckpointError> {
        let root = root.canonicalize().map_err(CheckpointError::io(root))?;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(data).map_err(CheckpointError::io(data))?;
        let data = data.canonicalize().map_err(CheckpointError::io(data))?;
        let folder = folder_of(&data, &project::key(&root));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(CheckpointError::io(&folder))?;
        // For people who wonder whose store this is.
        let _ = fs::write(folder.join("root"), root.as_os_str().as_bytes());
        Self::at(folder, data, root, None)
    }

    pub(super) fn at(folder: PathBuf, data: PathBuf, root: PathBuf, aside: Option<TempDir>) -> Result<Self, CheckpointError> {
        let _lock = lock(&folder)?;
        let mut notice = begun_anew(&folder);
        let repo = match open_checked(&folder) {
            Ok(repo) => repo,
            Err(CheckpointError::Damaged(why)) => {
                notice = Some(set_aside(&folder, &why)?);
                open_checked(&folder)?
            }
            Err(e) => return Err(e),
        };
        let (index, covered, stamp) = (Index::default(), BTreeSet::new(), stamp(&repo));
        let seen = Seen::default();
        let mut store = GitStore {
            index,
            covered,
            session: None,
            limit: LIMIT,
            root,
            folder,
            data,
            repo,
            stamp,
            seen,
            wrote: false,
            notice,
            _aside: aside,
        };
        store.load_index()?;
        Ok(store)
    }

    /// Files larger than this are not kept.
    pub fn set_limit(&mut self, bytes: u64) {
        self.limit = bytes;
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn repo(&self) -> &Repository {
        &self.repo
    }

    /// What of it is missing in the store is forgotten, so that it is read from the disk and written again.
    fn load_index(&mut self) -> Result<(), CheckpointError> {
        let odb = self.repo.odb()?;
        let exists = |id| odb.exists_ext(id, OdbLookupFlags::NO_REFRESH);
        self.index = Index::load(&self.folder.join(INDEX), &self.stamp, exists);
        let objects = self.objects();
        self.seen = Seen::load(&self.folder);
        if !self.seen.is_now(&objects) {
            // First how it looks: what goes while we look for it is found the next time.
            self.seen = Seen::look(&objects).unwrap_or_default();
            let file = self.folder.join(INDEX);
            if self.index.forget_missing(exists) {
                // The old one must not be there any more when the next process trusts it.
                let _ = fs::remove_file(&file);
                self.index.save(&file, &self.stamp);
            }
            self.seen.save(&self.folder);
        }
        Ok(())
    }

    fn objects(&self) -> PathBuf {
        self.repo.path().join("objects")
    }

    /// Another process may have pruned the store, begun a new one, or changed its objects.
    fn catch_up(&mut self) -> Result<(), CheckpointError> {
        if stamp(&self.repo) != self.stamp || !self.seen.is_now(&self.objects()) {
            self.reopen()?;
        }
        Ok(())
    }

    /// After our own writing.
    fn remember_objects(&mut self) {
        let seen = Seen::look(&self.objects()).unwrap_or_default();
        if seen != self.seen {
            seen.save(&self.folder);
            self.seen = seen;
        }
    }

    fn reopen(&mut self) -> Result<(), CheckpointError> {
        self.notice = begun_anew(&self.folder).or(self.notice.take());
        self.repo = open_checked(&self.folder)?;
        self.stamp = stamp(&self.repo);
        self.load_index()
    }

    fn kept(&self, id: &CheckpointId) -> Result<Kept<'_>, CheckpointError> {
        Kept::of_commit(&self.repo, find(&self.repo, id)?.id)
    }

    /// The present. `also` are places to look at besides.
    fn present(&mut self, also: impl IntoIterator<Item = Place>) -> Result<Present, CheckpointError> {
        let mut covered = self.covered.clone();
        covered.extend(Notes::load(&self.folder).unwrap_or_default().covered);
        if let Some(newest) = newest(&self.repo)? {
            covered.extend(Kept::of_commit(&self.repo, newest.id)?.covered);
        }
        covered.extend(also);
        self.scan(None, &covered)
    }

    /// Looks at the project and at these places, or only at these places if the rest is known.
    fn scan(&mut self, known: Option<Present>, places: &BTreeSet<Place>) -> Result<Present, CheckpointError> {
        let odb = self.repo.odb()?;
        let mut objects = Objects::new(&odb, &self.objects());
        let scan = Scan { root: &self.root, old: &self.index, limit: self.limit, written: &self.covered, own: &self.data };
        let (mut index, mut present) = match known {
            Some(present) => (self.index.clone(), present),
            None => scan.walk(&mut objects)?,
        };
        scan.look(places, &objects, &mut index, &mut present)?;
        present.tree = tree::write(&mut index, &present, &objects)?;
        self.wrote |= objects.finish()?;
        index.dirty |= self.index.dirty || (index.folders.len(), index.files()) != (self.index.folders.len(), self.index.files());
        index.save(&self.folder.join(INDEX), &self.stamp);
        self.index = index;
        Ok(present)
    }

    /// The present, and what differs in a checkpoint. A file that no walk finds any more is looked for where it was.
    fn compared(&mut self, to: Oid) -> Result<(Present, Vec<Change>), CheckpointError> {
        let target = Kept::of_commit(&self.repo, to)?;
        let (target, covered) = (target.tree, target.covered);
        let present = self.present(covered)?;
        let differing = changes(&self.repo, present.tree, target)?;
        let hidden = |place: &&Place| fs::symlink_metadata(tree::path_of(place, &self.root)).is_ok_and(|m| !m.is_dir());
        let missing = differing.iter().filter(|(_, now, _)| now.is_none()).map(|(place, _, _)| place);
        let hidden: BTreeSet<Place> = missing.filter(hidden).cloned().collect();
        if hidden.is_empty() {
            return Ok((present, differing));
        }
        let present = self.scan(Some(present), &hidden)?;
        let differing = changes(&self.repo, present.tree, target)?;
        Ok((present, differing))
    }

    fn commit(&mut self, present: &Present, label: &Label) -> Result<Taken, CheckpointError> {
        let tree = present.tree;
        let skipped = present.skipped.iter().filter(|(_, why)| *why != REPOSITORY).map(|(p, why)| (tree::shown(p), why.clone())).collect();
        let newest = newest(&self.repo)?;
        let parent = newest.as_ref().map(|n| stored::commit(&self.repo, n.id)).transpose()?;
        if let Some(parent) = parent.as_ref().filter(|p| p.tree_id() == tree) {
            return Ok(Taken { id: CheckpointId(parent.id().to_string()), files_changed: 0, skipped });
        }
        let files_changed = match &parent {
            Some(parent) => changes(&self.repo, parent.tree_id(), tree)?.len(),
            None => self.index.files(),
        };
        let at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs() as i64);
        let who = Signature::new("Backstitch", "backstitch@localhost", &Time::new(at, 0))?;
        let parents: Vec<_> = parent.iter().collect();
        let message = label::write(label, files_changed);
        self.wrote = true;
        let bytes = self.repo.commit_create_buffer(&who, &who, &message, &stored::tree(&self.repo, tree)?, &parents)?;
        let odb = self.repo.odb()?;
        let objects = Objects::new(&odb, &self.objects());
        let id = objects.write(objects::Kind::Commit, &bytes, &mut Workspace::default())?;
        objects.finish()?;
        Named { number: newest.map_or(1, |n| n.number + 1), id }.write(&self.repo)?;
        Ok(Taken { id: CheckpointId(id.to_string()), files_changed, skipped })
    }

    fn plan_locked(&mut self, wanted: &Wanted) -> Result<Plan, CheckpointError> {
        let all = named(&self.repo)?;
        let since = wanted.since.as_ref().map(|id| find_in(&all, id)).transpose()?.map(|n| n.id);
        let target = find_in(&all, &wanted.to)?;
        let (present, differing) = self.compared(target.id)?;
        let theirs = match &wanted.since {
            Some(end) => activity::of_others((&self.repo, &self.folder), &all, target.number, end, self.session.as_ref())?,
            None => BTreeMap::new(),
        };
        let later = all.into_iter().filter(|n| n.number > target.number).map(|n| n.id).collect();
        let target = Kept::of_commit(&self.repo, target.id)?;
        let planning = Planning { repo: &self.repo, root: &self.root, present: &present, target: &target, later, since, theirs };
        let (plan, lost) = planning.plan(wanted, differing)?;
        intact::mark(&self.folder, &lost);
        Ok(plan)
    }

    fn restore_locked(&mut self, plan: &Plan) -> Result<Restored, CheckpointError> {
        find(&self.repo, &plan.wanted.to)?;
        let (mut changes, refused) = changes_of(&plan.files, &self.root);
        let lost = intact::leave_out(&self.repo.odb()?, &self.objects(), &mut changes);
        intact::mark(&self.folder, &lost);
        let refused: Vec<_> = refused.into_iter().chain(lost).collect();
        let present = self.present(changes.iter().map(|(place, _, _)| place.clone()))?;
        let label = Label::new(Kind::BeforeRestore, format!("before going back to {}", plan.wanted.to.short()));
        let before = self.commit(&present, &label)?.id;
        let (mut done, mut skipped) = (vec![], refused);
        if !changes.is_empty() {
            cut_off::write(&self.folder, plan)?;
            let (did, not) = Restore { repo: &self.repo, root: &self.root, present: &present, index: &self.index }.run(changes);
            (done, skipped) = (did, skipped.into_iter().chain(not).collect());
        }
        cut_off::remove(&self.folder);
        let skipped = skipped.into_iter().map(|(place, why)| (tree::shown(&place), why));
        let skipped = plan.skipped.iter().cloned().chain(skipped).collect();
        Ok(Restored { before, changes: describe(&self.repo, done), skipped })
    }

    fn unfinished_locked(&mut self) -> Result<Option<Plan>, CheckpointError> {
        let Some(mut plan) = cut_off::read(&self.folder)? else {
            cut_off::remove(&self.folder);
            return Ok(None);
        };
        cut_off::tidy(&plan, &self.root);
        let places = plan.files.iter().map(|file| tree::place_of(&self.root.join(&file.path), &self.root)).collect();
        let places: BTreeSet<Place> = places;
        self.present(places)?;
        let version = |path: &Path| self.index.file(&tree::place_of(&self.root.join(path), &self.root));
        let skipped = &mut plan.skipped;
        plan.files.retain(|file| {
            let now = version(&file.path);
            let as_it_was = now.map(|file| file.version()) == file.now;
            let done = !tree::differ(now, file.then.as_ref().and_then(file_of));
            if !as_it_was && !done {
                skipped.push((file.path.clone(), "it is neither as it was nor as it was to be; left as it is".into()));
            }
            as_it_was && !done
        });
        if plan.files.is_empty() || find(&self.repo, &plan.wanted.to).is_err() {
            cut_off::remove(&self.folder);
            return Ok(None);
        }
        Ok(Some(plan))
    }

    /// Runs under the lock; a store that turns out to be damaged is replaced by a new one.
    fn guarded<T>(&mut self, work: impl Fn(&mut Self) -> Result<T, CheckpointError>) -> Result<T, CheckpointError> {
        let _lock = lock(&self.folder)?;
        self.wrote = false;
        let result = match self.catch_up().and_then(|()| work(self)) {
            Err(CheckpointError::Damaged(why)) => {
                self.begin_anew(&why)?;
                match work(self) {
                    // What was asked for went with the old one.
                    Err(CheckpointError::Unknown(_)) => Err(CheckpointError::Gone(self.notice.take().unwrap_or_default())),
                    result => result,
                }
            }
            result => result,
        };
        if self.wrote && result.is_ok() {
            self.remember_objects();
        }
        result
    }

    fn begin_anew(&mut self, why: &str) -> Result<(), CheckpointError> {
        let told = set_aside(&self.folder, why)?;
        self.reopen()?;
        self.notice = Some(told);
        Ok(())
    }

    fn entry(&self, id: Oid, notes: &Notes) -> Result<Entry, CheckpointError> {
        let commit = stored::commit(&self.repo, id)?;
        let (mut label, files_changed) = label::read(&String::from_utf8_lossy(commit.message_bytes()));
        let at = commit.time().seconds().max(0) as u64 * 1000;
        let id = CheckpointId(id.to_string());
        let note = notes.get(&id.0);
        let named = note.name.is_some();
        label.text = note.name.unwrap_or(label.text);
        Ok(Entry { id, label, at, files_changed, named, pinned: note.pinned })
    }
}

impl CheckpointStore for GitStore {
    fn cover(&mut self, paths: &[PathBuf]) {
        // Repositories are never touched, so neither kept nor restored.
        let outside_git = paths.iter().filter(|p| p.components().all(|part| part.as_os_str() != ".git"));
        self.covered.extend(outside_git.map(|p| tree::place_of(&self.root.join(p), &self.root)));
    }

    fn acts(&mut self, session: &SessionId, files: &[PathBuf]) {
        // If it can't be noted, its changes are known by its next checkpoint alone.
        let _ = self.note(session, activity::Noted::Begins(files));
    }

    fn rests(&mut self, session: &SessionId) {
        let _ = self.note(session, activity::Noted::Ends);
    }

    fn lasts(&mut self, session: &SessionId, lasts: bool) {
        let _ = self.note(session, activity::Noted::lasting(lasts));
    }

    fn take(&mut self, label: &Label) -> Result<Taken, CheckpointError> {
        self.session = label.session.clone().or(self.session.take());
        let begins = matches!(label.kind, Kind::BeforeTurn | Kind::Manual);
        self.guarded(|store| {
            if let Some(why) = intact::marked(&store.folder).filter(|_| begins) {
                store.begin_anew(&why)?;
            }
            let present = store.present([])?;
            store.commit(&present, label)
        })
    }

    fn diff(&mut self, from: &CheckpointId, to: Option<&CheckpointId>) -> Result<Vec<FileChange>, CheckpointError> {
        self.guarded(|store| {
            let differing = match to {
                Some(to) => {
                    let (old, new) = (store.kept(from)?, store.kept(to)?);
                    let unclear = |place: &[u8]| old.skips(place) || new.skips(place);
                    changes(&store.repo, old.tree, new.tree)?.into_iter().filter(|(place, _, _)| !unclear(place)).collect()
                }
                None => {
                    let from = find(&store.repo, from)?.id;
                    let (present, differing) = store.compared(from)?;
                    let old = Kept::of_commit(&store.repo, from)?;
                    let unclear = |place: &[u8]| old.skips(place) || present.skips(place);
                    differing.into_iter().filter(|(place, _, _)| !unclear(place)).map(|(place, now, old)| (place, old, now)).collect()
                }
            };
            Ok(describe(&store.repo, differing))
        })
    }

    fn plan(&mut self, wanted: &Wanted) -> Result<Plan, CheckpointError> {
        self.guarded(|store| store.plan_locked(wanted))
    }

    fn restore(&mut self, plan: &Plan) -> Result<Restored, CheckpointError> {
        self.guarded(|store| store.restore_locked(plan))
    }

    fn show(&mut self, plan: &Plan) -> Result<Vec<FileChange>, CheckpointError> {
        self.guarded(|store| Ok(describe(&store.repo, changes_of(&plan.files, &store.root).0)))
    }

    fn unfinished(&mut self) -> Result<Option<Plan>, CheckpointError> {
        self.guarded(Self::unfinished_locked)
    }

    fn forget_unfinished(&mut self) {
        if let Ok(_lock) = lock(&self.folder) {
            cut_off::remove(&self.folder);
        }
    }

    fn list(&mut self) -> Result<Vec<Entry>, CheckpointError> {
        self.guarded(|store| {
            // Without their names they can still be restored.
            let notes = Notes::load(&store.folder).unwrap_or_default();
            named(&store.repo)?.into_iter().map(|n| store.entry(n.id, &notes)).collect()
        })
    }

    fn revise(&mut self, id: &CheckpointId, revision: Revision) -> Result<Entry, CheckpointError> {
        self.guarded(|store| {
            let found = find(&store.repo, id)?;
            let mut notes = Notes::load(&store.folder)?;
            notes.revise(id, revision.clone());
            notes.save(&store.folder)?;
            store.entry(found.id, &notes)
        })
    }

    fn delete(&mut self, id: &CheckpointId) -> Result<(), CheckpointError> {
        self.guarded(|store| {
            let found = find(&store.repo, id)?;
            let mut notes = Notes::load(&store.folder)?;
            if notes.get(&id.0).pinned {
                return Err(CheckpointError::Pinned(id.clone()));
            }
            let covered = Kept::of_commit(&store.repo, found.id)?.covered;
            forget(&store.repo, &named(&store.repo)?, &BTreeSet::from([found.id]))?;
            prune::leave_garbage(&store.repo)?;
            let known = notes.covered.len();
            notes.covered.extend(covered);
            if notes.retain(|other| other != id.0) || known < notes.covered.len() { notes.save(&store.folder) } else { Ok(()) }
        })
    }

    fn prune(&mut self, keep: &Retention) -> Result<Pruned, CheckpointError> {
        self.guarded(|store| {
            let mut notes = Notes::load(&store.folder)?;
            store.wrote = true;
            let pruned = prune::prune(&store.repo, keep, &|id| notes.get(&id.to_string()).pinned)?;
            let alive: BTreeSet<String> = named(&store.repo)?.iter().map(|n| n.id.to_string()).collect();
            if notes.retain(|id| alive.contains(id)) {
                notes.save(&store.folder)?;
            }
            if stamp(&store.repo) != store.stamp {
                // Packs may be gone, and the index names contents that are.
                let mut index = std::mem::take(&mut store.index);
                store.reopen()?;
                let odb = store.repo.odb()?;
                index.forget_missing(|id| odb.exists_ext(id, OdbLookupFlags::NO_REFRESH));
                index.save(&store.folder.join(INDEX), &store.stamp);
                store.index = index;
            }
            Ok(pruned)
        })
    }

    fn usage(&mut self) -> Result<Usage, CheckpointError> {
        Ok(Usage { bytes: repack::bytes_of(&self.folder), checkpoints: named(&self.repo)?.len() })
    }

    fn notice(&mut self) -> Option<String> {
        self.notice.take()
    }
}
