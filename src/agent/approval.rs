//! Decides what a call may do, from the mode, the grants and the call's access alone: one place for every path.

use crate::{
    command_line,
    protocol::{Access, CommandPart, Grant, Mode, is_own_file},
};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Allow,
    Ask,
    Forbid(String),
}

/// Where a call may read or write without leaving what the user trusted.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Bounds {
    pub root: PathBuf,
    /// Folders of our own outside the root that may be read, such as the full outputs of commands.
    pub readable: Vec<PathBuf>,
}

impl Bounds {
    /// Inside, and nothing that only its owner should see.
    fn may_read(&self, path: &Path) -> bool {
        (path.starts_with(&self.root) || self.readable.iter().any(|p| path.starts_with(p))) && !command_line::is_secret(path)
    }

    /// Does this part of a command only read, and only what it may?
    fn may_run(&self, part: &CommandPart) -> bool {
        command_line::is_free(part, &|path| self.may_read(path))
    }
}

pub fn judge(mode: Mode, grants: &[Grant], bounds: &Bounds, access: &Access) -> Verdict {
    if mode == Mode::Plan && !access.changes_nothing() {
        return Verdict::Forbid("plan mode is for reading only: nothing may be changed, run or sent".into());
    }
    if mode == Mode::Yolo || granted(grants, bounds, access) {
        return Verdict::Allow;
    }
    match access {
        Access::Read(paths) if paths.iter().all(|p| bounds.may_read(p)) => Verdict::Allow,
        Access::Run { parts, .. } if access.changes_nothing() && parts.iter().all(|part| bounds.may_run(part)) => Verdict::Allow,
        Access::Write(paths) if mode == Mode::AutoAccept && inside(bounds, paths) => Verdict::Allow,
        _ => Verdict::Ask,
    }
}

fn inside(bounds: &Bounds, paths: &[PathBuf]) -> bool {
    !paths.is_empty() && paths.iter().all(|p| is_own_file(&bounds.root, p))
}

fn granted(grants: &[Grant], bounds: &Bounds, access: &Access) -> bool {
    let has = |wanted: &dyn Fn(&Grant) -> bool| grants.iter().any(wanted);
    match access {
        Access::Read(paths) => paths.iter().all(|p| bounds.may_read(p) || has(&|g| matches!(g, Grant::Read(top) if p.starts_with(top)))),
        Access::Write(paths) => {
            !paths.is_empty()
                && paths.iter().all(|p| {
                    if is_own_file(&bounds.root, p) {
                        has(&|g| *g == Grant::Edits)
                    } else {
                        has(&|g| matches!(g, Grant::Write(w) if w == p))
                    }
                })
        }
        Access::Run { command, parts } => {
            let covered = |part: &CommandPart| has(&|g| matches!(g, Grant::Commands(pattern) if command_line::covers(pattern, part)));
            has(&|g| matches!(g, Grant::Command(c) if c == command))
                || !parts.is_empty() && parts.iter().all(|part| bounds.may_run(part) || covered(part))
        }
        Access::Network { host } => has(&|g| matches!(g, Grant::Host(h) if h == host)),
    }
}

