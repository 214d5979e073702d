//! A file as its folder's handle and its name in there: what was looked at is what is opened, written or removed, whatever the names of
//! the folders above lead to by then.
//!
//! - On the way from the top no symbolic link is followed, nor at the end: paths are resolved before, when they are looked at.
//! - A link on the way fails with `ELOOP`, as for the kernel.

use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{self, AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, Stat},
    io::Errno,
};
use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io,
    path::{Component, Path, PathBuf},
};

/// Only to go on from: needs no right to read the folder.
#[cfg(target_os = "linux")]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

#[derive(Debug)]
pub struct Spot {
    folder: OwnedFd,
    name: OsString,
}

impl Spot {
    /// Of an absolute path that has been resolved.
    pub fn of(path: &Path) -> io::Result<Spot> {
        Spot::below(Path::new("/"), path)
    }

    /// Links count only below `top`, which is part of `path`.
    pub fn below(top: &Path, path: &Path) -> io::Result<Spot> {
        Spot::new(top, path, false)
    }

    /// The same, and makes the folders that are missing.
    pub fn made(path: &Path) -> io::Result<Spot> {
        Spot::made_below(Path::new("/"), path)
    }

    pub fn made_below(top: &Path, path: &Path) -> io::Result<Spot> {
        Spot::new(top, path, true)
    }

    fn new(top: &Path, path: &Path, make: bool) -> io::Result<Spot> {
        let inside = path.strip_prefix(top).map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "is not below its folder"))?;
        let top = fs::openat(CWD, top, FOLDER, Mode::empty())?;
        let (folder, name) = match (inside.parent(), inside.file_name()) {
            (Some(folder), Some(name)) => (descend(top, folder, make)?, name.to_owned()),
            _ => (top, ".".into()),
        };
        #[cfg(test)]
        tests::opened();
        Ok(Spot { folder, name })
    }

    /// By a path whose links are followed.
    pub(super) fn followed(path: &Path) -> io::Result<Spot> {
        let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "has no name"))?;
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        Ok(Spot { folder: fs::openat(CWD, folder, FOLDER, Mode::empty())?, name: name.into() })
    }

    pub fn folder(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }

    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// Of the thing itself, also if it is a link; `None` if nothing is there.
    pub fn stat(&self) -> io::Result<Option<Stat>> {
        match fs::statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// What it is; `None` if nothing is there.
    pub fn kind(&self) -> io::Result<Option<FileType>> {
        Ok(self.stat()?.map(|stat| FileType::from_raw_mode(stat.st_mode)))
    }

    /// For reading. A pipe does not block.
    pub fn open(&self) -> io::Result<File> {
        self.opened(OFlags::RDONLY | OFlags::NONBLOCK, 0)
    }

    /// A new file, to be written.
    pub fn create(&self, mode: u32) -> io::Result<File> {
        self.opened(OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, mode)
    }

    pub(super) fn opened(&self, flags: OFlags, mode: u32) -> io::Result<File> {
        let file = fs::openat(&self.folder, &self.name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::from_raw_mode(mode as _))?;
        Ok(File::from(file))
    }

    pub fn may_write(&self) -> bool {
        fs::accessat(&self.folder, &self.name, fs::Access::WRITE_OK, AtFlags::empty()).is_ok()
    }

    pub fn make_folder(&self) -> io::Result<()> {
        Ok(fs::mkdirat(&self.folder, &self.name, Mode::from_raw_mode(0o777))?)
    }

    pub fn make_link(&self, points_to: &Path) -> io::Result<()> {
        Ok(fs::symlinkat(points_to, &self.folder, &self.name)?)
    }

    pub fn read_link(&self) -> io::Result<PathBuf> {
        use std::os::unix::ffi::OsStringExt;
        Ok(OsString::from_vec(fs::readlinkat(&self.folder, &self.name, vec![])?.into_bytes()).into())
    }

    pub fn remove_file(&self) -> io::Result<()> {
        Ok(fs::unlinkat(&self.folder, &self.name, AtFlags::empty())?)
    }

    pub fn remove_folder(&self) -> io::Result<()> {
        Ok(fs::unlinkat(&self.folder, &self.name, AtFlags::REMOVEDIR)?)
    }

    pub fn is_same(&self, other: &Spot) -> bool {
        matches!((self.stat(), other.stat()), (Ok(Some(a)), Ok(Some(b))) if (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino))
    }

    /// Fails where something is in the way, also if it came just now.
    pub fn rename(&self, to: &Spot) -> io::Result<()> {
        let plainly = || Ok(fs::renameat(&self.folder, &self.name, &to.folder, &to.name)?);
        match fs::renameat_with(&self.folder, &self.name, &to.folder, &to.name, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                // This file system can't promise that: the look before it has to do.
                if to.stat()?.is_some() && !self.is_same(to) { Err(io::ErrorKind::AlreadyExists.into()) } else { plainly() }
            }
            // Where letters of either case are the same, a name may change its letters.
            Err(Errno::EXIST) if self.is_same(to) => plainly(),
            done => Ok(done?),
        }
    }

    /// Waits until the folder's names are on the disk. Some file systems refuse that; the contents are safe either way.
    pub(super) fn sync_folder(&self) {
        let folder = fs::openat(&self.folder, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        let _ = folder.map(fs::fsync);
    }

    pub(super) fn beside(&self, name: OsString) -> io::Result<Spot> {
        Ok(Spot { folder: self.folder.try_clone()?, name })
    }
}

