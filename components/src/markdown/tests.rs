//! Tests of the stream as a whole.

use super::*;
use proptest::prelude::*;

fn texts(text: &str, width: usize) -> Vec<String> {
    render(text, width).iter().map(Line::text).collect()
}

fn check(text: &str, expected: &[&str]) {
    assert_eq!(texts(text, 40), expected, "{text:?}");
}

#[test]
fn paragraphs_keep_their_line_breaks() {
    check("one\ntwo\n\n\nthree", &["one", "two", "", "three"]);
    check("a **b\nc** d", &["a b", "c d"]);
    check("a\\\nb\\", &["a", "b\\"]);
    check("Title\n=====\ntext", &["Title", "text"]);
    check("# A\n## B\ntext", &["A", "", "B", "text"]);
}

#[test]
fn lists_nest() {
    check("- a\n  - b\n    - c\n- d", &["• a", "  ◦ b", "    ▪ c", "• d"]);
    check("1. a\n  - b\n  - c\n2. d", &["1. a", "   ◦ b", "   ◦ c", "2. d"]);
    check("7) a\n8) b", &["7) a", "8) b"]);
    check("- [ ] a\n- [x] b", &["☐ a", "☑ b"]);
    check("- a\n\n- b\n\n  more\n\nend", &["• a", "", "• b", "", "  more", "", "end"]);
    check("text\n- a\nlazy\n\nend", &["text", "• a", "  lazy", "", "end"]);
    check("-\n- b", &["•", "• b"]);
}

#[test]
fn quotes_nest_and_carry_blocks() {
    check("> a\n> > b\n\nc", &["│ a", "│ │ b", "", "c"]);
    check("> a\n>\n> - b", &["│ a", "│", "│ • b"]);
    check("a\n\n> b\n\n> c", &["a", "", "│ b", "", "│ c"]);
    check("> ```\n> x\ny", &["│ x", "", "y"]);
}

#[test]
fn code_carries_no_decoration() {
    check("a\n```rust\nfn x() {}\n\n  y\n```\nb", &["a", "", "fn x() {}", "", "  y", "", "b"]);
    check("1. a\n   ```\n   x\n     y\n   ```", &["1. a", "   x", "     y"]);
    check("1. a\n   ```\nx\n```\nb", &["1. a", "   x", "", "b"]);
    check("````\n```\n````", &["```"]);
    check("    a\n\n      b\nc", &["a", "", "  b", "", "c"]);
}

#[test]
fn tables_fit() {
    check(
        "| a | bb |\n|---|---:|\n| 1 | 2 |\n| long cell | 3 |\nend",
        &["a          bb", "━━━━━━━━━  ━━", "1           2", "long cell   3", "", "end"],
    );
    let narrow = texts("| name | what it does |\n|--|--|\n| x | several words that wrap |\n| y | z |", 20);
    assert_eq!(narrow, ["name  what it does", "━━━━  ━━━━━━━━━━━━━━", "x     several words", "      that wrap", "", "y     z"]);
    let records = texts("|aaaa|bbbb|cccc|dddd|\n|--|--|--|--|\n|1|2|3|4|", 12);
    assert_eq!(records, ["aaaa: 1", "bbbb: 2", "cccc: 3", "dddd: 4"]);
}

#[test]
fn rows_settle_early() {
    let mut stream = MarkdownStream::new();
    let mut settled = |text: &str| {
        stream.push(text);
        stream.settled(40).iter().map(Line::text).collect::<Vec<_>>()
    };
    assert_eq!(settled("# Head\n"), ["Head"]);
    assert_eq!(settled("one\n"), [""; 0]);
    assert_eq!(settled("two\n"), ["one"]);
    assert_eq!(settled("- item\n"), ["two"]);
    assert_eq!(settled("- next\n"), ["• item"]);
    assert_eq!(settled("\n```rs\n"), ["• next"]);
    assert_eq!(settled("let a = 1;\n"), ["", "let a = 1;"]);
    assert_eq!(settled("```\n| a |\n"), [""; 0]);
    assert_eq!(settled("|---|\n| b |\n"), [""; 0]);
    assert_eq!(settled("\n"), ["", "a", "━", "b"]);
    assert_eq!(settled("open **bold\n"), [""; 0]);
    assert_eq!(settled("still\n"), [""; 0]);
    assert_eq!(settled("closed** now\n"), [""; 0]);
    assert_eq!(settled("text\n"), ["", "open bold", "still", "closed now"]);
}

