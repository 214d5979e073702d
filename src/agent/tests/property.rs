//! What the agent promises, whatever happens: a random world answers its effects, or lets them wait, or sends what nobody
//! asked for. Every effect is checked against an account kept apart from the agent.

use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// One random step; the numbers choose among what is open at that moment.
#[derive(Debug, Clone)]
enum Move {
    Command(u8, u64),
    /// Something of the model's answer.
    Stream(u8),
    /// Answers one of the open effects, well or badly.
    Answer(usize, bool),
    /// Something stale or made up.
    Noise(u8, u64),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        2 => (0u8..19, 0u64..8).prop_map(|(a, b)| Move::Command(a, b)),
        6 => (0u8..8).prop_map(Move::Stream),
        8 => (0usize..8, prop::bool::weighted(0.85)).prop_map(|(n, ok)| Move::Answer(n, ok)),
        1 => (0u8..8, 0u64..12).prop_map(|(a, b)| Move::Noise(a, b)),
    ];
    prop::collection::vec(one, 1..120)
}

/// What the world owes the agent.
#[derive(Debug, Clone, PartialEq)]
enum Open {
    Preview(CallId),
    Tool(CallId),
    Checkpoint(TurnId),
    Restore(CheckpointId),
    Plan(Wanted),
    Kept(String),
    Timer(TimerId),
    Model(ModelId),
}

#[derive(Default)]
struct World {
    open: Vec<Open>,
    request: Option<RequestId>,
    deltas: usize,
    turn: Option<TurnId>,
    asked: BTreeSet<CallId>,
    /// Calls with what they were previewed as.
    previews: BTreeMap<CallId, (serde_json::Value, Access)>,
    /// Decided by the user, for that very call.
    allowed: BTreeSet<CallId>,
    grants: Vec<Grant>,
    mode: Mode,
    shell: BTreeSet<CallId>,
    records: Vec<RecordBody>,
    emitted: Vec<(Option<TurnId>, EventBody)>,
    told: BTreeSet<CallId>,
    ended: BTreeSet<TurnId>,
    /// Turns in which a checkpoint was taken since the last change, or refused and waived.
    covered: BTreeSet<TurnId>,
    waived: BTreeSet<TurnId>,
    /// The last checkpoint asked for could not be taken.
    refused: bool,
    checkpoints: u64,
    /// Rules forbid to write /p/a, and to run anything.
    rules: (bool, bool),
}

impl World {
    fn absorb(&mut self, agent: &Agent, effects: &[Effect]) {
        let mut told_by_record: BTreeSet<CallId> = BTreeSet::new();
        for effect in effects {
            match effect {
                Effect::Emit(turn, body) => {
                    self.emitted.push((*turn, body.clone()));
                    self.shown(*turn, body, &mut told_by_record);
                }
                Effect::Append(record) => {
                    if let RecordBody::Said { message: Message::Result { call, .. }, .. } = record {
                        assert!(self.told.insert(*call), "call {call} has two results");
                        told_by_record.insert(*call);
                    }
                    if let RecordBody::CallShown { call, outcome, .. } = record {
                        told_by_record.insert(*call);
                        // Nothing has come of it yet: the user's own command.
                        if outcome.is_none() {
                            self.shell.insert(*call);
                        }
                    }
                    self.records.push(record.clone());
                }
                Effect::CallModel(request) => {
                    assert_valid(&request.messages);
                    assert_eq!(self.request, None, "two requests at once");
                    self.request = Some(request.id);
                    self.deltas = 0;
                }
                Effect::StopModel(request) => assert_eq!(self.request.take(), Some(*request)),
                Effect::Preview { id, args, .. } => {
                    self.previews.insert(*id, (args.clone(), Access::Read(vec![])));
                    self.open.push(Open::Preview(*id));
                }
                Effect::RunTool(call) => self.ran(call),
                Effect::StopTool(id) => assert!(self.open.contains(&Open::Tool(*id)), "stopped a call that doesn't run"),
                Effect::TakeCheckpoint(c) => self.open.push(Open::Checkpoint(c.turn)),
                Effect::Restore(wanted, _) => self.open.push(Open::Restore(wanted.to.clone())),
                Effect::PlanStep(wanted) => self.open.push(Open::Plan(wanted.clone())),
                Effect::KeepCheckpoint(name, _) => self.open.push(Open::Kept(name.clone())),
                Effect::StartTimer(timer, _) => self.open.push(Open::Timer(*timer)),
                Effect::UseModel(model) => self.open.push(Open::Model(model.clone())),
                Effect::Plan(_)
                | Effect::Compare(..)
                | Effect::ListCheckpoints
                | Effect::Facts
                | Effect::Revise(..)
                | Effect::Unfinished(_) => {}
                Effect::Connect(_) | Effect::Discover | Effect::ListModels | Effect::Stop => {}
                Effect::UseRules(_) | Effect::Try(_) | Effect::LeaveFolder => {}
            }
        }
        let mut replayed = Transcript::default();
        self.records.iter().for_each(|r| replayed.apply(r));
        assert_eq!(&replayed, agent.transcript(), "replaying the records gives the live state");
    }

