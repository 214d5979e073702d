//! The engine with a scripted model, real tools and real checkpoints in a temporary folder.

mod background;
mod policy;
mod privacy;
mod web;

use super::*;
use crate::{
    agent::Bounds,
    checkpoint::GitStore,
    engine::recorder::Recorder,
    llm::{
        provider::Provider,
        scripted::{Script, Scripted},
    },
    privacy::Privacy,
    protocol::*,
    session::{MemorySessions, SessionError, SessionStore, store::Loaded},
    tools,
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// However busy the machine is, nothing here takes this long unless it hangs.
const DEADLINE: Duration = Duration::from_secs(30);

struct Bench {
    handle: Option<Handle>,
    engine: Option<Engine>,
    folder: TempDir,
    seq: u64,
    turn: Option<TurnId>,
    log: Vec<EventBody>,
    records: MemorySessions,
}

impl Bench {
    fn new(script: &str) -> Bench {
        let sessions = MemorySessions::new(SessionId("s".into()));
        let records = sessions.sibling(SessionId("s".into()));
        Bench::with(script, Box::new(sessions), records)
    }

    fn with(script: &str, session: Box<dyn SessionStore>, records: MemorySessions) -> Bench {
        Bench::with_tools(script, session, records, tools::Registry::default())
    }

    fn with_tools(script: &str, session: Box<dyn SessionStore>, records: MemorySessions, tools: tools::Registry) -> Bench {
        let id = ModelId { provider: "p".into(), model: "m".into() };
        let provider = Arc::new(Scripted::new(id, Script::from_json(script).unwrap(), Duration::ZERO));
        Bench::of(provider, session, records, tools, Privacy::off(), vec![])
    }

    /// The session that these records tell of goes on.
    fn of(
        provider: Arc<dyn Provider>,
        session: Box<dyn SessionStore>,
        records: MemorySessions,
        tools: tools::Registry,
        privacy: Privacy,
        earlier: Vec<Record>,
    ) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("project");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("a.txt"), "one\n").unwrap();
        let id = ModelId { provider: "p".into(), model: "m".into() };
        let model = ModelInfo { id: id.clone(), context_window: None, vision: None };
        let settings = ProviderSettings { name: "p".into(), models: vec!["m".into()], ..Default::default() };
        let mut models = crate::llm::Registry::default();
        models.insert(settings, provider);
        let agent = Settings {
            session: SessionId("s".into()),
            model: Some(model),
            mode: Mode::Normal,
            asked_mode: None,
            system: "".into(),
            tools: Arc::new(tools.specs()),
            job_tools: Arc::new(tools.job_specs()),
            profile: ToolProfile::default(),
            bounds: Bounds { root: root.clone(), readable: vec![] },
            rules: vec![],
            max_requests: 20,
        };
        let data = folder.path().join("data");
        let services = Services {
            models,
            places: vec![],
            tools: Arc::new(tools),
            workspace: Arc::new(tools::Workspace::new(&root, &data.join("outputs")).unwrap()),
            checkpoints: Box::new(move || Ok(Box::new(GitStore::open(&data, &root).map_err(|e| e.to_string())?))),
            session,
            recorder: Recorder::off(),
            privacy,
        };
        let (handle, engine) = Engine::start(services, agent, earlier).unwrap();
        Bench { handle: Some(handle), engine: Some(engine), folder, seq: 0, turn: None, log: vec![], records }
    }

    fn send(&self, command: Command) {
        self.handle.as_ref().unwrap().send(command);
    }

    fn prompt(&self, text: &str) {
        self.send(Command::Prompt(text.into()));
    }

    /// Takes events until one is what was waited for.
    fn until(&mut self, what: &str, found: impl Fn(&EventBody) -> bool) -> EventBody {
        let began = Instant::now();
        while began.elapsed() < DEADLINE {
            let Some(event) = self.handle.as_ref().unwrap().events.wait_timeout(DEADLINE) else { break };
            self.seq += 1;
            assert_eq!(event.seq, self.seq, "events have no gaps");
            if event.turn.is_some() {
                self.turn = event.turn;
            }
            self.log.push(event.body.clone());
            if found(&event.body) {
                return event.body;
            }
        }
        panic!("no {what} came; there was {:#?}", self.log)
    }

    fn ended(&mut self) -> TurnOutcome {
        match self.until("end", |e| matches!(e, EventBody::Turn(TurnEvent::Ended(_)))) {
            EventBody::Turn(TurnEvent::Ended(end)) => end.how,
            _ => unreachable!(),
        }
    }

    fn asked(&mut self) -> CallId {
        match self.until("question", |e| matches!(e, EventBody::Call(CallEvent::Asked { .. }))) {
            EventBody::Call(CallEvent::Asked { id, .. }) => id,
            _ => unreachable!(),
        }
    }

    fn allow(&mut self) {
        let call = self.asked();
        self.send(Command::Decide { call, decision: Decision::Allow });
    }

    fn file(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.folder.path().join("project").join(name)).ok()
    }

    fn close(&mut self) {
        self.send(Command::Close);
        self.engine.take().unwrap().join();
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.handle = None;
        self.engine = None;
    }
}

