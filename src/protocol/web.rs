//! What the web tools may do: from the user's own settings and environment alone, never from a project.

use std::fmt;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebSettings {
    /// Hosts that may be fetched from although their address is private: `localhost`, `docs.lan`, `localhost:3000`.
    pub private_hosts: Vec<String>,
    /// Without it there is no `WebSearch`.
    pub search: Option<SearchSettings>,
    /// Addresses of the proxies that the environment names. With any, fetching goes through them.
    pub proxies: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchSettings {
    pub provider: SearchProvider,
    pub key: Option<Secret>,
    /// SearXNG's address, or another than the usual one.
    pub url: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchProvider {
    Brave,
    Tavily,
    Searxng,
}

impl SearchProvider {
    pub const ALL: [SearchProvider; 3] = [SearchProvider::Brave, SearchProvider::Tavily, SearchProvider::Searxng];

    pub fn name(self) -> &'static str {
        match self {
            SearchProvider::Brave => "brave",
            SearchProvider::Tavily => "tavily",
            SearchProvider::Searxng => "searxng",
        }
    }

    pub fn from_name(name: &str) -> Option<SearchProvider> {
        SearchProvider::ALL.into_iter().find(|provider| provider.name() == name.trim().to_lowercase())
    }
}

/// A key. It is not part of anything that is printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("…")
    }
}
