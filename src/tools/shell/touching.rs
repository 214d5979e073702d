//! What a command would touch, with a look at the disk: links are followed, patterns looked up, secrets found in folders that would be
//! read, and a repository's configuration is read before git does what it says.

use super::super::{
    Workspace,
    workspace::{leads_for_all, resolve_links},
};
use super::history;
use crate::{
    command_line::{self, Surroundings},
    policy::Policy,
    protocol::{CommandPart, Touch},
};
use globset::GlobBuilder;
use ignore::WalkBuilder;
use std::{
    cell::RefCell,
    env, fs,
    path::{Path, PathBuf},
    sync::Arc,
};

/// In a folder with more than that nobody looks for secrets.
const MOST_ENTRIES: usize = 20_000;
/// In a search that goes through more than that, too.
const MOST_SEARCHED: usize = 100_000;
/// More names than that no pattern needs.
const MOST_NAMES: usize = 5_000;

/// More questions to git than that in one line nobody asks.
const MOST_LOOKED: usize = 20;

/// The parts of a command, and the names by which its paths were reached where links stand in between.
pub fn parts(command: &str, workspace: &Workspace) -> (Vec<CommandPart>, Vec<PathBuf>) {
    let disk = Disk { workspace, policy: workspace.policy(), named: RefCell::default() };
    let mut parts = command_line::analyse(command, &disk);
    let writes = disk.policy.guards(true);
    let mut looked = 0;
    for part in &mut parts {
        let mut more = vec![];
        for touch in &mut part.touches {
            match touch {
                Touch::Repository(folder) if obeys_nothing(folder) => {
                    looked += 1;
                    more.extend(match looked <= MOST_LOOKED {
                        true => history::shown(&part.said, folder, &|path| disk.is_hidden(path)),
                        false => vec![Touch::Unknown("asks git very many things".into())],
                    });
                    *touch = Touch::Lists(folder.clone());
                }
                Touch::Repository(_) => *touch = Touch::Unknown("what its configuration makes git run".into()),
                Touch::Reads(path) if path.is_dir() => more.extend(disk.within(path, &|path| disk.is_hidden(path), &Touch::Reads)),
                // Into a folder, or a whole folder away.
                Touch::Writes(path) if writes && path.is_dir() => {
                    more.extend(disk.within(path, &|path| disk.policy.keeps(path), &Touch::Writes));
                    more.push(Touch::Unknown("what it does in a folder".into()));
                }
                // Pipes and devices have their end when somebody else wants it.
                Touch::Reads(path) if path.exists() && !path.is_file() => {
                    *touch = Touch::Unknown("waits for what comes from elsewhere".into())
                }
                _ => {}
            }
        }
        part.touches.extend(more);
    }
    if let Some(shell) = workspace.shell().strange() {
        let unknown = || Touch::Unknown(format!("{shell} may read it in another way"));
        for part in &mut parts {
            // What has been found still counts for rules that refuse; no pattern speaks for it.
            part.words.clear();
            part.touches.push(unknown());
        }
        parts.push(CommandPart { at: (0, command.len()), words: vec![], touches: vec![unknown()], said: vec![] });
    }
    let mut named = disk.named.into_inner();
    named.dedup();
    (parts, named)
}

struct Disk<'a> {
    workspace: &'a Workspace,
    policy: Arc<Policy>,
    named: RefCell<Vec<PathBuf>>,
}

impl Disk<'_> {
    /// Is it only for its owner, or is a rule about reading it?
    fn is_hidden(&self, path: &Path) -> bool {
        command_line::is_secret(path) || self.policy.hides(path)
    }

    /// What goes through a whole folder touches besides what nobody minds, and what links in it lead to.
    fn within(&self, top: &Path, minds: &dyn Fn(&Path) -> bool, touch: &dyn Fn(PathBuf) -> Touch) -> Vec<Touch> {
        let mut found = vec![];
        let (mut folders, mut seen) = (vec![top.to_path_buf()], 0);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                seen += 1;
                if seen > MOST_ENTRIES {
                    return vec![Touch::Unknown("goes through very many files".into())];
                }
                let path = entry.path();
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(path),
                    // Links further down are left alone by whatever goes that deep.
                    Ok(kind) if kind.is_symlink() && folder == top => found.push(touch(resolve_links(&path))),
                    _ if minds(&path) => found.push(touch(path)),
                    _ => {}
                }
            }
        }
        found
    }
}

