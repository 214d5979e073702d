//! A conversation in plain lines: for screen readers, logs and terminals that can do nothing else.
//!
//! - Not one control sequence is written.
//! - Through pipes, lines are taken when they are wanted: a prompt when nothing runs, an answer when a question waits. At a
//!   terminal they are taken at once, and a prompt waits in line.
//! - The end of the input lets what runs come to its end, but nobody is left to be asked.

use super::{
    interrupt, no_start,
    plain::{Line, Plain, Stop},
    prepared, question,
};
use crate::{
    commands::{self, Around, Outcome as Said, Screen},
    desktop,
    engine::Engine,
    failure::Failure,
    handle::Handle,
    launch::{Options, Prepared, Project},
    mailbox::Inbox,
    picture,
    protocol::{
        Block, CallEvent, CallId, CheckpointEvent, Command, EventBody, Image, Level, ModelInfo, Outcome, Permit, Prompt, Rule,
        SessionEvent, TextEvent, TurnEvent, TurnId,
    },
};
use backstitch_components::text::sanitize::{one_line, sanitize_output};
use std::{
    io::{self, IsTerminal, Write},
    path::Path,
    time::{Duration, Instant},
};
use tokio::signal::unix::{SignalKind, signal};

/// A second ctrl+c within this time exits.
const TWICE: Duration = Duration::from_secs(2);

pub fn run(options: &Options, demo: bool) -> Result<(), Failure> {
    let mut project = if demo { Project::demo()? } else { Project::here()? };
    let lines = desktop::lines::lines();
    if !project.is_trusted() && !trusts(&mut project, &lines) {
        return Err(Failure::config(format!("{} is not trusted, so nothing in it was read.", project.shown())));
    }
    let (runtime, Prepared { services, settings, records, opened }) = prepared(&project, options)?;
    let model = settings.model.as_ref().map_or_else(String::new, |model| one_line(&model.id.to_string()).into_owned());
    say(&format!("backstitch {} · {model} · {}", env!("CARGO_PKG_VERSION"), project.shown()));
    say("Type what should be done. /help lists the commands, ctrl+c interrupts, ctrl+d exits.");
    opened.warnings.iter().for_each(|warning| say(&format!("! {}", one_line(warning))));
    let model = settings.model.clone();
    let (handle, engine) = Engine::start(services, settings, records).map_err(no_start)?;
    let talk = Talk { terminal: io::stdin().is_terminal(), model, ..Talk::default() };
    let result = runtime.block_on(talk.go(&handle, &lines));
    handle.send(Command::Close);
    drop(handle);
    engine.join();
    result
}

fn trusts(project: &mut Project, lines: &Inbox<String>) -> bool {
    say(&format!("? Do you trust the files in {}? They steer what the agent does.", project.shown()));
    say("  1 no, leave · 2 yes, and remember it");
    // The safe answer is the one that anything else means.
    if lines.wait().is_none_or(|line| !matches!(line.trim(), "2" | "y" | "yes")) {
        return false;
    }
    let root = project.root.clone();
    project.trust.trust(&root);
    true
}

/// If nobody reads any more, that is no error of ours.
fn say(text: &str) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

#[derive(Default)]
struct Talk {
    plain: Plain,
    /// Lines come from a person, not through a pipe.
    terminal: bool,
    model: Option<ModelInfo>,
    asked: Option<CallId>,
    /// An undo or redo waits for a yes.
    stepping: bool,
    /// A prompt was sent, and its turn has not begun yet.
    sent: bool,
    /// The user's own command runs: its output is what was wanted.
    own: bool,
    /// For the next prompt.
    images: Vec<Image>,
    over: bool,
    failure: Option<Failure>,
    stopped: Option<Instant>,
}

impl Talk {
    fn busy(&self) -> bool {
        self.plain.turn.is_some() || self.sent
    }

    async fn go(mut self, handle: &Handle, lines: &Inbox<String>) -> Result<(), Failure> {
        let failed = |e: io::Error| Failure::internal(format!("Signals can't be watched: {e}"));
        let mut interrupts = signal(SignalKind::interrupt()).map_err(failed)?;
        let mut terminations = signal(SignalKind::terminate()).map_err(failed)?;
        let mut hangups = signal(SignalKind::hangup()).map_err(failed)?;
        self.ready();
        loop {
            if self.over && (self.terminal || !self.busy()) {
                // What a last command came to.
                handle.send(Command::Close);
                while let Some(event) = handle.events.next().await {
                    let closed = matches!(event.body, EventBody::Session(SessionEvent::Closed));
                    self.event(handle, event);
                    if closed {
                        break;
                    }
                }
                // For whoever started it through a pipe the code says how it went.
                return self.failure.filter(|_| !self.terminal).map_or(Ok(()), Err);
            }
            let wants = !self.over && (self.terminal || self.asked.is_some() || !self.busy());
            tokio::select! {
                biased;
                _ = terminations.recv() => return Err(Failure::interrupted()),
                _ = hangups.recv() => return Err(Failure::interrupted()),
                _ = interrupts.recv() => {
                    if self.interrupt(handle) {
                        return if self.terminal { Ok(()) } else { Err(Failure::interrupted()) };
                    }
                }
                event = handle.events.next() => match event {
                    Some(event) => self.event(handle, event),
                    None => return Err(Failure::internal("The engine has stopped: this is a fault of Backstitch.")),
                },
                line = lines.next(), if wants => match line {
                    Some(line) => self.line(handle, &line),
                    None => self.end(handle),
                },
            }
        }
    }

