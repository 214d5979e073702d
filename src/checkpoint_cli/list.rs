//! Checkpoints as rows, as a page and as JSON.

use super::{
    output::{count, shown},
    patch::{Compared, counts},
};
use crate::{
    checkpoint::{Entry, Kind},
    protocol::CheckpointId,
};
use backstitch_components::{
    chat_log::duration,
    text::{sanitize::one_line, width::width, wrap::truncate_text},
};
use jiff::{Timestamp, tz::TimeZone};
use serde::Serialize;

/// What a label says at least, however narrow the terminal is.
const LEAST: usize = 20;

/// The names are documented: they stay.
#[derive(Debug, Serialize)]
pub struct EntryJson<'a> {
    pub id: &'a str,
    pub time: String,
    pub kind: &'static str,
    pub label: &'a str,
    pub session: Option<&'a str>,
    pub turn: Option<u64>,
    pub files_changed: usize,
    pub pinned: bool,
}

impl<'a> EntryJson<'a> {
    pub fn new(entry: &'a Entry) -> Self {
        EntryJson {
            id: &entry.id.0,
            time: Timestamp::from_millisecond(entry.at as i64).map(|at| at.to_string()).unwrap_or_default(),
            kind: entry.label.kind.name(),
            label: &entry.label.text,
            session: entry.label.session.as_ref().map(|session| session.0.as_str()),
            turn: entry.label.turn.map(|turn| turn.0),
            files_changed: entry.files_changed,
            pinned: entry.pinned,
        }
    }
}

#[derive(Debug, Serialize)]
pub struct ChangeJson {
    pub path: String,
    pub action: &'static str,
    pub added: usize,
    pub removed: usize,
    pub binary: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
}

impl ChangeJson {
    pub fn new(compared: &Compared) -> Self {
        let (added, removed) = counts(&compared.change);
        let path = compared.change.path.to_string_lossy().into_owned();
        ChangeJson { path, action: compared.action(), added, removed, binary: compared.change.binary, patch: None }
    }
}

#[derive(Debug, Serialize)]
pub struct PageJson<'a> {
    #[serde(flatten)]
    pub entry: EntryJson<'a>,
    /// The checkpoint before it, if there is one.
    pub compared_with: Option<&'a str>,
    pub files: Vec<ChangeJson>,
}

pub fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::BeforeTurn => "before a request",
        Kind::AfterCall => "after a call",
        Kind::AfterTurn => "after a request",
        Kind::Manual => "by hand",
        Kind::BeforeRestore => "before going back",
        Kind::AfterRestore => "after going back",
    }
}

/// How long ago, up to a day; then the date.
pub fn when(at: u64, now: u64) -> String {
    let ago = now.saturating_sub(at) / 1000;
    match ago {
        0..5 => "just now".into(),
        5..60 => format!("{} ago", duration(ago)),
        60..86_400 => format!("{} ago", duration(ago / 60 * 60)),
        _ => date(at, "%Y-%m-%d %H:%M"),
    }
}

fn date(at: u64, format: &str) -> String {
    let at = Timestamp::from_millisecond(at as i64).unwrap_or_default();
    at.to_zoned(TimeZone::system()).strftime(format).to_string()
}

/// A checkpoint within a sentence.
pub fn named(entry: &Entry) -> String {
    format!("{} “{}”", entry.id.short(), one_line(&entry.label.text))
}

