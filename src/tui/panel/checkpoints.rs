//! The checkpoint browser over the whole screen: where to go back to, and what would change.
//!
//! What is done is what is shown: going back carries the plan along that was looked at.

use super::{PanelOutcome, keys::Keys};
use crate::{
    protocol::{
        Action, CheckpointId, CheckpointInfo, Command, FileChange, Origin, Plan, Planned, Revision, RewindScope, SessionId, Version,
        Wanted, checkpoint::meant, plan::LINK,
    },
    tui::{
        app::Cmd,
        blocks,
        checkpoints::Mark,
        keymap::{Context, Keymap},
    },
};
use backstitch_components::{
    chat_log::ago,
    checkpoint_browser::{Against, Browser, BrowserOutcome, Entry, EntryKind, Focus, PlanView, Scope},
    dialog::DialogView,
    diff_view::DiffModel,
    diff_viewer::DiffViewer,
    key::Chord,
    key_hints::KeyNames,
};
use std::{collections::HashMap, sync::Arc, time::Duration};

#[derive(Debug)]
pub struct Checkpoints {
    browser: Browser,
    session: Option<SessionId>,
    /// Of this conversation.
    marks: Vec<Mark>,
    /// All of the store, oldest first, once they are known.
    all: Vec<CheckpointInfo>,
    /// The entries of the browser.
    ids: Vec<CheckpointId>,
    /// Of the selected one, as it is shown.
    plan: Option<Plan>,
    /// To be selected once it is known: the beginning of its id, or its name.
    sought: Option<String>,
    /// The one that was asked for is shown, whatever it is.
    asked: Option<CheckpointId>,
    /// Those within requests are shown, too.
    steps: bool,
    /// What was asked for and is not there.
    pub lacks: Option<String>,
    /// What the keys do lies over it.
    keys: Option<Keys>,
}

impl Checkpoints {
    /// The panel with what the screen knows, and what is to be looked up.
    pub fn new(marks: &[Mark], session: Option<SessionId>, sought: Option<String>, now: Duration) -> (Self, Vec<Cmd>) {
        let info = |mark: &Mark| CheckpointInfo {
            id: mark.id.clone(),
            text: mark.label.clone(),
            ago: now.saturating_sub(mark.at).as_secs(),
            files_changed: mark.files,
            origin: Origin::Turn,
            session: session.clone(),
            named: false,
            pinned: false,
        };
        let (all, marks) = (marks.iter().map(info).collect(), marks.to_vec());
        let (browser, session) = (Browser::new(vec![]), session.clone());
        let mut panel = Checkpoints {
            browser,
            session,
            marks,
            all: vec![],
            ids: vec![],
            plan: None,
            sought: None,
            asked: None,
            steps: false,
            lacks: None,
            keys: None,
        };
        let mut cmds = panel.listed(all);
        panel.sought = sought;
        cmds.push(Cmd::Send(Command::ListCheckpoints));
        (panel, cmds)
    }

