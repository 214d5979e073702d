//! What comes back: the bytes of an answer, streamed or whole, as stream items, whatever the wire format.
//!
//! The same bytes give the same items (after merging) however they are cut. Here is what all formats share: where an event
//! ends, what is no answer at all, how much is too much, and how it ends. What an event means is its [`Dialect`]'s affair.
//! After `Done` or `Failed` nothing more comes out.

use super::{
    calls::Calls,
    errors,
    provider::{error, push_merged},
    sse::{self, SseDecoder},
};
use crate::protocol::{Kept, ModelId, ProviderError, ProviderErrorKind as Kind, Request, StopReason, StreamItem, Usage, WireFormat};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// How the events of one wire format are read.
pub trait Dialect: Send + 'static {
    const FORMAT: WireFormat;
    /// One JSON object on each line, instead of events.
    const LINES: bool = false;
    type Event: DeserializeOwned;

    /// `whole`: not a stream, but an answer in one piece. `raw` is for messages.
    fn read(&mut self, event: Self::Event, raw: &[u8], whole: bool, to: &mut State);

    /// The answer has ended well: what was held back comes out.
    fn finish(&mut self, _: &mut State) {}
}

pub struct Answer<D> {
    form: Form,
    sse: SseDecoder,
    state: State,
    dialect: D,
    waits_after_stop: u32,
}

/// An answer may hold this much text: one without end must not fill the memory, nor the screen for minutes after an interrupt.
/// The longest outputs of models are a tenth of it.
const LONGEST: usize = 4 << 20;

/// How often more bytes are waited for after the end of an answer: a server may send pings for ever.
const MOST_WAITS: u32 = 16;

enum Form {
    /// Nothing but white space has come.
    Unknown,
    Events,
    /// Not events: one JSON object, whatever the content type says. Kept until it is whole.
    Whole(Vec<u8>),
}

/// What has been read so far; a [`Dialect`] tells it what comes.
pub struct State {
    pub calls: Calls,
    model: ModelId,
    format: WireFormat,
    /// Bytes of text, reasoning and arguments so far.
    size: usize,
    text: usize,
    pub usage: Option<Usage>,
    pub stop: Option<StopReason>,
    /// Something of an answer came.
    pub begun: bool,
    pub ended: bool,
    out: Vec<StreamItem>,
}

impl<D: Dialect> Answer<D> {
    pub fn new(request: &Request, dialect: D) -> Self {
        let state = State {
            calls: Calls::new(request.id),
            model: request.model.clone(),
            format: D::FORMAT,
            size: 0,
            text: 0,
            usage: None,
            stop: None,
            begun: false,
            ended: false,
            out: vec![],
        };
        Answer { form: Form::Unknown, sse: SseDecoder::default(), state, dialect, waits_after_stop: 0 }
    }

    pub fn feed(&mut self, mut bytes: &[u8]) {
        if matches!(self.form, Form::Unknown) {
            // A byte order mark counts as white space here.
            let blank = |b: &u8| b.is_ascii_whitespace() || matches!(b, 0xEF | 0xBB | 0xBF);
            let start = bytes.iter().position(|b| !blank(b)).unwrap_or(bytes.len());
            bytes = &bytes[start..];
            self.form = match bytes.first() {
                None => return,
                Some(b'{') if D::LINES => Form::Events,
                Some(b'{' | b'[' | b'<') => Form::Whole(vec![]),
                Some(_) => Form::Events,
            };
        }
        let (state, dialect) = (&mut self.state, &mut self.dialect);
        let fits = match &mut self.form {
            Form::Whole(whole) if whole.len() + bytes.len() <= sse::LIMIT => {
                whole.extend_from_slice(bytes);
                true
            }
            Form::Whole(_) => false,
            _ => self.sse.feed(bytes, &mut |data| state.event(dialect, data, false)).is_ok(),
        };
        if !fits {
            state.fail(error(Kind::Malformed, "The server sent an event of more than 16 MB."));
        }
    }

