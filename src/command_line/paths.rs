//! Which files a word means, and which files hold secrets.

use super::{Surroundings, syntax::Word};
use crate::protocol::{Touch, alike, is_own_file};
use std::path::{Path, PathBuf};

/// More names than that are nobody's to approve one by one.
const MOST_NAMES: usize = 2_000;

/// The folders in which a command may find itself; empty if nobody knows.
pub type Folders = Vec<PathBuf>;

/// A command's view of the files around it.
pub struct Scene<'a> {
    pub around: &'a dyn Surroundings,
    pub folders: &'a Folders,
}

pub fn unknown(why: impl Into<String>) -> Touch {
    Touch::Unknown(why.into())
}

impl Scene<'_> {
    pub fn reads(&self, word: &Word) -> Vec<Touch> {
        self.touched(word, &Touch::Reads)
    }

    pub fn lists(&self, word: &Word) -> Vec<Touch> {
        self.touched(word, &Touch::Lists)
    }

    pub fn writes(&self, word: &Word) -> Vec<Touch> {
        self.touched(word, &Touch::Writes)
    }

    /// As a search tool does that leaves alone what is hidden, unless it is named.
    pub fn searches(&self, word: &Word) -> Vec<Touch> {
        let hidden = word.text.split('/').any(|part| part.starts_with('.') && part != "." && part != "..");
        let touch = |path: PathBuf| if hidden || is_secret(&path) { Touch::Reads(path) } else { Touch::Lists(path) };
        if word.looks.glob { self.reads(word) } else { self.with_secrets(self.touched(word, &touch)) }
    }

    pub fn with_secrets(&self, mut touches: Vec<Touch>) -> Vec<Touch> {
        let found = touches.iter().flat_map(|touch| match touch {
            Touch::Lists(path) => self.around.in_search_of(path),
            _ => vec![],
        });
        let found: Vec<Touch> = found.collect();
        touches.extend(found);
        touches
    }

    /// Where a word leads, as folders to be in.
    pub fn folders_of(&self, word: &Word) -> Option<Folders> {
        if word.looks.glob {
            return None;
        }
        let found = self.lists(word).into_iter().map(|touch| match touch {
            Touch::Lists(path) => Some(path),
            _ => None,
        });
        found.collect::<Option<Folders>>().filter(|folders| !folders.is_empty())
    }

    /// Is there such a file here or in a folder around this one?
    pub fn has_above(&self, pattern: &str) -> bool {
        let folders = self.folders.iter().flat_map(|folder| folder.ancestors());
        folders.into_iter().any(|folder| self.around.names(folder, pattern).is_some_and(|names| !names.is_empty()))
    }

    /// The folder that the command runs in.
    pub fn here(&self, touch: &dyn Fn(PathBuf) -> Touch) -> Vec<Touch> {
        self.path(".", touch)
    }

    pub fn path(&self, path: &str, touch: &dyn Fn(PathBuf) -> Touch) -> Vec<Touch> {
        if self.folders.is_empty() && !path.starts_with('/') {
            return vec![unknown("in a folder that can't be known")];
        }
        let mut found: Vec<Touch> = self.starts(path).iter().map(|path| self.leads(path, touch)).collect();
        found.dedup();
        found
    }

    fn leads(&self, path: &Path, touch: &dyn Fn(PathBuf) -> Touch) -> Touch {
        self.around.resolve(path).map_or_else(|| unknown("a path that leads elsewhere for every program"), touch)
    }

    fn starts(&self, path: &str) -> Vec<PathBuf> {
        if path.starts_with('/') { vec![path.into()] } else { self.folders.iter().map(|folder| folder.join(path)).collect() }
    }

    fn touched(&self, word: &Word, touch: &dyn Fn(PathBuf) -> Touch) -> Vec<Touch> {
        if word.looks.dynamic {
            return vec![unknown("a path that can't be known")];
        }
        let mut text = word.text.clone();
        if word.looks.home {
            let Some(home) = self.around.home().filter(|_| text == "~" || text.starts_with("~/")) else {
                return vec![unknown("a home folder")];
            };
            text = format!("{}{}", home.display(), &text[1..]);
        }
        if word.looks.glob {
            return self.pattern(&text, word.looks.quoted, touch);
        }
        // An empty path is nothing, and a dash is standard input.
        if text.is_empty() || text == "-" { vec![] } else { self.path(&text, touch) }
    }

    fn pattern(&self, text: &str, quoted: bool, touch: &dyn Fn(PathBuf) -> Touch) -> Vec<Touch> {
        let (folder, pattern) = text.rsplit_once('/').unwrap_or((if text.starts_with('/') { "/" } else { "." }, text));
        let folder = if folder.is_empty() { "/" } else { folder };
        if quoted || folder.contains(['*', '?', '[']) || !classes_are_plain(pattern) {
            return vec![unknown("a pattern for files")];
        }
        // `.*` is the folder above too.
        if pattern.starts_with('.') {
            return vec![unknown("a pattern for hidden files")];
        }
        let mut found = self.path(folder, &Touch::Lists);
        if matches!(found[..], [Touch::Unknown(_)]) {
            return found;
        }
        for start in self.starts(folder) {
            match self.around.names(&start, pattern) {
                Some(names) if names.len() > MOST_NAMES => return vec![unknown("a pattern for very many files")],
                Some(names) if folder == "." && !text.starts_with("./") && names.iter().any(|name| name.starts_with('-')) => {
                    return vec![unknown("a file whose name reads like an option")];
                }
                // Then it stands for itself.
                Some(names) if names.is_empty() => found.extend(self.path(text, touch)),
                Some(names) => found.extend(names.iter().map(|name| self.leads(&start.join(name), touch))),
                None => found.extend(self.path(folder, touch)),
            }
        }
        found
    }
}

