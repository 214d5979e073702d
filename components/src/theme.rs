//! Semantic colours: roles, the themes that give them colours, and what a terminal can show of them.
//!
//! Invariants:
//! - the only file that names colours; everything else says [`Role`];
//! - every theme gives every role a colour and its text is readable (a test checks WCAG AA, also on the diff bands);
//! - with [`ColorDepth::None`] nothing has a colour: meaning must survive that.

use crate::text::span::Style;
use iocraft::Color;
use serde::Deserialize;

mod builtin;
mod file;

/// What a piece of text or background is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The terminal's own foreground.
    Text,
    Dim,
    Accent,
    User,
    Assistant,
    Tool,
    Success,
    Warning,
    Error,
    Border,
    /// Background of the selected row.
    Selection,
    /// Code within prose.
    Code,
    Link,
    Heading,
    Quote,
    DiffAdded,
    DiffRemoved,
    DiffContext,
    /// Background of an added row.
    DiffAddedBand,
    /// Background of a removed row.
    DiffRemovedBand,
    /// Background of the words added within a row.
    DiffAddedMark,
    /// Background of the words removed within a row.
    DiffRemovedMark,
    LineNumber,
    Spinner,
    ModeNormal,
    ModeAuto,
    ModePlan,
    ModeYolo,
    SynKeyword,
    SynString,
    SynComment,
    SynFunction,
    SynType,
    SynNumber,
    SynConstant,
    SynVariable,
    SynOperator,
    SynPunctuation,
    SynAttribute,
}

const ROLES: usize = Role::SynAttribute as usize + 1;

/// How many colours the terminal can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ColorDepth {
    /// No colour; bold, underline and reverse stay.
    None,
    Ansi16,
    Ansi256,
    #[default]
    TrueColor,
}

impl ColorDepth {
    /// Decides from the values of the environment variables `NO_COLOR`, `COLORTERM` and `TERM`.
    pub fn detect(no_color: Option<&str>, colorterm: Option<&str>, term: Option<&str>) -> Self {
        let term = term.unwrap_or_default();
        if no_color.is_some_and(|v| !v.is_empty()) || term == "dumb" {
            return Self::None;
        }
        if colorterm.is_some_and(|v| v.eq_ignore_ascii_case("truecolor") || v.eq_ignore_ascii_case("24bit"))
            || term.ends_with("-direct")
            || term.contains("kitty")
            || term.contains("ghostty")
        {
            return Self::TrueColor;
        }
        if term.contains("256") { Self::Ansi256 } else { Self::Ansi16 }
    }
}

/// Whether the background is dark, from the value of `COLORFGBG` (`15;0`), where that can be told.
pub fn dark_background(colorfgbg: Option<&str>) -> Option<bool> {
    let background: u8 = colorfgbg?.rsplit(';').next()?.trim().parse().ok()?;
    Some(matches!(background, 0..=6 | 8))
}

/// Whether a background of these 8-bit channels (as the terminal answers to OSC 11) is dark.
pub fn is_dark(r: u8, g: u8, b: u8) -> bool {
    luminance((r, g, b)) < 0.35
}

/// One role's colour at the depths that need a choice of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Paint {
    rgb: Option<(u8, u8, u8)>,
    ansi: Option<u8>,
    /// Less bright than the rest, by the terminal's own means.
    faint: bool,
}

/// The themes that are used when none is chosen.
const DARK: &str = "backstitch-dark";
const LIGHT: &str = "backstitch-light";

/// A named set of colours.
#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    pub name: String,
    /// Made for a dark background.
    pub dark: bool,
    foreground: (u8, u8, u8),
    background: (u8, u8, u8),
    colours: [Paint; ROLES],
}

impl Default for Theme {
    /// A theme without any colour.
    fn default() -> Self {
        let (foreground, background) = ((0xff, 0xff, 0xff), (0, 0, 0));
        Self { name: "plain".into(), dark: true, foreground, background, colours: [Paint::default(); ROLES] }
    }
}

