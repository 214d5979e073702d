//! Against a raw TCP server on loopback: statuses, cuts, ends and aborts as they come over the wire.

use super::*;
use crate::llm::openai::OpenAi;
use crate::protocol::{RequestId, StopReason};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    thread,
    time::Instant,
};

/// Serves one connection after another, each with the next of these; tells what each was sent, then whether it was closed.
pub struct Server {
    pub port: u16,
    pub sent: mpsc::Receiver<String>,
}

pub type Serve = Box<dyn FnOnce(&mut TcpStream) + Send>;

pub fn server(answers: Vec<Serve>) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (tx, sent) = mpsc::channel();
    thread::spawn(move || {
        for serve in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = tx.send(read_request(&mut stream));
            serve(&mut stream);
        }
    });
    Server { port, sent }
}

/// Serves this many connections, each by what it asks.
pub fn answering(connections: usize, answer: fn(&str) -> String) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (tx, sent) = mpsc::channel();
    thread::spawn(move || {
        for _ in 0..connections {
            let (mut stream, _) = listener.accept().unwrap();
            let request = read_request(&mut stream);
            let body = answer(&request);
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            stream.write_all((head + &body).as_bytes()).unwrap();
            let _ = tx.send(request);
        }
    });
    Server { port, sent }
}

fn read_request(stream: &mut TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let mut request = String::new();
    let mut length = 0;
    loop {
        let start = request.len();
        if reader.read_line(&mut request).unwrap_or(0) == 0 || request[start..].trim().is_empty() {
            break;
        }
        if let Some(value) = request[start..].to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    request + &String::from_utf8(body).unwrap()
}

pub fn say(answer: impl Into<String>) -> Serve {
    let answer = answer.into();
    Box::new(move |stream| stream.write_all(answer.as_bytes()).unwrap())
}

pub const OK: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
const HELLO: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Hello\"}}]}\n\n";

pub fn refusing(status: &str, headers: &str, body: &str) -> Serve {
    say(format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len()))
}

fn request() -> Request {
    Request {
        id: RequestId(1),
        model: ModelId { provider: "test".into(), model: "m".into() },
        system: "".into(),
        messages: vec![crate::protocol::Message::User("hi".into())].into(),
        tools: vec![].into(),
    }
}

fn settings(port: u16) -> ProviderSettings {
    ProviderSettings { name: "test".into(), base_url: format!("http://127.0.0.1:{port}/v1"), ..Default::default() }
}

fn ask(settings: ProviderSettings) -> Vec<StreamItem> {
    run(async { OpenAi::new(settings).stream(request()).collect().await })
}

pub fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

pub fn failed(items: &[StreamItem]) -> &ProviderError {
    let Some(StreamItem::Failed(error)) = items.last() else { panic!("{items:?}") };
    error
}

#[test]
fn a_plain_answer_and_what_it_took() {
    let server = server(vec![say(format!("{OK}{HELLO}data: [DONE]\n\n"))]);
    let settings = ProviderSettings {
        api_key: Some(" sk-1 ".into()),
        headers: [("X-Title".to_owned(), "Backstitch".to_owned())].into(),
        ..settings(server.port)
    };
    assert_eq!(ask(settings), [StreamItem::Text("Hello".into()), StreamItem::Done(StopReason::Finished)]);
    let sent = server.sent.recv().unwrap();
    let (head, body) = sent.split_once("\r\n\r\n").unwrap();
    let mut head: Vec<_> = head.lines().filter(|line| !line.starts_with("host") && !line.starts_with("content-length")).collect();
    head[1..].sort();
    let version = concat!("user-agent: backstitch/", env!("CARGO_PKG_VERSION"));
    let accept = "accept: text/event-stream, application/json";
    assert_eq!(
        head,
        [
            "POST /v1/chat/completions HTTP/1.1",
            accept,
            "authorization: Bearer sk-1",
            "content-type: application/json",
            version,
            "x-title: Backstitch"
        ]
    );
    assert_eq!(body, r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true,"stream_options":{"include_usage":true}}"#);
}

#[test]
fn without_a_key_nothing_is_authorised() {
    let server = server(vec![say(format!("{OK}{HELLO}data: [DONE]\n\n"))]);
    ask(ProviderSettings { api_key: Some(String::new()), ..settings(server.port) });
    assert!(!server.sent.recv().unwrap().to_lowercase().contains("authorization"));
}

