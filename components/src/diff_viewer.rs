//! A window over the diffs of one or more files: to scroll, to go from hunk to hunk, to search, and to choose hunks.
//!
//! Invariants:
//! - a frame costs what is visible, however long the diff is;
//! - which hunks are chosen is shown by a sign, not by colour alone;
//! - rows are exactly as many as asked for, and never wider.

mod search;

use crate::diff_view::{Change, DiffModel, SPLIT_WIDTH, Uncoloured};
use crate::editor::{Edit, Editor};
use crate::key::Chord;
use crate::key_hints::KeyNames;
use crate::text::row::split;
use crate::text::sanitize::one_line;
use crate::text::span::{Line, Span, Style};
use crate::text::wrap::{cut, truncate};
use crate::theme::Role;
use crate::viewport::Viewport;
use iocraft::KeyCode;
use std::ops::Range;
use std::sync::Arc;

/// Cells of the column that says which hunk is meant and which are chosen.
const MARGIN: usize = 2;

/// From this width on hints are whole, in cells; below [`TINY`] only the shortest.
const SHORT: usize = 60;
const TINY: usize = 30;

/// Terminals take no longer text into the clipboard, in bytes.
pub const CLIPBOARD_MOST: usize = 100_000;

#[derive(Clone, Copy, Debug)]
struct TooLong;

/// What a key meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewerOutcome {
    Moved,
    Ignored,
    /// Enter, where hunks can be chosen: the viewer says which (see [`DiffViewer::chosen`]).
    Accepted,
    /// Text for the clipboard.
    Copied(String),
    Closed,
}

/// State of the viewer.
#[derive(Clone, Debug)]
pub struct DiffViewer {
    files: Vec<Arc<DiffModel>>,
    /// For each file, which of its hunks are chosen; empty where nothing is to be chosen.
    chosen: Vec<Vec<bool>>,
    file: usize,
    hunk: usize,
    viewport: Viewport,
    side_by_side: Option<bool>,
    search: Option<Editor>,
    sought: Option<search::Sought>,
    width: usize,
    /// Rows of the body when it was last fitted; none before that.
    height: usize,
    /// Only colours that are known are shown: somebody else finds them (see [`DiffViewer::ask`]).
    elsewhere: bool,
    /// Somebody is looking for colours now.
    asked: bool,
    names: KeyNames,
    /// What came of copying the hunk, until the next key.
    copied: Option<Result<(), TooLong>>,
}

impl DiffViewer {
    /// `choose`: hunks can be chosen; all are, to begin with.
    pub fn new(files: Vec<Arc<DiffModel>>, choose: bool) -> Self {
        let chosen = files.iter().map(|f| vec![true; if choose { f.hunk_count() } else { 0 }]).collect();
        Self {
            files,
            chosen,
            file: 0,
            hunk: 0,
            viewport: Viewport::at_top(),
            side_by_side: None,
            search: None,
            sought: None,
            width: SPLIT_WIDTH,
            height: 0,
            elsewhere: false,
            asked: false,
            names: KeyNames::default(),
            copied: None,
        }
    }

    /// How the hints call its keys.
    pub fn call_keys(&mut self, names: KeyNames) {
        self.names = names;
    }

    /// A search is being typed.
    pub fn is_typing(&self) -> bool {
        self.search.is_some()
    }

    /// From now on colours are found elsewhere, so that no key waits for them.
    pub fn colour_elsewhere(&mut self) {
        self.elsewhere = true;
    }

    /// What is seen and has no colours yet, where they are found elsewhere: once, until [`DiffViewer::coloured`] says that they are
    /// there.
    pub fn ask(&mut self) -> Option<Uncoloured> {
        let uncoloured = self.uncoloured().filter(|_| !self.asked);
        self.asked |= uncoloured.is_some();
        uncoloured
    }

    pub fn coloured(&mut self) {
        self.asked = false;
    }

    fn uncoloured(&self) -> Option<Uncoloured> {
        let model = self.model().filter(|model| self.elsewhere && model.hunk_count() > 0)?;
        let (lines, split) = (self.viewport.visible(), self.splits());
        let lacks = if split { model.split_lacks_colours(lines.clone()) } else { model.lacks_colours(lines.clone()) };
        lacks.then(|| Uncoloured { model: model.clone(), lines, split })
    }

    /// Chosen hunks of a file; empty if nothing is to be chosen.
    pub fn chosen(&self, file: usize) -> &[bool] {
        self.chosen.get(file).map_or(&[], Vec::as_slice)
    }

