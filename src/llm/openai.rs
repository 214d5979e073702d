//! OpenAI-compatible chat completions: what nearly every model server speaks.
//!
//! A stream holds its request: dropping the stream closes the connection. Pieces that arrive together come out merged.

mod answer;
mod body;
mod calls;
mod errors;

use super::{
    http::Endpoint,
    provider::{Provider, error},
};
use crate::protocol::{Message, ModelId, ModelInfo, ProviderError, ProviderErrorKind as Kind, ProviderSettings, Request, StreamItem};
use answer::Answer;
use futures::{
    FutureExt, StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use reqwest::{Response, header};
use serde_json::Value;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

/// How long a server that has finished its answer may keep the connection open before it is left alone.
const AFTER_THE_END: Duration = Duration::from_secs(2);
/// How many pieces are merged before they are handed on.
const MOST_PIECES: usize = 256;
/// What is shorter is no key of a server that is not on this machine.
const SHORTEST_KEY: usize = 8;
const LONGEST_ERROR: usize = 64 << 10;
const LONGEST_LIST: usize = 4 << 20;

pub struct OpenAi {
    shared: Arc<Shared>,
}

struct Shared {
    settings: ProviderSettings,
    endpoint: Endpoint,
    /// The server refused `stream_options` once.
    no_usage: AtomicBool,
}

impl OpenAi {
    pub fn new(settings: ProviderSettings) -> Self {
        let endpoint = Endpoint::new(&settings);
        OpenAi { shared: Arc::new(Shared { settings, endpoint, no_usage: AtomicBool::new(false) }) }
    }
}

impl Provider for OpenAi {
    fn models(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ProviderError>> {
        async { self.shared.models().await.map_err(|error| self.shared.without_keys(error)) }.boxed()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, StreamItem> {
        let shared = self.shared.clone();
        let items = stream::unfold(Step::Send(self.shared.clone(), request), Step::next).flat_map(stream::iter);
        let shown = move |item| match item {
            StreamItem::Failed(error) => StreamItem::Failed(shared.without_keys(error)),
            item => item,
        };
        items.map(shown).boxed()
    }
}

// At the most one of these exists for each request.
#[allow(clippy::large_enum_variant)]
enum Step {
    Send(Arc<Shared>, Request),
    Read(Arc<Shared>, Response, Answer),
    Over,
}

impl Step {
    /// The next items, never none.
    async fn next(mut self) -> Option<(Vec<StreamItem>, Step)> {
        loop {
            self = match self {
                Step::Send(shared, request) => {
                    let answer = Answer::new(request.id);
                    match shared.send(&request).await {
                        Ok(response) => Step::Read(shared, response, answer),
                        Err(error) => return Some((vec![StreamItem::Failed(error)], Step::Over)),
                    }
                }
                Step::Read(shared, mut response, mut answer) => {
                    shared.read(&mut response, &mut answer).await;
                    let items = answer.take();
                    let next = if answer.ended() { Step::Over } else { Step::Read(shared, response, answer) };
                    if !items.is_empty() {
                        return Some((items, next));
                    }
                    next
                }
                Step::Over => return None,
            }
        }
    }
}

impl Shared {
    /// Some servers repeat the key that they refuse: it must not reach the screen, the journal or a log.
    fn without_keys(&self, mut error: ProviderError) -> ProviderError {
        for key in self.settings.api_key.iter().chain(self.settings.headers.values()) {
            let key = key.trim();
            let key = key.strip_prefix("Bearer ").unwrap_or(key);
            if key.len() >= SHORTEST_KEY {
                error.message = error.message.replace(key, "…");
            }
        }
        error
    }

    async fn send(&self, request: &Request) -> Result<Response, ProviderError> {
        let url = self.endpoint.url("chat/completions")?;
        loop {
            let usage = !self.no_usage.load(Relaxed);
            let body = body::body(request, !self.settings.disable_tools, usage).to_string();
            let sent = self
                .endpoint
                .client()?
                .post(url.clone())
                .header(header::CONTENT_TYPE, "application/json")
                .header(header::ACCEPT, "text/event-stream, application/json")
                .headers(self.endpoint.headers()?)
                .body(body);
            let response = self.endpoint.patiently(sent.send()).await?;
            if response.status().is_success() {
                return Ok(response);
            }
            let mut error = self.refused(response).await;
            if matches!(error.status, Some(400..=499)) && has_images(request) && errors::about_images(&error.message) {
                let hint = "It seems that this model sees no images: \"vision\": false in its provider's settings says so beforehand.";
                error.message = format!("{} {hint}", error.message);
            }
            // Older servers know no `stream_options`; the count of tokens is not worth an answer.
            if usage && matches!(error.status, Some(400 | 422)) && error.message.contains("stream_options") {
                self.no_usage.store(true, Relaxed);
                continue;
            }
            return Err(error);
        }
    }

    async fn refused(&self, response: Response) -> ProviderError {
        let status = response.status();
        let text = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        if let (true, Some(target)) = (status.is_redirection(), text("location")) {
            let target = errors::bounded(target, 300);
            let message = format!("{} redirects to {target}: if that is right, make it the baseUrl.", self.endpoint.place());
            return ProviderError { status: Some(status.as_u16()), ..error(Kind::Refused, message) };
        }
        let millis = text("retry-after-ms").and_then(|ms| ms.trim().parse::<u32>().ok()).map(|ms| Duration::from_millis(ms.into()));
        let after = millis.or_else(|| errors::retry_after(text("retry-after")?, jiff::Timestamp::now()));
        let body = read_up_to(response, LONGEST_ERROR);
        let body = tokio::time::timeout(Duration::from_secs(10), body).await.unwrap_or_default();
        errors::refused(status.as_u16(), status.canonical_reason().unwrap_or_default(), after, &body)
    }

    /// Waits for bytes, then takes what else is there already.
    async fn read(&self, response: &mut Response, answer: &mut Answer) {
        if !answer.wait() {
            return answer.close(None);
        }
        let first = if answer.stopped() {
            // Whole answers don't fail any more, whatever comes now.
            tokio::time::timeout(AFTER_THE_END, response.chunk()).await.ok().and_then(Result::ok).map_or(Ok(None), Ok)
        } else {
            self.endpoint.patiently(response.chunk()).await
        };
        match first {
            Ok(Some(bytes)) => answer.feed(&bytes),
            Ok(None) => return answer.close(None),
            Err(error) if error.kind == Kind::TimedOut => return answer.close(Some(error)),
            Err(error) => return answer.close(Some(ProviderError { kind: Kind::Cut, ..error })),
        }
        for _ in 0..MOST_PIECES {
            // The connection has a task of its own, which hands on one piece at a time.
            tokio::task::yield_now().await;
            match response.chunk().now_or_never() {
                Some(Ok(Some(bytes))) => answer.feed(&bytes),
                // An end is met again by the next read; reading on after [DONE] leaves the connection fit for the next request.
                Some(Ok(None) | Err(_)) | None => break,
            }
        }
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, ProviderError> {
        let mut models: Vec<_> = self.settings.models.iter().map(|name| self.info(name, None)).collect();
        match self.served().await {
            Ok(served) => {
                for (name, window) in served {
                    match models.iter_mut().find(|model| model.id.model == name) {
                        Some(model) => model.context_window = model.context_window.or(window),
                        None => models.push(self.info(&name, window)),
                    }
                }
                Ok(models)
            }
            // Not every server has a list, but the user wrote one.
            Err(error) if models.is_empty() || matches!(error.kind, Kind::Unreachable | Kind::Unauthorised | Kind::TimedOut) => Err(error),
            Err(_) => Ok(models),
        }
    }

    async fn served(&self) -> Result<Vec<(String, Option<u64>)>, ProviderError> {
        let request = self.endpoint.client()?.get(self.endpoint.url("models")?).headers(self.endpoint.headers()?);
        let answer = async {
            let response = self.endpoint.patiently(request.send()).await?;
            if !response.status().is_success() {
                return Err(self.refused(response).await);
            }
            Ok(read_up_to(response, LONGEST_LIST).await)
        };
        // A list is quick or not worth waiting for.
        let body = tokio::time::timeout(Duration::from_secs(15), answer)
            .await
            .map_err(|_| error(Kind::TimedOut, format!("{} did not list its models within 15 s.", self.endpoint.place())))??;
        list(&body).ok_or_else(|| error(Kind::Malformed, format!("{} did not answer with a list of models.", self.endpoint.place())))
    }

    fn info(&self, model: &str, served: Option<u64>) -> ModelInfo {
        let id = ModelId { provider: self.settings.name.clone(), model: model.into() };
        let own = self.settings.context_windows.get(model).copied();
        ModelInfo { id, context_window: own.or(self.settings.context_window).or(served), vision: self.settings.sees(model) }
    }
}

fn has_images(request: &Request) -> bool {
    request.messages.iter().any(|message| matches!(message, Message::User(prompt) if !prompt.images.is_empty()))
}

async fn read_up_to(mut response: Response, limit: usize) -> Vec<u8> {
    let mut body = vec![];
    while let Ok(Some(bytes)) = response.chunk().await {
        body.extend_from_slice(&bytes);
        if body.len() >= limit {
            body.truncate(limit);
            break;
        }
    }
    body
}

/// Names (and context windows) from a server's list of models; `None` if this is no such list.
pub fn list(body: &[u8]) -> Option<Vec<(String, Option<u64>)>> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let items = match (&value, value.get("data")) {
        (_, Some(Value::Array(items))) | (Value::Array(items), _) => items,
        // A server without any model.
        (_, Some(Value::Null)) if value["object"] == "list" => return Some(vec![]),
        _ => return None,
    };
    let window = |item: &Value| {
        let places = ["context_length", "max_model_len", "context_window", "max_context_length"];
        let own = places.iter().find_map(|key| item.get(key)?.as_u64());
        own.or_else(|| item.pointer("/meta/n_ctx")?.as_u64()).filter(|tokens| *tokens > 0)
    };
    let models: Vec<_> = items.iter().filter_map(|item| Some((item.get("id")?.as_str()?.to_owned(), window(item)))).collect();
    let empty_list = items.is_empty() && value["object"] == "list";
    (!models.is_empty() || empty_list).then_some(models)
}

#[cfg(test)]
mod tests;
