//! What a query to the index of a large project costs, and how that grows.

use crate::report::Report;
use backstitch::finder::{Query, index::Index};
use std::time::Instant;

fn index(files: usize) -> Index {
    let mut index = Index::default();
    for n in 0..files {
        index.add(&format!("packages/pkg{}/module{}/src/component_{n}.rs", n % 40, n % 997));
    }
    index
}

/// Milliseconds on the clock, since a search is shared by threads: the median of several.
fn cost(index: &Index, text: &str) -> f64 {
    let query = Query { text: text.into(), ..Query::default() };
    let once = || {
        let from = Instant::now();
        std::hint::black_box(index.search(&query));
        from.elapsed().as_secs_f64() * 1e3
    };
    crate::clock::median((0..15).map(|_| once()).collect())
}

pub fn queries(report: &mut Report) -> anyhow::Result<()> {
    let from = Instant::now();
    let large = index(100_000);
    report.told("index of 100,000 paths, made in memory", from.elapsed().as_secs_f64() * 1e3, " ms", 100.0);
    for text in ["", "c", "compo12", "pkg7mod", "zzz", "packages/pkg3/"] {
        report.told(&format!("  query {text:?}"), cost(&large, text), " ms", 10.0);
    }
    let small = index(10_000);
    report.bound("  100,000 paths against 10,000", cost(&large, "compo12") / cost(&small, "compo12"), "×", 15.0);
    Ok(())
}
