//! What is kept of a session, and what is sent of it.

use crate::support::*;
use serde_json::{Value, json};
use std::{collections::BTreeSet, os::unix::fs::PermissionsExt};

#[test]
fn the_journal_is_private_and_each_of_its_lines_is_a_record() {
    let (gate, server) = (Gate::new(), ModelServer::start([]));
    server.then(Reply::call("Replace", json!({ "file_path": "new.txt", "content": "über\n\u{0}\u{2028}" })));
    server.then(Reply::stream().say("Still ").gate(&gate).say("there.").done("stop"));
    let w = Workspace::new(&server);
    let mut t = w.start_with(&["--mode", "auto-accept"]);
    t.ready().ask("write it").sees("Still");
    // While it runs: what has happened is on the disk, line by line.
    let path = w.journals().pop().unwrap();
    let records = |text: &str| -> Vec<Value> {
        assert!(text.ends_with('\n'), "a line is not ended: {text}");
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let kinds = |records: &[Value]| records.iter().map(|r| r["kind"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    let so_far = records(&std::fs::read_to_string(&path).unwrap());
    assert_eq!(kinds(&so_far)[..3], ["session-started", "turn-started", "said"]);
    assert!(kinds(&so_far).contains(&"checkpoint-taken".to_owned()));
    gate.open();
    t.sees("Still there.").hides("esc interrupts").ctrl('d');
    t.exits();
    let all = records(&std::fs::read_to_string(&path).unwrap());
    assert_eq!(all[..so_far.len()], so_far, "only ever appended to");
    assert_eq!(kinds(&all).last().unwrap(), "turn-ended");
    assert!(all.iter().all(|r| r["v"] == 1 && r["at"].as_u64().is_some_and(|at| at > 1_600_000_000_000)));
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert!(!std::fs::read_to_string(&path).unwrap().contains("sk-test-key"));
}

#[test]
fn a_kill_in_mid_stream_leaves_whole_records() {
    let never = Gate::new();
    let server = ModelServer::start([Reply::call("View", json!({ "file_path": "a.txt" })), Reply::stream().say("Words").gate(&never)]);
    let w = Workspace::new(&server).file("a.txt", "x\n");
    let mut t = w.start();
    t.ready().ask("go").sees("Words");
    t.kill(rustix::process::Signal::KILL);
    t.exits();
    let text = std::fs::read_to_string(&w.journals()[0]).unwrap();
    assert!(text.ends_with('\n') && text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{text}");
    assert!(text.contains("\"go\""));
}

#[test]
fn a_session_in_which_nothing_was_said_writes_nothing_into_the_project() {
    let w = Workspace::new(&ModelServer::start([])).file("a.txt", "x\n");
    let before = w.snapshot();
    let mut t = w.start();
    t.ready().ctrl('d');
    t.exits();
    assert_eq!(w.snapshot(), before);
}

#[test]
fn checkpoints_touch_nothing_of_the_projects_own_repository() {
    let server = ModelServer::after_seeing(
        "a.txt",
        [Reply::call("Replace", json!({ "file_path": "a.txt", "content": "two\n" })), Reply::text("Done.")],
    );
    let w = Workspace::new(&server).file("a.txt", "one\n").file(".git/HEAD", "ref: refs/heads/topic\n").file(".git/index", "not really");
    let repository = |w: &Workspace| w.snapshot().into_iter().filter(|(p, _)| p.starts_with(".git")).collect::<Vec<_>>();
    let before = repository(&w);
    let mut t = w.start_with(&["--mode", "auto-accept"]);
    t.ready().shows("(topic)").ask("go").sees("1 file changed").hides("esc interrupts").ask("/undo").sees("is as it was");
    assert_eq!(repository(&w), before);
    assert_eq!(w.read("a.txt"), "one\n");
}

/// Local models pay for every token.
#[test]
fn the_first_request_is_small() {
    let server = ModelServer::start([Reply::text("Hi.")]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready().ask("hello").sees("Hi.");
    let asked = server.request(1);
    assert!(asked.length <= 8 * 1024, "{} bytes", asked.length);
    let tools: Vec<&str> = asked.body["tools"].as_array().unwrap().iter().map(|t| t["function"]["name"].as_str().unwrap()).collect();
    assert_eq!(tools, ["Bash", "View", "Edit", "Replace", "FileOp", "LS", "GrepTool", "GlobTool", "WebFetch", "Todo", "AskUser"]);
    let keys: BTreeSet<&str> = asked.body.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["messages", "model", "stream", "stream_options", "tools"].into());
    let system = asked.messages()[0]["content"].as_str().unwrap();
    assert!(asked.messages()[0]["role"] == "system" && system.contains(&w.root().display().to_string()));
    insta::assert_snapshot!(normalize::normalize(system, &w));
}

#[test]
fn five_at_once_in_one_project_keep_out_of_each_others_way() {
    let replies = (0..5).flat_map(|_| [Reply::text("Done.")]);
    let server = ModelServer::start(replies);
    let w = Workspace::new(&server);
    std::thread::scope(|scope| {
        for n in 0..5 {
            let w = &w;
            scope.spawn(move || assert_eq!(w.run(&["run", &format!("task {n}")], "").stdout, "Done.\n"));
        }
    });
    assert_eq!(w.journals().len(), 5);
}
