//! The first start: no provider yet.

use crate::support::*;
use std::os::unix::fs::PermissionsExt;

/// What stands between the rule and the choices.
fn panel(t: &Term) -> Vec<String> {
    t.rows().into_iter().skip_while(|r| !r.contains("no model to talk to")).map(|r| r.trim().to_owned()).filter(|r| !r.is_empty()).collect()
}

#[test]
fn two_lines_say_it_and_the_ways_out_are_offered() {
    let w = Workspace::bare();
    let mut t = w.start();
    // Whatever listens on this machine's usual ports, the search comes to an end.
    t.shows("Backstitch has no model to talk to yet.").screen_is("the search is over", |s| !s.contains("Looking for model servers"));
    let panel = panel(&t);
    assert!(panel[1].contains("ound on this machine"), "{panel:?}");
    assert!(
        panel.iter().any(|r| r.contains("enter an address and a key")) && panel.iter().any(|r| r.contains("try the demo")),
        "{panel:?}"
    );
    assert!(!w.config_file().exists() && w.snapshot().is_empty());
}

#[test]
fn an_address_and_a_key_are_entered_saved_and_used() {
    let server = ModelServer::start([Reply::text("Hello.")]);
    let w = Workspace::bare();
    let mut t = w.start();
    t.shows("no model to talk to").press('e').shows("The address of an OpenAI-compatible server");
    t.enter().shows("an address, please");
    t.type_(&format!("127.0.0.1:{}", server.port)).enter().paste("sk-very-secret").shows("••••••••••••••").enter();
    t.sees("Connected to").sees("was added to").shows("test-model").ask("hi").sees("Hello.");
    assert_eq!(server.request(1).header("authorization"), Some("Bearer sk-very-secret"));
    let saved = std::fs::read_to_string(w.config_file()).unwrap();
    assert!(saved.contains(&server.base_url()) && saved.contains("test-model"), "{saved}");
    assert_eq!(std::fs::metadata(w.config_file()).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!t.raw().windows(14).any(|w| w == b"sk-very-secret"), "a key is never shown");
    t.hides("esc interrupts").ctrl('d');
    t.exits();
    let mut t = w.start();
    t.ready().shows("test-model");
}

#[test]
fn an_address_where_nobody_is_is_said_and_nothing_is_saved() {
    let server = ModelServer::start([]);
    let port = server.port;
    drop(server);
    let w = Workspace::bare();
    let mut t = w.start();
    t.shows("no model to talk to")
        .press('e')
        .shows("The address of")
        .type_(&format!("localhost:{port}"))
        .enter()
        .enter()
        .sees(&format!("localhost:{port}"));
    t.sees("Can't reach");
    assert!(!w.config_file().exists());
}

#[test]
fn esc_leaves_the_question_and_setup_asks_it_again() {
    let w = Workspace::bare();
    let mut t = w.start();
    t.shows("no model to talk to")
        .press('\x1b')
        .hides("no model to talk to")
        .ready()
        .ask("hello")
        .sees("There is no model to send this to");
    t.screen_is("the prompt is given back", |s| s.lines().any(|l| l.starts_with("❯ hello"))).ctrl('c').hides("❯ hello").ask("/setup");
    t.shows("no model to talk to");
}

/// The demo, from its prompt to its end and back.
fn play(t: &mut Term, w: &Workspace) {
    t.ready().shows("demo").shows("Fix the failing test");
    let find = || workspace::files_below(&w.temporary()).into_iter().find(|p| p.ends_with("dates/lib/dates.sh"));
    let path = find().expect("the project is unpacked");
    let read = || std::fs::read_to_string(&path).unwrap();
    let before = read();
    t.ask("Fix the failing test")
        .sees("Make this change?")
        .press('y')
        .sees("Run this command?")
        .press('y')
        .sees("all five tests pass")
        .sees("1 file changed");
    assert_ne!(read(), before);
    assert!(t.screen().contains("demo"));
    t.hides("esc interrupts").ask("/undo").sees("is as it was");
    assert_eq!(read(), before);
    t.ctrl('c').ctrl('d');
    assert_eq!(t.exits().exit_code(), 0);
    assert!(find().is_none(), "nothing of the demo stays");
    let journals: String = w.journals().iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    assert!(w.snapshot().is_empty() && !journals.contains("Fix the failing test"));
}

#[test]
fn the_demo_runs_to_its_end_and_can_be_walked_back() {
    let w = Workspace::untrusted();
    let mut t = w.start_with(&["--demo"]);
    play(&mut t, &w);
}

#[test]
fn the_demo_can_be_chosen_where_there_is_no_model() {
    let w = Workspace::bare();
    let mut t = w.start();
    t.shows("no model to talk to").press('d');
    play(&mut t, &w);
    assert_eq!(t.left_on().len(), 0);
}

#[test]
fn the_first_screen_looks_like_this() {
    let server = ModelServer::start([]);
    let w = Workspace::new(&server);
    let mut t = w.start_sized(&[], 80, 24);
    t.ready().shows("normal · test-model").shows("/ command");
    insta::assert_snapshot!(normalize::normalize(t.screen().trim_end(), &w));
}