    /// The server closed the connection, properly or (`broken`) not.
    pub fn close(&mut self, broken: Option<ProviderError>) {
        let (state, dialect) = (&mut self.state, &mut self.dialect);
        match std::mem::replace(&mut self.form, Form::Unknown) {
            Form::Whole(whole) => state.whole(dialect, &whole),
            _ => drop(self.sse.finish(&mut |data| state.event(dialect, data, true))),
        }
        match broken {
            _ if state.stop.is_some() => state.finish(dialect),
            Some(broken) => state.fail(broken),
            None if state.begun => state.fail(error(Kind::Cut, "The answer was cut off: the server closed the connection.")),
            None => state.fail(error(Kind::Cut, "The server closed the connection without an answer.")),
        }
    }

    /// What has come out since the last time.
    pub fn take(&mut self) -> Vec<StreamItem> {
        std::mem::take(&mut self.state.out)
    }

    pub fn ended(&self) -> bool {
        self.state.ended
    }

    /// The answer is whole; what may follow is only the count of tokens.
    pub fn stopped(&self) -> bool {
        self.state.stop.is_some()
    }

    /// May the stream be waited for once more?
    pub fn wait(&mut self) -> bool {
        self.waits_after_stop += u32::from(self.stopped());
        self.waits_after_stop <= MOST_WAITS
    }
}

impl State {
    fn event<D: Dialect>(&mut self, dialect: &mut D, data: &[u8], last: bool) {
        if self.ended {
            return;
        }
        let data = data.trim_ascii();
        if is_done(data) {
            return self.finish(dialect);
        }
        match parse::<D::Event>(data) {
            Some(event) => dialect.read(event, data, false, self),
            // Several objects that no blank line parts.
            None if data.contains(&b'\n') => data.split(|b| *b == b'\n').for_each(|line| self.event(dialect, line, last)),
            // A stream that breaks off inside an event was cut.
            None if last => {}
            None if data.first() == Some(&b'{') => {
                self.fail(error(Kind::Malformed, format!("The server sent broken JSON: {}", excerpt(data))))
            }
            // "ping", "keep-alive", numbers: not for us.
            None => {}
        }
    }

    fn whole<D: Dialect>(&mut self, dialect: &mut D, body: &[u8]) {
        let body = body.trim_ascii();
        if body.first() == Some(&b'[')
            && let Ok(events) = serde_json::from_slice::<Vec<D::Event>>(body)
            && !events.is_empty()
        {
            return events.into_iter().for_each(|event| dialect.read(event, body, true, self));
        }
        match parse::<D::Event>(body) {
            Some(event) => dialect.read(event, body, true, self),
            None if body.first() == Some(&b'<') => {
                self.fail(error(Kind::Malformed, "The server answered with a web page instead of an answer of a model."));
            }
            None if body.iter().any(is_line_end) => {
                self.begun |= body.first() == Some(&b'[');
                body.split(is_line_end).for_each(|line| match line.trim_ascii().strip_prefix(b"data:") {
                    Some(data) => self.event(dialect, data, true),
                    None => self.event(dialect, line, true),
                })
            }
            None if serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok() => {
                let words = errors::words(body).unwrap_or_else(|| excerpt(body));
                self.fail(error(Kind::Malformed, words));
            }
            None => self.begun = true,
        }
    }

    /// Text or reasoning. Nothing where it is empty.
    pub fn say(&mut self, item: StreamItem) {
        if self.ended {
            return;
        }
        if let StreamItem::Text(text) | StreamItem::Reasoning(text) = &item {
            self.begun |= !text.is_empty();
            self.size += text.len();
            if matches!(item, StreamItem::Text(_)) {
                self.text += text.len();
            }
        }
        push_merged(&mut self.out, item);
        self.limit();
    }

    pub fn text(&mut self, text: &str) {
        self.say(StreamItem::Text(text.to_owned()));
    }

