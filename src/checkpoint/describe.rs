//! Changes with their texts, as they are shown.

use super::{
    kept::Change,
    stored,
    tree::{self, File},
};
use crate::protocol::{FileChange, SharedText};
use git2::Repository;

/// Larger texts are named in a diff and not shown.
const SHOWN: usize = 1 << 20;
const SHOWN_TOTAL: usize = 16 << 20;

pub fn describe(repo: &Repository, changes: Vec<Change>) -> Vec<FileChange> {
    let mut shown = 0;
    let mut describe = |(place, old, new): Change| {
        let mut text = |file: Option<File>| -> Option<Option<SharedText>> {
            let Some(file) = file else { return Some(None) };
            if size(repo, file).is_none_or(|size| size > SHOWN || shown + size > SHOWN_TOTAL) {
                return None;
            }
            let blob = stored::blob(repo, file.id).ok()?;
            shown += blob.size();
            if blob.is_binary() {
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

fn size(repo: &Repository, file: File) -> Option<usize> {
    stored::size(repo, file.id)
}
