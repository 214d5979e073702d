//! The rules, where each comes from, and what was allowed for this session: to look at, add, change, remove and try.
//!
//! What a rule would be is written in one line (`allow Bash(cargo test *)`) and checked before it is asked where it is to be kept.

use super::PanelOutcome;
use crate::{
    policy,
    protocol::{Command, Grant, Mode, Permit, Rule, RuleSource, Ruling},
    tui::{
        app::Cmd,
        keymap::{Context, Keymap},
    },
};
use backstitch_components::{
    dialog::{Dialog, DialogOutcome, DialogState, DialogView},
    key::Chord,
    list::Item,
    text::{sanitize::one_line, span::Line, wrap::wrap},
    theme::Role,
};

/// What the user does about rules, also for longer than this session.
#[derive(Debug, Clone, PartialEq)]
pub enum RuleChange {
    Add(Ruling, RuleSource, String),
    Remove(Rule),
    /// This one goes, and that one comes.
    Replace(Rule, Box<RuleChange>),
    /// What the project's own settings say now.
    Accept,
}

#[derive(Debug)]
pub struct Permissions {
    rows: Vec<Row>,
    /// What the project's own settings would allow.
    withheld: Vec<String>,
    mode: Mode,
    state: DialogState,
    step: Step,
    /// What a call that was tried would come to, or what is wrong with what was typed.
    told: Option<(Role, String)>,
}

#[derive(Debug, Clone, PartialEq)]
enum Row {
    Rule(Rule),
    Grant(Grant),
}

#[derive(Debug, Clone, PartialEq)]
enum Step {
    List,
    Try,
    /// In place of this one.
    Write(Option<Rule>),
    Where(Ruling, String, Option<Rule>),
}

const SCOPES: [(RuleSource, &str, char); 3] = [
    (RuleSource::Session, "for this session", 's'),
    (RuleSource::Local, "always, in this project", 'p'),
    (RuleSource::User, "always, in every project", 'e'),
];

impl Permissions {
    pub fn new(mode: Mode, withheld: Vec<String>) -> (Permissions, Vec<Cmd>) {
        let panel = Permissions { rows: vec![], withheld, mode, state: DialogState::default(), step: Step::List, told: None };
        (panel, vec![Cmd::Send(Command::Permit(Permit::List))])
    }

    pub fn listed(&mut self, mut rules: Vec<Rule>, grants: Vec<Grant>) {
        // What refuses comes first, as it does when a call is judged.
        rules.sort_by(|a, b| b.ruling.cmp(&a.ruling).then(a.source.cmp(&b.source)));
        self.rows = rules.into_iter().map(Row::Rule).chain(grants.into_iter().map(Row::Grant)).collect();
        self.state.list.select(self.state.list.selected(), self.rows.len());
    }

    pub fn judged(&mut self, text: &str, verdict: &str, why: &str) {
        let role = if verdict == "runs" { Role::Success } else { Role::Warning };
        self.told = Some((role, format!("{} {verdict}: {}", one_line(text), one_line(why))));
    }

