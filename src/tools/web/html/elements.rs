//! What is known of HTML's elements by their names: which hold nothing, which no reader sees, and which end others unsaid.

pub const VOID: [&str; 14] =
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"];
pub const SKIPPED: [&str; 16] = [
    "script", "style", "noscript", "template", "svg", "iframe", "object", "audio", "video", "canvas", "select", "button", "textarea",
    "datalist", "dialog", "map",
];
pub const BLOCKS: [&str; 30] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "caption",
    "center",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "hgroup",
    "html",
    "legend",
    "main",
    "menu",
    "nav",
    "ol",
    "p",
    "section",
    "summary",
    "ul",
    "tr",
];
pub const HEADINGS: [&str; 6] = ["h1", "h2", "h3", "h4", "h5", "h6"];

/// Does anything end where this begins?
pub fn may_end(name: &str) -> bool {
    let others = ["li", "dt", "dd", "tr", "tbody", "thead", "tfoot", "td", "th", "a", "pre", "table", "hr"];
    others.contains(&name) || BLOCKS.contains(&name) || HEADINGS.contains(&name)
}

/// Does `open` end where `name` begins?
pub fn ends(name: &str, open: &str) -> bool {
    match name {
        "li" => open == "li",
        "dt" | "dd" => matches!(open, "dt" | "dd"),
        "tr" => open == "tr",
        "tbody" | "thead" | "tfoot" => matches!(open, "tr" | "thead" | "tbody" | "tfoot"),
        "td" | "th" => matches!(open, "td" | "th"),
        "a" => open == "a",
        _ if HEADINGS.contains(&name) => open == "p" || HEADINGS.contains(&open),
        _ => open == "p",
    }
}

/// Is nothing around `open` ended by `name`?
pub fn stops(name: &str, open: &str) -> bool {
    match name {
        "li" => matches!(open, "ul" | "ol" | "menu" | "table" | "td" | "th"),
        "dt" | "dd" => matches!(open, "dl" | "table" | "td" | "th"),
        "tr" | "tbody" | "thead" | "tfoot" => open == "table",
        "td" | "th" => matches!(open, "tr" | "table"),
        "a" => matches!(open, "table" | "td" | "th"),
        _ => matches!(open, "table" | "li" | "td" | "th") || open != "p" && BLOCKS.contains(&open),
    }
}
