//! **Pure**: names that a file system may take for one and the same.
//!
//! - Some know no difference between letters of either case, between composed and decomposed characters, or leave invisible ones out
//!   (the list is the one that git goes by). Whoever forbids or asks compares names like this; whoever allows never does.

use unicode_normalization::UnicodeNormalization;

/// The form that all names have in common that may be the same.
pub fn folded(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    // Capitals first: `ß`, `ſ` and `ς` have several small forms, or none of their own.
    let visible: String = name.nfd().filter(|c| !is_left_out(*c)).collect();
    visible.to_uppercase().to_lowercase().nfc().collect()
}

/// Is it the same text, but for how its characters are composed?
pub fn composes_alike(a: &str, b: &str) -> bool {
    a.nfc().eq(b.nfc())
}

fn is_left_out(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// May this name lead to the one that is meant (which is folded and begins with a dot) on Windows' file systems, which are mounted
/// elsewhere too: they leave blanks and dots at the end out, know short names, and streams of a file by a colon?
pub fn may_be(name: &str, meant: &str) -> bool {
    let name = folded(name);
    let name = name.split(':').next().unwrap_or_default().trim_end_matches([' ', '.']);
    let short = || name.split_once('~').is_some_and(|(start, n)| meant[1..].starts_with(start) && n.parse::<u8>().is_ok());
    name == meant || !name.is_empty() && short()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_may_be_one_fold_alike() {
        for (a, b) in [
            ("Über.txt", "u\u{308}ber.TXT"),
            (".g\u{200c}it", ".GIT"),
            ("\u{feff}.env", ".Env"),
            ("straße", "STRASSE"),
            ("ſecret", "SECRET"),
            ("\u{212a}ey", "key"),
            ("ΟΔΟΣ", "οδος"),
            ("ﬁle", "FILE"),
            ("\u{ac00}", "\u{1100}\u{1161}"),
        ] {
            assert_eq!(folded(a), folded(b), "{a:?} {b:?}");
            assert_eq!(folded(&folded(a)), folded(a));
        }
        assert_ne!(folded("uber"), folded("über"));
        assert!(composes_alike("ü", "u\u{308}") && !composes_alike("Ü", "ü"));
    }

    #[test]
    fn windows_names_of_git() {
        for name in [".git", ".GIT ", ".git...", "GIT~1", "git~2", ".git::$INDEX_ALLOCATION", ".git :x"] {
            assert!(may_be(name, ".git"), "{name}");
        }
        for name in [".github", "git", "git~x", ".gitignore", "", "~1x", ".gi"] {
            assert!(!may_be(name, ".git"), "{name}");
        }
    }
}
