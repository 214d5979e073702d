//! The middle of a turn: the model's answer comes in, its calls are previewed, judged, run and answered.

use super::{
    Agent, Effect,
    approval::{self, Said, Verdict},
    calls::{self, Call, Next, State},
    profile,
    reading::{self, hint_for, parse_arguments},
    turn::{self, Draft, Guard, Phase, TurnKind},
};
use crate::protocol::*;
use std::time::Duration;

/// How long interrupted tools may take to end before the turn ends without them.
const STOPPING: Duration = Duration::from_secs(3);

impl Agent {
    // --- the answer ---

    pub(super) fn call_model(&mut self) {
        let (Some(turn), Some(model)) = (&mut self.turn, &self.model) else { return };
        if turn.requests >= self.settings.max_requests {
            let why = format!("stopped after {} requests in one turn", turn.requests);
            self.notice(Notice::warning(format!("The turn was {why}.")).hint("say \"go on\" to continue"));
            return self.close_turn(TurnOutcome::Failed(why));
        }
        let (model, name) = (model.id.clone(), model.id.model.clone());
        let (id, steering) = (turn.id, std::mem::take(&mut turn.steering));
        turn.requests += 1;
        turn.draft = Draft::default();
        turn.calls.clear();
        self.requests += 1;
        turn.phase = Phase::Streaming(RequestId(self.requests));
        self.tell_of_jobs();
        for text in steering {
            self.say(id, Message::User(text.clone().into()));
            self.emit_here(EventBody::Turn(TurnEvent::UserSaid(text.into())));
        }
        let tools = profile::offered(self.settings.profile, &name, &self.settings.tools, self.transcript.mode);
        self.out.push(Effect::CallModel(Request {
            id: RequestId(self.requests),
            model,
            system: profile::system(&self.settings.system, self.transcript.mode),
            messages: self.transcript.messages.clone(),
            tools: self.jobs.with_tools(tools, &self.settings.job_tools),
        }));
        self.emit_here(EventBody::Turn(TurnEvent::Called));
    }

    /// What has ended in the background becomes part of the conversation.
    pub(super) fn tell_of_jobs(&mut self) {
        self.jobs.tell().into_iter().for_each(|told| self.record(told));
    }

    pub(super) fn streamed(&mut self, request: RequestId, item: StreamItem) {
        let Some(turn) = self.turn.as_mut().filter(|t| t.phase == Phase::Streaming(request)) else { return };
        turn.draft.add(&item);
        let id = turn.id;
        match item {
            StreamItem::Text(text) => {
                self.record(RecordBody::Partial { turn: id, reasoning: String::new(), text: text.clone() });
                self.emit_here(EventBody::Text(TextEvent::Answer(text)));
            }
            StreamItem::Reasoning(text) => {
                self.record(RecordBody::Partial { turn: id, reasoning: text.clone(), text: String::new() });
                self.emit_here(EventBody::Text(TextEvent::Reasoning(text)));
            }
            StreamItem::CallDelta { .. } | StreamItem::Kept(_) => {}
            StreamItem::Usage(usage) => self.emit_here(EventBody::Turn(TurnEvent::Used(usage))),
            StreamItem::Done(reason) => self.answered(reason),
            StreamItem::Failed(error) => self.failed(error),
        }
    }

