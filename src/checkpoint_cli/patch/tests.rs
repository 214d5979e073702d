//! Patches as they are written; that git takes them is tested with the program as a whole.

use super::*;
use std::ffi::OsStr;

fn compared(path: &str, old: Option<&str>, new: Option<&str>) -> Compared {
    let change = FileChange { path: path.into(), old: old.map(Into::into), new: new.map(Into::into), binary: false };
    Compared { change, old: None, new: None }
}

fn version(id: char, mode: u32) -> Option<Version> {
    Some(Version { id: id.to_string().repeat(40), mode })
}

#[test]
fn changed_new_and_deleted_files() {
    let changes = [
        compared("a b.txt", Some("one\ntwo\n"), Some("one\n2")),
        compared("gone", Some("x\n"), None),
        Compared { new: version('b', 0o100755), ..compared("new", None, Some("y\n")) },
    ];
    insta::assert_snapshot!(patch(&changes).replace('\t', "<tab>"), @r"
    diff --git a/a b.txt b/a b.txt
    --- a/a b.txt<tab>
    +++ b/a b.txt<tab>
    @@ -1,2 +1,2 @@
     one
    -two
    +2
    \ No newline at end of file
    diff --git a/gone b/gone
    deleted file mode 100644
    --- a/gone
    +++ /dev/null
    @@ -1 +0,0 @@
    -x
    diff --git a/new b/new
    new file mode 100755
    index 0000000..bbbbbbb
    --- /dev/null
    +++ b/new
    @@ -0,0 +1 @@
    +y
    ");
}

#[test]
fn modes_links_binaries_and_renames() {
    let binary = |path: &str, old: bool, new: bool| {
        let mut compared = compared(path, old.then_some(""), new.then_some(""));
        compared.change.binary = true;
        compared
    };
    let changes = [
        Compared { old: version('a', 0o100644), ..compared("from", Some("same\n"), None) },
        Compared { old: version('c', 0o120000), new: version('d', 0o100644), ..compared("link", Some("to"), Some("text\n")) },
        Compared { old: version('e', 0o100644), new: version('e', 0o100755), ..compared("run", Some("x\n"), Some("x\n")) },
        binary("shot.png", true, true),
        binary("new.png", false, true),
        Compared { new: version('a', 0o100644), ..compared("to", None, Some("same\n")) },
    ];
    insta::assert_snapshot!(patch(&changes), @r"
    diff --git a/link b/link
    deleted file mode 120000
    index ccccccc..0000000
    --- a/link
    +++ /dev/null
    @@ -1 +0,0 @@
    -to
    \ No newline at end of file
    diff --git a/link b/link
    new file mode 100644
    index 0000000..ddddddd
    --- /dev/null
    +++ b/link
    @@ -0,0 +1 @@
    +text
    diff --git a/run b/run
    old mode 100644
    new mode 100755
    diff --git a/shot.png b/shot.png
    Binary files a/shot.png and b/shot.png differ
    diff --git a/new.png b/new.png
    new file mode 100644
    Binary files /dev/null and b/new.png differ
    diff --git a/from b/to
    similarity index 100%
    rename from from
    rename to to
    ");
}

#[test]
fn a_text_whose_name_has_blanks_is_not_renamed_but_written_anew() {
    let moved = |binary: bool| {
        let mut changes = [
            Compared { new: version('a', 0o100644), ..compared("a b", None, Some("x\n")) },
            Compared { old: version('a', 0o100644), ..compared("c", Some("x\n"), None) },
        ];
        changes.iter_mut().for_each(|compared| compared.change.binary = binary);
        patch(&changes)
    };
    assert!(!moved(false).contains("rename") && moved(false).contains("+x\n") && moved(false).contains("-x\n"));
    assert!(moved(true).contains("rename from c\nrename to a b\n"));
}

#[test]
fn a_lone_carriage_return_ends_no_line() {
    let text = patch(&[compared("a", Some("x\ry\r"), Some("x\rz\r"))]);
    assert!(text.ends_with("-x\ry\r\n\\ No newline at end of file\n+x\rz\r\n\\ No newline at end of file\n"), "{text:?}");
    assert_eq!(counts(&compared("a", Some("1\n2\n"), Some("1\n3\n4\n")).change), (2, 1));
}

#[test]
fn names_that_could_be_misread_are_quoted() {
    for (name, shown) in [
        (&b"a/b"[..], "a/b"),
        ("grüße".as_bytes(), "grüße"),
        (b"a\"b", "\"a\\\"b\""),
        (b"a\nb\t", "\"a\\nb\\t\""),
        (b"\x1b[2J", "\"\\033[2J\""),
        (b"\xff", "\"\\377\""),
        ("\u{202e}x".as_bytes(), "\"\\342\\200\\256x\""),
    ] {
        assert_eq!(quoted("", Path::new(OsStr::from_bytes(name))), shown);
    }
    assert_eq!(quoted("a/", Path::new("x\ny")), "\"a/x\\ny\"");
}
