//! `View`: numbered lines of files. Reads no further than it shows, so the size of the file does not matter.

mod notebook;
pub mod pdf;

use super::{
    RunContext, Tool, Workspace,
    args::Args,
    decode::{self, Encoding},
    ls, registry,
    tool::Cancel,
};
use crate::{
    atomic::spot,
    picture,
    protocol::{Access, Block, Image, Preview, ToolCall, ToolError, ToolOutput, ToolSpec},
};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::{
    io::{self, BufRead, BufReader, Cursor, Read},
    path::{Path, PathBuf},
};

const LINES: usize = 2_000;
const LINE_CHARS: usize = 2_000;
const TOTAL_BYTES: usize = 100_000;
/// Lines after the shown ones are counted only in files up to this size.
const COUNTED: u64 = 10 << 20;
const UTF16_LIMIT: u64 = 20 << 20;
/// A larger notebook is shown as the JSON that it is.
const NOTEBOOK: u64 = 20 << 20;

#[derive(Debug)]
pub struct View;

struct Wanted {
    paths: Vec<PathBuf>,
    several: bool,
    range: Range,
}

/// Which lines, and whether as the file has them, whatever it is.
#[derive(Clone, Copy)]
struct Range {
    first: usize,
    limit: usize,
    raw: bool,
}

fn wanted(args: &Value, workspace: &Workspace) -> Result<Wanted, ToolError> {
    let args = Args::new("View", args)?;
    let list = args.list("file_paths")?;
    let several = !list.is_empty();
    let given = if several { list } else { vec![args.filled("file_path")?.to_owned()] };
    let first = args.opt_number("offset")?.unwrap_or(1).max(1) as usize;
    let limit = match (args.opt_number("limit")?, args.opt_number("end_line")?) {
        (Some(limit), _) => (limit as usize).max(1),
        (None, Some(end)) => (end as usize + 1).saturating_sub(first).max(1),
        _ => LINES,
    };
    let range = Range { first, limit, raw: args.flag("raw")? };
    Ok(Wanted { paths: given.iter().map(|p| workspace.resolve(p)).collect(), several, range })
}

impl Tool for View {
    fn spec(&self) -> ToolSpec {
        registry::spec(
            "View",
            &["read_file", "Read", "read_many_files", "cat"],
            include_str!("../../assets/tools/view.md"),
            json!({
                "file_path": {"type": "string"},
                "file_paths": {"type": "array", "items": {"type": "string"}},
                "offset": {"type": "integer", "description": "first line, from 1"},
                "limit": {"type": "integer", "description": "lines, default 2000"},
            }),
            &[],
        )
    }

    fn also_takes(&self) -> Value {
        json!({
            "properties": {"end_line": {"type": "integer"}, "raw": {"type": "boolean"}},
            "anyOf": [{"required": ["file_path"]}, {"required": ["file_paths"]}],
        })
    }

    fn preview(&self, args: &Value, workspace: &Workspace) -> Result<Preview, ToolError> {
        let wanted = wanted(args, workspace)?;
        let names: Vec<_> = wanted.paths.iter().map(|p| workspace.titled(p)).collect();
        let range = if wanted.range.first > 1 { format!(":{}", wanted.range.first) } else { String::new() };
        Ok(Preview::new(Access::Read(wanted.paths), names.join(", ") + &range, Block::Nothing))
    }

    fn run<'a>(&'a self, call: &'a ToolCall, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move { view(call, cx) })
    }
}

