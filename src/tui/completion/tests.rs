//! The popup by keys: what opens it, what its keys do, what is sent.

use crate::{
    finder::{Answer, Hit},
    protocol::*,
    tui::{
        app::{Cmd, Msg},
        jobs::{Draft, Job, Report},
        tests::{Bench, press, prompt, setting},
    },
};
use proptest::prelude::*;

/// A bench whose finder knows these paths and answers at once.
struct Found {
    bench: Bench,
    paths: Vec<&'static str>,
    asked: Vec<String>,
}

impl Found {
    fn new(paths: &[&'static str]) -> Found {
        Found { bench: Bench::ready(), paths: paths.to_vec(), asked: vec![] }
    }

    fn answer(&mut self, cmds: Vec<Cmd>) -> Vec<Cmd> {
        let mut others = vec![];
        for cmd in cmds {
            let Cmd::Do(Job::Find(query)) = cmd else {
                others.push(cmd);
                continue;
            };
            let hits = self.paths.iter().filter(|path| path.contains(&query.text) && **path != query.text);
            let hits: Vec<Hit> = hits.map(|path| Hit { path: path.to_string(), ..Hit::default() }).collect();
            self.asked.push(query.text);
            let matching = hits.len();
            self.bench.msg(Msg::Report(Report::Found(Answer { id: query.id, hits, matching, indexing: false })));
        }
        others
    }

    fn typed(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            let cmds = self.bench.msg(Msg::Key(iocraft::KeyCode::Char(c), iocraft::KeyModifiers::NONE));
            self.answer(cmds);
        }
        self
    }

    fn keys(&mut self, keys: &str) -> Vec<Cmd> {
        let mut others = vec![];
        for key in keys.split(' ') {
            let cmds = self.bench.msg(press(key));
            others.extend(self.answer(cmds));
        }
        others
    }

    fn text(&self) -> &str {
        self.bench.model.prompt.editor.text()
    }

    fn is_open(&self) -> bool {
        super::Completion::footer(&self.bench.model, 80).is_some()
    }
}

fn ready() -> Found {
    Found::new(&["src/", "src/main.rs", "src/tui/", "my file.txt", "日本語.md"])
}

#[test]
fn tab_or_enter_takes_and_the_next_enter_sends() {
    for key in ["tab", "enter"] {
        let mut t = ready();
        assert_eq!(t.typed("look at @main").keys(key), []);
        assert_eq!(t.text(), "look at @src/main.rs ");
        assert!(!t.is_open());
        assert_eq!(t.keys("enter"), [prompt("look at @src/main.rs ")]);
    }
    // Typed in full there is nothing to take.
    let mut t = ready();
    t.paths.push("src/main.rs.orig");
    t.typed("@src/main.rs");
    t.bench.msg(Msg::Report(Report::Found(Answer {
        id: t.bench.model.completion.asked,
        hits: vec![Hit { path: "src/main.rs".into(), ..Hit::default() }],
        matching: 1,
        indexing: false,
    })));
    assert_eq!(t.keys("enter"), [prompt("@src/main.rs")]);
}

#[test]
fn enter_sends_what_is_there_while_the_answer_is_awaited() {
    let mut t = ready();
    t.typed("@ma");
    assert!(t.is_open());
    t.bench.msg(press("i"));
    assert!(t.is_open(), "the old entries stay");
    assert_eq!(t.bench.keys("enter"), [prompt("@mai")]);
}

#[test]
fn stale_answers_are_dropped() {
    let mut t = ready();
    let answer =
        |id| Msg::Report(Report::Found(Answer { id, hits: vec![Hit { path: "x".into(), ..Hit::default() }], ..Answer::default() }));
    t.bench.typed("@ab");
    t.bench.msg(answer(2));
    assert!(!t.is_open());
    t.bench.msg(answer(3));
    assert!(t.is_open());
    t.bench.keys("esc");
    t.bench.msg(answer(3));
    assert!(!t.is_open());
}

