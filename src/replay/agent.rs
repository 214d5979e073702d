//! The agent once more, from its recorded inputs; and whether it says the same.

use crate::{
    agent::{Agent, Effect, Input, Settings},
    engine::{UNSAVED, merge},
    protocol::{CallEvent, Class, EventBody, Record, TextEvent, TurnEvent, TurnId},
    tui::app::Msg,
};
use std::{fmt::Debug, time::Duration};

/// Characters of a line about an input or an effect.
const WIDTH: usize = 150;

type Told = (Option<TurnId>, EventBody);

#[derive(Default)]
pub struct Rerun {
    agent: Option<Agent>,
    /// One line for each input, and below it one for each effect.
    pub steps: Vec<String>,
    emitted: Vec<Told>,
    recorded: Vec<Told>,
    /// Of an agent before this one.
    difference: Option<String>,
}

impl Rerun {
    /// What the agent emits.
    pub fn start(&mut self, settings: Settings, records: &[Record]) -> Vec<Told> {
        self.difference = self.difference();
        (self.emitted, self.recorded) = (vec![], vec![]);
        let (agent, effects) = Agent::start(settings, records);
        self.agent = Some(agent);
        self.steps.push(format!("{:9.3} start", 0.0));
        self.note(effects)
    }

    pub fn step(&mut self, now: Duration, input: Input) -> Vec<Told> {
        let Some(agent) = &mut self.agent else { return vec![] };
        self.steps.push(format!("{:9.3} {}", now.as_secs_f64(), brief(&input)));
        let effects = agent.step(now, input);
        self.note(effects)
    }

    fn note(&mut self, effects: Vec<Effect>) -> Vec<Told> {
        self.steps.extend(effects.iter().map(|effect| format!("{:9} → {}", "", brief_effect(effect))));
        let told: Vec<Told> = effects.into_iter().filter_map(told).collect();
        told.iter().cloned().for_each(|told| add(&mut self.emitted, told));
        told
    }

    #[cfg(test)]
    pub fn emitted(&mut self, told: impl IntoIterator<Item = Told>) {
        told.into_iter().for_each(|told| add(&mut self.emitted, told));
    }

    /// What the screen was told when it was recorded.
    pub fn shown(&mut self, msg: &Msg) {
        let Msg::Event(event) = msg else { return };
        // The journal's own word, not the agent's.
        let journal = matches!(&event.body, EventBody::Notice(notice) if notice.text.starts_with(UNSAVED));
        if !journal {
            add(&mut self.recorded, (event.turn, event.body.clone()));
        }
    }

    /// The first event that is not what was recorded. The screen may have been left before it was told all.
    pub fn difference(&self) -> Option<String> {
        if self.difference.is_some() {
            return self.difference.clone();
        }
        let last = self.recorded.len().saturating_sub(1);
        let (at, recorded) = self.recorded.iter().enumerate().find(|(at, recorded)| match self.emitted.get(*at) {
            Some(emitted) => emitted != *recorded && !(*at == last && begins(emitted, recorded)),
            None => true,
        })?;
        let now = self.emitted.get(at).map_or("nothing more".into(), brief);
        Some(format!("event {}:\n  recorded: {}\n  now:      {now}", at + 1, brief(recorded)))
    }
}

fn told(effect: Effect) -> Option<Told> {
    match effect {
        Effect::Emit(turn, body) => Some((turn, body)),
        _ => None,
    }
}

/// With all that may be merged merged: how much was, on the way to the screen, is a matter of chance.
fn add(list: &mut Vec<Told>, (turn, body): Told) {
    if body.class() == Class::Mergeable
        && let Some((last_turn, last)) = list.last_mut()
        && *last_turn == turn
        && merge(last, &body)
    {
        return;
    }
    list.push((turn, body));
}

fn begins((turn, whole): &Told, (of, start): &Told) -> bool {
    let text = |body: &EventBody| match body {
        EventBody::Text(TextEvent::Answer(text)) => Some((0, text.clone())),
        EventBody::Text(TextEvent::Reasoning(text)) => Some((1, text.clone())),
        EventBody::Call(CallEvent::Progress { id, output }) => Some((1 + id.0, output.clone())),
        _ => None,
    };
    if let (EventBody::Turn(TurnEvent::Used(_)), EventBody::Turn(TurnEvent::Used(_))) = (whole, start) {
        return turn == of;
    }
    match (text(whole), text(start)) {
        (Some((a, whole)), Some((b, start))) => turn == of && a == b && whole.starts_with(&start),
        _ => false,
    }
}

fn brief_effect(effect: &Effect) -> String {
    match effect {
        Effect::CallModel(request) => format!("CallModel(#{}, {}, {} messages)", request.id, request.model, request.messages.len()),
        other => brief(other),
    }
}

/// On one line; `Debug` leaves no control character in a text.
fn brief(what: &impl Debug) -> String {
    let text = format!("{what:?}");
    match text.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
