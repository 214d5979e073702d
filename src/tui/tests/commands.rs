//! The question about a command: its parts, what each would touch, what may be allowed always.

use super::*;

fn part(command: &str, text: &str, touches: Vec<Touch>) -> CommandPart {
    let from = command.find(text).unwrap();
    let words = text.split(' ').map(str::to_owned).collect();
    CommandPart { at: (from, from + text.len()), words, touches, said: vec![] }
}

fn asked(size: (u16, u16)) -> Bench {
    let command = "cd src && cat a.rs | head -3 && cargo test dates --lib; npm run lint; curl http://127.0.0.1/x";
    let parts = vec![
        part(command, "cd src", vec![Touch::Lists("/p/src".into())]),
        part(command, "cat a.rs", vec![Touch::Reads("/p/src/a.rs".into())]),
        part(command, "head -3", vec![]),
        part(command, "cargo test dates --lib", vec![Touch::Project]),
        part(command, "npm run lint", vec![Touch::Project]),
        part(command, "curl http://127.0.0.1/x", vec![Touch::Network]),
    ];
    let mut bench = Bench::new(setting(), size);
    bench.event(None, started(true));
    let block = Block::Command { command: command.into(), directory: "/p".into() };
    bench.asks(Access::Run { command: command.into(), parts, folder: None, outside: false }, block);
    bench
}

#[test]
fn the_question_about_a_command_at_three_sizes() {
    for (name, size) in [("command_40", (40, 12)), ("command_80", (80, 24)), ("command_200", (200, 50))] {
        let mut bench = asked(size);
        let mut screens = bench.screen();
        bench.keys("p");
        screens += "--- p\n";
        screens += &bench.screen();
        for row in screens.lines() {
            assert!(backstitch_components::text::width::width(row) < usize::from(size.0), "{row}");
        }
        insta::assert_snapshot!(name, screens);
    }
}

#[test]
fn what_is_always_allowed_can_be_changed() {
    let decide = |decision| vec![Cmd::Send(Command::Decide { call: CallId(1), decision })];
    let pattern = |words: &str, open| CommandPattern { words: words.split(' ').map(str::to_owned).collect(), open };
    assert_eq!(asked((80, 24)).keys("a"), decide(Decision::AllowSession));
    let all = vec![pattern("cargo test", true), pattern("npm run lint", true), pattern("curl http://127.0.0.1/x", false)];
    assert_eq!(asked((80, 24)).keys("p enter"), decide(Decision::AllowCommands(all.clone())));
    // A pattern that leaves a part out, or that is none, is not taken; what was typed stays.
    let mut bench = asked((80, 24));
    bench.keys("p ctrl+u");
    bench.typed("cargo test *; npm run lint");
    assert_eq!(bench.keys("enter"), []);
    assert!(bench.screen().contains("does not cover `curl http://127.0.0.1/x`"), "{}", bench.screen());
    bench.typed("; curl http://127.0.0.1/x; a * b");
    assert_eq!(bench.keys("enter"), []);
    assert!(bench.screen().contains("* may only be the last word"), "{}", bench.screen());
    bench.keys("ctrl+u");
    bench.typed("cargo test *; npm *; curl http://127.0.0.1/x");
    let changed = vec![pattern("cargo test", true), pattern("npm", true), pattern("curl http://127.0.0.1/x", false)];
    assert_eq!(bench.keys("enter"), decide(Decision::AllowCommands(changed)));
    // Back, and what was typed is no reason for a no.
    let mut bench = asked((80, 24));
    assert_eq!(bench.keys("p esc n enter"), decide(Decision::Deny { reason: None }));
}

#[test]
fn what_no_pattern_can_speak_for_is_allowed_to_the_letter() {
    let command = "ls > out";
    let touches = vec![Touch::Lists("/p".into()), Touch::Writes("/p/out".into())];
    let parts = vec![CommandPart { at: (0, 8), words: vec![], touches, said: vec![] }];
    let mut bench = Bench::ready();
    bench.asks(
        Access::Run { command: command.into(), parts, folder: None, outside: false },
        Block::Command { command: command.into(), directory: "/p".into() },
    );
    let screen = bench.screen();
    assert!(screen.contains("exactly this command") && screen.contains("writes out") && !screen.contains("p edits"), "{screen}");
    assert_eq!(bench.keys("p"), []);
}

#[test]
fn the_rule_that_asks_is_in_the_question() {
    let mut bench = Bench::new(setting(), (80, 24));
    bench.event(None, started(true));
    let (id, access) = (CallId(1), Access::Run { command: "git push".into(), parts: vec![], folder: None, outside: false });
    let block = Block::Command { command: "git push".into(), directory: "/p".into() };
    bench.event(Some(1), call(CallEvent::Proposed { id, name: "Bash".into(), title: "git push".into() }));
    bench.event(Some(1), call(CallEvent::Previewed { id, access, title: "git push".into(), block }));
    let why = "the rule `ask Bash(git push *)` (user) asks about `git push *`\u{1b}[2J";
    bench.event(Some(1), call(CallEvent::Asked { id, why: Some(why.into()) }));
    let screen = bench.screen();
    assert!(screen.contains("↳ the rule `ask Bash(git push *)` (user) asks about") && !screen.contains('\u{1b}'), "{screen}");
}
