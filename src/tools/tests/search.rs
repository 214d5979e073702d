//! LS, GrepTool, GlobTool.

use super::Bench;
use crate::protocol::{Access, Block};
use serde_json::json;
use std::{
    fs,
    time::{Duration, SystemTime},
};

fn project() -> Bench {
    Bench::new(&[
        (".gitignore", b"target/\n*.log\n"),
        ("src/main.rs", b"fn main() {\r\n    println!(\"hi\");\r\n}\r\n"),
        ("src/lib.rs", b"pub fn one() {}\npub fn two() {}\n"),
        ("src/web/app.ts", b"let main = 1;\n"),
        ("src/web/app.tsx", b"let main = 2;\n"),
        ("target/main.rs", b"fn main() {}\n"),
        ("debug.log", b"main\n"),
        ("bin", b"main\0\n"),
        (".hidden", b"main=1\n"),
    ])
}

#[test]
fn grep_gives_file_line_and_content_in_path_order() {
    let b = project();
    let out = b.run("GrepTool", json!({"pattern": r"\bmain\b"})).unwrap();
    assert_eq!(
        out.for_model,
        ".hidden:1: main=1\nsrc/main.rs:1: fn main() {\nsrc/web/app.ts:1: let main = 1;\nsrc/web/app.tsx:1: let main = 2;\n"
    );
    assert_eq!(out.summary, "4 matches");
    assert!(matches!(&out.for_user, Block::Hits(hits) if hits.len() == 4 && hits[1].line == 1));
    let preview = b.call("GrepTool", json!({"pattern": " main ", "path": "src"})).unwrap().1;
    assert_eq!(preview.title, "\" main \" in src", "its blanks are seen");
    let grep = |args| b.text("GrepTool", args);
    assert_eq!(grep(json!({"pattern": "main", "include": "*.{ts,tsx}"})).lines().count(), 2);
    assert_eq!(grep(json!({"pattern": "main", "include": "web/*.ts", "path": "src"})), "src/web/app.ts:1: let main = 1;\n");
    assert_eq!(grep(json!({"pattern": "one", "path": "src/lib.rs"})), "src/lib.rs:1: pub fn one() {}\n");
    assert_eq!(grep(json!({"pattern": "main", "path": "target"})), "target/main.rs:1: fn main() {}\n");
    assert_eq!(grep(json!({"pattern": "\\{$"})), "src/main.rs:1: fn main() {\n", "$ matches before a CRLF");
    assert_eq!(grep(json!({"pattern": "nothing at all"})), "No matches in 7 files.");
    assert_eq!(grep(json!({"pattern": "x", "path": "gone"})), "Error: gone does not exist.");
    let bad = grep(json!({"pattern": "foo("}));
    assert!(bad.contains("unclosed group") && bad.ends_with("To search for it literally: foo\\("), "{bad}");
}

#[test]
fn grep_caps_what_it_shows_and_counts_the_rest() {
    let lines = format!("{}\n", "match ".repeat(100)).repeat(30);
    let files: Vec<String> = (0..40).map(|n| format!("f{n:02}")).collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|f| (f.as_str(), lines.as_bytes())).collect();
    let b = Bench::new(&files);
    let out = b.run("GrepTool", json!({"pattern": "match"})).unwrap();
    let got: Vec<_> = out.for_model.lines().collect();
    assert_eq!(got.len(), 201);
    assert_eq!(got[200], "(200 of 1200 matching lines in 40 files; narrow the pattern, path or include, or offset 200)");
    assert!(got[0].starts_with("f00:1: ") && got[199].starts_with("f06:20: "), "{}", got[199]);
    assert_eq!(got[0].chars().count(), "f00:1: ".len() + 301);
}

#[test]
fn grep_leaves_secrets_alone_unless_they_are_named() {
    let b = Bench::new(&[(".env", b"KEY=1\n"), ("deploy/id_rsa", b"KEY\n"), ("a", b"KEY\n"), (".env.example", b"KEY=\n")]);
    let left_out = "(2 not searched, because of the secrets that may be in them; path names one)\n";
    assert_eq!(b.text("Grep", json!({"pattern": "KEY"})), format!(".env.example:1: KEY=\na:1: KEY\n{left_out}"));
    assert_eq!(b.text("Grep", json!({"pattern": "no"})), format!("No matches in 2 files.\n{left_out}"));
    assert_eq!(b.text("Grep", json!({"pattern": "KEY", "path": ".env"})), ".env:1: KEY=1\n");
}

