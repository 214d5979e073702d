//! Finished rows as a string for the terminal's own scrollback.
//!
//! Invariants:
//! - each row ends with all attributes reset, then `\r\n`; no row is wider than the width given;
//! - nothing but our own sequences: control characters in texts and links are dropped here, as the last filter;
//! - no blanks are added to fill a row (they would be copied): a fill is an erase with the background set.

use crate::text::span::{Line, Span, Style};
use crate::text::wrap::cut;
use crate::theme::{ColorDepth, Role, Theme};
use iocraft::Color;
use std::borrow::Cow;
use std::fmt::Write;

/// Prints `lines` for a terminal of `width` columns.
pub fn to_ansi(lines: &[Line], theme: &Theme, depth: ColorDepth, width: usize) -> String {
    let mut pen = Pen { out: String::with_capacity(lines.len() * 64), theme, depth, style: Style::new(), link: None };
    for line in lines {
        let line = if line.width() > width { Cow::Owned(cut(line, width)) } else { Cow::Borrowed(line) };
        pen.row(&line);
    }
    pen.out
}

/// The address to write for a link target, if it is one that may be opened: `http`, `https` or `file`,
/// at most 2,048 bytes, without control characters; others than printable ASCII are percent-encoded.
pub fn safe_link(target: &str) -> Option<Cow<'_, str>> {
    let (scheme, _) = target.split_once("://")?;
    let known = ["http", "https", "file"].iter().any(|s| s.eq_ignore_ascii_case(scheme));
    if !known || target.len() > 2048 || target.chars().any(char::is_control) {
        return None;
    }
    if target.bytes().all(|b| b.is_ascii_graphic()) {
        return Some(Cow::Borrowed(target));
    }
    let mut out = String::with_capacity(target.len() + 16);
    for b in target.bytes() {
        if b.is_ascii_graphic() {
            out.push(char::from(b));
        } else {
            let _ = write!(out, "%{b:02X}");
        }
    }
    Some(Cow::Owned(out))
}

struct Pen<'a> {
    out: String,
    theme: &'a Theme,
    depth: ColorDepth,
    style: Style,
    link: Option<String>,
}

impl Pen<'_> {
    fn row(&mut self, line: &Line) {
        if let Some(fill) = line.fill.filter(|fill| self.theme.resolve(*fill, self.depth).is_some()) {
            // Before the text: at the end, a full row would lose its last cell to the erase.
            self.set(Style::new().bg(fill));
            self.out.push_str("\x1b[K");
        }
        for span in &line.spans {
            self.span(span, line.fill);
        }
        self.set_link(None);
        if self.style != Style::new() {
            self.out.push_str("\x1b[0m");
            self.style = Style::new();
        }
        self.out.push_str("\r\n");
    }

    fn span(&mut self, span: &Span, fill: Option<Role>) {
        let mut style = self.theme.visible(span.style, self.depth);
        style.bg = style.bg.or(fill);
        self.set_link(span.link.as_deref().and_then(safe_link).map(Cow::into_owned));
        self.set(style);
        self.out.extend(span.text.chars().filter(|c| !c.is_control()));
    }

    fn set_link(&mut self, link: Option<String>) {
        if self.link != link {
            let _ = write!(self.out, "\x1b]8;;{}\x1b\\", link.as_deref().unwrap_or_default());
            self.link = link;
        }
    }

    /// Writes the shortest change from the current style; roles without a colour here count as none.
    fn set(&mut self, style: Style) {
        let style = self.theme.visible(style, self.depth);
        if style == self.style {
            return;
        }
        let flags = |s: &Style| [s.bold, s.dim, s.italic, s.underline, s.invert, s.strike];
        let mut codes = String::new();
        let taken_off = flags(&self.style).iter().zip(flags(&style)).any(|(was, is)| *was && !is);
        let cleared = self.style.fg.is_some() && style.fg.is_none() || self.style.bg.is_some() && style.bg.is_none();
        let from = if taken_off || cleared {
            codes.push_str("0;");
            Style::new()
        } else {
            self.style
        };
        for ((was, is), code) in flags(&from).into_iter().zip(flags(&style)).zip([1, 2, 3, 4, 7, 9]) {
            if is && !was {
                let _ = write!(codes, "{code};");
            }
        }
        for (was, is, base) in [(from.fg, style.fg, 30u8), (from.bg, style.bg, 40)] {
            if let Some(colour) = is.filter(|_| was != is).and_then(|role| self.theme.resolve(role, self.depth)) {
                push_colour(colour, base, self.depth, &mut codes);
            }
        }
        self.style = style;
        if style == Style::new() {
            self.out.push_str("\x1b[0m");
        } else if !codes.is_empty() {
            let _ = write!(self.out, "\x1b[{}m", codes.trim_end_matches(';'));
        }
    }
}

