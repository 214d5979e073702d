//! Keys as data: `assets/keymap.json` says what each key does and how the help names it, and the user's own keys are laid over it.
//!
//! - What the shell carries out is looked up ([`Keymap::action`]). Components know the built-in keys alone: what is pressed is
//!   translated into them first ([`Keymap::translate`]), and hints call them by the user's ([`Keymap::names`]).
//! - Whatever a keymap says, typing works and ctrl+c ends.

mod merge;
#[cfg(test)]
mod tests;

use crate::protocol::OwnKeys;
use backstitch_components::{
    key::{Chord, Key},
    key_hints::KeyNames,
    text::span::Line,
    theme::Role,
};
use serde::{
    Deserialize,
    de::{IntoDeserializer, value::Error},
};
use std::sync::OnceLock;

/// Where a key counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Context {
    Prompt,
    /// In the prompt, while a turn runs.
    Running,
    /// Wherever text is typed.
    Edit,
    /// While the popup under the prompt is open.
    Completion,
    /// In a question about a call; yes and no of every other question.
    Dialog,
    /// In whatever there is to choose from.
    List,
    /// Where one text is typed for a question or a search.
    Field,
    /// In the search of what was typed before, or of sessions.
    History,
    /// In the search of the conversation.
    Search,
    Setup,
    Viewer,
    /// In the timeline of checkpoints.
    Checkpoints,
    /// In the list of rules.
    Permissions,
    /// In what going back would change.
    Changes,
    /// In the question what goes back.
    GoingBack,
}

impl Context {
    /// With what it is called, and its heading in the help.
    pub const ALL: [(Context, &str, &str); 15] = [
        (Context::Prompt, "prompt", "Keys"),
        (Context::Running, "running", "While a turn runs"),
        (Context::Edit, "edit", "In the text"),
        (Context::Completion, "completion", "While a list of completions is open"),
        (Context::Dialog, "dialog", "In a question"),
        (Context::List, "list", "In a list"),
        (Context::Field, "field", "Where a text is asked for"),
        (Context::History, "history", "In the history"),
        (Context::Search, "search", "While searching the conversation"),
        (Context::Setup, "setup", "In the set-up"),
        (Context::Viewer, "viewer", "In the diff viewer"),
        (Context::Checkpoints, "checkpoints", "In the checkpoints"),
        (Context::Permissions, "permissions", "In the permissions"),
        (Context::Changes, "changes", "In what going back would change"),
        (Context::GoingBack, "going-back", "When asked what goes back"),
    ];

    pub fn named(name: &str) -> Option<Context> {
        Self::ALL.iter().find(|(_, known, _)| *known == name).map(|(context, ..)| *context)
    }

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(context, ..)| *context == self).map_or("", |(_, name, _)| name)
    }

    /// What is typed here is text.
    fn types(self) -> bool {
        matches!(
            self,
            Context::Prompt | Context::Running | Context::Edit | Context::Completion | Context::Field | Context::History | Context::Search
        )
    }
}

/// What the shell carries out itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    Submit,
    PasteImage,
    Older,
    Newer,
    CycleMode,
    Keys,
    /// Pressed twice.
    Rewind,
    Interrupt,
    Steer,
    Thoughts,
    Redraw,
    Suspend,
    Unfold,
    Find,
    PageUp,
    PageDown,
    Top,
    Bottom,
    Cancel,
    Exit,
    /// Opens the popup.
    Complete,
    /// In what was typed before.
    Search,
    /// The user's own.
    Editor,
    Previous,
    Next,
    Take,
    Accept,
    Dismiss,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    pub context: Context,
    pub keys: Vec<Key>,
    /// Unique in its context.
    pub action: String,
    pub help: String,
}

/// The table that comes with the program.
pub fn built_in() -> &'static [Binding] {
    static TABLE: OnceLock<Vec<Binding>> = OnceLock::new();
    // Checked by a test, so it parses; an empty table would still leave typing and ctrl+c's signal.
    TABLE.get_or_init(|| serde_json::from_str(include_str!("../../assets/keymap.json")).unwrap_or_default())
}