const EDIT: &str = r#"{"rules":[{"match":["edit"],"steps":[
    {"calls":[{"name":"View","args":{"file_path":"a.txt"}}]},
    {"text":"I will.","calls":[{"name":"Edit","args":{"file_path":"a.txt","old_string":"one","new_string":"two"}},
                               {"name":"Bash","args":{"command":"cat a.txt; echo new > b.txt"}}]},
    {"text":"Done."}]},{"steps":[{"text":"Hello."}]}]}"#;

#[test]
fn a_turn_that_edits_and_runs_is_approved_recorded_and_walked_back() {
    let mut bench = Bench::new(EDIT);
    bench.prompt("edit it");
    bench.allow();
    bench.until("result", |e| matches!(e, EventBody::Call(CallEvent::Finished { .. })));
    assert_eq!(bench.file("a.txt").as_deref(), Some("two\n"));
    bench.allow();
    let finished = bench.until("result", |e| matches!(e, EventBody::Call(CallEvent::Finished { .. })));
    let EventBody::Call(CallEvent::Finished { outcome: Outcome::Done(output), .. }) = finished else { panic!("{finished:?}") };
    assert!(output.for_model.contains("two"), "the command sees the edit: {}", output.for_model);
    assert_eq!(bench.ended(), TurnOutcome::Answered);
    let said: String =
        bench.log.iter().filter_map(|e| if let EventBody::Text(TextEvent::Answer(t)) = e { Some(t.as_str()) } else { None }).collect();
    assert_eq!(said, "I will.Done.");

    bench.send(Command::Undo);
    bench.until("prompt", |e| matches!(e, EventBody::Session(SessionEvent::Unqueued { prompt, .. }) if prompt.text == "edit it"));
    assert_eq!((bench.file("a.txt").as_deref(), bench.file("b.txt")), (Some("one\n"), None));

    bench.close();
    let records = bench.records.records();
    let kinds: Vec<&str> = records.iter().map(|r| kind(&r.body)).collect();
    assert_eq!(
        kinds,
        [
            "session",
            "turn",
            "user",
            "assistant",
            "shown",
            "result",
            "assistant",
            "checkpoint",
            "shown",
            "result",
            "checkpoint",
            "shown",
            "result",
            "assistant",
            "checkpoint",
            "end",
            "rewound"
        ]
    );
}

fn kind(record: &RecordBody) -> &'static str {
    match record {
        RecordBody::SessionStarted { .. } => "session",
        RecordBody::TurnStarted { .. } => "turn",
        RecordBody::Said { message: Message::User(_), .. } => "user",
        RecordBody::Said { message: Message::Assistant { .. }, .. } => "assistant",
        RecordBody::Said { message: Message::Result { .. }, .. } => "result",
        RecordBody::CallShown { .. } => "shown",
        RecordBody::CheckpointTaken { .. } => "checkpoint",
        RecordBody::TurnEnded { .. } => "end",
        RecordBody::Rewound { .. } => "rewound",
        _ => "other",
    }
}

#[test]
fn an_interrupt_ends_a_command_and_the_turn() {
    let script = r#"{"rules":[{"steps":[{"calls":[{"name":"Bash","args":{"command":"echo begun; sleep 600"}}]},{"text":"Never."}]}]}"#;
    let mut bench = Bench::new(script);
    bench.prompt("sleep");
    bench.allow();
    bench.until("output", |e| matches!(e, EventBody::Call(CallEvent::Progress { output, .. }) if output.contains("begun")));
    bench.send(Command::Interrupt(bench.turn.unwrap()));
    let finished = bench.until("result", |e| matches!(e, EventBody::Call(CallEvent::Finished { .. })));
    let EventBody::Call(CallEvent::Finished { outcome: Outcome::Interrupted { output }, .. }) = finished else { panic!("{finished:?}") };
    assert!(output.contains("begun"), "{output}");
    assert_eq!(bench.ended(), TurnOutcome::Interrupted);
}

