//! Changes as a patch in git's format, which `git apply` and `patch` understand.
//!
//! - A line ends with `\n` and nothing else: whatever other bytes there are stay in their line.
//! - Names are quoted as git does it, so that none of them can end a line or drive a terminal.
//! - A link that becomes a file (or the other way round) is deleted and created, as git wants it.

use crate::protocol::{
    FileChange, Version,
    plan::{FILE, LINK},
};
use backstitch_components::text::sanitize::sanitize;
use similar::{ChangeTag, TextDiff};
use std::{
    collections::BTreeMap,
    fmt::Write,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    time::Duration,
};

const CONTEXT: usize = 3;
/// After this the difference gets coarser, not wrong.
const PATIENCE: Duration = Duration::from_secs(2);

/// A change with contents and mode of both sides, as far as they are known.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    pub change: FileChange,
    pub old: Option<Version>,
    pub new: Option<Version>,
}

impl Compared {
    pub fn action(&self) -> &'static str {
        match (&self.change.old, &self.change.new) {
            (None, _) => "added",
            (_, None) => "deleted",
            _ => "changed",
        }
    }
}

/// Lines that were added and removed.
pub fn counts(change: &FileChange) -> (usize, usize) {
    let text = |side: &Option<crate::protocol::SharedText>| side.clone().unwrap_or_default();
    let (old, new) = (text(&change.old), text(&change.new));
    let (old, new) = (lines(&old), lines(&new));
    let diff = TextDiff::configure().timeout(PATIENCE).diff_slices(&old, &new);
    diff.iter_all_changes().fold((0, 0), |(added, removed), change| match change.tag() {
        ChangeTag::Insert => (added + 1, removed),
        ChangeTag::Delete => (added, removed + 1),
        ChangeTag::Equal => (added, removed),
    })
}

/// The changes in the order of their paths, renamed files as such where nothing else of them changed.
pub fn patch(changes: &[Compared]) -> String {
    let moved = renames(changes);
    let mut out = String::new();
    for change in changes {
        let path = change.change.path.as_path();
        match moved.get(path) {
            Some(Some(from)) => rename(from, path, &mut out),
            Some(None) => {}
            None => one(change, &mut out),
        }
    }
    out
}

/// Where a new path came from. The old path is in it without one.
fn renames(changes: &[Compared]) -> BTreeMap<&Path, Option<&Path>> {
    let mut gone: BTreeMap<(&str, u32), Vec<&Path>> = BTreeMap::new();
    let empty = |change: &FileChange, text: &Option<crate::protocol::SharedText>| !change.binary && text.as_deref() == Some("");
    // `patch` can't read such a name there; contents that are not text have no other way.
    let unclear = |change: &FileChange| !change.binary && change.path.as_os_str().as_bytes().contains(&b' ');
    for Compared { change, old, .. } in changes.iter().rev() {
        if let (None, Some(old)) = (&change.new, old)
            && !empty(change, &change.old)
            && !unclear(change)
        {
            gone.entry((&old.id, old.git_mode())).or_default().push(&change.path);
        }
    }
    let mut moved = BTreeMap::new();
    for Compared { change, new, .. } in changes {
        if let (None, Some(new)) = (&change.old, new)
            && !unclear(change)
            && let Some(from) = gone.get_mut(&(new.id.as_str(), new.git_mode())).and_then(Vec::pop)
        {
            moved.insert(change.path.as_path(), Some(from));
            moved.insert(from, None);
        }
    }
    moved
}

fn rename(from: &Path, to: &Path, out: &mut String) {
    let (a, b) = (quoted("a/", from), quoted("b/", to));
    let (from, to) = (quoted("", from), quoted("", to));
    let _ = write!(out, "diff --git {a} {b}\nsimilarity index 100%\nrename from {from}\nrename to {to}\n");
}

