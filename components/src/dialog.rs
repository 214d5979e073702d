//! A question with what it is about and the answers: approval, trust, confirmation.
//!
//! Invariants:
//! - title and answers are always shown; the body gives way first, and says how much is hidden;
//! - rows are never wider than asked, never more than asked (if that is at least the answers and two).

use crate::editor::{Edit, Editor, Look};
use crate::key::Chord;
use crate::list::{Item, ListOutcome, ListState};
use crate::text::row::split;
use crate::text::span::{Line, Span, Style};
use crate::text::wrap::{cut, wrap_hanging};
use crate::theme::Role;
use iocraft::KeyCode;

/// What a dialog shows; the changing part is in [`DialogState`].
#[derive(Clone, Debug, Default)]
pub struct Dialog {
    pub title: Line,
    /// At the right edge of the title's row.
    pub note: Line,
    /// Rows about which the question is, already laid out.
    pub body: Vec<Line>,
    /// How many more there would be after them.
    pub missing: usize,
    pub choices: Vec<Item>,
    /// What the text asked for is, such as `reason`; `None` for a dialog without text.
    pub asks: Option<String>,
}

/// What a key meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DialogOutcome {
    Moved,
    /// A choice was made; with the text, if one was being typed.
    Chosen(usize, String),
    /// Esc.
    Dismissed,
    Ignored,
}

/// Selection and text of a dialog.
#[derive(Clone, Debug, Default)]
pub struct DialogState {
    pub list: ListState,
    pub text: Editor,
    /// The choice whose text is being typed.
    pub typing: Option<usize>,
}

/// Rows and, while text is typed, the cursor of a dialog.
#[derive(Clone, Debug, PartialEq)]
pub struct DialogView {
    pub rows: Vec<Line>,
    /// Column and row, from 0.
    pub cursor: Option<(usize, usize)>,
}

impl DialogState {
    /// Goes over to typing the text for a choice (or for none in particular, with the next enter).
    pub fn type_for(&mut self, choice: usize) {
        self.typing = Some(choice);
    }

    /// Takes a key. While text is typed, enter ends it and esc returns to the choices.
    pub fn press(&mut self, chord: &Chord, dialog: &Dialog) -> DialogOutcome {
        if let Some(choice) = self.typing {
            return match chord.code {
                KeyCode::Enter if !chord.alt && !chord.shift => DialogOutcome::Chosen(choice, self.text.take()),
                KeyCode::Esc => {
                    self.typing = None;
                    DialogOutcome::Moved
                }
                _ => match Edit::from_chord(chord) {
                    Some(edit) => {
                        self.text.apply(edit, 80);
                        DialogOutcome::Moved
                    }
                    None => DialogOutcome::Ignored,
                },
            };
        }
        if chord.code == KeyCode::Esc {
            return DialogOutcome::Dismissed;
        }
        match self.list.press(chord, &dialog.choices) {
            ListOutcome::Moved => DialogOutcome::Moved,
            ListOutcome::Chosen(at) => DialogOutcome::Chosen(at, String::new()),
            ListOutcome::Ignored => DialogOutcome::Ignored,
        }
    }

    pub fn view(&mut self, dialog: &Dialog, width: usize, max_rows: usize) -> DialogView {
        let title = dialog.title.clone().over(Style::new().bold()).indented(2);
        let mut rows = if title.width() <= width {
            let min_left = title.width();
            vec![split(title, dialog.note.clone(), width, min_left)]
        } else {
            wrap_hanging(&dialog.title.clone().over(Style::new().bold()), width, &Line::from("  "), &Line::from("  "))
        };
        // The answers outrank the end of a long question.
        rows.truncate(max_rows.saturating_sub(dialog.choices.len()).max(1));
        let typing = self.typing.and(dialog.asks.as_ref());
        let answer = typing.map(|asks| {
            let look = Look { prompt: Span::new("› ", Style::from(Role::Accent).bold()), placeholder: asks.clone() };
            self.text.view(&look, width.saturating_sub(4), 4)
        });
        let below = match &answer {
            Some(view) => view.rows.len(),
            None => dialog.choices.len().min(max_rows.saturating_sub(rows.len() + usize::from(!dialog.body.is_empty())).max(1)),
        };
        let room = max_rows.saturating_sub(rows.len() + below);
        if dialog.body.len() <= room && dialog.missing == 0 {
            rows.extend(dialog.body.iter().map(|row| cut(row, width)));
        } else if let Some(kept) = room.checked_sub(1) {
            rows.extend(shown(&dialog.body, kept.min(dialog.body.len())).iter().map(|row| cut(row, width)));
            let hidden = dialog.body.len().saturating_sub(kept) + dialog.missing;
            rows.push(cut(&Line::styled(format!("      … {hidden} more rows"), Role::Dim), width));
        }
        let mut cursor = None;
        match answer {
            Some(view) => {
                cursor = Some(((view.cursor.0 + 4).min(width.saturating_sub(1)), rows.len() + view.cursor.1));
                rows.extend(view.rows.into_iter().map(|row| row.indented(4)));
            }
            None => rows.extend(self.list.view(&dialog.choices, width, below, true)),
        }
        DialogView { rows, cursor }
    }
}

