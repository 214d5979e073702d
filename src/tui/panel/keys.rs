//! The keys and what they do, from the keymap itself.

use crate::tui::keymap::{self, Context};
use backstitch_components::{
    dialog::DialogView,
    key_hints::key_table,
    text::span::{Line, Style},
    theme::Role,
};

pub fn view(width: usize, max_rows: usize) -> DialogView {
    let mut rows = vec![];
    for (title, context) in [("Keys", Context::Prompt), ("In the text", Context::Edit), ("In a question", Context::Dialog)] {
        let table = keymap::help(context);
        let hints: Vec<(&str, &str)> = table.iter().map(|(k, h)| (k.as_str(), h.as_str())).collect();
        rows.push(Line::styled(format!("  {title}"), Style::from(Role::Heading).bold()));
        rows.extend(key_table(&hints, width));
    }
    rows.truncate(max_rows.saturating_sub(1));
    rows.push(Line::styled("  any key closes this", Role::Dim));
    DialogView { rows, cursor: None }
}