fn one(compared: &Compared, out: &mut String) {
    let Compared { change, old, new } = compared;
    let mode = |version: &Option<Version>| version.as_ref().map_or(FILE, Version::git_mode);
    let (was, is) = (mode(old), mode(new));
    if let (Some(old), Some(new)) = (old, new)
        && (&old.id, was) == (&new.id, is)
    {
        // Only permissions that a patch can't say anything of.
        return;
    }
    if change.old.is_some() && change.new.is_some() && (was == LINK) != (is == LINK) {
        let gone = FileChange { new: None, ..change.clone() };
        let come = FileChange { old: None, ..change.clone() };
        one(&Compared { change: gone, old: old.clone(), new: None }, out);
        return one(&Compared { change: come, old: None, new: new.clone() }, out);
    }
    let (a, b) = (quoted("a/", &change.path), quoted("b/", &change.path));
    let _ = writeln!(out, "diff --git {a} {b}");
    let mut same_mode = String::new();
    match (&change.old, &change.new) {
        (None, _) => drop(writeln!(out, "new file mode {is:o}")),
        (_, None) => drop(writeln!(out, "deleted file mode {was:o}")),
        _ if was != is => drop(write!(out, "old mode {was:o}\nnew mode {is:o}\n")),
        _ => same_mode = format!(" {was:o}"),
    }
    let id = |text: &Option<_>, version: &Option<Version>| match (text, version) {
        (None, _) => Some("0000000".to_string()),
        (Some(_), version) => version.as_ref().and_then(|v| v.id.get(..7)).map(str::to_string),
    };
    let contents = if change.binary {
        let same = old.is_some() && old.as_ref().map(|v| &v.id) == new.as_ref().map(|v| &v.id);
        if same { String::new() } else { format!("Binary files {} and {} differ\n", side(&change.old, &a), side(&change.new, &b)) }
    } else {
        texts(change, &a, &b)
    };
    let both_empty = change.old.is_none() != change.new.is_none() && contents.is_empty();
    if let (Some(old), Some(new)) = (id(&change.old, old), id(&change.new, new))
        && (!contents.is_empty() || both_empty)
    {
        let _ = writeln!(out, "index {old}..{new}{same_mode}");
    }
    out.push_str(&contents);
}

fn side<'a, T>(text: &Option<T>, name: &'a str) -> &'a str {
    if text.is_some() { name } else { "/dev/null" }
}

/// Nothing where there is no difference.
fn texts(change: &FileChange, a: &str, b: &str) -> String {
    let (old, new) = (change.old.clone().unwrap_or_default(), change.new.clone().unwrap_or_default());
    let (old, new) = (lines(&old), lines(&new));
    let diff = TextDiff::configure().timeout(PATIENCE).diff_slices(&old, &new);
    let mut out = String::new();
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        if out.is_empty() {
            // Where a name has blanks, a tab tells where it ends.
            let named = |name: &str| if name.contains(' ') { format!("{name}\t") } else { name.to_string() };
            let _ = writeln!(out, "--- {}", named(side(&change.old, a)));
            let _ = writeln!(out, "+++ {}", named(side(&change.new, b)));
        }
        let _ = writeln!(out, "{}", hunk.header());
        for line in hunk.iter_changes() {
            let _ = write!(out, "{}{}", line.tag(), line.value());
            if !line.value().ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    out
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// A name as git writes it: in quotes with octal escapes, if it has anything that could be misread.
fn quoted(prefix: &str, path: &Path) -> String {
    // One outside of the project is named from the root of the file system.
    let bytes = path.strip_prefix("/").unwrap_or(path).as_os_str().as_bytes();
    let text = std::str::from_utf8(bytes).ok();
    if let Some(text) = text
        && !text.contains(['"', '\\'])
        && sanitize(text) == text
        && !text.contains('\n')
    {
        return format!("{prefix}{text}");
    }
    let mut out = format!("\"{prefix}");
    for byte in bytes {
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            0x20..0x7f => out.push(char::from(*byte)),
            other => drop(write!(out, "\\{other:03o}")),
        }
    }
    out.push('"');
    out
}

/// Those inside of the project, and the paths of the others: no patch of a folder can have them.
pub fn inside(changes: Vec<Compared>) -> (Vec<Compared>, Vec<PathBuf>) {
    let (inside, outside): (Vec<_>, Vec<_>) = changes.into_iter().partition(|c| c.change.path.is_relative());
    (inside, outside.into_iter().map(|c| c.change.path).collect())
}

#[cfg(test)]
mod tests;
