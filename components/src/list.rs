//! A list to choose from, by arrows, numbers or letters.
//!
//! Invariants:
//! - the selected index is within the items given last, 0 if there are none;
//! - the selected row says so by its marker, not by colour alone;
//! - rows are never wider than asked.

use crate::key::Chord;
use crate::text::row::split;
use crate::text::span::{Line, Span, Style};
use crate::text::width::width;
use crate::text::wrap::truncate;
use crate::theme::Role;
use crate::viewport::Viewport;
use iocraft::KeyCode;
use std::ops::Range;

/// Something to choose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Item {
    pub label: Line,
    /// Letter that chooses it at once.
    pub key: Option<char>,
    /// How that is shown, where another key does the same; nothing is shown if it is empty.
    pub shown: Option<String>,
    /// Shown dim at the right edge.
    pub detail: Line,
}

impl Item {
    pub fn new(label: impl Into<Line>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }
    pub fn key(mut self, key: char) -> Self {
        self.key = Some(key);
        self
    }
    /// The key that does what the letter does usually; `None`: no key does.
    pub fn called(mut self, key: Option<String>) -> Self {
        self.shown = Some(key.unwrap_or_default());
        self
    }
    pub fn detail(mut self, detail: impl Into<Line>) -> Self {
        self.detail = detail.into();
        self
    }
}

/// What a key meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOutcome {
    Moved,
    Chosen(usize),
    Ignored,
}

/// Which item is selected and which are in view.
#[derive(Clone, Debug)]
pub struct ListState {
    selected: usize,
    view: Viewport,
}

impl Default for ListState {
    fn default() -> Self {
        Self { selected: 0, view: Viewport::at_top() }
    }
}

impl ListState {
    pub fn selected(&self) -> usize {
        self.selected
    }

    /// Selects an item and brings it into view.
    pub fn select(&mut self, at: usize, count: usize) {
        self.selected = at.min(count.saturating_sub(1));
    }

    /// Moves by `by` items; at an end it goes on at the other one.
    pub fn step(&mut self, by: isize, count: usize) {
        if count > 0 {
            self.selected = (self.selected.min(count - 1) as isize + by).rem_euclid(count as isize) as usize;
        }
    }

    /// Arrows, home, end, page keys and enter.
    pub fn navigate(&mut self, chord: &Chord, count: usize) -> ListOutcome {
        if count == 0 || chord.alt || chord.shift {
            return ListOutcome::Ignored;
        }
        let page = self.view.visible().len().max(1);
        match (chord.code, chord.ctrl) {
            (KeyCode::Up, false) | (KeyCode::Char('p'), true) => self.step(-1, count),
            (KeyCode::Down, false) | (KeyCode::Char('n'), true) => self.step(1, count),
            (KeyCode::Home, false) => self.select(0, count),
            (KeyCode::End, false) => self.select(count - 1, count),
            (KeyCode::PageUp, false) => self.select(self.selected.saturating_sub(page), count),
            (KeyCode::PageDown, false) => self.select(self.selected + page, count),
            (KeyCode::Enter, false) => return ListOutcome::Chosen(self.selected.min(count - 1)),
            _ => return ListOutcome::Ignored,
        }
        ListOutcome::Moved
    }

    /// [`ListState::navigate`], and numbers and letters that choose at once.
    pub fn press(&mut self, chord: &Chord, items: &[Item]) -> ListOutcome {
        if let Some(typed) = chord.typed() {
            let number = typed.to_digit(10).map(|n| (n as usize).wrapping_sub(1)).filter(|at| *at < items.len());
            let letter = items.iter().position(|item| item.key == Some(typed));
            if let Some(at) = letter.or(number) {
                self.selected = at;
                return ListOutcome::Chosen(at);
            }
        }
        self.navigate(chord, items.len())
    }

    /// The rows in view, at most `max_rows`; `numbered` shows the number keys of the first nine.
    pub fn view(&mut self, items: &[Item], width: usize, max_rows: usize, numbered: bool) -> Vec<Line> {
        self.view_of(items.len(), |at| items[at].clone(), width, max_rows, numbered)
    }

    /// [`ListState::view`] of a list that is too long to be made whole: `item` is asked for what is in view.
    pub fn view_of(&mut self, count: usize, item: impl Fn(usize) -> Item, width: usize, max_rows: usize, numbered: bool) -> Vec<Line> {
        let items: Vec<(usize, Item)> = self.window(count, max_rows).map(|at| (at, item(at))).collect();
        let longest = items.iter().map(|(_, item)| item.label.width()).max().unwrap_or(0);
        items.iter().map(|(at, item)| self.row(*at, item, longest, width, numbered)).collect()
    }

    /// The items in view where `max_items` have room, the selected one among them: for rows of another look.
    pub fn window(&mut self, count: usize, max_items: usize) -> Range<usize> {
        self.selected = self.selected.min(count.saturating_sub(1));
        self.view.resize(max_items.min(count), count);
        self.view.reveal(self.selected..self.selected + 1);
        self.view.visible()
    }

