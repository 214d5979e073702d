//! The conversation in a window: how it opens, moves and closes.

use super::*;

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
