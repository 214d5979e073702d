//! The settings of how the program looks, and the user's own themes.
//!
//! A theme that can't be read is a warning: nobody is kept from working by a colour.

use super::{
    Places,
    settings::{Read, Reader},
    source,
};
use crate::{
    failure::Failure,
    protocol::{Looks, Notifications, OwnTheme, ThemeChoice},
};
use jsonc_parser::ast::{ObjectProp, Value};
use std::path::{Path, PathBuf};

/// What one file says.
#[derive(Debug, Default, PartialEq)]
pub struct LooksLayer {
    /// The name of a theme, or one for each background: { "dark": …, "light": … }.
    theme: Option<ThemeChoice>,
    /// Whether there is animation.
    motion: Option<bool>,
    title: Option<bool>,
    bell: Option<bool>,
    terminal: Option<bool>,
    desktop: Option<bool>,
}

const NOTIFICATIONS: [&str; 4] = ["title", "bell", "terminal", "desktop"];

impl LooksLayer {
    pub fn merge(&mut self, lower: LooksLayer) {
        self.theme = self.theme.take().or(lower.theme);
        self.motion = self.motion.or(lower.motion);
        self.title = self.title.or(lower.title);
        self.bell = self.bell.or(lower.bell);
        self.terminal = self.terminal.or(lower.terminal);
        self.desktop = self.desktop.or(lower.desktop);
    }

    pub fn looks(self, places: &Places, warnings: &mut Vec<String>) -> Looks {
        let usual = Notifications::default();
        Looks {
            theme: self.theme.unwrap_or_default(),
            own_themes: own_themes(&places.themes(), warnings),
            notifications: Notifications {
                title: self.title.unwrap_or(usual.title),
                bell: self.bell.unwrap_or(usual.bell),
                terminal: self.terminal.unwrap_or(usual.terminal),
                desktop: self.desktop.unwrap_or(usual.desktop),
            },
            motion: self.motion.unwrap_or(true),
        }
    }
}

impl Reader<'_> {
    pub fn looks(&mut self, property: &ObjectProp, layer: &mut LooksLayer) -> Result<(), Failure> {
        match property.name.as_str() {
            "motion" => layer.motion = self.flag(property)?,
            "theme" => layer.theme = self.theme(property)?,
            _ => {
                for entry in self.object(property)? {
                    let flag = match entry.name.as_str() {
                        "title" => &mut layer.title,
                        "bell" => &mut layer.bell,
                        "terminal" => &mut layer.terminal,
                        "desktop" => &mut layer.desktop,
                        other => {
                            self.unknown(entry, other, &NOTIFICATIONS, &[]);
                            continue;
                        }
                    };
                    *flag = self.flag(entry)?;
                }
            }
        }
        Ok(())
    }

    fn theme(&mut self, property: &ObjectProp) -> Read<ThemeChoice> {
        let Value::Object(object) = &property.value else {
            return Ok(self.string(property)?.map(|name| ThemeChoice::both(&name)));
        };
        let mut choice = ThemeChoice::default();
        for entry in &object.properties {
            match entry.name.as_str() {
                "dark" => choice.dark = self.string(entry)?,
                "light" => choice.light = self.string(entry)?,
                other => self.unknown(entry, other, &["dark", "light"], &[]),
            }
        }
        Ok(Some(choice))
    }
}

/// By name, so that the order is the same everywhere.
fn own_themes(folder: &Path, warnings: &mut Vec<String>) -> Vec<OwnTheme> {
    let Ok(entries) = std::fs::read_dir(folder) else { return vec![] };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "json")).collect();
    paths.sort();
    let mut themes = vec![];
    for path in paths {
        let Some(name) = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()) else { continue };
        match source::read(&path) {
            Ok(Some(json)) => themes.push(OwnTheme { name, json }),
            Ok(None) => {}
            Err(error) => warnings.push(format!("{} can't be read: {error}.", path.display())),
        }
    }
    themes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn load(settings: &str, themes: &[(&str, &str)]) -> Result<Config, String> {
        let folder = tempfile::tempdir().unwrap();
        let places = Places::for_test(folder.path());
        std::fs::create_dir_all(places.themes()).unwrap();
        std::fs::write(places.user_file(), format!("{{ \"backstitch\": {{ {settings} }} }}")).unwrap();
        themes.iter().for_each(|(name, json)| std::fs::write(places.themes().join(name), json).unwrap());
        Config::load(&places, None, &|_| None).map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_theme_is_a_name_or_one_for_each_background() {
        let theme = |text: &str| load(text, &[]).map(|c| (c.looks.theme.dark, c.looks.theme.light));
        assert_eq!(theme(r#""theme": "nord""#), Ok((Some("nord".into()), Some("nord".into()))));
        assert_eq!(theme(r#""theme": { "light": "rose-pine-dawn" }"#), Ok((None, Some("rose-pine-dawn".into()))));
        assert!(theme(r#""theme": 7"#).unwrap_err().contains("text in quotes"));
        let config = load(r#""theme": { "drak": "x" }"#, &[]).unwrap();
        assert!(config.warnings[0].contains("Did you mean \"dark\""), "{:?}", config.warnings);
    }

    #[test]
    fn what_is_not_set_is_as_usual() {
        let looks = load(r#""notifications": { "bell": true, "terminal": false }, "motion": false"#, &[]).unwrap().looks;
        assert_eq!(looks.notifications, Notifications { title: true, bell: true, terminal: false, desktop: false });
        assert!(!looks.motion);
        assert_eq!(load("", &[]).unwrap().looks, Looks::default());
        assert!(load(r#""notifications": { "bel": true }"#, &[]).unwrap().warnings[0].contains("\"bell\""));
    }

    #[test]
    fn themes_of_the_users_are_found_by_name() {
        let looks = load("", &[("mine.json", "{}"), ("a.json", "{ }"), ("notes.txt", "")]).unwrap().looks;
        let names: Vec<_> = looks.own_themes.iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names, ["a", "mine"]);
    }
}
