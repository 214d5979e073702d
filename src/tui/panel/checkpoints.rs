//! The checkpoint browser over the whole screen: where to go back to, and what would change.

use super::PanelOutcome;
use crate::{
    protocol::{CheckpointId, Command, FileChange, RewindScope},
    tui::{app::Cmd, blocks::Shown, checkpoints::Mark},
};
use backstitch_components::{
    chat_log::duration,
    checkpoint_browser::{Against, Browser, BrowserOutcome, Entry, PlanView, Scope},
    dialog::DialogView,
    diff_view::Change,
    diff_viewer::DiffViewer,
    key::Chord,
};
use std::time::Duration;

#[derive(Debug)]
pub struct Checkpoints {
    browser: Browser,
    ids: Vec<CheckpointId>,
}

impl Checkpoints {
    /// The panel, and the checkpoint whose changes are to be looked up first.
    pub fn new(marks: &[Mark], now: Duration) -> (Self, Option<CheckpointId>) {
        let entry = |mark: &Mark| {
            let ago = now.saturating_sub(mark.at).as_secs();
            let when =
                if ago < 5 { "just now".to_string() } else { format!("{} ago", duration(if ago < 60 { ago } else { ago / 60 * 60 })) };
            Entry { title: mark.label.clone(), when, files: mark.files, conversation: true, ..Entry::default() }
        };
        let browser = Browser::new(marks.iter().map(entry).collect());
        let ids: Vec<CheckpointId> = marks.iter().map(|mark| mark.id.clone()).collect();
        let first = browser.selected().map(|at| ids[at].clone());
        (Checkpoints { browser, ids }, first)
    }

    pub fn fit(&mut self, width: usize, height: usize) {
        self.browser.fit(width, height);
    }

    pub fn scroll(&mut self, rows: isize) {
        self.browser.scroll(rows);
    }

    /// What has been looked up; too late, if another checkpoint is looked at by now.
    pub fn compared(&mut self, id: &CheckpointId, changes: Vec<FileChange>) {
        if self.browser.selected().is_some_and(|at| self.ids[at] == *id) {
            // From then to now is what happened; going back is the other way round.
            let back = changes.into_iter().map(|c| FileChange { old: c.new, new: c.old, ..c }).collect();
            let files = Shown::new(crate::protocol::Block::Diff(back)).diffs().to_vec();
            let count = |change| files.iter().filter(|file| file.change() == change).count();
            let (deleted, recreated) = (count(Change::Deleted), count(Change::Created));
            let changed = files.len() - deleted - recreated;
            self.browser.set_plan(PlanView { changed, deleted, recreated, skipped: vec![], files, against: Against::Now });
            if let Some(diff) = self.browser.diff() {
                diff.colour_elsewhere();
            }
        }
    }

    pub fn viewer(&mut self) -> Option<&mut DiffViewer> {
        self.browser.diff()
    }

    pub fn press(&mut self, chord: &Chord) -> PanelOutcome {
        match self.browser.press(chord) {
            BrowserOutcome::Moved | BrowserOutcome::Ignored => PanelOutcome::Stays,
            BrowserOutcome::Renamed(..) | BrowserOutcome::Deleted(_) | BrowserOutcome::Pinned(..) => PanelOutcome::Stays,
            BrowserOutcome::Closed => PanelOutcome::Closed,
            BrowserOutcome::Copied(text) => PanelOutcome::StaysAnd(Cmd::Copy(text)),
            BrowserOutcome::Selected(at) => PanelOutcome::StaysAnd(Cmd::Send(Command::Compare(self.ids[at].clone()))),
            // A rewind knows no single files yet, and all of them is not what was asked for.
            BrowserOutcome::Chosen { files: Some(_), .. } => PanelOutcome::Stays,
            BrowserOutcome::Chosen { entry: at, scope, files: None } => {
                let scope = match scope {
                    Scope::Both => RewindScope::Both,
                    Scope::Files => RewindScope::Files,
                    Scope::Conversation => RewindScope::Conversation,
                };
                PanelOutcome::Does(Cmd::Send(Command::Rewind { to: self.ids[at].clone(), scope }))
            }
        }
    }

    pub fn view(&self, width: usize, max_rows: usize) -> DialogView {
        DialogView { rows: self.browser.view(width, max_rows), cursor: self.browser.cursor(width, max_rows) }
    }
}
