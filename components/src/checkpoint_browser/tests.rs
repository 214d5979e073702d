//! Keys and sizes of the browser; how it looks is in the gallery's snapshots.

use super::*;
use crate::text::span::Line;
use proptest::prelude::*;

fn entry(title: &str) -> Entry {
    Entry { title: title.into(), when: "4 min ago".into(), files: 2, added: 3, removed: 1, conversation: true, ..Entry::default() }
}

fn plan(against: Against, paths: &[&str]) -> PlanView {
    let files: Vec<_> = paths.iter().map(|path| Arc::new(DiffModel::new(Some("a\nb\nc\n"), Some("a\nB\nc\n"), path))).collect();
    PlanView { changed: files.len(), skipped: vec!["big.bin: too large".into()], files, against, ..PlanView::default() }
}

const PATHS: [&str; 3] = ["src/a.rs", "docs/b.md", "src/c.rs"];

fn browser() -> Browser {
    let mut browser = Browser::new(vec![entry("first"), entry("second"), entry("third")]);
    browser.set_plan(plan(Against::Now, &PATHS));
    browser.fit(120, 20);
    browser
}

fn press(browser: &mut Browser, keys: &str) -> BrowserOutcome {
    let mut last = BrowserOutcome::Ignored;
    for key in keys.split(' ') {
        last = browser.press(&key.parse().unwrap());
        browser.fit(120, 20);
    }
    last
}

fn shown(browser: &mut Browser, width: usize, height: usize) -> String {
    browser.fit(width, height);
    let rows = browser.view(width, height);
    assert_eq!(rows.len(), height);
    assert!(rows.iter().all(|row| row.width() <= width));
    rows.iter().map(|row| format!("{}\n", row.text().trim_end())).collect()
}

fn chosen(entry: usize, scope: Scope, files: Option<Vec<usize>>) -> BrowserOutcome {
    BrowserOutcome::Chosen { entry, scope, files }
}

#[test]
fn going_back_takes_two_steps() {
    assert_eq!(press(&mut browser(), "enter enter"), chosen(2, Scope::Both, None));
    assert_eq!(press(&mut browser(), "enter f"), chosen(2, Scope::Files, None));
    assert_eq!(press(&mut browser(), "enter c"), chosen(2, Scope::Conversation, None));
    assert_eq!(press(&mut browser(), "right enter b"), chosen(2, Scope::Both, None));
    let mut browser = browser();
    assert_eq!(press(&mut browser, "down"), BrowserOutcome::Selected(1));
    assert_eq!(press(&mut browser, "b"), BrowserOutcome::Ignored, "a letter alone chooses nothing");
    assert_eq!(press(&mut browser, "enter esc"), BrowserOutcome::Moved);
    assert_eq!(press(&mut browser, "esc"), BrowserOutcome::Closed);
}

#[test]
fn what_is_asked_about_an_entry_stays_when_others_come() {
    let mut browser = browser();
    press(&mut browser, "down");
    browser.set_plan(plan(Against::Now, &PATHS));
    press(&mut browser, "enter");
    browser.update_entries(["first", "second", "third", "fourth"].map(entry).to_vec(), 1);
    assert!(!browser.awaits(), "its plan is still the one");
    assert_eq!(press(&mut browser, "f"), chosen(1, Scope::Files, None));
    press(&mut browser, "esc r");
    browser.update_entries(["second", "third"].map(entry).to_vec(), 0);
    assert_eq!(press(&mut browser, "! enter"), BrowserOutcome::Renamed(0, "second!".into()));
}

#[test]
fn copying_a_hunk_is_said_until_the_next_key() {
    let mut browser = browser();
    assert!(matches!(press(&mut browser, "right y"), BrowserOutcome::Copied(_)));
    assert!(shown(&mut browser, 120, 20).ends_with("  ✓ the hunk is copied\n"));
    press(&mut browser, "c");
    assert!(!shown(&mut browser, 120, 20).contains("copied"));
}

