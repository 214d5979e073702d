//! Finds the text that an edit replaces and works out the new contents, byte by byte.
//!
//! - Only what differs between the old and the new text of the edit is replaced; every other byte stays.
//! - A line end in the edit stands for `\n` and `\r\n` alike; what is inserted gets the line ends of its place.

#[derive(Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// Line numbers of the matches, none or too many or too few.
    Count(Vec<usize>),
    Overlapping(Vec<usize>),
    /// The text to insert can't be written in the file's encoding, which is not UTF-8.
    Encoding,
    /// The match may begin in the middle of a character of an encoding that is not UTF-8.
    MidCharacter(usize),
}

/// `expected`: how many matches there have to be; `None` = any number but none.
pub fn replace(file: &[u8], old: &str, new: &str, expected: Option<usize>) -> Result<Vec<u8>, Mismatch> {
    let (mut old, mut new) = (old.to_owned(), new.to_owned());
    let mut found = find(file, old.as_bytes());
    if found.is_empty() && old.contains("\r\n") {
        old = old.replace("\r\n", "\n");
        new = new.replace("\r\n", "\n");
        found = find(file, old.as_bytes());
    }
    let lines = || found.iter().map(|(start, _)| line_of(file, *start)).collect();
    if found.is_empty() || expected.is_some_and(|n| n != found.len()) {
        return Err(Mismatch::Count(lines()));
    }
    if found.windows(2).any(|w| w[1].0 < w[0].1) {
        return Err(Mismatch::Overlapping(lines()));
    }
    let (prefix, suffix) = common(&old, &new);
    if std::str::from_utf8(file).is_err() {
        if !new[prefix..new.len() - suffix].is_ascii() {
            return Err(Mismatch::Encoding);
        }
        // In GBK or Shift-JIS these bytes may also be the second half of a character.
        let half = |at: usize| at > 0 && file[at - 1] >= 0x80 && (0x40..0x7F).contains(&file[at]);
        if let Some((at, _)) = found.iter().find(|(start, _)| half(*start)) {
            return Err(Mismatch::MidCharacter(line_of(file, *at)));
        }
    }
    let mut out = Vec::with_capacity(file.len() + found.len() * new.len());
    let mut copied = 0;
    for (start, end) in found {
        let from = end_of(file, start, &old.as_bytes()[..prefix]).unwrap_or(start);
        let to = end_of(file, start, &old.as_bytes()[..old.len() - suffix]).unwrap_or(end);
        out.extend_from_slice(&file[copied..from]);
        insert(&mut out, new.as_bytes(), prefix..new.len() - suffix, crlf_at(file, start, end));
        copied = to;
    }
    out.extend_from_slice(&file[copied..]);
    Ok(out)
}

/// All places where `pattern` matches, also those that overlap.
fn find(file: &[u8], pattern: &[u8]) -> Vec<(usize, usize)> {
    let Some(&first) = pattern.first() else { return vec![] };
    let mut found = vec![];
    for at in 0..file.len() {
        let begins = match first {
            // `\r\n` is one line end: it matched at its `\r`.
            b'\n' => file[at] == b'\r' || (file[at] == b'\n' && (at == 0 || file[at - 1] != b'\r')),
            byte => file[at] == byte,
        };
        if begins && let Some(end) = end_of(file, at, pattern) {
            found.push((at, end));
        }
    }
    found
}

/// Where a match of `pattern` that begins at `at` ends.
fn end_of(file: &[u8], mut at: usize, pattern: &[u8]) -> Option<usize> {
    for &byte in pattern {
        if byte == b'\n' && file.get(at..at + 2) == Some(b"\r\n") {
            at += 2;
        } else if file.get(at) == Some(&byte) {
            at += 1;
        } else {
            return None;
        }
    }
    Some(at)
}

