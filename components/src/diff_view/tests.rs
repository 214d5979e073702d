//! Tests of the model and its rows.

use super::*;
use crate::text::span::Line;
use crate::theme::Role;
use proptest::prelude::*;

fn texts(model: &DiffModel, width: usize, max: Option<usize>) -> Vec<String> {
    model.rows(width, max).iter().map(|row| row.text().trim_end().to_owned()).collect()
}

fn numbered(range: std::ops::RangeInclusive<usize>) -> String {
    range.map(|n| format!("line {n}\n")).collect()
}

#[test]
fn shows_hunks_with_context_and_gaps() {
    let old = numbered(1..=40);
    let new = old.replace("line 5\n", "line five\n").replace("line 30\n", "");
    let model = DiffModel::new(Some(&old), Some(&new), "a.txt");
    assert_eq!((model.stats(), model.change(), model.hunk_count()), ((1, 2), Change::Modified, 2));
    assert_eq!(
        texts(&model, 40, None),
        [
            "  2    line 2",
            "  3    line 3",
            "  4    line 4",
            "  5  − line 5",
            "  5  + line five",
            "  6    line 6",
            "  7    line 7",
            "  8    line 8",
            "       ⋯ 18 lines",
            " 27    line 27",
            " 28    line 28",
            " 29    line 29",
            " 30  − line 30",
            " 30    line 31",
            " 31    line 32",
            " 32    line 33",
        ]
    );
    assert_eq!(texts(&model, 40, Some(4)).last().map(String::as_str), Some("       … 12 more lines"));
    assert_eq!(model.rows(40, Some(4)).len(), 4);
}

#[test]
fn marks_the_words_that_changed_on_bands() {
    let model = DiffModel::new(Some("let a = days(28);\n"), Some("let a = days(29);\n"), "a.rs");
    let rows = model.rows(60, None);
    assert_eq!((rows[0].fill, rows[1].fill), (Some(Role::DiffRemovedBand), Some(Role::DiffAddedBand)));
    let marked = |row: &Line, role| row.spans.iter().filter(|s| s.style.bg == Some(role)).map(|s| s.text.to_string()).collect::<String>();
    assert_eq!(marked(&rows[0], Role::DiffRemovedMark), "28");
    assert_eq!(marked(&rows[1], Role::DiffAddedMark), "29");
    let grown = DiffModel::new(Some("a = 1\n"), Some("a = 1 and a lot more that was added\n"), "a.txt").rows(60, None);
    assert_eq!(marked(&grown[1], Role::DiffAddedMark), " and a lot more that was added");
    assert!(rows[1].spans.iter().any(|s| s.style.fg == Some(Role::SynKeyword)), "{rows:?}");
}

#[test]
fn says_what_cannot_be_seen() {
    let rows = |old, new| texts(&DiffModel::new(old, new, "a.txt"), 60, None);
    assert_eq!(rows(Some("a"), Some("a\n")), ["  1  − a", "       no newline at end of file", "  1  + a"]);
    assert_eq!(rows(Some("a\r\n"), Some("a\n")), ["  1  − a^M", "  1  + a"]);
    assert_eq!(rows(Some("a\r\nb\r\n"), Some("c\r\nb\r\n")), ["  1  − a", "  1  + c", "  2    b"]);
    assert_eq!(rows(Some("a\n"), Some("a  \n")), ["  1  − a", "  1  + a··"]);
    assert_eq!(rows(Some("    a b\n"), Some("\ta b\n")), ["  1  −     a b", "  1  + →   a b"]);
    assert_eq!(rows(None, Some("a\n")), ["  1  + a"]);
    assert_eq!(rows(Some("a\n"), None), ["  1  − a"]);
    assert_eq!(rows(None, Some("")), ["an empty file"]);
    assert_eq!(rows(Some("a"), Some("a")), ["no changes"]);
    assert_eq!(rows(Some("a\0"), Some("b\n")), ["  1  − a␀", "       no newline at end of file", "  1  + b"]);
    assert_eq!(texts(&DiffModel::binary(true, true, "a.png"), 60, None), ["a binary file"]);
    // Nothing that runs may hide in what a terminal would swallow.
    assert_eq!(rows(None, Some("\x1b[2Jx\u{202e}\n")), ["  1  + ␛[2Jx<U+202E>"]);
    assert_eq!(
        rows(Some("x\n"), Some("\x1b]8;;$(rm${IFS}x)\x1b\\\u{9d}0;$(y)\u{9c}\u{200b}\n")),
        ["  1  − x", "  1  + ␛]8;;$(rm${IFS}x)␛\\<U+009D>0;$(y)<U+009C><U+200B>"]
    );
}