#[test]
fn files_go_back_only_when_it_is_known_how() {
    let mut browser = browser();
    press(&mut browser, "j");
    assert!(browser.awaits());
    assert_eq!(press(&mut browser, "enter enter"), BrowserOutcome::Ignored);
    browser.set_plan(plan(Against::Previous, &PATHS));
    assert!(browser.awaits(), "the answer to another question");
    browser.set_plan(plan(Against::Now, &PATHS));
    assert_eq!(press(&mut browser, "enter"), chosen(1, Scope::Both, None));
}

#[test]
fn what_happened_is_no_plan() {
    let mut browser = browser();
    assert_eq!(press(&mut browser, "c"), BrowserOutcome::Selected(2));
    assert_eq!(browser.against(), Against::Previous);
    browser.set_plan(plan(Against::Previous, &PATHS));
    assert_eq!(press(&mut browser, "right space"), BrowserOutcome::Ignored, "nothing is to be chosen there");
    assert_eq!(press(&mut browser, "enter"), BrowserOutcome::Selected(2), "the second step is about the plan");
    assert_eq!((browser.against(), press(&mut browser, "f")), (Against::Now, BrowserOutcome::Ignored));
    browser.set_plan(plan(Against::Now, &PATHS));
    assert_eq!(press(&mut browser, "f"), chosen(2, Scope::Files, None));
}

#[test]
fn single_files_go_back() {
    let mut browser = browser();
    assert_eq!(press(&mut browser, "right tab space enter b"), BrowserOutcome::Ignored, "the conversation would tell of all files");
    assert_eq!(press(&mut browser, "enter"), chosen(2, Scope::Files, Some(vec![0, 2])));
    // What is left out stays so while something else is looked at.
    press(&mut browser, "c");
    browser.set_plan(plan(Against::Previous, &PATHS[..1]));
    press(&mut browser, "c");
    browser.set_plan(plan(Against::Now, &PATHS));
    assert_eq!(press(&mut browser, "enter f"), chosen(2, Scope::Files, Some(vec![0, 2])));
    assert_eq!(press(&mut browser, "a enter f"), BrowserOutcome::Ignored, "all are left out");
    assert_eq!(press(&mut browser, "c"), chosen(2, Scope::Conversation, None));
    assert_eq!(press(&mut browser, "a enter f"), chosen(2, Scope::Files, None), "all are taken again");
    // Another checkpoint begins anew.
    press(&mut browser, "right space esc down up");
    browser.set_plan(plan(Against::Now, &PATHS));
    assert_eq!(press(&mut browser, "enter f"), chosen(2, Scope::Files, None));
}

#[test]
fn a_filter_narrows_what_goes_back() {
    let mut browser = browser();
    assert_eq!(press(&mut browser, "f S R C enter"), BrowserOutcome::Moved);
    let screen = shown(&mut browser, 120, 20);
    assert!(screen.contains("1 of 3 hidden") && !screen.contains("b.md"), "{screen}");
    assert_eq!(press(&mut browser, "right tab space enter f"), chosen(2, Scope::Files, Some(vec![0])));
    press(&mut browser, "esc f ctrl+u n o n e");
    assert!(shown(&mut browser, 120, 20).contains("3 of 3 hidden"));
    assert_eq!(press(&mut browser, "enter enter f"), BrowserOutcome::Ignored);
    press(&mut browser, "esc shift+f esc");
    assert_eq!(press(&mut browser, "enter f"), chosen(2, Scope::Files, Some(vec![0, 1])), "the filter is gone, not the choice");
}

#[test]
fn where_the_conversation_cannot_go_back_only_files_are_offered() {
    let mut browser = browser();
    let entries = vec![Entry { kind: EntryKind::Elsewhere, conversation: false, ..entry("other") }];
    browser.set_entries(entries);
    assert!(browser.awaits());
    browser.set_plan(plan(Against::Now, &PATHS));
    assert_eq!(press(&mut browser, "enter c"), BrowserOutcome::Ignored);
    assert_eq!(press(&mut browser, "b"), BrowserOutcome::Ignored);
    assert_eq!(press(&mut browser, "enter"), chosen(0, Scope::Files, None));
}