    fn answered(&mut self, reason: StopReason) {
        let Some(turn) = &mut self.turn else { return };
        let draft = std::mem::take(&mut turn.draft);
        turn.attempt = 0;
        turn.used(draft.usage);
        let id = turn.id;
        let mut next_call = self.transcript.calls;
        let (mut requests, mut calls) = (vec![], vec![]);
        for (n, call) in draft.calls.into_values().enumerate() {
            next_call += 1;
            let args = parse_arguments(&call.arguments, reason != StopReason::Length);
            // Some servers give every call the same id, and then refuse the history that has it twice.
            let taken = call.id.is_empty() || requests.iter().any(|r: &CallRequest| r.provider_id == call.id);
            let request = CallRequest {
                id: CallId(next_call),
                provider_id: if taken { format!("call_{next_call}_{n}") } else { call.id },
                name: call.name,
                arguments: args.as_ref().map_or("{}".into(), |(args, _)| args.to_string()),
            };
            calls.push(Call::new(&request, args));
            requests.push(request);
        }
        let empty = draft.text.is_empty() && requests.is_empty();
        let shown = !draft.text.is_empty() || !draft.reasoning.is_empty();
        if !empty || shown {
            self.say(id, Message::Assistant { text: draft.text, reasoning: draft.reasoning, calls: requests, kept: draft.kept });
        }
        if shown {
            self.emit_here(EventBody::Text(TextEvent::Done));
        }
        if reason == StopReason::Length {
            self.notice(Notice::warning("The answer was cut: the model reached its output limit.").hint("say \"go on\" to continue"));
        }
        if !calls.is_empty() {
            self.propose(calls);
            return self.advance();
        }
        if reason == StopReason::Paused {
            return self.call_model();
        }
        if reason == StopReason::Refused {
            self.notice(Notice::warning("The model refused to answer."));
        } else if empty {
            self.notice(
                Notice::warning("The model gave an empty answer.").hint("send the request again, or choose another model with /model"),
            );
        }
        self.go_on_or_close();
    }

    fn go_on_or_close(&mut self) {
        match &self.turn {
            Some(turn) if !turn.steering.is_empty() => self.call_model(),
            _ => self.close_turn(TurnOutcome::Answered),
        }
    }

    fn failed(&mut self, error: ProviderError) {
        let Some(turn) = &mut self.turn else { return };
        if turn.draft.is_empty() && error.kind.worth_retrying() && turn.attempt < turn::RETRIES {
            turn.attempt += 1;
            let (attempt, wait) = (turn.attempt, turn::backoff(turn.attempt, &error));
            let timer = self.timer(wait);
            if let Some(turn) = &mut self.turn {
                turn.phase = Phase::Backoff(timer);
            }
            let retrying = TurnEvent::Retrying { attempt, of: turn::RETRIES, wait, why: error.message };
            return self.emit_here(EventBody::Turn(retrying));
        }
        if self.keep_partial() {
            let text = format!("The answer ended early: {}. What had come is kept.", error.message.trim_end_matches('.'));
            self.notice(Notice::warning(text).hint("say \"go on\" to continue"));
        } else {
            let mut notice = Notice::error(error.message.clone());
            notice.hints.extend(hint_for(&error).map(String::from));
            self.notice(notice);
        }
        self.close_turn(TurnOutcome::Failed(error.message));
    }

    /// What had been said when the answer ended early stays said. Its unfinished calls are dropped: they never ran.
    pub(super) fn keep_partial(&mut self) -> bool {
        let Some(turn) = &mut self.turn else { return false };
        let (id, draft) = (turn.id, std::mem::take(&mut turn.draft));
        turn.used(draft.usage);
        let (kept, shown) = (!draft.text.is_empty(), !draft.text.is_empty() || !draft.reasoning.is_empty());
        self.keep_words(id, draft.reasoning, draft.text);
        if shown {
            self.emit_here(EventBody::Text(TextEvent::Done));
        }
        kept
    }

    pub(super) fn keep_words(&mut self, turn: TurnId, reasoning: String, text: String) {
        if !text.is_empty() {
            // What the server wants back unchanged belongs to whole answers.
            self.say(turn, Message::Assistant { text, reasoning, calls: vec![], kept: vec![] });
        } else if !reasoning.is_empty() {
            self.record(RecordBody::Thought { turn, text: reasoning });
        }
    }

    // --- its calls ---

    pub(super) fn propose(&mut self, calls: Vec<Call>) {
        for call in &calls {
            let (id, name, title) = (call.id, call.name.clone(), call.title());
            self.emit_here(EventBody::Call(CallEvent::Proposed { id, name, title }));
        }
        if let Some(turn) = &mut self.turn {
            turn.phase = Phase::Acting;
            turn.calls = calls;
        }
    }

