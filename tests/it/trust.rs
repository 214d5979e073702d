//! Directory trust: before the user says yes, nothing in the folder steers anything.

use crate::support::*;

/// A folder whose own settings name a provider that would be noticed.
fn baited() -> (Workspace, ModelServer) {
    let server = ModelServer::start([Reply::text("The project's own model.")]);
    let w = Workspace::untrusted();
    w.write("agents.config.json", &workspace::provider_config(&server));
    w.write(".env", "OPENAI_BASE_URL=http://127.0.0.1:1\n");
    (w, server)
}

#[test]
fn no_leaves_and_nothing_was_read() {
    let (w, server) = baited();
    let mut t = w.start();
    t.shows("Do you trust the files in ~/shop?");
    assert!(!t.text().contains("test-model"));
    t.press('n');
    assert_eq!(t.exits().exit_code(), 0);
    assert_eq!(server.connections(), 0);
    assert!(!w.data().join("trusted.json").exists() && w.journals().is_empty());
    assert_eq!(t.left_on().len(), 0);
}

#[test]
fn enter_alone_is_no_yes() {
    let (w, server) = baited();
    let mut t = w.start();
    t.shows("Do you trust").press('\r');
    t.exits();
    assert_eq!(server.connections(), 0);
    assert!(!w.data().join("trusted.json").exists());
}

#[test]
fn what_was_typed_before_the_question_does_not_answer_it() {
    let (w, server) = baited();
    let mut t = w.start();
    // Somebody types a first prompt without looking.
    t.type_("yes, please").shows("Do you trust").press('n');
    t.exits();
    assert_eq!(server.connections(), 0);
    assert!(!w.data().join("trusted.json").exists());
    // After a yes it is in the prompt.
    let (w, _server) = baited();
    let mut t = w.start();
    t.type_("yes, please").shows("Do you trust").press('y').shows("❯ yes, please");
}

#[test]
fn yes_is_remembered_and_the_projects_settings_count() {
    let (w, server) = baited();
    let mut t = w.start();
    t.shows("Do you trust").press('y').ready().shows("test-model").ask("go").sees("The project's own model.");
    t.hides("esc interrupts").ctrl('d');
    t.exits();
    assert!(server.connections() > 0);
    let mut t = w.start();
    t.ready().shows("test-model");
    assert!(!t.text().contains("Do you trust"));
}

#[test]
fn without_a_screen_it_refuses_and_says_how() {
    let (w, server) = baited();
    let ended = w.run(&["run", "hello"], "");
    assert_eq!((ended.code(), ended.stdout.as_str()), (Some(1), ""));
    assert!(ended.stderr.contains("not trusted") && ended.stderr.contains("--trust-directory"), "{}", ended.stderr);
    assert_eq!(server.connections(), 0);
}

#[test]
fn names_that_a_folder_brings_along_cannot_drive_the_terminal() {
    let (w, _server) = baited();
    w.write("shop\x1b]0;evil\x07/a\u{9b}31mb.jsonl", "");
    let replay = ["replay", "a\u{9b}31mb.jsonl"];
    for (arguments, says) in [(&["run", "hello"][..], "~/shop/shop"), (&["--plain"], "~/shop/shop"), (&replay, "b.jsonl")] {
        let mut command = w.plain_command(workspace::BINARY, arguments);
        command.current_dir(w.root().join("shop\x1b]0;evil\x07"));
        let ended = workspace::ended(command, "1\n");
        let said = ended.stdout + &ended.stderr;
        assert!(said.contains(says), "{said}");
        assert!(!said.contains(['\x1b', '\x07', '\u{9b}']), "{said:?}");
    }
}

#[test]
fn trust_for_one_run_is_not_remembered() {
    let (w, server) = baited();
    let ended = w.run(&["run", "--trust-directory", "hello"], "");
    assert_eq!((ended.code(), ended.stdout.as_str()), (Some(0), "The project's own model.\n"), "{}", ended.stderr);
    assert_eq!(server.asked().len(), 1);
    assert_eq!(w.run(&["run", "hello"], "").code(), Some(1));
}
