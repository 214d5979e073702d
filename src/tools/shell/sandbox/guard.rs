//! A look before a command and one after it, at what it must not have changed: where the kernel can't keep it from that, it is undone.
//!
//! - What a command made is never thrown away: it is put aside, and the result says where.
//! - A configuration of git may change, as git itself does that; only what could make it run another program is taken back.

use super::super::touching::only_known;
use super::confines::Confines;
use crate::atomic;
use std::{
    collections::BTreeSet,
    fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// More than that nobody keeps in a folder of hooks.
const MOST_FILES: usize = 500;
const MOST_BYTES: u64 = 4 << 20;
const CONFIG_BYTES: u64 = 1 << 20;

pub struct Guard {
    missing: Vec<PathBuf>,
    configs: Vec<(PathBuf, Option<Vec<u8>>)>,
    /// Only where the kernel does not keep them.
    kept: Vec<(PathBuf, Contents)>,
    folders: Vec<PathBuf>,
}

#[derive(PartialEq)]
struct Contents {
    bytes: Vec<u8>,
    mode: u32,
}

impl Guard {
    /// `enforced`: what is never written can't be.
    pub fn look(confines: &Confines, enforced: bool) -> Guard {
        let configs = confines.configs.iter().map(|path| (path.clone(), read(path, CONFIG_BYTES).ok())).collect();
        let mut guard = Guard { missing: confines.missing.clone(), configs, kept: vec![], folders: vec![] };
        if !enforced {
            confines.never.iter().for_each(|path| guard.keep(path));
        }
        guard
    }

    fn keep(&mut self, path: &Path) {
        let mut bytes = 0;
        let mut left = vec![path.to_path_buf()];
        while let Some(path) = left.pop() {
            let Ok(data) = path.symlink_metadata() else { continue };
            if data.is_dir() {
                left.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
                self.folders.push(path);
            } else if data.is_file() {
                bytes += data.len();
                if self.kept.len() > MOST_FILES || bytes > MOST_BYTES {
                    return;
                }
                if let Ok(contents) = contents(&path) {
                    self.kept.push((path, contents));
                }
            }
        }
    }

    /// Puts right what is not as it was; a sentence on each.
    pub fn check(self) -> Vec<String> {
        let mut said = vec![];
        for path in self.missing.iter().filter(|path| path.symlink_metadata().is_ok()) {
            said.push(told(path, put_aside(path)));
        }
        let mut new = vec![];
        for folder in &self.folders {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
            new.extend(entries.filter(|path| !self.folders.contains(path) && !self.kept.iter().any(|(kept, _)| kept == path)));
        }
        for path in new {
            // What is no file was not looked at before.
            if path.symlink_metadata().is_ok_and(|data| data.is_file() || data.is_dir()) {
                said.push(told(&path, put_aside(&path)));
            }
        }
        for (path, before) in &self.kept {
            if contents(path).ok().as_ref() != Some(before) {
                said.push(told(path, put_back(path, before)));
            }
        }
        for (path, before) in &self.configs {
            let now = read(path, CONFIG_BYTES);
            let there = path.symlink_metadata().is_ok();
            let unseen = there && now.is_err();
            let old = before.as_deref().unwrap_or_default();
            let worse = now.is_ok_and(|now| now != old && !only_what_was(old, &now));
            if unseen || worse {
                let back = match before {
                    Some(bytes) => put_back(path, &Contents { bytes: bytes.clone(), mode: 0o644 }),
                    None => put_aside(path),
                };
                said.push(told(path, back));
            }
        }
        said
    }
}

fn told(path: &Path, aside: io::Result<PathBuf>) -> String {
    match aside {
        Ok(aside) => format!("what it made of {} was taken back; it is in {}", path.display(), aside.display()),
        Err(e) => format!("it changed {}, and that could not be taken back: {e}", path.display()),
    }
}

fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let data = path.symlink_metadata()?;
    if !data.is_file() || data.len() > most {
        return Err(io::Error::other("no small file"));
    }
    fs::read(path)
}

fn contents(path: &Path) -> io::Result<Contents> {
    Ok(Contents { bytes: read(path, MOST_BYTES)?, mode: path.metadata()?.permissions().mode() & 0o7777 })
}

/// Under a name that nobody obeys.
fn put_aside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for n in 1..1000 {
        let aside = path.with_file_name(format!("{name}.kept-from-sandbox-{n}"));
        if aside.symlink_metadata().is_err() {
            fs::rename(path, &aside)?;
            return Ok(aside);
        }
    }
    Err(io::Error::other("very many have been put aside already"))
}

