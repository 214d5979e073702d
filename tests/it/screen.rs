//! What is on the terminal: nothing lost, nothing twice, nothing that drives it.

use crate::support::*;
use serde_json::json;

fn earlier(lines: usize) -> String {
    (0..lines).map(|n| format!("before-{n:03}\n")).collect::<String>() + "$ backstitch\n"
}

/// The rows that were there before are all there, in order, above everything else.
fn assert_earlier_is_intact(t: &Term, lines: usize) {
    let rows = t.history();
    let wanted: Vec<String> = earlier(lines).lines().map(str::to_owned).collect();
    assert_eq!(rows[..wanted.len()], wanted);
}

#[test]
fn the_scrollback_from_before_is_intact_to_the_last_line() {
    for (columns, rows, lines) in [(80, 24, 100), (120, 50, 10), (40, 12, 300), (100, 30, 0)] {
        let answer: Vec<String> = (0..60).map(|n| format!("- item {n}")).collect();
        let server = ModelServer::start([Reply::text(&answer.join("\n"))]);
        let w = Workspace::new(&server);
        let mut t = Term::start(w.command(workspace::BINARY, &[]), columns, rows, &earlier(lines));
        t.ready().ask("go").sees("item 59").hides("esc interrupts");
        for n in 0..60 {
            assert_eq!(
                t.history().iter().filter(|row| row.trim_end().ends_with(&format!(" item {n}"))).count(),
                1,
                "item {n} at {columns}x{rows}"
            );
        }
        t.ctrl('d');
        t.exits();
        assert_earlier_is_intact(&t, lines);
    }
}

#[test]
fn every_line_of_a_long_answer_is_in_the_history_once() {
    let lines: Vec<String> = (0..500).map(|n| format!("line {n:03} of the answer")).collect();
    let mut reply = Reply::stream();
    for piece in lines.join("\n\n").as_bytes().chunks(37) {
        reply = reply.say(std::str::from_utf8(piece).unwrap());
    }
    let server = ModelServer::start([reply.done("stop")]);
    let w = Workspace::new(&server);
    let mut t = Term::start(w.command(workspace::BINARY, &[]), 80, 24, &earlier(30));
    t.ready().ask("go").sees("line 499 of the answer").hides("esc interrupts");
    let history = t.history();
    let found: Vec<&str> = history.iter().filter(|r| r.contains("of the answer")).map(|r| r.trim_start_matches(['●', ' '])).collect();
    assert_eq!(found, lines);
    assert_earlier_is_intact(&t, 30);
    // 13 KB of text.
    assert!(t.written() < 60_000, "{} bytes were written", t.written());
    assert_eq!(bytes::strange(&t.raw()), [], "nothing is ever cleared");
}

#[test]
fn thirty_changes_of_size_while_streaming() {
    let gate = Gate::new();
    let mut reply = Reply::stream();
    let words: Vec<String> = (0..120).map(|n| format!("word{n:03}")).collect();
    for chunk in words.chunks(4) {
        reply = reply.gate(&gate).say(&(chunk.join(" ") + "\n\n"));
    }
    let server = ModelServer::start([reply.done("stop")]);
    let w = Workspace::new(&server);
    let mut t = Term::start(w.command(workspace::BINARY, &[]), 100, 30, &earlier(50));
    t.ready().ask("go").shows("esc interrupts");
    let sizes = [(100, 30), (60, 20), (90, 40), (50, 12), (120, 35)];
    for round in 0..30 {
        let (columns, rows) = sizes[round % sizes.len()];
        t.resize(columns, rows);
        gate.open();
        t.sees(&format!("word{:03}", round * 4 + 3));
    }
    t.resize(100, 30);
    t.hides("esc interrupts").shows("❯").type_("still here").shows("❯ still here");
    let text = t.text();
    for word in &words {
        assert_eq!(text.matches(word.as_str()).count(), 1, "{word}\n{text}");
    }
    assert_eq!(text.matches("/ command").count(), 1, "the header, once:\n{text}");
    assert_eq!(text.matches("normal · test-model").count(), 1, "the status, once:\n{text}");
    assert_eq!(text.matches("❯").count(), 2, "what was sent, and the prompt:\n{text}");
    assert_earlier_is_intact(&t, 50);
}

#[test]
fn a_small_window_works_and_a_tiny_one_says_so() {
    let server = ModelServer::start([Reply::call("Bash", json!({ "command": "touch small" })), Reply::text("It works.")]);
    let w = Workspace::new(&server);
    let mut t = w.start_sized(&[], 40, 12);
    t.shows("❯").ask("go").shows("Run this command?").press('y').sees("It works.");
    t.resize(19, 6);
    t.shows("window too small");
    t.resize(20, 6);
    t.hides("window too small").shows("❯");
    t.resize(4, 2);
    t.screen_is("anything but a crash", |s| s.contains("win") || s.contains('…'));
    t.resize(80, 24);
    t.shows("❯").type_("and on").shows("❯ and on");
}

