//! The screen as a function of the state: the rows of the live region and where the cursor stands.
//!
//! The region never grows past two rows less than the screen; what is above it belongs to the terminal. Under 20 × 6 cells
//! there is one line that says so.

use super::app::Model;
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

const TOO_SMALL: (u16, u16) = (20, 6);

pub fn frame(model: &Model) -> Frame {
    let (columns, height) = model.size;
    if columns < TOO_SMALL.0 || height < TOO_SMALL.1 {
        let notice = truncate(&Line::styled("window too small", Role::Warning), usize::from(columns).saturating_sub(1).max(1));
        return Frame { parts: vec![vec![notice]], cursor: None };
    }
    let (width, room) = (model.width(), usize::from(height) - 2);
    let status = model.status.row(model.exit_armed.is_some(), width);
    let below = 1;
    let (middle, cursor) = middle(model, width, room - below);
    let busy = model.status.busy_row(model.tick, model.setting.still, model.now, width).filter(|_| model.approval.is_none());
    let mut above = model.transcript.live(model.layout(), room.saturating_sub(below + middle.len() + 2 * usize::from(busy.is_some())));
    if let Some(busy) = busy {
        if middle.len() + above.len() + below + 2 <= room {
            above.push(Line::new());
        }
        above.push(busy);
    }
    let top = above.len();
    let cursor = cursor.filter(|_| model.resizing.is_none());
    let cursor = cursor.and_then(|(x, y)| Some((u16::try_from(x).ok()?, u16::try_from(top + y).ok()?)));
    Frame { parts: vec![above, middle, vec![status]], cursor }
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
    let prompt = model.prompt.view(model.status.turn.is_some(), width, (room / 2).max(1).min(room.saturating_sub(1 + queue.len()).max(1)));
    let cursor = (prompt.cursor.0, prompt.cursor.1 + queue.len());
    let mut rows = queue;
    rows.extend(prompt.rows);
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
