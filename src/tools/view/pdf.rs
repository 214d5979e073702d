//! PDF documents as text, page by page.
//!
//! A document is data from anywhere, and its reader is large: it works in a process of its own, with a limit of time, memory and
//! output, and whatever becomes of it is an error of this call and nothing else.

use crate::tools::{
    Cancel,
    shell::reader::{Reading, read_with},
};
use std::{
    fs::File,
    io::{self, Read, Write},
    process::ExitCode,
    time::Duration,
};

/// Larger documents are not read, in bytes.
pub const LARGEST: u64 = 50 << 20;
/// Bytes of text.
const MOST: u64 = 20 << 20;
const WITHIN: Duration = Duration::from_secs(30);
/// Bytes of address space.
const MEMORY: u64 = 2 << 30;
/// The command of this program that the process is.
const COMMAND: &str = "pdf-text";

pub fn is_pdf(sample: &[u8]) -> bool {
    sample.starts_with(b"%PDF-")
}

/// The text of a document, or why there is none, as the end of a sentence that names it.
pub fn text(file: File, cancel: &Cancel) -> Result<String, String> {
    let read = read_with(COMMAND, file, MOST, WITHIN, cancel).map_err(|e| format!("can't be read as text ({e})"))?;
    match read {
        Reading::Ended(text, true) => Ok(String::from_utf8_lossy(&text).into_owned()),
        Reading::Ended(why, false) if !why.is_empty() => Err(format!("can't be read as text: {}", String::from_utf8_lossy(&why).trim())),
        Reading::Ended(..) => Err("can't be read as text: it is damaged, or not like other PDF documents".into()),
        Reading::TooLong => Err("takes too long to be read as text".into()),
        Reading::Interrupted => Err("was not read to its end: interrupted".into()),
    }
}

/// The process itself: a document on standard input, its text on standard output; or why not, and exit code 1.
pub fn child() -> ExitCode {
    limit();
    // Nothing that the reader prints by the way is text of the document.
    let Ok(mut output) = rustix::io::dup(rustix::stdio::stdout()).map(File::from) else { return ExitCode::FAILURE };
    if File::options().write(true).open("/dev/null").is_ok_and(|null| rustix::stdio::dup2_stdout(null).is_err()) {
        return ExitCode::FAILURE;
    }
    std::panic::set_hook(Box::new(|_| {}));
    let mut bytes = vec![];
    let read = io::stdin().lock().take(LARGEST).read_to_end(&mut bytes);
    let text = match read {
        Ok(_) => std::panic::catch_unwind(|| extract(&bytes)).unwrap_or_else(|_| Err("it is damaged".into())),
        Err(e) => Err(e.to_string()),
    };
    let (code, text) = text.map_or_else(|why| (ExitCode::FAILURE, why), |text| (ExitCode::SUCCESS, text));
    if output.write_all(text.as_bytes()).is_ok() { code } else { ExitCode::FAILURE }
}

fn limit() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let set = |resource, most: u64| {
        let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    };
    set(Resource::As, MEMORY);
    set(Resource::Cpu, WITHIN.as_secs());
    set(Resource::Fsize, 0);
    set(Resource::Core, 0);
}

fn extract(bytes: &[u8]) -> Result<String, String> {
    let pages = pdf_extract::extract_text_from_mem_by_pages(bytes).map_err(|e| e.to_string())?;
    let mut text = String::new();
    for (n, page) in (1..).zip(&pages) {
        text.push_str(&format!("── page {n} of {}\n", pages.len()));
        let lines: Vec<&str> = page.lines().map(str::trim_end).collect();
        let mut blank = true;
        for line in lines {
            // Pages come with many blank lines between what belongs together.
            if !(line.is_empty() && blank) {
                text.push_str(line);
                text.push('\n');
            }
            blank = line.is_empty();
        }
    }
    if text.lines().all(|line| line.is_empty() || line.starts_with("── page")) {
        return Err("there is no text in it; its pages may be pictures".into());
    }
    Ok(text)
}

#[cfg(test)]
pub(in crate::tools) mod tests {
    use super::*;

    /// A document with one page for each text.
    pub fn document(pages: &[&str]) -> Vec<u8> {
        let count = pages.len();
        let kids: Vec<String> = (0..count).map(|n| format!("{} 0 R", 4 + 2 * n)).collect();
        let mut objects = vec![
            "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
            format!("<< /Type /Pages /Kids [{}] /Count {count} >>", kids.join(" ")),
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
        ];
        for (n, text) in pages.iter().enumerate() {
            let stream = format!("BT /F1 12 Tf 72 700 Td ({text}) Tj ET");
            objects.push(format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {} 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
                5 + 2 * n
            ));
            objects.push(format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()));
        }
        let mut file = b"%PDF-1.4\n".to_vec();
        let mut places = vec![];
        for (n, object) in (1..).zip(&objects) {
            places.push(file.len());
            file.extend(format!("{n} 0 obj\n{object}\nendobj\n").bytes());
        }
        let start = file.len();
        file.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).bytes());
        places.iter().for_each(|at| file.extend(format!("{at:010} 00000 n \n").bytes()));
        file.extend(format!("trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n", objects.len() + 1).bytes());
        file
    }

    #[test]
    fn pages_become_text() {
        let text = extract(&document(&["Hello there", "The second page"])).unwrap();
        assert_eq!(text, "── page 1 of 2\nHello there\n── page 2 of 2\nThe second page\n");
        assert!(extract(&document(&[""])).unwrap_err().contains("no text in it"));
        assert!(extract(b"%PDF-1.4\nnothing").is_err());
    }
}