    /// Other files to look at, of which one is looked at first; how they are looked at stays.
    pub(crate) fn set_files(&mut self, files: Vec<Arc<DiffModel>>, first: usize) {
        self.chosen = vec![vec![]; files.len()];
        self.files = files;
        self.go_to_file(first);
    }

    pub(crate) fn files(&self) -> &[Arc<DiffModel>] {
        &self.files
    }

    /// The file and the hunk that are meant.
    pub(crate) fn at(&self) -> (usize, usize) {
        (self.file, self.hunk)
    }

    pub(crate) fn model(&self) -> Option<&Arc<DiffModel>> {
        self.files.get(self.file)
    }

    fn chooses(&self) -> bool {
        self.chosen.iter().any(|c| !c.is_empty())
    }

    fn splits(&self) -> bool {
        // Nothing stands across from the lines of a file that is new, or gone.
        let two_sides = self.model().is_some_and(|m| !matches!(m.change(), Change::Created | Change::Deleted));
        self.side_by_side.unwrap_or(two_sides && self.width >= SPLIT_WIDTH) && self.width >= 40
    }

    fn lines(&self) -> usize {
        let split = self.splits();
        self.model().map_or(0, |m| if split { m.split_line_count() } else { m.line_count() })
    }

    fn hunk_line(&self, hunk: usize) -> usize {
        let split = self.splits();
        self.model().map_or(0, |m| if split { m.split_hunk_line(hunk) } else { m.hunk_line(hunk) })
    }

    pub fn press(&mut self, chord: &Chord) -> ViewerOutcome {
        self.copied = None;
        if let Some(search) = &mut self.search {
            match chord.code {
                KeyCode::Enter => {
                    let query = search.take();
                    self.search = None;
                    self.search_for(query);
                }
                KeyCode::Esc => self.search = None,
                _ => return edit(search, chord),
            }
            return ViewerOutcome::Moved;
        }
        if chord.ctrl || chord.alt {
            return ViewerOutcome::Ignored;
        }
        match chord.code {
            KeyCode::Esc | KeyCode::Char('q') => return ViewerOutcome::Closed,
            KeyCode::Enter if self.chooses() => return ViewerOutcome::Accepted,
            KeyCode::Up | KeyCode::Char('k') => self.viewport.scroll(-1),
            KeyCode::Down | KeyCode::Char('j') => self.viewport.scroll(1),
            KeyCode::PageUp | KeyCode::Char('b') => self.viewport.page(-1),
            KeyCode::PageDown | KeyCode::Char('f') => self.viewport.page(1),
            KeyCode::Home => self.viewport.to_top(),
            KeyCode::End => self.viewport.to_bottom(),
            KeyCode::Char('n') if self.sought.is_some() => self.seek(!chord.shift),
            KeyCode::Right | KeyCode::Char('n') => self.go_to_hunk(self.hunk + 1),
            KeyCode::Left | KeyCode::Char('p') => self.go_to_hunk(self.hunk.saturating_sub(1)),
            KeyCode::Tab if !chord.shift => self.go_to_file(self.file + 1),
            KeyCode::Tab => self.go_to_file((self.file + self.files.len()).saturating_sub(1)),
            KeyCode::Char('s') => {
                let (split, top) = (self.splits(), self.viewport.above());
                self.side_by_side = Some(!split);
                // The line at the top stays there.
                let to = self.model().map_or(0, |model| model.line_across(top, !split));
                self.viewport.resize(self.viewport.visible().len(), self.lines());
                self.viewport.scroll(to as isize - self.viewport.above() as isize);
            }
            KeyCode::Char('/') => self.search = Some(Editor::new()),
            KeyCode::Char('y') => {
                let Some(text) = self.model().map(|model| model.hunk_text(self.hunk)) else { return ViewerOutcome::Ignored };
                if text.len() > CLIPBOARD_MOST {
                    self.copied = Some(Err(TooLong));
                    return ViewerOutcome::Moved;
                }
                self.copied = Some(Ok(()));
                return ViewerOutcome::Copied(text);
            }
            KeyCode::Char(' ') => return self.toggle(|at, hunk| at == hunk),
            KeyCode::Char('a') => return self.toggle(|_, _| true),
            _ => return ViewerOutcome::Ignored,
        }
        ViewerOutcome::Moved
    }

    /// Turns the choice of the current hunk, or makes all hunks of the file be as it is not now.
    fn toggle(&mut self, meant: impl Fn(usize, usize) -> bool) -> ViewerOutcome {
        let hunk = self.hunk;
        let Some(chosen) = self.chosen.get_mut(self.file).filter(|c| !c.is_empty()) else { return ViewerOutcome::Ignored };
        let to = !chosen.get(hunk).copied().unwrap_or(true);
        for (at, choice) in chosen.iter_mut().enumerate() {
            if meant(at, hunk) {
                *choice = to;
            }
        }
        ViewerOutcome::Moved
    }

