//! What can be done to the prompt, and the keys that do it unless a keymap says otherwise.
//!
//! Invariant: a key that the editor has no use for gives `None`, so that the caller may use it.

use crate::key::Chord;
use iocraft::KeyCode;

/// One step of editing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Typed text.
    Insert(String),
    Newline,
    /// Pasted text; a large one is folded.
    Paste(String),
    Backspace,
    Delete,
    KillWordLeft,
    KillWordRight,
    KillToEnd,
    KillToStart,
    /// Inserts what was killed last.
    Yank,
    Left,
    Right,
    WordLeft,
    WordRight,
    /// Start of the line.
    Home,
    /// End of the line.
    End,
    TextStart,
    TextEnd,
    /// A visual row up; false on the first.
    Up,
    /// A visual row down; false on the last.
    Down,
    Undo,
    Redo,
    Clear,
    /// Shows the folded paste at the cursor in full.
    Unfold,
}

impl Edit {
    /// The usual meaning of a key within the prompt. Enter is not among them: the caller decides what it does.
    pub fn from_chord(chord: &Chord) -> Option<Edit> {
        if let Some(c) = chord.typed() {
            return Some(Edit::Insert(c.to_string()));
        }
        Some(match (chord.code, chord.ctrl, chord.alt) {
            (KeyCode::Enter, false, true) | (KeyCode::Char('j'), true, false) => Edit::Newline,
            (KeyCode::Enter, false, false) if chord.shift => Edit::Newline,
            (KeyCode::Backspace, false, false) | (KeyCode::Char('h'), true, false) => Edit::Backspace,
            (KeyCode::Delete, false, false) | (KeyCode::Char('d'), true, false) => Edit::Delete,
            (KeyCode::Backspace, _, _) | (KeyCode::Char('w'), true, false) => Edit::KillWordLeft,
            (KeyCode::Delete, _, _) | (KeyCode::Char('d'), false, true) => Edit::KillWordRight,
            (KeyCode::Char('k'), true, false) => Edit::KillToEnd,
            (KeyCode::Char('u'), true, false) => Edit::KillToStart,
            (KeyCode::Char('y'), true, false) => Edit::Yank,
            (KeyCode::Left, false, false) | (KeyCode::Char('b'), true, false) => Edit::Left,
            (KeyCode::Right, false, false) | (KeyCode::Char('f'), true, false) => Edit::Right,
            (KeyCode::Left, _, _) | (KeyCode::Char('b'), false, true) => Edit::WordLeft,
            (KeyCode::Right, _, _) | (KeyCode::Char('f'), false, true) => Edit::WordRight,
            (KeyCode::Home, true, false) | (KeyCode::Char('<'), false, true) => Edit::TextStart,
            (KeyCode::End, true, false) | (KeyCode::Char('>'), false, true) => Edit::TextEnd,
            (KeyCode::Home, false, false) | (KeyCode::Char('a'), true, false) => Edit::Home,
            (KeyCode::End, false, false) | (KeyCode::Char('e'), true, false) => Edit::End,
            (KeyCode::Up, false, false) => Edit::Up,
            (KeyCode::Down, false, false) => Edit::Down,
            (KeyCode::Char('z' | '_' | '/' | '7'), true, false) if chord.shift => Edit::Redo,
            (KeyCode::Char('_' | '/' | '7'), true, false) => Edit::Undo,
            (KeyCode::Char('_' | '/' | 'r'), true, true) => Edit::Redo,
            _ => return None,
        })
    }
}
