//! Decides what a call may do, from the mode, the grants and the call's access alone: one place for every path.

use crate::{
    command_line,
    policy::{Asked, Limit, Policy},
    protocol::{Access, CommandPart, Decision, Grant, Mode},
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

/// What the user has said of calls, besides the mode: rules, and grants of this session.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a> {
    pub grants: &'a [Grant],
    pub policy: &'a Policy,
}

pub fn judge(mode: Mode, said: Said, bounds: &Bounds, asked: &Asked) -> Verdict {
    judged(mode, said, bounds, asked).0
}

/// The verdict, and why.
pub fn judged(mode: Mode, said: Said, bounds: &Bounds, asked: &Asked) -> (Verdict, String) {
    let forbid = |why: String| (Verdict::Forbid(why.clone()), why);
    let ask = |why: &str| (Verdict::Ask, why.to_owned());
    let allow = |why: &str| (Verdict::Allow, why.to_owned());
    let access = asked.access;
    if mode == Mode::Plan && !access.changes_nothing() {
        return forbid("plan mode is for reading only: nothing may be changed, run or sent".into());
    }
    // Who refuses comes before who asks, and both before who allows, whatever the mode.
    let limit = said.policy.limit(asked);
    match &limit {
        Some(Limit::Denied(why)) => return forbid(why.clone()),
        Some(Limit::Asks(why)) => return ask(why),
        Some(Limit::Unseen(_)) | None => {}
    }
    // These are the user's own to answer: no rule, grant or mode does it instead.
    match access {
        Access::Question { .. } => return ask("it is a question"),
        Access::Plan if mode == Mode::Plan => return ask("a plan is for the user to accept"),
        Access::Plan => return forbid("plan mode is not on, so there is no plan to accept: go on with what the user asked for".into()),
        _ => {}
    }
    if granted(said, bounds, asked) {
        return allow("a rule or a grant of this session allows it");
    }
    if let Some(Limit::Unseen(why)) = &limit {
        return ask(why);
    }
    match access {
        _ if mode == Mode::Yolo => allow("yolo mode runs everything"),
        Access::Read(paths) if paths.iter().all(|p| bounds.may_read(p)) => allow("it only reads, and inside the project"),
        Access::Run { parts, .. } if access.changes_nothing() && parts.iter().all(|part| bounds.may_run(part)) => {
            allow("it only reads, and inside the project")
        }
        Access::Run { outside: true, .. } => ask("it runs outside the sandbox"),
        Access::Job { .. } => allow("it only reaches what this session has started"),
        Access::Write(paths) if mode == Mode::AutoAccept && inside(bounds, paths) => allow("auto-accept mode edits inside the project"),
        _ => ask("nothing allows it"),
    }
}

fn inside(bounds: &Bounds, paths: &[PathBuf]) -> bool {
    !paths.is_empty() && paths.iter().all(|p| command_line::is_plain_file(&bounds.root, p))
}

fn granted(said: Said, bounds: &Bounds, asked: &Asked) -> bool {
    let (policy, root) = (said.policy, &bounds.root);
    let has = |wanted: &dyn Fn(&Grant) -> bool| said.grants.iter().any(wanted);
    policy.allows_tool(asked.tool)
        || match asked.access {
            Access::Read(paths) => paths.iter().all(|p| {
                bounds.may_read(p) || has(&|g| matches!(g, Grant::Read(top) if p.starts_with(top))) || policy.allows_read(p, root)
            }),
            Access::Write(paths) => {
                let by_grant = |p: &PathBuf| match command_line::is_plain_file(root, p) {
                    true => has(&|g| *g == Grant::Edits),
                    false => has(&|g| matches!(g, Grant::Write(w) if w == p)),
                };
                !paths.is_empty() && paths.iter().all(|p| by_grant(p) || policy.allows_write(p, root))
            }
            Access::Run { command, folder, outside: true, .. } => {
                has(&|g| matches!(g, Grant::Outside(f, c) if f == folder && c == command))
            }
            Access::Run { command, parts, folder, outside: false } => {
                let by_grant = |part: &CommandPart| has(&|g| matches!(g, Grant::Commands(p) if command_line::covers(p, part)));
                let covered = |part: &CommandPart| bounds.may_run(part) || by_grant(part) || policy.allows_part(part);
                let to_the_letter = |grant: &Grant| match (grant, folder) {
                    (Grant::Command(c), None) => c == command,
                    (Grant::CommandIn(there, c), Some(here)) => there == here && c == command,
                    _ => false,
                };
                has(&to_the_letter) || !parts.is_empty() && parts.iter().all(covered)
            }
            Access::Network { host } => has(&|g| matches!(g, Grant::Host(h) if h == host)) || policy.allows_host(host),
            // Each plan is for the user to read.
            Access::Plan | Access::Question { .. } | Access::Job { .. } => false,
        }
}

