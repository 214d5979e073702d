//! Completion in the prompt: which popup is open, what its entries are, what its keys do.
//!
//! - It opens by typing, never by moving through the history or by pasting, and takes no key but those of its own context.
//! - What touches the disk is asked by [`Job::Find`] and comes back as an answer; an answer to anything but the newest question
//!   is dropped. Commands, arguments and history lines are matched at once.
//! - Enter takes an entry only if the entries belong to what is typed now, and if that changes anything: else it sends.

mod entries;
#[cfg(test)]
mod tests;
mod word;

use super::{
    app::{Cmd, Model},
    images,
    jobs::Job,
    keymap::{Action, Context},
    prompt::Prompt,
};
use crate::{
    commands,
    finder::{Answer, Query},
    protocol::{CallEvent, Command, EventBody, TurnEvent},
};
use backstitch_components::{
    completer::{Completer, MOST_ROWS},
    key::Chord,
    text::span::Line,
};
use std::path::Path;
use word::{Kind, Word};

/// Paths that count as used lately.
const MOST_RECENT: usize = 50;

#[derive(Debug, Default)]
pub struct Completion {
    popup: Option<Popup>,
    /// The newest question to the finder.
    asked: u64,
    /// Closed by the user: the word that begins here stays alone.
    dismissed: Option<usize>,
    /// The end of the blank that was put after a file that was just taken.
    pub(super) blank: Option<usize>,
    /// The newest first.
    recent: Vec<String>,
    models: Models,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Models {
    #[default]
    Unknown,
    /// Asked for by the popup: the answer is not for the transcript.
    Asked,
    Known,
}

#[derive(Debug)]
struct Popup {
    word: Word,
    list: Completer,
    /// The entries are those of the word.
    fresh: bool,
    indexing: bool,
}

impl Completion {
    /// After a key of editing. `typed`: the text may have changed by it.
    pub fn follow(model: &mut Model, typed: bool) -> Vec<Cmd> {
        let Completion { popup, dismissed, .. } = &mut model.completion;
        if !typed && popup.is_none() {
            return vec![];
        }
        let Some(word) = Word::at(model.prompt.editor.text(), model.prompt.editor.cursor()) else {
            (*popup, *dismissed) = (None, None);
            return vec![];
        };
        if *dismissed == Some(word.range.start) || popup.as_ref().is_some_and(|popup| popup.word == word) {
            return vec![];
        }
        *dismissed = None;
        Self::open(model, word)
    }

    /// Opens the popup for the word at the cursor, also one that was closed.
    pub fn reopen(model: &mut Model) -> Vec<Cmd> {
        model.completion.dismissed = None;
        match Word::at(model.prompt.editor.text(), model.prompt.editor.cursor()) {
            Some(word) => Self::open(model, word),
            None => vec![],
        }
    }

    fn open(model: &mut Model, word: Word) -> Vec<Cmd> {
        let completion = &mut model.completion;
        let same = |old: &Popup| old.word.kind == word.kind && old.word.range.start == word.range.start;
        let old = completion.popup.take().filter(same);
        let opens = old.is_none();
        let mut list = old.filter(|old| old.word.is_shy() == word.is_shy()).map_or_else(|| Completer::new(word.is_shy()), |old| old.list);
        list.forget();
        let (kind, text) = (word.kind, word.query.clone());
        completion.popup = Some(Popup { word, list, fresh: false, indexing: false });
        match kind {
            Kind::Mention | Kind::ShellPath => {
                completion.asked += 1;
                vec![Cmd::Do(Job::Find(Query { id: completion.asked, text, recent: completion.recent.clone(), opens }))]
            }
            Kind::Argument("model") if completion.models == Models::Unknown => {
                completion.models = Models::Asked;
                Self::refresh(model);
                vec![Cmd::Send(Command::ListModels)]
            }
            Kind::ShellLine => {
                let cmds = model.prompt.recall.ask();
                Self::refresh(model);
                cmds
            }
            Kind::Command | Kind::Argument(_) => {
                Self::refresh(model);
                vec![]
            }
        }
    }

    /// The entries that need no disk, anew.
    pub fn refresh(model: &mut Model) {
        let Some(word) = model.completion.popup.as_ref().map(|popup| popup.word.clone()) else { return };
        let Some(entries) = entries::known(model, &word) else { return };
        if let Some(popup) = &mut model.completion.popup {
            popup.fresh = true;
            popup.list.set(entries, 0);
        }
    }

    pub fn answered(&mut self, answer: Answer) {
        let Some(popup) = self.popup.as_mut().filter(|_| answer.id == self.asked) else { return };
        let word = &popup.word;
        // With its lines behind it and nothing to add, a mention is complete.
        let complete = !word.lines.is_empty() && answer.hits.iter().any(|hit| hit.path == word.query);
        let entries = if complete { vec![] } else { answer.hits.into_iter().map(entries::of_hit).collect() };
        popup.list.set(entries, if complete { 0 } else { answer.matching });
        (popup.fresh, popup.indexing) = (true, answer.indexing);
    }

    /// Models that the popup had asked for; others are for the transcript.
    pub fn expects_models(&mut self) -> bool {
        std::mem::replace(&mut self.models, Models::Known) == Models::Asked
    }

    /// What the session's events say about files: used ones come first.
    pub fn saw(&mut self, event: &EventBody, root: &Path) {
        match event {
            EventBody::Call(CallEvent::Previewed { access, .. }) => {
                for path in entries::paths(access) {
                    if let Some(inside) = path.strip_prefix(root).ok().filter(|inside| !inside.as_os_str().is_empty()) {
                        self.used(inside.to_string_lossy().into_owned());
                    }
                }
            }
            EventBody::Turn(TurnEvent::UserSaid(prompt)) => word::mentions(&prompt.text).for_each(|path| self.used(path)),
            _ => {}
        }
    }

