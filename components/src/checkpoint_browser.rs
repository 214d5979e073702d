//! A timeline of checkpoints beside what going back to one would change.
//!
//! Invariants:
//! - rows are exactly as many as asked for, and never wider; a frame costs what is visible, however many checkpoints there are;
//! - going back and deleting take two steps, so that no single key undoes work; files go back only as the plan has them that is shown;
//! - where there is no room for two columns, the timeline and the changes are shown one after the other.

mod changes;
mod footer;
mod timeline;
mod view;

use crate::diff_view::DiffModel;
use crate::diff_viewer::{DiffViewer, ViewerOutcome};
use crate::editor::{Edit, Editor};
use crate::key::Chord;
use crate::key_hints::KeyNames;
use crate::list::{ListOutcome, ListState};
use crate::viewport::Viewport;
use changes::Changes;
use iocraft::KeyCode;
use std::sync::Arc;

/// A checkpoint as the timeline shows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// What the user had asked for, or the checkpoint's name.
    pub title: String,
    /// When, in words: `3 min ago`.
    pub when: String,
    /// Files that changed from it to the next one, and their lines.
    pub files: usize,
    pub added: usize,
    pub removed: usize,
    pub kind: EntryKind,
    pub pinned: bool,
    /// The conversation can go back to it; else only files can.
    pub conversation: bool,
}

/// Why there is a checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EntryKind {
    /// A request of this conversation followed.
    #[default]
    Request,
    /// Within a request, or at its end.
    Call,
    Manual,
    /// The state before something was restored.
    Restore,
    /// Another session made it.
    Elsewhere,
}

/// What the changes at the right are a comparison with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Against {
    /// From now to the checkpoint: what going back would do.
    #[default]
    Now,
    /// From the checkpoint before it to it.
    Previous,
}

/// What going back would do, or what had changed.
#[derive(Clone, Debug, Default)]
pub struct PlanView {
    pub changed: usize,
    pub deleted: usize,
    pub recreated: usize,
    /// Files that would not be as they were, each with the reason.
    pub skipped: Vec<String>,
    pub files: Vec<Arc<DiffModel>>,
    pub against: Against,
}

/// What goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Both,
    Files,
    Conversation,
}

/// What a key meant. Numbers of entries are those of the list given last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrowserOutcome {
    /// Other changes are looked at: a plan is wanted (see [`Browser::selected`], [`Browser::against`], [`Browser::set_plan`]).
    Selected(usize),
    Moved,
    Ignored,
    Chosen {
        entry: usize,
        scope: Scope,
        /// Indexes into [`PlanView::files`]; `None` is all of them.
        files: Option<Vec<usize>>,
    },
    Renamed(usize, String),
    Deleted(usize),
    Pinned(usize, bool),
    Copied(String),
    Closed,
}

/// What keys are for now.
#[derive(Clone, Debug, Default)]
enum Step {
    /// To look around, in the timeline or in the changes.
    #[default]
    Look,
    /// To say what goes back.
    Scope(ListState),
    /// To type a name.
    Rename(Editor),
    /// To type what the files' paths have in common.
    Filter(Editor),
    /// To say whether the checkpoint is deleted.
    Delete,
    /// To read which files are left as they are.
    Skipped(Viewport),
}

/// What keys are for now, to those who give the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    Timeline,
    Changes,
    /// A list of what can go back.
    Scope,
    /// A name, a filter or a search is being typed.
    Text,
    /// Yes or no.
    Question,
}

/// State of the browser. Entries are given from the oldest to the newest.
#[derive(Clone, Debug, Default)]
pub struct Browser {
    entries: Vec<Entry>,
    list: ListState,
    changes: Changes,
    in_changes: bool,
    step: Step,
    names: KeyNames,
}

impl Browser {
    /// The newest entry is selected: it is what most people come for.
    pub fn new(entries: Vec<Entry>) -> Self {
        Self { entries, ..Self::default() }
    }