    fn shown(&mut self, turn: Option<TurnId>, body: &EventBody, recorded: &mut BTreeSet<CallId>) {
        if let Some(turn) = turn {
            assert!(!self.ended.contains(&turn), "{body:?} after the end of turn {turn}");
        }
        match body {
            EventBody::Text(TextEvent::Answer(shown)) => {
                let written = |record: &RecordBody| matches!(record, RecordBody::Partial { text, .. } if text == shown);
                assert!(self.records.last().is_some_and(written), "shown before it was written: {shown}");
            }
            EventBody::Turn(TurnEvent::Started) => (self.turn, self.refused) = (turn, false),
            EventBody::Turn(TurnEvent::Ended(_)) => {
                self.turn = None;
                self.request = None;
                self.ended.insert(turn.unwrap());
                assert!(matches!(self.records.last(), Some(RecordBody::TurnEnded { .. })), "ended before it was recorded");
            }
            EventBody::Call(CallEvent::Asked { id, .. }) => drop(self.asked.insert(*id)),
            EventBody::Call(CallEvent::Finished { id, .. }) => {
                self.asked.remove(id);
                assert!(recorded.contains(id) || self.shell.contains(id), "call {id} shown before it was recorded");
            }
            EventBody::Session(SessionEvent::Cleared) => self.grants.clear(),
            _ => {}
        }
    }

    /// Nothing but what was allowed: judged here by the plain rules, not by the agent's.
    fn ran(&mut self, call: &ToolCall) {
        let (args, access) = &self.previews[&call.id];
        assert_eq!(args, &call.args, "what runs is what was previewed");
        let inside = |paths: &[PathBuf]| paths.iter().all(|p| p.starts_with("/p"));
        let free = match access {
            Access::Read(paths) => inside(paths),
            Access::Write(paths) => inside(paths) && self.mode == Mode::AutoAccept,
            Access::Run { parts, .. } => parts.first().is_some_and(|part| part.touches == [Touch::Reads("/p/a".into())]),
            _ => false,
        };
        let granted = self.grants.iter().any(|g| match (g, access) {
            (Grant::Edits, Access::Write(paths)) => inside(paths),
            (Grant::Write(w), Access::Write(paths)) => paths.iter().all(|p| p == w),
            (Grant::Read(r), Access::Read(paths)) => paths.iter().all(|p| p.starts_with(r)),
            (Grant::Command(c), Access::Run { command, .. }) => c == command,
            (Grant::Commands(pattern), Access::Run { parts, .. }) => parts.iter().all(|part| part.words == pattern.words),
            _ => false,
        });
        let own = self.shell.contains(&call.id);
        let forbidden = match access {
            Access::Write(paths) => self.rules.0 && paths.contains(&"/p/a".into()),
            access => self.rules.1 && matches!(access, Access::Run { .. }),
        };
        assert!(own || !forbidden, "{call:?} ran in spite of a rule: {access:?}");
        assert!(
            own || free || granted || self.mode == Mode::Yolo || self.allowed.contains(&call.id),
            "{call:?} ran unasked in {:?}: {access:?}",
            self.mode
        );
        let alone = self.open.iter().all(|o| !matches!(o, Open::Tool(_)));
        assert!(alone || access.is_read(), "a command beside another call");
        if !access.changes_nothing() {
            assert!(own || self.mode != Mode::Plan, "a change in plan mode");
            assert!(self.covered.contains(&self.turn.unwrap()), "a change without a checkpoint");
            // A checkpoint is for one change; going on without one is for the turn.
            if !self.waived.contains(&self.turn.unwrap()) {
                self.covered.remove(&self.turn.unwrap());
            }
        }
        self.open.push(Open::Tool(call.id));
    }

