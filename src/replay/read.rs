//! A recording, line by line, as the recorder wrote it. A last line that was cut is left out; any other that can't be read is an
//! error that names it.

use crate::{
    agent::{Input, Settings},
    failure::Failure,
    protocol::Record,
    tui::{app::Msg, recording::Facts},
};
use serde::Deserialize;
use std::{path::Path, time::Duration};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Entry {
    /// The version that wrote the recording: the first line.
    Backstitch(String),
    /// An agent starts, with the records of the session that goes on.
    Settings(Box<Settings>, Vec<Record>),
    /// A screen opens.
    Setting(Facts),
    Input(Duration, Box<Input>),
    Msg(Duration, Box<Msg>),
    /// Something could not be written down.
    Lost(String),
}

#[derive(Debug)]
pub struct Recording {
    pub version: String,
    pub entries: Vec<Entry>,
    pub torn: bool,
}

pub fn read(file: &Path) -> Result<Recording, Failure> {
    let bytes = std::fs::read(file).map_err(|e| Failure::usage(format!("{} can't be read: {e}", file.display())))?;
    parse(&bytes, &file.display().to_string())
}

pub fn parse(bytes: &[u8], name: &str) -> Result<Recording, Failure> {
    let mut lines = bytes.split(|b| *b == b'\n').zip(1..).filter(|(line, _)| !line.is_empty()).peekable();
    let first = lines.next().and_then(|(line, _)| serde_json::from_slice(line).ok());
    let Some(Entry::Backstitch(version)) = first else {
        return Err(Failure::usage(format!("{name} is not a recording.")).hint("backstitch --record FILE makes one"));
    };
    let mut recording = Recording { version, entries: vec![], torn: false };
    while let Some((line, number)) = lines.next() {
        match serde_json::from_slice(line) {
            Ok(entry) => recording.entries.push(entry),
            // Only a line that was never finished lacks its end.
            Err(_) if lines.peek().is_none() && bytes.last() != Some(&b'\n') => recording.torn = true,
            Err(error) => {
                let failure = Failure::usage(format!("Line {number} of {name} can't be read: {error}"));
                let (theirs, ours) = (&recording.version, env!("CARGO_PKG_VERSION"));
                return Err(if theirs == ours { failure } else { failure.hint(format!("it is of version {theirs}, and this is {ours}")) });
            }
        }
    }
    Ok(recording)
}
