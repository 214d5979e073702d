//! What the screen tells about itself on request: status, usage, and the conversation as Markdown.

use super::{
    app::Model,
    cell::{CallCell, CallState, Cell},
};
use crate::protocol::{CheckpointInfo, Outcome, Usage};
use std::fmt::Write;

/// `/status`: a line for each fact.
pub fn status(model: &Model) -> String {
    let status = &model.status;
    let model_line = match &status.model {
        Some(info) => match info.context_window {
            Some(window) => format!("{} · context {window} tokens", info.id),
            None => format!("{} · context unknown", info.id),
        },
        None => "none".into(),
    };
    let screen = if model.window.is_some() { "fullscreen" } else { "inline" };
    let mut facts = vec![
        ("version".to_string(), env!("CARGO_PKG_VERSION").to_string()),
        ("project".into(), model.setting.root.display().to_string()),
        ("model".into(), model_line),
        ("mode".into(), status.mode.name().into()),
        ("screen".into(), format!("{screen} · {} × {} · {}", model.size.0, model.size.1, model.setting.theme.name)),
    ];
    facts.extend(status.session.iter().map(|id| ("session".to_string(), id.0.clone())));
    facts.extend(status.background.iter().map(|job| ("background".to_string(), job.named())));
    facts.extend(status.facts.iter().cloned());
    table(&facts)
}

/// What the store has, for `/status` and after a checkpoint was revised.
pub fn checkpoints(model: &mut Model, all: &[CheckpointInfo], bytes: u64) {
    let pinned = match all.iter().filter(|info| info.pinned).count() {
        0 => String::new(),
        n => format!(", {n} pinned"),
    };
    let size =
        if bytes < 1 << 20 { format!("{} KB", bytes.div_ceil(1 << 10)) } else { format!("{:.1} MB", bytes as f64 / f64::from(1 << 20)) };
    let text = table(&[("checkpoints".into(), format!("{} in this project{pinned} · {size} on the disk", all.len()))]);
    model.transcript.push(Cell::Said(text), model.width());
}

/// `/usage`: tokens, as the provider counted them.
pub fn usage(model: &Model) -> String {
    let Usage { input, output, cached, reasoning, written } = model.status.total();
    if input + output == 0 {
        return "The provider has not told of any tokens yet.".into();
    }
    let mut facts = vec![("sent".to_string(), format!("{input} tokens")), ("received".into(), format!("{output} tokens"))];
    if cached > 0 {
        facts.push(("of these cached".into(), format!("{cached} tokens, {} %", cached * 100 / input.max(1))));
    }
    if written > 0 {
        facts.push(("of these put into the cache".into(), format!("{written} tokens")));
    }
    if reasoning > 0 {
        facts.push(("of these reasoning".into(), format!("{reasoning} tokens")));
    }
    let (used, window) = model.status.context();
    facts.push(match window {
        Some(window) => (
            "context".into(),
            format!("{used} of {window} tokens, {} % · {} free", used * 100 / window.max(1), window.saturating_sub(used)),
        ),
        None => ("context".into(), format!("{used} tokens; the model's limit is unknown (contextWindow sets it)")),
    });
    table(&facts)
}

pub fn table(facts: &[(String, String)]) -> String {
    let width = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    facts.iter().map(|(name, value)| format!("{name:width$}   {value}")).collect::<Vec<_>>().join("\n")
}

/// The last thing that the model said.
pub fn last_answer(model: &Model) -> Option<&str> {
    model.transcript.cells.iter().rev().find_map(|cell| if let Cell::Answer(text) = cell { Some(text.as_str()) } else { None })
}

/// The conversation as it would be read by somebody else.
pub fn markdown(model: &Model) -> String {
    let mut out = format!("# {}\n", model.setting.place);
    for cell in &model.transcript.cells {
        match cell {
            Cell::User(text) => {
                let quoted = text.trim_end().lines().map(|l| format!("> {l}").trim_end().to_string()).collect::<Vec<_>>().join("\n");
                let _ = write!(out, "\n{quoted}\n");
            }
            Cell::Answer(text) => {
                let _ = write!(out, "\n{}\n", text.trim_end());
            }
            Cell::Call(call) => {
                let _ = write!(out, "\n{}\n", call_line(call));
            }
            Cell::Reads(calls) => {
                let _ = write!(out, "\n{}\n", calls.iter().map(call_line).collect::<Vec<_>>().join("\n"));
            }
            Cell::Notice(notice) => {
                let _ = write!(out, "\n*{}*\n", notice.text);
            }
            Cell::Reasoning { .. } | Cell::Footer { .. } | Cell::Said(_) => {}
        }
    }
    out
}

fn call_line(call: &CallCell) -> String {
    let result = match &call.state {
        CallState::Finished(Outcome::Done(output)) => output.summary.clone(),
        CallState::Finished(Outcome::Failed(why) | Outcome::Forbidden(why)) => {
            format!("failed: {}", why.lines().next().unwrap_or_default())
        }
        CallState::Finished(Outcome::Denied { .. }) => "declined".into(),
        _ => "interrupted".into(),
    };
    // A title may hold backticks: the fence is longer than any run of them.
    let ticks = "`".repeat(call.title.split(|c| c != '`').map(str::len).max().unwrap_or(0) + 1);
    format!("- {} {ticks} {} {ticks} {result}", call.name, call.title.replace('\n', " ")).trim_end().to_string()
}
