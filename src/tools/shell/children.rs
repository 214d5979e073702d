//! Ends what commands leave running, whichever way this process ends.
//!
//! A small shell process reads the groups that are alive from a pipe. When the pipe closes (we exited, crashed or were killed)
//! it ends those that are left. It works where nothing tells children of their parent's death.

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::{
    io::Write,
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// `+ 12` = group 12 runs, `- 12` = it is gone. Not a single program is started while it waits.
const WATCH: &str = r#"
trap '' INT TERM HUP
left=' '
while read -r sign group; do
  case $sign in
    +) left="$left$group " ;;
    -) case $left in *" $group "*) left="${left%% $group *} ${left#* $group }" ;; esac ;;
  esac
done
for group in $left; do kill -TERM "-$group" 2>/dev/null && again=1; done
if [ "$again" ]; then sleep 0.3; for group in $left; do kill -KILL "-$group" 2>/dev/null; done; fi
"#;

#[derive(Default)]
pub struct Children(Arc<Mutex<Watched>>);

#[derive(Default)]
struct Watched {
    watcher: Option<Child>,
    groups: Vec<Pid>,
}

/// A command that runs. Dropped without [`Guard::finished`], its group is killed: nobody waits for it any more.
pub struct Guard {
    group: Pid,
    watched: Arc<Mutex<Watched>>,
    finished: bool,
}

impl Children {
    pub fn watch(&self, group: Pid) -> Guard {
        let mut watched = lock(&self.0);
        watched.forget_gone();
        watched.groups.push(group);
        watched.tell('+', group);
        Guard { group, watched: self.0.clone(), finished: false }
    }

    /// Groups of commands of which something still runs.
    pub fn running(&self) -> usize {
        let mut watched = lock(&self.0);
        watched.forget_gone();
        watched.groups.len()
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        let mut watched = lock(&self.0);
        watched.forget_gone();
        if let Some(mut watcher) = watched.watcher.take() {
            // Closing its input is its signal; waiting leaves no zombie.
            drop(watcher.stdin.take());
            let _ = watcher.wait();
        }
    }
}

impl Guard {
    pub fn finished(mut self) {
        self.finished = true;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.finished {
            let _ = kill_process_group(self.group, Signal::KILL);
        }
        lock(&self.watched).forget_gone();
    }
}

fn lock(watched: &Mutex<Watched>) -> MutexGuard<'_, Watched> {
    watched.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watched {
    /// The number of a group that is gone may be given to somebody else's.
    fn forget_gone(&mut self) {
        let (alive, gone): (Vec<_>, Vec<_>) = self.groups.drain(..).partition(|g| test_kill_process_group(*g).is_ok());
        self.groups = alive;
        for group in gone {
            self.tell('-', group);
        }
    }

    fn tell(&mut self, sign: char, group: Pid) {
        if self.watcher.is_none() {
            self.watcher = Command::new("/bin/sh")
                .arg("-c")
                .arg(WATCH)
                .current_dir("/")
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                // Signals from the terminal are for us.
                .process_group(0)
                .spawn()
                .ok();
        }
        if let Some(pipe) = self.watcher.as_mut().and_then(|w| w.stdin.as_mut()) {
            let _ = writeln!(pipe, "{sign} {}", group.as_raw_nonzero());
        }
    }
}
