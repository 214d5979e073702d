//! The question before a call, as plain lines, and what an answer means.

use super::plain::Call;
use crate::{
    command_line,
    protocol::{Access, Action, Block, Decision, FileChange, Plan, Planned},
};
use backstitch_components::{
    diff_view::DiffModel,
    text::sanitize::{one_line, reveal},
};

use std::path::Path;

/// Wide enough that hardly a line of code is broken: whoever reads this has no columns to care for.
const WIDTH: usize = 160;
const MOST_LINES: usize = 400;

/// What it is about, then the answers by number.
pub fn question(call: &Call) -> Vec<String> {
    let mut lines = vec![format!("? {} {}", one_line(&call.name), one_line(&call.title)).trim_end().to_owned()];
    if let Some(Access::Run { folder: Some(folder), .. }) = &call.access {
        lines.push(format!("  in {}", one_line(&folder.display().to_string())));
    }
    if let Some(Access::Run { outside: true, .. }) = &call.access {
        lines.push("  outside the sandbox: it may write wherever you may".into());
    }
    if let Some(Access::Network { host }) = &call.access {
        lines.push(format!("  connects to {}", one_line(host)));
    }
    match &call.block {
        Some(Block::Diff(changes)) => changes.iter().for_each(|change| lines.extend(diff(change))),
        Some(Block::Markdown(text)) => lines.extend(reveal(text).lines().map(|line| format!("  {line}"))),
        Some(Block::Command { command, .. }) => lines.extend(reveal(command).lines().map(|line| format!("  $ {line}"))),
        _ => {}
    }
    if let Some(Access::Question { options }) = &call.access {
        lines.extend(options.iter().enumerate().map(|(n, option)| format!("  {} {}", n + 1, one_line(option))));
        lines.push(if options.is_empty() { "  type your answer".into() } else { "  a number, or your answer in words".into() });
        return lines;
    }
    let session = match &call.access {
        Some(Access::Write(_)) => "yes, and all edits this session",
        Some(Access::Plan) => "yes, and edits need no question",
        Some(Access::Network { .. }) => "yes, and this host for this session",
        Some(Access::Run { outside: true, .. }) => "yes, and this command for this session",
        Some(Access::Run { parts, .. }) => {
            let needing = parts.iter().filter(|part| !command_line::is_free(part, &|_| true));
            let patterns = command_line::offers(needing).map(|all| all.iter().map(|p| format!("`{p}`")).collect::<Vec<_>>().join(" + "));
            &patterns.map_or_else(
                || "yes, and this command for this session".into(),
                |all| format!("yes, and {} for this session", one_line(&all)),
            )
        }
        _ => "yes, and the like for this session",
    };
    lines.push(format!("  1 yes · 2 {session} · 3 no (a reason may follow: 3 use the other file)"));
    lines
}

fn diff(change: &FileChange) -> Vec<String> {
    let name = one_line(&change.path.to_string_lossy()).into_owned();
    if change.binary {
        return vec![format!("  {name}: a binary file")];
    }
    let model = DiffModel::new(change.old.as_deref(), change.new.as_deref(), &change.path.to_string_lossy());
    let (added, removed) = model.stats();
    let rows = model.rows(WIDTH, Some(MOST_LINES));
    let rows = rows.iter().map(|row| format!("  {}", row.text()).trim_end().to_owned());
    [format!("  {name}: {added} added, {removed} removed")].into_iter().chain(rows).collect()
}

/// Before an undo or redo: what it would do, and what it would leave.
pub fn step(title: &str, plan: &Plan) -> Vec<String> {
    let name = |path: &Path| one_line(&path.to_string_lossy()).into_owned();
    let file = |file: &Planned| {
        let word = match file.action() {
            Action::Change => "change",
            Action::Delete => "delete",
            Action::Recreate => "recreate",
        };
        format!("  {word} {}", name(&file.path))
    };
    let mut lines = vec![format!("? {}: {}", one_line(title), plan.summary())];
    lines.extend(plan.files.iter().map(file));
    lines.extend(plan.skipped.iter().map(|(path, why)| format!("  skip {}: {}", name(path), one_line(why))));
    lines.push("  1 yes · 2 no, leave everything as it is".into());
    lines
}

/// What a line says to this call's question; `None` if it is no answer.
pub fn answer_to(call: &Call, line: &str) -> Option<Decision> {
    let Some(Access::Question { options }) = &call.access else { return answer(line) };
    let words = line.trim();
    let option = words.parse::<usize>().ok().and_then(|n| options.get(n.checked_sub(1)?));
    let content = option.map_or_else(|| words.to_owned(), Clone::clone);
    (!content.is_empty()).then(|| Decision::AllowPart { content, note: String::new() })
}

/// `None` if it is no answer.
pub fn answer(line: &str) -> Option<Decision> {
    let (word, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
    let reason = Some(rest.trim().to_owned()).filter(|reason| !reason.is_empty());
    match word.to_lowercase().trim_end_matches([',', '.', ':']) {
        "1" | "y" | "yes" if reason.is_none() => Some(Decision::Allow),
        "2" | "a" | "all" if reason.is_none() => Some(Decision::AllowSession),
        "3" | "n" | "no" => Some(Decision::Deny { reason }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_named_also_where_the_call_does_not() {
        let access = Some(Access::Network { host: "search.example".into() });
        let lines = question(&Call { name: "WebSearch".into(), title: "rust".into(), access, ..Call::default() }).join("\n");
        assert!(lines.starts_with("? WebSearch rust\n  connects to search.example\n"), "{lines}");
        assert!(lines.contains("2 yes, and this host for this session"), "{lines}");
    }

    #[test]
    fn what_would_be_done_is_in_the_question() {
        let change = FileChange { path: "a.rs".into(), old: Some("one\n".into()), new: Some("two\n".into()), binary: false };
        let call = Call {
            name: "Edit".into(),
            title: "a\u{1b}[2J.rs".into(),
            access: Some(Access::Write(vec![])),
            block: Some(Block::Diff(vec![change])),
        };
        let lines = question(&call).join("\n");
        assert!(!lines.contains('\u{1b}'), "{lines:?}");
        // The sign says what the colour would.
        assert!(lines.contains("− one") && lines.contains("+ two") && lines.contains("1 yes"), "{lines}");
        let run = Block::Command { command: "echo \u{202e}x\u{7}".into(), directory: "/".into() };
        let lines = question(&Call { block: Some(run), ..Call::default() }).join("\n");
        assert!(lines.contains("$ echo <U+202E>x"), "{lines}");
    }

    #[test]
    fn answers_by_number_or_word() {
        assert_eq!(answer("1"), Some(Decision::Allow));
        assert_eq!(answer(" Yes "), Some(Decision::Allow));
        assert_eq!(answer("2"), Some(Decision::AllowSession));
        assert_eq!(answer("3"), Some(Decision::Deny { reason: None }));
        assert_eq!(answer("no, use b.rs"), Some(Decision::Deny { reason: Some("use b.rs".into()) }));
        // Neither of these may run anything.
        for line in ["", "10", "yes please do the other thing", "1 2", "maybe"] {
            assert_eq!(answer(line), None, "{line}");
        }
    }
}
