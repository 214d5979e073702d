//! Folders that become links between the look and the deed: what was approved is what is touched, or nothing is.

use super::*;
use crate::{atomic::spot::tests::when_opened, protocol::SandboxSettings, tools::shell::Sandbox};
use serde_json::json;
use std::os::unix::fs::symlink;

/// All that is below a folder, with contents; links as what they point to.
fn tree(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = vec![];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_symlink() {
            found.push((path.clone(), fs::read_link(&path).unwrap().display().to_string()));
        } else if path.is_dir() {
            found.push((path.clone(), "/".into()));
            found.extend(tree(&path));
        } else {
            found.push((path.clone(), String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned()));
        }
    }
    found.sort();
    found
}

/// What the tools can do with a path, each once.
fn calls() -> Vec<(&'static str, Value)> {
    let patch = |body: &str| ("apply_patch", json!({"patch": format!("*** Begin Patch\n{body}\n*** End Patch\n")}));
    let op = |operation: &str, path: &str, to: &str| ("FileOp", json!({"operation": operation, "path": path, "destination": to}));
    vec![
        ("Edit", json!({"file_path": "sub/f", "old_string": "one", "new_string": "two"})),
        ("Edit", json!({"file_path": "sub/new", "old_string": "", "new_string": "two"})),
        ("Edit", json!({"file_path": "sub/deep/er/new", "old_string": "", "new_string": "two"})),
        ("Replace", json!({"file_path": "sub/f", "content": "two"})),
        ("Replace", json!({"file_path": "sub/deep/new", "content": "two"})),
        patch("*** Add File: sub/new\n+two"),
        patch("*** Delete File: sub/f"),
        patch("*** Update File: sub/f\n@@\n-one\n+two"),
        patch("*** Update File: sub/f\n*** Move to: sub/g\n@@\n-one\n+two"),
        patch("*** Update File: a\n*** Move to: sub/g\n@@\n-one\n+two"),
        op("move", "sub/f", "sub/g"),
        op("move", "sub/f", "b"),
        op("move", "a", "sub/deep/g"),
        op("move", "a", "sub"),
        op("copy", "sub/f", "b"),
        op("copy", "a", "sub/g"),
        op("copy", "sub/in", "b"),
        op("copy", "in", "sub/deep/in"),
        op("delete", "sub/f", ""),
        op("delete", "sub/in", ""),
        op("mkdir", "sub/new", ""),
        op("mkdir", "sub/deep/new", ""),
        ("View", json!({"file_path": "sub/f"})),
        ("View", json!({"file_path": "sub"})),
        ("View", json!({"file_paths": ["a", "sub/f"]})),
        ("View", json!({"file_path": "sub/p.png"})),
        ("LS", json!({"path": "sub"})),
        ("GrepTool", json!({"pattern": ".", "path": "sub"})),
        ("GrepTool", json!({"pattern": ".", "path": "sub/f"})),
        ("GlobTool", json!({"pattern": "*", "path": "sub"})),
    ]
}

/// A project with `sub`, and outside of it a folder that looks the same, but for what only it has.
fn bench(outside: &str) -> (Bench, PathBuf) {
    let picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01".as_slice();
    let files = [("a", b"one\n".as_slice()), ("in/x", b"x"), ("sub/f", b"one\n"), ("sub/in/x", b"x"), ("sub/p.png", picture)];
    let b = Bench::new(&files);
    let out = b.root.parent().unwrap().join("outside");
    for path in ["f", "in/x"] {
        fs::create_dir_all(out.join(path).parent().unwrap()).unwrap();
        fs::copy(b.root.join("sub").join(path), out.join(path)).unwrap();
    }
    if !outside.is_empty() {
        fs::write(out.join("f"), outside).unwrap();
        fs::write(out.join(outside.trim()), "x").unwrap();
    }
    (b, out)
}

fn swap(root: &Path, to: &Path) {
    fs::rename(root.join("sub"), root.join("was")).unwrap();
    symlink(to, root.join("sub")).unwrap();
}

#[test]
fn a_folder_that_became_a_link_since_it_was_shown_leads_nobody_out() {
    for outside in ["", "OTHERS\n"] {
        for (name, args) in calls() {
            let (b, out) = bench(outside);
            let (call, _) = b.call(name, args.clone()).unwrap();
            swap(&b.root, &out);
            let before = (tree(&out), tree(&b.root));
            let error = b.run_call(&call).map(|done| done.for_model).unwrap_err().0;
            assert!(error.contains("since"), "{name} {args}: {error}");
            assert_eq!((tree(&out), tree(&b.root)), before, "{name} {args}");
        }
    }
}

/// At each moment at which a folder has just been opened.
#[test]
fn nor_if_it_becomes_one_while_the_call_runs() {
    let mut swaps = 0;
    for (name, args) in calls() {
        for nth in 1..=12 {
            let (b, out) = bench("OTHERS\n");
            let (call, _) = b.call(name, args.clone()).unwrap();
            let (root, to) = (b.root.clone(), out.clone());
            when_opened(nth, move || swap(&root, &to));
            let before = tree(&out);
            let told = match b.run_call(&call) {
                Ok(output) => format!("{output:?}"),
                Err(error) => error.0,
            };
            assert_eq!(tree(&out), before, "{name} {args} at {nth}: {told}");
            assert!(!told.contains("OTHERS"), "{name} {args} at {nth}: {told}");
            when_opened(1, || {});
            crate::atomic::spot::tests::opened();
            if !b.root.join("was").exists() {
                break;
            }
            swaps += 1;
        }
    }
    assert!(swaps > 60, "{swaps}: the moments are found");
}

