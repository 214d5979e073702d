//! OpenAI-compatible chat completions: what nearly every model server speaks.

mod body;
mod chunk;

use super::{
    http::Endpoint,
    wire::{Remote, Wire},
};
use crate::protocol::{ProviderError, ProviderSettings, Request};
pub use body::functions;
use chunk::Chunks;
use reqwest::Url;
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub type OpenAi = Remote<Completions>;

#[derive(Debug, Default)]
pub struct Completions {
    /// The server refused `stream_options` once.
    no_usage: AtomicBool,
    /// It wants `max_completion_tokens` instead of `max_tokens`.
    completion_tokens: AtomicBool,
}

impl Wire for Completions {
    type Dialect = Chunks;

    fn new(_: &ProviderSettings) -> Self {
        Completions::default()
    }

    fn url(&self, endpoint: &Endpoint, _: &str) -> Result<Url, ProviderError> {
        endpoint.url("chat/completions")
    }

    fn body(&self, settings: &ProviderSettings, request: &Request) -> Value {
        body::body(settings, request, !self.no_usage.load(Relaxed), self.completion_tokens.load(Relaxed))
    }

    fn dialect(&self) -> Chunks {
        Chunks::default()
    }

    fn learn(&self, _: &str, refused: &ProviderError) {
        // Older servers know no `stream_options`; the count of tokens is not worth an answer.
        self.no_usage.fetch_or(refused.message.contains("stream_options"), Relaxed);
        // OpenAI's reasoning models refuse the old name, most other servers know no other.
        self.completion_tokens.fetch_or(refused.message.contains("max_completion_tokens"), Relaxed);
    }
}
