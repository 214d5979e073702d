//! Real shells as judges: what they start is what was found, and what was called a read starts nothing else.
//!
//! Lines are made up of little pieces and run where the only programs are ones that note how they were called.

use crate::{
    command_line::{Surroundings, analyse},
    protocol::Touch,
};
use proptest::prelude::*;
use std::{
    cell::Cell,
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

struct Here(PathBuf);

impl Surroundings for Here {
    fn cwd(&self) -> PathBuf {
        self.0.clone()
    }

    fn home(&self) -> Option<PathBuf> {
        None
    }

    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        Some(path.into())
    }

    fn names(&self, _: &Path, _: &str) -> Option<Vec<String>> {
        None
    }
}

/// Programs that write their name and words to a file, and do nothing else.
fn stage(folder: &Path) -> PathBuf {
    let programs = folder.join("programs");
    fs::create_dir_all(&programs).unwrap();
    for name in ["ls", "rm", "cat", "wc"] {
        let path = programs.join(name);
        // One write each: those in a pipe write at the same time.
        let note =
            format!("#!/bin/sh\nnote={name}\nfor word; do note=\"$note\u{1f}$word\"; done\nprintf '%s\\036' \"$note\" >> \"$NOTES\"\n");
        fs::write(&path, note).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    programs
}

/// What a shell starts, each with its words; nothing if it does not understand the line.
fn started(shell: &str, line: &str, folder: &Path, programs: &Path) -> Vec<Vec<String>> {
    // Notes of its own: a job in the background may write when others are at it.
    let (inside, notes) = (folder.join("inside"), tempfile::Builder::new().tempfile_in(folder).unwrap());
    let _ = fs::remove_dir_all(&inside);
    fs::create_dir_all(&inside).unwrap();
    let mut command = Command::new(shell);
    command.arg("-c").arg(line).current_dir(&inside).env_clear().env("PATH", programs).env("NOTES", notes.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    let notes = fs::read_to_string(notes.path()).unwrap_or_default();
    notes.split_terminator('\u{1e}').map(|note| note.split('\u{1f}').map(str::to_owned).collect()).collect()
}

/// Lines that a shell mostly understands, with an odd piece here and there.
fn lines() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "x",
        "y",
        "x y",
        "'x y'",
        "\"x y\"",
        "\\x",
        "\\ ",
        "\\'",
        "\\\"",
        "\\$",
        "'\\'",
        "\"\\\"\"",
        "\"'\"",
        "'\"'",
        "''",
        "\"\"",
        "'#'",
        "#",
        "~",
        "=",
        "-",
        "{",
        "}",
        "!",
        "$x",
        "\"$x\"",
        "${x:-y}",
        "$(ls x)",
        "\"$(ls 'x')\"",
        "`ls y`",
        "$((1 + 1))",
        "\"`ls \"x\"`\"",
        "'`rm`'",
        "'$(rm)'",
        "\\`",
        "\\;",
        "';'",
        "\"|\"",
        "\\\n",
        "'\n'",
        "\"\n\"",
        "$",
        "\"$\"",
        "$'x'",
        "\\$'x'",
        "$$'x'",
        "$\"x\"",
        "{x,y}",
        "*",
        "[",
        "]",
        "[x]",
    ]);
    let word = prop::collection::vec(piece, 1..3).prop_map(|pieces| pieces.concat());
    let name = prop::sample::select(vec![
        "ls", "rm", "cat", "wc", "l\\s", "'rm'", "r''m", "\"ls\"", "! ls", "x=1 ls", "echo", "true", "false", "eval ls", ":",
    ]);
    let end = prop::sample::select(vec![
        "",
        "",
        "",
        " >/dev/null",
        " 2>&1",
        " <<E\nx $(ls y) `ls`\nE",
        " <<'E'\n$(rm) '\nE",
        " <<-E\n\trm\n\tE",
        " # rm '",
        " </dev/null",
    ]);
    let simple = (name, prop::collection::vec(word, 0..3), end).prop_map(|(name, words, end)| format!("{name} {}{end}", words.join(" ")));
    let operator = || prop::sample::select(vec![" ; ", " && ", " || ", " | ", "\n", ";", "&&", "||", "|", " & ", "&& \\\n "]);
    let command = simple.prop_recursive(3, 12, 3, move |inner| {
        prop_oneof![
            3 => (inner.clone(), operator(), inner.clone()).prop_map(|(a, by, b)| if a.contains("\nE") || a.contains('#') { format!("{a}\n{b}") } else { format!("{a}{by}{b}") }),
            1 => inner.clone().prop_map(|a| format!("({a}\n)")),
            1 => inner.clone().prop_map(|a| format!("{{ {a}\n}}")),
            1 => inner.clone().prop_map(|a| format!("echo \"$({a}\n)\"")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("if {a}\nthen {b}\nfi")),
            1 => inner.clone().prop_map(|a| format!("for i in x y; do {a}\ndone")),
            1 => inner.clone().prop_map(|a| format!("case x in x) {a}\n;; esac")),
            1 => inner.prop_map(|a| format!("sh -c '{}'", a.replace('\'', "'\\''"))),
        ]
    });
    let odd = prop::sample::select(vec![
        "'", "\"", "\\", "`", "$(", ")", "(", "}", "{ ", ";", "&", "|", "#", " #", "\n", "\\\n", "$'", "<<E\n", "\nE\n", " fi", "1>", "${",
        "=", " ",
    ]);
    (command, prop::option::weighted(0.4, (odd, any::<prop::sample::Index>()))).prop_map(|(mut line, odd)| {
        if let Some((piece, at)) = odd {
            let places: Vec<usize> = line.char_indices().map(|(at, _)| at).collect();
            line.insert_str(places[at.index(places.len())], piece);
        }
        line
    })
}

