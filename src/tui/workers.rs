//! The screen's own threads: the finder's index and the history's disk. Each starts with the first thing to do for it.

use super::app::Msg;
use crate::{
    finder::{Disk, Finder, Query},
    history::{History, Keeper, Report},
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
}

impl Workers {
    pub fn new(root: PathBuf, history: Option<History>, reporter: Mailbox<Msg>) -> Self {
        Workers { root, history, reporter, finder: None, keeper: None }
    }

    pub fn find(&mut self, query: Query) {
        if self.finder.is_none() {
            let (tree, reporter) = (Arc::new(Disk { root: self.root.clone() }), self.reporter.clone());
            self.finder = Finder::start(tree, Box::new(move |answer| reporter.send(Msg::Completed(answer))));
        }
        if let Some(finder) = &self.finder {
            finder.ask(query);
        }
    }

    pub fn remember(&mut self, text: String) {
        if let Some(keeper) = self.keeper() {
            keeper.append(text);
        }
    }

    /// Comes back as [`Msg::History`].
    pub fn load_history(&mut self) {
        match self.keeper() {
            Some(keeper) => keeper.load(),
            None => self.reporter.send(Msg::History(vec![])),
        }
    }

    fn keeper(&mut self) -> Option<&Keeper> {
        if self.keeper.is_none() {
            let reporter = self.reporter.clone();
            let report = move |report| {
                reporter.send(match report {
                    Report::Loaded(texts) => Msg::History(texts),
                    Report::Failed(why) => Msg::Notice(Notice::warning(format!("The prompt history lasts for this session only: {why}"))),
                });
            };
            self.keeper = Keeper::start(self.history.clone()?, Box::new(report));
        }
        self.keeper.as_ref()
    }
}
