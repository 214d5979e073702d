//! HTML as Markdown: what a reader would see of a page, without what is around it on every page.
//!
//! A page is somebody else's: whatever is in it, the work is bounded by its length. So there is no tree, only the tokens and a short
//! stack of what is open; what is nested deeper than that is read, but as plain text.

mod elements;
mod tables;
mod writer;

use super::page::{Page, visible};
use crate::{protocol::ToolError, tools::Cancel};
use elements::{BLOCKS, HEADINGS, SKIPPED, VOID};
use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};
use reqwest::Url;
use writer::Writer;

/// Bytes of Markdown; nobody reads on.
const LARGEST: usize = 4_000_000;
const DEEPEST: usize = 256;
/// Less text than this, in bytes, is no page: then what was left out is the page.
const LITTLE: usize = 200;
/// Tokens between two looks at whether to stop.
const PATIENCE: usize = 4096;

/// What is to be done when an element ends.
enum End {
    Nothing,
    /// So many line ends.
    Break(usize),
    Mark(&'static str),
    Link(Url),
    Frame,
    List,
    Captured(Capture),
    Main,
    Cell,
    Row,
    Table,
}

/// Text that is taken as a whole before it is written.
#[derive(Clone, Copy, PartialEq)]
enum Capture {
    Title,
    Code,
    Pre,
}

struct Open {
    name: String,
    end: End,
    skipped: bool,
}

struct Reader<'a> {
    base: Url,
    stack: Vec<Open>,
    /// How many of the open elements are left out.
    skipped: usize,
    capture: Option<(Capture, String)>,
    language: String,
    /// The number of the next item of each open list; none for bullets.
    lists: Vec<Option<u64>>,
    /// Whether each table, in their order, is one of data.
    tables: &'a [bool],
    next_table: usize,
    /// Of each open table: is it one of data, how many rows it had, how many cells this one.
    rows: Vec<(bool, usize, usize)>,
    title: String,
    /// Where the page's own content begins and ends.
    main: Option<(usize, usize)>,
    whole: bool,
    out: Writer,
}

pub fn to_markdown(text: &str, url: &Url, cancel: &Cancel) -> Result<Page, ToolError> {
    let mut tables = tables::Finder::default();
    for (n, token) in tokens(text).enumerate() {
        if n % PATIENCE == 0 {
            cancel.check()?;
        }
        tables.see(&token);
    }
    let tables = tables.found();
    let page = converted(text, url, &tables, false, cancel)?;
    if page.text.len() >= LITTLE {
        return Ok(page);
    }
    let whole = converted(text, url, &tables, true, cancel)?;
    Ok(if whole.text.len() > 2 * page.text.len() { whole } else { page })
}

fn tokens(text: &str) -> impl Iterator<Item = Token> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    Tokenizer::new_with_emitter(text, emitter).flatten()
}

fn converted(text: &str, url: &Url, tables: &[bool], whole: bool, cancel: &Cancel) -> Result<Page, ToolError> {
    let mut reader = Reader {
        base: url.clone(),
        stack: vec![],
        skipped: 0,
        capture: None,
        language: String::new(),
        lists: vec![],
        tables,
        next_table: 0,
        rows: vec![],
        title: String::new(),
        main: None,
        whole,
        out: Writer::default(),
    };
    let mut cut = false;
    for (n, token) in tokens(text).enumerate() {
        if n % PATIENCE == 0 {
            cancel.check()?;
        }
        if reader.out.len() > LARGEST {
            cut = true;
            break;
        }
        match token {
            Token::StartTag(tag) => reader.start(&tag),
            Token::EndTag(tag) => reader.end(&String::from_utf8_lossy(&tag.name)),
            Token::String(text) => reader.text(&visible(&String::from_utf8_lossy(&text))),
            _ => {}
        }
    }
    while !reader.stack.is_empty() {
        reader.close();
    }
    let (title, main) = (reader.title.split_whitespace().collect::<Vec<_>>().join(" "), reader.main);
    let all = reader.out.finish();
    let own = main.and_then(|(from, to)| all.get(from..to.min(all.len()))).map(str::trim).filter(|own| !whole && own.len() >= LITTLE);
    Ok(Page { title, text: own.map_or_else(|| all.trim().to_owned(), str::to_owned), cut })
}

fn attribute<'t>(tag: &'t StartTag<()>, name: &str) -> Option<std::borrow::Cow<'t, str>> {
    tag.attributes.get(name.as_bytes()).map(|value| String::from_utf8_lossy(value))
}

