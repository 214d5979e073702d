//! The command line, and what follows from it without a store.

use super::{keeping::retention, *};
use crate::{
    checkpoint::Retention,
    cli::{Cli, Sub},
};
use clap::{CommandFactory, Parser};

fn parsed(line: &str) -> Result<Sub, String> {
    let cli = Cli::try_parse_from(["backstitch"].into_iter().chain(line.split_whitespace())).map_err(|e| e.to_string())?;
    cli.command.ok_or_else(|| "no command".into())
}

fn what(line: &str) -> What {
    match parsed(line) {
        Ok(Sub::Checkpoint(checkpoint)) => checkpoint.what,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn what_can_be_said() {
    Cli::command().debug_assert();
    assert!(matches!(what("checkpoint list --json -n 3"), What::List { newest: Some(3) }));
    assert!(matches!(what("checkpoint diff a b -- c"), What::Diff { to: Some(to), paths, .. } if to == "b" && paths.len() == 1));
    assert!(matches!(what("checkpoint diff @ -- c d"), What::Diff { to: None, paths, .. } if paths.len() == 2));
    assert!(
        matches!(what("checkpoint restore a b c -y"), What::Restore { id: Some(_), paths, consent, .. } if paths.len() == 2 && consent.yes)
    );
    assert!(matches!(what("checkpoint restore --finish --yes"), What::Restore { id: None, finish: true, .. }));
    for wrong in [
        "checkpoint",
        "checkpoint restore",
        "checkpoint restore a --finish",
        "checkpoint restore a --yes --dry-run",
        "checkpoint restore --forget --yes",
        "checkpoint prune --all --keep 3",
        "undo now",
    ] {
        assert!(parsed(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn limits_that_are_given_take_the_place_of_the_usual_ones() {
    let shown = |keep: Retention| (keep.count, keep.age.as_secs(), keep.bytes);
    assert_eq!(shown(retention(None, None, None, false)), shown(Retention::default()));
    assert_eq!(shown(retention(Some(3), None, None, false)), (3, u64::MAX, u64::MAX));
    assert_eq!(shown(retention(None, Some(2), Some(5), false)), (usize::MAX, 172_800, 5_000_000));
    assert_eq!(shown(retention(None, None, None, true)), (0, u64::MAX, u64::MAX));
}