    pub fn contexts(&self) -> &'static [Context] {
        match self.step {
            Step::List => &[Context::Permissions, Context::List],
            Step::Try | Step::Write(_) => &[Context::Field, Context::Edit],
            Step::Where(..) => &[Context::List],
        }
    }

    pub fn paste(&mut self, text: &str) {
        if self.state.typing.is_some() {
            self.state.text.apply(backstitch_components::editor::Edit::Paste(one_line(text).into_owned()), 80);
        }
    }

    fn write(&mut self, text: &str, step: Step) -> PanelOutcome {
        self.state.text.set_text(text);
        self.state.type_for(0);
        (self.step, self.told) = (step, None);
        PanelOutcome::Stays
    }

    fn back_to_list(&mut self) -> PanelOutcome {
        (self.step, self.state.typing) = (Step::List, None);
        self.state.text.set_text("");
        PanelOutcome::Stays
    }

    fn selected(&self) -> Option<&Row> {
        self.rows.get(self.state.list.selected())
    }

    pub fn press(&mut self, chord: &Chord, keys: &Keymap) -> PanelOutcome {
        if self.step == Step::List {
            match (chord.typed(), self.selected().cloned()) {
                (Some('a'), _) => return self.write("allow ", Step::Write(None)),
                (Some('t'), _) => return self.write("", Step::Try),
                (Some('y'), _) if !self.withheld.is_empty() => {
                    self.withheld.clear();
                    return PanelOutcome::StaysAnd(Cmd::Rule(RuleChange::Accept));
                }
                (Some('e'), Some(Row::Rule(rule))) => return self.write(&rule.to_string(), Step::Write(Some(rule))),
                (Some('d'), Some(Row::Rule(rule))) => return PanelOutcome::StaysAnd(Cmd::Rule(RuleChange::Remove(rule))),
                (Some('d'), Some(Row::Grant(grant))) => return PanelOutcome::StaysAnd(Cmd::Send(Command::Permit(Permit::Revoke(grant)))),
                _ => {}
            }
        }
        let dialog = self.dialog(keys, 80);
        match (self.state.press(chord, &dialog), self.step.clone()) {
            (DialogOutcome::Dismissed, Step::List) => PanelOutcome::Closed,
            (DialogOutcome::Dismissed, _) => self.back_to_list(),
            (DialogOutcome::Chosen(_, text), Step::Try) => {
                let _ = self.back_to_list();
                match text.trim() {
                    "" => PanelOutcome::Stays,
                    text => PanelOutcome::StaysAnd(Cmd::Send(Command::Permit(Permit::Try(text.into())))),
                }
            }
            (DialogOutcome::Chosen(_, text), Step::Write(replaced)) => self.written(&text, replaced),
            (DialogOutcome::Chosen(at, _), Step::Where(ruling, text, replaced)) => {
                let _ = self.back_to_list();
                let add = RuleChange::Add(ruling, SCOPES[at.min(2)].0, text);
                PanelOutcome::StaysAnd(Cmd::Rule(match replaced {
                    Some(rule) => RuleChange::Replace(rule, Box::new(add)),
                    None => add,
                }))
            }
            (DialogOutcome::Chosen(at, _), Step::List) => match self.rows.get(at).cloned() {
                Some(Row::Rule(rule)) => self.write(&rule.to_string(), Step::Write(Some(rule))),
                _ => PanelOutcome::Stays,
            },
            // Esc while something is typed.
            (DialogOutcome::Moved, Step::Try | Step::Write(_)) if self.state.typing.is_none() => self.back_to_list(),
            _ => PanelOutcome::Stays,
        }
    }

    fn written(&mut self, typed: &str, replaced: Option<Rule>) -> PanelOutcome {
        let (ruling, text) = typed.trim().split_once(char::is_whitespace).unwrap_or((typed.trim(), ""));
        let read = match Ruling::from_name(ruling) {
            None => Err("a rule begins with allow, ask or deny".to_owned()),
            Some(ruling) => policy::check(ruling, text.trim()).map(|()| ruling),
        };
        match read {
            Ok(ruling) => {
                self.state.typing = None;
                let at = replaced.as_ref().and_then(|rule| SCOPES.iter().position(|(source, ..)| *source == rule.source));
                self.state.list.select(at.unwrap_or(0), SCOPES.len());
                (self.step, self.told) = (Step::Where(ruling, text.trim().into(), replaced), None);
            }
            Err(why) => {
                self.state.text.set_text(typed);
                self.told = Some((Role::Warning, why));
            }
        }
        PanelOutcome::Stays
    }

    fn dialog(&self, keys: &Keymap, width: usize) -> Dialog {
        let dim = |text: String| wrap(&Line::styled(text, Role::Dim), width.saturating_sub(4)).into_iter().map(|row| row.indented(2));
        let mut body: Vec<Line> = vec![];
        if let Some((role, text)) = &self.told {
            body.extend(wrap(&Line::styled(text.clone(), *role), width.saturating_sub(4)).into_iter().map(|row| row.indented(2)));
        }
        let title = match &self.step {
            Step::List => {
                body.extend(dim(does(self.mode).into()));
                if !self.withheld.is_empty() {
                    let names = one_line(&self.withheld.join(", ")).into_owned();
                    let text = format!("The project's settings would allow, and nobody has accepted it: {names}");
                    body.extend(wrap(&Line::styled(text, Role::Warning), width.saturating_sub(4)).into_iter().map(|row| row.indented(2)));
                }
                body.extend(dim(self.hint(keys)));
                "Permissions".to_owned()
            }
            Step::Try => "What would become of this? A command, or Edit PATH, View PATH, WebFetch HOST".into(),
            Step::Write(_) => "Which rule? allow, ask or deny, then Bash(cargo test *), Edit(src/**), View(.env), a tool's name".into(),
            Step::Where(ruling, text, _) => format!("{} {}: for how long?", ruling.name(), one_line(text)),
        };
        let choices = match self.step {
            Step::Where(..) => SCOPES.iter().map(|(_, label, key)| Item::new(*label).key(*key)).collect(),
            _ => self.rows.iter().map(item).collect(),
        };
        Dialog { title: Line::plain(title), body, choices, asks: Some(String::new()), ..Dialog::default() }
    }

    fn hint(&self, keys: &Keymap) -> String {
        let mut parts = vec![("add", "adds"), ("try", "tries a call")];
        if !self.rows.is_empty() {
            parts.extend([("edit", "edits"), ("remove", "removes")]);
        }
        if !self.withheld.is_empty() {
            parts.push(("accept", "accepts the project's"));
        }
        format!("{} · {}", keys.phrase(Context::Permissions, &parts), keys.phrase(Context::List, &[("close", "closes")]))
    }

    pub fn view(&self, keys: &Keymap, width: usize, max_rows: usize) -> DialogView {
        self.state.clone().view(&self.dialog(keys, width), width, max_rows)
    }
}

