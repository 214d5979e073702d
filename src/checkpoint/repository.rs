//! The bare repository of a store: its lock, its references, and what happens when it is damaged.

use super::{CheckpointError, intact, stored, tree};
use crate::protocol::CheckpointId;
use git2::{Oid, Repository, RepositoryInitOptions};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::Path,
    sync::Once,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

pub const REFS: &str = "refs/checkpoints/";
const STAMP: &str = "stamp";
const PATIENCE: Duration = Duration::from_secs(30);

/// One checkpoint as its reference names it.
#[derive(Debug, Clone, Copy)]
pub struct Named {
    pub number: u64,
    pub id: Oid,
}

impl Named {
    pub fn reference(&self) -> String {
        format!("{REFS}{:010}", self.number)
    }

    /// Only now the checkpoint exists: all that it names has to be on the disk. Under the store's lock.
    pub fn write(&self, repo: &Repository) -> Result<(), CheckpointError> {
        let path = repo.path().join(self.reference());
        // Of a process that was killed.
        let _ = fs::remove_file(path.with_extension("lock"));
        let options = crate::atomic::Options { durable: true, ..Default::default() };
        let write = || {
            fs::create_dir_all(repo.path().join(REFS))?;
            crate::atomic::write(&path, format!("{}\n", self.id).as_bytes(), options)
        };
        write().map(drop).map_err(CheckpointError::io(&path))
    }
}

/// Oldest first. Read here and not by libgit2, which takes much longer for many.
pub fn named(repo: &Repository) -> Result<Vec<Named>, CheckpointError> {
    let mut all = packed(repo);
    for number in loose(repo) {
        all.extend(read(repo, number)?);
    }
    Ok(all.into_iter().map(|(number, id)| Named { number, id }).collect())
}

pub fn newest(repo: &Repository) -> Result<Option<Named>, CheckpointError> {
    // Those that somebody else packed are older than a loose one that was made later, but not than one that was packed since.
    let packed = packed(repo).pop_last();
    for number in loose(repo).into_iter().rev().take_while(|loose| packed.is_none_or(|(number, _)| number <= *loose)) {
        if let Some((number, id)) = read(repo, number)? {
            return Ok(Some(Named { number, id }));
        }
    }
    Ok(packed.map(|(number, id)| Named { number, id }))
}

