//! What searching a large tree costs against `rg` on the same tree in the same run, and what a command costs beyond itself.
//!
//! `BACKSTITCH_BENCH_FILES` makes the tree smaller or larger than 100,000 files.

use crate::{clock::median, report::Report};
use anyhow::{Context, anyhow, ensure};
use backstitch::{
    protocol::{CallId, Job, JobEnd, SandboxSettings, ToolCall},
    tools::{Cancel, Registry, RunContext, Workspace, shell::Sandbox},
};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

const FILES: usize = 100_000;
const PER_FOLDER: usize = 50;
const ROUNDS: usize = 7;
const COMMANDS: usize = 40;
const GIGABYTE: u64 = 1_000_000_000;

struct Bench {
    _folder: tempfile::TempDir,
    workspace: Workspace,
    registry: Registry,
    runtime: tokio::runtime::Runtime,
}

impl Bench {
    fn new(sandbox: bool) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let root = folder.path().join("project");
        fs::create_dir(&root)?;
        let settings = SandboxSettings { on: sandbox, ..SandboxSettings::default() };
        let workspace = Workspace::new(&root, &folder.path().join("spill"))?.with_sandbox(Sandbox::new(settings, vec![]));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Bench { _folder: folder, workspace, registry: Registry::default(), runtime })
    }

    fn root(&self) -> &Path {
        self.workspace.root()
    }

    /// Milliseconds from the call to its result, preview and all; and what the model is told.
    fn call(&self, name: &str, args: Value) -> anyhow::Result<(f64, String)> {
        let from = Instant::now();
        let preview = self.registry.preview(name, args.clone(), &self.workspace).map_err(|e| anyhow!(e.0))?;
        let call = ToolCall { id: CallId(1), name: name.into(), args, basis: preview.basis };
        let (progress, background) = (|_: String| {}, |_: Job, _: BoxFuture<'static, JobEnd>| {});
        let cx = RunContext { workspace: &self.workspace, cancel: Cancel::new(), progress: &progress, background: &background };
        let output = self.runtime.block_on(self.registry.run(&call, &cx)).map_err(|e| anyhow!(e.0))?;
        Ok((from.elapsed().as_secs_f64() * 1e3, output.for_model))
    }
}

fn contents(n: usize) -> String {
    let mut text: String = (0..12).map(|line| format!("pub fn f{line}(x: u64) -> u64 {{ x * {n} + {line} }}\n")).collect();
    if n.is_multiple_of(997) {
        text.push_str("// the needle is here\n");
    }
    text
}

fn tree(root: &Path, files: usize) -> anyhow::Result<()> {
    fs::create_dir(root.join(".git"))?;
    fs::write(root.join(".gitignore"), "target/\n*.log\n")?;
    for n in 0..files {
        let folder = n / PER_FOLDER;
        let path = root.join(format!("packages/pkg{}/module{}/src/component_{n}.rs", folder % 40, folder / 40));
        if n.is_multiple_of(PER_FOLDER) {
            fs::create_dir_all(path.parent().context("a folder")?)?;
        }
        fs::write(path, contents(n))?;
    }
    Ok(())
}

/// Milliseconds of a program, and the lines that it prints.
fn program(root: &Path, program: &str, args: &[&str]) -> anyhow::Result<(f64, usize)> {
    let from = Instant::now();
    let out = Command::new(program).args(args).current_dir(root).stdin(Stdio::null()).output()?;
    ensure!(out.status.code().is_some_and(|code| code < 2), "{program}: {}", String::from_utf8_lossy(&out.stderr));
    Ok((from.elapsed().as_secs_f64() * 1e3, out.stdout.iter().filter(|b| **b == b'\n').count()))
}

