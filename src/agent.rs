//! The agent as a state machine: `Agent::step(now, input)` changes its own state and returns what is to be done, in order.
//!
//! Pure: no IO, clock, randomness or waiting; the time comes in with each input. What it keeps:
//! - every call of a model gets exactly one result, in the model's order, whatever happens;
//! - nothing but a read runs without a verdict of `approval::judge` or a decision for that very call, with the arguments
//!   that were previewed, and without a checkpoint before it;
//! - a record is appended before the event that shows it is emitted; replaying the records gives the same transcript;
//! - nothing of a turn is emitted after its `Ended`; inputs that come too late are ignored.

pub mod approval;
mod calls;
pub mod effect;
pub mod input;
mod jobs;
mod profile;
mod reading;
mod repair;
mod responding;
mod rewinding;
mod story;
pub mod transcript;
mod turn;

#[cfg(test)]
mod tests;

pub use approval::Bounds;
pub use effect::{CheckpointRequest, Effect};
pub use input::{Checkpointed, Input, Restored};

use crate::{
    policy::{Asked, Policy},
    protocol::*,
};
use approval::{Said, Verdict};
use calls::Call;
use jobs::Jobs;
use rewinding::Rewinding;
use serde::{Deserialize, Serialize};
use std::{collections::VecDeque, path::PathBuf, sync::Arc, time::Duration};
use transcript::Transcript;
use turn::{Phase, Turn, TurnKind};

/// What a session is started with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Settings {
    pub session: SessionId,
    pub model: Option<ModelInfo>,
    pub mode: Mode,
    /// Asked for on the command line: it also counts where a session goes on that had another one.
    #[serde(default)]
    pub asked_mode: Option<Mode>,
    pub system: Arc<str>,
    pub tools: Arc<Vec<ToolSpec>>,
    /// Offered besides when a command has been started in the background.
    #[serde(default)]
    pub job_tools: Arc<Vec<ToolSpec>>,
    #[serde(default)]
    pub profile: ToolProfile,
    pub bounds: Bounds,
    /// By which calls are allowed, asked about or refused.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// Requests to the model within one turn.
    pub max_requests: u32,
}

pub struct Agent {
    settings: Settings,
    model: Option<ModelInfo>,
    transcript: Transcript,
    grants: Vec<Grant>,
    policy: Policy,
    queue: VecDeque<Prompt>,
    turn: Option<Turn>,
    rewinding: Option<Rewinding>,
    jobs: Jobs,
    requests: u64,
    timers: u64,
    /// Time since the session began, as of the input at hand.
    now: Duration,
    out: Vec<Effect>,
}

impl Agent {
    /// A new session, or the one that these records tell of. The effects are the first to be carried out.
    pub fn start(settings: Settings, records: &[Record]) -> (Self, Vec<Effect>) {
        let mut transcript = Transcript::default();
        records.iter().for_each(|r| transcript.apply(&r.body));
        let mut agent = Agent {
            model: settings.model.clone(),
            transcript,
            grants: vec![],
            policy: Policy::new(&settings.rules, &settings.bounds.root),
            queue: VecDeque::new(),
            turn: None,
            rewinding: None,
            jobs: Jobs::default(),
            requests: 0,
            timers: 0,
            now: Duration::ZERO,
            out: vec![],
            settings,
        };
        let (root, mode) = (agent.settings.bounds.root.display().to_string(), agent.settings.mode);
        if records.is_empty() {
            let model = agent.model.as_ref().map(|m| m.id.clone());
            agent.record(RecordBody::SessionStarted { root, model, mode });
        } else {
            // That nothing is asked is said anew each time.
            let before = Some(agent.transcript.mode).filter(|mode| *mode != Mode::Yolo);
            let mode = agent.settings.asked_mode.or(before).unwrap_or_default();
            if mode != agent.transcript.mode {
                agent.record(RecordBody::ModeChanged { mode });
            }
        }
        let (id, model) = (agent.settings.session.clone(), agent.model.clone());
        agent.emit(None, EventBody::Session(SessionEvent::Started { id, model, mode: agent.transcript.mode }));
        if !records.is_empty() {
            agent.go_on(records);
        }
        let effects = std::mem::take(&mut agent.out);
        (agent, effects)
    }

    /// Tells what there is of a session that goes on, and completes what a crash has cut.
    fn go_on(&mut self, records: &[Record]) {
        self.emit(None, EventBody::Session(SessionEvent::Retold(story::story(records))));
        let turn = TurnId(self.transcript.turns);
        let (reasoning, text) = story::half_said(records);
        self.keep_words(turn, reasoning, text);
        for message in self.transcript.missing_results() {
            self.say(turn, message);
        }
        if let Some(turn) = story::unended(records) {
            let (how, usage, context) = (TurnOutcome::Interrupted, Usage::default(), 0);
            self.record(RecordBody::TurnEnded { turn, how, usage, context });
            let notice = Notice::warning("The last turn was cut off before it ended.").hint("say \"go on\" to continue it");
            let changed = self.transcript.marks.iter().any(|mark| mark.opening && mark.turn == Some(turn));
            self.notice(if changed { notice.hint("/undo walks it back") } else { notice });
        }
    }

    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    pub fn session(&self) -> &SessionId {
        &self.settings.session
    }

