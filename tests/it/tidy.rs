//! The rules of `ARCHITECTURE.md` as a test over the source text. Each failure names file, line and rule.
//!
//! A rule that the code breaks is not weakened: the place is listed in `EXCEPTIONS` with its reason, and an exception that nothing
//! needs any more is a failure too.

mod rules;
mod source;

use rules::{Finding, RULES};
use source::{Source, workspace_sources};
use std::collections::BTreeSet;

/// Rule, file, why.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("length", "src/agent/tests/script.rs", "scripts with their snapshots, which are data: split, they would not be found"),
    ("tests wait for conditions", "src/llm/wire/tests.rs", "paces a server that pings until the client leaves; nothing waits for it"),
    (
        "spawning",
        "src/tui/perform.rs",
        "workers of the screen begin where its other commands are carried out; they only compute, and the exit waits for none",
    ),
    ("colours", "components/src/ansi.rs", "the twin of paint.rs for text that is printed: turns theme colours into bytes"),
];

#[test]
fn the_code_keeps_the_rules() {
    let sources = workspace_sources();
    assert!(sources.len() > 150, "only {} files were found", sources.len());
    let mut broken = vec![];
    let mut used = BTreeSet::new();
    for rule in RULES {
        for finding in (rule.check)(&sources) {
            match EXCEPTIONS.iter().find(|(name, file, _)| *name == rule.name && *file == finding.file) {
                Some((name, file, _)) => drop(used.insert((*name, *file))),
                None => broken.push(format!("{}:{}: {}: {}\n      {}", finding.file, finding.line, rule.name, finding.what, rule.text)),
            }
        }
    }
    for (name, file, _) in EXCEPTIONS {
        if !used.contains(&(*name, *file)) {
            broken.push(format!("tests/it/tidy.rs: the exception of {file} from \"{name}\" is not needed any more"));
        }
    }
    assert!(broken.is_empty(), "{} places break a rule:\n{}", broken.len(), broken.join("\n"));
}

