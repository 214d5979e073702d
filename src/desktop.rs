//! What the machine around the terminal offers: its clipboard, its notifier, and standard input by lines.
//!
//! Everything here may wait, so it runs in a thread of its own and reports; every process has a time limit and is ended at it.

pub mod clipboard;
pub mod lines;
pub mod notifier;
mod process;

use std::thread;

/// Runs a job by the side. If no thread can be had it is done at once: late is better than never.
pub fn aside(job: impl FnOnce() + Send + 'static) {
    let job = std::sync::Arc::new(std::sync::Mutex::new(Some(job)));
    let own = job.clone();
    let take = move || own.lock().unwrap_or_else(|e| e.into_inner()).take();
    let begun = thread::Builder::new().name("desktop".into()).spawn(move || {
        if let Some(job) = take() {
            job();
        }
    });
    if begun.is_err()
        && let Some(job) = job.lock().unwrap_or_else(|e| e.into_inner()).take()
    {
        job();
    }
}
