//! What the session is doing: the row below the prompt, the row above it while a turn runs, the line that ends a turn.

use super::{
    cell::Cell,
    keymap::{Context, Keymap},
    transcript::Layout,
};
use crate::protocol::*;
use backstitch_components::{
    chat_log::{busy_line, duration},
    status_line::{Segment, status_line},
    text::span::{Line, Style},
    theme::Role,
};
use std::{collections::BTreeSet, path::PathBuf, time::Duration};

#[derive(Debug, Default)]
pub struct Status {
    pub demo: bool,
    pub model: Option<ModelInfo>,
    pub mode: Mode,
    /// The session has begun: what is not known now is not there.
    started: bool,
    pub turn: Option<TurnId>,
    turn_began: Duration,
    pub stopping: bool,
    retry: Option<Retry>,
    pub queue: Vec<Prompt>,
    /// Of the last request: how full the context is.
    context: u64,
    /// Turns of this session so far that changed something.
    checkpoints: usize,
    changes: Changes,
    pub session: Option<SessionId>,
    /// For `/status`, from the wiring.
    pub facts: Vec<(String, String)>,
    /// What the project's settings would allow, and nobody has accepted.
    pub withheld: Vec<String>,
    /// Of all turns that have ended.
    total: Usage,
    /// A configured provider is being asked for a model.
    pub asks_for_model: bool,
    /// A provider that is being tried by the set-up.
    pub connecting: Option<ProviderSettings>,
    /// Commands that run in the background.
    pub background: Vec<Job>,
    /// The user has said that these may end.
    pub leaves: bool,
}

/// Files that the running turn has changed.
#[derive(Debug, Default)]
struct Changes {
    edited: BTreeSet<PathBuf>,
    /// Commands that only read: no checkpoint stands between them and what was edited before.
    reading: Vec<CallId>,
    writing: Vec<CallId>,
    by_commands: usize,
    /// The last call was a command, or moved files: what the next checkpoint finds changed was its doing.
    command: bool,
    closed: bool,
}

#[derive(Debug)]
struct Retry {
    attempt: u32,
    of: u32,
    at: Duration,
    why: String,
}

impl Status {
    pub fn new(demo: bool) -> Self {
        Status { demo, ..Status::default() }
    }

    pub fn fold(&mut self, event: &Event, now: Duration) {
        match &event.body {
            EventBody::Session(SessionEvent::Started { id, model, mode }) => {
                self.session = Some(id.clone());
                (self.model, self.mode, self.started) = (model.clone(), *mode, true);
            }
            EventBody::Session(SessionEvent::ModelChanged(model)) => self.model = Some(model.clone()),
            EventBody::Session(SessionEvent::ModeChanged(mode)) => self.mode = *mode,
            EventBody::Session(SessionEvent::Queued { waiting } | SessionEvent::Unqueued { waiting, .. }) => self.queue = waiting.clone(),
            EventBody::Session(SessionEvent::Background(running)) => self.background.clone_from(running),
            EventBody::Session(SessionEvent::Cleared) => self.context = 0,
            // How much of it is left, the next request will tell.
            EventBody::Checkpoint(CheckpointEvent::Restored { scope, .. }) if scope.conversation() => self.context = 0,
            EventBody::Turn(TurnEvent::Started) => {
                (self.turn, self.turn_began, self.changes) = (event.turn, now, Changes::default());
            }
            EventBody::Turn(TurnEvent::Called) => self.retry = None,
            EventBody::Turn(TurnEvent::Retrying { attempt, of, wait, why }) => {
                self.retry = Some(Retry { attempt: *attempt, of: *of, at: now + *wait, why: why.clone() });
            }
            EventBody::Turn(TurnEvent::Used(usage)) => self.context = usage.input + usage.output,
            EventBody::Turn(TurnEvent::Ended(end)) => {
                self.total += end.usage;
                (self.turn, self.stopping, self.retry) = (None, false, None);
            }
            EventBody::Call(CallEvent::Previewed { id, access: access @ Access::Run { .. }, .. }) if access.changes_nothing() => {
                self.changes.reading.push(*id);
            }
            EventBody::Call(CallEvent::Previewed { id, access: Access::Write(_), .. }) => self.changes.writing.push(*id),
            EventBody::Call(CallEvent::Finished { id, outcome: Outcome::Done(output) }) => match &output.for_user {
                Block::Diff(files) => {
                    self.changes.edited.extend(files.iter().map(|f| f.path.clone()));
                    self.changes.command = false;
                }
                // Files that it moved or took away: no diff has them.
                _ if self.changes.writing.contains(id) => self.changes.command = true,
                Block::Terminal { .. } if !self.changes.reading.contains(id) => self.changes.command = true,
                _ => {}
            },
            EventBody::Checkpoint(CheckpointEvent::Taken { kind, files_changed, .. }) if *kind != CheckpointKind::Opening => {
                if std::mem::take(&mut self.changes.command) {
                    self.changes.by_commands += files_changed;
                }
                self.changes.closed = *kind == CheckpointKind::Closing;
                self.checkpoints += usize::from(self.changes.closed);
            }
            _ => {}
        }
    }

    /// Yolo is not among them: that takes a command of its own.
    pub fn next_mode(&self) -> Mode {
        match self.mode {
            Mode::Normal => Mode::AutoAccept,
            Mode::AutoAccept => Mode::Plan,
            Mode::Plan | Mode::Yolo => Mode::Normal,
        }
    }

