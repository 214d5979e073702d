//! A label as a commit message: the text, then trailers.

use super::{Kind, Label};
use crate::protocol::{SessionId, TurnId};

pub fn write(label: &Label, files_changed: usize) -> String {
    let mut text = label.text.replace('\0', "");
    if text.trim().is_empty() {
        text = label.kind.name().into();
    }
    let mut message = format!("{}\n\n", text.trim_end());
    let mut trailer = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            message.push_str(&format!("{name}: {}\n", value.replace(['\n', '\0'], " ")));
        }
    };
    trailer("Kind", Some(label.kind.name().into()));
    trailer("Files-Changed", Some(files_changed.to_string()));
    trailer("Session", label.session.as_ref().map(|s| s.0.clone()));
    trailer("Turn", label.turn.map(|t| t.to_string()));
    trailer("Record", label.record.map(|r| r.to_string()));
    message
}

pub fn read(message: &str) -> (Label, usize) {
    let (text, trailers) = message.trim_end().rsplit_once("\n\n").unwrap_or((message.trim_end(), ""));
    let get = |name: &str| trailers.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(": "));
    let number = |name| get(name).and_then(|v| v.parse().ok());
    let kind = get("Kind").and_then(|k| Kind::ALL.into_iter().find(|kind| kind.name() == k)).unwrap_or(Kind::Manual);
    let label = Label {
        text: text.into(),
        session: get("Session").map(|s| SessionId(s.into())),
        turn: number("Turn").map(TurnId),
        record: number("Record"),
        kind,
    };
    (label, number("Files-Changed").unwrap_or(0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_survives_the_message() {
        let label = Label {
            text: "fix it\n\nKind: manual\nTurn: 9".into(),
            session: Some(SessionId("s-1".into())),
            turn: Some(TurnId(3)),
            record: Some(17),
            kind: Kind::AfterCall,
        };
        assert_eq!(read(&write(&label, 5)), (label, 5));
        let plain = Label::new(Kind::Manual, "x");
        assert_eq!(read(&write(&plain, 0)), (plain, 0));
        assert_eq!(read(&write(&Label::new(Kind::BeforeTurn, " "), 0)).0.text, "before-turn");
    }
}
