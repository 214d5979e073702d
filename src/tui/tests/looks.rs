//! What the screen shows, as rows of text.

use super::*;

#[test]
fn the_header_the_keys_and_a_small_window() {
    let mut bench = Bench::ready();
    insta::assert_snapshot!(bench.printed, @"
    backstitch 0.1.0 · qwen3-coder:30b · ~/src/shop (main)
    @ file   / command   ! shell   shift+tab mode   ? keys
    ");
    insta::assert_snapshot!(bench.screen(), @"
     ───────────────────────────────────────────────────────────────────────────
    ❯ What should be done?
      normal · qwen3-coder:30b                                               ? keys
    ");
    bench.keys("?");
    insta::assert_snapshot!(bench.screen(), @"
    ───────────────────────────────────────────────────────────────────────────
     Keys
     enter      send                         ctrl+l     redraw
     ctrl+v     paste a picture              ctrl+o     open what is folded
     up         earlier, or take one back    ctrl+f     search the conversation
     down       later prompt                 pageup     page up (fullscreen)
     ctrl+r     search the history           pagedown   page down
     tab        complete the word            ctrl+home  first line
     ctrl+g     write in $EDITOR             ctrl+end   newest line
     shift+tab  change the mode              ctrl+z     to the shell
     ?          these keys                   ctrl+c     clear, interrupt, exit
     esc        twice: go back               ctrl+d     exit
     ctrl+t     show reasoning
     While a turn runs
     esc     interrupt the turn    ctrl+s  send into the turn
     In the text
     ctrl+j       new line                alt+>        end of text
     left         left                    backspace    delete before
     right        right                   delete       delete after
     up           row up                  ctrl+w       cut word left
     down shows more, others close this
     normal · qwen3-coder:30b                                               ? keys
    ");
    bench.keys("esc");
    bench.msg(Msg::Resize(19, 24));
    insta::assert_snapshot!(bench.screen(), @"window too small");
}

/// A turn with everything in it, at three widths: what is printed and what is live.
fn conversation(size: (u16, u16)) -> String {
    let mut bench = Bench::new(setting(), size);
    bench.event(None, started(true));
    let (access, block) = edit();
    bench.turn();
    let text = |t: &str| EventBody::Text(TextEvent::Answer(t.into()));
    bench.event(Some(1), EventBody::Text(TextEvent::Reasoning("Let me see.".into())));
    bench.event(Some(1), text("The parser drops the **29th**. I'll look at the `dates` module first, then at its tests.\n"));
    bench.event(Some(1), EventBody::Text(TextEvent::Done));
    let (view, edit, bash) = (CallId(1), CallId(2), CallId(3));
    for (id, name) in [(view, "View"), (edit, "Edit"), (bash, "Bash")] {
        bench.event(Some(1), call(CallEvent::Proposed { id, name: name.into(), title: String::new() }));
    }
    let read = Access::Read(vec!["/p/src/dates.rs".into()]);
    bench.event(Some(1), call(CallEvent::Previewed { id: view, access: read, title: "src/dates.rs".into(), block: Block::Nothing }));
    let done = |block: Block, summary: &str, failed| {
        Outcome::Done(ToolOutput { for_model: String::new(), for_user: block, summary: summary.into(), failed })
    };
    bench.event(Some(1), call(CallEvent::Finished { id: view, outcome: done(Block::Nothing, "212 lines", false) }));
    bench.event(Some(1), call(CallEvent::Previewed { id: edit, access, title: "src/dates.rs".into(), block: block.clone() }));
    bench.event(Some(1), call(CallEvent::Asked { id: edit, why: None }));
    let mut out = format!("--- asked\n{}", bench.screen());
    bench.event(Some(1), call(CallEvent::Finished { id: edit, outcome: done(block, "", false) }));
    let run = Access::Run { command: "cargo test".into(), parts: vec![], folder: None, outside: false };
    bench.event(Some(1), call(CallEvent::Previewed { id: bash, access: run, title: "cargo test".into(), block: Block::Nothing }));
    bench.event(Some(1), call(CallEvent::Started { id: bash }));
    bench.event(Some(1), call(CallEvent::Progress { id: bash, output: "running 14 tests\n".into() }));
    write!(out, "--- running\n{}", bench.screen()).unwrap();
    let terminal = Block::Terminal { output: "running 14 tests\n13 passed; 1 failed\n".into(), status: Some(101) };
    bench.event(Some(1), call(CallEvent::Finished { id: bash, outcome: done(terminal, "exit 101 · 1.4 s", true) }));
    bench.event(Some(1), text("One test is left:\n\n- `leap`\n- more"));
    write!(out, "--- streaming\n{}", bench.screen()).unwrap();
    bench.event(Some(1), EventBody::Text(TextEvent::Done));
    let taken =
        CheckpointEvent::Taken { id: CheckpointId("c".into()), label: String::new(), kind: CheckpointKind::Closing, files_changed: 0 };
    bench.event(Some(1), EventBody::Checkpoint(taken));
    let usage = Usage { input: 4_000, output: 100, ..Usage::default() };
    bench.event(Some(1), EventBody::Turn(TurnEvent::Used(usage)));
    let end = TurnEnd { how: TurnOutcome::Answered, usage, took: Duration::from_secs(12) };
    bench.event(Some(1), EventBody::Turn(TurnEvent::Ended(end)));
    write!(out, "--- printed\n{}--- at rest\n{}", bench.printed, bench.screen()).unwrap();
    for row in bench.screen().lines().chain(bench.printed.lines()) {
        let width = backstitch_components::text::width::width(row);
        assert!(width < usize::from(size.0), "{width} cells: {row}");
    }
    out
}

#[test]
fn a_conversation_at_three_widths() {
    insta::assert_snapshot!("conversation_40", conversation((40, 20)));
    insta::assert_snapshot!("conversation_80", conversation((80, 24)));
    insta::assert_snapshot!("conversation_120", conversation((120, 40)));
}

#[test]
fn reads_of_a_kind_that_stand_together_are_one_line() {
    let mut bench = Bench::ready();
    bench.turn();
    let read = |bench: &mut Bench, id: u64, name: &str, title: &str, failed: bool| {
        let id = CallId(id);
        bench.event(Some(1), call(CallEvent::Proposed { id, name: name.into(), title: String::new() }));
        let access = Access::Read(vec!["/p/a".into()]);
        bench.event(Some(1), call(CallEvent::Previewed { id, access, title: title.into(), block: Block::Nothing }));
        let output = ToolOutput { for_model: String::new(), for_user: Block::Nothing, summary: "9 lines".into(), failed };
        bench.event(Some(1), call(CallEvent::Finished { id, outcome: Outcome::Done(output) }));
    };
    for (n, file) in ["a.rs", "b.rs", "c.rs"].iter().enumerate() {
        read(&mut bench, n as u64, "View", file, false);
    }
    assert!(bench.screen().contains("✓ View    a.rs, b.rs, c.rs") && bench.screen().contains("×3"), "{}", bench.screen());
    read(&mut bench, 4, "GrepTool", "leap", false);
    read(&mut bench, 5, "View", "d.rs", true);
    bench.event(Some(1), EventBody::Text(TextEvent::Answer("Found.\n\nIt is".into())));
    let calls: Vec<&str> = bench.printed.lines().filter(|l| l.contains("View") || l.contains("Grep")).collect();
    assert_eq!(calls.len(), 3, "{}", bench.printed);
    assert!(calls[0].contains("a.rs, b.rs, c.rs") && calls[0].ends_with("×3"));
    assert!(calls[1].contains("GrepTool leap") && calls[1].ends_with("9 lines"));
    assert!(calls[2].contains("✗ View"), "what failed stands alone: {}", calls[2]);
}

#[test]
fn status_usage_copy_and_export() {
    let mut bench = Bench::ready();
    let command = |bench: &mut Bench, text: &str| {
        bench.typed(text);
        bench.keys("enter")
    };
    assert_eq!(command(&mut bench, "/copy"), []);
    assert!(bench.printed.contains("There is no answer yet."));
    assert_eq!(command(&mut bench, "/usage"), []);
    assert!(bench.printed.contains("has not told of any tokens"));
    bench.turn();
    bench.event(Some(1), EventBody::Text(TextEvent::Answer("It is `a``b`.".into())));
    bench.event(Some(1), EventBody::Text(TextEvent::Done));
    let usage = Usage { input: 4_000, output: 1_000, cached: 1_000, ..Usage::default() };
    bench.event(Some(1), EventBody::Turn(TurnEvent::Used(usage)));
    let end = TurnEnd { how: TurnOutcome::Answered, usage, took: Duration::ZERO };
    bench.event(Some(1), EventBody::Turn(TurnEvent::Ended(end)));
    assert_eq!(command(&mut bench, "/copy"), [Cmd::Copy("It is `a``b`.".into())]);
    let text = "# ~/src/shop (main)\n\n*There is no answer yet.*\n\n> fix it\n\nIt is `a``b`.\n".to_string();
    assert_eq!(command(&mut bench, "/export talk.md"), [Cmd::Export { file: Some("talk.md".into()), text }]);
    command(&mut bench, "/usage");
    for line in
        ["sent              4000 tokens", "of these cached   1000 tokens, 25 %", "context           5000 of 10000 tokens, 50 % · 5000 free"]
    {
        assert!(bench.printed.contains(line), "{line} in {}", bench.printed);
    }
    command(&mut bench, "/status");
    assert!(bench.printed.contains("model     local/qwen3-coder:30b · context 10000 tokens"), "{}", bench.printed);
}

#[test]
fn the_live_region_stays_two_rows_below_the_screen() {
    for height in 6..30u16 {
        let mut bench = Bench::new(setting(), (60, height));
        bench.event(None, started(true));
        let text: String = (0..100).map(|n| format!("line {n}\n")).collect();
        let change = FileChange { path: "a".into(), old: None, new: Some(text.as_str().into()), binary: false };
        bench.asks(Access::Write(vec!["/p/a".into()]), Block::Diff(vec![change]));
        let rows = bench.screen().lines().count();
        assert!(rows <= usize::from(height) - 2, "{rows} rows of {height}\n{}", bench.screen());
        assert!(bench.screen().contains("1 yes"), "{height} rows:\n{}", bench.screen());
        let mut bench = Bench::new(setting(), (60, height));
        bench.event(None, started(true));
        bench.turn();
        bench.event(Some(1), EventBody::Text(TextEvent::Answer("| a | b |\n|---|---|\n".to_string() + &"| 1 | 2 |\n".repeat(60))));
        bench.msg(Msg::Paste("x\n".repeat(9)));
        let rows = bench.screen().lines().count();
        assert!(rows <= usize::from(height) - 2, "{rows} rows of {height}\n{}", bench.screen());
        let cursor = view::frame(&bench.model).cursor;
        assert!(cursor.is_some_and(|(_, y)| usize::from(y) < rows), "{height} rows, {cursor:?}:\n{}", bench.screen());
    }
}
