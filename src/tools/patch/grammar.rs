//! The two ways in which models that were trained on patches write them: `*** Begin Patch` and SEARCH/REPLACE blocks. Pure.

use crate::protocol::ToolError;

/// What is to happen to one file.
#[derive(Debug, PartialEq, Eq)]
pub enum Part {
    Add { path: String, content: String },
    Delete { path: String },
    Update { path: String, to: Option<String>, hunks: Vec<Hunk> },
}

/// Lines to be replaced, each with its line end.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// Lines that come before it, each after the one before.
    pub after: Vec<String>,
    pub old: String,
    pub new: String,
    /// It may also be above the ones before it.
    pub anywhere: bool,
}

fn bad(line: usize, what: &str) -> ToolError {
    ToolError(format!("apply_patch: line {line} of the patch: {what}. Nothing was changed."))
}

/// `path`: the file that SEARCH/REPLACE blocks without a name of their own are for.
pub fn parse(text: &str, path: Option<&str>) -> Result<Vec<Part>, ToolError> {
    let text = text.replace("\r\n", "\n");
    let lines: Vec<&str> = text.trim_matches('\n').split('\n').collect();
    // Some models send the here-document or the fence around it, too.
    let begin = lines.iter().position(|line| line.trim() == "*** Begin Patch");
    match begin {
        Some(begin) => v4a(&lines, begin + 1),
        None if lines.iter().any(|line| is_search(line)) => blocks(&lines, path),
        None => Err(ToolError::new("apply_patch: the patch has to begin with `*** Begin Patch`. Nothing was changed.")),
    }
}

fn v4a(lines: &[&str], from: usize) -> Result<Vec<Part>, ToolError> {
    let mut parts = vec![];
    let mut at = from;
    let header = |line: &str, what: &str| line.strip_prefix(what).map(|path| path.trim().to_owned());
    while let Some(line) = lines.get(at) {
        at += 1;
        if line.trim() == "*** End Patch" {
            return if parts.is_empty() { Err(bad(at, "there is nothing in it")) } else { Ok(parts) };
        }
        if let Some(path) = header(line, "*** Add File:") {
            let (content, next) = added(lines, at)?;
            parts.push(Part::Add { path, content });
            at = next;
        } else if let Some(path) = header(line, "*** Delete File:") {
            parts.push(Part::Delete { path });
        } else if let Some(path) = header(line, "*** Update File:") {
            let to = lines.get(at).and_then(|line| header(line, "*** Move to:"));
            let (hunks, next) = hunks(lines, at + usize::from(to.is_some()))?;
            if hunks.is_empty() && to.is_none() {
                return Err(bad(at, "the update has no lines"));
            }
            parts.push(Part::Update { path, to, hunks });
            at = next;
        } else if !line.trim().is_empty() {
            return Err(bad(at, "expected `*** Add File:`, `*** Update File:`, `*** Delete File:` or `*** End Patch`"));
        }
    }
    Err(bad(lines.len(), "`*** End Patch` is missing: the patch is cut"))
}

fn added(lines: &[&str], mut at: usize) -> Result<(String, usize), ToolError> {
    let mut content = String::new();
    while let Some(line) = lines.get(at).filter(|line| !line.starts_with("*** ")) {
        let Some(line) = line.strip_prefix('+') else { return Err(bad(at + 1, "each line of an added file begins with `+`")) };
        content.push_str(line);
        content.push('\n');
        at += 1;
    }
    Ok((content, at))
}

fn hunks(lines: &[&str], mut at: usize) -> Result<(Vec<Hunk>, usize), ToolError> {
    let (mut done, mut hunk) = (vec![], Hunk::default());
    let finish = |hunk: &mut Hunk, done: &mut Vec<Hunk>| {
        let taken = std::mem::take(hunk);
        if !taken.old.is_empty() || !taken.new.is_empty() {
            done.push(taken);
            None
        } else {
            Some(taken)
        }
    };
    while let Some(line) = lines.get(at) {
        if *line == "*** End of File" {
            // What is found only once is where it is.
        } else if line.starts_with("*** ") {
            break;
        } else if let Some(header) = line.strip_prefix("@@") {
            // Headers that follow one another narrow the place down.
            hunk = finish(&mut hunk, &mut done).unwrap_or_default();
            let header = header.trim();
            // `@@ -1,2 +1,3 @@`: the numbers of other patches are not to be relied on.
            if !header.is_empty() && !header.starts_with('-') {
                hunk.after.push(header.trim_end_matches("@@").trim_end().to_owned());
            }
        } else {
            let (sign, rest) = line.split_at_checked(1).unwrap_or((" ", ""));
            let ended = format!("{rest}\n");
            match sign {
                " " => {
                    hunk.old.push_str(&ended);
                    hunk.new.push_str(&ended);
                }
                "-" => hunk.old.push_str(&ended),
                "+" => hunk.new.push_str(&ended),
                _ => return Err(bad(at + 1, "each line of a hunk begins with a blank, `+` or `-`")),
            }
        }
        at += 1;
    }
    finish(&mut hunk, &mut done);
    Ok((done, at))
}

// --- SEARCH/REPLACE ---

fn is_search(line: &str) -> bool {
    matches!(line.trim(), "<<<<<<< SEARCH" | "------- SEARCH" | "<<<<<<< ORIGINAL")
}

