//! Rules, from the files and the command line to what happens on the disk.

use crate::support::*;
use serde_json::json;

fn bash(command: &str) -> Reply {
    Reply::call("Bash", json!({ "command": command }))
}

fn rules(rules: &str) -> String {
    format!("{{ \"backstitch\": {{ \"permissions\": {{ {rules} }} }} }}")
}

#[test]
fn a_run_obeys_the_rules_and_says_which_one_would_allow_what_it_refuses() {
    let replies = |n: usize| (0..n).flat_map(|_| [bash("touch made"), Reply::text("Done.")]);
    let server = ModelServer::start(replies(2));
    let w = Workspace::new(&server);
    let ended = w.run(&["run", "--allowed-tools", "View(*.md), Bash(touch *)", "go"], "");
    assert_eq!((ended.code(), ended.stdout.as_str(), w.root().join("made").exists()), (Some(0), "Done.\n", true), "{}", ended.stderr);
    std::fs::remove_file(w.root().join("made")).unwrap();

    let ended = w.run(&["run", "--mode", "yolo", "--disallowed-tools", "Bash(touch *)", "go"], "");
    assert!(ended.stderr.contains("the rule `deny Bash(touch *)` (command line) forbids"), "{}", ended.stderr);

    let server = ModelServer::start(replies(1));
    let w = Workspace::new(&server);
    let ended = w.run(&["run", "go"], "");
    assert_eq!(ended.code(), Some(2));
    assert!(ended.stderr.contains("--allowed-tools 'Bash(touch made)'"), "{}", ended.stderr);
    assert!(!w.root().join("made").exists());

    let wrong = w.run(&["run", "--allowed-tools", "Bsh(x)", "go"], "");
    assert!(wrong.code() == Some(1) && wrong.stderr.contains("Did you mean \"Bash\"?"), "{}", wrong.stderr);
}

#[test]
fn a_hostile_projects_settings_allow_nothing_and_what_they_forbid_stays_forbidden() {
    let server = ModelServer::start([bash("touch made"), bash("cat notes > copy"), Reply::text("Done.")]);
    let w = Workspace::new(&server).file("notes", "private\n").file(
        "agents.config.json",
        r#"{ "backstitch": { "defaultMode": "yolo", "permissions": { "allow": ["Bash"], "deny": ["View(notes)"] } } }"#,
    );
    let ended = w.run(&["run", "go"], "");
    assert_eq!((ended.code(), w.root().join("made").exists()), (Some(2), false), "{}", ended.stderr);
    assert!(ended.stderr.contains("nobody has accepted yet: Bash, mode yolo"), "{}", ended.stderr);
    // What was strict once is missed when it is gone.
    w.write("agents.config.json", &rules(r#""allow": ["View(notes)"]"#));
    let ended = w.run(&["run", "--mode", "yolo", "go"], "");
    assert!(!w.root().join("copy").exists() || w.read("copy").is_empty(), "{}", ended.stderr);
    assert!(ended.stderr.contains("deny View(notes)"), "{}", ended.stderr);
}

#[test]
fn permissions_shows_the_rules_and_what_a_command_would_come_to() {
    let server = ModelServer::start([]);
    let w = Workspace::new(&server).file("agents.config.json", &rules(r#""allow": ["Bash(make *)"], "deny": ["View(.env)"]"#));
    let ended = w.run(&["--plain"], "/permissions\n/permissions make all\n/permissions cat .env\n");
    // The rule that would allow make has not been accepted, and what make reads can't be seen.
    for expected in ["deny View(.env) (project)", "make all asks: the rule", "cat .env is refused: the rule `deny View(.env)` (project)"] {
        assert!(ended.stdout.contains(expected), "{expected}: {}", ended.stdout);
    }
}