impl Surroundings for Disk<'_> {
    fn cwd(&self) -> PathBuf {
        self.workspace.cwd()
    }

    fn granted_in(&self) -> PathBuf {
        self.workspace.root().into()
    }

    fn home(&self) -> Option<PathBuf> {
        dirs::home_dir()
    }

    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        self.named.borrow_mut().extend(self.workspace.links_on(path));
        leads_for_all(path)
    }

    fn names(&self, folder: &Path, pattern: &str) -> Option<Vec<String>> {
        // To a shell a brace in a pattern is a brace.
        let plain = pattern.replace('{', "[{]").replace('}', "[}]");
        let glob = GlobBuilder::new(&plain).backslash_escape(false).build().ok()?.compile_matcher();
        let hidden = pattern.starts_with('.');
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        // A name that is no text can't be told here: then it is as if nobody had looked.
        let names = entries.map(|entry| entry.file_name().into_string().ok()).collect::<Option<Vec<String>>>()?;
        let names = names.into_iter().filter(|name| (hidden || !name.starts_with('.')) && glob.is_match(name));
        Some(names.take(MOST_NAMES).collect())
    }

    fn in_search_of(&self, folder: &Path) -> Vec<Touch> {
        if !folder.starts_with(self.workspace.root()) || !folder.is_dir() {
            return vec![];
        }
        // As the search would go, so that what is looked at here is what it reads.
        let walk = WalkBuilder::new(folder).git_global(false).git_exclude(false).add_custom_ignore_filename(".rgignore").build();
        let mut found = vec![];
        for (seen, entry) in walk.flatten().enumerate() {
            if seen > MOST_SEARCHED {
                return vec![Touch::Unknown("reads very many files".into())];
            }
            if entry.file_type().is_some_and(|kind| kind.is_file()) && self.is_hidden(entry.path()) {
                found.push(Touch::Reads(entry.into_path()));
            }
        }
        found
    }

    /// A program that is found in the project first is the project's.
    fn trusts(&self, program: &str) -> bool {
        let Some(path) = env::var_os("PATH") else { return true };
        let found = env::split_paths(&path).find(|folder| !folder.is_absolute() || folder.join(program).is_file());
        found.is_none_or(|folder| folder.is_absolute() && !resolve_links(&folder).starts_with(self.workspace.root()))
    }
}

/// Is there nothing in the configuration of the repository around this folder that makes git run a program?
fn obeys_nothing(folder: &Path) -> bool {
    for folder in folder.ancestors() {
        let git = folder.join(".git");
        let pointed = fs::read_to_string(&git).ok();
        let git = match &pointed {
            Some(pointer) => match pointer.trim().strip_prefix("gitdir:") {
                Some(target) => resolve_links(&folder.join(target.trim())),
                None => return false,
            },
            None if git.is_dir() => git,
            None if folder.join("HEAD").exists() && folder.join("objects").is_dir() => folder.into(),
            None => continue,
        };
        // Not only where it is another work tree's.
        let shared = fs::read_to_string(git.join("commondir")).map_or_else(|_| git.clone(), |path| resolve_links(&git.join(path.trim())));
        let plain = [&git, &shared].into_iter().all(|git| is_harmless(git) && runs_no_hook(git));
        if !plain || git.join("modules").exists() || folder.join(".gitmodules").exists() || !has_only_files(&git) {
            return false;
        }
        // What is no repository git passes by.
        if git.join("HEAD").exists() && shared.join("objects").is_dir() && shared.join("refs").is_dir() {
            return true;
        }
    }
    true
}

/// Git runs this one also when it only compares, after it has noted what it found.
fn runs_no_hook(git: &Path) -> bool {
    !git.join("hooks/post-index-change").exists()
}

