//! Writes a provider or a theme into the user's file of configuration.
//!
//! Everything else in the file stays as it is, comments included; a file that can't be understood is not touched.

use super::{FILE_NAME, Places, source, store};
use crate::{
    failure::Failure,
    protocol::{ProviderSettings, Rule, ThemeChoice, WireFormat},
};
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;
use std::{
    io,
    path::{Path, PathBuf},
};

const ADDRESS: [&str; 3] = ["baseUrl", "baseURL", "base_url"];

#[derive(Debug, Clone, PartialEq)]
pub enum Scope {
    User,
    /// The root of the project.
    Project(PathBuf),
}

/// Adds the provider, or changes the one of that name. Gives the file.
pub fn save_provider(places: &Places, scope: &Scope, settings: &ProviderSettings) -> Result<PathBuf, Failure> {
    let path = match scope {
        Scope::User => places.user_file(),
        Scope::Project(root) => root.join(FILE_NAME),
    };
    save(path, |path, text| with_provider(path, text, settings))
}

/// Makes the theme the user's: in the file that settings are saved to. Gives the file.
pub fn save_theme(places: &Places, choice: &ThemeChoice) -> Result<PathBuf, Failure> {
    save(places.user_file(), |path, text| with_theme(path, text, choice))
}

/// Puts a rule into a file, or takes it out.
pub(super) fn change_rules(path: PathBuf, rule: &Rule, add: bool) -> Result<PathBuf, Failure> {
    save(path, |path, text| with_rule(path, text, rule, add))
}

fn with_rule(path: &Path, text: &str, rule: &Rule, add: bool) -> Result<String, Failure> {
    source::parse(path, text)?;
    let not_ours = |what: &str| Failure::config(format!("{}: {what}.", path.display()));
    let root = CstRootNode::parse(text, &source::OPTIONS).map_err(|error| not_ours(&error.to_string()))?;
    let object = root.object_value_or_create().ok_or_else(|| not_ours("It holds no object"))?;
    let block = object.object_value_or_create("backstitch").ok_or_else(|| not_ours("\"backstitch\" is not an object"))?;
    let permissions = block.object_value_or_create("permissions").ok_or_else(|| not_ours("\"permissions\" is not an object"))?;
    let name = rule.ruling.name();
    let list = permissions.array_value_or_create(name).ok_or_else(|| not_ours(&format!("\"{name}\" is not a list")))?;
    let is_it =
        |node: &CstNode| node.as_string_lit().and_then(|text| text.decoded_value().ok()).is_some_and(|text| text.trim() == rule.text);
    let there: Vec<_> = list.elements().into_iter().filter(is_it).collect();
    if add && there.is_empty() {
        list.ensure_multiline();
        list.append(input(&Value::String(rule.text.clone())));
    }
    if !add {
        if there.is_empty() {
            return Err(not_ours(&format!("The rule `{rule}` is not in it")));
        }
        there.into_iter().for_each(CstNode::remove);
    }
    let text = root.to_string();
    source::parse(path, &text)?;
    Ok(if text.ends_with('\n') { text } else { text + "\n" })
}

