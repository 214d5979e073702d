//! Themes as JSON: whole ones, and those that change single roles of another one.
//!
//! Invariants:
//! - a theme that stands alone gives every role a colour; one that extends another takes what it doesn't name from there;
//! - an error says in one line what is wrong, with the role it is about.

use super::{Paint, ROLES, Role, Theme, nearest_16};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ThemeFile {
    #[serde(default)]
    name: Option<String>,
    /// The theme that this one changes.
    #[serde(default)]
    extends: Option<String>,
    #[serde(default)]
    dark: Option<bool>,
    #[serde(default)]
    foreground: Option<String>,
    #[serde(default)]
    background: Option<String>,
    #[serde(default, alias = "colors")]
    colours: BTreeMap<Role, Entry>,
}

/// `"default"`, `"#rrggbb"`, both depths as `{ "rgb": "#rrggbb", "ansi": "cyan" }`, or one of the terminal's own colours.
#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    One(String),
    Both {
        rgb: String,
        ansi: String,
    },
    Own {
        ansi: String,
        #[serde(default)]
        faint: bool,
    },
}

impl Theme {
    /// Reads a theme that stands alone.
    pub fn parse(json: &str) -> Result<Theme, String> {
        Self::parse_over(json, "", &|_| None)
    }

    /// Reads a theme of the user's; `known` finds the one that it extends. Without a name of its own it takes that of its file.
    pub fn parse_over(json: &str, file_name: &str, known: &dyn Fn(&str) -> Option<Arc<Theme>>) -> Result<Theme, String> {
        let file: ThemeFile = serde_json::from_str(json).map_err(|e| e.to_string())?;
        let base = match &file.extends {
            None => None,
            Some(name) => Some(known(name).ok_or_else(|| format!("it extends {name:?}, and there is no such theme"))?),
        };
        if base.is_none() && file.colours.len() != ROLES {
            let hint = "or say which theme it \"extends\"";
            return Err(format!("{} of {ROLES} roles have a colour; name all of them, {hint}", file.colours.len()));
        }
        let of_base = base.as_deref();
        let mut colours = of_base.map_or([Paint::default(); ROLES], |base| base.colours);
        for (role, entry) in &file.colours {
            colours[*role as usize] = entry.paint().map_err(|e| format!("{role:?}: {e}"))?;
        }
        let rgb = |what: &str, text: &Option<String>, usual: Option<(u8, u8, u8)>| match text {
            Some(text) => parse_rgb(text).map_err(|e| format!("{what}: {e}")),
            None => usual.ok_or_else(|| format!("`{what}` is missing")),
        };
        let name = file.name.unwrap_or_else(|| file_name.to_owned());
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            return Err("`name` is missing".into());
        }
        Ok(Theme {
            name,
            dark: file.dark.or(of_base.map(|b| b.dark)).ok_or("`dark` is missing: true or false")?,
            foreground: rgb("foreground", &file.foreground, of_base.map(|b| b.foreground))?,
            background: rgb("background", &file.background, of_base.map(|b| b.background))?,
            colours,
        })
    }
}

impl Entry {
    fn paint(&self) -> Result<Paint, String> {
        Ok(match self {
            Self::One(one) if one == "default" => Paint::default(),
            Self::One(one) => {
                let rgb = parse_rgb(one)?;
                Paint { rgb: Some(rgb), ansi: Some(nearest_16(rgb)), faint: false }
            }
            Self::Both { rgb, ansi } => Paint { rgb: Some(parse_rgb(rgb)?), ansi: parse_ansi(ansi)?, faint: false },
            Self::Own { ansi, faint } => Paint { rgb: None, ansi: parse_ansi(ansi)?, faint: *faint },
        })
    }
}

fn parse_rgb(text: &str) -> Result<(u8, u8, u8), String> {
    let value = text.strip_prefix('#').filter(|hex| hex.len() == 6).and_then(|hex| u32::from_str_radix(hex, 16).ok());
    let [_, r, g, b] = value.ok_or_else(|| format!("`{text}` is not #rrggbb"))?.to_be_bytes();
    Ok((r, g, b))
}

fn parse_ansi(name: &str) -> Result<Option<u8>, String> {
    const NAMES: [&str; 8] = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
    if matches!(name, "none" | "default") {
        return Ok(None);
    }
    let (base, bright) = name.strip_prefix("bright-").map_or((name, 0), |base| (base, 8));
    let at = NAMES.iter().position(|known| *known == base).ok_or_else(|| format!("`{name}` is no ANSI colour"))?;
    Ok(Some(at as u8 + bright))
}
