//! What a server wants back with an answer: carried to the next request as it came, and never without the answer that it belongs to.

use super::*;
use crate::protocol::{Kept, WireFormat};
use std::time::Duration;

fn kept(value: &str) -> Kept {
    let model = ModelId { provider: "p".into(), model: "m".into() };
    Kept { format: WireFormat::Anthropic, model, text: 0, calls: 0, value: value.into() }
}

/// Feeds stream items of request `n`; gives the requests that came of it.
fn stream(agent: &mut Agent, n: u64, items: Vec<StreamItem>) -> Vec<Request> {
    let effects = items.into_iter().flat_map(|item| agent.step(Duration::ZERO, Input::Stream(RequestId(n), item)));
    effects.filter_map(|effect| if let Effect::CallModel(request) = effect { Some(request) } else { None }).collect()
}

fn prompted(agent: &mut Agent) -> Vec<Request> {
    let effects = agent.step(Duration::ZERO, Input::Command(Command::Prompt("go".into())));
    effects.into_iter().filter_map(|effect| if let Effect::CallModel(request) = effect { Some(request) } else { None }).collect()
}

fn kept_in(request: &Request) -> Vec<Vec<String>> {
    let of = |message: &Message| match message {
        Message::Assistant { kept, .. } => Some(kept.iter().map(|kept| kept.value.as_str().unwrap().to_owned()).collect()),
        _ => None,
    };
    request.messages.iter().filter_map(of).collect()
}

#[test]
fn it_goes_back_with_its_answer_and_not_with_a_part_of_one() {
    let mut agent = Agent::start(settings(), &[]).0;
    prompted(&mut agent);
    let text = || StreamItem::Text("Hi.".into());
    let signed = || StreamItem::Kept(kept("signed"));
    stream(&mut agent, 1, vec![signed(), text(), StreamItem::Kept(kept("more")), StreamItem::Done(StopReason::Finished)]);
    let next = prompted(&mut agent);
    assert_eq!(kept_in(&next[0]), [vec!["signed", "more"]]);
    let cut = ProviderError { kind: ProviderErrorKind::Cut, message: "cut".into(), status: None, retry_after: None };
    stream(&mut agent, 2, vec![signed(), text(), StreamItem::Failed(cut)]);
    let next = prompted(&mut agent);
    assert_eq!(kept_in(&next[0]), [vec!["signed".to_owned(), "more".into()], vec![]]);
}

#[test]
fn an_answer_that_takes_a_break_goes_on_by_itself() {
    let mut agent = Agent::start(settings(), &[]).0;
    prompted(&mut agent);
    let next = stream(&mut agent, 1, vec![StreamItem::Text("First, ".into()), StreamItem::Done(StopReason::Paused)]);
    let [next] = &next[..] else { panic!("{next:?}") };
    assert!(matches!(next.messages.last(), Some(Message::Assistant { text, .. }) if text == "First, "));
    assert_eq!(next.id, RequestId(2));
}
