//! The right side of the browser: what going back would change, or what changed up to the checkpoint, file by file.
//!
//! Invariants:
//! - the summary is that of the whole plan, whatever is hidden or left out, and says how much that is;
//! - what is left out is known by its path, so that it stays left out when another comparison is looked at meanwhile;
//! - a frame costs what is visible; rows are exactly as many as asked for, and never wider.

use super::{Against, PlanView};
use crate::chat_log::change_counts;
use crate::diff_view::{Change, DiffModel};
use crate::diff_viewer::{DiffViewer, ViewerOutcome};
use crate::key::Chord;
use crate::text::row::split;
use crate::text::sanitize::one_line;
use crate::text::span::{Line, Span, Style};
use crate::text::width::width as text_width;
use crate::text::wrap::{cut, truncate, truncate_middle};
use crate::theme::Role;
use std::collections::HashSet;
use std::sync::Arc;

/// The list of files is of use from this size on, in cells.
const LIST_SIZE: (usize, usize) = (60, 10);

#[derive(Clone, Debug, Default)]
pub(super) struct Changes {
    pub against: Against,
    /// `None` while it is awaited.
    plan: Option<PlanView>,
    viewer: Option<DiffViewer>,
    /// Indexes of the plan's files that the filter lets through.
    shown: Vec<usize>,
    filter: String,
    left_out: HashSet<String>,
}

impl Changes {
    /// Takes what was awaited; the answer to another question comes too late.
    pub fn set_plan(&mut self, plan: PlanView) {
        if plan.against == self.against {
            let paths: HashSet<&str> = plan.files.iter().map(|f| f.path()).collect();
            if plan.against == Against::Now {
                self.left_out.retain(|path| paths.contains(path.as_str()));
            }
            self.viewer = Some(DiffViewer::new(vec![], false));
            self.plan = Some(plan);
            self.narrow();
        }
    }

    /// Another comparison of the same checkpoint is awaited.
    pub fn forget(&mut self) {
        (self.plan, self.viewer) = (None, None);
        self.shown.clear();
    }

    /// Another checkpoint is looked at.
    pub fn forget_all(&mut self) {
        self.forget();
        self.left_out.clear();
    }

    pub fn filter(&self) -> &str {
        &self.filter
    }

    /// Shows only the files whose path has every word of it, in any case.
    pub fn set_filter(&mut self, filter: &str) {
        if self.filter != filter {
            filter.clone_into(&mut self.filter);
            self.narrow();
        }
    }

    fn narrow(&mut self) {
        let (Some(plan), Some(viewer)) = (&self.plan, &mut self.viewer) else { return };
        let current = self.shown.get(viewer.at().0).copied();
        let words: Vec<String> = self.filter.split_whitespace().map(str::to_lowercase).collect();
        let fits = |file: &Arc<DiffModel>| {
            let path = file.path().to_lowercase();
            words.iter().all(|word| path.contains(word.as_str()))
        };
        self.shown = (0..plan.files.len()).filter(|at| fits(&plan.files[*at])).collect();
        let first = self.shown.iter().position(|at| Some(*at) == current).unwrap_or(0);
        viewer.set_files(self.shown.iter().map(|at| plan.files[*at].clone()).collect(), first);
    }

    pub fn viewer(&mut self) -> Option<&mut DiffViewer> {
        self.viewer.as_mut()
    }

    /// What the last key has done, where that is not seen.
    pub fn sign(&self) -> Option<Line> {
        self.viewer.as_ref().and_then(DiffViewer::sign)
    }

    pub fn is_awaited(&self) -> bool {
        self.plan.is_none()
    }

    /// What would change is known, and this is it.
    pub fn is_plan(&self) -> bool {
        self.plan.is_some() && self.against == Against::Now
    }

    pub fn skipped(&self) -> &[String] {
        self.plan.as_ref().map_or(&[], |plan| &plan.skipped)
    }

    pub fn is_searching(&self) -> bool {
        self.viewer.as_ref().is_some_and(|v| v.search_field(20).is_some())
    }

    /// Files that are shown.
    pub fn count(&self) -> usize {
        self.shown.len()
    }

    /// The plan's files that are to go back; `None` if all are.
    pub fn chosen(&self) -> Option<Vec<usize>> {
        let plan = self.plan.as_ref().filter(|_| self.is_plan())?;
        let chosen: Vec<usize> = self.shown.iter().copied().filter(|at| !self.left_out.contains(plan.files[*at].path())).collect();
        (chosen.len() < plan.files.len()).then_some(chosen)
    }

    /// Leaves the current file out, or takes it again. False where nothing is to be chosen.
    pub fn toggle(&mut self) -> bool {
        let Some(model) = self.viewer.as_ref().and_then(DiffViewer::model).filter(|_| self.is_plan()) else { return false };
        let path = model.path().to_owned();
        if !self.left_out.remove(&path) {
            self.left_out.insert(path);
        }
        true
    }

