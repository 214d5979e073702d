//! The twin of the store for tests: journals in memory, shared by clones.

use super::{Loaded, SessionError, SessionStore, branches::branches, store};
use crate::protocol::{Record, RecordBody, SessionId, SessionInfo};
use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

type Journals = BTreeMap<String, Vec<Record>>;

#[derive(Debug, Clone)]
pub struct MemorySessions {
    id: SessionId,
    journals: Arc<Mutex<Journals>>,
    /// What has come of an answer that is not whole.
    partial: Vec<Record>,
}

impl MemorySessions {
    pub fn new(id: SessionId) -> Self {
        MemorySessions { id, journals: Arc::default(), partial: vec![] }
    }

    /// Another session beside this one.
    pub fn sibling(&self, id: SessionId) -> Self {
        MemorySessions { id, journals: self.journals.clone(), partial: vec![] }
    }

    pub fn records(&self) -> Vec<Record> {
        self.lock().get(&self.id.0).cloned().unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, Journals> {
        self.journals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionStore for MemorySessions {
    fn id(&self) -> &SessionId {
        &self.id
    }

    fn append(&mut self, record: &Record) -> io::Result<()> {
        if matches!(record.body, RecordBody::Partial { .. }) {
            self.partial.push(record.clone());
            return Ok(());
        }
        if !record.body.within_answer() {
            self.partial.clear();
        }
        self.lock().entry(self.id.0.clone()).or_default().push(record.clone());
        Ok(())
    }

    fn is_new(&self) -> bool {
        !self.lock().contains_key(&self.id.0)
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn position(&self) -> u64 {
        self.lock().get(&self.id.0).map_or(0, |r| r.len() as u64)
    }

    fn load(&self, id: &SessionId) -> Result<Loaded, SessionError> {
        let records = self.lock().get(&id.0).cloned().ok_or_else(|| SessionError::Unknown(id.clone()))?;
        Ok(Loaded { records, ..Loaded::default() })
    }

    fn list(&self) -> Result<Vec<SessionInfo>, SessionError> {
        let at = |record: Option<&Record>| record.map_or(0, |r| r.at);
        let info = |(id, records): (&String, &Vec<Record>)| SessionInfo {
            id: SessionId(id.clone()),
            title: store::title(records),
            started: at(records.first()),
            changed: at(records.last()),
            branches: branches(records),
        };
        Ok(self.lock().iter().rev().map(info).collect())
    }
}