    fn input(&mut self, agent: &Agent, mv: &Move) -> Option<Input> {
        Some(match mv {
            Move::Command(what, n) => Input::Command(self.command(*what, *n)),
            Move::Stream(what) => {
                let request = self.request?;
                self.deltas += 1;
                let item = match what {
                    0..3 => StreamItem::Text("x".into()),
                    3 => StreamItem::Reasoning("r".into()),
                    4 | 5 => {
                        let n = self.deltas;
                        let arguments = if n.is_multiple_of(7) { "{oops".into() } else { format!("{{\"n\":{n}}}") };
                        StreamItem::CallDelta { index: n, id: Some("same".into()), name: Some(format!("T{n}")), arguments }
                    }
                    6 => StreamItem::Done(StopReason::Finished),
                    _ => {
                        let kind = if self.deltas.is_multiple_of(2) { ProviderErrorKind::Busy } else { ProviderErrorKind::Refused };
                        StreamItem::Failed(ProviderError { kind, message: "no".into(), status: None, retry_after: None })
                    }
                };
                if matches!(item, StreamItem::Done(_) | StreamItem::Failed(_)) {
                    self.request = None;
                }
                Input::Stream(request, item)
            }
            Move::Answer(n, ok) => {
                if self.open.is_empty() {
                    return None;
                }
                let open = self.open.remove(n % self.open.len());
                self.answer(agent, open, *ok)
            }
            Move::Noise(what, n) => match what {
                0 => Input::Stream(RequestId(100 + n), StreamItem::Done(StopReason::Finished)),
                1 => Input::Ran(CallId(1000 + n), Ok(output())),
                2 => Input::Previewed(CallId(1000 + n), Err(ToolError::new("stale"))),
                3 => Input::Checkpointed(TurnId(1000 + n), Err("stale".into())),
                4 => Input::TimerFired(TimerId(1000 + n)),
                5 => Input::JobStarted(Job { id: format!("bash_{n}"), command: "serve".into() }),
                6 => {
                    let end = JobEnd { how: "exit 1".into(), failed: true, asked: n % 3 == 0 };
                    Input::JobEnded(Job { id: format!("bash_{n}"), command: "serve".into() }, end)
                }
                _ => Input::Restored(CheckpointId("none".into()), Err("stale".into())),
            },
        })
    }