    /// Makes all files that are shown be as the current one is not now.
    pub fn toggle_all(&mut self) -> bool {
        let out = self.is_left_out();
        if !self.toggle() {
            return false;
        }
        for file in self.viewer.iter().flat_map(DiffViewer::files) {
            if out {
                self.left_out.remove(file.path());
            } else {
                self.left_out.insert(file.path().to_owned());
            }
        }
        true
    }

    /// Is the current file left out?
    pub fn is_left_out(&self) -> bool {
        self.is_plan() && self.viewer.as_ref().and_then(DiffViewer::model).is_some_and(|m| self.left_out.contains(m.path()))
    }

    pub fn press(&mut self, chord: &Chord) -> ViewerOutcome {
        self.viewer.as_mut().map_or(ViewerOutcome::Ignored, |viewer| viewer.press(chord))
    }

    /// `3 changed · 1 deleted · 2 recreated · 1 left as it is`, in as many rows as that takes.
    pub fn summary(&self, width: usize) -> Vec<Line> {
        let now = self.against == Against::Now;
        let heading = if now { "Going back  " } else { "Since the one before  " };
        let heading = Span::new(heading, Style::new().bold());
        let mut parts = vec![];
        let mut part = |n: usize, text: &str, role: Role| {
            if n > 0 {
                parts.push(Line::styled(format!("{n} {text}"), role));
            }
        };
        match &self.plan {
            None => parts.push(Line::styled("comparing …", Role::Dim)),
            Some(plan) => {
                part(plan.changed, "changed", Role::Text);
                part(plan.deleted, "deleted", Role::DiffRemoved);
                part(plan.recreated, if now { "recreated" } else { "created" }, Role::DiffAdded);
                part(plan.skipped.len(), if plan.skipped.len() == 1 { "left as it is" } else { "left as they are" }, Role::Warning);
                if plan.changed + plan.deleted + plan.recreated == 0 {
                    let nothing = if now { "no file would change" } else { "no file changed" };
                    parts.insert(0, Line::styled(nothing, Role::Dim));
                }
            }
        }
        let mut rows = vec![Line::from("  ").with(heading)];
        for (at, part) in parts.into_iter().enumerate() {
            let separator = if at == 0 { Line::new() } else { Line::styled(" · ", Role::Dim) };
            match rows.last_mut() {
                Some(last) if at == 0 || last.width() + separator.width() + part.width() <= width => {
                    last.extend(separator.spans.into_iter().chain(part.spans));
                }
                _ => rows.push(part.indented(2)),
            }
        }
        rows.into_iter().map(|row| cut(&row, width)).collect()
    }

    /// The summary, and which files are shown of those that it counts.
    pub fn notes(&self, width: usize) -> Vec<Line> {
        let mut rows = self.summary(width);
        if !self.filter.is_empty() {
            let files = self.plan.as_ref().map_or(0, |plan| plan.files.len());
            let text = format!("  only “{}” · {} of {files} hidden", one_line(&self.filter), files - self.shown.len());
            rows.push(truncate(&Line::styled(text, Role::Accent), width));
        }
        rows
    }

    /// Takes the size of its place: to be called when it, or anything in here, has changed.
    pub fn fit(&mut self, width: usize, height: usize) {
        let around = self.head(width, height, true).len() + usize::from(self.is_searching());
        if let Some(viewer) = &mut self.viewer {
            viewer.fit_body(width.max(2), height.saturating_sub(around));
        }
    }

    pub fn rows(&self, width: usize, height: usize, focused: bool) -> Vec<Line> {
        let mut rows = self.head(width, height, focused);
        let search = self.viewer.as_ref().and_then(|viewer| viewer.search_field(width));
        let room = height.saturating_sub(rows.len() + usize::from(search.is_some()));
        if let Some(viewer) = self.viewer.as_ref().filter(|_| room > 0 && !self.shown.is_empty()) {
            rows.extend(viewer.body(room, width.max(2), self.is_left_out()).into_iter().map(|row| cut(&row, width)));
        }
        rows.resize(height.saturating_sub(usize::from(search.is_some())), Line::new());
        rows.extend(search.map(|(row, _)| cut(&row, width)));
        rows.truncate(height);
        rows
    }

    /// The column of the cursor while a search is typed: it is in the last row.
    pub fn cursor(&self, width: usize) -> Option<usize> {
        self.viewer.as_ref().and_then(|viewer| viewer.search_field(width)).map(|(_, column)| column)
    }

