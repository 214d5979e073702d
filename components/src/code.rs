//! Syntax colours for code, line by line, as semantic roles.
//!
//! Invariants:
//! - the texts of the spans joined are the line given, always;
//! - the grammars are loaded at the first line of a known language, never at start-up;
//! - a line over [`MAX_LINE_BYTES`], a grammar that fails, or what comes after [`MAX_TOTAL_BYTES`] stays plain;
//! - once [`compile_elsewhere`] is asked for, nobody waits for a grammar: code is plain until somebody has compiled it.

use crate::text::span::{Span, Style};
use crate::theme::Role;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

/// Lines longer than this many bytes are not highlighted: minified code is no pleasure to colour.
pub const MAX_LINE_BYTES: usize = 2_000;
/// After this many bytes highlighting stops.
pub const MAX_TOTAL_BYTES: usize = 2_000_000;

mod cold;

pub use cold::{Cold, compile_elsewhere, is_awaited, take_cold};

/// Grammars are compiled by whoever takes what [`take_cold`] gives, not where code is shown.
static ELSEWHERE: AtomicBool = AtomicBool::new(false);

/// Highlighter of one piece of code; holds the state between its lines.
#[derive(Clone, Default)]
pub struct Highlighter {
    state: Option<Box<State>>,
}

#[derive(Clone)]
struct State {
    language: &'static str,
    /// The grammar was not compiled when this began, and nobody waits for it.
    cold: bool,
    parse: ParseState,
    scopes: ScopeStack,
    roles: HashMap<Scope, Verdict>,
    /// The line with its line end, as the grammars want it; kept to reuse its memory.
    buffer: String,
    bytes: usize,
}

/// What a scope says about the look.
#[derive(Clone, Copy)]
enum Verdict {
    Nothing,
    /// Ordinary code, whatever lies around it (code within a string).
    Plain,
    Role(Role),
}

impl Highlighter {
    /// Everything plain.
    pub fn plain() -> Self {
        Self::default()
    }

    /// For a language as named after a code fence: `rust`, `ts`, `c++`. Unknown ones give plain text.
    pub fn for_language(token: &str) -> Self {
        let token = token.trim().trim_start_matches('.').to_ascii_lowercase();
        let token = match token.as_str() {
            "" | "text" | "txt" | "plain" | "plaintext" | "output" | "log" => return Self::plain(),
            "shell" | "zsh" | "console" | "shell-session" | "terminal" => "sh",
            "golang" => "go",
            "jsonc" | "json5" | "jsonl" => "json",
            "csharp" => "cs",
            "docker" => "dockerfile",
            "python3" | "py3" => "py",
            "node" | "mjs" | "cjs" => "js",
            "patch" => "diff",
            other => other,
        };
        Self::with(|set| set.find_syntax_by_token(token))
    }

    /// For a file by its name or path.
    pub fn for_path(path: &str) -> Self {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        if matches!(extension, Some("txt" | "log")) {
            return Self::plain();
        }
        let extension = match extension {
            Some("mjs" | "cjs") => Some("js"),
            Some("mts" | "cts") => Some("ts"),
            Some("jsonc" | "json5" | "jsonl") => Some("json"),
            other => other,
        };
        Self::with(|set| {
            let by_name = set.find_syntax_by_extension(name);
            by_name.or_else(|| set.find_syntax_by_extension(extension?))
        })
    }

    fn with(find: impl FnOnce(&'static SyntaxSet) -> Option<&'static SyntaxReference>) -> Self {
        let syntax = find(syntaxes()).filter(|s| s.name != "Plain Text");
        let state = syntax.map(|syntax| {
            let (parse, language) = (ParseState::new(syntax), syntax.name.as_str());
            let cold = ELSEWHERE.load(Ordering::Relaxed) && !cold::grammars().compiled.contains(language);
            Box::new(State { language, cold, parse, scopes: ScopeStack::new(), roles: HashMap::new(), buffer: String::new(), bytes: 0 })
        });
        Self { state }
    }

    pub fn is_plain(&self) -> bool {
        self.state.is_none()
    }

    /// Is it plain only because the grammar has to be compiled yet?
    pub fn is_cold(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.cold)
    }

    /// Is it, and will this line stay plain if it comes now? Asks for the grammar.
    pub fn awaits(&self, line: &str) -> bool {
        self.state.as_ref().is_some_and(|state| state.cold && !cold::missed(state.language, line))
    }

    /// The next line, without its line end, as spans.
    pub fn push_line(&mut self, line: &str) -> Vec<Span> {
        let runs = self.push_line_runs(line);
        runs.into_iter().map(|(range, style)| Span::new(line[range].to_owned(), style)).collect()
    }

