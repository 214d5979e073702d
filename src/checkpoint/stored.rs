//! Reads objects of the store: through libgit2, after a look of our own at those that are files.
//!
//! libgit2 never comes back from a file that was cut (it waits for the rest of the stream), so nothing of ours asks it for an object
//! before it is known to be whole. Packs it checks itself.

use super::{CheckpointError, tree::damaged};
use git2::{Blob, Commit, ErrorCode, Odb, OdbObject, Oid, Repository, Tree};
use sha1::{Digest, Sha1};
use std::{
    ffi::OsStr,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

pub fn commit(repo: &Repository, id: Oid) -> Result<Commit<'_>, CheckpointError> {
    check(repo, id)?;
    repo.find_commit(id).map_err(damaged)
}

pub fn tree(repo: &Repository, id: Oid) -> Result<Tree<'_>, CheckpointError> {
    check(repo, id)?;
    repo.find_tree(id).map_err(damaged)
}

pub fn blob(repo: &Repository, id: Oid) -> Result<Blob<'_>, CheckpointError> {
    check(repo, id)?;
    repo.find_blob(id).map_err(damaged)
}

/// Any object. `objects`: the folder of the files.
pub fn object<'o>(odb: &'o Odb, objects: &Path, id: Oid) -> io::Result<OdbObject<'o>> {
    look_everywhere(objects, id)?;
    odb.read(id).map_err(|error| match error.code() {
        ErrorCode::NotFound => io::ErrorKind::NotFound.into(),
        _ => io::Error::other(error),
    })
}

/// Bytes of a blob, without reading it all.
pub fn size(repo: &Repository, id: Oid) -> Option<usize> {
    let objects = repo.path().join("objects");
    let opened = File::open(file_of(&objects, id));
    let elsewhere = || others(&objects).into_iter().find_map(|objects| File::open(file_of(&objects, id)).ok());
    match opened.or_else(|e| elsewhere().ok_or(e)) {
        Ok(file) => Header::read(&mut inflating(file)).ok()?.size.try_into().ok(),
        Err(_) => repo.odb().ok()?.read_header(id).ok().map(|(size, _)| size),
    }
}

fn check(repo: &Repository, id: Oid) -> Result<(), CheckpointError> {
    let objects = repo.path().join("objects");
    match look_everywhere(&objects, id) {
        Err(e) if e.kind() == io::ErrorKind::InvalidData => Err(CheckpointError::Damaged(format!("object {id} is not whole"))),
        Err(e) => Err(CheckpointError::io(&file_of(&objects, id))(e)),
        Ok(()) => Ok(()),
    }
}

/// Here, and where this repository has objects from: nobody says which of several files libgit2 reads.
fn look_everywhere(objects: &Path, id: Oid) -> io::Result<()> {
    look(&file_of(objects, id), id)?;
    others(objects).into_iter().try_for_each(|objects| look(&file_of(&objects, id), id))
}

/// Other folders of objects that libgit2 goes to, as a repository has them that stands in for one which may not be written.
fn others(objects: &Path) -> Vec<PathBuf> {
    let Ok(list) = std::fs::read(objects.join("info/alternates")) else { return vec![] };
    let lines = list.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && line[0] != b'#');
    lines.map(|line| objects.join(Path::new(OsStr::from_bytes(line)))).collect()
}

fn file_of(objects: &Path, id: Oid) -> PathBuf {
    let name = id.to_string();
    objects.join(&name[..2]).join(&name[2..])
}

/// Is what the file holds what its name says? There need not be one.
fn look(path: &Path, id: Oid) -> io::Result<()> {
    let mut from = match File::open(path) {
        Ok(file) => inflating(file),
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(e),
    };
    let header = Header::read(&mut from)?;
    let mut hash = Sha1::new();
    hash.update(&header.bytes);
    let (mut buffer, mut length) = ([0; 32 * 1024], 0);
    loop {
        match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => {
                hash.update(&buffer[..n]);
                length += n as u64;
            }
            Err(e) => return Err(spoiled(e)),
        }
    }
    let same = length == header.size && hash.finalize().as_slice() == id.as_bytes();
    if same { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
}

fn inflating(file: File) -> BufReader<flate2::read::ZlibDecoder<File>> {
    BufReader::new(flate2::read::ZlibDecoder::new(file))
}

/// What can't be inflated is no fault of the disk's.
fn spoiled(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(_) => error,
        None => io::ErrorKind::InvalidData.into(),
    }
}

struct Header {
    /// With the zero at its end.
    bytes: Vec<u8>,
    size: u64,
}

impl Header {
    fn read(from: &mut impl BufRead) -> io::Result<Header> {
        let mut bytes = vec![];
        from.take(64).read_until(0, &mut bytes).map_err(spoiled)?;
        let text = bytes.strip_suffix(&[0]).and_then(|text| std::str::from_utf8(text).ok());
        let size = text.and_then(|text| text.split_once(' ')?.1.parse().ok());
        size.map(|size| Header { bytes, size }).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}
