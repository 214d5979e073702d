//! The screen as a function of the state: the rows of the live region and where the cursor stands.
//!
//! The region never grows past two rows less than the screen; what is above it belongs to the terminal. Under 20 × 6 cells
//! there is one line that says so.

use super::{
    app::Model,
    completion::Completion,
    panel::{Panel, Search},
};
use backstitch_components::{
    chat_log::{queued_prompt, rule},
    lines::Rows,
    text::{span::Line, wrap::truncate},
    theme::Role,
};
use iocraft::prelude::*;

/// What is drawn, and the cell of the cursor in it: column and row.
#[derive(Debug, Default)]
pub struct Frame {
    /// Parts from top to bottom: what is live of the conversation, the question or the prompt, the status.
    pub parts: Vec<Vec<Line>>,
    pub cursor: Option<(u16, u16)>,
}

impl Frame {
    pub fn rows(&self) -> impl Iterator<Item = &Line> {
        self.parts.iter().flatten()
    }
}

pub const TOO_SMALL: (u16, u16) = (20, 6);

pub fn frame(model: &Model) -> Frame {
    if let Some(panel) = model.panel.as_ref().filter(|p| p.is_long() && !model.too_small()) {
        return long(model, panel);
    }
    if model.too_small() {
        let notice = truncate(&Line::styled("window too small", Role::Warning), usize::from(model.size.0).saturating_sub(1).max(1));
        return Frame { parts: vec![vec![notice]], cursor: None };
    }
    let width = model.width();
    let parts = parts(model);
    let mut above = match &model.window {
        None => parts.live,
        Some(window) => window.view(&parts.live, search(model), &model.setting.keys, (width, parts.room)),
    };
    if let Some(busy) = parts.busy {
        if model.window.is_none() && above.len() < parts.room {
            above.push(Line::new());
        }
        above.push(busy);
    }
    let top = above.len();
    let cursor = parts.cursor.and_then(|(x, y)| Some((u16::try_from(x).ok()?, u16::try_from(top + y).ok()?)));
    Frame { parts: vec![above, parts.middle, vec![parts.status]], cursor }
}

/// What is looked for in the conversation.
fn search(model: &Model) -> Option<&Search> {
    match &model.panel {
        Some(Panel::Search(search)) => Some(search),
        _ => None,
    }
}

/// A view that has the whole screen.
fn long(model: &Model, panel: &Panel) -> Frame {
    let view = panel.view(model, model.width(), usize::from(model.size.1));
    let cursor = view.cursor.and_then(|(x, y)| Some((u16::try_from(x).ok()?, u16::try_from(y).ok()?)));
    Frame { parts: vec![view.rows], cursor }
}

/// What a frame is made of, before the conversation is fitted into what is left of the screen.
struct Parts {
    live: Vec<Line>,
    /// Rows for the conversation.
    room: usize,
    busy: Option<Line>,
    middle: Vec<Line>,
    cursor: Option<(usize, usize)>,
    status: Line,
}

fn parts(model: &Model) -> Parts {
    let (width, height) = (model.width(), usize::from(model.size.1));
    // Inline, two rows of the terminal's own stay visible.
    let all = if model.window.is_some() { height } else { height - 2 };
    let status =
        Completion::footer(model, width).unwrap_or_else(|| model.status.row(model.exit_armed.is_some(), &model.setting.keys, width));
    let (middle, cursor) = middle(model, width, all - 1);
    let busy = model.status.busy_row(model.layout(), model.now, &model.setting.keys).filter(|_| model.approval.is_none());
    let room = all.saturating_sub(1 + middle.len() + usize::from(busy.is_some()));
    let live = model.transcript.live(model.layout(), if model.window.is_some() { usize::MAX } else { room });
    Parts { live, room, busy, middle, cursor, status }
}

/// Fits the window over the conversation to the screen, after anything has changed.
pub fn fit(model: &mut Model) {
    model.fill_window();
    let (width, height) = (model.width(), usize::from(model.size.1));
    if let Some(panel) = &mut model.panel {
        panel.fit(width, height, &model.setting.keys);
        if let (Panel::Search(search), Some(window)) = (panel, &mut model.window) {
            search.follow(window);
        }
    }
    if model.window.is_none() || model.too_small() {
        return;
    }
    let parts = parts(model);
    if let Some(window) = &mut model.window {
        window.fit(parts.room, parts.live.len());
    }
}

/// The part that has the keyboard.
fn middle(model: &Model, width: usize, room: usize) -> (Vec<Line>, Option<(usize, usize)>) {
    if let Some(panel) = &model.panel {
        let view = panel.view(model, width, room.saturating_sub(1));
        return under_rule(view.rows, view.cursor, width);
    }
    if let Some(approval) = &model.approval {
        let view = approval.view(width, room.saturating_sub(1));
        return under_rule(view.rows, view.cursor, width);
    }
    let queue = model.status.queue.iter().take(3).map(|p| queued_prompt(&p.text, width)).collect::<Vec<_>>();
    let prompt = model.prompt.view(
        model.status.turn.is_some(),
        &model.setting.keys,
        width,
        (room / 2).max(1).min(room.saturating_sub(1 + queue.len()).max(1)),
    );
    let cursor = (prompt.cursor.0, prompt.cursor.1 + queue.len());
    let mut rows = queue;
    rows.extend(prompt.rows);
    let left = room.saturating_sub(rows.len() + 2);
    rows.extend(Completion::rows(model, width, left));
    under_rule(rows, Some(cursor), width)
}

fn under_rule(mut rows: Vec<Line>, cursor: Option<(usize, usize)>, width: usize) -> (Vec<Line>, Option<(usize, usize)>) {
    rows.insert(0, rule(width));
    (rows, cursor.map(|(x, y)| (x, y + 1)))
}

/// The same as elements for iocraft.
pub fn view(model: &Model, frame: Frame) -> AnyElement<'static> {
    let (theme, depth) = (&model.setting.theme, model.setting.depth);
    element! {
        View(flex_direction: FlexDirection::Column, width: model.size.0.max(2)) {
            #(frame.parts.into_iter().map(|rows| element!(Rows(rows, theme: theme.clone(), depth))))
        }
    }
    .into_any()
}
