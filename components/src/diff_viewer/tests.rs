//! Going through diffs, searching them, and choosing hunks.

use super::*;

/// Three changes, far apart.
fn model() -> Arc<DiffModel> {
    let old: String = (1..=90).map(|n| format!("line {n}\n")).collect();
    let new = old.replace("line 10\n", "LINE 10\n").replace("line 40\n", "").replace("line 80\n", "line 80\nmore\n");
    Arc::new(DiffModel::new(Some(&old), Some(&new), "a.txt"))
}

fn press(viewer: &mut DiffViewer, keys: &str) -> ViewerOutcome {
    let mut last = ViewerOutcome::Ignored;
    for key in keys.split(' ') {
        last = viewer.press(&key.parse().unwrap());
        viewer.fit(80, 12);
    }
    last
}

fn shown(viewer: &mut DiffViewer, width: usize, height: usize) -> String {
    viewer.fit(width, height);
    let (rows, _) = viewer.view(width, height);
    assert_eq!(rows.len(), height);
    assert!(rows.iter().all(|row| row.width() <= width));
    rows.iter().map(|row| format!("{}\n", row.text().trim_end())).collect()
}

#[test]
fn looks_unified_and_side_by_side() {
    let mut viewer = DiffViewer::new(vec![model()], true);
    insta::assert_snapshot!("unified_80", shown(&mut viewer, 80, 14));
    press(&mut viewer, "right space");
    insta::assert_snapshot!("refused_hunk_80", shown(&mut viewer, 80, 14));
    insta::assert_snapshot!("side_by_side_150", shown(&mut viewer, 150, 14));
    insta::assert_snapshot!("narrow_40", shown(&mut viewer, 40, 10));
}

#[test]
fn hunks_are_gone_through_and_chosen() {
    let mut viewer = DiffViewer::new(vec![model()], true);
    viewer.fit(80, 12);
    assert_eq!(press(&mut viewer, "right space"), ViewerOutcome::Moved);
    assert_eq!(viewer.chosen(0), [true, false, true]);
    press(&mut viewer, "right right right space left left left space");
    assert_eq!(viewer.chosen(0), [false, false, false]);
    press(&mut viewer, "a");
    assert_eq!(viewer.chosen(0), [true, true, true]);
    assert_eq!(press(&mut viewer, "enter"), ViewerOutcome::Accepted);
    assert_eq!(press(&mut viewer, "q"), ViewerOutcome::Closed);
}

#[test]
fn another_size_of_the_window_means_the_same_hunk() {
    let mut viewer = DiffViewer::new(vec![model()], true);
    viewer.fit(80, 40);
    viewer.press(&"right".parse().unwrap());
    for (width, height) in [(150, 8), (40, 5), (80, 12), (200, 60)] {
        let rows = shown(&mut viewer, width, height);
        assert!(rows.lines().any(|row| row.starts_with('▌')), "{rows}");
        assert_eq!(viewer.at(), (0, 1), "{width}×{height}");
    }
}

#[test]
fn where_nothing_is_to_be_chosen_enter_and_space_do_nothing() {
    let mut viewer = DiffViewer::new(vec![model()], false);
    assert_eq!(press(&mut viewer, "space"), ViewerOutcome::Ignored);
    assert_eq!(press(&mut viewer, "enter"), ViewerOutcome::Ignored);
    assert!(viewer.chosen(0).is_empty());
}

#[test]
fn search_finds_down_up_and_around() {
    let mut viewer = DiffViewer::new(vec![model()], false);
    viewer.fit(80, 8);
    press(&mut viewer, "/ m o r e enter");
    assert!(shown(&mut viewer, 80, 8).contains("more"));
    assert_eq!(viewer.at(), (0, 2), "the hunk of what was found is meant");
    press(&mut viewer, "home / shift+l i n e space 1 0 enter");
    let at = |viewer: &mut DiffViewer| {
        let text = shown(viewer, 80, 8);
        let (row, state) = (viewer.view(80, 8).0, text.lines().next().unwrap_or_default().to_owned());
        let marked = row.iter().find(|row| row.fill == Some(Role::Selection)).map(Line::text).unwrap_or_default();
        (marked.replace(['▌', '▸'], "").trim().to_owned(), state.split("   ").last().unwrap_or_default().trim().to_owned())
    };
    assert_eq!(at(&mut viewer), ("10  − line 10".into(), "match 1 of 2 · hunk 1 of 3".into()));
    press(&mut viewer, "n");
    assert_eq!(at(&mut viewer), ("10  + LINE 10".into(), "match 2 of 2 · hunk 1 of 3".into()));
    press(&mut viewer, "n");
    assert_eq!(at(&mut viewer).0, "10  − line 10", "around");
    press(&mut viewer, "shift+n");
    assert_eq!(at(&mut viewer).0, "10  + LINE 10", "and back");
    press(&mut viewer, "/ x y z enter");
    assert_eq!(at(&mut viewer), (String::new(), "no match for xyz · hunk 1 of 3".into()));
}

