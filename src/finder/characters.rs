//! Kinds of characters: what nucleo gives for one after another, and which of them a name consists of. Pure.

use nucleo_matcher::chars;

// What nucleo counts, with its configuration for paths.
pub const WORD_START: i32 = 8;
const NAME_START: i32 = 9;
const CAMEL: i32 = 5;

/// Classes of characters.
const SPACE: u8 = 0;
pub const OTHER: u8 = 1;
pub const SLASH: u8 = 2;
const LOWER: u8 = 3;
const UPPER: u8 = 4;
const LETTER: u8 = 5;
const DIGIT: u8 = 6;

pub const CLASS: [u8; 128] = {
    let mut classes = [OTHER; 128];
    let mut at = 0;
    while at < 128 {
        let byte = at as u8;
        classes[at] = match byte {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'/' => SLASH,
            _ if byte.is_ascii_whitespace() => SPACE,
            _ => OTHER,
        };
        at += 1;
    }
    classes
};

/// What a character is worth beyond [`MATCH`], by the class before it and its own.
pub const BONUS: [[i32; 8]; 8] = {
    let mut bonus = [[0; 8]; 8];
    let mut before = 0;
    while before < 7 {
        let mut own = 0;
        while own < 7 {
            let word = own > SLASH as usize;
            bonus[before][own] = match before as u8 {
                SPACE | OTHER if word => WORD_START,
                SLASH if word => NAME_START,
                LOWER if own == UPPER as usize => CAMEL,
                _ if before != DIGIT as usize && own == DIGIT as usize => CAMEL,
                _ if own == SPACE as usize || own == OTHER as usize => WORD_START,
                _ => 0,
            };
            own += 1;
        }
        before += 1;
    }
    bonus
};

/// What kind of character it is.
pub fn class(c: char) -> u8 {
    match c {
        _ if c.is_ascii() => CLASS[c as usize],
        _ if c.is_lowercase() => LOWER,
        _ if chars::is_upper_case(c) => UPPER,
        _ if c.is_numeric() => DIGIT,
        _ if c.is_alphabetic() => LETTER,
        _ if c.is_whitespace() => SPACE,
        _ => OTHER,
    }
}

/// A set of kinds of characters: what lacks some that a query needs can't match, and that is told by one comparison.
pub fn letters(name: &str) -> u32 {
    let of = |byte: u8| match byte {
        b'a'..=b'z' => 1 << (byte - b'a'),
        b'A'..=b'Z' => 1 << (byte - b'A'),
        b'0' | b'1' => 1 << 26,
        b'2'..=b'4' => 1 << 27,
        b'5'..=b'9' => 1 << 28,
        b'_' | b'-' => 1 << 29,
        b'.' => 1 << 30,
        // Others may be written in many ways: all letters are thought to be there.
        0x80.. => u32::MAX,
        // Everywhere.
        b'/' => 0,
        _ => 1 << 31,
    };
    name.bytes().fold(0, |all, byte| all | of(byte))
}
