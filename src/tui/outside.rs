//! What the screen asks of the terminal, the desktop and the disk besides frames, and what they tell it.
//!
//! Nothing is written to the terminal while it is not ours; whatever may take time is done by a worker, which reports.

use super::{app::Msg, terminal::Tty};
use crate::{
    desktop,
    mailbox::Mailbox,
    picture,
    protocol::{Image, Notice, ThemeChoice},
};
use serde::{Deserialize, Serialize};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

#[derive(Debug, Clone, PartialEq)]
pub enum Errand {
    /// Names the window.
    Title(String),
    /// Calls the user back.
    Notify(Call),
    SaveTheme(ThemeChoice),
    /// From the clipboard.
    PastePicture,
    /// Files; `typed` is what they were named by, where that may be mere text.
    ReadPictures {
        paths: Vec<PathBuf>,
        typed: Option<String>,
    },
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
pub enum News {
    /// The terminal was asked for its background.
    Asked,
    /// Its last answer has come.
    Answered,
    /// The terminal's background, 8 bits a channel.
    Background(u8, u8, u8),
    /// Whether the window is looked at.
    Focus(bool),
    Pictures(Vec<Image>),
    NoPictures(Notice),
    /// What might have named pictures does not.
    Typed(String),
}

pub struct Outside {
    terminal: Arc<Tty>,
}

impl Outside {
    pub fn at(terminal: &Arc<Tty>, reporter: &Mailbox<Msg>) -> Outside {
        let reporter = reporter.clone();
        terminal.listen(Box::new(move |report| reporter.send(Msg::News(report))));
        Outside { terminal: terminal.clone() }
    }

    pub fn run(&mut self, errand: Errand, reporter: &Mailbox<Msg>) {
        match errand {
            // A terminal that takes nothing more is noticed by the next frame.
            Errand::Title(title) => drop(self.terminal.set_title(&title)),
            Errand::Notify(call) => {
                drop(self.terminal.call(&call));
                if call.desktop {
                    desktop::aside(move || desktop::notifier::notify(&call.text));
                }
            }
            Errand::SaveTheme(_) => {}
            Errand::PastePicture => {
                let reporter = reporter.clone();
                desktop::aside(move || {
                    let report = desktop::clipboard::picture().map_or_else(News::NoPictures, |image| News::Pictures(vec![image]));
                    reporter.send(Msg::News(report));
                });
            }
            // At once, so that what is sent right after the paste has them.
            Errand::ReadPictures { paths, typed } => reporter.send(Msg::News(read(&paths, typed))),
        }
    }
}

fn read(paths: &[PathBuf], typed: Option<String>) -> News {
    let home = |path: &Path| match path.strip_prefix("~") {
        Ok(rest) => std::env::home_dir().unwrap_or_default().join(rest),
        Err(_) => path.to_owned(),
    };
    let mut images = vec![];
    for path in paths {
        let path = home(path);
        match (picture::load(&path), &typed) {
            (Ok(image), _) => images.push(image),
            (Err(_), Some(typed)) if !path.is_file() => return News::Typed(typed.clone()),
            (Err(why), _) => return News::NoPictures(Notice::warning(format!("{} {why}.", path.display()))),
        }
    }
    News::Pictures(images)
}