    pub fn contexts(&self) -> &'static [Context] {
        match (&self.keys, self.browser.focus()) {
            (Some(_), _) => &[Context::List],
            (None, Focus::Timeline) => &[Context::Checkpoints],
            (None, Focus::Changes) => &[Context::Changes],
            (None, Focus::Scope) => &[Context::List, Context::GoingBack],
            (None, Focus::Text) => &[Context::Field, Context::Edit],
            (None, Focus::Question) => &[Context::Dialog],
        }
    }

    pub fn fit(&mut self, width: usize, height: usize, names: KeyNames) {
        self.browser.call_keys(names);
        self.browser.fit(width, height);
    }

    pub fn scroll(&mut self, rows: isize) {
        self.browser.scroll(rows);
    }

    pub fn paste(&mut self, text: &str) {
        self.browser.paste(text);
    }

    pub fn viewer(&mut self) -> Option<&mut DiffViewer> {
        self.browser.diff()
    }

    /// The store's checkpoints, at first or after one has been revised.
    pub fn listed(&mut self, all: Vec<CheckpointInfo>) -> Vec<Cmd> {
        let before = self.selected().cloned();
        let at_newest = self.ids.last() == before.as_ref() && self.browser.focus() == Focus::Timeline;
        self.all = all;
        let sought = self.sought.take();
        if let Some(sought) = &sought {
            self.asked = meant(&self.all, sought, |info| (&info.id, &info.text)).last().map(|at| self.all[*at].id.clone());
            if self.asked.is_none() {
                self.lacks = Some(sought.clone());
            }
        }
        let shown: Vec<usize> = (0..self.all.len()).filter(|at| self.is_shown(&self.all[*at])).collect();
        let entries: Vec<Entry> = shown.iter().map(|at| self.entry(*at)).collect();
        self.ids = shown.iter().map(|at| self.all[*at].id.clone()).collect();
        // Whoever has not moved looks at the newest, whichever that is.
        let stays = |at: &usize| !at_newest || at + 1 == self.ids.len();
        match before.as_ref().and_then(|before| self.ids.iter().position(|id| id == before)).filter(stays) {
            Some(same) => self.browser.update_entries(entries, same),
            None => self.browser.set_entries(entries),
        }
        if let Some(entry) = self.asked.as_ref().filter(|_| sought.is_some()).and_then(|asked| self.ids.iter().position(|id| id == asked)) {
            self.browser.select(entry);
        }
        if self.selected() != before.as_ref() || self.browser.awaits() { self.look().into_iter().collect() } else { vec![] }
    }

    /// What a turn took within it is no place of its own, unless it is that as well: where nothing has changed since the end of one
    /// turn, the next one begins with the same checkpoint.
    fn is_shown(&self, info: &CheckpointInfo) -> bool {
        info.origin != Origin::Call
            || self.steps
            || info.named
            || info.pinned
            || self.asked.as_ref() == Some(&info.id)
            || self.marks.iter().any(|mark| mark.id == info.id)
    }

    fn entry(&self, at: usize) -> Entry {
        let info = &self.all[at];
        let mark = self.marks.iter().rfind(|mark| mark.id == info.id);
        let when = ago(info.ago);
        let files = match (mark, info.origin) {
            (Some(mark), _) if !mark.manual => mark.files,
            // What the turn changed is told by the checkpoints that it took afterwards.
            (None, Origin::Turn) => {
                let later = self.all[at + 1..].iter().filter(|later| later.session == info.session);
                later.take_while(|later| later.origin == Origin::Call).map(|later| later.files_changed).sum()
            }
            _ => info.files_changed,
        };
        let later = self.all[at + 1..].iter().any(|later| later.session == info.session);
        // Of another session's, which runs or was cut off: nothing tells yet what it changed.
        let open = if mark.is_none() && info.origin == Origin::Turn && !later { " (not finished)" } else { "" };
        Entry {
            title: mark
                .filter(|mark| !info.named && !mark.label.is_empty())
                .map_or_else(|| format!("{}{open}", info.text), |mark| mark.label.clone()),
            when,
            files,
            added: mark.map_or(0, |mark| mark.lines.0),
            removed: mark.map_or(0, |mark| mark.lines.1),
            kind: match (info.origin, mark) {
                (_, Some(mark)) if mark.manual => EntryKind::Manual,
                // What another session has left may be where a request of this one began.
                (_, Some(_)) => EntryKind::Request,
                (Origin::Manual, None) => EntryKind::Manual,
                (Origin::Restore, None) => EntryKind::Restore,
                _ if info.session != self.session => EntryKind::Elsewhere,
                (Origin::Call, None) => EntryKind::Call,
                (Origin::Turn, None) => EntryKind::Request,
            },
            pinned: info.pinned,
            conversation: mark.is_some(),
        }
    }

    /// Asks for what the right side is to show.
    fn look(&mut self) -> Option<Cmd> {
        self.plan = None;
        let to = self.ids.get(self.browser.selected()?)?.clone();
        Some(Cmd::Send(match self.browser.against() {
            Against::Now => Command::Plan(Wanted { to, since: None, only: None }),
            Against::Previous => {
                let at = self.all.iter().position(|info| info.id == to)?;
                // Before the first one there was nothing to compare with.
                let from = self.all[at.saturating_sub(1)].id.clone();
                Command::Compare { from, to }
            }
        }))
    }

    fn selected(&self) -> Option<&CheckpointId> {
        self.ids.get(self.browser.selected()?)
    }

    /// What has been looked up; too late, if another checkpoint is looked at by now.
    pub fn planned(&mut self, plan: Plan, changes: Vec<FileChange>) {
        if self.selected() != Some(&plan.wanted.to) || self.browser.against() != Against::Now {
            return;
        }
        let mut texts: HashMap<_, _> = changes.into_iter().map(|change| (change.path.clone(), change)).collect();
        let gone: HashMap<&Version, &Planned> =
            plan.files.iter().filter_map(|file| Some((file.now.as_ref().filter(|_| file.then.is_none())?, file))).collect();
        let files = plan.files.iter().map(|file| Arc::new(model(file, texts.remove(&file.path), &gone))).collect();
        self.show(PlanView {
            changed: plan.count(Action::Change),
            deleted: plan.count(Action::Delete),
            recreated: plan.count(Action::Recreate),
            skipped: plan.skipped.iter().map(|(path, why)| format!("{}: {why}", path.display())).collect(),
            files,
            against: Against::Now,
        });
        self.plan = Some(plan);
    }

    pub fn compared(&mut self, to: &CheckpointId, changes: &[FileChange]) {
        if self.selected() != Some(to) || self.browser.against() != Against::Previous {
            return;
        }
        let count = |holds: fn(&FileChange) -> bool| changes.iter().filter(|change| holds(change)).count();
        let (deleted, recreated) = (count(|c| c.new.is_none()), count(|c| c.old.is_none()));
        self.show(PlanView {
            changed: changes.len() - deleted - recreated,
            deleted,
            recreated,
            skipped: vec![],
            files: changes.iter().map(|change| Arc::new(blocks::diff_model(change))).collect(),
            against: Against::Previous,
        });
    }

    fn show(&mut self, plan: PlanView) {
        self.browser.set_plan(plan);
        if let Some(diff) = self.browser.diff() {
            diff.colour_elsewhere();
        }
    }

    pub fn press(&mut self, chord: &Chord, keys: &Keymap) -> PanelOutcome {
        if self.keys.take_if(|keys| matches!(keys.press(chord), PanelOutcome::Closed)).is_some() || self.keys.is_some() {
            return PanelOutcome::Stays;
        }
        let here = self.contexts();
        let revise = |id: Option<&CheckpointId>, revision| match id {
            Some(id) => PanelOutcome::StaysAnd(Cmd::Send(Command::Revise { id: id.clone(), revision })),
            None => PanelOutcome::Stays,
        };
        match self.browser.press(chord) {
            BrowserOutcome::Ignored if chord.typed() == Some('?') && matches!(here, [Context::Checkpoints | Context::Changes]) => {
                self.keys = Some(Keys::of(here, keys));
                PanelOutcome::Stays
            }
            BrowserOutcome::Ignored if chord.typed() == Some('s') && matches!(here, [Context::Checkpoints]) => self.toggle_steps(),
            BrowserOutcome::Moved | BrowserOutcome::Ignored => PanelOutcome::Stays,
            BrowserOutcome::Closed => PanelOutcome::Closed,
            BrowserOutcome::Copied(text) => PanelOutcome::StaysAnd(Cmd::Copy(text)),
            BrowserOutcome::Selected(_) => self.look().map_or(PanelOutcome::Stays, PanelOutcome::StaysAnd),
            BrowserOutcome::Renamed(at, name) => revise(self.ids.get(at), Revision::Rename(name)),
            BrowserOutcome::Pinned(at, pinned) => revise(self.ids.get(at), Revision::Pin(pinned)),
            BrowserOutcome::Deleted(at) => revise(self.ids.get(at), Revision::Delete),
            BrowserOutcome::Chosen { entry, scope, files } => match self.ids.get(entry) {
                Some(to) => PanelOutcome::Does(Cmd::Send(self.rewind(to.clone(), scope, files))),
                None => PanelOutcome::Stays,
            },
        }
    }

    /// Single calls, too, or requests only; the same one stays selected where it is still there.
    fn toggle_steps(&mut self) -> PanelOutcome {
        self.steps = !self.steps;
        let selected = self.selected().cloned();
        let all = std::mem::take(&mut self.all);
        let cmds = self.listed(all);
        if let Some(entry) = selected.and_then(|id| self.ids.iter().position(|other| *other == id)) {
            self.browser.select(entry);
            return self.look().map_or(PanelOutcome::Stays, PanelOutcome::StaysAnd);
        }
        cmds.into_iter().next().map_or(PanelOutcome::Stays, PanelOutcome::StaysAnd)
    }

    fn rewind(&self, to: CheckpointId, scope: Scope, files: Option<Vec<usize>>) -> Command {
        let scope = match scope {
            Scope::Both => RewindScope::Both,
            Scope::Files => RewindScope::Files,
            Scope::Conversation => RewindScope::Conversation,
        };
        let mut plan = self.plan.clone().filter(|_| scope.files());
        if let (Some(plan), Some(chosen)) = (&mut plan, files) {
            plan.files = chosen.iter().filter_map(|at| plan.files.get(*at).cloned()).collect();
            plan.wanted.only = Some(plan.files.iter().map(|file| file.path.clone()).collect());
        }
        Command::Rewind { to, scope, plan }
    }

    pub fn view(&self, keys: &Keymap, width: usize, max_rows: usize) -> DialogView {
        if let Some(shown) = &self.keys {
            return shown.view(keys, width, max_rows);
        }
        DialogView { rows: self.browser.view(width, max_rows), cursor: self.browser.cursor(width, max_rows) }
    }
}

/// What would become of a file: its texts, and what they do not tell.
fn model(file: &Planned, change: Option<FileChange>, gone: &HashMap<&Version, &Planned>) -> DiffModel {
    let mut remarks = vec![];
    match (&file.now, &file.then) {
        (Some(now), Some(then)) if now.mode != then.mode => remarks.push(
            match (now.mode, then.mode) {
                (_, LINK) => "becomes a symbolic link",
                (LINK, _) => "is no symbolic link any more",
                (now, then) if now & 0o100 < then & 0o100 => "becomes executable",
                (now, then) if now & 0o100 > then & 0o100 => "is not executable any more",
                _ => "gets the permissions that it had",
            }
            .to_string(),
        ),
        (None, Some(then)) => {
            remarks.extend(gone.get(then).map(|from| format!("was {}", from.path.display())));
        }
        _ => {}
    }
    let mut model = match &change {
        Some(change) => blocks::diff_model(change),
        None => DiffModel::new(None, None, &file.path.to_string_lossy()),
    };
    if !remarks.is_empty() {
        model = model.remarked(remarks.join(", "));
    }
    model
}
