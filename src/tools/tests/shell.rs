//! Bash.

use super::Bench;
use crate::{protocol::Block, tools::shell::Children};
use rustix::process::{Pid, test_kill_process, test_kill_process_group};
use serde_json::json;
use std::{
    fs,
    time::{Duration, Instant},
};

/// Waits for something that must happen, without guessing how long it takes.
pub fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::yield_now();
    }
}

pub fn alive(pid: &str) -> bool {
    let pid = pid.trim().parse().unwrap();
    // A zombie is dead, whoever has not buried it.
    let zombie = fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|s| s.contains(") Z "));
    test_kill_process(Pid::from_raw(pid).unwrap()).is_ok() && !zombie
}

#[test]
fn tells_output_and_exit_code() {
    let b = Bench::new(&[("a", b"x")]);
    let out = b.run("Bash", json!({"command": "echo out; echo err >&2; ls; exit 3"})).unwrap();
    assert_eq!(out.for_model, "out\nerr\na\n[exit code 3]");
    assert!(out.failed && out.summary.starts_with("exit 3 · "), "{}", out.summary);
    assert_eq!(out.for_user, Block::Terminal { output: "out\nerr\na\n".into(), status: Some(3) });
    let out = b.run("Bash", json!({"command": "true"})).unwrap();
    assert!(!out.failed && out.for_model == "(no output)" && out.summary.starts_with("exit 0 · "));
    let out = b.run("Bash", json!({"command": "kill -KILL $$"})).unwrap();
    assert!(out.failed && out.for_model.starts_with("[ended by signal 9"), "{}", out.for_model);
    assert_eq!(b.text("Bash", json!({"command": "printf 'a\\377b\\033[31mc'"})), "a\u{fffd}bc");
    assert_eq!(b.text("Bash", json!({"command": " "})), "Error: Bash: `command` is empty.");
    assert!(b.progress.lock().unwrap().concat().starts_with("out\nerr\na\n"));
}

#[test]
fn nothing_can_ask() {
    let b = Bench::new(&[]);
    assert_eq!(b.text("Bash", json!({"command": "read x || echo no input"})), "no input\n");
    assert_eq!(b.text("Bash", json!({"command": "(: < /dev/tty) 2>/dev/null || echo no terminal"})), "no terminal\n");
    assert_eq!(b.text("Bash", json!({"command": "echo $PAGER $GIT_EDITOR $GIT_TERMINAL_PROMPT $TERM"})), "cat false 0 dumb\n");
}

/// Editors, pagers and passwords: each ends by itself, and none is taken for a yes.
#[test]
fn programs_that_would_ask_end_and_change_nothing() {
    let b = Bench::new(&[("f", b"1\n")]);
    let git = "git -c user.name=A -c user.email=a@b.c";
    let commits: String = (1..=3).map(|n| format!("echo {n} > f; git add f; {git} commit -qm 'commit {n}'; ")).collect();
    b.run("Bash", json!({"command": format!("git init -q; {commits}")})).unwrap();
    let log = || b.text("Bash", json!({"command": "git log --format=%s"}));
    assert_eq!(log(), "commit 3\ncommit 2\ncommit 1\n");
    for command in ["rebase -i HEAD~2", "commit --allow-empty", "commit --amend", "tag -a v1"] {
        let out = b.run("Bash", json!({"command": format!("{git} {command}"), "timeout": 20_000})).unwrap();
        assert!(out.failed, "{command}: {}", out.for_model);
    }
    assert!(b.text("Bash", json!({"command": "git rebase --abort 2>/dev/null; git status --short"})).contains("(no output)"));
    assert_eq!(log(), "commit 3\ncommit 2\ncommit 1\n");
}

#[test]
fn who_asks_is_told_how_to_do_without() {
    let b = Bench::new(&[]);
    let out = b.run("Bash", json!({"command": "printf 'Go on? [Y/n] '; read x || { echo Abort.; exit 1; }"})).unwrap();
    assert!(out.for_model.starts_with("Go on? [Y/n] Abort.\n[exit code 1]\n[It asks for a confirmation"), "{}", out.for_model);
    assert!(out.summary.starts_with("asks for input · exit 1 · "), "{}", out.summary);
    assert_eq!(out.for_user, Block::Terminal { output: "Go on? [Y/n] Abort.\n".into(), status: Some(1) });
    // Whoever takes no answer for one has not failed.
    assert_eq!(b.text("Bash", json!({"command": "printf 'Go on? [Y/n] '; read x || echo yes"})), "Go on? [Y/n] yes\n");
    let out = b.text("Bash", json!({"command": "stty -a"}));
    assert!(out.contains("[It wants a terminal"), "{out}");
}

#[test]
fn who_waits_for_an_answer_is_shown_to_wait() {
    let b = Bench::new(&[]);
    let call = b.call("Bash", json!({"command": "printf 'Password: '; exec sleep 60"})).unwrap().0;
    let out = std::thread::scope(|scope| {
        scope.spawn(|| {
            until("it is said", || b.progress.lock().unwrap().concat().contains("Password: \n[waits for a password"));
            b.cancel.cancel();
        });
        b.run_call(&call).unwrap()
    });
    assert!(out.for_model.starts_with("Password: \n[stopped by the user]\n[It asks for a password"), "{}", out.for_model);
}

