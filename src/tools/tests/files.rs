//! View, Edit, Replace.

use super::Bench;
use crate::{
    protocol::{Access, Block, PathState},
    tools::decode,
};
use serde_json::json;
use std::{fs, io::Write, os::unix::fs::PermissionsExt};

#[test]
fn view_numbers_lines_and_says_how_to_go_on() {
    let many: String = (1..=5000).map(|n| format!("line {n}\n")).collect();
    let b =
        Bench::new(&[("a.txt", b"\xef\xbb\xbfone\r\ntwo\r\n\r\nlast"), ("many", many.as_bytes()), ("empty", b""), ("latin", b"caf\xe9\n")]);
    assert_eq!(b.text("View", json!({"file_path": "a.txt"})), "     1\tone\n     2\ttwo\n     3\t\n     4\tlast\n");
    assert_eq!(
        b.text("View", json!({"file_path": "a.txt", "offset": "2", "limit": 1})),
        "     2\ttwo\n(lines 2–2 of 4; go on with offset 3)\n"
    );
    let page = b.text("read_file", json!({"path": "many"}));
    assert!(page.ends_with("  2000\tline 2000\n(lines 1–2000 of 5000; go on with offset 2001)\n"), "{}", &page[page.len() - 90..]);
    assert_eq!(
        b.text("View", json!({"file_path": "many", "start_line": 4999, "end_line": 5000})),
        "  4999\tline 4999\n  5000\tline 5000\n"
    );
    assert_eq!(
        b.text("View", json!({"file_path": "many", "offset": 6000})),
        "Error: many has only 5000 lines; offset 6000 is past its end."
    );
    assert_eq!(b.text("View", json!({"file_path": "empty"})), "(empty is empty)");
    assert_eq!(b.text("View", json!({"file_path": "latin"})), "     1\tcafé\n");
    assert_eq!(b.text("View", json!({"file_path": "none"})), "Error: none does not exist.");
    assert_eq!(
        b.text("View", json!({})),
        "Error: View: `file_path` (a string) is missing. It takes: `file_path` (string, optional), `file_paths` (array, optional), \
         `offset` (integer, optional), `limit` (integer, optional)."
    );
    assert_eq!(b.text("View", json!({"file_path": "a.txt/x"})), "Error: a.txt/x: a part of this path is a file, not a folder.");
}

#[test]
fn a_list_of_steps_is_kept_whole() {
    let b = Bench::new(&[]);
    let step = |content: &str, status: &str| json!({"content": content, "status": status, "activeForm": "…"});
    let list = json!({"todos": [step("a", "completed"), step(" b ", "in_progress"), step("c", "Pending")]});
    assert_eq!(b.text("TodoWrite", list.clone()), "The user sees the list: 1 of 3 done.");
    let preview = b.call("Todo", list).unwrap().1;
    let Block::Todo(items) = preview.block else { panic!("{:?}", preview.block) };
    assert!(preview.access == Access::Read(vec![]) && items[1].content == "b" && items[2].state.name() == "pending");
    assert_eq!(b.text("update_plan", json!({"plan": [{"step": "x", "status": "done"}]})), "The user sees the list: 1 of 1 done.");
    assert_eq!(b.text("Todo", json!({"todos": []})), "The user sees the list: 0 of 0 done.");
    for (args, error) in [
        (json!({}), "Todo: `todos` (a list) is missing. It takes: `todos` (array of {content, status})."),
        (json!({"todos": [step("a", "soon")]}), "The status of item 1 is none of pending, in_progress, completed."),
        (json!({"todos": [{"status": "pending"}]}), "Item 1 has no content."),
        (json!({"todos": vec![step("a", "pending"); 101]}), "at most 100"),
    ] {
        assert!(b.text("Todo", args.clone()).contains(error), "{}", b.text("Todo", args));
    }
}