    fn command(&mut self, what: u8, n: u64) -> Command {
        let call = self.asked.iter().next().copied().unwrap_or(CallId(n));
        match what {
            0..3 => Command::Prompt(format!("prompt {n}").into()),
            3 => Command::Steer("steer".into()),
            4 => Command::Unqueue,
            5 | 6 => {
                if self.asked.contains(&call) {
                    self.allow(call);
                }
                Command::Decide { call, decision: Decision::Allow }
            }
            7 => {
                if self.asked.contains(&call) {
                    self.allow(call);
                    let bounds = Bounds { root: "/p".into(), readable: vec![] };
                    self.grants.extend(approval::grants_for(&bounds, &self.previews[&call].1));
                }
                Command::Decide { call, decision: Decision::AllowSession }
            }
            8 => Command::Decide { call, decision: Decision::Deny { reason: None } },
            9 => Command::Interrupt(TurnId(n.max(self.turn.map_or(0, |t| t.0)))),
            10 => {
                self.mode = Mode::ALL[n as usize % 4];
                Command::SetMode(self.mode)
            }
            11 => Command::RunShell("make".into()),
            12 => Command::Undo,
            13 => Command::Redo,
            14 => Command::Checkpoint("mine".into()),
            15 | 16 => {
                let text = if what == 15 { "Edit(a)" } else { "Bash" };
                let rule = Rule::new(Ruling::Deny, RuleSource::Session, text);
                let comes = !n.is_multiple_of(3);
                *(if what == 15 { &mut self.rules.0 } else { &mut self.rules.1 }) = comes;
                Command::Permit(if comes { Permit::Add(rule) } else { Permit::Remove(rule) })
            }
            17 => Command::Step { go: n.is_multiple_of(2) },
            _ => Command::Clear,
        }
    }

    fn allow(&mut self, call: CallId) {
        self.allowed.insert(call);
        // The user saw that there is no checkpoint: that counts for the rest of the turn.
        if let Some(turn) = self.turn.filter(|_| self.refused && !self.previews[&call].1.changes_nothing()) {
            self.covered.insert(turn);
            self.waived.insert(turn);
        }
    }

    fn answer(&mut self, agent: &Agent, open: Open, ok: bool) -> Input {
        match open {
            Open::Preview(id) if ok => {
                let access = match id.0 % 6 {
                    0 | 1 => Access::Read(vec!["/p/a".into()]),
                    2 => Access::Write(vec!["/p/a".into()]),
                    3 => Access::Write(vec!["/etc/a".into()]),
                    4 => {
                        let part = |words: &[&str], touches| CommandPart {
                            at: (0, 0),
                            words: words.iter().map(ToString::to_string).collect(),
                            touches,
                            said: vec![],
                        };
                        // One of which nothing is known, one that a pattern can cover, one that reads, one that reads elsewhere.
                        let parts = match id.0 / 6 % 4 {
                            0 => vec![],
                            1 => vec![part(&["make"], vec![Touch::Project])],
                            2 => vec![part(&["cat", "a"], vec![Touch::Reads("/p/a".into())])],
                            _ => vec![part(&["cat", "/etc/a"], vec![Touch::Reads("/etc/a".into())])],
                        };
                        Access::Run { command: format!("make {}", id.0 % 12), parts, folder: None, outside: false }
                    }
                    _ => Access::Read(vec!["/etc/a".into()]),
                };
                self.previews.entry(id).and_modify(|p| p.1 = access.clone());
                Input::Previewed(id, Ok(Preview::new(access, String::new(), Block::Nothing)))
            }
            Open::Preview(id) => Input::Previewed(id, Err(ToolError::new("bad"))),
            Open::Tool(id) if ok => Input::Ran(id, Ok(output())),
            Open::Tool(id) => Input::Ran(id, Err(ToolError::new("failed"))),
            Open::Checkpoint(turn) if ok => {
                self.checkpoints += 1;
                if self.turn == Some(turn) {
                    self.covered.insert(turn);
                    self.refused = false;
                }
                let id = CheckpointId(format!("c{}", self.checkpoints));
                Input::Checkpointed(turn, Ok(Checkpointed { id, files_changed: 1, skipped: vec![], notice: None }))
            }
            Open::Checkpoint(turn) => {
                self.refused |= self.turn == Some(turn);
                Input::Checkpointed(turn, Err("disk full".into()))
            }
            Open::Plan(wanted) if ok => {
                // Every other one leaves something.
                self.checkpoints += 1;
                let skipped = (0..self.checkpoints % 2).map(|_| ("f".into(), "changed after the turn".into())).collect();
                Input::StepPlanned(wanted.to.clone(), Ok(Plan { wanted, files: vec![], skipped }))
            }
            Open::Plan(wanted) => Input::StepPlanned(wanted.to, Err("gone".into())),
            Open::Restore(to) if ok => {
                let before = CheckpointId("before".into());
                Input::Restored(to, Ok(Restored { before, after: None, changes: vec![], skipped: vec![] }))
            }
            Open::Restore(to) => Input::Restored(to, Err("gone".into())),
            Open::Kept(name) if ok => {
                self.checkpoints += 1;
                let id = CheckpointId(format!("c{}", self.checkpoints));
                Input::Kept(name, Ok(Checkpointed { id, files_changed: 0, skipped: vec![], notice: None }))
            }
            Open::Kept(name) => Input::Kept(name, Err("disk full".into())),
            Open::Timer(timer) => Input::TimerFired(timer),
            Open::Model(_) => Input::ModelReady(agent.model.clone().ok_or("none".into())),
        }
    }
}

