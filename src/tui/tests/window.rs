//! The conversation in a window: how it opens, moves and closes.

use super::*;
use crate::tui::panel::Panel;

fn long(bench: &mut Bench) {
    bench.turn();
    let text: String = (0..60).map(|n| format!("line {n}\n\n")).collect();
    bench.event(Some(1), EventBody::Text(TextEvent::Answer(text)));
    bench.event(Some(1), EventBody::Text(TextEvent::Done));
    let end = TurnEnd { how: TurnOutcome::Answered, usage: Usage::default(), took: Duration::ZERO };
    bench.event(Some(1), EventBody::Turn(TurnEvent::Ended(end)));
}

#[test]
fn sending_goes_to_the_end_where_the_answer_will_be() {
    let mut bench = Bench::ready();
    long(&mut bench);
    bench.typed("/fullscreen");
    bench.keys("enter ctrl+home");
    assert!(!bench.screen().contains("line 59"));
    bench.typed("more");
    assert!(!bench.screen().contains("line 59"), "typing moves nothing");
    assert!(matches!(bench.keys("enter")[..], [Cmd::Send(Command::Prompt(_)), ..]));
    assert!(bench.screen().contains("line 59"), "{}", bench.screen());
}

#[test]
fn a_window_that_was_opened_for_what_was_folded_closes_with_esc() {
    let mut bench = Bench::ready();
    bench.turn();
    bench.event(Some(1), EventBody::Text(TextEvent::Reasoning("because".into())));
    bench.event(Some(1), EventBody::Text(TextEvent::Answer("Done.".into())));
    bench.event(Some(1), EventBody::Text(TextEvent::Done));
    let end = TurnEnd { how: TurnOutcome::Answered, usage: Usage::default(), took: Duration::ZERO };
    bench.event(Some(1), EventBody::Turn(TurnEvent::Ended(end)));
    bench.keys("ctrl+o");
    assert!(bench.model.is_fullscreen() && bench.screen().contains("because"));
    bench.keys("esc");
    assert!(!bench.model.is_fullscreen());
    // One that the user asked for stays.
    bench.typed("/fullscreen");
    bench.keys("enter esc");
    assert!(bench.model.is_fullscreen());
}

#[test]
fn the_search_marks_its_words_and_the_row_it_stands_on() {
    let mut bench = Bench::ready();
    long(&mut bench);
    bench.typed("/fullscreen");
    bench.keys("enter ctrl+f");
    bench.typed("LINE 5");
    let screen = bench.screen();
    assert!(screen.contains("match 11 of 11") && screen.contains("line 59"), "{screen}");
    let Some(Panel::Search(search)) = &bench.model.panel else { panic!() };
    let window = bench.model.window.as_ref().unwrap();
    let marks = |at: usize| search.marked(window.rows()[at].clone(), at);
    let row = search.row().unwrap();
    assert!(marks(row).fill.is_some() && marks(row).spans.iter().any(|span| span.style.invert && span.text == "line 5"));
    let other = (0..row).rev().find(|at| window.rows()[*at].text().contains("line 58")).unwrap();
    assert!(marks(other).fill.is_none() && marks(other).spans.iter().any(|span| span.style.underline && span.text == "line 5"));
    bench.typed("x");
    assert!(bench.screen().contains("no match"));
}

#[test]
fn many_warnings_leave_room_for_the_prompt_and_are_kept_for_the_status() {
    let mut bench = Bench::ready();
    let opened = Opened { warnings: (0..5).map(|n| format!("warning {n}")).collect(), ..Opened::default() };
    bench.msg(Msg::Opened(Ok(opened)));
    let screen = bench.printed.clone();
    assert!(screen.contains("! warning 0") && !screen.contains("warning 1") && screen.contains("4 more warnings: /status"), "{screen}");
    bench.typed("/status");
    bench.keys("enter");
    assert!(bench.printed.contains("warning 4"), "{}", bench.printed);
}
