//! The main job: a request, the model's stream, the diff, yes, the file is changed; and everything walked back.

use crate::support::*;
use serde_json::json;

const BEFORE: &str = "fn main() {\n    println!(\"helo\");\n}\n";
const AFTER: &str = "fn main() {\n    println!(\"hello\");\n}\n";

fn edit() -> Reply {
    Reply::stream()
        .say("I'll fix the ")
        .say("greeting.")
        .call_piece(0, Some(("call_1", "Edit")), "{\"file_path\": \"main.rs\", ")
        .call_piece(0, None, "\"old_string\": \"helo\",")
        .call_piece(0, None, " \"new_string\": \"hello\"}")
        .done("tool_calls")
}

#[test]
fn a_request_becomes_a_change_and_undo_takes_it_back() {
    let server = ModelServer::start([
        Reply::call("View", json!({ "file_path": "main.rs" })),
        edit(),
        Reply::call("Bash", json!({ "command": "echo checked; cat main.rs | wc -l", "description": "Count lines" })),
        Reply::text("The greeting is **right** now."),
    ]);
    let w = Workspace::new(&server).file("main.rs", BEFORE);
    let mut t = w.start();
    t.ready().ask("fix the greeting");
    t.sees("Make this change?").sees("I'll fix the greeting.").shows("+1 −1");
    assert_eq!(w.read("main.rs"), BEFORE, "nothing happens before the answer");
    // What only reads needs no answer.
    t.press('y').sees("echo checked; cat main.rs | wc -l").sees("1 file changed").sees("The greeting is right now.").sees("checked");
    assert_eq!(w.read("main.rs"), AFTER);

    let asked = server.asked();
    assert_eq!(asked.len(), 4);
    assert_eq!(asked[0].path, "/v1/chat/completions");
    assert_eq!(asked[0].header("authorization"), Some("Bearer sk-test-key"));
    assert_eq!((asked[0].body["model"].as_str(), asked[0].body["stream"].as_bool()), (Some("test-model"), Some(true)));
    assert_eq!(asked[0].last(), ("user", "fix the greeting"));
    let roles: Vec<&str> = asked[3].messages().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "assistant", "tool", "assistant", "tool"]);
    let messages = asked[3].messages();
    assert_eq!(messages[4]["content"], "I'll fix the greeting.");
    assert_eq!(messages[4]["tool_calls"][0]["id"], messages[5]["tool_call_id"]);
    assert!(messages[3]["content"].as_str().unwrap().contains("1\tfn main() {"));
    assert!(asked[3].last().1.contains("checked\n3"), "{:?}", asked[3].last());

    t.ask("/undo").sees("main.rs is as it was");
    assert_eq!(w.read("main.rs"), BEFORE);
    t.screen_is("the prompt is in the box again", |screen| screen.lines().any(|l| l.starts_with("❯ fix the greeting")));
    // What was taken back is not sent again: the conversation begins anew.
    server.then(Reply::text("Again."));
    t.enter().sees("Again.");
    assert_eq!(server.request(5).messages().len(), 2);
}

/// What no `git` would bring back: ignored files that a tool wrote, files outside its view, a whole folder that a command removed.
#[test]
fn one_step_back_brings_all_of_it_and_one_forward_again() {
    let server = ModelServer::after_seeing(
        ".env",
        [
            Reply::call("Edit", json!({ "file_path": ".env", "old_string": "KEY=1", "new_string": "KEY=2" })),
            Reply::call("Bash", json!({ "command": "rm -rf src; mkdir new; echo made > new/file; chmod +x run.sh" })),
            Reply::text("All done."),
        ],
    );
    let w = Workspace::new(&server).file(".gitignore", ".env\n").file(".env", "KEY=1\n").file("src/a.rs", "a").file("src/deep/b.rs", "b");
    let w = w.file("run.sh", "#!/bin/sh\n");
    let before = w.snapshot();
    let mut t = w.start_sized(&["--mode", "yolo"], 150, 30);
    t.ready().ask("go").sees("All done.").sees("files changed");
    let after = w.snapshot();
    assert!(!w.root().join("src").exists() && w.read(".env") == "KEY=2\n");
    t.esc().esc().shows("Checkpoints").enter().shows("files and conversation").shows("Going back  2 changed").enter();
    t.sees("the conversation goes on from before that prompt").shows("❯ go");
    assert_eq!(w.snapshot(), before);
    t.ctrl('u').ask("/redo").sees("the conversation is, too");
    assert_eq!(w.snapshot(), after);
    server.then(Reply::text("Yes."));
    t.ask("and?").sees("Yes.");
    let asked = server.request(4);
    let texts: Vec<&str> = asked.messages().iter().filter_map(|m| m["content"].as_str()).collect();
    assert!(texts.contains(&"go") && texts.contains(&"All done."), "{texts:?}");
    t.ask("/redo").sees("There is nothing to redo");
}