fn shells() -> Vec<&'static str> {
    ["/bin/sh", "/bin/dash", "/bin/bash", "/usr/bin/bash", "/bin/busybox"]
        .into_iter()
        .filter(|s| Path::new(s).exists() && !s.ends_with("busybox"))
        .collect()
}

#[test]
fn what_shells_start_was_found() {
    let folder = tempfile::tempdir().unwrap();
    let programs = stage(folder.path());
    let around = Here(folder.path().join("inside"));
    let runs = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let mut runner = proptest::test_runner::TestRunner::new(proptest::test_runner::Config {
        cases: runs,
        // Each shell that is started costs milliseconds.
        max_shrink_iters: 200,
        failure_persistence: None,
        ..Default::default()
    });
    let shells: BTreeSet<&str> = shells().into_iter().collect();
    let understood = Cell::new(0);
    let outcome = runner.run(&lines(), |line| {
        let parts = analyse(&line, &around);
        // What is said not to be understood is not run either.
        if parts.iter().flat_map(|part| &part.touches).any(|touch| matches!(touch, Touch::Unknown(_))) {
            return Ok(());
        }
        understood.set(understood.get() + 1);
        let found: BTreeSet<&[String]> = parts.iter().map(|part| part.words.as_slice()).collect();
        // A part with words that only the shell knows; that it removes something was known all the same.
        let open = parts.iter().any(|part| part.words.is_empty());
        let removes = parts.iter().any(|part| part.words.is_empty() && part.touches.contains(&Touch::Deletes));
        for shell in &shells {
            for words in started(shell, &line, folder.path(), &programs) {
                let known = found.contains(words.as_slice()) || open && words[0] != "rm" || removes && words[0] == "rm";
                prop_assert!(known, "{shell} started {words:?} for {line:?}, found were {parts:?}");
            }
            let writes = parts.iter().any(|part| !part.is_read() && !part.touches.contains(&Touch::Deletes));
            let made: Vec<_> = fs::read_dir(folder.path().join("inside")).unwrap().map(|e| e.unwrap().file_name()).collect();
            prop_assert!(made.is_empty() || writes, "{shell} made {made:?} for {line:?}");
        }
        Ok(())
    });
    outcome.unwrap();
    assert!(understood.get() > runs / 10, "only {} of {runs} lines were understood", understood.get());
}
