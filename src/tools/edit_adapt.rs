//! Finds a text that a model did not copy exactly: other blanks at line ends, another indentation, plain quotes for typographic
//! ones, escapes that were written twice.
//!
//! - Only what can be meant by nothing else: as many places match as were asked for, or nothing is changed.
//! - What the edit does not change keeps the bytes that the file has; what it inserts follows the file's ways.

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Larger texts, in bytes, are matched exactly or not at all.
const LARGEST: usize = 4 << 20;

/// What had to be overlooked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adapted {
    Quotes,
    Escapes,
    LineEnds,
    Indentation,
}

impl Adapted {
    pub fn what(self) -> &'static str {
        match self {
            Adapted::Quotes => "quotes, dashes or blanks of another kind",
            Adapted::Escapes => "one level of escapes less",
            Adapted::LineEnds => "other blanks at line ends",
            Adapted::Indentation => "another indentation",
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub enum Missed {
    NotFound,
    /// So many places would match: their line numbers.
    Ambiguous(Adapted, Vec<usize>),
    /// It is there, but what is to be inserted can't be indented as the file is.
    Indentation(usize),
}

/// For a text that does not occur exactly. `expected`: how many places there have to be; `None` = any number but none.
pub fn replace(file: &str, old: &str, new: &str, expected: Option<usize>) -> Result<(String, Adapted), Missed> {
    if file.len() > LARGEST || old.trim().is_empty() {
        return Err(Missed::NotFound);
    }
    let (old, new) = (old.replace("\r\n", "\n"), new.replace("\r\n", "\n"));
    for attempt in [quotes, escapes, line_ends, indentation] {
        let found = attempt(file, &old, &new, expected)?;
        let Some((places, adapted)) = found else { continue };
        let fits = expected.is_none_or(|n| n == places.len()) && places.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start);
        if !fits {
            let lines = places.iter().map(|place| file[..place.range.start].matches('\n').count() + 1).collect();
            return Err(Missed::Ambiguous(adapted, lines));
        }
        let mut out = String::with_capacity(file.len() + places.len() * new.len());
        let mut copied = 0;
        for place in places {
            out.push_str(&file[copied..place.range.start]);
            out.push_str(&place.text);
            copied = place.range.end;
        }
        out.push_str(&file[copied..]);
        return Ok((out, adapted));
    }
    Err(Missed::NotFound)
}

/// A place that matches, and what is to be there.
struct Place {
    range: std::ops::Range<usize>,
    text: String,
}

type Found = Result<Option<(Vec<Place>, Adapted)>, Missed>;

fn found(places: Vec<Place>, adapted: Adapted) -> Found {
    Ok((!places.is_empty()).then_some((places, adapted)))
}

/// The line end of the line at this byte, else of the one before it.
fn line_end(file: &str, at: usize) -> &'static str {
    let end = file[at..].find('\n').map(|n| at + n).or_else(|| file[..at].rfind('\n'));
    if end.is_some_and(|end| file[..end].ends_with('\r')) { "\r\n" } else { "\n" }
}

// --- characters ---

fn plain(c: char) -> char {
    match c {
        '‘' | '’' | '‚' | '‛' | '′' => '\'',
        '“' | '”' | '„' | '‟' | '″' => '"',
        '‐' | '‑' | '‒' | '–' | '—' | '−' => '-',
        '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{3000}' => ' ',
        c => c,
    }
}

