//! What the popup lists: commands, their arguments, lines of the history, and paths that were found.

use super::{
    super::app::Model,
    word::{Kind, Word},
};
use crate::{
    commands,
    finder::{Hit, Mark, fuzzy},
    protocol::{Access, Mode},
};
use backstitch_components::{completer::Entry, theme::Theme};
use std::path::PathBuf;

/// Lines of the history that are offered.
const MOST_LINES: usize = 100;

/// Those that need no disk; `None` for the others.
pub fn known(model: &Model, word: &Word) -> Option<Vec<Entry>> {
    let all: Vec<Entry> = match word.kind {
        Kind::Command => commands::ALL.iter().map(of_command).collect(),
        Kind::Argument(command) => arguments(model, command),
        Kind::ShellLine => {
            let lines = model.prompt.recall.entries().iter().rev().filter_map(|text| text.strip_prefix('!'));
            lines.filter(|line| !line.contains('\n')).map(|line| named(line.trim())).collect()
        }
        Kind::Mention | Kind::ShellPath => return None,
    };
    let sign = usize::from(word.kind == Kind::Command);
    let matches = fuzzy::rank(&word.query, all.iter().map(|entry| &entry.text[sign..]));
    let entries = matches.into_iter().map(|found| {
        let positions = found.positions.into_iter().map(|at| at + sign).collect();
        Entry { positions, ..all[found.at].clone() }
    });
    // What is typed in full needs no offer.
    let entries = entries.filter(|entry| word.kind != Kind::ShellLine || entry.text != word.query);
    Some(entries.take(MOST_LINES).collect())
}

fn named(text: &str) -> Entry {
    Entry { text: text.into(), ..Entry::default() }
}

fn of_command(command: &commands::SlashCommand) -> Entry {
    Entry { hint: command.arguments.into(), about: command.help.into(), ..named(&format!("/{}", command.name)) }
}

fn arguments(model: &Model, command: &str) -> Vec<Entry> {
    let current = |entry: Entry, is: bool| Entry { note: if is { "current".into() } else { String::new() }, ..entry };
    match command {
        "mode" => Mode::ALL.iter().map(|mode| current(named(mode.name()), model.status.mode == *mode)).collect(),
        "model" => {
            let now = model.status.model.as_ref().map(|m| m.id.to_string());
            let ids = model.prompt.models.iter().map(|m| m.id.to_string());
            ids.map(|id| current(named(&id), Some(&id) == now.as_ref())).collect()
        }
        "theme" => Theme::names().map(named).collect(),
        _ => vec![],
    }
}

pub fn of_hit(hit: Hit) -> Entry {
    let note = match hit.mark {
        Some(Mark::Recent) => "recent",
        Some(Mark::Changed) => "changed",
        None => "",
    };
    Entry { positions: hit.positions, path: true, note: note.into(), ..named(&hit.path) }
}

pub fn paths(access: &Access) -> &[PathBuf] {
    match access {
        Access::Read(paths) | Access::Write(paths) => paths,
        Access::Run { .. } | Access::Network { .. } | Access::Plan | Access::Question { .. } | Access::Job { .. } => &[],
    }
}
