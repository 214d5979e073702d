//! Commands in the background: seen, noted with the checkpoints, and ended with the engine.

use super::*;

const SERVE: &str = r#"{"rules":[{"match":["serve"],"steps":[
    {"calls":[{"name":"Bash","args":{"command":"echo $$ > pid; echo up; while :; do echo x >> log; sleep 0.01; done","run_in_background":true}}]},
    {"text":"It runs."}]},
    {"match":["short"],"steps":[
    {"calls":[{"name":"Bash","args":{"command":"rm -f none; exit 4","run_in_background":true}}]},{"text":"Done."}]},
    {"match":["kill"],"steps":[{"calls":[{"name":"KillBash","args":{"shell_id":"bash_1"}}]},{"text":"Ended."}]},
    {"steps":[{"text":"Hello."}]}]}"#;

impl Bench {
    fn background(&mut self, count: usize) {
        self.until("list of commands", |e| matches!(e, EventBody::Session(SessionEvent::Background(running)) if running.len() == count));
    }

    /// Of the command, once it is written.
    fn pid(&self) -> rustix::process::Pid {
        let began = Instant::now();
        loop {
            if let Some(pid) = self.file("pid").filter(|text| text.ends_with('\n')) {
                return rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
            }
            assert!(began.elapsed() < DEADLINE);
            std::thread::yield_now();
        }
    }

    fn noted(&self) -> String {
        let stores = ignore::WalkBuilder::new(self.folder.path().join("data")).standard_filters(false).build().flatten();
        stores.filter(|entry| entry.file_name() == "activity.json").map(|entry| std::fs::read_to_string(entry.path()).unwrap()).collect()
    }
}

#[test]
fn a_command_in_the_background_is_asked_about_counted_and_ends_with_the_engine() {
    let mut bench = Bench::new(SERVE);
    bench.prompt("serve");
    bench.allow();
    bench.background(1);
    assert_eq!(bench.ended(), TurnOutcome::Answered);
    let pid = bench.pid();
    // What it does after its call is still this session's doing.
    bench.prompt("hello");
    bench.ended();
    let noted = bench.noted();
    assert!(noted.contains("\"to\":null,\"files\":null,\"lasts\":true"), "{noted}");
    assert!(rustix::process::test_kill_process(pid).is_ok());
    bench.close();
    assert!(rustix::process::test_kill_process(pid).is_err(), "it has ended before the engine did");
    assert!(!bench.noted().contains("\"to\":null"), "{}", bench.noted());
    let log = bench.file("log").unwrap();
    assert_eq!(log, bench.file("log").unwrap());
}

#[test]
fn a_front_end_that_is_gone_leaves_nothing_running() {
    let mut bench = Bench::new(SERVE);
    bench.prompt("serve");
    bench.allow();
    bench.background(1);
    let pid = bench.pid();
    bench.handle = None;
    bench.engine.take().unwrap().join();
    assert!(rustix::process::test_kill_process(pid).is_err());
}

#[test]
fn an_end_is_told_and_a_killed_one_is_not_told_twice() {
    let mut bench = Bench::new(SERVE);
    bench.prompt("short");
    bench.allow();
    bench.until(
        "its end",
        |e| matches!(e, EventBody::Notice(n) if n.level == Level::Warning && n.text.starts_with("Ended in the background: bash_1 · exit 4 · ")),
    );
    let mut bench = Bench::new(SERVE);
    bench.prompt("serve");
    bench.allow();
    bench.ended();
    let pid = bench.pid();
    bench.prompt("kill");
    bench.background(0);
    bench.ended();
    assert!(rustix::process::test_kill_process(pid).is_err());
    assert!(!bench.log.iter().any(|e| matches!(e, EventBody::Notice(n) if n.text.contains("background"))));
}
