//! Styled text: a [`Span`] is text of one style, a [`Line`] is a row or paragraph of spans.
//!
//! Invariants:
//! - a span's text holds no control characters (see `sanitize`), so its width is what the terminal shows;
//! - styles name roles, never colours;
//! - [`Line::push`] keeps zero-width marks with the character before them, so that widths add up.

use super::width;
use crate::theme::Role;
use std::borrow::Cow;
use std::sync::Arc;

/// What a style paints with: a semantic role, resolved to a colour only when drawn.
pub type Ink = Role;

/// How a span looks. Attributes add up; `None` means the terminal's own colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Style {
    pub fg: Option<Ink>,
    pub bg: Option<Ink>,
    pub bold: bool,
    pub dim: bool,
    pub italic: bool,
    pub underline: bool,
    /// Foreground and background swapped ("reverse video").
    pub invert: bool,
    pub strike: bool,
}

impl Style {
    /// The terminal's own look.
    pub const fn new() -> Self {
        Self { fg: None, bg: None, bold: false, dim: false, italic: false, underline: false, invert: false, strike: false }
    }
    pub const fn fg(mut self, ink: Ink) -> Self {
        self.fg = Some(ink);
        self
    }
    pub const fn bg(mut self, ink: Ink) -> Self {
        self.bg = Some(ink);
        self
    }
    pub const fn bold(mut self) -> Self {
        self.bold = true;
        self
    }
    pub const fn dim(mut self) -> Self {
        self.dim = true;
        self
    }
    pub const fn italic(mut self) -> Self {
        self.italic = true;
        self
    }
    pub const fn underline(mut self) -> Self {
        self.underline = true;
        self
    }
    pub const fn invert(mut self) -> Self {
        self.invert = true;
        self
    }
    pub const fn strike(mut self) -> Self {
        self.strike = true;
        self
    }
    /// This style with everything that `over` sets laid on top.
    pub fn patch(self, over: Style) -> Self {
        Self {
            fg: over.fg.or(self.fg),
            bg: over.bg.or(self.bg),
            bold: self.bold || over.bold,
            dim: self.dim || over.dim,
            italic: self.italic || over.italic,
            underline: self.underline || over.underline,
            invert: self.invert || over.invert,
            strike: self.strike || over.strike,
        }
    }
}

impl From<Role> for Style {
    fn from(role: Role) -> Self {
        Self::new().fg(role)
    }
}

/// Text of one style, with an optional link target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    pub text: Cow<'static, str>,
    pub style: Style,
    /// Target for OSC 8; only `http`, `https` and `file` addresses are ever written to the terminal.
    pub link: Option<Arc<str>>,
}

impl Span {
    pub fn new(text: impl Into<Cow<'static, str>>, style: impl Into<Style>) -> Self {
        Self { text: text.into(), style: style.into(), link: None }
    }
    pub fn plain(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(text, Style::new())
    }
    pub fn linked(mut self, target: impl Into<Arc<str>>) -> Self {
        self.link = Some(target.into());
        self
    }
    /// Cells on one row.
    pub fn width(&self) -> usize {
        width::width(&self.text)
    }
    /// A part of this span with the same style and link.
    pub fn with_text(&self, text: impl Into<Cow<'static, str>>) -> Self {
        Self { text: text.into(), style: self.style, link: self.link.clone() }
    }
}

impl From<&'static str> for Span {
    fn from(text: &'static str) -> Self {
        Self::plain(text)
    }
}
impl From<String> for Span {
    fn from(text: String) -> Self {
        Self::plain(text)
    }
}

/// A row (or, before wrapping, a paragraph) of spans.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Line {
    pub spans: Vec<Span>,
    /// Background from the first to the last column of the row, also where there is no text.
    pub fill: Option<Ink>,
}

