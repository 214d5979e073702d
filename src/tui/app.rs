//! The screen's state and how it changes: `update(model, now, msg)` is pure and gives what is to be done as plain requests.
//!
//! Everything that happens comes in as a `Msg`; whatever touches the world goes out as a `Cmd`. `now` is the time since the
//! screen was opened. Keys go to what has the focus: a panel, else the approval, else the prompt.

mod keys;

pub use keys::{act, interrupt, open_checkpoints, resume};

use super::{
    approval::Approval,
    cell::Cell,
    checkpoints::Checkpoints,
    completion::Completion,
    events,
    fullscreen::Window,
    jobs::{self, Job, Report},
    keymap::{Context, Keymap},
    looks::{self, Looks},
    outside::{Errand, News},
    panel::{Leave, Panel, RuleChange},
    prompt::Prompt,
    status::Status,
    transcript::{Layout, Transcript},
    view,
};
use crate::protocol::{Command, Event, Notice, ProviderSettings, Resume};
use backstitch_components::{
    chat_log,
    code::Cold,
    diff_view::Uncoloured,
    key::Chord,
    text::span::Line,
    theme::{ColorDepth, Theme},
};
use iocraft::{KeyCode, KeyModifiers};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, path::PathBuf, sync::Arc, time::Duration};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Msg {
    Key(KeyCode, KeyModifiers),
    Paste(String),
    /// Columns and rows.
    Resize(u16, u16),
    Event(Event),
    Tick,
    /// Rows to scroll, down if positive.
    Wheel(i16),
    /// A press of the left button, in fullscreen: column and row.
    Click(u16, u16),
    /// The session has begun, or why it could not.
    Opened(Result<Opened, Notice>),
    /// The engine is gone without having been told to go.
    EngineGone,
    /// The process was asked to end by a signal.
    Terminated,
    /// Something that a command of the screen's came to.
    Notice(Notice),
    Report(Report),
    /// Of the terminal, the desktop or the disk.
    News(News),
}

/// What a session begins with besides its events.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    pub warnings: Vec<String>,
    pub looks: crate::protocol::Looks,
    /// A provider is configured without a model, and is being asked for one.
    pub asks_for_model: bool,
    /// The user is to choose the session that goes on.
    #[serde(default)]
    pub asks_for_session: bool,
    /// For `/status`: names and values.
    pub facts: Vec<(String, String)>,
    /// What the project's settings would allow, and does not count until it is accepted.
    #[serde(default)]
    pub withheld: Vec<String>,
    /// There are providers among it.
    #[serde(default)]
    pub waiting_providers: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Cmd {
    Send(Command),
    /// Remembers that the folder may be used, then opens the session.
    Trust,
    Open,
    SaveProvider(ProviderSettings),
    Errand(Errand),
    Rule(RuleChange),
    /// The grammar for files with this ending will be needed.
    WarmUp(String),
    /// Code is plain on the screen because nobody waits for its grammar.
    Compile(Cold),
    /// The colours of lines in a diff are wanted.
    Colour(Uncoloured),
    Suspend,
    Repaint,
    Do(Job),
    /// Text for the clipboard.
    Copy(String),
    /// Text for a file, which must not exist yet; without a name it gets one.
    Export {
        file: Option<String>,
        text: String,
    },
    /// Looks up the sessions of this project; answered by `Report::Sessions`.
    ListSessions,
    /// Another session instead of this one.
    Resume(Resume),
    /// The demo instead of this session.
    Demo,
    Exit,
}

/// What does not change while a screen is open.
#[derive(Debug, Clone)]
pub struct Setting {
    pub root: PathBuf,
    /// The root as it is shown: `~/src/shop (main)`.
    pub place: String,
    pub demo: bool,
    pub trusted: bool,
    /// What the prompt suggests while it is empty.
    pub placeholder: String,
    pub theme: Arc<Theme>,
    pub depth: ColorDepth,
    /// No animation.
    pub still: bool,
    pub keys: Arc<Keymap>,
    /// Start with a window of its own instead of the terminal's scrollback.
    pub fullscreen: bool,
}

pub struct Model {
    pub setting: Setting,
    /// Columns and rows.
    pub size: (u16, u16),
    pub now: Duration,
    pub tick: u64,
    pub transcript: Transcript,
    pub prompt: Prompt,
    pub completion: Completion,
    pub status: Status,
    pub approval: Option<Approval>,
    pub panel: Option<Panel>,
    pub checkpoints: Checkpoints,
    /// Endings of files whose grammars have been asked for.
    pub warmed: BTreeSet<String>,
    /// A second esc at rest before this time opens the checkpoints.
    pub esc_armed: Option<Duration>,
    /// When the panel opened by itself, over what is being typed: until the keyboard has been quiet, keys are no answer to it and go on
    /// into the prompt.
    pub hasty: Option<Duration>,
    /// A second ctrl+c before this time exits.
    pub exit_armed: Option<Duration>,
    pub last_key: Duration,
    /// Until then nothing is drawn inline (see `terminal`): sizes come in bursts, and later than they are true.
    pub held: Option<Duration>,
    /// The conversation in a window of its own; `None` inline.
    pub window: Option<Window>,
    pub looks: Looks,
    pub header: Vec<Line>,
}

/// Keys are not taken for an answer until the keyboard has been quiet this long.
pub const QUIET: Duration = Duration::from_millis(300);
const TWICE: Duration = Duration::from_secs(2);
/// Without a change of size for this long, the size is what it will be: tmux tells no more often than every 250 ms.
const SETTLED: Duration = Duration::from_millis(300);

