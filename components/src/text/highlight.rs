//! Words marked where they stand in a row, whatever their case.

use super::span::{Line, Span, Style};

/// The row with every place of `words` in `style`; letters count as equal if their small forms are.
pub fn highlight(row: Line, words: &str, style: Style) -> Line {
    let wanted: Vec<char> = words.chars().flat_map(char::to_lowercase).collect();
    // Each small letter with the place of the character that it is from.
    let mut letters: Vec<(char, usize)> = vec![];
    for (at, c) in row.text().char_indices() {
        letters.extend(c.to_lowercase().map(|small| (small, at)));
    }
    let mut found: Vec<std::ops::Range<usize>> = vec![];
    let mut from = 0;
    while !wanted.is_empty() && from + wanted.len() <= letters.len() {
        if letters[from..].iter().zip(&wanted).all(|((a, _), b)| a == b) {
            let last = letters[from + wanted.len() - 1].1;
            let end = letters[from..].iter().map(|(_, at)| *at).find(|at| *at > last).unwrap_or(usize::MAX);
            found.push(letters[from].1..end);
            from += wanted.len();
        } else {
            from += 1;
        }
    }
    if found.is_empty() {
        return row;
    }
    let fill = row.fill;
    let mut spans: Vec<Span> = vec![];
    let mut begin = 0;
    for span in row.spans {
        let end = begin + span.text.len();
        let mut at = begin;
        for place in found.iter().filter(|place| place.start < end && place.end > begin) {
            let (start, stop) = (place.start.max(at), place.end.min(end));
            if start > at {
                spans.push(span.with_text(span.text[at - begin..start - begin].to_owned()));
            }
            let mut marked = span.with_text(span.text[start - begin..stop - begin].to_owned());
            marked.style = marked.style.patch(style);
            spans.push(marked);
            at = stop;
        }
        if at < end {
            spans.push(span.with_text(span.text[at - begin..].to_owned()));
        }
        begin = end;
    }
    Line { spans, fill }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::Role;

    /// Marked text in brackets.
    fn shown(row: Line, words: &str) -> String {
        let (text, fill) = (row.text(), row.fill);
        let row = highlight(row, words, Style::new().bold());
        assert_eq!((row.text(), row.fill), (text, fill), "nothing is lost");
        row.spans.iter().map(|span| if span.style.bold { format!("[{}]", span.text) } else { span.text.to_string() }).collect()
    }

    #[test]
    fn every_place_is_marked_across_spans_and_cases() {
        let row = || Line::plain("The it").and("em, an ITEM", Role::Code).filled(Role::Selection);
        assert_eq!(shown(row(), "item"), "The [it][em], an [ITEM]");
        assert_eq!(shown(row(), "T"), "[T]he i[t]em, an I[T]EM");
        assert_eq!(shown(row(), "x"), "The item, an ITEM");
        assert_eq!(shown(row(), ""), "The item, an ITEM");
        assert_eq!(shown(Line::plain("aaa"), "aa"), "[aa]a");
        assert_eq!(shown(Line::plain("日本İx ÄÖ"), "i̇x ä"), "日本[İx Ä]Ö");
        let style = highlight(row(), "item", Style::new().bold()).spans[2].style;
        assert_eq!((style.fg, style.bold), (Some(Role::Code), true), "what was there stays");
    }
}