    pub fn reasoning(&mut self, text: &str) {
        self.say(StreamItem::Reasoning(text.to_owned()));
    }

    /// Pieces of calls in the form of chat completions.
    pub fn add_calls(&mut self, pieces: &[Value]) {
        if self.ended {
            return;
        }
        self.begun |= !pieces.is_empty();
        self.size += self.calls.add(pieces, &mut self.out);
        self.limit();
    }

    /// A call begins. Gives its number.
    pub fn begin_call(&mut self, id: Option<&str>, name: &str) -> usize {
        self.begun = true;
        let mut nowhere = vec![];
        let call = self.calls.begin(id, name, if self.ended { &mut nowhere } else { &mut self.out });
        self.grow(name.len() + 16);
        call
    }

    pub fn call_arguments(&mut self, call: usize, arguments: &str) {
        if self.ended {
            return;
        }
        self.size += arguments.len();
        self.calls.argue(call, arguments, &mut self.out);
        self.limit();
    }

    /// What has to go back as it came.
    pub fn keep(&mut self, value: Value) {
        let (text, calls) = (self.text, self.calls.len());
        let (format, model) = (self.format, self.model.clone());
        self.grow(value.to_string().len());
        if self.ended {
            return;
        }
        self.out.push(StreamItem::Kept(Kept { format, model, text, calls, value }));
    }

    /// Counts what is held back.
    pub fn grow(&mut self, bytes: usize) {
        self.size += bytes;
        self.limit();
    }

    fn limit(&mut self) {
        if self.size > LONGEST {
            self.fail(error(Kind::Malformed, format!("The answer did not end: it was stopped after {} MB.", LONGEST >> 20)));
        }
    }

    /// The answer is whole.
    pub fn done(&mut self) {
        let reason = match self.stop {
            // Servers say "stop" even when they ask for a tool, so what there is decides.
            Some(StopReason::Length) => StopReason::Length,
            _ if !self.calls.is_empty() => StopReason::Calls,
            Some(reason @ (StopReason::Refused | StopReason::Paused)) => reason,
            _ => StopReason::Finished,
        };
        self.end(StreamItem::Done(reason));
    }

    fn finish<D: Dialect>(&mut self, dialect: &mut D) {
        dialect.finish(self);
        self.done();
    }

    pub fn fail(&mut self, error: ProviderError) {
        self.end(StreamItem::Failed(error));
    }

    fn end(&mut self, last: StreamItem) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        self.calls.finish(&mut self.out);
        self.out.extend(self.usage.take().map(StreamItem::Usage));
        self.out.push(last);
    }
}

fn parse<T: DeserializeOwned>(data: &[u8]) -> Option<T> {
    if data.first() != Some(&b'{') {
        return None;
    }
    // One byte that isn't UTF-8 must not cost the answer.
    serde_json::from_slice(data).ok().or_else(|| {
        let fixed = String::from_utf8_lossy(data);
        matches!(fixed, std::borrow::Cow::Owned(_)).then(|| serde_json::from_str(&fixed).ok()).flatten()
    })
}

fn is_done(data: &[u8]) -> bool {
    data.len() < 16 && data.iter().filter(|b| !b.is_ascii_whitespace()).map(u8::to_ascii_uppercase).eq(*b"[DONE]")
}

fn is_line_end(b: &u8) -> bool {
    matches!(b, b'\n' | b'\r')
}

/// Is there an error in this field? Some servers send it with every event, empty.
pub fn is_error(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false)) && *value != "" && *value != serde_json::json!({})
}

pub fn excerpt(data: &[u8]) -> String {
    errors::bounded(&String::from_utf8_lossy(&data[..data.len().min(400)]), 200)
}

/// A count of tokens, also where it is written as `2.0`; 0 where there is none.
pub fn count(value: &Value, path: &str) -> u64 {
    value.pointer(path).and_then(Value::as_f64).unwrap_or(0.0) as u64
}

#[cfg(test)]
pub mod tests;
