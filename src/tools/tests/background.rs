//! Commands in the background.

use super::{
    Bench,
    shell::{alive, until},
};
use crate::protocol::{Access, Block};
use serde_json::json;
use std::{fs, path::Path};

impl Bench {
    fn begin(&self, command: &str) -> String {
        let out = self.run("Bash", json!({"command": command, "run_in_background": true})).unwrap();
        assert!(!out.failed && matches!(out.for_user, Block::Terminal { status: None, .. }), "{out:?}");
        out.summary.strip_prefix("runs as ").unwrap().to_owned()
    }

    fn read(&self, id: &str) -> String {
        self.text("BashOutput", json!({"id": id}))
    }
}

#[test]
fn a_command_in_the_background_is_read_bit_by_bit() {
    let b = Bench::new(&[]);
    let id = b.begin("echo one; printf 'hal'; while [ ! -e go ]; do sleep 0.01; done; echo 'f two'; exit 3");
    assert_eq!(id, "bash_1");
    let mut text = String::new();
    until("the first line has come", || {
        text.push_str(&b.read(&id));
        text.contains("hal\n[still running, for ")
    });
    assert_eq!(text.matches("one\n").count(), 1, "{text}");
    assert!(b.read(&id).starts_with("hal\n[still running"), "a line that is not whole comes again");
    fs::write(b.root.join("go"), "").unwrap();
    let out = b.run("BashOutput", json!({"bash_id": id, "wait": 20_000})).unwrap();
    assert!(out.for_model.starts_with("half two\n[it has ended: exit 3 · "), "{}", out.for_model);
    assert!(out.failed && out.for_user == Block::Terminal { output: "half two\n".into(), status: Some(3) });
    assert!(b.read(&id).starts_with("(nothing new)\n[it has ended: exit 3"));
    let end = b.jobs.lock().unwrap().remove(0).join().unwrap();
    assert!(end.how.starts_with("exit 3 · ") && end.failed && !end.asked);
    assert_eq!(
        b.read("bash_7"),
        "Error: There is no background command \"bash_7\" in this session: there are bash_1. Those of an earlier session ended with it."
    );
}

#[test]
fn killing_ends_the_whole_group_and_nothing_else() {
    let b = Bench::new(&[]);
    let other = b.begin("echo $$ > other; exec sleep 600");
    let id = b.begin("sh -c 'trap \"\" TERM; echo $$ > pid; while :; do sleep 60; done' & echo $$ > shell; wait");
    let pid = |name: &str| fs::read_to_string(b.root.join(name)).unwrap_or_default();
    until("all of it runs", || ["other", "pid", "shell"].iter().all(|name| pid(name).ends_with('\n')));
    let (call, preview) = b.call("KillBash", json!({"shell_id": id})).unwrap();
    assert_eq!(preview.access, Access::Job { id: "bash_2".into(), end: true });
    let out = b.run_call(&call).unwrap();
    assert!(out.for_model.contains("[it has ended: ") && !out.failed, "{}", out.for_model);
    until("the child that ignores TERM is gone, too", || !alive(&pid("pid")) && !alive(&pid("shell")));
    assert!(alive(&pid("other")));
    assert!(b.read(&other).contains("[still running"));
    b.workspace.jobs.close();
    let ends: Vec<_> = b.jobs.lock().unwrap().drain(..).map(|job| job.join().unwrap()).collect();
    assert!(ends.iter().all(|end| end.asked && !end.failed), "{ends:?}");
    until("everything has ended", || !alive(&pid("other")));
    let error = b.run("Bash", json!({"command": "true", "run_in_background": true})).unwrap_err();
    assert_eq!(error.0, "The session is ending.");
}

#[test]
fn what_nobody_reads_is_bounded_and_all_of_it_is_in_a_file() {
    let b = Bench::new(&[]);
    let out = b.run("Bash", json!({"command": "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done", "is_background": true}));
    let started = out.unwrap().for_model;
    let file = started.rsplit_once("is kept in ").unwrap().1.trim_end_matches('.').to_owned();
    let out = b.run("BashOutput", json!({"id": "bash_1", "wait": 30_000})).unwrap();
    let (text, note) = out.for_model.split_once("\n[it has ended: exit 0").unwrap();
    assert!(
        note.starts_with(" · ") && text.len() <= 30_000 && text.starts_with("line 0\n") && text.ends_with("line 19999"),
        "{}",
        text.len()
    );
    assert!(text.contains(&format!("all of it is in {file} …]")), "{text}");
    assert_eq!(fs::read_to_string(Path::new(&file)).unwrap().lines().count(), 20_000);
}

#[test]
fn what_it_would_touch_is_what_it_would_touch_at_once() {
    let b = Bench::new(&[("a", b"x")]);
    for command in ["cat a", "rm a", "npm run dev", "cat $X", "echo x > a"] {
        let access = |background: bool| b.call("Bash", json!({"command": command, "run_in_background": background})).unwrap().1.access;
        assert_eq!(access(true), access(false));
    }
    assert!(b.call("BashOutput", json!({"id": "bash_1"})).is_err() && b.call("KillBash", json!({"id": "1234"})).is_err());
}

#[test]
fn one_that_waits_for_an_answer_is_told_as_such() {
    let b = Bench::new(&[]);
    let id = b.begin("printf 'Overwrite? [y/N] '; exec sleep 600");
    until("it is told", || b.read(&id).contains("[It asks for a confirmation"));
}

#[test]
fn only_so_many_at_once() {
    let b = Bench::new(&[]);
    for _ in 0..16 {
        b.begin("exec sleep 600");
    }
    let error = b.run("Bash", json!({"command": "true", "run_in_background": true})).unwrap_err();
    assert_eq!(error.0, "16 commands run in the background already: end one with KillBash.");
    assert!(b.run("KillBash", json!({"id": "bash_3"})).is_ok());
    assert_eq!(b.begin("true"), "bash_17");
}
