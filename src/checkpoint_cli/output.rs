//! What is printed, and the one question that is asked.
//!
//! - No control character of a name, a label or a file reaches a terminal. A pipe gets patches as they are.
//! - A reader who has had enough closes the pipe: that is no error of ours.
//! - Nobody is waited for where standard input is no terminal.

use crate::failure::Failure;
use backstitch_components::{
    Line, Role, Theme, ansi,
    text::sanitize::{one_line, sanitize},
    theme::{ColorDepth, dark_background},
};
use serde::Serialize;
use std::{
    io::{self, IsTerminal, Write},
    path::Path,
};

/// Columns to cut rows to, if they are for a terminal.
pub fn columns() -> Option<usize> {
    let out = io::stdout();
    let size = rustix::termios::tcgetwinsize(&out).ok().filter(|_| out.is_terminal());
    size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Text that is clean.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(Failure::internal(format!("The output can't be written: {e}"))),
        _ => Ok(()),
    }
}

/// Beside the output.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", sanitize(text));
}

pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|e| Failure::internal(format!("The output can't be written: {e}")))?;
    print(&format!("{}\n", escaped(&text)))
}

/// JSON lets control characters beyond ASCII stand as they are; terminals obey some of them.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        let hidden = matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if c != '\n' && (c.is_control() || hidden) {
            out.push_str(&format!("\\u{:04x}", c as u32));
        } else {
            out.push(c);
        }
    }
    out
}

pub fn shown(path: &Path) -> String {
    one_line(&path.to_string_lossy()).into_owned()
}

/// A patch: exact for a pipe, clean and coloured for a terminal.
pub fn print_patch(patch: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<(), Failure> {
    if !io::stdout().is_terminal() {
        return print(patch);
    }
    let depth = ColorDepth::detect(env("NO_COLOR").as_deref(), env("COLORTERM").as_deref(), env("TERM").as_deref());
    let theme = Theme::for_background(dark_background(env("COLORFGBG").as_deref()).unwrap_or(true));
    let rows: Vec<Line> = rows(patch).into_iter().map(|(text, role)| Line::styled(text, role)).collect();
    let text = if depth == ColorDepth::None {
        rows.iter().map(|row| row.text() + "\n").collect()
    } else {
        ansi::to_ansi(&rows, &theme, depth, usize::MAX).replace("\r\n", "\n")
    };
    print(&text)
}

/// The rows of a patch, with what they are.
fn rows(patch: &str) -> Vec<(String, Role)> {
    let mut inside = false;
    let role = |line: &str| {
        inside = (inside || line.starts_with("@@")) && !line.starts_with("diff ");
        match line.chars().next() {
            Some('@') => Role::Accent,
            Some('+') if inside => Role::DiffAdded,
            Some('-') if inside => Role::DiffRemoved,
            _ if inside => Role::Text,
            _ => Role::Dim,
        }
    };
    let roles: Vec<Role> = patch.split_terminator('\n').map(role).collect();
    patch.split_terminator('\n').zip(roles).map(|(line, role)| (one_line(line).into_owned(), role)).collect()
}

/// Asks whether to go on, unless somebody has said so already.
pub fn confirm(question: &str, yes: bool) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    if !io::stdin().is_terminal() {
        return Err(Failure::approval("Nothing was done: there is nobody to ask.").hint("--yes does it without asking"));
    }
    let _ = write!(io::stderr().lock(), "{question} [y/N] ");
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer);
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" if read.is_ok() => Ok(()),
        _ => {
            if answer.is_empty() {
                note("");
            }
            Err(Failure::approval("Nothing was done."))
        }
    }
}

/// `1 file`, `2 files`.
pub fn count(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}

/// What something takes on the disk.
pub fn bytes(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_the_same_and_drives_no_terminal() {
        let text = "a\u{9b}31m\u{7f}\u{1b}[2J\u{202e}ü\n";
        let json = escaped(&serde_json::to_string_pretty(&[text]).unwrap());
        assert!(json.chars().all(|c| c == '\n' || !c.is_control()) && !json.contains('\u{202e}'), "{json:?}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), [text]);
    }

    #[test]
    fn rows_of_a_patch_are_clean_and_know_what_they_are() {
        let patch = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n--- x\n+\x1b[2Jy\n z\ndiff --git a/b b/b\n";
        let found = rows(patch);
        let roles: Vec<Role> = found.iter().map(|(_, role)| *role).collect();
        use Role::*;
        assert_eq!(roles, [Dim, Dim, Dim, Accent, DiffRemoved, DiffAdded, Text, Dim]);
        assert!(found.iter().all(|(text, _)| !text.contains(char::is_control)));
    }

    #[test]
    fn sizes() {
        for (size, text) in [(0, "0 bytes"), (4_096, "4.1 kB"), (12_345_678, "12.3 MB"), (3_000_000_000, "3.0 GB")] {
            assert_eq!(bytes(size), text);
        }
    }
}
