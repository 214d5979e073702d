//! Bytes from the terminal as events. Pure: the same bytes give the same events however they were cut.
//!
//! Understands legacy keys, the kitty protocol, xterm's modifyOtherKeys, SGR mouse reports and bracketed paste. What it doesn't
//! know is dropped whole, never typed into the prompt.

use super::answer::{Answer, answer, place};
use iocraft::{FullscreenMouseEvent, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEventKind, TerminalEvent};

const PASTE_END: &[u8] = b"\x1b[201~";
/// A sequence longer than this is no key: it is dropped, so that noise can't hold the keyboard.
const LONGEST: usize = 4096;

#[derive(Debug, Default)]
pub struct Decoder {
    buf: Vec<u8>,
    paste: Option<Vec<u8>>,
    /// What the terminal told; for whoever reads to take.
    pub answers: Vec<Answer>,
    /// How many places of the cursor the terminal still owes. They look like F3 with a modifier.
    pub places_owed: usize,
}

/// What the start of the buffer turned out to be: bytes taken, and the event if they make one.
enum Parsed {
    Incomplete,
    Taken(usize, Option<TerminalEvent>),
}

use Parsed::{Incomplete, Taken};

impl Decoder {
    pub fn feed(&mut self, bytes: &[u8], events: &mut Vec<TerminalEvent>) {
        self.buf.extend_from_slice(bytes);
        self.decode(events);
    }

    /// True while what has come could still be the start of a longer sequence, or the escape key alone.
    pub fn waits(&self) -> bool {
        !self.buf.is_empty() && self.paste.is_none()
    }

    /// Nothing more came in time: a lone escape is the key, the rest of an unfinished sequence is noise.
    pub fn flush(&mut self, events: &mut Vec<TerminalEvent>) {
        if self.paste.is_some() {
            return;
        }
        match self.buf.as_slice() {
            [0x1b] => events.push(key(KeyCode::Esc, KeyModifiers::NONE)),
            [0x1b, c @ (b'[' | b'O' | b']' | b'P' | b'_' | b'^')] => events.push(key(KeyCode::Char(*c as char), KeyModifiers::ALT)),
            _ => {}
        }
        self.buf.clear();
    }

    fn decode(&mut self, events: &mut Vec<TerminalEvent>) {
        let mut at = 0;
        while at < self.buf.len() {
            if let Some(paste) = &mut self.paste {
                let rest = &self.buf[at..];
                match find(rest, PASTE_END) {
                    Some(end) => {
                        paste.extend_from_slice(&rest[..end]);
                        events
                            .push(TerminalEvent::BracketedPaste(String::from_utf8_lossy(paste).replace("\r\n", "\n").replace('\r', "\n")));
                        self.paste = None;
                        at += end + PASTE_END.len();
                    }
                    None => {
                        // The end mark may be cut: its possible start stays in the buffer.
                        let keep = (1..PASTE_END.len()).rev().find(|n| rest.ends_with(&PASTE_END[..*n])).unwrap_or(0);
                        paste.extend_from_slice(&rest[..rest.len() - keep]);
                        at += rest.len() - keep;
                        break;
                    }
                }
                continue;
            }
            match parse(&self.buf[at..]) {
                Incomplete if self.buf.len() - at > LONGEST => at = self.buf.len(),
                Incomplete => break,
                Taken(n, event) => {
                    if self.buf[at..].starts_with(b"\x1b[200~") {
                        self.paste = Some(vec![]);
                    }
                    let place = Some(&self.buf[at..at + n]).filter(|_| self.places_owed > 0).and_then(place);
                    if let Some(place) = place {
                        self.places_owed -= 1;
                        self.answers.push(place);
                        at += n;
                        continue;
                    }
                    if event.is_none() {
                        self.answers.extend(answer(&self.buf[at..at + n]));
                    }
                    events.extend(event);
                    at += n;
                }
            }
        }
        self.buf.drain(..at);
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|w| w == needle)
}

fn key(code: KeyCode, modifiers: KeyModifiers) -> TerminalEvent {
    let mut event = KeyEvent::new(KeyEventKind::Press, code);
    event.modifiers = modifiers;
    TerminalEvent::Key(event)
}

