//! `backstitch run`: the answer on standard output and nothing else, progress on standard error, an exit code that tells.

use crate::support::*;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::{
    io::{BufRead, BufReader, Read},
    process::Stdio,
};

fn edit() -> Reply {
    Reply::stream()
        .say("I'll change it.")
        .call_piece(0, Some(("c1", "Edit")), &json!({ "file_path": "a.txt", "old_string": "one", "new_string": "two" }).to_string())
        .done("tool_calls")
}

#[test]
fn the_answer_is_on_stdout_and_the_progress_on_stderr() {
    let server = ModelServer::after_seeing("a.txt", [edit(), Reply::text("It says **two** now.")]);
    let w = Workspace::new(&server).file("a.txt", "one\n");
    let ended = w.run(&["run", "--mode", "auto-accept", "change", "it"], "");
    assert_eq!((ended.code(), ended.stdout.as_str()), (Some(0), "It says **two** now.\n"), "{}", ended.stderr);
    assert!(ended.stderr.contains("I'll change it.") && ended.stderr.contains("✓ Edit a.txt"), "{}", ended.stderr);
    assert_eq!(w.read("a.txt"), "two\n");
    assert_eq!(server.request(1).messages()[1]["content"], "change it");
    assert!(!ended.stdout.contains('\x1b') && !ended.stderr.contains('\x1b'));
    assert!(w.processes().is_empty());
}

#[test]
fn what_would_have_to_be_asked_ends_it_with_2_and_does_nothing() {
    let server = ModelServer::after_seeing("a.txt", [edit(), Reply::text("never")]);
    let w = Workspace::new(&server).file("a.txt", "one\n");
    let ended = w.run(&["run", "change it"], "");
    assert_eq!(ended.code(), Some(2), "{ended:?}");
    assert!(ended.stderr.contains("Edit") && ended.stderr.contains("--mode auto-accept"), "{}", ended.stderr);
    assert_eq!((w.read("a.txt").as_str(), server.asked().len()), ("one\n", 1));
}

#[test]
fn errors_are_1_with_the_servers_words_on_stderr() {
    let server = ModelServer::start([Reply::error(401, "Incorrect API key provided"), Reply::stream().say("Half an answer").cut()]);
    let w = Workspace::new(&server);
    let ended = w.run(&["run", "hello"], "");
    assert_eq!((ended.code(), ended.stdout.as_str()), (Some(1), ""));
    assert!(ended.stderr.contains("Incorrect API key provided"), "{}", ended.stderr);
    // A cut is an error too, but what had come is worth having.
    let ended = w.run(&["run", "hello"], "");
    assert_eq!((ended.code(), ended.stdout.trim_end()), (Some(1), "Half an answer"), "{}", ended.stderr);
}

#[test]
fn the_task_may_come_from_stdin() {
    let server = ModelServer::start([Reply::text("One."), Reply::text("Two.")]);
    let w = Workspace::new(&server);
    assert_eq!(w.run(&["run"], "a task\nof two lines\n").stdout, "One.\n");
    assert_eq!(w.run(&["run", "-"], "another").stdout, "Two.\n");
    assert_eq!(server.request(1).last().1.trim_end(), "a task\nof two lines");
    let empty = w.run(&["run"], " \n");
    assert!(empty.code() == Some(1) && empty.stderr.contains("empty"), "{empty:?}");
}

#[test]
fn a_reader_who_has_had_enough_is_no_error() {
    let long: String = (0..20_000).map(|n| format!("line {n}\n")).collect();
    let server = ModelServer::start([Reply::text(&long)]);
    let w = Workspace::new(&server);
    let ended = workspace::ended(w.plain_command("/bin/sh", &["-c", &format!("{} run go | head -1", workspace::BINARY)]), "");
    assert_eq!((ended.code(), ended.stdout.as_str()), (Some(0), "line 0\n"));
    assert!(!ended.stderr.contains("panick") && !ended.stderr.to_lowercase().contains("broken pipe"), "{}", ended.stderr);
}

/// A full disk below `> answer.txt` is an error: the answer is lost.
#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cant_be_written_is_an_error() {
    let server = ModelServer::start([Reply::text("Done.")]);
    let w = Workspace::new(&server);
    let ended = workspace::ended(w.plain_command("/bin/sh", &["-c", &format!("{} run go > /dev/full", workspace::BINARY)]), "");
    assert_eq!(ended.code(), Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("The answer can't be written"), "{}", ended.stderr);
}

