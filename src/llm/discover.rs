//! Looks for model servers on this machine.
//!
//! All places at once and never longer than [`BUDGET`] in all. Nothing that fails is an error, and only what answers with a list
//! of models counts: a web server that happens to listen on the same port does not. No HTTP client, no TLS: a few bytes each.

use super::wire;
use crate::protocol::{FoundServer, ProviderSettings, WireFormat};
use serde_json::Value;
use std::time::Duration;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

pub const BUDGET: Duration = Duration::from_millis(200);
pub const USUAL: [(&str, u16); 4] = [("Ollama", 11434), ("LM Studio", 1234), ("llama.cpp", 8080), ("vLLM", 8000)];

const LONGEST: u64 = 1 << 20;

/// The servers that answered, in the order of `places` (name and port).
pub async fn find(places: &[(&str, u16)]) -> Vec<FoundServer> {
    let asked = places.iter().map(|(name, port)| ask(name, *port));
    futures::future::join_all(asked).await.into_iter().flatten().collect()
}

async fn ask(name: &str, port: u16) -> Option<FoundServer> {
    let models = timeout(BUDGET * 3 / 4, get(port, "/v1/models")).await.ok().flatten()?;
    let models = wire::list(&models)?;
    // Answered by Ollama alone.
    let version = timeout(BUDGET / 4, get(port, "/api/version")).await.ok().flatten().unwrap_or_default();
    let ollama = serde_json::from_slice::<Value>(&version).is_ok_and(|value| value["version"].is_string());
    let context_windows = models.iter().filter_map(|model| Some((model.name.clone(), model.window?))).collect();
    let settings = ProviderSettings {
        name: name.into(),
        // In its own protocol it can be told how large the context is to be.
        format: if ollama { WireFormat::Ollama } else { WireFormat::Completions },
        base_url: format!("http://127.0.0.1:{port}{}", if ollama { "" } else { "/v1" }),
        models: models.into_iter().map(|model| model.name).collect(),
        context_windows,
        ..ProviderSettings::default()
    };
    Some(FoundServer { settings })
}

async fn get(port: u16, path: &str) -> Option<Vec<u8>> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.ok()?;
    // HTTP/1.0: the server closes at the end.
    let request = format!("GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nAccept: application/json\r\n\r\n");
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = vec![];
    let mut reader = stream.take(LONGEST);
    while reader.read_buf(&mut answer).await.ok()? > 0 {
        if is_whole(&answer) {
            break;
        }
    }
    let (head, body) = split(&answer)?;
    if !head.starts_with("HTTP/1.") || head.split_ascii_whitespace().nth(1) != Some("200") {
        return None;
    }
    let chunked = header(head, "transfer-encoding").is_some_and(|v| v.eq_ignore_ascii_case("chunked"));
    if chunked { unchunked(body) } else { Some(body.to_vec()) }
}

fn split(answer: &[u8]) -> Option<(&str, &[u8])> {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    Some((std::str::from_utf8(&answer[..end]).ok()?, &answer[end + 4..]))
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim().eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim())
}

/// Some servers keep the connection open all the same.
fn is_whole(answer: &[u8]) -> bool {
    let Some((head, body)) = split(answer) else { return false };
    match header(head, "content-length").and_then(|length| length.parse::<usize>().ok()) {
        Some(length) => body.len() >= length,
        None => body.ends_with(b"\r\n0\r\n\r\n"),
    }
}

fn unchunked(mut body: &[u8]) -> Option<Vec<u8>> {
    let mut whole = vec![];
    loop {
        let end = body.windows(2).position(|two| two == b"\r\n")?;
        let size = std::str::from_utf8(&body[..end]).ok()?.split(';').next()?.trim();
        let size = usize::from_str_radix(size, 16).ok()?;
        if size == 0 {
            return Some(whole);
        }
        let start = end + 2;
        whole.extend_from_slice(body.get(start..start.checked_add(size)?)?);
        body = body.get(start + size + 2..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        io::{Read, Write},
        net::TcpListener,
        time::Instant,
    };

    /// Answers one request, then holds the connection open for as long as the test runs.
    fn server(answer: &'static str) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(answer.as_bytes());
            let _ = stream.read(&mut [0; 1]);
        });
        port
    }

    fn find(places: &[(&str, u16)]) -> Vec<ProviderSettings> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(super::find(places)).into_iter().map(|found| found.settings).collect()
    }

    #[test]
    fn only_what_lists_models_is_a_model_server() {
        let list = "HTTP/1.1 200 OK\r\nContent-Length: 73\r\n\r\n{\"object\":\"list\",\"data\":[{\"id\":\"qwen3:8b\"},{\"id\":\"b\",\"max_model_len\":4096}]}";
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{\"data\":[{\"id\":\"\r\n5\r\nm\"}]}\r\n0\r\n\r\n";
        let empty = "HTTP/1.0 200 OK\r\nContent-Length: 29\r\n\r\n{\"object\":\"list\",\"data\":null}";
        let places = [
            ("Web", server("HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n<html>hi</html>")),
            ("Whole", server(list)),
            ("Other JSON", server("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{\"data\":[]}")),
            ("Strings", server("HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n{\"data\":[\"x\"]}")),
            ("Not found", server("HTTP/1.1 404 Not Found\r\nContent-Length: 17\r\n\r\n[{\"id\":\"no good\"}]")),
            ("Chunked", server(chunked)),
            ("Empty", server(empty)),
            ("Garbage", server("\u{0}\r\n\r\n\r\n")),
            ("Nobody", 1),
        ];
        let found = find(&places);
        assert_eq!(found.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["Whole", "Chunked", "Empty"]);
        assert_eq!(found[0].base_url, format!("http://127.0.0.1:{}/v1", places[1].1));
        assert_eq!(found[0].models, ["qwen3:8b", "b"]);
        assert_eq!(found[0].context_windows["b"], 4096);
        assert_eq!(found[1].models, ["m"]);
        assert_eq!(found[2].models, [] as [&str; 0]);
    }

    #[test]
    fn ollama_is_spoken_to_in_its_own_protocol() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for _ in 0..2 {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = [0; 1024];
                let length = stream.read(&mut request).unwrap();
                let version = request[..length].starts_with(b"GET /api/version ");
                let body = if version { r#"{"version":"0.13.0"}"# } else { r#"{"object":"list","data":[{"id":"q"}]}"# };
                let _ = write!(stream, "HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            }
        });
        let found = find(&[("Ollama", port)]);
        assert_eq!((found[0].format, found[0].base_url.clone()), (WireFormat::Ollama, format!("http://127.0.0.1:{port}")));
        assert_eq!(found[0].models, ["q"]);
    }

    #[test]
    fn a_silent_server_costs_no_more_than_the_budget() {
        let started = Instant::now();
        assert_eq!(find(&[("a", server("")), ("b", server("HTTP/1.1 200 OK\r\n\r\n{")), ("c", server(""))]), []);
        assert!(started.elapsed() < BUDGET * 3, "{:?}", started.elapsed());
    }
}