fn parse(bytes: &[u8]) -> Parsed {
    match bytes {
        [] => Incomplete,
        [0x1b] => Incomplete,
        [0x1b, b'[', ..] => parse_csi(bytes),
        [0x1b, b'O', ..] => parse_ss3(bytes),
        [0x1b, b']' | b'P' | b'_' | b'^' | b'X', ..] => parse_string(bytes),
        // Two escapes: the first one stands alone, the second may begin a sequence.
        [0x1b, 0x1b, ..] => Taken(1, Some(key(KeyCode::Esc, KeyModifiers::NONE))),
        [0x1b, rest @ ..] => match parse_char(rest) {
            Taken(n, Some(TerminalEvent::Key(mut event))) => {
                event.modifiers |= KeyModifiers::ALT;
                Taken(n + 1, Some(TerminalEvent::Key(event)))
            }
            Taken(n, event) => Taken(n + 1, event),
            Incomplete => Incomplete,
        },
        _ => parse_char(bytes),
    }
}

fn parse_char(bytes: &[u8]) -> Parsed {
    let ctrl = |c: u8| key(KeyCode::Char(c as char), KeyModifiers::CONTROL);
    let event = match bytes[0] {
        b'\r' => key(KeyCode::Enter, KeyModifiers::NONE),
        b'\t' => key(KeyCode::Tab, KeyModifiers::NONE),
        0x7f => key(KeyCode::Backspace, KeyModifiers::NONE),
        0x08 => key(KeyCode::Backspace, KeyModifiers::CONTROL),
        0 => ctrl(b' '),
        c @ 1..=26 => ctrl(c - 1 + b'a'),
        c @ 0x1c..=0x1f => ctrl(c - 0x1c + b'\\'),
        c @ 0x20..=0x7e => key(KeyCode::Char(c as char), KeyModifiers::NONE),
        first => {
            let length = match first {
                0xc2..=0xdf => 2,
                0xe0..=0xef => 3,
                0xf0..=0xf4 => 4,
                _ => return Taken(1, None),
            };
            let have = &bytes[..length.min(bytes.len())];
            return match std::str::from_utf8(have) {
                Ok(text) => Taken(length, text.chars().next().map(|c| key(KeyCode::Char(c), KeyModifiers::NONE))),
                Err(e) if e.error_len().is_none() => Incomplete,
                Err(_) => Taken(1, None),
            };
        }
    };
    Taken(1, Some(event))
}

fn parse_ss3(bytes: &[u8]) -> Parsed {
    let Some(last) = bytes.get(2) else { return Incomplete };
    let code = match last {
        b'P'..=b'S' => KeyCode::F(last - b'P' + 1),
        b'M' => KeyCode::Enter,
        _ => match arrow(*last) {
            Some(code) => code,
            None => return Taken(3, None),
        },
    };
    Taken(3, Some(key(code, KeyModifiers::NONE)))
}

/// OSC, DCS and the like, up to BEL or ST: answers of the terminal, not keys.
fn parse_string(bytes: &[u8]) -> Parsed {
    for i in 2..bytes.len() {
        match bytes[i] {
            0x07 => return Taken(i + 1, None),
            b'\\' if bytes[i - 1] == 0x1b => return Taken(i + 1, None),
            _ => {}
        }
    }
    Incomplete
}

fn arrow(last: u8) -> Option<KeyCode> {
    Some(match last {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'H' => KeyCode::Home,
        b'F' => KeyCode::End,
        _ => return None,
    })
}

fn parse_csi(bytes: &[u8]) -> Parsed {
    let Some(end) = bytes[2..].iter().position(|b| (0x40..=0x7e).contains(b)) else {
        return Incomplete;
    };
    let (body, last, taken) = (&bytes[2..2 + end], bytes[2 + end], end + 3);
    let Ok(body) = std::str::from_utf8(body) else { return Taken(taken, None) };
    if let Some(report) = body.strip_prefix('<') {
        return Taken(taken, mouse(report, last));
    }
    if body.starts_with(['?', '>', '=']) {
        return Taken(taken, None);
    }
    let fields: Vec<&str> = body.split(';').collect();
    let number = |i: usize| fields.get(i).and_then(|f| f.split(':').next()).and_then(|f| f.parse::<u32>().ok());
    let (modifiers, kind) = modifiers(fields.get(1).copied().unwrap_or_default());
    let with = |code| Some(key_of_kind(code, modifiers, kind));
    let event = match last {
        b'Z' => Some(key(KeyCode::BackTab, KeyModifiers::SHIFT)),
        b'P' | b'Q' | b'S' => with(KeyCode::F(last - b'P' + 1)),
        // No place of the cursor is owed, so this is F3 with a modifier.
        b'R' if fields.len() == 2 && number(0) == Some(1) => with(KeyCode::F(3)),
        b'u' => number(0).and_then(|code| unicode_key(code, modifiers, kind)),
        b'~' => match number(0) {
            Some(27) => {
                let (modifiers, kind) = self::modifiers(fields.get(1).copied().unwrap_or_default());
                number(2).and_then(|code| unicode_key(code, modifiers, kind))
            }
            Some(n) => tilde(n).and_then(with),
            None => None,
        },
        _ => arrow(last).and_then(with),
    };
    Taken(taken, event)
}