fn quotes(file: &str, old: &str, new: &str, _: Option<usize>) -> Found {
    // With where each character is; `\r\n` is one line end.
    let mut chars: Vec<(char, usize)> = vec![];
    for (at, c) in file.char_indices() {
        if c == '\n' && file[..at].ends_with('\r') {
            chars.pop();
            chars.push(('\n', at - 1));
        } else {
            chars.push((plain(c), at));
        }
    }
    chars.push(('\0', file.len()));
    let given: Vec<char> = old.chars().map(plain).collect();
    let starts: Vec<usize> = (0..chars.len().saturating_sub(given.len()))
        .filter(|start| chars[*start].0 == given[0] && given.iter().zip(&chars[*start..]).all(|(given, (c, _))| given == c))
        .collect();
    if starts.is_empty() {
        return Ok(None);
    }
    let (from, to): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    let ops = capture_diff_slices(Algorithm::Myers, &from, &to);
    let place = |start: &usize| {
        let at = |n: usize| chars[start + n].1;
        let range = at(0)..at(given.len());
        let end = line_end(file, range.start);
        let mut text = String::new();
        for op in &ops {
            match op {
                DiffOp::Equal { old_index, len, .. } => text.push_str(&file[at(*old_index)..at(old_index + len)]),
                DiffOp::Delete { .. } => {}
                DiffOp::Insert { new_index, new_len, .. } | DiffOp::Replace { new_index, new_len, .. } => {
                    let inserted: String = to[*new_index..new_index + new_len].iter().collect();
                    text.push_str(&inserted.replace('\n', end));
                }
            }
        }
        Place { range, text }
    };
    found(starts.iter().map(place).collect(), Adapted::Quotes)
}

/// Arguments that were escaped twice: `\n` as two characters in a text without line ends, or `\"` for `"`.
fn escapes(file: &str, old: &str, new: &str, _: Option<usize>) -> Found {
    let whole = !old.contains('\n') && !new.contains('\n') && (old.contains("\\n") || old.contains("\\t"));
    let given = unescape(old, whole);
    if given == *old {
        return Ok(None);
    }
    let (given, new) = (given, unescape(new, whole));
    let crlf = file.contains("\r\n");
    let (given, new) = if crlf { (given.replace('\n', "\r\n"), new.replace('\n', "\r\n")) } else { (given, new) };
    let places = file.match_indices(&given).map(|(at, _)| Place { range: at..at + given.len(), text: new.clone() }).collect();
    found(places, Adapted::Escapes)
}

fn unescape(text: &str, whole: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let plain = match (c, chars.peek()) {
            ('\\', Some(quote @ ('"' | '\'' | '`'))) => Some(*quote),
            ('\\', Some('n')) if whole => Some('\n'),
            ('\\', Some('t')) if whole => Some('\t'),
            ('\\', Some('\\')) if whole => Some('\\'),
            _ => None,
        };
        if plain.is_some() {
            chars.next();
        }
        out.push(plain.unwrap_or(c));
    }
    out
}

// --- lines ---

/// A line of the file: where it is, with its line end, and its text without.
struct FileLine<'a> {
    at: usize,
    whole: &'a str,
    text: &'a str,
}

fn file_lines(file: &str) -> Vec<FileLine<'_>> {
    let mut at = 0;
    let line = |whole| {
        let text = str::strip_suffix(whole, "\n").map_or(whole, |line: &str| line.strip_suffix('\r').unwrap_or(line));
        at += whole.len();
        FileLine { at: at - whole.len(), whole, text }
    };
    file.split_inclusive('\n').map(line).collect()
}

/// Lines of an argument, and whether the last one is ended.
fn lines(text: &str) -> (Vec<&str>, bool) {
    let ended = text.ends_with('\n');
    let body = text.strip_suffix('\n').unwrap_or(text);
    (if text.is_empty() { vec![] } else { body.split('\n').collect() }, ended)
}

fn line_ends(file: &str, old: &str, new: &str, expected: Option<usize>) -> Found {
    blocks(file, old, new, str::trim_end, |_, _| Some(Box::new(|line| Some(line.to_owned()))), Adapted::LineEnds, expected)
}

fn indentation(file: &str, old: &str, new: &str, expected: Option<usize>) -> Found {
    blocks(file, old, new, str::trim, carried_over, Adapted::Indentation, expected)
}

/// How a line that is inserted is to be indented; `None` where that can't be told.
type Indent = Box<dyn Fn(&str) -> Option<String>>;

