//! What the screen asks of the terminal, the desktop and the disk besides frames, and what they tell it.
//!
//! Nothing is written to the terminal while it is not ours; whatever may take time is done by a worker, which reports.

use super::{app::Msg, terminal::Tty};
use crate::{
    mailbox::Mailbox,
    protocol::{Notice, ThemeChoice},
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq)]
pub enum Errand {
    /// Names the window.
    Title(String),
    /// Calls the user back.
    Notify(Call),
    SaveTheme(ThemeChoice),
}

/// A call to the user, and by which means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub text: String,
    pub bell: bool,
    pub terminal: bool,
    pub desktop: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Report {
    /// The terminal's background, 8 bits a channel.
    Background(u8, u8, u8),
    /// Whether the window is looked at.
    Focus(bool),
    Trouble(Notice),
}

/// Without a terminal nothing is written.
#[derive(Default)]
pub struct Outside {
    terminal: Option<Arc<Tty>>,
}

impl Outside {
    pub fn at(terminal: &Arc<Tty>, reporter: &Mailbox<Msg>) -> Outside {
        let reporter = reporter.clone();
        terminal.listen(Box::new(move |report| reporter.send(Msg::Report(report))));
        Outside { terminal: Some(terminal.clone()) }
    }

    pub fn run(&mut self, errand: Errand, reporter: &Mailbox<Msg>) {
        let _ = reporter;
        let Some(terminal) = &self.terminal else { return };
        match errand {
            // A terminal that takes nothing more is noticed by the next frame.
            Errand::Title(title) => drop(terminal.set_title(&title)),
            Errand::Notify(call) => drop(terminal.call(&call)),
            Errand::SaveTheme(_) => {}
        }
    }
}
