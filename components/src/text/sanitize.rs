//! Makes text from a model, a file or a command safe to print and possible to lay out.
//!
//! Invariants of the result:
//! - no control character but `\n`, so no terminal sequence can survive, whatever was nested or left open;
//! - no bidi control, no invisible character that hides or reorders text;
//! - no emoji of several code points that the canvas cannot hold in one cell;
//! - cleaning it again changes nothing; its width as computed is what a terminal shows.

use super::width::{is_zero_width, width};
use std::borrow::Cow;
use unicode_segmentation::UnicodeSegmentation;

/// How to clean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clean {
    /// Tab stops every so many cells; 0 counts as 1.
    pub tab: usize,
    /// Show invisible characters as `<U+200B>` instead of dropping them: for what a user is asked to approve.
    pub reveal: bool,
    /// Let a lone carriage return overwrite its line, as progress bars mean it, instead of showing it.
    pub overwrite: bool,
}

impl Default for Clean {
    fn default() -> Self {
        Self { tab: 4, reveal: false, overwrite: false }
    }
}

/// Cleans prose and code: tab stops of 4, invisible characters dropped.
pub fn sanitize(text: &str) -> Cow<'_, str> {
    Clean::default().apply(text)
}

/// Cleans what came from a command: tab stops of 8, lone carriage returns overwrite their line.
pub fn sanitize_output(text: &str) -> Cow<'_, str> {
    Clean { tab: 8, reveal: false, overwrite: true }.apply(text)
}

/// Cleans what a user decides upon: nothing invisible is left out, it is shown by its code.
pub fn reveal(text: &str) -> Cow<'_, str> {
    Clean { tab: 4, reveal: true, overwrite: false }.apply(text)
}

/// Cleans text that must stay on one row: line ends become `⏎`. Nothing is left out: names and commands that differ look different.
pub fn one_line(text: &str) -> Cow<'_, str> {
    let clean = reveal(text);
    if clean.contains('\n') { Cow::Owned(clean.trim_end_matches('\n').replace('\n', "⏎")) } else { clean }
}

impl Clean {
    pub fn apply(self, text: &str) -> Cow<'_, str> {
        if text.bytes().all(|b| b == b'\n' || (0x20..0x7f).contains(&b)) {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len() + text.len() / 8);
        // Graphemes can only be judged once the sequences between their parts are gone: two passes.
        let stripped = self.strip(text);
        let mut column = 0;
        let mut line_start = 0;
        for grapheme in stripped.graphemes(true) {
            match grapheme {
                // A sequence that stood between the two is gone by now.
                "\n" | "\r\n" => {
                    out.push('\n');
                    (column, line_start) = (0, out.len());
                }
                "\r" => {
                    out.truncate(line_start);
                    column = 0;
                }
                "\t" => {
                    let stop = self.tab.max(1);
                    let gap = stop - column % stop;
                    out.extend(std::iter::repeat_n(' ', gap));
                    column += gap;
                }
                _ => {
                    let from = out.len();
                    self.push_grapheme(grapheme, column == 0, &mut out);
                    column += width(&out[from..]);
                }
            }
        }
        Cow::Owned(out)
    }

    /// First pass: escape sequences, control and invisible characters. `\r` stays only where it overwrites.
    fn strip(self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        let mut open = Open::default();
        while let Some(c) = rest.chars().next() {
            // What a user decides upon loses nothing: a shell runs what stands in an escape sequence.
            if !self.reveal
                && let Some(length) = sequence_length(rest, text.len() - rest.len(), &mut open)
            {
                rest = &rest[length..];
                continue;
            }
            rest = &rest[c.len_utf8()..];
            match c {
                '\n' | '\t' => out.push(c),
                '\r' if rest.starts_with('\n') => {}
                '\r' if self.overwrite => {
                    // `\r\r\n` ends a line; it does not erase one.
                    if !rest.trim_start_matches('\r').starts_with('\n') && !rest.trim_start_matches('\r').is_empty() {
                        out.push('\r');
                    }
                }
                '\0'..='\x1f' => out.extend(char::from_u32(0x2400 + c as u32)),
                '\x7f' => out.push('␡'),
                '\u{2028}' | '\u{2029}' => out.push('␤'),
                '\u{80}'..='\u{9f}' => push_code(c, &mut out),
                _ if is_bidi(c) => push_code(c, &mut out),
                // A joiner within a cluster is needed until the cluster has been reduced to its first emoji.
                '\u{200d}' if !self.reveal => out.push(c),
                _ if is_invisible(c) => {
                    if self.reveal {
                        push_code(c, &mut out);
                    }
                }
                _ => out.push(c),
            }
        }
        out
    }

    /// Second pass: what the canvas cannot hold in one cell is reduced to what it can.
    fn push_grapheme(self, grapheme: &str, at_start: bool, out: &mut String) {
        let mut chars = grapheme.chars();
        let Some(first) = chars.next() else { return };
        if is_pictograph(first) && grapheme.contains(|c| c == '\u{200d}' || is_skin_tone(c)) {
            out.push(first);
            if chars.next() == Some('\u{fe0f}') {
                out.push('\u{fe0f}');
            }
            return;
        }
        let mut bare = at_start;
        for c in grapheme.chars().filter(|c| *c != '\u{200d}') {
            // A mark without a base would be put on whatever stands to its left on the screen.
            if bare && is_zero_width(c) {
                out.push('◌');
            }
            bare = false;
            out.push(if is_skin_tone(c) { '▪' } else { c });
        }
    }
}

fn is_skin_tone(c: char) -> bool {
    ('\u{1f3fb}'..='\u{1f3ff}').contains(&c)
}