/// Text of a file that breaks the rule, and of one that keeps it.
const EXAMPLES: &[(&str, &str, &str, &str)] = &[
    ("length", "src/agent/x.rs", "LONG", "//! Short.\n"),
    ("purpose", "src/agent/x.rs", "use a::b;\n", "//! Why.\nuse a::b;\n"),
    ("names", "src/utils.rs", "", ""),
    ("names", "src/tui/mod.rs", "", ""),
    ("names", "src/tui/x.rs", "pub struct KeyHandler;\n", "pub struct Keys { handler: u8 }\n"),
    ("names", "src/tui/x.rs", "mod common;\n", "let common = 1;\n"),
    ("small types", "src/tui/x.rs", "FIELDS", "struct A { a: fn(u8, u8) -> u8, b: Map<u8, u8> }\n"),
    ("small types", "src/tui/x.rs", "VARIANTS", "enum A { B(u8, u8), C { d: u8 } }\n"),
    ("imports", "src/agent/x.rs", "use crate::llm::Registry;\n", "use crate::protocol::Event;\n"),
    (
        "imports",
        "src/tools/x.rs",
        "use crate::{\n    protocol::Event,\n    session::SessionStore,\n};\n",
        "use crate::{protocol::{self, Event}, walk};\n",
    ),
    (
        "imports",
        "src/tui/x.rs",
        "fn f() { crate::tools::Registry::default(); }\n",
        "// crate::tools is not for us\nlet s = \"crate::tools\";\n",
    ),
    ("imports", "src/tui/app.rs", "use crate::engine::Engine;\n", "#[cfg(test)]\nmod tests {\n    use crate::engine::Engine;\n}\n"),
    ("imports", "src/llm/x.rs", "use super::super::agent::Agent;\n", "use super::super::protocol::Event;\n"),
    ("imports", "src/agent.rs", "use super::config;\n", "use super::protocol;\n"),
    ("imports", "src/protocol/x.rs", "use backstitch_components::key::Chord;\n", "use serde::Serialize;\n"),
    ("imports", "src/nowhere.rs", "use crate::agent;\n", ""),
    ("purity", "src/agent/x.rs", "async fn f() {}\n", "fn f() {} // async\n"),
    ("purity", "src/agent/x.rs", "let now = std::time::Instant::now();\n", "use std::time::Duration;\n"),
    ("purity", "components/src/x.rs", "use std::fs;\n", "use std::fmt;\n"),
    ("purity", "components/src/x.rs", "use tokio::time;\n", "let tokios = 1;\n"),
    ("spawning", "src/tui/x.rs", "tokio::spawn(async {});\n", "spawned(1);\n"),
    ("spawning", "src/llm/x.rs", "std::process::Command::new(\"ls\");\n", "Command::Close;\n"),
    ("panics", "src/tui/x.rs", "a.unwrap();\n", "a.unwrap_or(1);\n#[cfg(test)]\nmod tests {\n    fn f() { a.unwrap(); }\n}\n"),
    ("panics", "src/tui/x.rs", "println!(\"x\");\n", "writeln!(out, \"println!()\");\n"),
    ("panics", "src/tui/x.rs", "#![allow(clippy::unwrap_used)]\n", "#![allow(clippy::large_enum_variant)]\n"),
    ("tests wait for conditions", "tests/it/x.rs", "std::thread::sleep(d);\n", "let s = \"thread::sleep\";\n"),
    ("tests wait for conditions", "src/tui/tests.rs", "#[ignore]\nfn f() {}\n", "fn ignore() {}\n"),
    ("colours", "src/tui/x.rs", "Color::Red\n", "Role::Error\n"),
    ("runtime", "src/tui/status.rs", "hooks.use_state(|| 1);\n", "user_state(1);\n"),
    ("safety", "src/tui/x.rs", "unsafe { f() }\n", "// SAFETY: f does nothing.\nunsafe { f() }\n"),
];

#[test]
fn each_rule_catches_what_breaks_it() {
    let many = |n: usize, each: &str| (0..n).map(|n| each.replace('#', &n.to_string())).collect::<String>();
    for (name, path, bad, good) in EXAMPLES {
        let rule = RULES.iter().find(|rule| rule.name == *name).unwrap_or_else(|| panic!("no rule {name}"));
        let bad = match *bad {
            "LONG" => many(501, "// #\n"),
            "FIELDS" => format!("struct Big {{ {} }}\n", many(21, "f#: Map<u8, u8>, ")),
            "VARIANTS" => format!("enum Big {{ {} }}\n", many(41, "#[serde] V#(u8, u8), ")),
            other => other.to_owned(),
        };
        let found = (rule.check)(&[Source::new(path, &bad)]);
        assert!(!found.is_empty(), "{name} does not catch {bad:?} in {path}");
        if !good.is_empty() {
            let found: Vec<Finding> = (rule.check)(&[Source::new(path, good)]);
            assert!(found.is_empty(), "{name} objects to {good:?} in {path}: {found:?}");
        }
    }
    // Those that need several files.
    let spread: Vec<Source> = (0..4).map(|n| Source::new(&format!("src/tui/f{n}.rs"), "impl<T> Show for Model<T> {}\n")).collect();
    assert_eq!((RULES.iter().find(|r| r.name == "spread").unwrap().check)(&spread).len(), 1);
    assert_eq!((RULES.iter().find(|r| r.name == "spread").unwrap().check)(&spread[..3]).len(), 0);
    let checked: BTreeSet<&str> = EXAMPLES.iter().map(|e| e.0).chain(["spread", "assets", "map"]).collect();
    let unchecked: Vec<&str> = RULES.iter().map(|r| r.name).filter(|name| !checked.contains(name)).collect();
    assert!(unchecked.is_empty(), "rules without an example: {unchecked:?}");
}