    /// A prompt for a person.
    fn ready(&self) {
        if self.terminal && !self.busy() && !self.over {
            let mut out = io::stdout().lock();
            let _ = write!(out, "> ").and_then(|()| out.flush());
        }
    }

    /// True if this is the end.
    fn interrupt(&mut self, handle: &Handle) -> bool {
        let again = self.stopped.replace(Instant::now()).is_some_and(|at| at.elapsed() < TWICE);
        if self.terminal {
            // Behind the `^C` that the terminal shows.
            say("");
        }
        if (self.terminal || !again) && interrupt(handle, self.plain.turn) {
            say("! stopping");
            return false;
        }
        if again || !self.terminal {
            return true;
        }
        say("! ctrl+c again to exit");
        self.ready();
        false
    }

    /// No more lines.
    fn end(&mut self, handle: &Handle) {
        self.over = true;
        if self.asked.is_some() {
            self.unasked(handle);
        }
    }

    /// There is a question, and nobody to answer it.
    fn unasked(&mut self, handle: &Handle) {
        self.failure.get_or_insert(Failure::approval("The input has ended, and there was a question left."));
        interrupt(handle, self.plain.turn);
    }

    fn event(&mut self, handle: &Handle, event: crate::protocol::Event) {
        let began_idle = !self.busy();
        if let EventBody::Turn(TurnEvent::Started) | EventBody::Session(SessionEvent::Unqueued { .. }) = &event.body {
            self.sent = false;
        }
        if let EventBody::Notice(notice) = &event.body
            && notice.level != Level::Info
            && self.plain.turn.is_none()
        {
            // Whatever was sent came to nothing.
            self.sent = false;
        }
        self.told(&event.body).into_iter().for_each(|line| say(&line));
        let (lines, stop) = self.plain.fold(event);
        for line in lines {
            match line {
                Line::Answer(text) | Line::Progress(text) => say(text.trim_end()),
            }
        }
        match stop {
            None => {}
            Some(Stop::Ended(result)) => {
                self.asked = None;
                if let Err(failure) = result {
                    say(&format!("! {}", one_line(&failure.message)));
                    failure.hints.iter().for_each(|hint| say(&format!("  {}", one_line(hint))));
                    self.failure.get_or_insert(failure);
                }
            }
            Some(Stop::Asked(id, _)) => {
                self.asked = Some(id);
                self.plain.call_of(id).map(question::question).unwrap_or_default().iter().for_each(|line| say(line));
                if self.over {
                    self.unasked(handle);
                }
            }
        }
        if !began_idle && !self.busy() {
            self.ready();
        }
    }

    /// What else of the session is worth a line.
    fn told(&mut self, body: &EventBody) -> Vec<String> {
        match body {
            EventBody::Session(SessionEvent::ModelChanged(model)) => {
                self.model = Some(model.clone());
                vec![format!("› The model is {} now.", one_line(&model.id.to_string()))]
            }
            EventBody::Session(SessionEvent::Retold(story)) => retold(story),
            EventBody::Session(SessionEvent::Permissions { rules, grants }) => {
                self.sent = false;
                let rule = |rule: &Rule| format!("  {} ({})", one_line(&rule.to_string()), rule.source.name());
                let told: Vec<String> = rules.iter().map(rule).collect();
                let granted = format!("› Rules: {}; allowed for this session besides: {}", rules.len(), grants.len());
                std::iter::once(granted).chain(told).collect()
            }
            EventBody::Session(SessionEvent::Judged { text, verdict, why }) => {
                self.sent = false;
                vec![format!("› {} {verdict}: {}", one_line(text), one_line(why))]
            }
            EventBody::Session(SessionEvent::Privacy(state)) => {
                self.sent = false;
                state.rows().iter().map(|row| format!("› {}", one_line(row))).collect()
            }
            EventBody::Session(SessionEvent::Inspected(text)) => {
                self.sent = false;
                vec!["› A model would be sent:".into(), sanitize_output(text).into_owned()]
            }
            EventBody::Session(SessionEvent::ModeChanged(mode)) => vec![format!("› The mode is {} now.", mode.name())],
            EventBody::Session(SessionEvent::Models(models)) => {
                models.iter().map(|m| format!("  {}", one_line(&m.id.to_string()))).collect()
            }
            EventBody::Session(SessionEvent::Queued { waiting }) if !waiting.is_empty() => {
                vec![format!("› Waiting in line: {}", waiting.len())]
            }
            EventBody::Session(SessionEvent::StepAsked { title, plan }) => {
                self.stepping = true;
                question::step(title, plan)
            }
            EventBody::Session(SessionEvent::Cleared) => vec!["› A new conversation.".into()],
            EventBody::Session(SessionEvent::Unqueued { prompt, .. }) => vec![format!("› Not sent: {}", one_line(&prompt.text))],
            EventBody::Call(CallEvent::Finished { outcome: Outcome::Done(output), .. }) if std::mem::take(&mut self.own) => {
                match &output.for_user {
                    Block::Terminal { output, .. } => vec![sanitize_output(output.trim_end()).into_owned()],
                    _ => vec![],
                }
            }
            EventBody::Checkpoint(CheckpointEvent::Restored { changes, .. }) => {
                let names = changes.iter().map(|c| one_line(&c.path.to_string_lossy()).into_owned()).collect::<Vec<_>>();
                vec![format!("› As before: {}", if names.is_empty() { "nothing had changed".into() } else { names.join(", ") })]
            }
            _ => vec![],
        }
    }

