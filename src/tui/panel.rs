//! What lies over the prompt and takes its keys: a question or a list, one at a time.

mod checkpoints;
mod diff;
mod history;
mod keys;
mod search;
mod sessions;
mod setup;
mod theme;
mod trust;

use super::{
    app::{Cmd, Model},
    looks::Looks,
};
use backstitch_components::{dialog::DialogView, diff_viewer::DiffViewer, key::Chord};

pub use checkpoints::Checkpoints;
pub use diff::Diff;
pub use history::HistorySearch;
pub use search::Search;
pub use sessions::Sessions;
pub use setup::Setup;
pub use theme::ThemePicker;
pub use trust::Trust;

#[derive(Debug)]
pub enum Panel {
    Trust(Box<Trust>),
    Setup(Box<Setup>),
    Theme(Box<ThemePicker>),
    History(Box<HistorySearch>),
    /// The keys and what they do.
    Keys(keys::Keys),
    Diff(Box<Diff>),
    Search(Box<Search>),
    Sessions(Box<Sessions>),
    Checkpoints(Box<Checkpoints>),
}

pub enum PanelOutcome {
    Stays,
    /// Stays open, and this is to be done.
    StaysAnd(Cmd),
    Closed,
    /// Closes, and this is to be done.
    Does(Cmd),
    /// Closes, and the prompt has this text now.
    Types(String),
}

impl Panel {
    pub fn trust() -> Panel {
        Panel::Trust(Box::default())
    }

    /// The keys of a question.
    pub fn keys_of_question() -> Panel {
        Panel::Keys(keys::Keys::of(super::keymap::Context::Dialog))
    }

    pub fn setup() -> Panel {
        Panel::Setup(Box::default())
    }

    pub fn history(entries: &[String], query: &str) -> Panel {
        Panel::History(Box::new(HistorySearch::new(entries, query)))
    }

    pub fn theme(looks: &Looks) -> Panel {
        Panel::Theme(Box::new(ThemePicker::new(looks)))
    }

    /// The sessions of this project, of which one can go on.
    pub fn open_sessions(model: &mut Model) -> Vec<Cmd> {
        model.panel = Some(Panel::Sessions(Box::new(Sessions::new(model.status.session.clone()))));
        // It was asked for, be it on the command line.
        model.hasty = None;
        vec![Cmd::ListSessions]
    }

    /// Does it need the whole screen?
    pub fn is_long(&self) -> bool {
        matches!(self, Panel::Diff(_) | Panel::Checkpoints(_))
    }

    /// Tells a long view its size, after anything has changed.
    pub fn fit(&mut self, width: usize, height: usize) {
        match self {
            Panel::Diff(diff) => diff.fit(width, height),
            Panel::Checkpoints(checkpoints) => checkpoints.fit(width, height),
            _ => {}
        }
    }

    /// The diff that it shows, if it does.
    pub fn viewer(&mut self) -> Option<&mut DiffViewer> {
        match self {
            Panel::Diff(diff) => Some(diff.viewer()),
            Panel::Checkpoints(checkpoints) => checkpoints.viewer(),
            _ => None,
        }
    }

    pub fn scroll(&mut self, rows: isize) {
        match self {
            Panel::Diff(diff) => diff.scroll(rows),
            Panel::Checkpoints(checkpoints) => checkpoints.scroll(rows),
            _ => {}
        }
    }

    pub fn press(&mut self, chord: &Chord) -> PanelOutcome {
        match self {
            Panel::Trust(trust) => trust.press(chord),
            Panel::Setup(setup) => setup.press(chord),
            Panel::Theme(picker) => picker.press(chord),
            Panel::History(search) => search.press(chord),
            Panel::Keys(keys) => keys.press(chord),
            Panel::Diff(diff) => diff.press(chord),
            Panel::Search(search) => search.press(chord),
            Panel::Sessions(sessions) => sessions.press(chord),
            Panel::Checkpoints(checkpoints) => checkpoints.press(chord),
        }
    }

    /// What is typed now is nobody's business.
    pub fn takes_secret(&self) -> bool {
        matches!(self, Panel::Setup(setup) if setup.takes_secret())
    }

    pub fn paste(&mut self, text: &str) {
        match self {
            Panel::Setup(setup) => setup.paste(text),
            Panel::History(search) => search.paste(text),
            Panel::Search(search) => search.paste(text),
            Panel::Sessions(sessions) => sessions.paste(text),
            Panel::Checkpoints(checkpoints) => checkpoints.paste(text),
            _ => {}
        }
    }

    pub fn view(&self, model: &Model, width: usize, max_rows: usize) -> DialogView {
        match self {
            Panel::Trust(trust) => trust.view(&model.setting.place, width, max_rows),
            Panel::Setup(setup) => setup.view(width, max_rows),
            Panel::Theme(picker) => picker.view(width, max_rows),
            Panel::History(search) => search.view(width, max_rows),
            Panel::Keys(keys) => keys.view(width, max_rows),
            Panel::Diff(diff) => diff.view(width, max_rows),
            Panel::Search(search) => search.view(width),
            Panel::Sessions(sessions) => sessions.view(width, max_rows),
            Panel::Checkpoints(checkpoints) => checkpoints.view(width, max_rows),
        }
    }
}
