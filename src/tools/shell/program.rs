//! Which program reads command lines. `sh` unless the user's own settings name another.
//!
//! What a line does is told by what `dash` and `bash` read alike. Another shell may read it otherwise, so of its lines nothing counts as
//! known: each of them asks.

use std::{
    borrow::Cow,
    env,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shell {
    program: PathBuf,
    /// Reads it lines in a way that is not known here? Then this is its name.
    strange: Option<String>,
}

/// They read a line as it is analysed.
const KNOWN: [&str; 3] = ["sh", "dash", "bash"];

impl Default for Shell {
    fn default() -> Self {
        Shell { program: "/bin/sh".into(), strange: None }
    }
}

impl Shell {
    /// By its name, or by its whole path. Never one of the project's: whoever may write there would have every command.
    pub fn find(name: &str, root: &Path, path: Option<&OsStr>) -> Result<Shell, String> {
        if name == "sh" {
            return Ok(Shell::default());
        }
        let given = Path::new(name);
        let found = match given.is_absolute() {
            true => Some(given.to_path_buf()).filter(|program| program.is_file()),
            false if name.contains('/') => return Err("a shell is named by its name alone or by its whole path".into()),
            false => {
                let folders = env::split_paths(path.unwrap_or_default()).filter(|folder| folder.is_absolute());
                folders.map(|folder| folder.join(name)).find(|program| program.is_file())
            }
        };
        let program = found.ok_or_else(|| format!("there is no shell {name:?}"))?;
        let real = fs::canonicalize(&program).map_err(|error| format!("{name:?} can't be used: {error}"))?;
        if real.starts_with(root) || program.starts_with(root) {
            return Err(format!("{name:?} lies in the project"));
        }
        let named = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        // A name can promise what the program behind it does not keep.
        let known = [&program, &real].into_iter().all(|path| KNOWN.contains(&named(path).as_str()));
        Ok(Shell { strange: (!known).then(|| named(&program)), program })
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    pub fn name(&self) -> Cow<'_, str> {
        self.program.file_name().unwrap_or_default().to_string_lossy()
    }

    pub fn strange(&self) -> Option<&str> {
        self.strange.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_shell_is_known_by_what_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let (root, bin) = (top.join("project"), top.join("bin"));
        [&root, &bin].into_iter().for_each(|folder| fs::create_dir(folder).unwrap());
        let program = |path: &Path| {
            fs::write(path, "#!/bin/sh\n").unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        };
        ["zsh", "bash", "fish"].into_iter().for_each(|name| program(&bin.join(name)));
        program(&root.join("dash"));
        symlink("zsh", bin.join("dash")).unwrap();
        symlink(root.join("dash"), bin.join("ksh")).unwrap();
        let path = env::join_paths([Path::new("relative"), &root, &bin]).unwrap();
        let find = |name: &str, path: &OsStr| Shell::find(name, &root, Some(path));
        assert_eq!(find("sh", &path).unwrap(), Shell::default());
        assert_eq!(find("bash", &path).unwrap(), Shell { program: bin.join("bash"), strange: None });
        assert_eq!(find("zsh", &path).unwrap().strange(), Some("zsh"));
        assert_eq!(find(bin.join("fish").to_str().unwrap(), &path).unwrap().strange(), Some("fish"));
        let only = bin.clone().into_os_string();
        assert_eq!(find("dash", &only).unwrap().strange(), Some("dash"), "it is a zsh by that name");
        for (name, why) in [
            ("dash", "\"dash\" lies in the project"),
            ("ksh", "\"ksh\" lies in the project"),
            ("nu", "there is no shell \"nu\""),
            ("bin/bash", "a shell is named by its name alone or by its whole path"),
            ("./sh", "a shell is named by its name alone or by its whole path"),
            ("/nowhere/sh", "there is no shell \"/nowhere/sh\""),
        ] {
            assert_eq!(find(name, &path).unwrap_err(), why);
        }
    }
}