    pub fn busy_row(&self, Layout { width, tick, still }: Layout, now: Duration, keys: &Keymap) -> Option<Line> {
        self.turn?;
        let stops = |does| keys.phrase(Context::Running, &[("interrupt", does)]);
        let took = duration(now.saturating_sub(self.turn_began).as_secs());
        if let Some(retry) = &self.retry {
            let wait = retry.at.saturating_sub(now).as_secs_f64().ceil();
            let what = format!("{} · again in {wait} s ({} of {})", retry.why, retry.attempt, retry.of);
            return Some(busy_line(tick, still, &what, &[&stops("stops")], width));
        }
        let what = if self.stopping { "stopping" } else { "working" };
        Some(busy_line(tick, still, what, &[&took, &stops("interrupts")], width))
    }

    pub fn row(&self, exit_armed: bool, keys: &Keymap, width: usize) -> Line {
        if exit_armed {
            return Line::styled(format!("  {}", keys.phrase(Context::Prompt, &[("cancel", "again to exit")])), Role::Warning);
        }
        let mode = match self.mode {
            Mode::Normal => Line::styled("normal", Role::ModeNormal),
            Mode::AutoAccept => Line::styled("auto-accept", Role::ModeAuto),
            Mode::Plan => Line::styled("plan", Role::ModePlan),
            Mode::Yolo => Line::styled("YOLO: nothing is asked", Style::from(Role::ModeYolo).bold()),
        };
        let mut left = vec![Segment::new(mode, 9)];
        if self.demo {
            left.insert(0, Segment::new(Line::styled("demo", Style::from(Role::Warning).bold()), 10));
        }
        let model = match &self.model {
            Some(model) => model.id.model.clone(),
            None if self.started => "no model".into(),
            None => String::new(),
        };
        if !model.is_empty() {
            left.push(Segment::new(Line::styled(model, Role::Dim), 5));
        }
        if let Some(context) = self.context_used() {
            left.push(Segment::new(context, 7));
        }
        if !self.background.is_empty() {
            left.push(Segment::new(Line::styled(format!("{} running in background", self.background.len()), Role::Accent), 8));
        }
        status_line(&left, &[Segment::new(Line::styled(keys.phrase(Context::Prompt, &[("keys", "keys")]), Role::Dim), 1)], width)
    }

    pub fn total(&self) -> Usage {
        self.total
    }

    /// Tokens in the context as of the last request, and how many fit.
    pub fn context(&self) -> (u64, Option<u64>) {
        (self.context, self.model.as_ref().and_then(|m| m.context_window).filter(|w| *w > 0))
    }

    fn context_used(&self) -> Option<Line> {
        if self.context == 0 {
            return None;
        }
        Some(match self.context().1 {
            Some(window) => {
                let percent = self.context * 100 / window;
                let role = if percent >= 80 { Role::Warning } else { Role::Dim };
                Line::styled(format!("ctx {percent} %"), role)
            }
            None => Line::styled(format!("ctx {}", tokens(self.context)), Role::Dim),
        })
    }

    /// Files that the turn changed, if it has its closing checkpoint.
    pub fn files_changed(&self) -> Option<usize> {
        self.changes.closed.then_some(self.changes.edited.len() + self.changes.by_commands)
    }

    /// What a turn came to; nothing for a short one that changed nothing.
    pub fn footer(&mut self, end: &TurnEnd, keys: &Keymap) -> Option<Cell> {
        let changed = self.files_changed();
        self.changes = Changes::default();
        if changed.is_none() && end.took < Duration::from_secs(10) {
            return None;
        }
        let mut parts = vec![];
        if let Some(files) = changed {
            parts.push(format!("checkpoint {}", self.checkpoints));
            parts.push(match files {
                0 => "no file changed".into(),
                1 => "1 file changed".into(),
                n => format!("{n} files changed"),
            });
            parts.extend(keys.key(Context::Prompt, "rewind").map(|key| format!("{key} {key} goes back")));
        }
        let mut figures = vec![duration(end.took.as_secs())];
        let used = end.usage.input + end.usage.output;
        if used > 0 {
            figures.push(format!("{} tokens", tokens(used)));
        }
        Some(Cell::Footer { parts, figures })
    }

    pub fn restored(event: &CheckpointEvent) -> Option<String> {
        let CheckpointEvent::Restored { scope, changes, forward, .. } = event else { return None };
        let names = changes.iter().take(3).map(|c| c.path.display().to_string()).collect::<Vec<_>>().join(", ");
        let files = match changes.len() {
            0 if *scope == RewindScope::Conversation && *forward => return Some("The conversation is as it was.".into()),
            0 if *scope == RewindScope::Conversation => "The files stay as they are".to_string(),
            0 => "No file had changed".to_string(),
            1 => format!("{names} is as it was"),
            n if n <= 3 => format!("{names} are as they were"),
            n => format!("{names} and {} more files are as they were", n - 3),
        };
        let talk = match (scope.conversation(), forward) {
            (false, _) => "",
            (true, true) => "; the conversation is, too",
            (true, false) => "; the conversation goes on from before that prompt",
        };
        let hint = if *forward { "" } else { " /redo goes forward again." };
        Some(format!("{files}{talk}.{hint}"))
    }
}

/// `850`, `4.1k`, `1.2M`.
fn tokens(n: u64) -> String {
    match n {
        0..1_000 => n.to_string(),
        1_000..1_000_000 => format!("{:.1}k", n as f64 / 1e3),
        _ => format!("{:.1}M", n as f64 / 1e6),
    }
}
