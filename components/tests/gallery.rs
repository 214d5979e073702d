//! The gallery's pages as snapshots: texts at 40, 80 and 120 columns, styles as runs, and what is left without colour.

#[path = "../examples/gallery/pages.rs"]
mod pages;

use backstitch_components::{ColorDepth, Line, Style, Theme, to_ansi};
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
fn texts_at_three_widths() {
    for width in [40, 80, 120] {
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