/// What "yes, for this session" covers: never more than the kind of thing that was on the screen.
pub fn grants_for(bounds: &Bounds, access: &Access) -> Vec<Grant> {
    match access {
        Access::Read(paths) => paths.iter().filter(|p| !bounds.may_read(p)).map(|p| Grant::Read(p.clone())).collect(),
        Access::Write(paths) => {
            paths.iter().map(|p| if is_own_file(&bounds.root, p) { Grant::Edits } else { Grant::Write(p.clone()) }).collect()
        }
        Access::Run { command, parts } => match command_line::offers(parts.iter().filter(|part| !bounds.may_run(part))) {
            Some(patterns) => patterns.into_iter().map(Grant::Commands).collect(),
            None => vec![Grant::Command(command.clone())],
        },
        Access::Network { host } => vec![Grant::Host(host.clone())],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds() -> Bounds {
        Bounds { root: "/p".into(), readable: vec!["/spill".into()] }
    }

    #[test]
    fn verdicts_by_mode_and_access() {
        use Verdict::*;
        let read = |p: &str| Access::Read(vec![p.into()]);
        let write = |p: &str| Access::Write(vec![p.into()]);
        let run = || Access::Run { command: "ls".into(), parts: vec![] };
        let forbid = || Forbid("plan mode is for reading only: nothing may be changed, run or sent".into());
        for (access, expected) in [
            (read("/p/a"), [Allow, Allow, Allow, Allow]),
            (read("/spill/1"), [Allow, Allow, Allow, Allow]),
            (read("/etc/passwd"), [Ask, Ask, Ask, Allow]),
            (read("/pp/a"), [Ask, Ask, Ask, Allow]),
            (read("/p/.env"), [Ask, Ask, Ask, Allow]),
            (read("/p/deploy/id_rsa"), [Ask, Ask, Ask, Allow]),
            (read("/p/.env.example"), [Allow, Allow, Allow, Allow]),
            (write("/p/a"), [Ask, Allow, forbid(), Allow]),
            (write("/etc/passwd"), [Ask, Ask, forbid(), Allow]),
            (write("/p/.git/hooks/pre-commit"), [Ask, Ask, forbid(), Allow]),
            (write("/p/sub/.GIT/config"), [Ask, Ask, forbid(), Allow]),
            (write("/p/.github/x.yml"), [Ask, Allow, forbid(), Allow]),
            (Access::Write(vec![]), [Ask, Ask, forbid(), Allow]),
            (Access::Write(vec!["/p/a".into(), "/q".into()]), [Ask, Ask, forbid(), Allow]),
            (run(), [Ask, Ask, forbid(), Allow]),
            (Access::Network { host: "h".into() }, [Ask, Ask, forbid(), Allow]),
        ] {
            let got = Mode::ALL.map(|m| judge(m, &[], &bounds(), &access));
            assert_eq!(got, expected, "{access:?}");
        }
    }

    #[test]
    fn a_grant_covers_what_was_asked_and_nothing_more() {
        let b = bounds();
        let ask = |grants: &[Grant], access: Access| judge(Mode::Normal, grants, &b, &access);
        let edits = grants_for(&b, &Access::Write(vec!["/p/a".into()]));
        assert_eq!(ask(&edits, Access::Write(vec!["/p/b".into()])), Verdict::Allow);
        assert_eq!(ask(&edits, Access::Write(vec!["/q".into()])), Verdict::Ask);
        assert_eq!(ask(&edits, Access::Write(vec!["/p/.git/config".into()])), Verdict::Ask);
        let git = grants_for(&b, &Access::Write(vec!["/p/.git/config".into()]));
        assert_eq!(ask(&git, Access::Write(vec!["/p/.git/config".into()])), Verdict::Allow);
        assert_eq!(ask(&git, Access::Write(vec!["/p/.git/hooks/x".into()])), Verdict::Ask);
        let run = |command: &str| Access::Run { command: command.into(), parts: vec![] };
        assert_eq!(ask(&edits, run("ls")), Verdict::Ask);
        let command = grants_for(&b, &run("ls"));
        assert_eq!(ask(&command, run("ls")), Verdict::Allow);
        assert_eq!(ask(&command, run("ls; rm -rf /")), Verdict::Ask);
        let outside = grants_for(&b, &Access::Write(vec!["/q".into()]));
        assert_eq!(ask(&outside, Access::Write(vec!["/q".into()])), Verdict::Allow);
        assert_eq!(ask(&outside, Access::Write(vec!["/p/a".into()])), Verdict::Ask);
        let reading = grants_for(&b, &Access::Read(vec!["/etc/x".into()]));
        assert_eq!(ask(&reading, Access::Read(vec!["/etc/x".into()])), Verdict::Allow);
        assert_eq!(ask(&reading, Access::Read(vec!["/etc/y".into()])), Verdict::Ask);
    }

    #[test]
    fn grants_never_reach_into_plan_mode() {
        let b = bounds();
        assert!(matches!(judge(Mode::Plan, &[Grant::Edits], &b, &Access::Write(vec!["/p/a".into()])), Verdict::Forbid(_)));
    }
}