#[test]
fn the_live_region_leaves_two_rows() {
    let gate = Gate::new();
    let table: String = (0..40).map(|n| format!("| row {n} | cell |\n")).collect();
    let server = ModelServer::start([Reply::stream().say("| a | b |\n|---|---|\n").say(&table).gate(&gate).say("\nend\n").done("stop")]);
    let w = Workspace::new(&server);
    let mut t = Term::start(w.command(workspace::BINARY, &[]), 60, 12, &earlier(5));
    t.shows("❯").ask("go").shows("row 39").type_("a\x1b\rb\x1b\rc\x1b\rd\x1b\re\x1b\rf\x1b\rg\x1b\rh\x1b\ri").shows("i");
    // The live region is what the cursor ever moves up over.
    let highest = bytes::tokens(&t.raw()).into_iter().filter_map(|token| match token {
        bytes::Token::Csi(n, 'A') => n.parse::<usize>().ok(),
        _ => None,
    });
    assert!(highest.max().unwrap_or(0) <= 10, "a move over more rows than the region may have");
    gate.open();
    t.sees("end");
    assert_earlier_is_intact(&t, 5);
}

#[test]
fn wide_characters_and_emoji_keep_their_columns() {
    let text = "宽字符 ｆｕｌｌ 한국어 🎉🎉 ⚠️ 👨‍👩‍👧 e\u{301}nd";
    let server = ModelServer::start([Reply::text(&format!("{text}\n\n| a | b |\n|---|---|\n| 宽宽 | x |\n| yy | 🎉 |\n"))]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready().ask("宽 go").sees("宽字符 ｆｕｌｌ 한국어 🎉🎉").sees("yy").hides("esc interrupts");
    let screen = t.screen();
    let column = |row: &str, cell: &str| {
        let line = screen.lines().find(|l| l.contains(row)).unwrap();
        unicode_width(&line[..line.find(cell).unwrap()])
    };
    assert_eq!(column("宽宽", "x"), column("yy", "🎉"), "the columns are not aligned:\n{screen}");
    assert_eq!(server.request(1).last().1, "宽 go");
}

/// As the emulator counts: wide characters take two cells.
fn unicode_width(text: &str) -> usize {
    let mut parser = vt100::Parser::new(2.try_into().unwrap(), 200.try_into().unwrap(), 0);
    parser.process(text.as_bytes());
    parser.screen().cursor_position().1.into()
}

const HOSTILE: &str = "\x1b]0;owned\x07\x1b[2J\x1b[?1049h\x1b]52;c;b3duZWQ=\x07\u{9b}31m\u{8}\x1bP+q\x1b\\\x1b[5n\x0e\u{202e}x";

#[test]
fn no_text_drives_the_terminal() {
    let odd_name = "odd\x1b[2J\x07.txt";
    let server = ModelServer::start([
        Reply::stream()
            .think(&format!("thinking {HOSTILE}"))
            .say(&format!("text {HOSTILE} [link](http://x/\x1b]0;y\x07) `code {HOSTILE}`\n```rust\nlet {HOSTILE}\n```\n"))
            .call_piece(0, Some(("c1", "Bash")), &json!({ "command": "touch x; cat hostile.txt; ls" }).to_string())
            .call_piece(1, Some(("c2", "LS")), &json!({ "path": format!(".{HOSTILE}") }).to_string())
            .call_piece(2, Some(("c3", "Replace")), &json!({ "file_path": odd_name, "content": HOSTILE }).to_string())
            .call_piece(3, Some(("c4", &format!("No{HOSTILE}"))), "{}")
            .done("tool_calls"),
        Reply::error(400, &format!("refused {HOSTILE}")),
    ]);
    let w = Workspace::new(&server).file("hostile.txt", &format!("output {HOSTILE}\n"));
    let mut t = w.start();
    t.ready().ask("go").shows("Run this command?").press('y').shows("Make this change?").press('y').sees("refused");
    t.hides("esc interrupts").paste(&format!("pasted {HOSTILE}")).shows("pasted").ctrl('c').hides("pasted").ctrl('d');
    t.exits();
    assert_eq!(bytes::strange(&t.raw()), []);
    assert!(w.root().join(odd_name).exists());
    assert_eq!(t.left_on().len(), 0);
}

#[test]
fn an_edit_that_hides_something_shows_it_in_its_diff() {
    let server = ModelServer::start([
        Reply::call("Replace", json!({ "file_path": "a.sh", "content": "echo ok \x1b]0;`touch made`\x07 # \u{202e}\u{200b}\n" })),
        Reply::text("Fine."),
    ]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready().ask("go").shows("Make this change?").shows("touch made").shows("<U+202E>").press('y').sees("Fine.");
}

#[test]
fn a_long_output_is_bounded_on_the_screen_and_for_the_model() {
    let server = ModelServer::start([Reply::call("Bash", json!({ "command": "seq 35000; echo the-end" })), Reply::text("Many.")]);
    let w = Workspace::new(&server);
    let mut t = w.start_with(&["--mode", "yolo"]);
    t.ready().ask("go").sees("Many.").sees("the-end");
    let content = server.request(2).last().1.to_owned();
    assert!(content.len() < 60_000 && content.contains("the-end") && content.starts_with("1\n2\n"), "{} bytes", content.len());
    assert!(t.history().len() < 100);
}

#[test]
fn a_resize_and_a_redraw_show_the_conversation_at_the_new_width() {
    let long = "some words that are to be broken anew ".repeat(6);
    let server = ModelServer::start([Reply::text(&long)]);
    let w = Workspace::new(&server);
    let mut t = w.start_sized(&[], 60, 30);
    t.ready().ask("go").sees("broken anew").hides("esc interrupts");
    t.resize(110, 30);
    t.ask("/redraw").screen_is("rows of the new width", |s| s.lines().any(|l| l.contains("broken anew") && l.len() > 90));
}
