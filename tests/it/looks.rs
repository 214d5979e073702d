//! How it looks and makes itself noticed: the terminal's answers, the title, calls; images; the conversation as plain lines.

use crate::support::*;
use serde_json::json;

fn written(t: &Term) -> String {
    String::from_utf8_lossy(&t.raw()).into_owned()
}

/// So often in all that was written.
fn wrote(t: &mut Term, what: &str) {
    until(&format!("{what:?} is written"), || written(t).contains(what));
}

#[test]
fn the_background_is_asked_for_with_the_first_frame_and_decides() {
    let server = ModelServer::start([]);
    let w = Workspace::new(&server).env("COLORTERM", "truecolor");
    let mut t = w.start();
    t.ready();
    let before = written(&t);
    assert!(before.contains("\x1b]11;?\x1b\\\x1b[c"));
    // The glyph of the prompt, in the accent of the dark theme; then in that of the light one.
    assert!(before.contains("38;2;127;180;202"), "dark is the first guess");
    t.type_("\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62;22c").type_("x").shows("❯ x");
    wrote(&mut t, "38;2;27;100;128");
    t.shows("❯ x").ctrl('c').hides("❯ x").ctrl('d');
    t.exits();
    assert_eq!(t.left_on().len(), 0);
    assert_eq!(written(&t).matches("\x1b]11;?").count(), 1, "once");
}

#[test]
fn an_answer_that_comes_when_it_is_over_does_not_reach_the_shell() {
    let server = ModelServer::start([]);
    let w = Workspace::new(&server);
    // The shell reads what is left in the terminal after the program's end.
    let script = format!("{}; printf 'left:'; IFS= read -r line; printf '[%s]' \"$line\"", workspace::BINARY);
    let mut t = Term::start(w.command("/bin/sh", &["-c", &script]), 80, 24, "");
    t.ready().ctrl('d').type_("\x1b]11;rgb:0000/0000/0000\x07\x1b[?62c").sees("left:").type_("ls\r").sees("[ls]");
}

#[test]
fn a_terminal_that_cannot_be_asked_is_not() {
    let server = ModelServer::start([]);
    for (name, value) in [("TERM", "linux"), ("NO_COLOR", "1")] {
        let w = Workspace::new(&server).env(name, value);
        let mut t = w.start();
        t.ready().ctrl('d');
        t.exits();
        assert!(!written(&t).contains("]11;?"), "{name}={value}");
    }
}

#[test]
fn the_title_follows_the_session_and_is_given_back() {
    let gate = Gate::new();
    let server = ModelServer::start([Reply::stream().gate(&gate).say("Done.").done("stop")]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready();
    wrote(&mut t, "\x1b[22;2t\x1b]2;backstitch · shop\x1b\\");
    t.ask("go").shows("esc interrupts");
    wrote(&mut t, "\x1b]2;backstitch · shop · working\x1b\\");
    gate.open();
    t.sees("Done.").hides("esc interrupts");
    wrote(&mut t, "\x1b]2;backstitch · shop · done\x1b\\");
    t.ctrl('d');
    t.exits();
    let all = written(&t);
    assert_eq!((all.matches("\x1b[22;2t").count(), all.matches("\x1b[23;2t").count()), (1, 1));
    assert!(all.rfind("\x1b[23;2t") > all.rfind("\x1b]2;"), "nothing is named after it was given back");
    assert_eq!(bytes::strange(&t.raw()), []);
}

#[test]
fn a_question_calls_who_looks_elsewhere() {
    let ask = || Reply::call("Bash", json!({ "command": "echo hi" }));
    let server = ModelServer::start([ask(), Reply::text("One."), ask(), Reply::text("Two.")]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready().type_("\x1b[I").ask("go").shows("Run this command?").press('y').sees("One.").hides("esc interrupts");
    assert!(!written(&t).contains("\x1b]9;"), "who looks is not called");
    t.type_("\x1b[O").ask("again").shows("Run this command?");
    wrote(&mut t, "\x1b]9;Backstitch: shop waits for you: Bash echo hi\x1b\\");
    t.press('y').sees("Two.").hides("esc interrupts");
    wrote(&mut t, "\x1b]9;Backstitch: shop has finished\x1b\\");
    t.ctrl('d');
    t.exits();
    assert!(written(&t).contains("\x1b[?1004h") && t.left_on().is_empty());
}

#[test]
fn title_and_calls_can_be_off_and_a_bell_on() {
    let server = ModelServer::start([Reply::text("One.")]);
    let w = Workspace::new(&server);
    let mut config: serde_json::Value = serde_json::from_str(&workspace::provider_config(&server)).unwrap();
    config["backstitch"]["notifications"] = json!({ "title": false, "terminal": false, "bell": true });
    w.write_abs(&w.config_file(), &config.to_string());
    let mut t = w.start();
    t.ready().type_("\x1b[O").ask("go").sees("One.").hides("esc interrupts");
    wrote(&mut t, "\x07");
    t.ctrl('d');
    t.exits();
    let all = written(&t);
    assert!(!all.contains("\x1b]2;") && !all.contains("\x1b]9;") && !all.contains(";2t"), "{all:?}");
}

#[test]
fn a_theme_is_chosen_with_a_look_at_it_and_kept() {
    let server = ModelServer::start([]);
    let w = Workspace::new(&server).env("COLORTERM", "truecolor");
    w.write_abs(&w.home().join(".config/backstitch/themes/broken.json"), "{ \"extends\": \"nowhere\" }");
    let mut t = w.start();
    t.ready().sees("themes/broken.json").ask("/theme").shows("enter takes and keeps it").shows("dates.rs");
    insta::assert_snapshot!("theme_picker", normalize::normalize(t.screen().trim_end(), &w));
    t.type_("\x1b[B\x1b[B").shows("▸ high-contrast-dark").enter().hides("enter takes and keeps it");
    let saved = || std::fs::read_to_string(w.config_file()).unwrap();
    until("it is saved", || saved().contains("high-contrast-dark"));
    assert!(saved().contains(&server.base_url()), "the rest stays");
    t.ctrl('d');
    t.exits();
    let mut t = w.start();
    t.ready().shows("test-model");
    // Its accent.
    wrote(&mut t, "38;2;92;242;255");
}