/// The rows of which only `kept` have room: of a change both what goes and what comes.
fn shown(body: &[Line], kept: usize) -> Vec<Line> {
    let from = start(body, kept);
    let window = from..from + kept;
    let band = |role: Role, rows: &[Line]| rows.iter().position(|row| row.fill == Some(role));
    let comes = band(Role::DiffAddedBand, &body[window.end..]).map(|at| at + window.end);
    match (band(Role::DiffRemovedBand, &body[window.clone()]), band(Role::DiffAddedBand, &body[window.clone()]), comes) {
        (Some(goes), None, Some(comes)) if kept >= 2 => {
            let second = kept / 2;
            let first = kept - second;
            // Where there is hardly any room the context gives way.
            let from = if first < 3 { from + goes } else { from };
            body[from..from + first].iter().chain(&body[comes..(comes + second).min(body.len())]).cloned().collect()
        }
        _ => body[window].to_vec(),
    }
}

/// Where to begin if only `kept` rows have room: at the top, unless the first changed row (they have a band) would hardly be seen.
fn start(body: &[Line], kept: usize) -> usize {
    let change = body.iter().position(|row| row.fill.is_some()).unwrap_or(0);
    if change + 2 < kept { 0 } else { change.saturating_sub(usize::from(kept > 2)).min(body.len() - kept) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialog() -> Dialog {
        Dialog {
            title: "Edit src/dates.rs".into(),
            note: "+3 −1".into(),
            body: (1..=5).map(|n| Line::plain(format!("      row {n}"))).collect(),
            missing: 0,
            choices: vec![Item::new("yes").key('y'), Item::new("no, and say why").key('n')],
            asks: Some("reason".into()),
        }
    }

    fn texts(view: &DialogView) -> Vec<String> {
        view.rows.iter().map(Line::text).collect()
    }

    #[test]
    fn what_is_left_out_is_counted_with_what_never_was_laid_out() {
        let mut dialog = dialog();
        dialog.missing = 49_995;
        let mut state = DialogState::default();
        assert!(texts(&state.view(&dialog, 60, 30)).contains(&"      … 49995 more rows".to_owned()));
        assert!(
            texts(&state.view(&dialog, 60, 6)).iter().any(|row| row.starts_with("      … 49998 more")),
            "{:?}",
            texts(&state.view(&dialog, 60, 6))
        );
    }

    #[test]
    fn what_changes_is_seen_first_where_there_is_little_room() {
        let mut dialog = dialog();
        dialog.body = (1..=9).map(|n| Line::plain(format!("row {n}"))).collect();
        dialog.body[3].fill = Some(Role::DiffAddedBand);
        let shown = |height| {
            let view = DialogState::default().view(&dialog, 40, height);
            view.rows.iter().map(|row| row.text().trim().to_owned()).filter(|row| row.contains("row")).collect::<Vec<_>>()
        };
        let choices = dialog.choices.len();
        assert_eq!(shown(choices + 3), ["row 4", "… 8 more rows"]);
        assert_eq!(shown(choices + 5), ["row 3", "row 4", "row 5", "… 6 more rows"]);
        assert_eq!(shown(choices + 8)[0], "row 1");
    }

    #[test]
    fn the_body_gives_way_to_the_choices() {
        let view = DialogState::default().view(&dialog(), 40, 6);
        assert_eq!(
            texts(&view),
            [
                "  Edit src/dates.rs                +3 −1",
                "      row 1",
                "      row 2",
                "      … 3 more rows",
                "  ▸ 1 yes              y",
                "    2 no, and say why  n"
            ]
        );
        assert_eq!(DialogState::default().view(&dialog(), 40, 20).rows.len(), 8);
    }

    #[test]
    fn a_question_that_is_too_long_goes_on_in_the_next_row() {
        let dialog = Dialog { title: "Is this a question that is long?".into(), body: vec![], ..dialog() };
        let rows = |height| texts(&DialogState::default().view(&dialog, 24, height));
        assert_eq!(rows(9)[..3], ["  Is this a question", "  that is long?", "  ▸ 1 yes              y"]);
        assert_eq!(rows(3), ["  Is this a question", "  ▸ 1 yes              y", "    2 no, and say why  n"]);
    }

    #[test]
    fn typing_a_reason_returns_it() {
        let (dialog, mut state) = (dialog(), DialogState::default());
        let press = |state: &mut DialogState, key: &str| state.press(&key.parse().unwrap(), &dialog);
        assert_eq!(press(&mut state, "n"), DialogOutcome::Chosen(1, String::new()));
        state.type_for(1);
        assert_eq!(press(&mut state, "n"), DialogOutcome::Moved);
        let view = state.view(&dialog, 40, 20);
        assert_eq!(texts(&view).last().map(String::as_str), Some("    › n"));
        assert_eq!(view.cursor, Some((7, 6)));
        assert_eq!(press(&mut state, "enter"), DialogOutcome::Chosen(1, "n".into()));
        state.typing = None;
        assert_eq!(press(&mut state, "esc"), DialogOutcome::Dismissed);
    }
}
