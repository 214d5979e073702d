//! For the tests of every wire format: a body gives the same items however it is cut, and none but those up to where it ends.

use super::{Answer, Dialect};
use crate::{
    llm::provider::push_merged,
    protocol::{ModelId, Request, RequestId, StreamItem},
};

pub fn request() -> Request {
    Request {
        id: RequestId(12),
        model: ModelId { provider: "p".into(), model: "m".into() },
        system: "".into(),
        messages: vec![].into(),
        tools: vec![].into(),
    }
}

fn merged(items: Vec<StreamItem>) -> Vec<StreamItem> {
    let mut merged = vec![];
    items.into_iter().for_each(|item| push_merged(&mut merged, item));
    merged
}

/// Items in a short form.
pub fn show(items: Vec<StreamItem>) -> Vec<String> {
    let show = |item: StreamItem| match item {
        StreamItem::Text(text) => format!("text {text}"),
        StreamItem::Reasoning(text) => format!("reasoning {text}"),
        StreamItem::CallDelta { index, id, name, arguments } => {
            format!("call {index} {} {} {arguments}", id.unwrap_or("-".into()), name.unwrap_or("-".into()))
        }
        StreamItem::Kept(kept) => format!("kept {} {} {}", kept.text, kept.calls, kept.value),
        StreamItem::Usage(u) if u.written > 0 => {
            format!("usage {} {} {} {} written {}", u.input, u.output, u.cached, u.reasoning, u.written)
        }
        StreamItem::Usage(u) => format!("usage {} {} {} {}", u.input, u.output, u.cached, u.reasoning),
        StreamItem::Done(reason) => format!("done {reason:?}"),
        StreamItem::Failed(error) => format!("failed {:?} {:?} {}", error.kind, error.status, error.message),
    };
    merged(items).into_iter().map(show).collect()
}

fn items<D: Dialect>(dialect: D, pieces: &[&[u8]]) -> Vec<StreamItem> {
    let mut answer = Answer::new(&request(), dialect);
    let mut items = vec![];
    for piece in pieces {
        answer.feed(piece);
        items.extend(answer.take());
    }
    answer.close(None);
    items.extend(answer.take());
    assert!(answer.ended());
    let ends = items.iter().filter(|item| matches!(item, StreamItem::Done(_) | StreamItem::Failed(_))).count();
    assert_eq!(ends, 1, "it ends once");
    items
}

pub fn decode<D: Dialect>(dialect: D, pieces: &[&[u8]]) -> Vec<String> {
    show(items(dialect, pieces))
}

/// The body as it is, with every line ending, split at every byte, and byte by byte.
pub fn check<D: Dialect>(dialect: impl Fn() -> D, body: &str, expected: &[&str]) {
    for body in [body.to_owned(), body.replace('\n', "\r\n"), body.replace('\n', "\r")] {
        let bytes = body.as_bytes();
        assert_eq!(decode(dialect(), &[bytes]), expected, "{body:?}");
        assert_eq!(decode(dialect(), &bytes.chunks(1).collect::<Vec<_>>()), expected, "{body:?} byte by byte");
        for cut in 0..bytes.len() {
            assert_eq!(decode(dialect(), &[&bytes[..cut], &bytes[cut..]]), expected, "{body:?} cut at {cut}");
        }
    }
}

/// What there is of an answer, without how it ends.
#[derive(Debug, Default)]
struct Content {
    text: String,
    reasoning: String,
    calls: Vec<(String, String)>,
    kept: Vec<String>,
}

impl Content {
    fn of(items: &[StreamItem]) -> Content {
        let mut content = Content::default();
        for item in items {
            match item {
                StreamItem::Text(text) => content.text.push_str(text),
                StreamItem::Reasoning(text) => content.reasoning.push_str(text),
                StreamItem::CallDelta { index, name, arguments, .. } => {
                    if content.calls.len() <= *index {
                        content.calls.resize(index + 1, Default::default());
                    }
                    content.calls[*index].0.push_str(name.as_deref().unwrap_or_default());
                    content.calls[*index].1.push_str(arguments);
                }
                StreamItem::Kept(kept) => content.kept.push(kept.value.to_string()),
                _ => {}
            }
        }
        content
    }

