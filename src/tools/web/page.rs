//! What a server sent, as text: by its type, its character encoding, and without what can't be seen.

use super::html;
use crate::{protocol::ToolError, tools::Cancel};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use reqwest::Url;

/// How much of a body decides what it is.
const SAMPLE: usize = 8 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    Html,
    Text,
    /// Nothing was said, or nothing that tells.
    Unknown,
    /// Not text; in words.
    Other(&'static str),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    pub title: String,
    pub text: String,
    /// There was more than can be taken in.
    pub cut: bool,
}

pub fn kind(content_type: &str) -> Kind {
    let media = essence(content_type);
    let (top, sub) = media.split_once('/').unwrap_or((&media, ""));
    const TEXTS: [&str; 14] = [
        "json",
        "xml",
        "javascript",
        "ecmascript",
        "x-javascript",
        "typescript",
        "yaml",
        "x-yaml",
        "toml",
        "x-ndjson",
        "x-sh",
        "sql",
        "graphql",
        "xml-dtd",
    ];
    match (top, sub) {
        ("text", "html") | ("application", "xhtml+xml") => Kind::Html,
        ("text", _) => Kind::Text,
        (_, sub) if sub.ends_with("+json") || sub.ends_with("+xml") => Kind::Text,
        ("application", sub) if TEXTS.contains(&sub) => Kind::Text,
        ("" | "unknown", _) | ("application" | "binary", "octet-stream") => Kind::Unknown,
        ("image", _) => Kind::Other("an image"),
        ("audio", _) => Kind::Other("audio"),
        ("video", _) => Kind::Other("a video"),
        ("font", _) => Kind::Other("a font"),
        ("application", "pdf") => Kind::Other("a PDF document"),
        ("application", "zip" | "gzip" | "x-gzip" | "x-tar" | "zstd" | "x-7z-compressed" | "x-bzip2" | "x-xz" | "vnd.rar") => {
            Kind::Other("an archive")
        }
        _ => Kind::Other("not text"),
    }
}

/// Without parameters, in lower case.
pub fn essence(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_lowercase()
}

/// The text of a body; an error says what it is instead.
pub fn read(url: &Url, content_type: &str, body: &[u8], cancel: &Cancel) -> Result<Page, ToolError> {
    let charset = charset(content_type);
    let sample = &body[..body.len().min(SAMPLE)];
    let wide = Encoding::for_bom(body).map(|(encoding, _)| encoding).or(charset).is_some_and(|e| e == UTF_16LE || e == UTF_16BE);
    if !wide && sample.contains(&0) {
        return Err(ToolError(format!("{url} is binary ({}), not text.", size(body.len() as u64))));
    }
    let is_html = match kind(content_type) {
        Kind::Html => true,
        Kind::Unknown => {
            let begins = String::from_utf8_lossy(sample).trim_start_matches('\u{feff}').trim_start().to_lowercase();
            begins.starts_with("<!doctype html") || begins.starts_with("<html")
        }
        _ => false,
    };
    let text = decoded(body, charset);
    if is_html { html::to_markdown(&text, url, cancel) } else { Ok(Page { title: String::new(), text: visible(&text), cut: false }) }
}

/// What the header says.
fn charset(content_type: &str) -> Option<&'static Encoding> {
    let parameters = content_type.split(';').skip(1);
    let named = parameters.filter_map(|parameter| parameter.split_once('=')).find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    Encoding::for_label(named?.1.trim().trim_matches(['"', '\'']).as_bytes())
}

/// A byte order mark outranks the header, and that what the text says of itself.
fn decoded(body: &[u8], charset: Option<&'static Encoding>) -> String {
    let encoding = charset.or_else(|| declared(&body[..body.len().min(2048)])).unwrap_or_else(|| {
        let valid = std::str::from_utf8(body).is_ok();
        if valid { UTF_8 } else { WINDOWS_1252 }
    });
    // Looks for the mark itself.
    encoding.decode(body).0.into_owned()
}

/// `<meta charset="…">`, `<meta … content="text/html; charset=…">`, `<?xml … encoding="…"?>`.
fn declared(beginning: &[u8]) -> Option<&'static Encoding> {
    let text = String::from_utf8_lossy(beginning).to_lowercase();
    let tags = text.split('<').filter(|tag| tag.starts_with("meta") || tag.starts_with("?xml"));
    let label = tags.filter_map(|tag| {
        let tag = tag.split('>').next().unwrap_or_default();
        let after = ["charset", "encoding"].iter().find_map(|word| tag.split_once(word)).map(|(_, after)| after)?;
        let value = after.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
        Some(value.split(['"', '\'', ';', ' ', '/', '?']).next().unwrap_or_default().to_owned())
    });
    let encoding = label.filter_map(|label| Encoding::for_label(label.as_bytes())).next()?;
    // It could not have been read if that were true.
    Some(if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding })
}

/// Without control characters and those that hide or turn text around: what the model reads is what a person would see.
pub fn visible(text: &str) -> String {
    let hidden = |c: &char| {
        let control = c.is_control() && !matches!(c, '\n' | '\t');
        let turning = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        let unseen = matches!(c, '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}' | '\u{e0000}'..='\u{e0fff}');
        control || turning || unseen
    };
    text.replace("\r\n", "\n").replace('\r', "\n").chars().filter(|c| !hidden(c)).collect()
}

/// Bytes in words.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} KB", bytes.div_ceil(1000)),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
