//! One request, whatever its wire format: it is sent, refused in words, answered piece by piece.
//!
//! A stream holds its request: dropping the stream closes the connection. Pieces that arrive together come out merged.
//! What a format says and how it is read is its own affair: a [`Wire`].

use super::{
    answer::{Answer, Dialect},
    errors,
    http::Endpoint,
    provider::{Provider, error},
};
use crate::protocol::{Message, ModelId, ModelInfo, ProviderError, ProviderErrorKind as Kind, ProviderSettings, Request, StreamItem};
use futures::{
    FutureExt, StreamExt,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use reqwest::{RequestBuilder, Response, Url, header};
use serde_json::Value;
use std::{sync::Arc, time::Duration};

/// How long a server that has finished its answer may keep the connection open before it is left alone.
const AFTER_THE_END: Duration = Duration::from_secs(2);
/// How many pieces are merged before they are handed on.
const MOST_PIECES: usize = 256;
/// What is shorter is no key of a server that is not on this machine.
const SHORTEST_KEY: usize = 8;
const LONGEST_ERROR: usize = 64 << 10;
const LONGEST_LIST: usize = 4 << 20;
/// A list is quick or not worth waiting for.
const PATIENCE_FOR_LISTS: Duration = Duration::from_secs(15);
/// How often a request may be sent anew without something that the server does not know.
const MOST_CONCESSIONS: usize = 4;

/// A wire format, for one provider.
pub trait Wire: Send + Sync + 'static {
    type Dialect: Dialect;

    fn new(settings: &ProviderSettings) -> Self;
    /// Where a request for this model goes.
    fn url(&self, endpoint: &Endpoint, model: &str) -> Result<Url, ProviderError>;
    fn body(&self, settings: &ProviderSettings, request: &Request) -> Value;
    fn dialect(&self) -> Self::Dialect;

    /// The server may have refused something that the answer does not hang on: from now on it is left out. If the body is another
    /// one then, the request is sent anew.
    fn learn(&self, _model: &str, _refused: &ProviderError) {}

    fn served<'a>(&'a self, link: &'a Link) -> BoxFuture<'a, Result<Vec<Served>, ProviderError>> {
        link.list("models", list).boxed()
    }
}

/// A model as its server lists it.
#[derive(Debug, Clone, PartialEq)]
pub struct Served {
    pub name: String,
    pub window: Option<u64>,
    pub vision: Option<bool>,
}

pub struct Remote<W> {
    shared: Arc<Shared<W>>,
}

struct Shared<W> {
    wire: W,
    link: Link,
}

/// The way to one provider.
pub struct Link {
    pub settings: ProviderSettings,
    pub endpoint: Endpoint,
}

impl<W: Wire> Remote<W> {
    pub fn new(settings: ProviderSettings) -> Self {
        let (wire, endpoint) = (W::new(&settings), Endpoint::new(&settings));
        Remote { shared: Arc::new(Shared { wire, link: Link { settings, endpoint } }) }
    }
}

impl<W: Wire> Provider for Remote<W> {
    fn models(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ProviderError>> {
        async { self.shared.models().await.map_err(|error| self.shared.link.without_keys(error)) }.boxed()
    }

    fn stream(&self, request: Request) -> BoxStream<'static, StreamItem> {
        let shared = self.shared.clone();
        let items = stream::unfold(Step::Send(self.shared.clone(), request), Step::next).flat_map(stream::iter);
        let shown = move |item| match item {
            StreamItem::Failed(error) => StreamItem::Failed(shared.link.without_keys(error)),
            item => item,
        };
        items.map(shown).boxed()
    }
}

// At the most one of these exists for each request.
#[allow(clippy::large_enum_variant)]
enum Step<W: Wire> {
    Send(Arc<Shared<W>>, Request),
    Read(Arc<Shared<W>>, Response, Answer<W::Dialect>),
    Over,
}