    pub fn idle(&self) -> bool {
        self.turn.is_none() && self.rewinding.is_none()
    }

    /// Handles one input; `now` is the time since the session began and never goes back.
    pub fn step(&mut self, now: Duration, input: Input) -> Vec<Effect> {
        self.now = now;
        match input {
            Input::Command(command) => self.command(command),
            Input::Stream(request, item) => self.streamed(request, item),
            Input::Previewed(call, preview) => self.previewed(call, preview),
            Input::Progress(call, output) => self.progressed(call, output),
            Input::Ran(call, result) => self.ran(call, result),
            Input::JobStarted(job) => {
                self.jobs.started(job);
                self.emit(None, self.jobs.shown());
            }
            Input::JobEnded(job, end) => {
                let news = self.jobs.ended(job, end);
                self.emit(None, self.jobs.shown());
                news.into_iter().for_each(|notice| self.notice(notice));
            }
            Input::Checkpointed(turn, result) => self.checkpointed(turn, result),
            Input::Restored(to, result) => self.restored(to, result),
            Input::Kept(name, result) => self.kept(name, result),
            Input::Finished(result) => self.finished(result),
            Input::Planned(result) => self.tell(result, |(plan, changes)| SessionEvent::Planned { plan, changes }),
            Input::StepPlanned(to, result) => self.step_planned(&to, result),
            Input::Compared(from, to, result) => self.tell(result, |changes| SessionEvent::Compared { from, to, changes }),
            Input::Listed(result) => self.tell(result, |(all, bytes)| SessionEvent::Checkpoints { all, bytes }),
            Input::TimerFired(timer) => self.timer_fired(timer),
            Input::ModelReady(result) => self.model_ready(result),
            Input::Tried(text, result) => self.tried(text, result),
            Input::Facts(facts) => self.emit(None, EventBody::Session(SessionEvent::Facts(facts))),
            Input::Found(servers) => self.emit(None, EventBody::Session(SessionEvent::Found(servers))),
            Input::Models(models, failed) => {
                failed.into_iter().for_each(|why| self.notice(Notice::warning(why)));
                self.emit(None, EventBody::Session(SessionEvent::Models(models)));
            }
        }
        std::mem::take(&mut self.out)
    }

    fn command(&mut self, command: Command) {
        if needs_rest(&command) {
            // Whoever goes on does not want it any more.
            self.answer_step(false);
        }
        match command {
            Command::Prompt(prompt) => self.prompt(prompt),
            Command::Steer(text) => self.steer(text),
            Command::Unqueue => self.unqueue(),
            Command::Decide { call, decision } => self.decide(call, decision),
            Command::Interrupt(turn) => self.interrupt(turn),
            Command::SetModel(model) => self.out.push(Effect::UseModel(model)),
            Command::SetMode(mode) => self.set_mode(mode),
            Command::Permit(change) => self.permit(change),
            Command::Connect(settings) => self.out.push(Effect::Connect(settings)),
            Command::Discover => self.out.push(Effect::Discover),
            Command::ListModels => self.out.push(Effect::ListModels),
            Command::RunShell(command) => self.run_shell(command),
            Command::Rewind { to, scope, plan } => self.rewind(to, scope, plan),
            Command::Plan(wanted) => self.out.push(Effect::Plan(wanted)),
            Command::Compare { from, to } => self.out.push(Effect::Compare(from, to)),
            Command::Undo => self.undo(),
            Command::Redo => self.redo(),
            Command::Step { go } => self.answer_step(go),
            Command::Checkpoint(name) => self.keep(name),
            Command::Facts => self.out.push(Effect::Facts),
            Command::ListCheckpoints => self.out.push(Effect::ListCheckpoints),
            Command::Revise { id, revision } => self.out.push(Effect::Revise(id, revision)),
            Command::Unfinished { finish } => self.unfinished(finish),
            Command::Clear => self.clear(),
            Command::Close => self.close(),
        }
    }

    // --- what every part uses ---

    fn emit(&mut self, turn: Option<TurnId>, body: EventBody) {
        self.out.push(Effect::Emit(turn, body));
    }

    /// Of the running turn, or of none.
    fn emit_here(&mut self, body: EventBody) {
        let turn = self.turn.as_ref().map(|t| t.id);
        self.emit(turn, body);
    }