#[test]
fn wraps_with_a_mark() {
    let model = DiffModel::new(None, Some("abcdefghij\n"), "a.txt");
    assert_eq!(texts(&model, 12, None), ["  1  + abcde", "     ↳ fghij"]);
}

#[test]
fn a_huge_diff_is_cut_before_it_is_painted() {
    let old = numbered(1..=50_000);
    let new: String = (1..=50_000).map(|n| if n % 3 == 0 { format!("changed {n}\n") } else { format!("line {n}\n") }).collect();
    let model = DiffModel::new(Some(&old), Some(&new), "a.rs");
    assert_eq!(model.stats(), (16_666, 16_666));
    assert_eq!(model.rows(80, Some(50)).len(), 50);
    assert_eq!(model.line_count(), 66_666);
    let window = model.window(66_000..66_020, 80, true);
    assert_eq!(window.len(), 20);
    assert_eq!(window[0].text(), "49501    line 49501");
}

fn text() -> impl Strategy<Value = String> {
    let line = proptest::sample::select(vec!["a", "b", "c d", "  e", "\tf", "g ", "日本 x", "", "a\r"]);
    (proptest::collection::vec(line, 0..30), any::<bool>()).prop_map(|(lines, end)| lines.join("\n") + if end { "\n" } else { "" })
}

proptest! {
    #[test]
    fn applying_all_gives_new_and_none_gives_old(old in text(), new in text(), width in 2usize..50) {
        let model = DiffModel::new(Some(&old), Some(&new), "a.py");
        prop_assert_eq!(model.apply(|_| true), &*new);
        prop_assert_eq!(model.apply(|_| false), &*old);
        let rows = model.rows(width, None);
        prop_assert!(rows.iter().all(|row| row.width() <= width), "{rows:?}");
        prop_assert!(model.rows(width, Some(3)).len() <= 3);
        if model.hunk_count() > 0 {
            let model = DiffModel::new(Some(&old), Some(&new), "a.txt");
            let rows = model.rows(width, None);
            let windows: Vec<Line> = (0..model.line_count()).flat_map(|at| model.window(at..at + 1, width, true)).collect();
            prop_assert_eq!(windows, rows);
        }
    }
}

/// As the viewer of a long diff does it: plain at first, coloured once somebody has looked at the grammar.
#[test]
fn colours_that_are_found_elsewhere_are_those_that_would_be_found_at_once() {
    let source = include_str!("rows.rs");
    let old = source.replace("fn ", "fn  ").replace("Side::Added", "Side::Removed");
    for split in [false, true] {
        let (lazy, eager) =
            (Arc::new(DiffModel::new(Some(&old), Some(source), "rows.rs")), DiffModel::new(Some(&old), Some(source), "rows.rs"));
        let window = |model: &DiffModel, now| {
            if split { model.split_window(20..60, 160, now) } else { model.window(20..60, 100, now) }
        };
        let lacks = || if split { lazy.split_lacks_colours(20..60) } else { lazy.lacks_colours(20..60) };
        assert!(lacks());
        let plain = window(&lazy, false);
        assert!(lacks(), "nothing was looked for");
        let texts = |rows: &[Line]| rows.iter().map(Line::text).collect::<Vec<_>>();
        Uncoloured { model: lazy.clone(), lines: 30..50, split }.colour();
        assert!(!lacks(), "and as many lines above and below");
        let coloured = window(&lazy, false);
        assert_eq!(texts(&plain), texts(&coloured));
        assert_ne!(plain, coloured);
        // From the same line on, so that the grammar has seen the same.
        drop(if split { eager.split_window(10..70, 160, true) } else { eager.window(10..70, 100, true) });
        assert_eq!(coloured, window(&eager, true));
    }
}
