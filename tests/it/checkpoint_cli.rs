//! `backstitch checkpoint`, `undo` and `redo`: what real turns did, seen and walked back from the shell.

use crate::support::*;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
};
use workspace::{Ended, files_below};

/// A project in which turns, each a run of its own, have done these commands.
fn worked(w: Workspace, commands: &[&str]) -> Workspace {
    let replies = commands.iter().flat_map(|command| [Reply::call("Bash", json!({ "command": command })), Reply::text("Done.")]);
    let server = ModelServer::start(replies);
    w.configure(&server);
    for n in 1..=commands.len() {
        let ended = w.run(&["run", "--mode", "yolo", &format!("request {n}")], "");
        assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    }
    w
}

fn fine(w: &Workspace, arguments: &[&str]) -> String {
    let ended = w.run(arguments, "");
    assert_eq!(ended.code(), Some(0), "{arguments:?}: {}{}", ended.stdout, ended.stderr);
    assert!(!ended.stdout.contains('\x1b') && !ended.stderr.contains('\x1b'), "{ended:?}");
    ended.stdout
}

fn refused(w: &Workspace, arguments: &[&str], says: &str) -> Ended {
    let ended = w.run(arguments, "");
    assert_eq!(ended.code(), Some(1), "{arguments:?}: {ended:?}");
    assert!(ended.stderr.contains(says), "{}", ended.stderr);
    ended
}

fn listed(w: &Workspace) -> Vec<Value> {
    serde_json::from_str(&fine(w, &["checkpoint", "list", "--json"])).unwrap()
}

fn id(entry: &Value) -> &str {
    entry["id"].as_str().unwrap()
}

/// Mode, and contents or target, of everything but folders.
fn tree(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut all = BTreeMap::new();
    for path in files_below(root).into_iter().filter(|path| !path.strip_prefix(root).unwrap().starts_with(".git")) {
        let meta = fs::symlink_metadata(&path).unwrap();
        let what = if meta.is_symlink() {
            (1, fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes())
        } else {
            (meta.permissions().mode() & 0o100, fs::read(&path).unwrap())
        };
        all.insert(path.strip_prefix(root).unwrap().into(), what);
    }
    all
}

