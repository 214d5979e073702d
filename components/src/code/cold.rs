//! Grammars that nobody has used yet: compiling one takes 10 to 300 ms, which no key should wait for.
//!
//! Process-wide, as compiled grammars are. Until [`compile_elsewhere`] is called all of it sleeps, and code is coloured where it is
//! shown: that is what tests and pictures want.

use super::{ELSEWHERE, Highlighter};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard};

/// Bytes of code kept for a grammar to be compiled with: what occurs in them will be quick.
const SAMPLE: usize = 8_000;

#[derive(Default)]
pub(super) struct Grammars {
    pub compiled: BTreeSet<&'static str>,
    /// Somebody is at it.
    compiling: BTreeSet<&'static str>,
    pub missed: BTreeMap<&'static str, Vec<String>>,
}

static GRAMMARS: Mutex<Grammars> = Mutex::new(Grammars { compiled: BTreeSet::new(), compiling: BTreeSet::new(), missed: BTreeMap::new() });

pub(super) fn grammars() -> MutexGuard<'static, Grammars> {
    GRAMMARS.lock().unwrap_or_else(|e| e.into_inner())
}

/// A grammar that was missed, and code that had to stay plain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cold {
    language: &'static str,
    lines: Vec<String>,
}

impl Cold {
    /// A language that will be needed, by the name of a code fence or the ending of a file; `None` if there is no grammar for it, or
    /// it is compiled. Loads the grammars (some 5 ms).
    pub fn of(token: &str) -> Option<Cold> {
        let language = Highlighter::for_language(token).state.as_ref().map(|state| state.language)?;
        let lines = ["use a::b; // x", "fn f(a: u8) -> Option<u8> { \"s\".len() + 1 }", "def f(a): return {'b': 1}", "<a href=\"b\">c</a>"];
        let cold = Cold { language, lines: lines.map(str::to_owned).to_vec() };
        (!grammars().compiled.contains(language)).then_some(cold)
    }

    /// Takes its time: meant for a worker. Code of that language has colours afterwards.
    pub fn compile(self) {
        let mut code = Highlighter::with(|set| set.find_syntax_by_name(self.language));
        if let Some(state) = &mut code.state {
            state.cold = false;
        }
        for line in &self.lines {
            code.push_line_runs(line);
        }
        let mut grammars = grammars();
        grammars.compiling.remove(self.language);
        grammars.compiled.insert(self.language);
    }
}

/// From now on nobody waits for a grammar where code is shown.
pub fn compile_elsewhere() {
    ELSEWHERE.store(true, Ordering::Relaxed);
}

/// Is a grammar missing now, so that what is laid out may be plain only because of that?
pub fn is_awaited() -> bool {
    if !ELSEWHERE.load(Ordering::Relaxed) {
        return false;
    }
    let grammars = grammars();
    !grammars.missed.is_empty() || !grammars.compiling.is_empty()
}

/// What has been missed since the last time.
pub fn take_cold() -> Vec<Cold> {
    if !ELSEWHERE.load(Ordering::Relaxed) {
        return Vec::new();
    }
    let mut grammars = grammars();
    let missed = std::mem::take(&mut grammars.missed);
    grammars.compiling.extend(missed.keys());
    missed.into_iter().map(|(language, lines)| Cold { language, lines }).collect()
}

/// A line is to be coloured whose grammar is cold. True if it is compiled by now.
pub(super) fn missed(language: &'static str, line: &str) -> bool {
    let mut grammars = grammars();
    if grammars.compiled.contains(language) {
        return true;
    }
    if grammars.compiling.contains(language) {
        return false;
    }
    let lines = grammars.missed.entry(language).or_default();
    if lines.iter().map(String::len).sum::<usize>() < SAMPLE {
        lines.push(line.to_owned());
    }
    false
}
