//! The sessions of this project, newest first, each with the branches that were cut off from it: one of them goes on.

use super::PanelOutcome;
use crate::{
    finder::fuzzy,
    protocol::{Branch, Resume, SessionId, SessionInfo},
    tui::{
        app::Cmd,
        keymap::{Context, Keymap},
    },
};
use backstitch_components::{
    chat_log::ago,
    dialog::DialogView,
    key::Chord,
    list::{Item, matched},
    picker::{Picker, PickerOutcome},
    text::{
        sanitize::one_line,
        span::{Line, Style},
        wrap::truncate,
    },
    theme::Role,
};

#[derive(Debug)]
pub struct Sessions {
    rows: Vec<Row>,
    /// The one that is open.
    own: Option<SessionId>,
    picker: Picker,
    positions: Vec<Vec<usize>>,
    /// Why there is nothing to choose from.
    lacks: Option<String>,
}

#[derive(Debug)]
struct Row {
    resume: Resume,
    text: String,
    detail: String,
    branch: bool,
}

impl Sessions {
    pub fn new(own: Option<SessionId>) -> Sessions {
        Sessions { rows: vec![], own, picker: Picker::default(), positions: vec![], lacks: Some("looking for sessions …".into()) }
    }

    pub fn listed(&mut self, found: Result<Vec<SessionInfo>, String>, now: u64) {
        match found {
            Err(why) => self.lacks = Some(format!("The sessions can't be read: {why}")),
            Ok(all) => {
                self.rows = all.iter().flat_map(|info| self.rows_of(info, now)).collect();
                self.lacks = self.rows.is_empty().then(|| "There is no other session in this project yet.".into());
            }
        }
        self.narrow();
    }

    /// A session that is open can't be opened again, but what was cut off from it can.
    fn rows_of(&self, info: &SessionInfo, now: u64) -> Vec<Row> {
        let ago = |at: u64| ago(now.saturating_sub(at) / 1000);
        let fork = |branch: &Branch| {
            let requests = if branch.turns == 1 { "1 request".into() } else { format!("{} requests", branch.turns) };
            Row {
                resume: Resume::Fork { of: info.id.clone(), position: branch.position },
                text: one_line(&branch.title).into_owned(),
                detail: format!("cut off {} · {requests}", ago(branch.at)),
                branch: true,
            }
        };
        let session = Row {
            resume: Resume::Named(info.id.0.clone()),
            text: one_line(&info.title).into_owned(),
            detail: ago(info.changed),
            branch: false,
        };
        let is_own = self.own.as_ref() == Some(&info.id);
        let own = Some(session).filter(|row| !is_own && !row.text.is_empty());
        own.into_iter().chain(info.branches.iter().rev().map(fork)).collect()
    }

    fn narrow(&mut self) {
        let matches = fuzzy::contain(self.picker.query(), self.rows.iter().map(|row| row.text.as_str()));
        self.positions = vec![vec![]; self.rows.len()];
        self.picker.set_matches(matches.iter().map(|found| found.at).collect());
        matches.into_iter().for_each(|found| self.positions[found.at] = found.positions);
    }

    pub fn press(&mut self, chord: &Chord) -> PanelOutcome {
        match self.picker.press(chord) {
            PickerOutcome::Query => self.narrow(),
            PickerOutcome::Chosen(at) => {
                return self.rows.get(at).map_or(PanelOutcome::Stays, |row| PanelOutcome::Does(Cmd::Resume(row.resume.clone())));
            }
            PickerOutcome::Closed => return PanelOutcome::Closed,
            PickerOutcome::Moved | PickerOutcome::Ignored => {}
        }
        PanelOutcome::Stays
    }

    pub fn paste(&mut self, text: &str) {
        self.picker.paste(text);
        self.narrow();
    }

    pub fn view(&self, keys: &Keymap, width: usize, max_rows: usize) -> DialogView {
        let item = |at: usize| match self.rows.get(at) {
            Some(row) => {
                let text = matched(&row.text, self.positions.get(at).map_or(&[], Vec::as_slice), Style::new());
                let mut label = if row.branch { Line::styled("↳ ", Role::Dim) } else { Line::new() };
                label.extend(text.spans);
                Item::new(label).detail(Line::styled(row.detail.clone(), Role::Dim))
            }
            None => Item::default(),
        };
        let mut rows = vec![Line::styled("  Go on with", Style::from(Role::Heading).bold())];
        let view = self.picker.clone().view(item, self.rows.len(), width, max_rows.saturating_sub(2).clamp(2, 13));
        match &self.lacks {
            Some(why) => rows.extend([view.rows[0].clone(), Line::styled(format!("  {why}"), Role::Dim)]),
            None => rows.extend(view.rows),
        }
        let hint = keys.phrase(Context::History, &[("take", "opens it"), ("close", "closes")]);
        rows.push(Line::styled(format!("  {hint} · ↳ was cut off by going back"), Role::Dim));
        rows.iter_mut().for_each(|row| *row = truncate(row, width));
        DialogView { rows, cursor: Some((view.cursor.0, view.cursor.1 + 1)) }
    }
}