#[test]
fn view_of_several_files_has_errors_in_place() {
    let b = Bench::new(&[("a", b"1\n"), ("b", b"2")]);
    let out = b.run("View", json!({"file_paths": ["a", "none", "b"]})).unwrap();
    assert_eq!(out.for_model, "==> a <==\n     1\t1\n\n\n==> none <==\nError: none does not exist.\n\n==> b <==\n     1\t2");
    assert_eq!(out.summary, "3 files, 1 failed");
}

#[test]
fn view_of_a_folder_and_of_a_notebook() {
    let cells = json!([
        {"cell_type": "markdown", "source": ["# Title\n", "text"]},
        {"cell_type": "code", "source": "x = 1\nprint(x)\n", "outputs": [
            {"output_type": "stream", "text": ["1\n"]},
            {"output_type": "display_data", "data": {"image/png": "AAAA", "text/plain": "<Figure>"}},
            {"output_type": "error", "ename": "KeyError", "evalue": "'a'"},
        ]},
    ]);
    let notebook = json!({"cells": cells, "metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4}).to_string();
    let b = Bench::new(&[("d/a", b""), ("d/e/f", b""), ("n.ipynb", notebook.as_bytes()), ("odd.ipynb", b"[1]\n")]);
    assert_eq!(b.text("View", json!({"file_path": "d"})), "e/\na\n");
    let text = b.text("View", json!({"file_path": "n.ipynb"}));
    let lines: Vec<&str> = text.lines().map(|line| line.split_once('\t').map_or(line, |(_, text)| text)).collect();
    assert_eq!(
        lines,
        [
            "── cell 1: markdown",
            "# Title",
            "text",
            "── cell 2: python",
            "x = 1",
            "print(x)",
            "── output of cell 2",
            "1",
            "── output of cell 2",
            "<Figure>",
            "(a picture)",
            "── output of cell 2",
            "KeyError: 'a'",
            "(a notebook as text; raw: true shows the JSON that is edited)",
        ]
    );
    assert!(b.text("View", json!({"file_path": "n.ipynb", "raw": true})).contains("nbformat"));
    assert_eq!(b.text("View", json!({"file_path": "odd.ipynb"})), "     1\t[1]\n");
}

#[test]
fn view_bounds_long_lines_and_huge_files() {
    let b = Bench::new(&[("long", "ü".repeat(5000).as_bytes())]);
    let page = b.text("View", json!({"file_path": "long"}));
    assert!(page.starts_with(&format!("     1\t{}…", "ü".repeat(2000))), "{page}");
    assert!(page.ends_with("… (cut; this line has 10000 bytes)\n"));

    let line = format!("{}\n", "y".repeat(1000));
    fs::write(b.root.join("big"), line.repeat(500)).unwrap();
    let page = b.text("View", json!({"file_path": "big"}));
    assert!(page.len() <= 100_100 && page.ends_with("(lines 1–99 of 500; go on with offset 100)\n"), "{}", page.len());

    // 5 GB that take no room: text at the start, then a hole.
    let mut file = fs::File::create(b.root.join("sparse")).unwrap();
    file.write_all("text\n".repeat(5000).as_bytes()).unwrap();
    file.set_len(5 << 30).unwrap();
    assert_eq!(b.text("View", json!({"file_path": "sparse", "limit": 1})), "     1\ttext\n(lines 1–1; go on with offset 2)\n");
    fs::File::create(b.root.join("hole")).unwrap().set_len(5 << 30).unwrap();
    assert_eq!(b.text("View", json!({"file_path": "hole"})), "Error: hole is a binary file (5368709120 bytes).");
    assert!(b.text("Edit", json!({"file_path": "hole", "old_string": "a", "new_string": "b"})).contains("too large"));
}

#[test]
fn view_refuses_what_is_not_a_text_file() {
    let b = Bench::new(&[("x.png", b"\x89PNG\r\n\x1a\n\0\0"), ("u16", &decode::to_utf16("a\r\nü\n", false)), ("d/f", b"")]);
    assert_eq!(b.text("View", json!({"file_path": "x.png"})), "Error: x.png is a binary file (10 bytes, a PNG image).");
    assert_eq!(b.text("View", json!({"file_path": "u16"})), "     1\ta\n     2\tü\n");
    assert_eq!(b.text("View", json!({"file_path": "d"})), "f\n");
    assert_eq!(b.text("View", json!({"file_path": "/dev/zero"})), "Error: /dev/zero is a device, not a file.");
}

#[test]
fn preview_shows_the_diff_and_touches_nothing() {
    let b = Bench::new(&[("src/a.rs", b"one\ntwo\n")]);
    let (call, preview) = b.call("Edit", json!({"file_path": "src/../src/a.rs", "old_string": "two", "new_string": "2\n3"})).unwrap();
    assert_eq!(preview.access, Access::Write(vec![b.root.join("src/a.rs")]));
    assert_eq!(preview.title, "src/a.rs");
    let Block::Diff(files) = &preview.block else { panic!("{:?}", preview.block) };
    assert_eq!(files[0].path.to_str(), Some("src/a.rs"));
    assert_eq!((files[0].old.as_deref(), files[0].new.as_deref()), (Some("one\ntwo\n"), Some("one\n2\n3\n")));
    assert_eq!(b.bytes("src/a.rs"), b"one\ntwo\n");
    let done = b.run_call(&call).unwrap();
    assert_eq!(done.summary, "+2 −1");
    assert_eq!(done.for_model, "Changed src/a.rs (+2 −1).\n     1\tone\n     2\t2\n     3\t3");
    assert_eq!(done.for_user, preview.block);
    assert_eq!(b.bytes("src/a.rs"), b"one\n2\n3\n");
    assert_eq!(b.names(), ["src", "src/a.rs"]);
}

#[test]
fn only_what_was_seen_and_is_still_the_same_is_changed() {
    let b = Bench::new(&[]);
    fs::write(b.root.join("a"), "one\ntwo\n").unwrap();
    let edit = |old: &str, new: &str| b.text("Edit", json!({"file_path": "a", "old_string": old, "new_string": new}));
    let replace = || b.text("Replace", json!({"file_path": "a", "content": "x\n"}));
    assert_eq!(edit("one", "1"), "Error: You have not seen a in this session; nothing was written. View it first.");
    assert!(replace().contains("have not seen a"));
    // A line of it is enough, however it was shown; what a tool wrote is seen, too.
    b.run("View", json!({"file_path": "a", "limit": 1})).unwrap();
    assert!(edit("one", "1").starts_with("Changed a"));
    assert!(edit("two", "2").starts_with("Changed a"));
    fs::write(b.root.join("a"), "1\n2\nby the user\n").unwrap();
    assert_eq!(
        edit("1", "one"),
        "Error: a has changed since you saw it; nothing was written. View it again.\nSince then:\n@@ -2 +2,2 @@\n 2\n+by the user"
    );
    assert!(replace().contains("a has changed"));
    b.run("Grep", json!({"pattern": "by the user"})).unwrap();
    assert!(replace().starts_with("Changed a"));
    assert_eq!(b.bytes("a"), b"x\n");
    // Names of files are not what is in them.
    fs::write(b.root.join("c"), "c\n").unwrap();
    b.run("Grep", json!({"pattern": "c", "mode": "files"})).unwrap();
    b.run("LS", json!({"path": "."})).unwrap();
    assert!(b.text("Edit", json!({"file_path": "c", "old_string": "c", "new_string": "d"})).contains("have not seen"));
    assert!(b.text("Replace", json!({"file_path": "new", "content": "n"})).starts_with("Created new"));
}

#[test]
fn a_file_that_changed_since_the_preview_is_left_alone() {
    let b = Bench::new(&[("a", b"one\n")]);
    let edit = b.call("Edit", json!({"file_path": "a", "old_string": "one", "new_string": "1"})).unwrap().0;
    let replace = b.call("Replace", json!({"file_path": "a", "content": "1"})).unwrap().0;
    let create = b.call("Replace", json!({"file_path": "new/b", "content": "1"})).unwrap().0;
    assert_eq!(create.basis.files, [(b.root.join("new/b"), PathState::Missing)]);
    fs::write(b.root.join("a"), "one\nuser\n").unwrap();
    fs::create_dir(b.root.join("new")).unwrap();
    fs::write(b.root.join("new/b"), "user").unwrap();
    for call in [&edit, &replace, &create] {
        let error = b.run_call(call).unwrap_err();
        assert!(error.0.contains("has changed since"), "{error}");
    }
    fs::write(b.root.join("a"), "user\n").unwrap();
    assert!(b.run_call(&edit).unwrap_err().0.starts_with("The file has changed since this call was shown"));
    assert_eq!((b.bytes("a"), b.bytes("new/b")), (b"user\n".to_vec(), b"user".to_vec()));

    // The path may also lead elsewhere by now.
    fs::write(b.root.join("target"), "1").unwrap();
    let link = b.call("Replace", json!({"file_path": "l/x", "content": "2"})).unwrap().0;
    std::os::unix::fs::symlink("new", b.root.join("l")).unwrap();
    assert!(b.run_call(&link).unwrap_err().0.contains("elsewhere"));
}

/// A model's copy is seldom exact: where only one thing can be meant, that is done, and said.
#[test]
fn edit_adapts_and_says_so() {
    let go = "func a() {\r\n\tb()  \r\n}\r\n";
    let b = Bench::new(&[("a.go", go.as_bytes()), ("t", "it’s “so”\n".as_bytes()), ("u", &decode::to_utf16("a \r\nb\r\n", true))]);
    let edit = |path: &str, old: &str, new: &str| b.text("Edit", json!({"file_path": path, "old_string": old, "new_string": new}));
    let said = edit("a.go", "func a() {\n    b()\n}\n", "func a() {\n    b()\n    c()\n}\n");
    assert!(said.starts_with("Changed a.go (+1 −0). old_string was found with another indentation; the file's own were kept.\n"), "{said}");
    assert_eq!(b.bytes("a.go"), b"func a() {\r\n\tb()  \r\n\tc()\r\n}\r\n");
    assert!(edit("t", "it's \"so\"", "it's \"no\"").contains("quotes, dashes or blanks of another kind"));
    assert_eq!(b.bytes("t"), "it’s “no”\n".as_bytes());
    assert!(edit("u", "a\nb", "a\nc").contains("other blanks at line ends"));
    assert_eq!(b.bytes("u"), decode::to_utf16("a \r\nc\r\n", true));
}

#[test]
fn several_edits_of_a_file_are_made_in_order_all_or_none() {
    let b = Bench::new(&[("a", b"one\ntwo\none\n")]);
    let edits = |list: serde_json::Value| b.text("MultiEdit", json!({"file_path": "a", "edits": list}));
    let pair = |old: &str, new: &str| json!({"old_string": old, "new_string": new});
    let all = json!({"old_string": "one", "new_string": "1", "replace_all": true});
    let missed = edits(json!([all, pair("1\nx", "2")]));
    assert!(missed.starts_with("Error: Edit 2 of 2: old_string was not found in a"), "{missed}");
    assert!(missed.ends_with("Nothing of this call was carried out."), "{missed}");
    assert_eq!(b.bytes("a"), b"one\ntwo\none\n");
    assert!(edits(json!([all, pair("1\ntwo", "2"), pair("2\n1\n", "3")])).starts_with("Changed a (+1 −3)."));
    assert_eq!(b.bytes("a"), b"3");
    assert!(edits(json!([])).contains("`edits` has to be at least 1 in number, but is 0"));
    assert!(edits(json!([pair("3", "3")])).contains("the same"));
    assert!(
        edits(json!([{"old_string": "3"}, pair("3", "4")]))
            .starts_with("Error: Edit: `new_string` (a string) is missing in `edits[0]`. It takes: `file_path`")
    );
    let new = json!({"file_path": "n", "edits": [pair("", "x\ny\n"), pair("y", "z")]});
    assert_eq!(b.text("multi_edit", new).lines().next(), Some("Created n."));
    assert_eq!(b.bytes("n"), b"x\nz\n");
}

#[test]
fn edit_refuses_with_a_hint() {
    let b = Bench::new(&[("a", b"x = 1\nz\nx = 1\n"), ("bin", b"a\0b"), ("l1", b"caf\xe9 = 1\n")]);
    let edit = |path: &str, old: &str, new: &str| b.text("Edit", json!({"file_path": path, "old_string": old, "new_string": new}));
    assert_eq!(
        edit("a", "x = 1", "y"),
        "Error: old_string occurs 2 times in a (lines 1, 3), not 1; nothing was changed. Include more lines around it, or set expected_replacements."
    );
    assert!(edit("a", "x = 2", "y").contains("not found in a; nothing was changed. The nearest line is 1: \"x = 1\"."));
    assert!(edit("a", "  z\n", "y").contains("found in a at line 2 with another indentation, but new_string can't be indented"));
    assert!(edit("a", " z\nx = 9\n", "y").contains("Line 2 starts the same but for blanks"));
    assert!(edit("a", "x = 1 \n", "y").contains("with other blanks at line ends it occurs 2 times (lines 1, 3)"));
    assert!(edit("a", "", "y").contains("exists already"));
    assert!(edit("a", "z", "z").contains("the same"));
    assert!(edit("none", "z", "y").contains("leave old_string empty"));
    assert!(edit("bin", "a", "b").contains("binary"));
    assert!(edit("l1", "= 1", "= ü").contains("not UTF-8"));
    assert_eq!(b.bytes("a"), b"x = 1\nz\nx = 1\n");
    assert_eq!(
        b.text("Edit", json!({"file_path": "a", "old_string": "x", "new_string": "y", "expected_replacements": 2})).lines().next(),
        Some("Changed a (+2 −2).")
    );
    assert_eq!(edit("l1", "= 1", "= 2").lines().next(), Some("Changed l1 (+1 −1)."));
    assert_eq!(b.bytes("l1"), b"caf\xe9 = 2\n");
    assert_eq!(edit("new/file", "", "hello\n"), "Created new/file.");
    assert_eq!(b.bytes("new/file"), b"hello\n");
}

#[test]
fn edit_keeps_encoding_mode_and_link() {
    let b = Bench::new(&[("u16", &decode::to_utf16("a\r\nß\r\n", true)), ("run.sh", b"#!/bin/sh\nexit 1\n")]);
    b.run("Edit", json!({"file_path": "u16", "old_string": "ß\n", "new_string": "ü\n"})).unwrap();
    assert_eq!(b.bytes("u16"), decode::to_utf16("a\r\nü\r\n", true));
    fs::set_permissions(b.root.join("run.sh"), fs::Permissions::from_mode(0o751)).unwrap();
    std::os::unix::fs::symlink("run.sh", b.root.join("link")).unwrap();
    let (call, preview) = b.call("Edit", json!({"file_path": "link", "old_string": "1", "new_string": "0"})).unwrap();
    assert_eq!(preview.access, Access::Write(vec![b.root.join("run.sh")]));
    b.run_call(&call).unwrap();
    assert!(b.root.join("link").is_symlink());
    assert_eq!(b.bytes("run.sh"), b"#!/bin/sh\nexit 0\n");
    assert_eq!(fs::metadata(b.root.join("run.sh")).unwrap().permissions().mode() & 0o7777, 0o751);
    assert_eq!(b.names(), ["link", "run.sh", "u16"]);
}

#[test]
fn replace_writes_as_the_file_was() {
    let b = Bench::new(&[("crlf", b"a\r\nb\r\n"), ("bom", b"\xef\xbb\xbfa\n"), ("u16", &decode::to_utf16("a", false)), ("d/x", b"")]);
    assert_eq!(b.text("Write", json!({"path": "crlf", "content": "a\nc\n"})), "Changed crlf (+1 −1). Its CRLF line ends were kept.");
    assert_eq!(b.bytes("crlf"), b"a\r\nc\r\n");
    b.run("Replace", json!({"file_path": "bom", "content": "b\n"})).unwrap();
    assert_eq!(b.bytes("bom"), b"\xef\xbb\xbfb\n");
    b.run("Replace", json!({"file_path": "u16", "content": "ü"})).unwrap();
    assert_eq!(b.bytes("u16"), decode::to_utf16("ü", false));
    assert_eq!(b.text("Replace", json!({"file_path": "deep/er/f", "content": "x"})), "Created deep/er/f.");
    assert_eq!(
        b.text("Replace", json!({"file_path": "deep/er/f", "content": "x"})),
        "deep/er/f already has exactly this content; nothing was changed."
    );
    assert!(b.text("Replace", json!({"file_path": "d", "content": "x"})).contains("is a folder"));
    assert!(b.text("Replace", json!({"file_path": "d/x/y", "content": "x"})).starts_with("Error: d/x/y: a part of this path is a file"));
    assert!(b.text("Replace", json!({"file_path": "/dev/null", "content": "x"})).contains("is a device"));
}

/// Run by the next test in a process whose files can't grow.
#[test]
fn full_disk() {
    if std::env::var_os("BACKSTITCH_TEST_FULL").is_some() {
        let b = Bench::new(&[("a", b"old"), ("b", b"old")]);
        for name in ["a", "new"] {
            let error = b.run("Replace", json!({"file_path": name, "content": "x".repeat(10 << 20)})).unwrap_err();
            println!("{error}");
        }
        assert_eq!(b.bytes("a"), b"old");
        assert_eq!(b.names(), ["a", "b"]);
        println!("old files are whole");
    }
}

#[test]
fn a_write_that_finds_no_room_leaves_the_old_file() {
    let b = Bench::new(&[]);
    let test = std::env::current_exe().unwrap();
    let command = format!(
        "trap '' XFSZ; ulimit -f 1000; BACKSTITCH_TEST_FULL=1 '{}' --exact --nocapture tools::tests::files::full_disk",
        test.display()
    );
    let out = b.run("Bash", json!({"command": command})).unwrap();
    assert!(!out.failed && out.for_model.contains("old files are whole"), "{}", out.for_model);
}

/// As it is listed, so it may be written.
#[test]
fn a_name_that_is_no_text_is_found_by_what_it_looks_like() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let b = Bench::new(&[("a", b"plain\n")]);
    let root = b.workspace.root().to_path_buf();
    let odd = root.join(OsStr::from_bytes(b"d\xff")).join(OsStr::from_bytes(b"n\xfe.txt"));
    std::fs::create_dir(odd.parent().unwrap()).unwrap();
    std::fs::write(&odd, "one\n").unwrap();
    assert!(b.text("LS", json!({"path": "d\u{fffd}"})).contains("n\u{fffd}.txt"));
    assert!(b.text("View", json!({"file_path": "d\u{fffd}/n\u{fffd}.txt"})).contains("one"));
    b.run("Edit", json!({"file_path": "d\u{fffd}/n\u{fffd}.txt", "old_string": "one", "new_string": "two"})).unwrap();
    assert_eq!(std::fs::read(&odd).unwrap(), b"two\n");
    // Where two look alike neither is meant.
    std::fs::write(odd.with_file_name(OsStr::from_bytes(b"n\xfd.txt")), "other\n").unwrap();
    assert!(b.run("View", json!({"file_path": "d\u{fffd}/n\u{fffd}.txt"})).is_err());
}

#[test]
fn a_picture_is_shown_to_the_model_and_not_called_text() {
    let png = [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &640u32.to_be_bytes(), &480u32.to_be_bytes(), &[8, 6, 0, 0, 0]].concat();
    let b = Bench::new(&[("a.bin", &png), ("cut.png", &png[..12]), ("large.gif", &[b"GIF89a".as_slice(), &[1; 10 << 20]].concat())]);
    let output = b.run("View", json!({"file_path": "a.bin"})).unwrap();
    let crate::protocol::Block::Image(image) = output.for_user else { panic!("{:?}", output.for_user) };
    assert_eq!((image.label.as_str(), image.media_type.as_str()), ("[image a.bin: 640×480 png]", "image/png"));
    assert_eq!(output.for_model, "a.bin is an image, 640×480 png; it follows.");
    for (file, expected) in [("cut.png", "is a binary file (12 bytes, a PNG image)"), ("large.gif", "is larger than 10 MB")] {
        assert!(b.run("View", json!({"file_path": file})).unwrap_err().0.contains(expected), "{file}");
    }
    // Among several it is named: each has its own call.
    assert!(b.text("View", json!({"file_paths": ["a.bin", "a.bin"]})).contains("a PNG image"));
}

/// One check for every tool, before anything is looked at.
#[test]
fn arguments_are_read_by_the_schema_and_all_that_is_wrong_is_told_at_once() {
    let b = Bench::new(&[("a", b"one\ntwo\n"), ("b", b"2\n")]);
    let wrong = b.text("Edit", json!({"file_path": 3.5, "old_strng": "one", "replace_all": "perhaps"}));
    assert_eq!(
        wrong,
        "Error: Edit: `file_path` has to be a string, but is the number 3.5; `replace_all` has to be true or false, but is the string \"perhaps\"; \
         there is no `old_strng`: did you mean `old_string`?; `old_string` (a string) is missing; `new_string` (a string) is missing. It takes: \
         `file_path` (string), `old_string` (string), `new_string` (string), `expected_replacements` (integer, optional)."
    );
    let (call, preview) = b.call("View", json!({"file_paths": "[\"a\", \"b\"]", "limit": "1", "offset": null})).unwrap();
    assert_eq!(
        preview.read_as,
        "Read as it was meant: `file_paths` (the string \"[\\\"a\\\", \\\"b\\\"]\") as a list, `limit` (the string \"1\") as a whole number."
    );
    assert!(b.run_call(&call).unwrap().for_model.contains("==> b <=="));
    // What only reads is carried out without what it does not know; what changes something is not: that might have made it harmless.
    let (_, preview) = b.call("View", json!({"file_path": "a", "colour": true, "explanation": "to see"})).unwrap();
    assert_eq!(preview.read_as, "There is no `colour` of View: it was left out.");
    for (name, args) in [
        ("FileOp", json!({"operation": "delete", "path": "a", "dry_run": true})),
        ("Bash", json!({"command": "true", "workdir": "/"})),
        ("Replace", json!({"file_path": "a", "content": "x", "append": true})),
    ] {
        let told = b.text(name, args);
        assert!(told.contains("there is no `") && told.contains("nothing was done. It takes: "), "{told}");
    }
    assert_eq!(b.bytes("a"), b"one\ntwo\n");
    b.run("Replace", json!({"file_path": "a", "content": "x", "explanation": "as asked"})).unwrap();
}

/// What a file has become is told only where it may be read without a question.
#[test]
fn what_has_changed_since_is_told_but_no_secret() {
    let b = Bench::new(&[("a", b"1\n"), (".env", b"K=1\n"), ("ruled", b"1\n"), ("u16", &decode::to_utf16("a\n", true)), ("long", b"1\n")]);
    let rule = crate::protocol::Rule::new(crate::protocol::Ruling::Ask, crate::protocol::RuleSource::User, "View(ruled)");
    b.workspace.set_rules(&[rule]);
    let outside = b.root.parent().unwrap().join("outside");
    fs::write(&outside, "1\n").unwrap();
    b.workspace.seen.note(&outside, b"1\n");
    let edit = |path: &str| b.text("Edit", json!({"file_path": path, "old_string": "1", "new_string": "2"}));
    for path in ["a", ".env", "ruled", "../outside"] {
        fs::write(b.root.join(path), "1\nNEW\n").unwrap();
        let told = edit(path);
        assert!(told.contains("has changed since you saw it"), "{told}");
        assert_eq!(told.contains("NEW"), path == "a", "{told}");
    }
    fs::write(b.root.join("u16"), decode::to_utf16("a\nä\n", true)).unwrap();
    assert!(edit("u16").contains("+ä"));
    fs::write(b.root.join("long"), "x\n".repeat(500)).unwrap();
    let told = edit("long");
    assert!(told.contains("lines more)") && told.lines().count() < 50, "{told}");
}
