//! Plan mode and the plan that ends it.

use crate::support::*;
use serde_json::json;

const PLAN: &str = "# Greet the world\n\n1. Write `a.txt`.\n2. Read it again.\n";

fn plan() -> Reply {
    Reply::call("ExitPlanMode", json!({ "plan": PLAN }))
}

fn write() -> Reply {
    Reply::call("Replace", json!({ "file_path": "a.txt", "content": "hello\n" }))
}

fn tools(server: &ModelServer, request: usize) -> String {
    server.request(request).body["tools"].to_string()
}

#[test]
fn an_accepted_plan_ends_plan_mode_and_changes_ask() {
    let server = ModelServer::start([write(), plan(), write(), Reply::text("Done.")]);
    let w = Workspace::new(&server);
    let mut t = w.start_with(&["--mode", "plan"]);
    t.ready().ask("go").shows("Go ahead with this plan?").shows("Greet the world").shows("1. Write a.txt.");
    assert!(!w.root().join("a.txt").exists(), "what came before it was refused");
    assert!(server.request(2).last().1.contains("plan mode is for reading only"));
    t.press('y').shows("Make this change?").shows("normal").press('y').sees("Done.");
    assert_eq!(w.read("a.txt"), "hello\n");
    assert!(tools(&server, 1).contains("ExitPlanMode") && !tools(&server, 3).contains("ExitPlanMode"));
    assert!(server.request(3).last().1.contains("accepted the plan"));
}

#[test]
fn a_plan_can_be_accepted_with_all_its_edits() {
    let server = ModelServer::start([plan(), write(), Reply::text("Done.")]);
    let w = Workspace::new(&server);
    let mut t = w.start_with(&["--mode", "plan"]);
    t.ready().ask("go").shows("Go ahead with this plan?").press('a').sees("Done.").shows("auto-accept");
    assert_eq!(w.read("a.txt"), "hello\n");
}

#[test]
fn a_plan_is_declined_and_saved_and_edited() {
    let server = ModelServer::start([plan(), plan(), write(), Reply::text("Done.")]);
    let w = Workspace::new(&server).file("edit.sh", "printf '3. And tell.\\n' >> \"$1\"\n");
    let script = w.root().join("edit.sh");
    let w = w.env("EDITOR", &format!("sh {}", script.display()));
    let mut t = w.start_with(&["--mode", "plan"]);
    t.ready().ask("go").shows("Go ahead with this plan?").press('s').sees("Written to").shows("Go ahead with this plan?");
    assert_eq!(w.read("plan.md"), PLAN);
    t.press('n').type_("too short").enter().shows("Go ahead with this plan?");
    assert!(server.request(2).last().1.contains("too short"));
    t.shows("plan").press('e').shows("Make this change?");
    let answer = server.request(3).last().1.to_string();
    assert!(answer.contains("edited the plan") && answer.contains("3. And tell."), "{answer}");
    t.press('y').sees("Done.");
}

#[test]
fn without_a_person_the_plan_is_the_answer() {
    let server = ModelServer::start([plan()]);
    let w = Workspace::new(&server);
    let ended = w.run(&["run", "--mode", "plan", "go"], "");
    assert_eq!((ended.code(), ended.stdout.trim_end()), (Some(0), PLAN.trim_end()), "{}", ended.stderr);
    assert_eq!(server.asked().len(), 1);
}
