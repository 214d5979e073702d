//! The glue between iocraft's render loop and the Elm loop: one component that turns events into `Msg`s, runs `update`, has the
//! `Cmd`s performed and draws `view`.
//!
//! The model lives in the element's props, so it survives leaving and re-entering the loop. Keys are drawn at once; what comes
//! from the engine is drained and drawn at most every 16 ms; after each frame the terminal is polled before the next one, so that
//! no flood of messages can keep the keyboard waiting.

use super::{
    app::{self, Model, Msg},
    perform::{Leave, Performer},
    terminal::SharedStage,
    view,
};
use backstitch_components::{ansi::to_ansi, code::take_cold};
use futures::Stream;
use iocraft::prelude::*;
use std::{
    future::Future,
    pin::Pin,
    task::{Context as Cx, Poll},
    time::{Duration, Instant},
};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    time::Sleep,
};

/// Background messages cause no more than one frame in this time.
const FRAME: Duration = Duration::from_millis(16);
/// Messages taken into one frame: what is left waits for the next, after the keyboard was looked at.
const MOST: usize = 10_000;
/// The same in bytes of text.
const MOST_TEXT: usize = 256 << 10;
/// Rows for a notch of the wheel.
const WHEEL: i16 = 3;

pub struct RootProps {
    pub model: Model,
    pub performer: Performer,
    pub stage: SharedStage,
    /// What the first update asks for.
    pub first: Vec<app::Cmd>,
}

// SAFETY: without lifetime parameters there is nothing whose variance could be wrong.
unsafe impl Props for RootProps {}

#[derive(Default)]
pub struct Root {
    events: Option<TerminalEvents>,
    signals: Vec<Signal>,
    inbox: Vec<Msg>,
    /// When the last frame that messages of the engine caused was drawn: a key's frame, or the first, holds none of theirs back.
    drawn: Option<Instant>,
    fresh: bool,
    /// Is this loop's screen the program's own?
    full: Option<bool>,
    pacing: Option<Pin<Box<Sleep>>>,
    ticking: Option<(Duration, Pin<Box<Sleep>>)>,
    /// Looks for messages without owning the model.
    poll_engine: Option<EnginePoll>,
}