#[test]
fn ctrl_c_is_130_and_stops_what_runs() {
    for signal in [Signal::INT, Signal::TERM] {
        let server = ModelServer::start([Reply::call("Bash", json!({ "command": "echo begun; sleep 1005" }))]);
        let w = Workspace::new(&server);
        let mut command = w.plain_command(workspace::BINARY, &["run", "--mode", "yolo", "go"]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        until("the command runs", || w.processes().iter().any(|(_, c)| c.starts_with("sleep 1005")));
        kill_process(Pid::from_child(&child), signal).unwrap();
        let mut status = None;
        until("it ends", || {
            status = child.try_wait().unwrap();
            status.is_some()
        });
        assert_eq!(status.unwrap().code(), Some(130), "{signal:?}");
        until("nothing is left", || w.processes().is_empty());
    }
}

#[test]
fn text_cannot_drive_the_terminal_that_reads_it() {
    let server = ModelServer::start([
        Reply::call("Bash", json!({ "command": "printf 'x\\033]0;owned\\007\\033[2J'" })),
        Reply::text("\x1b]0;owned\x07\x1b[2Jdone\u{9b}31m"),
    ]);
    let w = Workspace::new(&server);
    let ended = w.run(&["run", "--mode", "yolo", "go"], "");
    assert!(ended.stdout.contains("done"));
    for text in [&ended.stdout, &ended.stderr] {
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    }
}

#[test]
fn progress_comes_while_it_works() {
    let gate = Gate::new();
    let server =
        ModelServer::start([Reply::call("View", json!({ "file_path": "a.txt" })), Reply::stream().gate(&gate).say("End.").done("stop")]);
    let w = Workspace::new(&server).file("a.txt", "one\n");
    let mut command = w.plain_command(workspace::BINARY, &["run", "go"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("View a.txt"), "{line}");
    gate.open();
    let mut answer = String::new();
    child.stdout.take().unwrap().read_to_string(&mut answer).unwrap();
    assert_eq!((answer.as_str(), child.wait().unwrap().code()), ("End.\n", Some(0)));
}

#[test]
fn nothing_configured_is_said_with_what_to_do() {
    let w = Workspace::bare();
    let ended = w.run(&["run", "hello"], "");
    assert_eq!((ended.code(), ended.stdout.as_str()), (Some(1), ""));
    assert!(
        ended.stderr.contains("No model provider") && ended.stderr.contains("OPENAI_BASE_URL") && ended.stderr.contains("--demo"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_provider_may_come_from_the_environment_or_the_command_line() {
    let server = ModelServer::start([Reply::text("From the environment."), Reply::text("Another model.")]);
    let w = Workspace::bare().env("OPENAI_BASE_URL", &server.base_url()).env("OPENAI_API_KEY", "sk-env").env("OPENAI_MODEL", "env-model");
    assert_eq!(w.run(&["run", "hello"], "").stdout, "From the environment.\n");
    assert_eq!(server.request(1).header("authorization"), Some("Bearer sk-env"));
    assert_eq!(server.request(1).body["model"], "env-model");
    assert_eq!(w.run(&["run", "--model", "other", "hello"], "").stdout, "Another model.\n");
    assert_eq!(server.request(2).body["model"], "other");
    let wrong = w.run(&["run", "--provider", "opnai-env", "hello"], "");
    assert!(wrong.code() == Some(1) && wrong.stderr.contains("openai-env"), "{}", wrong.stderr);
}

#[test]
fn a_mistake_in_the_settings_names_file_and_line() {
    let w = Workspace::bare();
    w.write_abs(&w.config_file(), "{\n  \"backstitch\": {\n    \"providers\": 7\n  }\n}\n");
    let ended = w.run(&["run", "hello"], "");
    assert!(ended.code() == Some(1) && ended.stderr.contains("agents.config.json:3"), "{}", ended.stderr);
}

#[test]
fn version_and_help_need_nothing() {
    let server = ModelServer::start([]);
    // Settings that would be refused, a home that is none, a terminal that is none.
    let w = Workspace::new(&server).env("HOME", "/nonexistent").env("XDG_DATA_HOME", "/dev/null/x").env("TERM", "");
    w.write_abs(&w.config_file(), "{ broken");
    for arguments in [&["--version"][..], &["--help"], &["run", "--help"]] {
        let ended = w.run(arguments, "");
        assert_eq!((ended.code(), ended.stderr.as_str()), (Some(0), ""), "{arguments:?}");
        assert!(ended.stdout.contains("ackstitch"), "{}", ended.stdout);
    }
    assert_eq!(server.connections(), 0);
    let wrong = w.run(&["--nonsense"], "");
    assert!(wrong.code() == Some(1) && wrong.stdout.is_empty() && wrong.stderr.contains("--nonsense"), "{wrong:?}");
}

#[test]
fn without_a_terminal_the_screen_says_what_to_use() {
    let ended = Workspace::bare().run(&[], "");
    assert!(ended.code() == Some(1) && ended.stdout.is_empty() && ended.stderr.contains("backstitch run"), "{ended:?}");
}

#[test]
fn a_home_that_cannot_be_written_is_no_reason_to_fail() {
    let server = ModelServer::start([Reply::text("All the same.")]);
    let w =
        Workspace::untrusted().env("XDG_DATA_HOME", "/dev/null/data").env("OPENAI_BASE_URL", &server.base_url()).env("OPENAI_MODEL", "m");
    let ended = w.run(&["run", "--trust-directory", "hello"], "");
    assert_eq!((ended.code(), ended.stdout.as_str()), (Some(0), "All the same.\n"), "{}", ended.stderr);
    assert_eq!(ended.stderr.matches("can't be saved").count(), 1, "{}", ended.stderr);
}