    /// [`Highlighter::push_line`] as byte ranges that cover the line.
    pub fn push_line_runs(&mut self, line: &str) -> Vec<(Range<usize>, Style)> {
        let whole = |line: &str| if line.is_empty() { Vec::new() } else { vec![(0..line.len(), Style::new())] };
        let Some(state) = &mut self.state else { return whole(line) };
        state.bytes += line.len();
        if line.len() > MAX_LINE_BYTES || state.is_still_cold(line) {
            return whole(line);
        }
        match state.runs(line).filter(|_| state.bytes <= MAX_TOTAL_BYTES) {
            Some(runs) => runs,
            None => {
                self.state = None;
                whole(line)
            }
        }
    }
}

impl State {
    fn is_still_cold(&mut self, line: &str) -> bool {
        self.cold = self.cold && !cold::missed(self.language, line);
        self.cold
    }

    /// `None` if the grammar failed.
    fn runs(&mut self, line: &str) -> Option<Vec<(Range<usize>, Style)>> {
        self.buffer.clear();
        self.buffer.push_str(line);
        self.buffer.push('\n');
        let ops = self.parse.parse_line(&self.buffer, syntaxes()).ok()?;
        let mut runs: Vec<(Range<usize>, Style)> = Vec::new();
        let mut from = 0;
        for (at, op) in &ops {
            let at = (*at).min(line.len());
            self.run(from..at, &mut runs);
            from = from.max(at);
            self.scopes.apply(op).ok()?;
        }
        self.run(from..line.len(), &mut runs);
        Some(runs)
    }

    fn run(&mut self, range: Range<usize>, runs: &mut Vec<(Range<usize>, Style)>) {
        if range.is_empty() {
            return;
        }
        let mut style = self.style();
        // Rust's grammar calls these what it calls `u8`.
        if style.fg == Some(Role::SynType) && matches!(&self.buffer[range.clone()], "let" | "const" | "static") {
            style = Role::SynKeyword.into();
        }
        match runs.last_mut() {
            Some((last, known)) if *known == style => last.end = range.end,
            _ => runs.push((range, style)),
        }
    }

    fn style(&mut self) -> Style {
        let mut text = None;
        for scope in self.scopes.as_slice().iter().rev() {
            match *self.roles.entry(*scope).or_insert_with(|| judge(*scope)) {
                Verdict::Nothing => {}
                Verdict::Plain => break,
                // A string may be the key of a mapping: the scope around it says so.
                Verdict::Role(Role::SynString) if text.is_none() => text = Some(Role::SynString),
                Verdict::Role(Role::SynAttribute) => return Role::SynAttribute.into(),
                Verdict::Role(role) => return text.unwrap_or(role).into(),
            }
        }
        text.map_or(Style::new(), Style::from)
    }
}

fn syntaxes() -> &'static SyntaxSet {
    static SET: OnceLock<SyntaxSet> = OnceLock::new();
    SET.get_or_init(two_face::syntax::extra_newlines)
}

/// Scope prefixes and what they mean; the longest that matches counts.
const RULES: [(&str, Option<Role>); 52] = [
    ("comment", Some(Role::SynComment)),
    ("punctuation.definition.comment", Some(Role::SynComment)),
    ("string", Some(Role::SynString)),
    ("punctuation.definition.string", Some(Role::SynString)),
    ("constant.character.escape", Some(Role::SynConstant)),
    ("constant.other.placeholder", Some(Role::SynConstant)),
    ("constant.numeric", Some(Role::SynNumber)),
    ("constant", Some(Role::SynConstant)),
    ("support.constant", Some(Role::SynConstant)),
    ("keyword", Some(Role::SynKeyword)),
    ("keyword.operator", Some(Role::SynOperator)),
    ("keyword.operator.word", Some(Role::SynKeyword)),
    ("keyword.operator.logical.python", Some(Role::SynKeyword)),
    ("storage", Some(Role::SynKeyword)),
    ("support.type", Some(Role::SynType)),
    ("support.class", Some(Role::SynType)),
    ("support.function", Some(Role::SynFunction)),
    ("support.macro", Some(Role::SynFunction)),
    ("entity.name.function", Some(Role::SynFunction)),
    ("entity.name.macro", Some(Role::SynFunction)),
    ("variable.function", Some(Role::SynFunction)),
    ("meta.function-call.generic", Some(Role::SynFunction)),
    ("entity.name.type", Some(Role::SynType)),
    ("entity.name.class", Some(Role::SynType)),
    ("entity.name.struct", Some(Role::SynType)),
    ("entity.name.enum", Some(Role::SynType)),
    ("entity.name.trait", Some(Role::SynType)),
    ("entity.name.impl", Some(Role::SynType)),
    ("entity.name.interface", Some(Role::SynType)),
    ("entity.other.inherited-class", Some(Role::SynType)),
    ("storage.type.primitive", Some(Role::SynType)),
    ("storage.type.numeric", Some(Role::SynType)),
    ("entity.name.tag", Some(Role::SynKeyword)),
    ("entity.name.tag.yaml", Some(Role::SynAttribute)),
    ("entity.name.tag.toml", Some(Role::SynAttribute)),
    ("entity.name.table", Some(Role::SynType)),
    ("storage.type.rust", Some(Role::SynType)),
    ("storage.type.go", Some(Role::SynType)),
    ("entity.name.section", Some(Role::Heading)),
    ("entity.other.attribute-name", Some(Role::SynAttribute)),
    ("variable.annotation", Some(Role::SynAttribute)),
    ("meta.annotation", Some(Role::SynAttribute)),
    ("support.type.property-name", Some(Role::SynAttribute)),
    ("meta.mapping.key", Some(Role::SynAttribute)),
    ("variable.language", Some(Role::SynKeyword)),
    ("variable", Some(Role::SynVariable)),
    ("punctuation", Some(Role::SynPunctuation)),
    ("markup.inserted", Some(Role::DiffAdded)),
    ("markup.deleted", Some(Role::DiffRemoved)),
    ("markup.raw", Some(Role::SynString)),
    ("meta.interpolation", None),
    ("source", None),
];