#[test]
fn closing_in_the_middle_of_a_command_does_not_wait_for_it() {
    let mut bench = Bench::new(r#"{"rules":[{"steps":[{"calls":[{"name":"Bash","args":{"command":"echo begun; sleep 600"}}]}]}]}"#);
    bench.prompt("sleep");
    bench.allow();
    bench.until("output", |e| matches!(e, EventBody::Call(CallEvent::Progress { .. })));
    let began = Instant::now();
    bench.close();
    assert!(began.elapsed() < DEADLINE, "the command was waited for");
    let records = bench.records.records();
    assert!(records.iter().any(|r| kind(&r.body) == "result"), "the call has its result: {records:#?}");
    assert!(matches!(records.last().map(|r| &r.body), Some(RecordBody::TurnEnded { how: TurnOutcome::Interrupted, .. })));
}

#[test]
fn a_file_that_changed_since_the_question_is_not_overwritten() {
    let mut bench = Bench::new(EDIT);
    bench.prompt("edit it");
    let call = bench.asked();
    std::fs::write(bench.folder.path().join("project/a.txt"), "one, saved by the user\n").unwrap();
    bench.send(Command::Decide { call, decision: Decision::Allow });
    let finished = bench.until("result", |e| matches!(e, EventBody::Call(CallEvent::Finished { .. })));
    assert!(matches!(finished, EventBody::Call(CallEvent::Finished { outcome: Outcome::Failed(_), .. })), "{finished:?}");
    assert_eq!(bench.file("a.txt").as_deref(), Some("one, saved by the user\n"));
}

#[test]
fn a_provider_that_fails_is_asked_again() {
    let script = r#"{"rules":[{"steps":[{"fail":{"status":429,"retry_after_ms":1,"times":2},"text":"Here."}]}]}"#;
    let mut bench = Bench::new(script);
    bench.prompt("hi");
    assert_eq!(bench.ended(), TurnOutcome::Answered);
    let tries = bench.log.iter().filter(|e| matches!(e, EventBody::Turn(TurnEvent::Retrying { .. }))).count();
    assert_eq!(tries, 2);
}

/// A disk that is full from the second record on.
struct Full(MemorySessions, u32);

impl SessionStore for Full {
    fn id(&self) -> &SessionId {
        self.0.id()
    }
    fn append(&mut self, record: &Record) -> io::Result<()> {
        self.1 += 1;
        if self.1 > 1 { Err(io::ErrorKind::StorageFull.into()) } else { self.0.append(record) }
    }
    fn is_new(&self) -> bool {
        self.0.is_new()
    }
    fn sync(&mut self) -> io::Result<()> {
        self.0.sync()
    }
    fn position(&self) -> u64 {
        self.0.position()
    }
    fn load(&self, id: &SessionId) -> Result<Loaded, SessionError> {
        self.0.load(id)
    }
    fn list(&self) -> Result<Vec<SessionInfo>, SessionError> {
        self.0.list()
    }
}

#[test]
fn a_full_disk_is_said_once_and_the_session_goes_on() {
    let sessions = MemorySessions::new(SessionId("s".into()));
    let records = sessions.sibling(SessionId("s".into()));
    let mut bench = Bench::with(EDIT, Box::new(Full(sessions, 0)), records);
    bench.prompt("hello");
    assert_eq!(bench.ended(), TurnOutcome::Answered);
    bench.prompt("hello again");
    assert_eq!(bench.ended(), TurnOutcome::Answered);
    let said = bench.log.iter().filter(|e| matches!(e, EventBody::Notice(n) if n.text.contains("can't be saved"))).count();
    assert_eq!(said, 1);
}

#[test]
fn dropping_the_handle_closes_the_session() {
    let mut bench = Bench::new(EDIT);
    bench.prompt("edit it");
    bench.asked();
    bench.handle = None;
    bench.engine.take().unwrap().join();
    assert!(matches!(bench.records.records().last().map(|r| &r.body), Some(RecordBody::TurnEnded { .. })));
}

/// A front end takes whole events: one that grew with what waits would keep it from its keys.
#[test]
fn merging_makes_no_event_long() {
    let piece = || EventBody::Text(TextEvent::Answer("x".repeat(1000)));
    let mut merged = piece();
    let times = (0..1000).take_while(|_| journal::merge(&mut merged, &piece())).count();
    assert!((10..100).contains(&times) && merged.weight() == (times + 1) * 1000, "{times}");
}