    fn notice(&mut self, notice: Notice) {
        self.emit_here(EventBody::Notice(notice));
    }

    fn record(&mut self, record: RecordBody) {
        self.transcript.apply(&record);
        self.out.push(Effect::Append(record));
    }

    fn say(&mut self, turn: TurnId, message: Message) {
        self.record(RecordBody::Said { turn, message });
    }

    fn timer(&mut self, after: Duration) -> TimerId {
        self.timers += 1;
        self.out.push(Effect::StartTimer(TimerId(self.timers), after));
        TimerId(self.timers)
    }

    // --- starting ---

    fn prompt(&mut self, prompt: Prompt) {
        if !self.idle() {
            self.queue.push_back(prompt);
            let waiting = self.queue.iter().cloned().collect();
            return self.emit(None, EventBody::Session(SessionEvent::Queued { waiting }));
        }
        if self.model.is_none() {
            let notice = Notice::error("There is no model to send this to.").hint("/model chooses one; /setup adds a provider");
            self.notice(notice);
            return self.give_back(prompt);
        }
        self.tell_of_jobs();
        let id = self.begin(TurnKind::Prompt, prompt.clone());
        self.say(id, Message::User(prompt));
        self.call_model();
    }

    /// The user's own command. Its output joins the conversation, so that the model knows of it.
    fn run_shell(&mut self, command: String) {
        if !self.idle() {
            return self.notice(Notice::warning("A turn is running: the command was not run.").hint("esc interrupts the turn"));
        }
        let id = self.begin(TurnKind::Shell, format!("!{command}").into());
        let request = CallRequest {
            id: CallId(self.transcript.calls + 1),
            provider_id: String::new(),
            name: "Bash".into(),
            arguments: String::new(),
        };
        let (name, title) = (request.name.clone(), command.clone());
        self.record(RecordBody::CallShown { turn: id, call: request.id, name, title, read: false, outcome: None });
        let call = Call::new(&request, Ok((serde_json::json!({ "command": command }), None)));
        self.propose(vec![call]);
        self.advance();
    }

    fn begin(&mut self, kind: TurnKind, prompt: Prompt) -> TurnId {
        let id = TurnId(self.transcript.turns + 1);
        self.record(RecordBody::TurnStarted { turn: id, prompt: prompt.clone() });
        self.turn = Some(Turn::new(id, kind, prompt.clone(), self.now));
        self.emit_here(EventBody::Turn(TurnEvent::UserSaid(prompt)));
        self.emit_here(EventBody::Turn(TurnEvent::Started));
        id
    }

    fn steer(&mut self, text: String) {
        match &mut self.turn {
            Some(turn) if turn.kind == TurnKind::Prompt => turn.steering.push(text),
            _ => self.prompt(text.into()),
        }
    }

    fn unqueue(&mut self) {
        if let Some(prompt) = self.queue.pop_back() {
            self.give_back(prompt);
        }
    }

    fn give_back(&mut self, prompt: Prompt) {
        let waiting = self.queue.iter().cloned().collect();
        self.emit(None, EventBody::Session(SessionEvent::Unqueued { prompt, waiting }));
    }

    // --- ending ---

    /// Cancels exactly this turn. What runs is stopped, and every call that has no result yet gets one.
    fn interrupt(&mut self, id: TurnId) {
        let Some(turn) = self.turn.as_mut().filter(|t| t.id == id) else { return };
        match turn.phase.clone() {
            Phase::Streaming(request) => {
                self.out.push(Effect::StopModel(request));
                self.keep_partial();
                self.close_turn(TurnOutcome::Interrupted);
            }
            Phase::Backoff(_) => self.close_turn(TurnOutcome::Interrupted),
            Phase::Acting => self.stop_calls(),
            Phase::Stopping(_) => self.give_up_calls(),
            Phase::Closing(outcome) => self.end_turn(outcome),
        }
    }

    /// The turn has nothing more to do: its last checkpoint, then its end.
    fn close_turn(&mut self, outcome: TurnOutcome) {
        let Some(turn) = &mut self.turn else { return };
        if !turn.changed {
            return self.end_turn(outcome);
        }
        turn.phase = Phase::Closing(outcome);
        self.checkpoint(CheckpointKind::Closing, vec![]);
    }

    fn end_turn(&mut self, outcome: TurnOutcome) {
        let Some(turn) = self.turn.take() else { return };
        let (how, usage, context) = (outcome.clone(), turn.usage, turn.context);
        self.record(RecordBody::TurnEnded { turn: turn.id, how, usage, context });
        let end = TurnEnd { how: outcome.clone(), usage: turn.usage, took: self.now.saturating_sub(turn.started) };
        self.emit(Some(turn.id), EventBody::Turn(TurnEvent::Ended(end)));
        // What was meant for the turn that just ended goes on, or back to the user who stopped it: never lost, never sent
        // unasked.
        let mut waiting: VecDeque<Prompt> = turn.steering.into_iter().map(Prompt::from).collect();
        waiting.append(&mut self.queue);
        self.queue = waiting;
        if outcome == TurnOutcome::Answered {
            return self.start_queued();
        }
        if !self.queue.is_empty() {
            let (texts, images): (Vec<_>, Vec<_>) = self.queue.drain(..).map(|p| (p.text, p.images)).unzip();
            self.give_back(Prompt { text: texts.join("\n"), images: images.concat() });
        }
    }

