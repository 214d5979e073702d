//! The folders whose contents may steer the program: their configuration, their commands.
//!
//! A trusted folder covers what is below it, save for folders that everything is below: the home folder, those above it, and those
//! for temporary files cover only themselves. Nothing is lost when several processes trust at once; a list that can't be read or
//! written is never fatal: then trust lasts for the session.

use super::{Places, store};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

const NAME: &str = "trusted.json";

pub struct Trust {
    file: PathBuf,
    home: Option<PathBuf>,
    folders: BTreeSet<PathBuf>,
    /// For the user, one sentence each.
    pub warnings: Vec<String>,
}

#[derive(Default, Serialize, Deserialize)]
struct List {
    folders: BTreeSet<PathBuf>,
}

impl Trust {
    /// Reads the list; writes nothing.
    pub fn load(places: &Places) -> Trust {
        let home = places.home.as_ref().map(|home| real(home));
        let mut trust = Trust { file: places.data.join(NAME), home, folders: BTreeSet::new(), warnings: vec![] };
        match read(&trust.file) {
            Ok(list) => trust.folders = list.folders,
            Err(error) => trust.warnings.push(format!("The list of trusted folders can't be read ({}: {error}).", trust.file.display())),
        }
        trust
    }

    pub fn is_trusted(&self, root: &Path) -> bool {
        let root = real(root);
        let covers = |folder: &Path| self.folders.contains(folder) && !self.covers_all(folder);
        self.folders.contains(&root) || root.ancestors().skip(1).any(covers)
    }

    /// For this session only.
    pub fn trust_for_now(&mut self, root: &Path) {
        self.folders.insert(real(root));
    }

    /// For good, if the list can be written; else for this session, with a warning.
    pub fn trust(&mut self, root: &Path) {
        let root = real(root);
        self.folders.insert(root.clone());
        let saved = store::locked(&self.file, |file| {
            let mut list = match read(file) {
                Ok(list) => list,
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    std::fs::rename(file, set_aside(file))?;
                    List::default()
                }
                Err(error) => return Err(error),
            };
            list.folders.insert(root);
            store::replace(file, &(serde_json::to_string_pretty(&list)? + "\n"))
        });
        if let Err(error) = saved {
            let file = self.file.display();
            self.warnings.push(format!("The folder is trusted for this session only: {file} can't be written ({error})."));
        }
    }

    fn covers_all(&self, folder: &Path) -> bool {
        let temporary = [Path::new("/tmp"), Path::new("/var/tmp"), &real(&std::env::temp_dir())].contains(&folder);
        folder.parent().is_none() || temporary || self.home.as_ref().is_some_and(|home| home.starts_with(folder))
    }
}

fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

fn read(file: &Path) -> io::Result<List> {
    match std::fs::read(file) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(List::default()),
        Err(error) => Err(error),
    }
}

/// A name next to the broken file that nothing has yet.
fn set_aside(file: &Path) -> PathBuf {
    let name = |n: u32| file.with_extension(format!("broken-{n}.json"));
    (1..1000).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(1000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn places() -> (tempfile::TempDir, Places) {
        let folder = tempfile::tempdir().unwrap();
        let places = Places::for_test(folder.path());
        fs::create_dir_all(folder.path().join("home/code/app/src")).unwrap();
        (folder, places)
    }

    #[test]
    fn a_trusted_folder_covers_what_is_below_it_but_the_home_folder_does_not() {
        let (folder, places) = places();
        let at = |path: &str| folder.path().join(path);
        let mut trust = Trust::load(&places);
        assert!(!trust.is_trusted(&at("home/code/app")));
        trust.trust(&at("home/code/app"));
        assert_eq!(trust.warnings, [] as [&str; 0]);

        let mut trust = Trust::load(&places);
        assert!(trust.is_trusted(&at("home/code/app")) && trust.is_trusted(&at("home/code/app/src/../src")));
        assert!(!trust.is_trusted(&at("home/code")) && !trust.is_trusted(&at("home/code/application")));
        for wide in [at("home"), at("."), PathBuf::from("/"), std::env::temp_dir()] {
            trust.trust_for_now(&wide);
            assert!(trust.is_trusted(&wide));
        }
        assert!(!trust.is_trusted(&at("home/code")) && !trust.is_trusted(&at("other")));
        assert!(!Trust::load(&places).is_trusted(&at("home")), "for now is not for good");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_what_it_leads_to() {
        let (folder, places) = places();
        let at = |path: &str| folder.path().join(path);
        fs::create_dir(at("evil")).unwrap();
        std::os::unix::fs::symlink(at("evil"), at("home/code/app/link")).unwrap();
        std::os::unix::fs::symlink(at("home/code/app"), at("short")).unwrap();
        let mut trust = Trust::load(&places);
        trust.trust(&at("short"));
        assert!(trust.is_trusted(&at("home/code/app")) && !trust.is_trusted(&at("home/code/app/link")));
    }

    #[test]
    fn many_at_once_lose_nothing() {
        let (folder, places) = places();
        std::thread::scope(|scope| {
            for worker in 0..5 {
                let (folder, places) = (&folder, &places);
                scope.spawn(move || {
                    for n in 0..10 {
                        let mut trust = Trust::load(places);
                        trust.trust(&folder.path().join(format!("{worker}-{n}")));
                        assert_eq!(trust.warnings, [] as [&str; 0]);
                    }
                });
            }
        });
        assert_eq!(Trust::load(&places).folders.len(), 50);
    }

    #[test]
    fn a_broken_list_is_set_aside() {
        let (folder, places) = places();
        fs::create_dir_all(&places.data).unwrap();
        fs::write(places.data.join(NAME), "{ broken").unwrap();
        let mut trust = Trust::load(&places);
        assert_eq!(trust.warnings.len(), 1);
        assert!(!trust.is_trusted(folder.path()));
        trust.trust(&folder.path().join("home/code"));
        assert_eq!(trust.warnings.len(), 1, "{:?}", trust.warnings);
        assert_eq!(fs::read_to_string(places.data.join("trusted.broken-1.json")).unwrap(), "{ broken");
        assert!(Trust::load(&places).is_trusted(&folder.path().join("home/code/app")));
    }

    #[test]
    fn where_nothing_can_be_written_trust_lasts_for_the_session() {
        let (folder, mut places) = places();
        // A file where a folder is needed: as good as a read-only home, also for root.
        fs::write(folder.path().join("file"), "").unwrap();
        places.data = folder.path().join("file/data");
        let mut trust = Trust::load(&places);
        trust.trust(&folder.path().join("home/code"));
        assert!(trust.is_trusted(&folder.path().join("home/code")));
        assert!(trust.warnings[0].starts_with("The folder is trusted for this session only"), "{:?}", trust.warnings);
    }
}