fn loose(repo: &Repository) -> BTreeSet<u64> {
    let names = fs::read_dir(repo.path().join(REFS)).into_iter().flatten().flatten();
    names.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn read(repo: &Repository, number: u64) -> Result<Option<(u64, Oid)>, CheckpointError> {
    let path = repo.path().join(format!("{REFS}{number:010}"));
    match fs::read_to_string(&path) {
        // A power cut has left the name of a file that was never written: no checkpoint was promised.
        Ok(text) if text.bytes().all(|byte| byte == 0) => Ok(None),
        Ok(text) => {
            let id = Oid::from_str(text.trim()).ok().filter(|_| text.trim().len() == 40);
            id.map(|id| Some((number, id))).ok_or_else(|| CheckpointError::Damaged(format!("{} is no reference", path.display())))
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(CheckpointError::io(&path)(e)),
    }
}

/// We never pack references, but `git gc` does.
fn packed(repo: &Repository) -> BTreeMap<u64, Oid> {
    let text = fs::read_to_string(repo.path().join("packed-refs")).unwrap_or_default();
    let line = |line: &str| {
        let (id, name) = line.split_once(' ')?;
        Some((name.strip_prefix(REFS)?.parse().ok()?, Oid::from_str(id).ok()?))
    };
    text.lines().filter_map(line).collect()
}

/// Changes whenever contents may be gone: what is remembered of them counts no longer.
pub fn stamp(repo: &Repository) -> String {
    fs::read_to_string(repo.path().join(STAMP)).unwrap_or_default()
}

pub fn new_stamp(repo: &Path) -> Result<(), CheckpointError> {
    let path = repo.join(STAMP);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos());
    let options = crate::atomic::Options { durable: true, ..Default::default() };
    let text = format!("{now}-{}", std::process::id());
    crate::atomic::write(&path, text.as_bytes(), options).map(|_| ()).map_err(CheckpointError::io(&path))
}

pub fn find(repo: &Repository, id: &CheckpointId) -> Result<Named, CheckpointError> {
    find_in(&named(repo)?, id)
}

pub fn find_in(all: &[Named], id: &CheckpointId) -> Result<Named, CheckpointError> {
    let oid = Oid::from_str(&id.0).ok();
    let found = all.iter().find(|n| Some(n.id) == oid).copied();
    found.ok_or_else(|| CheckpointError::Unknown(id.clone()))
}

/// Drops references, and nothing of what they name. The others keep their ids, so the history is cut where one is missing, not
/// rewritten. First the new cuts, and the old ones go last: at each moment whatever is named ends at a cut or at the beginning.
pub fn forget(repo: &Repository, all: &[Named], dropped: &BTreeSet<Oid>) -> Result<(), CheckpointError> {
    let stay: BTreeSet<Oid> = all.iter().map(|n| n.id).filter(|id| !dropped.contains(id)).collect();
    let path = repo.path().join("shallow");
    let already = fs::read_to_string(&path).unwrap_or_default();
    let mut cut: BTreeSet<Oid> = already.lines().filter_map(|line| Oid::from_str(line).ok()).collect();
    for id in &stay {
        let commit = stored::commit(repo, *id)?;
        if commit.parent_ids().any(|parent| !stay.contains(&parent)) {
            cut.insert(*id);
        }
    }
    write_cuts(&path, &cut)?;
    for gone in all.iter().filter(|n| dropped.contains(&n.id)) {
        repo.find_reference(&gone.reference())?.delete()?;
    }
    cut.retain(|id| stay.contains(id));
    write_cuts(&path, &cut)
}

fn write_cuts(path: &Path, cut: &BTreeSet<Oid>) -> Result<(), CheckpointError> {
    let lines: String = cut.iter().map(|id| format!("{id}\n")).collect();
    if lines.is_empty() {
        // For git an empty list is a history that is cut, too.
        let _ = fs::remove_file(path);
        return Ok(());
    }
    crate::atomic::write(path, lines.as_bytes(), Default::default()).map(|_| ()).map_err(CheckpointError::io(path))
}

pub fn lock(folder: &Path) -> Result<fs::File, CheckpointError> {
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

/// For a look at a store that can't be written. Without a lock file nobody has ever used it.
pub fn lock_to_read(folder: &Path) -> Option<fs::File> {
    let file = fs::File::open(folder.join("lock")).ok()?;
    file.lock_shared().ok().map(|()| file)
}

/// Opens or makes the repository, and looks whether its newest checkpoint is there. What is below that is found to be damaged when
/// it is met.
pub fn open_checked(folder: &Path) -> Result<Repository, CheckpointError> {
    static ALONE: Once = Once::new();
    ALONE.call_once(|| {
        for level in [git2::ConfigLevel::System, git2::ConfigLevel::Global, git2::ConfigLevel::XDG, git2::ConfigLevel::ProgramData] {
            // SAFETY: nothing else of ours uses libgit2, and `Once` runs this before the first use here.
            let _ = unsafe { git2::opts::set_search_path(level, "") };
        }
    });
    let path = folder.join("repo.git");
    if !path.exists() {
        let options = &mut RepositoryInitOptions::new();
        let repo = Repository::init_opts(&path, options.bare(true).no_reinit(true).mkdir(true).external_template(false))?;
        new_stamp(&path)?;
        return Ok(repo);
    }
    let repo = Repository::open_bare(&path).map_err(tree::damaged)?;
    if let Some(newest) = newest(&repo)? {
        let commit = stored::commit(&repo, newest.id)?;
        stored::tree(&repo, commit.tree_id())?;
    }
    Ok(repo)
}

/// A repository that is gone though we made one. Returns what the user should know; a new one is made when it is opened.
pub fn begun_anew(folder: &Path) -> Option<String> {
    let index = folder.join(super::git::INDEX);
    let gone = !folder.join("repo.git").exists() && index.exists();
    gone.then(|| {
        // It vouches for contents that went with the repository.
        let _ = fs::remove_file(&index);
        "The checkpoint store was gone. A new one was begun; earlier checkpoints can't be restored.".into()
    })
}

/// Moves a damaged repository away. Returns what the user should know.
pub fn set_aside(folder: &Path, why: &str) -> Result<String, CheckpointError> {
    let repo = folder.join("repo.git");
    let aside = (1..).map(|n| folder.join(format!("damaged-{n}.git"))).find(|p| !p.exists()).unwrap_or_else(|| folder.join("damaged.git"));
    fs::rename(&repo, &aside).map_err(CheckpointError::io(&repo))?;
    let _ = fs::remove_file(folder.join(super::git::INDEX));
    intact::unmark(folder)?;
    Ok(format!(
        "The checkpoint store was damaged ({why}). It was set aside as {} and a new one begun; earlier checkpoints can't be restored.",
        aside.display()
    ))
}