#[test]
fn a_folder_keeps_the_popup_open_and_enter_sends_it() {
    let mut t = ready();
    t.typed("@sr").keys("tab");
    assert_eq!(t.text(), "@src/");
    assert!(t.is_open());
    assert_eq!(t.asked.last().unwrap(), "src/");
    assert_eq!(t.keys("down enter"), []);
    assert_eq!(t.text(), "@src/main.rs ");
    let mut t = ready();
    t.typed("in @sr").keys("tab");
    assert_eq!(t.keys("enter"), [prompt("in @src/")]);
}

#[test]
fn names_with_blanks_ranges_and_wide_characters() {
    let mut t = ready();
    t.typed("@my").keys("tab");
    assert_eq!(t.text(), "@\"my file.txt\" ");
    let mut t = ready();
    t.typed("@\"my f").keys("tab");
    assert_eq!(t.text(), "@\"my file.txt\" ");
    let mut t = ready();
    t.typed("@main:10-20").keys("tab");
    assert_eq!(t.text(), "@src/main.rs:10-20 ");
    let mut t = ready();
    t.typed("x @本 y").keys("left left tab tab");
    assert_eq!(t.text(), "x @日本語.md y");
}

#[test]
fn esc_closes_until_another_word_and_tab_opens_again() {
    let mut t = ready();
    t.typed("@m").keys("esc");
    assert!(!t.is_open());
    t.typed("a");
    assert!(!t.is_open());
    t.keys("tab");
    assert!(t.is_open());
    t.keys("esc");
    t.typed(" @m");
    assert!(t.is_open());
    // Nothing matches: it is gone by itself, and its keys with it.
    t.typed("zzz");
    assert!(!t.is_open());
}

#[test]
fn keys_of_editing_are_not_eaten_and_history_does_not_open_it() {
    let mut t = ready();
    t.typed("@ma").keys("home");
    assert!(!t.is_open());
    assert_eq!(t.bench.model.prompt.editor.cursor(), 0);
    t.keys("end ctrl+u");
    t.typed("one @ma").keys("esc enter");
    t.bench.msg(Msg::Report(Report::History(vec!["two @ma".into()])));
    t.keys("up");
    assert_eq!(t.text(), "one @ma");
    assert!(!t.is_open());
    t.keys("up");
    assert_eq!(t.text(), "two @ma");
    t.bench.msg(Msg::Paste("@ma".into()));
    assert!(!t.is_open());
}

#[test]
fn commands_run_by_one_enter() {
    let mut t = ready();
    assert_eq!(t.typed("/und").keys("enter"), [Cmd::Send(Command::Undo)]);
    assert_eq!(t.text(), "");
    assert_eq!(t.typed("/undo").keys("enter"), [Cmd::Send(Command::Undo)]);
    assert_eq!(t.typed("/mod").keys("tab"), [Cmd::Send(Command::ListModels)]);
    assert_eq!(t.bench.remembered, ["/undo"]);
    let mut t = ready();
    // A command that needs an argument asks for it.
    assert_eq!(t.typed("/mode").keys("enter"), []);
    assert_eq!(t.text(), "/mode ");
    assert!(t.bench.screen().contains("auto-accept"), "{}", t.bench.screen());
    assert_eq!(t.typed("pl").keys("enter"), [Cmd::Send(Command::SetMode(Mode::Plan))]);
    assert!(!t.is_open());
}

#[test]
fn models_are_asked_for_once_and_not_printed() {
    let mut t = ready();
    assert_eq!(t.typed("/mode").keys("l space"), [Cmd::Send(Command::ListModels)]);
    let model = |name: &str| ModelInfo { id: ModelId { provider: "local".into(), model: name.into() }, context_window: None, vision: None };
    t.bench.event(None, EventBody::Session(SessionEvent::Models(vec![model("qwen"), model("llama")])));
    assert!(t.bench.screen().contains("local/llama") && t.is_open());
    let llama = ModelId { provider: "local".into(), model: "llama".into() };
    assert_eq!(t.typed("lla").keys("enter"), [Cmd::Send(Command::SetModel(llama))]);
    assert_eq!(t.typed("/model").keys("space"), []);
}

