//! Anthropic's Messages.
//!
//! Signed thoughts go back as they came, at their place. The tools, the system prompt and what was said so far are marked for the
//! server's cache with each request. Tool input is streamed as it is written.

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
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

pub type Anthropic = Remote<Messages>;

/// Servers that speak the format without being Anthropic's do not know all of it.
#[derive(Debug, Default)]
pub struct Messages {
    no_eager_input: AtomicBool,
    no_caching: AtomicBool,
    /// The longest answer that the server allows, once it has refused a longer one.
    longest: AtomicU64,
}

impl Wire for Messages {
    type Dialect = Events;

    fn new(_: &ProviderSettings) -> Self {
        Messages::default()
    }

    fn url(&self, endpoint: &Endpoint, _: &str) -> Result<Url, ProviderError> {
        endpoint.url("messages")
    }

    fn body(&self, settings: &ProviderSettings, request: &Request) -> Value {
        let allowed = body::Allowed {
            eager_input: !self.no_eager_input.load(Relaxed),
            caching: settings.prompt_caching.unwrap_or(true) && !self.no_caching.load(Relaxed),
            longest: Some(self.longest.load(Relaxed)).filter(|tokens| *tokens > 0),
        };
        body::body(settings, request, allowed)
    }

    fn dialect(&self) -> Events {
        Events::default()
    }

    fn learn(&self, _: &str, refused: &ProviderError) {
        let message = &refused.message;
        self.no_eager_input.fetch_or(message.contains("eager_input_streaming"), Relaxed);
        self.no_caching.fetch_or(message.contains("cache_control"), Relaxed);
        // "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens".
        let limit = message.split_once("max_tokens").and_then(|(_, rest)| rest.split_once('>')).and_then(|(_, rest)| {
            let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
            digits.parse::<u64>().ok()
        });
        if let Some(limit) = limit.filter(|limit| *limit > 0) {
            self.longest.store(limit, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests;
