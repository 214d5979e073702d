//! Keys as data: a chord is a key with its modifiers, a key is one chord or two in sequence.
//!
//! Invariants:
//! - parsing what was printed gives the same key;
//! - one spelling per key: letters are lower case with `shift` apart, `shift` is dropped from other
//!   characters (`?`, not `shift+/`), so that terminals with and without the kitty protocol agree.

use iocraft::{KeyCode, KeyModifiers};
use serde::Deserialize;
use std::fmt;
use std::str::FromStr;

/// A key pressed with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Chord {
    pub code: KeyCode,
    pub ctrl: bool,
    pub alt: bool,
    pub shift: bool,
}

/// What a binding listens to: a chord, or two one after the other (`esc esc`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Key {
    pub first: Chord,
    pub second: Option<Chord>,
}

const NAMED: [(&str, KeyCode); 20] = [
    ("enter", KeyCode::Enter),
    ("esc", KeyCode::Esc),
    ("tab", KeyCode::Tab),
    ("space", KeyCode::Char(' ')),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pageup", KeyCode::PageUp),
    ("pagedown", KeyCode::PageDown),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    // Also understood, printed by the first name above or the character itself.
    ("return", KeyCode::Enter),
    ("escape", KeyCode::Esc),
    ("del", KeyCode::Delete),
    ("plus", KeyCode::Char('+')),
    ("minus", KeyCode::Char('-')),
];

/// Names of keys that are no characters, for whoever wants to say which there are.
pub fn names() -> impl Iterator<Item = &'static str> {
    NAMED.into_iter().map(|(name, _)| name)
}

impl Chord {
    /// From what iocraft reports; modifiers other than ctrl, alt and shift are ignored.
    pub fn new(code: KeyCode, modifiers: KeyModifiers) -> Self {
        Self {
            code,
            ctrl: modifiers.contains(KeyModifiers::CONTROL),
            alt: modifiers.contains(KeyModifiers::ALT),
            shift: modifiers.contains(KeyModifiers::SHIFT),
        }
        .normal()
    }

    /// A key without modifiers.
    pub fn plain(code: KeyCode) -> Self {
        Self { code, ctrl: false, alt: false, shift: false }.normal()
    }

    /// The text that this chord types, if it types any: a character without ctrl or alt.
    pub fn typed(&self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if !self.ctrl && !self.alt && !c.is_control() => {
                // Upper case of a few letters is several characters; those are typed as they came.
                let mut upper = c.to_uppercase();
                Some(if self.shift && upper.len() == 1 { upper.next().unwrap_or(c) } else { c })
            }
            _ => None,
        }
    }

    fn normal(mut self) -> Self {
        match self.code {
            KeyCode::BackTab => (self.code, self.shift) = (KeyCode::Tab, true),
            KeyCode::Char(c) => {
                let mut lower = c.to_lowercase();
                let single = lower.len() == 1 && lower.next().is_some_and(|l| l != c && l.to_uppercase().eq([c]));
                if single {
                    self.code = KeyCode::Char(c.to_lowercase().next().unwrap_or(c));
                    self.shift = true;
                } else if !(c.to_uppercase().len() == 1 && c.to_uppercase().next() != Some(c)) && c != ' ' {
                    self.shift = false;
                }
            }
            _ => {}
        }
        self
    }
}