/// One row each, cut to so many columns if there are any.
pub fn table(entries: &[Entry], now: u64, columns: Option<usize>) -> String {
    let any_pinned = entries.iter().any(|entry| entry.pinned);
    let cells = |entry: &Entry| {
        let pinned = any_pinned.then(|| if entry.pinned { "pinned" } else { "" }.to_string());
        let fixed = [entry.id.short().into(), when(entry.at, now), kind(entry.label.kind).into(), count(entry.files_changed, "file")];
        fixed.into_iter().chain(pinned).collect::<Vec<String>>()
    };
    let rows: Vec<Vec<String>> = entries.iter().map(cells).collect();
    let wide = |n: usize| rows.iter().map(|row| width(&row[n])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows.first().map_or(0, Vec::len)).map(wide).collect();
    let mut out = String::new();
    for (row, entry) in rows.iter().zip(entries) {
        let mut line = String::new();
        for (n, (cell, wide)) in row.iter().zip(&widths).enumerate() {
            let blanks = " ".repeat(wide - width(cell));
            // Numbers stand below each other.
            line.push_str(&if n == 3 { format!("{blanks}{cell}  ") } else { format!("{cell}{blanks}  ") });
        }
        let label = one_line(&entry.label.text);
        let room = columns.map(|columns| columns.saturating_sub(width(&line)).max(LEAST));
        line.push_str(&room.map_or(label.clone(), |room| truncate_text(&label, room).into_owned().into()));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// All of one, with what changed since the one `before`.
pub fn page(entry: &Entry, before: Option<&CheckpointId>, changes: &[Compared], now: u64) -> String {
    let mut out = String::new();
    let mut row = |name: &str, value: &str| out.push_str(&format!("{name:<12}{}\n", value.trim_end()));
    row("checkpoint", &entry.id.0);
    row("label", &one_line(&entry.label.text));
    row("kind", kind(entry.label.kind));
    row("time", &format!("{} ({})", date(entry.at, "%Y-%m-%d %H:%M:%S %Z"), when(entry.at, now)));
    if let Some(session) = &entry.label.session {
        row("session", &one_line(&session.0));
    }
    if let Some(turn) = entry.label.turn {
        row("turn", &turn.to_string());
    }
    if entry.pinned {
        row("pinned", "yes");
    }
    out.push('\n');
    match before {
        None => out.push_str(&format!("The first one: {}.\n", count(entry.files_changed, "file"))),
        Some(before) if changes.is_empty() => out.push_str(&format!("The same files as in {}.\n", before.short())),
        Some(before) => {
            out.push_str(&format!("{} changed since {}:\n", count(changes.len(), "file"), before.short()));
            out.push_str(&stat(changes));
        }
    }
    out
}

/// Each file with the lines that were added and removed.
pub fn stat(changes: &[Compared]) -> String {
    let names: Vec<String> = changes.iter().map(|c| shown(&c.change.path)).collect();
    let wide = names.iter().map(|name| width(name)).max().unwrap_or(0);
    let mut out = String::new();
    for (compared, name) in changes.iter().zip(&names) {
        let what = match counts(&compared.change) {
            _ if compared.change.binary => "binary".to_string(),
            (0, 0) if compared.action() == "changed" => "mode".to_string(),
            (0, 0) => "empty".to_string(),
            (added, 0) => format!("+{added}"),
            (0, removed) => format!("−{removed}"),
            (added, removed) => format!("+{added} −{removed}"),
        };
        out.push_str(&format!("  {:<8} {name}{}  {what}\n", compared.action(), " ".repeat(wide - width(name))));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        checkpoint::Label,
        protocol::{FileChange, SessionId, TurnId},
    };

    const NOW: u64 = 1_800_000_000_000;

    fn entry(id: &str, at: u64, kind: Kind, files_changed: usize, text: &str) -> Entry {
        let label = Label { session: Some(SessionId("s-1".into())), turn: Some(TurnId(3)), ..Label::new(kind, text) };
        Entry { id: CheckpointId(id.repeat(20)), label, at, files_changed, named: false, pinned: false }
    }

    fn entries() -> [Entry; 3] {
        let pinned = Entry { pinned: true, ..entry("c3", NOW - 200_000, Kind::Manual, 0, "日本\n\x1b[2Jx") };
        [
            entry("a1", NOW - 30_000_000, Kind::BeforeTurn, 120, "fix the date test, and the one after it as well, please"),
            pinned,
            entry("b2", NOW, Kind::BeforeRestore, 1, "before going back to a1a1a1a1"),
        ]
    }

    #[test]
    fn rows_are_aligned_and_cut_only_for_a_terminal() {
        insta::assert_snapshot!(table(&entries(), NOW, None), @"
        a1a1a1a1  8 h 20 min ago  before a request   120 files          fix the date test, and the one after it as well, please
        c3c3c3c3  3 min ago       by hand              0 files  pinned  日本⏎␛[2Jx
        b2b2b2b2  just now        before going back     1 file          before going back to a1a1a1a1
        ");
        insta::assert_snapshot!(table(&entries()[..1], NOW, Some(80)), @"a1a1a1a1  8 h 20 min ago  before a request  120 files  fix the date test, and t…");
        let narrow = table(&entries(), NOW, Some(10));
        assert!(narrow.contains("fix the date test, …\n"), "{narrow}");
        assert_eq!(table(&[], NOW, None), "");
    }

    #[test]
    fn a_page_has_it_all() {
        let change = |path: &str, old: Option<&str>, new: Option<&str>| {
            let change = FileChange { path: path.into(), old: old.map(Into::into), new: new.map(Into::into), binary: path == "png" };
            Compared { change, old: None, new: None }
        };
        let changes = [
            change("a\x1b[2J", None, Some("1\n2\n")),
            change("dir/b", Some("1\n"), Some("2\n")),
            change("gone", Some("1\n"), None),
            change("new", None, Some("")),
            change("png", Some(""), Some("")),
            change("run", Some("1\n"), Some("1\n")),
        ];
        let page = page(&entries()[1], Some(&CheckpointId("a1".repeat(20))), &changes, NOW);
        insta::assert_snapshot!(page.replace(&date(NOW - 200_000, "%Y-%m-%d %H:%M:%S %Z"), "DATE"), @"
        checkpoint  c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3
        label       日本⏎␛[2Jx
        kind        by hand
        time        DATE (3 min ago)
        session     s-1
        turn        3
        pinned      yes

        6 files changed since a1a1a1a1:
          added    a␛[2J  +2
          changed  dir/b  +1 −1
          deleted  gone   −1
          added    new    empty
          changed  png    binary
          changed  run    mode
        ");
    }

    #[test]
    fn json_has_stable_names() {
        insta::assert_snapshot!(serde_json::to_string_pretty(&EntryJson::new(&entries()[0])).unwrap(), @r#"
        {
          "id": "a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1",
          "time": "2027-01-14T23:40:00Z",
          "kind": "before-turn",
          "label": "fix the date test, and the one after it as well, please",
          "session": "s-1",
          "turn": 3,
          "files_changed": 120,
          "pinned": false
        }
        "#);
    }

    #[test]
    fn the_time_is_near_or_a_date() {
        for (ago, text) in [(0, "just now"), (9, "9 s ago"), (200, "3 min ago"), (7_265, "2 h 1 min ago")] {
            assert_eq!(when(NOW - ago * 1000, NOW), text);
        }
        assert_eq!(when(NOW + 5_000, NOW), "just now");
        assert!(when(NOW - 90_000_000, NOW).starts_with("2027-01-1"));
    }
}