fn tilde(n: u32) -> Option<KeyCode> {
    Some(match n {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => KeyCode::F(n as u8 - 10),
        17..=21 => KeyCode::F(n as u8 - 11),
        23..=26 => KeyCode::F(n as u8 - 12),
        28..=29 => KeyCode::F(n as u8 - 15),
        _ => return None,
    })
}

/// `modifiers[:kind]`, as one more than a bit set.
fn modifiers(field: &str) -> (KeyModifiers, KeyEventKind) {
    let mut parts = field.split(':');
    let bits = parts.next().and_then(|p| p.parse::<u16>().ok()).unwrap_or(1).saturating_sub(1);
    let mut modifiers = KeyModifiers::NONE;
    for (bit, modifier) in [(1, KeyModifiers::SHIFT), (2, KeyModifiers::ALT), (4, KeyModifiers::CONTROL), (8, KeyModifiers::SUPER)] {
        if bits & bit != 0 {
            modifiers |= modifier;
        }
    }
    let kind = match parts.next() {
        Some("2") => KeyEventKind::Repeat,
        Some("3") => KeyEventKind::Release,
        _ => KeyEventKind::Press,
    };
    (modifiers, kind)
}

fn key_of_kind(code: KeyCode, modifiers: KeyModifiers, kind: KeyEventKind) -> TerminalEvent {
    let mut event = KeyEvent::new(kind, code);
    event.modifiers = modifiers;
    TerminalEvent::Key(event)
}

/// A key given by its code point: kitty's protocol and modifyOtherKeys.
fn unicode_key(code: u32, modifiers: KeyModifiers, kind: KeyEventKind) -> Option<TerminalEvent> {
    let code = match code {
        9 if modifiers.contains(KeyModifiers::SHIFT) => KeyCode::BackTab,
        9 => KeyCode::Tab,
        13 | 57414 => KeyCode::Enter,
        27 => KeyCode::Esc,
        8 | 127 => KeyCode::Backspace,
        57399..=57408 => KeyCode::Char((b'0' + (code - 57399) as u8) as char),
        57409 => KeyCode::Char('.'),
        57410 => KeyCode::Char('/'),
        57411 => KeyCode::Char('*'),
        57412 => KeyCode::Char('-'),
        57413 => KeyCode::Char('+'),
        57417 => KeyCode::Left,
        57418 => KeyCode::Right,
        57419 => KeyCode::Up,
        57420 => KeyCode::Down,
        57421 => KeyCode::PageUp,
        57422 => KeyCode::PageDown,
        57423 => KeyCode::Home,
        57424 => KeyCode::End,
        57426 => KeyCode::Delete,
        // The other private codes are modifiers and media keys on their own.
        57344..=63743 => return None,
        _ => {
            let c = char::from_u32(code).filter(|c| !c.is_control())?;
            // Kitty names the unshifted key.
            let upper = modifiers.contains(KeyModifiers::SHIFT) && c.is_lowercase() && !modifiers.contains(KeyModifiers::CONTROL);
            KeyCode::Char(if upper { c.to_uppercase().next().unwrap_or(c) } else { c })
        }
    };
    Some(key_of_kind(code, modifiers, kind))
}

fn mouse(report: &str, last: u8) -> Option<TerminalEvent> {
    let mut numbers = report.split(';').map(|n| n.parse::<u16>().ok());
    let (button, column, row) = (numbers.next()??, numbers.next()??, numbers.next()??);
    let which = match button & 3 {
        0 => MouseButton::Left,
        1 => MouseButton::Middle,
        _ => MouseButton::Right,
    };
    let kind = match (button & 64 != 0, button & 32 != 0, last) {
        (true, _, _) => [MouseEventKind::ScrollUp, MouseEventKind::ScrollDown, MouseEventKind::ScrollLeft, MouseEventKind::ScrollRight]
            [usize::from(button & 3)],
        (_, true, _) if button & 3 == 3 => MouseEventKind::Moved,
        (_, true, _) => MouseEventKind::Drag(which),
        (_, _, b'M') => MouseEventKind::Down(which),
        _ => MouseEventKind::Up(which),
    };
    let mut event = FullscreenMouseEvent::new(kind, column.saturating_sub(1), row.saturating_sub(1));
    for (bit, modifier) in [(4, KeyModifiers::SHIFT), (8, KeyModifiers::ALT), (16, KeyModifiers::CONTROL)] {
        if button & bit != 0 {
            event.modifiers |= modifier;
        }
    }
    Some(TerminalEvent::FullscreenMouse(event))
}
