//! Providers of a project's own file.
//!
//! One that refers to variables could have any of the user's sent to any address, and one of the name of the user's would get what is
//! meant for that: they wait until the user has accepted them, as they are written.

use super::{environment, providers::same, settings::Layer};
use crate::protocol::ProviderSettings;
use jsonc_parser::ast::{Object, Value};
use sha2::{Digest, Sha256};

const LONGEST_SHOWN: usize = 200;

#[derive(Debug, Clone, PartialEq)]
pub struct ProjectProvider {
    pub settings: ProviderSettings,
    /// What it says, as a hash: it may have a key in it.
    pub content: String,
    /// Name and address as they are written, without values of variables.
    shown: String,
    /// It would be given these.
    variables: Vec<String>,
    /// One of the user's has its name.
    replaces: bool,
}

impl ProjectProvider {
    /// `text`: the entry as it is written.
    pub fn new(settings: ProviderSettings, entry: &Object, text: &str) -> ProjectProvider {
        let content = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
        let mut variables = vec![];
        entry.properties.iter().for_each(|property| names(&property.value, &mut variables));
        let written = |keys: &[&str]| {
            let property = entry.properties.iter().rev().find(|property| keys.contains(&property.name.as_str()));
            match property.map(|property| &property.value) {
                Some(Value::StringLit(text)) => text.value.trim().chars().take(LONGEST_SHOWN).collect(),
                _ => String::new(),
            }
        };
        let shown = format!("provider \"{}\" at {}", written(&["name"]), written(&["baseUrl", "baseURL", "base_url"]));
        ProjectProvider { settings, content, shown, variables, replaces: false }
    }

    /// In a few words.
    pub fn sentence(&self) -> String {
        let mut sentence = self.shown.clone();
        if self.replaces {
            sentence.push_str(" in place of yours");
        }
        if !self.variables.is_empty() {
            sentence.push_str(&format!(", which is sent {}", self.variables.join(", ")));
        }
        sentence
    }

    fn waits(&self) -> bool {
        self.replaces || !self.variables.is_empty()
    }
}

/// The variables that a value refers to, each once. By what a text is, not by how it is written: `$` may be escaped.
fn names(value: &Value, names_found: &mut Vec<String>) {
    match value {
        Value::StringLit(text) => {
            let new = environment::names(&text.value).into_iter().filter(|name| !names_found.contains(name)).collect::<Vec<_>>();
            names_found.extend(new);
        }
        Value::Array(list) => list.elements.iter().for_each(|item| names(item, names_found)),
        Value::Object(object) => object.properties.iter().for_each(|property| names(&property.value, names_found)),
        _ => {}
    }
}

/// Lays those that count over the user's; gives those that don't.
pub fn sift(layer: &mut Layer, is_accepted: impl Fn(&ProjectProvider) -> bool) -> Vec<ProjectProvider> {
    let (mut counting, mut withheld) = (vec![], vec![]);
    for mut provider in std::mem::take(&mut layer.project_providers) {
        provider.replaces = layer.providers.iter().any(|own| same(&own.name, &provider.settings.name));
        if provider.waits() && !is_accepted(&provider) {
            withheld.push(provider);
        } else {
            counting.push(provider.settings);
        }
    }
    layer.providers.retain(|own| !counting.iter().any(|provider| same(&provider.name, &own.name)));
    layer.providers.splice(0..0, counting);
    withheld
}
