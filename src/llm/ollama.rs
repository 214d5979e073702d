//! Ollama's own protocol.
//!
//! Unlike its chat completions it can be told how large the context is to be; its default cuts off the beginning of every longer
//! conversation without a word.

mod body;
mod lines;

use super::{
    http::Endpoint,
    wire::{Link, Remote, Served, Wire},
};
use crate::protocol::{ProviderError, ProviderSettings, Request, WireFormat};
use futures::{FutureExt, StreamExt, future::BoxFuture, stream};
use lines::Lines;
use reqwest::Url;
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

pub type Ollama = Remote<Chat>;

/// Models that are asked about at once.
const AT_ONCE: usize = 8;

#[derive(Debug, Default)]
pub struct Chat {
    /// Models that refused to think.
    thoughtless: Mutex<BTreeSet<String>>,
}

impl Wire for Chat {
    type Dialect = Lines;

    fn new(_: &ProviderSettings) -> Self {
        Chat::default()
    }

    fn url(&self, endpoint: &Endpoint, _: &str) -> Result<Url, ProviderError> {
        endpoint.url("api/chat")
    }

    fn body(&self, settings: &ProviderSettings, request: &Request) -> Value {
        let thinks = !self.thoughtless.lock().unwrap_or_else(PoisonError::into_inner).contains(&request.model.model);
        body::body(settings, request, thinks)
    }

    fn dialect(&self) -> Lines {
        Lines::default()
    }

    fn learn(&self, model: &str, refused: &ProviderError) {
        if refused.message.contains("does not support thinking") {
            self.thoughtless.lock().unwrap_or_else(PoisonError::into_inner).insert(model.to_owned());
        }
    }

    fn served<'a>(&'a self, link: &'a Link) -> BoxFuture<'a, Result<Vec<Served>, ProviderError>> {
        async move {
            let names = link.list("api/tags", tags).await?;
            let shown = stream::iter(names).map(|named| async move {
                match show(link, &named.name).await {
                    Ok(shown) => read_shown(named, &shown),
                    // What it is called is known all the same.
                    Err(_) => Some(named),
                }
            });
            Ok(shown.buffered(AT_ONCE).filter_map(std::future::ready).collect().await)
        }
        .boxed()
    }
}

async fn show(link: &Link, model: &str) -> Result<Vec<u8>, ProviderError> {
    let request = link.post(link.endpoint.url("api/show")?, &json!({ "model": model }))?;
    link.fetch(request).await
}

fn tags(body: &[u8]) -> Option<Vec<Served>> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let name = |model: &Value| model["name"].as_str().or_else(|| model["model"].as_str()).map(str::to_owned);
    let served = |model: &Value| Some(Served { name: name(model)?, window: None, vision: None });
    Some(value["models"].as_array()?.iter().filter_map(served).collect())
}

/// `None` for a model that can't chat.
fn read_shown(named: Served, shown: &[u8]) -> Option<Served> {
    let Ok(shown) = serde_json::from_slice::<Value>(shown) else { return Some(named) };
    let info = shown["model_info"].as_object();
    let length = info.and_then(|info| info.iter().find(|(key, _)| key.ends_with(".context_length"))?.1.as_u64());
    // Where nobody says more, a request is given no more than this.
    let window = length.map(|length| length.min(WireFormat::Ollama.default_window().unwrap_or(length)));
    let Some(can) = shown["capabilities"].as_array() else { return Some(Served { window, ..named }) };
    let can = |what: &str| can.iter().any(|one| one == what);
    can("completion").then(|| Served { window, vision: Some(can("vision")), ..named })
}

#[cfg(test)]
mod tests;
