//! Source files as the rules look at them: comments and texts blanked, with and without the tests.

use std::path::Path;

pub struct Source {
    /// From the root of the workspace, with `/`.
    pub path: String,
    /// As it is.
    pub text: String,
    /// Comments, texts and characters blanked; the same lines.
    pub code: String,
    /// The same without test code.
    pub shipped: String,
}

impl Source {
    pub fn new(path: &str, text: &str) -> Source {
        let code = blank(text);
        let test_file = path.starts_with("tests/") || path.contains("/tests/") || path.ends_with("/tests.rs");
        let shipped = if test_file { String::new() } else { without_tests(&code) };
        Source { path: path.into(), text: text.into(), code, shipped }
    }

    /// `src/tui/app.rs` is of `tui`, `components/src/…` of `components`.
    pub fn module(&self) -> &str {
        match self.path.strip_prefix("src/") {
            Some(rest) => rest.split(['/', '.']).next().unwrap_or_default(),
            None => self.path.split('/').next().unwrap_or_default(),
        }
    }
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub fn workspace_sources() -> Vec<Source> {
    let mut found = vec![];
    for folder in ["src", "components/src", "tests", "components/tests", "components/examples", "benches"] {
        for path in crate::support::workspace::files_below(&root().join(folder)) {
            if path.extension().is_some_and(|e| e == "rs") {
                let name = path.strip_prefix(root()).unwrap().to_str().unwrap();
                found.push(Source::new(name, &std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found
}

/// Spaces instead of comments, texts and character literals.
fn blank(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    let is = |at: usize, c: char| chars.get(at) == Some(&c);
    while at < chars.len() {
        let from = at;
        if is(at, '/') && is(at + 1, '/') {
            while at < chars.len() && chars[at] != '\n' {
                at += 1;
            }
        } else if is(at, '/') && is(at + 1, '*') {
            let mut depth = 0;
            loop {
                match (chars.get(at), chars.get(at + 1)) {
                    (Some('/'), Some('*')) => (depth, at) = (depth + 1, at + 2),
                    (Some('*'), Some('/')) => (depth, at) = (depth - 1, at + 2),
                    (None, _) => break,
                    _ => at += 1,
                }
                if depth == 0 {
                    break;
                }
            }
        } else if let Some(end) = raw_text(&chars, at) {
            at = end;
        } else if is(at, '"') {
            at += 1;
            while at < chars.len() && chars[at] != '"' {
                at += if chars[at] == '\\' { 2 } else { 1 };
            }
            at += 1;
        } else if is(at, '\'') && (is(at + 1, '\\') || is(at + 2, '\'')) {
            at += if is(at + 1, '\\') { 3 } else { 2 };
            while at < chars.len() && chars[at] != '\'' {
                at += 1;
            }
            at += 1;
        } else {
            out.push(chars[at]);
            at += 1;
            continue;
        }
        at = at.min(chars.len());
        out.extend(chars[from..at].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
    }
    out
}

/// The end of `r"…"`, `r#"…"#` and so on, if one begins here.
fn raw_text(chars: &[char], at: usize) -> Option<usize> {
    let before = at.checked_sub(1).map(|at| chars[at]);
    if chars[at] != 'r' || before.is_some_and(|c| (c.is_alphanumeric() && c != 'b') || c == '_') {
        return None;
    }
    let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
    let mut end = at + 1 + hashes;
    if chars.get(end) != Some(&'"') {
        return None;
    }
    end += 1;
    while end < chars.len() {
        if chars[end] == '"' && chars[end + 1..].iter().take_while(|c| **c == '#').count() >= hashes {
            return Some(end + 1 + hashes);
        }
        end += 1;
    }
    Some(end)
}

/// Items under `#[cfg(test)]` blanked: up to their `;` or the end of their braces.
fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut out = code.to_owned();
    while let Some(from) = out.find(MARK) {
        let mut depth = 0;
        let mut end = out.len();
        for (at, c) in out[from + MARK.len()..].char_indices() {
            match c {
                '{' | '(' | '[' => depth += 1,
                '}' | ')' | ']' => depth -= 1,
                _ => {}
            }
            if depth == 0 && matches!(c, ';' | '}') {
                end = from + MARK.len() + at + 1;
                break;
            }
        }
        let blanked: String = out[from..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        out.replace_range(from..end, &blanked);
    }
    out
}

#[test]
fn comments_texts_and_tests_are_no_code() {
    let source = Source::new(
        "src/x.rs",
        "a(\"b // c\\\" d\"); // e\nf('\"', '\\'', r#\"g\"h\"#, b\"i\"); /* j /* k */ l */ m<'n>();\n#[cfg(test)]\nmod t {\n fn o() {}\n}\np();\n",
    );
    let words = |text: &str| text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ");
    assert_eq!(words(&source.code), "a f b m n cfg test mod t fn o p");
    assert_eq!(words(&source.shipped), "a f b m n p");
    assert_eq!(source.shipped.lines().count(), source.text.lines().count());
}
