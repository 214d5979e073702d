//! Which files git would show the contents of: what changed between what a command names, as far as somebody minds.
//!
//! What git understands and this does not is told as unknown. Nothing here reads the contents of a file of the project.

use crate::{
    command_line::{self, GitRead},
    protocol::Touch,
};
use git2::{Delta, DiffOptions, Error, ObjectType, Oid, Repository, Revwalk, Sort, Tree};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// Longer histories are not gone through.
const MOST_COMMITS: usize = 1_000;
/// More files than that nobody would read about.
const MOST_FILES: usize = 20;

/// With nothing but these, and what is in [`NO_CONTENTS`], a log shows no contents.
const CHOOSING: &str = " # n oneline graph all branches tags remotes decorate no-decorate pretty format abbrev-commit no-abbrev-commit max-count \
    skip since after until before author committer grep invert-grep regexp-ignore-case extended-regexp fixed-strings merges no-merges \
    first-parent reverse date topo-order date-order author-date-order follow full-history left-right cherry-pick cherry count left-only \
    right-only boundary parents children simplify-by-decoration ancestry-path no-walk source clear-decorations relative-date log-size \
    i E F P z S G pickaxe-regex pickaxe-all abbrev color no-color quiet r t root no-commit-id diff-filter M find-renames no-renames R g cached staged ";
/// Instead of contents.
const NO_CONTENTS: &str = " s no-patch stat numstat shortstat dirstat name-only name-status summary compact-summary raw exit-code quiet ";

/// What a command that reads by way of git shows of files that `minds` is about.
pub fn shown(said: &[Option<String>], folder: &Path, minds: &dyn Fn(&Path) -> bool) -> Vec<Touch> {
    let unknown = || vec![Touch::Unknown("what git shows of files that not everybody may see".into())];
    let Some(read) = command_line::git_read_of(said) else { return unknown() };
    if std::env::var_os("GIT_DIR").is_some() {
        return unknown();
    }
    // No repository: what is compared is named, and has been judged.
    if !folder.ancestors().any(|top| top.join(".git").exists() || top.join("HEAD").exists()) {
        return vec![];
    }
    let found = Repository::discover(folder).map_err(Doubt::from).and_then(|repository| {
        let top = repository.workdir().unwrap_or(repository.path()).to_path_buf();
        let mut look = Look { repository: &repository, folder, read: &read, top, minds, found: BTreeSet::new() };
        look.at_all()?;
        Ok(look.found)
    });
    match found {
        Ok(files) if files.len() <= MOST_FILES => files.into_iter().map(Touch::Reads).collect(),
        _ => unknown(),
    }
}

/// It can't be told.
struct Doubt;

impl From<Error> for Doubt {
    fn from(_: Error) -> Doubt {
        Doubt
    }
}

struct Look<'a> {
    repository: &'a Repository,
    folder: &'a Path,
    read: &'a GitRead,
    /// Where the repository's paths begin.
    top: PathBuf,
    minds: &'a dyn Fn(&Path) -> bool,
    found: BTreeSet<PathBuf>,
}

/// What an operand names.
enum Named<'r> {
    One(git2::Object<'r>),
    Range {
        from: Oid,
        to: Oid,
        symmetric: bool,
    },
    /// A path in something that is not there.
    Nothing,
}

impl<'a> Look<'a> {
    fn at_all(&mut self) -> Result<(), Doubt> {
        let command = self.read.command.as_str();
        let whole = matches!(command, "show" | "diff") || command == "cat-file" && self.has(&["p"]).is_some();
        if !whole && !self.tells_contents() {
            return Ok(());
        }
        let named = self.named()?;
        if whole {
            self.blobs(&named)?;
        }
        if !self.tells_contents() {
            return Ok(());
        }
        // Copies are shown beside what they were made of, which need not have changed. Others show commits that nobody named.
        let replaced = self.repository.references_glob("refs/replace/*")?.next().is_some();
        if self.has(&["C", "B", "find-copies", "g", "boundary", "merge-base"]).is_some() || replaced {
            return Err(Doubt);
        }
        match command {
            "diff" => self.compared(&named),
            "diff-tree" if named.len() == 2 => self.compared(&named),
            "status" => {
                self.of_the_index(Some(&self.head()?))?;
                self.of_the_working_tree()
            }
            "log" => self.walked(&named),
            "stash" if self.read.operands.first().is_some_and(|word| word == "list") => Err(Doubt),
            "show" | "diff-tree" | "stash" => self.commits(&named),
            _ => Ok(()),
        }
    }

