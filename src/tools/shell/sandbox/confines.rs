//! What a command may write, and what it may not although it lies in there.
//!
//! All paths are real ones: links are followed here, so that what is kept is the file that is meant and not a name for it.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Of more repositories inside a repository nobody hears in time.
const MOST_MODULES: usize = 200;

/// Downloads and build results of the usual tools, below the user's home. No program, and nothing that another program obeys, is in them.
const CACHES: [&str; 22] = [
    ".cache",
    "Library/Caches",
    ".cargo/registry",
    ".cargo/git",
    ".cargo/.package-cache",
    ".cargo/.package-cache-mutate",
    ".cargo/.global-cache",
    ".npm",
    ".yarn/berry/cache",
    ".yarn/cache",
    ".local/share/pnpm/store",
    ".bun/install/cache",
    "go/pkg",
    ".gradle/caches",
    ".gradle/daemon",
    ".gradle/native",
    ".m2/repository",
    ".ivy2/cache",
    ".nuget/packages",
    ".ccache",
    ".hex",
    ".cabal/packages",
];

/// Below the user's home: what shells, the login, git and ssh obey, and programs that are found by name.
const OBEYED: [&str; 37] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".inputrc",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".xprofile",
    ".xinitrc",
    ".xsessionrc",
    ".pam_environment",
    ".tmux.conf",
    ".config/fish",
    ".config/zsh",
    ".config/autostart",
    ".config/systemd",
    ".config/environment.d",
    ".config/git",
    ".gitconfig",
    ".ssh",
    ".gnupg",
    ".netrc",
    ".local/bin",
    "bin",
    ".cargo/bin",
    ".cargo/config.toml",
    "Library/LaunchAgents",
    ".agents.config.json",
];

/// Sockets of services that would do outside what a command may not do itself.
const SERVICES: [&str; 9] = [
    "/run/docker.sock",
    "/run/podman",
    "/run/containerd",
    "/run/dbus/system_bus_socket",
    "/run/systemd/private",
    "/run/screen",
    "/run/libvirt",
    "/run/snapd.socket",
    "/run/crio",
];
/// The same in a user's own folder of such things.
const OWN_SERVICES: [&str; 6] = ["bus", "systemd", "podman", "docker.sock", "containerd", "dbus-1"];

pub struct Around<'a> {
    pub root: &'a Path,
    pub home: Option<&'a Path>,
    /// Folders for temporary files.
    pub temporary: &'a [PathBuf],
    /// Folders of ours: settings, sessions, checkpoints.
    pub ours: &'a [PathBuf],
    /// What the user has set, and what was shown when the command was approved.
    pub more: &'a [PathBuf],
    pub env: &'a dyn Fn(&str) -> Option<PathBuf>,
}

#[derive(Debug, Default, PartialEq)]
pub struct Confines {
    /// None of them lies in another.
    pub writable: Vec<PathBuf>,
    /// Inside those, and there.
    pub never: Vec<PathBuf>,
    /// The same, but not there: they must not come to be.
    pub missing: Vec<PathBuf>,
    /// Configurations of git: it changes them itself, but nothing may make it run what it did not run before.
    pub configs: Vec<PathBuf>,
    /// Sockets and folders of them that are not to be reached.
    pub services: Vec<PathBuf>,
}

impl Confines {
    pub fn look(around: &Around) -> Confines {
        let Around { root, home, temporary, ours, more, env } = *around;
        let git = Git::around(root);
        let mut writable = vec![root.to_path_buf()];
        writable.extend(git.iter().flat_map(|git| git.folders.iter().cloned()));
        writable.extend(temporary.iter().cloned());
        writable
            .extend(["XDG_CACHE_HOME", "GOCACHE", "GOMODCACHE", "PIP_CACHE_DIR", "UV_CACHE_DIR", "CCACHE_DIR"].into_iter().filter_map(env));
        writable.extend(home.iter().flat_map(|home| CACHES.map(|cache| home.join(cache))));
        if let Some(cargo) = env("CARGO_HOME") {
            writable.extend(["registry", "git", ".package-cache", ".package-cache-mutate", ".global-cache"].map(|part| cargo.join(part)));
        }
        writable.extend(more.iter().filter_map(|path| opened(path, root, home)));
        let writable = outermost(writable.into_iter().filter_map(|path| path.canonicalize().ok()).filter(|path| path.parent().is_some()));

        let mut kept: Vec<PathBuf> = [".backstitch", "agents.config.json"].map(|name| root.join(name)).into();
        kept.extend(git.iter().flat_map(|git| git.kept.iter().cloned()));
        kept.extend(home.iter().flat_map(|home| OBEYED.map(|name| home.join(name))));
        kept.extend(ours.iter().cloned());
        let mut confines = Confines { writable, ..Confines::default() };
        for path in kept {
            match path.canonicalize() {
                Ok(path) if confines.opens(&path) => confines.never.push(path),
                Ok(_) => {}
                // A link to nowhere, too: who writes through it makes what it leads to.
                Err(_) if path.parent().and_then(|folder| folder.canonicalize().ok()).is_some_and(|folder| confines.opens(&folder)) => {
                    confines.missing.push(path);
                }
                Err(_) => {}
            }
        }
        confines.never = outermost(confines.never);
        confines.configs = git.into_iter().flat_map(|git| git.configs).collect();
        confines.services = services(env);
        confines
    }

