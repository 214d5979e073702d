//! Calls by every name and rules against every call, from a model's answer to the disk.

use super::*;
use serde_json::{Value, json};

impl Bench {
    /// All of these calls, in this mode, under these rules; nobody says yes to a question. What came of each.
    pub(super) fn outcomes(&mut self, mode: Mode, rules: &[(Ruling, &str)], prompt: &str) -> Vec<String> {
        self.send(Command::SetMode(mode));
        for (ruling, text) in rules {
            crate::policy::check(*ruling, text).unwrap();
            self.send(Command::Permit(Permit::Add(Rule::new(*ruling, RuleSource::Session, *text))));
        }
        self.prompt(prompt);
        let mut told = vec![];
        loop {
            let body = self.until("call or end", |e| {
                matches!(e, EventBody::Turn(TurnEvent::Ended(_)) | EventBody::Call(CallEvent::Asked { .. } | CallEvent::Finished { .. }))
            });
            match body {
                EventBody::Call(CallEvent::Asked { id, .. }) => {
                    told.push("asked".to_owned());
                    self.send(Command::Decide { call: id, decision: Decision::Deny { reason: None } });
                }
                EventBody::Call(CallEvent::Finished { outcome: Outcome::Denied { .. }, .. }) => {}
                EventBody::Call(CallEvent::Finished { outcome, .. }) => told.push(outcome.for_model()),
                _ => return told,
            }
        }
    }
}

fn script(calls: &[(&str, Value)]) -> String {
    let calls: Vec<Value> = calls.iter().map(|(name, args)| json!({"name": name, "args": args})).collect();
    // What is edited has been seen before.
    let (first, rest) = calls.split_at(calls.len().min(1));
    json!({"rules": [{"steps": [{"calls": first}, {"calls": rest}, {"text": "Done."}]}]}).to_string()
}

#[test]
fn models_may_call_what_they_were_trained_on() {
    let calls = [
        ("read_file", json!({"path": "a.txt", "start_line": 1, "end_line": 1}), "one"),
        ("string_replace", json!({"path": "a.txt", "old_str": "one", "new_str": "two"}), "a.txt"),
        ("write_file", json!({"path": "b.txt", "content": "first line\nsecond\n"}), "b.txt"),
        ("execute_bash", json!({"command": "cat a.txt"}), "two"),
        ("find_files", json!({"pattern": "*.txt", "maxResults": 5}), "a.txt"),
        ("search_file_contents", json!({"query": "SECOND", "maxResults": 5, "caseSensitive": false}), "b.txt:2: second"),
        ("search_file_contents", json!({"query": "SECOND", "caseSensitive": true}), "No matches"),
        ("search_file_contents", json!({"query": "sec", "wholeWord": true}), "No matches"),
        ("search_file_contents", json!({"query": "second", "contextLines": 1}), "b.txt-1- first line"),
        ("list_directory", json!({"path": "."}), "b.txt"),
        ("list_directory", json!({"path": ".", "recursive": true}), "b.txt"),
        ("str_replace_editor", json!({"command": "view", "path": "b.txt", "view_range": [2, -1]}), "second"),
        ("str_replace_editor", json!({"command": "create", "path": "c.txt", "file_text": "third\n"}), "c.txt"),
        ("str_replace_editor", json!({"command": "str_replace", "path": "c.txt", "old_str": "third", "new_str": "3"}), "c.txt"),
        ("str_replace_editor", json!({"command": "insert", "path": "c.txt", "insert_line": 1}), "view, create or str_replace"),
        ("str_replace_based_edit_tool", json!({"command": "view", "path": "c.txt"}), "3"),
        ("Read", json!({"file_path": "c.txt", "offset": 1, "limit": 1}), "3"),
        ("Write", json!({"file_path": "d.txt", "content": "alpha\nbeta\n"}), "d.txt"),
        ("Edit", json!({"file_path": "d.txt", "old_string": "alpha", "new_string": "gamma", "replace_all": true}), "d.txt"),
        ("MultiEdit", json!({"file_path": "d.txt", "edits": [{"old_string": "gamma", "new_string": "delta"}]}), "d.txt"),
        ("Grep", json!({"pattern": "DELTA", "-i": true, "output_mode": "content", "glob": "*.txt", "head_limit": 3}), "d.txt:1: delta"),
        ("Glob", json!({"pattern": "d.*", "path": "."}), "d.txt"),
        ("View", json!({"file_path": "d.txt"}), "delta"),
        ("LS", json!({"path": "."}), "d.txt"),
        ("Bash", json!({"command": "tail -n 1 d.txt", "timeout": 5000}), "beta"),
        ("shell", json!({"cmd": "echo hello"}), "hello"),
        ("git_status", json!({}), "not a git repository"),
        ("write_tasks", json!({"tasks": [{"title": "x", "status": "pending"}]}), "no tool \"write_tasks\""),
    ];
    let mut bench = Bench::new(&script(&calls.iter().map(|(name, args, _)| (*name, args.clone())).collect::<Vec<_>>()));
    let told = bench.outcomes(Mode::Yolo, &[], "all of it");
    assert_eq!(told.len(), calls.len(), "{told:#?}");
    for ((name, args, expected), told) in calls.iter().zip(&told) {
        assert!(told.contains(expected), "{name} {args}: {told}");
    }
}