fn view(call: &ToolCall, cx: &RunContext) -> Result<ToolOutput, ToolError> {
    let wanted = wanted(&call.args, cx.workspace)?;
    cx.as_approved(call, &wanted.paths)?;
    if let ([path], false) = (&wanted.paths[..], wanted.several) {
        if spot::is_folder(path).is_ok() {
            return ls::list(path, &[], false, cx);
        }
        if let Some(picture) = picture(path, cx) {
            return picture;
        }
        let page = page(path, &cx.workspace.shown(path), wanted.range, TOTAL_BYTES, &cx.cancel)?;
        cx.workspace.seen.note_file(path);
        return Ok(ToolOutput {
            for_user: Block::Code { path: cx.workspace.relative(path), first_line: wanted.range.first, text: page.plain.as_str().into() },
            summary: lines_word(page.lines),
            for_model: page.numbered,
            failed: false,
        });
    }
    let (mut text, mut failed) = (String::new(), 0);
    for path in &wanted.paths {
        let shown = cx.workspace.shown(path);
        let room = TOTAL_BYTES.saturating_sub(text.len());
        let body = if room < 200 {
            "(not shown: the output is full; view this file by itself)".to_owned()
        } else {
            match page(path, &shown, wanted.range, room, &cx.cancel) {
                Ok(page) => {
                    cx.workspace.seen.note_file(path);
                    page.numbered
                }
                Err(error) => {
                    cx.cancel.check()?;
                    failed += 1;
                    format!("Error: {error}")
                }
            }
        };
        text.push_str(&format!("==> {shown} <==\n{body}\n\n"));
    }
    text.truncate(text.trim_end().len());
    let errors = if failed > 0 { format!(", {failed} failed") } else { String::new() };
    Ok(ToolOutput {
        for_user: Block::Text(text.as_str().into()),
        summary: format!("{} files{errors}", wanted.paths.len()),
        for_model: text,
        failed: failed == wanted.paths.len(),
    })
}

/// The picture in a file, if it is one.
fn picture(path: &Path, cx: &RunContext) -> Option<Result<ToolOutput, ToolError>> {
    let shown = cx.workspace.shown(path);
    let mut sample = [0; 16];
    let (mut file, meta) = decode::open(path, &shown).ok()?;
    let read = file.read(&mut sample).ok()?;
    if !picture::is_picture(&sample[..read]) {
        return None;
    }
    let loaded = picture::from(decode::open(path, &shown).ok()?.0);
    if loaded.is_err() && meta.len() <= picture::LARGEST {
        // It only begins like one.
        return None;
    }
    Some(loaded.map_err(|why| ToolError(format!("{shown} {why}."))).map(|image| {
        let kind = image.media_type.trim_start_matches("image/");
        let size = format!("{}×{} {kind}", image.width, image.height);
        let label = format!("[image {shown}: {size}]");
        ToolOutput {
            for_model: format!("{shown} is an image, {size}; it follows."),
            for_user: Block::Image(Box::new(Image { label, ..image })),
            summary: size,
            failed: false,
        }
    }))
}

pub fn lines_word(n: usize) -> String {
    if n == 1 { "1 line".into() } else { format!("{n} lines") }
}

struct Page {
    numbered: String,
    plain: String,
    lines: usize,
}

fn page(path: &Path, shown: &str, range: Range, room: usize, cancel: &Cancel) -> Result<Page, ToolError> {
    let failed = |e: io::Error| decode::explain(&e, shown);
    let (file, meta) = decode::open(path, shown)?;
    let mut reader = BufReader::with_capacity(64 * 1024, file);
    let sample = reader.fill_buf().map_err(failed)?;
    if pdf::is_pdf(sample) && !range.raw && meta.len() <= pdf::LARGEST {
        let (file, _) = decode::open(path, shown)?;
        let text = pdf::text(file, cancel).map_err(|why| ToolError(format!("{shown} {why}.")))?;
        return lines(Cursor::new(text), shown, range, room, true, cancel);
    }
    match decode::detect(sample) {
        Encoding::Binary => Err(ToolError(format!("{shown} is a binary file ({} bytes{}).", meta.len(), kind_of(sample)))),
        Encoding::Ascii if !range.raw && is_notebook(path) && meta.len() <= NOTEBOOK => {
            let mut bytes = vec![];
            reader.take(NOTEBOOK).read_to_end(&mut bytes).map_err(failed)?;
            match notebook::text(&bytes) {
                Some(text) => {
                    let mut page = lines(Cursor::new(text), shown, range, room, true, cancel)?;
                    page.numbered.push_str("(a notebook as text; raw: true shows the JSON that is edited)\n");
                    Ok(page)
                }
                None => lines(Cursor::new(bytes), shown, range, room, true, cancel),
            }
        }
        Encoding::Ascii => {
            if sample.starts_with(decode::BOM) {
                reader.consume(decode::BOM.len());
            }
            lines(reader, shown, range, room, meta.len() <= COUNTED, cancel)
        }
        Encoding::Utf16 { .. } if meta.len() > UTF16_LIMIT => {
            Err(ToolError(format!("{shown} is UTF-16 and too large to be shown ({} MB).", meta.len() >> 20)))
        }
        Encoding::Utf16 { big_endian } => {
            let mut bytes = vec![];
            reader.take(UTF16_LIMIT).read_to_end(&mut bytes).map_err(failed)?;
            let text = decode::utf16(&bytes, big_endian).ok_or_else(|| ToolError(format!("{shown} is not valid UTF-16 text.")))?;
            lines(Cursor::new(text), shown, range, room, true, cancel)
        }
    }
}

