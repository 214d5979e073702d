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
    let ask = || Reply::call("Bash", json!({ "command": "touch hi" }));
    let server = ModelServer::start([ask(), Reply::text("One."), ask(), Reply::text("Two.")]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready().type_("\x1b[I").ask("go").shows("Run this command?").press('y').sees("One.").hides("esc interrupts");
    assert!(!written(&t).contains("\x1b]9;"), "who looks is not called");
    t.type_("\x1b[O").ask("again").shows("Run this command?");
    wrote(&mut t, "\x1b]9;Backstitch: shop waits for you: Bash touch hi\x1b\\");
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
    t.ready().sees("themes/broken.json").ask("/theme");
    t.screen_is("the picker is drawn", |s| s.contains("leaves it as it was") && s.trim_end().ends_with("? keys"));
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

// --- images ---

fn png(width: u32, height: u32) -> Vec<u8> {
    [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &width.to_be_bytes(), &height.to_be_bytes(), &[8, 6, 0, 0, 0, 1, 2, 3, 4]].concat()
}

fn url_of(request: &model_server::Asked) -> String {
    let last = request.body["messages"].as_array().unwrap().last().unwrap();
    let part = last["content"].as_array().unwrap().iter().find(|part| part["type"] == "image_url").unwrap();
    part["image_url"]["url"].as_str().unwrap().to_owned()
}

#[test]
fn a_path_that_is_dragged_in_becomes_a_picture_and_is_sent() {
    let server = ModelServer::start([Reply::text("A cat.")]);
    let w = Workspace::new(&server);
    std::fs::write(w.root().join("my shot.png"), png(640, 480)).unwrap();
    let mut t = w.start();
    t.ready().paste("no-such.png").shows("❯ no-such.png").ctrl('c').hides("no-such.png");
    t.type_("what is ").paste(&format!("'{}'", w.root().join("my shot.png").display())).shows("❯ what is [image 1: 640×480 png]");
    t.enter().sees("A cat.");
    let request = server.request(1);
    let url = url_of(&request);
    assert!(url.starts_with("data:image/png;base64,iVBORw0KGgo"), "{url}");
    let text = request.body["messages"].as_array().unwrap().last().unwrap()["content"][0]["text"].as_str().unwrap().to_owned();
    assert_eq!(text.trim_end(), "what is [image 1: 640×480 png]");
    // In the journal too.
    let journal = std::fs::read_to_string(&w.journals()[0]).unwrap();
    assert!(journal.contains("image 1: 640×480 png"), "{journal}");
}

#[test]
fn a_picture_from_the_clipboard() {
    use std::os::unix::fs::PermissionsExt;
    let server = ModelServer::start([Reply::text("A dog.")]);
    let w = Workspace::new(&server);
    let folder = w.home().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("shot.png"), png(33, 44)).unwrap();
    let script = "#!/bin/sh\ncase $1 in --list-types) printf 'text/plain\\nimage/png\\n';; *) cat \"${0%/*}/shot.png\";; esac\n";
    let program = folder.join("wl-paste");
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let w = w.env("PATH", &path).env("WAYLAND_DISPLAY", "wayland-9");
    let mut t = w.start();
    t.ready().ctrl('v').shows("❯ [image 1: 33×44 png]").enter().sees("A dog.");
    assert!(url_of(&server.request(1)).starts_with("data:image/png;base64,"));
}

#[test]
fn what_the_clipboard_misses_is_said() {
    let server = ModelServer::start([]);
    let w = Workspace::new(&server).env("WAYLAND_DISPLAY", "").env("DISPLAY", "");
    let mut t = w.start();
    t.ready().ctrl('v').sees("No clipboard can be reached").sees("/image PATH");
}

