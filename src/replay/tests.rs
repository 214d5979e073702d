//! Recordings of the demo, whole, changed and cut.

use super::*;
use crate::{
    engine::{Engine, recorder::Recorder},
    launch::{Options, Prepared, Project, prepare},
    protocol::{Command, Event, EventBody, Mode, TurnEvent},
    tui::{
        app::{Model, Msg, update},
        recording::{Facts, masked},
    },
};
use std::time::Duration;

/// The demo to its end, with or without a screen: what the recorder wrote.
fn recorded_demo(screen: bool) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("recording");
    let recorder = Recorder::to(&file).unwrap();
    let project = Project::demo().unwrap();
    let options = Options { mode: Some(Mode::Yolo), ..Options::default() };
    let facts = Facts {
        root: project.root.clone(),
        place: "a demo project".into(),
        demo: true,
        trusted: true,
        placeholder: String::new(),
        still: true,
        fullscreen: false,
        keys: Default::default(),
        size: (100, 30),
    };
    let (mut model, _) = Model::new(facts.clone().setting(), facts.size);
    if screen {
        recorder.line("setting", &facts);
    }
    let Prepared { services, settings, .. } = prepare(&project, &options, recorder.clone()).unwrap();
    let (handle, engine) = Engine::start(services, settings, vec![]).unwrap();
    handle.send(Command::Prompt("fix the failing test".into()));
    while let Some(event) = handle.events.wait_timeout(Duration::from_secs(20)) {
        let ended = matches!(event.body, EventBody::Turn(TurnEvent::Ended(_)));
        let msg = Msg::Event(event);
        if screen {
            recorder.line("msg", &(Duration::ZERO, masked(&model, &msg)));
            update(&mut model, Duration::ZERO, msg);
        }
        if ended {
            break;
        }
    }
    handle.send(Command::Close);
    engine.join();
    std::fs::read(file).unwrap()
}

#[test]
fn the_demo_is_replayed_with_the_same_events_and_shows_what_it_showed() {
    for screen in [false, true] {
        let recording = read::parse(&recorded_demo(screen), "r").unwrap();
        let shown = replay(&recording, None);
        assert_eq!((shown.difference, shown.notes), (None, vec![]));
        assert!(shown.inputs > 10 && (shown.messages > 0) == screen);
        let rows = shown.rows.join("\n");
        for sees in ["fix the failing test", "Edit", "Bash", "esc esc goes back"] {
            assert!(rows.contains(sees), "{sees} in {rows}");
        }
        let steps = shown.steps.join("\n");
        for sees in ["start", "Command(Prompt", "→ CallModel(#1", "→ RunTool(", "→ Stop"] {
            assert!(steps.contains(sees), "{sees} in {steps}");
        }
        let narrow = replay(&recording, Some((40, 12)));
        assert!(narrow.rows.iter().all(|row| row.chars().count() < 40));
    }
}

#[test]
fn another_event_than_the_recorded_one_is_the_first_difference() {
    let text = String::from_utf8(recorded_demo(true)).unwrap();
    let changed = text.replacen(
        "{\"msg\":[{\"secs\":0,\"nanos\":0},{\"Event\":{\"seq\":2,",
        "\n{\"msg\":[{\"secs\":0,\"nanos\":0},{\"Event\":{\"seq\":0,",
        1,
    );
    // Numbers of events are the journal's: they are not compared.
    assert_eq!(replay(&read::parse(changed.as_bytes(), "r").unwrap(), None).difference, None);
    let changed = text.replacen("\"UserSaid\":{\"text\":\"fix", "\"UserSaid\":{\"text\":\"mix", 1);
    let difference = replay(&read::parse(changed.as_bytes(), "r").unwrap(), None).difference.unwrap();
    assert!(difference.starts_with("event 2:") && difference.contains("mix the") && difference.contains("fix the"), "{difference}");
}

#[test]
fn deltas_are_compared_as_a_whole_and_the_last_may_be_cut() {
    use crate::protocol::TextEvent;
    let mut rerun = Rerun::default();
    let answer = |text: &str| Msg::Event(Event { seq: 1, turn: None, body: EventBody::Text(TextEvent::Answer(text.into())) });
    rerun.shown(&answer("a"));
    assert!(rerun.difference().unwrap().contains("now:      nothing more"));
    let mut rerun = Rerun::default();
    rerun.emitted(["ab", "c"].map(|text| (None, EventBody::Text(TextEvent::Answer(text.into())))));
    rerun.shown(&answer("a"));
    rerun.shown(&answer("b"));
    assert_eq!(rerun.difference(), None);
    rerun.shown(&answer("x"));
    assert!(rerun.difference().is_some());
}

#[test]
fn what_is_no_recording_cut_or_of_another_version_is_said_plainly() {
    let fails = |text: &str| read::parse(text.as_bytes(), "r").unwrap_err().to_string();
    for no_recording in ["", "x", "{}\n", "{\"lost\":\"x\"}\n"] {
        assert_eq!(fails(no_recording), "r is not a recording.\n  hint: backstitch --record FILE makes one", "{no_recording:?}");
    }
    let ours = format!("{{\"backstitch\":\"{}\"}}\n", env!("CARGO_PKG_VERSION"));
    let torn = read::parse(format!("{ours}{{\"msg\":[{{\"se").as_bytes(), "r").unwrap();
    assert_eq!(replay(&torn, None).notes, ["The last line of the recording is cut; all before it was read."]);
    assert!(fails(&format!("{ours}{{\"msg\"\n")).starts_with("Line 2 of r can't be read: "));
    let other = "{\"backstitch\":\"0.0.1\"}\n";
    assert!(replay(&read::parse(other.as_bytes(), "r").unwrap(), None).notes[0].starts_with("The recording is of version 0.0.1"));
    assert!(fails(&format!("{other}{{\"odd\":1}}\n")).contains("hint: it is of version 0.0.1, and this is "));
}
