//! What the agent's events do to the screen: a fold, so that replaying them gives the same screen.

use super::{
    app::{Cmd, Model, Opened},
    cell::Cell,
    completion::Completion,
    looks,
    panel::{Panel, Step},
    report,
    status::Status,
};
use crate::protocol::{
    Access, CallEvent, Command, Event, EventBody, Notice, Outcome, ProviderSettings, SessionEvent, TurnEvent, TurnId, TurnOutcome,
};

/// At the start; more would push away what somebody came for.
const MOST_WARNINGS: usize = 2;

pub fn begin(model: &mut Model, opened: Opened) -> Vec<Cmd> {
    (model.status.asks_for_model, model.status.facts) = (opened.asks_for_model, opened.facts);
    model.status.withheld = opened.withheld;
    looks::begin(model, opened.looks);
    let keys = model.setting.keys.clone();
    let mut warnings: Vec<String> = opened.warnings.into_iter().chain(keys.warnings().iter().cloned()).collect();
    if warnings.len() > MOST_WARNINGS {
        model.status.facts.extend(warnings.iter().map(|w| ("warning".into(), w.clone())));
        let rest = warnings.split_off(MOST_WARNINGS - 1).len();
        warnings.push(format!("There are {rest} more warnings: /status has them."));
    }
    warnings.into_iter().for_each(|w| model.say(Notice::warning(w)));
    if opened.asks_for_session { Panel::open_sessions(model) } else { vec![] }
}

pub fn fold(model: &mut Model, event: Event) -> Vec<Cmd> {
    let (now, width) = (model.now, model.width());
    model.completion.saw(&event.body, &model.setting.root);
    model.status.fold(&event, now);
    match event.body {
        EventBody::Session(event) => return session(model, event),
        EventBody::Turn(TurnEvent::UserSaid(prompt)) => model.transcript.push(Cell::User(prompt.text), width),
        EventBody::Turn(TurnEvent::Ended(end)) => {
            model.transcript.settle(now, width);
            if end.how == TurnOutcome::Interrupted {
                model.say(Notice::info("Interrupted."));
            }
            if let Some(files) = model.status.files_changed() {
                model.checkpoints.changed(files);
            }
            if let Some(footer) = model.status.footer(&end, &model.setting.keys) {
                model.transcript.push(footer, width);
            }
        }
        EventBody::Turn(_) => {}
        EventBody::Text(event) => model.transcript.text(event, now, width),
        EventBody::Call(event) => {
            let warm_up = language(model, &event);
            if let CallEvent::Finished { id, outcome: Outcome::Done(_) } = &event
                && let Some(call) = model.transcript.calls.iter().find(|call| call.id == *id)
            {
                model.checkpoints.edited(call.shown.stats());
            }
            model.transcript.call(event, width);
            return warm_up;
        }
        EventBody::Checkpoint(event) => {
            model.checkpoints.fold(&event, now);
            if let Some(text) = Status::restored(&event) {
                model.say(Notice::info(text));
            }
        }
        EventBody::Notice(notice) => model.say(notice),
    }
    vec![]
}

