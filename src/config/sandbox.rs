//! `"sandbox"`: where commands may write, and whether they may use the network.
//!
//! A project's file can only make it stricter: it may switch the sandbox on and the network off, whatever the user has set.

use super::settings::Reader;
use crate::{
    failure::Failure,
    protocol::{RuleSource, SandboxSettings},
};
use jsonc_parser::ast::{ObjectProp, Value};
use std::path::{Path, PathBuf};

#[derive(Debug, Default, PartialEq)]
pub struct SandboxLayer {
    on: Option<bool>,
    network: Option<bool>,
    /// As they were written.
    writable: Vec<String>,
    /// What the project's own file demands.
    demands_it: bool,
    refuses_network: bool,
}

const KEYS: [&str; 3] = ["enabled", "network", "writable"];

impl SandboxLayer {
    pub fn merge(&mut self, lower: SandboxLayer) {
        self.on = self.on.or(lower.on);
        self.network = self.network.or(lower.network);
        self.writable.extend(lower.writable);
        self.demands_it |= lower.demands_it;
        self.refuses_network |= lower.refuses_network;
    }

    pub fn settings(self, home: Option<&Path>, warnings: &mut Vec<String>) -> SandboxSettings {
        let mut writable = vec![];
        for path in self.writable {
            let meant = match (path.strip_prefix("~/"), home) {
                (Some(rest), Some(home)) => home.join(rest),
                _ => PathBuf::from(&path),
            };
            if meant.is_absolute() {
                writable.push(meant);
            } else {
                warnings.push(format!("\"sandbox\": \"writable\" has {path:?}, which is no whole path (`/…` or `~/…`); it has no effect."));
            }
        }
        SandboxSettings {
            on: self.demands_it || self.on.unwrap_or(true),
            network: !self.refuses_network && self.network.unwrap_or(true),
            writable,
        }
    }
}

pub fn read(reader: &mut Reader, property: &ObjectProp, layer: &mut SandboxLayer) -> Result<(), Failure> {
    let mut read = SandboxLayer::default();
    match &property.value {
        Value::BooleanLit(on) => read.on = Some(on.value),
        _ => {
            for entry in reader.object(property)? {
                match entry.name.as_str() {
                    "enabled" => read.on = reader.flag(entry)?,
                    "network" => read.network = reader.flag(entry)?,
                    "writable" => read.writable = reader.strings(entry)?,
                    other => reader.unknown(entry, other, &KEYS, &[]),
                }
            }
        }
    }
    if reader.rules == RuleSource::User {
        // Off is what another program has anyway: nobody has said it of ours.
        read.on = read.on.filter(|on| *on || !reader.foreign);
        layer.merge(read);
        return Ok(());
    }
    (layer.demands_it, layer.refuses_network) = (read.on == Some(true), read.network == Some(false));
    if read.on == Some(false) || read.network == Some(true) || !read.writable.is_empty() {
        reader.warn(property, "A project can only make the \"sandbox\" stricter: switch it on, or its network off.");
    }
    Ok(())
}
