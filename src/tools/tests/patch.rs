//! apply_patch, and SEARCH/REPLACE blocks.

use super::Bench;
use crate::protocol::{Access, Block};
use serde_json::json;
use std::{fs, os::unix::fs::PermissionsExt};

fn patch(b: &Bench, body: &str) -> String {
    b.text("apply_patch", json!({"input": format!("*** Begin Patch\n{body}\n*** End Patch")}))
}

#[test]
fn a_patch_changes_several_files() {
    let go = "package a\r\n\r\nfunc f() {\r\n\tx()\r\n}\r\n\r\nfunc g() {\r\n\tx()\r\n}\r\n";
    let b = Bench::new(&[("a.go", go.as_bytes()), ("run", b"one\ntwo"), ("gone", b"x\n")]);
    fs::set_permissions(b.root.join("run"), fs::Permissions::from_mode(0o750)).unwrap();
    let body = "*** Update File: a.go\n@@ func g() {\n-\tx()\n+\ty()\n }\n*** Update File: run\n*** Move to: bin/run\n one\n-two\n+2\n*** Add File: new/f\n+hi\n*** Delete File: gone";
    let call = b.call("ApplyPatch", json!({"patch": format!("*** Begin Patch\n{body}\n*** End Patch")})).unwrap();
    let paths = ["a.go", "bin/run", "run", "new/f", "gone"].map(|path| b.root.join(path)).to_vec();
    assert_eq!((call.1.access, call.1.title.as_str()), (Access::Write(paths), "a.go, bin/run, run, new/f, gone"));
    assert!(matches!(&call.1.block, Block::Diff(files) if files.len() == 5 && files[4].new.is_none()));
    let done = b.run_call(&call.0).unwrap();
    assert_eq!(done.for_model, "Changed a.go (+1 −1).\nCreated bin/run.\nDeleted run.\nCreated new/f.\nDeleted gone.");
    assert_eq!(b.bytes("a.go"), "package a\r\n\r\nfunc f() {\r\n\tx()\r\n}\r\n\r\nfunc g() {\r\n\ty()\r\n}\r\n".as_bytes());
    assert_eq!((b.bytes("bin/run"), b.bytes("new/f")), (b"one\n2".to_vec(), b"hi\n".to_vec()));
    assert_eq!(fs::metadata(b.root.join("bin/run")).unwrap().permissions().mode() & 0o777, 0o750);
    assert_eq!(b.names(), ["a.go", "bin", "bin/run", "new", "new/f"]);
}

#[test]
fn hunks_come_one_after_the_other() {
    let b = Bench::new(&[("a", b"x\n1\nx\n1\nx\n1\n")]);
    // The second is looked for below the first, so that it is the only one that is left.
    assert!(patch(&b, "*** Update File: a\n@@ x\n@@ x\n-1\n+2\n x\n@@\n x\n-1\n+3").starts_with("Changed a (+2 −2)."));
    assert_eq!(b.bytes("a"), b"x\n1\nx\n2\nx\n3\n");
    // Without anything to find: after the line that is named, or at the end.
    assert!(patch(&b, "*** Update File: a\n@@ 2\n+new\n@@\n+end").starts_with("Changed a"));
    assert_eq!(b.bytes("a"), b"x\n1\nx\n2\nnew\nx\n3\nend\n");
    assert!(patch(&b, "*** Update File: a\n-end\n*** End of File").starts_with("Changed a"));
    assert_eq!(b.bytes("a"), b"x\n1\nx\n2\nnew\nx\n3\n");
}

#[test]
fn all_of_a_patch_or_none() {
    let b = Bench::new(&[("a", b"1\n1\n"), ("b", b"2\n")]);
    fs::write(b.root.join("unseen"), "u\n").unwrap();
    for (body, why) in [
        ("*** Update File: b\n-2\n+3\n*** Update File: a\n-1\n+2", "Hunk 1 of 1 for a: old_string occurs 2 times in a (lines 1, 2)"),
        ("*** Update File: b\n-2\n+3\n*** Update File: a\n@@ nothing\n-1", "[\"nothing\"] was not found"),
        ("*** Update File: b\n-2\n+3\n*** Delete File: none", "none does not exist"),
        ("*** Update File: b\n-2\n+3\n*** Add File: a\n+x", "a exists already"),
        ("*** Update File: b\n*** Move to: a\n-2\n+3", "a exists already"),
        ("*** Update File: b\n-2\n+3\n*** Delete File: unseen", "You have not seen unseen"),
        ("*** Update File: b\n-2\n+3\n*** Delete File: ./b", "b is in the patch twice"),
    ] {
        let said = patch(&b, body);
        assert!(said.contains(why), "{body:?}: {said}");
    }
    assert_eq!(
        (b.bytes("a"), b.bytes("b"), b.names()),
        (b"1\n1\n".to_vec(), b"2\n".to_vec(), vec!["a".into(), "b".into(), "unseen".into()])
    );
    // A file that changed since it was shown keeps all of them as they are.
    let body = "*** Begin Patch\n*** Update File: b\n-2\n+3\n*** Delete File: a\n*** End Patch";
    let call = b.call("apply_patch", json!({"patch": body})).unwrap().0;
    fs::write(b.root.join("a"), "by the user\n").unwrap();
    assert!(b.run_call(&call).unwrap_err().0.contains("changed since this call was shown"));
    assert_eq!((b.bytes("a"), b.bytes("b")), (b"by the user\n".to_vec(), b"2\n".to_vec()));
}

#[test]
fn search_and_replace_blocks_work_the_same_way() {
    let b = Bench::new(&[("a", b"one\n\ttwo\n")]);
    // The second block is above the first.
    let diff = "<<<<<<< SEARCH\n  two\n=======\n  2\n>>>>>>> REPLACE\n<<<<<<< SEARCH\none\n=======\n1\n>>>>>>> REPLACE";
    assert!(b.text("replace_in_file", json!({"path": "a", "diff": diff})).starts_with("Changed a (+2 −2)."));
    assert_eq!(b.bytes("a"), b"1\n\t2\n");
    assert!(b.text("replace_in_file", json!({"path": "a", "diff": diff})).contains("Hunk 1 of 2 for a: old_string was not found"));
}

#[test]
fn models_are_not_told_of_it() {
    let b = Bench::new(&[]);
    assert!(b.registry.specs().iter().all(|spec| spec.name != "apply_patch"));
}