    /// Would it be writable but for the exceptions?
    fn opens(&self, path: &Path) -> bool {
        self.writable.iter().any(|top| path.starts_with(top))
    }

    /// What must keep its place so that the exceptions are met under their names: they themselves, and what is around them up to the
    /// writable folder, the outer ones first.
    pub fn pins(&self) -> Vec<PathBuf> {
        let mut pins: Vec<PathBuf> = vec![];
        let ends = self.never.iter().chain(&self.missing).chain(&self.configs);
        for path in ends {
            let top = self.writable.iter().find(|top| path.starts_with(top));
            pins.extend(
                path.ancestors()
                    .skip(1)
                    .take_while(|folder| top.is_some_and(|top| *folder != top && folder.starts_with(top)))
                    .map(Path::to_path_buf),
            );
        }
        pins.sort();
        pins.dedup();
        pins.retain(|pin| pin.is_dir());
        pins
    }
}

/// What is opened for a path that the user has approved or set: itself, or the folder that it is to be made in, but for one that has more
/// in it than anybody meant.
fn opened(path: &Path, root: &Path, home: Option<&Path>) -> Option<PathBuf> {
    if path.exists() {
        return Some(path.into()).filter(|path: &PathBuf| !path.is_dir() || !too_wide(path, root, home));
    }
    path.parent().filter(|folder| folder.is_dir() && !too_wide(folder, root, home)).map(Path::to_path_buf)
}

fn too_wide(folder: &Path, root: &Path, home: Option<&Path>) -> bool {
    root.starts_with(folder) || home.is_some_and(|home| home.starts_with(folder)) || folder.components().count() < 3
}

fn outermost(paths: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = paths.into_iter().collect();
    paths.sort();
    paths.dedup();
    let mut kept: Vec<PathBuf> = vec![];
    for path in paths {
        if !kept.last().is_some_and(|top| path.starts_with(top)) {
            kept.push(path);
        }
    }
    kept
}

fn services(env: &dyn Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = SERVICES.map(PathBuf::from).into();
    let own = env("XDG_RUNTIME_DIR").unwrap_or_else(|| format!("/run/user/{}", rustix::process::geteuid().as_raw()).into());
    found.extend(OWN_SERVICES.map(|name| own.join(name)));
    found.extend(env("WAYLAND_DISPLAY").map(|name| own.join(name)));
    // `:0.0` is the display 0 on this machine.
    let display =
        env("DISPLAY").and_then(|name| name.to_str()?.strip_prefix(':').map(|n| n.split('.').next().unwrap_or_default().to_owned()));
    found.extend(display.map(|n| PathBuf::from(format!("/tmp/.X11-unix/X{n}"))));
    let uid = rustix::process::geteuid().as_raw();
    let tmux = env("TMUX_TMPDIR").unwrap_or_else(|| "/tmp".into());
    found.push(tmux.join(format!("tmux-{uid}")));
    // `socket,pid,session`.
    let socket = env("TMUX").and_then(|value| value.to_str()?.split(',').next().map(PathBuf::from));
    found.extend(socket);
    let there = found.into_iter().filter_map(|path| path.canonicalize().ok());
    outermost(there)
}

/// The repository that the project belongs to.
struct Git {
    /// What git writes; where a working tree is linked, in two places.
    folders: Vec<PathBuf>,
    kept: Vec<PathBuf>,
    configs: Vec<PathBuf>,
}

impl Git {
    fn around(root: &Path) -> Option<Git> {
        let entry = root.ancestors().map(|folder| folder.join(".git")).find(|entry| entry.exists())?;
        let mut kept = vec![];
        let git = if entry.is_dir() {
            entry
        } else {
            // It says where the repository is: another one would be obeyed as well.
            let text = fs::read_to_string(&entry).ok()?;
            let git = entry.parent()?.join(text.trim().strip_prefix("gitdir:")?.trim());
            kept.push(entry);
            git
        };
        let git = git.canonicalize().ok()?;
        let shared = fs::read_to_string(git.join("commondir")).ok().and_then(|path| git.join(path.trim()).canonicalize().ok());
        let mut configs = vec![];
        let mut modules = vec![];
        for folder in std::iter::once(&git).chain(&shared) {
            modules.push(folder.clone());
            find_modules(&folder.join("modules"), 0, &mut modules);
        }
        for folder in &modules {
            // Whoever says that the repository is elsewhere says what is obeyed.
            kept.extend([folder.join("hooks"), folder.join("commondir")]);
            configs.extend([folder.join("config"), folder.join("config.worktree")]);
        }
        Some(Git { folders: std::iter::once(git).chain(shared).collect(), kept, configs })
    }
}

fn find_modules(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if found.len() >= MOST_MODULES || depth > 6 || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if path.join("HEAD").exists() {
            find_modules(&path.join("modules"), depth + 1, found);
            found.push(path);
        } else {
            find_modules(&path, depth + 1, found);
        }
    }
}
