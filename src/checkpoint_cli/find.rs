//! Which checkpoint somebody means.

use crate::{checkpoint::Entry, failure::Failure, protocol::checkpoint::meant};

/// By its name or the beginning of its id; `@` and `last` are the newest. `entries`: oldest first.
pub fn find<'a>(entries: &'a [Entry], asked: &str) -> Result<&'a Entry, Failure> {
    const LISTED: &str = "backstitch checkpoint list shows all";
    let found: Vec<&Entry> = meant(entries, asked, |entry| (&entry.id, &entry.label.text)).into_iter().map(|at| &entries[at]).collect();
    match found[..] {
        [one] => Ok(one),
        [] => Err(Failure::usage(format!("There is no checkpoint '{asked}'.")).hint(LISTED)),
        [..] => {
            let mut failure = Failure::usage(format!("{} checkpoints begin with '{asked}'.", found.len()));
            for entry in found.iter().rev().take(5) {
                failure =
                    failure.hint(format!("{} is “{}”", longer(&entry.id.0, &found), entry.label.text.lines().next().unwrap_or_default()));
            }
            Err(failure)
        }
    }
}

/// As much of the id as tells it from the others, and not less than usual.
fn longer<'a>(id: &'a str, among: &[&Entry]) -> &'a str {
    let same = |other: &str| id.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let most = among.iter().filter(|entry| entry.id.0 != id).map(|entry| same(&entry.id.0) + 1).max().unwrap_or(0);
    id.get(..most.max(8)).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        checkpoint::{Kind, Label},
        protocol::CheckpointId,
    };

    #[test]
    fn by_the_beginning_of_its_id_or_as_the_newest() {
        let entry = |id: &str| Entry {
            id: CheckpointId(id.into()),
            label: Label::new(Kind::Manual, format!("called {id}\nmore")),
            at: 0,
            files_changed: 0,
            named: false,
            pinned: false,
        };
        let entries = ["aa11223344", "aa11223355", "bb"].map(entry);
        let found = |asked: &str| find(&entries, asked).map(|entry| entry.id.0.clone()).map_err(|failure| failure.to_string());
        for (asked, id) in [("b", "bb"), ("BB", "bb"), ("@", "bb"), ("last", "bb"), ("aa11223355", "aa11223355"), ("called bb\nmore", "bb")]
        {
            assert_eq!(found(asked).as_deref(), Ok(id), "{asked}");
        }
        insta::assert_snapshot!(found("aa").unwrap_err(), @"
        2 checkpoints begin with 'aa'.
          hint: aa1122335 is “called aa11223355”
          hint: aa1122334 is “called aa11223344”
        ");
        for unknown in ["", "c", "bbb", "@1"] {
            assert!(found(unknown).unwrap_err().starts_with(&format!("There is no checkpoint '{unknown}'.")), "{unknown}");
        }
        assert!(find(&[], "@").is_err());
    }
}