/// Whole lines that are the same by their `key`.
fn blocks(
    file: &str,
    old: &str,
    new: &str,
    key: fn(&str) -> &str,
    indent: fn(&[&str], &[&str]) -> Option<Indent>,
    adapted: Adapted,
    expected: Option<usize>,
) -> Found {
    let (given, old_ended) = lines(old);
    let (wanted, new_ended) = lines(new);
    let there = file_lines(file);
    let same = |start: usize| given.iter().zip(&there[start..]).all(|(given, line)| key(given) == key(line.text));
    let starts: Vec<usize> = (0..(there.len() + 1).saturating_sub(given.len())).filter(|start| same(*start)).collect();
    if !starts.is_empty() && expected.is_some_and(|n| n != starts.len()) {
        return Err(Missed::Ambiguous(adapted, starts.iter().map(|start| start + 1).collect()));
    }
    let ops = capture_diff_slices(Algorithm::Myers, &given, &wanted);
    let mut places = vec![];
    for start in starts {
        let block = &there[start..start + given.len()];
        let (first, last) = (&block[0], &block[block.len() - 1]);
        let missed = Missed::Indentation(start + 1);
        let texts: Vec<&str> = block.iter().map(|line| line.text).collect();
        let Some(indent) = indent(&given, &texts) else { return Err(missed) };
        let mut out: Vec<String> = vec![];
        for op in &ops {
            match op {
                DiffOp::Equal { old_index, len, .. } => {
                    out.extend(texts[*old_index..old_index + len].iter().map(|line| (*line).to_owned()))
                }
                DiffOp::Delete { .. } => {}
                DiffOp::Insert { new_index, new_len, .. } | DiffOp::Replace { new_index, new_len, .. } => {
                    for line in &wanted[*new_index..new_index + new_len] {
                        let Some(line) = indent(line) else { return Err(missed) };
                        out.push(line);
                    }
                }
            }
        }
        let (end, own_end) = (line_end(file, first.at), &last.whole[last.text.len()..]);
        let mut text = out.join(end);
        // As it would be with a text that matches exactly: its line end is replaced only where it was given.
        match (old_ended, new_ended) {
            (true, false) => {}
            (false, true) => text.push_str(&format!("{end}{own_end}")),
            (true, true) if out.is_empty() => {}
            _ => text.push_str(own_end),
        }
        places.push(Place { range: first.at..last.at + last.whole.len(), text });
    }
    found(places, adapted)
}

fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// From the indentation that was given to that of the file.
fn carried_over(given: &[&str], there: &[&str]) -> Option<Indent> {
    let pairs: Vec<(&str, &str)> =
        given.iter().zip(there).filter(|(line, _)| !line.trim().is_empty()).map(|(a, b)| (indent_of(a), indent_of(b))).collect();
    let map = deeper(&pairs).or_else(|| shallower(&pairs)).or_else(|| scaled(&pairs))?;
    Some(Box::new(move |line| {
        if line.trim().is_empty() {
            return Some(String::new());
        }
        let indent = indent_of(line);
        Some(map(indent)? + &line[indent.len()..])
    }))
}

/// The file's is the same with something before it.
fn deeper(pairs: &[(&str, &str)]) -> Option<Indent> {
    let (given, there) = pairs.first()?;
    let more = there.strip_suffix(given)?.to_owned();
    let all = pairs.iter().all(|(given, there)| there.strip_suffix(given) == Some(&more));
    all.then(|| -> Indent { Box::new(move |indent| Some(format!("{more}{indent}"))) })
}

/// The one that was given has something before the file's.
fn shallower(pairs: &[(&str, &str)]) -> Option<Indent> {
    let (given, there) = pairs.first()?;
    let more = given.strip_suffix(there)?.to_owned();
    let all = pairs.iter().all(|(given, there)| given.strip_suffix(there) == Some(&more));
    all.then(|| -> Indent { Box::new(move |indent| indent.strip_prefix(&more).map(str::to_owned)) })
}

