//! What lies over the prompt and takes its keys: a question or a list, one at a time.

mod checkpoints;
mod diff;
mod history;
mod keys;
mod leave;
mod permissions;
mod search;
mod sessions;
mod setup;
mod step;
mod theme;
mod trust;

use super::{
    app::{Cmd, Model},
    keymap::{Context, Keymap},
    looks::Looks,
};
use backstitch_components::{dialog::DialogView, diff_viewer::DiffViewer, key::Chord};

pub use checkpoints::Checkpoints;
pub use diff::Diff;
pub use history::HistorySearch;
pub use leave::Leave;
pub use permissions::{Permissions, RuleChange};
pub use search::Search;
pub use sessions::Sessions;
pub use setup::Setup;
pub use step::Step;
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
    Step(Box<Step>),
    Leave(Box<Leave>),
    Permissions(Box<Permissions>),
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

    /// All keys.
    pub fn keys(keys: &Keymap) -> Panel {
        Panel::Keys(keys::Keys::of(&Context::ALL.map(|(context, ..)| context), keys))
    }

    /// The keys of a question.
    pub fn keys_of_question(keys: &Keymap) -> Panel {
        Panel::Keys(keys::Keys::of(&[Context::Dialog, Context::List], keys))
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

    pub fn open_permissions(model: &mut Model) -> Vec<Cmd> {
        let (panel, cmds) = Permissions::new(model.status.mode, model.status.withheld.clone());
        model.panel = Some(Panel::Permissions(Box::new(panel)));
        cmds
    }

    /// Does it need the whole screen?
    pub fn is_long(&self) -> bool {
        matches!(self, Panel::Diff(_) | Panel::Checkpoints(_))
    }

    /// Tells a long view its size, after anything has changed.
    pub fn fit(&mut self, width: usize, height: usize, keys: &Keymap) {
        let names = keys.names(self.contexts());
        match self {
            Panel::Diff(diff) => diff.fit(width, height, names),
            Panel::Checkpoints(checkpoints) => checkpoints.fit(width, height, names),
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

    /// Whose keys it takes now, those that come first before the others.
    pub fn contexts(&self) -> &'static [Context] {
        match self {
            Panel::Trust(_) | Panel::Step(_) | Panel::Leave(_) => &[Context::Dialog, Context::List],
            Panel::Setup(setup) => setup.contexts(),
            Panel::Theme(_) | Panel::Keys(_) => &[Context::List],
            Panel::History(_) | Panel::Sessions(_) => &[Context::History, Context::Edit],
            Panel::Search(_) => &[Context::Search, Context::Edit],
            Panel::Diff(diff) => diff.contexts(),
            Panel::Checkpoints(checkpoints) => checkpoints.contexts(),
            Panel::Permissions(permissions) => permissions.contexts(),
        }
    }

    /// The chord is one of the built-in keys; `keys` are the user's, to be shown.
    pub fn press(&mut self, chord: &Chord, keys: &Keymap) -> PanelOutcome {
        match self {
            Panel::Trust(trust) => trust.press(chord),
            Panel::Step(step) => step.press(chord),
            Panel::Leave(leave) => leave.press(chord),
            Panel::Setup(setup) => setup.press(chord),
            Panel::Theme(picker) => picker.press(chord),
            Panel::History(search) => search.press(chord),
            Panel::Keys(shown) => shown.press(chord),
            Panel::Diff(diff) => diff.press(chord, keys),
            Panel::Search(search) => search.press(chord),
            Panel::Sessions(sessions) => sessions.press(chord),
            Panel::Checkpoints(checkpoints) => checkpoints.press(chord, keys),
            Panel::Permissions(permissions) => permissions.press(chord, keys),
        }
    }

    /// What it means that it was closed without an answer.
    pub fn unanswered(&self) -> Option<Cmd> {
        match self {
            // Without trust there is nothing to do here.
            Panel::Trust(_) => Some(Cmd::Exit),
            Panel::Step(_) => Some(Step::no()),
            _ => None,
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
            Panel::Permissions(permissions) => permissions.paste(text),
            _ => {}
        }
    }

    pub fn view(&self, model: &Model, width: usize, max_rows: usize) -> DialogView {
        let keys = &model.setting.keys;
        match self {
            Panel::Trust(trust) => trust.view(&model.setting.place, keys, width, max_rows),
            Panel::Step(step) => step.view(keys, width, max_rows),
            Panel::Leave(leave) => leave.view(&model.status.background, keys, width, max_rows),
            Panel::Setup(setup) => setup.view(keys, width, max_rows),
            Panel::Theme(picker) => picker.view(keys, width, max_rows),
            Panel::History(search) => search.view(keys, width, max_rows),
            Panel::Keys(shown) => shown.view(keys, width, max_rows),
            Panel::Diff(diff) => diff.view(keys, width, max_rows),
            Panel::Search(search) => search.view(keys, width),
            Panel::Sessions(sessions) => sessions.view(keys, width, max_rows),
            Panel::Checkpoints(checkpoints) => checkpoints.view(keys, width, max_rows),
            Panel::Permissions(permissions) => permissions.view(keys, width, max_rows),
        }
    }
}