    fn begins(&self, whole: &Content) -> bool {
        whole.text.starts_with(&self.text)
            && whole.reasoning.starts_with(&self.reasoning)
            && self.calls.len() <= whole.calls.len()
            && self.calls.iter().zip(&whole.calls).all(|(a, b)| a.0 == b.0 && b.1.starts_with(&a.1))
            && whole.kept.starts_with(&self.kept)
    }
}

/// A connection that ends after any byte: the beginning of the same answer, then one `Failed(Cut)`; or the answer, if it was
/// whole by then.
pub fn check_cuts<D: Dialect>(dialect: impl Fn() -> D, body: &str) {
    let bytes = body.as_bytes();
    let whole = Content::of(&items(dialect(), &[bytes]));
    let mut last = 0;
    for cut in 0..bytes.len() {
        let cut_off = items(dialect(), &[&bytes[..cut]]);
        let content = Content::of(&cut_off);
        assert!(content.begins(&whole), "{:?} cut at {cut}: {content:?}", &body[..body.floor_char_boundary(cut)]);
        let size = content.text.len() + content.reasoning.len() + content.calls.iter().map(|call| call.1.len()).sum::<usize>();
        assert!(size >= last, "nothing that had come is lost by what comes after: {cut}");
        last = size;
        match cut_off.last() {
            Some(StreamItem::Done(_)) => assert!(whole.begins(&content), "cut at {cut}: {content:?}"),
            Some(StreamItem::Failed(error)) => assert_eq!(error.kind, crate::protocol::ProviderErrorKind::Cut, "cut at {cut}: {error:?}"),
            other => panic!("{other:?}"),
        }
    }
}

/// Broken in any way: it ends once, and nothing panics.
pub fn check_garbage<D: Dialect>(dialect: impl Fn() -> D, seed: &str) {
    let mut random = 7_u64;
    let mut next = move |below: usize| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) as usize % below
    };
    for _ in 0..3_000 {
        let mut bytes = seed.as_bytes().to_vec();
        for _ in 0..=next(6) {
            let at = next(bytes.len());
            let new = [b'"', b'{', b'}', b'[', b'\n', b'\r', 0, 0xFF, b':', b'0', b','][next(11)];
            match next(3) {
                0 => bytes[at] = new,
                1 => bytes.insert(at, new),
                _ => drop(bytes.drain(at..(at + next(20)).min(bytes.len()))),
            }
            if bytes.is_empty() {
                bytes.push(new);
            }
        }
        let whole = decode(dialect(), &[&bytes]);
        assert!(whole.last().is_some_and(|line| line.starts_with("done") || line.starts_with("failed")), "{whole:?}");
        let cut = next(bytes.len());
        let split = decode(dialect(), &[&bytes[..cut], &bytes[cut..]]);
        assert_eq!(split, whole, "{:?} cut at {cut}", String::from_utf8_lossy(&bytes));
    }
}

/// Whatever a server sends without end, what is kept of it has one.
pub fn check_endless<D: Dialect>(dialect: impl Fn() -> D, first: &str, event: impl Fn(usize) -> String) {
    let mut answer = Answer::new(&request(), dialect());
    answer.feed(first.as_bytes());
    let fed = (0..200_000).take_while(|n| {
        answer.feed(event(*n).as_bytes());
        !answer.ended()
    });
    assert!(fed.count() < 199_999, "{:.80}", event(0));
    let Some(StreamItem::Failed(why)) = answer.take().pop() else { panic!("{:.80}", event(0)) };
    assert_eq!(why.message, "The answer did not end: it was stopped after 4 MB.");
}
