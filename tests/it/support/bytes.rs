//! What a program wrote to its terminal, taken apart: which sequences, and which modes are left switched on.

use std::collections::BTreeSet;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// Printable text.
    Text(String),
    /// CR, LF and whatever other single control character.
    Control(char),
    /// Parameters and final character.
    Csi(String, char),
    Osc(String),
    /// DCS, APC, PM, SOS, or a two-character escape.
    Escape(String),
}

pub fn tokens(raw: &[u8]) -> Vec<Token> {
    let text = String::from_utf8_lossy(raw);
    let mut chars = text.chars().peekable();
    let mut out: Vec<Token> = vec![];
    while let Some(c) = chars.next() {
        if c != '\x1b' {
            match (c.is_control(), out.last_mut()) {
                (true, _) => out.push(Token::Control(c)),
                (false, Some(Token::Text(text))) => text.push(c),
                (false, _) => out.push(Token::Text(c.into())),
            }
            continue;
        }
        match chars.next() {
            Some('[') => {
                let mut parameters = String::new();
                let end = loop {
                    match chars.next() {
                        Some(c @ '\x40'..='\x7e') => break c,
                        Some(c) => parameters.push(c),
                        None => break '\0',
                    }
                };
                out.push(Token::Csi(parameters, end));
            }
            Some(kind @ (']' | 'P' | '_' | '^' | 'X')) => {
                let mut text = String::new();
                while let Some(c) = chars.next() {
                    if c == '\x07' || (c == '\x1b' && chars.next_if_eq(&'\\').is_some()) {
                        break;
                    }
                    text.push(c);
                }
                out.push(if kind == ']' { Token::Osc(text) } else { Token::Escape(format!("{kind}{text}")) });
            }
            other => out.push(Token::Escape(other.map_or(String::new(), String::from))),
        }
    }
    out
}

/// Everything but what this program is known to write: colours, cursor moves, erasing of rows, its own modes, links.
pub fn strange(raw: &[u8]) -> Vec<Token> {
    let own_mode = |p: &str| matches!(p, "?7" | "?25" | "?1004" | "?2004" | "?2026");
    let usual = |token: &Token| match token {
        Token::Text(_) | Token::Control('\r' | '\n') => true,
        Token::Csi(p, 'm' | 'K' | 'A' | 'B' | 'G') => p.chars().all(|c| c.is_ascii_digit() || matches!(c, ';' | ':')),
        // From the cursor down, never the whole screen.
        Token::Csi(p, 'J') => p.is_empty(),
        Token::Csi(p, 'h' | 'l') => own_mode(p),
        Token::Csi(p, 'u') => p.starts_with(['>', '<']),
        // The title is kept, set and given back; the background is asked for once.
        Token::Csi(p, 't') => matches!(p.as_str(), "22;2" | "23;2"),
        Token::Csi(p, 'c') => p.is_empty(),
        // Where the cursor is.
        Token::Csi(p, 'n') => p == "6",
        Token::Osc(text) => text.starts_with("8;") || text.starts_with("2;backstitch · ") || text == "11;?",
        _ => false,
    };
    tokens(raw).into_iter().filter(|token| !usual(token)).collect()
}

/// The modes that were switched on and not off again; the cursor and the breaking of long rows, which are on from the start, if
/// they are off.
pub fn modes_left_on(raw: &[u8]) -> BTreeSet<String> {
    let mut on = BTreeSet::new();
    let mut keyboard = 0;
    for token in tokens(raw) {
        match token {
            Token::Csi(p, 'h') if p == "?25" => drop(on.remove("hidden cursor")),
            Token::Csi(p, 'l') if p == "?25" => drop(on.insert("hidden cursor".into())),
            Token::Csi(p, 'h') if p == "?7" => drop(on.remove("no wrapping")),
            Token::Csi(p, 'l') if p == "?7" => drop(on.insert("no wrapping".into())),
            Token::Csi(p, 'h') => drop(on.insert(p)),
            Token::Csi(p, 'l') => drop(on.remove(&p)),
            Token::Csi(p, 'u') if p.starts_with('>') => keyboard += 1,
            Token::Csi(p, 'u') if p.starts_with('<') => keyboard -= 1,
            _ => {}
        }
    }
    if keyboard != 0 {
        on.insert(format!("keyboard flags pushed {keyboard} times"));
    }
    on
}

#[test]
fn what_is_left_on_and_what_is_strange_is_found() {
    let raw = b"\x1b[?2004h\x1b[>1u\x1b[?25lhi \x1b[1;31mred\x1b[0m\r\n\x1b[?25h\x1b[J\x1b[?7l\x1b]0;title\x07\x1b[2J\x1b[?1049h\x1b]8;;http://x\x1b\\l\x1b]8;;\x1b\\";
    let left: Vec<String> = modes_left_on(raw).into_iter().collect();
    assert_eq!(left, ["?1049", "?2004", "keyboard flags pushed 1 times", "no wrapping"]);
    assert_eq!(strange(raw), [Token::Osc("0;title".into()), Token::Csi("2".into(), 'J'), Token::Csi("?1049".into(), 'h')]);
    assert_eq!(strange("a\u{9b}31m\u{8}b\x1bPq\x1b\\".as_bytes()).len(), 3);
}
