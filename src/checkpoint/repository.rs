//! The bare repository of a store: its lock, its references, and what happens when it is damaged.

use super::{CheckpointError, tree};
use crate::protocol::CheckpointId;
use git2::{Oid, Repository, RepositoryInitOptions};
use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    sync::Once,
    time::{Duration, Instant},
};

pub const REFS: &str = "refs/checkpoints/";
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
}

/// Oldest first.
pub fn named(repo: &Repository) -> Result<Vec<Named>, CheckpointError> {
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

pub fn find(repo: &Repository, id: &CheckpointId) -> Result<Named, CheckpointError> {
    let oid = Oid::from_str(&id.0).ok();
    let found = named(repo)?.into_iter().find(|n| Some(n.id) == oid);
    found.ok_or_else(|| CheckpointError::Unknown(id.clone()))
}

/// Drops references, and nothing of what they name. The others keep their ids, so the history is cut where one is missing, not
/// rewritten. First the cut: a crash after it loses nothing.
pub fn forget(repo: &Repository, all: &[Named], dropped: &BTreeSet<Oid>) -> Result<(), CheckpointError> {
    let stay: BTreeSet<Oid> = all.iter().map(|n| n.id).filter(|id| !dropped.contains(id)).collect();
    let path = repo.path().join("shallow");
    let already = fs::read_to_string(&path).unwrap_or_default();
    let mut cut: BTreeSet<Oid> = already.lines().filter_map(|line| Oid::from_str(line).ok()).filter(|id| stay.contains(id)).collect();
    for id in &stay {
        let commit = repo.find_commit(*id).map_err(tree::damaged)?;
        if commit.parent_ids().any(|parent| !stay.contains(&parent)) {
            cut.insert(*id);
        }
    }
    let lines: String = cut.iter().map(|id| format!("{id}\n")).collect();
    if lines.is_empty() {
        // For git an empty list is a history that is cut, too.
        let _ = fs::remove_file(&path);
    } else {
        crate::atomic::write(&path, lines.as_bytes(), Default::default()).map_err(CheckpointError::io(&path))?;
    }
    for gone in all.iter().filter(|n| dropped.contains(&n.id)) {
        repo.find_reference(&gone.reference())?.delete()?;
    }
    Ok(())
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
        return Ok(Repository::init_opts(
            &path,
            RepositoryInitOptions::new().bare(true).no_reinit(true).mkdir(true).external_template(false),
        )?);
    }
    let repo = Repository::open_bare(&path).map_err(tree::damaged)?;
    if let Some(newest) = named(&repo)?.pop() {
        let commit = repo.find_commit(newest.id).map_err(tree::damaged)?;
        repo.find_tree(commit.tree_id()).map_err(tree::damaged)?;
    }
    Ok(repo)
}

/// Moves a damaged repository away. Returns what the user should know.
pub fn set_aside(folder: &Path, why: &str) -> Result<String, CheckpointError> {
    let repo = folder.join("repo.git");
    let aside = (1..).map(|n| folder.join(format!("damaged-{n}.git"))).find(|p| !p.exists()).unwrap_or_else(|| folder.join("damaged.git"));
    fs::rename(&repo, &aside).map_err(CheckpointError::io(&repo))?;
    let _ = fs::remove_file(folder.join("stat-cache"));
    Ok(format!(
        "The checkpoint store was damaged ({why}). It was set aside as {} and a new one begun; earlier checkpoints can't be restored.",
        aside.display()
    ))
}
