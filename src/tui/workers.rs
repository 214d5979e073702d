//! The screen's own threads: the finder's index and the history's disk. Each starts with the first thing to do for it, the index
//! also by itself once a session is open.

use super::{
    app::Msg,
    editor_program,
    jobs::{Draft, Job, Report},
};
use crate::{
    finder::{Disk, Finder, Pace, Query},
    history::{self, History, Keeper},
    mailbox::Mailbox,
    protocol::Notice,
};
use std::{path::PathBuf, sync::Arc};

pub struct Workers {
    root: PathBuf,
    /// Nowhere: the history lasts as long as the session.
    history: Option<History>,
    reporter: Mailbox<Msg>,
    finder: Option<Finder>,
    keeper: Option<Keeper>,
    /// What the user's editor is to open.
    pub draft: Option<Draft>,
}

impl Workers {
    pub fn new(root: PathBuf, history: Option<History>, reporter: Mailbox<Msg>) -> Self {
        Workers { root, history, reporter, finder: None, keeper: None, draft: None }
    }

    pub fn start(&mut self, job: Job) {
        match job {
            Job::Find(query) => self.find(query),
            Job::Remember(text) => {
                if let Some(keeper) = self.keeper() {
                    keeper.append(text);
                }
            }
            Job::LoadHistory => match self.keeper() {
                Some(keeper) => keeper.load(),
                None => self.reporter.send(Msg::Report(Report::History(vec![]))),
            },
            Job::Edit(draft) => self.draft = Some(draft),
        }
    }

    /// While the screen is left.
    pub fn edit(&mut self, program: &str) {
        let Some(draft) = self.draft.take() else { return };
        self.reporter.send(Msg::Report(match (editor_program::edit(program, &draft), draft.call) {
            (Ok(text), Some(call)) => Report::Revised(call, text),
            (edited, _) => Report::Edited(edited),
        }));
    }

    /// A session is open: the project's paths are looked for as soon as there is nothing else to do, and not only when they are
    /// asked for. Whoever works in the home folder, or at the root of the disk, has no project: that is left alone until then.
    pub fn session_opens(&mut self) {
        let project = self.root.parent().is_some() && dirs::home_dir().is_none_or(|home| home != self.root);
        if project {
            self.start_finder();
        }
    }

    fn start_finder(&mut self) -> Option<&Finder> {
        if self.finder.is_none() {
            let (tree, reporter) = (Arc::new(Disk { root: self.root.clone() }), self.reporter.clone());
            self.finder = Finder::start(tree, Pace::default(), Box::new(move |answer| reporter.send(Msg::Report(Report::Found(answer)))));
        }
        self.finder.as_ref()
    }

    fn find(&mut self, query: Query) {
        if let Some(finder) = self.start_finder() {
            finder.ask(query);
        }
    }

    fn keeper(&mut self) -> Option<&Keeper> {
        if self.keeper.is_none() {
            let reporter = self.reporter.clone();
            let report = move |report| {
                reporter.send(match report {
                    history::Report::Loaded(texts) => Msg::Report(Report::History(texts)),
                    history::Report::Failed(why) => {
                        Msg::Notice(Notice::warning(format!("The prompt history lasts for this session only: {why}")))
                    }
                });
            };
            self.keeper = Keeper::start(self.history.clone()?, Box::new(report));
        }
        self.keeper.as_ref()
    }
}