impl FromStr for Chord {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut chord = Self { code: KeyCode::Null, ctrl: false, alt: false, shift: false };
        let mut rest = text;
        while let Some((modifier, tail)) = rest.split_once('+').filter(|(m, tail)| !m.is_empty() && !tail.is_empty()) {
            match modifier.to_ascii_lowercase().as_str() {
                "ctrl" | "control" => chord.ctrl = true,
                "alt" | "option" | "meta" => chord.alt = true,
                "shift" => chord.shift = true,
                other => return Err(format!("`{other}` in `{text}` is no modifier (ctrl, alt, shift)")),
            }
            rest = tail;
        }
        let mut chars = rest.chars();
        let lower = rest.to_ascii_lowercase();
        chord.code = match (chars.next(), chars.next()) {
            (Some(c), None) if !c.is_control() && c != ' ' => KeyCode::Char(c),
            _ if lower == "backtab" => KeyCode::BackTab,
            _ => match NAMED.iter().find(|(name, _)| *name == lower) {
                Some((_, code)) => *code,
                None => {
                    let number = lower.strip_prefix('f').and_then(|n| n.parse().ok()).filter(|n| (1..=24).contains(n));
                    KeyCode::F(number.ok_or_else(|| format!("`{rest}` in `{text}` is no key"))?)
                }
            },
        };
        Ok(chord.normal())
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (on, name) in [(self.ctrl, "ctrl+"), (self.alt, "alt+"), (self.shift, "shift+")] {
            if on {
                f.write_str(name)?;
            }
        }
        match self.code {
            KeyCode::F(n) => write!(f, "f{n}"),
            KeyCode::Char(c) if c != ' ' => write!(f, "{c}"),
            code => match NAMED.iter().find(|(_, known)| *known == code) {
                Some((name, _)) => f.write_str(name),
                None => write!(f, "{}", format!("{code:?}").to_lowercase()),
            },
        }
    }
}

impl FromStr for Key {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut chords = text.split_whitespace().map(Chord::from_str);
        let first = chords.next().ok_or("an empty key")??;
        let second = chords.next().transpose()?;
        if chords.next().is_some() {
            return Err(format!("`{text}` is more than two keys in sequence"));
        }
        Ok(Self { first, second })
    }
}

impl TryFrom<String> for Key {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Chord> for Key {
    fn from(first: Chord) -> Self {
        Self { first, second: None }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.first.fmt(f)?;
        match &self.second {
            Some(second) => write!(f, " {second}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parses_and_prints() {
        for (from, to) in [
            ("ctrl+j", "ctrl+j"),
            ("shift+tab", "shift+tab"),
            ("backtab", "shift+tab"),
            ("esc esc", "esc esc"),
            ("?", "?"),
            ("Enter", "enter"),
            ("space", "space"),
            ("ctrl+space", "ctrl+space"),
            ("alt+ctrl+x", "ctrl+alt+x"),
            ("A", "shift+a"),
            ("ctrl++", "ctrl++"),
            ("+", "+"),
            ("f5", "f5"),
            ("ctrl+shift+?", "ctrl+?"),
        ] {
            assert_eq!(from.parse::<Key>().map(|k| k.to_string()), Ok(to.to_owned()), "{from}");
        }
        for bad in ["", "hyper+x", "ctrl+", "esc esc esc", "f99", "nokey"] {
            assert!(bad.parse::<Key>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn both_protocols_give_one_chord() {
        let legacy = Chord::new(KeyCode::Char('A'), KeyModifiers::SHIFT);
        let kitty = Chord::new(KeyCode::Char('a'), KeyModifiers::SHIFT);
        assert_eq!((legacy, legacy.typed()), (kitty, Some('A')));
        assert_eq!(Chord::new(KeyCode::Char('?'), KeyModifiers::SHIFT), "?".parse().unwrap());
        assert_eq!(Chord::new(KeyCode::Char('ß'), KeyModifiers::empty()).typed(), Some('ß'));
        assert_eq!(Chord::new(KeyCode::Char('x'), KeyModifiers::CONTROL).typed(), None);
    }

    proptest! {
        #[test]
        fn typed_characters_arrive_as_typed(text in "[^\\pC]") {
            let c = text.chars().next().unwrap();
            prop_assert_eq!(Chord::plain(KeyCode::Char(c)).typed(), Some(c));
        }

        #[test]
        fn print_then_parse_is_the_same(text in " |[^\\pC\\s]", ctrl: bool, alt: bool, shift: bool) {
            let c = text.chars().next().unwrap();
            let chord = Chord { code: KeyCode::Char(c), ctrl, alt, shift }.normal();
            prop_assert_eq!(chord.to_string().parse::<Chord>(), Ok(chord));
        }
    }
}