/// Lengths of what two texts have in common at their beginning and end, without overlap and between characters.
fn common(old: &str, new: &str) -> (usize, usize) {
    let prefix: usize = old.chars().zip(new.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let (old, new) = (&old[prefix..], &new[prefix..]);
    let suffix = old.chars().rev().zip(new.chars().rev()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    (prefix, suffix)
}

/// Are the line ends at this place `\r\n`? Those of the match count, then the nearest one after it, then before it.
fn crlf_at(file: &[u8], start: usize, end: usize) -> bool {
    let is_crlf = |at: usize| at > 0 && file[at - 1] == b'\r';
    let within = |range: std::ops::Range<usize>| range.into_iter().find(|at| file[*at] == b'\n');
    within(start..end).or_else(|| within(end..file.len())).or_else(|| (0..start).rev().find(|at| file[*at] == b'\n')).is_some_and(is_crlf)
}

fn insert(out: &mut Vec<u8>, text: &[u8], range: std::ops::Range<usize>, crlf: bool) {
    for at in range {
        if crlf && text[at] == b'\n' && (at == 0 || text[at - 1] != b'\r') {
            out.push(b'\r');
        }
        out.push(text[at]);
    }
}

pub fn line_of(file: &[u8], at: usize) -> usize {
    file[..at].iter().filter(|b| **b == b'\n').count() + 1
}

/// The line most like the first line of what was looked for: `(number, text, differs only in blanks)`.
pub fn nearest<'a>(file: &'a str, old: &str) -> Option<(usize, &'a str, bool)> {
    let wanted = old.lines().map(str::trim).find(|l| !l.is_empty())?;
    let lines = || file.lines().enumerate().map(|(n, l)| (n + 1, l));
    if let Some((n, line)) = lines().find(|(_, l)| l.trim() == wanted) {
        return Some((n, line, true));
    }
    let pairs = |s: &str| -> Vec<(char, char)> {
        let mut pairs: Vec<_> = s.chars().zip(s.chars().skip(1)).take(400).collect();
        pairs.sort_unstable();
        pairs
    };
    let target = pairs(wanted);
    let mut best = (0.55, None);
    for (n, line) in lines().take(20_000) {
        let own = pairs(line.trim());
        let score = 2.0 * shared(&target, &own) as f64 / (target.len() + own.len()).max(1) as f64;
        if score > best.0 {
            best = (score, Some((n, line, false)));
        }
    }
    best.1
}

/// How many elements two sorted lists have in common.
fn shared<T: Ord>(a: &[T], b: &[T]) -> usize {
    let (mut i, mut j, mut n) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, n) = (i + 1, j + 1, n + 1),
        }
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(file: &[u8], old: &str, new: &str) -> String {
        match replace(file, old, new, Some(1)) {
            Ok(bytes) => bytes.escape_ascii().to_string(),
            Err(e) => format!("{e:?}"),
        }
    }

    #[test]
    fn every_byte_outside_the_edit_stays() {
        for (file, old, new, expected) in [
            (&b"a\r\nfoo\r\nbar\r\n"[..], "foo\nbar", "foo\nbaz", r"a\r\nfoo\r\nbaz\r\n"),
            (b"a\r\nb\r\n", "a\n", "a\nnew\n", r"a\r\nnew\r\nb\r\n"),
            (b"a\r\nb\r\n", "\nb", "\nc", r"a\r\nc\r\n"),
            (b"a\r\nb\nc\r\nd", "a\nb\nc\nd", "a\nb\nX\nd", r"a\r\nb\nX\r\nd"),
            (b"a\nb\r\n", "a", "x\ny", r"x\ny\nb\r\n"),
            (b"a\r\nb", "b", "x\ny", r"a\r\nx\r\ny"),
            (b"# caf\xe9\nx = 1\n", "x = 1", "x = 2", r"# caf\xe9\nx = 2\n"),
            (b"\xef\xbb\xbffirst\n", "first", "1st", r"\xef\xbb\xbf1st\n"),
            (b"x", "x", "$& \\1 $1", r"$& \\1 $1"),
            (b"a\nb", "b", "", r"a\n"),
            (b"\tx\n", "\tx", "\ty", r"\ty\n"),
            (b"a\nb\n", "a\r\nb\r\n", "a\r\nc\r\n", r"a\nc\n"),
            (b"a\nb\n", "a\nb", "a\r\nb", r"a\r\nb\n"),
        ] {
            assert_eq!(edit(file, old, new), expected, "{old:?} -> {new:?}");
        }
    }

    #[test]
    fn anything_unclear_is_refused() {
        assert_eq!(edit(b"x = 1\nz\nx = 1", "x = 1", "y"), "Count([1, 3])");
        assert_eq!(edit(b"x", "y", "z"), "Count([])");
        assert_eq!(edit(b"a\nb\na\nb\na", "a\nb\na", "c"), "Count([1, 3])");
        assert_eq!(replace(b"aaa", "aa", "b", Some(2)), Err(Mismatch::Overlapping(vec![1, 1])));
        assert_eq!(edit(b"caf\xe9 x", "x", "\u{e9}"), "Encoding");
        assert_eq!(edit(b"\x83A = 1", "A = 1", "A = 2"), "MidCharacter(1)");
        assert_eq!(replace(b"a b a", "a", "c", None).unwrap(), b"c b c");
        assert_eq!(replace(b"a b a", "a", "c", Some(2)).unwrap(), b"c b c");
        assert_eq!(edit(b"\r\n\r\nx", "\n", "y"), "Count([1, 2])");
    }

    #[test]
    fn names_the_nearest_line() {
        let file = "fn main() {\n    let total = compute(a, b);\n}\n";
        assert_eq!(nearest(file, "let total = compute(a, b);\n"), Some((2, "    let total = compute(a, b);", true)));
        assert_eq!(nearest(file, "let totals = compute(a, c);").map(|n| n.0), Some(2));
        assert_eq!(nearest(file, "something else entirely"), None);
    }

    /// On random texts over a small alphabet: what `replace` makes is what a plain replacement makes.
    #[test]
    fn agrees_with_plain_replacement() {
        let mut seed = 7u64;
        let mut next = |n: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        let mut done = 0;
        for _ in 0..4000 {
            let mut word = |most: u64| -> String { (0..next(most)).map(|_| ["a", "b", "\n", "ü"][next(4) as usize]).collect() };
            let (file, old, new) = (word(20), word(4), word(4));
            let places = (0..file.len()).filter(|i| file.is_char_boundary(*i) && file[*i..].starts_with(&old)).count();
            match replace(file.as_bytes(), &old, &new, Some(1)) {
                Ok(bytes) => {
                    assert_eq!(String::from_utf8(bytes).unwrap(), file.replacen(&old, &new, 1));
                    if file.contains('\n') {
                        let crlf = replace(file.replace('\n', "\r\n").as_bytes(), &old, &new, Some(1)).unwrap();
                        let expected = file.replacen(&old, &new, 1).replace('\n', "\r\n");
                        assert_eq!(String::from_utf8(crlf).unwrap(), expected, "{file:?} {old:?} {new:?}");
                    }
                    done += 1;
                }
                Err(_) => assert!(old.is_empty() || places != 1, "{file:?} {old:?}"),
            }
        }
        assert!(done > 300, "{done}");
    }
}
