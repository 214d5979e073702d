//! Rules in files: which count, which wait, and what is said of mistakes.

use super::super::permissions::{accept, note_strict, remove_rule, save_rule};
use super::*;
use crate::protocol::{RuleSource, Ruling};

const OWN: &str = "agents.config.json";

impl World {
    fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// `allow Bash(x) (user)`.
    fn rules(&self) -> Vec<String> {
        self.load().unwrap().rules.iter().map(|rule| format!("{rule} ({})", rule.source.name())).collect()
    }
}

fn allowing(rules: &str) -> String {
    format!("{{\"backstitch\": {{\"permissions\": {{{rules}}}}}}}")
}

#[test]
fn rules_of_all_files_count_and_the_projects_own_only_as_far_as_they_are_strict() {
    let world = World::new(&[
        (OURS, &allowing(r#""allow": ["Bash(cargo test *)", "Edit(src/**)"], "deny": ["View(.env)"]"#)),
        (NANOCODER, r#"{"nanocoder": {"alwaysAllow": ["execute_bash"], "disabledTools": ["git_pr"], "tune": {"toolProfile": "nano"}}}"#),
        (OWN, &allowing(r#""allow": ["Bash(make *)"], "ask": "Edit(Cargo.toml)", "deny": ["Edit(gen/**)"]"#)),
    ]);
    let config = world.load().unwrap();
    let expected = [
        "ask Edit(Cargo.toml) (project)",
        "deny Edit(gen/**) (project)",
        "allow Bash(cargo test *) (user)",
        "allow Edit(src/**) (user)",
        "deny View(.env) (user)",
        "allow execute_bash (user)",
    ];
    assert_eq!(world.rules(), expected);
    assert_eq!(config.withheld.rules.iter().map(ToString::to_string).collect::<Vec<_>>(), ["allow Bash(make *)"]);
    assert_eq!((config.disabled_tools, config.tool_profile), (vec!["git_pr".to_owned()], crate::protocol::ToolProfile::Nano));
    assert_eq!(config.warnings, [] as [&str; 0]);
    let none = Config::load(&world.places, None, &|_| None).unwrap();
    assert_eq!(none.rules.len(), 4, "nothing of a project that is not trusted");
}

/// Whoever chooses the shell chooses what runs.
#[test]
fn only_the_user_says_which_shell_runs_commands() {
    let says = |shell: &str| format!(r#"{{"backstitch": {{"shell": "{shell}"}}}}"#);
    let (theirs, own) = (says("./evil"), says("zsh"));
    let world = World::new(&[(OWN, &theirs)]);
    assert_eq!(world.load().unwrap().shell, None);
    assert_eq!(
        world.warnings(),
        ["project/agents.config.json:1: \"shell\" has no effect here: only your own settings say which shell runs commands."]
    );
    let world = World::new(&[(OWN, &theirs), (OURS, &own)]);
    assert_eq!(world.load().unwrap().shell.as_deref(), Some("zsh"));
}

#[test]
fn a_projects_rules_widen_only_when_they_are_accepted_and_never_by_going_missing() {
    let world = World::new(&[(OWN, &allowing(r#""allow": ["Bash(make *)"], "deny": ["Edit(gen/**)"]"#))]);
    let root = world.root();
    let config = world.load().unwrap();
    note_strict(&world.places, &root, &config.rules).unwrap();
    assert_eq!(world.rules(), ["deny Edit(gen/**) (project)"]);
    accept(&world.places, &root, &config.rules, &config.withheld).unwrap();
    assert_eq!(world.rules(), ["allow Bash(make *) (project)", "deny Edit(gen/**) (project)"]);
    // Somebody changes the file: what is new and wide waits, what was strict stays.
    world.write(OWN, &allowing(r#""allow": ["Bash(make *)", "Bash(curl *)"], "ask": ["Bash(make deploy)"]"#));
    assert_eq!(world.rules(), ["allow Bash(make *) (project)", "ask Bash(make deploy) (project)", "deny Edit(gen/**) (project)"]);
    assert_eq!(world.load().unwrap().withheld.rules[0].text, "Bash(curl *)");
    // What was accepted and is gone does not count.
    world.write(OWN, "{}");
    assert_eq!(world.rules(), ["deny Edit(gen/**) (project)"]);
    // A list that can't be read has accepted nothing.
    world.write(OWN, &allowing(r#""allow": ["Bash(make *)"]"#));
    let accepted = fs::read_dir(world.places.data.join("projects")).unwrap().next().unwrap().unwrap().path().join("accepted.json");
    assert_eq!(world.rules().len(), 2);
    fs::write(accepted, "{ broken").unwrap();
    assert_eq!(world.rules(), [] as [&str; 0]);
}

#[test]
fn a_projects_mode_that_asks_less_waits_too() {
    let world = World::new(&[(OWN, r#"{"backstitch": {"defaultMode": "yolo"}}"#), (OURS, r#"{"backstitch": {"defaultMode": "plan"}}"#)]);
    let config = world.load().unwrap();
    assert_eq!((config.default_mode, config.withheld.mode), (Mode::Plan, Some(Mode::Yolo)));
    accept(&world.places, &world.root(), &config.rules, &config.withheld).unwrap();
    assert_eq!(world.load().unwrap().default_mode, Mode::Yolo);
    world.write(OWN, r#"{"backstitch": {"defaultMode": "auto-accept"}}"#);
    assert_eq!(world.load().unwrap().default_mode, Mode::Plan);
    world.write(OWN, r#"{"backstitch": {"defaultMode": "normal"}}"#);
    assert_eq!(world.load().unwrap().default_mode, Mode::Normal);
}

#[test]
fn a_rule_that_is_not_understood_is_never_passed_over() {
    for (text, expected) in [
        (
            r#""deny": ["Bsh(rm *)"]"#,
            "~/.config/backstitch/agents.config.json:1: The rule \"deny Bsh(rm *)\": there is no tool \"Bsh\". Did you mean \"Bash\"?",
        ),
        (
            r#""dney": ["Bash(rm *)"]"#,
            "~/.config/backstitch/agents.config.json:1: \"permissions\" has allow, ask and deny, but no \"dney\". Did you mean \"deny\"?",
        ),
        (r#""deny": [7]"#, "~/.config/backstitch/agents.config.json:1: \"deny\" is a list of rules, but 7 is in it."),
        (r#""deny": {"a": 1}"#, "~/.config/backstitch/agents.config.json:1: \"deny\" is a list of rules, but an object is in it."),
        (
            r#""allow": ["Bash(npm test:*)"]"#,
            "~/.config/backstitch/agents.config.json:1: The rule \"allow Bash(npm test:*)\": what may follow is written with a blank before it: `Bash(npm test *)`.",
        ),
    ] {
        assert_eq!(World::new(&[(OURS, &allowing(text))]).load().unwrap_err(), expected);
    }
    // In another program's settings it is said, and what it would have kept from happening is asked about.
    let world = World::new(&[(NANOCODER, r#"{"nanocoder": {"permissions": {"deny": ["Bsh(x)"], "allow": ["Bsh(y)"]}}}"#)]);
    assert_eq!((world.rules(), world.warnings().len()), (vec!["deny Bsh(x) (user)".to_owned()], 2));
}

#[test]
fn rules_are_saved_where_they_belong_and_removed_from_there() {
    let world = World::new(&[(OURS, "{ // mine\n  \"backstitch\": { \"maxTurns\": 3 } }")]);
    let root = world.root();
    fs::create_dir_all(&root).unwrap();
    let make = |source, text: &str| super::super::permissions::rule(Ruling::Allow, source, text, Some(&root), None).unwrap();
    let (user, local) = (make(RuleSource::User, "Bash(cargo test *)"), make(RuleSource::Local, "Edit(src/**)"));
    for _ in 0..2 {
        save_rule(&world.places, &root, &user).unwrap();
        save_rule(&world.places, &root, &local).unwrap();
    }
    assert_eq!(world.rules(), ["allow Bash(cargo test *) (user)", "allow Edit(src/**) (you, this project)"]);
    assert!(fs::read_to_string(world.path(OURS)).unwrap().contains("// mine"));
    assert_eq!(fs::read_dir(&root).unwrap().count(), 0, "nothing of it is in the project");
    remove_rule(&world.places, &root, &local).unwrap();
    assert_eq!(world.rules(), ["allow Bash(cargo test *) (user)"]);
    let error = remove_rule(&world.places, &root, &local).unwrap_err().to_string();
    assert!(error.contains("The rule `allow Edit(src/**)` is not in it"), "{error}");
    assert_eq!(world.load().unwrap().max_turns, 3);
}

#[cfg(unix)]
#[test]
fn where_a_rules_path_leads_is_looked_up() {
    let world = World::new(&[("real/x", "")]);
    let root = world.root().canonicalize().unwrap();
    std::os::unix::fs::symlink("real", root.join("link")).unwrap();
    let leads = |text: &str| {
        super::super::permissions::rule(Ruling::Deny, RuleSource::User, text, Some(&root), Some(Path::new("/home/u"))).unwrap().leads
    };
    assert_eq!(leads("Edit(link/**)"), Some(root.join("real")));
    assert_eq!(leads("Edit(./link/new/*)"), Some(root.join("real/new")));
    assert_eq!(leads("View(link)"), Some(root.join("real")));
    assert_eq!(leads("View(**/x)"), None);
    assert_eq!(leads("View(~/a/*)"), Some("/home/u/a".into()));
    assert_eq!(leads("Bash(ls *)"), None);
}