fn session(model: &mut Model, event: SessionEvent) -> Vec<Cmd> {
    match event {
        SessionEvent::Started { .. } => {
            model.greet();
            if model.status.model.is_none() && !model.status.asks_for_model {
                (model.panel, model.hasty) = (Some(Panel::setup()), Some(model.now));
                return vec![Cmd::Send(Command::Discover)];
            }
        }
        SessionEvent::ModelChanged(info) => {
            if let Some(settings) = model.status.connecting.take() {
                model.panel = None;
                model.say(Notice::info(format!("Connected to {}.", info.id)));
                return vec![Cmd::SaveProvider(ProviderSettings { models: vec![info.id.model], ..settings })];
            }
            model.say(Notice::info(format!("The model is {} now.", info.id)));
        }
        SessionEvent::Unqueued { prompt, .. } => model.prompt.give_back(prompt),
        SessionEvent::Found(servers) => {
            if let Some(Panel::Setup(setup)) = &mut model.panel {
                setup.found(servers);
            }
        }
        SessionEvent::Models(models) if model.completion.expects_models() => {
            model.prompt.models = models;
            Completion::refresh(model);
        }
        SessionEvent::Models(models) => {
            let current = model.status.model.as_ref().map(|m| m.id.clone());
            let mut rows: Vec<String> =
                models.iter().map(|m| format!("{} {}", if Some(&m.id) == current.as_ref() { "▸" } else { " " }, m.id)).collect();
            if rows.is_empty() {
                rows.push("No provider has told its models; /model provider/name takes any name.".into());
            }
            model.prompt.models = models;
            model.transcript.push(Cell::Said(rows.join("\n")), model.width());
        }
        SessionEvent::Planned { plan, changes } => {
            if let Some(Panel::Checkpoints(checkpoints)) = &mut model.panel {
                checkpoints.planned(plan, changes);
            }
        }
        SessionEvent::StepAsked { title, plan } => {
            (model.panel, model.hasty) = (Some(Panel::Step(Box::new(Step::new(title, plan)))), Some(model.now));
        }
        SessionEvent::Compared { to, changes, .. } => {
            if let Some(Panel::Checkpoints(checkpoints)) = &mut model.panel {
                checkpoints.compared(&to, &changes);
            }
        }
        SessionEvent::Facts(facts) => model.transcript.push(Cell::Said(report::table(&facts)), model.width()),
        SessionEvent::Checkpoints { all, bytes } => match &mut model.panel {
            Some(Panel::Checkpoints(checkpoints)) => {
                let cmds = checkpoints.listed(all);
                let Some(lacks) = checkpoints.lacks.take() else { return cmds };
                model.panel = None;
                model.say(Notice::error(format!("There is no checkpoint '{lacks}'.")).hint("/checkpoint list shows those that there are"));
            }
            _ => report::checkpoints(model, &all, bytes),
        },
        SessionEvent::Retold(story) => retell(model, story),
        SessionEvent::Cleared => {
            model.checkpoints.clear();
            model.transcript.clear(model.width());
            model.say(Notice::info("A new conversation. The files are as they were."));
        }
        SessionEvent::Permissions { rules, grants } => {
            if let Some(Panel::Permissions(permissions)) = &mut model.panel {
                permissions.listed(rules, grants);
            }
        }
        SessionEvent::Judged { text, verdict, why } => match &mut model.panel {
            Some(Panel::Permissions(permissions)) => permissions.judged(&text, &verdict, &why),
            _ => model.say(Notice::info(format!("{text} {verdict}.")).hint(why)),
        },
        SessionEvent::Background(_) | SessionEvent::ModeChanged(_) | SessionEvent::Queued { .. } | SessionEvent::Closed => {}
    }
    vec![]
}

/// The session goes on: the same screen as when it was left, but for what has scrolled away.
fn retell(model: &mut Model, story: Vec<(Option<TurnId>, EventBody)>) {
    model.transcript.begin_retelling();
    for (turn, body) in story {
        // Whatever is asked for in between has long been done.
        let _ = fold(model, Event { seq: 0, turn, body });
    }
    model.transcript.end_retelling(model.width());
    if model.window.is_some() {
        // The window has all of it; what is printed for it is for the time when it closes.
        let rows = model.transcript.take_outbox();
        model.lay_window_out();
        model.window.iter_mut().for_each(|window| window.hold(rows.clone()));
    }
}

/// A file is read before it is changed: its grammar is loaded meanwhile, so that the diff need not wait for it.
fn language(model: &mut Model, event: &CallEvent) -> Vec<Cmd> {
    let CallEvent::Previewed { access: Access::Read(paths) | Access::Write(paths), .. } = event else { return vec![] };
    let ending = paths.first().and_then(|path| path.extension()).map(|ending| ending.to_string_lossy().into_owned());
    ending.filter(|ending| model.warmed.insert(ending.clone())).map(Cmd::WarmUp).into_iter().collect()
}
