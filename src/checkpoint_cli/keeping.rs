//! Takes checkpoints by hand, names, keeps and deletes them.

use super::{
    find::find,
    list::{EntryJson, named},
    output::{bytes, count, note, print, print_json, shown},
    store_failure,
};
use crate::{
    checkpoint::{CheckpointStore, Entry, Kind, Label, Retention, Revision},
    failure::Failure,
};
use backstitch_components::text::sanitize::one_line;
use serde_json::json;
use std::time::Duration;

pub fn create(store: &mut dyn CheckpointStore, name: &str, json: bool) -> Result<(), Failure> {
    let newest = store.list().map_err(store_failure)?.pop();
    let taken = store.take_named(&Label::new(Kind::Manual, name), name).map_err(store_failure)?;
    taken.skipped.iter().for_each(|(path, why)| note(&format!("! {} is not in it: {why}", shown(path))));
    let as_before = newest.is_some_and(|newest| newest.id == taken.id);
    let entries = store.list().map_err(store_failure)?;
    let entry = find(&entries, &taken.id.0)?;
    match (json, as_before) {
        (true, _) => print_json(&EntryJson::new(entry)),
        (_, true) => print(&format!("Nothing has changed since {}: no other is needed.\n", named(entry))),
        _ => print(&format!("{}: {} changed\n", named(entry), count(entry.files_changed, "file"))),
    }
}

pub fn revise(
    store: &mut dyn CheckpointStore,
    entries: &[Entry],
    id: &str,
    revision: Revision,
    now_it: &str,
    json: bool,
) -> Result<(), Failure> {
    let entry = store.revise(&find(entries, id)?.id, revision).map_err(store_failure)?;
    if json {
        return print_json(&EntryJson::new(&entry));
    }
    print(&format!("{} {now_it} “{}”\n", entry.id.short(), one_line(&entry.label.text)))
}

pub fn delete(store: &mut dyn CheckpointStore, entry: &Entry, json: bool) -> Result<(), Failure> {
    store.delete(&entry.id).map_err(store_failure)?;
    if json { print_json(&json!({ "deleted": entry.id.0 })) } else { print(&format!("{} is deleted.\n", named(entry))) }
}

/// Limits that are given take the place of the usual ones.
pub fn retention(keep: Option<usize>, days: Option<u64>, megabytes: Option<u64>, all: bool) -> Retention {
    let none = Retention { count: usize::MAX, age: Duration::MAX, bytes: u64::MAX };
    if all {
        return Retention { count: 0, ..none };
    }
    if keep.is_none() && days.is_none() && megabytes.is_none() {
        return Retention::default();
    }
    Retention {
        count: keep.unwrap_or(none.count),
        age: days.map_or(none.age, |days| Duration::from_secs(days.saturating_mul(24 * 3600))),
        bytes: megabytes.map_or(none.bytes, |megabytes| megabytes.saturating_mul(1_000_000)),
    }
}

pub fn prune(store: &mut dyn CheckpointStore, keep: &Retention, json: bool) -> Result<(), Failure> {
    let before = store.usage().map_err(store_failure)?;
    let pruned = store.prune(keep).map_err(store_failure)?;
    let left = store.usage().map_err(store_failure)?;
    let freed = before.bytes.saturating_sub(left.bytes);
    if json {
        return print_json(&json!({
            "checkpoints": pruned.checkpoints, "objects": pruned.objects, "freed_bytes": freed,
            "left": { "checkpoints": left.checkpoints, "bytes": left.bytes },
        }));
    }
    let what = match pruned.checkpoints {
        0 if pruned.objects == 0 => "Nothing had to go.".to_string(),
        n => format!(
            "{} went, and {} that nothing else needs: {} freed.",
            count(n, "checkpoint"),
            count(pruned.objects, "object"),
            bytes(freed)
        ),
    };
    let stay = if left.checkpoints == 1 { "stays" } else { "stay" };
    print(&format!("{what} {} {stay}, in {}.\n", count(left.checkpoints, "checkpoint"), bytes(left.bytes)))
}