impl Theme {
    /// The colour to show for a role, `None` for the terminal's own.
    pub fn resolve(&self, role: Role, depth: ColorDepth) -> Option<Color> {
        let paint = self.colours[role as usize];
        match depth {
            ColorDepth::None => None,
            // The terminal's own palette, whatever it can show.
            _ if paint.rgb.is_none() => paint.ansi.map(Color::AnsiValue),
            ColorDepth::Ansi16 => paint.ansi.map(Color::AnsiValue),
            ColorDepth::Ansi256 => paint.rgb.map(|rgb| Color::AnsiValue(nearest_256(rgb))),
            ColorDepth::TrueColor => paint.rgb.map(|(r, g, b)| Color::Rgb { r, g, b }),
        }
    }

    /// What of a style can be seen: roles without a colour here are dropped, and what was said by a
    /// background alone is said in another way (changed words in a diff are underlined).
    pub fn visible(&self, mut style: Style, depth: ColorDepth) -> Style {
        let seen = |role: &Role| self.resolve(*role, depth).is_some();
        // Of 16 colours the nearest to a mark may be that of the band, or of the background.
        let told = |mark: &Role| seen(mark) && depth != ColorDepth::Ansi16;
        if matches!(style.bg, Some(Role::DiffAddedMark | Role::DiffRemovedMark)) && !style.bg.as_ref().is_some_and(told) {
            style.underline = true;
        }
        style.dim |= depth != ColorDepth::None && style.fg.is_some_and(|role| self.colours[role as usize].faint);
        style.fg = style.fg.filter(seen);
        style.bg = style.bg.filter(seen);
        style
    }

    /// Contrast (1 to 21, WCAG 2) of a text role on a background role; `None` is the terminal's as the theme assumes it.
    pub fn contrast(&self, text: Option<Role>, on: Option<Role>) -> f64 {
        let of = |role: Option<Role>, default| role.and_then(|r| self.colours[r as usize].rgb).unwrap_or(default);
        let (a, b) = (luminance(of(text, self.foreground)), luminance(of(on, self.background)));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }
}

fn luminance((r, g, b): (u8, u8, u8)) -> f64 {
    let linear = |channel: u8| {
        let c = f64::from(channel) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}

fn distance(a: (u8, u8, u8), b: (u8, u8, u8)) -> u32 {
    let d = |x: u8, y: u8| u32::from(x.abs_diff(y)).pow(2);
    d(a.0, b.0) + d(a.1, b.1) + d(a.2, b.2)
}

/// The nearest entry of xterm's 256 colours, never one of the first 16, which users redefine.
fn nearest_256(rgb: (u8, u8, u8)) -> u8 {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let level = |channel: u8| (0..6).min_by_key(|i| LEVELS[*i].abs_diff(channel)).unwrap_or(0);
    let (r, g, b) = (level(rgb.0), level(rgb.1), level(rgb.2));
    let cube = (16 + 36 * r + 6 * g + b, (LEVELS[r], LEVELS[g], LEVELS[b]));
    let mean = (u32::from(rgb.0) + u32::from(rgb.1) + u32::from(rgb.2)) / 3;
    let step = (mean.saturating_sub(3) / 10).min(23) as u8;
    let grey = (232 + usize::from(step), (8 + 10 * step, 8 + 10 * step, 8 + 10 * step));
    let best = if distance(grey.1, rgb) < distance(cube.1, rgb) { grey.0 } else { cube.0 };
    best as u8
}

fn nearest_16(rgb: (u8, u8, u8)) -> u8 {
    (0..16u8)
        .min_by_key(|i| {
            let high = if *i < 8 { 170 } else { 255 };
            let low = if *i < 8 { 0 } else { 85 };
            let channel = |bit: u8| if i & bit != 0 { high } else { low };
            distance((channel(1), channel(2), channel(4)), rgb)
        })
        .unwrap_or(7)
}

#[cfg(test)]
mod tests;
