//! The search in a diff: every line that has the words, gone through one by one.
//!
//! Invariant: lines are counted as in the unified view, whichever is shown.

use super::DiffViewer;
use crate::diff_view::DiffModel;
use crate::text::sanitize::one_line;
use crate::text::span::{Line, Span};
use crate::theme::Role;

/// What is sought in the file that is looked at.
#[derive(Clone, Debug)]
pub(super) struct Sought {
    query: String,
    hits: Vec<usize>,
    /// Which of the hits is looked at.
    at: Option<usize>,
}

/// The row that was found: as a selected one, its changed words still marked.
pub(super) fn marked(mut row: Line) -> Line {
    for span in &mut row.spans {
        if !matches!(span.style.bg, Some(Role::DiffAddedMark | Role::DiffRemovedMark)) {
            span.style.bg = Some(Role::Selection);
        }
    }
    row.fill = Some(Role::Selection);
    row
}

impl Sought {
    fn new(query: String, model: Option<&DiffModel>) -> Self {
        Self { hits: model.map_or(vec![], |model| model.find_all(&query)), query, at: None }
    }
}

impl DiffViewer {
    pub(super) fn search_for(&mut self, query: String) {
        let model = self.model().cloned();
        self.sought = (!query.is_empty()).then(|| Sought::new(query, model.as_deref()));
        self.seek(true);
    }

    /// Another file is looked at: the same words in there.
    pub(super) fn search_anew(&mut self) {
        let model = self.model().cloned();
        self.sought = self.sought.take().map(|sought| Sought::new(sought.query, model.as_deref()));
    }

    /// To the next hit, or back: from the one that is looked at, or from the top of the window if that has been left.
    pub(super) fn seek(&mut self, down: bool) {
        let visible = self.viewport.visible();
        let Some(sought) = self.sought.as_ref().filter(|sought| !sought.hits.is_empty()) else { return };
        let count = sought.hits.len();
        let here = sought.at.filter(|at| visible.contains(&self.shown_line(sought.hits[*at])));
        let next = match here {
            Some(at) if down => (at + 1) % count,
            Some(at) => (at + count - 1) % count,
            None => {
                let after = sought.hits.partition_point(|hit| self.shown_line(*hit) < visible.start);
                if down { after % count } else { (after + count - 1) % count }
            }
        };
        let line = sought.hits[next];
        if let Some(sought) = &mut self.sought {
            sought.at = Some(next);
        }
        if let Some(model) = self.model() {
            self.hunk = (1..model.hunk_count()).take_while(|hunk| model.hunk_line(*hunk) <= line).last().unwrap_or(0);
        }
        let (at, height) = (self.shown_line(line), visible.len().max(1));
        self.viewport.scroll(at as isize - self.viewport.above() as isize);
        self.viewport.reveal(at..at + height.min(3));
    }

    /// The line that is looked at, as counted in the view that is shown.
    pub(super) fn hit(&self) -> Option<usize> {
        let sought = self.sought.as_ref()?;
        Some(self.shown_line(*sought.hits.get(sought.at?)?))
    }

    fn shown_line(&self, line: usize) -> usize {
        if self.splits() { self.model().map_or(line, |model| model.line_across(line, true)) } else { line }
    }

    /// `match 2 of 7 · `, or that there is none.
    pub(super) fn search_state(&self) -> Option<Span> {
        let sought = self.sought.as_ref()?;
        Some(match sought.at {
            _ if sought.hits.is_empty() => Span::new(format!("no match for {} · ", one_line(&sought.query)), Role::Warning),
            Some(at) => Span::new(format!("match {} of {} · ", at + 1, sought.hits.len()), Role::Accent),
            None => Span::new(format!("{} matches · ", sought.hits.len()), Role::Accent),
        })
    }
}