fn is_notebook(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "ipynb")
}

fn kind_of(sample: &[u8]) -> &'static str {
    match sample {
        [0x89, b'P', b'N', b'G', ..] => ", a PNG image",
        [0xFF, 0xD8, 0xFF, ..] => ", a JPEG image",
        [b'G', b'I', b'F', b'8', ..] => ", a GIF image",
        [b'%', b'P', b'D', b'F', ..] => ", a PDF document",
        [0x7F, b'E', b'L', b'F', ..] => ", an ELF program",
        [b'P', b'K', 3, 4, ..] => ", a ZIP archive",
        [0x1F, 0x8B, ..] => ", gzip data",
        _ => "",
    }
}

fn lines(
    mut reader: impl BufRead,
    shown: &str,
    Range { first, limit, .. }: Range,
    room: usize,
    count: bool,
    cancel: &Cancel,
) -> Result<Page, ToolError> {
    let failed = |e: io::Error| decode::explain(&e, shown);
    let (mut number, mut line) = (0, Vec::new());
    let mut page = Page { numbered: String::new(), plain: String::new(), lines: 0 };
    let mut full = false;
    while page.lines < limit {
        let wanted = number + 1 >= first;
        line.clear();
        // A character has up to 4 bytes.
        let Some(length) = read_line(&mut reader, if wanted { 4 * LINE_CHARS } else { 0 }, &mut line, cancel).map_err(failed)? else {
            break;
        };
        number += 1;
        if !wanted {
            continue;
        }
        let text = if line.len() < length { decode::show_cut(&line) } else { decode::show(&line) };
        let cut = match text.char_indices().nth(LINE_CHARS) {
            Some((at, _)) => &text[..at],
            None => &text,
        };
        let rest =
            if cut.len() < text.len() || line.len() < length { format!("… (cut; this line has {length} bytes)") } else { String::new() };
        let entry = format!("{number:>6}\t{cut}{rest}\n");
        if page.lines > 0 && page.numbered.len() + entry.len() > room {
            (full, number) = (true, number - 1);
            break;
        }
        page.numbered.push_str(&entry);
        page.plain.push_str(cut);
        page.plain.push('\n');
        page.lines += 1;
    }
    cancel.check()?;
    let more = full || !reader.fill_buf().map_err(failed)?.is_empty();
    if page.lines == 0 {
        if number == 0 {
            page.numbered = format!("({shown} is empty)");
            return Ok(page);
        }
        return Err(ToolError(format!("{shown} has only {}; offset {first} is past its end.", lines_word(number))));
    }
    if more {
        let last = first + page.lines - 1;
        let total = if count {
            let mut total = number + usize::from(full);
            while read_line(&mut reader, 0, &mut line, cancel).map_err(failed)?.is_some() {
                total += 1;
            }
            format!(" of {total}")
        } else {
            String::new()
        };
        page.numbered.push_str(&format!("(lines {first}–{last}{total}; go on with offset {})\n", last + 1));
    }
    Ok(page)
}

/// Reads one line, keeping at most `keep` bytes of it. Gives its full length without the line end; `None` at the end.
fn read_line(reader: &mut impl BufRead, keep: usize, line: &mut Vec<u8>, cancel: &Cancel) -> io::Result<Option<usize>> {
    let (mut length, mut any, mut last) = (0, false, 0);
    loop {
        if cancel.is_cancelled() {
            return Ok(None);
        }
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok(any.then_some(length));
        }
        any = true;
        let end = buffer.iter().position(|b| *b == b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        line.extend_from_slice(&part[..part.len().min(keep.saturating_sub(line.len()))]);
        length += part.len();
        last = part.last().copied().unwrap_or(last);
        let used = part.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            if last == b'\r' && length > 0 {
                if line.len() == length {
                    line.pop();
                }
                length -= 1;
            }
            return Ok(Some(length));
        }
    }
}