    /// The first of these options that is there.
    fn has(&self, names: &[&str]) -> Option<&str> {
        self.read.options.iter().map(String::as_str).find(|option| names.contains(option))
    }

    fn tells_contents(&self) -> bool {
        let is_one = |list: &str, option: &str| list.contains(&format!(" {option} "));
        let options = &self.read.options;
        let quiet = options.iter().all(|option| is_one(CHOOSING, option) || is_one(NO_CONTENTS, option));
        let silenced = options.iter().any(|option| is_one(NO_CONTENTS, option));
        match self.read.command.as_str() {
            "log" | "diff-tree" => !quiet,
            "diff" | "show" => !quiet || !silenced,
            "stash" => !quiet,
            "status" => self.has(&["v", "verbose"]).is_some(),
            _ => false,
        }
    }

    /// What the operands name, as far as they are revisions.
    fn named(&self) -> Result<Vec<Named<'a>>, Doubt> {
        let words = self.read.operands.iter().map(String::as_str);
        // `stash show stash@{1}`; a mere number is one as well.
        let words: Vec<String> = match self.read.command.as_str() {
            "stash" => {
                let words: Vec<&str> = words.skip(1).collect();
                let numbered =
                    |word: &&str| if word.chars().all(|c| c.is_ascii_digit()) { format!("stash@{{{word}}}") } else { (*word).into() };
                if words.is_empty() { vec!["refs/stash".into()] } else { words.iter().map(numbered).collect() }
            }
            "status" => vec![],
            _ => words.map(str::to_owned).collect(),
        };
        let mut found = vec![];
        for word in words {
            match self.revision(&word) {
                Ok(named) => found.push(named),
                // Not there, or in a way that this does not know; its path has been judged.
                Err(_) if word.split_once(':').is_some_and(|(name, _)| is_plain_name(name)) => found.push(Named::Nothing),
                // Where both are meant git says that it can't tell.
                Err(_) if !self.read.divided && self.folder.join(&word).symlink_metadata().is_ok() => {}
                Err(doubt) => return Err(doubt),
            }
        }
        Ok(found)
    }

    fn revision(&self, word: &str) -> Result<Named<'a>, Doubt> {
        if !word.contains("..") {
            return Ok(Named::One(self.repository.revparse_single(word)?));
        }
        let symmetric = word.contains("...");
        let (from, to) = word.split_once(if symmetric { "..." } else { ".." }).ok_or(Doubt)?;
        let id = |side: &str| -> Result<Oid, Doubt> {
            let object = self.repository.revparse_single(if side.is_empty() { "HEAD" } else { side })?;
            Ok(object.peel(ObjectType::Commit)?.id())
        };
        Ok(Named::Range { from: id(from)?, to: id(to)?, symmetric })
    }

    /// A file's contents by their own name: which file's they are nobody knows. With a path they have been judged by that.
    fn blobs(&self, named: &[Named]) -> Result<(), Doubt> {
        let by_path = self.read.operands.iter().any(|word| word.contains(':'));
        // A tag may stand for one, too.
        let blob = |named: &Named| matches!(named, Named::One(object) if object.peel(ObjectType::Blob).is_ok());
        // One of several may be without a path.
        let several = self.read.operands.len() > 1;
        if named.iter().any(blob) && (!by_path || several) { Err(Doubt) } else { Ok(()) }
    }

    fn head(&self) -> Result<Tree<'a>, Doubt> {
        match self.repository.head() {
            Ok(head) => Ok(head.peel_to_tree()?),
            // Nothing has been committed yet: everything is new.
            Err(_) => Ok(self.repository.find_tree(self.repository.treebuilder(None)?.write()?)?),
        }
    }

    fn tree(&self, commit: Oid) -> Result<Tree<'a>, Doubt> {
        Ok(self.repository.find_commit(commit)?.tree()?)
    }

    fn compared(&mut self, named: &[Named<'a>]) -> Result<(), Doubt> {
        let peeled = |object: &git2::Object<'a>| -> Result<Tree<'a>, Doubt> { Ok(object.peel_to_tree()?) };
        let blob = |named: &Named| matches!(named, Named::One(object) if object.kind() == Some(ObjectType::Blob));
        match named {
            // Two files, or one and its present state.
            all if all.iter().any(|named| blob(named) || matches!(named, Named::Nothing)) => Ok(()),
            [] if self.has(&["cached", "staged"]).is_some() => self.of_the_index(Some(&self.head()?)),
            [] => self.of_the_working_tree(),
            [Named::One(object)] => {
                self.of_the_index(Some(&peeled(object)?))?;
                if self.has(&["cached", "staged"]).is_some() { Ok(()) } else { self.of_the_working_tree() }
            }
            [Named::One(from), Named::One(to)] => self.between(Some(&peeled(from)?), Some(&peeled(to)?)),
            [Named::Range { from, to, symmetric }] => {
                let from = if *symmetric { self.repository.merge_base(*from, *to)? } else { *from };
                self.between(Some(&self.tree(from)?), Some(&self.tree(*to)?))
            }
            _ => Err(Doubt),
        }
    }

    /// Each against what it was made from.
    fn commits(&mut self, named: &[Named<'a>]) -> Result<(), Doubt> {
        if named.iter().any(|named| matches!(named, Named::Range { .. })) {
            return self.walked(named);
        }
        let head = if named.is_empty() { vec![self.revision("HEAD")?] } else { vec![] };
        for one in named.iter().chain(&head) {
            let Named::One(object) = one else { continue };
            if let Ok(commit) = object.peel(ObjectType::Commit) {
                self.commit(commit.id())?;
            }
        }
        Ok(())
    }

    fn commit(&mut self, id: Oid) -> Result<(), Doubt> {
        let commit = self.repository.find_commit(id)?;
        let tree = commit.tree()?;
        if commit.parent_count() == 0 {
            return self.between(None, Some(&tree));
        }
        for parent in commit.parents() {
            self.between(Some(&parent.tree()?), Some(&tree))?;
        }
        // What was put away without git knowing of it.
        match (self.read.command.as_str(), commit.parents().nth(2)) {
            ("stash", Some(untracked)) => self.between(None, Some(&untracked.tree()?)),
            _ => Ok(()),
        }
    }

    fn walked(&mut self, named: &[Named<'a>]) -> Result<(), Doubt> {
        let mut walk: Revwalk = self.repository.revwalk()?;
        walk.set_sorting(Sort::TIME)?;
        let mut from_somewhere = false;
        for one in named {
            from_somewhere = true;
            match one {
                Named::One(object) => walk.push(object.peel(ObjectType::Commit)?.id())?,
                Named::Range { from, to, symmetric } => {
                    walk.push(*to)?;
                    if *symmetric { walk.push(*from)? } else { walk.hide(*from)? }
                }
                Named::Nothing => {}
            }
        }
        if self.has(&["all", "branches", "tags", "remotes"]).is_some() {
            walk.push_glob("*")?;
            walk.push_head()?;
        } else if !from_somewhere {
            walk.push_head()?;
        }
        for (n, id) in walk.enumerate() {
            if n >= MOST_COMMITS {
                return Err(Doubt);
            }
            self.commit(id?)?;
        }
        Ok(())
    }

    fn between(&mut self, from: Option<&Tree>, to: Option<&Tree>) -> Result<(), Doubt> {
        let diff = self.repository.diff_tree_to_tree(from, to, None)?;
        self.note(&diff)
    }

    fn of_the_index(&mut self, from: Option<&Tree>) -> Result<(), Doubt> {
        let diff = self.repository.diff_tree_to_index(from, None, None)?;
        self.note(&diff)
    }

    /// Only what somebody minds is looked at on the disk.
    fn of_the_working_tree(&mut self) -> Result<(), Doubt> {
        let index = self.repository.index()?;
        let mut options = DiffOptions::new();
        options.disable_pathspec_match(true).skip_binary_check(true);
        let mut any = false;
        for entry in index.iter() {
            let path = bytes_of(&entry.path);
            if (self.minds)(&self.top.join(&path)) {
                any = true;
                options.pathspec(path);
            }
        }
        if any {
            let diff = self.repository.diff_index_to_workdir(Some(&index), Some(&mut options))?;
            self.note(&diff)?;
        }
        Ok(())
    }

    fn note(&mut self, diff: &git2::Diff) -> Result<(), Doubt> {
        for delta in diff.deltas().filter(|delta| delta.status() != Delta::Unmodified) {
            for path in [delta.old_file().path_bytes(), delta.new_file().path_bytes()].into_iter().flatten() {
                let path = self.top.join(bytes_of(path));
                if (self.minds)(&path) {
                    self.found.insert(path);
                }
            }
        }
        Ok(())
    }
}

fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_./~-".contains(c))
}

fn bytes_of(path: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(path).into()
}

#[cfg(test)]
mod tests;