fn blocks(lines: &[&str], path: Option<&str>) -> Result<Vec<Part>, ToolError> {
    let mut parts: Vec<Part> = vec![];
    let (mut at, mut named) = (0, path.map(str::to_owned));
    while at < lines.len() {
        let line = lines[at];
        at += 1;
        if !is_search(line) {
            // The file's name stands on a line of its own before its first block.
            let name = line.trim().trim_matches('`');
            if !name.is_empty() && !line.trim().starts_with("```") {
                named = Some(name.to_owned());
            }
            continue;
        }
        let (old, middle) = until(lines, at, |line| line.trim() == "=======")?;
        let (new, end) = until(lines, middle, |line| matches!(line.trim(), ">>>>>>> REPLACE" | "+++++++ REPLACE" | ">>>>>>> UPDATED"))?;
        let Some(path) = named.clone() else { return Err(bad(at, "which file it is for is not said")) };
        let hunk = Hunk { old, new, anywhere: true, ..Hunk::default() };
        match parts.last_mut() {
            Some(Part::Update { path: last, hunks, .. }) if *last == path => hunks.push(hunk),
            _ if hunk.old.is_empty() => parts.push(Part::Add { path, content: hunk.new }),
            _ => parts.push(Part::Update { path, to: None, hunks: vec![hunk] }),
        }
        at = end;
    }
    Ok(parts)
}

/// The lines up to the one that ends them, and where it goes on after that.
fn until(lines: &[&str], from: usize, ends: impl Fn(&str) -> bool) -> Result<(String, usize), ToolError> {
    let Some(length) = lines[from..].iter().position(|line| ends(line)) else {
        return Err(bad(from, "the block is not ended: the patch is cut"));
    };
    Ok((lines[from..from + length].iter().map(|line| format!("{line}\n")).collect(), from + length + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_read_part_by_part() {
        let patch = "*** Begin Patch\n*** Add File: a/b.txt\n+one\n+\n*** Update File: c.rs\n*** Move to: d.rs\n@@ impl X\n@@ fn f()\n x\n-y\n+z\n\n@@\n-last\n*** End of File\n*** Delete File: e\n*** End Patch";
        let hunk = |after: &[&str], old: &str, new: &str| Hunk {
            after: after.iter().map(|line| (*line).to_owned()).collect(),
            old: old.into(),
            new: new.into(),
            anywhere: false,
        };
        let expected = [
            Part::Add { path: "a/b.txt".into(), content: "one\n\n".into() },
            Part::Update {
                path: "c.rs".into(),
                to: Some("d.rs".into()),
                hunks: vec![hunk(&["impl X", "fn f()"], "x\ny\n\n", "x\nz\n\n"), hunk(&[], "last\n", "")],
            },
            Part::Delete { path: "e".into() },
        ];
        assert_eq!(parse(patch, None).unwrap(), expected);
        assert_eq!(parse(&format!("apply_patch <<'EOF'\r\n{}\nEOF\n", patch.replace('\n', "\r\n")), None).unwrap(), expected);
    }

    #[test]
    fn what_can_not_be_meant_is_said_with_its_line() {
        for (patch, why) in [
            ("hello", "has to begin with"),
            ("*** Begin Patch\n*** End Patch", "line 2 of the patch: there is nothing in it"),
            ("*** Begin Patch\n*** Add File: a\nx\n*** End Patch", "line 3 of the patch: each line of an added file begins with `+`"),
            ("*** Begin Patch\n*** Update File: a\n@@\n*x\n*** End Patch", "line 4 of the patch: each line of a hunk"),
            ("*** Begin Patch\n*** Update File: a\n*** End Patch", "the update has no lines"),
            ("*** Begin Patch\n*** Update File: a\n-x", "is missing: the patch is cut"),
            ("*** Begin Patch\nwhat?\n*** End Patch", "line 2 of the patch: expected"),
            ("<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE", "which file it is for"),
            ("f\n<<<<<<< SEARCH\na\n=======\nb", "the block is not ended"),
        ] {
            let error = parse(patch, None).unwrap_err().0;
            assert!(error.contains(why), "{patch:?}: {error}");
        }
    }

    #[test]
    fn search_and_replace_blocks_are_read() {
        let text = "src/a.rs\n```rust\n<<<<<<< SEARCH\none\n=======\ntwo\n>>>>>>> REPLACE\n```\n<<<<<<< SEARCH\nx\n=======\n>>>>>>> REPLACE\n`b`\n------- SEARCH\n=======\nnew\n+++++++ REPLACE";
        let hunk = |old: &str, new: &str| Hunk { old: old.into(), new: new.into(), anywhere: true, ..Hunk::default() };
        assert_eq!(
            parse(text, None).unwrap(),
            [
                Part::Update { path: "src/a.rs".into(), to: None, hunks: vec![hunk("one\n", "two\n"), hunk("x\n", "")] },
                Part::Add { path: "b".into(), content: "new\n".into() },
            ]
        );
        let one = parse("<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE", Some("f")).unwrap();
        assert_eq!(one, [Part::Update { path: "f".into(), to: None, hunks: vec![hunk("a\n", "b\n")] }]);
    }
}