#[test]
fn what_is_moved_and_deleted_comes_back_with_what_git_ignores() {
    let server = ModelServer::start([
        Reply::call("FileOp", json!({ "operation": "delete", "path": "src" })),
        Reply::call("FileOp", json!({ "operation": "move", "path": "a.txt", "destination": "b/a.txt" })),
        Reply::text("All done."),
    ]);
    let w = Workspace::new(&server).file(".gitignore", "*.log\n").file("src/deep/x.log", "x").file("src/b.rs", "b").file("a.txt", "a");
    let before = w.snapshot();
    let mut t = w.start_sized(&[], 120, 30);
    t.ready().ask("go").shows("Make this change?").shows("delete src/deep/x.log").shows("2 files").press('y');
    t.shows("move a.txt → b/a.txt").press('y').sees("All done.").sees("4 files changed").hides("esc interrupts");
    assert!(!w.root().join("src").exists() && w.read("b/a.txt") == "a");
    t.ask("/undo").sees("the conversation goes on from before that prompt");
    assert_eq!(w.snapshot(), before);
}

/// What somebody changed after the turn is named before anything is done, and stays.
#[test]
fn an_undo_shows_its_plan_first_and_asks_where_something_stays() {
    let server = ModelServer::start([
        Reply::call("Bash", json!({ "command": "echo two > a.txt; echo two > b.txt; echo new > c.txt" })),
        Reply::text("All done."),
    ]);
    let w = Workspace::new(&server).file("a.txt", "one\n").file("b.txt", "one\n");
    let mut t = w.start_sized(&["--mode", "yolo"], 120, 30);
    t.ready().ask("go").sees("All done.").sees("3 files changed").hides("esc interrupts");
    std::fs::write(w.root().join("b.txt"), "mine\n").unwrap();
    t.ask("/undo").sees("Going back to before “go”: 1 changed, 1 deleted, 1 skipped").shows("b.txt: changed after the turn");
    t.press('n').sees("Everything was left as it is.");
    assert_eq!((w.read("a.txt").as_str(), w.read("b.txt").as_str(), w.read("c.txt").as_str()), ("two\n", "mine\n", "new\n"));
    t.ask("/undo").shows("leave everything as it is").press('y').sees("are as they were");
    assert_eq!((w.read("a.txt").as_str(), w.read("b.txt").as_str()), ("one\n", "mine\n"));
    assert!(!w.root().join("c.txt").exists());
    t.ctrl('u').ask("/redo").sees("Going forward again: 1 changed, 1 recreated.").sees("the conversation is, too");
    assert_eq!((w.read("a.txt").as_str(), w.read("b.txt").as_str(), w.read("c.txt").as_str()), ("two\n", "mine\n", "new\n"));
}

#[test]
fn a_checkpoint_by_hand_is_gone_back_to() {
    let server = ModelServer::start([Reply::text("Hello.")]);
    let w = Workspace::new(&server).file("a.txt", "one\n");
    let mut t = w.start_sized(&[], 120, 30);
    t.ready().ask("/checkpoint before I try").sees("It is called “before I try”.");
    std::fs::write(w.root().join("a.txt"), "two\n").unwrap();
    t.ask("hi").sees("Hello.").hides("esc interrupts");
    t.ask("/checkpoint list").shows("before I try").shows("+ one").enter().shows("files only").type_("f");
    t.sees("a.txt is as it was");
    assert_eq!(w.read("a.txt"), "one\n");
    t.ask("/redo").sees("a.txt is as it was. ");
}

#[test]
fn what_is_changed_is_exactly_what_was_shown() {
    let before = "one\r\ntwo\r\nthree\r\nlast without an end";
    let server = ModelServer::after_seeing(
        "dos.txt",
        [Reply::call("Edit", json!({ "file_path": "dos.txt", "old_string": "two\nthree", "new_string": "2\n3" })), Reply::text("Done.")],
    );
    let w = Workspace::new(&server).file("dos.txt", before).file("other.txt", "untouched");
    let others = w.snapshot();
    let mut t = w.start();
    t.ready().ask("go").shows("Make this change?").press('y').sees("1 file changed");
    let mut expected = others;
    expected.insert("dos.txt".into(), b"one\r\n2\r\n3\r\nlast without an end".to_vec());
    assert_eq!(w.snapshot(), expected);
}

#[test]
fn a_file_that_changes_while_the_question_is_open_is_not_overwritten() {
    let server = ModelServer::after_seeing("main.rs", [edit(), Reply::text("I see.")]);
    let w = Workspace::new(&server).file("main.rs", BEFORE);
    let mut t = w.start();
    t.ready().ask("go").shows("Make this change?");
    let saved = "fn main() { /* the user was faster */ println!(\"helo\") }\n";
    w.write("main.rs", saved);
    t.press('y').sees("I see.");
    assert_eq!(w.read("main.rs"), saved);
    let (role, content) = (server.request(2).last().0.to_owned(), server.request(2).last().1.to_owned());
    assert!(role == "tool" && content.starts_with("Error:"), "{content}");
}

#[test]
fn a_shell_line_of_the_users_own_runs_unasked_and_the_model_hears_of_it() {
    let server = ModelServer::start([Reply::text("Yes.")]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready().ask("!echo from-the-$((40+2))").sees("from-the-42");
    t.ready().ask("did you see it?").sees("Yes.");
    let said = server.request(1).body["messages"].to_string();
    assert!(said.contains("from-the-42"), "{said}");
}
