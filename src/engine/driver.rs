//! One task, one owner: takes inputs in the order in which they arrive, lets the agent step, has the effects carried out.

use super::{
    Services,
    journal::{Item, Journal},
    lane::Lane,
    perform::Performer,
};
use crate::{
    agent::{Agent, Effect, Input},
    mailbox::{Inbox, Mailbox, mailbox},
    protocol::{Command, Event, EventBody, Notice},
};
use std::time::Instant;

pub fn run(services: Services, agent: Agent, first: Vec<Effect>, commands: Inbox<Command>, events: Mailbox<Event>) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return say(&events, format!("the engine could not start: {error}")),
    };
    let failed = events.clone();
    if let Err(error) = runtime.block_on(drive(services, agent, first, commands, events)) {
        say(&failed, format!("the engine could not start: {error}"));
    }
    // Blocking calls that were told to stop have ended; one that ignores it must not hold the exit.
    runtime.shutdown_timeout(std::time::Duration::from_millis(100));
}

fn say(events: &Mailbox<Event>, text: String) {
    events.send(Event { seq: 1, turn: None, body: EventBody::Notice(Notice::error(text)) });
}

async fn drive(
    services: Services,
    mut agent: Agent,
    first: Vec<Effect>,
    commands: Inbox<Command>,
    events: Mailbox<Event>,
) -> std::io::Result<()> {
    let (outbox, inputs) = mailbox::<Input>();
    let recorder = services.recorder.clone();
    let journal = Journal::start(services.session, events)?;
    let lane = Lane::start(services.checkpoints, agent.session().clone(), outbox.clone())?;
    let mut performer =
        Performer::new(services.models, services.places, services.tools, services.workspace, outbox, lane, services.privacy);
    let started = Instant::now();
    let mut effects = first;
    loop {
        for effect in effects {
            match effect {
                Effect::Emit(turn, body) => journal.send(Item::Emit(turn, body)),
                Effect::Append(record) => {
                    performer.recorded(&record);
                    journal.send(Item::Append(record));
                }
                Effect::Stop => {
                    performer.finish().await;
                    return Ok(());
                }
                other => performer.perform(other),
            }
        }
        let input = tokio::select! {
            biased;
            // A front end that is gone can't say what it wants any more: that is the wish to close.
            command = commands.next() => Input::Command(command.unwrap_or(Command::Close)),
            Some(input) = inputs.next() => input,
        };
        let now = started.elapsed();
        if recorder.on() {
            recorder.line("input", &(now, &input));
        }
        performer.heard(&input);
        effects = agent.step(now, input);
    }
}
