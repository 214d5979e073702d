//! Gets what a URL names, from the host that was approved and from nowhere else.
//!
//! - The name is resolved once for each connection, and only what was found and checked is connected to: nothing is asked twice.
//! - A redirect is followed only on the same host, and each step is checked like the first.
//! - Everything is bounded: the time, the body after its decompression, the steps.
//!
//! Through a proxy it is the proxy that resolves the name. Then it is resolved and checked here, too, before it is asked.

use super::{
    address::{self, Named},
    page::{self, Kind},
};
use crate::protocol::ToolError;
use futures::future::BoxFuture;
use reqwest::{
    Client, Response, StatusCode, Url,
    dns::{Name, Resolve, Resolving},
    header,
};
use std::{
    error::Error,
    fmt, io,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, Once, PoisonError},
    time::Duration,
};

const ACCEPTED: &str = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.5";

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub total: Duration,
    /// In bytes, decompressed.
    pub body: usize,
    pub redirects: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { total: Duration::from_secs(30), body: 10_000_000, redirects: 5 }
    }
}

/// Whoever knows the addresses of a name.
pub trait Lookup: Send + Sync {
    fn addresses(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// The system's resolver.
pub struct System;

impl Lookup for System {
    fn addresses(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let host = host.to_owned();
        Box::pin(async move { Ok(tokio::net::lookup_host((host, 0)).await?.map(|found| found.ip()).collect()) })
    }
}

/// Why a name is not connected to.
#[derive(Debug)]
struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Refused {}

struct Checked {
    lookup: Arc<dyn Lookup>,
    named: Named,
    /// Hosts of proxies, which the user has set: where they are is the user's affair.
    proxies: Vec<String>,
}

impl Checked {
    /// All addresses of a name, if none of them is refused: who sends a public one along with a private one is up to something.
    fn addresses(&self, host: &str) -> BoxFuture<'static, Result<Vec<IpAddr>, Refused>> {
        let host = host.trim_matches(['[', ']']).trim_end_matches('.').to_lowercase();
        let (found, named, proxy) = (self.lookup.addresses(&host), self.named.has(&host), self.proxies.contains(&host));
        Box::pin(async move {
            let found =
                found.await.map_err(|why| Refused(format!("the address of {host} can't be found ({})", plain(&why.to_string()))))?;
            if found.is_empty() {
                return Err(Refused(format!("{host} has no address")));
            }
            let wrong = found.iter().find_map(|ip| address::allowed(*ip, named).err()).filter(|_| !proxy);
            wrong.map_or(Ok(found), |why| Err(Refused(format!("{host} leads to {why}"))))
        })
    }
}

struct Resolver(Arc<Checked>);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let found = self.0.addresses(name.as_str());
        Box::pin(async move {
            let found = found.await?;
            // The port is put in by who connects.
            Ok(Box::new(found.into_iter().map(|ip| SocketAddr::new(ip, 0))) as reqwest::dns::Addrs)
        })
    }
}

pub enum Fetched {
    Page(Answer),
    /// It is on another host, or no longer encrypted: that is another question.
    Elsewhere(Url),
}

pub struct Answer {
    /// Where it was in the end.
    pub url: Url,
    pub status: StatusCode,
    pub content_type: String,
    pub body: Vec<u8>,
}

/// Makes its connections as they are needed: until then it holds nothing.
pub struct Fetcher {
    checked: Arc<Checked>,
    limits: Limits,
    /// For http, which needs no certificates, and for https.
    clients: Mutex<[Option<Client>; 2]>,
}

impl Fetcher {
    pub fn new(named: Named, proxies: &[String], lookup: Arc<dyn Lookup>, limits: Limits) -> Fetcher {
        let host = |proxy: &String| {
            let url = if proxy.contains("://") { Url::parse(proxy) } else { Url::parse(&format!("http://{proxy}")) };
            url.ok().map(|url| address::host(&url))
        };
        let proxies = proxies.iter().filter_map(host).collect();
        Fetcher { checked: Arc::new(Checked { lookup, named, proxies }), limits, clients: Mutex::default() }
    }

    pub fn named(&self) -> &Named {
        &self.checked.named
    }

    /// Ends in time; whoever stops waiting stops it.
    pub async fn fetch(&self, url: Url) -> Result<Fetched, ToolError> {
        let place = address::place(&url);
        let seconds = self.limits.total.as_secs_f64();
        let late = |_| ToolError(format!("{place} took longer than {seconds} s; nothing was read."));
        tokio::time::timeout(self.limits.total, self.follow(url)).await.map_err(late)?
    }