    /// Other entries, or the same ones with other names and pins. What is selected stays as far from the newest as it was; if it may
    /// be another one now, its plan is wanted (see [`Browser::awaits`]).
    pub fn set_entries(&mut self, entries: Vec<Entry>) {
        let state = |e: &Entry| (e.kind, e.conversation, e.files, e.added, e.removed);
        let before = (self.entries.len(), self.entry().map(state));
        self.entries = entries;
        self.list.select(self.list.selected(), self.entries.len());
        if before != (self.entries.len(), self.entry().map(state)) {
            self.changes.forget_all();
            // What was being said was about another one.
            if !matches!(self.step, Step::Filter(_)) {
                self.step = Step::Look;
            }
        }
        if self.entries.is_empty() {
            (self.in_changes, self.step) = (false, Step::Look);
        }
    }

    /// The same, where the one that is looked at is known to be among them: what is shown and asked about it stays.
    pub fn update_entries(&mut self, entries: Vec<Entry>, same: usize) {
        if self.changes.against == Against::Previous {
            // The one before it may be another one now.
            self.changes.forget_all();
            if matches!(self.step, Step::Scope(_) | Step::Skipped(_)) {
                self.step = Step::Look;
            }
        }
        self.list.select(entries.len().saturating_sub(1 + same), entries.len());
        self.entries = entries;
    }

    /// Looks at this entry: its changes are wanted then.
    pub fn select(&mut self, entry: usize) {
        self.list.select(self.entries.len().saturating_sub(1 + entry), self.entries.len());
        self.changes.forget_all();
    }

    /// The entry that is looked at.
    pub fn selected(&self) -> Option<usize> {
        // The newest first, as the list has them.
        self.entries.len().checked_sub(1 + self.list.selected())
    }

    fn entry(&self) -> Option<&Entry> {
        self.entries.get(self.selected()?)
    }

    pub fn focus(&self) -> Focus {
        match &self.step {
            Step::Look if self.in_changes && self.changes.is_searching() => Focus::Text,
            Step::Look if self.in_changes => Focus::Changes,
            Step::Look => Focus::Timeline,
            Step::Skipped(_) => Focus::Changes,
            Step::Scope(_) => Focus::Scope,
            Step::Rename(_) | Step::Filter(_) => Focus::Text,
            Step::Delete => Focus::Question,
        }
    }

    /// How the hints call the keys of [`Browser::focus`].
    pub fn call_keys(&mut self, names: KeyNames) {
        self.names = names;
    }

    /// With what it is compared.
    pub fn against(&self) -> Against {
        self.changes.against
    }

    /// A plan of the selected entry is wanted and has not come yet.
    pub fn awaits(&self) -> bool {
        !self.entries.is_empty() && self.changes.is_awaited()
    }

    /// What going back to the selected entry would do, or what changed up to it: one that is not [`Browser::against`] what is looked
    /// at now comes too late.
    pub fn set_plan(&mut self, plan: PlanView) {
        self.changes.set_plan(plan);
    }

    /// Its diff, while one is shown.
    pub fn diff(&mut self) -> Option<&mut DiffViewer> {
        self.changes.viewer()
    }

    pub fn scroll(&mut self, rows: isize) {
        match (&mut self.step, self.changes.viewer()) {
            (Step::Skipped(view), _) => view.scroll(rows),
            (_, Some(diff)) => diff.scroll(rows),
            _ => {}
        }
    }

    /// Pastes into the name or the filter that is being typed.
    pub fn paste(&mut self, text: &str) -> BrowserOutcome {
        self.edit(Edit::Insert(text.replace(['\n', '\r'], " ")))
    }

