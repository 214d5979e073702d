//! Waits until what was written is on the disk, so that a power cut finds it there or not at all.
//!
//! Several at once: a file system does the work of many waiting threads together, and one after the other would take as many turns.

use std::{
    fs::File,
    io,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

const AT_ONCE: usize = 16;

/// Files, or folders: of these what is in them.
pub fn sync(paths: &[impl AsRef<Path> + Sync]) -> io::Result<()> {
    let next = AtomicUsize::new(0);
    let work = || -> io::Result<()> {
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            File::open(path.as_ref())?.sync_all()?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..paths.len().min(AT_ONCE)).map(|_| scope.spawn(work)).collect();
        let own = work();
        let joined = others.into_iter().map(|other| other.join().unwrap_or_else(|_| Err(io::Error::other("a thread stopped"))));
        joined.chain([own]).collect()
    })
}

/// Everything on the file system that this folder is on. Where there is no asking for that, the system does it in its own time.
pub fn settle(folder: &Path) {
    #[cfg(target_os = "linux")]
    if let Ok(folder) = File::open(folder) {
        let _ = rustix::fs::syncfs(folder);
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        rustix::fs::sync();
    }
}
