//! Picture files: what kind, how large, and their bytes as requests carry them. Read from the header; nothing is decoded.

use crate::protocol::Image;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use std::{fs::File, io::Read, path::Path};

/// Bytes.
pub const LARGEST: u64 = 10 << 20;
pub const TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/// A picture in a file. The error is the end of a sentence that names the file.
pub fn load(path: &Path) -> Result<Image, String> {
    let length = std::fs::metadata(path).map_err(|e| format!("can't be read: {e}"))?;
    if !length.is_file() {
        return Err("is no file".into());
    }
    from(File::open(path).map_err(|e| format!("can't be read: {e}"))?)
}

pub fn from(file: File) -> Result<Image, String> {
    let mut bytes = vec![];
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|e| format!("can't be read: {e}"))?;
    read(&bytes)
}

pub fn read(bytes: &[u8]) -> Result<Image, String> {
    if bytes.len() as u64 > LARGEST {
        return Err("is larger than 10 MB".into());
    }
    let (kind, (width, height)) = header(bytes).ok_or("is no picture that is understood: png, jpeg, gif or webp")?;
    if width == 0 || height == 0 {
        return Err("is a picture without any size".into());
    }
    let data = BASE64_STANDARD.encode(bytes).into();
    Ok(Image { label: String::new(), media_type: format!("image/{kind}"), data, width, height })
}

/// By its first bytes.
pub fn is_picture(sample: &[u8]) -> bool {
    matches!(
        sample,
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..]
            | [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..]
            | [0xff, 0xd8, 0xff, ..]
            | [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..]
    )
}

type Size = (u32, u32);

fn header(bytes: &[u8]) -> Option<(&'static str, Size)> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(("png", (big(bytes, 16, 4)?, big(bytes, 20, 4)?))),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(("gif", (little(bytes, 6, 2)?, little(bytes, 8, 2)?))),
        [0xff, 0xd8, 0xff, ..] => Some(("jpeg", jpeg(bytes)?)),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(("webp", webp(bytes)?)),
        _ => None,
    }
}

fn big(bytes: &[u8], at: usize, count: usize) -> Option<u32> {
    Some(bytes.get(at..at + count)?.iter().fold(0, |sum, b| sum << 8 | u32::from(*b)))
}

fn little(bytes: &[u8], at: usize, count: usize) -> Option<u32> {
    Some(bytes.get(at..at + count)?.iter().rev().fold(0, |sum, b| sum << 8 | u32::from(*b)))
}

/// Its segments, up to the frame's, which has the size.
fn jpeg(bytes: &[u8]) -> Option<Size> {
    let mut at = 2;
    loop {
        if *bytes.get(at)? != 0xff {
            return None;
        }
        match *bytes.get(at + 1)? {
            // Fill bytes, and markers without a length.
            0xff => at += 1,
            0x01 | 0xd0..=0xd8 => at += 2,
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => return Some((big(bytes, at + 7, 2)?, big(bytes, at + 5, 2)?)),
            _ => at += 2 + big(bytes, at + 2, 2)?.max(2) as usize,
        }
    }
}

fn webp(bytes: &[u8]) -> Option<Size> {
    match bytes.get(12..16)? {
        b"VP8 " => Some((little(bytes, 26, 2)? & 0x3fff, little(bytes, 28, 2)? & 0x3fff)),
        b"VP8L" => {
            let bits = little(bytes, 21, 4)?;
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => Some((little(bytes, 24, 3)? + 1, little(bytes, 27, 3)? + 1)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(bytes: &[u8]) -> Option<(&'static str, u32, u32)> {
        let image = read(bytes).ok()?;
        Some((header(bytes)?.0, image.width, image.height))
    }

    #[test]
    fn kind_and_size_from_the_header() {
        let png = [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &640u32.to_be_bytes(), &480u32.to_be_bytes(), &[8, 6, 0, 0, 0]].concat();
        assert_eq!(size(&png), Some(("png", 640, 480)));
        assert_eq!(size(b"GIF89a\x40\x01\xc8\x00\0\0\0"), Some(("gif", 320, 200)));
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xdb\0\x03x\xff\xc2\0\x0b\x08\x01\x02\x03\x04\x01\0\0\0";
        assert_eq!(size(jpeg), Some(("jpeg", 0x304, 0x102)));
        let vp8 = [b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a".as_slice(), &[0x80, 0x02, 0xe0, 0x01]].concat();
        assert_eq!(size(&vp8), Some(("webp", 640, 480)));
        let vp8l = [b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f".as_slice(), &(639u32 | 479 << 14).to_le_bytes()].concat();
        assert_eq!(size(&vp8l), Some(("webp", 640, 480)));
        let vp8x = [b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0".as_slice(), &[0x7f, 2, 0, 0xdf, 1, 0]].concat();
        assert_eq!(size(&vp8x), Some(("webp", 640, 480)));
        for cut in 0..png.len().min(24) {
            assert_eq!(size(&png[..cut]), None, "{cut}");
        }
        for cut in 0..jpeg.len() - 8 {
            assert_eq!(size(&jpeg[..cut]), None, "{cut}");
        }
        assert_eq!(size(b"\xff\xd8\xff\xe0\0\0"), None);
        assert!(read(b"hello").unwrap_err().contains("no picture"));
        assert!(read(&vec![0; (LARGEST + 1) as usize]).unwrap_err().contains("10 MB"));
    }

    #[test]
    fn files_that_are_none_are_refused() {
        assert!(load(Path::new("/nonexistent.png")).unwrap_err().contains("can't be read"));
        assert!(load(Path::new("/")).unwrap_err().contains("no file"));
    }
}