/// Are there no other repositories in it? Git looks into those as well, and does as their configuration says.
fn has_only_files(git: &Path) -> bool {
    const REPOSITORY: [u8; 4] = [0, 0, 0xE0, 0];
    let shared = fs::read_dir(git).into_iter().flatten().flatten().any(|e| e.file_name().as_encoded_bytes().starts_with(b"sharedindex"));
    let path = git.join("index");
    let Ok(index) = fs::read(&path) else { return !shared && !path.exists() };
    // The kind of an entry stands at a multiple of eight, and four, unless names are packed.
    let packed = index.get(7).is_none_or(|version| *version > 3);
    let mut kinds = index.windows(4).enumerate().skip(12);
    !shared && !kinds.any(|(at, kind)| kind == REPOSITORY && (packed || at % 8 == 4))
}

fn is_harmless(git: &Path) -> bool {
    ["config", "config.worktree"].iter().all(|name| {
        let path = git.join(name);
        match fs::metadata(&path) {
            Err(_) => true,
            Ok(data) => data.is_file() && data.len() < 64 * 1024 && fs::read_to_string(&path).is_ok_and(|text| only_known(&text)),
        }
    })
}

/// Sections and keys that name no program, as git itself writes them. Anything else, or written otherwise, may.
pub(super) fn only_known(config: &str) -> bool {
    const CORE: [&str; 12] = [
        "repositoryformatversion",
        "filemode",
        "bare",
        "logallrefupdates",
        "ignorecase",
        "precomposeunicode",
        "symlinks",
        "autocrlf",
        "eol",
        "safecrlf",
        "quotepath",
        "sparsecheckout",
    ];
    let mut section = String::new();
    config.lines().map(str::trim).all(|line| {
        if line.is_empty() || line.starts_with(['#', ';']) {
            return true;
        }
        if line.starts_with('[') {
            let Some(name) = section_of(line) else { return false };
            section = name;
            return ["core", "remote", "branch", "user", "init", "pull", "push", "color", "extensions", "gc", "maintenance"]
                .contains(&section.as_str());
        }
        let key = line.split('=').next().unwrap_or_default().trim().to_lowercase();
        let known = match section.as_str() {
            // Run what decides which objects are still wanted.
            "gc" if key == "recentobjectshook" => false,
            _ if !key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') => false,
            "core" => CORE.contains(&key.as_str()),
            // Not what is fetched when it is missed: then a read would use the network.
            "remote" => ["url", "pushurl", "fetch", "push", "mirror", "prune", "tagopt"].contains(&key.as_str()),
            "extensions" => ["worktreeconfig", "objectformat", "refstorage", "noop"].contains(&key.as_str()),
            "" => false,
            _ => true,
        };
        // A line that goes on would be read as others here.
        known && !line.ends_with('\\')
    })
}