    /// What stands above the diff.
    fn head(&self, width: usize, height: usize, focused: bool) -> Vec<Line> {
        let mut rows = self.notes(width);
        let Some(viewer) = &self.viewer else { return rows };
        let Some(model) = viewer.model() else { return rows };
        if self.shown.len() > 1 && width >= LIST_SIZE.0 && height >= LIST_SIZE.1 {
            rows.extend(self.list(viewer, width, (height / 3).clamp(3, 8), focused));
            let (out, place) = (self.out(" left out "), viewer.place());
            let mut rule = Line::from("  ").with(Span::new(out, Role::Error));
            rule.push(Span::new("─".repeat(width.saturating_sub(rule.width() + place.width() + 1)), Role::Border));
            rule.push(" ");
            rule.extend(place.spans);
            rows.push(cut(&rule, width));
        } else {
            rows.push(self.title(viewer, model, width));
        }
        rows
    }

    /// How many files are left out, if any are.
    fn out(&self, words: &str) -> String {
        let out = if self.is_plan() { self.left_out.len() } else { 0 };
        if out == 0 { String::new() } else { format!("✗ {out}{words}") }
    }

    /// The files around the current one.
    fn list(&self, viewer: &DiffViewer, cells: usize, max_rows: usize, focused: bool) -> Vec<Line> {
        let (files, current) = (viewer.files(), viewer.at().0);
        let from = current.saturating_sub(max_rows / 2).min(files.len().saturating_sub(max_rows));
        let seen = &files[from..(from + max_rows).min(files.len())];
        let digits = |n: usize| n.to_string().len();
        let added = seen.iter().map(|f| digits(f.stats().0)).max().unwrap_or(1);
        let removed = seen.iter().map(|f| digits(f.stats().1)).max().unwrap_or(1);
        let row = |(at, file): (usize, &Arc<DiffModel>)| {
            let is_current = from + at == current;
            let out = self.is_plan() && self.left_out.contains(file.path());
            let mark = match (is_current, focused) {
                (true, true) => "▸ ",
                (true, false) => "▹ ",
                (false, _) => "  ",
            };
            let mut left = Line::styled(mark, Style::from(Role::Accent).bold());
            if self.is_plan() {
                left.push(if out { Span::new("✗ ", Role::Error) } else { Span::new("✓ ", Role::Dim) });
            }
            let (plus, minus) = file.stats();
            let word = match (self.word(file.change()), file.remark().filter(|_| file.change() != Change::Binary)) {
                (word, None) => word.to_owned(),
                ("", Some(remark)) => one_line(remark).into_owned(),
                (word, Some(remark)) => format!("{word}, {}", one_line(remark)),
            };
            let word = truncate_middle(&word, cells / 3).into_owned();
            let room = cells.saturating_sub(left.width() + text_width(&word) + added + removed + 10);
            let look = if is_current { Style::new().bold() } else { Style::new() };
            left.push(Span::new(truncate_middle(&one_line(file.path()), room).into_owned(), if out { look.dim() } else { look }));
            let word_width = text_width(&word);
            let mut right = Line::styled(word, Role::Dim);
            if file.change() == Change::Binary {
                right = right.pad_to(word_width + added + removed + 5);
            } else {
                right.push(Span::new(format!("  {:>1$}", format!("+{plus}"), added + 1), Role::DiffAdded));
                right.push(Span::new(format!(" {:>1$}", format!("−{minus}"), removed + 1), Role::DiffRemoved));
            }
            let mut row = cut(&split(left, if out { right.over(Style::new().dim()) } else { right }, cells, 12), cells);
            row.fill = (is_current && focused).then_some(Role::Selection);
            row
        };
        seen.iter().enumerate().map(row).collect()
    }

    /// What happens to a file, where that is more than a change.
    fn word(&self, change: Change) -> &'static str {
        match change {
            Change::Created if self.against == Against::Now => "recreated",
            Change::Created => "created",
            Change::Deleted => "deleted",
            Change::Binary => "binary",
            Change::Modified | Change::Unchanged => "",
        }
    }

    /// The current file, where there is no list.
    fn title(&self, viewer: &DiffViewer, model: &DiffModel, cells: usize) -> Line {
        let (added, removed) = model.stats();
        let place = match (cells >= LIST_SIZE.0, self.shown.len()) {
            (true, _) => viewer.place(),
            (false, 0 | 1) => Line::new(),
            (false, files) => Line::styled(self.out("  "), Role::Error).and(format!("{}/{files}", viewer.at().0 + 1), Role::Dim),
        };
        let mut left = Line::from(if self.is_left_out() { Span::new("✗ ", Role::Error) } else { Span::plain("  ") });
        let counts = change_counts(added, removed);
        let room = cells.saturating_sub(left.width() + counts.width() + place.width() + 4).max(8);
        let style = Style::from(Role::Heading).bold();
        left.push(Span::new(truncate_middle(&one_line(model.path()), room).into_owned(), style));
        left.push("  ");
        left.extend(counts.spans);
        if !self.word(model.change()).is_empty() && left.width() + place.width() + 14 < cells {
            left.push(Span::new(format!("  {}", self.word(model.change())), Role::Dim));
        }
        truncate(&split(left, place, cells, 12), cells)
    }
}
