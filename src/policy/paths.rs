//! Paths as rules name them: globs from the project's folder, from `/` or from `~/`; without a `/` a name anywhere.
//!
//! Narrowly: exactly what the glob matches. Widely: in any case of letters and form of characters, with everything below it, and where its beginning leads.

use crate::protocol::alike::folded;
use globset::{GlobBuilder, GlobMatcher};
use std::path::{Component, Path, PathBuf};

#[derive(Debug, Clone)]
pub struct Paths {
    narrow: Vec<GlobMatcher>,
    wide: Vec<GlobMatcher>,
    /// Folders below which it begins, folded.
    beginnings: Vec<PathBuf>,
    root: PathBuf,
    /// A name, wherever it is: only inside the root for those who allow.
    name: Option<(GlobMatcher, GlobMatcher)>,
    plain: bool,
    plain_end: bool,
}

fn is_wild(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// The part of a pattern before its first `*`, and what follows; whole components.
pub fn split(text: &str) -> (String, String) {
    let parts: Vec<&str> = text.split('/').collect();
    let literal = parts.iter().take_while(|part| !is_wild(part)).count();
    (parts[..literal].join("/"), parts[literal..].join("/"))
}

fn glob(text: &str, any_case: bool) -> Result<GlobMatcher, String> {
    let built = GlobBuilder::new(text).literal_separator(true).case_insensitive(any_case).backslash_escape(true).build();
    Ok(built.map_err(|error| format!("not a glob: {}", error.kind()))?.compile_matcher())
}

/// For names that a file system may take for the same.
fn wide(text: &str) -> Result<GlobMatcher, String> {
    glob(&folded(text), true)
}

fn matches(wide: &GlobMatcher, path: &Path) -> bool {
    let ascii = path.as_os_str().as_encoded_bytes().is_ascii();
    wide.is_match(path) || !ascii && wide.is_match(alike(path))
}

fn alike(path: &Path) -> PathBuf {
    folded(&path.to_string_lossy()).into()
}

impl Paths {
    /// `leads`: where the pattern's beginning leads, if somebody has looked.
    pub fn parse(text: &str, root: &Path, leads: Option<&Path>) -> Result<Paths, String> {
        let text = text.strip_suffix('/').filter(|rest| !rest.is_empty()).unwrap_or(text);
        if text.is_empty() {
            return Err("a path is missing between the parentheses".into());
        }
        if text.contains('\\') {
            return Err("`\\` is no part of a path here".into());
        }
        if Path::new(text).components().any(|part| part == Component::ParentDir) {
            return Err("`..` leads nowhere in a rule: write the path from the project's folder, from / or from ~/".into());
        }
        let (literal, tail) = split(text);
        let plain = tail.is_empty();
        let plain_end = text.rsplit('/').next().is_some_and(|last| !is_wild(last));
        if !text.contains('/') {
            if text == "**" || text == "*" {
                return Paths::from(root, &[(root.to_path_buf(), "**".into())], false, false);
            }
            let name = Some((glob(text, false)?, wide(text)?));
            let mut paths = if plain {
                let leads: Vec<_> = leads.map(|leads| (leads.to_path_buf(), String::new())).into_iter().collect();
                Paths::from(root, &leads, true, true)?
            } else {
                Paths::from(root, &[], false, plain_end)?
            };
            paths.name = name;
            return Ok(paths);
        }
        let mut starts = vec![];
        if literal == "~" || literal.starts_with("~/") {
            let Some(leads) = leads else { return Err("the home folder is not known".into()) };
            starts.push((leads.to_path_buf(), tail));
        } else {
            let literal = literal.strip_prefix("./").unwrap_or(if literal == "." { "" } else { &literal });
            let written = if text.starts_with('/') { Path::new("/").join(literal.trim_start_matches('/')) } else { root.join(literal) };
            starts.extend(leads.filter(|leads| **leads != written).map(|leads| (leads.to_path_buf(), tail.clone())));
            starts.push((written, tail));
        }
        Paths::from(root, &starts, plain, plain_end)
    }

    fn from(root: &Path, starts: &[(PathBuf, String)], plain: bool, plain_end: bool) -> Result<Paths, String> {
        let root = root.to_path_buf();
        let mut paths = Paths { narrow: vec![], wide: vec![], beginnings: vec![], root, name: None, plain, plain_end };
        for (start, tail) in starts {
            let start_text = globset::escape(&start.to_string_lossy());
            let whole = match (start_text.as_str(), tail.as_str()) {
                (_, "") => start_text.clone(),
                ("/", tail) => format!("/{tail}"),
                (start, tail) => format!("{start}/{tail}"),
            };
            paths.narrow.push(glob(&whole, false)?);
            paths.wide.push(wide(&whole)?);
            // What is for all of a folder is for the folder.
            if let Some(folder) = whole.strip_suffix("/**").filter(|folder| !folder.is_empty()) {
                paths.wide.push(wide(folder)?);
            }
            paths.beginnings.push(alike(start));
        }
        Ok(paths)
    }

    pub fn covers(&self, path: &Path) -> bool {
        let inside = path.starts_with(&self.root);
        let named = self.name.as_ref().filter(|_| inside).is_some_and(|(exact, _)| path.file_name().is_some_and(|n| exact.is_match(n)));
        named || self.narrow.iter().any(|glob| glob.is_match(path))
    }

    pub fn covers_widely(&self, path: &Path) -> bool {
        let named =
            |part: Component| matches!((part, &self.name), (Component::Normal(name), Some((_, wide))) if matches(wide, Path::new(name)));
        // What the folder of the project is called says nothing of what is in it.
        path.strip_prefix(&self.root).unwrap_or(path).components().any(named)
            || path.ancestors().any(|above| self.wide.iter().any(|glob| matches(glob, above)))
    }

    /// Is all that it covers below this folder?
    pub fn is_within(&self, folder: &Path) -> bool {
        let folder = alike(folder);
        self.beginnings.iter().any(|beginning| beginning.starts_with(&folder))
    }

    /// One path and nothing else.
    pub fn is_plain(&self) -> bool {
        self.plain
    }

    /// Is the name at its end given in full?
    pub fn ends_plainly(&self) -> bool {
        self.plain_end
    }
}
