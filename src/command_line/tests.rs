//! What command lines deserve: a corpus, what may never become more permissive, and real shells as judges.

mod changed;
mod patterns;
mod shells;

use super::*;
use crate::{
    agent::{Bounds, approval},
    protocol::{Access, Mode},
};
use proptest::prelude::*;

/// The project /p of somebody whose home is /home/u, without any links.
struct Plain;

impl Surroundings for Plain {
    fn cwd(&self) -> PathBuf {
        "/p".into()
    }

    fn home(&self) -> Option<PathBuf> {
        Some("/home/u".into())
    }

    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        let mut done = PathBuf::new();
        for part in path.components() {
            match part {
                std::path::Component::ParentDir => drop(done.pop()),
                std::path::Component::CurDir => {}
                part => done.push(part),
            }
        }
        Some(done)
    }

    fn names(&self, _: &Path, _: &str) -> Option<Vec<String>> {
        None
    }
}

/// Reads that go by way of git, as if somebody had looked at its configuration and found it harmless.
fn parts(line: &str) -> Vec<CommandPart> {
    let mut parts = analyse(line, &Plain);
    for touch in parts.iter_mut().flat_map(|part| part.touches.iter_mut()) {
        if let Touch::Repository(path) = touch {
            *touch = Touch::Lists(path.clone());
        }
    }
    parts
}

fn judged(line: &str, mode: Mode, grants: &[crate::protocol::Grant]) -> approval::Verdict {
    let bounds = Bounds { root: "/p".into(), readable: vec![] };
    let access = Access::Run { command: line.into(), parts: parts(line), folder: None, outside: false };
    let said = approval::Said { grants, policy: &crate::policy::Policy::default() };
    approval::judge(mode, said, &bounds, &crate::policy::Asked { tool: "Bash", access: &access, named: &[] })
}

/// Would it run without a question?
fn is_read(line: &str) -> bool {
    judged(line, Mode::Normal, &[]) == approval::Verdict::Allow
}

/// The lines of the corpus that are judged so.
fn corpus(wanted: &str) -> Vec<String> {
    let lines = include_str!("tests/corpus.txt").lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let judged = lines.filter_map(|line| line.split_once(' ').filter(|(verdict, _)| *verdict == wanted));
    judged.map(|(_, line)| line.replace('⏎', "\n")).collect()
}

#[test]
fn every_line_of_the_corpus_is_judged_as_it_deserves() {
    let (reads, asks) = (corpus("read"), corpus("ask"));
    let all = include_str!("tests/corpus.txt").lines().filter(|line| !line.starts_with('#') && !line.is_empty()).count();
    assert_eq!(reads.len() + asks.len(), all, "a line of the corpus has no verdict");
    assert!(all >= 300, "{all}");
    let wrong: Vec<_> = reads
        .iter()
        .map(|line| (line, true))
        .chain(asks.iter().map(|line| (line, false)))
        .filter(|(line, read)| is_read(line) != *read)
        .collect();
    let told: Vec<String> =
        wrong.iter().map(|(line, read)| format!("{}: {line:?} {:?}", if *read { "read" } else { "ask" }, parts(line))).collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", told.len(), told.join("\n"));
}

#[test]
fn modes_differ_only_where_they_should() {
    use approval::Verdict::*;
    for line in corpus("read") {
        assert_eq!(Mode::ALL.map(|mode| judged(&line, mode, &[])), [Allow, Allow, Allow, Allow], "{line}");
    }
    for line in corpus("ask") {
        assert_eq!(judged(&line, Mode::AutoAccept, &[]), Ask, "{line}");
        // What only reads but elsewhere may be asked for in plan mode, the rest is out of the question.
        let reads = parts(&line).iter().all(CommandPart::is_read);
        assert_eq!(matches!(judged(&line, Mode::Plan, &[]), Forbid(_)), !reads, "{line}");
    }
}

#[test]
fn every_simple_command_is_found() {
    for (line, expected) in [
        ("ls && rm x | wc", "ls · rm x · wc"),
        ("echo \"$(rm x)\" `rm y`", " · rm x · rm y"),
        ("if a; then b; elif c; then d; else e; fi", "a · b · c · d · e"),
        ("for x in \"$(a)\"; do b; done; while c; do d; done", "a · b ·  · c · d"),
        ("case $(a) in b) c;; *) d;; esac", "a · c · d"),
        ("f() { a; }; (b; { c; })", " ·  · b · c"),
        ("cat <<E\n$(a)\nE", " · a"),
        ("timeout 5 nice a b", " ·  · a b"),
        ("sh -c 'a; b' && eval c", " · a · b ·  · c"),
        ("find . -exec a {} \\; | xargs b", " ·  ·  · "),
        ("x=$(a) b", " · a"),
        ("sudo rm x", " · rm x"),
    ] {
        let found: Vec<String> = parts(line).iter().map(|part| part.words.join(" ")).collect();
        assert_eq!(found.join(" · "), expected, "{line}");
    }
}