fn save(path: PathBuf, change: impl Fn(&Path, &str) -> Result<String, Failure>) -> Result<PathBuf, Failure> {
    let mut misread = None;
    let saved = store::locked(&path, |path| {
        let text = source::read(path)?.unwrap_or_default();
        match change(path, &text) {
            Ok(new) => store::replace(path, &new),
            Err(failure) => {
                misread = Some(failure);
                Ok(())
            }
        }
    });
    match (saved, misread) {
        (Ok(()), None) => Ok(path),
        (Ok(()), Some(failure)) => Err(failure.hint("Correct the file first; it has not been touched.")),
        (Err(error), _) => Err(unwritable(&path, &error)),
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::config(format!("{} can't be written: {error}.", path.display()))
        .hint("It counts for this session; BACKSTITCH_CONFIG_DIR names another folder for settings.")
}

fn with_provider(path: &Path, text: &str, settings: &ProviderSettings) -> Result<String, Failure> {
    source::parse(path, text)?;
    let not_ours = |what: &str| Failure::config(format!("{}: {what}.", path.display()));
    let root = CstRootNode::parse(text, &source::OPTIONS).map_err(|error| not_ours(&error.to_string()))?;
    let object = root.object_value_or_create().ok_or_else(|| not_ours("It holds no object"))?;
    let block = object.object_value_or_create("backstitch").ok_or_else(|| not_ours("\"backstitch\" is not an object"))?;
    let list = block.array_value_or_create("providers").ok_or_else(|| not_ours("\"providers\" is not a list"))?;
    let Ok(Value::Object(fields)) = serde_json::to_value(settings) else { return Err(not_ours("The provider can't be written")) };
    let mut entries = list.elements().into_iter().filter_map(|node| node.as_object());
    match entries.find(|entry| name_of(entry).is_some_and(|name| name.trim().to_lowercase() == settings.name.to_lowercase())) {
        Some(entry) => {
            // A key is for the address that it was given for.
            let written: Vec<_> = ADDRESS.iter().filter_map(|key| entry.get(key)).collect();
            let unwritten = entry.get("sdkProvider").and_then(|name| WireFormat::from_name(&text_of(&name)?)?.default_url());
            let elsewhere = match (&written[..], unwritten) {
                ([], Some(home)) => !is_same_address(home, &settings.base_url),
                _ => written.iter().any(|old| !holds(old, &settings.base_url)),
            };
            if elsewhere {
                ["apiKey", "headers"].iter().filter_map(|key| entry.get(key)).for_each(|secret| secret.remove());
            }
            // What is written without it is spoken to in the usual way.
            if let Some(old) = entry.get("sdkProvider").filter(|_| !fields.contains_key("sdkProvider")) {
                old.remove();
            }
            fields.iter().for_each(|(key, value)| set(&entry, key, value));
        }
        None => {
            list.ensure_multiline();
            list.append(input(&Value::Object(fields)));
        }
    }
    let text = root.to_string();
    // What can't be read back must not be written.
    source::parse(path, &text)?;
    Ok(if text.ends_with('\n') { text } else { text + "\n" })
}

fn with_theme(path: &Path, text: &str, choice: &ThemeChoice) -> Result<String, Failure> {
    source::parse(path, text)?;
    let not_ours = |what: &str| Failure::config(format!("{}: {what}.", path.display()));
    let root = CstRootNode::parse(text, &source::OPTIONS).map_err(|error| not_ours(&error.to_string()))?;
    let object = root.object_value_or_create().ok_or_else(|| not_ours("It holds no object"))?;
    let block = object.object_value_or_create("backstitch").ok_or_else(|| not_ours("\"backstitch\" is not an object"))?;
    let value = match (&choice.dark, &choice.light) {
        (Some(dark), Some(light)) if dark == light => Value::String(dark.clone()),
        (dark, light) => {
            let fields = [("dark", dark), ("light", light)].into_iter();
            Value::Object(fields.filter_map(|(key, name)| Some((key.to_owned(), Value::String(name.clone()?)))).collect())
        }
    };
    set(&block, "theme", &value);
    let text = root.to_string();
    source::parse(path, &text)?;
    Ok(if text.ends_with('\n') { text } else { text + "\n" })
}

fn set(entry: &CstObject, key: &str, value: &Value) {
    let names: &[&str] = if key == "baseUrl" { &ADDRESS } else { &[key] };
    match names.iter().find_map(|name| entry.get(name)) {
        Some(property) => property.set_value(input(value)),
        None => drop(entry.append(key, input(value))),
    }
}

fn name_of(entry: &CstObject) -> Option<String> {
    text_of(&entry.get("name")?)
}

fn text_of(property: &CstObjectProp) -> Option<String> {
    property.value()?.as_string_lit()?.decoded_value().ok()
}

fn holds(property: &CstObjectProp, address: &str) -> bool {
    text_of(property).is_some_and(|text| is_same_address(&text, address))
}

fn is_same_address(a: &str, b: &str) -> bool {
    a.trim().trim_end_matches('/') == b.trim().trim_end_matches('/')
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(map) => CstInputValue::Object(map.iter().map(|(key, value)| (key.clone(), input(value))).collect()),
    }
}
