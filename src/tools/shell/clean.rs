//! Turns the bytes that a program writes for a terminal into plain lines: no escape sequences, and of a line that is
//! rewritten by `\r` only its last state. Bounded: a line without end is passed on in parts.

/// A line longer than this can't be rewritten any more.
const LONGEST: usize = 64 * 1024;

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After `\r`: `\n` ends the line, anything else begins it anew.
    Return,
    Escape,
    /// ESC and an intermediate byte: one more byte follows.
    Charset,
    Csi,
    /// OSC, DCS and the like, until BEL or ESC `\`.
    String,
    StringEscape,
}

#[derive(Debug, Default)]
pub struct Cleaner {
    state: State,
    line: Vec<u8>,
    /// How often a line was begun anew.
    restarts: u64,
}

impl Cleaner {
    /// The line that is not complete yet.
    pub fn line(&self) -> &[u8] {
        &self.line
    }

    pub fn restarts(&self) -> u64 {
        self.restarts
    }

    /// Appends complete lines to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let mut at = 0;
        while at < bytes.len() {
            if self.state == State::Text {
                let plain = bytes[at..].iter().position(|b| *b < 0x20 && *b != b'\t' || *b == 0x7F).unwrap_or(bytes.len() - at);
                self.line.extend_from_slice(&bytes[at..at + plain]);
                at += plain;
                if self.line.len() > LONGEST {
                    out.append(&mut self.line);
                }
                if at == bytes.len() {
                    break;
                }
            }
            self.control(bytes[at], out);
            at += 1;
        }
    }

    fn control(&mut self, byte: u8, out: &mut Vec<u8>) {
        use State::*;
        self.state = match (self.state, byte) {
            (Return, b'\r') => Return,
            (Text | Return, b'\n') => {
                out.append(&mut self.line);
                out.push(b'\n');
                Text
            }
            (Return, 0x1B) => {
                // Often only clears the rest of the line; then the new text overwrites the old all the same.
                self.begin_anew();
                Escape
            }
            (Return, byte) => {
                self.begin_anew();
                self.state = Text;
                return self.control(byte, out);
            }
            (Text, b'\r') => Return,
            (Text, 0x1B) => Escape,
            (Text, 0x08) => {
                while self.line.pop().is_some_and(|b| b & 0xC0 == 0x80) {}
                Text
            }
            (Text, byte) => {
                if byte >= 0x20 && byte != 0x7F || byte == b'\t' {
                    self.line.push(byte);
                }
                Text
            }
            (Escape, b'[') => Csi,
            (Escape, b']' | b'P' | b'X' | b'^' | b'_') => String,
            (Escape, b'(' | b')' | b'*' | b'+' | b'#' | b'%' | b' ') => Charset,
            (Escape, 0x1B) => Escape,
            (Escape | Charset, _) => Text,
            (Csi, 0x40..=0x7E) => Text,
            // A sequence that is broken off by a line end.
            (Csi | String | StringEscape, b'\n') => {
                self.state = Text;
                return self.control(byte, out);
            }
            (Csi, 0x1B) => Escape,
            (Csi, _) => Csi,
            (String, 0x07) => Text,
            (String, 0x1B) => StringEscape,
            (String, _) => String,
            (StringEscape, b'\\') => Text,
            (StringEscape, 0x1B) => StringEscape,
            (StringEscape, _) => String,
        };
    }

    fn begin_anew(&mut self) {
        self.line.clear();
        self.restarts += 1;
    }

    /// What is left when nothing more comes.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.line);
        self.state = State::Text;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(parts: &[&[u8]]) -> String {
        let (mut cleaner, mut out) = (Cleaner::default(), vec![]);
        for part in parts {
            cleaner.push(part, &mut out);
        }
        cleaner.finish(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn only_text_is_left() {
        for (raw, expected) in [
            (&b"a\r\nb\n"[..], "a\nb\n"),
            (b"10%\r50%\r100%\ndone", "100%\ndone"),
            (b"10%\r\x1b[K20%\x1b[0m\n", "20%\n"),
            (b"\x1b[1;31mred\x1b[0m \x1b(Bx", "red x"),
            (b"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b\x1bPq\x1b\\c", "abc"),
            (b"ab\x08c\x07\x00\td\x7f", "ac\td"),
            ("ü\x08x".as_bytes(), "x"),
            (b"\x1b]0;never ended\nnext", "\nnext"),
            (b"last\r", "last"),
            ("größer ✓\n".as_bytes(), "größer ✓\n"),
        ] {
            assert_eq!(clean(&[raw]), expected, "{}", raw.escape_ascii());
            let bytes: Vec<&[u8]> = raw.chunks(1).collect();
            assert_eq!(clean(&bytes), expected, "byte by byte: {}", raw.escape_ascii());
        }
    }
}