/// The engine's inbox can't be reached from `poll_change`, which sees no props; this asks for it.
type EnginePoll = Box<dyn Fn(&mut Cx<'_>) -> Poll<()> + Send + Sync>;

impl Component for Root {
    type Props<'a> = RootProps;

    fn new(_: &RootProps) -> Self {
        Root::default()
    }

    fn update(&mut self, props: &mut RootProps, mut hooks: Hooks, updater: &mut ComponentUpdater) {
        let (stdout, _) = hooks.use_output();
        if self.events.is_none() {
            self.events = updater.terminal_events();
            let kinds = [SignalKind::terminate(), SignalKind::hangup(), SignalKind::interrupt()];
            self.signals = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
        }
        // The size is the frame's own, however late we are told of it.
        let size = props.stage.lock().unwrap_or_else(|e| e.into_inner()).size;
        if let Some((columns, rows)) = size.filter(|size| *size != props.model.size) {
            self.inbox.insert(0, Msg::Resize(columns, rows));
        }
        self.handle_messages(props);
        let full = props.model.is_fullscreen();
        if *self.full.get_or_insert(full) != full && props.performer.leave.is_none() {
            props.performer.leave = Some(Leave::Switch);
        }
        if props.performer.leave.is_some() {
            // The last frame is drawn whatever the size does.
            props.model.held = None;
        }
        // What is to be printed belongs to the screen that comes next.
        let switches = props.performer.leave == Some(Leave::Switch);
        if props.performer.leave.is_some() {
            props.model.print_all();
        }
        let prints = props.model.prints() || props.performer.leave.is_some();
        let rows = if switches || !prints { vec![] } else { props.model.take_outbox() };
        if !rows.is_empty() {
            let setting = &props.model.setting;
            let text = to_ansi(&rows, &setting.theme, setting.depth, props.model.width());
            stdout.println(text.trim_end_matches(['\r', '\n']));
        }
        self.fresh = true;
        updater.set_transparent_layout(true);
        let mut stage = props.stage.lock().unwrap_or_else(|e| e.into_inner());
        stage.held = props.model.held.is_some() && props.performer.leave.is_none();
        if stage.held {
            // Nothing is drawn; what comes next differs from an empty frame.
            drop(stage);
            updater.update_children(std::iter::empty::<AnyElement<'_>>(), None);
            return;
        }
        if let Some(leave) = &props.performer.leave {
            props.performer.stay(matches!(leave, Leave::Switch | Leave::Repaint));
            // An empty frame takes the live region off the screen; what was printed stays.
            stage.cursor = None;
            drop(stage);
            updater.update_children(std::iter::empty::<AnyElement<'_>>(), None);
            if let Some(mut system) = updater.get_context_mut::<SystemContext>() {
                system.exit();
            }
            return;
        }
        let frame = view::frame(&props.model);
        stage.cursor = frame.cursor;
        drop(stage);
        updater.update_children([view::view(&props.model, frame)], None);
        for cold in take_cold() {
            props.performer.perform(app::Cmd::Compile(cold));
        }
    }

    fn poll_change(mut self: Pin<&mut Self>, cx: &mut Cx<'_>) -> Poll<()> {
        let this = &mut *self;
        if std::mem::take(&mut this.fresh) {
            // iocraft looks at us first and at the terminal only if we have nothing: once after each frame we have nothing.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        while let Some(Poll::Ready(Some(event))) = this.events.as_mut().map(|events| Pin::new(events).poll_next(cx)) {
            this.inbox.extend(message(event));
        }
        if this.signals.iter_mut().any(|signal| signal.poll_recv(cx).is_ready()) {
            this.inbox.push(Msg::Terminated);
        }
        if let Some((_, sleep)) = &mut this.ticking
            && sleep.as_mut().poll(cx).is_ready()
        {
            this.ticking = None;
            this.inbox.push(Msg::Tick);
        }
        if !this.inbox.is_empty() {
            return Poll::Ready(());
        }
        if this.poll_engine.as_ref().is_none_or(|poll| poll(cx).is_pending()) {
            return Poll::Pending;
        }
        let due = this.drawn.map_or_else(Instant::now, |at| at + FRAME);
        if Instant::now() >= due {
            this.pacing = None;
            return Poll::Ready(());
        }
        let sleep = this.pacing.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(due.into())));
        let ready = sleep.as_mut().poll(cx);
        if ready.is_ready() {
            this.pacing = None;
        }
        ready
    }
}

impl Root {
    fn handle_messages(&mut self, props: &mut RootProps) {
        let RootProps { model, performer, first, .. } = props;
        let now = performer.now();
        let mut cmds = std::mem::take(first);
        let mut messages = std::mem::take(&mut self.inbox);
        messages.extend(performer.reports.drain(MOST));
        let others = messages.len();
        if let Some(handle) = &performer.handle {
            messages.extend(handle.events.drain_weighing(MOST, MOST_TEXT, |event| event.body.weight()).map(Msg::Event));
        }
        if messages.len() > others {
            self.drawn = Some(Instant::now());
            self.pacing = None;
        }
        let mut messages = std::collections::VecDeque::from(messages);
        loop {
            for cmd in cmds {
                let came_of_it = performer.perform(cmd);
                came_of_it.into_iter().rev().for_each(|msg| messages.push_front(msg));
            }
            let Some(msg) = messages.pop_front() else { break };
            performer.record(now, model, &msg);
            cmds = app::update(model, now, msg);
        }
        if performer.handle.as_ref().is_some_and(|handle| handle.events.is_closed()) && performer.leave.is_none() {
            performer.record(now, model, &Msg::EngineGone);
            cmds = app::update(model, now, Msg::EngineGone);
            cmds.into_iter().for_each(|cmd| drop(performer.perform(cmd)));
        }
        let (events, reports) = (performer.handle.as_ref().map(|handle| handle.events.probe()), performer.reports.probe());
        self.poll_engine = Some(Box::new(move |cx: &mut Cx<'_>| {
            let engine = events.as_ref().is_some_and(|events| events.poll_ready(cx).is_ready());
            if reports.poll_ready(cx).is_ready() || engine { Poll::Ready(()) } else { Poll::Pending }
        }));
        match app::tick_every(model) {
            None => self.ticking = None,
            Some(every) if self.ticking.as_ref().is_some_and(|(was, _)| *was == every) => {}
            Some(every) => self.ticking = Some((every, Box::pin(tokio::time::sleep(every)))),
        }
    }
}

fn message(event: TerminalEvent) -> Option<Msg> {
    Some(match event {
        TerminalEvent::Key(key) if key.kind != KeyEventKind::Release => Msg::Key(key.code, key.modifiers),
        TerminalEvent::BracketedPaste(text) => Msg::Paste(text),
        TerminalEvent::Resize(columns, rows) => Msg::Resize(columns, rows),
        TerminalEvent::FullscreenMouse(mouse) => match mouse.kind {
            MouseEventKind::ScrollUp => Msg::Wheel(-WHEEL),
            MouseEventKind::ScrollDown => Msg::Wheel(WHEEL),
            MouseEventKind::Down(MouseButton::Left) => Msg::Click(mouse.column, mouse.row),
            _ => return None,
        },
        _ => return None,
    })
}

pub fn element(props: RootProps) -> Element<'static, Root> {
    Element { key: ElementKey::new("root"), props }
}

/// Runs the loop until it is left for something other than a pause.
pub async fn run(root: &mut Element<'static, Root>, terminal: &std::sync::Arc<super::terminal::Tty>) -> std::io::Result<Leave> {
    loop {
        let RootProps { model, performer, .. } = &mut root.props;
        if let Some(size) = terminal.size().filter(|size| *size != model.size) {
            performer.record(performer.now(), model, &Msg::Resize(size.0, size.1));
            model.size = size;
        }
        let screen = super::terminal::Screen::new(terminal.clone(), root.props.stage.clone());
        let full = root.props.model.is_fullscreen();
        let looping = root.render_loop().backend(screen).ignore_ctrl_c().enable_bracketed_paste();
        if full {
            looping.fullscreen().await?
        } else {
            looping.await?
        };
        match root.props.performer.leave.take().unwrap_or(Leave::Exit) {
            // The terminal is as it was before us; the shell that has job control brings us back.
            Leave::Suspend => {
                let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TSTP);
            }
            Leave::Edit => {
                root.props.performer.edit();
                // An interrupt that was meant for the editor is over before signals are listened to again.
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            Leave::Repaint | Leave::Switch => {}
            leave => return Ok(leave),
        }
    }
}
