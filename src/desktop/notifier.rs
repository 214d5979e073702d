//! The desktop's own notifications.

use super::process::run;
use std::time::Duration;

/// Nobody waits for it, and a desktop without a notifier has nothing to say: other means are set beside this one.
pub fn notify(text: &str) {
    let within = Duration::from_secs(5);
    if cfg!(target_os = "macos") {
        // As an argument, never as a part of the script.
        let script = "on run argv\ndisplay notification (item 1 of argv) with title \"Backstitch\"\nend run";
        let _ = run("osascript", &["-e", script, text], 1024, within);
    } else {
        let _ = run("notify-send", &["--app-name=Backstitch", "--", "Backstitch", text], 1024, within);
    }
}