fn git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").current_dir(folder).args(arguments);
    let out = git.output().unwrap();
    assert!(out.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn checkpoints_are_listed_and_shown() {
    let w = worked(Workspace::bare().file("a.txt", "one\n").file("gone.txt", "x\n"), &["echo two >> a.txt; rm gone.txt; echo n > new.txt"]);
    let list = fine(&w, &["checkpoint", "list"]);
    let rows: Vec<&str> = list.lines().collect();
    assert_eq!(rows.len(), 2, "{list}");
    assert!(rows[0].contains("before a request  2 files  request 1") && rows[1].contains("after a request   3 files  request 1"), "{list}");
    let entries = listed(&w);
    let names = ["id", "time", "kind", "label", "session", "turn", "files_changed", "pinned"];
    assert!(entries.iter().all(|entry| entry.as_object().unwrap().keys().eq(names)), "{entries:?}");
    assert_eq!((&entries[1]["kind"], &entries[1]["files_changed"]), (&json!("after-turn"), &json!(3)));
    assert!(rows[1].starts_with(&id(&entries[1])[..8]));
    let newest = fine(&w, &["checkpoint", "list", "-n", "1"]);
    assert!(newest.starts_with(&rows[1][..8]) && newest.lines().count() == 1, "{newest}");
    let page = fine(&w, &["checkpoint", "show", "@"]);
    for sees in
        [id(&entries[1]), "request 1", "3 files changed since", "changed  a.txt     +1", "deleted  gone.txt  −1", "added    new.txt   +1"]
    {
        assert!(page.contains(sees), "{sees} in {page}");
    }
    assert_eq!(fine(&w, &["checkpoint", "show", &id(&entries[1])[..5]]), page);
    let page: Value = serde_json::from_str(&fine(&w, &["checkpoint", "show", "last", "--json"])).unwrap();
    assert_eq!((&page["compared_with"], &page["files"][0]["added"]), (&entries[0]["id"], &json!(1)));
    assert!(fine(&w, &["checkpoint", "show", id(&entries[0])]).contains("The first one: 2 files."));
    for what in ["show", "diff", "restore", "delete", "pin"] {
        refused(&w, &["checkpoint", what, "zzz"], "There is no checkpoint 'zzz'.\n  hint: backstitch checkpoint list");
    }
}

#[test]
fn a_diff_is_a_patch_that_git_takes() {
    let w = Workspace::bare().file("a b.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9").file("gone/x", "x\n").file("move.txt", "some text\n");
    let w = w.file("run.sh", "echo\n").file("cr", "x\ry\r\nz\r").file("umlaut-ä", "ä\n").file("swap", "text\n").file("empty", "");
    symlink("swap", w.root().join("link")).unwrap();
    fs::write(w.root().join("picture.bin"), b"\0\x01\x02").unwrap();
    let copy = w.temporary().join("copy");
    git(&w.temporary(), &["init", "-q", "copy"]);
    let clone = Command::new("cp").args(["-a", "."]).arg(&copy).current_dir(w.root()).status().unwrap();
    assert!(clone.success());
    let before = tree(w.root());
    let w = worked(
        w,
        &["sed -i s/5/five/ 'a b.txt'; rm -r gone empty; mv move.txt moved.txt; mv picture.bin p.bin; chmod +x run.sh; printf 'x\\rz\\r' > cr
          rm link swap; ln -s else swap; echo file > link; echo ö > umlaut-ä; printf '\\n' > 'q\"\\t'; : > new-empty; mkdir d; echo > d/e"],
    );
    let first = listed(&w)[0]["id"].as_str().unwrap().to_owned();
    let (to_now, to_newest) = (fine(&w, &["checkpoint", "diff", &first]), fine(&w, &["checkpoint", "diff", &first, "@"]));
    assert_eq!(to_now, to_newest);
    for sees in
        ["rename from move.txt\nrename to moved.txt\n", "old mode 100644\nnew mode 100755\n", "deleted file mode 120000", "--- /dev/null"]
    {
        assert!(to_now.contains(sees), "{sees} in {to_now}");
    }
    w.write_abs(&w.temporary().join("patch"), &to_now);
    git(&copy, &["apply", "../patch"]);
    assert_eq!(tree(&copy), tree(w.root()));
    // The other way round, and only a part.
    w.write_abs(&w.temporary().join("patch"), &fine(&w, &["checkpoint", "diff", "@", &first]));
    git(w.root(), &["apply", "../../tmp/patch"]);
    assert_eq!(tree(w.root()), before);
    let part = fine(&w, &["checkpoint", "diff", &first, "@", "--", "./gone/", "cr"]);
    let headers: Vec<&str> = part.lines().filter(|line| line.starts_with("diff ")).collect();
    assert_eq!(headers, ["diff --git a/cr b/cr", "diff --git a/gone/x b/gone/x"]);
    let json: Value = serde_json::from_str(&fine(&w, &["checkpoint", "diff", &first, "@", "--json", "--", "gone"])).unwrap();
    assert_eq!((&json[0]["path"], &json[0]["action"], &json[0]["removed"]), (&json!("gone/x"), &json!("deleted"), &json!(1)));
    assert!(json[0]["patch"].as_str().unwrap().contains("\n-x\n"));
}

#[test]
fn a_restore_shows_its_plan_and_waits_for_a_yes() {
    let w = worked(Workspace::bare().file("a.txt", "one\n").file("gone.txt", "x\n"), &["echo two > a.txt; rm gone.txt; echo n > new.txt"]);
    let (first, after) = (listed(&w)[0]["id"].as_str().unwrap().to_owned(), w.snapshot());
    let plan = "1 changed, 1 deleted, 1 recreated\n  change    a.txt\n  recreate  gone.txt\n  delete    new.txt\n";
    // There is nobody to ask.
    let ended = w.run(&["checkpoint", "restore", &first], "y\n");
    assert!(ended.code() == Some(2) && ended.stdout.contains(plan) && ended.stderr.contains("--yes"), "{ended:?}");
    assert!(fine(&w, &["checkpoint", "restore", &first, "--dry-run"]).contains(plan));
    let json: Value = serde_json::from_str(&fine(&w, &["checkpoint", "restore", &first, "--dry-run", "--json"])).unwrap();
    assert_eq!((&json["done"], &json["files"][2]), (&json!(false), &json!({ "path": "new.txt", "action": "delete" })));
    // Somebody is, and says no, and yes.
    let restore = ["checkpoint", "restore", &first, "a.txt", "gone.txt"];
    let mut t = w.start_with(&restore);
    t.sees("Go back? [y/N]").type_("\n").sees("Nothing was done.");
    assert_eq!((t.exits().exit_code(), w.snapshot()), (2, after.clone()));
    let mut t = w.start_with(&restore);
    t.sees("Go back? [y/N]").type_("y\n").sees("2 files are as before. The way back: backstitch checkpoint restore ");
    assert_eq!(t.exits().exit_code(), 0);
    assert_eq!((w.read("a.txt").as_str(), w.read("gone.txt").as_str(), w.read("new.txt").as_str()), ("one\n", "x\n", "n\n"));
    assert!(fine(&w, &["checkpoint", "restore", &first, "a.txt"]).contains("nothing to do"));
    refused(&w, &["checkpoint", "restore", &first, "a.tx"], "There is no a.tx, neither here nor in ");
    // All the way, and back by what it says.
    let json: Value = serde_json::from_str(&fine(&w, &["checkpoint", "restore", &first, "--yes", "--json"])).unwrap();
    assert_eq!((&json["done"], w.root().join("new.txt").exists()), (&json!(true), false));
    let back = json["before"].as_str().unwrap();
    assert!(fine(&w, &["checkpoint", "restore", back, "-y"]).contains("The way back: "));
    assert!(w.root().join("new.txt").exists());
    fine(&w, &["checkpoint", "restore", "--yes", id(&listed(&w)[1])]);
    assert_eq!(w.snapshot(), after);
}

#[test]
fn undo_goes_back_turn_by_turn_and_redo_forward() {
    let w = Workspace::bare().file("a.txt", "one\n").file("mine.txt", "1\n");
    let w = worked(w, &["echo two > a.txt; echo n > new.txt", "echo three > a.txt; echo m > more.txt; rm new.txt", "ls"]);
    let done = w.snapshot();
    w.write("mine.txt", "2\n");
    let ended = w.run(&["undo"], "y\n");
    assert!(ended.code() == Some(2) && ended.stdout.contains("“request 2”") && ended.stdout.contains("not the conversation"), "{ended:?}");
    let files =
        |w: &Workspace| ["a.txt", "new.txt", "more.txt", "mine.txt"].map(|f| fs::read_to_string(w.root().join(f)).unwrap_or_default());
    assert!(fine(&w, &["undo", "--yes"]).contains("1 changed, 1 deleted, 1 recreated\n"));
    assert_eq!(files(&w), ["two\n", "n\n", "", "2\n"]);
    let json: Value = serde_json::from_str(&fine(&w, &["undo", "--yes", "--json"])).unwrap();
    assert_eq!((files(&w), &json["done"]), (["one\n", "", "", "2\n"].map(String::from), &json!(true)));
    refused(&w, &["undo", "--yes"], "There is nothing to undo");
    // What was done meanwhile stays, here too.
    w.write("mine.txt", "3\n");
    assert!(fine(&w, &["redo", "--dry-run"]).contains("“request 1”"));
    assert!(fine(&w, &["redo", "--yes"]).contains("2 files are as before."));
    assert_eq!(files(&w), ["two\n", "n\n", "", "3\n"]);
    fine(&w, &["redo", "--yes"]);
    assert_eq!(files(&w), ["three\n", "", "m\n", "3\n"]);
    refused(&w, &["redo", "--yes"], "There is nothing to redo");
    w.write("mine.txt", "1\n");
    assert_eq!(w.snapshot(), done);
    // And once more: it is the second turn that was done last.
    assert!(fine(&w, &["undo", "--dry-run"]).contains("“request 2”"));
}

#[test]
fn undo_stops_at_a_turn_whose_files_have_all_changed_since() {
    let w = worked(Workspace::bare().file("a.txt", "one\n"), &["echo n > new.txt", "echo two > a.txt"]);
    w.write("a.txt", "mine\n");
    let ended = refused(&w, &["undo", "--yes"], "Nothing of what “request 2” changed can be taken back.");
    assert!(ended.stderr.contains("a.txt: changed after the turn") && ended.stderr.contains("backstitch checkpoint restore "), "{ended:?}");
    // A new turn after an undo is the last one; what was undone can't come back over it.
    w.write("a.txt", "two\n");
    fine(&w, &["undo", "--yes"]);
    w.write("a.txt", "mine\n");
    refused(&w, &["redo", "--yes"], "Nothing of what “request 2” changed can be brought forward.\n  hint: a.txt: changed after the undo");
    w.write("a.txt", "one\n");
    let w = worked(w, &["echo again > a.txt"]);
    refused(&w, &["redo", "--yes"], "a turn has changed files since");
    fine(&w, &["undo", "--yes"]);
    assert_eq!(w.read("a.txt"), "one\n");
    assert!(fine(&w, &["undo", "--yes"]).contains("  delete    new.txt"));
}

#[test]
fn it_works_beside_a_session_that_runs() {
    let gate = Gate::new();
    let server = ModelServer::start([
        Reply::call("Bash", json!({ "command": "echo two > a.txt" })),
        Reply::stream().gate(&gate).say("Changed.").done("stop"),
        Reply::text("Still here."),
    ]);
    let w = Workspace::new(&server).file("a.txt", "one\n");
    let mut t = w.start_with(&["--mode", "yolo"]);
    t.ready().ask("change it");
    until("it is changed", || w.read("a.txt") == "two\n");
    assert!(fine(&w, &["checkpoint", "list"]).contains("before a request"));
    refused(&w, &["undo"], "If that turn runs or was cut off, they may be its own:");
    gate.open();
    t.sees("Changed.").sees("esc esc goes back");
    fine(&w, &["undo", "--yes"]);
    assert_eq!(w.read("a.txt"), "one\n");
    t.ask("and now?").sees("Still here.").ctrl('d').exits();
}

#[test]
fn a_folder_without_checkpoints_gets_no_store_and_needs_no_trust() {
    let w = Workspace::untrusted().file("a.txt", "one\n");
    assert_eq!(fine(&w, &["checkpoint", "list"]), "");
    assert!(w.run(&["checkpoint", "list"], "").stderr.contains("There are no checkpoints of "));
    assert_eq!(fine(&w, &["checkpoint", "list", "--json"]), "[]\n");
    for arguments in [&["checkpoint", "prune"][..], &["checkpoint", "show", "@"], &["undo", "--yes"], &["redo"]] {
        refused(&w, arguments, "There are no checkpoints of ");
    }
    assert!(!w.data().join("checkpoints").exists());
    assert!(fine(&w, &["checkpoint", "create", "by hand"]).contains("“by hand”: 1 file changed"));
    assert!(fine(&w, &["checkpoint", "create"]).contains("Nothing has changed since "));
    refused(&w, &["undo"], "There is nothing to undo");
    fs::create_dir(w.root().join("below")).unwrap();
    let mut below = w.plain_command(workspace::BINARY, &["checkpoint", "show", "@"]);
    below.current_dir(w.root().join("below"));
    let below = workspace::ended(below, "");
    assert!(below.stderr.contains("There are some of ") && below.stderr.contains("shop: ask in that folder"), "{below:?}");
}

#[test]
fn files_outside_of_the_folder_are_no_part_of_its_patch_unless_named() {
    let outside = |w: &Workspace| w.home().join("elsewhere.txt");
    let w = Workspace::bare().file("a.txt", "one\n");
    let replies = [Reply::call("Replace", json!({ "file_path": outside(&w), "content": "x\n" })), Reply::text("Done.")];
    let server = ModelServer::start(replies);
    w.configure(&server);
    assert_eq!(w.run(&["run", "--mode", "yolo", "go"], "").code(), Some(0));
    w.write("a.txt", "two\n");
    let first = id(&listed(&w)[0]).to_owned();
    let ended = w.run(&["checkpoint", "diff", &first], "");
    assert!(ended.stderr.contains("elsewhere.txt changed too") && !ended.stdout.contains("elsewhere"), "{ended:?}");
    let path = outside(&w).display().to_string();
    let named = fine(&w, &["checkpoint", "diff", &first, "--", &path]);
    assert!(named.contains(&format!("--- /dev/null\n+++ b{path}\n")) && !named.contains("a.txt"), "{named}");
    fine(&w, &["undo", "--yes"]);
    assert!(!outside(&w).exists());
}

#[test]
fn names_pins_and_pruning() {
    let w = Workspace::untrusted();
    for n in 0..4 {
        w.write("a.txt", &format!("{n}\n").repeat(1000));
        fine(&w, &["checkpoint", "create", &format!("number {n}")]);
    }
    let ids: Vec<String> = listed(&w).iter().map(|entry| id(entry).to_owned()).collect();
    assert!(fine(&w, &["checkpoint", "rename", &ids[1], "the good one"]).contains("is called “the good one”"));
    fine(&w, &["checkpoint", "pin", &ids[1]]);
    refused(&w, &["checkpoint", "delete", &ids[1]], "is pinned");
    assert!(fine(&w, &["checkpoint", "delete", &ids[2]]).contains("is deleted"));
    assert!(fine(&w, &["checkpoint", "prune", "--keep", "3"]).starts_with("0 checkpoints went, and "));
    let json: Value = serde_json::from_str(&fine(&w, &["checkpoint", "prune", "--all", "--json"])).unwrap();
    assert_eq!((&json["checkpoints"], &json["left"]["checkpoints"]), (&json!(1), &json!(2)));
    assert!(json["freed_bytes"].as_u64().unwrap() > 0);
    let list = fine(&w, &["checkpoint", "list"]);
    assert!(list.contains("pinned  the good one") && list.lines().count() == 2, "{list}");
    fine(&w, &["checkpoint", "unpin", &ids[1]]);
    assert!(fine(&w, &["checkpoint", "prune", "--older-than", "1"]).starts_with("Nothing had to go. 2 checkpoints stay"));
    assert!(fine(&w, &["checkpoint", "prune", "--keep", "1"]).starts_with("1 checkpoint went"));
    assert_eq!(id(&listed(&w)[0]), ids[3]);
}

#[test]
fn a_restore_that_was_cut_off_is_said_and_finished() {
    let w = Workspace::untrusted().file("a.txt", "one\n").file("b.txt", "one\n");
    fine(&w, &["checkpoint", "create"]);
    let first = listed(&w)[0].clone();
    let blob = |text: &str| {
        w.write_abs(&w.temporary().join("blob"), text);
        let out = Command::new("git").args(["hash-object", "blob"]).current_dir(w.temporary()).output().unwrap();
        json!({ "id": String::from_utf8(out.stdout).unwrap().trim(), "mode": 0o100644 })
    };
    w.write("b.txt", "two\n");
    fine(&w, &["checkpoint", "create"]);
    // What a process that died in the middle of it leaves.
    let file = |name: &str| json!([{ "Unix": name.as_bytes() }, blob("two\n"), blob("one\n")]);
    let plan = json!({ "to": first["id"], "since": null, "only": null, "files": [file("a.txt"), file("b.txt")], "skipped": [] });
    let store = fs::read_dir(w.data().join("checkpoints")).unwrap().next().unwrap().unwrap().path();
    let cut_off = || w.write_abs(&store.join("restoring"), &plan.to_string());
    cut_off();
    let said = w.run(&["checkpoint", "list"], "");
    assert!(
        said.code() == Some(0) && said.stderr.contains("was cut off, with 1 file left") && said.stderr.contains("--finish"),
        "{said:?}"
    );
    assert_eq!(w.run(&["checkpoint", "prune"], "").stderr, "");
    assert!(fine(&w, &["checkpoint", "restore", "--finish", "--yes"]).contains("  change    b.txt\n1 file is as before."));
    assert_eq!(w.read("b.txt"), "one\n");
    refused(&w, &["checkpoint", "restore", "--finish"], "There is no restore to finish.");
    w.write("b.txt", "two\n");
    cut_off();
    fine(&w, &["checkpoint", "restore", "--forget"]);
    assert_eq!((w.run(&["checkpoint", "list"], "").stderr.as_str(), w.read("b.txt").as_str()), ("", "two\n"));
}

#[test]
fn names_and_texts_cannot_drive_the_terminal_that_shows_them() {
    let evil = "x\x1b]0;owned\x07\x1b[2J\u{9b}31m";
    let w = Workspace::untrusted().file(&format!("{evil}.txt"), "one\n");
    fine(&w, &["checkpoint", "create", evil]);
    w.write(&format!("{evil}.txt"), evil);
    let name = format!("long {}", "name ".repeat(40));
    fine(&w, &["checkpoint", "create", &name]);
    let first = id(&listed(&w)[0]).to_owned();
    for arguments in [
        &["checkpoint", "list"][..],
        &["checkpoint", "list", "--json"],
        &["checkpoint", "show", &first],
        &["checkpoint", "show", "@"],
        &["checkpoint", "show", "@", "--json"],
        &["checkpoint", "diff", &first],
        &["checkpoint", "diff", &first, "--json"],
        &["checkpoint", "restore", &first, "--dry-run"],
        &["checkpoint", "show", evil],
    ] {
        let mut t = w.start_with(arguments);
        t.exits();
        let shown = String::from_utf8(t.raw()).unwrap();
        assert!(
            !shown.contains("owned\x07") && !shown.contains("\x1b[2J") && !shown.contains(['\x07', '\u{9b}']),
            "{arguments:?}: {shown:?}"
        );
        let coloured = shown.contains("\x1b[");
        assert_eq!(coloured, arguments.len() == 3 && arguments[1] == "diff", "{arguments:?}: {shown:?}");
    }
    // Rows are cut to the terminal, and for nobody else.
    let mut t = w.start_sized(&["checkpoint", "list"], 60, 20);
    t.sees("long name").exits();
    assert_eq!(t.rows().iter().filter(|row| !row.trim().is_empty()).count(), 2, "{:?}", t.rows());
    assert!(fine(&w, &["checkpoint", "list"]).contains(name.trim_end()));
    let w = w.env("NO_COLOR", "1");
    let mut t = w.start_with(&["checkpoint", "diff", &first]);
    t.sees("diff --git").exits();
    assert!(!t.raw().contains(&b'\x1b'));
}

#[test]
fn a_reader_who_has_had_enough_is_no_error() {
    let w = Workspace::untrusted();
    fine(&w, &["checkpoint", "create"]);
    w.write("long.txt", &(0..200_000).map(|n| format!("line {n}\n")).collect::<String>());
    let line = format!(
        "{0} checkpoint create > /dev/null; {0} checkpoint diff @ > /dev/null; rm long.txt; {0} checkpoint diff @ | head -1",
        workspace::BINARY
    );
    let ended = workspace::ended(w.plain_command("/bin/sh", &["-c", &line]), "");
    assert_eq!((ended.code(), ended.stdout.as_str(), ended.stderr.as_str()), (Some(0), "diff --git a/long.txt b/long.txt\n", ""));
}