    pub fn scroll(&mut self, rows: isize) {
        self.viewport.scroll(rows);
    }

    fn go_to_file(&mut self, file: usize) {
        self.file = file % self.files.len().max(1);
        self.hunk = 0;
        self.viewport.to_top();
        self.search_anew();
    }

    fn go_to_hunk(&mut self, hunk: usize) {
        let count = self.model().map_or(0, |m| m.hunk_count());
        self.hunk = hunk.min(count.saturating_sub(1));
        let (from, height) = (self.hunk_line(self.hunk), self.viewport.visible().len().max(1));
        let end = if self.hunk + 1 < count { self.hunk_line(self.hunk + 1) } else { self.lines() };
        self.viewport.reveal(from..end.min(from + height));
    }

    /// Takes the size of the window: to be called when it, or anything in here, has changed.
    pub fn fit(&mut self, width: usize, height: usize) {
        self.fit_body(width, body_height(height));
    }

    /// [`DiffViewer::fit`] where somebody else draws what is around the body.
    pub(crate) fn fit_body(&mut self, width: usize, rows: usize) {
        let resized = self.height > 0 && (self.width, self.height) != (width, rows);
        (self.width, self.height) = (width, rows);
        self.viewport.resize(rows.max(1), self.lines());
        // Scrolled away from the hunk: what is meant is the first one that is seen.
        let visible = self.viewport.visible();
        let count = self.model().map_or(0, |m| m.hunk_count());
        let seen = |hunk: usize| self.hunk_line(hunk) < visible.end && (hunk + 1 == count || self.hunk_line(hunk + 1) > visible.start);
        if count > 0 && !seen(self.hunk) && resized {
            // The next key is about the hunk that was meant before.
            self.go_to_hunk(self.hunk);
        } else if count > 0 && !seen(self.hunk) {
            self.hunk = (0..count).find(|h| seen(*h)).unwrap_or(self.hunk);
        }
    }

    /// Rows for the whole window as it was fitted, and the cursor while a search is typed.
    pub fn view(&self, width: usize, height: usize) -> (Vec<Line>, Option<(usize, usize)>) {
        let mut rows = vec![self.title(width)];
        rows.extend(self.body(body_height(height), width, false));
        rows.resize(height.saturating_sub(1).max(1), Line::new());
        let mut cursor = None;
        match self.search_field(width) {
            Some((row, column)) => {
                cursor = Some((column, rows.len()));
                rows.push(row);
            }
            None => rows.push(self.hints(width)),
        }
        (rows, cursor)
    }

    /// The row in which a search is typed, while it is, and the column of its cursor.
    pub(crate) fn search_field(&self, width: usize) -> Option<(Line, usize)> {
        let label = || Line::styled("  / ", Style::from(Role::Accent).bold());
        self.search.as_ref().map(|search| search.field(label(), "search", width))
    }

    fn title(&self, width: usize) -> Line {
        let Some(model) = self.model() else { return Line::styled("  no changes", Role::Dim) };
        let (added, removed) = model.stats();
        let mut left = Line::styled(format!("  {}", one_line(model.path())), Style::from(Role::Heading).bold());
        left.push(Span::new(format!("  +{added}"), Role::DiffAdded));
        left.push(Span::new(format!(" −{removed}"), Role::DiffRemoved));
        if let Some(remark) = model.remark() {
            left.push(Span::new(format!("  {}", one_line(remark)), Role::Dim));
        }
        truncate(&split(left, self.place(), width, 12), width)
    }

    /// `file 2 of 3 · hunk 1 of 4`, and how many of the hunks are accepted.
    pub(crate) fn place(&self) -> Line {
        let mut place = Line::new();
        if let Some(state) = self.search_state() {
            place.push(state);
        }
        if self.files.len() > 1 {
            place.push(Span::new(format!("file {} of {} · ", self.file + 1, self.files.len()), Role::Dim));
        }
        let hunks = self.model().map_or(0, |m| m.hunk_count());
        place.push(Span::new(format!("hunk {} of {}", self.hunk + 1, hunks.max(1)), Role::Dim));
        let chosen = self.chosen(self.file);
        if !chosen.is_empty() {
            place.push(Span::new(format!(" · {} accepted", chosen.iter().filter(|c| **c).count()), Role::Accent));
        }
        place
    }