#[test]
fn a_part_says_what_it_would_touch() {
    for (line, expected) in [
        ("rm -r build", "[Deletes, Writes(\"/p/build\")]"),
        ("cp -t build a", "[Reads(\"/p/build\"), Writes(\"/p/a\"), Program(\"cp\")]"),
        ("mkdir build", "[Writes(\"/p/build\")]"),
        ("cp a b", "[Reads(\"/p/a\"), Writes(\"/p/b\")]"),
        ("curl http://x > out", "[Writes(\"/p/out\"), Network]"),
        ("git push", "[Network]"),
        ("cargo test", "[Project]"),
        ("npm install", "[Network, Project]"),
        ("./x", "[Project]"),
        ("nonsense", "[Program(\"nonsense\")]"),
        ("sed -i s/a/b/ a", "[Writes(\"/p/a\")]"),
        ("cd src && cat a", "[Lists(\"/p/src\")]"),
        ("x; cat $y", "[Program(\"x\")]"),
        ("ls )", "[Unknown(\"something that no shell expects\")]"),
    ] {
        assert_eq!(format!("{:?}", parts(line)[0].touches), expected, "{line}");
    }
    assert_eq!(format!("{:?}", parts("cd src && cat a")[1].touches), "[Reads(\"/p/src/a\")]");
    assert_eq!(format!("{:?}", parts("cd src; cat a")[1].touches), "[Reads(\"/p/src/a\"), Reads(\"/p/a\")]");
}

#[test]
fn what_cannot_be_seen_is_asked_about() {
    for odd in [
        '\u{a0}', '\u{200b}', '\u{202e}', '\u{2003}', '\u{3000}', '\u{ad}', '\u{feff}', '\u{2028}', '\u{1b}', '\r', '\u{7f}', '\u{b}',
        '\u{85}',
    ] {
        for line in [format!("ls{odd}x"), format!("ls {odd}"), format!("{odd}ls"), format!("echo '{odd}'")] {
            assert!(!is_read(&line), "{line:?}");
        }
    }
    assert!(is_read("echo 'grün 你好 🦀'"));
}

/// As far as a line may go, and further.
#[test]
fn size_and_depth_are_bounded() {
    for (open, close) in
        [("(", ")"), ("( ", " )"), ("{ ", "; }"), ("$(", ")"), ("\"$(", ")\""), ("if ", "; then ls; fi"), ("case x in x) ", ";; esac")]
    {
        for depth in [3, 30, 1_000, 5_000] {
            let line = format!("{}{}{}", open.repeat(depth), "ls", close.repeat(depth));
            assert!(depth < 10 || !is_read(&line) || line.starts_with("(("), "{line:.40}");
        }
    }
    let mut line = "ls".to_owned();
    for _ in 0..12 {
        line = format!("sh -c {}", format_args!("'{}'", line.replace('\'', r"'\''")));
    }
    assert!(!is_read(&line));
    assert!(!is_read(&"ls;".repeat(10_000)));
    assert!(is_read(&"ls;".repeat(1_000)));
    assert!(!is_read(&"cd a;".repeat(3_000)));
}

#[test]
fn rows_are_the_parts_of_a_chain() {
    let rows = |line: &'static str| super::rows(line).into_iter().map(|row| line[row].trim()).collect::<Vec<_>>();
    for (line, expected) in [
        ("make", &["make"][..]),
        ("cd a && make -j2 || echo no; rm -f x", &["cd a &&", "make -j2 ||", "echo no;", "rm -f x"]),
        ("a | b && c", &["a | b &&", "c"]),
        ("a 2>&1 && b & c", &["a 2>&1 &&", "b & c"]),
        ("echo 'a && b' \"c; d\" \\; && (e; f)", &["echo 'a && b' \"c; d\" \\; &&", "(e; f)"]),
        ("a; b;", &["a;", "b;"]),
        ("a # b; c", &["a # b; c"]),
        ("for i in 1 2; do echo $i; done", &["for i in 1 2; do echo $i; done"]),
        ("cat <<E; b\nx; y\nE", &["cat <<E;", "b\nx; y\nE"]),
        ("echo 'open; b", &["echo 'open; b"]),
        ("a;\nb\nc", &["a;", "b", "c"]),
        ("x=$(a; b); c", &["x=$(a; b);", "c"]),
    ] {
        assert_eq!(rows(line), expected, "{line}");
    }
}

proptest! {
    #[test]
    fn nothing_makes_it_panic_and_every_part_stands_in_the_line(line in "([a-c '\"`\\\\;&|(){}#$<>!=*~\\n\\[\\]é-]|\\$\\(|<<E\n|\nE\n|if |fi|do |for |case |esac|cd |sh -c |rm |ls |then |done|in ){0,30}") {
        for part in analyse(&line, &Plain) {
            prop_assert!(line.get(part.at.0..part.at.1).is_some(), "{:?} in {line:?}", part.at);
        }
        let rows: String = super::rows(&line).into_iter().map(|row| &line[row]).collect();
        prop_assert_eq!(rows, line);
    }

    #[test]
    fn any_text_at_all_is_judged(line in "\\PC{0,60}") {
        analyse(&line, &Plain);
    }
}
