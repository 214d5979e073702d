//! OpenAI's Responses.
//!
//! Nothing is stored on the server: encrypted reasoning comes with the answer and goes back as it came.

mod body;
mod events;

use super::{
    http::Endpoint,
    wire::{Remote, Wire},
};
use crate::protocol::{ProviderError, ProviderSettings, Request};
use events::Events;
use reqwest::Url;
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub type OpenAiResponses = Remote<Responses>;

/// What some models and servers refuse.
#[derive(Debug, Default)]
pub struct Responses {
    no_encrypted: AtomicBool,
    no_summary: AtomicBool,
}

impl Wire for Responses {
    type Dialect = Events;

    fn new(_: &ProviderSettings) -> Self {
        Responses::default()
    }

    fn url(&self, endpoint: &Endpoint, _: &str) -> Result<Url, ProviderError> {
        endpoint.url("responses")
    }

    fn body(&self, settings: &ProviderSettings, request: &Request) -> Value {
        body::body(settings, request, !self.no_encrypted.load(Relaxed), !self.no_summary.load(Relaxed))
    }

    fn dialect(&self) -> Events {
        Events::default()
    }

    fn learn(&self, _: &str, refused: &ProviderError) {
        let message = refused.message.to_ascii_lowercase();
        // Models that don't reason have nothing to encrypt; summaries are for organisations that have been verified.
        self.no_encrypted.fetch_or(message.contains("encrypted"), Relaxed);
        self.no_summary.fetch_or(message.contains("summar"), Relaxed);
    }
}

#[cfg(test)]
mod tests;