    /// Tells the results that are due, then starts whatever may start now.
    pub(super) fn advance(&mut self) {
        loop {
            self.tell_results();
            let Some(turn) = self.turn.as_mut().filter(|t| t.phase == Phase::Acting) else { return };
            if turn.calls.iter().all(Call::finished) {
                return match turn.kind {
                    TurnKind::Prompt => self.call_model(),
                    TurnKind::Shell => self.close_turn(TurnOutcome::Answered),
                };
            }
            match calls::next(&turn.calls) {
                None => return,
                Some(Next::Preview(id)) => {
                    let Some(call) = turn.call(id) else { return };
                    call.state = State::Previewing;
                    let (name, args) = (call.name.clone(), call.args.clone());
                    self.out.push(Effect::Preview { id, name, args });
                }
                Some(Next::Run(id)) => {
                    if !self.run(id) {
                        return;
                    }
                }
            }
        }
    }

    /// Starts an allowed call; false when its checkpoint has to come first.
    fn run(&mut self, id: CallId) -> bool {
        let Some(turn) = &mut self.turn else { return false };
        let (guard, changed) = (turn.guard, turn.changed);
        let Some(call) = turn.call(id) else { return false };
        if !call.changes_nothing() {
            match guard {
                Guard::NotYet => {
                    let cover = match call.access() {
                        Some(Access::Write(paths)) => paths.clone(),
                        _ => vec![],
                    };
                    turn.guard = Guard::Taking;
                    self.checkpoint(if changed { CheckpointKind::Between } else { CheckpointKind::Opening }, cover);
                    return false;
                }
                Guard::Taking => return false,
                Guard::Failed => {
                    call.state = State::Asked;
                    self.emit_here(EventBody::Call(CallEvent::Asked { id, why: None }));
                    return false;
                }
                Guard::Taken => (turn.changed, turn.guard) = (true, Guard::NotYet),
                Guard::Waived => turn.changed = true,
            }
        }
        let typed = turn.kind == TurnKind::Shell;
        let Some(call) = turn.call(id) else { return false };
        call.state = State::Running;
        let mut basis = call.preview.as_ref().map(|p| p.basis.clone()).unwrap_or_default();
        // What the user types is the user's own.
        basis.outside |= typed;
        let (name, args) = call.to_run();
        let run = ToolCall { id, name, args, basis };
        self.emit_here(EventBody::Call(CallEvent::Started { id }));
        self.out.push(Effect::RunTool(run));
        true
    }

    pub(super) fn previewed(&mut self, id: CallId, result: Result<Preview, ToolError>) {
        let Some(turn) = &mut self.turn else { return };
        let kind = turn.kind;
        let Some(call) = turn.call(id).filter(|c| c.state == State::Previewing) else { return };
        match result {
            Err(error) => call.state = State::Finished(Outcome::Failed(error.0)),
            Ok(preview) => {
                let (access, title, block) = (preview.access.clone(), preview.title.clone(), preview.block.clone());
                call.preview = Some(preview);
                // The user's own command is as good as allowed.
                call.state = if kind == TurnKind::Shell { State::Allowed } else { State::Asked };
                self.emit_here(EventBody::Call(CallEvent::Previewed { id, access, title, block }));
                if kind == TurnKind::Prompt {
                    self.judge(id, true);
                }
            }
        }
        self.advance();
    }

    /// Moves a call on that waits for a verdict. `ask`: tell the user when it has to wait for one.
    fn judge(&mut self, id: CallId, ask: bool) {
        let mode = self.transcript.mode;
        let said = Said { grants: &self.grants, policy: &self.policy };
        let Some(turn) = &mut self.turn else { return };
        let guard = turn.guard;
        let Some(call) = turn.call(id).filter(|c| c.state == State::Asked) else { return };
        let Some(asked) = call.asked() else { return };
        let access = asked.access;
        let (verdict, why) = approval::judged(mode, said, &self.settings.bounds, &asked);
        let why = said.policy.limit(&asked).map(|_| why);
        // Without a checkpoint a change can't be undone: that is for the user to say, whatever the mode.
        let asks_anyway = guard == Guard::Failed && !access.changes_nothing();
        match verdict {
            Verdict::Allow if !asks_anyway => call.state = State::Allowed,
            Verdict::Forbid(why) => call.state = State::Finished(Outcome::Forbidden(why)),
            _ if ask => self.emit_here(EventBody::Call(CallEvent::Asked { id, why })),
            _ => {}
        }
    }

