//! What a front end holds of an agent: a way to command it and the events that it gives.

use crate::{
    mailbox::{Inbox, Mailbox},
    protocol::{Command, Event},
};

/// Dropping it closes the agent: its turn is interrupted and everything that it started ends.
pub struct Handle {
    pub commands: Mailbox<Command>,
    pub events: Inbox<Event>,
}

impl Handle {
    pub fn send(&self, command: Command) {
        self.commands.send(command);
    }
}
