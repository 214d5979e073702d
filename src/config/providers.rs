//! The entries of `providers`, and the parameters that models are asked with.
//!
//! A key from the environment is taken only for the maker's own server, never for another address.

use super::{
    project_providers::ProjectProvider,
    settings::{Layer, Read, Reader},
    source,
};
use crate::{
    failure::{Failure, nearest},
    protocol::{Parameters, ProviderSettings, RuleSource, WireFormat},
};
use jsonc_parser::{
    ast::{Object, ObjectProp, Value},
    common::Ranged,
};
use std::sync::Arc;

const PROVIDER_KEYS: [&str; 14] = [
    "name",
    "baseUrl",
    "apiKey",
    "models",
    "headers",
    "contextWindow",
    "contextWindows",
    "requestTimeout",
    "disableTools",
    "vision",
    "visionModels",
    "sdkProvider",
    "modelParameters",
    "promptCaching",
];
/// Settings of Nanocoder that have no effect here yet.
const PROVIDER_LATER: [&str; 8] =
    ["caCertPath", "maxRetries", "connectionPool", "disableToolModels", "organizationId", "openrouter", "socketTimeout", "type"];
const PARAMETERS: [&str; 10] = [
    "temperature",
    "topP",
    "topK",
    "maxTokens",
    "stop",
    "frequencyPenalty",
    "presencePenalty",
    "reasoningEffort",
    "reasoningBudget",
    "reasoningSummary",
];
const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
const SUMMARIES: [&str; 3] = ["auto", "concise", "detailed"];
/// What else Nanocoder keeps under `tune`.
const TUNE_LATER: [&str; 4] = ["aggressiveCompact", "toolMode", "disableNativeTools", "includeAgentsMd"];

/// A layer with nothing else.
pub fn read(reader: &mut Reader, property: &ObjectProp) -> Result<Layer, Failure> {
    let Value::Array(list) = &property.value else {
        reader.mistake(&property.value, format!("\"providers\" is a list, [ … ], not {}.", source::kind(&property.value)))?;
        return Ok(Layer::default());
    };
    let mut layer = Layer::default();
    for item in &list.elements {
        let Value::Object(entry) = item else {
            reader.mistake(item, format!("A provider is an object, {{ … }}, not {}.", source::kind(item)))?;
            continue;
        };
        let Some(provider) = provider(reader, entry)? else { continue };
        let project = layer.project_providers.iter().map(|known| &known.settings);
        if layer.providers.iter().chain(project).any(|known| same(&known.name, &provider.name)) {
            reader.warn(item, &format!("The provider \"{}\" is there twice; this one has no effect.", provider.name));
        } else if reader.rules == RuleSource::Project {
            layer.project_providers.push(ProjectProvider::new(provider, entry, entry.text(reader.text)));
        } else {
            layer.providers.push(provider);
        }
    }
    Ok(layer)
}

pub fn same(a: &str, b: &str) -> bool {
    a.to_lowercase() == b.to_lowercase()
}

fn provider(reader: &mut Reader, entry: &Object) -> Read<ProviderSettings> {
    let mut provider = ProviderSettings::default();
    let mut spoken = None;
    for property in &entry.properties {
        match property.name.as_str() {
            "name" => provider.name = reader.string(property)?.unwrap_or_default().trim().to_owned(),
            "baseUrl" | "baseURL" | "base_url" => provider.base_url = reader.string(property)?.unwrap_or_default().trim().to_owned(),
            "apiKey" => provider.api_key = reader.string(property)?.filter(|key| !key.trim().is_empty()),
            "models" => provider.models = reader.strings(property)?,
            "headers" => {
                for header in reader.object(property)? {
                    if let Some(value) = reader.string(header)? {
                        provider.headers.insert(header.name.as_str().to_owned(), value);
                    }
                }
            }
            "contextWindow" => provider.context_window = reader.positive(property)?,
            "contextWindows" => {
                for model in reader.object(property)? {
                    if let Some(tokens) = reader.positive(model)? {
                        provider.context_windows.insert(model.name.as_str().to_owned(), tokens);
                    }
                }
            }
            "requestTimeout" => provider.request_timeout = reader.number(property)?,
            "disableTools" => provider.disable_tools = reader.flag(property)?.unwrap_or_default(),
            "vision" => provider.vision = reader.flag(property)?,
            "visionModels" => provider.vision_models = Some(Arc::new(reader.strings(property)?)),
            "promptCaching" => provider.prompt_caching = reader.flag(property)?,
            "modelParameters" => provider.parameters.merge(&parameters(reader, property)?),
            "tune" => {
                let mut layer = Layer::default();
                tune(reader, property, &mut layer)?;
                provider.parameters.merge(&layer.parameters);
            }
            "sdkProvider" => spoken = reader.string(property)?.map(|name| (name, property)),
            other => reader.unknown(property, other, &PROVIDER_KEYS, &PROVIDER_LATER),
        }
    }
    if let Some((name, property)) = spoken {
        let Some(format) = WireFormat::from_name(&name) else {
            let near = nearest(&name, WireFormat::NAMES.map(|(name, _)| name)).map(|near| format!(" Did you mean \"{near}\"?"));
            let why = near.unwrap_or_else(|| " It is not supported yet.".into());
            let own = &provider.name;
            reader.warn(&property.value, &format!("The provider \"{own}\" speaks \"{name}\" and is left out.{why}"));
            return Ok(None);
        };
        provider.format = format;
        if let (true, Some(home)) = (provider.base_url.is_empty(), format.default_url()) {
            provider.base_url = home.to_owned();
        }
    }
    let missing = [("name", &provider.name), ("baseUrl", &provider.base_url)].into_iter().find(|(_, value)| value.is_empty());
    if let Some((key, _)) = missing {
        let of = if provider.name.is_empty() { "A provider".to_owned() } else { format!("The provider \"{}\"", provider.name) };
        reader.mistake(entry, format!("{of} needs a \"{key}\"."))?;
        return Ok(None);
    }
    if provider.api_key.is_none() && provider.format.is_at_home(&provider.base_url) {
        let set = |name: &&str| (reader.env)(name).map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        provider.api_key = provider.format.key_variables().iter().find_map(set);
    }
    Ok(Some(provider))
}

