//! How the program looks and makes itself noticed: what the user has set.

use serde::{Deserialize, Serialize};

/// One theme for dark backgrounds and one for light ones; `None` is the usual one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThemeChoice {
    pub dark: Option<String>,
    pub light: Option<String>,
}

impl ThemeChoice {
    pub fn both(name: &str) -> ThemeChoice {
        ThemeChoice { dark: Some(name.into()), light: Some(name.into()) }
    }

    pub fn name(&self, dark: bool) -> Option<&str> {
        if dark { self.dark.as_deref() } else { self.light.as_deref() }
    }
}

/// A theme of the user's own, as its file has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnTheme {
    /// Of the file, without its folder and ending.
    pub name: String,
    pub json: String,
}

/// How the user is called back to a window that is not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notifications {
    /// The window's title says what the session does.
    pub title: bool,
    pub bell: bool,
    /// By a sequence that the terminal makes a notification of.
    pub terminal: bool,
    /// By the desktop's own program.
    pub desktop: bool,
}

impl Default for Notifications {
    fn default() -> Self {
        Notifications { title: true, bell: false, terminal: true, desktop: false }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looks {
    pub theme: ThemeChoice,
    pub own_themes: Vec<OwnTheme>,
    pub notifications: Notifications,
    /// Animation.
    pub motion: bool,
}

impl Default for Looks {
    fn default() -> Self {
        Looks { theme: ThemeChoice::default(), own_themes: vec![], notifications: Notifications::default(), motion: true }
    }
}
