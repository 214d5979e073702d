//! Which URLs may be fetched, and which addresses may be connected to.
//!
//! A URL is judged as it is written, an address after its name was resolved: what a name says is never enough.

use crate::protocol::ToolError;
use reqwest::Url;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const PORTS: [u16; 4] = [80, 443, 8080, 8443];

/// Where an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    Public,
    /// This machine or this network: only for hosts that the user has named.
    Private(&'static str),
    /// For nobody: other people's metadata, everybody at once, or nothing at all.
    Never(&'static str),
}

/// Hosts that the user lets be fetched from although they are private, in lower case; with a port only that one.
#[derive(Debug, Clone, Default)]
pub struct Named(Vec<String>);

impl Named {
    pub fn new(hosts: &[String]) -> Named {
        Named(hosts.iter().map(|host| host.trim().trim_end_matches('.').to_lowercase()).filter(|host| !host.is_empty()).collect())
    }

    /// By its name, on whatever port.
    pub fn has(&self, host: &str) -> bool {
        self.0.iter().any(|named| named == host || named.strip_prefix(host).is_some_and(is_port))
    }

    fn has_at(&self, host: &str, port: u16) -> bool {
        self.0.iter().any(|named| named == host || named.strip_prefix(host) == Some(&format!(":{port}")))
    }
}

fn is_port(text: &str) -> bool {
    text.strip_prefix(':').is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// The URL that a model or a server means, if it may be fetched at all.
pub fn checked(text: &str, named: &Named) -> Result<Url, ToolError> {
    let refused = |why: &str| ToolError(format!("{} can't be fetched: {why}.", shown(text)));
    let text = text.trim();
    if text.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
        return Err(refused("there are blanks, control characters or backslashes in it"));
    }
    let url = match text.split_once("://") {
        Some(_) => Url::parse(text),
        None if text.contains(':') && !is_port_of(text) => Url::parse(text),
        None => Url::parse(&format!("https://{text}")),
    };
    let url = url.map_err(|why| refused(&format!("it is not a URL ({why})")))?;
    check(&url, named).map_err(|why| refused(&why))?;
    // The same address can be written as one number, in octal and in hexadecimal: nobody does so to be understood.
    if let Some(Ok(ip)) = url.host_str().map(str::parse::<Ipv4Addr>) {
        let after = text.split_once("://").map_or(text, |(_, rest)| rest);
        let host = after.split(['/', '?', '#', ':']).next().unwrap_or_default();
        if host != ip.to_string() {
            return Err(refused(&format!("the address {ip} is not written plainly")));
        }
    }
    Ok(url)
}

/// `localhost:3000/x` has a port, `mailto:x` a scheme.
fn is_port_of(text: &str) -> bool {
    let rest = text.split_once(':').map_or("", |(_, rest)| rest);
    rest.starts_with(|c: char| c.is_ascii_digit())
}

/// What is wrong with a URL, whoever it is from.
pub fn check(url: &Url, named: &Named) -> Result<(), String> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err("only http and https are".into());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("there is a name or a password in it".into());
    }
    let host = host(url);
    if host.is_empty() {
        return Err("there is no host in it".into());
    }
    let port = url.port_or_known_default().unwrap_or_default();
    if named.has_at(&host, port) {
        return host.parse().map_or(Ok(()), |ip| allowed(ip, true)).map_err(|why| format!("it is {why}"));
    }
    // Where it is would then be let pass, on this port as on the other.
    if named.has(&host) {
        return Err(format!("the port {port} is not the one that \"allowPrivateHosts\" names"));
    }
    if !PORTS.contains(&port) {
        return Err(format!("the port {port} is not one of 80, 443, 8080, 8443"));
    }
    if let Ok(ip) = host.parse() {
        return allowed(ip, false).map_err(|why| format!("it is {why}"));
    }
    // These never leave this machine or network, whatever a resolver says.
    let local = ["localhost", "local", "internal", "lan", "home.arpa", "onion", "localdomain"];
    if local.iter().any(|end| host == *end || host.strip_suffix(end).is_some_and(|rest| rest.ends_with('.'))) || !host.contains('.') {
        return Err("it is a host of this machine or network. The user's setting \"allowPrivateHosts\" can name it".into());
    }
    Ok(())
}

