//! Secrets that are known by the name that they are given: `password = "…"`, `API_KEY=…`, `"token": "…"`, `--token …`, `<secret>…`.
//!
//! The name has to end in a word for a secret, so that `token_type`, `secretName` and `passwordField` are none; and the value has to
//! look like one, which says less where it stands in code (`password: String`, `token = next()`) than in a file of settings.

use super::{find::Span, made_up::is_made_up};
use aho_corasick::AhoCorasick;
use std::{ops::Range, sync::LazyLock};

/// The first ones are what people think of themselves.
const WORDS: [&str; 29] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "_pass",
    "-pass",
    "passcode",
    "secret",
    "token",
    "credential",
    "credentials",
    "apikey",
    "api_key",
    "api-key",
    "accesskey",
    "access_key",
    "access-key",
    "privatekey",
    "private_key",
    "private-key",
    "authkey",
    "auth_key",
    "signing_key",
    "encryption_key",
    "master_key",
    "account_key",
    "accountkey",
    "app_key",
    "subscription-key",
];
const PASSWORDS: usize = 7;
/// What may follow the word within the name.
const ENDS: [&str; 13] = [
    "key",
    "_key",
    "-key",
    "keybase",
    "_key_base",
    "accesskey",
    "_access_key",
    "_value",
    "_dev",
    "_test",
    "_prod",
    "_staging",
    "_production",
];
/// Names whose value is no secret although they end in such a word.
const OTHERS: [&str; 16] = [
    "page",
    "next",
    "eos",
    "bos",
    "pad",
    "unk",
    "sep",
    "cls",
    "mask",
    "stop",
    "cancel",
    "cancellation",
    "continuation",
    "special",
    "start",
    "end",
];
const LONGEST_NAME: usize = 64;
const LONGEST_VALUE: usize = 4096;

static SEARCH: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::builder().ascii_case_insensitive(true).build(WORDS).ok());

/// How the value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// In quotes.
    Quoted,
    /// A line of a file of settings, or a variable of a shell: nothing but a value can stand there.
    Settings,
    /// Anything else; it may be code.
    Bare,
}

pub fn find(text: &str, spans: &mut Vec<Span>) {
    let Some(search) = &*SEARCH else { return };
    let mut done = 0;
    for found in search.find_overlapping_iter(text) {
        if found.start() < done {
            continue;
        }
        let password = found.pattern().as_usize() < PASSWORDS;
        if let Some(at) = assigned(text, found.range(), password) {
            done = at.end;
            spans.push(Span::new(at, if password { "password" } else { "secret value" }));
        }
    }
}

