//! Tests of editing, of the view and of their invariants.

use super::*;
use crate::text::span::Line;
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

const WIDTH: usize = 23;

/// Applies keys to a text in which `|` is the cursor and shows the result the same way.
fn check(before: &str, keys: &str, after: &str) {
    let mut editor = Editor::with_text(&before.replace('|', ""));
    editor.cursor = before.find('|').unwrap();
    for key in keys.split(' ') {
        let edit = Edit::from_chord(&key.parse().unwrap()).unwrap_or_else(|| panic!("{key}"));
        editor.apply(edit, WIDTH);
    }
    let mut shown = editor.text.clone();
    shown.insert(editor.cursor, '|');
    assert_eq!(shown, after, "{before} {keys}");
}

#[test]
fn edits_by_grapheme_and_word() {
    check("a👨\u{200d}👩\u{200d}👧|b", "left", "a|👨\u{200d}👩\u{200d}👧b");
    check("e\u{301}|", "backspace", "|");
    check("|🇩🇪🇫🇷", "right delete", "🇩🇪|");
    check("foo.bar baz|", "ctrl+w ctrl+w", "foo.|");
    check("|foo.bar", "alt+d", "|.bar");
    check("foo bar|", "alt+left alt+backspace", "|bar");
    check("a b\nc d|", "ctrl+a ctrl+k", "a b\n|");
    check("a b\nc d|", "ctrl+u ctrl+u", "a b|");
    check("one|\ntwo", "ctrl+k", "one|two");
    check("a|b", "x space y", "ax y|b");
    check("ab|", "ctrl+j c", "ab\nc|");
}

#[test]
fn kills_join_and_come_back() {
    check("one two three|", "ctrl+w ctrl+w ctrl+y", "one two three|");
    check("one| two", "ctrl+k home ctrl+y", " two|one");
}

#[test]
fn moves_over_visual_rows_and_keeps_the_column() {
    // 20 cells of room: the text breaks after `sentence `.
    check("a somewhat sentence that wraps|", "up", "a somewhat| sentence that wraps");
    check("a somewhat sentence |that", "left", "a somewhat sentence| that");
    check("abcdef|\nab\nabcdef", "down down", "abcdef\nab\nabcdef|");
    check("日本語|\nabcdef", "down left down", "日本語\nabcde|f");
    let mut editor = Editor::with_text("x");
    assert!(!editor.apply(Edit::Up, WIDTH) && !editor.apply(Edit::Down, WIDTH));
}

#[test]
fn undo_takes_back_words() {
    let mut editor = Editor::new();
    for c in "two words".chars() {
        editor.apply(Edit::Insert(c.to_string()), WIDTH);
    }
    editor.apply(Edit::Undo, WIDTH);
    assert_eq!(editor.text(), "two");
    editor.apply(Edit::Redo, WIDTH);
    assert_eq!(editor.text(), "two words");
    editor.apply(Edit::Undo, WIDTH);
    editor.apply(Edit::Undo, WIDTH);
    assert_eq!(editor.text(), "");
}

#[test]
fn large_pastes_fold() {
    let long = "line\n".repeat(240);
    let mut editor = Editor::with_text("see ");
    editor.apply(Edit::Paste(long.clone()), WIDTH);
    editor.apply(Edit::Insert("!".into()), WIDTH);
    assert_eq!(editor.submit_text(), format!("see {long}!"));
    let view = editor.view(&Look::default(), 60, 5);
    assert_eq!(view.rows[0].text(), "❯ see [paste 1: 240 lines]!");
    assert_eq!(view.cursor, (27, 0));
    editor.apply(Edit::Left, WIDTH);
    editor.apply(Edit::Backspace, WIDTH);
    assert_eq!(editor.submit_text(), "see !");
    editor.apply(Edit::Undo, WIDTH);
    editor.apply(Edit::Unfold, WIDTH);
    assert_eq!(editor.text(), format!("see {long}!"));
    let mut small = Editor::new();
    small.apply(Edit::Paste("a\r\nb".into()), WIDTH);
    assert_eq!(small.take(), "a\nb");
    assert!(small.is_empty());
}

#[test]
fn recalls_by_prefix_and_returns_to_the_draft() {
    let entries = ["fix a", "test", "fix b"].map(String::from);
    let mut editor = Editor::with_text("fix");
    assert!(editor.recall_older(&entries) && editor.text() == "fix b");
    assert!(editor.recall_older(&entries) && editor.text() == "fix a");
    assert!(!editor.recall_older(&entries));
    assert!(editor.recall_newer(&entries) && editor.text() == "fix b");
    assert!(editor.recall_newer(&entries) && editor.text() == "fix");
    assert!(!editor.recall_newer(&entries));
}

#[test]
fn the_view_shows_the_cursor_and_scrolls() {
    let editor = Editor::with_text("a\nb\nc");
    let view = editor.view(&Look::default(), 20, 2);
    assert_eq!(view.rows.iter().map(Line::text).collect::<Vec<_>>(), ["  b", "  c"]);
    assert_eq!(view.cursor, (3, 1));
    let empty = Editor::new().view(&Look { placeholder: "ask".into(), ..Look::default() }, 20, 2);
    assert_eq!((empty.rows[0].text().as_str(), empty.cursor), ("❯ ask", (2, 0)));
}

