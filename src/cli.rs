//! The command line.

use crate::{
    checkpoint_cli::arguments::{Checkpoint, Step},
    policy,
    protocol::{Mode, Resume, Ruling},
};
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Parser)]
#[command(
    name = "backstitch",
    version,
    about = "A coding agent for the terminal in which every step can be walked back",
    after_help = "Without a command it opens the screen in this folder. Models are sent placeholders for secrets unless the setting \"privacy\" is \"off\" \
                  (docs/privacy.md). Configuration, keys and tools: see the README."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Sub>,
    #[command(flatten)]
    pub flags: Flags,
    /// Show how it works: a scripted model, a small project in a temporary folder, everything else real
    #[arg(long)]
    pub demo: bool,
    /// Talk in plain lines, without any control of the screen: for screen readers, logs and simple terminals (TERM=dumb means it)
    #[arg(long, conflicts_with = "fullscreen")]
    pub plain: bool,
    /// Open in a window of its own instead of the terminal's scrollback (/fullscreen switches)
    #[arg(long)]
    pub fullscreen: bool,
}

#[derive(Debug, Clone, Default, Args)]
pub struct Flags {
    /// Which configured provider to use
    #[arg(long, value_name = "NAME", global = true)]
    pub provider: Option<String>,
    /// Which model to use
    #[arg(long, value_name = "ID", global = true)]
    pub model: Option<String>,
    /// What may happen without asking: normal (reads), auto-accept (edits in the project too), plan (reads, nothing else), yolo (all)
    #[arg(long, value_name = "MODE", global = true, value_parser = mode)]
    pub mode: Option<Mode>,
    /// Go on with the session that was used last in this folder
    #[arg(short = 'c', long = "continue", global = true, conflicts_with = "resume")]
    pub go_on: bool,
    /// Go on with a session of this folder: its id, the beginning of it, or its number (1 is the newest); without one, choose
    #[arg(short = 'r', long, value_name = "ID", global = true, num_args = 0..=1)]
    pub resume: Option<Option<String>>,
    /// Rules of what runs without asking, with commas between them, such as 'Bash(cargo test *),Edit(src/**)'; see docs/permissions.md
    #[arg(long, value_name = "RULES", global = true)]
    pub allowed_tools: Vec<String>,
    /// Rules of what is refused, whatever the mode, such as 'Bash(git push *),View(.env)'
    #[arg(long, value_name = "RULES", global = true)]
    pub disallowed_tools: Vec<String>,
    /// Write everything that happens to FILE, for `backstitch replay`
    #[arg(long, value_name = "FILE", global = true)]
    pub record: Option<PathBuf>,
}

impl Flags {
    /// As they were written.
    pub fn rules(&self) -> Vec<(Ruling, String)> {
        let of = |ruling: Ruling, given: &[String]| {
            given.iter().flat_map(|text| policy::split(text)).map(move |text| (ruling, text)).collect::<Vec<_>>()
        };
        [of(Ruling::Allow, &self.allowed_tools), of(Ruling::Deny, &self.disallowed_tools)].concat()
    }

    /// Which session goes on, if one is to.
    pub fn resumed(&self) -> Option<Resume> {
        match &self.resume {
            Some(Some(id)) => Some(Resume::Named(id.clone())),
            Some(None) => Some(Resume::Ask),
            None => self.go_on.then_some(Resume::Last),
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum Sub {
    /// Do one task without a screen: the answer on standard output, progress on standard error
    ///
    /// Exit code 0: done. 1: an error. 2: a call needed an approval that neither mode nor rules give. 130: interrupted.
    Run {
        /// The task; read from standard input if there is none, or if it is `-`
        #[arg(value_name = "TASK")]
        task: Vec<String>,
        /// A picture that goes with the task (png, jpeg, gif, webp; may be given more than once)
        #[arg(long = "image", value_name = "FILE")]
        images: Vec<PathBuf>,
        /// Trust this folder's files for this run
        #[arg(long)]
        trust_directory: bool,
    },
    /// Show a recording made with --record, step by step
    Replay {
        file: PathBuf,
        /// Every input of the agent with its effects, instead of the screen
        #[arg(long)]
        agent: bool,
        /// Columns and rows of the screen instead of the recorded ones, such as 80x24
        #[arg(long, value_name = "CxR", value_parser = size)]
        size: Option<(u16, u16)>,
    },
    /// Look at the checkpoints of this folder, compare, go back to one, tidy up
    ///
    /// Needs no model and no trust, and works while a session runs. Ids may be shortened; @ is the newest checkpoint.
    Checkpoint(Checkpoint),
    /// Take back what the last turn changed in files; again: the turn before it
    ///
    /// What changed after the turn stays. Only files go back, not the conversation: `/undo` in a session does both.
    /// Exit code 0: done. 1: an error, or there is nothing to undo. 2: nobody said yes.
    Undo(Step),
    /// Bring forward again what the last `backstitch undo` took back
    ///
    /// What changed after the undo stays. Exit code 0: done. 1: an error, or there is nothing to redo. 2: nobody said yes.
    Redo(Step),
    /// The text of a PDF document on standard input: what reads them for `View`, in a process of its own
    #[command(hide = true)]
    PdfText,
}

fn mode(text: &str) -> Result<Mode, String> {
    Mode::from_name(text).ok_or_else(|| "a mode is one of normal, auto-accept, plan, yolo".into())
}

fn size(text: &str) -> Result<(u16, u16), String> {
    let parsed = text.split_once('x').and_then(|(c, r)| Some((c.parse().ok()?, r.parse().ok()?)));
    parsed.filter(|(c, r)| *c > 0 && *r > 0).ok_or_else(|| "a size is columns x rows, such as 80x24".into())
}