/// The built-in table with the user's keys over it.
#[derive(Debug, Clone, Default)]
pub struct Keymap {
    /// As many rows as the built-in one, in its order; `None`: nothing is different.
    table: Option<Vec<Binding>>,
    warnings: Vec<String>,
    own: OwnKeys,
}

impl Keymap {
    pub fn new(own: OwnKeys) -> Keymap {
        let (table, warnings) = merge::merge(&own);
        Keymap { table, warnings, own }
    }

    /// What in the user's keys has no effect, and why: one sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// What it was made from.
    pub fn own(&self) -> &OwnKeys {
        &self.own
    }

    pub fn table(&self) -> &[Binding] {
        self.table.as_deref().unwrap_or_else(|| built_in())
    }

    pub fn action(&self, context: Context, chord: &Chord) -> Option<Action> {
        let name = &self.table().iter().find(|b| b.context == context && b.keys.contains(&Key::from(*chord)))?.action;
        let name: serde::de::value::StrDeserializer<'_, Error> = name.as_str().into_deserializer();
        Action::deserialize(name).ok()
    }

    /// The built-in key that does what this one does, in the first of the contexts that knows it; `None` if it does nothing any more.
    pub fn translate(&self, contexts: &[Context], chord: &Chord) -> Option<Chord> {
        let Some(table) = &self.table else { return Some(*chord) };
        if chord.typed().is_some() && contexts.iter().any(|context| context.types()) {
            return Some(*chord);
        }
        let key = Key::from(*chord);
        for context in contexts {
            let row = |table: &[Binding]| table.iter().position(|b| b.context == *context && b.keys.contains(&key));
            if let Some(usual) = row(table).and_then(|at| built_in().get(at)) {
                return if usual.keys.contains(&key) { Some(*chord) } else { usual.keys.first().map(|key| key.first) };
            }
            if row(built_in()).is_some() {
                return None;
            }
        }
        Some(*chord)
    }

    /// The key that does this first of all.
    pub fn key(&self, context: Context, action: &str) -> Option<String> {
        let binding = self.table().iter().find(|b| b.context == context && b.action == action)?;
        binding.keys.first().map(Key::to_string)
    }

    /// `enter takes it · esc closes`, of what has a key.
    pub fn phrase(&self, context: Context, parts: &[(&str, &str)]) -> String {
        let part = |(action, does): &(&str, &str)| self.key(context, action).map(|key| format!("{key} {does}"));
        parts.iter().filter_map(part).collect::<Vec<_>>().join(" · ")
    }

    /// [`Keymap::phrase`] as a row of so many cells: what has no room is left out, the last first.
    pub fn hint(&self, context: Context, parts: &[(&str, &str)], width: usize) -> Line {
        let fitting = (0..=parts.len()).rev().map(|kept| Line::styled(format!("  {}", self.phrase(context, &parts[..kept])), Role::Dim));
        fitting.into_iter().find(|row| row.width() <= width).unwrap_or_default()
    }

    /// How the built-in keys of these contexts are called.
    pub fn names(&self, contexts: &[Context]) -> KeyNames {
        let Some(table) = &self.table else { return KeyNames::default() };
        let mut names: Vec<(String, Option<String>)> = vec![];
        for context in contexts {
            for (usual, mine) in built_in().iter().zip(table).filter(|(usual, _)| usual.context == *context) {
                for key in &usual.keys {
                    let now = if mine.keys.contains(key) { Some(key) } else { mine.keys.first() };
                    if names.iter().all(|(name, _)| *name != key.to_string()) {
                        names.push((key.to_string(), now.map(Key::to_string)));
                    }
                }
            }
        }
        KeyNames::new(names)
    }

    /// Keys and what they do, for the help.
    pub fn help(&self, context: Context) -> Vec<(String, String)> {
        // The first key stands for all where they would take the room of the rest.
        let keys = |b: &Binding| {
            let all = b.keys.iter().map(Key::to_string).collect::<Vec<_>>();
            let joined = all.join(", ");
            if joined.len() <= 11 { joined } else { all.into_iter().next().unwrap_or_default() }
        };
        self.table().iter().filter(|b| b.context == context && !b.keys.is_empty()).map(|b| (keys(b), b.help.clone())).collect()
    }
}
