//! Where files are.
//!
//! `BACKSTITCH_CONFIG_DIR` replaces every place of configuration but the project's; `BACKSTITCH_DATA_DIR` replaces the data folder.

use super::Env;
use std::{
    io,
    path::{Path, PathBuf},
};

pub const FILE_NAME: &str = "agents.config.json";

#[derive(Debug, Clone, PartialEq)]
pub struct Places {
    /// Our own folder of settings.
    pub config: PathBuf,
    /// Sessions, checkpoints, trust.
    pub data: PathBuf,
    pub home: Option<PathBuf>,
    /// Configuration files of the user after the one in `config`, with whether they are another program's.
    others: Vec<(PathBuf, bool)>,
}

impl Places {
    pub fn find(env: &Env) -> Places {
        let set = |name: &str| env(name).filter(|value| !value.is_empty()).and_then(|value| std::path::absolute(value).ok());
        let home = dirs::home_dir();
        // Without a home nothing is found there and nothing can be written, which is said when it is tried.
        let nowhere = || PathBuf::from("/nonexistent");
        let platform = dirs::config_dir().unwrap_or_else(nowhere);
        let (config, others) = match set("BACKSTITCH_CONFIG_DIR") {
            Some(folder) => (folder, vec![]),
            None => {
                let own = home.as_ref().map(|home| (home.join(format!(".{FILE_NAME}")), false));
                let nanocoder = [
                    set("NANOCODER_CONFIG_DIR"),
                    Some(platform.join("nanocoder")),
                    home.as_ref().map(|home| home.join("Library/Preferences/nanocoder")).filter(|_| cfg!(target_os = "macos")),
                    home.as_ref().map(|home| home.join(".config/nanocoder")),
                ];
                let nanocoder = nanocoder.into_iter().flatten().map(|folder| (folder.join(FILE_NAME), true));
                (platform.join("backstitch"), own.into_iter().chain(nanocoder).collect())
            }
        };
        let data = set("BACKSTITCH_DATA_DIR").unwrap_or_else(|| dirs::data_dir().unwrap_or_else(nowhere).join("backstitch"));
        Places { config, data, home, others }
    }

    /// The file that settings are saved to.
    pub fn user_file(&self) -> PathBuf {
        self.config.join(FILE_NAME)
    }

    /// The user's own keys.
    pub fn keymap(&self) -> PathBuf {
        self.config.join("keymap.json")
    }

    /// The folder of the user's own themes.
    pub fn themes(&self) -> PathBuf {
        self.config.join("themes")
    }

    /// All files of configuration, the one that outranks the others first, with whether they are another program's.
    pub(super) fn files(&self, project: Option<&Path>) -> Vec<(PathBuf, bool)> {
        let own = project.map(|root| root.join(FILE_NAME)).into_iter().chain([self.user_file()]).map(|path| (path, false));
        let mut files: Vec<(PathBuf, bool)> = vec![];
        for file in own.chain(self.others.iter().cloned()) {
            if files.iter().all(|(path, _)| *path != file.0) {
                files.push(file);
            }
        }
        files
    }

    #[cfg(test)]
    pub(super) fn for_test(folder: &Path) -> Places {
        let home = folder.join("home");
        let others = vec![(home.join(format!(".{FILE_NAME}")), false), (home.join(".config/nanocoder").join(FILE_NAME), true)];
        Places { config: home.join(".config/backstitch"), data: home.join(".local/share/backstitch"), home: Some(home), others }
    }
}

/// The project is the folder that the program is started in, by its true name.
pub fn project_root(start: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overridden_folder_is_the_only_one() {
        let env = |name: &str| match name {
            "BACKSTITCH_CONFIG_DIR" => Some("/c".to_owned()),
            "BACKSTITCH_DATA_DIR" => Some("/d".to_owned()),
            _ => None,
        };
        let places = Places::find(&env);
        let files: Vec<_> = places.files(Some(Path::new("/p"))).into_iter().map(|(path, _)| path).collect();
        assert_eq!(files, [PathBuf::from("/p/agents.config.json"), PathBuf::from("/c/agents.config.json")]);
        assert_eq!(places.data, PathBuf::from("/d"));
        // The same file under two titles is read once.
        assert_eq!(places.files(Some(Path::new("/c"))).len(), 1);
        assert!(Places::find(&|_| None).files(None).len() >= 3);
    }
}
