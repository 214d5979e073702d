//! From the command line to an exit code.

use crate::{
    checkpoint_cli,
    cli::{Cli, Flags, Sub},
    config,
    failure::Failure,
    launch::{Options, Project, ScreenWorld, env},
    llm,
    protocol::Ruling,
    tui::{self, app::Setting, keymap::Keymap, perform::Leave, terminal::Tty},
};
use backstitch_components::text::sanitize::sanitize;
use backstitch_components::theme::{ColorDepth, Theme, dark_background};
use std::{
    io::{IsTerminal, Write},
    panic,
    process::ExitCode,
    sync::{Arc, Mutex},
};

pub fn run(cli: Cli) -> ExitCode {
    let result = match cli.command {
        None if cli.plain || dumb() => crate::headless::talk::run(&options(&cli.flags), cli.demo),
        None => screen(&cli.flags, cli.demo, cli.fullscreen),
        Some(Sub::Run { task, images, trust_directory }) => {
            crate::headless::run(&options(&cli.flags), &task, &images, trust_directory, cli.demo)
        }
        Some(Sub::Replay { file, agent, size }) => crate::replay::run(&file, agent, size),
        Some(Sub::Checkpoint(checkpoint)) => checkpoint_cli::run(checkpoint, &env),
        Some(Sub::Undo(step)) => checkpoint_cli::undo(&step, &env),
        Some(Sub::Redo(step)) => checkpoint_cli::redo(&step, &env),
        Some(Sub::PdfText) => return crate::tools::view::pdf::child(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // It may name a file, or quote a server. If even that can't be said, the exit code still says it.
            let _ = writeln!(std::io::stderr(), "backstitch: {}", sanitize(&failure.to_string()));
            ExitCode::from(failure.exit_code())
        }
    }
}

fn options(flags: &Flags) -> Options {
    Options {
        provider: flags.provider.clone(),
        model: flags.model.clone(),
        mode: flags.mode,
        record: flags.record.clone(),
        resume: flags.resumed(),
        rules: flags.rules(),
    }
}

/// A terminal that can do nothing but print lines.
fn dumb() -> bool {
    env("TERM").as_deref() == Some("dumb") && std::io::stdout().is_terminal()
}

fn screen(flags: &Flags, mut demo: bool, mut fullscreen: bool) -> Result<(), Failure> {
    if !std::io::stdout().is_terminal() {
        return Err(Failure::usage("The screen needs a terminal.")
            .hint("backstitch run \"…\" does one task without one")
            .hint("--plain talks in lines"));
    }
    // First of all: the watchdog is forked while there is one thread.
    let terminal = Tty::open()
        .map_err(|e| Failure::usage(format!("The terminal can't be opened: {e}")).hint("backstitch run \"…\" does one task without one"))?;
    quiet_panics();
    let mut options = options(flags);
    let recorder = options.recorder()?;
    loop {
        let project = if demo { Project::demo()? } else { Project::here()? };
        let setting = setting(&project, fullscreen);
        let world = ScreenWorld { project, options: options.clone(), recorder: recorder.clone() };
        let left = panic::catch_unwind(panic::AssertUnwindSafe(|| tui::run(&terminal, setting, Box::new(world), recorder.clone())));
        terminal.restore();
        match left {
            Ok(Ok(Leave::Demo)) => (demo, options.resume) = (true, None),
            // What the command line asked for, it asked for the session that it started.
            Ok(Ok(Leave::Resume(which, full))) => {
                // But what it refused stays refused.
                let rules = options.rules.into_iter().filter(|(ruling, _)| *ruling == Ruling::Deny).collect();
                options = Options { record: options.record, resume: Some(which), rules, ..Options::default() };
                fullscreen = full;
            }
            Ok(Ok(_)) => return Ok(()),
            // The terminal is gone: there is nobody to tell.
            Ok(Err(error)) if gone(&error) => return Ok(()),
            Ok(Err(error)) => return Err(Failure::internal(format!("The terminal failed: {error}"))),
            Err(_) => return Err(Failure::internal(format!("Backstitch crashed: {}", last_panic()))),
        }
    }
}

fn gone(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::*;
    matches!(error.kind(), BrokenPipe | UnexpectedEof) || error.raw_os_error() == Some(libc::EIO)
}

fn setting(project: &Project, fullscreen: bool) -> Setting {
    let depth = ColorDepth::detect(env("NO_COLOR").as_deref(), env("COLORTERM").as_deref(), env("TERM").as_deref());
    let dark = dark_background(env("COLORFGBG").as_deref()).unwrap_or(true);
    let placeholder = if project.is_demo() { llm::demo::SUGGESTION.to_string() } else { "What should be done?".into() };
    Setting {
        root: project.root.clone(),
        place: project.shown(),
        demo: project.is_demo(),
        trusted: project.is_trusted(),
        placeholder,
        theme: Theme::for_background(dark),
        depth,
        still: env("TERM").as_deref() == Some("dumb"),
        keys: Arc::new(Keymap::new(config::own_keys(&project.places))),
        fullscreen,
    }
}

static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// While the screen is ours a panic must not print over it: it is kept, and told by whoever catches it.
fn quiet_panics() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if tui::terminal::taken() {
            *PANIC.lock().unwrap_or_else(|e| e.into_inner()) = Some(info.to_string());
        } else {
            usual(info);
        }
    }));
}

fn last_panic() -> String {
    PANIC.lock().unwrap_or_else(|e| e.into_inner()).take().unwrap_or_else(|| "no more is known".into())
}
