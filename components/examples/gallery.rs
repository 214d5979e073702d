//! Every component in every state on one long page.
//!
//! `cargo run -p backstitch-components --example gallery -- --width 80 --theme backstitch-light --depth 16`;
//! without `--width` at 40, 80 and 120 columns.
#![allow(clippy::print_stdout, clippy::print_stderr)]

#[path = "gallery/pages.rs"]
mod pages;

use backstitch_components::{ColorDepth, Theme, to_ansi};

fn main() {
    let (mut widths, mut theme, mut depth, mut only) = (vec![40, 80, 120], "backstitch-dark".to_owned(), ColorDepth::TrueColor, None);
    let mut markdown = None;
    let mut args = std::env::args().skip(1);
    while let Some(flag) = args.next() {
        let value = args.next().unwrap_or_default();
        match flag.as_str() {
            "--width" => widths = vec![value.parse().unwrap_or(80)],
            "--theme" => theme = value,
            "--depth" => {
                depth = match value.as_str() {
                    "none" => ColorDepth::None,
                    "16" => ColorDepth::Ansi16,
                    "256" => ColorDepth::Ansi256,
                    _ => ColorDepth::TrueColor,
                }
            }
            "--only" => only = Some(value),
            "--markdown" => markdown = Some(value),
            _ => eprintln!("unknown flag {flag}: --width N, --theme NAME, --depth none|16|256|true, --only TITLE, --markdown FILE"),
        }
    }
    let Some(theme) = Theme::builtin(&theme) else {
        eprintln!("themes: {}", Theme::names().collect::<Vec<_>>().join(", "));
        return;
    };
    if let Some(path) = markdown {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| format!("{path}: {error}"));
        let rows = backstitch_components::markdown::render(&text, widths[0]);
        print!("{}", to_ansi(&rows, &theme, depth, widths[0]));
        return;
    }
    for width in widths {
        for (title, rows) in pages::pages(width) {
            if only.as_ref().is_some_and(|only| !title.contains(only.as_str())) {
                continue;
            }
            print!("\x1b[7m {title} \x1b[0m\r\n{}\r\n", to_ansi(&rows, &theme, depth, width));
        }
    }
}
