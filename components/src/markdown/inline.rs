//! Inline Markdown: emphasis, code, links and the rest within a block's text.
//!
//! Invariants:
//! - one [`Line`] per line of the source: models mean their line breaks;
//! - the text given is never taken for a block, so nothing of it can vanish;
//! - HTML is shown as text; entities are decoded and then cleaned like any other text.

use crate::ansi::safe_link;
use crate::text::sanitize::one_line;
use crate::text::span::{Line, Span, Style};
use crate::theme::Role;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::borrow::Cow;
use std::sync::Arc;

/// The lines of `text` with its inline markup as styles on top of `base`.
pub(super) fn inline(text: &str, base: Style) -> Vec<Line> {
    let guarded: Vec<Cow<'_, str>> = text.split('\n').map(guard).collect();
    let guarded = guarded.join("\n");
    let mut painter = Painter { lines: vec![Line::new()], styles: vec![base], link: None, linked: String::new() };
    let mut literal = Vec::new();
    for (event, range) in Parser::new_ext(&guarded, Options::ENABLE_STRIKETHROUGH).into_offset_iter() {
        match &event {
            Event::Start(Tag::Strong | Tag::Emphasis) => {
                let marks = literal_marks(&guarded, &range);
                literal.push(marks);
                if !marks.is_empty() {
                    painter.text(marks, Style::new());
                    continue;
                }
            }
            Event::End(TagEnd::Strong | TagEnd::Emphasis) => {
                let marks = literal.pop().unwrap_or("");
                if !marks.is_empty() {
                    painter.text(marks, Style::new());
                    continue;
                }
            }
            _ => {}
        }
        painter.event(event);
    }
    for line in &mut painter.lines {
        link_addresses(line);
    }
    painter.lines
}

struct Painter {
    lines: Vec<Line>,
    styles: Vec<Style>,
    link: Option<Arc<str>>,
    /// Text of the link so far, to see whether its target still has to be shown.
    linked: String,
}

impl Painter {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text, Style::new()),
            Event::Code(text) => self.text(&text, Role::Code.into()),
            Event::SoftBreak | Event::HardBreak => self.lines.push(Line::new()),
            Event::Start(tag) => match tag {
                Tag::Emphasis => self.open(Style::new().italic()),
                Tag::Strong => self.open(Style::new().bold()),
                Tag::Strikethrough => self.open(Style::new().strike()),
                Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                    self.open(Style::from(Role::Link).underline());
                    self.link = Some(Arc::from(one_line(&dest_url).as_ref()));
                    self.linked.clear();
                }
                _ => {}
            },
            Event::End(tag) => match tag {
                TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.close(),
                TagEnd::Link | TagEnd::Image => self.close_link(),
                _ => {}
            },
            _ => {}
        }
    }

    fn open(&mut self, style: Style) {
        self.styles.push(self.style().patch(style));
    }

    fn close(&mut self) {
        if self.styles.len() > 1 {
            self.styles.pop();
        }
    }

    fn close_link(&mut self) {
        self.close();
        let Some(target) = self.link.take() else { return };
        let shown = self.linked.trim();
        // A target that no terminal opens would otherwise be lost.
        if safe_link(&target).is_none() && !target.is_empty() && *target != *shown && target.strip_prefix("mailto:") != Some(shown) {
            self.text(&format!(" ({target})"), Role::Dim.into());
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn text(&mut self, text: &str, over: Style) {
        let clean = one_line(text);
        if self.link.is_some() {
            self.linked.push_str(&clean);
        }
        let link = self.link.clone().filter(|target| safe_link(target).is_some());
        let span = Span { text: Cow::Owned(clean.into_owned()), style: self.style().patch(over), link };
        if let Some(line) = self.lines.last_mut() {
            line.push(span);
        }
    }
}

/// The marks of an emphasis that is meant as text: `__init__` and `a*b*c` are names and sums to programmers.
fn literal_marks<'a>(text: &'a str, range: &std::ops::Range<usize>) -> &'a str {
    let Some(source) = text.get(range.clone()) else { return "" };
    let name = |inner: &str| !inner.is_empty() && inner.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if source.strip_prefix("__").and_then(|s| s.strip_suffix("__")).is_some_and(name) {
        return &source[..2];
    }
    let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let within = word(text[..range.start].chars().next_back()) && word(text[range.end..].chars().next());
    if source.starts_with('*') && !source.starts_with("**") && within { &source[..1] } else { "" }
}

