//! The settings of the web tools: which search engine, and which private hosts. They are the user's alone.
//!
//! A project's file may not set them: it could send a search, with its key, to whomever it likes, or open this machine to fetches.

use super::{Env, settings::Reader};
use crate::{
    failure::{Failure, nearest},
    protocol::{RuleSource, SearchProvider, SearchSettings, Secret, WebSettings},
};
use jsonc_parser::ast::{ObjectProp, Value};

#[derive(Debug, Default, PartialEq)]
pub struct WebLayer {
    pub private_hosts: Vec<String>,
    /// As a whole from one file: a key must never go to an address from another.
    pub search: Option<SearchSettings>,
}

const SEARCH_KEYS: [&str; 3] = ["provider", "apiKey", "url"];

impl WebLayer {
    pub fn merge(&mut self, lower: WebLayer) {
        self.private_hosts.extend(lower.private_hosts);
        self.search = self.search.take().or(lower.search);
    }

    /// With what the environment says, which outranks files.
    pub fn settings(self, env: &Env, warnings: &mut Vec<String>) -> WebSettings {
        let set = |name: &str| env(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let from_env = SearchProvider::ALL.into_iter().find(|provider| set(variable(*provider)).is_some());
        let found = self.search.or(from_env.map(|provider| SearchSettings { provider, key: None, url: None }));
        let search = found.and_then(|mut search| {
            let (provider, variable) = (search.provider, variable(search.provider));
            let (needs, there) = match provider {
                SearchProvider::Searxng => {
                    search.url = set(variable).or(search.url);
                    ("url", search.url.is_some())
                }
                SearchProvider::Brave | SearchProvider::Tavily => {
                    search.key = set(variable).map(Secret).or(search.key);
                    ("apiKey", search.key.is_some())
                }
            };
            if !there {
                warnings.push(format!("\"webSearch\": {} needs \"{needs}\", or {variable} in the environment.", provider.name()));
            }
            there.then_some(search)
        });
        let proxies = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"].into_iter().filter_map(set);
        WebSettings { private_hosts: self.private_hosts, search, proxies: proxies.collect() }
    }
}

/// What in the environment is for this engine.
fn variable(provider: SearchProvider) -> &'static str {
    match provider {
        SearchProvider::Brave => "BRAVE_API_KEY",
        SearchProvider::Tavily => "TAVILY_API_KEY",
        SearchProvider::Searxng => "SEARXNG_URL",
    }
}

pub fn read(reader: &mut Reader, property: &ObjectProp, layer: &mut WebLayer) -> Result<(), Failure> {
    let key = property.name.as_str();
    if reader.rules != RuleSource::User {
        if !reader.foreign {
            reader.warn(property, &format!("\"{key}\" counts only in your own settings: a project can't set it."));
        }
        return Ok(());
    }
    match key {
        "allowPrivateHosts" => layer.private_hosts = reader.strings(property)?,
        "webSearch" => layer.search = search(reader, property)?.or(layer.search.take()),
        // Where Nanocoder keeps it.
        _ => {
            if let Some(property) = reader.object(property)?.iter().find(|property| property.name.as_str() == "webSearch") {
                layer.search = layer.search.take().or(search(reader, property)?);
            }
        }
    }
    Ok(())
}

fn search(reader: &mut Reader, property: &ObjectProp) -> Result<Option<SearchSettings>, Failure> {
    if let Value::StringLit(_) = property.value {
        // It is a key, most likely, and is not repeated.
        reader.mistake(&property.value, format!("\"{}\" must be an object, {{ … }}, not a text.", property.name.as_str()))?;
        return Ok(None);
    }
    let (mut provider, mut key, mut url) = (None, None, None);
    let filled = |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    for entry in reader.object(property)? {
        match entry.name.as_str() {
            "provider" => {
                let Some(name) = reader.string(entry)? else { continue };
                provider = SearchProvider::from_name(&name);
                if provider.is_none() {
                    let names = SearchProvider::ALL.map(SearchProvider::name);
                    let near = nearest(&name, names).map(|near| format!(" Did you mean \"{near}\"?")).unwrap_or_default();
                    reader.mistake(&entry.value, format!("There is no web search {name:?}.{near} There are: {}.", names.join(", ")))?;
                }
            }
            "apiKey" => key = filled(reader.string(entry)?),
            "url" => url = filled(reader.string(entry)?),
            other => reader.unknown(entry, other, &SEARCH_KEYS, &[]),
        }
    }
    // Nanocoder knows one engine only.
    let guessed = if key.is_some() { Some(SearchProvider::Brave) } else { url.is_some().then_some(SearchProvider::Searxng) };
    Ok(provider.or(guessed).map(|provider| SearchSettings { provider, key: key.map(Secret), url }))
}
