//! A session that goes on: the same screen, the same conversation, and every step can still be walked back.

use crate::support::*;
use serde_json::{Value, json};

fn replace(content: &str) -> Reply {
    Reply::call("Replace", json!({ "file_path": "a.txt", "content": content }))
}

fn roles(asked: &[Value]) -> Vec<&str> {
    asked.iter().map(|message| message["role"].as_str().unwrap()).collect()
}

#[test]
fn a_session_goes_on_where_it_was_left() {
    let server = ModelServer::start([
        Reply::call("View", json!({ "file_path": "a.txt" })),
        Reply::stream()
            .say("Now it says two.")
            .call_piece(0, Some(("c", "Replace")), r#"{"file_path":"a.txt","content":"two\n"}"#)
            .done("tool_calls"),
        Reply::text("It is **done**."),
    ]);
    let w = Workspace::new(&server).file("a.txt", "one\n");
    let mut t = w.start_with(&["--mode", "auto-accept"]);
    t.ready().ask("make it two").sees("1 file changed").sees("It is done.").hides("esc interrupts");
    let conversation = |t: &Term| {
        let text = t.text();
        let rows = text.lines().skip_while(|row| !row.starts_with("❯ make it two"));
        rows.take_while(|row| !row.contains("───")).map(|row| row.trim_end().to_owned()).collect::<Vec<_>>()
    };
    let shown = conversation(&t);
    assert!(shown.iter().any(|row| row.contains("+1 −1")), "{shown:?}");
    t.ctrl('d').exits();

    let mut t = w.start_with(&["--continue"]);
    t.ready().sees("It is done.").shows("auto-accept");
    assert_eq!(conversation(&t), shown, "the same screen");
    t.esc().esc().sees("Checkpoints").shows("+1").shows("1 file").press('q').hides("Checkpoints");
    server.then(Reply::text("Still here."));
    t.ask("and now?").sees("Still here.");
    let asked = server.request(4);
    assert_eq!(roles(asked.messages()), ["system", "user", "assistant", "tool", "assistant", "tool", "assistant", "user"]);
    t.ask("/undo").sees("a.txt is as it was");
    assert_eq!(w.read("a.txt"), "one\n");
    t.ctrl('c').ctrl('d').exits();
    // What was undone can be brought forward again, also in the next one.
    let id = w.journals()[0].file_stem().unwrap().to_str().unwrap().to_owned();
    let mut t = w.start_with(&["--resume", &id]);
    t.ready().sees("a.txt is as it was").ask("/redo").sees_times("a.txt is as it was", 2);
    assert_eq!(w.read("a.txt"), "two\n");
    assert_eq!(w.journals().len(), 1, "all of it is one session");
}

#[test]
fn what_going_back_has_cut_off_can_be_opened_again() {
    let server = ModelServer::after_seeing("a.txt", [replace("two\n"), Reply::text("First way.")]);
    let w = Workspace::new(&server).file("a.txt", "one\n");
    let mut t = w.start_with(&["--mode", "auto-accept"]);
    t.ready().ask("the first way").sees("First way.").hides("esc interrupts");
    t.ask("/undo").sees("a.txt is as it was").ctrl('c');
    server.then(Reply::text("Second way."));
    t.ask("the second way").sees("Second way.").hides("esc interrupts");
    t.ask("/resume").sees("↳ the first way").sees("cut off").enter();
    t.sees_times("First way.", 2).hides("Go on with");
    server.then(Reply::text("On the first way."));
    t.ask("go on").sees("On the first way.");
    let asked = server.request(4);
    assert_eq!(roles(asked.messages()), ["system", "user", "assistant", "tool", "assistant", "tool", "assistant", "user"]);
    assert_eq!(asked.messages()[1]["content"], "the first way");
    // Its checkpoints came along.
    w.write("a.txt", "two\n");
    t.hides("esc interrupts").ask("/undo").sees_times("is as it was", 2);
    assert_eq!(w.read("a.txt"), "one\n");
    assert_eq!(w.journals().len(), 2, "a session of its own");
    // The other way is where it was.
    t.ctrl('c').ask("/resume").sees("the first way").type_("second").hides("↳");
}

#[test]
fn a_turn_that_was_killed_is_offered_and_can_be_walked_back() {
    let never = Gate::new();
    let server = ModelServer::after_seeing("a.txt", [replace("two\n"), Reply::stream().say("And th").gate(&never)]);
    let w = Workspace::new(&server).file("a.txt", "one\n");
    let mut t = w.start_with(&["--mode", "auto-accept"]);
    t.ready().ask("make it two").sees("And th");
    t.kill(rustix::process::Signal::KILL);
    t.exits();
    assert_eq!(w.read("a.txt"), "two\n");
    let mut t = w.start_with(&["-c"]);
    t.ready().sees("make it two").sees("The last turn was cut off");
    // What came after the crash can't be told from it, so it is asked.
    t.ask("/undo").sees("Going back to before “make it two”: 1 changed").sees("leave everything as it is");
    assert_eq!(w.read("a.txt"), "two\n");
    t.press('y').sees("a.txt is as it was");
    assert_eq!(w.read("a.txt"), "one\n");
    t.screen_is("the prompt is in the box again", |screen| screen.lines().any(|l| l.starts_with("❯ make it two")));
}

#[test]
fn a_session_that_is_open_elsewhere_is_not_opened_twice() {
    let server = ModelServer::start([Reply::text("Hello.")]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready().ask("hi").sees("Hello.").hides("esc interrupts");
    let run = w.run(&["run", "--continue", "more"], "");
    assert_eq!(run.code(), Some(1));
    assert!(run.stderr.contains("is open in another process"), "{}", run.stderr);
    let mut second = w.start_with(&["-c"]);
    second.ready().sees("is open in another process").sees("new one.");
    second.ctrl('d').exits();
    t.ctrl('d').exits();
    server.then(Reply::text("More."));
    assert_eq!(w.run(&["run", "--continue", "more"], "").stdout, "More.\n");
    assert_eq!(roles(server.request(2).messages()), ["system", "user", "assistant", "user"]);
    let none = w.run(&["run", "--resume", "nothing", "more"], "");
    assert!(none.code() == Some(1) && none.stderr.contains("there is no session nothing"), "{}", none.stderr);
}

#[test]
fn the_one_that_goes_on_can_be_chosen_at_the_start() {
    let server = ModelServer::start([Reply::text("One."), Reply::text("Two.")]);
    let w = Workspace::new(&server);
    for task in ["the older task", "the newer task"] {
        w.run(&["run", task], "");
    }
    let mut t = w.start_with(&["--resume"]);
    t.sees("Go on with").sees("the newer task").type_("older").hides("the newer task").enter();
    t.sees("One.").hides("Go on with").ctrl('d').exits();
    // In lines, too.
    let talk = w.run(&["--plain", "--resume", "1"], "");
    assert!(talk.stdout.contains("the newer task") && talk.stdout.contains("Two."), "{}", talk.stdout);
}

/// Of a long one only the end is printed; all of it is there.
#[test]
fn a_long_session_prints_its_end_and_has_the_rest() {
    let server = ModelServer::start([]);
    let w = Workspace::new(&server);
    let answer = "word\n\n".repeat(12);
    let mut t = w.start();
    t.ready();
    for n in 0..20 {
        server.then(Reply::text(&format!("{answer}That was {n}.")));
        t.ask(&format!("ask {n}")).sees(&format!("That was {n}.")).hides("esc interrupts");
    }
    t.ctrl('d').exits();
    let mut t = w.start_with(&["-c"]);
    t.ready().sees("earlier requests").sees("That was 19.");
    assert!(!t.text().contains("ask 3\n"), "not all is printed");
    t.ask("/fullscreen").sees("That was 19.").ctrl('f').type_("ask 3").sees("❯ ask 3");
}

/// A name that is no text must not cost the session its journal.
#[test]
fn files_whose_names_are_no_text_cost_nothing() {
    let server = ModelServer::start([Reply::call("Bash", json!({ "command": "rm n*" })), Reply::text("Gone.")]);
    let w = Workspace::new(&server);
    let odd = w.root().join(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"n\xff"));
    std::fs::write(&odd, "a").unwrap();
    let mut t = w.start_with(&["--mode", "yolo"]);
    t.ready().ask("remove it").sees("Gone.").hides("esc interrupts").ask("/undo").sees("as it was");
    assert!(odd.exists() && !t.text().contains("can't be saved"), "{}", t.text());
    t.ctrl('c');
    server.then(Reply::text("I will."));
    t.ask("remember 42").sees("I will.").hides("esc interrupts").ctrl('d').exits();
    let mut t = w.start_with(&["-c"]);
    t.ready().sees("remember 42").sees("I will.");
}

#[test]
fn what_the_command_line_asked_for_is_not_asked_for_again() {
    let server = ModelServer::start([Reply::text("One."), Reply::text("Two.")]);
    let w = Workspace::new(&server);
    w.run(&["run", "the first"], "");
    let mut t = w.start_with(&["--mode", "yolo"]);
    t.ready().shows("YOLO").ask("hello").sees("Two.").hides("esc interrupts").send(b"\x1b[Z").shows("normal · ");
    t.ask("/resume 99").sees("there is no session 99").shows("normal · ");
    t.ask("/resume 2").sees("One.").screen_is("nothing is in the way", |s| !s.contains("YOLO"));
}

#[test]
fn a_session_in_which_nothing_was_said_is_none() {
    let server = ModelServer::start([Reply::text("One.")]);
    let w = Workspace::new(&server);
    w.run(&["run", "the first"], "");
    let mut t = w.start();
    t.ready().send(b"\x1b[Z").shows("auto-accept").ctrl('d').exits();
    assert_eq!(w.journals().len(), 1);
    let mut t = w.start_with(&["-c"]);
    t.ready().sees("One.").ctrl('d').exits();
    let asked = w.run(&["run", "hello", "--resume"], "");
    assert!(asked.code() == Some(1) && asked.stderr.contains("1: the first"), "{}", asked.stderr);
}

#[test]
fn a_killed_command_is_shown_and_an_unchanged_turn_is_not_offered_to_undo() {
    let never = Gate::new();
    let server = ModelServer::after_seeing("a.txt", [replace("two\n"), Reply::text("Done."), Reply::stream().say("Hm").gate(&never)]);
    let w = Workspace::new(&server).file("a.txt", "one\n");
    let mut t = w.start_with(&["--mode", "yolo"]);
    t.ready().ask("make it two").sees("Done.").hides("esc interrupts").ask("think").sees("Hm");
    t.kill(rustix::process::Signal::KILL);
    t.exits();
    server.then(Reply::call("Bash", json!({ "command": "echo be''gun; sleep 600" })));
    let mut t = w.start_with(&["-c"]);
    t.ready().sees("was cut off");
    assert!(!t.text().contains("/undo walks it back"), "nothing of it can be walked back: {}", t.text());
    t.ask("sleep").shows("Run this command?").press('y').sees("begun");
    t.kill(rustix::process::Signal::KILL);
    t.exits();
    for _ in 0..2 {
        let mut t = w.start_sized(&["-c", "--fullscreen"], 80, 36);
        t.ready().sees("sleep 600").sees_times("interrupted", 1);
        assert_eq!(t.screen().matches("make it two").count(), 1, "{}", t.screen());
        t.ctrl('d').exits();
    }
}

#[test]
fn what_was_shown_of_an_answer_is_there_after_a_kill() {
    let never = Gate::new();
    let half = Reply::stream().think("Let me see. ").say("The first half").say(", and th").gate(&never);
    let server = ModelServer::start([half, Reply::text("The second.")]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready().ask("tell me").sees("The first half, and th");
    t.kill(rustix::process::Signal::KILL);
    t.exits();
    let mut t = w.start_with(&["-c"]);
    t.ready().sees("tell me").sees("The first half, and th").sees("The last turn was cut off");
    t.ask("go on").sees("The second.").hides("esc interrupts");
    let asked = server.request(2);
    assert_eq!(roles(&asked.messages()[1..]), ["user", "assistant", "user"]);
    assert_eq!(asked.messages()[2]["content"], "The first half, and th");
    // Once and for all: the journal has it now, and nothing else is left.
    t.ctrl('d');
    t.exits();
    let folder = w.journals()[0].parent().unwrap().to_owned();
    assert!(!std::fs::read_dir(folder).unwrap().flatten().any(|file| file.path().extension().is_some_and(|e| e == "partial")));
    let mut t = w.start_with(&["-c"]);
    t.ready().sees("The second.").shows("The first half, and th");
}