#[test]
fn a_timeout_ends_the_whole_group() {
    let b = Bench::new(&[]);
    let begun = Instant::now();
    let script = "sh -c 'trap \"\" TERM; echo $$ > pid; echo ready; while :; do sleep 60; done' & echo $! ; wait";
    let out = b.run("Bash", json!({"command": script, "timeout": 300})).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert!(out.failed && out.summary.starts_with("timed out"), "{}", out.summary);
    assert!(out.for_model.contains("ready\n") && out.for_model.contains("not done after 0.3 s"), "{}", out.for_model);
    let pid = fs::read_to_string(b.root.join("pid")).unwrap();
    until("the child that ignores TERM is gone", || !alive(&pid));
}

#[test]
fn an_interrupt_stops_at_once_and_keeps_the_output() {
    let b = Bench::new(&[]);
    let call = b.call("Bash", json!({"command": "echo begun; exec sleep 60"})).unwrap().0;
    let cancel = b.cancel.clone();
    let out = std::thread::scope(|scope| {
        scope.spawn(|| {
            until("the command has begun", || !b.progress.lock().unwrap().is_empty());
            cancel.cancel();
        });
        b.run_call(&call).unwrap()
    });
    assert_eq!(out.for_model, "begun\n[stopped by the user]");
    assert!(b.run_call(&call).is_err(), "a call that is cancelled before it starts does not start");
}

#[test]
fn a_background_child_does_not_hold_the_call_and_ends_with_the_workspace() {
    let b = Bench::new(&[]);
    let begun = Instant::now();
    let pid = b.text("Bash", json!({"command": "sleep 600 & echo $!"}));
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert!(alive(&pid));
    assert_eq!(b.workspace.children.running(), 1);
    // One that never stops writing.
    let spam = b.text("Bash", json!({"command": "yes & echo $! > spam"}));
    assert!(spam.len() < 40_000);
    let spam = fs::read_to_string(b.root.join("spam")).unwrap();
    drop(b);
    until("the child is gone", || !alive(&pid) && !alive(&spam));
}

/// What the watcher does when we are killed: its pipe closes without a word.
#[test]
fn the_watcher_ends_only_what_still_runs() {
    let children = Children::default();
    let spawn = || {
        use std::os::unix::process::CommandExt;
        let (mut command, announcer) = (std::process::Command::new("sleep"), children.announcer());
        // SAFETY: as in the tool.
        unsafe { command.arg("600").process_group(0).pre_exec(move || announcer.announce()) };
        command.spawn().unwrap()
    };
    let (mut kept, mut done) = (spawn(), spawn());
    let group = |c: &std::process::Child| Pid::from_raw(c.id() as i32).unwrap();
    children.watch(group(&kept)).finished();
    let guard = children.watch(group(&done));
    drop(guard);
    done.wait().unwrap();
    assert_eq!(children.running(), 1);
    drop(children);
    kept.wait().unwrap();
    assert!(test_kill_process_group(group(&kept)).is_err());
}

/// Started by the next test in a process of its own, to be killed.
#[test]
fn victim() {
    if std::env::var_os("BACKSTITCH_TEST_VICTIM").is_some() {
        let b = Bench::new(&[]);
        b.text("Bash", json!({"command": "trap '' TERM; sleep 600 & echo $! > left"}));
        println!("workspace {}", b.root.display());
        b.text("Bash", json!({"command": "echo $$ > running; exec sleep 600"}));
    }
}

#[test]
fn nothing_survives_us_when_we_are_killed() {
    use std::io::{BufRead, BufReader};
    let mut victim = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", "tools::tests::shell::victim"])
        .env("BACKSTITCH_TEST_VICTIM", "1")
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    let root = lines.map_while(Result::ok).find_map(|l| Some(std::path::PathBuf::from(l.split_once("workspace ")?.1))).unwrap();
    let mut running = String::new();
    until("the command runs", || {
        running = fs::read_to_string(root.join("running")).unwrap_or_default();
        running.ends_with('\n')
    });
    let left = fs::read_to_string(root.join("left")).unwrap();
    assert!(alive(&running));
    victim.kill().unwrap();
    victim.wait().unwrap();
    until("the running command and the one left behind are gone", || !alive(&running) && !alive(&left));
    fs::remove_dir_all(root.parent().unwrap()).unwrap();
}

#[test]
fn long_output_keeps_head_and_tail_and_is_in_a_file() {
    let b = Bench::new(&[]);
    let out = b.run("Bash", json!({"command": "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; echo the error"})).unwrap();
    let text = &out.for_model;
    assert!(text.chars().count() <= 30_000 && text.len() > 25_000, "{}", text.len());
    assert!(text.starts_with("line 0\nline 1\n") && text.ends_with("line 19999\nthe error\n"));
    let (note, path) = text.lines().find_map(|l| Some((l, l.strip_suffix(" …]")?.split_once("all of it is in ")?.1))).unwrap();
    let whole = fs::read_to_string(path).unwrap();
    assert_eq!(whole.lines().count(), 20_001);
    let left_out: usize = note.split(' ').nth(1).unwrap().parse().unwrap();
    assert_eq!(text.len() - note.len() - 1 + left_out, whole.len());
}

#[test]
fn endless_output_is_bounded() {
    let b = Bench::new(&[]);
    let out = b.run("Bash", json!({"command": "head -c 100000000 /dev/zero | tr '\\0' 'x'; echo; echo end"})).unwrap();
    assert!(out.for_model.len() <= 30_000 && out.for_model.ends_with("\nend\n"), "{}", out.for_model.len());
    assert!(out.for_model.contains("the first 67108864 bytes are in "));
    let shown: usize = b.progress.lock().unwrap().iter().map(String::len).max().unwrap();
    assert!(shown <= 8 * 1024);
}
