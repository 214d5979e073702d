//! The checkpoint browser in every state.

use super::Page;
use backstitch_components::checkpoint_browser::{Against, Browser, Entry, EntryKind, PlanView};
use backstitch_components::diff_view::DiffModel;
use backstitch_components::{Line, Span, Style, text::wrap::cut};
use std::sync::Arc;

const OLD: &str = "# Dates\n\nA year has 365 days.\n\n## Months\n\nFebruary has 28 days.\n";
const NEW: &str = "# Dates\n\nA year has 365 days, a leap year 366.\n\n## Months\n\nFebruary has 28 days, or 29.\n";

pub fn pages(width: usize) -> Vec<Page> {
    let states: [(&str, &str, bool); 19] = [
        ("checkpoints", "", true),
        ("checkpoints, comparing", "down", false),
        ("checkpoints, by hand", "down down", true),
        ("checkpoints, changes", "right", true),
        ("checkpoints, second file left out", "right tab space", true),
        ("checkpoints, a new file", "right tab tab", true),
        ("checkpoints, a binary file", "right tab tab tab space", true),
        ("checkpoints, against the previous one", "c right", true),
        ("checkpoints, nothing would change", "end right", true),
        ("checkpoints, what goes back", "enter", true),
        ("checkpoints, single files go back", "right space tab space esc enter", true),
        ("checkpoints, only files can go back", "down enter", true),
        ("checkpoints, going back while comparing", "down enter", false),
        ("checkpoints, typing a filter", "f d o c", true),
        ("checkpoints, filtered", "f d o c enter right", true),
        ("checkpoints, search", "right / 2 9", true),
        ("checkpoints, rename", "r", true),
        ("checkpoints, delete", "d", true),
        ("checkpoints, left as they are", "l", true),
    ];
    let mut pages: Vec<Page> = states.iter().map(|(title, keys, known)| (*title, page(browser(), keys, *known, width))).collect();
    pages.push(("checkpoints, none", page(Browser::new(vec![]), "", false, width)));
    pages
}

fn browser() -> Browser {
    let entry = |title: &str, when: &str, changes: (usize, usize, usize), kind| Entry {
        title: title.into(),
        when: when.into(),
        files: changes.0,
        added: changes.1,
        removed: changes.2,
        kind,
        pinned: kind == EntryKind::Manual,
        conversation: kind == EntryKind::Request,
    };
    Browser::new(vec![
        entry("explain the parser", "yesterday", (0, 0, 0), EntryKind::Request),
        entry("fix the date test", "3 h ago", (1, 1, 1), EntryKind::Request),
        entry(
            "now rename the module to calendar, everywhere, also in the docs and in the tests",
            "2 h ago",
            (12, 310, 128),
            EntryKind::Request,
        ),
        entry("日本語の説明を書いて", "1 h ago", (1, 24, 0), EntryKind::Elsewhere),
        entry("before the big merge", "40 min ago", (3, 45, 7), EntryKind::Manual),
        entry("going back to fix the date test", "9 min ago", (2, 4, 4), EntryKind::Restore),
        entry("write about leap years\x1b[2J", "just now", (4, 9, 1_204), EntryKind::Request),
    ])
}

fn plan(against: Against) -> PlanView {
    let file = |old: Option<&str>, new: Option<&str>, path: &str| Arc::new(DiffModel::new(old, new, path));
    let mut files = vec![
        file(Some(NEW), Some(OLD), "docs/dates.md"),
        file(Some("fn a() {}\n"), None, "src/calendar/a/very/long/path/that/has/to/lose/its/middle/日本語の名前.rs"),
        file(None, Some("a note\nof two lines\n"), "notes.txt"),
        Arc::new(DiffModel::binary(true, true, "logo.png")),
    ];
    if against == Against::Previous {
        files.truncate(1);
    }
    let skipped =
        ["video.mov: larger than 50 MB", "src/lib.rs: changed by somebody else since then, and what was there would be lost by going back"];
    let (changed, deleted, recreated) = if against == Against::Now { (2, 1, 1) } else { (1, 0, 0) };
    let skipped = if against == Against::Now { skipped.map(String::from).to_vec() } else { vec![] };
    PlanView { changed, deleted, recreated, skipped, files, against }
}

/// The browser after some keys; a plan is there before them and after each, if it is known.
fn page(mut browser: Browser, keys: &str, known: bool, width: usize) -> Vec<Line> {
    let height = match width {
        40 => 12,
        80 => 17,
        _ => 20,
    };
    let answer = |browser: &mut Browser| {
        let nothing = PlanView { against: browser.against(), ..PlanView::default() };
        if known && browser.awaits() {
            browser.set_plan(if browser.selected() == Some(0) { nothing } else { plan(browser.against()) });
        }
        browser.fit(width, height);
    };
    answer(&mut browser);
    for key in keys.split_whitespace() {
        if let Ok(chord) = key.parse() {
            browser.press(&chord);
        }
        answer(&mut browser);
    }
    let mut rows = browser.view(width, height);
    if let Some((column, row)) = browser.cursor(width, height) {
        // What is under the cursor in reverse, as a terminal shows it.
        let line = rows[row].clone();
        let (before, upto) = (cut(&line, column), cut(&line, column + 1));
        let under = upto.text().strip_prefix(&before.text()).filter(|text| !text.is_empty()).unwrap_or(" ").to_owned();
        let rest: String = line.text().strip_prefix(&upto.text()).unwrap_or_default().to_owned();
        rows[row] = before.pad_to(column).with(Span::new(under, Style::new().invert())).with(rest);
    }
    rows
}
