//! The shell around the agent: a thread of its own with a tokio runtime, that carries out effects and brings back inputs.
//!
//! The only place that spawns. Everything that it starts belongs to it and ends before it does.

mod driver;
mod journal;
mod lane;
mod perform;
pub mod recorder;
mod services;

#[cfg(test)]
mod tests;

pub use journal::{UNSAVED, merge};
pub use services::Services;

use crate::{
    agent::{Agent, Settings},
    handle::Handle,
    mailbox::mailbox,
    protocol::Record,
};
use std::{io, thread::JoinHandle};

/// A running agent. Join it after the handle is dropped or `Command::Close` was sent: then all is written and nothing runs.
pub struct Engine {
    thread: Option<JoinHandle<()>>,
}

impl Engine {
    /// `records` are those of the session that goes on; none for a new one.
    pub fn start(services: Services, settings: Settings, records: Vec<Record>) -> io::Result<(Handle, Engine)> {
        let (commands, inbox) = mailbox();
        let (outbox, events) = mailbox();
        services.recorder.line("settings", &(&settings, &records));
        let thread = std::thread::Builder::new().name("engine".into()).spawn(move || {
            let (agent, first) = Agent::start(settings, &records);
            driver::run(services, agent, first, inbox, outbox);
        })?;
        Ok((Handle { commands, events }, Engine { thread: Some(thread) }))
    }

    pub fn join(mut self) {
        self.wait();
    }

    fn wait(&mut self) {
        if let Some(thread) = self.thread.take() {
            // A panic in there has closed the mailbox; the front end has said so.
            let _ = thread.join();
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.wait();
    }
}
