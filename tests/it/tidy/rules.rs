//! The rules: each looks at all files and gives the places that break it.

use super::source::{Source, root};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub struct Finding {
    pub file: String,
    pub line: usize,
    pub what: String,
}

pub struct Rule {
    pub name: &'static str,
    /// What a failure says.
    pub text: &'static str,
    pub check: fn(&[Source]) -> Vec<Finding>,
}

pub const RULES: &[Rule] = &[
    Rule { name: "length", text: "a file stops at 500 lines: split it by subject", check: length },
    Rule { name: "purpose", text: "every file begins with `//!`: one sentence of purpose, then its invariants", check: purpose },
    Rule { name: "names", text: "no mod.rs, and nothing is called utils, helper, common, manager, handler or service", check: names },
    Rule { name: "small types", text: "a struct stops at 20 fields, an enum at 40 variants: nest them", check: small_types },
    Rule { name: "spread", text: "the impl blocks of one type stand in at the most 3 files", check: spread },
    Rule {
        name: "imports",
        text: "a module names only what the table in tests/it/tidy/rules.rs (and ARCHITECTURE.md) allows",
        check: imports,
    },
    Rule { name: "purity", text: "the agent and the components are pure: no clock, IO, randomness, threads or async", check: purity },
    Rule {
        name: "spawning",
        text: "tasks, threads and processes begin only in engine, tools/shell, checkpoint, hooks, desktop, finder, history and tui/editor_program",
        check: spawning,
    },
    Rule { name: "panics", text: "shipped code neither panics on purpose nor prints", check: panics },
    Rule { name: "tests wait for conditions", text: "no #[ignore], no sleeping", check: honest_tests },
    Rule { name: "colours", text: "colours are named only in components/src/theme.rs and src/tui/terminal/paint.rs", check: colours },
    Rule { name: "runtime", text: "only tui.rs, tui/root.rs, tui/terminal and tui/perform.rs know iocraft's runtime", check: runtime },
    Rule { name: "safety", text: "every `unsafe` says why it is sound, in a `SAFETY:` comment above it", check: safety },
    Rule { name: "assets", text: "every file in assets/ is embedded", check: assets },
    Rule { name: "map", text: "ARCHITECTURE.md names every top-level module", check: map },
];

fn find(source: &Source, line: usize, what: impl Into<String>) -> Finding {
    Finding { file: source.path.clone(), line, what: what.into() }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Lines in which `word` stands as a whole word (or path), from 1.
fn lines_with<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let starts_in_word = word.starts_with(is_word);
    let ends_in_word = word.ends_with(is_word);
    code.lines()
        .enumerate()
        .filter(move |(_, line)| {
            line.match_indices(word).any(|(at, _)| {
                let before = line[..at].chars().next_back();
                let after = line[at + word.len()..].chars().next();
                !(starts_in_word && before.is_some_and(is_word) || ends_in_word && after.is_some_and(is_word))
            })
        })
        .map(|(n, _)| n + 1)
}

/// Shipped code of files that satisfy `of`, outside of which none of the words may stand.
fn forbidden(sources: &[Source], words: &[&str], of: impl Fn(&str) -> bool) -> Vec<Finding> {
    let mut found = vec![];
    for source in sources.iter().filter(|s| of(&s.path)) {
        for word in words {
            found.extend(lines_with(&source.shipped, word).map(|line| find(source, line, format!("`{word}`"))));
        }
    }
    found
}

fn length(sources: &[Source]) -> Vec<Finding> {
    let long = sources.iter().map(|s| (s, s.text.lines().count())).filter(|(_, lines)| *lines > 500);
    long.map(|(s, lines)| find(s, lines, format!("{lines} lines"))).collect()
}

fn purpose(sources: &[Source]) -> Vec<Finding> {
    let without = sources.iter().filter(|s| !s.text.starts_with("//! ") && s.text.trim() != "fn main() {}");
    without.map(|s| find(s, 1, "no purpose")).collect()
}