#[test]
fn names_and_pins_change_and_the_selection_stays() {
    let mut browser = browser();
    press(&mut browser, "down");
    browser.set_plan(plan(Against::Now, &PATHS));
    assert_eq!(press(&mut browser, "p"), BrowserOutcome::Pinned(1, true));
    browser.set_entries(vec![entry("first"), Entry { pinned: true, ..entry("second") }, entry("third")]);
    assert_eq!((browser.selected(), browser.awaits()), (Some(1), false));
    assert_eq!(press(&mut browser, "p"), BrowserOutcome::Pinned(1, false));
    assert_eq!(press(&mut browser, "r enter"), BrowserOutcome::Moved, "the same name");
    assert_eq!(press(&mut browser, "r ctrl+u enter"), BrowserOutcome::Moved, "no name");
    assert_eq!(press(&mut browser, "r x esc"), BrowserOutcome::Moved);
    press(&mut browser, "r ctrl+u");
    browser.paste("a\nb");
    assert_eq!(press(&mut browser, "enter"), BrowserOutcome::Renamed(1, "a b".into()));
}

#[test]
fn deleting_asks_once() {
    let mut browser = browser();
    press(&mut browser, "down");
    for keys in ["d n", "d esc"] {
        assert_eq!(press(&mut browser, keys), BrowserOutcome::Moved);
    }
    assert_eq!(press(&mut browser, "d enter"), BrowserOutcome::Ignored);
    assert_eq!(press(&mut browser, "y"), BrowserOutcome::Deleted(1));
    browser.set_entries(vec![entry("first"), entry("third")]);
    assert_eq!((browser.selected(), browser.awaits()), (Some(0), true), "as far from the newest as before");
    press(&mut browser, "d");
    browser.set_entries(vec![entry("first")]);
    assert_eq!(press(&mut browser, "y"), BrowserOutcome::Ignored, "the question was about another one");
}

#[test]
fn tab_goes_through_the_files_and_back() {
    let mut browser = browser();
    press(&mut browser, "tab tab tab tab");
    assert_eq!(press(&mut browser, "p"), BrowserOutcome::Pinned(2, true), "in the timeline");
    press(&mut browser, "right shift+tab shift+tab shift+tab");
    assert_eq!(press(&mut browser, "p"), BrowserOutcome::Pinned(2, true));
    press(&mut browser, "right left");
    assert_eq!(press(&mut browser, "p"), BrowserOutcome::Pinned(2, true));
    assert!(matches!(press(&mut browser, "right y"), BrowserOutcome::Copied(text) if text.contains("-b\n+B\n")));
    // While a search is typed, its keys are letters.
    press(&mut browser, "/ space c ? enter");
    assert_eq!(press(&mut browser, "enter f"), chosen(2, Scope::Files, None));
}

#[test]
fn an_empty_timeline_can_only_be_closed() {
    let mut browser = Browser::new(vec![]);
    for key in ["enter", "right", "d", "p", "r", "f", "c", "l", "space"] {
        assert_eq!(press(&mut browser, key), BrowserOutcome::Ignored, "{key}");
    }
    assert_eq!(press(&mut browser, "esc"), BrowserOutcome::Closed);
    let mut browser = self::browser();
    press(&mut browser, "right enter");
    browser.set_entries(vec![]);
    assert_eq!((browser.selected(), browser.awaits()), (None, false));
    assert_eq!(press(&mut browser, "esc"), BrowserOutcome::Closed);
}

#[test]
fn kinds_and_pins_differ_without_colour() {
    let row = |kind, pinned| {
        let mut browser = Browser::new(vec![Entry { kind, pinned, ..entry("the same") }]);
        shown(&mut browser, 40, 4)
    };
    let kinds = [EntryKind::Request, EntryKind::Manual, EntryKind::Restore, EntryKind::Elsewhere];
    let looks: std::collections::HashSet<String> = kinds.iter().flat_map(|kind| [row(*kind, true), row(*kind, false)]).collect();
    assert_eq!(looks.len(), 8);
}