    fn line(&mut self, handle: &Handle, line: &str) {
        if let Some(call) = self.asked {
            match self.plain.call_of(call).and_then(|asked| question::answer_to(asked, line)) {
                Some(decision) => {
                    self.asked = None;
                    handle.send(Command::Decide { call, decision });
                }
                None => say("? 1, 2 or 3, please"),
            }
            return;
        }
        if std::mem::take(&mut self.stepping) {
            handle.send(Command::Step { go: matches!(line.trim().to_lowercase().as_str(), "1" | "y" | "yes") });
            return self.ready();
        }
        let text = line.trim();
        if let Some(command) = text.strip_prefix('!').map(str::trim).filter(|command| !command.is_empty()) {
            (self.sent, self.own) = (true, true);
            handle.send(Command::RunShell(command.into()));
        } else if let Some(parsed) = commands::parse(text) {
            match parsed {
                Ok((command, arguments)) => self.outcome(handle, command.name, (command.run)(arguments, &Around::default())),
                Err(why) => say(&format!("! {why}")),
            }
        } else if !text.is_empty() {
            self.prompt(handle, text);
        }
        self.ready();
    }

    fn prompt(&mut self, handle: &Handle, text: &str) {
        let images = std::mem::take(&mut self.images);
        let labels: String = images.iter().map(|image| format!(" {}", image.label)).collect();
        self.sent = true;
        handle.send(Command::Prompt(Prompt { text: format!("{text}{labels}"), images }));
    }

    fn outcome(&mut self, handle: &Handle, name: &str, outcome: Said) {
        match outcome {
            Said::Send(command) => {
                // Its answer is waited for.
                self.sent |= matches!(command, Command::Permit(_) | Command::Privacy(_));
                handle.send(command);
            }
            Said::Say(text) => say(text.trim_end()),
            Said::Fail(why) => say(&format!("! {why}")),
            Said::Image(path) => self.image(&path),
            Said::Screen(Screen::Exit) => (self.over, self.terminal) = (true, true),
            Said::Screen(Screen::Permissions) => {
                self.sent = true;
                handle.send(Command::Permit(Permit::List));
            }
            Said::Theme(_) | Said::Screen(_) => say(&format!("! /{name} needs the screen.")),
        }
    }

    fn image(&mut self, path: &str) {
        if let Some(model) = self.model.as_ref().filter(|model| model.vision == Some(false)) {
            return say(&format!("! {} sees no images.", model.id));
        }
        match picture::load(Path::new(path)) {
            Ok(image) => {
                let image = image.numbered(self.images.len() + 1);
                say(&format!("› {} goes with the next prompt.", image.label));
                self.images.push(image);
            }
            Err(why) => say(&format!("! {} {why}.", one_line(path))),
        }
    }
}

/// Where the session that goes on had come to: its last request and answer.
fn retold(story: &[(Option<TurnId>, EventBody)]) -> Vec<String> {
    let said = |body: &EventBody| match body {
        EventBody::Turn(TurnEvent::UserSaid(prompt)) => Some(prompt.text.clone()),
        _ => None,
    };
    let requests = story.iter().filter(|(_, body)| said(body).is_some()).count();
    let last = story.iter().rposition(|(_, body)| said(body).is_some()).unwrap_or(0);
    let mut lines = vec![format!("› The session goes on; requests so far: {requests}. The last one, and its answer:")];
    lines.extend(story[last..].iter().filter_map(|(_, body)| match body {
        EventBody::Text(TextEvent::Answer(text)) => Some(sanitize_output(text.trim_end()).into_owned()),
        body => said(body).map(|text| format!("> {}", one_line(&text))),
    }));
    lines
}