fn names(sources: &[Source]) -> Vec<Finding> {
    const BAD: [&str; 10] = ["utils", "util", "helpers", "helper", "common", "manager", "handler", "handlers", "service", "misc"];
    let mut found = vec![];
    for source in sources {
        if source.path.ends_with("/mod.rs") {
            found.push(find(source, 1, "mod.rs"));
        }
        if source.path.trim_end_matches(".rs").split('/').any(|part| BAD.contains(&part)) {
            found.push(find(source, 1, "the name of the file"));
        }
        for (n, line) in source.code.lines().enumerate() {
            let mut words = line.split(|c| !is_word(c)).skip_while(|w| !matches!(*w, "struct" | "enum" | "trait" | "mod" | "type"));
            let Some(name) = words.nth(1) else { continue };
            let lower = name.to_lowercase();
            if BAD.iter().any(|bad| lower == *bad || (name.starts_with(char::is_uppercase) && lower.ends_with(bad))) {
                found.push(find(source, n + 1, format!("`{name}`")));
            }
        }
    }
    found
}

fn small_types(sources: &[Source]) -> Vec<Finding> {
    let mut found = vec![];
    for source in sources {
        for (keyword, most) in [("struct ", 20), ("enum ", 40)] {
            for (at, _) in source.shipped.match_indices(keyword) {
                if source.shipped[..at].chars().next_back().is_some_and(is_word) {
                    continue;
                }
                let rest = &source.shipped[at..];
                let Some(open) = rest.find(['{', ';', '(']).filter(|open| rest[*open..].starts_with('{')) else { continue };
                let parts = parts(&rest[open + 1..]);
                if parts > most {
                    let line = source.shipped[..at].lines().count().max(1);
                    found.push(find(source, line, format!("{} has {parts} parts", rest[..open].trim())));
                }
            }
        }
    }
    found
}

/// Parts between commas up to the brace that closes.
fn parts(body: &str) -> usize {
    let (mut depth, mut count, mut something, mut before) = (0, 0, false, ' ');
    for c in body.chars() {
        match c {
            '}' if depth == 0 => break,
            '(' | '[' | '{' | '<' => depth += 1,
            '>' if before == '-' || before == '=' => {}
            ')' | ']' | '}' | '>' => depth -= 1,
            ',' if depth == 0 => (count, something) = (count + 1, false),
            c if !c.is_whitespace() => something = true,
            _ => {}
        }
        before = c;
    }
    count + usize::from(something)
}

fn spread(sources: &[Source]) -> Vec<Finding> {
    let mut places: BTreeMap<(String, String), BTreeSet<&str>> = BTreeMap::new();
    for source in sources {
        for line in source.shipped.lines().filter(|l| l.starts_with("impl")) {
            let rest = without_generics(line["impl".len()..].trim_start());
            let of = rest.split(" for ").last().unwrap_or_default().trim().trim_start_matches('&');
            let name: String = of.chars().take_while(|c| is_word(*c)).collect();
            places.entry((source.module().into(), name)).or_default().insert(&source.path);
        }
    }
    let wide = places.into_iter().filter(|(_, files)| files.len() > 3);
    wide.map(|((_, name), files)| Finding {
        file: files.iter().next().unwrap().to_string(),
        line: 1,
        what: format!("`{name}` in {files:?}"),
    })
    .collect()
}

fn without_generics(text: &str) -> &str {
    if !text.starts_with('<') {
        return text;
    }
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[at + 1..];
        }
    }
    text
}

/// Who may name whom. `components` is the crate of widgets.
const TABLE: &[(&str, &[&str])] = &[
    ("protocol", &[]),
    ("failure", &[]),
    ("mailbox", &[]),
    ("atomic", &[]),
    ("project", &[]),
    ("picture", &["protocol"]),
    ("desktop", &["protocol", "mailbox", "picture"]),
    ("walk", &["atomic"]),
    ("finder", &["walk"]),
    ("history", &["project", "atomic"]),
    ("handle", &["protocol", "mailbox"]),
    ("command_line", &["protocol"]),
    ("policy", &["protocol", "command_line", "failure"]),
    ("agent", &["protocol", "command_line", "policy"]),
    ("llm", &["protocol", "failure"]),
    ("tools", &["protocol", "command_line", "policy", "failure", "atomic", "walk", "project", "picture"]),
    ("checkpoint", &["protocol", "failure", "atomic", "walk", "project"]),
    ("session", &["protocol", "failure", "atomic", "project"]),
    ("checkpoint_cli", &["components", "protocol", "failure", "atomic", "project", "config", "checkpoint"]),
    ("privacy", &["protocol"]),
    ("engine", &["agent", "handle", "mailbox", "protocol", "privacy", "llm", "tools", "checkpoint", "session"]),
    ("commands", &["protocol"]),
    ("config", &["protocol", "policy", "privacy", "failure", "atomic", "project"]),
    ("tui", &["components", "protocol", "command_line", "policy", "failure", "handle", "commands", "finder", "history"]),
    ("headless", &["components", "protocol", "command_line", "policy", "handle", "failure", "commands"]),
];

