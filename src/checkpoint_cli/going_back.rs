//! A plan is shown, somebody says yes, and exactly that is done.

use super::{
    arguments::Consent,
    output::{confirm, count, note, print, print_json, shown},
    store_failure,
};
use crate::{
    checkpoint::{CheckpointStore, Restored, Skipped},
    failure::Failure,
    protocol::{Action, FileChange, Plan},
};
use serde::Serialize;

/// What is asked for, in words.
pub struct Asked<'a> {
    /// What would be done, without an end: the numbers follow.
    pub heading: String,
    /// What else should be known.
    pub remark: Option<&'a str>,
    pub question: &'a str,
    pub consent: Consent,
    pub json: bool,
}

#[derive(Debug, Serialize)]
struct Json<'a> {
    to: &'a str,
    since: Option<&'a str>,
    /// The way back; nothing as long as nothing was done.
    before: Option<&'a str>,
    done: bool,
    files: Vec<FileJson>,
    skipped: Vec<SkippedJson<'a>>,
}

#[derive(Debug, Serialize)]
struct FileJson {
    path: String,
    action: &'static str,
}

#[derive(Debug, Serialize)]
struct SkippedJson<'a> {
    path: String,
    reason: &'a str,
}

/// What was done; nothing, if only the plan was wanted or there is nothing to do.
pub fn go(store: &mut dyn CheckpointStore, plan: &Plan, asked: &Asked) -> Result<Option<Restored>, Failure> {
    let consent = asked.consent;
    let text = plan_text(plan, asked);
    if asked.json {
        if consent.dry_run || plan.files.is_empty() {
            print_json(&json(plan, None))?;
        } else if !consent.yes {
            note(text.trim_end());
        }
    } else {
        print(&text)?;
    }
    if consent.dry_run || plan.files.is_empty() {
        return Ok(None);
    }
    confirm(asked.question, consent.yes)?;
    store.restore(plan).map(Some).map_err(store_failure)
}

/// Says what was done, and how it is undone. What of the plan could not be done is an error.
pub fn finish(plan: &Plan, restored: &Restored, way_back: &str, json_wanted: bool) -> Result<(), Failure> {
    if json_wanted {
        print_json(&json(plan, Some(restored)))?;
    } else {
        let verb = if restored.changes.len() == 1 { "is" } else { "are" };
        print(&format!("{} {verb} as before. {way_back}\n", count(restored.changes.len(), "file")))?;
    }
    all_done(plan, restored)
}

fn all_done(plan: &Plan, restored: &Restored) -> Result<(), Failure> {
    // What the plan left out is known already.
    let failed = restored.skipped.get(plan.skipped.len()..).unwrap_or_default();
    if failed.is_empty() {
        return Ok(());
    }
    let mut failure = Failure::internal(format!("{} could not be put back.", count(failed.len(), "file")));
    failure.hints = failed.iter().map(|(path, why)| format!("{}: {why}", shown(path))).collect();
    Err(failure)
}

fn word(action: Action) -> &'static str {
    match action {
        Action::Change => "change",
        Action::Delete => "delete",
        Action::Recreate => "recreate",
    }
}

fn plan_text(plan: &Plan, asked: &Asked) -> String {
    let mut out = format!("{}: {}\n", asked.heading, plan.summary());
    for file in &plan.files {
        out.push_str(&format!("  {:<9} {}\n", word(file.action()), shown(&file.path)));
    }
    for (path, why) in &plan.skipped {
        out.push_str(&format!("  {:<9} {}: {why}\n", "skip", shown(path)));
    }
    if let Some(remark) = asked.remark {
        out.push_str(&format!("{remark}\n"));
    }
    out
}

fn json<'a>(plan: &'a Plan, restored: Option<&'a Restored>) -> Json<'a> {
    let planned = || plan.files.iter().map(|file| FileJson { path: file.path.to_string_lossy().into(), action: word(file.action()) });
    let done = |change: &FileChange| {
        let action = match (&change.old, &change.new) {
            (_, None) => Action::Delete,
            (None, _) => Action::Recreate,
            _ => Action::Change,
        };
        FileJson { path: change.path.to_string_lossy().into(), action: word(action) }
    };
    let skipped = |(path, reason): &'a Skipped| SkippedJson { path: path.to_string_lossy().into(), reason };
    Json {
        to: &plan.wanted.to.0,
        since: plan.wanted.since.as_ref().map(|id| id.0.as_str()),
        before: restored.map(|restored| restored.before.0.as_str()),
        done: restored.is_some(),
        files: restored.map_or_else(|| planned().collect(), |restored| restored.changes.iter().map(done).collect()),
        skipped: restored.map_or(&plan.skipped, |restored| &restored.skipped).iter().map(skipped).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{CheckpointId, Planned, Version, Wanted};

    fn plan() -> Plan {
        let version = |there: bool| there.then(|| Version { id: "a".repeat(40), mode: 0o100644 });
        let file = |path: &str, now: bool, then: bool| Planned { path: path.into(), now: version(now), then: version(then) };
        Plan {
            wanted: Wanted { to: CheckpointId("c".repeat(40)), since: None, only: None },
            files: vec![file("a\x1b[2Jb", true, true), file("new", true, false), file("old", false, true)],
            skipped: vec![("both".into(), "changed after the turn; left as it is".into())],
        }
    }

    #[test]
    fn a_plan_in_words_and_as_json() {
        let asked = Asked {
            heading: "Going back to x".into(),
            remark: Some("By the way."),
            question: "",
            consent: Consent::default(),
            json: false,
        };
        insta::assert_snapshot!(plan_text(&plan(), &asked), @"
        Going back to x: 1 changed, 1 deleted, 1 recreated, 1 skipped
          change    a␛[2Jb
          delete    new
          recreate  old
          skip      both: changed after the turn; left as it is
        By the way.
        ");
        let nothing = Plan { files: vec![], skipped: vec![], ..plan() };
        assert_eq!(plan_text(&nothing, &Asked { remark: None, ..asked }), "Going back to x: nothing to do\n");
        insta::assert_snapshot!(serde_json::to_string(&json(&plan(), None)).unwrap(), @r#"{"to":"cccccccccccccccccccccccccccccccccccccccc","since":null,"before":null,"done":false,"files":[{"path":"a\u001b[2Jb","action":"change"},{"path":"new","action":"delete"},{"path":"old","action":"recreate"}],"skipped":[{"path":"both","reason":"changed after the turn; left as it is"}]}"#);
    }

    #[test]
    fn what_could_not_be_done_is_an_error() {
        let plan = plan();
        let mut restored = Restored { before: CheckpointId("b".into()), changes: vec![], skipped: plan.skipped.clone() };
        assert_eq!(all_done(&plan, &restored), Ok(()));
        restored.skipped.push(("x".into(), "it changed meanwhile; left as it is".into()));
        let failure = all_done(&plan, &restored).unwrap_err();
        assert_eq!(failure.to_string(), "1 file could not be put back.\n  hint: x: it changed meanwhile; left as it is");
    }
}
