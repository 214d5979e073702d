//! However it ends: the terminal is as it was, and nothing is left running.

use crate::support::*;
use rustix::process::Signal;
use serde_json::json;

const NONE: [String; 0] = [];

/// The signals that the program has handlers for, as bits.
fn caught(t: &Term) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", t.pid().as_raw_nonzero())).unwrap();
    let line = status.lines().find_map(|l| l.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(line.trim(), 16).unwrap()
}

/// A session in the middle of a stream.
fn streaming(server: &ModelServer, never: &Gate) {
    server.then(Reply::stream().say("Words").gate(never));
}

/// A session in the middle of a command that left more behind.
fn running(server: &ModelServer) {
    let command = "sleep 1001 & (trap '' TERM HUP; sleep 1002) & echo begun; sleep 1003";
    server.then(Reply::call("Bash", json!({ "command": command })));
}

fn nothing_is_left(w: &Workspace) {
    until("no process is left", || w.processes().is_empty());
}

#[test]
fn exit_by_command_leaves_nothing() {
    let w = Workspace::new(&ModelServer::start([]));
    let mut t = w.start();
    t.ready();
    assert!(t.is_raw() && !t.left_on().is_empty(), "there is something to put right");
    t.ask("/exit");
    assert_eq!(t.exits().exit_code(), 0);
    assert_eq!(t.left_on().into_iter().collect::<Vec<_>>(), NONE);
    nothing_is_left(&w);
    // The cursor is on an empty row below what was said.
    let (row, column) = t.cursor().unwrap();
    assert_eq!(column, 0);
    assert!(t.rows()[usize::from(row)].trim().is_empty() && !t.screen().contains("? keys\n"), "{}", t.screen());
}

#[test]
fn signals_end_it_cleanly_while_it_streams() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let (server, never) = (ModelServer::start([]), Gate::new());
        streaming(&server, &never);
        let w = Workspace::new(&server);
        let mut t = w.start();
        t.ready().ask("go").shows("Words");
        t.kill(signal);
        t.exits();
        assert_eq!(t.left_on().into_iter().collect::<Vec<_>>(), NONE, "{signal:?}");
        server.hung_up(1);
        nothing_is_left(&w);
        let journal = std::fs::read_to_string(&w.journals()[0]).unwrap();
        assert!(journal.ends_with('\n') && journal.contains("Words") && journal.contains("turn-ended"), "{journal}");
    }
}

#[test]
fn a_kill_leaves_the_terminal_as_it_was() {
    for signal in [Signal::KILL, Signal::SEGV, Signal::ABORT] {
        let w = Workspace::new(&ModelServer::start([]));
        let mut t = w.start();
        t.ready().type_("words").shows("words");
        t.kill(signal);
        if signal == Signal::SEGV {
            // Rust's own handler takes the first one that has no fault behind it for a false alarm.
            until("that handler is gone", || caught(&t) & (1 << (libc::SIGSEGV - 1)) == 0);
            t.kill(signal);
        }
        t.exits();
        assert_eq!(t.left_on().into_iter().collect::<Vec<_>>(), NONE, "{signal:?}");
        nothing_is_left(&w);
    }
}

#[test]
fn commands_end_with_the_program_however_it_ends() {
    for how in ["exit", "term", "kill", "hang up"] {
        let server = ModelServer::start([]);
        running(&server);
        let w = Workspace::new(&server);
        let mut t = w.start_with(&["--mode", "yolo"]);
        t.ready().ask("go").shows("begun");
        until("all of them run", || w.processes().iter().filter(|(_, c)| c.starts_with("sleep 100")).count() == 3);
        match how {
            "exit" => drop(t.ctrl('c').hides("esc interrupts").ask("/exit")),
            "term" => t.kill(Signal::TERM),
            "kill" => t.kill(Signal::KILL),
            _ => t.hang_up(),
        }
        t.ends();
        nothing_is_left(&w);
    }
}

#[test]
fn a_closed_window_ends_all_of_it() {
    let (server, never) = (ModelServer::start([]), Gate::new());
    streaming(&server, &never);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready().ask("go").shows("Words");
    t.hang_up();
    t.ends();
    server.hung_up(1);
    nothing_is_left(&w);
}

#[test]
fn a_background_server_of_a_finished_command_ends_with_the_session() {
    let server = ModelServer::start([
        Reply::call("Bash", json!({ "command": "sleep 1004 >/dev/null 2>&1 & echo started" })),
        Reply::text("It runs."),
    ]);
    let w = Workspace::new(&server);
    let mut t = w.start_with(&["--mode", "yolo"]);
    t.ready().ask("go").sees("It runs.").hides("esc interrupts");
    assert!(w.processes().iter().any(|(_, c)| c.starts_with("sleep 1004")), "it outlives its turn");
    t.ctrl('d');
    t.exits();
    nothing_is_left(&w);
}

#[test]
fn ctrl_z_gives_the_terminal_to_the_shell_and_fg_takes_it_back() {
    let server = ModelServer::start([Reply::text("Back again.")]);
    let w = Workspace::new(&server).env("PS1", "shell> ").env("ENV", "/dev/null");
    let mut t = Term::start(w.command("/bin/sh", &["-im"]), 100, 30, "");
    t.shows("shell>").type_(&format!("{}\r", workspace::BINARY)).ready().type_("a draft").shows("❯ a draft").ctrl('z').shows("topped");
    until("the line discipline is the shell's", || !t.is_raw());
    assert_eq!(bytes::modes_left_on(&t.raw()).into_iter().filter(|m| m != "?2004").collect::<Vec<_>>(), NONE);
    t.type_("echo in-the-$((40+2))-shell\r").shows("in-the-42-shell").type_("fg\r");
    until("it has the terminal again", || t.is_raw());
    t.screen_is("the draft is there", |s| s.lines().rev().find(|l| l.starts_with('❯')).is_some_and(|l| l.contains("a draft")));
    t.enter().sees("Back again.").hides("esc interrupts").ctrl('d');
    t.screen_is("the shell again", |s| s.trim_end().ends_with("shell>")).type_("exit\r");
    t.exits();
    nothing_is_left(&w);
}