/// `base` is 30 for the foreground, 40 for the background.
fn push_colour(colour: Color, base: u8, depth: ColorDepth, codes: &mut String) {
    let _ = match colour {
        Color::Rgb { r, g, b } => write!(codes, "{};2;{r};{g};{b};", base + 8),
        Color::AnsiValue(n @ 0..8) if depth == ColorDepth::Ansi16 => write!(codes, "{};", base + n),
        Color::AnsiValue(n @ 8..16) if depth == ColorDepth::Ansi16 => write!(codes, "{};", base + 60 + n - 8),
        Color::AnsiValue(n) => write!(codes, "{};5;{n};", base + 8),
        _ => Ok(()),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn print(line: Line, depth: ColorDepth) -> String {
        to_ansi(&[line], &Theme::for_background(true), depth, 20)
    }

    #[test]
    fn writes_little_and_resets_each_row() {
        let line = Line::plain("a").and("b", Style::from(Role::Error).bold()).and("c", Role::Error).and("d", Role::Text);
        assert_eq!(print(line.clone(), ColorDepth::Ansi16), "a\x1b[1;31mb\x1b[0;31mc\x1b[0md\r\n");
        assert_eq!(print(line, ColorDepth::None), "a\x1b[1mb\x1b[0mcd\r\n");
        assert_eq!(print(Line::new(), ColorDepth::TrueColor), "\r\n");
    }

    #[test]
    fn fills_without_blanks() {
        let text = print(Line::styled("x", Role::Error).filled(Role::DiffAddedBand), ColorDepth::Ansi256);
        assert!(text.starts_with("\x1b[48;5;") && text.contains("m\x1b[K") && text.ends_with("x\x1b[0m\r\n"), "{text:?}");
        assert_eq!(print(Line::plain("x").filled(Role::DiffAddedBand), ColorDepth::None), "x\r\n");
    }

    #[test]
    fn links_only_where_safe() {
        let linked = |target: &'static str| print(Line::from(Span::plain("x").linked(target)), ColorDepth::None);
        assert_eq!(linked("https://a.b/ü"), "\x1b]8;;https://a.b/%C3%BC\x1b\\x\x1b]8;;\x1b\\\r\n");
        for bad in ["javascript://x", "https://a\x1b\\b", "x", "https://a\u{9c}b"] {
            assert_eq!(linked(bad), "x\r\n", "{bad:?}");
        }
    }

    #[test]
    fn cuts_what_is_too_wide() {
        assert_eq!(print(Line::plain("日".repeat(12)), ColorDepth::None), format!("{}\r\n", "日".repeat(10)));
    }

    proptest! {
        #[test]
        fn texts_write_no_control_characters(text: String) {
            let line = Line::plain(text.clone()).with(Span::plain("y").linked(text));
            let printed = to_ansi(&[line], &Theme::default(), ColorDepth::None, 500);
            let bare = printed.strip_suffix("\r\n").unwrap();
            prop_assert!(bare.split("\x1b]8;;").all(|part| part.replacen("\x1b\\", "", 1).chars().all(|c| !c.is_control())));
        }
    }
}
