//! The choice of a theme: moving over the list shows each one at once, on a sample of everything that it colours.

use super::PanelOutcome;
use crate::protocol::ThemeChoice;
use crate::tui::{
    app::Cmd,
    keymap::{Context, Keymap},
    looks::Looks,
    outside::Errand,
};
use backstitch_components::{
    chat_log::{self, TOOL_INDENT, ToolState},
    dialog::DialogView,
    diff_view::DiffModel,
    key::Chord,
    list::{Item, ListOutcome, ListState},
    text::span::{Line, Style},
    theme::{Role, Theme},
};
use iocraft::KeyCode;
use std::sync::Arc;

#[derive(Debug)]
pub struct ThemePicker {
    themes: Vec<Arc<Theme>>,
    /// What each would make of the user's choice.
    choices: Vec<ThemeChoice>,
    list: ListState,
    sample: DiffModel,
}

const OLD: &str = "fn days_in(month: u8) -> u8 {\n    match month { 2 => 28, _ => 31 }\n}\n";
const NEW: &str = "fn days_in(month: u8) -> u8 {\n    match month { 2 => 29, _ => 31 } // leap \"years\"\n}\n";
/// Rows of the list that are shown even where there is little room.
const LEAST: usize = 5;

impl ThemePicker {
    pub fn new(looks: &Looks) -> ThemePicker {
        let themes = looks.all();
        let mut list = ListState::default();
        list.select(themes.iter().position(|theme| theme.name == looks.theme().name).unwrap_or(0), themes.len());
        let choices = themes.iter().map(|theme| looks.taking(theme)).collect();
        ThemePicker { themes, choices, list, sample: DiffModel::new(Some(OLD), Some(NEW), "dates.rs") }
    }

    /// The one that the cursor is on.
    pub fn theme(&self) -> &Arc<Theme> {
        &self.themes[self.list.selected().min(self.themes.len() - 1)]
    }

    pub fn press(&mut self, chord: &Chord) -> PanelOutcome {
        match self.list.navigate(chord, self.themes.len()) {
            ListOutcome::Chosen(at) => PanelOutcome::Does(Cmd::Errand(Errand::SaveTheme(self.choices[at].clone()))),
            _ if chord.code == KeyCode::Esc => PanelOutcome::Closed,
            _ => PanelOutcome::Stays,
        }
    }

    pub fn view(&self, keys: &Keymap, width: usize, max_rows: usize) -> DialogView {
        let sample = self.rows_of_sample(width);
        let frame = 4;
        let room = max_rows.saturating_sub(frame + sample.len()).max(LEAST.min(max_rows.saturating_sub(frame)));
        let kind = |theme: &Theme| match theme.name.as_str() {
            "terminal" => "the terminal's own colours",
            _ if theme.dark => "dark",
            _ => "light",
        };
        let item = |at: usize| Item::new(self.themes[at].name.clone()).detail(Line::styled(kind(&self.themes[at]), Role::Dim));
        if max_rows <= frame {
            return DialogView { rows: self.list.clone().view_of(self.themes.len(), item, width, max_rows, false), cursor: None };
        }
        let mut rows = vec![Line::styled("  Theme", Style::from(Role::Heading).bold())];
        rows.extend(self.list.clone().view_of(self.themes.len(), item, width, room, false));
        rows.push(Line::new());
        rows.extend(sample);
        rows.push(Line::new());
        rows.truncate(max_rows.saturating_sub(1));
        rows.push(keys.hint(Context::List, &[("take", "takes and keeps it"), ("close", "leaves it as it was")], width));
        rows.truncate(max_rows);
        DialogView { rows, cursor: None }
    }

    fn rows_of_sample(&self, width: usize) -> Vec<Line> {
        let mut rows = chat_log::user_prompt("what is wrong with leap years?", width, Some(1));
        let (added, removed) = self.sample.stats();
        rows.push(chat_log::tool_line(ToolState::Done, "Edit", "dates.rs", chat_log::change_counts(added, removed), width));
        let diff = self.sample.rows(width.saturating_sub(TOOL_INDENT - 2), None);
        rows.extend(diff.into_iter().map(|row| row.indented(TOOL_INDENT - 2)));
        rows.push(chat_log::tool_line(ToolState::Failed, "Bash", "cargo test", "exit 101".into(), width));
        rows.extend(chat_log::notice(chat_log::Level::Warning, "The context is 92 % full.", &[], width));
        rows
    }
}
