//! Secrets in command lines: a shell must take one as it is, and nothing in it for a command.
//!
//! Whoever wrote the file that a secret is from may have put anything in it, and the model that copies its placeholder can't see that.
//! So it goes in only where it is inert: as a plain word, or within quotes that hold it. Where the quotes can't be told for certain,
//! because more than plain quoting is around, the call fails and says how to write it.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Single,
    Double,
}

/// What of a command line has been read: which quotes are open.
pub struct Quoting {
    open: Quotes,
    /// Something was in it that has rules of its own: here-documents, substitutions, ANSI quotes.
    strange: bool,
    escaped: bool,
    word: bool,
    comment: bool,
    last: char,
}

impl Quoting {
    pub fn new() -> Quoting {
        Quoting { open: Quotes::None, strange: false, escaped: false, word: false, comment: false, last: ' ' }
    }

    pub fn read(&mut self, text: &str) {
        for c in text.chars() {
            self.one(c);
            self.last = c;
        }
    }

    fn one(&mut self, c: char) {
        let escaped = std::mem::take(&mut self.escaped);
        if self.comment {
            self.comment = c != '\n';
            return;
        }
        match (self.open, c) {
            (Quotes::Single, '\'') => self.open = Quotes::None,
            (Quotes::Single, _) => {}
            _ if escaped => self.word = true,
            (_, '\\') => self.escaped = true,
            (_, '`') => self.strange = true,
            (_, '(' | '{') if self.last == '$' => self.strange = true,
            (Quotes::Double, '"') => self.open = Quotes::None,
            (Quotes::Double, _) => {}
            (Quotes::None, '\'' | '"') => {
                self.strange |= self.last == '$';
                (self.open, self.word) = (if c == '"' { Quotes::Double } else { Quotes::Single }, true);
            }
            (Quotes::None, '<') if self.last == '<' => self.strange = true,
            (Quotes::None, '#') if !self.word => self.comment = true,
            (Quotes::None, c) => self.word = !(c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(' | ')' | '<' | '>')),
        }
    }

    /// How the secret is written here so that it is what it is, if it can be.
    pub fn written(&mut self, secret: &str) -> Option<String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,^".contains(c);
        let written = if self.comment {
            None
        } else if secret.chars().all(plain) {
            Some(secret.to_owned())
        } else if self.strange || self.escaped || secret.contains('\0') {
            None
        } else {
            match self.open {
                // `fish` takes these for escapes, also within single quotes.
                Quotes::Single if secret.ends_with('\\') || secret.contains(r"\\") || secret.contains(r"\'") => None,
                Quotes::Single => Some(secret.replace('\'', r"'\''")),
                Quotes::Double if !secret.contains(['$', '`', '"', '\\', '!']) => Some(secret.to_owned()),
                _ => None,
            }
        };
        (self.word, self.escaped, self.last) = (true, false, ' ');
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `@` is where the secret goes.
    fn with(command: &str, secret: &str) -> Option<String> {
        let (mut quoting, mut written) = (Quoting::new(), String::new());
        for (n, part) in command.split('@').enumerate() {
            if n > 0 {
                written += &quoting.written(secret)?;
            }
            quoting.read(part);
            written += part;
        }
        Some(written)
    }

    #[test]
    fn a_plain_word_goes_anywhere_and_anything_else_only_within_quotes() {
        for command in ["echo @", "echo '@'", "echo \"@\"", "x=$(echo @) cat <<E\n@\nE"] {
            assert_eq!(with(command, "a1-b.c/d=").unwrap(), command.replace('@', "a1-b.c/d="));
        }
        assert_eq!(with("echo '@' \"x\" '@'", "a&b'c").unwrap(), r"echo 'a&b'\''c' 'x' 'a&b'\''c'".replace("'x'", "\"x\""));
        assert_eq!(with("echo \"@\" # it's\necho '@'", "a&b").unwrap(), "echo \"a&b\" # it's\necho 'a&b'");
        assert_eq!(with(r"echo it\'s '@'", "a;b").unwrap(), r"echo it\'s 'a;b'");
        assert_eq!(with("echo x#'@'", "a;b").unwrap(), "echo x#'a;b'");
    }

    #[test]
    fn where_a_shell_would_read_it_or_that_is_not_certain_it_does_not_go_in() {
        for command in [
            "echo @",
            "echo 'x'@",
            r"echo \'@\'",
            r#"echo "\"@"#,
            "# '@'",
            "# don't\necho @ # '",
            "cat <<'E'\nit's @ '\nE",
            "echo $'it\\'@'",
            "echo \"$(echo '@')\"",
            "echo `echo '@'`",
            "echo \"${x:-'@'}\"",
            "bash -c \"echo @\" '",
        ] {
            assert_eq!(with(command, "a;touch b;$(c)"), None, "{command}");
        }
        assert_eq!(with("echo \"@\"", "a$(b)"), None);
        // Not every shell reads these alike.
        for secret in [r"a\", r"a\';touch x;'", r"a\\b"] {
            assert_eq!(with("echo '@'", secret), None, "{secret}");
        }
    }

    /// Real shells say what they make of it.
    #[cfg(unix)]
    #[test]
    fn a_shell_gets_the_very_secret() {
        for secret in ["a'b", "$(touch x)`touch y`;\"'\\!", "a b\nc", "it's \"q\" $HOME \\x", "''"] {
            let line = with("printf %s '@'", secret).unwrap();
            assert_eq!(super::super::tests::said(&line), secret, "{line}");
        }
        for secret in ["a&b;c|d<e>(f)", "a b'c", "*?[x]~#"] {
            let line = with("printf %s \"@\"", secret).unwrap();
            assert_eq!(super::super::tests::said(&line), secret, "{line}");
        }
    }
}