fn output() -> ToolOutput {
    ToolOutput { for_model: "out".into(), for_user: Block::Nothing, summary: String::new(), failed: false }
}

/// A provider accepts it: each call is followed by exactly one result, in order, before anything else is said.
fn assert_valid(messages: &[Message]) {
    let mut due: VecDeque<CallId> = VecDeque::new();
    for message in messages {
        match message {
            Message::Result { call, .. } => assert_eq!(due.pop_front(), Some(*call), "a result out of order in {messages:#?}"),
            Message::Assistant { calls, .. } => {
                assert!(due.is_empty(), "calls without results in {messages:#?}");
                due.extend(calls.iter().map(|c| c.id));
                let ids: BTreeSet<_> = calls.iter().map(|c| &c.provider_id).collect();
                assert_eq!(ids.len(), calls.len(), "the same provider id twice");
                for c in calls {
                    assert!(serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&c.arguments).is_ok());
                }
            }
            Message::User(_) => assert!(due.is_empty(), "calls without results in {messages:#?}"),
        }
    }
    assert!(due.is_empty(), "calls without results in {messages:#?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_agent_keeps_its_promises(moves in moves()) {
        let (mut agent, first) = Agent::start(settings(), &[]);
        let mut world = World::default();
        world.absorb(&agent, &first);
        let mut clock = Duration::ZERO;
        for mv in &moves {
            clock += Duration::from_millis(1);
            // A grant or a decision in a command counts from that command on, so the world notes it first.
            if let Some(input) = world.input(&agent, mv) {
                let effects = agent.step(clock, input);
                world.absorb(&agent, &effects);
            }
        }
        // Whatever was going on: once the world answers everything and the user says no, the agent comes to rest.
        for _ in 0..2_000 {
            if agent.idle() && world.open.is_empty() {
                break;
            }
            let mv = if let Some(call) = world.asked.iter().next().copied() {
                let effects = agent.step(clock, Input::Command(Command::Decide { call, decision: Decision::Deny { reason: None } }));
                world.asked.remove(&call);
                world.absorb(&agent, &effects);
                continue;
            } else if world.open.is_empty() && world.request.is_none() {
                let effects = agent.step(clock, Input::Command(Command::Step { go: false }));
                world.absorb(&agent, &effects);
                continue;
            } else if world.request.is_some() {
                Move::Stream(6)
            } else {
                Move::Answer(0, true)
            };
            if let Some(input) = world.input(&agent, &mv) {
                let effects = agent.step(clock, input);
                world.absorb(&agent, &effects);
            }
        }
        prop_assert!(agent.idle(), "the agent waits for something that nobody owes it");
        assert_valid(&agent.transcript().messages);
        prop_assert_eq!(story::digest(&world.emitted), story::digest(&story::retold(&world.records)), "what was told is told again");

        // What was cut by a crash at any record is completed on the next start.
        let cut = moves.len() * 7 % (world.records.len() + 1);
        let (resumed, _) = Agent::start(settings(), &story::stamped(&world.records[..cut]));
        let mut messages = resumed.transcript().messages.to_vec();
        messages.push(Message::User("next".into()));
        assert_valid(&messages);
    }
}
