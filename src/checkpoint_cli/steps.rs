//! `backstitch undo` and `redo`: turn by turn, files only.
//!
//! - What changed after the turn (or after the undo) stays.
//! - A turn that was taken back elsewhere is recognised by its files: none of them is as the turn left it.

use super::{
    Here,
    arguments::Step,
    going_back::{Asked, finish, go},
    output::{note, shown},
    store_failure,
    taken_back::{Record, TakenBack},
    turns::{Turn, is_of_turn, turns},
};
use crate::{
    checkpoint::{CheckpointStore, Entry, Kind, Label},
    failure::Failure,
    protocol::{Plan, Wanted},
};
use backstitch_components::text::sanitize::one_line;
use std::path::PathBuf;

const FILES_ONLY: &str = "Only files go back, not the conversation: /undo in a session does both.";

pub fn undo(here: &Here, store: &mut dyn CheckpointStore, step: &Step) -> Result<(), Failure> {
    let entries = store.list().map_err(store_failure)?;
    let mut record = Record::load(&here.data, &here.root, &entries);
    told_open(store, &entries)?;
    let turns = turns(&entries);
    let Some((turn, plan)) = next(store, &turns, &record)? else {
        return Err(Failure::usage("There is nothing to undo: no turn changed files, or all of them were taken back.")
            .hint("backstitch checkpoint list shows what else there is to go back to"));
    };
    let asked = Asked {
        heading: format!("Taking back what “{}” changed", one_line(turn.label)),
        remark: Some(FILES_ONLY),
        question: "Take it back?",
        consent: step.consent,
        json: step.json,
    };
    let Some(restored) = go(store, &plan, &asked)? else { return Ok(()) };
    let label = Label::new(Kind::AfterRestore, format!("after taking back “{}”", turn.label));
    let all = restored.changes.len() == plan.files.len();
    let way_back = match store.take(&label) {
        // What is left of it is for the next try.
        Ok(_) if !all => format!(
            "backstitch undo tries the rest again; backstitch checkpoint restore {} goes to the files as they were.",
            restored.before.short()
        ),
        Ok(after) => {
            let (session, label) = (turn.session.clone(), turn.label.to_string());
            record.steps.push(TakenBack { session, turn: turn.id, label, before: restored.before.clone(), after: after.id });
            keep(&record);
            "backstitch redo brings it forward again.".to_string()
        }
        Err(_) => format!("backstitch checkpoint restore {} brings it forward again.", restored.before.short()),
    };
    finish(&plan, &restored, &way_back, step.json)
}

pub fn redo(here: &Here, store: &mut dyn CheckpointStore, step: &Step) -> Result<(), Failure> {
    let entries = store.list().map_err(store_failure)?;
    let mut record = Record::load(&here.data, &here.root, &entries);
    while let Some(last) = record.steps.last().cloned() {
        if began_since(&entries, &last) {
            return Err(Failure::usage("There is nothing to redo: a turn has changed files since the last undo.")
                .hint(format!("backstitch checkpoint restore {} goes to the files as they were before that undo", last.before.short())));
        }
        let wanted = Wanted { to: last.before.clone(), since: Some(last.after.clone()), only: None };
        let mut plan = store.plan(&wanted).map_err(store_failure)?;
        if plan.files.is_empty() && plan.skipped.is_empty() {
            // Somebody has done it already.
            record.steps.pop();
            if !step.consent.dry_run {
                keep(&record);
            }
            continue;
        }
        plan.skipped.iter_mut().for_each(|(_, why)| *why = why.replace("after the turn", "after the undo"));
        if plan.files.is_empty() {
            return Err(nothing_of(&last.label, "brought forward", &plan));
        }
        let asked = Asked {
            heading: format!("Bringing forward what “{}” changed", one_line(&last.label)),
            remark: None,
            question: "Bring it forward?",
            consent: step.consent,
            json: step.json,
        };
        let Some(restored) = go(store, &plan, &asked)? else { return Ok(()) };
        record.steps.pop();
        keep(&record);
        return finish(&plan, &restored, "backstitch undo takes it back again.", step.json);
    }
    Err(Failure::usage("There is nothing to redo: nothing was taken back by `backstitch undo`."))
}

/// A `backstitch checkpoint restore` makes the files be something else than the undone turns tell.
pub fn forget(here: &Here, entries: &[Entry]) {
    let mut record = Record::load(&here.data, &here.root, entries);
    if !record.steps.is_empty() {
        record.steps.clear();
        keep(&record);
    }
}

fn keep(record: &Record) {
    if let Err(e) = record.save() {
        note(&format!("! What was taken back can't be remembered: {e}"));
    }
}

/// The newest turn of which something can be taken back, with the plan for it.
fn next<'a>(store: &mut dyn CheckpointStore, turns: &[Turn<'a>], record: &Record) -> Result<Option<(Turn<'a>, Plan)>, Failure> {
    for turn in turns {
        if record.has(turn.session, turn.id) {
            continue;
        }
        let wanted = Wanted { to: turn.opening.id.clone(), since: Some(turn.closing.id.clone()), only: None };
        let plan = store.plan(&wanted).map_err(store_failure)?;
        if !plan.files.is_empty() {
            return Ok(Some((*turn, plan)));
        }
        let own = store.diff(&turn.opening.id, Some(&turn.closing.id)).map_err(store_failure)?;
        let own: Vec<PathBuf> = own.into_iter().map(|change| change.path).collect();
        if !own.is_empty() && own.iter().all(|path| plan.skipped.iter().any(|(skipped, _)| skipped == path)) {
            // Not to go further: it would look as if this turn were taken back.
            let short = turn.opening.id.short();
            return Err(nothing_of(turn.label, "taken back", &plan)
                .hint(format!("backstitch checkpoint restore {short} goes back to before it, with all that changed since")));
        }
    }
    Ok(None)
}

fn nothing_of(label: &str, what: &str, plan: &Plan) -> Failure {
    let mut failure = Failure::usage(format!("Nothing of what “{}” changed can be {what}.", one_line(label)));
    failure.hints = plan.skipped.iter().map(|(path, why)| format!("{}: {why}", shown(path))).collect();
    failure
}

/// A turn that runs, or was cut off, has not recorded what it did last: that is not known to be its own.
fn told_open(store: &mut dyn CheckpointStore, entries: &[Entry]) -> Result<(), Failure> {
    let Some(newest) = entries.last().filter(|newest| is_of_turn(newest) && newest.label.kind != Kind::AfterTurn) else { return Ok(()) };
    if !store.diff(&newest.id, None).map_err(store_failure)?.is_empty() {
        let (label, short) = (one_line(&newest.label.text), newest.id.short());
        note(&format!(
            "! Files have changed since the last checkpoint of “{label}”. If that turn runs or was cut off, they may be its own:"
        ));
        note(&format!("  backstitch checkpoint diff {short} shows them, backstitch checkpoint restore {short} takes them back."));
    }
    Ok(())
}

/// Has a turn begun since?
fn began_since(entries: &[Entry], last: &TakenBack) -> bool {
    entries.iter().rev().take_while(|entry| entry.id != last.after).any(is_of_turn)
}
