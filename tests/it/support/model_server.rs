//! A model server that does exactly what a test says, byte by byte, and remembers what it was asked.
//!
//! Replies are taken in the order of the requests. A gate in a reply stops the stream there until the test opens it, and notices
//! when the client hangs up meanwhile.

use super::DEADLINE;
use serde_json::{Value, json};
use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, MutexGuard},
    time::{Duration, Instant},
};

/// A place in a stream that is passed once for each time it was opened.
#[derive(Clone, Default)]
pub struct Gate(Arc<(Mutex<usize>, Condvar)>);

impl Gate {
    pub fn new() -> Gate {
        Gate::default()
    }

    pub fn open(&self) {
        self.open_times(1);
    }

    pub fn open_times(&self, times: usize) {
        *self.0.0.lock().unwrap() += times;
        self.0.1.notify_all();
    }

    /// False when `gone` says so before the gate opens.
    fn pass(&self, mut gone: impl FnMut() -> bool) -> bool {
        let mut permits = self.0.0.lock().unwrap();
        while *permits == 0 {
            if gone() {
                return false;
            }
            permits = self.0.1.wait_timeout(permits, Duration::from_millis(10)).unwrap().0;
        }
        *permits -= 1;
        true
    }
}

enum Part {
    Bytes(Vec<u8>),
    Gate(Gate),
    /// The connection breaks, in the middle of the body.
    Cut,
}

pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    parts: Vec<Part>,
    crlf: bool,
    split: Option<usize>,
}

impl Reply {
    pub fn stream() -> Reply {
        let headers = vec![("Content-Type".into(), "text/event-stream".into())];
        Reply { status: 200, headers, parts: vec![], crlf: false, split: None }
    }

    pub fn text(text: &str) -> Reply {
        Reply::stream().say(text).done("stop")
    }

    /// One chunk for each call; `arguments` as they are, so that they may be broken.
    pub fn calls(calls: &[(&str, Value)]) -> Reply {
        let mut reply = Reply::stream();
        for (index, (name, arguments)) in calls.iter().enumerate() {
            let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
            reply = reply.call_piece(index, Some((&format!("call_{name}_{index}"), name)), &arguments);
        }
        reply.done("tool_calls")
    }

    pub fn call(name: &str, arguments: Value) -> Reply {
        Reply::calls(&[(name, arguments)])
    }

    pub fn error(status: u16, message: &str) -> Reply {
        let body = json!({ "error": { "message": message } }).to_string();
        let headers = vec![("Content-Type".into(), "application/json".into())];
        Reply { status, headers, parts: vec![Part::Bytes(body.into())], crlf: false, split: None }
    }

    pub fn header(mut self, name: &str, value: &str) -> Reply {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub fn delta(self, delta: Value) -> Reply {
        self.event(&json!({ "id": "x", "object": "chat.completion.chunk", "choices": [{ "index": 0, "delta": delta }] }).to_string())
    }

    pub fn say(self, text: &str) -> Reply {
        self.delta(json!({ "content": text }))
    }

    pub fn think(self, text: &str) -> Reply {
        self.delta(json!({ "reasoning_content": text }))
    }

    /// A fragment of a call: id and name with the first one.
    pub fn call_piece(self, index: usize, head: Option<(&str, &str)>, arguments: &str) -> Reply {
        let mut call = json!({ "index": index, "type": "function", "function": { "arguments": arguments } });
        if let Some((id, name)) = head {
            (call["id"], call["function"]["name"]) = (id.into(), name.into());
        }
        self.delta(json!({ "tool_calls": [call] }))
    }

    pub fn event(mut self, data: &str) -> Reply {
        self.parts.push(Part::Bytes(format!("data: {data}\n\n").into_bytes()));
        self
    }

    pub fn raw(mut self, bytes: impl Into<Vec<u8>>) -> Reply {
        self.parts.push(Part::Bytes(bytes.into()));
        self
    }

    pub fn gate(mut self, gate: &Gate) -> Reply {
        self.parts.push(Part::Gate(gate.clone()));
        self
    }

    pub fn cut(mut self) -> Reply {
        self.parts.push(Part::Cut);
        self
    }

    /// Finish reason, usage, `[DONE]`.
    pub fn done(self, reason: &str) -> Reply {
        let usage = json!({ "prompt_tokens": 1200, "completion_tokens": 34, "total_tokens": 1234 });
        self.event(&json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] }).to_string())
            .event(&json!({ "choices": [], "usage": usage }).to_string())
            .event("[DONE]")
    }

    /// Lines end in CR LF.
    pub fn crlf(mut self) -> Reply {
        self.crlf = true;
        self
    }

    /// The body in packets of so many bytes.
    pub fn split(mut self, bytes: usize) -> Reply {
        self.split = Some(bytes);
        self
    }
}

