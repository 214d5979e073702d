//! Commands in the background: shown, asked about at the exit, and gone with the session.

use crate::support::*;
use rustix::process::Signal;
use serde_json::json;

fn serving() -> ModelServer {
    ModelServer::start([
        Reply::call("Bash", json!({ "command": "echo up; (trap '' TERM HUP; sleep 1012) & sleep 1011", "run_in_background": true })),
        Reply::text("It runs."),
    ])
}

fn all_run(w: &Workspace) {
    until("both of them run", || w.processes().iter().filter(|(_, c)| c.starts_with("sleep 101")).count() == 2);
}

#[test]
fn leaving_asks_and_then_ends_them() {
    let server = serving();
    let w = Workspace::new(&server);
    let mut t = w.start_with(&["--mode", "yolo"]);
    t.ready().ask("go").sees("It runs.").hides("esc interrupts").shows("1 running in background");
    all_run(&w);
    assert!(server.request(2).messages().last().unwrap()["content"].as_str().unwrap().contains("in the background as bash_1"));
    t.ask("/exit").shows("It ends with the session").press('n').hides("It ends with the session");
    all_run(&w);
    t.ctrl('d').shows("It ends with the session").press('y');
    assert_eq!(t.exits().exit_code(), 0);
    until("no process is left", || w.processes().is_empty());
    let journal = std::fs::read_to_string(&w.journals()[0]).unwrap();
    assert!(journal.contains("Ended with the session, in the background: bash_1"), "{journal}");
}

#[test]
fn signals_end_them_without_a_question() {
    for signal in [Signal::TERM, Signal::HUP, Signal::KILL] {
        let server = serving();
        let w = Workspace::new(&server);
        let mut t = w.start_with(&["--mode", "yolo"]);
        t.ready().ask("go").sees("It runs.").hides("esc interrupts");
        all_run(&w);
        t.kill(signal);
        t.exits();
        until("no process is left", || w.processes().is_empty());
    }
}

#[test]
fn the_model_reads_them_is_told_of_their_end_and_ends_them() {
    let command = "echo first; while [ ! -e stop ]; do sleep 0.02; done; echo last; exit 3";
    let server = ModelServer::start([
        Reply::call("Bash", json!({ "command": command, "run_in_background": true })),
        Reply::call("BashOutput", json!({ "bash_id": "bash_1", "wait": 200 })),
        Reply::text("It runs."),
        Reply::text("I see."),
    ]);
    let w = Workspace::new(&server);
    let mut t = w.start_with(&["--mode", "yolo"]);
    t.ready().ask("go").sees("It runs.").hides("esc interrupts").shows("1 running in background");
    let result = |n: usize| server.request(n).messages().last().unwrap()["content"].as_str().unwrap().to_owned();
    assert!(result(3).starts_with("first\n[still running, for "), "{}", result(3));
    let offered = |n: usize| server.request(n).body["tools"].to_string().contains("BashOutput");
    assert!(!offered(1) && offered(2), "offered once there is something to read");
    std::fs::write(w.root().join("stop"), "").unwrap();
    t.sees("Ended in the background: bash_1 · exit 3").hides("running in background").ask("and?").sees("I see.");
    let said = server.request(4).messages().last().unwrap()["content"].to_string();
    assert!(said.contains("has ended in the background: exit 3") && said.contains("and?"), "{said}");
    t.hides("esc interrupts").ask("/exit");
    t.exits();
}

#[test]
fn a_run_without_a_screen_ends_them_and_says_so() {
    let server = serving();
    let w = Workspace::new(&server);
    let ended = w.run(&["run", "--mode", "yolo", "go"], "");
    assert_eq!((ended.code(), ended.stdout.as_str()), (Some(0), "It runs.\n"), "{}", ended.stderr);
    assert!(ended.stderr.contains("› ended with the run, in the background: bash_1 (echo up;"), "{}", ended.stderr);
    until("no process is left", || w.processes().is_empty());
}