/// Are its classes nothing but characters, so that they mean the same everywhere? What is between two of them, or a letter, depends.
fn classes_are_plain(pattern: &str) -> bool {
    pattern.split('[').skip(1).all(|class| {
        let class = class.strip_prefix('!').unwrap_or(class);
        class.split_once(']').is_some_and(|(all, _)| !all.is_empty() && all.chars().all(|c| c.is_ascii_alphanumeric() || "_.".contains(c)))
    })
}

/// One of the project's own files that edits may touch without being named: it steers nothing, and holds no secrets by its name.
pub fn is_plain_file(root: &Path, path: &Path) -> bool {
    is_own_file(root, path) && !is_secret(path)
}

/// Does this file, by its name, hold what nobody but its owner should see?
pub fn is_secret(path: &Path) -> bool {
    let parts: Vec<String> = path.components().map(|c| alike::folded(&c.as_os_str().to_string_lossy())).collect();
    let Some(name) = parts.last() else { return false };
    let folders = [".ssh", ".gnupg", ".aws", ".azure", ".kube", ".password-store", "keyrings", "gcloud", ".1password"];
    let files = [
        ".netrc",
        "_netrc",
        ".npmrc",
        ".pypirc",
        ".git-credentials",
        ".htpasswd",
        ".pgpass",
        ".my.cnf",
        ".vault-token",
        ".dockercfg",
        ".bash_history",
        ".zsh_history",
        "credentials",
        "credentials.json",
        "credentials.toml",
        "secrets.json",
        "secrets.yml",
        "secrets.yaml",
        "secrets.toml",
        "service-account.json",
        "shadow",
        "master.key",
        "environ",
        ".envrc",
        "id_rsa",
        "id_dsa",
        "id_ecdsa",
        "id_ed25519",
        "terraform.tfstate",
        "login.keychain-db",
    ];
    let endings = [".pem", ".key", ".p12", ".pfx", ".kdbx", ".jks", ".keystore", ".ppk", ".gpg", ".tfvars"];
    let examples = [".example", ".sample", ".template", ".dist", ".defaults"];
    let environment =
        (name == ".env" || name.starts_with(".env") && !name[4..].starts_with(char::is_alphanumeric) || name.ends_with(".env"))
            && !examples.iter().any(|e| name.ends_with(e));
    // Its addresses may have passwords in them.
    let git = name == "config" && parts.iter().any(|part| part == ".git");
    let docker = name == "config.json" && parts.iter().any(|part| part == ".docker");
    environment || git || docker || files.contains(&name.as_str()) || endings.iter().any(|e| name.ends_with(e)) || {
        parts.iter().any(|part| folders.contains(&part.as_str()))
    }
}

/// Does a variable, by its name, hold a secret?
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_uppercase();
    ["KEY", "TOKEN", "SECRET", "PASS", "PWD_", "CRED", "AUTH", "COOKIE", "SESSION", "URL", "URI", "DSN", "CONN", "HOOK"]
        .iter()
        .any(|word| name.contains(word))
}
