//! Carries out what `update` asks for. Everything here is quick: what takes time is the engine's.

use super::{
    app::{Cmd, Model, Msg, Opened},
    jobs::{Job, Report},
    outside::{Errand, Outside},
    panel::RuleChange,
    recording,
    terminal::Tty,
    workers::Workers,
};
use crate::{
    engine::{Engine, recorder::Recorder},
    handle::Handle,
    history::History,
    mailbox::{Inbox, Mailbox, mailbox},
    protocol::{Command, Notice, Permit, ProviderSettings, Resume, ThemeChoice},
};
use backstitch_components::{code::Cold, diff_viewer::CLIPBOARD_MOST};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

/// What the screen can do outside of itself; built by the wiring.
pub trait World: Send + Sync {
    /// Starts the session: its engine and the handle to it.
    fn open(&mut self) -> Result<(Handle, Engine, Opened), Notice>;
    /// Remembers that the folder is trusted; a warning if that could not be written down.
    fn trust(&mut self) -> Option<Notice>;
    /// Writes a new file in the project; never over one that is there.
    fn export(&mut self, file: Option<String>, text: &str) -> Notice;
    fn save_provider(&mut self, settings: &ProviderSettings) -> Notice;
    /// A warning if it could not be written down.
    fn save_theme(&mut self, _choice: &ThemeChoice) -> Option<Notice> {
        None
    }
    /// Writes down what is to be kept of it; what the agent is told then.
    fn change_rule(&mut self, _change: &RuleChange) -> Result<Vec<Permit>, Notice> {
        Err(Notice::warning("Rules can't be changed here."))
    }
    /// Where what is typed is kept; nowhere, unless said otherwise.
    fn history(&self) -> Option<History> {
        None
    }
    /// Is there such a session, and is it free?
    fn can_resume(&self, _which: &Resume) -> Result<(), Notice> {
        Ok(())
    }
    /// How the sessions of this project are looked up: [`Report::Sessions`].
    fn sessions(&self) -> Box<dyn FnOnce() -> Report + Send> {
        Box::new(|| Report::Sessions { found: Ok(vec![]), now: 0 })
    }
    /// The program to edit texts with.
    fn editor(&self) -> String {
        "vi".into()
    }
}

/// Why the screen is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leave {
    Exit,
    Suspend,
    Repaint,
    /// Inline becomes fullscreen, or the other way round.
    Switch,
    /// For the user's editor.
    Edit,
    Demo,
    /// For another session; does it begin in a window?
    Resume(Resume, bool),
}

pub struct Performer {
    world: Box<dyn World>,
    pub handle: Option<Handle>,
    /// What workers of the screen report.
    pub reports: Inbox<Msg>,
    pub reporter: Mailbox<Msg>,
    engine: Option<Engine>,
    pub outside: Outside,
    recorder: Recorder,
    began: Instant,
    pub leave: Option<Leave>,
    terminal: Arc<Tty>,
    workers: Workers,
}

impl Performer {
    pub fn new(world: Box<dyn World>, recorder: Recorder, terminal: Arc<Tty>, root: PathBuf) -> Self {
        let (reporter, reports) = mailbox();
        let outside = Outside::at(&terminal, &reporter);
        let workers = Workers::new(root, world.history(), reporter.clone());
        Performer {
            world,
            handle: None,
            reports,
            reporter,
            engine: None,
            outside,
            recorder,
            began: Instant::now(),
            leave: None,
            workers,
            terminal,
        }
    }

    pub fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// `model`: as it is before the message.
    pub fn record(&self, now: Duration, model: &Model, msg: &Msg) {
        if self.recorder.on() {
            self.recorder.line("msg", &(now, recording::masked(model, msg)));
        }
    }