#[test]
fn shell_lines_run_as_typed_unless_an_entry_was_chosen() {
    let mut t = ready();
    assert_eq!(t.typed("!c").keys("enter"), [Cmd::Do(Job::LoadHistory), Cmd::Send(Command::RunShell("c".into()))][1..]);
}

#[test]
fn shell_history_and_paths() {
    let mut t = ready();
    t.bench.msg(Msg::Report(Report::History(vec!["!cargo test".into(), "!ls -l".into(), "say".into()])));
    t.typed("!car");
    assert!(t.is_open());
    assert_eq!(t.keys("down enter"), []);
    assert_eq!(t.text(), "!cargo test");
    assert_eq!(t.keys("enter"), [Cmd::Send(Command::RunShell("cargo test".into()))]);
    t.typed("!cat my").keys("tab");
    assert_eq!(t.text(), "!cat my\\ file.txt ");
}

#[test]
fn history_waits_for_the_disk_and_is_filtered_by_what_is_before_the_cursor() {
    let mut t = ready();
    t.typed("fi");
    assert_eq!(t.keys("up up"), [Cmd::Do(Job::LoadHistory)]);
    assert_eq!(t.text(), "fi");
    t.bench.msg(Msg::Report(Report::History(["fix a", "other", "fix b"].map(String::from).to_vec())));
    assert_eq!(t.text(), "fix a");
    t.keys("down");
    assert_eq!(t.text(), "fix b");
    t.keys("down");
    assert_eq!(t.text(), "fi");
    t.keys("left up");
    assert_eq!(t.text(), "fix b");
}

#[test]
fn searching_what_was_typed_before() {
    let mut t = ready();
    t.bench.msg(Msg::Report(Report::History(["fix the tests", "write\ntests", "other"].map(String::from).to_vec())));
    t.keys("ctrl+r");
    t.typed("tests");
    let screen = t.bench.screen();
    assert!(screen.contains("2 of 3") && screen.contains("▸ write⏎tests"), "{screen}");
    assert_eq!(t.keys("ctrl+r enter"), []);
    assert_eq!(t.text(), "fix the tests");
    t.keys("ctrl+r esc");
    assert_eq!(t.text(), "fix the tests");
}

#[test]
fn a_backslash_before_enter_is_a_new_line_and_the_editor_gives_its_text_back() {
    let mut t = ready();
    assert_eq!(t.typed("a\\").keys("enter"), []);
    t.typed("b");
    assert_eq!(t.keys("ctrl+g"), [Cmd::Do(Job::Edit(Draft { text: "a\nb".into(), call: None, ending: ".md".into() }))]);
    t.bench.msg(Msg::Report(Report::Edited(Ok("new".into()))));
    assert_eq!(t.text(), "new");
    t.bench.msg(Msg::Report(Report::Edited(Err(Notice::error("no")))));
    assert_eq!(t.text(), "new");
}

#[test]
fn what_the_tools_touch_and_the_user_mentions_comes_first() {
    let mut t = ready();
    let access = Access::Write(vec!["/p/src/dates.rs".into()]);
    t.bench.asks(access, Block::Diff(vec![]));
    t.bench.event(None, EventBody::Turn(TurnEvent::UserSaid("see @\"a b\":3".into())));
    assert_eq!(t.bench.model.completion.recent, ["a b", "src/dates.rs"]);
}

#[test]
fn nothing_typed_in_the_set_up_form_is_remembered() {
    let mut t = ready();
    t.typed("/setup").keys("enter e");
    t.typed("http://secret").keys("enter");
    t.typed("sk-secret").keys("enter esc");
    assert_eq!(t.bench.remembered, ["/setup"]);
}

