//! A command of this very program that reads a file for us, in a process of its own: what it reads comes from anywhere.

use crate::tools::Cancel;
use std::{
    fs::File,
    io::{self, Read},
    process::{Command, Stdio},
    sync::mpsc,
    time::{Duration, Instant},
};

/// What came of it.
pub enum Reading {
    /// Its output, as far as it is wanted, and whether it ended well.
    Ended(Vec<u8>, bool),
    TooLong,
    Interrupted,
}

/// `file` is its standard input; `most`: bytes of output.
pub fn read_with(command: &str, file: File, most: u64, within: Duration, cancel: &Cancel) -> io::Result<Reading> {
    let mut child = Command::new(std::env::current_exe()?);
    child.arg(command).env_clear().stdin(file).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = child.spawn()?;
    let output = child.stdout.take().ok_or_else(|| io::Error::other("it has no output"))?;
    let (told, hears) = mpsc::channel();
    std::thread::spawn(move || {
        let mut read = vec![];
        let done = output.take(most).read_to_end(&mut read).map(|_| read);
        let _ = told.send(done);
    });
    let begun = Instant::now();
    let read = loop {
        match hears.recv_timeout(Duration::from_millis(20)) {
            Ok(read) => break Some(read),
            Err(_) if cancel.is_cancelled() || begun.elapsed() > within => break None,
            Err(_) => {}
        }
    };
    // More than is wanted it would say to nobody for ever.
    let whole = read.as_ref().is_some_and(|read| read.as_ref().is_ok_and(|text| (text.len() as u64) < most));
    if !whole {
        let _ = child.kill();
    }
    let status = child.wait()?;
    Ok(match read {
        Some(read) => Reading::Ended(read?, !whole || status.success()),
        None if cancel.is_cancelled() => Reading::Interrupted,
        None => Reading::TooLong,
    })
}