#[test]
fn git_is_not_reached_by_a_folder_that_was_swapped() {
    let b = Bench::new(&[("sub/hooks/keep", b""), (".git/hooks/keep", b""), (".git/config", b"[core]\n")]);
    for (name, args) in [
        ("Replace", json!({"file_path": "sub/hooks/pre-commit", "content": "#!/bin/sh\n"})),
        ("FileOp", json!({"operation": "copy", "path": "sub/hooks/keep", "destination": "sub/hooks/pre-commit"})),
        ("FileOp", json!({"operation": "delete", "path": "sub/hooks/keep"})),
    ] {
        let (call, _) = b.call(name, args).unwrap();
        let before = tree(&b.root.join(".git"));
        swap(&b.root, &b.root.join(".git"));
        assert!(b.run_call(&call).is_err());
        assert_eq!(tree(&b.root.join(".git")), before);
        fs::remove_file(b.root.join("sub")).unwrap();
        fs::rename(b.root.join("was"), b.root.join("sub")).unwrap();
    }
}

#[test]
fn a_command_starts_in_the_folder_that_was_shown_or_not_at_all() {
    let (b, out) = bench("");
    b.run("Bash", json!({"command": "cd sub"})).unwrap();
    let (call, _) = b.call("Bash", json!({"command": "touch made"})).unwrap();
    swap(&b.root, &out);
    assert!(b.run_call(&call).unwrap_err().0.contains("working folder has changed"));
    assert!(!out.join("made").exists());
}

/// In the sandbox it goes there once more, by the name.
#[test]
fn nor_does_it_if_the_folder_is_swapped_while_it_starts() {
    for on in [false, true] {
        let mut swaps = 0;
        for nth in 1..=4 {
            let (mut b, out) = bench("");
            let sandbox = Sandbox::new(SandboxSettings { on, ..SandboxSettings::default() }, vec![]);
            b.workspace = Workspace::new(&b.root, &b.root.parent().unwrap().join("spill")).unwrap().with_sandbox(sandbox);
            b.run("Bash", json!({"command": "cd sub"})).unwrap();
            let (call, _) = b.call("Bash", json!({"command": "touch made"})).unwrap();
            let (root, to) = (b.root.clone(), out.clone());
            when_opened(nth, move || swap(&root, &to));
            let told = b.run_call(&call);
            when_opened(1, || {});
            crate::atomic::spot::tests::opened();
            assert!(!out.join("made").exists(), "{on} {nth}: {told:?}");
            swaps += usize::from(b.root.join("was").exists());
        }
        assert!(swaps >= 2, "{swaps}");
    }
}

#[test]
fn links_that_stay_are_followed_and_stay_links() {
    let (b, out) = bench("");
    symlink("sub/f", b.root.join("inner")).unwrap();
    symlink(out.join("f"), b.root.join("outer")).unwrap();
    symlink("sub", b.root.join("door")).unwrap();
    for path in ["inner", "outer", "door/in/x"] {
        b.run("View", json!({"file_path": path})).unwrap();
        b.run("Replace", json!({"file_path": path, "content": format!("by {path}")})).unwrap();
    }
    b.run("Replace", json!({"file_path": "door/new/file", "content": "made"})).unwrap();
    assert_eq!(b.bytes("sub/f"), b"by inner");
    assert_eq!(fs::read(out.join("f")).unwrap(), b"by outer");
    assert_eq!((b.bytes("sub/in/x"), b.bytes("sub/new/file")), (b"by door/in/x".to_vec(), b"made".to_vec()));
    assert!(["inner", "outer", "door"].iter().all(|link| b.root.join(link).is_symlink()));
}

#[test]
fn a_file_with_other_names_is_told_as_such_and_leaves_them_alone() {
    let (b, out) = bench("");
    fs::hard_link(out.join("f"), b.root.join("x")).unwrap();
    b.run("View", json!({"file_path": "x"})).unwrap();
    let (call, preview) = b.call("Edit", json!({"file_path": "x", "old_string": "one", "new_string": "two"})).unwrap();
    assert_eq!(preview.title, "x (it has another name, which keeps the old content)");
    assert!(b.run_call(&call).unwrap().for_model.contains("It had other hard links, which keep the old content."));
    assert_eq!((b.bytes("x"), fs::read(out.join("f")).unwrap()), (b"two\n".to_vec(), b"one\n".to_vec()));
    // The file itself is somebody's: it is never written where it is.
    assert_eq!(b.call("Replace", json!({"file_path": "x", "content": "x"})).unwrap().1.title, "x");
}

#[test]
fn a_name_in_another_form_finds_the_file_if_only_one_is_meant() {
    let b = Bench::new(&[("u\u{308}ber/cafe\u{301}.txt", b"one\n"), ("both/é", b"1"), ("both/e\u{301}", b"2"), ("two/\u{1e69}", b"1")]);
    let (call, preview) = b.call("View", json!({"file_path": "über/café.txt"})).unwrap();
    assert_eq!(preview.access, crate::protocol::Access::Read(vec![b.root.join("u\u{308}ber/cafe\u{301}.txt")]));
    b.run_call(&call).unwrap();
    b.run("Edit", json!({"file_path": "über/café.txt", "old_string": "one", "new_string": "two"})).unwrap();
    assert_eq!(b.bytes("u\u{308}ber/cafe\u{301}.txt"), b"two\n");
    assert_eq!(
        (b.text("View", json!({"file_path": "both/é"})), b.text("View", json!({"file_path": "both/e\u{301}"}))),
        ("     1\t1\n".into(), "     1\t2\n".into())
    );
    // A third form, while two are there: which one is not known, so it is a new file.
    fs::write(b.root.join("two/s\u{323}\u{307}"), "2").unwrap();
    assert!(b.text("View", json!({"file_path": "two/s\u{307}\u{323}"})).contains("does not exist"));
}