/// The section of a line that is its beginning and nothing else: git goes on behind the bracket, with keys and with other sections.
fn section_of(line: &str) -> Option<String> {
    let head = line.strip_prefix('[')?.strip_suffix(']')?;
    let (name, rest) = head.split_at(head.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(head.len()));
    let quoted = rest.trim_start().strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    (rest.is_empty() || quoted.is_some_and(|part| !part.contains(['"', '\\']))).then(|| name.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::{obeys_nothing, only_known};
    use crate::{protocol::Touch, tools::Workspace};
    use std::{fs, path::Path};

    #[test]
    fn the_disk_is_looked_at_before_a_read_is_called_one() {
        let dir = tempfile::tempdir().unwrap();
        let (top, spill) = (dir.path().join("p"), dir.path().join("spill"));
        for folder in ["p/src", "p/keys", "spill"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        fs::write(top.join("src/main.rs"), "").unwrap();
        fs::write(top.join("keys/server.key"), "").unwrap();
        fs::write(top.join("keys/.env"), "").unwrap();
        std::os::unix::fs::symlink("/etc/hostname", top.join("[x]")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(top.join("pipe")).unwrap();
        let workspace = Workspace::new(&top, &spill).unwrap();
        let root = workspace.root().to_path_buf();
        let free = |line: &str| {
            let (parts, _) = super::parts(line, &workspace);
            parts.iter().all(|part| crate::command_line::is_free(part, &|path| path.starts_with(&root)))
        };
        for line in ["rg leap src", "cat src/*", "rg --files", "ls src/*", "wc -l src/*.rs", "cat src/[m]ain.rs", "cd src && rg leap"] {
            assert!(free(line), "{line}: {:?}", super::parts(line, &workspace));
        }
        for line in ["rg leap", "rg leap keys", "cd keys && rg leap", "cat pipe", "wc -l < pipe", "ls .*", "cat [x]", "cat keys/*"] {
            assert!(!free(line), "{line}: {:?}", super::parts(line, &workspace));
        }
        assert!(super::parts("cat pipe", &workspace).0[0].touches.iter().all(|touch| matches!(touch, Touch::Unknown(_))));
    }

    fn repository(at: &Path, config: &str) {
        for folder in ["objects", "refs", "hooks"] {
            fs::create_dir_all(at.join(folder)).unwrap();
        }
        fs::write(at.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(at.join("config"), config).unwrap();
    }

    #[test]
    fn a_repository_is_harmless_only_if_git_finds_no_other_in_its_place() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let (plain, evil) = ("[core]\n\tbare = false\n", "[core]\n\tfsmonitor = ./x\n");
        let at = |name: &str, config: &str| {
            repository(&top.join(name).join(".git"), config);
            top.join(name)
        };
        assert!(obeys_nothing(&at("plain", plain)) && !obeys_nothing(&at("evil", evil)));
        // No repository: the one above it is meant.
        fs::create_dir_all(top.join("evil/src/.git")).unwrap();
        assert!(!obeys_nothing(&top.join("evil/src")));
        // Its configuration is somewhere else.
        let shares = at("shares", plain);
        fs::write(shares.join(".git/commondir"), "../../evil/.git\n").unwrap();
        assert!(!obeys_nothing(&shares));
        let hook = at("hook", plain);
        fs::write(hook.join(".git/hooks/post-index-change"), "").unwrap();
        assert!(!obeys_nothing(&hook));
        // Another repository is one of its entries.
        let outer = at("outer", plain);
        let mut index = b"DIRC\0\0\0\x02\0\0\0\x01".to_vec();
        index.extend([0; 24]);
        index.extend([0, 0, 0x81, 0xA4]);
        index.extend([0; 40]);
        fs::write(outer.join(".git/index"), &index).unwrap();
        assert!(obeys_nothing(&outer));
        index[36..40].copy_from_slice(&[0, 0, 0xE0, 0]);
        fs::write(outer.join(".git/index"), &index).unwrap();
        assert!(!obeys_nothing(&outer));
    }

    #[test]
    fn a_configuration_is_harmless_only_if_all_of_it_is_known() {
        let plain = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n[remote \"origin\"]\n\turl = https://x/y.git\n\
                     \tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";
        assert!(only_known(plain) && only_known(""));
        for more in [
            "[core]\n\tfsmonitor = ./x",
            "[core] fsmonitor = ./x",
            "[CORE]\n\tFSMonitor = ./x",
            "[core]\n\tpager = ./x",
            "[core]\n\tfilemode = true\\\n\n",
            "[diff]\n\texternal = ./x",
            "[diff \"a\"]\n\ttextconv = ./x",
            "[filter \"a\"]\n\tclean = ./x",
            "[include]\n\tpath = ../x",
            "[includeIf \"gitdir:/\"]\n\tpath = ../x",
            "[remote \"o\"]\n\tuploadpack = ./x",
            "[remote \"o\"]\n\tpromisor = true",
            "[extensions]\n\tpartialclone = o",
            "[alias]\n\tx = !y",
            "[core",
            "fsmonitor = ./x",
            "[user \"a\"] [core] fsmonitor = \"./x\" #]",
            "[user] [core] fsmonitor = ./x ;]",
            "[user \"a\"] name = \"]",
            "[user \"a\\\\\"] [core] x = \"b\"]",
            "[user]fsmonitor = ./x]",
            "[user] name = x [core]",
            "[user.core]\n\tx = y",
            "[gc]\n\trecentObjectsHook = ./x",
            "[user]\n\tname [core] = x",
        ] {
            let config = if more.starts_with("fsmonitor") { more.to_owned() } else { format!("{plain}{more}\n") };
            assert!(!only_known(&config), "{more}");
        }
    }
}