#[test]
fn ten_thousand_are_gone_through() {
    let mut browser = Browser::new((0..10_000).map(|n| entry(&format!("request {n}"))).collect());
    browser.fit(80, 24);
    assert_eq!(press(&mut browser, "end"), BrowserOutcome::Selected(0));
    let screen = shown(&mut browser, 80, 24);
    assert!(screen.contains("10000/10000") && screen.contains("▸ ❯ request 0 "), "{screen}");
}

fn any_entry() -> impl Strategy<Value = Entry> {
    let kinds = prop_oneof![Just(EntryKind::Request), Just(EntryKind::Manual), Just(EntryKind::Restore), Just(EntryKind::Elsewhere)];
    ("\\PC{0,60}|[a\\x1b\\n\\t日]{0,9}", "[a-z0-9日\\x07]{0,12}", 0usize..9_999_999, kinds, any::<bool>(), any::<bool>()).prop_map(
        |(title, when, files, kind, pinned, conversation)| Entry {
            title,
            when,
            files: files % 1_000,
            added: files,
            removed: files / 7,
            kind,
            pinned,
            conversation,
        },
    )
}

fn any_plan() -> impl Strategy<Value = (Vec<(u8, String)>, Vec<String>)> {
    let file = (0u8..5, "[a-z日/\\x1b]{1,50}");
    (proptest::collection::vec(file, 0..12), proptest::collection::vec("\\PC{0,90}", 0..5))
}

fn plan_of(files: &[(u8, String)], skipped: &[String], against: Against) -> PlanView {
    let model = |(kind, path): &(u8, String)| {
        let (old, new) = match kind {
            0 => (None, Some("new\n日本\n")),
            1 => (Some("old\n"), None),
            2 => (Some("\0"), Some("x")),
            3 => (Some("same"), Some("same")),
            _ => (Some("a\nb\nc\n"), Some("a\nlong long long long long long long line that wraps\nc\n")),
        };
        Arc::new(DiffModel::new(old, new, path))
    };
    PlanView {
        changed: files.len(),
        deleted: files.len() / 3,
        recreated: 2,
        skipped: skipped.to_vec(),
        files: files.iter().map(model).collect(),
        against,
    }
}

const KEYS: [&str; 36] = [
    "up",
    "down",
    "left",
    "right",
    "enter",
    "enter",
    "esc",
    "tab",
    "shift+tab",
    "home",
    "end",
    "pageup",
    "pagedown",
    "space",
    "a",
    "b",
    "c",
    "d",
    "f",
    "j",
    "k",
    "l",
    "n",
    "p",
    "r",
    "s",
    "y",
    "q",
    "?",
    "/",
    "x",
    "1",
    "ctrl+n",
    "alt+x",
    "backspace",
    "shift+f",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rows_are_as_many_as_asked_and_never_wider(
        entries in proptest::collection::vec(any_entry(), 0..30),
        (files, skipped) in any_plan(),
        keys in proptest::collection::vec((0usize..36, 1usize..160, 1usize..40, 0u8..8), 1..40),
    ) {
        let mut browser = Browser::new(entries.clone());
        for (key, width, height, answer) in keys {
            let outcome = browser.press(&KEYS[key].parse().unwrap());
            if let BrowserOutcome::Deleted(at) = outcome {
                let mut fewer = browser.entries.clone();
                fewer.remove(at);
                browser.set_entries(fewer);
            }
            if answer > 2 && browser.awaits() {
                browser.set_plan(plan_of(&files, &skipped, browser.against()));
            }
            if answer == 0 {
                browser.scroll(3);
            }
            browser.fit(width, height);
            // Also of another size than it was told of.
            for (width, height) in [(width, height), (height, width.min(60)), (0, 1), (1, 0)] {
                let rows: Vec<Line> = browser.view(width, height);
                prop_assert_eq!(rows.len(), height);
                for row in &rows {
                    prop_assert!(row.width() <= width, "{} cells of {}: {}", row.width(), width, row.text());
                    prop_assert!(!row.text().chars().any(char::is_control));
                }
                if let Some((x, y)) = browser.cursor(width, height) {
                    prop_assert!(x <= width && y < height.max(1), "{x},{y} in {width}×{height}");
                }
            }
        }
    }
}