    /// The mode or the grants have changed: calls that wait may be free now, or refused. The user's own commands are not judged.
    pub(super) fn judge_again(&mut self) {
        let Some(turn) = self.turn.as_ref().filter(|t| t.phase == Phase::Acting) else { return };
        let judged = turn.kind == TurnKind::Prompt;
        let in_state = |state: State| turn.calls.iter().filter(|c| judged && c.state == state).map(|c| c.id).collect::<Vec<_>>();
        let (waiting, allowed) = (in_state(State::Asked), in_state(State::Allowed));
        waiting.into_iter().for_each(|id| self.judge(id, false));
        // Allowed, but not yet running: a stricter mode holds for these too.
        allowed.into_iter().for_each(|id| self.judge_allowed(id));
        self.advance();
    }

    fn judge_allowed(&mut self, id: CallId) {
        let mode = self.transcript.mode;
        let said = Said { grants: &self.grants, policy: &self.policy };
        let Some(call) = self.turn.as_mut().and_then(|t| t.call(id)) else { return };
        let Some(asked) = call.asked() else { return };
        match approval::judge(mode, said, &self.settings.bounds, &asked) {
            // The yes to this one is what ended plan mode.
            _ if call.decided && *asked.access == Access::Plan => {}
            Verdict::Forbid(why) => call.state = State::Finished(Outcome::Forbidden(why)),
            Verdict::Ask if !call.decided => {
                call.state = State::Asked;
                self.emit_here(EventBody::Call(CallEvent::Asked { id, why: None }));
            }
            _ => {}
        }
    }

    pub(super) fn decide(&mut self, id: CallId, decision: Decision) {
        let Some(turn) = self.turn.as_mut().filter(|t| t.phase == Phase::Acting) else { return };
        let guard = turn.guard;
        let Some(call) = turn.call(id).filter(|c| c.state == State::Asked) else { return };
        let access = call.access().cloned();
        match decision {
            Decision::Deny { reason } => call.state = State::Finished(Outcome::Denied { reason }),
            Decision::AllowPart { .. } if !call.takes_part() => return,
            Decision::Allow | Decision::AllowSession if matches!(access, Some(Access::Question { .. })) => return,
            Decision::Allow | Decision::AllowSession | Decision::AllowCommands(_) | Decision::AllowPart { .. } => {
                if let Decision::AllowPart { content, note } = &decision {
                    call.part = Some((content.clone(), note.clone()));
                }
                (call.state, call.decided) = (State::Allowed, true);
                if guard == Guard::Failed && !call.changes_nothing() {
                    turn.guard = Guard::Waived;
                }
                if let Some(mode) = approval::mode_after(&decision, access.as_ref()) {
                    return self.set_mode(mode);
                }
                let new = match (decision, access) {
                    (Decision::AllowSession, Some(access)) => approval::grants_for(&self.settings.bounds, &access),
                    (Decision::AllowCommands(patterns), Some(Access::Run { .. })) => patterns.into_iter().map(Grant::Commands).collect(),
                    _ => vec![],
                };
                if !new.is_empty() {
                    self.grants.extend(new);
                    return self.judge_again();
                }
            }
        }
        self.advance();
    }

    pub(super) fn progressed(&mut self, id: CallId, output: String) {
        let running = self.turn.as_mut().and_then(|t| t.call(id)).is_some_and(|c| c.state == State::Running);
        if running {
            self.emit_here(EventBody::Call(CallEvent::Progress { id, output }));
        }
    }

    pub(super) fn ran(&mut self, id: CallId, result: Result<ToolOutput, ToolError>) {
        let Some(call) = self.turn.as_mut().and_then(|t| t.call(id)) else { return };
        let mut read = None;
        let outcome = match (&call.state, result) {
            (State::Running, Ok(mut output)) => {
                if let Some((_, note)) = call.part.as_ref().filter(|(_, note)| !note.is_empty()) {
                    output.for_model = format!("{}\n{note}", output.for_model.trim_end());
                }
                if let (Some(Access::Job { id, .. }), Block::Terminal { status: Some(_), .. }) = (call.access(), &output.for_user) {
                    read = Some(id.clone());
                }
                Outcome::Done(output)
            }
            (State::Running, Err(error)) => Outcome::Failed(error.0),
            (State::Stopping, Ok(output)) => Outcome::Interrupted { output: output.for_model },
            (State::Stopping, Err(error)) => Outcome::Interrupted { output: error.0 },
            _ => return,
        };
        call.state = State::Finished(outcome);
        if let Some(job) = read {
            self.jobs.read(job);
        }
        self.advance();
        self.stopped();
    }