fn assigned(text: &str, word: Range<usize>, password: bool) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let named = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let before = bytes[..word.start].iter().rev().take(LONGEST_NAME).take_while(|b| named(b)).count();
    let start = word.start - before;
    let tail = bytes[word.end..].iter().take(20).take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')).count();
    let end = word.end + tail;
    let ending = text[word.end..end].to_ascii_lowercase();
    let numbered = ending.trim_start_matches(['_', '-']).bytes().all(|b| b.is_ascii_digit());
    if !numbered && !ENDS.contains(&ending.as_str()) {
        return None;
    }
    let name = text.get(start..end)?;
    let first = name[..word.start - start].to_ascii_lowercase();
    if OTHERS.contains(&first.trim_matches(['_', '-', '.'])) {
        return None;
    }
    let mut at = end + bytes[end..].iter().take(4).take_while(|b| matches!(b, b'"' | b'\'' | b'\\' | b']' | b'`')).count();
    let closed = at;
    at = blank(bytes, at);
    let (operator, spaced) = match &bytes[at..] {
        [b'=', b'=' | b'~', ..] | [b':', b':', ..] => return None,
        [b':', b'=', ..] | [b'=', b'>', ..] => (2, true),
        [b'=', ..] => (1, at > closed),
        [b':', ..] => (1, true),
        // `<password>…</password>`
        [b'>', ..] if start > 0 && bytes[start - 1] == b'<' => (1, false),
        // `--password …`
        [b, ..] if at > closed && name.starts_with("--") && *b != b'-' => (0, true),
        _ => return None,
    };
    let colon = bytes.get(at) == Some(&b':');
    let value = blank(bytes, at + operator);
    let spaced = spaced || value > at + operator;
    let found = quoted(text, value).map(|at| (at, Style::Quoted)).or_else(|| {
        // In a file of settings all of the line is the value, whatever is in it.
        let line = value..value + bytes[value..].iter().take(LONGEST_VALUE + 1).take_while(|b| !b.is_ascii_whitespace()).count();
        let capitals = !name.bytes().any(|b| b.is_ascii_lowercase() || b == b'.') && !spaced;
        // As the arguments of a call end.
        let call = !capitals && matches!(bytes[..line.end].last(), Some(b',' | b')' | b':' | b';' | b'(' | b'[' | b'{'));
        if !spaced && !call && line.len() <= LONGEST_VALUE && at_line_start(bytes, start) && ends_line(bytes, line.end) {
            return (!line.is_empty()).then_some((line, Style::Settings));
        }
        let at = bare(bytes, value);
        (!at.is_empty()).then_some((at, if capitals { Style::Settings } else { Style::Bare }))
    });
    if let Some((at, style)) = &found
        && is_secret(text.get(at.clone())?, *style, password, bytes.get(at.end).filter(|_| spaced))
    {
        return Some(at.clone());
    }
    // `password: String = "…"`
    let typed = bytes.get(value..bytes.len().min(value + 40)).filter(|_| colon && !matches!(found, Some((_, Style::Quoted))))?;
    let equals = typed.iter().take_while(|b| **b != b'\n').position(|b| *b == b'=')?;
    let at = quoted(text, blank(bytes, value + equals + 1))?;
    is_secret(text.get(at.clone())?, Style::Quoted, password, None).then_some(at)
}

fn blank(bytes: &[u8], from: usize) -> usize {
    from + bytes.get(from..).unwrap_or_default().iter().take(8).take_while(|b| matches!(b, b' ' | b'\t')).count()
}

/// A file's line, whatever numbers, marks or names a tool has put before it.
fn at_line_start(bytes: &[u8], start: usize) -> bool {
    let line = bytes[..start].iter().rev().take(LONGEST_NAME).take_while(|b| **b != b'\n').count();
    let lead = &bytes[start - line..start];
    let lead = lead.strip_suffix(b"export ").unwrap_or(lead);
    lead.iter().all(|b| b.is_ascii_digit() || matches!(b, b' ' | b'\t' | b'+' | b'-' | b':' | b'|') || !b.is_ascii())
}

fn ends_line(bytes: &[u8], end: usize) -> bool {
    matches!(bytes.get(blank(bytes, end)), None | Some(b'\n' | b'\r' | b'#'))
}

/// What is between quotes, also where these are escaped because all of it is in quotes.
fn quoted(text: &str, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    // Prefixes of strings: `b"…"`, `r'…'`.
    let from = if matches!(bytes.get(from..from + 2), Some([b'b' | b'r' | b'u' | b'@', b'"' | b'\''])) { from + 1 } else { from };
    let escapes = bytes.get(from..)?.iter().take(3).take_while(|b| **b == b'\\').count();
    let quote = *bytes.get(from + escapes).filter(|b| matches!(b, b'"' | b'\'' | b'`'))?;
    let begin = from + escapes + 1;
    let mut at = begin;
    while at < bytes.len().min(begin + LONGEST_VALUE) {
        match bytes[at] {
            b'\n' => return None,
            b'\\' => {
                let run = bytes[at..].iter().take(8).take_while(|b| **b == b'\\').count();
                if run == escapes && bytes.get(at + run) == Some(&quote) {
                    return Some(begin..at);
                }
                at += run + usize::from(run % 2 == 1);
            }
            b if b == quote && escapes == 0 => return Some(begin..at),
            // The quotes around all of it.
            b if b == quote => return None,
            _ => at += 1,
        }
    }
    None
}