impl Reader<'_> {
    fn start(&mut self, tag: &StartTag<()>) {
        let name = String::from_utf8_lossy(&tag.name).into_owned();
        self.imply(&name);
        if VOID.contains(&name.as_str()) {
            if self.skipped == 0 {
                self.void(&name, tag);
            }
            return;
        }
        // Only drawings and formulas have elements that end where they begin.
        if self.stack.len() >= DEEPEST || tag.self_closing && self.skipped > 0 {
            return;
        }
        let skipped = self.skipped == 0 && self.is_skipped(&name, tag);
        self.skipped += usize::from(skipped);
        let end = if self.skipped > 0 { End::Nothing } else { self.opened(&name, tag) };
        self.stack.push(Open { name, end, skipped });
    }

    fn is_skipped(&self, name: &str, tag: &StartTag<()>) -> bool {
        if matches!(name, "html" | "body" | "main" | "article") {
            return false;
        }
        let is = |attribute_name: &str, values: &[&str]| {
            attribute(tag, attribute_name).is_some_and(|value| values.contains(&value.trim().to_lowercase().as_str()))
        };
        let style = attribute(tag, "style").unwrap_or_default().to_lowercase().replace(' ', "");
        let unseen = attribute(tag, "hidden").is_some_and(|value| value != "until-found")
            || is("aria-hidden", &["true"])
            || style.contains("display:none")
            || style.contains("visibility:hidden");
        let within = |around: &[&str]| self.stack.iter().any(|open| around.contains(&open.name.as_str()));
        let around = name == "nav"
            || is("role", &["navigation", "search"])
            || name == "footer" && !within(&["article", "main", "section", "blockquote"]);
        SKIPPED.contains(&name) || unseen || around && !self.whole
    }

    fn void(&mut self, name: &str, tag: &StartTag<()>) {
        match (name, &mut self.capture) {
            ("br", Some((_, text))) => text.push('\n'),
            (_, Some(_)) => {}
            ("br", None) => self.out.block(1),
            ("hr", None) => self.out.rule(),
            ("img", None) => {
                let alt = attribute(tag, "alt").map(|alt| visible(&alt)).unwrap_or_default();
                let alt = alt.split_whitespace().collect::<Vec<_>>().join(" ");
                if !alt.is_empty() {
                    match attribute(tag, "src").and_then(|src| self.resolved(&src)) {
                        Some(src) => self.out.text(&format!("![{alt}]({})", destination(&src))),
                        None => self.out.text(&format!("![{alt}]")),
                    }
                }
            }
            ("base", None) => {
                if let Some(base) = attribute(tag, "href").and_then(|href| self.resolved(&href)) {
                    self.base = base;
                }
            }
            _ => {}
        }
    }

    fn resolved(&self, href: &str) -> Option<Url> {
        let href = href.trim();
        let url = self.base.join(href).ok().filter(|_| !href.is_empty() && !href.starts_with('#'))?;
        matches!(url.scheme(), "http" | "https" | "mailto").then_some(url)
    }

    /// What an element that is not left out begins with, and what is due at its end.
    fn opened(&mut self, name: &str, tag: &StartTag<()>) -> End {
        if self.capture.is_some() {
            let class = attribute(tag, "class").unwrap_or_default();
            let language = class.split_whitespace().find_map(|class| class.strip_prefix("language-"));
            if let Some(language) = language.filter(|_| self.language.is_empty()) {
                self.language = language.chars().filter(|c| c.is_alphanumeric() || "+-#_.".contains(*c)).take(20).collect();
            }
            return End::Nothing;
        }
        let mut capture = |what: Capture| {
            self.capture = Some((what, String::new()));
            End::Captured(what)
        };
        match name {
            "title" => return capture(Capture::Title),
            "code" | "kbd" | "samp" | "tt" => return capture(Capture::Code),
            "pre" => {
                let end = capture(Capture::Pre);
                self.language.clear();
                return end;
            }
            _ => {}
        }
        let data = self.rows.last().is_some_and(|(data, ..)| *data);
        match name {
            "a" => match attribute(tag, "href").and_then(|href| self.resolved(&href)) {
                Some(url) => {
                    self.out.mark("[");
                    End::Link(url)
                }
                None => End::Nothing,
            },
            "b" | "strong" => self.marked("**"),
            "i" | "em" => self.marked("*"),
            "del" | "s" => self.marked("~~"),
            "sup" => {
                self.out.mark("^");
                End::Mark("")
            }
            "main" => {
                self.out.block(2);
                self.main.get_or_insert((self.out.len(), usize::MAX));
                End::Main
            }
            "blockquote" => {
                self.out.block(2);
                self.out.quote();
                End::Frame
            }
            "ul" | "ol" | "menu" => {
                let start = attribute(tag, "start").and_then(|start| start.trim().parse().ok()).unwrap_or(1);
                self.out.block(if self.lists.is_empty() { 2 } else { 1 });
                self.lists.push((name == "ol").then_some(start));
                End::List
            }
            "li" => {
                let marker = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number = number.saturating_add(1);
                        format!("{}. ", number.saturating_sub(1))
                    }
                    _ => "- ".into(),
                };
                self.out.block(1);
                self.out.item(marker);
                End::Frame
            }
            "table" => {
                let data = self.tables.get(self.next_table).copied().unwrap_or(false);
                self.next_table += 1;
                self.out.block(2);
                self.rows.push((data, 0, 0));
                End::Table
            }
            "tr" => {
                self.out.block(1);
                if let Some((_, rows, cells)) = self.rows.last_mut() {
                    (*rows, *cells) = (*rows + 1, 0);
                }
                End::Row
            }
            "td" | "th" if data => {
                let Some((_, _, cells)) = self.rows.last_mut() else { return End::Nothing };
                *cells += 1;
                self.out.cell(*cells == 1);
                End::Cell
            }
            "td" | "th" => {
                self.out.space();
                End::Nothing
            }
            "dt" => {
                self.out.block(2);
                End::Break(1)
            }
            "dd" | "tbody" | "thead" | "summary" | "figcaption" => {
                self.out.block(1);
                End::Break(1)
            }
            _ if HEADINGS.contains(&name) => {
                self.out.block(2);
                self.out.mark(&"######"[..usize::from(name.as_bytes()[1] - b'0')]);
                self.out.mark(" ");
                End::Break(2)
            }
            _ if BLOCKS.contains(&name) => {
                self.out.block(2);
                End::Break(2)
            }
            _ => End::Nothing,
        }
    }

    fn marked(&mut self, mark: &'static str) -> End {
        self.out.mark(mark);
        End::Mark(mark)
    }

    fn text(&mut self, text: &str) {
        if self.skipped > 0 {
            return;
        }
        match &mut self.capture {
            Some((_, captured)) => captured.push_str(text),
            // Signs that lead to the heading that they stand beside.
            None if matches!(text.trim(), "¶" | "§" | "🔗") && self.stack.last().is_some_and(|open| open.name == "a") => {}
            None => self.out.text(text),
        }
    }

    /// Ends what a tag ends without saying so.
    fn imply(&mut self, name: &str) {
        if !elements::may_end(name) {
            return;
        }
        for at in (0..self.stack.len()).rev() {
            let open = self.stack[at].name.as_str();
            if elements::ends(name, open) {
                while self.stack.len() > at {
                    self.close();
                }
                return;
            }
            if elements::stops(name, open) {
                return;
            }
        }
    }

    fn end(&mut self, name: &str) {
        if let Some(at) = self.stack.iter().rposition(|open| open.name == name) {
            while self.stack.len() > at {
                self.close();
            }
        }
    }

    /// Ends what was opened last.
    fn close(&mut self) {
        let Some(open) = self.stack.pop() else { return };
        self.skipped -= usize::from(open.skipped);
        match open.end {
            End::Nothing => {}
            End::Break(breaks) => {
                if HEADINGS.contains(&open.name.as_str()) {
                    self.out.close("");
                    self.out.close("");
                }
                self.out.block(breaks);
            }
            End::Mark(mark) => self.out.close(mark),
            End::Link(url) => self.out.close(&format!("]({})", destination(&url))),
            End::Frame => {
                self.out.leave();
                self.out.block(if open.name == "li" { 1 } else { 2 });
            }
            End::List => {
                self.lists.pop();
                self.out.block(if self.lists.is_empty() { 2 } else { 1 });
            }
            End::Captured(what) => {
                let text = self.capture.take().map(|(_, text)| text).unwrap_or_default();
                match what {
                    Capture::Title if self.title.trim().is_empty() => self.title = text,
                    Capture::Title => {}
                    Capture::Code => self.out.code(&text),
                    Capture::Pre => self.out.fenced(&text, &self.language),
                }
            }
            End::Main => {
                let now = self.out.len();
                if let Some((_, end @ usize::MAX)) = &mut self.main {
                    *end = now;
                }
                self.out.block(2);
            }
            End::Cell => self.out.cell_ends(),
            End::Row => {
                if let Some((true, rows, cells @ 1..)) = self.rows.last() {
                    self.out.row_ends((*rows == 1).then_some(*cells));
                }
                self.out.block(1);
            }
            End::Table => {
                self.rows.pop();
                self.out.block(2);
            }
        }
    }
}

/// As Markdown takes it.
fn destination(url: &Url) -> String {
    url.as_str().replace('(', "%28").replace(')', "%29")
}
