//! `domain:docs.rs`: a host, for those who refuse with all that is below it; `domain:*.docs.rs`: only what is below it.

#[derive(Debug, Clone)]
pub struct Hosts {
    name: String,
    below: bool,
}

impl Hosts {
    pub fn parse(text: &str) -> Result<Hosts, String> {
        let Some(text) = text.strip_prefix("domain:") else {
            return Err(format!("hosts are written `domain:{}`", text.trim_start_matches("https://").trim_start_matches("http://")));
        };
        let (name, below) = text.strip_prefix("*.").map_or((text, false), |name| (name, true));
        let plain = |c: char| c.is_alphanumeric() || "-._:[]".contains(c);
        if name.is_empty() || !name.chars().all(plain) {
            return Err("a domain is a name such as docs.rs, or *.docs.rs for what is below it".into());
        }
        Ok(Hosts { name: normal(name), below })
    }

    pub fn covers(&self, host: &str) -> bool {
        let host = normal(host);
        if self.below { self.has_below(&host) } else { host == self.name }
    }

    pub fn covers_widely(&self, host: &str) -> bool {
        let host = normal(host);
        host == self.name || self.has_below(&host)
    }

    fn has_below(&self, host: &str) -> bool {
        host.strip_suffix(&self.name).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
    }
}

/// As it is asked for: without case, user, port and final dot.
fn normal(host: &str) -> String {
    let host = host.rsplit('@').next().unwrap_or_default().to_lowercase();
    let end = host.rsplit_once(':').filter(|(_, port)| !port.is_empty() && port.chars().all(|c| c.is_ascii_digit()));
    let host = end.filter(|(name, _)| name.ends_with(']') || !name.contains(':')).map_or(host.as_str(), |(name, _)| name);
    host.trim_end_matches('.').into()
}
