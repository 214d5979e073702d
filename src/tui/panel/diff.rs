//! The diff viewer over the whole screen: for a look, or to allow only some hunks of a change.

use super::{PanelOutcome, keys::Keys};
use crate::{
    protocol::{CallId, Command, Decision},
    tui::{
        app::Cmd,
        keymap::{Context, Keymap},
    },
};
use backstitch_components::{
    dialog::DialogView,
    diff_view::DiffModel,
    diff_viewer::{DiffViewer, ViewerOutcome},
    key::Chord,
    key_hints::KeyNames,
};
use std::sync::Arc;

#[derive(Debug)]
pub struct Diff {
    viewer: DiffViewer,
    files: Vec<Arc<DiffModel>>,
    /// The call that waits for an answer; `None` for a look only.
    call: Option<CallId>,
    /// What the keys do lies over it.
    keys: Option<Keys>,
}

impl Diff {
    pub fn new(files: Vec<Arc<DiffModel>>, call: Option<CallId>) -> Self {
        // Hunks can be chosen where one file is changed: that is what every editing tool does.
        let choose = call.is_some() && files.len() == 1;
        let mut viewer = DiffViewer::new(files.clone(), choose);
        viewer.colour_elsewhere();
        Diff { viewer, files, call: call.filter(|_| choose), keys: None }
    }

    pub fn viewer(&mut self) -> &mut DiffViewer {
        &mut self.viewer
    }

    pub fn contexts(&self) -> &'static [Context] {
        match self.keys {
            Some(_) => &[Context::List],
            None if self.viewer.is_typing() => &[Context::Field, Context::Edit],
            None => &[Context::Viewer],
        }
    }

    pub fn fit(&mut self, width: usize, height: usize, names: KeyNames) {
        self.viewer.call_keys(names);
        self.viewer.fit(width, height);
    }

    pub fn scroll(&mut self, rows: isize) {
        self.viewer.scroll(rows);
    }

    pub fn press(&mut self, chord: &Chord, keys: &Keymap) -> PanelOutcome {
        if self.keys.take_if(|keys| matches!(keys.press(chord), PanelOutcome::Closed)).is_some() || self.keys.is_some() {
            return PanelOutcome::Stays;
        }
        match self.viewer.press(chord) {
            ViewerOutcome::Ignored if chord.typed() == Some('?') => {
                self.keys = Some(Keys::of(&[Context::Viewer], keys));
                PanelOutcome::Stays
            }
            ViewerOutcome::Moved | ViewerOutcome::Ignored => PanelOutcome::Stays,
            ViewerOutcome::Copied(text) => PanelOutcome::StaysAnd(Cmd::Copy(text)),
            ViewerOutcome::Closed => PanelOutcome::Closed,
            ViewerOutcome::Accepted => match self.decision() {
                Some((call, decision)) => PanelOutcome::Does(Cmd::Send(Command::Decide { call, decision })),
                None => PanelOutcome::Stays,
            },
        }
    }

    /// All hunks: a yes. None: a no. Some: what the file becomes with these, and a word on the others.
    fn decision(&self) -> Option<(CallId, Decision)> {
        let (call, model) = (self.call?, self.files.first()?);
        let chosen = self.viewer.chosen(0);
        let refused: Vec<String> =
            (0..chosen.len()).filter(|at| !chosen[*at]).map(|at| format!("the one at line {}", model.hunk_start(at))).collect();
        let decision = match refused.len() {
            0 => Decision::Allow,
            n if n == chosen.len() => Decision::Deny { reason: None },
            n => Decision::AllowPart {
                content: model.apply(|at| chosen.get(at).copied().unwrap_or(true)),
                note: format!(
                    "The user accepted only a part of this change: {} of {} hunks. Refused: {}. The file has the accepted part alone; do not \
                     make the refused changes again unless asked to.",
                    chosen.len() - n,
                    chosen.len(),
                    refused.join(", ")
                ),
            },
        };
        Some((call, decision))
    }

    pub fn view(&self, keys: &Keymap, width: usize, max_rows: usize) -> DialogView {
        if let Some(shown) = &self.keys {
            return shown.view(keys, width, max_rows);
        }
        let (rows, cursor) = self.viewer.view(width, max_rows);
        DialogView { rows, cursor }
    }
}
