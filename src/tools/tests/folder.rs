//! The working folder: where it comes from, who follows it, and that nothing runs in another one than was looked at.

use super::Bench;
use crate::{
    command_line,
    protocol::{Access, CommandPart, ToolCall},
    tools::{Workspace, shell::Shell},
};
use serde_json::json;
use std::{fs, os::unix::fs::symlink};

impl Bench {
    fn bash(&self, command: &str) -> String {
        self.text("Bash", json!({ "command": command }))
    }

    fn parts(&self, command: &str) -> (Vec<CommandPart>, Option<std::path::PathBuf>) {
        match self.call("Bash", json!({ "command": command })).unwrap().1.access {
            Access::Run { parts, folder, .. } => (parts, folder),
            other => panic!("{other:?}"),
        }
    }

    fn is_free(&self, command: &str) -> bool {
        let inside = |path: &std::path::Path| path.starts_with(self.workspace.root());
        self.parts(command).0.iter().all(|part| command_line::is_free(part, &inside))
    }
}

const MOVED: &str = "[the working folder is now sub; relative paths start there, for all tools]";

#[test]
fn a_cd_stays_for_the_commands_that_come_and_the_result_says_where() {
    let b = Bench::new(&[("sub/deep/x", b"x"), ("a", b"x")]);
    assert_eq!(b.bash("cd sub && ls"), format!("deep\n{MOVED}"));
    assert_eq!(b.bash("pwd"), "ROOT/sub\n[in sub]");
    assert_eq!(b.bash("true"), "[in sub]");
    assert_eq!(b.bash("cd deep; exit 3"), "[exit code 3]\n[in sub]", "only of one that succeeded");
    assert_eq!(b.bash("(cd deep && ls) && echo $(cd deep && ls) && cd deep & wait"), "x\nx\n[in sub]", "only of the shell itself");
    assert_eq!(b.bash("cd deep; exec true"), "[in sub]", "what became another program tells nothing");
    assert_eq!(b.bash("trap 'echo bye' EXIT; cd deep"), "bye\n[in sub]");
    assert_eq!(
        b.bash("cd deep && f() { cd ..; } && f && f"),
        "[the working folder is now the project folder again; relative paths start there, for all tools]"
    );
    assert_eq!(b.bash("ls"), "a\nsub\n");
    // What a command prints and how it ends is its own.
    assert_eq!(b.bash("cd sub; echo $0 $#; set -C; cat <<E\ncd\nE\nsh -c 'exit 4'"), "/bin/sh 0\ncd\n[exit code 4]");
    assert!(b.bash("echo cd; if").contains("1: Syntax error"), "{}", b.bash("echo cd; if"));
    assert_eq!(b.names(), ["a", "sub", "sub/deep", "sub/deep/x"], "nothing is left behind");
}

#[test]
fn whoever_leaves_the_project_is_back_in_it() {
    let b = Bench::new(&[("sub/x", b"x")]);
    symlink("/usr", b.root.join("out")).unwrap();
    let left = |folder: &str| format!("[it ended in {folder}, outside the project: the working folder is the project folder]");
    b.bash("cd sub");
    assert_eq!(b.bash("cd /usr"), left("/usr"));
    assert_eq!(b.bash("cd out"), left("/usr"), "a link leads where it leads");
    assert_eq!(b.bash("pwd -P"), "ROOT\n");
    // One that goes away, or becomes a link.
    b.bash("cd sub");
    fs::rename(b.root.join("sub"), b.root.join("moved")).unwrap();
    symlink("/usr", b.root.join("sub")).unwrap();
    assert_eq!(b.bash("pwd -P"), "ROOT\n");
    assert_eq!(b.workspace.elsewhere(), None);
}

#[test]
fn the_other_tools_follow_and_say_what_the_model_may_write() {
    let b = Bench::new(&[("a.txt", b"one\n"), ("sub/a.txt", b"two\n"), ("sub/deep/b.txt", b"two\n")]);
    b.bash("cd sub");
    assert_eq!(b.text("GrepTool", json!({"pattern": "two"})), "a.txt:1: two\ndeep/b.txt:1: two\n");
    assert_eq!(b.text("GrepTool", json!({"pattern": "one", "path": ".."})), "../a.txt:1: one\n");
    assert_eq!(b.text("GrepTool", json!({"pattern": "two", "mode": "files"})), "a.txt\ndeep/b.txt\n");
    assert_eq!(b.text("LS", json!({})), "deep/\na.txt\n");
    let globbed = b.text("GlobTool", json!({"pattern": "*.txt", "path": ".."}));
    assert!(globbed.lines().any(|line| line == "../a.txt"), "{globbed}");
    assert!(b.text("View", json!({"file_path": "a.txt"})).contains("two"));
    assert!(b.text("View", json!({"file_path": "../a.txt"})).contains("one"));
    let (_, preview) = b.call("Edit", json!({"file_path": "a.txt", "old_string": "two", "new_string": "three"})).unwrap();
    assert_eq!(
        (preview.access, preview.title.as_str()),
        (Access::Write(vec![b.root.join("sub/a.txt")]), "sub/a.txt"),
        "the user sees all of it"
    );
    assert_eq!(
        b.text("Edit", json!({"file_path": "a.txt", "old_string": "two", "new_string": "three"})).lines().next().unwrap(),
        "Changed a.txt (+1 −1)."
    );
    assert_eq!((b.bytes("a.txt"), b.bytes("sub/a.txt")), (b"one\n".to_vec(), b"three\n".to_vec()));
    assert_eq!(
        b.text("View", json!({"file_path": "sub/a.txt"})),
        "Error: sub/a.txt does not exist. (Relative paths start in the working folder, sub; `cd` with Bash changes it.)"
    );
    for (path, shown) in [("", ".."), ("sub", "."), ("sub/deep", "deep"), ("other/x", "../other/x"), ("submarine", "../submarine")] {
        assert_eq!(b.workspace.shown(&b.root.join(path)), shown);
        assert_eq!(b.workspace.resolve(shown), b.root.join(path).components().collect::<std::path::PathBuf>());
    }
    assert_eq!(b.workspace.shown("/etc/x".as_ref()), "/etc/x");
}

