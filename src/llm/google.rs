//! Google's Gemini.
//!
//! Its calls have no ids; ours never leave. Signatures of thoughts go back with the part that they came with.

mod body;
mod chunks;
mod schema;

use super::{
    http::Endpoint,
    wire::{Link, Remote, Served, Wire},
};
use crate::protocol::{ProviderError, ProviderSettings, Request};
use chunks::Chunks;
use futures::{FutureExt, future::BoxFuture};
use reqwest::Url;
use serde_json::Value;

pub type Google = Remote<Generate>;

#[derive(Debug, Default)]
pub struct Generate;

impl Wire for Generate {
    type Dialect = Chunks;

    fn new(_: &ProviderSettings) -> Self {
        Generate
    }

    fn url(&self, endpoint: &Endpoint, model: &str) -> Result<Url, ProviderError> {
        // Tuned models are named with their folder.
        let folder = if model.contains('/') { "" } else { "models/" };
        let mut url = endpoint.url(&format!("{folder}{model}:streamGenerateContent"))?;
        url.query_pairs_mut().append_pair("alt", "sse");
        Ok(url)
    }

    fn body(&self, settings: &ProviderSettings, request: &Request) -> Value {
        body::body(settings, request)
    }

    fn dialect(&self) -> Chunks {
        Chunks
    }

    fn served<'a>(&'a self, link: &'a Link) -> BoxFuture<'a, Result<Vec<Served>, ProviderError>> {
        link.list("models?pageSize=1000", list).boxed()
    }
}

fn list(body: &[u8]) -> Option<Vec<Served>> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let models = value["models"].as_array()?.iter().filter_map(|model| {
        let name = model["name"].as_str()?;
        let methods = model["supportedGenerationMethods"].as_array();
        // Others only count or embed.
        methods.is_none_or(|methods| methods.iter().any(|m| m == "generateContent")).then_some(())?;
        let name = name.strip_prefix("models/").unwrap_or(name).to_owned();
        Some(Served { name, window: model["inputTokenLimit"].as_u64(), vision: None })
    });
    Some(models.collect())
}

#[cfg(test)]
mod tests;
