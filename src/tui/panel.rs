//! What lies over the prompt and takes its keys: a question or a list, one at a time.

mod keys;
mod setup;
mod trust;

use super::app::{Cmd, Model};
use backstitch_components::{dialog::DialogView, key::Chord};

pub use setup::Setup;
pub use trust::Trust;

#[derive(Debug)]
pub enum Panel {
    Trust(Box<Trust>),
    Setup(Box<Setup>),
    /// The keys and what they do.
    Keys,
}

pub enum PanelOutcome {
    Stays,
    Closed,
    /// Closes, and this is to be done.
    Does(Cmd),
}

impl Panel {
    pub fn trust() -> Panel {
        Panel::Trust(Box::default())
    }

    pub fn setup() -> Panel {
        Panel::Setup(Box::default())
    }

    /// Does it need the whole screen?
    pub fn is_long(&self) -> bool {
        false
    }

    pub fn press(&mut self, chord: &Chord) -> PanelOutcome {
        match self {
            Panel::Trust(trust) => trust.press(chord),
            Panel::Setup(setup) => setup.press(chord),
            Panel::Keys => PanelOutcome::Closed,
        }
    }

    /// What is typed now is nobody's business.
    pub fn takes_secret(&self) -> bool {
        matches!(self, Panel::Setup(setup) if setup.takes_secret())
    }

    pub fn paste(&mut self, text: &str) {
        if let Panel::Setup(setup) = self {
            setup.paste(text);
        }
    }

    pub fn view(&self, model: &Model, width: usize, max_rows: usize) -> DialogView {
        match self {
            Panel::Trust(trust) => trust.view(&model.setting.place, width, max_rows),
            Panel::Setup(setup) => setup.view(width, max_rows),
            Panel::Keys => keys::view(width, max_rows),
        }
    }
}
