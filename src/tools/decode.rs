//! Opens regular files only, and tells text in its several encodings from everything else.

use crate::{atomic::Spot, protocol::ToolError};
use rustix::fs::FileType;
use std::{
    fs::{File, Metadata},
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::Path,
};

pub const BOM: &[u8] = b"\xEF\xBB\xBF";
/// How much of a file decides what it is.
pub const SAMPLE: usize = 8 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, or bytes of an encoding that has ASCII in it.
    Ascii,
    Utf16 {
        big_endian: bool,
    },
    Binary,
}

pub fn detect(sample: &[u8]) -> Encoding {
    match sample {
        [0xFF, 0xFE, ..] => Encoding::Utf16 { big_endian: false },
        [0xFE, 0xFF, ..] => Encoding::Utf16 { big_endian: true },
        _ if sample.iter().take(SAMPLE).any(|b| *b == 0) => Encoding::Binary,
        _ => Encoding::Ascii,
    }
}

/// Without its byte order mark. `None` when something in it is not valid: what can't be written back is not edited.
pub fn utf16(bytes: &[u8], big_endian: bool) -> Option<String> {
    let body = bytes.get(2..)?;
    let (pairs, rest) = body.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().map(|p| if big_endian { u16::from_be_bytes(*p) } else { u16::from_le_bytes(*p) }).collect();
    if rest.is_empty() { String::from_utf16(&units).ok() } else { None }
}

pub fn to_utf16(text: &str, big_endian: bool) -> Vec<u8> {
    let mut bytes = if big_endian { vec![0xFE, 0xFF] } else { vec![0xFF, 0xFE] };
    for unit in text.encode_utf16() {
        bytes.extend(if big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() });
    }
    bytes
}

/// For showing: UTF-8, or else each byte as the Latin-1 character, so that nothing turns into U+FFFD.
pub fn show(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|b| char::from(*b)).collect(),
    }
}

/// The same for bytes that may have been cut inside their last character.
pub fn show_cut(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Err(e) if e.error_len().is_none() => show(&bytes[..e.valid_up_to()]),
        _ => show(bytes),
    }
}

/// Opens `path`, which has been resolved, if it is a regular file. Nothing else is opened, not even for a look: pipes block and devices act.
pub fn open(path: &Path, shown: &str) -> Result<(File, Metadata), ToolError> {
    opened(path, shown)?.ok_or_else(|| explain(&io::ErrorKind::NotFound.into(), shown))
}

fn opened(path: &Path, shown: &str) -> Result<Option<(File, Metadata)>, ToolError> {
    let failed = |e: io::Error| explain(&e, shown);
    let spot = match Spot::of(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        spot => spot.map_err(failed)?,
    };
    let Some(kind) = spot.kind().map_err(failed)? else { return Ok(None) };
    regular(kind, shown)?;
    let file = spot.open().map_err(failed)?;
    let meta = file.metadata().map_err(failed)?;
    regular(FileType::from_raw_mode(meta.mode() as _), shown)?;
    Ok(Some((file, meta)))
}

/// The whole file, or `None` if there is none.
pub fn read(path: &Path, shown: &str, limit: u64) -> Result<Option<Vec<u8>>, ToolError> {
    let Some((file, meta)) = opened(path, shown)? else { return Ok(None) };
    if meta.len() > limit {
        return Err(ToolError(format!("{shown} is too large for this ({} MB; the limit is {} MB).", meta.len() >> 20, limit >> 20)));
    }
    let mut bytes = Vec::with_capacity(meta.len() as usize);
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|e| explain(&e, shown))?;
    Ok(Some(bytes))
}

fn regular(kind: FileType, shown: &str) -> Result<(), ToolError> {
    match kind {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(ToolError(format!("{shown} is a folder, not a file. Use LS to see what is in it."))),
        FileType::Symlink => Err(explain(&io::Error::from_raw_os_error(libc::ELOOP), shown)),
        FileType::Fifo => Err(ToolError(format!("{shown} is a pipe, not a file."))),
        FileType::Socket => Err(ToolError(format!("{shown} is a socket, not a file."))),
        _ => Err(ToolError(format!("{shown} is a device, not a file."))),
    }
}

pub fn explain(error: &io::Error, shown: &str) -> ToolError {
    if error.raw_os_error() == Some(libc::ELOOP) {
        return ToolError(format!(
            "{shown}: it, or a folder in its path, is a symbolic link now, which it was not when this was looked at; nothing was done."
        ));
    }
    ToolError(match error.kind() {
        io::ErrorKind::NotFound => format!("{shown} does not exist."),
        io::ErrorKind::PermissionDenied => format!("No permission for {shown}."),
        io::ErrorKind::NotADirectory => format!("{shown}: a part of this path is a file, not a folder."),
        io::ErrorKind::StorageFull => format!("{shown} was not written: the disk is full. The file is unchanged."),
        _ => format!("{shown}: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf16_survives_the_round_trip() {
        for big_endian in [false, true] {
            let bytes = to_utf16("a\r\nü𝄞", big_endian);
            assert_eq!(detect(&bytes), Encoding::Utf16 { big_endian });
            assert_eq!(utf16(&bytes, big_endian).unwrap(), "a\r\nü𝄞");
            assert_eq!(utf16(&bytes[..bytes.len() - 1], big_endian), None);
        }
        assert_eq!(utf16(&[0xFF, 0xFE, 0x00, 0xD8], false), None, "half a surrogate pair");
    }

    #[test]
    fn pipes_and_devices_are_named_and_not_opened() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        let name = std::ffi::CString::new(pipe.to_str().unwrap()).unwrap();
        // SAFETY: a string that ends in NUL.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        assert_eq!(open(&pipe, "pipe").unwrap_err().0, "pipe is a pipe, not a file.");
        assert_eq!(open(Path::new("/dev/zero"), "zero").unwrap_err().0, "zero is a device, not a file.");
        assert!(open(dir.path(), "d").unwrap_err().0.contains("Use LS"));
        assert_eq!(read(&dir.path().join("none"), "none", 9), Ok(None));
    }

    #[test]
    fn bytes_of_other_encodings_stay_readable() {
        assert_eq!(show(b"caf\xe9 x"), "café x");
        assert_eq!(show("caf\u{e9}".as_bytes()), "café");
        assert_eq!(show_cut(&"caf\u{e9}".as_bytes()[..4]), "caf");
        assert_eq!(show(b"caf\xe9"), "café");
    }
}
