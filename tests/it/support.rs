//! What every integration test is built on. All waits are on conditions, with one generous deadline; nothing sleeps.

pub mod bytes;
pub mod model_server;
pub mod normalize;
pub mod processes;
pub mod pty;
pub mod workspace;

use std::time::{Duration, Instant};

pub use model_server::{Gate, ModelServer, Reply};
pub use pty::Term;
pub use workspace::Workspace;

/// Far beyond what anything takes; only a failing test ever waits this long.
pub const DEADLINE: Duration = Duration::from_secs(25);

/// Polls a condition that nothing signals (a process, a file), until it holds.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let from = Instant::now();
    let (lock, never) = (std::sync::Mutex::new(()), std::sync::Condvar::new());
    let mut guard = lock.lock().unwrap();
    while !holds() {
        assert!(from.elapsed() < DEADLINE, "waited in vain until {what}");
        guard = never.wait_timeout(guard, Duration::from_millis(5)).unwrap().0;
    }
}
