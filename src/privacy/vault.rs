//! The secrets that were found, and the placeholders that stand for them.
//!
//! A placeholder is `[secret:KIND:ID]`: plain letters, so that models copy it and no quoting or escaping changes it. Its id is a keyed
//! hash of the secret: the same in every session of this installation, telling nothing of the secret to whoever has no key, and not
//! to be guessed by a page or a file that would like a model to write it.

use super::shell::Quoting;
use crate::protocol::Hidden;
use sha2::{Digest, Sha256};
use std::{collections::HashMap, ops::Range, sync::Arc};

const BEGIN: &str = "[secret:";
const ID: usize = 8;
const LONGEST_KIND: usize = 40;
/// Places that are named of one secret.
const PLACES: usize = 5;

/// Gives the key of this installation when it is first needed.
#[derive(Clone)]
pub struct Key(Arc<dyn Fn() -> [u8; 32] + Send + Sync>);

impl Key {
    pub fn new(get: impl Fn() -> [u8; 32] + Send + Sync + 'static) -> Key {
        Key(Arc::new(get))
    }

    pub fn fixed(bytes: [u8; 32]) -> Key {
        Key::new(move || bytes)
    }
}

/// Why a placeholder stays one.
#[derive(Debug, PartialEq, Eq)]
pub enum Unrevealed {
    /// It stands for nothing.
    Unknown(String),
    /// A shell would not take the secret as it is.
    Active(String),
}

#[derive(Debug, Clone)]
struct Entry {
    secret: String,
    kind: String,
    placeholder: String,
    times: usize,
    places: Vec<String>,
}

#[derive(Clone)]
pub struct Vault {
    get: Key,
    key: Option<[u8; 32]>,
    entries: Vec<Entry>,
    by_secret: HashMap<String, usize>,
    by_id: HashMap<String, usize>,
    /// Secret whatever they look like, with what they are called.
    known: Vec<(String, String)>,
    /// Changes whenever there is one more to look for.
    generation: usize,
}

impl Vault {
    pub fn new(get: Key, mut known: Vec<(String, String)>) -> Vault {
        known.retain(|(_, secret)| secret.len() >= super::find::SHORTEST_KNOWN);
        Vault { get, key: None, entries: vec![], by_secret: HashMap::new(), by_id: HashMap::new(), known, generation: 0 }
    }