/// Up to which offset string sequences are known to have no end: without it, a text full of beginnings
/// would be read to its end for each of them.
#[derive(Default)]
struct Open {
    osc: usize,
    other: usize,
}

/// Bytes of the complete terminal sequence at the start of `text`, which is `offset` bytes into the whole;
/// `None` where no sequence begins or its end is missing.
fn sequence_length(text: &str, offset: usize, open: &mut Open) -> Option<usize> {
    let mut chars = text.char_indices();
    let (_, first) = chars.next()?;
    let kind = match first {
        '\x1b' => chars.next()?.1,
        '\u{9b}' => '[',
        '\u{9d}' => ']',
        '\u{90}' => 'P',
        '\u{98}' => 'X',
        '\u{9e}' => '^',
        '\u{9f}' => '_',
        _ => return None,
    };
    match kind {
        '[' => {
            for (at, c) in chars {
                match c {
                    ' '..='?' => {}
                    '@'..='~' => return Some(at + 1),
                    _ => return None,
                }
            }
            None
        }
        ']' | 'P' | 'X' | '^' | '_' => {
            let known = if kind == ']' { &mut open.osc } else { &mut open.other };
            if offset < *known {
                return None;
            }
            let mut escape = false;
            *known = offset + text.len();
            for (at, c) in chars {
                match c {
                    '\x07' if kind == ']' => return ended(known, at + 1),
                    '\u{9c}' => return ended(known, at + c.len_utf8()),
                    '\\' if escape => return ended(known, at + 1),
                    // An open string must not swallow the lines after it.
                    '\n' | '\r' => {
                        *known = offset + at;
                        return None;
                    }
                    _ => {}
                }
                escape = c == '\x1b';
            }
            None
        }
        ' '..='/' => chars.find(|(_, c)| !(' '..='/').contains(c)).filter(|(_, c)| ('0'..='~').contains(c)).map(|(at, _)| at + 1),
        '0'..='~' => Some(2),
        _ => None,
    }
}

fn ended(known: &mut usize, length: usize) -> Option<usize> {
    *known = 0;
    Some(length)
}

fn push_code(c: char, out: &mut String) {
    out.push_str(&format!("<U+{:04X}>", c as u32));
}

fn is_bidi(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200d}'
        | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0e}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

fn is_pictograph(c: char) -> bool {
    matches!(c, '\u{a9}' | '\u{ae}' | '\u{203c}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}') && !is_skin_tone(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_executable_is_left() {
        for (from, to) in [
            ("a\x1b[31mred\x1b[0m", "ared"),
            ("\x1b]0;title\x07x", "x"),
            ("\x1b]8;;http://a\x1b\\l\x1b]8;;\x1b\\", "l"),
            // Taking out the inner sequence must not leave the outer one.
            ("\x1b\x1b[0m[2J", "␛[2J"),
            ("\x1b]0;open", "␛]0;open"),
            ("\u{9d}0;open\nnext", "<U+009D>0;open\nnext"),
            ("\u{9b}31mred", "red"),
            ("\x1bP+q\x1b\\z", "z"),
            ("\x1b(Bx", "x"),
            ("bell\x07 back\x08 del\x7f nul\0", "bell␇ back␈ del␡ nul␀"),
            ("lone\x1b", "lone␛"),
            ("a\r\nb\rc", "a\nb␍c"),
            ("\tx\ty", "    x   y"),
            ("\u{202e}evil", "<U+202E>evil"),
            ("ze\u{200b}ro\u{feff}", "zero"),
        ] {
            assert_eq!(sanitize(from), to, "{from:?}");
        }
        assert_eq!(reveal("ze\u{200b}ro"), "ze<U+200B>ro");
        assert_eq!(sanitize_output("10%\r100%\r\nok\r\r\n"), "100%\nok\n");
        assert_eq!(sanitize_output("a\r\x1b[K\nb"), "a\nb");
        assert_eq!(one_line("a\nb\n"), "a⏎b");
    }

    #[test]
    fn clusters_shrink_to_their_first_emoji() {
        for (from, to) in [
            ("👨\u{200d}👩\u{200d}👧|", "👨|"),
            ("👍🏽|", "👍|"),
            ("❤\u{fe0f}\u{200d}🔥|", "❤\u{fe0f}|"),
            ("🇩🇪|", "🇩🇪|"),
            ("e\u{301}|", "e\u{301}|"),
            ("\u{301}x", "◌\u{301}x"),
            ("🏽 🏽", "▪ ▪"),
        ] {
            assert_eq!(sanitize(from), to, "{from:?}");
        }
    }

    fn hostile() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            any::<char>().prop_map(String::from),
            proptest::sample::select(vec![
                "\x1b", "[", "]", "2J", "\x07", "\u{9b}", "\u{9d}", "\u{200d}", "👩", "🏽", "\u{fe0f}", "\u{301}", "\t", "\r", "\n", "ab",
                "日"
            ])
            .prop_map(String::from),
        ];
        proptest::collection::vec(piece, 0..24).prop_map(|v| v.concat())
    }

    proptest! {
        #[test]
        fn cleaned_text_is_clean_and_stays_so(text in hostile(), tab in 0usize..9, reveal: bool, overwrite: bool) {
            let clean = Clean { tab, reveal, overwrite };
            let once = clean.apply(&text).into_owned();
            prop_assert!(once.chars().all(|c| c == '\n' || !c.is_control()), "{once:?}");
            prop_assert!(!once.chars().any(|c| is_bidi(c) || is_invisible(c)), "{once:?}");
            let twice = clean.apply(&once).into_owned();
            prop_assert_eq!(&twice, &once);
        }
    }
}
