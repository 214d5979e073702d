//! The way from the server to the screen: cut anywhere, slow, broken, refused, interrupted.

use crate::support::*;
use serde_json::json;
use std::time::Duration;

#[test]
fn a_stream_is_the_same_however_it_is_cut() {
    let reply = || {
        Reply::stream()
            .raw(": a comment\n\n")
            .think("Let me see.")
            .say("Grüße, 世界 — ")
            .say("all 🎉 here.")
            .call_piece(0, Some(("c1", "View")), "{\"file_")
            .call_piece(0, None, "path\": \"a.txt\"}")
            .done("tool_calls")
    };
    let end = || {
        Reply::stream().say("The ").say("end.").raw("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata:[DONE]\n\n")
    };
    let server = ModelServer::start([reply().split(1), end().split(1), reply().crlf().split(3), end().crlf(), reply(), end()]);
    let w = Workspace::new(&server).file("a.txt", "content\n");
    let mut t = w.start();
    for round in 1..=3 {
        t.ready().ask("go").sees_times("The end.", round).hides("esc interrupts");
        t.sees_times("Grüße, 世界 — all 🎉 here.", round);
        assert!(server.request(2 * round).last().1.contains("1\tcontent"));
    }
}

#[test]
fn text_appears_while_it_comes() {
    let gate = Gate::new();
    let server = ModelServer::start([Reply::stream().say("First words").gate(&gate).say(" and the last.").done("stop")]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready().ask("go").shows("First words").shows("esc interrupts");
    assert!(!t.text().contains("and the last"));
    gate.open();
    t.shows("First words and the last.").hides("esc interrupts");
}

#[test]
fn a_cut_in_the_middle_keeps_what_had_come_and_says_so() {
    let server = ModelServer::start([Reply::stream().say("Half an answer, ").say("then").cut(), Reply::text("and the rest.")]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready().ask("go").sees("Half an answer, then").sees("The answer ended early").sees("What had come");
    t.ready().ask("go on").sees("and the rest.");
    let asked = server.request(2);
    assert_eq!(asked.messages()[2]["content"], "Half an answer, then");
    assert_eq!(asked.last(), ("user", "go on"));
}

#[test]
fn a_cut_before_the_first_word_is_tried_again() {
    let server = ModelServer::start([Reply::stream().cut(), Reply::text("Here I am.")]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready().ask("go").sees("Here I am.");
    assert_eq!(server.request(1).body, server.request(2).body);
}

#[test]
fn a_busy_server_is_asked_again_after_the_time_it_named() {
    let busy = |status| Reply::error(status, "slow down please").header("Retry-After", "1");
    let server = ModelServer::start([busy(429), busy(503), Reply::text("Now.")]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready().ask("go").shows("slow down please").shows("again in").shows("(1 of 5)").shows("(2 of 5)").sees("Now.");
    let asked = server.asked();
    assert_eq!(asked.len(), 3);
    // The first time less than that is waited where nothing is named.
    assert!(asked[1].at - asked[0].at >= Duration::from_millis(990), "{:?}", asked[1].at - asked[0].at);
}

#[test]
fn esc_stops_the_waiting_too() {
    let server = ModelServer::start([Reply::error(429, "slow down please").header("Retry-After", "60")]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready().ask("go").screen_is("a minute is named", |s| s.contains("again in 60 s") || s.contains("again in 5"));
    t.esc().sees("Interrupted.").hides("again in");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn a_wrong_key_is_said_in_the_servers_words_and_not_tried_again() {
    let server = ModelServer::start([Reply::error(401, "Incorrect API key provided")]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready().ask("go").sees("Incorrect API key provided").hides("esc interrupts");
    assert_eq!(server.asked().len(), 1);
    assert!(!t.text().contains("sk-test-key"));
}

#[test]
fn nobody_there_is_said_with_the_address() {
    let server = ModelServer::start([]);
    let w = Workspace::new(&server);
    let port = server.port;
    drop(server);
    let mut t = w.start();
    t.ready().ask("go").sees(&format!("127.0.0.1:{port}")).shows("again in").esc().sees("Interrupted.");
}

#[test]
fn esc_closes_the_connection_and_keeps_the_text() {
    let never = Gate::new();
    let server = ModelServer::start([Reply::stream().say("Some words").gate(&never), Reply::text("Go on.")]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready().ask("go").shows("Some words").esc().sees("Interrupted.").hides("esc interrupts");
    server.hung_up(1);
    t.ask("and now?").sees("Go on.").sees_times("Some words", 1);
    assert_eq!(server.request(2).messages()[2]["content"], "Some words");
}

#[test]
fn esc_stops_a_command_with_all_that_it_started() {
    let server =
        ModelServer::start([Reply::call("Bash", json!({ "command": "echo begun; sleep 1000 & sleep 1000" })), Reply::text("Stopped.")]);
    let w = Workspace::new(&server);
    let mut t = w.start_with(&["--mode", "yolo"]);
    t.ready().ask("go").shows("begun").esc().sees("Interrupted.").hides("esc interrupts");
    until("no sleep is left", || !w.processes().iter().any(|(_, command)| command.starts_with("sleep")));
    // The call has its result: the next request is valid.
    t.ask("what happened?").sees("Stopped.");
    let asked = server.request(2);
    let result = asked.messages().iter().find(|m| m["role"] == "tool").unwrap();
    assert!(result["content"].as_str().unwrap().contains("Interrupted by the user"), "{result}");
}

#[test]
fn reasoning_is_shown_but_not_sent_back() {
    let gate = Gate::new();
    let server =
        ModelServer::start([Reply::stream().think("A deep thought").gate(&gate).say("Forty-two.").done("stop"), Reply::text("Yes.")]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready().ask("go").shows("A deep thought");
    gate.open();
    t.sees("Forty-two.").sees("∴ thought").hides("esc interrupts").ask("sure?").sees("Yes.");
    assert!(!server.request(2).body.to_string().contains("A deep thought"));
}

/// What is in the scrollback can't be coloured later: it is printed once its grammar is there, and all after it then.
#[test]
fn the_first_code_of_a_language_is_printed_with_its_colours() {
    let server = ModelServer::start([
        Reply::text("Look:\n\n```ts\nexport function f(a: number) {\n  return a;\n}\n```\n\nThat is all.\n"),
        Reply::text("```swift\nfunc last() {}\n```\n"),
    ]);
    let w = Workspace::new(&server).env("COLORTERM", "truecolor");
    let mut t = w.start();
    t.ready().ask("go").sees("That is all.");
    until("the keyword has its colour", || String::from_utf8_lossy(&t.raw()).contains("38;2;201;174;230"));
    t.ask("again").sees("func last()").ctrl('d').exits();
    let told: Vec<String> = t.history().into_iter().filter(|row| !row.trim().is_empty()).collect();
    let at = |text: &str| {
        let places: Vec<usize> = (0..told.len()).filter(|at| told[*at].contains(text)).collect();
        assert_eq!(places.len(), 1, "{text} in {told:#?}");
        places[0]
    };
    let order = ["Look:", "export function f", "return a;", "That is all.", "❯ again", "func last()"].map(at);
    assert!(order.is_sorted(), "{told:#?}");
}

#[test]
fn a_progress_bar_rewrites_its_line_while_it_runs() {
    let server = ModelServer::start([]);
    let w = Workspace::new(&server);
    let mut t = w.start();
    t.ready()
        .ask("!for i in 1 2 3 4; do printf \"at $i of 4\\r\"; sleep 0.2; done; printf waiting; tail -f /dev/null")
        .shows("at 1 of 4")
        .shows("waiting");
    t.screen_is("only the last state", |screen| screen.lines().filter(|row| row.trim_start().starts_with("at ")).count() == 0);
    t.shows("esc interrupts").esc().hides("esc interrupts");
}