/// The wiring: may name everything.
const WIRING: [&str; 6] = ["launch", "app", "cli", "replay", "main", "lib"];

/// Single files that may name more than their module: they hold a running engine.
const MORE: &[(&str, &[&str])] = &[
    ("src/tui.rs", &["engine"]),
    ("src/tui/workers.rs", &["mailbox"]),
    ("src/tui/perform.rs", &["engine", "mailbox"]),
    ("src/headless.rs", &["engine", "launch", "llm", "picture"]),
    ("src/headless/talk.rs", &["engine", "launch", "desktop", "picture", "mailbox"]),
    ("src/tui/outside.rs", &["mailbox", "desktop", "picture"]),
];

fn imports(sources: &[Source]) -> Vec<Finding> {
    let mut found = vec![];
    for source in sources.iter().filter(|s| s.path.starts_with("src/") && !WIRING.contains(&s.module())) {
        let Some((module, allowed)) = TABLE.iter().find(|(module, _)| *module == source.module()) else {
            found.push(find(source, 1, format!("`{}` is not in the table", source.module())));
            continue;
        };
        let more = MORE.iter().find(|(file, _)| *file == source.path).map_or(&[][..], |(_, more)| more);
        for (line, name) in named(source) {
            if name != *module && !allowed.contains(&name.as_str()) && !more.contains(&name.as_str()) {
                found.push(find(source, line, format!("`{module}` names `{name}`")));
            }
        }
    }
    found
}

/// Top-level modules that a file names: by `crate::…`, by as many `super::` as lead there, and the crate of components.
fn named(source: &Source) -> Vec<(usize, String)> {
    let code = &source.shipped;
    let depth = source.path.trim_start_matches("src/").trim_end_matches(".rs").split('/').count();
    let top = "super::".repeat(depth);
    let mut found = vec![];
    for prefix in ["crate::", top.as_str()] {
        for (at, _) in code.match_indices(prefix) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| is_word(c) || c == ':') {
                continue;
            }
            let line = code[..at].matches('\n').count() + 1;
            let rest = &code[at + prefix.len()..];
            match rest.strip_prefix('{') {
                None => found.push((line, rest.chars().take_while(|c| is_word(*c)).collect())),
                Some(list) => found.extend(heads(list).into_iter().map(|(down, name)| (line + down, name))),
            }
        }
    }
    found.extend(lines_with(code, "backstitch_components").map(|line| (line, "components".to_owned())));
    found.retain(|(_, name)| name.starts_with(char::is_lowercase) && name != "super");
    found
}

/// The first words of the parts of `a::b, c::{d, e}, f}`, with the lines down to them.
fn heads(list: &str) -> Vec<(usize, String)> {
    let (mut depth, mut down, mut fresh, mut found) = (0, 0, true, vec![]);
    let mut word = String::new();
    for c in list.chars() {
        if depth == 0 && fresh && is_word(c) {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            found.push((down, std::mem::take(&mut word)));
            fresh = false;
        }
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => fresh = true,
            '\n' => down += 1,
            _ => {}
        }
    }
    found
}

fn purity(sources: &[Source]) -> Vec<Finding> {
    let agent = [
        "async",
        "await",
        "Instant",
        "SystemTime",
        "std::fs",
        "std::env",
        "std::io",
        "std::net",
        "std::process",
        "thread",
        "rand",
        "tokio",
        "Mutex",
        "static mut",
        "unsafe",
    ];
    let widgets =
        ["async", "tokio", "Instant", "SystemTime", "std::fs", "fs::", "std::env", "std::net", "std::process", "thread", "backstitch"];
    let mut found = forbidden(sources, &agent, |path| {
        ["src/agent", "src/command_line", "src/policy", "src/privacy"].iter().any(|pure| path.starts_with(pure))
    });
    found.extend(forbidden(sources, &["async", "Instant", "SystemTime", "std::fs", "std::env", "thread", "tokio"], |path| {
        [
            "app.rs",
            "view.rs",
            "prompt.rs",
            "status.rs",
            "transcript.rs",
            "approval.rs",
            "blocks.rs",
            "keymap.rs",
            "looks.rs",
            "images.rs",
            "completion.rs",
            "jobs.rs",
            "recall.rs",
        ]
        .iter()
        .any(|f| path == format!("src/tui/{f}"))
            || path.starts_with("src/tui/panel")
            || path.starts_with("src/tui/completion/")
    }));
    // In braces too.
    for source in sources.iter().filter(|s| s.path.starts_with("components/src")) {
        found.extend(lines_with(&source.shipped, "use std::{fs").map(|line| find(source, line, "`std::fs`")));
    }
    found.extend(forbidden(sources, &widgets, |path| path.starts_with("components/src")));
    found
}

