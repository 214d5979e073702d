//! A small server: each connection gets one answer and is closed. It ends with the test's process.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
    thread,
};

pub struct Server {
    pub port: u16,
    seen: Arc<(Mutex<Vec<String>>, Condvar)>,
}

impl Server {
    fn serving(serve: impl Fn(&str, u16, &mut TcpStream) + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new((Mutex::new(vec![]), Condvar::new()));
        let (noted, serve) = (seen.clone(), Arc::new(serve));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, noted, serve) = (stream.unwrap(), noted.clone(), serve.clone());
                thread::spawn(move || {
                    let (mut head, mut byte) = (vec![], [0]);
                    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n == 1) {
                        head.push(byte[0]);
                    }
                    let mut head = String::from_utf8_lossy(&head).into_owned();
                    let length =
                        head.to_lowercase().split_once("content-length: ").map(|(_, n)| n.split("\r\n").next().unwrap().to_owned());
                    let mut body = vec![0; length.map_or(0, |n| n.parse().unwrap())];
                    stream.read_exact(&mut body).unwrap();
                    head.push_str(&String::from_utf8_lossy(&body));
                    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                    noted.0.lock().unwrap().push(head);
                    noted.1.notify_all();
                    serve(&path, port, &mut stream);
                });
            }
        });
        Server { port, seen }
    }

    /// `answer` gets the path and our port.
    pub fn start(answer: impl Fn(&str, u16) -> Vec<u8> + Send + Sync + 'static) -> Server {
        Server::serving(move |path, port, stream| drop(stream.write_all(&answer(path, port))))
    }

    pub fn pages(pages: &[(&str, &str, &str)]) -> Server {
        let pages: Vec<_> = pages.iter().map(|(path, kind, body)| ((*path).to_owned(), Server::answer(kind, body))).collect();
        Server::start(move |path, _| pages.iter().find(|(known, _)| known == path).map(|(_, page)| page.clone()).unwrap())
    }

    /// Sends this and then bytes until nobody takes them.
    pub fn endless(head: &'static str) -> Server {
        Server::serving(move |_, _, stream| {
            let mut sent = stream.write_all(head.as_bytes());
            while sent.is_ok() {
                sent = stream.write_all(&[b'x'; 8192]);
            }
        })
    }

    /// Sends this and waits until the other side leaves.
    pub fn silent(said: &'static str) -> Server {
        Server::serving(move |_, _, stream| {
            let _ = stream.write_all(said.as_bytes());
            let _ = stream.read(&mut [0]);
        })
    }

    pub fn answer(kind: &str, body: &str) -> Vec<u8> {
        Server::bytes(kind, body.as_bytes())
    }

    pub fn bytes(kind: &str, body: &[u8]) -> Vec<u8> {
        let mut answer = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
        answer.extend(body);
        answer
    }

    pub fn redirect(to: &str) -> Vec<u8> {
        format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n").into_bytes()
    }

    pub fn raw(answer: &str) -> Vec<u8> {
        answer.as_bytes().to_vec()
    }

    pub fn url(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.port)
    }

    /// The requests so far.
    pub fn heads(&self) -> Vec<String> {
        self.seen.0.lock().unwrap().clone()
    }

    pub fn wait_for_a_request(&self) {
        drop(self.seen.1.wait_while(self.seen.0.lock().unwrap(), |seen| seen.is_empty()).unwrap());
    }
}