#[test]
fn the_tail_previews_without_markup() {
    let mut stream = MarkdownStream::new();
    stream.push("some **bold te");
    let tail = stream.tail(40);
    assert_eq!(tail[0].text(), "some bold te");
    assert!(tail[0].spans[1].style.bold);
    stream.push("xt** and `co");
    assert_eq!(stream.tail(40)[0].text(), "some bold text and co");
    stream.push("de`\n\n```\nx");
    assert_eq!(stream.settled(40).len(), 1);
    assert_eq!(stream.tail(40).iter().map(Line::text).collect::<Vec<_>>(), ["", "x"]);
    let mut long = MarkdownStream::new();
    long.push(&"word ".repeat(200_000));
    assert!(long.tail(10).len() <= MAX_TAIL_ROWS);
}

#[test]
fn what_is_held_is_bounded() {
    let mut stream = MarkdownStream::new();
    for _ in 0..3000 {
        stream.push("**never closed, always more to come\n");
        assert!(stream.machine.held_bytes() < 4_000);
    }
    assert!(stream.settled(80).len() > 2900);
    stream.push("| a |\n|--|\n");
    for _ in 0..3000 {
        stream.push("| cell |\n");
        assert!(stream.machine.held_bytes() < 4_000);
    }
}

#[test]
fn hostile_text_is_shown_not_obeyed() {
    check("a\x1b[2Jb\x1b]0;t", &["ab␛]0;t"]);
    check("```\n\x1b]52;c;x\x07y\n```", &["y"]);
    assert_eq!(texts(&">".repeat(5000), 40).len(), texts(&">".repeat(5000), 40).len());
    assert!(texts(&"- ".repeat(3000), 20).iter().all(|row| crate::text::width::width(row) <= 20));
}

fn source() -> impl Strategy<Value = String> {
    let piece = proptest::sample::select(vec![
        "\n",
        "\n",
        "\n",
        "\r\n",
        "a",
        "word ",
        "日本 ",
        "# ",
        "- ",
        "  - ",
        "1. ",
        "> ",
        "```",
        "```rs\n",
        "\n```\n",
        "~~~",
        "| a | b |\n",
        "|---|---|\n",
        "|",
        "**",
        "*",
        "_",
        "`",
        "[x](http://y)",
        "](",
        "---\n",
        "===\n",
        "    ",
        "\t",
        "- [ ] ",
        "<b>",
        "&amp;",
        "\\",
        "👩\u{200d}👧",
        "\x1b[1m",
        "~~",
    ]);
    proptest::collection::vec(piece, 0..40).prop_map(|v| v.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn the_split_does_not_matter(text in source(), cuts in proptest::collection::vec(0usize..200, 0..12), width in 2usize..60) {
        let whole = render(&text, width);
        let mut stream = MarkdownStream::new();
        let mut rows = Vec::new();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c % (text.len() + 1)).filter(|c| text.is_char_boundary(*c)).collect();
        cuts.sort_unstable();
        let mut from = 0;
        for cut in cuts {
            stream.push(&text[from..cut]);
            rows.extend(stream.settled(width));
            let tail = stream.tail(width);
            prop_assert!(tail.iter().all(|row| row.width() <= width));
            from = cut;
        }
        stream.push(&text[from..]);
        rows.extend(stream.finish(width));
        prop_assert_eq!(&rows, &whole);
        prop_assert!(rows.iter().all(|row| row.width() <= width), "{rows:?}");
    }

    #[test]
    fn no_letter_is_lost(text in source(), width in 2usize..60) {
        let letters = |t: &str| t.chars().filter(|c| c.is_alphabetic()).collect::<String>();
        // A fence's language, a link's target and an entity's name are not shown; a table's short rows are filled up.
        let mut text = crate::text::sanitize::sanitize(&text).replace(['|', '&'], "");
        for marks in ["](", "```", "~~~", "](", "```", "~~~"] {
            text = text.replace(marks, "");
        }
        let shown: String = render(&text, width).iter().map(Line::text).collect();
        prop_assert_eq!(letters(&shown), letters(&text));
    }
}