impl Model {
    pub fn new(setting: Setting, size: (u16, u16)) -> (Model, Vec<Cmd>) {
        let (trusted, setting_fullscreen) = (setting.trusted, setting.fullscreen);
        let model = Model {
            prompt: Prompt::new(setting.placeholder.clone()),
            completion: Completion::default(),
            status: Status::new(setting.demo),
            panel: (!trusted).then(Panel::trust),
            looks: Looks::new(setting.theme.clone()),
            hasty: Some(Duration::ZERO),
            setting,
            size,
            now: Duration::ZERO,
            tick: 0,
            transcript: Transcript::default(),
            checkpoints: Checkpoints::default(),
            warmed: BTreeSet::new(),
            esc_armed: None,
            approval: None,
            exit_armed: None,
            last_key: Duration::ZERO,
            held: None,
            window: setting_fullscreen.then(Window::default),
            header: vec![],
        };
        (model, if trusted { vec![Cmd::Open] } else { vec![] })
    }

    /// Columns for rows: one is left free, so that no terminal wraps a full row. A window that is too small shows none.
    pub fn width(&self) -> usize {
        usize::from(self.size.0.max(view::TOO_SMALL.0)) - 1
    }

    pub fn too_small(&self) -> bool {
        self.size.0 < view::TOO_SMALL.0 || self.size.1 < view::TOO_SMALL.1
    }

    /// May rows be printed? Not while the size changes, and not where they would be broken all over.
    pub fn prints(&self) -> bool {
        self.held.is_none() && !self.too_small()
    }

    pub fn layout(&self) -> Layout {
        Layout { width: self.width(), tick: self.tick, still: self.setting.still }
    }

    pub fn say(&mut self, notice: Notice) {
        self.transcript.push(Cell::Notice(notice), self.width());
    }

    pub fn greet(&mut self) {
        if !self.header.is_empty() {
            return;
        }
        let model = self.status.model.as_ref().map_or("no model yet".into(), |m| m.id.model.clone());
        let name = if self.setting.demo { "backstitch demo" } else { "backstitch" };
        let key = |action| self.setting.keys.key(Context::Prompt, action);
        let hints = [
            (Some("@".into()), "file"),
            (Some("/".into()), "command"),
            (Some("!".into()), "shell"),
            (key("cycle-mode"), "mode"),
            (key("keys"), "keys"),
        ];
        let keys: Vec<(&str, &str)> = hints.iter().filter_map(|(key, does)| Some((key.as_deref()?, *does))).collect();
        let rows = chat_log::welcome(name, env!("CARGO_PKG_VERSION"), &[&model, &self.setting.place], &keys, self.width());
        self.header.clone_from(&rows);
        self.transcript.header(rows);
    }
}

/// How often the screen wants to be woken: never, unless something moves.
pub fn tick_every(model: &Model) -> Option<Duration> {
    if model.looks.waits() || model.held.is_some() {
        return Some(Duration::from_millis(20));
    }
    // A question stands still until it is answered.
    let moves = model.status.turn.is_some() && model.approval.is_none();
    if !moves && model.exit_armed.is_none() && !model.transcript.waits() {
        return None;
    }
    Some(if model.setting.still { Duration::from_secs(1) } else { Duration::from_millis(100) })
}

pub fn update(model: &mut Model, now: Duration, msg: Msg) -> Vec<Cmd> {
    model.now = now;
    if model.exit_armed.is_some_and(|until| now > until) {
        model.exit_armed = None;
    }
    model.held.take_if(|until| now > *until);
    let told = Leave::is_told(&msg);
    let mut cmds = match msg {
        Msg::Key(code, modifiers) => keys::key(model, &Chord::new(code, modifiers)),
        Msg::Paste(text) => keys::paste(model, &text),
        Msg::Resize(columns, rows) => {
            model.size = (columns, rows);
            // Also where it is as before again: meanwhile it may have been another.
            model.held = (!model.is_fullscreen()).then_some(now + SETTLED);
            vec![]
        }
        Msg::Event(event) => events::fold(model, event),
        Msg::Tick => {
            model.tick += 1;
            vec![]
        }
        Msg::Wheel(rows) => {
            if let Some(window) = &mut model.window {
                window.viewport.scroll(isize::from(rows));
            }
            if let Some(panel) = &mut model.panel {
                panel.scroll(isize::from(rows));
            }
            vec![]
        }
        Msg::Click(_, row) => {
            model.click(usize::from(row));
            vec![]
        }
        Msg::Opened(Ok(opened)) => events::begin(model, opened),
        Msg::Opened(Err(notice)) | Msg::Notice(notice) => {
            model.say(notice);
            vec![]
        }
        Msg::Report(report) => jobs::report(model, report),
        Msg::EngineGone => {
            model.say(
                Notice::error("The engine has stopped: this is a fault of Backstitch.").hint("the session is saved; start again to go on"),
            );
            vec![Cmd::Exit]
        }
        Msg::Terminated => vec![Cmd::Exit],
        Msg::News(news) => looks::reported(model, news),
    };
    Leave::ask_before(model, told, &mut cmds);
    cmds.extend(model.prompt.recall.unsaved());
    model.transcript.print_coloured(now, model.width());
    Approval::follow(model);
    looks::follow(model, &mut cmds);
    if cmds.iter().any(|cmd| matches!(cmd, Cmd::Send(Command::Prompt(_) | Command::Steer(_) | Command::RunShell(_)))) {
        // What comes of it is at the end.
        model.window_to_end();
    }
    view::fit(model);
    cmds.extend(jobs::follow(model));
    cmds
}
