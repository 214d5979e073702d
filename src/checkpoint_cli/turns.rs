//! Which checkpoints belong to which turn.
//!
//! A checkpoint of a tree that has not changed is none of its own: where a turn's first or last one is missing in the list, the
//! one before it has the same files.

use crate::{
    checkpoint::{Entry, Kind},
    protocol::{SessionId, TurnId},
};

/// A turn that changed something.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    pub session: &'a SessionId,
    pub id: TurnId,
    /// What was asked for.
    pub label: &'a str,
    pub opening: &'a Entry,
    pub closing: &'a Entry,
}

pub fn is_of_turn(entry: &Entry) -> bool {
    matches!(entry.label.kind, Kind::BeforeTurn | Kind::AfterCall | Kind::AfterTurn)
}

/// The newest first. One whose beginning is not known any more is left out.
pub fn turns(entries: &[Entry]) -> Vec<Turn<'_>> {
    let mut found: Vec<(Turn, usize)> = vec![];
    // Of this one only the end is left.
    let torn = entries.first().filter(|e| is_of_turn(e) && e.label.kind != Kind::BeforeTurn).map(|e| (&e.label.session, e.label.turn));
    for (n, entry) in entries.iter().enumerate().filter(|(_, entry)| is_of_turn(entry)) {
        let (Some(session), Some(id)) = (&entry.label.session, entry.label.turn) else { continue };
        if torn == Some((&entry.label.session, entry.label.turn)) {
            continue;
        }
        match found.iter_mut().find(|(turn, _)| (turn.session, turn.id) == (session, id)) {
            Some((turn, last)) => (turn.closing, *last) = (entry, n),
            None => {
                let before = if entry.label.kind == Kind::BeforeTurn { Some(entry) } else { n.checked_sub(1).map(|n| &entries[n]) };
                let Some(opening) = before else { continue };
                found.push((Turn { session, id, label: &entry.label.text, opening, closing: entry }, n));
            }
        }
    }
    found.retain(|(turn, _)| turn.opening.id != turn.closing.id);
    found.sort_by_key(|(_, last)| std::cmp::Reverse(*last));
    found.into_iter().map(|(turn, _)| turn).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{checkpoint::Label, protocol::CheckpointId};

    fn entry(id: &str, kind: Kind, turn: Option<(&str, u64)>) -> Entry {
        let label = Label {
            session: turn.map(|(session, _)| SessionId(session.into())),
            turn: turn.map(|(_, id)| TurnId(id)),
            ..Label::new(kind, format!("asked {id}"))
        };
        Entry { id: CheckpointId(id.into()), label, at: 0, files_changed: 1, named: false, pinned: false }
    }

    fn shown(entries: &[Entry]) -> Vec<String> {
        turns(entries).iter().map(|t| format!("{} {}: {}..{}", t.session.0, t.id, t.opening.id.0, t.closing.id.0)).collect()
    }

    #[test]
    fn a_turn_goes_from_its_first_to_its_last_checkpoint() {
        let entries = [
            entry("a", Kind::BeforeTurn, Some(("s", 1))),
            entry("b", Kind::AfterCall, Some(("s", 1))),
            entry("c", Kind::AfterTurn, Some(("s", 1))),
            // Nothing had changed since: the second turn has no first checkpoint of its own.
            entry("d", Kind::AfterTurn, Some(("s", 2))),
            entry("e", Kind::Manual, None),
            entry("f", Kind::BeforeTurn, Some(("t", 1))),
            // This one changed nothing.
            entry("g", Kind::BeforeTurn, Some(("t", 2))),
            entry("h", Kind::AfterTurn, Some(("t", 1))),
        ];
        assert_eq!(shown(&entries), ["t 1: f..h", "s 2: c..d", "s 1: a..c"]);
        assert_eq!(turns(&entries)[2].label, "asked a");
        // The oldest were pruned.
        assert_eq!(shown(&entries[1..4]), ["s 2: c..d"]);
    }
}
