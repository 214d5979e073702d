//! What git really prints, beside what was told before.

use super::shown;
use crate::{command_line::is_secret, protocol::Touch};
use std::{fs, path::Path, process::Command};

fn git(top: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=A", "-c", "user.email=a@b.c"]).args(args).current_dir(top);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_PAGER", "cat");
    let output = command.output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A project whose `.env` was committed, changed, and taken out of the index again; beside it a harmless file with a history.
fn project(top: &Path) {
    git(top, &["init", "-q", "-b", "main"]);
    let commit = |message: &str| {
        git(top, &["add", "-A"]);
        git(top, &["commit", "-q", "-m", message]);
    };
    fs::write(top.join("a.txt"), "one\n").unwrap();
    commit("plain");
    fs::write(top.join(".env"), "KEY=hunter1\n").unwrap();
    commit("secret");
    fs::write(top.join(".env"), "KEY=hunter2\n").unwrap();
    fs::write(top.join("a.txt"), "two\n").unwrap();
    commit("both");
    git(top, &["rm", "-q", "--cached", ".env"]);
    fs::write(top.join(".gitignore"), ".env\n").unwrap();
    commit("gone");
    fs::write(top.join("a.txt"), "three\n").unwrap();
    commit("plain again");
}

fn told(top: &Path, line: &str) -> Vec<Touch> {
    let said: Vec<Option<String>> = line.split(' ').map(|word| Some(word.to_owned())).collect();
    shown(&said, top, &is_secret)
}

#[test]
fn whatever_prints_a_secret_was_told_to() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    project(&top);
    let blob = git(&top, &["rev-parse", "HEAD~3:.env"]).trim().to_owned();
    git(&top, &["tag", "-a", "-m", "x", "kept", &blob]);
    let mut lines: Vec<String> = [
        "git show HEAD~1",
        "git show HEAD~2",
        "git show HEAD~3",
        "git show HEAD~4..HEAD~1",
        "git show HEAD~2 -- .e*",
        "git show --stat -p HEAD~2",
        "git show kept",
        "git log -p",
        "git log -p -n 2",
        "git log -U1 main",
        "git log -c HEAD~1",
        "git log --all --word-diff -p",
        "git log -L1,1:.env HEAD~2",
        "git diff HEAD~3",
        "git diff HEAD~3 HEAD",
        "git diff HEAD~3..HEAD~2",
        "git diff HEAD~3...HEAD~2",
        "git diff --cached HEAD~2",
        "git diff-tree -p HEAD~2",
        "git diff-tree -p HEAD~3 HEAD~2",
        "git diff-tree -r -p --root HEAD~3",
    ]
    .map(str::to_owned)
    .into();
    lines.extend([format!("git cat-file -p {blob}"), format!("git show {blob}"), format!("git diff {blob} HEAD:a.txt")]);
    for line in lines {
        let words: Vec<&str> = line.split(' ').skip(1).collect();
        assert!(git(&top, &words).contains("hunter"), "{line} shows nothing, so that it proves nothing");
        assert!(!told(&top, &line).is_empty(), "{line}");
    }
    assert_eq!(told(&top, "git show HEAD~2"), [Touch::Reads(top.join(".env"))], "the file itself, where it can be told");
}

#[test]
fn what_shows_none_is_free() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    project(&top);
    fs::write(top.join("a.txt"), "four\n").unwrap();
    for line in [
        "git status",
        "git status -v",
        "git log",
        "git log --oneline -5",
        "git log --stat -n 3 main",
        "git log --author=A --since=2.weeks --format=%h",
        "git log -p HEAD~1..HEAD",
        "git show",
        "git show HEAD",
        "git show --stat HEAD~2",
        "git show --name-only HEAD~3",
        "git show HEAD:a.txt",
        "git diff",
        "git diff HEAD",
        "git diff a.txt",
        "git diff -- gone.txt",
        "git diff --stat HEAD~3",
        "git diff HEAD~1 HEAD",
        "git diff --cached",
        "git blame a.txt",
        "git cat-file -p HEAD",
        "git cat-file -t HEAD~3:.env",
        "git ls-files",
        "git stash list",
        "git branch -v",
    ] {
        assert!(told(&top, line).is_empty(), "{line}: {:?}", told(&top, line));
        let words: Vec<&str> = line.split(' ').skip(1).collect();
        assert!(!git(&top, &words).contains("hunter"), "{line}");
    }
    // What is not understood is told as unknown, and nothing is asked where there is no repository.
    for line in ["git show nobody", "git diff HEAD^!", "git log -p nobody..HEAD", "git diff -C HEAD~1", "git log -g -p"] {
        assert!(matches!(told(&top, line)[..], [Touch::Unknown(_)]), "{line}");
    }
    let elsewhere = tempfile::tempdir().unwrap();
    assert!(told(elsewhere.path(), "git diff a b").is_empty());
}

#[test]
fn what_is_in_the_working_tree_or_put_away_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    git(&top, &["init", "-q", "-b", "main"]);
    fs::write(top.join(".env"), "KEY=hunter1\n").unwrap();
    fs::write(top.join("a.txt"), "one\n").unwrap();
    assert!(told(&top, "git diff --cached").is_empty(), "nothing is known to git yet");
    git(&top, &["add", "-A"]);
    assert!(!told(&top, "git diff --cached").is_empty(), "the first commit is still to come");
    git(&top, &["commit", "-q", "-m", "all"]);
    assert!(told(&top, "git diff").is_empty() && told(&top, "git diff HEAD").is_empty());
    fs::write(top.join(".env"), "KEY=hunter2\n").unwrap();
    for line in ["git diff", "git diff HEAD", "git status -v -v", "git diff a.txt"] {
        assert!(!told(&top, line).is_empty(), "{line}");
    }
    git(&top, &["stash", "-q"]);
    assert!(told(&top, "git diff").is_empty());
    for line in ["git stash show -p", "git stash show -p stash@{0}", "git stash show -p 0", "git stash list -p"] {
        assert!(git(&top, &line.split(' ').skip(1).collect::<Vec<_>>()).contains("hunter"), "{line}");
        assert!(!told(&top, line).is_empty(), "{line}");
    }
    assert!(told(&top, "git stash show").is_empty());
}
