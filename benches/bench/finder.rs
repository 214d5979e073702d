//! What a query to the index of a large project costs, and how that grows.

use crate::report::Report;
use backstitch::finder::{Query, index::Index};
use std::time::Instant;

/// As they are in a project of many packages: few files for each folder, and what most queries match is in the folders.
fn index(files: usize) -> Index {
    let mut index = Index::default();
    for n in 0..files {
        index.add(&format!("packages/pkg{}/module{}/src/component_{n}.rs", n % 40, n % 997));
    }
    index.add("README.md");
    index.settle();
    index
}

fn search(index: &Index, text: &str) -> usize {
    let query = Query { text: text.into(), recent: vec!["README.md".into()], ..Query::default() };
    std::hint::black_box(index.search(&query)).matching
}

/// Milliseconds on the clock, since a search is shared by threads: the median of several.
fn cost(index: &Index, text: &str) -> f64 {
    let once = || {
        let from = Instant::now();
        search(index, text);
        from.elapsed().as_secs_f64() * 1e3
    };
    crate::clock::median((0..15).map(|_| once()).collect())
}

/// From one letter to eight; matching all, some and none; by names, by folders, by both.
const QUERIES: [&str; 18] = [
    "",
    "s",
    "c",
    "sr",
    "src",
    "pcs",
    "comp",
    "nent",
    "srccompo",
    "pmsc_r",
    "compo12",
    "pkg7mod",
    "packages/m/src/c",
    "zzz",
    "c0mponents",
    "readme",
    "packages/pkg3/",
    "Ünï",
];

pub fn queries(report: &mut Report) -> anyhow::Result<()> {
    let from = Instant::now();
    let (large, small) = (index(100_000), index(10_000));
    report.told("indexes of 100,001 and 10,001 paths, made in memory", from.elapsed().as_secs_f64() * 1e3, " ms", 300.0);
    report.bound("  memory for each path", large.bytes() as f64 / large.len() as f64, " B", 80.0);
    let mut worst = ("", 0.0);
    for text in QUERIES {
        let cost = cost(&large, text);
        report.told(&format!("  query {text:?}, matching {}", search(&large, text)), cost, " ms", 10.0);
        if cost > worst.1 {
            worst = (text, cost);
        }
    }
    report.told(&format!("  the worst: {:?}", worst.0), worst.1, " ms", 10.0);
    // In turns, and all of it on this machine now: what else it does slows both.
    let mut each = [(&large, "srccompo"), (&small, "srccompo"), (&large, "zzz"), (&large, "comp")];
    let costs = crate::clock::in_turns(15, &mut each, |(index, text)| {
        let from = Instant::now();
        search(index, text);
        from.elapsed().as_secs_f64() * 1e3
    });
    report.bound("  100,000 paths against 10,000", costs[0] / costs[1], "×", 15.0);
    report.bound("  matching all against matching none", costs[0] / costs[2], "×", 60.0);
    report.bound("  eight letters against four", costs[0] / costs[3], "×", 6.0);
    Ok(())
}