#[derive(Debug, Clone)]
pub struct Asked {
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Value,
    /// Bytes of the body.
    pub length: usize,
    /// When it was complete.
    pub at: Instant,
    /// The client hung up before the reply was over.
    pub closed: bool,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// `role: content` of the last messages.
    pub fn last(&self) -> (&str, &str) {
        let last = self.messages().last().unwrap();
        (last["role"].as_str().unwrap(), last["content"].as_str().unwrap_or_default())
    }
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    /// Also after a test has failed: the rest must still be able to end.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
}

#[derive(Default)]
struct State {
    replies: VecDeque<Reply>,
    asked: Vec<Asked>,
    /// Connections of any kind, also those that never asked anything.
    connections: usize,
    stopped: bool,
}

pub struct ModelServer {
    pub port: u16,
    /// First requests that no test counts.
    before: usize,
    shared: Arc<Shared>,
}

impl ModelServer {
    pub fn start(replies: impl IntoIterator<Item = Reply>) -> ModelServer {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared::default());
        shared.lock().replies.extend(replies);
        let own = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if own.lock().stopped {
                    return;
                }
                own.lock().connections += 1;
                let (stream, shared) = (stream.unwrap(), own.clone());
                std::thread::spawn(move || drop(serve(&stream, &shared)));
            }
        });
        ModelServer { port, before: 0, shared }
    }

    /// The model has a look at this file first. That request is not counted with the others.
    pub fn after_seeing(file: &str, replies: impl IntoIterator<Item = Reply>) -> ModelServer {
        let look = Reply::call("View", json!({ "file_path": file }));
        let mut server = ModelServer::start(std::iter::once(look).chain(replies));
        server.before = 1;
        server
    }

    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    pub fn then(&self, reply: Reply) {
        self.shared.lock().replies.push_back(reply);
    }

    pub fn connections(&self) -> usize {
        self.shared.lock().connections
    }

    /// The requests for answers so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.shared.lock().asked.iter().skip(self.before).cloned().collect()
    }

    /// Waits for the request of this number, from 1.
    pub fn request(&self, number: usize) -> Asked {
        self.wait("a request", |state| state.asked.get(self.before + number - 1).cloned())
    }

    /// Waits until the client has hung up in the middle of the reply to the request of this number.
    pub fn hung_up(&self, number: usize) {
        self.wait("the client hangs up", |state| state.asked.get(self.before + number - 1).filter(|a| a.closed).map(|_| ()));
    }

    fn wait<T>(&self, what: &str, found: impl Fn(&State) -> Option<T>) -> T {
        let from = Instant::now();
        let mut state = self.shared.lock();
        loop {
            if let Some(found) = found(&state) {
                return found;
            }
            assert!(from.elapsed() < DEADLINE, "waited in vain until {what}; asked so far: {:#?}", state.asked);
            state = self.shared.changed.wait_timeout(state, Duration::from_millis(100)).unwrap().0;
        }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.lock().stopped = true;
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

fn serve(stream: &TcpStream, shared: &Shared) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return Ok(()) };
    let mut headers = vec![];
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.push((name.trim().to_owned(), value.trim().to_owned()));
        }
    }
    let length = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length")).map_or(0, |(_, v)| v.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    if method == "GET" {
        let models = json!({ "object": "list", "data": [{ "id": "test-model", "object": "model" }] }).to_string();
        return write!(&*stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{models}", models.len());
    }
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let (number, reply) = {
        let mut state = shared.lock();
        state.asked.push(Asked { path, headers, body, length, at: Instant::now(), closed: false });
        (state.asked.len() - 1, state.replies.pop_front().unwrap_or_else(|| Reply::error(400, "the test has no reply for this")))
    };
    shared.changed.notify_all();
    if send(stream, shared, reply).is_err() {
        shared.lock().asked[number].closed = true;
        shared.changed.notify_all();
    }
    Ok(())
}

/// An error when the client is gone.
fn send(mut stream: &TcpStream, shared: &Shared, reply: Reply) -> std::io::Result<()> {
    let mut head = format!("HTTP/1.1 {} Status\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n", reply.status);
    reply.headers.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
    stream.write_all((head + "\r\n").as_bytes())?;
    for part in reply.parts {
        match part {
            Part::Bytes(bytes) => {
                let bytes = if reply.crlf { String::from_utf8(bytes).unwrap().replace('\n', "\r\n").into_bytes() } else { bytes };
                for piece in bytes.chunks(reply.split.unwrap_or(usize::MAX)) {
                    let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
                    chunk.extend_from_slice(piece);
                    chunk.extend_from_slice(b"\r\n");
                    stream.write_all(&chunk)?;
                }
            }
            Part::Gate(gate) => {
                let passed = gate.pass(|| gone(stream) || shared.lock().stopped);
                if !passed {
                    return Err(std::io::ErrorKind::BrokenPipe.into());
                }
            }
            Part::Cut => {
                stream.shutdown(std::net::Shutdown::Both)?;
                return Ok(());
            }
        }
    }
    stream.write_all(b"0\r\n\r\n")
}

fn gone(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let closed = match stream.peek(&mut [0]) {
        Ok(read) => read == 0,
        Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
    };
    stream.set_nonblocking(false).unwrap();
    closed
}