#[test]
fn statuses_become_kinds_with_the_servers_words() {
    let date = "retry-after: Thu, 01 Jan 1970 00:00:00 GMT\r\n";
    let cases = [
        ("401 Unauthorized", "", r#"{"error":{"message":"Bad key"}}"#, Kind::Unauthorised, "Bad key (HTTP 401)", None),
        ("404 Not Found", "", r#"{"error":"no model m"}"#, Kind::Refused, "no model m (HTTP 404)", None),
        ("429 Too Many Requests", "retry-after: 7\r\n", "", Kind::Busy, "Too Many Requests (HTTP 429)", Some(7_000)),
        ("429 Too Many Requests", "retry-after: 7\r\nretry-after-ms: 250\r\n", "", Kind::Busy, "Too Many Requests (HTTP 429)", Some(250)),
        ("503 Service Unavailable", date, "<html>x</html>", Kind::Busy, "Service Unavailable (HTTP 503)", Some(0)),
        ("529 Overloaded", "", r#"{"message":"Overloaded"}"#, Kind::Busy, "Overloaded (HTTP 529)", None),
    ];
    for (status, headers, body, kind, message, after) in cases {
        let server = server(vec![refusing(status, headers, body)]);
        let items = ask(settings(server.port));
        let error = failed(&items);
        assert_eq!(items.len(), 1);
        assert_eq!((error.kind, error.message.as_str(), error.retry_after.map(|d| d.as_millis())), (kind, message, after));
    }
    let server = server(vec![refusing("301 Moved Permanently", "location: https://elsewhere.example/v1\r\n", "")]);
    let items = ask(settings(server.port));
    let expected = format!("127.0.0.1:{} redirects to https://elsewhere.example/v1: if that is right, make it the baseUrl.", server.port);
    assert_eq!((failed(&items).kind, failed(&items).message.as_str()), (Kind::Refused, expected.as_str()));
}

#[test]
fn a_server_that_knows_no_stream_options_is_asked_again_without() {
    let no = r#"{"error":{"message":"Unrecognized field: stream_options"}}"#;
    let server = server(vec![
        refusing("400 Bad Request", "", no),
        say(format!("{OK}{HELLO}data: [DONE]\n\n")),
        say(format!("{OK}{HELLO}data: [DONE]\n\n")),
    ]);
    run(async {
        let provider = OpenAi::new(settings(server.port));
        for _ in 0..2 {
            let items: Vec<_> = provider.stream(request()).collect().await;
            assert_eq!(items.last(), Some(&StreamItem::Done(StopReason::Finished)));
        }
    });
    let sent: Vec<_> = (0..3).map(|_| server.sent.recv().unwrap().contains("stream_options")).collect();
    assert_eq!(sent, [true, false, false]);
}

#[test]
fn a_cut_stream_keeps_what_came_and_says_so() {
    let cut = format!("{OK}{HELLO}data: {{\"cho");
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let broken = format!("{chunked}{:x}\r\n{HELLO}\r\n", HELLO.len());
    for answer in [cut, broken] {
        let server = server(vec![say(answer)]);
        let items = ask(settings(server.port));
        assert_eq!(items[0], StreamItem::Text("Hello".into()));
        assert_eq!(failed(&items).kind, Kind::Cut, "{items:?}");
    }
    let server = server(vec![say("")]);
    assert!(matches!(failed(&ask(settings(server.port))).kind, Kind::Unreachable | Kind::Cut));
}

#[test]
fn nobody_there_is_said_with_host_and_port() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let items = ask(settings(port));
    assert_eq!(
        (failed(&items).kind, failed(&items).message.as_str()),
        (Kind::Unreachable, format!("Can't reach 127.0.0.1:{port}: Connection refused").as_str())
    );
    let items = ask(ProviderSettings { base_url: "http://no-such-host.invalid:99/v1".into(), ..settings(1) });
    assert!(failed(&items).message.starts_with("Can't reach no-such-host.invalid:99:"), "{items:?}");
    assert_eq!(failed(&items).kind, Kind::Unreachable);
}

#[test]
fn silence_is_given_up_and_a_finished_answer_needs_no_close() {
    let silent = |stream: &mut TcpStream| drop(stream.read(&mut [0; 1]));
    let quick = |port| ProviderSettings { request_timeout: Some(100), ..settings(port) };
    let at_once = server(vec![Box::new(silent)]);
    let items = ask(quick(at_once.port));
    assert_eq!(
        (failed(&items).kind, failed(&items).message.as_str()),
        (Kind::TimedOut, format!("Nothing came from 127.0.0.1:{} for 0.1 s.", at_once.port).as_str())
    );

    let midway = server(vec![Box::new(move |stream| {
        stream.write_all(format!("{OK}{HELLO}").as_bytes()).unwrap();
        silent(stream);
    })]);
    let items = ask(quick(midway.port));
    assert_eq!((&items[0], failed(&items).kind), (&StreamItem::Text("Hello".into()), Kind::TimedOut));

    let finished = server(vec![Box::new(move |stream| {
        stream
            .write_all(format!("{OK}{HELLO}data: {{\"choices\":[{{\"delta\":{{}},\"finish_reason\":\"stop\"}}]}}\n\n").as_bytes())
            .unwrap();
        silent(stream);
    })]);
    let pinging = server(vec![Box::new(move |stream| {
        let end = format!("{OK}{HELLO}data: {{\"choices\":[{{\"delta\":{{}},\"finish_reason\":\"stop\"}}]}}\n\n");
        stream.write_all(end.as_bytes()).unwrap();
        while stream.write_all(b": ping\n\n").is_ok() {
            thread::sleep(Duration::from_millis(5));
        }
    })]);
    for port in [finished.port, pinging.port] {
        let started = Instant::now();
        let items = ask(settings(port));
        assert_eq!(items.last(), Some(&StreamItem::Done(StopReason::Finished)));
        assert!(started.elapsed() < AFTER_THE_END * 3);
    }
}

#[test]
fn dropping_the_stream_closes_the_connection() {
    let (tx, mut closed) = tokio::sync::mpsc::unbounded_channel();
    let server = server(vec![Box::new(move |stream| {
        stream.write_all(format!("{OK}{HELLO}").as_bytes()).unwrap();
        tx.send(matches!(stream.read(&mut [0; 1]), Ok(0) | Err(_))).unwrap();
    })]);
    run(async {
        let mut stream = OpenAi::new(settings(server.port)).stream(request());
        assert_eq!(stream.next().await, Some(StreamItem::Text("Hello".into())));
        drop(stream);
        let closed = tokio::time::timeout(Duration::from_secs(5), closed.recv()).await;
        assert_eq!(closed, Ok(Some(true)), "the server still waits");
    });
}

#[test]
fn pieces_that_arrive_together_come_out_merged() {
    let piece = "data: {\"choices\":[{\"delta\":{\"content\":\"abcd\"}}]}\n\n";
    let chunk = format!("{:x}\r\n{piece}\r\n", piece.len());
    let end = "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n";
    let body = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{}{end}", chunk.repeat(5_000));
    let server = server(vec![say(body)]);
    let items = ask(settings(server.port));
    let text: usize = items.iter().map(|item| if let StreamItem::Text(text) = item { text.len() } else { 0 }).sum();
    assert_eq!(text, 20_000);
    assert!(items.len() < 500, "{}", items.len());
}

#[test]
fn models_are_the_configured_ones_and_then_the_servers() {
    let list = r#"{"object":"list","data":[{"id":"b","context_length":100},{"id":"a","max_model_len":200}]}"#;
    let ask = |models: &[&str], answer: Serve| {
        let server = server(vec![answer]);
        let models = models.iter().map(|m| (*m).into()).collect();
        let provider = OpenAi::new(ProviderSettings { models, ..settings(server.port) });
        let listed = run(provider.models()).map(|models| models.into_iter().map(|m| (m.id.model, m.context_window)).collect::<Vec<_>>());
        (listed, server.sent.recv().unwrap())
    };
    let (models, sent) = ask(&["a", "own"], refusing("200 OK", "", list));
    assert!(sent.starts_with("GET /v1/models HTTP/1.1\r\n"));
    assert_eq!(models.unwrap(), [("a".into(), Some(200)), ("own".into(), None), ("b".into(), Some(100))]);
    assert_eq!(ask(&["own"], refusing("404 Not Found", "", "")).0.unwrap(), [("own".into(), None)]);
    assert_eq!(ask(&[], refusing("404 Not Found", "", "")).0.unwrap_err().kind, Kind::Refused);
    assert_eq!(ask(&[], refusing("200 OK", "", "<html>")).0.unwrap_err().kind, Kind::Malformed);
}

#[test]
fn the_connection_is_used_again() {
    let body = format!("{HELLO}data: [DONE]\n\n");
    let answer = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    // One connection for both: a second one would never be accepted.
    let server = server(vec![Box::new(move |stream| {
        stream.write_all(answer.as_bytes()).unwrap();
        read_request(stream);
        stream.write_all(answer.as_bytes()).unwrap();
    })]);
    run(async {
        let provider = OpenAi::new(settings(server.port));
        for _ in 0..2 {
            let items: Vec<_> = provider.stream(request()).collect().await;
            assert_eq!(items, [StreamItem::Text("Hello".into()), StreamItem::Done(StopReason::Finished)]);
        }
    });
}

#[test]
fn a_server_without_tls_behind_https_is_an_error_in_words() {
    let server = server(vec![say("this is no TLS, whatever the client says")]);
    let items = ask(ProviderSettings { base_url: format!("https://127.0.0.1:{}/v1", server.port), ..settings(1) });
    assert!(matches!(failed(&items).kind, Kind::Unreachable | Kind::NotConfigured), "{items:?}");
    assert!(failed(&items).message.contains(&format!("127.0.0.1:{}", server.port)), "{items:?}");
}