/// Nanocoder's block of settings for models.
pub fn tune(reader: &mut Reader, property: &ObjectProp, layer: &mut Layer) -> Result<(), Failure> {
    let Value::Object(tune) = &property.value else { return Ok(()) };
    let (mut on, mut set) = (true, Parameters::default());
    for inner in &tune.properties {
        match inner.name.as_str() {
            "toolProfile" if layer.tool_profile.is_none() => layer.tool_profile = reader.profile(inner)?,
            "toolProfile" => {}
            "enabled" => on = reader.flag(inner)?.unwrap_or(true),
            "modelParameters" => set = parameters(reader, inner)?,
            other => reader.unknown(inner, other, &["toolProfile", "enabled", "modelParameters"], &TUNE_LATER),
        }
    }
    if on {
        layer.parameters.merge(&set);
    }
    Ok(())
}

pub fn parameters(reader: &mut Reader, property: &ObjectProp) -> Result<Parameters, Failure> {
    let mut set = Parameters::default();
    for inner in reader.object(property)? {
        match inner.name.as_str() {
            "temperature" => set.temperature = within(reader, inner, 0.0, 2.0)?,
            "topP" => set.top_p = within(reader, inner, 0.0, 1.0)?,
            "topK" => set.top_k = reader.positive(inner)?,
            "maxTokens" => set.max_tokens = reader.positive(inner)?,
            "stop" => set.stop = stop(reader, inner)?,
            "frequencyPenalty" => set.frequency_penalty = within(reader, inner, -2.0, 2.0)?,
            "presencePenalty" => set.presence_penalty = within(reader, inner, -2.0, 2.0)?,
            "reasoningEffort" => set.reasoning_effort = one_of(reader, inner, &EFFORTS)?,
            "reasoningBudget" => {
                set.reasoning_budget = match reader.number(inner)? {
                    Some(tokens) if tokens < 0 => reader.wrong(inner, "a number of tokens")?,
                    tokens => tokens.map(i64::unsigned_abs),
                }
            }
            "reasoningSummary" => set.reasoning_summary = one_of(reader, inner, &SUMMARIES)?,
            other => reader.unknown(inner, other, &PARAMETERS, &[]),
        }
    }
    Ok(set)
}

fn within(reader: &mut Reader, property: &ObjectProp, least: f64, most: f64) -> Read<f64> {
    let number = match &property.value {
        Value::NullKeyword(_) => return Ok(None),
        Value::NumberLit(number) => number.value.parse::<f64>().ok(),
        _ => None,
    };
    match number.filter(|number| (least..=most).contains(number)) {
        Some(number) => Ok(Some(number)),
        None => reader.wrong(property, &format!("a number from {least} to {most}")),
    }
}

fn one_of(reader: &mut Reader, property: &ObjectProp, names: &[&str]) -> Read<String> {
    let Some(name) = reader.string(property)?.map(|name| name.trim().to_lowercase()).filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    if !names.contains(&name.as_str()) {
        let near = nearest(&name, names.iter().copied()).map(|near| format!(" Did you mean \"{near}\"?")).unwrap_or_default();
        let key = property.name.as_str();
        reader.mistake(&property.value, format!("\"{key}\" can't be {name:?}.{near} It is one of: {}.", names.join(", ")))?;
        return Ok(None);
    }
    Ok(Some(name))
}

/// As they are: white space may well be what an answer is to stop at.
fn stop(reader: &mut Reader, property: &ObjectProp) -> Result<Vec<String>, Failure> {
    let texts: Vec<Option<&str>> = match &property.value {
        Value::StringLit(text) => vec![Some(&text.value)],
        Value::Array(list) => {
            list.elements.iter().map(|item| if let Value::StringLit(text) = item { Some(&*text.value) } else { None }).collect()
        }
        Value::NullKeyword(_) => vec![],
        _ => vec![None],
    };
    match texts.into_iter().collect::<Option<Vec<&str>>>() {
        Some(texts) => Ok(texts.into_iter().filter(|text| !text.is_empty()).map(str::to_owned).collect()),
        None => reader.wrong::<()>(property, "a list of texts, [ … ]").map(|_| vec![]),
    }
}