#[test]
fn search_stays_side_by_side() {
    let mut viewer = DiffViewer::new(vec![model()], false);
    let wide = |viewer: &mut DiffViewer, keys: &str| {
        for key in keys.split(' ') {
            viewer.press(&key.parse().unwrap());
            viewer.fit(150, 8);
        }
        viewer.view(150, 8).0
    };
    viewer.fit(150, 8);
    let rows = wide(&mut viewer, "/ m o r e enter");
    let found: Vec<String> = rows.iter().filter(|row| row.fill == Some(Role::Selection)).map(Line::text).collect();
    assert_eq!(found.len(), 1, "{rows:?}");
    assert!(found[0].starts_with("▌▸"), "not by colour alone");
    assert!(found[0].trim().ends_with("+ more") && found[0].find("+ more") > Some(75), "{found:?}");
}

#[test]
fn a_hunk_is_copied_as_a_patch_has_it() {
    let mut viewer = DiffViewer::new(vec![model()], false);
    viewer.fit(80, 12);
    let ViewerOutcome::Copied(text) = press(&mut viewer, "y") else { panic!("not copied") };
    assert_eq!(text, " line 7\n line 8\n line 9\n-line 10\n+LINE 10\n line 11\n line 12\n line 13\n");
}

#[test]
fn a_hunk_that_no_terminal_takes_is_said_not_to_be_copied() {
    let new: String = (0..20_000).map(|n| format!("line {n}\n")).collect();
    let mut viewer = DiffViewer::new(vec![Arc::new(DiffModel::new(Some("x\n"), Some(&new), "a.txt"))], false);
    assert_eq!(press(&mut viewer, "y"), ViewerOutcome::Moved);
    assert!(shown(&mut viewer, 80, 12).ends_with("  ✗ not copied: the hunk is too long for a terminal's clipboard\n"));
}

#[test]
fn colours_are_asked_for_once_and_again_where_there_are_none_yet() {
    let new: String = (0..3_000).map(|n| format!("let x{n} = \"{n}\";\n")).collect();
    let mut viewer = DiffViewer::new(vec![Arc::new(DiffModel::new(None, Some(&new), "a.rs"))], false);
    viewer.fit(80, 12);
    assert_eq!(viewer.ask(), None, "at once, unless told otherwise");
    viewer.colour_elsewhere();
    let plain = viewer.view(80, 12);
    let first = viewer.ask().unwrap();
    press(&mut viewer, "pagedown end");
    assert_eq!(viewer.ask(), None, "one at a time");
    first.colour();
    viewer.coloured();
    let last = viewer.ask().unwrap();
    assert_ne!(first, last);
    last.colour();
    viewer.coloured();
    assert_eq!(viewer.ask(), None);
    press(&mut viewer, "home");
    assert_ne!(viewer.view(80, 12), plain);
}

#[test]
fn the_last_row_of_long_lines_can_be_reached() {
    let new: String = (0..30).map(|n| format!("{n} {}\n", "word ".repeat(40))).collect();
    let mut viewer = DiffViewer::new(vec![Arc::new(DiffModel::new(None, Some(&new), "a.txt"))], false);
    viewer.fit(60, 10);
    press(&mut viewer, "end");
    assert!(shown(&mut viewer, 60, 10).contains("30  +"), "{}", shown(&mut viewer, 60, 10));
}

#[test]
fn the_line_at_the_top_stays_when_it_goes_side_by_side() {
    let old: String = (1..=60).map(|n| format!("line {n}\n")).collect();
    let new: String = (1..=60).map(|n| format!("LINE {n}\n")).collect();
    let mut viewer = DiffViewer::new(vec![Arc::new(DiffModel::new(Some(&old), Some(&new), "a.txt"))], false);
    let top = |viewer: &mut DiffViewer| shown(viewer, 80, 12).lines().nth(1).unwrap_or_default().to_owned();
    viewer.fit(80, 12);
    for _ in 0..25 {
        press(&mut viewer, "down");
    }
    assert!(top(&mut viewer).contains("− line 26"));
    press(&mut viewer, "s");
    assert!(top(&mut viewer).contains("− line 26") && top(&mut viewer).contains("+ LINE 26"), "{}", top(&mut viewer));
    press(&mut viewer, "s");
    assert!(top(&mut viewer).contains("− line 26"));
}

#[test]
fn copying_is_said_until_the_next_key() {
    let mut viewer = DiffViewer::new(vec![model()], false);
    assert!(matches!(press(&mut viewer, "y"), ViewerOutcome::Copied(_)));
    assert!(shown(&mut viewer, 80, 12).ends_with("  ✓ the hunk is copied\n"));
    press(&mut viewer, "down");
    assert!(shown(&mut viewer, 80, 12).contains("q close"));
}
