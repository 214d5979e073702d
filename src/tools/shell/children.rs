//! Ends what commands leave running, whichever way this process ends.
//!
//! A small shell process reads the groups that are alive from a pipe. When the pipe closes (we exited, crashed or were killed)
//! it ends those that are left. It works where nothing tells children of their parent's death.

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::{
    io::{self, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::process::CommandExt,
    },
    process::{Child, ChildStdin, Command, Stdio},
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

/// Puts a process that has just been forked on the watcher's list, before it becomes the command: there is no moment at which
/// it runs unwatched.
pub struct Announcer(Option<OwnedFd>);

impl Announcer {
    /// Called between fork and exec by the leader of a new group: allocates nothing.
    pub fn announce(&self) -> io::Result<()> {
        let Some(pipe) = &self.0 else { return Ok(()) };
        let (mut text, mut at) = (*b"+ 0000000000\n", 12);
        let mut pid = std::process::id();
        while pid > 0 {
            at -= 1;
            text[at] = b'0' + (pid % 10) as u8;
            pid /= 10;
        }
        text[at - 2] = b'+';
        text[at - 1] = b' ';
        // Without a watcher the command runs all the same.
        let _ = rustix::io::write(pipe, &text[at - 2..]);
        Ok(())
    }
}

impl Children {
    pub fn announcer(&self) -> Announcer {
        let mut watched = lock(&self.0);
        Announcer(watched.pipe().and_then(|pipe| pipe.as_fd().try_clone_to_owned().ok()))
    }

    /// `group` was announced.
    pub fn watch(&self, group: Pid) -> Guard {
        let mut watched = lock(&self.0);
        watched.forget_gone();
        watched.groups.push(group);
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
        if gone.is_empty() {
            return;
        }
        if let Some(pipe) = self.pipe() {
            for group in gone {
                let _ = writeln!(pipe, "- {}", group.as_raw_nonzero());
            }
        }
    }

    /// To the watcher, which is started if it is not there.
    fn pipe(&mut self) -> Option<&mut ChildStdin> {
        // Somebody may have ended it, and writing to nobody would end the next command.
        if self.watcher.as_mut().is_some_and(|w| !matches!(w.try_wait(), Ok(None))) {
            self.watcher = None;
        }
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
            let pipe = self.watcher.as_mut()?.stdin.as_mut()?;
            for group in &self.groups {
                let _ = writeln!(pipe, "+ {}", group.as_raw_nonzero());
            }
        }
        self.watcher.as_mut()?.stdin.as_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watcher_that_was_ended_is_replaced() {
        let children = Children::default();
        drop(children.announcer());
        let mut first = lock(&children.0).watcher.take().unwrap();
        first.kill().unwrap();
        let id = first.id();
        first.wait().unwrap();
        lock(&children.0).watcher = Some(first);
        assert!(children.announcer().0.is_some());
        assert_ne!(lock(&children.0).watcher.as_ref().unwrap().id(), id);
    }
}
