//! Edits and the bytes that are to come of them: line ends, byte order marks, encodings, and copies that are not exact.

use super::*;
use serde_json::json;

fn edited(file: &[u8], old: &str, new: &str) -> Result<Vec<u8>, String> {
    let b = Bench::new(&[("f", file)]);
    match b.run("Edit", json!({"file_path": "f", "old_string": old, "new_string": new})) {
        Ok(_) => Ok(b.bytes("f")),
        Err(error) => {
            assert_eq!(b.bytes("f"), file, "what fails changes nothing: {error}");
            Err(error.0)
        }
    }
}

/// What is told of an edit that is refused.
const NOT_FOUND: &str = "was not found";
const SEVERAL: &str = "occurs";
const UNCLEAR: &str = "Copy the";

type Case = (&'static [u8], &'static str, &'static str, Result<&'static [u8], &'static str>);

const CASES: &[Case] = &[
    // Exactly.
    (b"one\ntwo\n", "two", "2", Ok(b"one\n2\n")),
    (b"one\ntwo\n", "one\n", "", Ok(b"two\n")),
    (b"one\ntwo\n", "\ntwo", "", Ok(b"one\n")),
    (b"one\ntwo\n", "one\ntwo\n", "", Ok(b"")),
    (b"one\ntwo", "two", "two\nthree", Ok(b"one\ntwo\nthree")),
    (b"one\ntwo", "two", "two\n", Ok(b"one\ntwo\n")),
    (b"one\ntwo\n", "two\n", "two", Ok(b"one\ntwo")),
    (b"x", "x", "$&$1\\1\\n%s{}", Ok(b"$&$1\\1\\n%s{}")),
    (b"a.c abc", "a.c", "-", Ok(b"- abc")),
    (b"f(x)[0]*", "f(x)[0]*", "g", Ok(b"g")),
    (b"\\d+\n", "\\d+", "\\w+", Ok(b"\\w+\n")),
    (b"\n\n\nx\n\n", "x", "y", Ok(b"\n\n\ny\n\n")),
    (b"\x0c\x0bx\n", "x", "y", Ok(b"\x0c\x0by\n")),
    (b"a\x1b[0mb", "b", "c", Ok(b"a\x1b[0mc")),
    (b"x\x7f\n", "x", "y", Ok(b"y\x7f\n")),
    // Line ends.
    (b"a\r\nb\r\nc\r\n", "a\nb", "a\nx", Ok(b"a\r\nx\r\nc\r\n")),
    (b"a\r\nb\r\n", "b", "b\nc", Ok(b"a\r\nb\r\nc\r\n")),
    (b"a\r\nb\r\n", "a\r\nb", "x\r\ny", Ok(b"x\r\ny\r\n")),
    (b"a\r\nb", "a\nb", "c", Ok(b"c")),
    (b"a\nb\r\nc\n", "b", "x", Ok(b"a\nx\r\nc\n")),
    (b"a\nb\r\nc\n", "a\nb\nc", "a\nb\nd", Ok(b"a\nb\r\nd\n")),
    (b"a\r\nb\nc\r\n", "b\nc", "b\nn\nc", Ok(b"a\r\nb\nn\nc\r\n")),
    (b"a\nb\n", "a\r\nb", "a\r\nc", Ok(b"a\nc\n")),
    (b"a\nb\n", "a\r\nb\r\n", "a\r\nc\r\n", Ok(b"a\nc\n")),
    (b"a\r\n\r\nb\r\n", "a\n\nb", "a\nb", Ok(b"a\r\nb\r\n")),
    (b"a\r\nb\r\n", "a\n", "", Ok(b"b\r\n")),
    (b"a\r\r\nb", "b", "c", Ok(b"a\r\r\nc")),
    (b"a\rb\rc", "b", "x", Ok(b"a\rx\rc")),
    (b"a\rb\rc", "a\nb", "x", Err(NOT_FOUND)),
    (b"a\rb\r", "a\rb", "x", Ok(b"x\r")),
    (b"a\xe2\x80\xa8b\nc\n", "b", "x", Ok(b"a\xe2\x80\xa8x\nc\n")),
    (b"a\xc2\x85b\n", "b", "x", Ok(b"a\xc2\x85x\n")),
    // Byte order marks.
    (b"\xef\xbb\xbfa\nb\n", "a", "x", Ok(b"\xef\xbb\xbfx\nb\n")),
    (b"\xef\xbb\xbfa\r\nb\r\n", "a\nb", "x\ny", Ok(b"\xef\xbb\xbfx\r\ny\r\n")),
    (b"\xef\xbb\xbfa\nb\n", "b", "x", Ok(b"\xef\xbb\xbfa\nx\n")),
    (b"\xef\xbb\xbf", "a", "x", Err(NOT_FOUND)),
    (b"a\xef\xbb\xbfb\n", "b", "x", Ok(b"a\xef\xbb\xbfx\n")),
    (b"\xff\xfea\0\n\0", "a", "\u{e4}", Ok(b"\xff\xfe\xe4\0\n\0")),
    (b"\xfe\xff\0a\0\n", "a", "\u{4f60}", Ok(b"\xfe\xff\x4f\x60\0\n")),
    (b"\xff\xfea\0\r\0\n\0b\0", "a\nb", "a\nc", Ok(b"\xff\xfea\0\r\0\n\0c\0")),
    (b"\xff\xfea\0\x3d\xd8\x00\xde", "a", "b", Ok(b"\xff\xfeb\0\x3d\xd8\x00\xde")),
    (b"\xff\xfea\0\x3d\xd8", "a", "b", Err("not valid UTF-16")),
    (b"\xff\xfea\0b", "a", "b", Err("not valid UTF-16")),
    // Other encodings: every byte outside of the edit stays, and nothing that can't be written in it is.
    (b"# caf\xe9\nx = 1\n", "x = 1", "x = 2", Ok(b"# caf\xe9\nx = 2\n")),
    (b"# caf\xe9\nx = 1\n", "x = 1", "x = '\u{e9}'", Err("not UTF-8")),
    (b"# caf\xe9\r\nx\r\ny\r\n", "x\ny", "x\nz", Ok(b"# caf\xe9\r\nx\r\nz\r\n")),
    (b"\xc4\xe3\xba\xc3 = 1\nn = 2\n", "n = 2", "n = 3", Ok(b"\xc4\xe3\xba\xc3 = 1\nn = 3\n")),
    (b"\x83A = 1\n", "A = 1", "A = 2", Err("inside a character")),
    (b"\x83\x5c\nx\n", "x", "y", Ok(b"\x83\x5c\ny\n")),
    (b"ok\n\xff\xfe\xfd\n", "ok", "OK", Ok(b"OK\n\xff\xfe\xfd\n")),
    (b"a\0b\n", "a", "x", Err("binary")),
    (b"\x7fELF\0\0", "ELF", "x", Err("binary")),
    ("grün 你好 🦀\n".as_bytes(), "你好", "再见", Ok("grün 再见 🦀\n".as_bytes())),
    ("👨\u{200d}👩\u{200d}👧 x\n".as_bytes(), "x", "y", Ok("👨\u{200d}👩\u{200d}👧 y\n".as_bytes())),
    ("e\u{301}x\n".as_bytes(), "x", "y", Ok("e\u{301}y\n".as_bytes())),
    ("\u{e9}\n".as_bytes(), "e\u{301}", "e", Err(NOT_FOUND)),
    // Where one thing alone can be meant: typographic characters.
    ("say “hi”\n".as_bytes(), "say \"hi\"", "say \"ho\"", Ok("say “ho”\n".as_bytes())),
    ("it’s\n".as_bytes(), "it's", "it's so", Ok("it’s so\n".as_bytes())),
    ("a – b — c\n".as_bytes(), "a - b - c", "a - x - c", Ok("a – x — c\n".as_bytes())),
    ("a\u{a0}b\n".as_bytes(), "a b", "a c", Ok("a\u{a0}c\n".as_bytes())),
    ("a\u{202f}b\r\nc\r\n".as_bytes(), "a b\nc", "a b\nd", Ok("a\u{202f}b\r\nd\r\n".as_bytes())),
    ("‘a’ ‘a’\n".as_bytes(), "'a'", "'b'", Err(UNCLEAR)),
    (b"say \"hi\"\n", "say \u{201c}hi\u{201d}", "x", Ok(b"x\n")),
    ("x − 1\n".as_bytes(), "x - 1", "x - 2", Ok("x − 2\n".as_bytes())),
    // Escapes that were written twice.
    (b"a\n\tb\n", "a\\n\\tb", "a\\n\\tc", Ok(b"a\n\tc\n")),
    (b"a\r\nb\r\n", "a\\nb", "a\\nc", Ok(b"a\r\nc\r\n")),
    (b"p(\"x\")\n", "p(\\\"x\\\")", "p(\\\"y\\\")", Ok(b"p(\"y\")\n")),
    (b"p(\"a\\n\")\n", "p(\"a\\n\")", "p(\"b\\n\")", Ok(b"p(\"b\\n\")\n")),
    (b"\"a\" \"a\"\n", "\\\"a\\\"", "x", Err(UNCLEAR)),
    // Blanks at line ends.
    (b"a  \nb\n", "a\nb", "a\nc", Ok(b"a  \nc\n")),
    (b"a\t\r\nb\r\n", "a\nb\n", "a\nc\n", Ok(b"a\t\r\nc\r\n")),
    (b"a\nb\n", "a \nb ", "a \nc", Ok(b"a\nc\n")),
    (b"a \nb\na\t\nb\n", "a\nb", "x", Err(UNCLEAR)),
    (b"a\n   \nb\n", "a\n\nb", "a\n\nc", Ok(b"a\n   \nc\n")),
    // Indentation.
    (b"\tif x {\n\t\ty()\n\t}\n", "    if x {\n        y()\n    }", "    if x {\n        z()\n    }", Ok(b"\tif x {\n\t\tz()\n\t}\n")),
    (b"    a:\n        b\n", "\ta:\n\t\tb\n", "\ta:\n\t\tb\n\t\tc\n", Ok(b"    a:\n        b\n        c\n")),
    (b"  if a:\n    b()\n", "if a:\n  b()\n", "if a:\n  c()\n", Ok(b"  if a:\n    c()\n")),
    (b"if a:\n  b()\n", "    if a:\n      b()\n", "    if a:\n      c()\n", Ok(b"if a:\n  c()\n")),
    (b"a:\n  b:\n    c\n", "a:\n    b:\n        c\n", "a:\n    b:\n        d\n", Ok(b"a:\n  b:\n    d\n")),
    (b"\ta\r\n\t\tb\r\n", "  a\n    b\n", "  a\n    c\n", Ok(b"\ta\r\n\t\tc\r\n")),
    (b"\ta\n\t\tb\n", "  a\n    b\n", "  a\n   c\n", Err(UNCLEAR)),
    (b"  a\n      b\n", "a\nb\n", "a\nc\n", Err(UNCLEAR)),
    (b"  x\n\n\tx\n", "      x\n", "y\n", Err(UNCLEAR)),
    (b"\ta\n\n\tb\n", "  a\n\n  b\n", "  a\n\n  c\n", Ok(b"\ta\n\n\tc\n")),
    (b"a: |\n  text\n  more\n", "  more", "  else", Ok(b"a: |\n  text\n  else\n")),
    // Several places, or none.
    (b"x = 1\nz\nx = 1\n", "x = 1", "y", Err(SEVERAL)),
    (b"aaa", "aa", "b", Err(SEVERAL)),
    (b"a\nb\na\nb\na", "a\nb\na", "c", Err(SEVERAL)),
    (b"}\n}\n", "}", "x", Err(SEVERAL)),
    (b"\r\n\r\nx", "\n", "y", Err(SEVERAL)),
    (b"fn a() {\n    one();\n}\n", "    two();", "x", Err(NOT_FOUND)),
    (b"Total = 1\n", "total = 1", "x", Err(NOT_FOUND)),
    (b"a b\n", "ab", "x", Err(NOT_FOUND)),
    (b"a\nb\nc\n", "a\nc", "x", Err(NOT_FOUND)),
    (b"     1\tone\n", "one", "two", Ok(b"     1\ttwo\n")),
    (b"one\n", "     1\tone", "two", Err(NOT_FOUND)),
    (b"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n", "a\n=======\nb", "c", Ok(b"<<<<<<< HEAD\nc\n>>>>>>> x\n")),
    (b"x\n", "x", "x", Err("the same")),
    (b"x\n", "", "y", Err("exists already")),
    (b"", "x", "y", Err(NOT_FOUND)),
    (b"x\n", "   ", "y", Err(NOT_FOUND)),
];

#[test]
fn each_edit_gives_its_bytes_or_says_why_not() {
    let (mut seen, mut wrong) = (std::collections::HashSet::new(), vec![]);
    for (file, old, new, expected) in CASES {
        assert!(seen.insert((file, old, new)), "twice: {} {old:?}", file.escape_ascii());
        let got = edited(file, old, new);
        match (&got, expected) {
            (Ok(bytes), Ok(expected)) if bytes == expected => {}
            (Err(why), Err(expected)) if why.contains(expected) => {}
            _ => wrong.push(format!(
                "{}: {old:?} -> {new:?} gives {}",
                file.escape_ascii(),
                got.map_or_else(|why| why, |bytes| bytes.escape_ascii().to_string())
            )),
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(seen.len() >= 100, "{}", seen.len());
}

/// Lines, what is looked for, what comes instead, and the lines that are to be there then.
const TEXTS: &[(&[&str], &str, &str, &[&str])] = &[
    (&["one", "two", "three"], "two", "2", &["one", "2", "three"]),
    (&["one", "two", "three"], "one\ntwo", "one\n2", &["one", "2", "three"]),
    (&["one", "two", "three"], "two\n", "", &["one", "three"]),
    (&["one", "two", "three"], "two\nthree", "two\nand\nthree", &["one", "two", "and", "three"]),
    (&["\tif x:", "\t\ty", "end"], "    if x:\n        y", "    if x:\n        z", &["\tif x:", "\t\tz", "end"]),
    (&["a  ", "b", "end"], "a\nb\n", "a\nc\n", &["a  ", "c", "end"]),
    (&["", "", "x", ""], "x", "y", &["", "", "y", ""]),
];

/// Each in every encoding, with each line end, with and without one at the end.
#[test]
fn an_edit_means_the_same_in_every_encoding_and_with_every_line_end() {
    let utf8 = |text: &str| text.as_bytes().to_vec();
    let bom = |text: &str| [decode_bom(), text.as_bytes()].concat();
    let (little, big) = (|text: &str| crate::tools::decode::to_utf16(text, false), |text: &str| crate::tools::decode::to_utf16(text, true));
    // A line of another encoding before it.
    let latin = |text: &str| [b"caf\xe9 \xfc\n", text.as_bytes()].concat();
    type Encode<'a> = (&'a str, &'a dyn Fn(&str) -> Vec<u8>);
    let encodings: [Encode; 5] =
        [("UTF-8", &utf8), ("with a byte order mark", &bom), ("UTF-16LE", &little), ("UTF-16BE", &big), ("Latin-1", &latin)];
    let mut done = 0;
    for (lines, old, new, wanted) in TEXTS {
        for end in ["\n", "\r\n"] {
            for last in ["", end] {
                let text = |lines: &[&str]| lines.join(end) + last;
                for (name, encode) in &encodings {
                    // Only UTF-8 and UTF-16 are read closely enough to adapt anything.
                    let exact = text(lines).replace("\r\n", "\n").contains(old);
                    if *name == "Latin-1" && !exact {
                        continue;
                    }
                    let got = edited(&encode(&text(lines)), old, new);
                    assert_eq!(got, Ok(encode(&text(wanted))), "{name} {end:?} {last:?} {lines:?} {old:?}");
                    done += 1;
                }
            }
        }
    }
    assert!(done >= 100, "{done}");
}

fn decode_bom() -> &'static [u8] {
    crate::tools::decode::BOM
}

/// Each line keeps its own end, wherever the edit is.
#[test]
fn mixed_line_ends_stay_line_by_line() {
    let ends = ["\n", "\r\n", "\r\n", "\n", "\r\n"];
    let file: String = ends.iter().enumerate().map(|(n, end)| format!("line {n}{end}")).collect();
    for n in 0..ends.len() {
        let wanted = file.replace(&format!("line {n}"), "changed");
        assert_eq!(edited(file.as_bytes(), &format!("line {n}"), "changed"), Ok(wanted.into_bytes()));
        if n + 1 < ends.len() {
            let (old, new) = (format!("line {n}\nline {}", n + 1), format!("line {n}\nchanged"));
            let wanted = file.replace(&format!("line {}", n + 1), "changed");
            assert_eq!(edited(file.as_bytes(), &old, &new), Ok(wanted.into_bytes()), "{n}");
        }
    }
}

/// Hunks of a patch, one after the other, in files of every encoding.
#[test]
fn a_patch_means_the_same_in_every_encoding() {
    let text = |lines: [&str; 5], end: &str| lines.map(|line| format!("{line}{end}")).concat();
    let before = ["fn a() {", "    b();", "grün", "    c();", "}"];
    let after = ["fn a() {", "    x();", "grün", "    ü();", "}"];
    let body = "@@ fn a() {\n-    b();\n+    x();\n grün\n@@\n-    c();\n+    ü();";
    let encodings: [fn(&str) -> Vec<u8>; 4] = [
        |text| text.as_bytes().to_vec(),
        |text| [decode_bom(), text.as_bytes()].concat(),
        |text| crate::tools::decode::to_utf16(text, false),
        |text| crate::tools::decode::to_utf16(text, true),
    ];
    for (n, encode) in encodings.iter().enumerate() {
        for end in ["\n", "\r\n"] {
            let b = Bench::new(&[("f", &encode(&text(before, end)))]);
            b.run("apply_patch", json!({"patch": format!("*** Begin Patch\n*** Update File: f\n{body}\n*** End Patch")})).unwrap();
            assert_eq!(b.bytes("f"), encode(&text(after, end)), "{n} {end:?}");
        }
    }
}

/// Patches and replacements cut by lines, never inside a character.
#[test]
fn characters_stay_whole_wherever_they_fall() {
    for pad in 190..210 {
        let line = format!("{}你好🦀e\u{301}", "x".repeat(pad));
        let b = Bench::new(&[("f", format!("{line}\nend\n").as_bytes())]);
        let patch = format!("*** Begin Patch\n*** Update File: f\n@@\n-{line}\n+{line}再\n end\n*** End Patch");
        b.run("apply_patch", json!({"patch": patch})).unwrap();
        assert_eq!(b.bytes("f"), format!("{line}再\nend\n").as_bytes());
        b.run("Edit", json!({"file_path": "f", "old_string": "好🦀", "new_string": "🦀好"})).unwrap();
        assert!(String::from_utf8(b.bytes("f")).unwrap().contains("你🦀好e\u{301}再"));
        assert!(b.text("Edit", json!({"file_path": "f", "old_string": format!("{line}!"), "new_string": "x"})).contains("was not found"));
    }
}