#[test]
fn grep_has_the_options_of_ripgrep() {
    let b = project();
    let grep = |args| b.text("Grep", args);
    assert_eq!(grep(json!({"pattern": "MAIN", "path": "src/main.rs"})), "No matches in 1 files.");
    assert_eq!(grep(json!({"pattern": "MAIN", "-i": true, "type": "rust"})), "src/main.rs:1: fn main() {\n");
    assert_eq!(
        grep(json!({"pattern": "println", "-C": 1})),
        "src/main.rs-1- fn main() {\nsrc/main.rs:2:     println!(\"hi\");\nsrc/main.rs-3- }\n"
    );
    assert_eq!(grep(json!({"pattern": "println", "-A": 1})).lines().count(), 2);
    let apart = grep(json!({"pattern": "main = |two", "before": 1}));
    assert_eq!(
        apart,
        "src/lib.rs-1- pub fn one() {}\nsrc/lib.rs:2: pub fn two() {}\n--\nsrc/web/app.ts:1: let main = 1;\n--\nsrc/web/app.tsx:1: let main = 2;\n"
    );
    assert_eq!(grep(json!({"pattern": "main", "output_mode": "files_with_matches", "type": "ts"})), "src/web/app.ts\nsrc/web/app.tsx\n");
    assert_eq!(grep(json!({"pattern": "pub|fn", "mode": "count", "path": "src"})), "src/lib.rs: 2\nsrc/main.rs: 1\n");
    assert_eq!(
        grep(json!({"pattern": "main", "mode": "files", "limit": 1, "offset": 1})),
        "src/main.rs\n(1 of 4 files; go on with offset 2)\n"
    );
    // Across lines.
    let multi = json!({"pattern": "main\\(\\) \\{.*println", "multiline": true});
    assert_eq!(grep(multi), "src/main.rs:1: fn main() {\nsrc/main.rs:2:     println!(\"hi\");\n");
    assert_eq!(grep(json!({"pattern": "one\\(\\) \\{\\}\\s+pub", "multiline": true})).lines().count(), 2);
    // What is ignored, on demand.
    assert_eq!(grep(json!({"pattern": "^main$", "ignored": true})), "debug.log:1: main\n");
    assert!(b.text("Glob", json!({"pattern": "*.log", "ignored": true})).contains("debug.log"));
    assert!(b.text("LS", json!({"path": ".", "ignored": true})).contains("target/"));
    assert!(grep(json!({"pattern": "x", "type": "nonsense"})).contains("no file type \"nonsense\""));
    assert!(grep(json!({"pattern": "x", "mode": "all"})).contains("content, files or count"));
}

#[test]
fn glob_lists_newest_first() {
    let b = project();
    for (n, file) in ["src/web/app.ts", "src/main.rs", "src/lib.rs"].iter().enumerate() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 - n as u64);
        fs::File::options().write(true).open(b.root.join(file)).unwrap().set_modified(time).unwrap();
    }
    let glob = |args| b.text("GlobTool", args);
    assert_eq!(glob(json!({"pattern": "*.{rs,ts}"})), "src/web/app.ts\nsrc/main.rs\nsrc/lib.rs\n");
    assert_eq!(glob(json!({"pattern": "src/*.rs"})), "src/main.rs\nsrc/lib.rs\n");
    assert_eq!(glob(json!({"pattern": "**/app.tsx"})), "src/web/app.tsx\n");
    assert_eq!(glob(json!({"pattern": "*.rs", "path": "target"})), "target/main.rs\n");
    assert_eq!(glob(json!({"pattern": "*.py"})), "No files match.");
    assert!(glob(json!({"pattern": "{a"})).starts_with("Error: \"{a\" is not a valid glob: unclosed alternate group"));
    for n in 0..250 {
        fs::write(b.root.join(format!("{n}.txt")), "").unwrap();
    }
    let many = glob(json!({"pattern": "*.txt"}));
    assert_eq!(many.lines().count(), 201);
    assert!(many.ends_with("(the newest 200 of 250 files; go on with offset 200)\n"));
}

#[test]
fn ls_puts_folders_first() {
    let b = project();
    std::os::unix::fs::symlink("src/main.rs", b.root.join("link")).unwrap();
    assert_eq!(b.text("LS", json!({"path": "."})), "src/\n.gitignore\n.hidden\nbin\nlink -> src/main.rs\n");
    assert_eq!(b.text("list_directory", json!({"path": "src", "ignore": ["*.ts*", "lib.rs"]})), "web/\nmain.rs\n");
    assert_eq!(b.text("LS", json!({"path": "target"})), "main.rs\n");
    assert_eq!(b.text("LS", json!({"path": "bin"})), "Error: bin is a file. Use View to read it.");
    assert_eq!(b.text("LS", json!({"path": "gone"})), "Error: gone does not exist.");
    let (_, preview) = b.call("LS", json!({"path": "../"})).unwrap();
    assert_eq!(preview.access, Access::Read(vec![b.root.parent().unwrap().into()]));
    fs::create_dir(b.root.join("many")).unwrap();
    for n in 0..1100 {
        fs::write(b.root.join(format!("many/{n}")), "").unwrap();
    }
    assert!(b.text("LS", json!({"path": "many"})).ends_with("(1000 of 1100 entries)\n"));
}