fn spawning(sources: &[Source]) -> Vec<Finding> {
    let words = ["spawn", "spawn_blocking", "Command::new", "thread::Builder", "thread::scope"];
    // The finder's index and the history's disk have a thread of their own, since typing waits for neither; the user's editor runs
    // while the screen is left.
    let free = [
        "src/engine",
        "src/tools/shell",
        "src/checkpoint",
        "src/hooks",
        "src/desktop",
        "src/finder",
        "src/history",
        "src/tui/editor_program.rs",
    ];
    forbidden(sources, &words, |path| {
        !free.iter().any(|f| path.starts_with(f)) && !path.contains("/examples/") && !path.starts_with("benches")
    })
}

fn panics(sources: &[Source]) -> Vec<Finding> {
    let words = [
        ".unwrap()",
        ".expect(",
        "todo!",
        "unimplemented!",
        "dbg!",
        "panic!",
        "println!",
        "print!",
        "eprintln!",
        "eprint!",
        "clippy::unwrap_used",
        "clippy::expect_used",
    ];
    forbidden(sources, &words, |path| path.starts_with("src/") || path.starts_with("components/src/"))
}

fn honest_tests(sources: &[Source]) -> Vec<Finding> {
    let mut found = vec![];
    for source in sources {
        for word in ["#[ignore", "thread::sleep", "time::sleep"] {
            let shipped: BTreeSet<usize> = lines_with(&source.shipped, word).collect();
            let all = lines_with(&source.code, word).filter(|line| !shipped.contains(line));
            found.extend(all.map(|line| find(source, line, format!("`{word}`"))));
        }
    }
    found
}

fn colours(sources: &[Source]) -> Vec<Finding> {
    let own = ["components/src/theme.rs", "src/tui/terminal/paint.rs"];
    forbidden(sources, &["Color::"], |path| !own.contains(&path))
}

fn runtime(sources: &[Source]) -> Vec<Finding> {
    let words =
        ["use_state", "use_future", "use_terminal_events", "use_terminal_size", "use_effect", "render_loop", "SystemContext", "use_output"];
    let own = ["src/tui.rs", "src/tui/root.rs", "src/tui/perform.rs"];
    forbidden(sources, &words, |path| !own.contains(&path) && !path.starts_with("src/tui/terminal") && !path.contains("/examples/"))
}

fn safety(sources: &[Source]) -> Vec<Finding> {
    let mut found = vec![];
    for source in sources {
        let lines: Vec<&str> = source.text.lines().collect();
        for line in lines_with(&source.code, "unsafe") {
            let above = &lines[line.saturating_sub(6)..line];
            if !above.iter().any(|l| l.contains("SAFETY:")) {
                found.push(find(source, line, "`unsafe` without a reason"));
            }
        }
    }
    found
}

fn assets(sources: &[Source]) -> Vec<Finding> {
    let folder = root().join("assets");
    let mut found = vec![];
    for path in crate::support::workspace::files_below(&folder) {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap();
        if !sources.iter().any(|s| s.text.contains(name)) {
            found.push(Finding { file: name.to_owned(), line: 1, what: "no source names it".into() });
        }
    }
    found
}

fn map(sources: &[Source]) -> Vec<Finding> {
    let page = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap_or_default();
    let modules: BTreeSet<&str> =
        sources.iter().filter(|s| s.path.starts_with("src/")).map(Source::module).filter(|m| *m != "lib").collect();
    let missing = modules.into_iter().filter(|m| !page.contains(&format!("`{m}`")) && !page.contains(&format!("`{m}/`")));
    missing.map(|m| Finding { file: "ARCHITECTURE.md".into(), line: 1, what: format!("nothing about `{m}`") }).collect()
}
