//! The first question in a folder: may its files be read and worked on? Nothing in it is read before.

use super::PanelOutcome;
use crate::tui::{
    app::Cmd,
    keymap::{Context, Keymap},
};
use backstitch_components::{
    dialog::{Dialog, DialogOutcome, DialogState, DialogView},
    key::Chord,
    list::Item,
    text::{
        span::{Line, Style},
        width::width as text_width,
        wrap::wrap,
    },
};

#[derive(Debug, Default)]
pub struct Trust(DialogState);

impl Trust {
    pub fn press(&mut self, chord: &Chord) -> PanelOutcome {
        match self.0.press(chord, &dialog("", &Keymap::default(), 80)) {
            DialogOutcome::Chosen(1, _) => PanelOutcome::Does(Cmd::Trust),
            DialogOutcome::Chosen(..) | DialogOutcome::Dismissed => PanelOutcome::Closed,
            DialogOutcome::Moved | DialogOutcome::Ignored => PanelOutcome::Stays,
        }
    }

    pub fn view(&self, place: &str, keys: &Keymap, width: usize, max_rows: usize) -> DialogView {
        self.0.clone().view(&dialog(place, keys, width), width, max_rows)
    }
}

fn dialog(place: &str, keys: &Keymap, width: usize) -> Dialog {
    let why = "Its files steer what the agent does: settings, instructions, commands. Say yes only where you know who wrote them.";
    let whole = format!("Do you trust the files in {place}?");
    let long = text_width(&whole) + 2 > width;
    let wrapped = |line: &Line| wrap(line, width.saturating_sub(4)).into_iter().map(|row| row.indented(2)).collect::<Vec<_>>();
    // Which folder it is can be read whole, however narrow the window is.
    let place = if long { wrapped(&Line::styled(format!("{place}?"), Style::new().bold())) } else { vec![] };
    Dialog {
        title: Line::plain(if long { "Do you trust the files in".into() } else { whole }),
        body: place.into_iter().chain(wrapped(&Line::plain(why))).chain([Line::new()]).collect(),
        // The safe answer is the one that enter takes.
        choices: vec![
            Item::new("no, leave").key('n').called(keys.key(Context::Dialog, "no")),
            Item::new("yes, and remember it").key('y').called(keys.key(Context::Dialog, "yes")),
        ],
        ..Dialog::default()
    }
}