/// May this address be connected to? `named`: the user has named its host.
pub fn allowed(ip: IpAddr, named: bool) -> Result<(), String> {
    match reach(ip) {
        Reach::Public => Ok(()),
        Reach::Private(_) if named => Ok(()),
        Reach::Private(what) => Err(format!("{what} ({ip}). The user's setting \"allowPrivateHosts\" can name its host")),
        Reach::Never(what) => Err(format!("{what} ({ip})")),
    }
}

/// Without brackets and final dot.
pub fn host(url: &Url) -> String {
    url.host_str().unwrap_or_default().trim_matches(['[', ']']).trim_end_matches('.').to_lowercase()
}

/// What is asked about: the host, with its port where that is not the usual one.
pub fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default().trim_end_matches('.').to_lowercase();
    match url.port() {
        Some(port) if !matches!((url.scheme(), port), ("http", 443) | ("https", 80)) => format!("{host}:{port}"),
        _ => host,
    }
}

/// A URL somebody wrote, short enough for a message.
pub fn shown(text: &str) -> String {
    let cut: String = text.trim().chars().take(200).map(|c| if c.is_control() { ' ' } else { c }).collect();
    // A password is nobody else's affair.
    match cut.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.split(['/', '?', '#']).next()?.rsplit_once('@')?, rest))) {
        Some((scheme, (user, _), rest)) => format!("{scheme}://…{}", &rest[user.len()..]),
        None => cut,
    }
}

/// Of a URL whose host says it by itself.
pub fn reach_of(url: &Url) -> Option<Reach> {
    let host = host(url);
    if host == "localhost" || host.ends_with(".localhost") {
        return Some(Reach::Private("this machine"));
    }
    host.parse().ok().map(reach)
}

pub fn reach(ip: IpAddr) -> Reach {
    match ip {
        IpAddr::V4(ip) => reach4(ip),
        IpAddr::V6(ip) => reach6(ip),
    }
}

fn reach4(ip: Ipv4Addr) -> Reach {
    match ip.octets() {
        [0, ..] => Reach::Never("an address of nothing"),
        [127, ..] => Reach::Private("an address of this machine"),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Reach::Private("a private address"),
        [100, 64..=127, ..] => Reach::Private("an address of the provider's own network"),
        [169, 254, ..] => Reach::Never("a link-local address"),
        [192, 0, 0, _] | [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] | [198, 18..=19, ..] => Reach::Never("a reserved address"),
        [192, 88, 99, _] => Reach::Never("a reserved address"),
        // A cloud's own services, at an address that is otherwise public.
        [168, 63, 129, 16] => Reach::Never("a cloud's internal address"),
        [224..=239, ..] => Reach::Never("a multicast address"),
        [240..=255, ..] => Reach::Never("a reserved address"),
        _ => Reach::Public,
    }
}

fn reach6(ip: Ipv6Addr) -> Reach {
    let embedded = |high: u16, low: u16| {
        let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
        // What is behind a translator is no better than itself.
        reach4(Ipv4Addr::new(a, b, c, d))
    };
    match ip.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Reach::Never("an address of nothing"),
        [0, 0, 0, 0, 0, 0, 0, 1] => Reach::Private("an address of this machine"),
        // IPv4 in IPv6: mapped, compatible, translated.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0, 0, 0, 0, 0, 0, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] => embedded(high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        [0x64, 0xff9b, ..] => Reach::Never("a reserved address"),
        // 6to4, ISATAP and Teredo; the last has its address inverted.
        [0x2002, high, low, ..] => embedded(high, low),
        [_, _, _, _, 0 | 0x200, 0x5efe, high, low] => embedded(high, low),
        [0x2001, 0, _, _, _, _, high, low] => embedded(!high, !low),
        [0x2001, second, ..] if second < 0x200 => Reach::Never("a reserved address"),
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Reach::Never("a reserved address"),
        // A cloud's metadata, among the private addresses.
        [0xfd00, 0xec2, ..] => Reach::Never("a cloud's internal address"),
        [0xfc00..=0xfdff, ..] => Reach::Private("a private address"),
        [0xfe80..=0xfebf, ..] => Reach::Never("a link-local address"),
        [0xfec0..=0xfeff, ..] => Reach::Private("a private address"),
        [0xff00..=0xffff, ..] => Reach::Never("a multicast address"),
        [0x2000..=0x3fff, ..] => Reach::Public,
        _ => Reach::Never("a reserved address"),
    }
}
