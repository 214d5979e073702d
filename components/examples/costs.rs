//! What the expensive parts cost: `cargo run --release -p backstitch-components --example costs`.
//! Ratios count (a push after 1 MB against one after 1 KB), not the absolute times.
#![allow(clippy::print_stdout)]

use backstitch_components::code::Highlighter;
use backstitch_components::diff_view::DiffModel;
use backstitch_components::markdown::MarkdownStream;
use backstitch_components::{ColorDepth, Editor, Line, Theme, editor::Look, to_ansi};
use std::hint::black_box;
use std::time::Instant;

const SAMPLE: &str = "## A section\n\nSome **prose** with `code` and a [link](https://example.org), then\nmore of it on a second line.\n\n- one\n- two\n\n```rust\nfn main() { println!(\"hi\"); }\n```\n\n";

fn micros(times: u32, mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    (0..times).for_each(|_| run());
    start.elapsed().as_secs_f64() * 1e6 / f64::from(times)
}

fn stream_after(bytes: usize) -> MarkdownStream {
    let mut stream = MarkdownStream::new();
    stream.push(&SAMPLE.repeat(bytes / SAMPLE.len() + 1));
    stream.settled(80);
    stream
}

fn main() {
    println!("grammars, first use    {:>9.0} µs", micros(1, || drop(black_box(Highlighter::for_language("rust")))));
    println!(
        "first line of rust     {:>9.0} µs",
        micros(1, || drop(black_box(Highlighter::for_language("rust").push_line("fn main() { let x = \"s\"; }"))))
    );
    for bytes in [1 << 10, 1 << 20] {
        let mut stream = stream_after(bytes);
        let deltas: Vec<String> = SAMPLE.repeat(20).chars().collect::<Vec<_>>().chunks(4).map(|c| c.iter().collect()).collect();
        let count = deltas.len() as u32;
        let mut next = deltas.iter().cycle();
        let cost = micros(count, || {
            stream.push(next.next().map_or("", String::as_str));
            black_box((stream.settled(80), stream.tail(80)));
        });
        println!("delta + settled + tail after {:>4} KB {cost:>7.1} µs", bytes >> 10);
    }
    let text = SAMPLE.repeat((1 << 20) / SAMPLE.len());
    println!("1 MB of Markdown       {:>9.0} µs", micros(1, || drop(black_box(backstitch_components::markdown::render(&text, 80)))));

    let old: String = (0..50_000).map(|n| format!("    let line_{n} = {n};\n")).collect();
    let third: String = (0..50_000)
        .map(|n| if n % 3 == 0 { format!("    let other_{n} = {n};\n") } else { format!("    let line_{n} = {n};\n") })
        .collect();
    let unlike: String = (0..50_000).map(|n| format!("nothing alike {}\n", n * 7)).collect();
    for (name, new) in [("1/3 changed", &third), ("all different", &unlike)] {
        let mut model = None;
        let build = micros(1, || model = Some(DiffModel::new(Some(&old), Some(new), "a.rs")));
        let Some(model) = model else { continue };
        let first = micros(1, || drop(black_box(model.rows(100, Some(60)))));
        let last = micros(1, || drop(black_box(model.window(model.line_count() - 60..model.line_count(), 100, true))));
        println!("diff of 50,000 lines, {name}: model {build:.0} µs, first 60 rows {first:.0} µs, last 60 lines {last:.0} µs");
    }
    let rows: Vec<Line> = backstitch_components::markdown::render(&SAMPLE.repeat(10), 80);
    let theme = Theme::for_background(true);
    let cost = micros(200, || drop(black_box(to_ansi(&rows, &theme, ColorDepth::TrueColor, 80))));
    println!("to_ansi of {} rows {cost:>9.1} µs", rows.len());
    let editor = Editor::with_text(&"some words in a prompt\n".repeat(100));
    println!("view of a 100 line prompt {:>6.0} µs", micros(100, || drop(black_box(editor.view(&Look::default(), 80, 10)))));
}
