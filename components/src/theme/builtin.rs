//! The themes that come with the program: one file each in `assets/themes/`, listed here in the order in which users see them.

use super::{DARK, LIGHT, Theme};
use std::sync::{Arc, OnceLock};

pub(super) const BUILTIN: [(&str, &str); 19] = [
    ("backstitch-dark", include_str!("../../../assets/themes/backstitch-dark.json")),
    ("backstitch-light", include_str!("../../../assets/themes/backstitch-light.json")),
    ("high-contrast-dark", include_str!("../../../assets/themes/high-contrast-dark.json")),
    ("high-contrast-light", include_str!("../../../assets/themes/high-contrast-light.json")),
    ("colour-blind-dark", include_str!("../../../assets/themes/colour-blind-dark.json")),
    ("colour-blind-light", include_str!("../../../assets/themes/colour-blind-light.json")),
    ("terminal", include_str!("../../../assets/themes/terminal.json")),
    ("catppuccin-mocha", include_str!("../../../assets/themes/catppuccin-mocha.json")),
    ("catppuccin-latte", include_str!("../../../assets/themes/catppuccin-latte.json")),
    ("dracula", include_str!("../../../assets/themes/dracula.json")),
    ("gruvbox-dark", include_str!("../../../assets/themes/gruvbox-dark.json")),
    ("gruvbox-light", include_str!("../../../assets/themes/gruvbox-light.json")),
    ("nord", include_str!("../../../assets/themes/nord.json")),
    ("one-dark", include_str!("../../../assets/themes/one-dark.json")),
    ("rose-pine", include_str!("../../../assets/themes/rose-pine.json")),
    ("rose-pine-dawn", include_str!("../../../assets/themes/rose-pine-dawn.json")),
    ("solarized-dark", include_str!("../../../assets/themes/solarized-dark.json")),
    ("solarized-light", include_str!("../../../assets/themes/solarized-light.json")),
    ("tokyo-night", include_str!("../../../assets/themes/tokyo-night.json")),
];

impl Theme {
    /// Names of the built-in themes, in the order to show them.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILTIN.iter().map(|(name, _)| *name)
    }

    /// A built-in theme, parsed at its first use.
    pub fn builtin(name: &str) -> Option<Arc<Theme>> {
        static PARSED: [OnceLock<Arc<Theme>>; BUILTIN.len()] = [const { OnceLock::new() }; BUILTIN.len()];
        let at = BUILTIN.iter().position(|(known, _)| *known == name)?;
        // A built-in theme that does not parse fails a test; here it would only lose its colours.
        Some(PARSED[at].get_or_init(|| Arc::new(Theme::parse(BUILTIN[at].1).unwrap_or_default())).clone())
    }

    /// The built-in theme for a dark or light background.
    pub fn for_background(dark: bool) -> Arc<Theme> {
        Self::builtin(if dark { DARK } else { LIGHT }).unwrap_or_default()
    }
}