    pub fn press(&mut self, chord: &Chord) -> BrowserOutcome {
        if let Some(viewer) = self.changes.viewer() {
            viewer.forget_sign();
        }
        let ends = chord.code == KeyCode::Esc;
        match &mut self.step {
            Step::Look => self.look(chord),
            Step::Scope(_) if !ends => self.choose_scope(chord),
            Step::Filter(_) if ends => {
                self.changes.set_filter("");
                self.leave(BrowserOutcome::Moved)
            }
            Step::Rename(_) | Step::Filter(_) if !ends => self.type_text(chord),
            Step::Delete if !ends => match (chord.typed(), self.selected()) {
                (Some('y'), Some(at)) => self.leave(BrowserOutcome::Deleted(at)),
                (Some('n'), _) => self.leave(BrowserOutcome::Moved),
                _ => BrowserOutcome::Ignored,
            },
            Step::Skipped(view) if !ends => match chord.code {
                KeyCode::Up | KeyCode::Char('k') => moved(|| view.scroll(-1)),
                KeyCode::Down | KeyCode::Char('j') => moved(|| view.scroll(1)),
                KeyCode::PageUp => moved(|| view.page(-1)),
                KeyCode::PageDown => moved(|| view.page(1)),
                KeyCode::Home => moved(|| view.to_top()),
                KeyCode::End => moved(|| view.to_bottom()),
                KeyCode::Char('l' | 'q') | KeyCode::Left | KeyCode::Tab => self.leave(BrowserOutcome::Moved),
                _ => BrowserOutcome::Ignored,
            },
            _ => self.leave(BrowserOutcome::Moved),
        }
    }

    fn leave(&mut self, outcome: BrowserOutcome) -> BrowserOutcome {
        self.step = Step::Look;
        outcome
    }

    fn enter(&mut self, step: Step) -> BrowserOutcome {
        self.step = step;
        BrowserOutcome::Moved
    }

    fn look(&mut self, chord: &Chord) -> BrowserOutcome {
        let Some(at) = self.selected() else {
            let closes = matches!(chord.code, KeyCode::Esc | KeyCode::Char('q'));
            return if closes { BrowserOutcome::Closed } else { BrowserOutcome::Ignored };
        };
        if self.in_changes && self.changes.is_searching() {
            return self.press_changes(chord);
        }
        if !chord.ctrl && !chord.alt && !chord.shift {
            match chord.code {
                KeyCode::Enter => return self.ask_scope(at),
                KeyCode::Char('c') => {
                    let other = if self.changes.against == Against::Now { Against::Previous } else { Against::Now };
                    return self.compare(at, other);
                }
                KeyCode::Char('l') if !self.changes.skipped().is_empty() => return self.enter(Step::Skipped(Viewport::at_top())),
                _ => {}
            }
        }
        if self.in_changes { self.press_changes(chord) } else { self.press_timeline(chord, at) }
    }

    fn compare(&mut self, at: usize, against: Against) -> BrowserOutcome {
        self.changes.against = against;
        self.changes.forget();
        BrowserOutcome::Selected(at)
    }

    /// The second step; what it is about is what going back would do.
    fn ask_scope(&mut self, at: usize) -> BrowserOutcome {
        self.step = Step::Scope(ListState::default());
        if self.changes.against == Against::Now { BrowserOutcome::Moved } else { self.compare(at, Against::Now) }
    }

    fn choose_scope(&mut self, chord: &Chord) -> BrowserOutcome {
        let choices = self.choices();
        let items = footer::items(&choices);
        let (Step::Scope(list), Some(entry)) = (&mut self.step, self.entries.len().checked_sub(1 + self.list.selected())) else {
            return BrowserOutcome::Ignored;
        };
        let scope = match list.press(chord, &items) {
            ListOutcome::Chosen(at) => choices.get(at).map(|choice| choice.scope),
            ListOutcome::Moved => return BrowserOutcome::Moved,
            ListOutcome::Ignored => None,
        };
        match scope {
            Some(Scope::Conversation) => self.leave(BrowserOutcome::Chosen { entry, scope: Scope::Conversation, files: None }),
            // What would happen to files is seen first.
            Some(scope) if self.changes.is_plan() => {
                let files = self.changes.chosen();
                self.leave(BrowserOutcome::Chosen { entry, scope, files })
            }
            _ => BrowserOutcome::Ignored,
        }
    }

