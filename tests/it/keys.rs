//! The keyboard: what is sent, what is kept, what ends.

use crate::support::*;

#[test]
fn text_and_enter_in_one_write_are_sent() {
    let server = ModelServer::start([Reply::text("Got it.")]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready().type_("all at once\r").sees("Got it.");
    assert_eq!(server.request(1).last(), ("user", "all at once"));
}

#[test]
fn what_is_typed_before_the_first_frame_is_kept() {
    let server = ModelServer::start([Reply::text("Got it.")]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.type_("EARLY")
        .ready()
        .screen_is("it is in the prompt", |s| s.lines().any(|l| l.starts_with("❯ EARLY")))
        .type_(" bird\r")
        .sees("Got it.");
    assert_eq!(server.request(1).last(), ("user", "EARLY bird"));
}

#[test]
fn a_pasted_newline_is_not_enter() {
    let server = ModelServer::start([Reply::text("Got it.")]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready().paste("first\rsecond\n").shows("second").type_("third").shows("third");
    assert_eq!(server.asked().len(), 0);
    t.enter().sees("Got it.");
    assert_eq!(server.request(1).last(), ("user", "first\nsecond\nthird"));
}

#[test]
fn a_paste_of_two_thousand_lines_arrives_whole() {
    let text: Vec<String> = (0..2000).map(|n| format!("line {n} of a log, 世界")).collect();
    let text = text.join("\n");
    let server = ModelServer::start([Reply::text("Long.")]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready().send(b"\x1b[200~");
    for piece in text.as_bytes().chunks(64) {
        t.send(piece);
    }
    t.send(b"\x1b[201~").type_(" END").shows("END").enter().sees("Long.");
    assert_eq!(server.request(1).last(), ("user", format!("{text} END").as_str()));
}

#[test]
fn newlines_can_be_typed_in_every_way_that_terminals_send() {
    let server = ModelServer::start([Reply::text("Got it.")]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready();
    for (at, key) in ["\x1b[13;2u", "\x1b[27;2;13~", "\x1b\r", "\n"].iter().enumerate() {
        t.type_(&format!("row{at}")).shows(&format!("row{at}")).type_(key);
    }
    t.type_("last").shows("last");
    assert_eq!(server.asked().len(), 0);
    t.enter().sees("Got it.");
    assert_eq!(server.request(1).last(), ("user", "row0\nrow1\nrow2\nrow3\nlast"));
}

#[test]
fn ctrl_c_clears_then_interrupts_then_exits_twice() {
    let never = Gate::new();
    let server = ModelServer::start([Reply::stream().say("Words").gate(&never)]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready().ask("go").shows("Words").type_("a draft").shows("a draft").ctrl('c').hides("a draft").shows("esc interrupts");
    t.ctrl('c').sees("Interrupted.").hides("esc interrupts");
    server.hung_up(1);
    t.ctrl('c').shows("ctrl+c again to exit").ctrl('c');
    assert_eq!(t.exits().exit_code(), 0);
    assert_eq!(t.left_on().into_iter().collect::<Vec<_>>(), [] as [String; 0]);
}

#[test]
fn the_second_ctrl_c_must_follow_soon_and_a_letter_disarms_it() {
    let w = Workspace::new(&ModelServer::start([]));
    let mut t = w.start();
    t.ready().ctrl('c').shows("ctrl+c again to exit").type_("x").hides("ctrl+c again").ctrl('c').hides("❯ x");
    t.ctrl('c').shows("ctrl+c again to exit").hides("ctrl+c again").ctrl('c').shows("ctrl+c again to exit");
}

#[test]
fn ctrl_d_exits_only_from_an_empty_prompt() {
    let w = Workspace::new(&ModelServer::start([]));
    let mut t = w.start();
    t.ready().type_("ab").shows("❯ ab").ctrl('a').ctrl('d').type_("c").shows("❯ c").ctrl('c').hides("❯ c").ctrl('d');
    assert_eq!(t.exits().exit_code(), 0);
}

#[test]
fn a_lone_escape_is_a_key_and_the_next_letter_another() {
    let never = Gate::new();
    let server = ModelServer::start([Reply::stream().say("Words").gate(&never)]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready().ask("go").shows("Words").esc().sees("Interrupted.").type_("next").shows("❯ next");
}

#[test]
fn earlier_prompts_come_back_with_up() {
    let server = ModelServer::start([Reply::text("One."), Reply::text("Two.")]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready().ask("the first").sees("One.").hides("esc interrupts").ask("the second").sees("Two.").hides("esc interrupts");
    let prompt = |text: &'static str| {
        move |s: &str| s.lines().rev().find(|l| l.starts_with('❯')).is_some_and(|l| l.trim_end() == format!("❯ {text}").trim_end())
    };
    t.type_("draft").shows("❯ draft").ctrl('c').hides("❯ draft");
    t.send(b"\x1b[A").screen_is("the second", prompt("the second")).send(b"\x1b[A").screen_is("the first", prompt("the first"));
    t.send(b"\x1b[B").screen_is("the second", prompt("the second"));
}

#[test]
fn prompts_wait_in_a_queue_and_can_be_taken_back() {
    let (gate, second) = (Gate::new(), Gate::new());
    let server = ModelServer::start([
        Reply::stream().say("Working").gate(&gate).say(" done.").done("stop"),
        Reply::stream().say("Next").gate(&second).say(" done too.").done("stop"),
    ]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready().ask("the first").shows("Working");
    t.ask("the second").shows("queued  the second").ask("the third").shows("queued  the third");
    t.send(b"\x1b[A").hides("queued  the third").shows("❯ the third");
    gate.open();
    t.sees("Working done.").shows("Next").hides("queued").shows("❯ the third");
    assert_eq!(server.request(2).last(), ("user", "the second"));
    second.open();
    t.sees("Next done too.").hides("esc interrupts");
    assert_eq!(server.asked().len(), 2, "what was taken back is not sent");
}

#[test]
fn an_interrupt_gives_the_queue_back_and_sends_nothing() {
    let never = Gate::new();
    let server = ModelServer::start([Reply::stream().say("Working").gate(&never)]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready()
        .ask("the first")
        .shows("Working")
        .ask("the second")
        .shows("queued")
        .esc()
        .sees("Interrupted.")
        .hides("queued")
        .shows("❯ the second");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn shift_tab_goes_round_the_modes_and_a_question_mark_shows_the_keys() {
    let w = Workspace::new(&ModelServer::start([]));
    let mut t = w.start();
    t.ready().shows("normal").send(b"\x1b[Z").shows("auto-accept").send(b"\x1b[Z").shows("plan").send(b"\x1b[Z").shows("normal");
    t.type_("?").shows("close this").shows("shift+tab").esc().hides("close this");
    // What was begun while the keys were read isn't lost.
    t.type_("?").shows("close this").type_("why?").hides("close this").shows("❯ why?");
}

#[test]
fn the_cursor_stands_where_the_text_goes() {
    let w = Workspace::new(&ModelServer::start([]));
    let mut t = w.start();
    t.ready().type_("ab世").shows("❯ ab世");
    let place = |t: &Term| {
        let row = t.rows().iter().position(|r| r.starts_with("❯ ab世")).unwrap();
        (row, t.cursor().map(|(r, c)| (usize::from(r), usize::from(c))))
    };
    until("the cursor is behind the text", || place(&t).1 == Some((place(&t).0, 6)));
    t.send(b"\x1b[D");
    until("the cursor is on the wide character", || place(&t).1 == Some((place(&t).0, 4)));
}

/// A ctrl+c that comes while one screen makes room for the other is a key, and no signal.
#[test]
fn keys_stay_ours_between_two_screens() {
    let w = Workspace::new(&ModelServer::start([]));
    let mut t = w.start();
    t.ready();
    for (n, alternate) in (0..10).map(|n| (n, n % 2 == 0)) {
        t.type_("/fullscreen").enter();
        until("the other screen is there", || {
            // Without a pause: it would be for a moment only.
            assert!((0..5_000).all(|_| t.is_raw()), "switch {n}: the terminal was let go");
            t.left_on().iter().any(|mode| mode.contains("1049")) == alternate
        });
    }
    t.ctrl('c').shows("ctrl+c again to exit").ctrl('c');
    assert_eq!(t.exits().exit_code(), 0);
    assert!(!t.is_raw());
}