/// What "yes, for this session" covers: never more than the kind of thing that was on the screen.
pub fn grants_for(bounds: &Bounds, access: &Access) -> Vec<Grant> {
    match access {
        Access::Read(paths) => paths.iter().filter(|p| !bounds.may_read(p)).map(|p| Grant::Read(p.clone())).collect(),
        Access::Write(paths) => paths
            .iter()
            .map(|p| if command_line::is_plain_file(&bounds.root, p) { Grant::Edits } else { Grant::Write(p.clone()) })
            .collect(),
        Access::Run { command, folder, outside: true, .. } => vec![Grant::Outside(folder.clone(), command.clone())],
        Access::Run { command, parts, folder, outside: false } => {
            match command_line::offers(parts.iter().filter(|part| !bounds.may_run(part))) {
                Some(patterns) => patterns.into_iter().map(Grant::Commands).collect(),
                None => vec![match folder {
                    Some(folder) => Grant::CommandIn(folder.clone(), command.clone()),
                    None => Grant::Command(command.clone()),
                }],
            }
        }
        Access::Network { host } => vec![Grant::Host(host.clone())],
        Access::Plan | Access::Question { .. } | Access::Job { .. } => vec![],
    }
}

/// The mode after a plan has been accepted.
pub fn mode_after(decision: &Decision, access: Option<&Access>) -> Option<Mode> {
    match (access?, decision) {
        (Access::Plan, Decision::Allow | Decision::AllowPart { .. }) => Some(Mode::Normal),
        (Access::Plan, Decision::AllowSession) => Some(Mode::AutoAccept),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(mode: Mode, grants: &[Grant], bounds: &Bounds, access: &Access) -> Verdict {
        super::judge(mode, Said { grants, policy: &Policy::default() }, bounds, &Asked { tool: "T", access, named: &[] })
    }

    fn bounds() -> Bounds {
        Bounds { root: "/p".into(), readable: vec!["/spill".into()] }
    }

    #[test]
    fn verdicts_by_mode_and_access() {
        use Verdict::*;
        let read = |p: &str| Access::Read(vec![p.into()]);
        let write = |p: &str| Access::Write(vec![p.into()]);
        let run = || Access::Run { command: "ls".into(), parts: vec![], folder: None, outside: false };
        let no_plan = || Forbid("plan mode is not on, so there is no plan to accept: go on with what the user asked for".into());
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
            (write("/p/.env"), [Ask, Ask, forbid(), Allow]),
            // These make a repository of the folder around them, with a configuration that git obeys.
            (write("/p/e/HEAD"), [Ask, Ask, forbid(), Allow]),
            (write("/p/e/HEAD/x"), [Ask, Allow, forbid(), Allow]),
            (Access::Write(vec![]), [Ask, Ask, forbid(), Allow]),
            (Access::Write(vec!["/p/a".into(), "/q".into()]), [Ask, Ask, forbid(), Allow]),
            (run(), [Ask, Ask, forbid(), Allow]),
            (Access::Network { host: "h".into() }, [Ask, Ask, forbid(), Allow]),
            (Access::Plan, [no_plan(), no_plan(), Ask, no_plan()]),
            (Access::Question { options: vec![] }, [Ask, Ask, Ask, Ask]),
            (Access::Job { id: "bash_1".into(), end: false }, [Allow, Allow, Allow, Allow]),
            (Access::Job { id: "bash_1".into(), end: true }, [Allow, Allow, forbid(), Allow]),
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
        assert_eq!(ask(&edits, Access::Write(vec!["/p/.env".into()])), Verdict::Ask, "what it holds might go elsewhere");
        let git = grants_for(&b, &Access::Write(vec!["/p/.git/config".into()]));
        assert_eq!(ask(&git, Access::Write(vec!["/p/.git/config".into()])), Verdict::Allow);
        assert_eq!(ask(&git, Access::Write(vec!["/p/.git/hooks/x".into()])), Verdict::Ask);
        let run = |command: &str| Access::Run { command: command.into(), parts: vec![], folder: None, outside: false };
        assert_eq!(ask(&edits, run("ls")), Verdict::Ask);
        let command = grants_for(&b, &run("ls"));
        assert_eq!(ask(&command, run("ls")), Verdict::Allow);
        assert_eq!(ask(&command, run("ls; rm -rf /")), Verdict::Ask);
        // To the letter, and in the folder where it was asked about.
        let there = Access::Run { command: "ls".into(), parts: vec![], folder: Some("/p/sub".into()), outside: false };
        assert_eq!(ask(&command, there.clone()), Verdict::Ask);
        let in_sub = grants_for(&b, &there);
        assert_eq!(ask(&in_sub, there), Verdict::Allow);
        assert_eq!(ask(&in_sub, run("ls")), Verdict::Ask);
        assert_eq!(
            ask(&in_sub, Access::Run { command: "ls".into(), parts: vec![], folder: Some("/p/other".into()), outside: false }),
            Verdict::Ask
        );
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
