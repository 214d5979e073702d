//! Commands are kept inside; what a person is asked about, and what a person types, is not.

use crate::support::*;
use serde_json::json;

const HOOK: &str = "echo evil > .git/hooks/pre-commit";

fn repository(server: &ModelServer) -> Workspace {
    Workspace::new(server).file(".git/HEAD", "ref: refs/heads/main\n").file(".git/hooks/pre-commit", "mine\n").file(".git/config", "")
}

/// Systems without any of its means have none; the machine that the tests run on is no reason to pass.
fn is_there(w: &Workspace) -> bool {
    let mut t = w.start();
    t.ready().ask("/status").sees("sandbox   ");
    let on = t.text().contains("sandbox   on: commands write only to the project");
    t.ask("/exit").exits();
    on
}

#[test]
fn a_command_that_was_stopped_runs_outside_after_a_question() {
    let outside = json!({ "command": HOOK, "unsandboxed": true });
    let server = ModelServer::start([
        Reply::call("Bash", json!({ "command": format!("sh -c '{HOOK}'") })),
        Reply::call("Bash", outside.clone()),
        Reply::call("Bash", outside.clone()),
        Reply::text("Done."),
        Reply::call("Bash", outside),
        Reply::text("Again."),
    ]);
    let w = repository(&server);
    assert!(is_there(&w), "this system has no sandbox");
    let mut t = w.start();
    t.ready().ask("go").shows("Run this command?").hides("outside the sandbox").press('y');
    t.shows("outside the sandbox: it may write wherever you may").press('n').shows("what should be done instead?").enter();
    assert_eq!(w.read(".git/hooks/pre-commit"), "mine\n");
    let told = server.request(2).last().1.to_owned();
    assert!(told.contains("\"unsandboxed\": true; the user is asked") && told.contains("exit code"), "{told}");
    t.shows("outside the sandbox: it may").shows("yes, exactly this command this session").press('a').sees("Done.");
    assert_eq!(w.read(".git/hooks/pre-commit"), "evil\n");
    t.hides("esc interrupts").ask("more").sees("Again.");
}

#[test]
fn in_no_mode_but_yolo_does_a_command_leave_it_unasked() {
    for (mode, code, leaves) in [("auto-accept", 2, false), ("plan", 0, false), ("yolo", 0, true)] {
        let server = ModelServer::start([Reply::call("Bash", json!({ "command": HOOK, "unsandboxed": true })), Reply::text("Done.")]);
        let w = repository(&server);
        let ended = w.run(&["run", "--mode", mode, "--allowed-tools=Bash", "--allowed-tools=Bash(echo *)", "go"], "");
        assert_eq!(ended.code(), Some(code), "{}", ended.stderr);
        assert_eq!(w.read(".git/hooks/pre-commit"), if leaves { "evil\n" } else { "mine\n" }, "{mode}: {}", ended.stderr);
    }
    // Inside it nobody needs to be asked in yolo mode, and it does not help.
    let server = ModelServer::start([Reply::call("Bash", json!({ "command": HOOK })), Reply::text("Done.")]);
    let w = repository(&server);
    w.run(&["run", "--mode", "yolo", "go"], "");
    assert_eq!(w.read(".git/hooks/pre-commit"), "mine\n");
}

#[test]
fn what_the_user_types_is_the_users_own() {
    let server = ModelServer::start([]);
    let w = repository(&server);
    let mut t = w.start();
    t.ready().ask(&format!("!{HOOK}")).sees("exit 0");
    assert_eq!(w.read(".git/hooks/pre-commit"), "evil\n");
    assert!(!t.text().contains("sandbox"), "{}", t.text());
}

#[test]
fn a_command_in_the_background_is_kept_inside_too() {
    let command = format!("{HOOK}; echo tried > tried; sleep 1013");
    let server = ModelServer::start([Reply::call("Bash", json!({ "command": command, "run_in_background": true })), Reply::text("Done.")]);
    let w = repository(&server);
    let mut t = w.start_with(&["--mode", "yolo"]);
    t.ready().ask("go").sees("Done.");
    until("it has tried", || w.root().join("tried").exists());
    assert_eq!(w.read(".git/hooks/pre-commit"), "mine\n");
}

#[test]
fn only_the_user_switches_it_off() {
    let tries = || ModelServer::start([Reply::call("Bash", json!({ "command": HOOK })), Reply::text("Done.")]);
    let server = tries();
    let w = repository(&server).file("agents.config.json", "{\"backstitch\": {\"sandbox\": false}}");
    let ended = w.run(&["run", "--mode", "yolo", "go"], "");
    assert_eq!(w.read(".git/hooks/pre-commit"), "mine\n");
    assert!(ended.stderr.contains("A project can only make the \"sandbox\" stricter"), "{}", ended.stderr);

    let server = tries();
    let w = repository(&server);
    let settings = std::fs::read_to_string(w.config_file()).unwrap();
    let mut settings: serde_json::Value = serde_json::from_str(&settings).unwrap();
    settings["backstitch"]["sandbox"] = json!(false);
    w.write_abs(&w.config_file(), &settings.to_string());
    w.run(&["run", "--mode", "yolo", "go"], "");
    assert_eq!(w.read(".git/hooks/pre-commit"), "evil\n");
}