/// Steps of another width, or tabs for spaces.
fn scaled(pairs: &[(&str, &str)]) -> Option<Indent> {
    let unit = |indents: &mut dyn Iterator<Item = &str>| {
        let mut kinds: Vec<char> = indents.flat_map(str::chars).collect();
        kinds.dedup();
        (kinds.len() == 1).then(|| kinds[0])
    };
    let (from, to) = (unit(&mut pairs.iter().map(|pair| pair.0))?, unit(&mut pairs.iter().map(|pair| pair.1))?);
    let (given, there) = pairs.iter().find(|(given, _)| !given.is_empty())?;
    let (given, there) = (given.len(), there.len());
    let all = there > 0 && pairs.iter().all(|(g, t)| g.len() * there == t.len() * given);
    all.then(|| -> Indent {
        Box::new(move |indent| {
            let fits = indent.chars().all(|c| c == from) && (indent.len() * there).is_multiple_of(given);
            fits.then(|| to.to_string().repeat(indent.len() * there / given))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn adapt(file: &str, old: &str, new: &str) -> String {
        match replace(file, old, new, Some(1)) {
            Ok((text, adapted)) => format!("{adapted:?} {}", text.escape_debug()),
            Err(missed) => format!("{missed:?}"),
        }
    }

    #[test]
    fn typographic_characters_of_the_file_stay() {
        for (file, old, new, expected) in [
            ("say “hi” – now", "\"hi\" - now", "\"hi\" - later", "Quotes say “hi” – later"),
            ("it’s “a”, “b”", "it's \"a\"", "it's \"c\"", "Quotes it’s “c”, “b”"),
            ("a\u{a0}b", "a b", "a c", "Quotes a\\u{a0}c"),
            ("x = 'é'\ny = ‘ü’\r\nz", "y = 'ü'\nz", "y = 'ö'\nw\nz", "Quotes x = \\'é\\'\\ny = ‘ö’\\r\\nw\\r\\nz"),
            ("it’s it’s", "it's", "its", "Ambiguous(Quotes, [1, 1])"),
            ("", "x", "y", "NotFound"),
        ] {
            assert_eq!(adapt(file, old, new), expected, "{file:?}");
        }
    }

    #[test]
    fn what_was_escaped_twice_is_read_once() {
        for (file, old, new, expected) in [
            ("a\n\tb\n", "a\\n\\tb", "a\\n\\tc", "Escapes a\\n\\tc\\n"),
            ("a\r\nb\r\n", "a\\nb", "a\\nc", "Escapes a\\r\\nc\\r\\n"),
            ("say \"hi\"\n", "say \\\"hi\\\"", "say \\\"ho\\\"", "Escapes say \\\"ho\\\"\\n"),
            // With line ends of its own the text is as it was meant: what looks like an escape in it is one.
            ("a\nprint(\"x\")\n", "a\nprint(\\\"x\\\")", "a\nprint(\\\"x\\n\\\")", "Escapes a\\nprint(\\\"x\\\\n\\\")\\n"),
            ("a\\b", "a\\c", "d", "NotFound"),
            ("\"q\" \"q\"", "\\\"q\\\"", "x", "Ambiguous(Escapes, [1, 1])"),
        ] {
            assert_eq!(adapt(file, old, new), expected, "{file:?} {old:?}");
        }
    }

    #[test]
    fn blanks_at_line_ends_stay_where_nothing_changes() {
        for (file, old, new, expected) in [
            ("a  \nb\t\nc\n", "a\nb\n", "a\nx\n", "LineEnds a  \\nx\\nc\\n"),
            ("a\nb\n", "a \nb  \n", "a \nx\n", "LineEnds a\\nx\\n"),
            ("a \r\nb\r\nc", "a\nb", "a\nb\nn", "LineEnds a \\r\\nb\\r\\nn\\r\\nc"),
            ("a \nb", "a\nb", "c", "LineEnds c"),
            ("a \nb\nc\n", "a\nb\n", "", "LineEnds c\\n"),
            ("a \nb\nc\n", "a\nb", "", "LineEnds \\nc\\n"),
            ("a \nb\n", "a\nb", "a\nb\n", "LineEnds a \\nb\\n\\n"),
            ("a \nb\na \nb\n", "a\nb\n", "x\n", "Ambiguous(LineEnds, [1, 3])"),
        ] {
            assert_eq!(adapt(file, old, new), expected, "{file:?} {old:?} {new:?}");
        }
    }

    #[test]
    fn inserted_lines_are_indented_as_the_file_is() {
        for (file, old, new, expected) in [
            // Deeper, shallower.
            ("  if a:\n    b()\n", "if a:\n  b()\n", "if a:\n  b()\n  c()\n", "Indentation   if a:\\n    b()\\n    c()\\n"),
            ("if a:\n  b()\n", "    if a:\n      b()\n", "    if a:\n      c()\n", "Indentation if a:\\n  c()\\n"),
            ("if a:\n  b()\n", "    if a:\n      b()\n", "  c()\n", "Indentation(1)"),
            // Tabs for spaces and back, other steps.
            (
                "\tif a {\n\t\tb()\n\t}\n",
                "    if a {\n        b()\n    }\n",
                "    if a {\n        c()\n    }\n",
                "Indentation \\tif a {\\n\\t\\tc()\\n\\t}\\n",
            ),
            (
                "    if a {\n        b()\n",
                "\tif a {\n\t\tb()\n",
                "\tif a {\n\t\tb()\n\t\t\tc()\n",
                "Indentation     if a {\\n        b()\\n            c()\\n",
            ),
            ("a:\n  b:\n    c\n", "a:\n    b:\n        c\n", "a:\n    b:\n        d\n", "Indentation a:\\n  b:\\n    d\\n"),
            ("\ta\n\t\tb\n", "  a\n    b\n", "  a\n   c\n", "Indentation(1)"),
            // Lines that differ in ways that no rule explains.
            ("  a\n      b\n", "a\nb\n", "a\nc\n", "Indentation(1)"),
            // Empty lines have no indentation.
            ("\ta\n\n\tb\n", "  a\n  \n  b\n", "  a\n\n  c\n", "Indentation \\ta\\n\\n\\tc\\n"),
            ("  x\n\n\tx\n", "    x\n", "y\n", "Ambiguous(Indentation, [1, 3])"),
            ("x = 1\n", " \n", "y", "NotFound"),
        ] {
            assert_eq!(adapt(file, old, new), expected, "{file:?} {old:?}");
        }
    }

    #[test]
    fn several_places_are_each_adapted_by_themselves() {
        let (text, adapted) = replace("a {\n  x\n}\nb {\n\tx\n}\n", "    x\n", "    y\n", None).unwrap();
        assert_eq!((text.as_str(), adapted), ("a {\n  y\n}\nb {\n\ty\n}\n", Adapted::Indentation));
        assert!(matches!(replace("  x\n\tx\n", "x\n", "y\n", Some(3)), Err(Missed::Ambiguous(_, lines)) if lines.len() == 2));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever is spoiled in the copy: either the edit that was meant, or none, and never a byte outside of it.
        #[test]
        fn a_spoiled_copy_changes_what_was_meant_or_nothing(
            block in prop::collection::vec("[a-c]{1,2}[{:”–]?", 1..5),
            depth in prop::collection::vec(0usize..3, 5),
            before in "[ \t]{0,2}(x y)?\n", after in "(\t?z “q”\n)?",
            at in 0usize..5, spoil in 0usize..4, crlf in any::<bool>(),
        ) {
            let spelled = |unit: &str, lines: &[String]| -> String {
                lines.iter().zip(&depth).map(|(line, depth)| format!("{}{line}\n", unit.repeat(*depth))).collect()
            };
            let mut changed = block.clone();
            changed[at % block.len()] = "NEW".into();
            let unit = ["  ", "\t", "    "][spoil % 3];
            let ends = |text: String| if crlf { text.replace('\n', "\r\n") } else { text };
            let file = ends(format!("{before}{}{after}", spelled(unit, &block)));
            let meant = ends(format!("{before}{}{after}", spelled(unit, &changed)));
            let (old, new) = match spoil {
                0 => (spelled("    ", &block), spelled("    ", &changed)),
                1 => (spelled("  ", &block), spelled("  ", &changed)),
                2 => (spelled(unit, &block).replace('\n', " \n"), spelled(unit, &changed).replace('\n', " \n")),
                _ => (spelled(unit, &block).replace('”', "\"").replace('–', "-"), spelled(unit, &changed).replace('”', "\"").replace('–', "-")),
            };
            if let Ok((text, _)) = replace(&file, &old, &new, Some(1)) {
                let trimmed = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
                prop_assert_eq!(trimmed(&text), trimmed(&meant));
                prop_assert_eq!(text.matches("\r\n").count(), meant.matches("\r\n").count());
            }
        }
    }
}
