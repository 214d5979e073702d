//! Commands in the background: counted in the status line, and asked about before the session is left.

use super::*;
use crate::protocol::Job;

fn running(bench: &mut Bench, commands: &[&str]) {
    let job = |(n, command): (usize, &&str)| Job { id: format!("bash_{}", n + 1), command: (*command).into() };
    let jobs = commands.iter().enumerate().map(job).collect();
    bench.event(None, EventBody::Session(SessionEvent::Background(jobs)));
}

#[test]
fn the_status_line_counts_them() {
    let mut bench = Bench::ready();
    running(&mut bench, &["npm run dev"]);
    assert!(bench.screen().contains("1 running in background"), "{}", bench.screen());
    running(&mut bench, &["npm run dev", "cargo watch"]);
    assert!(bench.screen().contains("2 running in background"));
    running(&mut bench, &[]);
    assert!(!bench.screen().contains("background"));
}

#[test]
fn leaving_asks_once_and_the_first_answer_stays() {
    let long = "python3 -m http.server 8000 --directory some/very/long/path/that/does/not/fit\nwait";
    let mut bench = Bench::ready();
    running(&mut bench, &["npm run dev", long, "echo \u{1b}[31mred"]);
    bench.typed("/exit");
    assert_eq!(bench.keys("enter"), []);
    insta::assert_snapshot!("leave", bench.screen());
    assert_eq!(bench.keys("enter"), [], "what enter takes ends nothing");
    assert!(!bench.screen().contains("They end with the session"));
    for leaves in ["ctrl+d", "ctrl+c ctrl+c"] {
        assert_eq!(bench.keys(leaves), []);
        assert!(bench.screen().contains("They end with the session"), "{leaves}: {}", bench.screen());
        assert_eq!(bench.keys("ctrl+c"), []);
        assert!(!bench.screen().contains("They end with the session"), "{leaves}");
    }
    bench.keys("ctrl+d");
    assert_eq!(bench.keys("y"), [Cmd::Exit]);
    // The next time it is asked anew: that one may have come to nothing.
    assert_eq!(bench.keys("ctrl+d"), []);
}

#[test]
fn whoever_opens_another_session_is_asked_too_and_a_signal_asks_nobody() {
    let mut bench = Bench::ready();
    running(&mut bench, &["npm run dev"]);
    bench.typed("/resume other");
    assert_eq!(bench.keys("enter"), []);
    assert!(bench.screen().contains("A command runs in the background. It ends with the session."), "{}", bench.screen());
    assert_eq!(bench.keys("y"), [Cmd::Resume(Resume::Named("other".into()))]);
    assert_eq!(bench.msg(Msg::Terminated), [Cmd::Exit]);
    running(&mut bench, &[]);
    assert_eq!(bench.keys("ctrl+d"), [Cmd::Exit]);
}