    /// The rows in view as they were fitted; `left_out`: the whole file is refused.
    pub(crate) fn body(&self, height: usize, width: usize, left_out: bool) -> Vec<Line> {
        let Some(model) = self.model() else { return vec![] };
        let room = width.saturating_sub(MARGIN).max(2);
        if model.hunk_count() == 0 {
            return model.rows(room, Some(height)).into_iter().map(|row| cut(&self.margin(row, (false, left_out, false)), width)).collect();
        }
        let (visible, hit) = (self.viewport.visible(), self.hit());
        let paint = |range: Range<usize>| match self.splits() {
            true => model.split_window(range, room, !self.elsewhere),
            false => model.window(range, room, !self.elsewhere),
        };
        let mut rows = Vec::with_capacity(height);
        for hunk in 0..model.hunk_count() {
            let from = self.hunk_line(hunk);
            // The gap before a hunk belongs to it.
            let begin = from.saturating_sub(usize::from(hunk > 0));
            let end = if hunk + 1 < model.hunk_count() { self.hunk_line(hunk + 1) - 1 } else { self.lines() };
            if end <= visible.start {
                continue;
            }
            if begin >= visible.end {
                break;
            }
            let range = begin.max(visible.start)..end.min(visible.end);
            let painted = match hit.filter(|hit| range.contains(hit)) {
                Some(hit) => {
                    let found = paint(hit..hit + 1).into_iter().map(|row| (search::marked(row), true));
                    let others = |range| paint(range).into_iter().map(|row| (row, false));
                    others(range.start..hit).chain(found).chain(others(hit + 1..range.end)).collect::<Vec<_>>()
                }
                None => paint(range).into_iter().map(|row| (row, false)).collect(),
            };
            let refused = left_out || self.chosen(self.file).get(hunk) == Some(&false);
            rows.extend(painted.into_iter().map(|(row, hit)| cut(&self.margin(row, (hunk == self.hunk, refused, hit)), width)));
        }
        // Wrapped lines make more rows than there is room for: at the end it is the last ones that count.
        if rows.len() > height && self.viewport.at_bottom() && self.viewport.above() > 0 {
            rows.drain(..rows.len() - height);
        }
        rows.truncate(height);
        rows
    }

    /// Of a row: is its hunk the current one, is it refused, was the row found?
    fn margin(&self, row: Line, (current, refused, found): (bool, bool, bool)) -> Line {
        let mark = match (current, refused, found) {
            (true, _, true) => Span::new("▌▸", Role::Accent),
            (false, _, true) => Span::new("▸ ", Role::Accent),
            (true, true, _) => Span::new("▌✗", Role::Error),
            (false, true, _) => Span::new("✗ ", Role::Error),
            (true, false, _) => Span::new("▌ ", Role::Accent),
            (false, false, _) => Span::plain("  "),
        };
        let mut line = Line::from(mark);
        line.fill = row.fill.filter(|_| !refused);
        let row = if refused { row.over(Style::new().dim()) } else { row };
        line.extend(row.spans);
        line
    }

    /// Until the next key, whether the hunk has been copied.
    pub(crate) fn sign(&self) -> Option<Line> {
        self.copied.map(|copied| match copied {
            Ok(()) => Line::styled("  ✓ the hunk is copied", Role::Success),
            Err(TooLong) => Line::styled("  ✗ not copied: the hunk is too long for a terminal's clipboard", Role::Error),
        })
    }

    pub(crate) fn forget_sign(&mut self) {
        self.copied = None;
    }

    fn hints(&self, width: usize) -> Line {
        if let Some(sign) = self.sign() {
            return truncate(&sign, width);
        }
        // What ends it and what tells of the rest have room in every window.
        let ends = [("q", "close"), ("?", "keys"), ("left right", "hunk")];
        let mut hints = if self.chooses() && width >= SHORT {
            vec![("enter", "make accepted changes"), ("space", "refuse hunk"), ("a", "all")]
        } else if self.chooses() && width >= TINY {
            vec![("enter", "make accepted")]
        } else {
            vec![]
        };
        hints.extend(ends);
        if self.files.len() > 1 {
            hints.push(("tab", "file"));
        }
        hints.extend([("/", "search"), ("s", "side by side"), ("y", "copy hunk")]);
        self.names.row(&hints, width)
    }
}

/// Rows between the title and the hints.
fn body_height(height: usize) -> usize {
    height.saturating_sub(2).max(1)
}

fn edit(search: &mut Editor, chord: &Chord) -> ViewerOutcome {
    match Edit::from_chord(chord).filter(|e| *e != Edit::Newline) {
        Some(edit) => {
            search.apply(edit, 200);
            ViewerOutcome::Moved
        }
        None => ViewerOutcome::Ignored,
    }
}

#[cfg(test)]
mod tests;
