//! Files and folders moved, copied, deleted and made; never anything overwritten.

use super::*;
use crate::protocol::Access;
use serde_json::json;
use std::os::unix::fs::{PermissionsExt, symlink};

fn touched(b: &Bench, args: Value) -> Vec<String> {
    let Access::Write(paths) = b.call("FileOp", args).unwrap().1.access else { panic!() };
    paths.iter().map(|path| b.workspace.shown(path)).collect()
}

#[test]
fn a_file_goes_where_it_is_told_and_stays_known() {
    let b = Bench::new(&[("a.txt", b"one\n"), ("run.sh", b"#!/bin/sh\n"), ("sub/x", b"x")]);
    let root = b.workspace.root().to_path_buf();
    fs::set_permissions(root.join("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    b.text("View", json!({"file_path": "a.txt"}));
    let told = b.text("FileOp", json!({"operation": "move", "path": "a.txt", "destination": "new/deep/b.txt"}));
    assert_eq!(told, "Moved a.txt to new/deep/b.txt.");
    assert!(!root.join("a.txt").exists() && b.bytes("new/deep/b.txt") == b"one\n");
    b.run("Edit", json!({"file_path": "new/deep/b.txt", "old_string": "one", "new_string": "two"})).unwrap();
    // Into a folder that is there.
    assert_eq!(b.text("move_file", json!({"source": "run.sh", "destination": "sub"})), "Moved run.sh to sub/run.sh.");
    assert_eq!(fs::metadata(root.join("sub/run.sh")).unwrap().permissions().mode() & 0o777, 0o750);
    assert_eq!(b.text("copy_file", json!({"from": "sub/run.sh", "to": "copy.sh"})), "Copied sub/run.sh to copy.sh.");
    assert_eq!(fs::metadata(root.join("copy.sh")).unwrap().permissions().mode() & 0o777, 0o750);
    assert_eq!(b.text("create_directory", json!({"path": "p/q"})), "Made the folder p/q.");
    assert_eq!(b.text("delete_file", json!({"path": "copy.sh"})), "Deleted copy.sh.");
    assert!(!root.join("copy.sh").exists() && root.join("p/q").is_dir());
}

#[test]
fn nothing_is_overwritten_and_nothing_impossible_begun() {
    let b = Bench::new(&[("a", b"1"), ("b", b"2"), ("sub/c", b"3")]);
    symlink("nowhere", b.workspace.root().join("dangling")).unwrap();
    let args = |operation: &str, path: &str, to: &str| json!({"operation": operation, "path": path, "destination": to});
    let before = b.names();
    for (call, expected) in [
        (args("move", "a", "b"), "b exists already"),
        (args("copy", "a", "b"), "b exists already"),
        (args("copy", "a", "a"), "a exists already"),
        (args("copy", "a", "dangling"), "dangling exists already"),
        (args("move", "sub", "sub/in/it"), "within sub"),
        (args("move", "nothing", "x"), "nothing does not exist"),
        (args("move", "a", ""), "destination"),
        (args("delete", ".", ""), "neither a file nor a folder"),
        (args("delete", "..", ""), "neither a file nor a folder"),
        (args("delete", "sub/..", ""), "neither a file nor a folder"),
        (args("delete", &b.workspace.root().display().to_string(), ""), "the project's folder"),
        (args("delete", "/", ""), "neither a file nor a folder"),
        (args("mkdir", "sub", ""), "sub exists already"),
        (args("burn", "a", ""), "move, copy, delete or mkdir"),
        (json!({"operation": "move", "path": "a"}), "destination"),
    ] {
        let error = b.call("FileOp", call.clone()).err().unwrap_or_else(|| panic!("{call}")).0;
        assert!(error.contains(expected), "{call}: {error}");
    }
    assert_eq!(b.names(), before);
    // Something comes into the way after the look.
    let (call, _) = b.call("FileOp", args("move", "a", "late")).unwrap();
    fs::write(b.workspace.root().join("late"), "mine").unwrap();
    assert!(b.run_call(&call).is_err());
    assert_eq!((b.bytes("late"), b.bytes("a")), (b"mine".to_vec(), b"1".to_vec()));
    // What is to be deleted has become something else.
    let (call, _) = b.call("FileOp", args("delete", "a", "")).unwrap();
    fs::write(b.workspace.root().join("a"), "changed").unwrap();
    assert!(b.run_call(&call).unwrap_err().0.contains("has changed since"));
    let (call, _) = b.call("FileOp", args("delete", "sub", "")).unwrap();
    fs::write(b.workspace.root().join("sub/new"), "").unwrap();
    assert!(b.run_call(&call).unwrap_err().0.contains("has changed since"));
}

#[test]
fn a_folder_is_told_file_by_file_and_links_are_links() {
    let b = Bench::new(&[("d/a", b"1"), ("d/in/.env", b"K=1"), ("keep", b"k")]);
    let root = b.workspace.root().to_path_buf();
    symlink("/etc/passwd", root.join("d/link")).unwrap();
    symlink("keep", root.join("door")).unwrap();
    fs::create_dir(root.join("d/empty")).unwrap();
    assert_eq!(touched(&b, json!({"operation": "delete", "path": "d"})), ["d/a", "d/in/.env", "d/link"]);
    assert_eq!(
        touched(&b, json!({"operation": "move", "path": "d", "destination": "e"})),
        ["d/a", "d/in/.env", "d/link", "e/a", "e/in/.env", "e/link"]
    );
    assert_eq!(touched(&b, json!({"operation": "mkdir", "path": "x/y"})), ["x/y"]);
    assert_eq!(b.text("FileOp", json!({"operation": "copy", "path": "d", "destination": "e"})), "Copied the folder d (3 files) to e.");
    assert_eq!(fs::read_link(root.join("e/link")).unwrap(), std::path::Path::new("/etc/passwd"));
    assert!(root.join("e/empty").is_dir() && b.bytes("e/in/.env") == b"K=1");
    assert_eq!(b.text("FileOp", json!({"operation": "delete", "path": "door"})), "Deleted door.");
    assert!(root.join("keep").exists(), "the link was meant, not what it leads to");
    assert_eq!(b.text("FileOp", json!({"operation": "delete", "path": "d"})), "Deleted the folder d (3 files).");
    assert!(!root.join("d").exists() && std::path::Path::new("/etc/passwd").exists());
    assert_eq!(b.text("FileOp", json!({"operation": "rename", "path": "e", "destination": "E"})), "Moved the folder e (3 files) to E.");
}
