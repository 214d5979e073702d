//! Rules while a session runs: added, removed, tried.

use super::{
    Agent, Effect,
    approval::{self, Said, Verdict},
};
use crate::{
    policy::{Asked, Policy},
    protocol::{Access, EventBody, Permit, Rule, SessionEvent},
};
use std::path::PathBuf;

impl Agent {
    pub(super) fn permit(&mut self, change: Permit) {
        let mut rules: Vec<Rule> = self.policy.rules().cloned().collect();
        match change {
            Permit::List => return self.tell_permissions(),
            Permit::Try(text) => return self.out.push(Effect::Try(text)),
            Permit::Add(rule) if rules.contains(&rule) => return self.tell_permissions(),
            Permit::Add(rule) => rules.push(rule),
            Permit::Remove(rule) => rules.retain(|known| !(known.says(&rule) && known.source == rule.source)),
            Permit::Revoke(grant) => self.grants.retain(|known| *known != grant),
        }
        self.policy = Policy::new(&rules, &self.settings.bounds.root);
        self.out.push(Effect::UseRules(rules));
        self.tell_permissions();
        // What waits may be free now, or refused; what was allowed and has not begun may not be any more.
        self.judge_again();
    }

    fn tell_permissions(&mut self) {
        let (rules, grants) = (self.policy.rules().cloned().collect(), self.grants.clone());
        self.emit(None, EventBody::Session(SessionEvent::Permissions { rules, grants }));
    }

    pub(super) fn tried(&mut self, text: String, result: Result<(String, Access, Vec<PathBuf>), String>) {
        let (verdict, why) = match result {
            Err(why) => ("fails".to_owned(), why),
            Ok((tool, access, named)) => {
                let asked = Asked { tool: &tool, access: &access, named: &named };
                let said = Said { grants: &self.grants, policy: &self.policy };
                let (verdict, why) = approval::judged(self.transcript.mode, said, &self.settings.bounds, &asked);
                let verdict = match verdict {
                    Verdict::Allow => "runs",
                    Verdict::Ask => "asks",
                    Verdict::Forbid(_) => "is refused",
                };
                (verdict.to_owned(), why)
            }
        };
        self.emit(None, EventBody::Session(SessionEvent::Judged { text, verdict, why }));
    }
}
