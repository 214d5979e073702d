//! The way to a server: addresses, clients, time limits, and what failed in words.
//!
//! A client is built with the first request, not before: starting the program costs no TLS roots. Plain-http servers never need
//! a store of CA certificates. Redirects are not followed: a request with a key goes where the user said, or nowhere.

use super::provider::error;
use crate::protocol::{ProviderError, ProviderErrorKind as Kind, ProviderSettings, WireFormat};
use reqwest::{
    Client, Url,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use std::{
    error::Error as _,
    net::IpAddr,
    sync::{Mutex, Once, PoisonError},
    time::Duration,
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const IDLE_REMOTE: Duration = Duration::from_secs(120);
/// A local model may think for minutes before its first word.
const IDLE_LOCAL: Duration = Duration::from_secs(600);

/// Where a provider lives, understood once.
pub struct Endpoint {
    base: Result<Url, ProviderError>,
    headers: Result<HeaderMap, ProviderError>,
    /// `None` = wait for ever.
    pub idle: Option<Duration>,
    client: Mutex<Option<Client>>,
}

impl Endpoint {
    pub fn new(settings: &ProviderSettings) -> Self {
        let base = base_url(&settings.base_url, settings.format).ok_or_else(|| {
            error(Kind::NotConfigured, format!("The baseUrl of '{}' is not an address: {:?}", settings.name, settings.base_url))
        });
        let local = base.as_ref().is_ok_and(is_local);
        let idle = match settings.request_timeout {
            Some(millis @ 1..) => Some(Duration::from_millis(millis.unsigned_abs())),
            Some(_) => None,
            None => Some(if local { IDLE_LOCAL } else { IDLE_REMOTE }),
        };
        Endpoint { base, headers: headers(settings), idle, client: Mutex::new(None) }
    }

    pub fn url(&self, path: &str) -> Result<Url, ProviderError> {
        let mut url = self.base.clone()?;
        let base = url.path().trim_end_matches('/').to_owned();
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        url.set_path(&format!("{base}/{path}"));
        if !query.is_empty() {
            let own = url.query().map(|own| format!("{own}&")).unwrap_or_default();
            url.set_query(Some(&format!("{own}{query}")));
        }
        Ok(url)
    }

    pub fn headers(&self) -> Result<HeaderMap, ProviderError> {
        self.headers.clone()
    }

    /// Host and port, for messages.
    pub fn place(&self) -> String {
        self.base.as_ref().map(place).unwrap_or_default()
    }

    pub fn client(&self) -> Result<Client, ProviderError> {
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = &*client {
            return Ok(client.clone());
        }
        let built = build(self.base.as_ref().map_err(Clone::clone)?)?;
        Ok(client.insert(built).clone())
    }

    /// Why a request did not get through, or broke off.
    pub fn failure(&self, cause: &reqwest::Error) -> ProviderError {
        let root = root_cause(cause);
        let place = self.place();
        if cause.is_connect() && cause.is_timeout() {
            error(Kind::Unreachable, format!("{place} did not answer within {} s.", CONNECT_TIMEOUT.as_secs()))
        } else if cause.is_connect() || cause.is_request() {
            error(Kind::Unreachable, format!("Can't reach {place}: {root}"))
        } else if cause.is_timeout() {
            error(Kind::TimedOut, format!("{place} took too long: {root}"))
        } else if cause.is_builder() {
            error(Kind::NotConfigured, format!("The request to {place} can't be built: {root}"))
        } else {
            error(Kind::Cut, format!("The answer was cut off: the connection to {place} broke ({root})."))
        }
    }

    pub fn timed_out(&self) -> ProviderError {
        let seconds = self.idle.unwrap_or_default().as_secs_f64();
        error(Kind::TimedOut, format!("Nothing came from {} for {seconds} s.", self.place()))
    }

    /// Waits for `future`, at the most as long as a silent server is waited for.
    pub async fn patiently<T>(&self, future: impl Future<Output = reqwest::Result<T>>) -> Result<T, ProviderError> {
        let result = match self.idle {
            Some(idle) => tokio::time::timeout(idle, future).await.map_err(|_| self.timed_out())?,
            None => future.await,
        };
        result.map_err(|cause| self.failure(&cause))
    }
}

fn build(base: &Url) -> Result<Client, ProviderError> {
    static CRYPTO: Once = Once::new();
    // An `Err` means that somebody installed one before us, which does as well.
    CRYPTO.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    let mut builder = Client::builder()
        .user_agent(concat!("backstitch/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(Duration::from_secs(60))
        .redirect(reqwest::redirect::Policy::none())
        // A compressing proxy would hold words back until a block is full.
        .no_gzip();
    if base.scheme() == "http" {
        builder = builder.tls_certs_only([]);
    }
    if is_loopback(base) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|cause| {
        let root = root_cause(&cause);
        let cure = if root.contains("CA certificates") { " Install the package ca-certificates, or set SSL_CERT_FILE." } else { "" };
        error(Kind::NotConfigured, format!("Can't set up a connection to {}: {}.{cure}", place(base), root.trim_end_matches('.')))
    })
}

fn headers(settings: &ProviderSettings) -> Result<HeaderMap, ProviderError> {
    let mut headers = HeaderMap::new();
    let invalid = |name: &str| error(Kind::NotConfigured, format!("The header {name:?} of '{}' can't be sent.", settings.name));
    // Never in the URL: addresses end up in logs.
    let (name, before) = match settings.format {
        WireFormat::Anthropic => (HeaderName::from_static("x-api-key"), ""),
        WireFormat::Google => (HeaderName::from_static("x-goog-api-key"), ""),
        WireFormat::Completions | WireFormat::Responses | WireFormat::Ollama => (reqwest::header::AUTHORIZATION, "Bearer "),
    };
    if settings.format == WireFormat::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    }
    if let Some(key) = settings.api_key.as_deref().map(str::trim).filter(|key| !key.is_empty()) {
        let mut value = HeaderValue::from_str(&format!("{before}{key}"))
            .map_err(|_| error(Kind::Unauthorised, format!("The apiKey of '{}' holds characters that can't be sent.", settings.name)))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    for (name, value) in &settings.headers {
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid(name))?;
        headers.insert(key, HeaderValue::from_str(value).map_err(|_| invalid(name))?);
    }
    Ok(headers)
}

/// Understands what people write: no scheme, no `/v1` for a local server, a slash or the whole path of the request at the end.
pub fn base_url(text: &str, format: WireFormat) -> Option<Url> {
    let text = text.trim();
    let mut url = if text.contains("://") {
        Url::parse(text).ok()?
    } else {
        let plain = Url::parse(&format!("http://{text}")).ok()?;
        if is_local(&plain) { plain } else { Url::parse(&format!("https://{text}")).ok()? }
    };
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return None;
    }
    let path = base_path(&url, format);
    url.set_path(&path);
    Some(url)
}

fn base_path(url: &Url, format: WireFormat) -> String {
    let without = |path: &str, ends: &[&str]| {
        ends.iter().fold(path.trim_end_matches('/'), |path, end| path.strip_suffix(end).unwrap_or(path).trim_end_matches('/')).to_owned()
    };
    let path = url.path();
    match format {
        WireFormat::Completions => match without(path, &["/chat/completions"]) {
            // Every local server serves the protocol under /v1; what a remote one does at its root is its own affair.
            path if path.is_empty() && is_local(url) => "/v1".to_owned(),
            path => path,
        },
        WireFormat::Responses => match without(path, &["/responses", "/chat/completions"]) {
            path if path.is_empty() => "/v1".to_owned(),
            path => path,
        },
        // With /v1, as some programs write it, or without, as others do.
        WireFormat::Anthropic => match without(path, &["/messages"]) {
            path if path.ends_with("/v1") => path,
            path => path + "/v1",
        },
        WireFormat::Google => match without(path, &["/models", "/openai"]) {
            path if path.is_empty() => "/v1beta".to_owned(),
            path => path,
        },
        // The address of the same server's chat completions does as well.
        WireFormat::Ollama => without(path, &["/chat/completions", "/v1", "/api/chat", "/api"]),
    }
}

fn host(url: &Url) -> &str {
    url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
}

fn is_loopback(url: &Url) -> bool {
    let host = host(url);
    host == "localhost" || host.ends_with(".localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback() || ip.is_unspecified())
}

/// On this machine or in this network.
fn is_local(url: &Url) -> bool {
    let host = host(url);
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_unspecified() || ip.is_private() || ip.is_link_local(),
        Ok(IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unspecified() || ip.is_unique_local() || ip.is_unicast_link_local(),
        Err(_) => is_loopback(url) || !host.contains('.') || [".local", ".lan", ".internal"].iter().any(|end| host.ends_with(end)),
    }
}

fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port_or_known_default().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

fn root_cause(cause: &reqwest::Error) -> String {
    let mut words = cause.to_string();
    let mut next = cause.source();
    while let Some(deeper) = next {
        words = deeper.to_string();
        next = deeper.source();
    }
    // "Connection refused (os error 111)": the number helps nobody.
    let end = words.find(" (os error").unwrap_or(words.len());
    words.truncate(end);
    words.chars().map(|c| if c.is_control() { ' ' } else { c }).take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_understood_as_people_write_them() {
        let cases = [
            ("http://127.0.0.1:11434", Some("http://127.0.0.1:11434/v1")),
            ("localhost:1234/", Some("http://localhost:1234/v1")),
            (" http://localhost:8080/v1/ ", Some("http://localhost:8080/v1")),
            ("https://api.example.com/v1/chat/completions", Some("https://api.example.com/v1")),
            ("api.example.com/openai", Some("https://api.example.com/openai")),
            ("https://api.example.com", Some("https://api.example.com/")),
            ("http://[::1]:9", Some("http://[::1]:9/v1")),
            ("http://ollama:11434", Some("http://ollama:11434/v1")),
            ("https://x.example/v1?api-version=2", Some("https://x.example/v1?api-version=2")),
            ("", None),
            ("ftp://x", None),
            ("http://", None),
        ];
        for (text, expected) in cases {
            assert_eq!(base_url(text, WireFormat::Completions).as_ref().map(Url::as_str), expected, "{text:?}");
        }
        let cases = [
            (WireFormat::Anthropic, "https://api.anthropic.com", "https://api.anthropic.com/v1"),
            (WireFormat::Anthropic, "https://api.anthropic.com/v1/messages", "https://api.anthropic.com/v1"),
            (WireFormat::Anthropic, "https://hub.example/anthropic/", "https://hub.example/anthropic/v1"),
            (WireFormat::Google, "generativelanguage.googleapis.com", "https://generativelanguage.googleapis.com/v1beta"),
            (WireFormat::Google, "https://x.example/v1", "https://x.example/v1"),
            (WireFormat::Google, "https://x.example/v1beta/openai/", "https://x.example/v1beta"),
            (WireFormat::Responses, "https://api.openai.com", "https://api.openai.com/v1"),
            (WireFormat::Responses, "https://x.example/openai/v1/responses", "https://x.example/openai/v1"),
            (WireFormat::Ollama, "localhost:11434/v1", "http://localhost:11434/"),
            (WireFormat::Ollama, "http://box.lan:11434/api/chat", "http://box.lan:11434/"),
            (WireFormat::Ollama, "https://x.example/ollama", "https://x.example/ollama"),
        ];
        for (format, text, expected) in cases {
            assert_eq!(base_url(text, format).as_ref().map(Url::as_str), Some(expected), "{text:?}");
        }
        for format in WireFormat::NAMES.map(|(_, format)| format) {
            let Some(home) = format.default_url() else { continue };
            assert_eq!(base_url(home, format).unwrap().as_str().trim_end_matches('/'), home);
        }
    }

    #[test]
    fn a_request_goes_below_the_base_and_keeps_its_query() {
        let endpoint = |base: &str| Endpoint::new(&ProviderSettings { base_url: base.into(), ..Default::default() });
        assert_eq!(endpoint("https://x.example/v1?a=b").url("models").unwrap().as_str(), "https://x.example/v1/models?a=b");
        assert_eq!(endpoint("https://x.example").url("chat/completions").unwrap().as_str(), "https://x.example/chat/completions");
        assert_eq!(endpoint("https://x.example").place(), "x.example:443");
    }

    #[test]
    fn local_servers_are_waited_for_longer_and_a_setting_outranks_it() {
        let idle = |base: &str, timeout| {
            Endpoint::new(&ProviderSettings { base_url: base.into(), request_timeout: timeout, ..Default::default() }).idle
        };
        assert_eq!(idle("https://api.example.com/v1", None), Some(Duration::from_secs(120)));
        for local in ["http://localhost:1/v1", "http://192.168.1.7/v1", "http://box.lan/v1", "http://[fd00::1]/v1"] {
            assert_eq!(idle(local, None), Some(Duration::from_secs(600)), "{local}");
        }
        assert_eq!(idle("http://localhost", Some(1500)), Some(Duration::from_millis(1500)));
        assert_eq!(idle("http://localhost", Some(-1)), None);
    }
}