    async fn follow(&self, mut url: Url) -> Result<Fetched, ToolError> {
        let place = address::place(&url);
        for _ in 0..=self.limits.redirects {
            let response = self.get(&url).await?;
            let location = response.headers().get(header::LOCATION).filter(|_| is_redirect(response.status()));
            let Some(location) = location else { return self.body(url, response).await };
            let to = std::str::from_utf8(location.as_bytes()).ok().and_then(|to| url.join(to).ok());
            let Some(mut to) = to else {
                return Err(ToolError(format!("{url} redirects to something that is not a URL.")));
            };
            address::check(&to, self.named())
                .map_err(|why| ToolError(format!("{url} redirects to {}, which can't be fetched: {why}.", address::shown(to.as_str()))))?;
            if address::place(&to) != place || url.scheme() == "https" && to.scheme() == "http" {
                return Ok(Fetched::Elsewhere(to));
            }
            to.set_fragment(None);
            url = to;
        }
        Err(ToolError(format!("{url} redirects again and again; after {} steps it was left.", self.limits.redirects)))
    }

    async fn get(&self, url: &Url) -> Result<Response, ToolError> {
        let refused = |why: Refused| ToolError(format!("{url} can't be fetched: {why}."));
        let host = address::host(url);
        if !self.checked.proxies.is_empty() && host.parse::<IpAddr>().is_err() {
            self.checked.addresses(&host).await.map_err(refused)?;
        }
        let client = self.client(url.scheme() == "https")?;
        client.get(url.clone()).header(header::ACCEPT, ACCEPTED).send().await.map_err(|cause| failure(url, &cause))
    }

    async fn body(&self, url: Url, mut response: Response) -> Result<Fetched, ToolError> {
        let text = |name: header::HeaderName| {
            let value = response.headers().get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
            value.unwrap_or_default()
        };
        let (status, content_type, length) = (response.status(), text(header::CONTENT_TYPE), response.content_length());
        if let Kind::Other(what) = page::kind(&content_type)
            && status.is_success()
        {
            let size = length.map_or(String::new(), |length| format!(", {}", page::size(length)));
            return Err(ToolError(format!("{url} is {what} ({}{size}); WebFetch reads text only.", plain(&page::essence(&content_type)))));
        }
        // What was decompressed on the way is no longer named.
        let coding = text(header::CONTENT_ENCODING);
        if !matches!(coding.trim().to_lowercase().as_str(), "" | "identity") {
            return Err(ToolError(format!("{url} is compressed in a way that was not asked for ({}).", plain(&coding))));
        }
        let large = || ToolError(format!("{url} is larger than {}; nothing was read.", page::size(self.limits.body as u64)));
        let mut body = vec![];
        if length.is_some_and(|length| length > self.limits.body as u64) {
            return Err(large());
        }
        while let Some(chunk) = response.chunk().await.map_err(|cause| failure(&url, &cause))? {
            if body.len() + chunk.len() > self.limits.body {
                return Err(large());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Fetched::Page(Answer { url, status, content_type, body }))
    }

    fn client(&self, https: bool) -> Result<Client, ToolError> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let client = &mut clients[usize::from(https)];
        if let Some(client) = client {
            return Ok(client.clone());
        }
        let mut builder = builder().dns_resolver(Resolver(self.checked.clone())).referer(false).pool_max_idle_per_host(0);
        if !https {
            builder = builder.tls_certs_only([]);
        }
        if self.checked.proxies.is_empty() {
            builder = builder.no_proxy();
        }
        Ok(client.insert(built(builder)?).clone())
    }
}

/// What all of our clients have in common: no redirects of their own, and TLS by the same library as the model's.
pub fn builder() -> reqwest::ClientBuilder {
    static CRYPTO: Once = Once::new();
    // An `Err` means that somebody installed one before us, which does as well.
    CRYPTO.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    Client::builder()
        .user_agent(concat!("backstitch/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(Duration::from_secs(10))
        .redirect(reqwest::redirect::Policy::none())
}

pub fn built(builder: reqwest::ClientBuilder) -> Result<Client, ToolError> {
    builder.build().map_err(|cause| ToolError(format!("A connection can't be set up: {}.", root(&cause))))
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

fn failure(url: &Url, cause: &reqwest::Error) -> ToolError {
    let why = root(cause);
    ToolError(match cause.is_timeout() {
        true => format!("{} did not answer in time.", address::place(url)),
        false => format!("{url} can't be fetched: {}.", why.trim_end_matches('.')),
    })
}

/// The innermost cause says the most.
pub fn root(cause: &dyn Error) -> String {
    let mut words = cause.to_string();
    let mut next = cause.source();
    while let Some(deeper) = next {
        words = deeper.to_string();
        next = deeper.source();
    }
    plain(&words)
}

fn plain(words: &str) -> String {
    let end = words.find(" (os error").unwrap_or(words.len());
    words[..end].chars().map(|c| if c.is_control() { ' ' } else { c }).take(300).collect()
}