fn bare(bytes: &[u8], from: usize) -> Range<usize> {
    let ends = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`' | b',' | b';' | b'&' | b'<' | b'|');
    let length = bytes.get(from..).unwrap_or_default().iter().take(LONGEST_VALUE + 1).take_while(|b| !ends(b)).count();
    // What is left of a list, a call, an escaped line break.
    let mut end = from + if length > LONGEST_VALUE { 0 } else { length };
    if let Some(cut) = bytes[from..end].windows(2).position(|pair| matches!(pair, b"\\n" | b"\\r")) {
        end = from + cut;
    }
    while end > from && matches!(bytes[end - 1], b')' | b']' | b'}' | b'\\') {
        end -= 1;
    }
    from..end
}

fn is_secret(value: &str, style: Style, password: bool, after: Option<&u8>) -> bool {
    let count = |is: fn(&u8) -> bool| value.as_bytes().iter().filter(|b| is(b)).count();
    let (digits, letters) = (count(u8::is_ascii_digit), count(u8::is_ascii_alphabetic));
    let special = value.len() - digits - letters - count(|b| matches!(b, b'_' | b'-' | b'.'));
    if value.len() < 6 || value.contains(char::is_whitespace) || is_made_up(value) || is_reference(value) {
        return false;
    }
    if letters == 0 {
        // A number is a password at the most.
        return special > 0 && digits > 0 || password && digits == value.len() && style != Style::Bare;
    }
    let lower = value.to_ascii_lowercase();
    let named = ["token", "secret", "password", "passwd", "credential", "api_key", "apikey"].iter().any(|word| lower.contains(word));
    if digits == 0 && special == 0 {
        // Words: in settings a password may be one, elsewhere it is more likely a name or a label.
        let plain = letters == value.len();
        let mixed = value.bytes().any(|b| b.is_ascii_lowercase()) && value.bytes().any(|b| b.is_ascii_uppercase());
        return match style {
            Style::Settings => plain,
            Style::Quoted => plain && (password && !mixed && letters >= 12 || mixed && letters >= 24),
            Style::Bare => plain && mixed && !named && letters >= 32,
        };
    }
    if named && digits + special <= 2 {
        return false;
    }
    match style {
        Style::Settings => true,
        Style::Quoted => !is_name(value) && !value.contains("://") && !value.starts_with(['/', '.', '~', '#']),
        // In code this would be a path, a call, an index, a type.
        Style::Bare => {
            let code = |b: u8| matches!(b, b'(' | b'[' | b'{' | b')' | b']' | b'}' | b'>' | b'*' | b'?');
            !value.bytes().any(code)
                && !value.contains("::")
                && !value.contains("->")
                && !value.contains("://")
                && !value.starts_with(['/', '.', '~', '&', '!', '|', '#', '@'])
                && !is_name(value)
                && digits > 0
                && !lower.starts_with("0x")
                && !(matches!(after, Some(b',' | b';')) && is_identifier(value))
        }
    }
}

/// Something that has the secret somewhere else: a variable, a template, a program.
fn is_reference(value: &str) -> bool {
    let variable = value.strip_prefix('$').is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'));
    variable
        || value.starts_with(['`', '*', '%'])
        || ["${", "$(", "{{", "}}", "<%", "#{", "!Ref", "!ref", "secretKeyRef"].iter().any(|part| value.contains(part))
        || value.starts_with('{') && value.ends_with('}')
        || ["[^", "\\w", "\\d", "\\s", ".*"].iter().any(|part| value.contains(part))
        || value.contains('(') && value.ends_with([')', ';', ','])
}

/// Words with something between them, and hardly a digit: `db-password-v2`, `config.auth.token1`.
fn is_name(value: &str) -> bool {
    let parts: Vec<&str> = value.split(['-', '_', '.', ':', '/']).collect();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let plain = value.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b':' | b'/'));
    let dotted =
        value.contains('.') && parts.iter().all(|part| part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && runs(part) <= 1);
    plain && parts.len() > 1 && (digits <= 2 && parts.iter().all(|part| part.len() <= 16) || dotted)
}

/// A type or a constant, with a number in it at the most.
fn is_identifier(value: &str) -> bool {
    value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') && value.starts_with(|c: char| !c.is_ascii_digit()) && runs(value) <= 1
}

/// How often digits begin in it.
fn runs(part: &str) -> usize {
    let digit = |at: usize| part.as_bytes()[at].is_ascii_digit();
    (0..part.len()).filter(|at| digit(*at) && (*at == 0 || !digit(at - 1))).count()
}
