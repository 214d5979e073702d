//! What a line of Markdown begins: fences, headings, lists, quotes, tables.
//!
//! Invariant: each function looks at one line without its line end and decides from that alone.

/// The opening of a code fence.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FenceOpen {
    pub mark: char,
    pub length: usize,
    /// Columns before the marks, taken off from each line inside.
    pub indent: usize,
    pub language: String,
}

/// A list marker at the start of a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ListMarker {
    /// `None` for a bullet.
    pub number: Option<(u64, char)>,
    /// Columns from the start of the line to the text of the item.
    pub content: usize,
}

/// Columns of blanks at the start (tabs have been expanded).
pub(super) fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

pub(super) fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

pub(super) fn fence_open(line: &str) -> Option<FenceOpen> {
    let indent = indent(line);
    let text = line.trim_start_matches(' ');
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = text.trim_start_matches(mark);
    let length = text.len() - rest.len();
    if indent > 3 || length < 3 || (mark == '`' && rest.contains('`')) {
        return None;
    }
    let info = rest.trim().trim_start_matches('{').trim_start_matches('.');
    let language = info.split([' ', ',', '{', '}', ':']).next().unwrap_or_default();
    Some(FenceOpen { mark, length, indent, language: language.to_owned() })
}

/// Whether `line` closes the fence.
pub(super) fn fence_close(line: &str, fence: &FenceOpen) -> bool {
    let text = line.trim();
    indent(line) <= 3 && text.len() >= fence.length && text.chars().all(|c| c == fence.mark)
}

/// Level and text of `## heading`.
pub(super) fn heading(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches(' ');
    let rest = text.trim_start_matches('#');
    let level = text.len() - rest.len();
    if indent(line) > 3 || !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with(' ')) {
        return None;
    }
    let rest = rest.trim();
    let bare = rest.trim_end_matches('#');
    Some((level, if bare.is_empty() || bare.ends_with(' ') { bare.trim_end() } else { rest }))
}

/// `---`, `***`, `_ _ _`.
pub(super) fn is_rule(line: &str) -> bool {
    let marks = line.trim();
    let Some(mark) = marks.chars().next().filter(|c| matches!(c, '-' | '*' | '_')) else { return false };
    indent(line) <= 3 && marks.chars().all(|c| c == mark || c == ' ') && marks.chars().filter(|c| *c == mark).count() >= 3
}

/// The level of the heading that this line makes of the text above it.
pub(super) fn setext(line: &str) -> Option<usize> {
    let marks = line.trim();
    let all = |mark| !marks.is_empty() && marks.chars().all(|c| c == mark);
    match indent(line) {
        0..=3 if all('=') => Some(1),
        0..=3 if all('-') => Some(2),
        _ => None,
    }
}

/// What follows `>` of a quote.
pub(super) fn quote(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(' ').strip_prefix('>').filter(|_| indent(line) <= 3)?;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

pub(super) fn list_marker(line: &str) -> Option<ListMarker> {
    let indent = indent(line);
    let text = line.trim_start_matches(' ');
    if indent > 3 || is_rule(line) {
        return None;
    }
    let (number, length) = match text.chars().next()? {
        '-' | '*' | '+' | '•' => (None, text.chars().next().map_or(1, char::len_utf8)),
        '0'..='9' => {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            let end = text[digits..].chars().next().filter(|c| matches!(c, '.' | ')'))?;
            // More digits are a year at the start of a sentence rather than a number.
            let number = text[..digits].parse().ok().filter(|_| digits <= 3)?;
            (Some((number, end)), digits + 1)
        }
        _ => return None,
    };
    let rest = &text[length..];
    if !(rest.is_empty() || rest.starts_with(' ')) {
        return None;
    }
    let blanks = self::indent(rest);
    let blanks = if is_blank(rest) || blanks > 4 { 1 } else { blanks };
    Some(ListMarker { number, content: indent + length + blanks })
}

/// How a table's column is set.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Align {
    #[default]
    Left,
    Centre,
    Right,
}

/// The columns that `| --- | :-: |` announces.
pub(super) fn table_delimiter(line: &str) -> Option<Vec<Align>> {
    if !line.contains('-') || !line.contains(['|', ':']) || !line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ')) {
        return None;
    }
    let cells = table_cells(line);
    let align = |cell: &String| {
        let dashes = cell.trim_matches(':');
        if dashes.is_empty() || !dashes.chars().all(|c| c == '-') {
            return None;
        }
        Some(match (cell.starts_with(':'), cell.ends_with(':')) {
            (true, true) => Align::Centre,
            (false, true) => Align::Right,
            _ => Align::Left,
        })
    };
    cells.iter().map(align).collect()
}

/// The cells of a table's row; `\|` and bars within code do not part them.
pub(super) fn table_cells(line: &str) -> Vec<String> {
    let text = line.trim();
    let text = text.strip_prefix('|').unwrap_or(text);
    let mut cells = Vec::new();
    let mut cell = String::new();
    let mut chars = text.chars().peekable();
    let mut code = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&'|') => {
                chars.next();
                // Within code the inline parser would show the backslash.
                cell.push_str(if code { "|" } else { "\\|" });
            }
            '`' => {
                code = !code && chars.clone().any(|c| c == '`');
                cell.push(c);
            }
            '|' if !code => cells.push(std::mem::take(&mut cell).trim().to_owned()),
            _ => cell.push(c),
        }
    }
    if !is_blank(&cell) || cells.is_empty() {
        cells.push(cell.trim().to_owned());
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_markers() {
        assert_eq!(heading("## Two ##"), Some((2, "Two")));
        assert_eq!(heading("# C#"), Some((1, "C#")));
        assert_eq!(heading("#no"), None);
        assert!(is_rule("* * *") && is_rule("---") && !is_rule("--"));
        assert_eq!(list_marker("12) x").map(|m| (m.number, m.content)), Some((Some((12, ')')), 4)));
        assert_eq!(list_marker("- x").map(|m| m.content), Some(2));
        assert_eq!(list_marker("1986. A year"), None);
        assert_eq!(list_marker("-x"), None);
        assert_eq!(fence_open("```rust,ignore").map(|f| f.language), Some("rust".into()));
        assert_eq!(fence_open("``` a`b"), None);
        assert_eq!(table_delimiter("|---|:-:|--:|"), Some(vec![Align::Left, Align::Centre, Align::Right]));
        assert_eq!(table_delimiter("---"), None);
        assert_eq!(table_cells(r"| a \| b | `x|y` | c |"), [r"a \| b", "`x|y`", "c"]);
        assert_eq!(table_cells("| a | | c |"), ["a", "", "c"]);
    }
}