impl Line {
    pub const fn new() -> Self {
        Self { spans: Vec::new(), fill: None }
    }
    pub fn plain(text: impl Into<Cow<'static, str>>) -> Self {
        Self::styled(text, Style::new())
    }
    pub fn styled(text: impl Into<Cow<'static, str>>, style: impl Into<Style>) -> Self {
        Self::new().with(Span::new(text, style))
    }
    /// Appends a span; an empty one leaves no trace, one of the same look is joined to the last.
    pub fn push(&mut self, span: impl Into<Span>) {
        let mut span: Span = span.into();
        if span.text.is_empty() {
            return;
        }
        let Some(last) = self.spans.last_mut() else {
            self.spans.push(span);
            return;
        };
        if last.style == span.style && last.link == span.link {
            last.text.to_mut().push_str(&span.text);
            return;
        }
        let marks = span.text.find(|c| !width::is_zero_width(c)).unwrap_or(span.text.len());
        if marks > 0 {
            last.text.to_mut().push_str(&span.text[..marks]);
            span.text = Cow::Owned(span.text[marks..].to_owned());
        }
        if !span.text.is_empty() {
            self.spans.push(span);
        }
    }
    /// [`Line::push`] for building in one expression.
    pub fn with(mut self, span: impl Into<Span>) -> Self {
        self.push(span);
        self
    }
    /// Appends text of one style.
    pub fn and(self, text: impl Into<Cow<'static, str>>, style: impl Into<Style>) -> Self {
        self.with(Span::new(text, style))
    }
    pub fn extend(&mut self, spans: impl IntoIterator<Item = Span>) {
        for span in spans {
            self.push(span);
        }
    }
    /// Sets the background of the whole row.
    pub fn filled(mut self, ink: Ink) -> Self {
        self.fill = Some(ink);
        self
    }
    /// Appends blank cells until the row is `column` cells wide.
    pub fn pad_to(mut self, column: usize) -> Self {
        let gap = column.saturating_sub(self.width());
        self.push(spaces(gap));
        self
    }
    /// This row moved right by `cells` blanks.
    pub fn indented(self, cells: usize) -> Self {
        let mut line = Line { spans: Vec::with_capacity(self.spans.len() + 1), fill: self.fill };
        line.push(spaces(cells));
        line.extend(self.spans);
        line
    }
    /// Lays `style` under every span: what a span sets itself stays.
    pub fn over(mut self, style: impl Into<Style>) -> Self {
        let style = style.into();
        for span in &mut self.spans {
            span.style = style.patch(span.style);
        }
        self
    }
    /// Cells that the text takes, without the fill.
    pub fn width(&self) -> usize {
        self.spans.iter().map(Span::width).sum()
    }
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }
    /// The text alone.
    pub fn text(&self) -> String {
        self.spans.iter().map(|s| s.text.as_ref()).collect()
    }
}

impl From<Span> for Line {
    fn from(span: Span) -> Self {
        Line::new().with(span)
    }
}
impl From<&'static str> for Line {
    fn from(text: &'static str) -> Self {
        Line::plain(text)
    }
}
impl From<String> for Line {
    fn from(text: String) -> Self {
        Line::plain(text)
    }
}
impl FromIterator<Span> for Line {
    fn from_iter<T: IntoIterator<Item = Span>>(spans: T) -> Self {
        let mut line = Line::new();
        line.extend(spans);
        line
    }
}

/// One line per line of `text`, all of one style. The text must be clean (see `sanitize`).
pub fn lines(text: &str, style: impl Into<Style>) -> Vec<Line> {
    let style = style.into();
    text.split('\n').map(|line| Line::styled(line.to_owned(), style)).collect()
}

/// A plain span of `cells` blanks.
pub fn spaces(cells: usize) -> Span {
    const BLANKS: &str = "                                                                ";
    Span::plain(match BLANKS.get(..cells) {
        Some(blanks) => Cow::Borrowed(blanks),
        None => Cow::Owned(" ".repeat(cells)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn push_joins_equal_looks_and_keeps_marks_with_their_base() {
        let line = Line::plain("ab").and("c", Style::new()).and("\u{301}d", Role::Error);
        assert_eq!(line.spans.len(), 2);
        assert_eq!(line.spans[0].text, "abc\u{301}");
        assert_eq!((line.width(), line.text().as_str()), (4, "abc\u{301}d"));
    }

    #[test]
    fn padding_and_indent_count_cells() {
        assert_eq!(Line::plain("日").pad_to(5).text(), "日   ");
        assert_eq!(Line::plain("x").indented(70).width(), 71);
    }
}
