//! Whether secrets are replaced before a model reads them, and what is one besides.
//!
//! A project's file may make it stricter, never laxer: it may switch it on and name more patterns.

use super::settings::Reader;
use crate::{
    failure::Failure,
    privacy,
    protocol::{PrivacySettings, ProviderSettings, RuleSource, Secret, WebSettings},
};
use jsonc_parser::ast::{ObjectProp, Value};

#[derive(Debug, Default, PartialEq)]
pub struct PrivacyLayer {
    on: Option<bool>,
    patterns: Vec<String>,
}

/// More would be looked for in every text.
const MOST_PATTERNS: usize = 100;

impl PrivacyLayer {
    pub fn merge(&mut self, lower: PrivacyLayer) {
        self.on = self.on.or(lower.on);
        self.patterns.extend(lower.patterns);
    }

    pub fn settings(self, warnings: &mut Vec<String>) -> PrivacySettings {
        let mut patterns = self.patterns;
        if patterns.len() > MOST_PATTERNS {
            warnings.push(format!("\"privacyPatterns\": only the first {MOST_PATTERNS} count."));
            patterns.truncate(MOST_PATTERNS);
        }
        PrivacySettings { on: self.on.unwrap_or(true), patterns }
    }
}

pub fn read(reader: &mut Reader, property: &ObjectProp, layer: &mut PrivacyLayer) -> Result<(), Failure> {
    let key = property.name.as_str();
    if key == "privacyPatterns" {
        return patterns(reader, property, layer);
    }
    let on = match &property.value {
        Value::BooleanLit(flag) => Some(flag.value),
        Value::StringLit(text) if matches!(&*text.value, "on" | "off") => Some(text.value == "on"),
        Value::NullKeyword(_) => None,
        _ => reader.wrong(property, "\"on\" or \"off\"")?,
    };
    if on == Some(false) && reader.rules != RuleSource::User {
        reader.warn(property, &format!("\"{key}\" has no effect here: a project can't switch it off."));
        return Ok(());
    }
    // Our own name counts before Nanocoder's.
    layer.on = if key == "privacy" { on.or(layer.on) } else { layer.on.or(on) };
    Ok(())
}

/// As they are written: `$` is part of what they look for.
fn patterns(reader: &mut Reader, property: &ObjectProp, layer: &mut PrivacyLayer) -> Result<(), Failure> {
    let items: Vec<&Value> = match &property.value {
        Value::Array(list) => list.elements.iter().collect(),
        Value::NullKeyword(_) => vec![],
        one => vec![one],
    };
    for item in items {
        match item {
            Value::StringLit(text) => match privacy::check(&text.value) {
                Ok(()) => layer.patterns.push(text.value.to_string()),
                Err(why) => reader.mistake(item, format!("The pattern {:?} in \"privacyPatterns\" can't be used: {why}.", text.value))?,
            },
            _ => reader.mistake(item, "\"privacyPatterns\" is a list of regular expressions in quotes.".into())?,
        }
    }
    Ok(())
}

/// What is secret whatever it looks like: our own keys, and variables that are called so. With what each is called.
pub fn known(
    providers: &[ProviderSettings],
    web: &WebSettings,
    variables: &mut dyn Iterator<Item = (String, String)>,
) -> Vec<(String, String)> {
    let mut known = vec![];
    for provider in providers {
        let key = provider.api_key.iter().map(|key| key.trim().to_owned());
        let headers = provider.headers.iter().filter(|(name, _)| is_secret(name)).map(|(_, value)| {
            let value = value.trim();
            value.strip_prefix("Bearer ").or(value.strip_prefix("Basic ")).unwrap_or(value).to_owned()
        });
        known.extend(key.chain(headers).map(|value| (format!("key of {}", provider.name), value)));
    }
    let search = web.search.as_ref().and_then(|search| search.key.as_ref());
    known.extend(search.map(|Secret(key)| ("key of the web search".to_owned(), key.clone())));
    let variables = variables.filter(|(name, value)| is_secret(name) && is_value(value));
    known.extend(variables.map(|(name, value)| (format!("variable {name}"), value)));
    known
}

fn is_secret(name: &str) -> bool {
    const WORDS: [&str; 9] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIALS", "COOKIE", "AUTHORIZATION"];
    name.to_ascii_uppercase().split(['_', '-']).any(|part| WORDS.iter().any(|word| part.ends_with(word)))
}

/// Paths, addresses, numbers and words are no secrets, whatever they are called.
fn is_value(value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
    value.len() >= 8
        && !value.contains(char::is_whitespace)
        && !value.contains("://")
        && !value.starts_with(['/', '~', '.'])
        && has(u8::is_ascii_alphabetic)
        && has(u8::is_ascii_digit)
}

/// The environment as far as it is text.
pub fn variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}