    /// What comes of it at once.
    pub fn perform(&mut self, cmd: Cmd) -> Vec<Msg> {
        match cmd {
            Cmd::Send(command) => {
                if let Some(handle) = &self.handle {
                    handle.send(command);
                }
                vec![]
            }
            Cmd::WarmUp(language) => {
                self.in_background(move || Cold::of(&language).map(compiled));
                vec![]
            }
            Cmd::Compile(cold) => {
                self.in_background(move || Some(compiled(cold)));
                vec![]
            }
            Cmd::Colour(uncoloured) => {
                self.in_background(move || {
                    uncoloured.colour();
                    Some(Report::Coloured)
                });
                vec![]
            }
            Cmd::Trust => {
                let warning = self.world.trust().map(Msg::Notice);
                warning.into_iter().chain([self.open()]).collect()
            }
            Cmd::Open => vec![self.open()],
            Cmd::SaveProvider(settings) => vec![Msg::Notice(self.world.save_provider(&settings))],
            Cmd::Errand(Errand::SaveTheme(choice)) => self.world.save_theme(&choice).map(Msg::Notice).into_iter().collect(),
            Cmd::Rule(change) => match self.world.change_rule(&change) {
                Ok(permits) => permits.into_iter().flat_map(|permit| self.perform(Cmd::Send(Command::Permit(permit)))).collect(),
                Err(notice) => vec![Msg::Notice(notice)],
            },
            Cmd::Errand(errand) => {
                self.outside.run(errand, &self.reporter);
                vec![]
            }
            Cmd::Do(job @ Job::Edit(_)) => {
                self.workers.start(job);
                self.leave(Leave::Edit)
            }
            Cmd::Do(job) => {
                self.workers.start(job);
                vec![]
            }
            Cmd::Suspend => self.leave(Leave::Suspend),
            Cmd::Repaint => self.leave(Leave::Repaint),
            Cmd::Copy(text) => vec![self.copy(&text)],
            Cmd::Export { file, text } => vec![Msg::Notice(self.world.export(file, &text))],
            Cmd::ListSessions => {
                let list = self.world.sessions();
                self.in_background(move || Some(list()));
                vec![]
            }
            Cmd::Resume(which) => match self.world.can_resume(&which) {
                Ok(()) => self.leave(Leave::Resume(which, false)),
                Err(notice) => vec![Msg::Notice(notice)],
            },
            Cmd::Demo => self.leave(Leave::Demo),
            Cmd::Exit => self.leave(Leave::Exit),
        }
    }

    /// Short work that still takes longer than a key can wait.
    fn in_background(&self, work: impl FnOnce() -> Option<Report> + Send + 'static) {
        let reporter = self.reporter.clone();
        tokio::task::spawn_blocking(move || {
            if let Some(report) = work() {
                reporter.send(Msg::Report(report));
            }
        });
    }

    /// By the terminal itself (OSC 52): that works over ssh, too, and needs no program.
    fn copy(&self, text: &str) -> Msg {
        if text.len() > CLIPBOARD_MOST {
            return Msg::Notice(Notice::warning("This is too long for a terminal's clipboard.").hint("/export writes it to a file"));
        }
        let sent = self.terminal.write_all(format!("\x1b]52;c;{}\x07", BASE64_STANDARD.encode(text)).as_bytes());
        Msg::Notice(match sent {
            Ok(()) => Notice::info("Copied."),
            Err(error) => Notice::warning(format!("It could not be copied: {error}")),
        })
    }

    /// The prompt in the user's editor, while the screen is left.
    pub fn edit(&mut self) {
        self.workers.edit(&self.world.editor());
    }

    pub fn stay(&self, stays: bool) {
        self.terminal.stay(stays);
    }

    fn leave(&mut self, why: Leave) -> Vec<Msg> {
        self.leave = Some(why);
        vec![]
    }

    fn open(&mut self) -> Msg {
        match self.world.open() {
            Ok((handle, engine, opened)) => {
                (self.handle, self.engine) = (Some(handle), Some(engine));
                self.workers.session_opens();
                Msg::Opened(Ok(opened))
            }
            Err(notice) => Msg::Opened(Err(notice)),
        }
    }

    /// Ends the session: its turn is interrupted, its tools are stopped, its journal is written.
    pub fn close(&mut self) {
        if let Some(handle) = self.handle.take() {
            handle.send(Command::Close);
        }
        if let Some(engine) = self.engine.take() {
            engine.join();
        }
    }
}

fn compiled(cold: Cold) -> Report {
    cold.compile();
    Report::Compiled
}