#[test]
fn completion_sees_the_word() {
    let mut editor = Editor::with_text("look at @src/ma");
    let range = editor.word_before_cursor();
    assert_eq!(&editor.text()[range.clone()], "@src/ma");
    editor.replace(range, "@src/main.rs ");
    assert_eq!(editor.text(), "look at @src/main.rs ");
}

fn edit() -> impl Strategy<Value = Edit> {
    let text = prop_oneof![
        proptest::sample::select(vec!["a", " ", "\u{301}", "👩", "\u{200d}", "🇩", "\n", "日", "\t", "\u{f0000}", "\x1b", "e"])
            .prop_map(String::from),
        "\\PC{0,3}",
    ];
    prop_oneof![
        text.clone().prop_map(Edit::Insert),
        text.clone().prop_map(Edit::Paste),
        Just(Edit::Paste("x\n".repeat(11))),
        proptest::sample::select(vec![
            Edit::Newline,
            Edit::Backspace,
            Edit::Delete,
            Edit::KillWordLeft,
            Edit::KillWordRight,
            Edit::KillToEnd,
            Edit::KillToStart,
            Edit::Yank,
            Edit::Left,
            Edit::Right,
            Edit::WordLeft,
            Edit::WordRight,
            Edit::Home,
            Edit::End,
            Edit::TextStart,
            Edit::TextEnd,
            Edit::Up,
            Edit::Down,
            Edit::Undo,
            Edit::Redo,
            Edit::Clear,
            Edit::Unfold,
        ]),
    ]
}

proptest! {
    #[test]
    fn any_edits_keep_the_invariants(start in "\\PC{0,12}", edits in proptest::collection::vec(edit(), 0..60), width in 0usize..30) {
        let mut editor = Editor::with_text(&start);
        let first = editor.text().to_owned();
        for edit in edits {
            editor.apply(edit, width);
            let at = editor.cursor();
            let boundary = at == editor.text.len() || motion::atoms(&editor.text).any(|(i, _)| i == at);
            prop_assert!(boundary, "{at} in {:?}", editor.text);
            let view = editor.view(&Look::default(), width, 4);
            prop_assert!(view.rows.iter().all(|row| row.width() <= width.max(2)), "{view:?}");
            prop_assert!(view.cursor.1 < view.rows.len() && view.cursor.0 <= width);
            prop_assert!(view.rows.iter().all(|row| !row.text().contains(char::is_control)));
        }
        while editor.apply(Edit::Undo, width) {}
        prop_assert_eq!(editor.text(), first);
    }

    #[test]
    fn atoms_are_graphemes(text in "\\PC{0,20}") {
        prop_assume!(!text.contains(is_chip));
        prop_assert!(motion::atoms(&text).map(|(_, g)| g).eq(text.graphemes(true)));
    }
}

#[test]
fn an_attachment_is_one_unit_and_sent_as_its_label() {
    let mut editor = Editor::with_text("look at");
    editor.attach("[image 1: 2×2 png]");
    editor.attach("[image 2: 3×3 png]");
    editor.apply(Edit::Insert("please".into()), 80);
    assert_eq!(editor.submit_text(), "look at [image 1: 2×2 png] [image 2: 3×3 png] please");
    assert_eq!(editor.attachments().collect::<Vec<_>>(), ["[image 1: 2×2 png]", "[image 2: 3×3 png]"]);
    let shown: String = editor.view(&Look::default(), 80, 5).rows.iter().map(|r| r.text()).collect();
    assert_eq!(shown, "❯ look at [image 1: 2×2 png] [image 2: 3×3 png] please");
    (0..8).for_each(|_| {
        editor.apply(Edit::Backspace, 80);
    });
    assert_eq!(editor.submit_text(), "look at [image 1: 2×2 png] ");
    editor.apply(Edit::Undo, 80);
    assert_eq!(editor.attachments().count(), 2);
    assert!(!Editor::unfold(&mut editor), "there is nothing to unfold in it");
    let mut again = Editor::new();
    again.set_text_with(&editor.take(), ["[image 2: 3×3 png]", "[gone]"].into_iter());
    assert_eq!(again.attachments().collect::<Vec<_>>(), ["[image 2: 3×3 png]"]);
    assert!(again.submit_text().starts_with("look at [image 1: 2×2 png]"));
}

#[test]
fn a_field_has_its_label_whole_and_the_text_around_the_cursor() {
    use crate::text::span::Line;
    let field = |text: &str, width: usize| {
        let (row, column) = Editor::with_text(text).field(Line::plain("  key  "), "empty", width);
        (row.text(), column)
    };
    assert_eq!(field("", 20), ("  key  empty".into(), 7));
    assert_eq!(field("abc", 20), ("  key  abc".into(), 10));
    assert_eq!(field("日本", 20), ("  key  日本".into(), 11));
    let (row, column) = field(&"0123456789".repeat(5), 20);
    assert!(row.starts_with("  key  ") && row.len() <= 20 && column < 20, "{row:?} {column}");
}
