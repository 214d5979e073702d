//! `--record` and `backstitch replay`: what happened happens again, without a model, a tool or a terminal.

use crate::support::*;

#[test]
fn a_run_without_a_screen_is_replayed() {
    let w = Workspace::bare();
    let file = w.temporary().join("recording").display().to_string();
    let ended = w.run(&["--demo", "run", "--mode", "yolo", "--record", &file, "fix the failing test"], "");
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    let screen = w.run(&["replay", &file], "");
    assert_eq!(screen.code(), Some(0), "{}", screen.stderr);
    assert!(screen.stderr.contains("were replayed, with the same events"), "{}", screen.stderr);
    for sees in ["❯ fix the failing test", "✓ Edit", "✓ Bash", "esc esc goes back"] {
        assert!(screen.stdout.contains(sees), "{sees} in {}", screen.stdout);
    }
    let agent = w.run(&["replay", "--agent", &file], "");
    assert!(agent.stdout.contains("→ CallModel(#1, demo/scripted, 1 messages)") && agent.stdout.contains("→ RunTool("), "{}", agent.stdout);
}

#[test]
fn a_screen_is_replayed_as_it_was() {
    let server = ModelServer::start([Reply::text("An answer with **weight**.")]);
    let w = Workspace::new(&server);
    let file = w.temporary().join("recording");
    let mut t = w.start_with(&["--record", &file.display().to_string()]);
    t.ready().ask("say something").sees("An answer with weight.");
    let shown: Vec<String> = t.history().into_iter().filter(|row| row.contains("weight") || row.contains("something")).collect();
    t.ctrl('d').exits();
    let replayed = w.run(&["replay", &file.display().to_string()], "");
    assert_eq!(replayed.code(), Some(0), "{}", replayed.stderr);
    for row in shown {
        assert!(replayed.stdout.lines().any(|line| line.trim_end() == row.trim_end()), "{row:?} in {}", replayed.stdout);
    }
}
