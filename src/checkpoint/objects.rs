//! Writes git objects: one by one as loose files, or, when many are expected, as one pack.
//!
//! - Several threads may write at once. Nothing is written that the store has.
//! - Objects exist for others once [`Objects::finish`] has returned, and then they are on the disk. Whatever dies before leaves only
//!   `tmp_` files.

use super::{CheckpointError, durable, pack::Pack};
use flate2::{Compress, Compression, FlushCompress, Status};
use git2::{Odb, OdbLookupFlags, Oid};
use sha1::{Digest, Sha1};
use std::{
    collections::BTreeSet,
    fs,
    io::{self, Read, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// So many new objects are cheaper as a pack.
const MANY: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Commit = 1,
    Tree = 2,
    Blob = 3,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Commit => "commit",
            Kind::Tree => "tree",
            Kind::Blob => "blob",
        }
    }
}

/// What each thread needs for itself.
pub struct Workspace {
    deflate: Compress,
    out: Vec<u8>,
}

impl Default for Workspace {
    fn default() -> Self {
        Workspace { deflate: Compress::new(Compression::fast(), true), out: vec![] }
    }
}

pub struct Objects<'a> {
    odb: &'a Odb<'a>,
    folder: PathBuf,
    /// There is nothing to be found in it.
    empty: bool,
    pack: Option<Mutex<Pack>>,
    /// Written, but not yet where they belong.
    loose: Mutex<Vec<(Oid, tempfile::TempPath)>>,
}

impl<'a> Objects<'a> {
    /// `folder`: that of the repository's objects.
    pub fn new(odb: &'a Odb<'a>, folder: &Path) -> Self {
        let is_object = |entry: fs::DirEntry| entry.file_name().len() == 2;
        let packs = fs::read_dir(folder.join("pack")).is_ok_and(|mut packs| packs.next().is_some());
        let empty = !packs && !fs::read_dir(folder).is_ok_and(|entries| entries.flatten().any(is_object));
        Objects { odb, folder: folder.into(), empty, pack: None, loose: Mutex::default() }
    }

    /// So many new objects may come.
    pub fn prepare(&mut self, count: usize) -> Result<(), CheckpointError> {
        if count >= MANY && self.pack.is_none() {
            self.pack = Some(Mutex::new(Pack::begin(&self.folder.join("pack")).map_err(CheckpointError::io(&self.folder))?));
        }
        Ok(())
    }

    /// Returns whether anything was written.
    pub fn finish(self) -> Result<bool, CheckpointError> {
        let Objects { odb, folder, pack, loose, .. } = self;
        let loose = loose.into_inner().unwrap_or_else(PoisonError::into_inner);
        let wrote = !loose.is_empty() || pack.is_some();
        put_in_place(&folder, loose).map_err(CheckpointError::io(&folder))?;
        if let Some(pack) = pack {
            let pack = pack.into_inner().unwrap_or_else(PoisonError::into_inner);
            pack.finish().map_err(CheckpointError::io(&folder))?;
            odb.refresh()?;
        }
        Ok(wrote)
    }

    fn exists(&self, id: Oid) -> bool {
        !self.empty && self.odb.exists_ext(id, OdbLookupFlags::NO_REFRESH)
    }

    pub fn write(&self, kind: Kind, bytes: &[u8], space: &mut Workspace) -> Result<Oid, CheckpointError> {
        let header = header(kind, bytes.len() as u64);
        let id = id_of(&header, bytes);
        if self.exists(id) {
            return Ok(id);
        }
        match &self.pack {
            Some(pack) => {
                if !pack.lock().unwrap_or_else(PoisonError::into_inner).claim(id) {
                    return Ok(id);
                }
                let deflated = deflate_all(space, &[bytes]);
                let mut pack = pack.lock().unwrap_or_else(PoisonError::into_inner);
                pack.add(id, kind as u8, bytes.len() as u64, deflated).map_err(CheckpointError::io(&self.folder))?;
            }
            None => {
                let deflated = deflate_all(space, &[header.as_bytes(), bytes]);
                let put = |file: &mut fs::File| file.write_all(deflated).map(|()| id);
                self.loose(put).map_err(CheckpointError::io(&self.folder))?;
            }
        }
        Ok(id)
    }

