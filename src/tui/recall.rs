//! What was typed before: this session's prompts, and once they are asked for, those of earlier ones from the disk.
//!
//! Nothing is read before the first look back; keys that come before the answer are carried out when it is there.

use super::{app::Cmd, jobs::Job, prompt::Prompt};
use std::collections::HashSet;

#[derive(Debug, Default)]
pub struct Recall {
    /// Oldest first.
    entries: Vec<String>,
    state: State,
    /// Sent since the last message, for the disk.
    unsaved: Vec<String>,
    /// The text that was there, and how many steps back it waits to go.
    waiting: Option<(String, usize)>,
    sent: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Unread,
    Asked,
    Read,
}

impl Recall {
    pub fn entries(&self) -> &[String] {
        &self.entries
    }

    /// Was anything sent from here?
    pub fn sent(&self) -> bool {
        self.sent
    }

    pub fn push(&mut self, text: &str) {
        self.sent = true;
        if self.entries.last().is_none_or(|last| last != text) {
            self.entries.push(text.to_owned());
            self.unsaved.push(text.to_owned());
        }
    }

    /// What is to be written down.
    pub fn unsaved(&mut self) -> impl Iterator<Item = Cmd> {
        std::mem::take(&mut self.unsaved).into_iter().map(|text| Cmd::Do(Job::Remember(text)))
    }

    /// Asks for the earlier ones, once.
    pub fn ask(&mut self) -> Vec<Cmd> {
        if self.state != State::Unread {
            return vec![];
        }
        self.state = State::Asked;
        vec![Cmd::Do(Job::LoadHistory)]
    }

    fn load(&mut self, earlier: Vec<String>) {
        let own: HashSet<&String> = self.entries.iter().collect();
        let mut all: Vec<String> = earlier.into_iter().filter(|text| !own.contains(text)).collect();
        all.append(&mut self.entries);
        (self.entries, self.state) = (all, State::Read);
    }

    pub fn older(prompt: &mut Prompt) -> Vec<Cmd> {
        let Prompt { editor, recall, .. } = prompt;
        if recall.state == State::Read {
            editor.recall_older(&recall.entries);
            return vec![];
        }
        let before = recall.waiting.take().filter(|(text, _)| text == editor.text()).map_or(0, |(_, steps)| steps);
        recall.waiting = Some((editor.text().to_owned(), before + 1));
        recall.ask()
    }

    pub fn newer(prompt: &mut Prompt) {
        prompt.recall.waiting = None;
        prompt.editor.recall_newer(&prompt.recall.entries);
    }

    /// The earlier ones are here.
    pub fn loaded(prompt: &mut Prompt, earlier: Vec<String>) {
        prompt.recall.load(earlier);
        let Prompt { editor, recall, .. } = prompt;
        if let Some((text, steps)) = recall.waiting.take()
            && text == editor.text()
        {
            for _ in 0..steps {
                editor.recall_older(&recall.entries);
            }
        }
    }
}
