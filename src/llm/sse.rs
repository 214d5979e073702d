//! Server-sent events, decoded from bytes that may be cut anywhere.
//!
//! The same bytes give the same events however they are cut. Nothing is kept beyond [`LIMIT`] bytes. Our own, not a crate:
//! the ones tried drop the last event when a server closes without the blank line, scan a long line again with every piece, have
//! no limit, and give up on one byte that isn't UTF-8.

/// No honest event is longer; a server that sends more must not take the memory of the machine.
pub const LIMIT: usize = 16 << 20;

#[derive(Debug, Default)]
pub struct SseDecoder {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// The last byte was a CR, which has already ended its line: a LF right after it belongs to it.
    after_cr: bool,
    started: bool,
}

/// An event is longer than [`LIMIT`].
#[derive(Debug, PartialEq)]
pub struct TooLong;

impl SseDecoder {
    /// Calls `event` with the data of each event that these bytes complete.
    pub fn feed(&mut self, mut bytes: &[u8], event: &mut dyn FnMut(&[u8])) -> Result<(), TooLong> {
        while let Some(&first) = bytes.first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = bytes.iter().position(|b| matches!(b, b'\n' | b'\r')) else {
                self.keep(bytes)?;
                break;
            };
            self.after_cr = bytes[end] == b'\r';
            if self.line.is_empty() {
                self.end_line(&bytes[..end], event)?;
            } else {
                self.keep(&bytes[..end])?;
                let mut line = std::mem::take(&mut self.line);
                self.end_line(&line, event)?;
                line.clear();
                self.line = line;
            }
            bytes = &bytes[end + 1..];
        }
        Ok(())
    }

    /// The stream has ended: what is there without its blank line counts too.
    pub fn finish(&mut self, event: &mut dyn FnMut(&[u8])) -> Result<(), TooLong> {
        let line = std::mem::take(&mut self.line);
        self.end_line(&line, event)?;
        self.dispatch(event);
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.line.len() + self.data.len() + bytes.len() > LIMIT {
            return Err(TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self, mut line: &[u8], event: &mut dyn FnMut(&[u8])) -> Result<(), TooLong> {
        if !std::mem::replace(&mut self.started, true) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            self.dispatch(event);
        } else if let Some(value) = field(line, b"data") {
            if self.data.len() + value.len() > LIMIT {
                return Err(TooLong);
            }
            if self.has_data {
                self.data.push(b'\n');
            }
            self.has_data = true;
            self.data.extend_from_slice(value);
        } else if line[0] == b'{' {
            // Not an event at all, but some servers put a bare error object into the stream.
            event(line);
        }
        Ok(())
    }

    fn dispatch(&mut self, event: &mut dyn FnMut(&[u8])) {
        if std::mem::take(&mut self.has_data) {
            event(&self.data);
            self.data.clear();
        }
    }
}

fn field<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let rest = line.strip_prefix(name)?;
    match rest.first() {
        None => Some(rest),
        Some(b':') => Some(rest[1..].strip_prefix(b" ").unwrap_or(&rest[1..])),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(pieces: &[&[u8]]) -> Vec<String> {
        let mut decoder = SseDecoder::default();
        let mut events = vec![];
        let mut event = |data: &[u8]| events.push(String::from_utf8_lossy(data).into_owned());
        for piece in pieces {
            decoder.feed(piece, &mut event).unwrap();
        }
        decoder.finish(&mut event).unwrap();
        events
    }

    #[test]
    fn the_same_bytes_give_the_same_events_however_they_are_cut() {
        let cases: [(&str, &[&str]); 8] = [
            ("data: a\n\ndata:b\n\n", &["a", "b"]),
            ("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]),
            ("data: a\r\rdata: b\r\r", &["a", "b"]),
            ("\u{feff}data: žluť 🦀\n\n: note\nevent: x\nid: 1\n\n", &["žluť 🦀"]),
            ("data: {\ndata: }\n\n", &["{\n}"]),
            ("data:   two spaces stay\n\ndata\n\n", &["  two spaces stay", ""]),
            ("data: the end without a blank line", &["the end without a blank line"]),
            ("datatype: x\n\n{\"error\":1}\ndata: y\r\n\r\n", &["{\"error\":1}", "y"]),
        ];
        for (body, expected) in cases {
            let bytes = body.as_bytes();
            assert_eq!(decode(&[bytes]), expected, "{body:?}");
            for cut in 0..=bytes.len() {
                assert_eq!(decode(&[&bytes[..cut], &bytes[cut..]]), expected, "{body:?} cut at {cut}");
            }
            assert_eq!(decode(&bytes.chunks(1).collect::<Vec<_>>()), expected, "{body:?} byte by byte");
        }
    }

    #[test]
    fn an_endless_event_is_refused() {
        let megabyte = vec![b'x'; 1 << 20];
        let mut decoder = SseDecoder::default();
        decoder.feed(b"data: ", &mut |_| {}).unwrap();
        let refused = (0..20).find(|_| decoder.feed(&megabyte, &mut |_| {}) == Err(TooLong));
        assert_eq!(refused, Some(15));

        let mut lines = SseDecoder::default();
        let line = [b"data: ".as_slice(), &megabyte, b"\n"].concat();
        assert!((0..20).any(|_| lines.feed(&line, &mut |_| {}) == Err(TooLong)));
    }
}
