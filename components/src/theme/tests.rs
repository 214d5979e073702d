//! Tests of the themes: complete, readable, and of the environment's detection.

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
    for (_, json) in BUILTIN {
        let theme = Theme::parse(json).unwrap();
        let mut check = |text: Option<Role>, on: Option<Role>| {
            let ratio = theme.contrast(text, on);
            if ratio < 4.5 {
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

#[test]
fn bands_differ_from_the_background_and_from_their_marks() {
    for (_, json) in BUILTIN {
        let theme = Theme::parse(json).unwrap();
        for (band, mark) in [(Role::DiffAddedBand, Role::DiffAddedMark), (Role::DiffRemovedBand, Role::DiffRemovedMark)] {
            assert!(theme.contrast(Some(band), None) < 21.0 && theme.contrast(Some(band), Some(mark)) > 1.1, "{}", theme.name);
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
    assert!(Theme::parse("{}").unwrap_err().contains("name"));
    let bad = BUILTIN[0].1.replacen("#7fb4ca", "#zz", 1);
    assert!(Theme::parse(&bad).unwrap_err().contains("#zz"));
}