impl<W: Wire> Step<W> {
    /// The next items, never none.
    async fn next(mut self) -> Option<(Vec<StreamItem>, Step<W>)> {
        loop {
            self = match self {
                Step::Send(shared, request) => {
                    let answer = Answer::new(&request, shared.wire.dialect());
                    match shared.send(&request).await {
                        Ok(response) => Step::Read(shared, response, answer),
                        Err(error) => return Some((vec![StreamItem::Failed(error)], Step::Over)),
                    }
                }
                Step::Read(shared, mut response, mut answer) => {
                    shared.link.read(&mut response, &mut answer).await;
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

impl<W: Wire> Shared<W> {
    async fn send(&self, request: &Request) -> Result<Response, ProviderError> {
        let link = &self.link;
        let url = self.wire.url(&link.endpoint, &request.model.model)?;
        let mut concessions = 0;
        let mut body = self.wire.body(&link.settings, request);
        loop {
            let sent = link.post(url.clone(), &body)?.header(header::ACCEPT, "text/event-stream, application/json");
            let response = link.endpoint.patiently(sent.send()).await?;
            if response.status().is_success() {
                return Ok(response);
            }
            let mut error = link.refused(response).await;
            if concessions < MOST_CONCESSIONS && matches!(error.status, Some(400 | 422)) {
                concessions += 1;
                self.wire.learn(&request.model.model, &error);
                // Another request may have learnt it before this one was refused.
                let refused = std::mem::replace(&mut body, self.wire.body(&link.settings, request));
                if refused != body {
                    continue;
                }
            }
            if matches!(error.status, Some(400..=499)) && has_images(request) && errors::about_images(&error.message) {
                let hint = "It seems that this model sees no images: \"vision\": false in its provider's settings says so beforehand.";
                error.message = format!("{} {hint}", error.message);
            }
            return Err(error);
        }
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, ProviderError> {
        let link = &self.link;
        let mut models: Vec<_> = link.settings.models.iter().map(|name| link.info(name)).collect();
        match self.wire.served(link).await {
            Ok(served) => {
                for Served { name, window, vision } in served {
                    let at = models.iter().position(|model| model.id.model == name).unwrap_or_else(|| {
                        models.push(link.info(&name));
                        models.len() - 1
                    });
                    models[at].context_window = models[at].context_window.or(window);
                    models[at].vision = models[at].vision.or(vision);
                }
                Ok(models)
            }
            // Not every server has a list, but the user wrote one.
            Err(error) if models.is_empty() || matches!(error.kind, Kind::Unreachable | Kind::Unauthorised | Kind::TimedOut) => Err(error),
            Err(_) => Ok(models),
        }
    }
}

impl Link {
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

    pub fn post(&self, url: Url, body: &Value) -> Result<RequestBuilder, ProviderError> {
        let post = self.endpoint.client()?.post(url).header(header::CONTENT_TYPE, "application/json");
        Ok(post.headers(self.endpoint.headers()?).body(body.to_string()))
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
    async fn read<D: Dialect>(&self, response: &mut Response, answer: &mut Answer<D>) {
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

    /// The models that a server lists at this path, as `read` finds them.
    pub async fn list(&self, path: &str, read: fn(&[u8]) -> Option<Vec<Served>>) -> Result<Vec<Served>, ProviderError> {
        let request = self.endpoint.client()?.get(self.endpoint.url(path)?).headers(self.endpoint.headers()?);
        let body = self.fetch(request).await?;
        read(&body).ok_or_else(|| error(Kind::Malformed, format!("{} did not answer with a list of models.", self.endpoint.place())))
    }

    /// What a server answers to a small question.
    pub async fn fetch(&self, request: RequestBuilder) -> Result<Vec<u8>, ProviderError> {
        let answer = async {
            let response = self.endpoint.patiently(request.send()).await?;
            if !response.status().is_success() {
                return Err(self.refused(response).await);
            }
            Ok(read_up_to(response, LONGEST_LIST).await)
        };
        let late = || format!("{} did not list its models within {} s.", self.endpoint.place(), PATIENCE_FOR_LISTS.as_secs());
        tokio::time::timeout(PATIENCE_FOR_LISTS, answer).await.map_err(|_| error(Kind::TimedOut, late()))?
    }

    fn info(&self, model: &str) -> ModelInfo {
        let id = ModelId { provider: self.settings.name.clone(), model: model.into() };
        ModelInfo { id, context_window: self.settings.window(model), vision: self.settings.sees(model) }
    }
}

fn has_images(request: &Request) -> bool {
    request.messages.iter().any(|message| match message {
        Message::User(prompt) => !prompt.images.is_empty(),
        Message::Result { images, .. } => !images.is_empty(),
        Message::Assistant { .. } => false,
    })
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
pub fn list(body: &[u8]) -> Option<Vec<Served>> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let items = match (&value, value.get("data")) {
        (_, Some(Value::Array(items))) | (Value::Array(items), _) => items,
        // A server without any model.
        (_, Some(Value::Null)) if value["object"] == "list" => return Some(vec![]),
        _ => return None,
    };
    let window = |item: &Value| {
        let places = ["context_length", "max_model_len", "context_window", "max_context_length", "max_input_tokens"];
        let own = places.iter().find_map(|key| item.get(key)?.as_u64());
        own.or_else(|| item.pointer("/meta/n_ctx")?.as_u64()).filter(|tokens| *tokens > 0)
    };
    let served = |item: &Value| Some(Served { name: item.get("id")?.as_str()?.to_owned(), window: window(item), vision: None });
    let models: Vec<_> = items.iter().filter_map(served).collect();
    let empty_list = items.is_empty() && value["object"] == "list";
    (!models.is_empty() || empty_list).then_some(models)
}

#[cfg(test)]
pub mod tests;