#[test]
fn a_command_is_judged_for_the_folder_that_it_runs_in() {
    let b = Bench::new(&[("plain", b"x"), ("sub/x", b"x"), ("sub/deep/y", b"x"), ("keys/server.pem", b"x")]);
    assert_eq!(b.parts("ls").1, None);
    assert!(b.is_free("cat plain") && !b.is_free("cat keys/*") && !b.is_free("cat ../x"));
    b.bash("cd keys");
    assert!(!b.is_free("cat *") && !b.is_free("cat ../../x") && b.is_free("cat ../plain") && b.is_free("ls"));
    assert!(!b.is_free("cd ../sub && cat x"), "a way up and down again is not followed");
    b.bash("cd ..");
    b.bash("cd sub/deep");
    let (parts, folder) = b.parts("rm y");
    assert_eq!(folder, Some(b.root.join("sub/deep")));
    // What is allowed word by word is allowed where it was seen: in the project's folder.
    assert!(parts[0].words.is_empty() && command_line::offers(parts.iter()).is_none(), "{parts:?}");
    assert!(!b.parts("cargo test").0[0].words.is_empty(), "what chooses among the project's own may be done elsewhere");
    assert!(b.is_free("cd .. && cat x") && b.is_free("cd ../.. && cat plain") && !b.is_free("cd ../../.. && ls"));
}

#[test]
fn nothing_runs_in_another_folder_than_was_looked_at() {
    let b = Bench::new(&[("a.txt", b"one\n"), ("sub/a.txt", b"one\n")]);
    let calls: Vec<ToolCall> = [
        ("Bash", json!({"command": "rm a.txt"})),
        ("Edit", json!({"file_path": "a.txt", "old_string": "one", "new_string": "two"})),
        ("View", json!({"file_path": "a.txt"})),
    ]
    .into_iter()
    .map(|(name, args)| b.call(name, args).unwrap().0)
    .collect();
    b.bash("cd sub");
    for call in &calls {
        let error = b.run_call(call).unwrap_err().0;
        assert!(error.starts_with("The working folder has changed since"), "{error}");
    }
    assert_eq!((b.bytes("a.txt"), b.bytes("sub/a.txt")), (b"one\n".to_vec(), b"one\n".to_vec()));
    // Gone in between.
    let call = b.call("Bash", json!({"command": "ls"})).unwrap().0;
    fs::remove_dir_all(b.root.join("sub")).unwrap();
    assert!(b.run_call(&call).is_err());
}

/// A shell that was told another name for its folder goes up from there.
#[test]
fn the_way_up_is_the_kernels() {
    let b = Bench::new(&[("sub/x", b"x")]);
    symlink(b.root.join("sub"), b.root.parent().unwrap().join("alias")).unwrap();
    b.bash("cd sub");
    assert_eq!(
        b.bash("echo $PWD; cd ..; pwd"),
        "ROOT/sub\nROOT\n[the working folder is now the project folder again; relative paths start there, for all tools]"
    );
}

#[test]
fn of_another_shell_nothing_is_told() {
    let mut b = Bench::new(&[("sub/x", b"x")]);
    let bin = tempfile::tempdir().unwrap();
    fs::copy("/bin/sh", bin.path().join("zsh")).unwrap();
    let shell = Shell::find("zsh", b.workspace.root(), Some(bin.path().as_os_str())).unwrap();
    b.workspace = Workspace::new(&b.root, &b.root.join("../spill")).unwrap().with_shell(shell);
    assert_eq!(b.bash("cd sub && ls"), "x\n");
    let bash = Shell::find("bash", b.workspace.root(), std::env::var_os("PATH").as_deref()).unwrap();
    b.workspace = Workspace::new(&b.root, &b.root.join("../spill")).unwrap().with_shell(bash);
    assert_eq!(b.bash("cd sub && ls"), format!("x\n{MOVED}"));
    assert_eq!(b.bash("(cd .. && ls) && echo $(cd .. && ls) && pushd .. >/dev/null && popd > /dev/null"), "sub\nsub\n[in sub]");
}
