//! Tool calls put together from the pieces that servers send.
//!
//! Each call gets a number of our own, counted from 0 in the order in which the calls appear; its name and its id come out exactly
//! once, the id at the latest in [`Calls::finish`], made up if the server gave none.

use super::provider::push_merged;
use crate::protocol::{RequestId, StreamItem};
use serde_json::Value;

pub struct Calls {
    request: RequestId,
    slots: Vec<Slot>,
}

#[derive(Default)]
struct Slot {
    wire_index: Option<u64>,
    id: Option<String>,
    name: Option<String>,
    arguments: String,
    /// What belongs to the call beside its name and arguments.
    extra: Option<Value>,
}

impl Calls {
    pub fn new(request: RequestId) -> Self {
        Calls { request, slots: vec![] }
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// A call of which the format says where it begins. Gives its number.
    pub fn begin(&mut self, id: Option<&str>, name: &str, out: &mut Vec<StreamItem>) -> usize {
        self.slots.push(Slot::default());
        let index = self.slots.len() - 1;
        self.extend(index, id.filter(|id| !id.is_empty()), Some(name), String::new(), out);
        index
    }

    pub fn argue(&mut self, index: usize, arguments: &str, out: &mut Vec<StreamItem>) {
        if index < self.slots.len() {
            self.extend(index, None, None, arguments.to_owned(), out);
        }
    }

    /// The `tool_calls` of one chunk of chat completions. Returns how many bytes came with them.
    pub fn add(&mut self, pieces: &[Value], out: &mut Vec<StreamItem>) -> usize {
        let (mut last_of_this_chunk, mut size) = (None, 0);
        for piece in pieces.iter().filter(|piece| piece.is_object()) {
            let wire_index = piece.get("index").and_then(Value::as_u64);
            let id = piece.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
            let function = piece.get("function").unwrap_or(piece);
            let name = function.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
            let arguments = match function.get("arguments").or_else(|| function.get("parameters")) {
                Some(Value::String(text)) => text.clone(),
                None | Some(Value::Null) => String::new(),
                // An object instead of a string of JSON.
                Some(value) => value.to_string(),
            };
            let slot = self.slot(wire_index, id, name, &arguments, last_of_this_chunk);
            last_of_this_chunk = Some(slot);
            if let Some(extra) = piece.get("extra_content").filter(|extra| extra.is_object()) {
                size += extra.to_string().len();
                self.slots[slot].extra = Some(extra.clone());
            }
            size += arguments.len();
            self.extend(slot, id, name, arguments, out);
        }
        size
    }

    /// The calls that have something beside them.
    pub fn extras(&self) -> Vec<(usize, Value)> {
        self.slots.iter().enumerate().filter_map(|(index, slot)| Some((index, slot.extra.clone()?))).collect()
    }

    pub fn finish(&mut self, out: &mut Vec<StreamItem>) {
        for (index, slot) in self.slots.iter_mut().enumerate() {
            if slot.id.is_none() {
                let id = made_up_id('c', self.request.0, index);
                slot.id = Some(id.clone());
                push_merged(out, StreamItem::CallDelta { index, id: Some(id), name: None, arguments: String::new() });
            }
        }
    }

    /// Which call a piece belongs to. Servers leave the index out, give every call the index 0, repeat the id or the name with
    /// every piece, or send whole calls at once.
    fn slot(&mut self, wire_index: Option<u64>, id: Option<&str>, name: Option<&str>, arguments: &str, before: Option<usize>) -> usize {
        let found = match (wire_index, id) {
            (Some(index), _) => self.slots.iter().rposition(|slot| slot.wire_index == Some(index)),
            (None, Some(id)) => self.slots.iter().rposition(|slot| slot.id.as_deref() == Some(id)),
            // Without an index, two pieces in one chunk are two calls.
            (None, None) if before.is_some() => None,
            (None, None) => self.slots.len().checked_sub(1),
        };
        // An id that comes late, without an index, belongs to the call that waits for one.
        let found = found.or_else(|| {
            let waits = |at: &usize| wire_index.is_none() && before.is_none() && name.is_none() && self.slots[*at].id.is_none();
            self.slots.len().checked_sub(1).filter(waits)
        });
        if let Some(at) = found {
            let slot = &self.slots[at];
            let other_id = matches!((id, &slot.id), (Some(new), Some(old)) if new != old);
            let starts_anew = match (name, slot.name.as_deref()) {
                (Some(new), Some(old)) => new != old || other_id || !arguments.is_empty() && is_object(&slot.arguments),
                _ => false,
            };
            if !starts_anew {
                return at;
            }
        }
        self.slots.push(Slot { wire_index, ..Slot::default() });
        self.slots.len() - 1
    }

    fn extend(&mut self, index: usize, id: Option<&str>, name: Option<&str>, arguments: String, out: &mut Vec<StreamItem>) {
        let taken = id.is_some_and(|id| self.slots.iter().any(|slot| slot.id.as_deref() == Some(id)));
        let slot = &mut self.slots[index];
        let id = id.filter(|_| slot.id.is_none() && !taken).map(str::to_owned);
        let name = name.filter(|_| slot.name.is_none()).map(str::to_owned);
        slot.id = slot.id.take().or_else(|| id.clone());
        slot.name = slot.name.take().or_else(|| name.clone());
        slot.arguments.push_str(&arguments);
        if id.is_some() || name.is_some() || !arguments.is_empty() {
            push_merged(out, StreamItem::CallDelta { index, id, name, arguments });
        }
    }
}

/// Nine letters and digits: the only form that every server takes.
pub fn made_up_id(kind: char, number: u64, index: usize) -> String {
    format!("{kind}{:05}{:03}", number % 100_000, index % 1_000)
}

fn is_object(text: &str) -> bool {
    text.trim_end().ends_with('}') && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}
