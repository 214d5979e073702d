//! Keys as data: `assets/keymap.json` says what each key does and how the help names it. One table for both.

use backstitch_components::key::{Chord, Key};
use serde::Deserialize;
use std::sync::OnceLock;

/// Where a key counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Context {
    Prompt,
    /// Within the prompt's text; listed in the help, carried out by the editor.
    Edit,
    Dialog,
    /// While the popup under the prompt is open.
    Completion,
    /// In the diff viewer; listed here, carried out by it.
    Viewer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    Submit,
    PasteImage,
    Newline,
    Older,
    Newer,
    CycleMode,
    Keys,
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
    LineStart,
    LineEnd,
    WordLeft,
    WordRight,
    KillWordLeft,
    KillToStart,
    KillToEnd,
    Yank,
    Undo,
    Redo,
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
    /// One of a dialog's answers; the dialog knows which.
    Choice,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    pub context: Context,
    pub keys: Vec<Key>,
    pub action: Action,
    pub help: String,
}

/// The table that comes with the program.
pub fn bindings() -> &'static [Binding] {
    static TABLE: OnceLock<Vec<Binding>> = OnceLock::new();
    // Checked by a test, so it parses; an empty table would still leave typing and ctrl+c's signal.
    TABLE.get_or_init(|| serde_json::from_str(include_str!("../../assets/keymap.json")).unwrap_or_default())
}

pub fn action(context: Context, chord: &Chord) -> Option<Action> {
    bindings().iter().find(|b| b.context == context && b.keys.iter().any(|k| k.second.is_none() && k.first == *chord)).map(|b| b.action)
}

/// Keys and what they do, for the help.
pub fn help(context: Context) -> Vec<(String, String)> {
    // The first key stands for all where they would take the room of the rest.
    let keys = |b: &Binding| {
        let all = b.keys.iter().map(Key::to_string).collect::<Vec<_>>();
        let joined = all.join(", ");
        if joined.len() <= 11 { joined } else { all.into_iter().next().unwrap_or_default() }
    };
    bindings().iter().filter(|b| b.context == context).map(|b| (keys(b), b.help.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use backstitch_components::editor::Edit;

    #[test]
    fn the_table_parses_and_no_key_is_bound_twice() {
        let table: Vec<Binding> = serde_json::from_str(include_str!("../../assets/keymap.json")).unwrap();
        let mut seen = vec![];
        for binding in &table {
            for key in &binding.keys {
                assert!(!seen.contains(&(binding.context, *key)), "{key} is bound twice");
                seen.push((binding.context, *key));
            }
        }
        assert_eq!(action(Context::Prompt, &"shift+tab".parse().unwrap()), Some(Action::CycleMode));
    }

    #[test]
    fn the_keys_listed_for_editing_are_those_that_the_editor_knows() {
        for binding in bindings().iter().filter(|b| b.context == Context::Edit) {
            let edit = Edit::from_chord(&binding.keys[0].first).map(|e| format!("{e:?}"));
            let expected = match binding.action {
                Action::LineStart => "Home",
                Action::LineEnd => "End",
                Action::WordLeft => "WordLeft",
                Action::WordRight => "WordRight",
                Action::KillWordLeft => "KillWordLeft",
                Action::KillToStart => "KillToStart",
                Action::KillToEnd => "KillToEnd",
                Action::Yank => "Yank",
                Action::Undo => "Undo",
                Action::Redo => "Redo",
                other => panic!("{other:?} is no edit"),
            };
            assert_eq!(edit.as_deref(), Some(expected), "{}", binding.keys[0]);
        }
    }
}
