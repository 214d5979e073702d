//! The agent's step and the journal: neither may cost more for what happened before.

use crate::{
    clock::{each_us, in_turns},
    report::Report,
};
use backstitch::{
    agent::{Agent, Bounds, Effect, Input, Settings},
    protocol::*,
    session::{JsonlStore, SessionStore},
};
use std::{sync::Arc, time::Duration};

fn said(n: u64) -> RecordBody {
    let message = match n % 2 {
        0 => Message::User(format!("Question {n}").into()),
        _ => {
            Message::Assistant { text: format!("Answer {n}, in a sentence or two."), reasoning: String::new(), calls: vec![], kept: vec![] }
        }
    };
    RecordBody::Said { turn: TurnId(n / 2 + 1), message }
}

fn settings() -> Settings {
    Settings {
        session: SessionId("bench".into()),
        model: Some(ModelInfo { id: ModelId { provider: "p".into(), model: "m".into() }, context_window: None, vision: None }),
        mode: Mode::Normal,
        asked_mode: None,
        system: "system".into(),
        tools: Arc::new(vec![]),
        job_tools: Arc::default(),
        profile: ToolProfile::default(),
        bounds: Bounds::default(),
        rules: vec![],
        max_requests: 100,
    }
}

/// An agent with so many messages behind it, in the middle of an answer.
fn streaming(messages: u64) -> anyhow::Result<(Agent, RequestId)> {
    let records: Vec<Record> = (0..messages).map(said).map(Record::new).collect();
    let (mut agent, _) = Agent::start(settings(), &records);
    let effects = agent.step(Duration::ZERO, Input::Command(Command::Prompt("go".into())));
    let request = effects.iter().find_map(|effect| match effect {
        Effect::CallModel(request) => Some(request.id),
        _ => None,
    });
    Ok((agent, request.ok_or_else(|| anyhow::anyhow!("the agent calls no model"))?))
}

pub fn steps(report: &mut Report) -> anyhow::Result<()> {
    let mut subjects = [streaming(10)?, streaming(100_000)?];
    let costs = in_turns(31, &mut subjects, |(agent, request)| {
        let request = *request;
        each_us(2_000, || {
            let effects = agent.step(Duration::ZERO, Input::Stream(request, StreamItem::Text("word ".into())));
            std::hint::black_box(effects);
        })
    });
    report.noted("step of the agent for a delta, 10 messages, CPU", format!("{:.3} µs", costs[0]));
    report.bound("  100,000 messages against 10", costs[1] / costs[0], "×", 1.25);
    Ok(())
}

pub fn journal(report: &mut Report) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let store = |name: &str, records: u64| -> anyhow::Result<JsonlStore> {
        let root = folder.path().join(name);
        std::fs::create_dir(&root)?;
        let mut store = JsonlStore::create(&root.join("data"), &root)?;
        (0..records).try_for_each(|n| store.append(&Record::new(said(n))))?;
        Ok(store)
    };
    let mut subjects = [store("short", 10)?, store("long", 20_000)?];
    let record = Record::new(said(1));
    let costs = in_turns(31, &mut subjects, |store| each_us(200, || drop(store.append(&record))));
    report.noted("append to the journal, 10 records, CPU", format!("{:.2} µs", costs[0]));
    report.bound("  20,000 records against 10", costs[1] / costs[0], "×", 1.5);
    Ok(())
}

/// A session that goes on: its journal is read, and told again.
pub fn resume(report: &mut Report) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (data, root) = (folder.path().join("data"), folder.path());
    let session = |messages: u64| -> anyhow::Result<SessionId> {
        let mut store = JsonlStore::create(&data, root)?;
        for n in 0..messages {
            let prompt = format!("Question {n}").into();
            store.append(&Record::new(RecordBody::TurnStarted { turn: TurnId(n / 2 + 1), prompt }))?;
            store.append(&Record::new(said(n)))?;
        }
        Ok(store.id().clone())
    };
    let mut subjects = [session(10_000)?, session(100_000)?];
    let costs = in_turns(5, &mut subjects, |id| {
        each_us(1, || {
            if let Ok((_, loaded)) = JsonlStore::resume(&data, root, id) {
                std::hint::black_box(Agent::start(settings(), &loaded.records));
            }
        })
    });
    report.noted("resume of a session of 10,000 messages, CPU", format!("{:.1} ms", costs[0] / 1_000.0));
    report.bound("  100,000 messages against 10,000", costs[1] / costs[0], "×", 13.0);
    Ok(())
}