#[test]
fn what_is_denied_does_not_happen_whoever_asks_in_whatever_mode() {
    let bash = |command: &str| ("Bash", json!({"command": command}));
    let calls = [
        ("Edit", json!({"file_path": "secrets/new", "old_string": "", "new_string": "x"})),
        ("Write", json!({"file_path": "Secrets/new", "content": "x"})),
        ("write_file", json!({"path": "link/new", "content": "x"})),
        ("str_replace_editor", json!({"command": "create", "path": "src/../secrets/new", "file_text": "x"})),
        ("apply_patch", json!({"patch": "*** Begin Patch\n*** Add File: secrets/new\n+x\n*** End Patch"})),
        bash("echo x > secrets/new"),
        bash("echo x > link/new"),
        bash("cd secrets && echo x > new"),
        bash("cp a.txt secrets"),
        bash("cp a.txt secrets/new"),
        bash("cp -t secrets a.txt"),
        bash("ln a.txt secrets/new"),
        bash("rm -r secrets"),
        bash("rm -rf ."),
        bash("mv secrets elsewhere"),
        bash("find secrets -delete"),
        bash("D=secrets; echo x > $D/new"),
        bash("sh -c 'echo x > secrets/new'"),
        bash("python3 -c 'open(\"secrets/new\", \"w\")'"),
        bash("tee secrets/new < a.txt"),
        bash("env X=1 touch secrets/new"),
        bash("sed -i s/a/b/ secrets/kept"),
        bash("printf 'touch secrets/new' > s.sh; sh s.sh"),
        ("View", json!({"file_path": ".env"})),
        ("read_file", json!({"path": "pointer"})),
        ("View", json!({"file_paths": ["a.txt", "src/../.env"]})),
        ("GrepTool", json!({"pattern": "hunter"})),
        ("Grep", json!({"pattern": "hunter", "path": ".env"})),
        ("Grep", json!({"pattern": "hunter", "no_ignore": true})),
        bash("cat .env"),
        bash("cat pointer"),
        bash("cat < .env"),
        bash("cat .e*"),
        bash("cat ./*v .env"),
        bash("grep -r hunter ."),
        bash("rg -uuu hunter"),
        bash("cp .env readable && cat readable"),
        bash("ln -s .env other && cat other"),
        bash("tar cf - .env"),
        bash("while read x; do echo $x; done < .env"),
        bash("python3 -c 'print(open(\".env\").read())'"),
        bash("git diff --no-index /dev/null .env"),
        bash("xargs -a .env echo"),
        bash("awk 1 .env"),
        bash("echo \"$(cat .env)\""),
        ("FileOp", json!({"operation": "copy", "path": ".env", "destination": "readable"})),
        ("move_file", json!({"source": "pointer", "destination": "secrets/new"})),
        ("FileOp", json!({"operation": "move", "path": "a.txt", "destination": "link/new"})),
        ("FileOp", json!({"operation": "move", "path": "secrets", "destination": "elsewhere"})),
        ("FileOp", json!({"operation": "delete", "path": "secrets"})),
        ("FileOp", json!({"operation": "mkdir", "path": "secrets/new"})),
        ("FileOp", json!({"operation": "copy", "path": "secrets", "destination": "other"})),
        bash("git push origin"),
        bash("git -C . push"),
    ];
    for mode in Mode::ALL {
        let mut bench = Bench::new(&script(&calls));
        let root = bench.folder.path().join("project");
        std::fs::create_dir_all(root.join("secrets")).unwrap();
        std::fs::create_dir_all(root.join("src")).unwrap();
        std::fs::write(root.join("secrets/kept"), "kept\n").unwrap();
        std::fs::write(root.join(".env"), "KEY=hunter2\n").unwrap();
        std::os::unix::fs::symlink("secrets", root.join("link")).unwrap();
        std::os::unix::fs::symlink(".env", root.join("pointer")).unwrap();
        let rules = [(Ruling::Deny, "Edit(secrets/**)"), (Ruling::Deny, "View(.env)"), (Ruling::Deny, "Bash(git push *)")];
        let told = bench.outcomes(mode, &rules, "do it");
        assert!(!told.iter().any(|text| text.contains("hunter2")), "{mode:?}: {told:#?}");
        let left: Vec<_> = std::fs::read_dir(root.join("secrets")).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["kept"], "{mode:?}");
        assert_eq!(bench.file("secrets/kept").as_deref(), Some("kept\n"));
        assert!(!root.join("Secrets").exists() && bench.file("readable").is_none() && bench.file("other").is_none());
    }
}

