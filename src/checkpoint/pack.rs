//! Git packs (version 2) and their indexes: written in one go, without deltas.
//!
//! A pack counts once its index is there, and that comes last, when the pack is on the disk.

use git2::Oid;
use sha1::{Digest, Sha1};
use std::{
    collections::HashSet,
    fs,
    io::{self, BufWriter, Read, Seek, SeekFrom, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

const MAGIC: &[u8] = b"\xfftOc\0\0\0\x02";
const LARGE: u32 = 1 << 31;

/// One object in a pack.
#[derive(Debug, Clone, Copy)]
pub struct Packed {
    pub id: Oid,
    pub crc: u32,
    pub offset: u64,
}

pub struct Pack {
    folder: PathBuf,
    file: BufWriter<tempfile::NamedTempFile>,
    objects: Vec<Packed>,
    claimed: HashSet<Oid>,
    length: u64,
}

impl Pack {
    pub fn begin(folder: &Path) -> io::Result<Pack> {
        fs::create_dir_all(folder)?;
        let mut file = BufWriter::with_capacity(1 << 20, temporary(folder)?);
        file.write_all(b"PACK\0\0\0\x02\0\0\0\0")?;
        Ok(Pack { folder: folder.into(), file, objects: vec![], claimed: HashSet::new(), length: 12 })
    }

    /// `false` if somebody else adds it.
    pub fn claim(&mut self, id: Oid) -> bool {
        self.claimed.insert(id)
    }

    pub fn add(&mut self, id: Oid, kind: u8, size: u64, deflated: &[u8]) -> io::Result<()> {
        let mut header = vec![];
        let (mut byte, mut rest) = ((kind << 4) | (size & 15) as u8, size >> 4);
        while rest > 0 {
            header.push(byte | 0x80);
            (byte, rest) = ((rest & 0x7f) as u8, rest >> 7);
        }
        header.push(byte);
        let mut crc = flate2::Crc::new();
        crc.update(&header);
        crc.update(deflated);
        self.file.write_all(&header)?;
        self.file.write_all(deflated)?;
        self.objects.push(Packed { id, crc: crc.sum(), offset: self.length });
        self.length += (header.len() + deflated.len()) as u64;
        Ok(())
    }

    /// An object as another pack has it.
    pub fn copy(&mut self, object: Packed, from: &mut fs::File, length: u64) -> io::Result<()> {
        from.seek(SeekFrom::Start(object.offset))?;
        if io::copy(&mut from.take(length), &mut self.file)? != length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.objects.push(Packed { offset: self.length, ..object });
        self.length += length;
        Ok(())
    }

    /// Where the pack is now; `None` if there was nothing for it.
    pub fn finish(self) -> io::Result<Option<PathBuf>> {
        let Pack { folder, file, mut objects, .. } = self;
        if objects.is_empty() {
            return Ok(None);
        }
        let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(8))?;
        file.write_all(&(objects.len() as u32).to_be_bytes())?;
        file.seek(SeekFrom::Start(0))?;
        let sum = sum_of(file.as_file_mut())?;
        file.write_all(&sum)?;
        file.as_file().sync_all()?;
        objects.sort_unstable_by_key(|object| object.id);
        let mut index = temporary(&folder)?;
        index.write_all(&index_of(&objects, &sum))?;
        index.as_file().sync_all()?;
        let path = folder.join(format!("pack-{}.pack", Oid::from_bytes(&sum).map_err(io::Error::other)?));
        file.persist(&path).map_err(|e| e.error)?;
        index.persist(path.with_extension("idx")).map_err(|e| e.error)?;
        fs::File::open(&folder)?.sync_all()?;
        Ok(Some(path))
    }
}

fn temporary(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new().prefix("tmp_pack_").permissions(fs::Permissions::from_mode(0o444)).tempfile_in(folder)
}

fn sum_of(file: &mut fs::File) -> io::Result<[u8; 20]> {
    let (mut hash, mut buffer) = (Sha1::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hash.finalize().into()),
            n => hash.update(&buffer[..n]),
        }
    }
}

fn index_of(objects: &[Packed], pack: &[u8; 20]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(objects.len() * 28 + 1100);
    bytes.extend_from_slice(MAGIC);
    for first in 0..=255u8 {
        let up_to = objects.partition_point(|object| object.id.as_bytes()[0] <= first) as u32;
        bytes.extend_from_slice(&up_to.to_be_bytes());
    }
    objects.iter().for_each(|object| bytes.extend_from_slice(object.id.as_bytes()));
    objects.iter().for_each(|object| bytes.extend_from_slice(&object.crc.to_be_bytes()));
    let mut large: Vec<u64> = vec![];
    for object in objects {
        let offset = u32::try_from(object.offset).ok().filter(|offset| offset & LARGE == 0).unwrap_or_else(|| {
            large.push(object.offset);
            LARGE | (large.len() as u32 - 1)
        });
        bytes.extend_from_slice(&offset.to_be_bytes());
    }
    large.iter().for_each(|offset| bytes.extend_from_slice(&offset.to_be_bytes()));
    bytes.extend_from_slice(pack);
    let sum = Sha1::digest(&bytes);
    bytes.extend_from_slice(&sum);
    bytes
}

/// The objects of a pack in the order in which they lie in it, each with the bytes that it takes.
pub fn read(pack: &Path) -> io::Result<Vec<(Packed, u64)>> {
    let bytes = fs::read(pack.with_extension("idx"))?;
    let broken = || io::Error::new(io::ErrorKind::InvalidData, "the index of a pack can't be understood");
    let end = fs::metadata(pack)?.len().checked_sub(20).ok_or_else(broken)?;
    let mut objects = parse(&bytes).ok_or_else(broken)?;
    objects.sort_unstable_by_key(|object| object.offset);
    let ends: Vec<u64> = objects.iter().skip(1).map(|object| object.offset).chain([end]).collect();
    objects.into_iter().zip(ends).map(|(object, end)| Ok((object, end.checked_sub(object.offset).ok_or_else(broken)?))).collect()
}

fn parse(bytes: &[u8]) -> Option<Vec<Packed>> {
    let tables = bytes.strip_prefix(MAGIC)?.get(1024..)?;
    let word = |table: &[u8], n: usize| Some(u32::from_be_bytes(*table.get(n * 4..)?.first_chunk()?));
    let count = word(bytes.strip_prefix(MAGIC)?, 255)? as usize;
    let (ids, rest) = tables.split_at_checked(count * 20)?;
    let (crcs, rest) = rest.split_at_checked(count * 4)?;
    let (offsets, large) = rest.split_at_checked(count * 4)?;
    let object = |n: usize| {
        let offset = word(offsets, n)?;
        let offset = match offset & LARGE {
            0 => u64::from(offset),
            _ => u64::from_be_bytes(*large.get((offset & !LARGE) as usize * 8..)?.first_chunk()?),
        };
        Some(Packed { id: Oid::from_bytes(ids.get(n * 20..n * 20 + 20)?).ok()?, crc: word(crcs, n)?, offset })
    };
    (0..count).map(object).collect()
}

/// Is the object that begins there no difference from another? We write none, but `git gc` does.
pub fn stands_alone(pack: &mut fs::File, offset: u64) -> io::Result<bool> {
    let mut first = [0];
    pack.seek(SeekFrom::Start(offset))?;
    pack.read_exact(&mut first)?;
    Ok((first[0] >> 4) & 7 <= 4)
}
