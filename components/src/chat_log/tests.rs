//! Tests of the cells.

use super::*;
use proptest::prelude::*;

fn texts(rows: &[Line]) -> Vec<String> {
    rows.iter().map(Line::text).collect()
}

#[test]
fn prompts_and_answers_share_the_glyph_column() {
    assert_eq!(texts(&user_prompt("one two\nthree", 7, None)), ["❯ one", "  two", "  three"]);
    assert_eq!(texts(&user_prompt("a\nb\nc\nd", 20, Some(2))), ["❯ a", "  … 3 more rows"]);
    let rows = vec![Line::new(), Line::plain("x"), Line::new(), Line::plain("y")];
    assert_eq!(texts(&assistant(rows, true)), ["", "● x", "", "  y"]);
    assert_eq!(texts(&reasoning("why\n\nso", 20)), ["∴ why", "", "  so"]);
    assert_eq!(reasoning_folded(65, 40).text(), "∴ thought for 1 min 5 s");
}

#[test]
fn tool_lines_keep_what_matters() {
    let line = |state, columns| tool_line(state, "Edit", "src/components/dates.rs", "+3 −1".into(), columns).text();
    assert_eq!(line(ToolState::Done, 60), format!("  ✓ Edit    src/components/dates.rs{}+3 −1", " ".repeat(20)));
    assert_eq!(line(ToolState::Failed, 30), "  ✗ Edit src/co…ates.rs  +3 −1");
    assert_eq!(line(ToolState::Denied, 20), "  ⊘ Edit src/c…es.rs");
    assert_eq!(line(ToolState::Waiting, 12), "  · Edit s…s");
    assert!(line(ToolState::Running { tick: 3, still: true }, 60).starts_with("  • Edit"));
    let wide = tool_line(ToolState::Done, "GrepTool", "\"a\nb\" in src", Line::new(), 60);
    assert_eq!(wide.text(), "  ✓ GrepTool \"a⏎b\" in src");
}

#[test]
fn output_shows_its_end() {
    assert_eq!(texts(&output_tail("a\nb\n", 4, 20)), ["    a", "    b"]);
    assert_eq!(texts(&output_tail("1\n2\n3\n4\n5", 3, 24)), ["    … 3 earlier lines", "    4", "    5"]);
    assert_eq!(texts(&output_tail("abcdefghijklmnopqrstuvwxy\nx", 2, 24)), ["    … 1 earlier line", "    x"]);
    assert_eq!(texts(&output_tail("10%\r100%\n\x1b[31mred\x1b[0m", 3, 20)), ["    100%", "    red"]);
    assert!(output_tail("\n\n", 3, 20).is_empty());
}

#[test]
fn notices_have_hints_and_footers_have_figures() {
    assert_eq!(texts(&notice(Level::Error, "no key", &["set KEY"], 40)), ["✗ no key", "  → set KEY"]);
    let footer = turn_footer(&["checkpoint 3", "1 file changed"], &["12 s", "$0.01"], 60).text();
    assert_eq!(footer, format!("  ◇ checkpoint 3 · 1 file changed{}12 s · $0.01", " ".repeat(15)));
    let rows = welcome("backstitch", "0.1", &["model", "~/src (main)"], &[("@", "file"), ("/", "command")], 60);
    assert_eq!(texts(&rows), ["  backstitch 0.1 · model · ~/src (main)", "  @ file   / command"]);
    assert!(welcome("backstitch", "0.1", &["model", "~/src (main)"], &[("@", "file")], 20).len() <= 3);
    assert_eq!([0, 61, 120, 3600, 3780].map(duration).join("|"), "0 s|1 min 1 s|2 min|1 h|1 h 3 min");
}

#[test]
fn a_long_plan_shows_where_the_work_is() {
    let all: Vec<(Step, &str)> = (0..30)
        .map(|n| {
            (
                if n < 20 {
                    Step::Done
                } else if n == 20 {
                    Step::Current
                } else {
                    Step::Open
                },
                "x",
            )
        })
        .collect();
    assert_eq!(texts(&steps(&all[..2], 9, 40)), ["    ✓ x", "    ✓ x"]);
    assert_eq!(texts(&steps(&all, 4, 40)), ["    ✓ x", "    ▸ x", "    ○ x", "    … 30 steps in all"]);
    assert_eq!(texts(&steps(&[(Step::Done, "a"); 5], 3, 40)), ["    ✓ a", "    ✓ a", "    … 5 steps in all"]);
    assert!(steps(&[], 3, 40).is_empty());
}

proptest! {
    #[test]
    fn no_row_is_too_wide(text in "[a-z日é👩\\n\\t\\r\\x1b ]{0,60}", width in 2usize..70) {
        let mut rows = user_prompt(&text, width, Some(4));
        rows.extend(output_tail(&text, 5, width.max(TOOL_INDENT + 2)));
        rows.extend(notice(Level::Warning, &text, &[&text], width));
        rows.extend(reasoning(&text, width));
        rows.push(tool_line(ToolState::Done, "View", &text, Line::plain("12 lines"), width));
        rows.push(turn_footer(&[&text], &["12 s"], width));
        rows.push(busy_line(1, false, &text, &["12 s"], width));
        rows.push(queued_prompt(&text, width));
        rows.extend(steps(&[(Step::Open, &text), (Step::Done, &text)], 3, width.max(TOOL_INDENT + 4)));
        rows.extend(welcome("name", "1", &[&text], &[("a", "b")], width.max(12)));
        let limit = width.max(TOOL_INDENT + 4).max(12);
        for row in rows {
            prop_assert!(row.width() <= limit, "{row:?}");
            prop_assert!(!row.text().contains(char::is_control));
        }
    }
}

#[test]
fn sentences_break_between_words_and_output_does_not() {
    let text = "The text to replace was not found.";
    let rows = |rows: Vec<Line>| rows.iter().map(Line::text).collect::<Vec<_>>();
    assert_eq!(rows(words_tail(text, 6, 24)), ["    The text to replace", "    was not found."]);
    assert_eq!(rows(output_tail(text, 6, 24)), ["    The text to replace ", "    was not found."]);
    assert_eq!(rows(words_tail(text, 6, 22)), ["    The text to", "    replace was not", "    found."]);
}