    /// A file of any size, with little memory. `None` when it turned out to have another size.
    pub fn stream(&self, from: &mut fs::File, size: u64, space: &mut Workspace) -> Result<io::Result<Option<Oid>>, CheckpointError> {
        let mut from = Reading { file: from, failed: None };
        let mut short = false;
        let written = self.loose(|to| {
            let mut hash = Sha1::new();
            let header = header(Kind::Blob, size);
            hash.update(header.as_bytes());
            space.deflate.reset();
            let (mut buffer, mut left) = (vec![0; 256 * 1024], size);
            deflate(&mut space.deflate, header.as_bytes(), FlushCompress::None, &mut |out| to.write_all(out))?;
            while left > 0 {
                let part = buffer.len().min(left as usize);
                let n = from.read(&mut buffer[..part])?;
                if n == 0 {
                    short = true;
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                hash.update(&buffer[..n]);
                deflate(&mut space.deflate, &buffer[..n], FlushCompress::None, &mut |out| to.write_all(out))?;
                left -= n as u64;
            }
            deflate(&mut space.deflate, &[], FlushCompress::Finish, &mut |out| to.write_all(out))?;
            Ok(oid(hash))
        });
        match (written, from.failed) {
            (Ok(id), _) => Ok(Ok(Some(id))),
            (Err(_), Some(error)) => Ok(Err(error)),
            (Err(_), None) if short => Ok(Ok(None)),
            (Err(error), None) => Err(CheckpointError::io(&self.folder)(error)),
        }
    }

    /// A file of its own for one object: written aside, and put in its place at the end.
    fn loose(&self, write: impl FnOnce(&mut fs::File) -> io::Result<Oid>) -> io::Result<Oid> {
        let read_only = fs::Permissions::from_mode(0o444);
        let mut file = tempfile::Builder::new().prefix("tmp_obj_").permissions(read_only).tempfile_in(&self.folder)?;
        let id = write(file.as_file_mut())?;
        self.loose.lock().unwrap_or_else(PoisonError::into_inner).push((id, file.into_temp_path()));
        Ok(id)
    }
}

/// First their contents are on the disk, then their names are.
fn put_in_place(objects: &Path, loose: Vec<(Oid, tempfile::TempPath)>) -> io::Result<()> {
    durable::sync(&loose.iter().map(|(_, file)| file).collect::<Vec<_>>())?;
    let mut folders = BTreeSet::new();
    for (id, file) in loose {
        let name = id.to_string();
        let folder = objects.join(&name[..2]);
        if !folder.is_dir() {
            fs::create_dir_all(&folder)?;
            folders.insert(objects.to_path_buf());
        }
        file.persist(folder.join(&name[2..])).map_err(|e| e.error)?;
        folders.insert(folder);
    }
    durable::sync(&folders.into_iter().collect::<Vec<_>>())
}

/// Remembers an error of the file that is read, which is not one of the store.
struct Reading<'a> {
    file: &'a mut fs::File,
    failed: Option<io::Error>,
}

impl Reading<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.file.read(buffer) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    self.failed = Some(e);
                    return Err(io::ErrorKind::Other.into());
                }
                Ok(n) => return Ok(n),
            }
        }
    }
}

fn header(kind: Kind, size: u64) -> String {
    format!("{} {size}\0", kind.name())
}

fn id_of(header: &str, bytes: &[u8]) -> Oid {
    let mut hash = Sha1::new();
    hash.update(header.as_bytes());
    hash.update(bytes);
    oid(hash)
}

fn oid(hash: Sha1) -> Oid {
    // Twenty bytes are an id.
    Oid::from_bytes(&hash.finalize()).unwrap_or(Oid::ZERO_SHA1)
}

pub fn deflate_all<'s>(space: &'s mut Workspace, parts: &[&[u8]]) -> &'s [u8] {
    let Workspace { deflate: deflater, out } = space;
    deflater.reset();
    out.clear();
    let mut put = |bytes: &[u8]| {
        out.extend_from_slice(bytes);
        Ok(())
    };
    // Writing to memory does not fail.
    for part in parts {
        let _ = deflate(deflater, part, FlushCompress::None, &mut put);
    }
    let _ = deflate(deflater, &[], FlushCompress::Finish, &mut put);
    out
}

fn deflate(
    deflater: &mut Compress,
    mut bytes: &[u8],
    flush: FlushCompress,
    put: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = [0; 32 * 1024];
    loop {
        let (consumed, produced) = (deflater.total_in(), deflater.total_out());
        let status = deflater.compress(bytes, &mut out, flush).map_err(io::Error::other)?;
        let (consumed, produced) = ((deflater.total_in() - consumed) as usize, (deflater.total_out() - produced) as usize);
        bytes = &bytes[consumed..];
        put(&out[..produced])?;
        let done = if flush == FlushCompress::Finish { status == Status::StreamEnd } else { bytes.is_empty() && produced < out.len() };
        if done {
            return Ok(());
        }
    }
}
