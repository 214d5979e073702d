//! The user's keys over the built-in table. What can't be understood is a warning, and the built-in keys stay for it.

use super::{Binding, Context, built_in};
use crate::{
    failure::nearest,
    protocol::{OwnKey, OwnKeys},
};
use backstitch_components::key::{Chord, Key, names};
use iocraft::KeyCode;

/// More of them would fill the first screen.
const MOST_WARNINGS: usize = 3;

/// The merged table, if it is another one, and what was wrong.
pub(super) fn merge(own: &OwnKeys) -> (Option<Vec<Binding>>, Vec<String>) {
    if own.keys.is_empty() {
        // Not even the built-in table is needed for that.
        return (None, own.warnings.clone());
    }
    let mut merging = Merging { table: built_in().to_vec(), set: vec![None; built_in().len()], warnings: own.warnings.clone() };
    own.keys.iter().for_each(|entry| merging.lay_over(entry));
    merging.take_from_others();
    merging.look_for_shadows();
    merging.keep_the_way_out();
    let Merging { table, mut warnings, .. } = merging;
    let more = warnings.len().saturating_sub(MOST_WARNINGS);
    if more > 0 {
        warnings.truncate(MOST_WARNINGS);
        if let Some(last) = warnings.last_mut() {
            last.push_str(&format!(" ({more} more in the keymap)"));
        }
    }
    ((table != built_in()).then_some(table), warnings)
}

struct Merging<'a> {
    table: Vec<Binding>,
    /// By row: the entry that has it.
    set: Vec<Option<&'a OwnKey>>,
    warnings: Vec<String>,
}

impl<'a> Merging<'a> {
    fn warn(&mut self, entry: &OwnKey, what: &str) {
        self.warnings.push(format!("{}: {what}", entry.place));
    }

    fn lay_over(&mut self, entry: &'a OwnKey) {
        let Some(context) = Context::named(&entry.context) else {
            let near = did_you_mean(&entry.context, Context::ALL.iter().map(|(_, name, _)| *name));
            return self.warn(entry, &format!("There is no context \"{}\".{near}", entry.context));
        };
        let Some(row) = built_in().iter().position(|b| b.context == context && b.action == entry.action) else {
            let known = built_in().iter().filter(|b| b.context == context).map(|b| b.action.as_str());
            let mut near = did_you_mean(&entry.action, known);
            if near.is_empty()
                && let Some(other) = built_in().iter().find(|b| b.action == entry.action)
            {
                near = format!(" It is one of \"{}\".", other.context.name());
            }
            return self.warn(entry, &format!("There is no action \"{}\" in \"{}\".{near}", entry.action, entry.context));
        };
        if let Some(first) = self.set[row] {
            let (action, line) = (&entry.action, first.place.rsplit(':').next().unwrap_or_default());
            return self.warn(entry, &format!("\"{action}\" has its keys in line {line} already: this entry has no effect."));
        }
        let mut keys = vec![];
        for text in &entry.keys {
            match self.key(context, row, text) {
                Ok(key) if keys.contains(&key) => {}
                Ok(key) => keys.push(key),
                Err(why) => self.warn(entry, &why),
            }
        }
        // Nothing of it was understood: what is built in stays.
        if !keys.is_empty() || entry.keys.is_empty() {
            self.table[row].keys = keys;
            self.set[row] = Some(entry);
        }
    }

    /// The key, or why it can't be this action's.
    fn key(&self, context: Context, row: usize, text: &str) -> Result<Key, String> {
        let action = built_in()[row].action.as_str();
        let key: Key = text.parse().map_err(|why: String| {
            let name = text.rsplit('+').next().unwrap_or_default();
            format!("{}.{}", sentence(&why), did_you_mean(name, names().filter(|known| *known != name)))
        })?;
        if key.second.is_some() {
            return Err(format!("\"{text}\" is two keys in sequence: an action has single keys."));
        }
        if key.first == ctrl_c() && !ends(context, action) {
            return Err("ctrl+c always cancels: it can't do anything else.".into());
        }
        if key.first.typed().is_some() && context.types() && !(context == Context::Prompt && action == "keys") {
            return Err(format!("\"{text}\" is needed for typing in \"{}\".", context.name()));
        }
        let owner = (0..self.table.len())
            .find(|at| *at != row && self.set[*at].is_some() && self.table[*at].context == context && self.table[*at].keys.contains(&key));
        match owner {
            Some(owner) => Err(format!("\"{key}\" is the key of \"{}\" in \"{}\" already.", self.table[owner].action, context.name())),
            None => Ok(key),
        }
    }

    /// A key that the user gave to one action is no other's of its context.
    fn take_from_others(&mut self) {
        for row in 0..self.table.len() {
            let Some(entry) = self.set[row] else { continue };
            for other in 0..self.table.len() {
                if self.set[other].is_some() || self.table[other].context != self.table[row].context || self.table[other].keys.is_empty() {
                    continue;
                }
                let taken = self.table[row].keys.clone();
                self.table[other].keys.retain(|key| !taken.contains(key));
                if self.table[other].keys.is_empty() {
                    let (loser, context) = (self.table[other].action.clone(), entry.context.clone());
                    self.warn(entry, &format!("\"{}\" takes the only key of \"{loser}\" in \"{context}\".", entry.action));
                }
            }
        }
    }

    /// In the prompt its own keys come before those of editing.
    fn look_for_shadows(&mut self) {
        for row in 0..self.table.len() {
            let Some(entry) = self.set[row].filter(|_| self.table[row].context == Context::Edit) else { continue };
            for key in self.table[row].keys.clone() {
                // Those that are both since ever stay so.
                let first = |b: &&Binding| matches!(b.context, Context::Prompt | Context::Running) && b.keys.contains(&key);
                let shadow = self.table.iter().find(first).filter(|_| !built_in()[row].keys.contains(&key));
                if let Some(shadow) = shadow.map(|b| format!("\"{}\" of \"{}\"", b.action, b.context.name())) {
                    self.warn(entry, &format!("In the prompt {key} is {shadow}, not \"{}\".", entry.action));
                }
            }
        }
    }

    fn keep_the_way_out(&mut self) {
        for binding in self.table.iter_mut().filter(|b| ends(b.context, &b.action)) {
            if !binding.keys.iter().any(|key| key.first == ctrl_c()) {
                binding.keys.push(ctrl_c().into());
            }
        }
    }
}

fn ctrl_c() -> Chord {
    Chord { ctrl: true, ..Chord::plain(KeyCode::Char('c')) }
}

fn ends(context: Context, action: &str) -> bool {
    matches!((context, action), (Context::Prompt, "cancel") | (Context::Dialog, "interrupt"))
}

fn did_you_mean<'a>(wrong: &str, right: impl IntoIterator<Item = &'a str>) -> String {
    nearest(wrong, right).map(|near| format!(" Did you mean \"{near}\"?")).unwrap_or_default()
}

fn sentence(text: &str) -> String {
    let text = text.replace('`', "\"");
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}
