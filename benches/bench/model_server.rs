//! A model server on loopback, in this process: `stream N MS` in a prompt gives N words, MS milliseconds apart, and a last one.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    time::Duration,
};

pub const LAST: &str = "ENDSTREAM";

/// Its address. It serves for as long as this process lives.
pub fn start() -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}/v1", listener.local_addr()?);
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            // A client that goes away ends its own answer only.
            std::thread::spawn(move || drop(serve(connection)));
        }
    });
    Ok(address)
}

pub fn word(n: usize) -> String {
    format!("w{n} {}", if n % 12 == 11 { "\n" } else { "" })
}

fn serve(connection: TcpStream) -> io::Result<()> {
    connection.set_nodelay(true)?;
    let mut reader = BufReader::new(connection.try_clone()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = String::from_utf8_lossy(&body);
    // The last prompt of the conversation counts.
    let asked: Vec<usize> = body.rsplit("stream ").next().unwrap_or("").split(['"', ' ']).map_while(|n| n.parse().ok()).collect();
    let (count, pause) = (asked.first().copied().unwrap_or(1), asked.get(1).copied().unwrap_or(0));
    let mut out = connection;
    out.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")?;
    for n in 0..count {
        delta(&mut out, &word(n))?;
        if pause > 0 {
            std::thread::sleep(Duration::from_millis(pause as u64));
        }
    }
    delta(&mut out, LAST)?;
    out.write_all(b"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

fn delta(out: &mut TcpStream, text: &str) -> io::Result<()> {
    let text = text.replace('\n', "\\n");
    let head = "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"bench-model\",";
    write!(out, "{head}\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":null}}]}}\n\n")
}