#[test]
fn it_looks_like_this() {
    let mut t = ready();
    let mut all = String::new();
    t.bench.msg(Msg::Report(Report::History(vec![])));
    for (size, text) in [((80, 24), "look at @"), ((40, 12), "/"), ((40, 12), "/mode "), ((24, 7), "@")] {
        t.bench.msg(Msg::Resize(size.0, size.1));
        t.keys("ctrl+u");
        t.typed(text);
        let screen = t.bench.screen();
        assert!(screen.lines().count() <= usize::from(size.1) - 2, "{screen}");
        assert!(screen.contains(&format!("❯ {}", text.trim_end())), "the prompt is covered: {screen}");
        all.push_str(&format!("{size:?}\n{screen}\n"));
    }
    insta::assert_snapshot!(all);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Taking an entry changes the word and nothing else.
    #[test]
    fn taking_replaces_exactly_the_word(before in "[a@ \"本(\n]{0,8}", word in "[a-c本.]{0,4}", after in "( [a@ \"\n]{0,8})?") {
        let text = format!("{before} @{word}{after}");
        let mut t = Found::new(&[]);
        t.bench.model.prompt.editor.set_text(&text);
        for _ in after.chars() {
            t.keys("left");
        }
        t.keys("tab");
        let Some(super::Popup { word, .. }) = &t.bench.model.completion.popup else { return Ok(()) };
        let range = word.range.clone();
        let id = t.bench.model.completion.asked;
        t.bench.msg(Msg::Report(Report::Found(Answer { id, hits: vec![Hit { path: "x/日.rs".into(), ..Hit::default() }], matching: 1, indexing: false })));
        t.keys("tab");
        let now = t.text();
        prop_assert_eq!(&now[..range.start], &text[..range.start]);
        let rest = &text[range.end..];
        prop_assert!(now.ends_with(rest));
        let taken = &now[range.start..now.len() - rest.len()];
        prop_assert!(taken == "@x/日.rs" || taken == "@x/日.rs ", "{:?}", taken);
    }

    #[test]
    fn any_keys_at_any_size_never_panic(keys in proptest::collection::vec(0usize..24, 0..60), columns in 20u16..90, rows in 6u16..30) {
        let mut t = ready();
        t.bench = Bench::new(setting(), (columns, rows));
        let all = ["@", "/", "!", "m", "a", "space", "\"", ":", "1", "up", "down", "tab", "enter", "esc", "left", "right", "backspace",
            "home", "end", "ctrl+r", "ctrl+w", "ctrl+j", "\\", "ctrl+g"];
        for key in keys {
            t.keys(all[key]);
            let frame = crate::tui::view::frame(&t.bench.model);
            let left = if t.bench.model.is_fullscreen() { 0 } else { 2 };
            prop_assert!(frame.rows().count() <= usize::from(rows).max(8) - left);
            prop_assert!(frame.rows().all(|row| row.width() <= usize::from(columns)));
        }
    }
}

#[test]
fn lines_may_be_typed_right_after_a_file_was_taken() {
    let mut t = ready();
    t.typed("see @main").keys("tab");
    t.typed(":3-9");
    assert_eq!(t.text(), "see @src/main.rs:3-9");
    let mut t = ready();
    t.typed("@\"my f").keys("tab");
    t.typed(":3");
    assert_eq!(t.text(), "@\"my file.txt\":3");
    // Only right after it, and nothing else is joined to it.
    let mut t = ready();
    t.typed("@main").keys("tab");
    t.typed("x :3");
    assert_eq!(t.text(), "@src/main.rs x :3");
    let mut t = ready();
    t.typed("@main").keys("tab left right");
    t.typed(":");
    assert_eq!(t.text(), "@src/main.rs :");
}
