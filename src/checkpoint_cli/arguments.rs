//! What `backstitch checkpoint`, `undo` and `redo` understand.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Checkpoint {
    #[command(subcommand)]
    pub what: What,
    /// Print JSON, as docs/checkpoints.md describes it
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum What {
    /// The checkpoints of this folder, the newest last
    List {
        /// Only so many of the newest
        #[arg(short = 'n', long, value_name = "N")]
        newest: Option<usize>,
    },
    /// One checkpoint, and the files that changed since the one before it
    Show {
        /// The beginning of its id, or @ for the newest
        id: String,
    },
    /// What changed from a checkpoint to now, or to another one, as a patch that `git apply` understands
    Diff {
        /// The beginning of its id, or @ for the newest
        id: String,
        /// Up to this checkpoint instead of now
        #[arg(value_name = "ID2")]
        to: Option<String>,
        /// Only these files and folders
        #[arg(last = true, value_name = "PATHS")]
        paths: Vec<PathBuf>,
    },
    /// Make the files be as they were at a checkpoint: shows the plan, asks, and takes a checkpoint of now first
    ///
    /// Exit code 0: done, or nothing had to be done. 1: an error, or a file could not be put back. 2: nobody said yes.
    #[command(group(clap::ArgGroup::new("where").args(["id", "finish", "forget"]).required(true)))]
    Restore {
        /// The beginning of its id, or @ for the newest
        id: Option<String>,
        /// Only these files and folders
        #[arg(value_name = "PATHS", conflicts_with_all = ["finish", "forget"])]
        paths: Vec<PathBuf>,
        /// Do the rest of a restore that was cut off
        #[arg(long)]
        finish: bool,
        /// Forget a restore that was cut off: the files stay as they are
        #[arg(long, conflicts_with_all = ["yes", "dry_run"])]
        forget: bool,
        #[command(flatten)]
        consent: Consent,
    },
    /// Take a checkpoint of now
    Create {
        /// What it is called
        name: Option<String>,
    },
    /// Call a checkpoint something else
    Rename {
        /// The beginning of its id, or @ for the newest
        id: String,
        /// An empty name gives the first one back
        name: String,
    },
    /// Delete a checkpoint (what only it needs goes with the next `prune`)
    Delete {
        /// The beginning of its id, or @ for the newest
        id: String,
    },
    /// Keep a checkpoint whatever is pruned
    Pin {
        /// The beginning of its id, or @ for the newest
        id: String,
    },
    /// Let a checkpoint be pruned again
    Unpin {
        /// The beginning of its id, or @ for the newest
        id: String,
    },
    /// Delete old checkpoints and what only they need; the newest and the pinned ones stay
    ///
    /// Without a limit: beyond 500 checkpoints, 30 days or 2 GB. Limits that are given take the place of all of these.
    Prune {
        /// Keep so many of the newest
        #[arg(long, value_name = "N", conflicts_with = "all")]
        keep: Option<usize>,
        /// Delete what is older
        #[arg(long, value_name = "DAYS", conflicts_with = "all")]
        older_than: Option<u64>,
        /// Delete the oldest until the rest takes no more than this on the disk
        #[arg(long, value_name = "MB", conflicts_with = "all")]
        size: Option<u64>,
        /// Delete all but the newest and the pinned ones
        #[arg(long)]
        all: bool,
    },
}

impl What {
    /// It says something and changes nothing.
    pub fn only_reads(&self) -> bool {
        match self {
            What::List { .. } | What::Show { .. } | What::Diff { .. } => true,
            What::Restore { consent, .. } => consent.dry_run,
            _ => false,
        }
    }
}

/// Whether to go back, and who says so.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct Consent {
    /// Do it without asking
    #[arg(short, long)]
    pub yes: bool,
    /// Only show the plan
    #[arg(long, conflicts_with = "yes")]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct Step {
    #[command(flatten)]
    pub consent: Consent,
    /// Print JSON, as docs/checkpoints.md describes it
    #[arg(long)]
    pub json: bool,
}