/// Escapes what would begin a block, a definition or an HTML element at the start of a line.
fn guard(line: &str) -> Cow<'_, str> {
    let text = line.trim_start_matches(' ');
    let escape_at = |at: usize| Cow::Owned(format!("{}\\{}", &text[..at], &text[at..]));
    let first = text.chars().next().unwrap_or(' ');
    let after_digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    match first {
        '#' | '>' | '=' | '|' | '+' => escape_at(0),
        '-' if text.starts_with("- ") || text.trim().bytes().all(|b| matches!(b, b'-' | b' ')) => escape_at(0),
        '*' | '_' if text.starts_with("* ") || text.trim().chars().all(|c| c == first || c == ' ') => escape_at(0),
        '`' | '~' if text.starts_with("```") || text.starts_with("~~~") => escape_at(0),
        // `[a]: b` would be taken as a definition and vanish.
        '[' if text.contains("]:") => escape_at(0),
        '<' if !["<http://", "<https://", "<mailto:"].iter().any(|s| text.starts_with(s)) => escape_at(0),
        '0'..='9' if after_digits.starts_with(['.', ')']) => escape_at(text.len() - after_digits.len()),
        _ => Cow::Borrowed(text),
    }
}

/// Makes links of bare web addresses.
fn link_addresses(line: &mut Line) {
    let bare = |span: &Span| span.link.is_none() && span.style.fg != Some(Role::Code) && span.text.contains("://");
    if !line.spans.iter().any(bare) {
        return;
    }
    let mut out = Line { spans: Vec::with_capacity(line.spans.len() + 2), fill: line.fill };
    for span in std::mem::take(&mut line.spans) {
        if !bare(&span) {
            out.push(span);
            continue;
        }
        let mut rest = span.text.as_ref();
        while let Some(start) = find_address(rest) {
            let tail = &rest[start..];
            let end = tail.find(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '`')).unwrap_or(tail.len());
            let mut address = tail[..end].trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '*', '_']);
            let mut extra = address.matches(')').count().saturating_sub(address.matches('(').count());
            while extra > 0 && address.ends_with(')') {
                address = &address[..address.len() - 1];
                extra -= 1;
            }
            out.push(span.with_text(rest[..start].to_owned()));
            let style = span.style.patch(Style::from(Role::Link).underline());
            out.push(Span::new(address.to_owned(), style).linked(address));
            rest = &tail[address.len()..];
        }
        out.push(span.with_text(rest.to_owned()));
    }
    *line = out;
}

fn find_address(text: &str) -> Option<usize> {
    let begins = |at: &usize| {
        let tail = &text[*at..];
        let host = tail.strip_prefix("https://").or_else(|| tail.strip_prefix("http://"));
        host.is_some_and(|host| host.starts_with(char::is_alphanumeric))
    };
    text.match_indices("http").map(|(at, _)| at).find(begins)
}

/// The closing delimiters that `text` still waits for, innermost first; empty when it is balanced.
///
/// An approximation of the delimiter rules: where it errs, rows settle a little later (or a preview looks
/// different), never wrong.
pub(super) fn open_delimiters(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut open: Vec<(u8, usize)> = Vec::new();
    let last_close = text.rfind(')').unwrap_or(0);
    let mut at = 0;
    while at < bytes.len() {
        let b = bytes[at];
        match b {
            b'\\' => at += 2,
            b'`' => {
                let length = run(bytes, at);
                at += length;
                match close_code(bytes, at, length) {
                    Some(end) => at = end,
                    None => return "`".repeat(length) + &closers(&open),
                }
            }
            b'*' | b'_' | b'~' => {
                let length = run(bytes, at);
                delimiter(bytes, at, length, &mut open);
                at += length;
            }
            b'[' => {
                open.push((b'[', 1));
                at += 1;
            }
            b']' => {
                if let Some(from) = open.iter().rposition(|(mark, _)| *mark == b'[') {
                    open.truncate(from);
                    if bytes.get(at + 1) == Some(&b'(') && last_close <= at {
                        open.push((b'(', 1));
                    }
                }
                at += 1;
            }
            _ => at += 1,
        }
    }
    // A lone bracket is more often text than the start of a link that goes over two lines.
    open.retain(|(mark, _)| *mark != b'[' || text.len() < 200);
    closers(&open)
}

fn closers(open: &[(u8, usize)]) -> String {
    open.iter()
        .rev()
        .flat_map(|(mark, length)| {
            let close = match mark {
                b'[' => ']',
                b'(' => ')',
                other => char::from(*other),
            };
            std::iter::repeat_n(close, *length)
        })
        .collect()
}