    fn start_queued(&mut self) {
        if let Some(prompt) = self.queue.pop_front() {
            let waiting = self.queue.iter().cloned().collect();
            self.emit(None, EventBody::Session(SessionEvent::Queued { waiting }));
            self.prompt(prompt);
        }
    }

    fn clear(&mut self) {
        if !self.idle() {
            return self.notice(Notice::warning("A turn is running: nothing was cleared.").hint("esc interrupts the turn"));
        }
        self.record(RecordBody::Cleared);
        self.grants.clear();
        // Nobody knows any more how one came there.
        self.out.push(Effect::LeaveFolder);
        self.emit(None, EventBody::Session(SessionEvent::Cleared));
    }

    fn close(&mut self) {
        self.queue.clear();
        if let Some(turn) = &mut self.turn {
            turn.steering.clear();
            let id = turn.id;
            self.interrupt(id);
        }
        // Still stopping, or still waiting for a checkpoint: there is nobody left to wait.
        if self.turn.is_some() {
            self.give_up_calls();
        }
        if self.turn.is_some() {
            self.end_turn(TurnOutcome::Interrupted);
        }
        if let Some((notice, told)) = self.jobs.give_up() {
            self.emit(None, EventBody::Notice(notice));
            self.record(told);
        }
        self.emit(None, EventBody::Session(SessionEvent::Closed));
        self.out.push(Effect::Stop);
    }

    // --- settings ---

    fn permit(&mut self, change: Permit) {
        let mut rules: Vec<Rule> = self.policy.rules().cloned().collect();
        match change {
            Permit::List => return self.tell_permissions(),
            Permit::Try(text) => return self.out.push(Effect::Try(text)),
            Permit::Add(rule) if rules.contains(&rule) => return self.tell_permissions(),
            Permit::Add(rule) => rules.push(rule),
            Permit::Remove(rule) => rules.retain(|known| !(known.says(&rule) && known.source == rule.source)),
            Permit::Revoke(grant) => self.grants.retain(|known| *known != grant),
        }
        self.policy = Policy::new(&rules, &self.settings.bounds.root);
        self.out.push(Effect::UseRules(rules));
        self.tell_permissions();
        // What waits may be free now, or refused; what was allowed and has not begun may not be any more.
        self.judge_again();
    }

    fn tell_permissions(&mut self) {
        let (rules, grants) = (self.policy.rules().cloned().collect(), self.grants.clone());
        self.emit(None, EventBody::Session(SessionEvent::Permissions { rules, grants }));
    }

    fn tried(&mut self, text: String, result: Result<(String, Access, Vec<PathBuf>), String>) {
        let (verdict, why) = match result {
            Err(why) => ("fails".to_owned(), why),
            Ok((tool, access, named)) => {
                let asked = Asked { tool: &tool, access: &access, named: &named };
                let said = Said { grants: &self.grants, policy: &self.policy };
                let (verdict, why) = approval::judged(self.transcript.mode, said, &self.settings.bounds, &asked);
                let verdict = match verdict {
                    Verdict::Allow => "runs",
                    Verdict::Ask => "asks",
                    Verdict::Forbid(_) => "is refused",
                };
                (verdict.to_owned(), why)
            }
        };
        self.emit(None, EventBody::Session(SessionEvent::Judged { text, verdict, why }));
    }

    fn set_mode(&mut self, mode: Mode) {
        self.record(RecordBody::ModeChanged { mode });
        self.emit(None, EventBody::Session(SessionEvent::ModeChanged(mode)));
        self.judge_again();
    }

    fn model_ready(&mut self, result: Result<ModelInfo, String>) {
        match result {
            Ok(model) => {
                self.record(RecordBody::ModelChanged { model: model.id.clone() });
                self.model = Some(model.clone());
                self.emit(None, EventBody::Session(SessionEvent::ModelChanged(model)));
            }
            Err(why) => self.emit(None, EventBody::Notice(Notice::error(why))),
        }
    }
}

/// Can't be done while something is asked.
fn needs_rest(command: &Command) -> bool {
    use Command::*;
    matches!(command, Prompt(_) | Steer(_) | RunShell(_) | Rewind { .. } | Undo | Redo | Checkpoint(_) | Unfinished { .. } | Clear)
}