    pub fn know(&mut self, kind: String, secret: String) {
        if secret.len() >= super::find::SHORTEST_KNOWN && !self.known.iter().any(|(_, known)| *known == secret) {
            self.known.push((kind, secret));
            self.generation += 1;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn knows(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    pub fn generation(&self) -> usize {
        self.generation
    }

    /// What is a secret wherever it stands: kinds and values.
    pub fn everywhere(&self) -> impl Iterator<Item = (&str, &str)> {
        let found = self.entries.iter().map(|entry| (entry.kind.as_str(), entry.secret.as_str()));
        let known = self.known.iter().map(|(kind, secret)| (kind.as_str(), secret.as_str()));
        known.chain(found.filter(|(_, secret)| super::find::stands_out(secret)))
    }

    /// The placeholder for a secret. Without a place, it is not counted.
    pub fn hide(&mut self, secret: &str, kind: &str, place: Option<&str>) -> String {
        let at = match self.by_secret.get(secret) {
            Some(at) => *at,
            None => self.add(secret, kind),
        };
        let entry = &mut self.entries[at];
        if let Some(place) = place {
            entry.times += 1;
            if entry.places.len() < PLACES && !entry.places.iter().any(|known| known == place) {
                entry.places.push(place.to_owned());
            }
        }
        entry.placeholder.clone()
    }

    fn add(&mut self, secret: &str, kind: &str) -> usize {
        let key = *self.key.get_or_insert_with(|| (self.get.0)());
        // Two secrets with one id are not to be expected; if they came, the second would have another.
        let id = (0_u32..).map(|round| id(&key, secret, round)).find(|id| !self.by_id.contains_key(id)).unwrap_or_default();
        let at = self.entries.len();
        let placeholder = format!("{BEGIN}{}:{id}]", slug(kind));
        self.entries.push(Entry { secret: secret.into(), kind: kind.into(), placeholder, times: 0, places: vec![] });
        self.by_secret.insert(secret.into(), at);
        self.by_id.insert(id, at);
        if super::find::stands_out(secret) {
            self.generation += 1;
        }
        at
    }

    /// The text with the secrets in it, if there is a placeholder; or the first one that can't become one.
    pub fn reveal(&self, text: &str, in_shell: bool) -> Result<Option<String>, Unrevealed> {
        let found = placeholders(text);
        if found.is_empty() {
            return Ok(None);
        }
        let (mut revealed, mut from, mut wrong) = (String::with_capacity(text.len()), 0, None);
        let mut quoting = Quoting::new();
        for (span, id) in found {
            let named = || text[span.start + 1..span.end - 1].to_owned();
            let Some(at) = self.by_id.get(id) else {
                wrong.get_or_insert_with(|| Unrevealed::Unknown(named()));
                continue;
            };
            let (between, secret) = (&text[from..span.start], &self.entries[*at].secret);
            revealed.push_str(between);
            if in_shell {
                quoting.read(between);
                match quoting.written(secret) {
                    Some(written) => revealed.push_str(&written),
                    None => drop(wrong.get_or_insert_with(|| Unrevealed::Active(named()))),
                }
            } else {
                revealed.push_str(secret);
            }
            from = span.end;
        }
        revealed.push_str(&text[from..]);
        wrong.map_or(Ok(Some(revealed)), Err)
    }

    /// In the order in which they were found.
    pub fn told(&self) -> Vec<Hidden> {
        let counted = self.entries.iter().filter(|entry| entry.times > 0);
        let told = counted.map(|entry| Hidden {
            kind: entry.kind.clone(),
            placeholder: entry.placeholder.clone(),
            hint: hint(&entry.secret),
            times: entry.times,
            places: entry.places.clone(),
        });
        told.collect()
    }
}

fn id(key: &[u8; 32], secret: &str, round: u32) -> String {
    const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    // The key stands on both sides: what is between can't be continued.
    let hash = Sha256::new().chain_update(key).chain_update(round.to_le_bytes()).chain_update(secret).chain_update(key).finalize();
    hash.iter().take(ID).map(|byte| char::from(DIGITS[usize::from(byte % 32)])).collect()
}

/// A kind as a placeholder has it.
fn slug(kind: &str) -> String {
    let mut slug = String::new();
    for c in kind.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(LONGEST_KIND);
    slug.trim_end_matches('-').to_owned()
}

/// As much of a secret as helps to tell which it is, and not more.
fn hint(secret: &str) -> String {
    let length = secret.chars().count();
    let shown = if length >= 20 { 4 } else { usize::from(length >= 12) * 2 };
    let first: String = secret.chars().take(shown).collect();
    let last: String = secret.chars().skip(length - shown).collect();
    format!("{first}…{last}")
}

/// Everything that has the form of a placeholder, and its id.
pub fn placeholders(text: &str) -> Vec<(Range<usize>, &str)> {
    let mut found = vec![];
    for (at, _) in text.match_indices(BEGIN) {
        let rest = &text.as_bytes()[at + BEGIN.len()..];
        let kind = rest.iter().take(LONGEST_KIND + 1).take_while(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || **b == b'-').count();
        let Some(tail) = rest.get(kind..kind + ID + 2).filter(|_| (1..=LONGEST_KIND).contains(&kind)) else { continue };
        let is_id = tail[1..=ID].iter().all(|b| matches!(b, b'a'..=b'z' | b'2'..=b'7'));
        if tail[0] == b':' && tail[ID + 1] == b']' && is_id {
            let id = at + BEGIN.len() + kind + 1;
            found.push((at..id + ID + 1, &text[id..id + ID]));
        }
    }
    found
}