fn run(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().take_while(|b| **b == bytes[at]).count()
}

fn close_code(bytes: &[u8], mut at: usize, length: usize) -> Option<usize> {
    while at < bytes.len() {
        if bytes[at] == b'`' {
            let found = run(bytes, at);
            at += found;
            if found == length {
                return Some(at);
            }
        } else {
            at += 1;
        }
    }
    None
}

/// Takes a run of emphasis marks into account: closes what it can, else opens.
fn delimiter(bytes: &[u8], at: usize, length: usize, open: &mut Vec<(u8, usize)>) {
    let mark = bytes[at];
    let space = |b: Option<&u8>| b.is_none_or(|b| b.is_ascii_whitespace());
    let word = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || *b >= 0x80);
    let (before, after) = (at.checked_sub(1).map(|i| &bytes[i]), bytes.get(at + length));
    if (mark == b'~' && length != 2) || (mark == b'_' && word(before) && word(after)) {
        return;
    }
    let mut left = length;
    if !space(before) {
        while left > 0 {
            let Some(from) = open.iter().rposition(|(m, _)| *m == mark) else { break };
            open.truncate(from + 1);
            let Some(last) = open.last_mut() else { break };
            let used = last.1.min(left);
            last.1 -= used;
            left -= used;
            if last.1 == 0 {
                open.pop();
            }
        }
    }
    if left > 0 && !space(after) {
        open.push((mark, left));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one(text: &str) -> Line {
        let mut lines = inline(text, Style::new());
        assert_eq!(lines.len(), 1, "{lines:?}");
        lines.remove(0)
    }

    #[test]
    fn paints_markup() {
        let line = one("a **b** *c* `d` ~~e~~ [f](https://x.y) <b> &lt;&#27;");
        assert_eq!(line.text(), "a b c d e f <b> <␛");
        let styles: Vec<_> = line.spans.iter().map(|s| s.style).collect();
        assert!(styles[1].bold && styles[3].italic && styles[7].strike);
        assert_eq!(styles[5].fg, Some(Role::Code));
        assert_eq!(line.spans[9].link.as_deref(), Some("https://x.y"));
    }

    #[test]
    fn names_and_sums_are_no_emphasis() {
        for text in ["call __init__.py and __main__", "a*b*c", "x = 2*y*z"] {
            let line = one(text);
            assert_eq!((line.text().as_str(), line.spans.len()), (text, 1));
        }
        assert_eq!(one("a *b* __c d__").text(), "a b c d");
    }

    #[test]
    fn keeps_targets_that_cannot_be_opened_and_links_bare_addresses() {
        assert_eq!(one("[the file](src/main.rs)").text(), "the file (src/main.rs)");
        let line = one("see https://a.b/c_d (and http://e.f/(g)).");
        let links: Vec<_> = line.spans.iter().filter_map(|s| s.link.as_deref()).collect();
        assert_eq!(links, ["https://a.b/c_d", "http://e.f/(g)"]);
        assert_eq!(line.text(), "see https://a.b/c_d (and http://e.f/(g)).");
    }

    #[test]
    fn text_is_never_taken_for_a_block() {
        for text in ["[1]: https://a.b", "# x", "1986. a", "<div>", "- x", "===", "---", "> q", "```", "| a |", "+ x", "***"] {
            assert_eq!(one(text).text(), text);
        }
        assert_eq!(inline("a\nb", Style::new()).len(), 2);
    }

    #[test]
    fn knows_what_is_still_open() {
        for (text, open) in [
            ("plain", ""),
            ("**bold", "**"),
            ("**bold**", ""),
            ("a `code", "`"),
            ("``a`b", "``"),
            ("**a *b", "***"),
            ("2 * 3", ""),
            ("snake_case_name", ""),
            ("[text](http", ")"),
            (r"\*x", ""),
            ("~~x", "~~"),
        ] {
            assert_eq!(open_delimiters(text), open, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_word_is_lost(text in "[a-z0-9 *_`~\\[\\]()<>#&;:.|=+\\\\-]{0,40}") {
            let letters = |t: &str| t.chars().filter(|c| c.is_ascii_alphanumeric()).collect::<String>();
            // Entities and link targets may be read as what they stand for.
            let text = text.replace('&', "").replace("](", "");
            let shown: String = inline(&text, Style::new()).iter().map(Line::text).collect();
            prop_assert_eq!(letters(&shown), letters(&text));
        }
    }
}