    fn used(&mut self, path: String) {
        self.recent.retain(|old| *old != path);
        self.recent.insert(0, path);
        self.recent.truncate(MOST_RECENT);
    }

    pub fn close(&mut self) {
        self.popup = None;
    }

    // --- keys ---

    /// `None`: the key means what it means without a popup.
    pub fn key(model: &mut Model, chord: &Chord) -> Option<Vec<Cmd>> {
        let popup = model.completion.popup.as_mut().filter(|popup| !popup.list.is_empty())?;
        match model.setting.keys.action(Context::Completion, chord)? {
            Action::Previous => popup.list.step(-1),
            Action::Next => popup.list.step(1),
            Action::Dismiss => {
                model.completion.dismissed = Some(popup.word.range.start);
                model.completion.close();
            }
            Action::Take => return Some(Self::take(model)),
            Action::Accept => return Self::accept(model),
            _ => return None,
        }
        Some(vec![])
    }

    /// Tab: the word becomes the entry, and nothing is sent.
    fn take(model: &mut Model) -> Vec<Cmd> {
        let Some(popup) = &model.completion.popup else { return vec![] };
        let Some(taken) = popup.list.offered().map(|entry| entry.text.clone()) else { return vec![] };
        let word = popup.word.clone();
        let more = match word.kind {
            Kind::Command => named(&taken).is_some_and(|command| !command.arguments.is_empty()),
            Kind::Mention | Kind::ShellPath => taken.ends_with('/'),
            Kind::Argument(_) | Kind::ShellLine => false,
        };
        Self::put(model, &word, &taken, more)
    }

    /// Enter.
    fn accept(model: &mut Model) -> Option<Vec<Cmd>> {
        let popup = model.completion.popup.as_ref().filter(|popup| popup.fresh)?;
        let taken = popup.list.selected()?.text.clone();
        let word = popup.word.clone();
        if matches!(word.kind, Kind::Mention | Kind::ShellPath | Kind::ShellLine) {
            let there = &model.prompt.editor.text()[word.range.clone()];
            return (there != word.replaced(&taken)).then(|| Self::take(model));
        }
        let asks = matches!(word.kind, Kind::Command) && named(&taken).is_some_and(|command| command.needs_argument());
        let rest = model.prompt.editor.text()[word.range.end..].trim();
        if asks && rest.is_empty() {
            return Some(Self::put(model, &word, &taken, true));
        }
        let mut cmds = Self::put(model, &word, &taken, false);
        model.completion.close();
        cmds.extend(Prompt::submit(model));
        Some(cmds)
    }

    /// `more`: the popup stays for what comes next.
    fn put(model: &mut Model, word: &Word, taken: &str, more: bool) -> Vec<Cmd> {
        let mut text = word.replaced(taken);
        let after = model.prompt.editor.text()[word.range.end..].chars().next();
        let file = matches!(word.kind, Kind::Mention | Kind::ShellPath) && !more;
        if (file && after.is_none_or(|c| !c.is_whitespace() && c.is_alphanumeric()))
            || (more && word.kind == Kind::Command && after.is_none())
        {
            text.push(' ');
            model.completion.blank = (word.kind == Kind::Mention).then_some(word.range.start + text.len());
        }
        model.prompt.editor.replace(word.range.clone(), &text);
        if file {
            model.completion.used(taken.to_owned());
        }
        model.completion.close();
        if file && word.kind == Kind::Mention {
            let range = word.range.start..word.range.start + text.len();
            return images::mentioned(model, taken, range).into_iter().collect();
        }
        if more { Self::follow(model, true) } else { vec![] }
    }

    // --- view ---

    fn shown(model: &Model) -> Option<&Popup> {
        let free = model.panel.is_none() && model.approval.is_none();
        model.completion.popup.as_ref().filter(|popup| free && !popup.list.is_empty())
    }

    pub fn rows(model: &Model, width: usize, max_rows: usize) -> Vec<Line> {
        Self::shown(model).map_or_else(Vec::new, |popup| popup.list.view(width, max_rows.min(MOST_ROWS)))
    }

    /// Instead of the status row while a popup is open.
    pub fn footer(model: &Model, width: usize) -> Option<Line> {
        let popup = Self::shown(model)?;
        let enter = match popup.word.kind {
            Kind::Command | Kind::Argument(_) => "runs",
            _ if popup.list.selected().is_some() => "takes",
            Kind::Mention => "sends",
            Kind::ShellLine | Kind::ShellPath => "runs",
        };
        let key = |action| model.setting.keys.key(Context::Completion, action);
        let mut hints = match (key("take"), key("accept")) {
            (Some(take), Some(accept)) if enter == "takes" => vec![(format!("{take} or {accept}"), "takes")],
            (take, accept) => take.map(|key| (key, "takes")).into_iter().chain(accept.map(|key| (key, enter))).collect(),
        };
        hints.extend(key("dismiss").map(|key| (key, "closes")));
        let hints: Vec<(&str, &str)> = hints.iter().map(|(key, does)| (key.as_str(), *does)).collect();
        Some(popup.list.footer(&hints, if popup.indexing { "indexing…" } else { "" }, width))
    }
}

/// The command of an entry.
fn named(entry: &str) -> Option<&'static commands::SlashCommand> {
    commands::ALL.iter().find(|command| entry.strip_prefix('/') == Some(command.name))
}
