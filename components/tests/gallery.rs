//! The gallery's pages as snapshots: texts at 40 to 150 columns, styles as runs, and what is left without colour.

#[path = "../examples/gallery/pages.rs"]
mod pages;

use backstitch_components::text::width::{cell_groups, group_width};
use backstitch_components::{ColorDepth, Line, Rows, Style, Theme, to_ansi};
use iocraft::prelude::*;
use std::sync::LazyLock;

/// The pages at the width of the design: highlighting is slow in a debug build, so they are made once.
static PAGES_80: LazyLock<Vec<pages::Page>> = LazyLock::new(|| pages::pages(80));

/// Rows as text; a fill is shown by `▌` and its role.
fn text(width: usize) -> String {
    let mut out = String::new();
    let pages = if width == 80 { PAGES_80.clone() } else { pages::pages(width) };
    for (title, rows) in pages {
        out.push_str(&format!("## {title}\n"));
        for row in rows {
            assert!(row.width() <= width, "{title}: {} cells: {}", row.width(), row.text());
            out.push_str(row.text().trim_end());
            out.push('\n');
        }
    }
    out
}

/// A style as `role+flags`, such as `Error+b` or `SynKeyword/DiffAddedBand`.
fn style(style: &Style) -> String {
    let mut out = style.fg.map_or_else(String::new, |role| format!("{role:?}"));
    if let Some(bg) = style.bg {
        out += &format!("/{bg:?}");
    }
    let flags = [style.bold, style.dim, style.italic, style.underline, style.invert, style.strike];
    let flags: String = flags.iter().zip("bdiurs".chars()).filter(|(on, _)| **on).map(|(_, c)| c).collect();
    if flags.is_empty() { out } else { format!("{out}+{flags}") }
}

fn runs(row: &Line) -> String {
    let mut out = row.fill.map_or_else(String::new, |fill| format!("[{fill:?}] "));
    for span in &row.spans {
        let style = style(&span.style);
        let link = span.link.as_deref().map_or_else(String::new, |link| format!("→{link}"));
        if style.is_empty() && link.is_empty() {
            out.push_str(&span.text);
        } else {
            out.push_str(&format!("⟨{}|{style}{link}⟩", span.text));
        }
    }
    out.trim_end().to_owned()
}

#[test]
fn texts_at_all_widths() {
    for width in [40, 80, 120, 150] {
        insta::assert_snapshot!(format!("text_{width}"), text(width));
    }
}

#[test]
fn styles_as_runs() {
    let pages: Vec<String> =
        PAGES_80.iter().map(|(title, rows)| format!("## {title}\n{}\n", rows.iter().map(runs).collect::<Vec<_>>().join("\n"))).collect();
    insta::assert_snapshot!("styles_80", pages.concat());
}

#[test]
fn without_colour_states_still_differ() {
    let theme = Theme::for_background(true);
    let shown = |title: &str| {
        let (_, rows) = PAGES_80.iter().find(|(name, _)| *name == title).unwrap();
        to_ansi(rows, &theme, ColorDepth::None, 80).replace('\x1b', "␛").replace("\r\n", "\n")
    };
    insta::assert_snapshot!("no_colour", ["transcript", "tool states", "approval", "status"].map(shown).concat());
}

#[test]
fn both_themes_and_all_depths_print_the_same_text() {
    let plain = |theme: &str, depth| {
        let theme = Theme::builtin(theme).unwrap();
        let rows: Vec<Line> = PAGES_80.iter().flat_map(|(_, rows)| rows.clone()).collect();
        let ansi = to_ansi(&rows, &theme, depth, 80);
        backstitch_components::text::sanitize::sanitize(&ansi).into_owned()
    };
    let first = plain("backstitch-dark", ColorDepth::TrueColor);
    for depth in [ColorDepth::None, ColorDepth::Ansi16, ColorDepth::Ansi256] {
        assert_eq!(plain("backstitch-light", depth), first);
    }
}

/// The cells that a row should fill: each group of characters at the column that our widths give it.
fn cells(row: &Line) -> Vec<(usize, String)> {
    let mut x = 0;
    let text = row.text();
    cell_groups(&text)
        .map(|group| {
            let at = x;
            x += group_width(group);
            (at, group.to_owned())
        })
        .filter(|(_, group)| group != " ")
        .collect()
}

#[test]
fn the_canvas_has_every_character_where_it_was_counted() {
    for (title, rows) in PAGES_80.iter() {
        let theme = Theme::for_background(true);
        let mut root = element! { View(width: 80u32) { Rows(rows: rows.clone(), theme: theme, depth: ColorDepth::TrueColor) } };
        let canvas = root.render(Some(80));
        for (y, row) in rows.iter().enumerate() {
            for (x, group) in cells(row) {
                assert_eq!(canvas.cell(x, y).and_then(|c| c.text()), Some(group.as_str()), "{title}: {x},{y} of {}", row.text());
            }
        }
    }
}

#[test]
fn a_terminal_shows_every_row_where_it_was_counted_and_filled_to_its_end() {
    for (title, rows) in PAGES_80.iter() {
        let theme = Theme::for_background(true);
        let mut terminal = vt100::Parser::new(std::num::NonZeroU16::new(200).unwrap(), std::num::NonZeroU16::new(80).unwrap(), 0);
        terminal.process(to_ansi(rows, &theme, ColorDepth::TrueColor, 80).as_bytes());
        let screen = terminal.screen();
        for (y, row) in rows.iter().enumerate() {
            // The emulator knows no emoji of two code points; the canvas test covers those.
            for (x, group) in cells(row).into_iter().take_while(|(_, group)| !group.contains('\u{fe0f}')) {
                let cell = screen.cell(y as u16, x as u16).unwrap();
                assert_eq!(cell.contents(), group, "{title}: {x},{y} of {}", row.text());
            }
            let filled = screen.cell(y as u16, 79).unwrap().bgcolor() != vt100::Color::Default;
            assert_eq!(filled, row.fill.is_some(), "{title}: row {y} {}", row.text());
        }
    }
}

#[test]
fn every_theme_on_one_page() {
    let (_, rows) = PAGES_80.iter().find(|(name, _)| *name == "transcript").unwrap();
    for name in Theme::names() {
        let theme = Theme::builtin(name).unwrap();
        let page = to_ansi(rows, &theme, ColorDepth::TrueColor, 80).replace('\x1b', "␛").replace("\r\n", "\n");
        insta::assert_snapshot!(format!("theme_{name}"), page);
    }
}

/// What a colour says is said in words or signs as well.
#[test]
fn no_two_states_have_the_same_text() {
    use backstitch_components::chat_log::{Level, ToolState, notice, tool_line};
    let differ = |what: &str, texts: Vec<String>| {
        let unique: std::collections::BTreeSet<&String> = texts.iter().collect();
        assert_eq!(unique.len(), texts.len(), "{what}: {texts:#?}");
    };
    let states = [ToolState::Waiting, ToolState::Running { tick: 0, still: true }, ToolState::Done, ToolState::Failed, ToolState::Denied];
    differ("calls", states.iter().map(|state| tool_line(*state, "Bash", "make", Line::new(), 80).text()).collect());
    let levels = [Level::Info, Level::Warning, Level::Error];
    differ("notices", levels.iter().map(|level| notice(*level, "the same", &[], 80).iter().map(Line::text).collect()).collect());
    let (added, removed) = (Some("one\n"), Some("one\n"));
    let diff = |old, new| backstitch_components::DiffModel::new(old, new, "a").rows(80, None).iter().map(Line::text).collect::<String>();
    differ("lines of a diff", vec![diff(None, added), diff(removed, None)]);
}
