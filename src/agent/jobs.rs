//! Commands that run in the background: who hears of their ends, and when.
//!
//! The user at once. The model with the next request, unless it has read of it by `BashOutput` or has ended it itself.

use crate::protocol::*;
use std::sync::Arc;

#[derive(Debug, Default)]
pub struct Jobs {
    running: Vec<Job>,
    /// One has been started, whether it still runs or not.
    any: bool,
    /// Ends that the model does not know of.
    untold: Vec<(Job, JobEnd)>,
    /// Those whose end it has read of, perhaps before we had heard of it.
    read: Vec<String>,
}

impl Jobs {
    pub fn started(&mut self, job: Job) {
        self.running.push(job);
        self.any = true;
    }

    /// What the user is told, if it is news.
    pub fn ended(&mut self, job: Job, end: JobEnd) -> Option<Notice> {
        self.running.retain(|known| known.id != job.id);
        if end.asked {
            return None;
        }
        let text = format!("Ended in the background: {} · {} · {}", job.id, end.how, job.short());
        let notice = if end.failed { Notice::warning(text) } else { Notice::info(text) };
        if !self.read.contains(&job.id) {
            self.untold.push((job, end));
        }
        Some(notice)
    }

    /// A call has told its end.
    pub fn read(&mut self, id: String) {
        self.untold.retain(|(job, _)| job.id != id);
        self.read.push(id);
    }

    pub fn shown(&self) -> EventBody {
        EventBody::Session(SessionEvent::Background(self.running.clone()))
    }

    /// Nobody pays for tools that reach nothing.
    pub fn with_tools(&self, tools: Arc<Vec<ToolSpec>>, more: &[ToolSpec]) -> Arc<Vec<ToolSpec>> {
        if !self.any || more.is_empty() { tools } else { Arc::new(tools.iter().chain(more).cloned().collect()) }
    }

    /// What the model is told of those that have ended since.
    pub fn tell(&mut self) -> Vec<RecordBody> {
        let told = |(job, end): (Job, JobEnd)| RecordBody::Told {
            text: format!(
                "The command {} has ended in the background: {}. BashOutput has what it printed. (This is from Backstitch, not from the user.)",
                job.named(),
                end.how
            ),
        };
        std::mem::take(&mut self.untold).into_iter().map(told).collect()
    }

    /// What still runs ends with the session: for the user, and for whoever goes on with it.
    pub fn give_up(&mut self) -> Option<(Notice, RecordBody)> {
        let running = std::mem::take(&mut self.running);
        let names = running.iter().map(Job::named).collect::<Vec<_>>().join(", ");
        let said = format!("Ended with the session, in the background: {names}.");
        let text = format!("{said} (This is from Backstitch, not from the user.)");
        (!running.is_empty()).then(|| (Notice::info(said), RecordBody::Told { text }))
    }
}