    // --- stopping ---

    pub(super) fn stop_calls(&mut self) {
        let runs = self.turn.as_ref().is_some_and(|t| t.calls.iter().any(|c| c.state == State::Running));
        // Without anything to wait for the timer is one that has long fired.
        let timer = if runs { self.timer(STOPPING) } else { TimerId(self.timers) };
        let Some(turn) = &mut self.turn else { return };
        turn.phase = Phase::Stopping(timer);
        for call in &mut turn.calls {
            match call.state {
                State::Running => {
                    call.state = State::Stopping;
                    self.out.push(Effect::StopTool(call.id));
                }
                State::Finished(_) => {}
                _ => call.state = State::Finished(Outcome::Interrupted { output: String::new() }),
            }
        }
        self.tell_results();
        self.stopped();
    }

    /// Ends an interrupted turn once nothing of it runs any more.
    fn stopped(&mut self) {
        let done = self.turn.as_ref().is_some_and(|t| matches!(t.phase, Phase::Stopping(_)) && t.calls.iter().all(Call::finished));
        if done {
            self.close_turn(TurnOutcome::Interrupted);
        }
    }

    /// The tools had their time: the turn ends without them.
    pub(super) fn give_up_calls(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        for call in turn.calls.iter_mut().filter(|c| !c.finished()) {
            call.state = State::Finished(Outcome::Interrupted { output: String::new() });
        }
        self.tell_results();
        self.stopped();
    }

    pub(super) fn timer_fired(&mut self, timer: TimerId) {
        match self.turn.as_ref().map(|t| &t.phase) {
            Some(Phase::Backoff(waited)) if *waited == timer => {
                // The same request again, not one more of the turn's.
                if let Some(turn) = &mut self.turn {
                    turn.requests = turn.requests.saturating_sub(1);
                }
                self.call_model();
            }
            Some(Phase::Stopping(waited)) if *waited == timer => self.give_up_calls(),
            _ => {}
        }
    }

    /// Results join the conversation in the order in which the model asked, each once.
    fn tell_results(&mut self) {
        loop {
            let Some(turn) = &mut self.turn else { return };
            let (id, kind) = (turn.id, turn.kind);
            let Some(call) = turn.calls.iter_mut().find(|c| !c.told) else { return };
            let State::Finished(outcome) = &call.state else { return };
            let (outcome, title) = (outcome.clone(), call.title());
            call.told = true;
            let (call_id, mut content, name, read) = (call.id, outcome.for_model(), call.name.clone(), call.is_read());
            if let Some(wrong) = &call.repaired {
                content.push_str(&format!(
                    "\n(The arguments were not valid JSON: {wrong}. They were read as: {})",
                    reading::short(&call.args)
                ));
            }
            if let Some(read_as) = call.preview.as_ref().map(|preview| preview.read_as.as_str()).filter(|read_as| !read_as.is_empty()) {
                content.push_str(&format!("\n({read_as})"));
            }
            let mut images = vec![];
            if let Outcome::Done(ToolOutput { for_user: Block::Image(image), .. }) = &outcome {
                match self.settings.model.as_ref().filter(|model| model.vision == Some(false)) {
                    Some(blind) => content = format!("{title} is an image, and {} sees none: its provider's settings say so.", blind.id),
                    None => images.push((**image).clone()),
                }
            }
            let message = match kind {
                TurnKind::Shell => Message::User(format!("I ran this command myself: {title}\nIts output:\n{content}").into()),
                TurnKind::Prompt => Message::Result {
                    call: call_id,
                    provider_id: call.provider_id.clone(),
                    name: call.name.clone(),
                    content,
                    failed: !matches!(&outcome, Outcome::Done(output) if !output.failed),
                    images,
                },
            };
            self.record(RecordBody::CallShown { turn: id, call: call_id, name, title, read, outcome: Some(outcome.kept()) });
            self.say(id, message);
            self.emit_here(EventBody::Call(CallEvent::Finished { id: call_id, outcome }));
        }
    }
}