fn put_back(path: &Path, before: &Contents) -> io::Result<PathBuf> {
    let aside = if path.symlink_metadata().is_ok() { put_aside(path)? } else { path.into() };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let options = atomic::Options { bits: Some(before.mode), replace_link: true, ..atomic::Options::default() };
    atomic::write(path, &before.bytes, options)?;
    Ok(aside)
}

/// Does the new configuration say nothing that could make git run a program, but for what the old one said?
fn only_what_was(old: &[u8], new: &[u8]) -> bool {
    let Ok(new) = std::str::from_utf8(new) else { return false };
    if only_known(new) {
        return true;
    }
    let old = String::from_utf8_lossy(old);
    let before = settings(&old);
    // Each of what is new has to be harmless by itself.
    settings(new).difference(&before).all(|(section, line)| only_known(&format!("{section}\n{line}\n")))
}

/// Each line with the section that it stands in.
fn settings(text: &str) -> BTreeSet<(String, String)> {
    let mut section = String::new();
    let mut found = BTreeSet::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line.to_owned();
            found.insert((section.clone(), String::new()));
        } else if !line.is_empty() {
            found.insert((section.clone(), line.to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confines(at: &Path) -> Confines {
        Confines {
            never: vec![at.join("hooks")],
            missing: vec![at.join(".backstitch")],
            configs: vec![at.join("config"), at.join("config.worktree")],
            ..Confines::default()
        }
    }

    #[test]
    fn what_was_kept_is_as_it_was_and_what_was_made_is_aside() {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path();
        fs::create_dir(at.join("hooks")).unwrap();
        fs::write(at.join("hooks/pre-commit"), "mine").unwrap();
        fs::write(at.join("hooks/gone"), "too").unwrap();
        fs::write(at.join("config"), "[core]\n\tbare = false\n").unwrap();
        let guard = Guard::look(&confines(at), false);
        fs::write(at.join("hooks/pre-commit"), "evil").unwrap();
        fs::remove_file(at.join("hooks/gone")).unwrap();
        fs::write(at.join("hooks/post-commit"), "evil").unwrap();
        fs::create_dir(at.join(".backstitch")).unwrap();
        fs::write(at.join("config"), "[core]\n\tbare = false\n\tfsmonitor = ./x\n").unwrap();
        fs::write(at.join("config.worktree"), "[core]\n\tsshCommand = ./x\n").unwrap();
        assert_eq!(guard.check().len(), 6);
        let text = |name: &str| fs::read_to_string(at.join(name)).ok();
        assert_eq!(text("hooks/pre-commit").as_deref(), Some("mine"));
        assert_eq!(text("hooks/gone").as_deref(), Some("too"));
        assert_eq!((text("hooks/post-commit"), text("config.worktree")), (None, None));
        assert_eq!(text("config").as_deref(), Some("[core]\n\tbare = false\n"));
        assert!(!at.join(".backstitch").exists() && at.join(".backstitch.kept-from-sandbox-1").is_dir());
        assert_eq!(text("hooks/pre-commit.kept-from-sandbox-1").as_deref(), Some("evil"));
    }

    #[test]
    fn git_may_change_its_configuration_but_not_what_it_runs() {
        let old = b"[core]\n\tbare = false\n[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n";
        let with = |more: &str| only_what_was(old, format!("{}{more}", String::from_utf8_lossy(old)).as_bytes());
        assert!(with("[branch \"x\"]\n\tremote = origin\n\tmerge = refs/heads/x\n") && with("[remote \"o\"]\n\turl = git@example.org:x\n"));
        for evil in [
            "[filter \"x\"]\n\tclean = ./x\n",
            "[core]\n\tfsmonitor = ./x\n",
            "[include]\n\tpath = ../x\n",
            "[filter \"lfs\"]\n\tclean = ./x\n",
            "[core] fsmonitor = ./x\n",
            "[user]\n\tname = x \\\n[core]\n\tfsmonitor = ./x\n",
            "\tsmudge = ./x\n",
        ] {
            assert!(!with(evil), "{evil}");
        }
        assert!(!only_what_was(b"[core]\n\tbare = false\n", b"[core]\n\tpager = \xff\n"));
    }

    #[test]
    fn nothing_is_said_where_nothing_happened() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("hooks")).unwrap();
        fs::write(dir.path().join("hooks/x"), "x").unwrap();
        assert_eq!(Guard::look(&confines(dir.path()), false).check(), [""; 0]);
    }
}