    fn type_text(&mut self, chord: &Chord) -> BrowserOutcome {
        if chord.code != KeyCode::Enter {
            let edit = Edit::from_chord(chord).filter(|edit| !matches!(edit, Edit::Newline | Edit::Up | Edit::Down));
            return edit.map_or(BrowserOutcome::Ignored, |edit| self.edit(edit));
        }
        let name = match &self.step {
            Step::Rename(name) => name.submit_text().trim().to_owned(),
            _ => String::new(),
        };
        match self.selected() {
            Some(at) if !name.is_empty() && name != self.entries[at].title => self.leave(BrowserOutcome::Renamed(at, name)),
            _ => self.leave(BrowserOutcome::Moved),
        }
    }

    fn edit(&mut self, edit: Edit) -> BrowserOutcome {
        let (Step::Rename(text) | Step::Filter(text)) = &mut self.step else { return BrowserOutcome::Ignored };
        text.apply(edit, usize::MAX);
        if let Step::Filter(text) = &self.step {
            self.changes.set_filter(text.text());
        }
        BrowserOutcome::Moved
    }

    fn press_timeline(&mut self, chord: &Chord, at: usize) -> BrowserOutcome {
        let mut chord = *chord;
        if !chord.ctrl && !chord.alt {
            match chord.code {
                KeyCode::Esc | KeyCode::Char('q') => return BrowserOutcome::Closed,
                KeyCode::Right | KeyCode::Tab => {
                    self.in_changes = true;
                    return BrowserOutcome::Moved;
                }
                KeyCode::Char('f') => return self.enter(Step::Filter(Editor::with_text(self.changes.filter()))),
                KeyCode::Char('r') => {
                    let title = self.entries[at].title.lines().next().unwrap_or_default();
                    return self.enter(Step::Rename(Editor::with_text(title)));
                }
                KeyCode::Char('d') => return self.enter(Step::Delete),
                KeyCode::Char('p') => return BrowserOutcome::Pinned(at, !self.entries[at].pinned),
                KeyCode::Char('j') => chord.code = KeyCode::Down,
                KeyCode::Char('k') => chord.code = KeyCode::Up,
                _ => {}
            }
        }
        let before = self.list.selected();
        if self.list.navigate(&chord, self.entries.len()) == ListOutcome::Ignored {
            return BrowserOutcome::Ignored;
        }
        match self.selected().filter(|_| self.list.selected() != before) {
            Some(at) => {
                self.changes.forget_all();
                BrowserOutcome::Selected(at)
            }
            None => BrowserOutcome::Moved,
        }
    }

    fn press_changes(&mut self, chord: &Chord) -> BrowserOutcome {
        let (file, hunk) = self.changes.viewer().map_or((0, 0), |viewer| viewer.at());
        let searching = self.changes.is_searching();
        let back = match chord.code {
            _ if searching || chord.ctrl || chord.alt => false,
            KeyCode::Char(' ') => return if self.changes.toggle() { BrowserOutcome::Moved } else { BrowserOutcome::Ignored },
            KeyCode::Char('a') => return if self.changes.toggle_all() { BrowserOutcome::Moved } else { BrowserOutcome::Ignored },
            KeyCode::Left => hunk == 0,
            // The files are gone through on the way back to the timeline.
            KeyCode::Tab if chord.shift => file == 0,
            KeyCode::Tab => file + 1 >= self.changes.count(),
            KeyCode::Esc | KeyCode::Char('q') => true,
            _ => false,
        };
        if back {
            self.in_changes = false;
            return BrowserOutcome::Moved;
        }
        match self.changes.press(chord) {
            ViewerOutcome::Copied(text) => BrowserOutcome::Copied(text),
            ViewerOutcome::Moved | ViewerOutcome::Closed => BrowserOutcome::Moved,
            ViewerOutcome::Ignored | ViewerOutcome::Accepted => BrowserOutcome::Ignored,
        }
    }
}

fn moved(act: impl FnOnce()) -> BrowserOutcome {
    act();
    BrowserOutcome::Moved
}

#[cfg(test)]
mod tests;
