//! Tests of the themes: complete, readable, and of the environment's detection.

use super::builtin::BUILTIN;
use super::*;

const SYNTAX: [Role; 11] = [
    Role::SynKeyword,
    Role::SynString,
    Role::SynComment,
    Role::SynFunction,
    Role::SynType,
    Role::SynNumber,
    Role::SynConstant,
    Role::SynVariable,
    Role::SynOperator,
    Role::SynPunctuation,
    Role::SynAttribute,
];
const PROSE: [Role; 22] = [
    Role::Dim,
    Role::Accent,
    Role::User,
    Role::Assistant,
    Role::Tool,
    Role::Success,
    Role::Warning,
    Role::Error,
    Role::Code,
    Role::Link,
    Role::Heading,
    Role::Quote,
    Role::DiffAdded,
    Role::DiffRemoved,
    Role::DiffContext,
    Role::LineNumber,
    Role::Spinner,
    Role::ModeNormal,
    Role::ModeAuto,
    Role::ModePlan,
    Role::ModeYolo,
    Role::Text,
];
const DIFF_BACKGROUNDS: [Role; 4] = [Role::DiffAddedBand, Role::DiffRemovedBand, Role::DiffAddedMark, Role::DiffRemovedMark];

#[test]
fn text_is_readable_in_every_theme() {
    let mut low = Vec::new();
    for theme in own_colours() {
        let wanted = if theme.name.starts_with("high-contrast") { 7.0 } else { 4.5 };
        let mut check = |text: Option<Role>, on: Option<Role>| {
            let ratio = theme.contrast(text, on);
            if ratio < wanted {
                low.push(format!("{}: {text:?} on {on:?} {ratio:.2}", theme.name));
            }
        };
        for role in PROSE.into_iter().chain(SYNTAX) {
            check(Some(role), None);
            check(Some(role), Some(Role::Selection));
        }
        for on in DIFF_BACKGROUNDS {
            check(None, Some(on));
            for role in SYNTAX {
                check(Some(role), Some(on));
            }
        }
        for (text, on) in [(Role::DiffAdded, Role::DiffAddedBand), (Role::DiffRemoved, Role::DiffRemovedBand)] {
            check(Some(text), Some(on));
            check(Some(Role::LineNumber), Some(on));
        }
    }
    assert!(low.is_empty(), "{low:#?}");
}

/// All but the one that uses the terminal's palette, of which nothing is known.
fn own_colours() -> impl Iterator<Item = Theme> {
    BUILTIN
        .iter()
        .map(|(name, json)| {
            let theme = Theme::parse(json).unwrap_or_else(|why| panic!("{name}: {why}"));
            assert_eq!(theme.name, *name);
            theme
        })
        .filter(|theme| theme.name != "terminal")
}

#[test]
fn there_is_a_theme_for_everybody() {
    assert!(BUILTIN.len() >= 14);
    for name in ["backstitch", "high-contrast", "colour-blind"] {
        for (kind, dark) in [("dark", true), ("light", false)] {
            assert_eq!(Theme::builtin(&format!("{name}-{kind}")).map(|t| t.dark), Some(dark), "{name}-{kind}");
        }
    }
}

#[test]
fn the_terminals_own_palette_is_used_at_every_depth_and_only_where_it_can_be_read() {
    let theme = Theme::builtin("terminal").unwrap();
    for role in (0..ROLES).map(|n| theme.colours[n]) {
        assert!(role.rgb.is_none());
        // Black and white are the background of somebody; the bright ones are, in Solarized's palette, greys.
        assert!(role.ansi.is_none_or(|colour| (1..=6).contains(&colour)), "{role:?}");
    }
    assert_eq!(theme.resolve(Role::Error, ColorDepth::TrueColor), Some(Color::AnsiValue(1)));
    assert!(theme.visible(Style::from(Role::Dim), ColorDepth::TrueColor).dim);
    assert!(theme.visible(Style::new().bg(Role::DiffAddedMark), ColorDepth::TrueColor).underline);
}

#[test]
fn changed_words_are_told_with_16_colours_too() {
    for theme in own_colours() {
        let told = |depth| theme.visible(Style::new().bg(Role::DiffRemovedMark), depth).underline;
        assert_eq!([told(ColorDepth::Ansi16), told(ColorDepth::Ansi256)], [true, false], "{}", theme.name);
    }
}

