//! What a query to the index of a large project costs, how that grows, and what it takes until the index is there.

use crate::{clock::process_cpu, report::Report};
use backstitch::finder::{Answer, Disk, Finder, Pace, Query, index::Index};
use std::{
    fs,
    sync::Arc,
    time::{Duration, Instant},
};

/// As they are in a project of many packages: few files for each folder, and what most queries match is in the folders.
fn index(files: usize) -> Index {
    let mut index = Index::default();
    for n in 0..files {
        index.add(&format!("packages/pkg{}/module{}/src/component_{n}.rs", n % 40, n % 997));
    }
    index.add("README.md");
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
    let (mut large, mut small) = (index(100_000), index(10_000));
    // As it is when the first walk is about to end.
    let partial = cost(&large, "srccompo");
    let from = Instant::now();
    large.settle();
    report.told("index of 100,001 paths, brought into order", from.elapsed().as_secs_f64() * 1e3, " ms", 100.0);
    small.settle();
    report.bound("  memory for each path", large.bytes() as f64 / large.len() as f64, " B", 80.0);
    let mut worst = ("", 0.0);
    for text in QUERIES {
        let cost = cost(&large, text);
        report.told(&format!("  query {text:?}, matching {}", search(&large, text)), cost, " ms", 10.0);
        if cost > worst.1 {
            worst = (text, cost);
        }
    }
    let mut wide = Index::default();
    (0..100_000).for_each(|n| wide.add(&format!("パッケージ{}/モジュール{}/日本語の部品_{n}.rs", n % 40, n % 997)));
    wide.settle();
    for text in ["日本", "rs"] {
        report.told(&format!("  query {text:?} in wide names, matching {}", search(&wide, text)), cost(&wide, text), " ms", 10.0);
    }
    report.told("  query \"srccompo\" before they are in order", partial, " ms", 25.0);
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

/// The whole way on a real disk: the question, what is known at once, all of it, and the next question.
pub fn walk(report: &mut Report) -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let root = dir.path().canonicalize()?;
    // Not more: making and removing them takes far longer than finding them.
    for folder in 0..200 {
        let path = root.join(format!("packages/pkg{}/module{folder}", folder % 40));
        fs::create_dir_all(&path)?;
        (0..100).try_for_each(|n| fs::write(path.join(format!("component_{n}.rs")), ""))?;
    }
    let (sent, answers) = crossbeam_channel::unbounded::<(Instant, Answer)>();
    let tell = move |answer| drop(sent.send((Instant::now(), answer)));
    let pace = Pace { stale: Duration::from_secs(3_600), ..Pace::default() };
    let Some(finder) = Finder::start(Arc::new(Disk { root }), pace, Box::new(tell)) else { anyhow::bail!("there is no thread") };
    let ask = |id, text: &str| {
        finder.ask(Query { id, text: text.into(), opens: id == 1, ..Query::default() });
        Instant::now()
    };
    let next = || answers.recv_timeout(Duration::from_secs(60));
    let ms = |from: Instant, to: Instant| (to - from).as_secs_f64() * 1e3;
    let from = ask(1, "c");
    let (mut at, mut answer) = next()?;
    report.told("20,000 files on disk, first answer", ms(from, at), " ms", 10.0);
    let (mut first, mut partial) = (None, 0);
    while answer.indexing {
        if !answer.hits.is_empty() {
            first = first.or(Some(at));
            partial += 1;
        }
        (at, answer) = next()?;
    }
    if let Some(first) = first {
        report.told("  the first with hits", ms(from, first), " ms", 100.0);
    }
    report.noted("  partial answers with hits", partial);
    report.told("  all of it", ms(from, at), " ms", 1_000.0);
    report.bound("  paths that are missing", 20_241.0 - answer.matching as f64, "", 0.0);
    // Until the walk has asked git, too.
    let quiet = || -> f64 {
        let before = process_cpu(std::process::id());
        std::thread::sleep(Duration::from_millis(200));
        (process_cpu(std::process::id()) - before).as_secs_f64() * 1e3
    };
    (0..20).take_while(|_| quiet() > 0.5).for_each(drop);
    report.bound("  CPU of 0.2 s without a question", quiet(), " ms", 2.0);
    let mut worst = 0.0_f64;
    for (n, text) in ["co", "com", "comp", "compo", "pkgcompo", "packages/m/c", "rs", "zzz"].into_iter().enumerate() {
        let id = n as u64 + 2;
        let from = ask(id, text);
        loop {
            let (at, answer) = next()?;
            if answer.id == id {
                worst = worst.max(ms(from, at));
                break;
            }
        }
    }
    report.told("  the slowest of eight answers afterwards", worst, " ms", 10.0);
    // Nobody waits for the answer to a question that is followed by another.
    let from = ask(100, "c");
    for id in 101..120 {
        ask(id, "packages/m/c");
    }
    let late = std::iter::repeat_with(next).find(|answer| answer.as_ref().map_or(true, |(_, answer)| answer.id == 119));
    if let Some(Ok((at, _))) = late {
        report.told("  the last of twenty questions at once", ms(from, at), " ms", 20.0);
    }
    Ok(())
}