fn judge(scope: Scope) -> Verdict {
    static PARSED: OnceLock<Vec<(Scope, Option<Role>)>> = OnceLock::new();
    let rules = PARSED.get_or_init(|| RULES.iter().filter_map(|(name, role)| Some((Scope::new(name).ok()?, *role))).collect());
    let best = rules.iter().filter(|(prefix, _)| prefix.is_prefix_of(scope)).max_by_key(|(prefix, _)| prefix.len());
    match best {
        None => Verdict::Nothing,
        Some((_, None)) => Verdict::Plain,
        Some((_, Some(role))) => Verdict::Role(*role),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn role_of(spans: &[Span], text: &str) -> Option<Role> {
        spans.iter().find(|s| s.text.contains(text)).unwrap_or_else(|| panic!("{text} in {spans:?}")).style.fg
    }

    #[test]
    fn colours_common_languages() {
        let mut rust = Highlighter::for_language("rust");
        let spans = rust.push_line("pub fn days(month: u8) -> String { \"x\" } // why");
        assert_eq!(role_of(&spans, "fn"), Some(Role::SynKeyword));
        assert_eq!(role_of(&spans, "days"), Some(Role::SynFunction));
        assert_eq!(role_of(&spans, "u8"), Some(Role::SynType));
        assert_eq!(role_of(&spans, "x"), Some(Role::SynString));
        assert_eq!(role_of(&spans, "why"), Some(Role::SynComment));
        let json = Highlighter::for_language("json").push_line("{\"key\": \"value\"}");
        assert_eq!((role_of(&json, "key"), role_of(&json, "value")), (Some(Role::SynAttribute), Some(Role::SynString)));
        for token in ["ts", "typescript", "tsx", "toml", "dockerfile", "shell", "json", "py", "go", "c++", "diff", "yaml", "html"] {
            assert!(!Highlighter::for_language(token).is_plain(), "{token}");
        }
        for path in ["src/main.rs", "Makefile", "Dockerfile", "a/b.tsx", "Cargo.toml", ".gitignore", "x.py"] {
            assert!(!Highlighter::for_path(path).is_plain(), "{path}");
        }
        assert!(Highlighter::for_language("no such language").is_plain());
        assert!(Highlighter::for_path("LICENCE-OF-NOBODY").is_plain());
    }

    #[test]
    fn cold_code_is_plain_until_somebody_has_compiled_its_grammar() {
        let mut code = Highlighter::for_language("swift");
        code.state.as_mut().unwrap().cold = true;
        let line = "func f() -> Int { return 1 }";
        assert_eq!(code.push_line(line).len(), 1);
        assert!(code.is_cold());
        let missed = std::mem::take(&mut cold::grammars().missed);
        assert_eq!(missed.values().flatten().collect::<Vec<_>>(), [line]);
        Cold::of("swift").unwrap().compile();
        assert!(code.push_line(line).len() > 3, "coloured from here on");
        assert!(!code.is_cold());
        assert_eq!(Cold::of("swift"), None);
    }

    #[test]
    fn carries_state_from_line_to_line() {
        let mut rust = Highlighter::for_language("rs");
        rust.push_line("/* open");
        assert_eq!(role_of(&rust.push_line("still"), "still"), Some(Role::SynComment));
        rust.push_line("*/");
        assert_eq!(role_of(&rust.push_line("fn x() {}"), "fn"), Some(Role::SynKeyword));
    }

    #[test]
    fn long_lines_stay_plain_and_do_not_disturb() {
        let mut rust = Highlighter::for_language("rs");
        assert_eq!(rust.push_line(&"fn ".repeat(1000)).len(), 1);
        assert_eq!(role_of(&rust.push_line("fn x() {}"), "fn"), Some(Role::SynKeyword));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn loses_nothing(lines in proptest::collection::vec("[a-z{}()\"'/*#日é =;-]{0,30}", 0..6), language in 0usize..4) {
            let mut code = Highlighter::for_language(["rs", "py", "html", "sh"][language]);
            for line in lines {
                prop_assert_eq!(code.push_line(&line).iter().map(|s| s.text.as_ref()).collect::<String>(), line);
            }
        }
    }
}