    fn row(&self, at: usize, item: &Item, longest: usize, width_all: usize, numbered: bool) -> Line {
        let selected = at == self.selected;
        let mut left = Line::styled(if selected { "  ▸ " } else { "    " }, Style::from(Role::Accent).bold());
        if numbered {
            let number = if at < 9 { (at + 1).to_string() } else { " ".into() };
            left.push(Span::new(format!("{number} "), Role::Dim));
        }
        let from = left.width();
        let look = if selected { Style::new().bold() } else { Style::new() };
        let key = item.key.map(|key| item.shown.clone().unwrap_or_else(|| key.to_string()));
        // A label that is too long gives way to its letter.
        let room = width_all.saturating_sub(from + key.as_ref().map_or(0, |key| width(key) + 2));
        let label = item.label.clone().over(look);
        left.extend(if key.is_some() { truncate(&label, room.max(1)) } else { label }.spans);
        if let Some(key) = key {
            // Letters in one column, so that they can be read downwards.
            left = left.pad_to(from + longest.min(room) + 2).and(key, Role::Accent);
        }
        let min_left = if item.key.is_some() { left.width() } else { left.width().min(width_all / 2) };
        let mut row = split(left, item.detail.clone().over(Role::Dim), width_all, min_left);
        row.fill = selected.then_some(Role::Selection);
        row
    }
}

/// `3/120`, where one is in a list that is longer than its window.
pub fn counter(state: &ListState, count: usize) -> Line {
    let at = if count == 0 { 0 } else { state.selected().min(count - 1) + 1 };
    Line::styled(format!("{at}/{count}"), Role::Dim)
}

/// `text` with the characters at `positions` (by count of characters, rising) set off: what a fuzzy filter matched.
pub fn matched(text: &str, positions: &[usize], base: Style) -> Line {
    let mut line = Line::new();
    let hit = base.patch(Style::from(Role::Accent).bold().underline());
    for (at, c) in text.chars().enumerate() {
        let style = if positions.binary_search(&at).is_ok() { hit } else { base };
        line.push(Span::new(c.to_string(), style));
    }
    debug_assert!(line.width() <= width(text).max(text.len()));
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items() -> Vec<Item> {
        vec![Item::new("yes").key('y'), Item::new("no, and say why").key('n').detail("type your reason"), Item::new("view")]
    }

    fn press(state: &mut ListState, key: &str) -> ListOutcome {
        state.press(&key.parse().unwrap(), &items())
    }

    #[test]
    fn keys_move_and_choose() {
        let mut state = ListState::default();
        assert_eq!(press(&mut state, "down"), ListOutcome::Moved);
        assert_eq!(press(&mut state, "enter"), ListOutcome::Chosen(1));
        assert_eq!(press(&mut state, "3"), ListOutcome::Chosen(2));
        assert_eq!(press(&mut state, "y"), ListOutcome::Chosen(0));
        assert_eq!(press(&mut state, "up"), ListOutcome::Moved);
        assert_eq!(state.selected(), 2);
        for key in ["4", "x", "ctrl+y", "0"] {
            assert_eq!(press(&mut state, key), ListOutcome::Ignored, "{key}");
        }
    }

    #[test]
    fn rows_show_the_marker_numbers_and_letters() {
        let rows = ListState::default().view(&items(), 50, 9, true);
        let texts: Vec<String> = rows.iter().map(Line::text).collect();
        assert_eq!(texts, ["  ▸ 1 yes              y", "    2 no, and say why  n          type your reason", "    3 view"]);
        assert!(ListState::default().view(&items(), 12, 9, true).iter().all(|row| row.width() <= 12));
        let called = [Item::new("yes").key('y').called(Some("ctrl+y".into())), Item::new("no").key('n').called(None)];
        let rows = ListState::default().view(&called, 50, 9, false);
        assert_eq!(rows.iter().map(|row| row.text().trim_end().to_owned()).collect::<Vec<_>>(), ["  ▸ yes  ctrl+y", "    no"]);
        let long = [Item::new("a label that has no room").key('y').detail("detail"), Item::new("no").key('n')];
        let rows = ListState::default().view(&long, 20, 9, true);
        assert_eq!(rows.iter().map(Line::text).collect::<Vec<_>>(), ["  ▸ 1 a label th…  y", "    2 no           n"]);
        let mut state = ListState::default();
        state.select(2, 3);
        assert_eq!(state.view(&items(), 50, 1, false)[0].text(), "  ▸ view");
    }

    #[test]
    fn matches_are_set_off() {
        let line = matched("src/main.rs", &[4, 5], Style::new());
        assert_eq!(line.spans.iter().map(|s| s.text.as_ref()).collect::<Vec<_>>(), ["src/", "ma", "in.rs"]);
    }
}