#[test]
fn a_model_that_sees_nothing_is_named() {
    let server = ModelServer::start([Reply::error(400, "image input is not supported by this model")]);
    let w = Workspace::new(&server);
    std::fs::write(w.root().join("a.png"), png(2, 2)).unwrap();
    let ended = w.run(&["run", "--image", "a.png", "what is it?"], "");
    assert_eq!(ended.code(), Some(1));
    assert!(ended.stderr.contains("image input is not supported") && ended.stderr.contains("\"vision\": false"), "{}", ended.stderr);
    assert!(server.request(1).body["messages"][1]["content"][0]["text"].as_str().unwrap().ends_with("[image 1: 2×2 png]"));
    let ended = w.run(&["run", "--image", "nowhere.png", "what is it?"], "");
    assert!(ended.code() == Some(1) && ended.stderr.contains("nowhere.png can't be read"), "{}", ended.stderr);
    // Said beforehand, nothing is sent.
    let mut config: serde_json::Value = serde_json::from_str(&workspace::provider_config(&server)).unwrap();
    config["backstitch"]["providers"][0]["visionModels"] = json!(["another"]);
    w.write_abs(&w.config_file(), &config.to_string());
    let ended = w.run(&["run", "--image", "a.png", "what is it?"], "");
    assert!(ended.code() == Some(1) && ended.stderr.contains("sees no images"), "{}", ended.stderr);
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn a_picture_that_a_call_shows_reaches_the_model_if_it_sees() {
    let view = || Reply::call("View", json!({ "file_path": "a.png" }));
    let server = ModelServer::start([view(), Reply::text("A cat."), view(), Reply::text("I see none.")]);
    let w = Workspace::new(&server);
    std::fs::write(w.root().join("a.png"), png(2, 2)).unwrap();
    let mut t = w.start();
    t.ready().ask("look").sees("View").sees("2×2 png").sees("A cat.");
    assert!(url_of(&server.request(2)).starts_with("data:image/png;base64,iVBORw0KGgo"));
    // The journal has the picture once.
    let journal = std::fs::read_to_string(&w.journals()[0]).unwrap();
    assert_eq!(journal.matches("iVBORw0KGgo").count(), 1);
    let mut config: serde_json::Value = serde_json::from_str(&workspace::provider_config(&server)).unwrap();
    config["backstitch"]["providers"][0]["vision"] = json!(false);
    w.write_abs(&w.config_file(), &config.to_string());
    let ended = w.run(&["run", "look"], "");
    assert_eq!(ended.stdout.trim_end(), "I see none.", "{}", ended.stderr);
    let request = server.request(4);
    let (role, told) = request.last();
    assert!(role == "tool" && told.contains("sees none: its provider's settings say so"), "{role}: {told}");
}

// --- plain lines ---

fn edit() -> Reply {
    Reply::call("Edit", json!({ "file_path": "a.txt", "old_string": "one", "new_string": "two" }))
}

#[test]
fn a_whole_turn_in_plain_lines_with_an_approved_edit() {
    let server = ModelServer::after_seeing("a.txt", [edit(), Reply::text("It says **two** now.")]);
    let w = Workspace::new(&server).file("a.txt", "one\n");
    let ended = w.run(&["--plain"], "change it\nwhat?\n1\n/mode plan\n");
    assert_eq!(ended.code(), Some(0), "{ended:?}");
    insta::assert_snapshot!("plain_edit", normalize::normalize(&ended.stdout, &w));
    assert_eq!(w.read("a.txt"), "two\n");
    assert!(!ended.stdout.chars().any(|c| c.is_control() && c != '\n'));
    assert!(w.processes().is_empty());
}

#[test]
fn a_no_with_its_reason_and_the_end_of_the_input() {
    let server = ModelServer::after_seeing("a.txt", [edit(), Reply::text("Then not."), edit(), Reply::text("never")]);
    let w = Workspace::new(&server).file("a.txt", "one\n");
    let ended = w.run(&["--plain"], "change it\n3 use b.txt\nagain\n");
    assert!(server.request(2).last().1.contains("use b.txt"));
    // Nobody is left to answer the second question.
    assert_eq!((ended.code(), w.read("a.txt").as_str()), (Some(2), "one\n"), "{ended:?}");
    assert!(ended.stdout.contains("Then not."), "{}", ended.stdout);
}

#[test]
fn a_dumb_terminal_gets_plain_lines() {
    let gate = Gate::new();
    let server = ModelServer::start([Reply::stream().say("Wait").gate(&gate).say(".").done("stop"), Reply::text("Second.")]);
    let w = Workspace::new(&server).env("TERM", "dumb");
    let mut t = w.start();
    t.sees("ctrl+d exits").ask("go");
    until("the turn runs", || server.asked().len() == 1);
    t.ctrl('c').sees("! stopping").sees("Interrupted").ask("!echo own-$((1+1))").sees("own-2").ask("next").sees("Second.");
    t.ctrl('d');
    assert_eq!(t.exits().exit_code(), 0);
    assert!(!written(&t).contains('\x1b'));
}

#[test]
fn plain_lines_ask_for_trust() {
    let server = ModelServer::start([Reply::text("Hello.")]);
    let w = Workspace::untrusted();
    w.configure(&server);
    let ended = w.run(&["--plain"], "hello\n");
    assert!(ended.code() == Some(1) && ended.stdout.contains("Do you trust") && server.asked().is_empty(), "{ended:?}");
    let ended = w.run(&["--plain"], "2\nhello\n");
    assert!(ended.code() == Some(0) && ended.stdout.contains("Hello."), "{ended:?}");
}