#[test]
fn tools_that_go_through_folders_leave_out_what_a_rule_is_about() {
    let calls = [
        ("GrepTool", json!({"pattern": "needle"})),
        ("GlobTool", json!({"pattern": "*.rs"})),
        ("LS", json!({"path": "."})),
        ("Bash", json!({"command": "grep -r needle ."})),
        ("Bash", json!({"command": "grep -r needle open"})),
    ];
    let mut bench = Bench::new(&script(&calls));
    let root = bench.folder.path().join("project");
    for file in ["private/x.rs", "open/y.rs"] {
        std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
        std::fs::write(root.join(file), "a needle\n").unwrap();
    }
    let told = bench.outcomes(Mode::Yolo, &[(Ruling::Deny, "View(private/**)")], "look");
    assert_eq!(told[0], "open/y.rs:1: a needle\n(1 not searched, because of a rule)\n");
    assert_eq!(told[1], "open/y.rs\n");
    assert_eq!(told[2], "open/\na.txt\n");
    assert!(told[3].starts_with("Not allowed: the rule `deny View(private/**)` (session) forbids"), "{}", told[3]);
    assert!(told[4].contains("y.rs"), "{}", told[4]);
}

#[test]
fn what_would_happen_is_told_without_anything_happening() {
    let mut bench = Bench::new(&script(&[]));
    bench.send(Command::Permit(Permit::Add(Rule::new(Ruling::Allow, RuleSource::Session, "Bash(touch *)"))));
    bench.send(Command::Permit(Permit::Add(Rule::new(Ruling::Deny, RuleSource::Session, "Edit(a.txt)"))));
    for (text, expected) in [
        ("touch b.txt", "runs"),
        ("touch a.txt", "is refused"),
        ("touch b.txt > c", "asks"),
        ("cat a.txt", "runs"),
        ("Edit b.txt", "asks"),
        ("Edit ./a.txt", "is refused"),
        ("View /etc/passwd", "asks"),
        ("WebFetch docs.rs", "asks"),
        ("Bash touch b.txt", "runs"),
    ] {
        bench.send(Command::Permit(Permit::Try(text.into())));
        let judged = bench.until("verdict", |e| matches!(e, EventBody::Session(SessionEvent::Judged { .. })));
        let EventBody::Session(SessionEvent::Judged { text: told, verdict, why }) = judged else { unreachable!() };
        assert_eq!((told.as_str(), verdict.as_str()), (text, expected), "{why}");
    }
    assert_eq!((bench.file("b.txt"), bench.file("c")), (None, None));
}