fn item(row: &Row) -> Item {
    match row {
        Row::Rule(rule) => {
            let role = match rule.ruling {
                Ruling::Deny => Role::Error,
                Ruling::Ask => Role::Warning,
                Ruling::Allow => Role::Success,
            };
            let mut label = Line::styled(format!("{:<6}", rule.ruling.name()), role);
            label.extend(Line::plain(one_line(&rule.text).into_owned()).spans);
            Item::new(label).detail(Line::styled(rule.source.name(), Role::Dim))
        }
        Row::Grant(grant) => {
            let mut label = Line::styled(format!("{:<6}", "allow"), Role::Success);
            label.extend(Line::plain(one_line(&granted(grant)).into_owned()).spans);
            Item::new(label).detail(Line::styled("session", Role::Dim))
        }
    }
}

fn granted(grant: &Grant) -> String {
    match grant {
        Grant::Edits => "every edit inside the project".into(),
        Grant::Command(command) => format!("exactly {command}"),
        Grant::Outside(None, command) => format!("exactly {command}, outside the sandbox"),
        Grant::Outside(Some(folder), command) => format!("exactly {command}, in {}, outside the sandbox", folder.display()),
        Grant::CommandIn(folder, command) => format!("exactly {command}, in {}", folder.display()),
        Grant::Commands(pattern) => format!("Bash({pattern})"),
        Grant::Read(path) => format!("View({})", path.display()),
        Grant::Write(path) => format!("Edit({})", path.display()),
        Grant::Host(host) => format!("WebFetch(domain:{host})"),
    }
}