/// The handle of a folder, by an absolute path that has been resolved.
pub fn folder(path: &Path) -> io::Result<OwnedFd> {
    let top = fs::openat(CWD, "/", FOLDER, Mode::empty())?;
    let folder = descend(top, path.strip_prefix("/").map_err(|_| Errno::INVAL)?, false)?;
    #[cfg(test)]
    tests::opened();
    Ok(folder)
}

/// Is this still a folder that no link stands before?
pub fn is_folder(path: &Path) -> io::Result<()> {
    folder(path).map(drop)
}

fn descend(top: OwnedFd, path: &Path, make: bool) -> io::Result<OwnedFd> {
    if path.as_os_str().is_empty() {
        return Ok(top);
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::ResolveFlags;
        match fs::openat2(&top, path, FOLDER, Mode::empty(), ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH) {
            Ok(folder) => return Ok(folder),
            Err(Errno::NOENT) if make => {}
            // An old kernel, or one that is asked by a sandbox that knows nothing of it.
            Err(Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::AGAIN) => {}
            Err(error) => return Err(error.into()),
        }
    }
    step_by_step(top, path, make)
}

fn step_by_step(top: OwnedFd, path: &Path, make: bool) -> io::Result<OwnedFd> {
    path.components().try_fold(top, |folder, part| {
        let Component::Normal(name) = part else { return Err(Errno::INVAL.into()) };
        let open = || fs::openat(&folder, name, FOLDER | OFlags::NOFOLLOW, Mode::empty());
        let opened = match open() {
            Err(Errno::NOENT) if make => match fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => open(),
                Err(error) => Err(error),
            },
            opened => opened,
        };
        opened.map_err(|error| {
            let stat = fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW);
            let link = stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink);
            io::Error::from(if link { Errno::LOOP } else { error })
        })
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::{cell::RefCell, os::unix::fs::symlink};

    type Hook = Box<dyn FnOnce()>;

    thread_local! {
        static OPENED: RefCell<Option<(usize, Hook)>> = const { RefCell::new(None) };
    }

    /// Does this right after the folder of a path has been opened for the nth time (from 1) in this thread, before anything is done in it.
    pub fn when_opened(nth: usize, swap: impl FnOnce() + 'static) {
        OPENED.set(Some((nth, Box::new(swap))));
    }

    pub fn opened() {
        let hook = OPENED.with_borrow_mut(|hook| {
            let (left, _) = hook.as_mut()?;
            *left -= 1;
            if *left == 0 { hook.take() } else { None }
        });
        if let Some((_, swap)) = hook {
            swap();
        }
    }

    #[test]
    fn no_way_goes_through_a_link_by_either_method() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("a/b")).unwrap();
        std::fs::create_dir(top.join("out")).unwrap();
        symlink("../out", top.join("a/link")).unwrap();
        std::fs::write(top.join("a/file"), "x").unwrap();
        let open = || fs::openat(CWD, &top, FOLDER, Mode::empty()).unwrap();
        for way in [descend, step_by_step] {
            let errno = |path: &str, make: bool| way(open(), Path::new(path), make).map_err(|e| e.raw_os_error().unwrap()).map(drop);
            assert_eq!(errno("a/b", false), Ok(()));
            assert_eq!(errno("a/link", false), Err(libc::ELOOP));
            assert_eq!(errno("a/link/c", true), Err(libc::ELOOP));
            assert_eq!(errno("a/none", false), Err(libc::ENOENT));
            assert_eq!(errno("a/file", false), Err(libc::ENOTDIR));
            assert_eq!(errno("a/b/c/d", true), Ok(()));
            assert!(top.join("a/b/c/d").is_dir() && !top.join("out/c").exists());
            std::fs::remove_dir_all(top.join("a/b/c")).unwrap();
        }
        assert_eq!(is_folder(&top.join("a/link")).unwrap_err().raw_os_error(), Some(libc::ELOOP));
        assert!(is_folder(&top.join("a/b")).is_ok() && is_folder(Path::new("/")).is_ok());
    }

    #[test]
    fn a_folder_that_was_opened_stays_the_one() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        for folder in ["in", "out"] {
            std::fs::create_dir(top.join(folder)).unwrap();
            std::fs::write(top.join(folder).join("f"), folder).unwrap();
        }
        let spot = Spot::of(&top.join("in/f")).unwrap();
        std::fs::rename(top.join("in"), top.join("was")).unwrap();
        symlink("out", top.join("in")).unwrap();
        assert_eq!(io::read_to_string(spot.open().unwrap()).unwrap(), "in");
        assert!(Spot::of(&top.join("in/f")).is_err());
        spot.remove_file().unwrap();
        assert!(top.join("out/f").exists() && !top.join("was/f").exists());
    }
}
