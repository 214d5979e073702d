//! Standard input, line by line, for whoever can't wait for it.

use crate::mailbox::{Inbox, mailbox};
use std::io::{self, BufRead};

/// Lines without their ends; closed at the end of the input. The thread that reads ends with the process: a read of a terminal
/// can't be called back.
pub fn lines() -> Inbox<String> {
    let (outbox, inbox) = mailbox();
    super::aside(move || {
        let mut input = io::stdin().lock();
        let mut bytes = vec![];
        loop {
            bytes.clear();
            match input.read_until(b'\n', &mut bytes) {
                Ok(0) => return,
                Ok(_) => outbox.send(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_owned()),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    });
    inbox
}