pub fn search(report: &mut Report) -> anyhow::Result<()> {
    let files = std::env::var("BACKSTITCH_BENCH_FILES").ok().and_then(|text| text.parse().ok()).unwrap_or(FILES);
    let bench = Bench::new(false)?;
    tree(bench.root(), files)?;
    let found = files.div_ceil(997);
    let rg = Command::new("rg").arg("--version").stdout(Stdio::null()).status().is_ok();
    let cases: [(&str, &str, Value, &[&str], usize); 5] = [
        ("a word that is rare", "GrepTool", json!({"pattern": "needle"}), &["-n", "needle", "."], found),
        ("a word that is nowhere", "GrepTool", json!({"pattern": "haystack_xyz"}), &["-n", "haystack_xyz", "."], 0),
        (
            "an expression, any case",
            "GrepTool",
            json!({"pattern": "NEEDLE is \\w+", "ignore_case": true}),
            &["-n", "-i", "NEEDLE is \\w+", "."],
            found,
        ),
        ("names of files that have it", "GrepTool", json!({"pattern": "f7", "mode": "files"}), &["-l", "f7", "."], files),
        ("a glob", "GlobTool", json!({"pattern": "component_*7.rs"}), &["--files", "-g", "component_*7.rs"], files / 10),
    ];
    for (what, tool, args, theirs, expected) in cases {
        let (mut ours, mut rgs) = (vec![], vec![]);
        for _ in 0..ROUNDS {
            let (took, text) = bench.call(tool, args.clone())?;
            let complete = match expected {
                0 => text.starts_with("No matches"),
                n if n <= 200 => text.lines().count() == n,
                n => text.contains(&format!("of {n} ")),
            };
            ensure!(complete, "{tool} {args}: {}", text.lines().last().unwrap_or_default());
            ours.push(took);
            if rg {
                let (took, lines) = program(bench.root(), "rg", theirs)?;
                ensure!(lines == expected, "rg {theirs:?}: {lines} lines, not {expected}");
                rgs.push(took);
            }
        }
        let ours = median(ours);
        report.noted(&format!("{tool}: {what}, {files} files"), format!("{ours:.1} ms"));
        if rg {
            let rgs = median(rgs);
            report.bound(&format!("  against rg ({rgs:.1} ms)"), ours / rgs, "×", 1.2);
        }
    }
    if !rg {
        report.noted("rg is not installed", "not compared");
    }
    Ok(())
}

pub fn commands(report: &mut Report) -> anyhow::Result<()> {
    let mut plain = vec![];
    let (free, kept) = (Bench::new(false)?, Bench::new(true)?);
    fs::create_dir_all(kept.root().join(".git/hooks"))?;
    let (mut frees, mut kepts) = (vec![], vec![]);
    // The first one looks for a sandbox.
    let (first, _) = kept.call("Bash", json!({"command": "true"}))?;
    free.call("Bash", json!({"command": "true"}))?;
    for _ in 0..COMMANDS {
        plain.push(program(free.root(), "sh", &["-c", "true"])?.0);
        frees.push(free.call("Bash", json!({"command": "true"}))?.0);
        kepts.push(kept.call("Bash", json!({"command": "true"}))?.0);
    }
    let (plain, free, kept_each) = (median(plain), median(frees), median(kepts));
    report.told(&format!("a command beyond sh -c ({plain:.2} ms)"), free - plain, " ms", 5.0);
    report.told("  in the sandbox", kept_each - plain, " ms", 5.0);
    report.noted("  the first one, which looks for a sandbox", format!("{first:.1} ms"));
    report.noted("  sandbox", kept.workspace.sandbox().status(kept.root()).split(" · ").last().unwrap_or_default());
    gigabyte(report, &kept)
}

/// However much a command prints.
fn gigabyte(report: &mut Report, bench: &Bench) -> anyhow::Result<()> {
    let before = peak()?;
    let command = format!("yes 'a line that is neither short nor very long' | head -c {GIGABYTE}");
    let (took, text) = bench.call("Bash", json!({"command": command, "timeout": 600_000}))?;
    let grown = peak()?.saturating_sub(before);
    ensure!(text.len() < 40_000, "the model is given {} bytes", text.len());
    let file = text.split_whitespace().map(|word| word.trim_end_matches([',', '.', ']'])).map(PathBuf::from).find(|path| path.is_file());
    let whole = file.context("it names no file")?.metadata()?.len();
    ensure!(whole == GIGABYTE, "{whole} bytes are kept");
    report.noted("a command that prints 1 GB", format!("{took:.0} ms"));
    report.bound("  memory grows by", grown as f64 / 1024.0, " MB", 32.0);
    Ok(())
}

/// Kilobytes that this process has had at the most.
fn peak() -> anyhow::Result<u64> {
    let text = fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no peak")?;
    Ok(line.trim().trim_end_matches(" kB").trim().parse()?)
}
