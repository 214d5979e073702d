//! What of the screen goes into a recording: the facts that it was opened with, and its messages without what was typed into a
//! field for secrets.

use super::{
    app::{Model, Msg, Setting},
    keymap::Keymap,
};
use crate::protocol::OwnKeys;
use backstitch_components::theme::{ColorDepth, Theme};
use iocraft::KeyCode;
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, path::PathBuf, sync::Arc};

/// A `Setting` without its looks, and the first size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    pub root: PathBuf,
    pub place: String,
    pub demo: bool,
    pub trusted: bool,
    pub placeholder: String,
    pub still: bool,
    pub fullscreen: bool,
    /// What was typed meant what these say.
    #[serde(default)]
    pub keys: OwnKeys,
    /// Columns and rows.
    pub size: (u16, u16),
}

impl Facts {
    pub fn of(setting: &Setting, size: (u16, u16)) -> Facts {
        let Setting { root, place, demo, trusted, placeholder, still, fullscreen, keys, .. } = setting.clone();
        Facts { root, place, demo, trusted, placeholder, still, fullscreen, keys: keys.own().clone(), size }
    }

    /// In no colours.
    pub fn setting(self) -> Setting {
        let Facts { root, place, demo, trusted, placeholder, still, fullscreen, keys, size: _ } = self;
        let (theme, depth, keys) = (Theme::for_background(true), ColorDepth::None, Arc::new(Keymap::new(keys)));
        Setting { root, place, demo, trusted, placeholder, theme, depth, still, keys, fullscreen }
    }
}

/// The message as it may be written down: as many characters, but not those of a key for a provider.
pub fn masked<'a>(model: &Model, msg: &'a Msg) -> Cow<'a, Msg> {
    let secret = model.panel.as_ref().is_some_and(|panel| panel.takes_secret());
    match msg {
        Msg::Key(KeyCode::Char(_), modifiers) if secret => Cow::Owned(Msg::Key(KeyCode::Char('•'), *modifiers)),
        Msg::Paste(text) if secret => Cow::Owned(Msg::Paste("•".repeat(text.trim().chars().count()))),
        other => Cow::Borrowed(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::{app::update, panel::Panel};
    use iocraft::KeyModifiers;
    use std::time::Duration;

    #[test]
    fn a_key_that_is_typed_for_a_provider_is_not_recorded() {
        let facts = Facts {
            root: "/p".into(),
            place: "p".into(),
            demo: false,
            trusted: true,
            placeholder: String::new(),
            still: true,
            fullscreen: false,
            keys: OwnKeys::default(),
            size: (80, 24),
        };
        let (mut model, _) = Model::new(facts.setting(), (80, 24));
        model.panel = Some(Panel::setup());
        let mut written = vec![];
        let mut press = |msg: Msg| {
            written.push(serde_json::to_string(&masked(&model, &msg)).unwrap());
            update(&mut model, Duration::from_secs(1), msg);
        };
        let key = |code| Msg::Key(code, KeyModifiers::NONE);
        "elocalhost".chars().for_each(|c| press(key(KeyCode::Char(c))));
        press(key(KeyCode::Enter));
        "hunter2".chars().for_each(|c| press(key(KeyCode::Char(c))));
        press(Msg::Paste("hunter2".into()));
        assert!(written[1..10].iter().all(|line| !line.contains('•')), "{written:?}");
        assert!(written[11..18].iter().all(|line| line.contains('•')), "{written:?}");
        assert!(written[18].contains("•••••••"), "{written:?}");
    }
}
