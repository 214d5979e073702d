//! Diffs of many lines: to open one, and to scroll in it.

use crate::{
    clock::{each_us, in_turns},
    report::Report,
};
use backstitch_components::{diff_view::DiffModel, diff_viewer::DiffViewer};
use std::sync::Arc;

const SIZE: (usize, usize) = (150, 50);

/// A text, and the same with a change in every tenth line: half of them moved to another indentation below a new one.
fn texts(lines: usize) -> (String, String) {
    let old: String = (0..lines).map(|n| format!("    let name_{n} = call(first, {n}, \"text\");\n")).collect();
    let changed = |(n, line): (usize, &str)| match n % 20 {
        0 => line.replace("first", "second") + "\n",
        10 => format!("    if ready {{\n    {line}\n    }}\n"),
        _ => format!("{line}\n"),
    };
    let new = old.lines().enumerate().map(changed).collect();
    (old, new)
}

fn open(texts: &(String, String)) -> DiffViewer {
    let mut viewer = DiffViewer::new(vec![Arc::new(DiffModel::new(Some(&texts.0), Some(&texts.1), "a.rs"))], false);
    viewer.colour_elsewhere();
    viewer.fit(SIZE.0, SIZE.1);
    viewer
}

pub fn viewer(report: &mut Report) -> anyhow::Result<()> {
    let large = texts(50_000);
    let opened = each_us(5, || drop(std::hint::black_box(open(&large)))) / 1e3;
    report.told("a diff of 50,000 lines, 7,500 changed: to open, CPU", opened, " ms", 50.0);
    let rewritten = (large.0.clone(), large.0.replace("call", "other"));
    let opened = each_us(3, || drop(std::hint::black_box(open(&rewritten)))) / 1e3;
    report.told("a diff of 50,000 lines, all changed: to open, CPU", opened, " ms", 50.0);
    let mut viewers = [open(&texts(500)), open(&large)];
    viewers[1].press(&"end".parse().map_err(|_| anyhow::anyhow!("no such key"))?);
    let costs = in_turns(31, &mut viewers, |viewer| {
        let mut by = 1;
        each_us(20, || {
            viewer.scroll(by);
            by = -by;
            viewer.fit(SIZE.0, SIZE.1);
            std::hint::black_box(viewer.view(SIZE.0, SIZE.1));
        })
    });
    report.noted("scrolling by a row at the end of 50,000 lines, CPU", format!("{:.1} µs", costs[1]));
    report.bound("  at their end against 500 lines", costs[1] / costs[0], "×", 2.0);
    Ok(())
}
