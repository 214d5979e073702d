//! A picture from the clipboard, by whichever program this desktop has for it. What was missing is said.

use super::process::run;
use crate::{
    picture::{LARGEST, TYPES, read},
    protocol::{Image, Notice},
};
use std::{io, time::Duration};

const WITHIN: Duration = Duration::from_secs(3);

/// A program that hands out the clipboard: how it lists what is there, and how it gives one kind of it.
struct Source {
    program: &'static str,
    /// Where to get it.
    package: &'static str,
    list: &'static [&'static str],
    give: &'static [&'static str],
}

const WAYLAND: Source = Source { program: "wl-paste", package: "wl-clipboard", list: &["--list-types"], give: &["--type"] };
const X11: Source = Source {
    program: "xclip",
    package: "xclip",
    list: &["-selection", "clipboard", "-o", "-t", "TARGETS"],
    give: &["-selection", "clipboard", "-o", "-t"],
};

pub fn picture() -> Result<Image, Notice> {
    if cfg!(target_os = "macos") { macos() } else { linux(&|name| std::env::var_os(name).is_some_and(|value| !value.is_empty())) }
}

fn linux(set: &dyn Fn(&str) -> bool) -> Result<Image, Notice> {
    let sources: Vec<&Source> =
        [("WAYLAND_DISPLAY", &WAYLAND), ("DISPLAY", &X11)].into_iter().filter(|(name, _)| set(name)).map(|(_, source)| source).collect();
    if sources.is_empty() {
        return Err(Notice::warning("No clipboard can be reached from here: neither WAYLAND_DISPLAY nor DISPLAY is set.")
            .hint("paste or drag the path of a picture, or /image PATH"));
    }
    let mut missing = vec![];
    let mut trouble = None;
    for source in sources {
        match from(source) {
            Ok(Some(picture)) => return Ok(picture),
            Ok(None) => trouble = Some(nothing()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => missing.push(source.package),
            Err(error) => trouble = Some(Notice::warning(format!("The clipboard can't be read: {error}."))),
        }
    }
    Err(trouble.unwrap_or_else(|| {
        Notice::warning(format!("The clipboard can't be read without {}.", missing.join(" or ")))
            .hint(format!("install {}, paste the path of a picture, or /image PATH", missing.join(" or ")))
    }))
}

fn nothing() -> Notice {
    Notice::info("There is no picture in the clipboard.").hint("text is pasted by the terminal itself, mostly with ctrl+shift+v")
}

/// `None` if there is no picture in it.
fn from(source: &Source) -> io::Result<Option<Image>> {
    let listed = run(source.program, source.list, 64 << 10, WITHIN)?;
    let listed = String::from_utf8_lossy(&listed.stdout);
    let Some(kind) = TYPES.iter().find(|kind| listed.lines().any(|line| line.trim() == **kind)) else { return Ok(None) };
    let given = run(source.program, &[source.give, &[*kind]].concat(), LARGEST + 1, WITHIN)?;
    read(&given.stdout).map(Some).map_err(io::Error::other)
}

fn macos() -> Result<Image, Notice> {
    let said = |why: String| Notice::warning(format!("The clipboard can't be read: {why}."));
    match run("pngpaste", &["-"], LARGEST + 1, WITHIN) {
        Ok(ran) if ran.ok => return read(&ran.stdout).map_err(said),
        Ok(_) => return Err(nothing()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(said(error.to_string())),
    }
    // Without it: the data as AppleScript writes it, «data PNGf89504E…».
    let ran = run("osascript", &["-e", "the clipboard as «class PNGf»"], 2 * LARGEST + 64, WITHIN).map_err(|e| said(e.to_string()))?;
    let text = String::from_utf8_lossy(&ran.stdout);
    let hex: String = text.chars().skip_while(|c| *c != 'f').skip(1).take_while(char::is_ascii_hexdigit).collect();
    let bytes: Vec<u8> = (0..hex.len() / 2).filter_map(|n| u8::from_str_radix(hex.get(2 * n..2 * n + 2)?, 16).ok()).collect();
    if bytes.is_empty() { Err(nothing()) } else { read(&bytes).map_err(said) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said() {
        let nowhere = linux(&|_| false).unwrap_err();
        assert!(nowhere.text.contains("WAYLAND_DISPLAY") && nowhere.hints[0].contains("/image"), "{nowhere:?}");
        let source = Source { program: "no-such-program-here", ..WAYLAND };
        assert_eq!(from(&source).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
