//! The pages of the gallery: what `gallery.rs` prints and the snapshot test compares.
//!
//! Invariant: nothing depends on time, chance or the environment.

#[path = "checkpoints.rs"]
mod checkpoints;

use backstitch_components::chat_log::{self, Level, Step, ToolState};
use backstitch_components::code::Highlighter;
use backstitch_components::completer::{Completer, Entry};
use backstitch_components::dialog::{Dialog, DialogState};
use backstitch_components::diff_view::DiffModel;
use backstitch_components::editor::{Edit, Editor, Look};
use backstitch_components::key_hints::{hint_row, key_table};
use backstitch_components::list::{Item, ListState, matched};
use backstitch_components::markdown::{MarkdownStream, render};
use backstitch_components::picker::Picker;
use backstitch_components::spinner::frame;
use backstitch_components::status_line::{Segment, status_line};
use backstitch_components::text::sanitize::sanitize;
use backstitch_components::text::wrap::wrap_exact;
use backstitch_components::{Line, Role, Span, Style};

pub type Page = (&'static str, Vec<Line>);

pub fn pages(width: usize) -> Vec<Page> {
    let mut pages = vec![
        ("transcript", transcript(width)),
        ("tool states", tools(width)),
        ("steps of a plan", steps(width)),
        ("notices", notices(width)),
        ("markdown", assistant(MARKDOWN, width)),
        ("markdown, half arrived", half(width)),
        ("code", code(width)),
        ("diff", diff(width)),
        ("diff, side by side", split(width)),
        ("diff, cut and special", diffs(width)),
        ("approval", approval(width)),
        ("approval, typing a reason", reason(width)),
        ("prompt", prompts(width)),
        ("picker", picker(width)),
        ("picker, empty", picker_empty(width)),
        ("completer", completer(width)),
        ("status", status(width)),
        ("keys", keys(width)),
        ("hostile text", hostile(width)),
        ("roles", roles(width)),
    ];
    pages.extend(checkpoints::pages(width));
    pages
}

const OLD: &str = "use std::fmt;\n\nfn is_leap(year: i32) -> bool {\n    year % 4 == 0\n}\n\n/// Days of a month.\nfn days_in(month: u8, year: i32) -> u8 {\n    match month { 2 => 28,\n        4 | 6 | 9 | 11 => 30,\n        _ => 31,\n    }\n}\n\nfn a() {}\nfn b() {}\nfn c() {}\nfn d() {}\nfn e() {}\nfn f() {}\nfn g() {}\nfn h() {}\nfn last() { println!(\"old\"); }\n";
const NEW: &str = "use std::fmt;\n\nfn is_leap(year: i32) -> bool {\n    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)\n}\n\n/// Days of a month.\nfn days_in(month: u8, year: i32) -> u8 {\n    match month {\n        2 if is_leap(year) => 29,\n        2 => 28,\n        4 | 6 | 9 | 11 => 30,\n        _ => 31,\n    }\n}\n\nfn a() {}\nfn b() {}\nfn c() {}\nfn d() {}\nfn e() {}\nfn f() {}\nfn g() {}\nfn h() {}\nfn last() { println!(\"new: 日本語\"); }\n";

const MARKDOWN: &str = "# A heading\n\nA paragraph with **strong**, *emphasis*, `code`, ~~struck~~ text and a [link](https://example.org/a).\nIts second line stays a line: https://example.org/bare.\n\n## Lists\n\n1. first\n   - nested, with a text that is long enough to wrap at eighty columns and hang below itself\n   - 日本語の項目\n2. second\n\n- [x] done\n- [ ] open\n\n> A quote that\n> > nests.\n\n### Table\n\n| Crate | Needed for | KB |\n|:------|:-----------|---:|\n| `similar` | line and word diffs | 120 |\n| `syntect` | colours of more than two hundred languages, loaded when first asked for | 960 |\n\n```rust\nfn main() {\n    println!(\"copy me\"); // no decoration\n}\n```\n\nThe end.\n\n---\n";

fn assistant(text: &str, width: usize) -> Vec<Line> {
    chat_log::assistant(render(text, width - chat_log::GUTTER), true)
}

fn indented(rows: Vec<Line>) -> Vec<Line> {
    rows.into_iter().map(|row| row.indented(chat_log::TOOL_INDENT)).collect()
}

fn edit_diff() -> DiffModel {
    DiffModel::new(Some(OLD), Some(NEW), "src/dates.rs")
}

fn transcript(width: usize) -> Vec<Line> {
    let mut rows = chat_log::welcome(
        "backstitch",
        "0.1",
        &["qwen3-coder:30b", "~/src/shop (main)"],
        &[("@", "file"), ("/", "command"), ("!", "shell"), ("shift+tab", "mode"), ("?", "keys")],
        width,
    );
    rows.push(Line::new());
    rows.extend(chat_log::user_prompt("the date test fails on leap years, fix it", width, None));
    rows.push(Line::new());
    rows.push(chat_log::reasoning_folded(6, width));
    rows.push(Line::new());
    rows.extend(assistant("The parser drops the 29th. I'll look at the test first.", width));
    rows.push(Line::new());
    rows.push(chat_log::tool_line(ToolState::Done, "View", "tests/dates.rs", "1–80 of 212".into(), width));
    rows.push(chat_log::tool_line(ToolState::Done, "GrepTool", "\"leap\" in src", "6 matches".into(), width));
    let (added, removed) = edit_diff().stats();
    rows.push(chat_log::tool_line(ToolState::Done, "Edit", "src/dates.rs", chat_log::change_counts(added, removed), width));
    rows.extend(indented(edit_diff().rows(width - chat_log::TOOL_INDENT, Some(12))));
    rows.push(chat_log::tool_line(ToolState::Done, "Bash", "cargo test dates", "exit 0 · 1.4 s".into(), width));
    rows.extend(chat_log::output_tail("running 14 tests\ntest result: ok. 14 passed; 0 failed\n", 1, width));
    rows.push(Line::new());
    rows.extend(assistant("Fixed: February has 29 days in leap years; **14 tests** pass.", width));
    rows.push(Line::new());
    let parts = ["checkpoint 3", "1 file changed", "esc esc to go back"];
    rows.push(chat_log::turn_footer(&parts, &["12 s", "4.1k tokens", "$0.01"], width));
    rows.push(Line::new());
    rows.push(chat_log::busy_line(3, false, "Thinking", &["6 s", "esc to stop"], width - 2).indented(2));
    rows.push(chat_log::queued_prompt("and then add a test for 1900", width));
    rows.push(chat_log::rule(width));
    rows.extend(Editor::new().view(&Look::default(), width, 5).rows);
    rows.push(status_rows(width));
    rows
}

fn tools(width: usize) -> Vec<Line> {
    let states = [
        (ToolState::Waiting, "Bash", "cargo build --release", ""),
        (ToolState::Running { tick: 2, still: false }, "Bash", "cargo test --workspace --all-features -- --nocapture", "12 s"),
        (
            ToolState::Running { tick: 2, still: true },
            "Fetch",
            "https://example.org/a/very/long/address/that/has/to/lose/its/middle.html",
            "",
        ),
        (ToolState::Done, "View", "6 files", ""),
        (ToolState::Failed, "Bash", "make", "exit 2 · 0.3 s"),
        (ToolState::Denied, "Write", "/etc/passwd", "denied"),
        (ToolState::Done, "a_tool_with_a_long_name", "日本語/パス/とても長い/ファイル名.txt", "3 行"),
    ];
    let mut rows: Vec<Line> =
        states.iter().map(|(state, name, argument, result)| chat_log::tool_line(*state, name, argument, (*result).into(), width)).collect();
    let output: String =
        (1..=30).map(|n| format!("\x1b[32m   Compiling\x1b[0m crate-{n} v0.1.0 (/code/shop/crates/crate-{n})\n")).collect();
    rows.extend(chat_log::output_tail(&output, 4, width));
    rows
}

fn steps(width: usize) -> Vec<Line> {
    let all = [
        (Step::Done, "read the parser"),
        (Step::Done, "find why leap years fail"),
        (Step::Current, "let February have 29 days in leap years, and write a test that fails without it"),
        (Step::Open, "すべてのテストを実行する"),
        (Step::Open, "tidy up"),
    ];
    let mut rows = vec![chat_log::tool_line(ToolState::Done, "Todo", "", "2 of 5 done".into(), width)];
    rows.extend(chat_log::steps(&all, 24, width));
    rows.push(chat_log::tool_line(ToolState::Done, "Todo", "", "2 of 5 done".into(), width));
    rows.extend(chat_log::steps(&all, 4, width));
    rows
}

fn notices(width: usize) -> Vec<Line> {
    let mut rows = chat_log::notice(Level::Info, "Resumed the session of yesterday.", &[], width);
    rows.extend(chat_log::notice(Level::Warning, "The context is 92 % full.", &["/compact summarises the older turns"], width));
    rows.extend(chat_log::notice(
        Level::Error,
        "The provider refused the key.\n401 Unauthorized",
        &["set OPENAI_API_KEY, or choose another model with /model", "backstitch doctor checks the rest"],
        width,
    ));
    rows.extend(chat_log::reasoning("The test looks for the 29th.\n\nSo the parser must know leap years.", width));
    rows.extend(chat_log::user_prompt(&"A long prompt 日本語 ".repeat(12), width, Some(3)));
    rows
}

fn half(width: usize) -> Vec<Line> {
    let mut stream = MarkdownStream::new();
    stream.push("Done. Next:\n\n- **check** the\n- run it\n\n```rust\nlet a = 1;\nlet b = \"unfin");
    let mut rows = stream.settled(width - 2);
    rows.extend(stream.tail(width - 2));
    stream = MarkdownStream::new();
    stream.push("A line that is still **being wri");
    rows.extend(stream.tail(width - 2));
    chat_log::assistant(rows, true)
}

fn code(width: usize) -> Vec<Line> {
    let samples = [
        (
            "rust",
            "#[derive(Debug)]\npub struct Day<'a> { name: &'a str, n: u8 } // a day\nimpl Day<'_> { fn next(&self) -> Option<u8> { self.n.checked_add(1) } }",
        ),
        ("python", "def greet(name: str = \"you\") -> None:\n    print(f\"hello {name}\", 42, True)  # hi"),
        ("ts", "export const f = async (x: number): Promise<string> => `n = ${x}`;"),
        ("json", "{ \"key\": [1, 2.5, true, null], \"text\": \"value\" }"),
        ("sh", "for f in *.rs; do grep -n \"fn main\" \"$f\" | head -3; done"),
        ("diff", "-old line\n+new line"),
        ("unknown", "plain { text }"),
    ];
    let mut rows = Vec::new();
    for (language, text) in samples {
        let mut highlighter = Highlighter::for_language(language);
        for line in text.lines() {
            let line: Line = highlighter.push_line(line).into_iter().collect();
            rows.extend(wrap_exact(&line, width - 2).into_iter().map(|row| row.indented(2)));
        }
        rows.push(Line::new());
    }
    rows
}

fn diff(width: usize) -> Vec<Line> {
    indented(edit_diff().rows(width - chat_log::TOOL_INDENT, None))
}

fn split(width: usize) -> Vec<Line> {
    let model = edit_diff();
    if width < backstitch_components::diff_view::SPLIT_WIDTH {
        Vec::new()
    } else {
        model.split_window(0..model.split_line_count(), width, true)
    }
}

fn diffs(width: usize) -> Vec<Line> {
    let room = width - chat_log::TOOL_INDENT;
    let cases = [
        (Some(OLD), Some(NEW), Some(6)),
        (None, Some("a new file\nwithout its last line end"), None),
        (Some("gone\n"), None, None),
        (Some("indent:\n    with blanks\n"), Some("indent:\n\twith a tab\ntrailing  \n"), None),
        (Some("crlf\r\n"), Some("crlf\n"), None),
        (None, Some(""), None),
        (Some("\0"), Some("\0\0"), None),
        (
            None,
            Some(
                "a line that is so long that it has to be wrapped even in a window of a hundred and twenty columns, which is why it goes on\n",
            ),
            None,
        ),
    ];
    let mut rows = Vec::new();
    for (old, new, max) in cases {
        rows.extend(indented(DiffModel::new(old, new, "src/x.rs").rows(room, max)));
        rows.push(Line::new());
    }
    rows
}

fn approval_dialog(width: usize) -> Dialog {
    Dialog {
        title: "Edit src/dates.rs".into(),
        note: chat_log::change_counts(5, 3),
        body: indented(edit_diff().rows(width - chat_log::TOOL_INDENT, None)),
        missing: 0,
        choices: vec![
            Item::new("yes").key('y'),
            Item::new("yes, all edits this session").key('a'),
            Item::new("no, and say why").key('n').detail("type your reason"),
            Item::new("open in the diff viewer").key('v').detail("choose hunks"),
        ],
        asks: Some("what should be done instead".into()),
    }
}

fn approval(width: usize) -> Vec<Line> {
    let dialog = approval_dialog(width);
    let mut state = DialogState::default();
    let mut rows = state.view(&dialog, width, 15).rows;
    state.list.step(2, 4);
    rows.push(Line::new());
    rows.extend(state.view(&dialog, width, 8).rows);
    rows
}

fn reason(width: usize) -> Vec<Line> {
    let mut state = DialogState::default();
    state.type_for(2);
    let mut rows = state.view(&approval_dialog(width), width, 8).rows;
    state.text = Editor::with_text("keep the old name, please 日本語");
    rows.push(Line::new());
    rows.extend(state.view(&approval_dialog(width), width, 8).rows);
    rows
}

/// Rows of an editor with its cursor shown in reverse.
fn with_cursor(editor: &Editor, width: usize) -> Vec<Line> {
    let look = Look { placeholder: "Ask, or type / for commands".into(), ..Look::default() };
    let view = editor.view(&look, width, 6);
    let mut rows = view.rows;
    if let Some(row) = rows.get_mut(view.cursor.1) {
        let before = backstitch_components::text::wrap::cut(row, view.cursor.0).pad_to(view.cursor.0);
        *row = before.with(Span::new("█", Style::new()));
    }
    rows
}

fn prompts(width: usize) -> Vec<Line> {
    let mut rows = with_cursor(&Editor::new(), width);
    rows.extend(with_cursor(&Editor::with_text("one line"), width));
    rows.extend(with_cursor(&Editor::with_text("several\nlines with 日本語 and e\u{301}\n\nand one that is long enough to wrap at eighty columns, which takes a few more words"), width));
    let mut pasted = Editor::with_text("look at ");
    pasted.apply(Edit::Paste("x\n".repeat(240)), width);
    pasted.apply(Edit::Insert(" please".into()), width);
    rows.extend(with_cursor(&pasted, width));
    rows
}

fn file_picker(query: &str) -> Picker {
    let mut picker = Picker::new(query);
    picker.set_matches((0..5).collect());
    picker
}

fn picker(width: usize) -> Vec<Line> {
    let files = [
        "src/main.rs",
        "src/tui/main_view.rs",
        "docs/maintaining.md",
        "assets/日本語/main.txt",
        "crates/a/very/long/path/that/goes/on/main.rs",
    ];
    let item = |at: usize| {
        let text: &str = files[at];
        let from = text.find("mai").map_or(0, |at| text[..at].chars().count());
        Item::new(matched(text, &[from, from + 1, from + 2], Style::new())).detail(["M", "", "", "new", ""][at])
    };
    let mut picker = file_picker("mai");
    picker.press(&backstitch_components::Chord::plain(iocraft::KeyCode::Down));
    let mut rows = picker.view(item, 1200, width, 6).rows;
    rows.push(Line::new());
    let commands = [("/model", "choose a model"), ("/rewind", "go back to a checkpoint"), ("/compact", "summarise older turns")];
    let items: Vec<Item> = commands.iter().map(|(name, help)| Item::new(*name).detail(*help)).collect();
    rows.extend(ListState::default().view(&items, width, 5, false));
    rows
}

fn picker_empty(width: usize) -> Vec<Line> {
    Picker::new("").view(|_| Item::default(), 0, width, 5).rows
}

fn completer(width: usize) -> Vec<Line> {
    let hints = [("tab or enter", "takes"), ("esc", "closes")];
    let path = |text: &str, note: &str| {
        let from = text.find("mai").map_or(0, |at| text[..at].chars().count());
        Entry { text: text.into(), positions: (from..from + 3).collect(), path: true, note: note.into(), ..Entry::default() }
    };
    let deep = (0..8).map(|n| path(&format!("a/path/that/goes/on/and/on/for/longer/than/narrow/windows/main_{n}.rs"), ""));
    let files = [path("src/main.rs", "recent"), path("docs/日本語/maintaining.md", "changed"), path("bad\x1b[2J\nmain\u{202e}/", "")];
    let mut found = Completer::new(false);
    found.set(files.into_iter().chain(deep).collect(), 1_200);
    let mut rows = found.view(width, 8);
    rows.push(found.footer(&hints, "indexing…", width));
    rows.push(Line::new());
    found.step(-1);
    rows.extend(found.view(width, 3));
    rows.push(found.footer(&hints, "", width));
    rows.push(Line::new());
    let command = |name: &str, hint: &str, about: &str| Entry {
        text: name.into(),
        positions: vec![1],
        hint: hint.into(),
        about: about.into(),
        ..Entry::default()
    };
    let commands = vec![
        command("/model", "[provider/]name", "list the models, or switch to one"),
        command("/mode", "normal|auto-accept|plan|yolo", "what may happen without asking (yolo: everything)"),
    ];
    let mut menu = Completer::new(true);
    menu.set(commands, 0);
    rows.extend(menu.view(width, 8));
    rows.push(menu.footer(&[("tab", "takes"), ("enter", "runs")], "", width));
    rows
}

fn status_rows(width: usize) -> Line {
    let left = [
        Segment::new(Line::styled("normal", Role::ModeNormal), 9),
        Segment::new(Line::styled("qwen3-coder:30b", Role::Dim), 6),
        Segment::new(Line::styled("ctx 12 %", Role::Dim), 7),
        Segment::new(Line::styled("$0.03", Role::Dim), 5),
    ];
    let right = [Segment::new(Line::styled("? keys", Role::Dim), 1)];
    status_line(&left, &right, width)
}

fn status(width: usize) -> Vec<Line> {
    let mut rows = vec![status_rows(width)];
    for (name, role) in [("auto-accept", Role::ModeAuto), ("plan", Role::ModePlan), ("yolo", Role::ModeYolo)] {
        rows.push(status_line(&[Segment::new(Line::styled(name, Style::from(role).bold()), 9)], &[], width));
    }
    rows.push(
        (0..10).map(|tick| Span::new(frame(tick, false), Role::Spinner)).chain([frame(0, true).into()]).collect::<Line>().indented(2),
    );
    rows
}

fn keys(width: usize) -> Vec<Line> {
    let hints = [
        ("enter", "send"),
        ("ctrl+j", "new line"),
        ("shift+tab", "next mode"),
        ("esc", "interrupt"),
        ("esc esc", "go back to a checkpoint"),
        ("ctrl+r", "search the history"),
        ("ctrl+g", "edit in $EDITOR"),
    ];
    let mut rows = key_table(&hints, width);
    rows.push(hint_row(&hints, width));
    rows
}

fn hostile(width: usize) -> Vec<Line> {
    let text = "bell\x07 erase\x1b[2J title\x1b]0;x\x07 open\x1b]0;never closed, \u{202e}reversed\u{202c}, ze\u{200b}ro, family 👨\u{200d}👩\u{200d}👧 hand 👍🏽 flag 🇩🇪 heart ❤\u{fe0f}|";
    let mut rows = chat_log::notice(Level::Info, text, &[], width);
    rows.push(Line::plain(sanitize("tab\tstop\ta\tb").into_owned()));
    rows
}

fn roles(width: usize) -> Vec<Line> {
    use Role::*;
    let roles = [
        Text,
        Dim,
        Accent,
        User,
        Assistant,
        Tool,
        Success,
        Warning,
        Error,
        Border,
        Code,
        Link,
        Heading,
        Quote,
        DiffAdded,
        DiffRemoved,
        DiffContext,
        LineNumber,
        Spinner,
        ModeNormal,
        ModeAuto,
        ModePlan,
        ModeYolo,
        SynKeyword,
        SynString,
        SynComment,
        SynFunction,
        SynType,
        SynNumber,
        SynConstant,
        SynVariable,
        SynOperator,
        SynPunctuation,
        SynAttribute,
    ];
    roles
        .chunks((width - 2) / 9)
        .map(|row| {
            row.iter().enumerate().fold(Line::new(), |line, (at, role)| {
                line.pad_to(2 + at * 9).and(format!("{role:?}").chars().take(8).collect::<String>(), *role)
            })
        })
        .collect()
}