/// What the mode does where no rule says anything.
fn does(mode: Mode) -> &'static str {
    match mode {
        Mode::Normal => "Mode normal: reads inside the project run, everything else asks.",
        Mode::AutoAccept => "Mode auto-accept: reads and edits inside the project run, everything else asks.",
        Mode::Plan => "Mode plan: only reading is possible, whatever the rules allow.",
        Mode::Yolo => "Mode yolo: everything runs that no rule refuses or asks about.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iocraft::{KeyCode, KeyModifiers};

    fn panel() -> Permissions {
        let (mut panel, cmds) = Permissions::new(Mode::Normal, vec!["Bash(make *)".into()]);
        assert_eq!(cmds, [Cmd::Send(Command::Permit(Permit::List))]);
        let rule = |ruling, source, text: &str| Rule::new(ruling, source, text);
        panel.listed(
            vec![
                rule(Ruling::Allow, RuleSource::User, "Bash(cargo test *)"),
                rule(Ruling::Deny, RuleSource::Project, "View(.env\u{1b}[2J)"),
                rule(Ruling::Ask, RuleSource::Local, "Edit(Cargo.toml)"),
            ],
            vec![Grant::Edits],
        );
        panel
    }

    fn press(panel: &mut Permissions, code: KeyCode) -> Option<Cmd> {
        match panel.press(&Chord::new(code, KeyModifiers::empty()), &Keymap::default()) {
            PanelOutcome::StaysAnd(cmd) => Some(cmd),
            _ => None,
        }
    }

    fn types(panel: &mut Permissions, text: &str) {
        text.chars().for_each(|c| drop(press(panel, KeyCode::Char(c))));
    }

    fn shown(panel: &Permissions) -> String {
        panel.view(&Keymap::default(), 100, 20).rows.iter().map(|row| row.text().trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn rules_are_listed_with_their_source() {
        let panel = panel();
        insta::assert_snapshot!(shown(&panel));
        for width in [12, 30, 60] {
            assert!(panel.view(&Keymap::default(), width, 12).rows.iter().all(|row| row.width() <= width), "{width}");
        }
    }

    #[test]
    fn a_rule_is_checked_before_it_is_asked_where_it_goes() {
        let mut panel = panel();
        press(&mut panel, KeyCode::Char('a'));
        types(&mut panel, "Bsh(x)");
        assert_eq!(press(&mut panel, KeyCode::Enter), None);
        assert!(shown(&panel).contains("Did you mean \"Bash\"?") && shown(&panel).contains("allow Bsh(x)"), "{}", shown(&panel));
        (0..6).for_each(|_| drop(press(&mut panel, KeyCode::Backspace)));
        types(&mut panel, "Bash(make *)");
        press(&mut panel, KeyCode::Enter);
        assert!(shown(&panel).contains("always, in this project"), "{}", shown(&panel));
        let added = press(&mut panel, KeyCode::Char('2'));
        assert_eq!(added, Some(Cmd::Rule(RuleChange::Add(Ruling::Allow, RuleSource::Local, "Bash(make *)".into()))));
        assert_eq!(panel.step, Step::List);
    }

    #[test]
    fn rows_are_removed_edited_and_accepted() {
        let mut panel = panel();
        let first = Rule::new(Ruling::Deny, RuleSource::Project, "View(.env\u{1b}[2J)");
        assert_eq!(press(&mut panel, KeyCode::Char('d')), Some(Cmd::Rule(RuleChange::Remove(first))));
        press(&mut panel, KeyCode::End);
        assert_eq!(press(&mut panel, KeyCode::Char('d')), Some(Cmd::Send(Command::Permit(Permit::Revoke(Grant::Edits)))));
        assert_eq!(press(&mut panel, KeyCode::Char('y')), Some(Cmd::Rule(RuleChange::Accept)));
        assert_eq!(press(&mut panel, KeyCode::Char('y')), None);
        press(&mut panel, KeyCode::Home);
        press(&mut panel, KeyCode::Down);
        press(&mut panel, KeyCode::Char('e'));
        press(&mut panel, KeyCode::Enter);
        let old = Rule::new(Ruling::Ask, RuleSource::Local, "Edit(Cargo.toml)");
        let new = RuleChange::Add(Ruling::Ask, RuleSource::Local, "Edit(Cargo.toml)".into());
        assert_eq!(press(&mut panel, KeyCode::Enter), Some(Cmd::Rule(RuleChange::Replace(old, Box::new(new)))), "where it was before");
    }

    #[test]
    fn a_call_is_tried() {
        let mut panel = panel();
        press(&mut panel, KeyCode::Char('t'));
        types(&mut panel, "cargo test -q");
        assert_eq!(press(&mut panel, KeyCode::Enter), Some(Cmd::Send(Command::Permit(Permit::Try("cargo test -q".into())))));
        panel.judged("cargo test -q", "runs", "a rule allows it");
        assert!(shown(&panel).contains("cargo test -q runs: a rule allows it"));
        press(&mut panel, KeyCode::Char('t'));
        assert_eq!(press(&mut panel, KeyCode::Esc), None);
        assert_eq!(panel.step, Step::List);
        assert!(matches!(panel.press(&Chord::new(KeyCode::Esc, KeyModifiers::empty()), &Keymap::default()), PanelOutcome::Closed));
    }
}