#[test]
fn blue_against_orange_says_what_red_against_green_would() {
    for name in ["colour-blind-dark", "colour-blind-light"] {
        let theme = Theme::builtin(name).unwrap();
        let rgb = |role: Role| theme.colours[role as usize].rgb.unwrap();
        for role in [Role::DiffAdded, Role::DiffAddedBand, Role::DiffAddedMark, Role::Success] {
            assert!(rgb(role).2 > rgb(role).0, "{name}: {role:?} is not blue");
        }
        for role in [Role::DiffRemoved, Role::DiffRemovedBand, Role::DiffRemovedMark, Role::Error] {
            let (r, g, b) = rgb(role);
            assert!(r > g && g > b, "{name}: {role:?} is not orange");
        }
        let ansi = |role: Role| theme.colours[role as usize].ansi;
        assert!([Role::Success, Role::DiffAdded].iter().all(|r| !matches!(ansi(*r), Some(2 | 10))), "{name}");
    }
}

#[test]
fn bands_keep_apart_with_256_colours() {
    for theme in own_colours() {
        let at = |role| theme.resolve(role, ColorDepth::Ansi256);
        assert_ne!(at(Role::DiffAddedMark), at(Role::DiffRemovedMark), "{}", theme.name);
    }
}

#[test]
fn a_theme_of_the_users_changes_single_roles_of_another() {
    let json = r##"{ "extends": "nord", "colours": { "accent": "#ff0000", "dim": { "ansi": "cyan", "faint": true } } }"##;
    let theme = Theme::parse_over(json, "mine", &Theme::builtin).unwrap();
    let nord = Theme::builtin("nord").unwrap();
    assert_eq!((theme.name.as_str(), theme.dark), ("mine", true));
    assert_eq!(theme.resolve(Role::Accent, ColorDepth::TrueColor), Some(Color::Rgb { r: 255, g: 0, b: 0 }));
    assert_eq!(theme.resolve(Role::Error, ColorDepth::TrueColor), nord.resolve(Role::Error, ColorDepth::TrueColor));
    let wrong = |json: &str| Theme::parse_over(json, "mine", &Theme::builtin).unwrap_err();
    assert!(wrong(r##"{ "extends": "nrod" }"##).contains("nrod"));
    assert!(wrong(r##"{ "extends": "nord", "colours": { "acent": "#ff0000" } }"##).contains("acent"));
    assert!(wrong(r##"{ "extends": "nord", "colours": { "accent": "red" } }"##).contains("Accent: `red`"));
    assert!(wrong(r##"{ "colours": { "accent": "#ff0000" } }"##).contains("extends"));
}

#[test]
fn bands_differ_from_the_background_and_from_their_marks() {
    for theme in own_colours() {
        for (band, mark) in [(Role::DiffAddedBand, Role::DiffAddedMark), (Role::DiffRemovedBand, Role::DiffRemovedMark)] {
            let (apart, marked) = (theme.contrast(Some(band), None), theme.contrast(Some(band), Some(mark)));
            assert!(apart > 1.04 && marked > 1.1, "{}: {band:?} {apart:.2} {marked:.2}", theme.name);
        }
    }
}

#[test]
fn depth_follows_the_environment() {
    use ColorDepth as D;
    for (env, depth) in [
        ((None, Some("truecolor"), Some("xterm-256color")), D::TrueColor),
        ((Some("1"), Some("truecolor"), Some("xterm-256color")), D::None),
        ((Some(""), None, Some("xterm-256color")), D::Ansi256),
        ((None, None, Some("dumb")), D::None),
        ((None, None, Some("xterm")), D::Ansi16),
        ((None, None, Some("xterm-kitty")), D::TrueColor),
    ] {
        assert_eq!(D::detect(env.0, env.1, env.2), depth, "{env:?}");
    }
    assert_eq!(dark_background(Some("15;0")), Some(true));
    assert_eq!(dark_background(Some("0;15")), Some(false));
    assert_eq!(dark_background(Some("x")), None);
}

#[test]
fn resolves_by_depth() {
    let theme = Theme::for_background(true);
    assert_eq!(theme.resolve(Role::Accent, ColorDepth::None), None);
    assert_eq!(theme.resolve(Role::Accent, ColorDepth::Ansi16), Some(Color::AnsiValue(6)));
    assert!(matches!(theme.resolve(Role::Accent, ColorDepth::Ansi256), Some(Color::AnsiValue(16..))));
    assert!(matches!(theme.resolve(Role::Accent, ColorDepth::TrueColor), Some(Color::Rgb { .. })));
    assert_eq!(theme.resolve(Role::Text, ColorDepth::TrueColor), None);
}

#[test]
fn a_broken_theme_says_what_is_wrong() {
    assert!(Theme::parse("{}").unwrap_err().contains("roles"));
    let bad = BUILTIN[0].1.replacen("#7fb4ca", "#zz", 1);
    assert!(Theme::parse(&bad).unwrap_err().contains("#zz"));
}
