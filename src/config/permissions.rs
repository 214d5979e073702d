//! Rules in files: the user's, the project's, and the user's for one project; which tools there are.
//!
//! - A rule that is not understood is a mistake like any other: the program does not start over it. In another program's settings it
//!   is a warning, and if it would have refused or asked it stays, which asks about everything.
//! - The project's own rules only make things stricter until the user has accepted them, each as it is written; what has been accepted
//!   and is strict stays when it goes missing from the file.

use super::{
    Places,
    project_providers::{self, ProjectProvider},
    save,
    settings::{Layer, Read, Reader},
    source, store,
};
use crate::{
    failure::{Failure, nearest},
    policy,
    project::key,
    protocol::{Mode, Rule, RuleSource, Ruling, ToolProfile},
};
use jsonc_parser::ast::{ObjectProp, Value};
use serde::{Deserialize, Serialize};
use std::{
    io,
    path::{Component, Path, PathBuf},
};

/// What of the project's own settings the user has said yes to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    #[serde(default)]
    rules: Vec<(Ruling, String)>,
    #[serde(default)]
    mode: Option<Mode>,
    /// By what they say.
    #[serde(default)]
    providers: Vec<String>,
}

/// What a project's file says and does not count yet.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Withheld {
    pub rules: Vec<Rule>,
    /// It would have the session begin in a mode that asks less.
    pub mode: Option<Mode>,
    /// They would have values of the environment sent to where the project says, or take the name of one of the user's.
    pub providers: Vec<ProjectProvider>,
}

impl Withheld {
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.mode.is_none() && self.providers.is_empty()
    }

    /// Each in a few words.
    pub fn sentences(&self) -> Vec<String> {
        let mode = self.mode.map(|mode| format!("mode {}", mode.name()));
        let providers = self.providers.iter().map(ProjectProvider::sentence);
        self.rules.iter().map(|rule| rule.text.clone()).chain(mode).chain(providers).collect()
    }
}

fn folder(places: &Places, root: &Path) -> PathBuf {
    places.data.join("projects").join(key(root))
}

/// Where the user's rules for one project are.
pub fn local_file(places: &Places, root: &Path) -> PathBuf {
    folder(places, root).join("permissions.json")
}

fn accepted_file(places: &Places, root: &Path) -> PathBuf {
    folder(places, root).join("accepted.json")
}

impl Accepted {
    /// What can't be read has not been accepted.
    pub fn load(places: &Places, root: &Path) -> Accepted {
        let text = source::read(&accepted_file(places, root)).ok().flatten().unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    fn save(&self, places: &Places, root: &Path) -> io::Result<()> {
        store::locked(&accepted_file(places, root), |file| store::replace(file, &(serde_json::to_string_pretty(self)? + "\n")))
    }

    fn has(&self, rule: &Rule) -> bool {
        self.rules.iter().any(|(ruling, text)| *ruling == rule.ruling && *text == rule.text)
    }

    /// The rules that count: those that are strict whether accepted or not, also those that were there once; the others only if they
    /// were accepted.
    pub fn sift(&self, layer: &mut Layer) -> Withheld {
        let project = |rule: &Rule| rule.source == RuleSource::Project;
        let is_new = |rule: &Rule| project(rule) && rule.ruling == Ruling::Allow && !self.has(rule);
        let mut withheld = Withheld { rules: layer.rules.extract_if(.., |rule| is_new(rule)).collect(), ..Withheld::default() };
        let strict = self.rules.iter().filter(|(ruling, _)| *ruling != Ruling::Allow);
        for (ruling, text) in strict {
            let rule = Rule::new(*ruling, RuleSource::Project, text.clone());
            if !layer.rules.iter().any(|known| project(known) && known.says(&rule)) {
                layer.rules.push(rule);
            }
        }
        if let Some(mode) = layer.project_mode.filter(|mode| matches!(mode, Mode::AutoAccept | Mode::Yolo) && self.mode != Some(*mode)) {
            withheld.mode = Some(mode);
            layer.default_mode = layer.lower_mode;
        }
        withheld.providers = project_providers::sift(layer, |provider| self.providers.contains(&provider.content));
        withheld
    }
}

/// Notes the strict rules of the project's file, so that they are missed when they are gone. Nothing is written if there is nothing new.
pub fn note_strict(places: &Places, root: &Path, rules: &[Rule]) -> io::Result<()> {
    let mut accepted = Accepted::load(places, root);
    let strict = rules.iter().filter(|rule| rule.source == RuleSource::Project && rule.ruling != Ruling::Allow);
    let new: Vec<_> = strict.filter(|rule| !accepted.has(rule)).map(|rule| (rule.ruling, rule.text.clone())).collect();
    if new.is_empty() {
        return Ok(());
    }
    accepted.rules.extend(new);
    accepted.save(places, root)
}

/// The user has said yes to what the project's file says now.
pub fn accept(places: &Places, root: &Path, rules: &[Rule], withheld: &Withheld) -> io::Result<()> {
    let mut accepted = Accepted::load(places, root);
    for rule in rules.iter().filter(|rule| rule.source == RuleSource::Project).chain(&withheld.rules) {
        if !accepted.has(rule) {
            accepted.rules.push((rule.ruling, rule.text.clone()));
        }
    }
    accepted.mode = withheld.mode.or(accepted.mode);
    for provider in &withheld.providers {
        if !accepted.providers.contains(&provider.content) {
            accepted.providers.push(provider.content.clone());
        }
    }
    accepted.save(places, root)
}

/// A rule as somebody wrote it, checked, with a look at where its path leads; or what is wrong with it.
pub fn rule(ruling: Ruling, source: RuleSource, text: &str, root: Option<&Path>, home: Option<&Path>) -> Result<Rule, String> {
    policy::check(ruling, text)?;
    let mut rule = Rule::new(ruling, source, text.trim());
    look_up(&mut rule, root, home);
    Ok(rule)
}

pub fn look_up(rule: &mut Rule, root: Option<&Path>, home: Option<&Path>) {
    let Some(beginning) = policy::literal_beginning(&rule.text) else { return };
    let path = match beginning.strip_prefix('~') {
        Some(rest) => home.map(|home| home.join(rest.trim_start_matches('/'))),
        None => root.map(|root| root.join(beginning.strip_prefix("./").unwrap_or(&beginning))).or_else(|| Some(PathBuf::from(&beginning))),
    };
    rule.leads = path.filter(|path| path.is_absolute()).map(|path| real(&path));
}

/// Links followed as far as the path exists.
fn real(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|above| Some((above, std::fs::canonicalize(above).ok()?)));
    let Some((above, real)) = there else { return path.into() };
    let rest = path.strip_prefix(above).unwrap_or(Path::new(""));
    rest.components().filter(|part| matches!(part, Component::Normal(_))).fold(real, |path, part| path.join(part))
}

/// Adds a rule to the user's file, or to the user's for this project; once is enough. Gives the file.
pub fn save_rule(places: &Places, root: &Path, rule: &Rule) -> Result<PathBuf, Failure> {
    save::change_rules(file_of(places, root, rule), rule, true)
}

/// Takes it out again.
pub fn remove_rule(places: &Places, root: &Path, rule: &Rule) -> Result<PathBuf, Failure> {
    save::change_rules(file_of(places, root, rule), rule, false)
}

fn file_of(places: &Places, root: &Path, rule: &Rule) -> PathBuf {
    if rule.source == RuleSource::Local { local_file(places, root) } else { places.user_file() }
}

impl Reader<'_> {
    pub fn tools(&mut self, property: &ObjectProp, layer: &mut Layer) -> Result<(), Failure> {
        match property.name.as_str() {
            "permissions" => self.permissions(property, layer),
            "alwaysAllow" => self.rules_of(Ruling::Allow, property, layer),
            "disabledTools" => {
                layer.disabled_tools.extend(self.strings(property)?);
                Ok(())
            }
            _ => {
                layer.tool_profile = self.profile(property)?;
                Ok(())
            }
        }
    }

    pub fn profile(&mut self, property: &ObjectProp) -> Read<ToolProfile> {
        let Some(name) = self.string(property)? else { return Ok(None) };
        let profile = ToolProfile::from_name(&name);
        if profile.is_none() {
            let names = ToolProfile::ALL.map(ToolProfile::name);
            let near = nearest(&name, names).map(|near| format!(" Did you mean \"{near}\"?")).unwrap_or_default();
            self.mistake(&property.value, format!("There is no tool profile {name:?}.{near} Profiles: {}.", names.join(", ")))?;
        }
        Ok(profile)
    }

    fn permissions(&mut self, property: &ObjectProp, layer: &mut Layer) -> Result<(), Failure> {
        for list in self.object(property)? {
            let name = list.name.as_str();
            match Ruling::from_name(name) {
                Some(ruling) => self.rules_of(ruling, list, layer)?,
                // What is misspelt might have refused something.
                None => {
                    let near =
                        nearest(name, Ruling::ALL.map(Ruling::name)).map(|near| format!(" Did you mean \"{near}\"?")).unwrap_or_default();
                    self.mistake(list, format!("\"permissions\" has allow, ask and deny, but no \"{name}\".{near}"))?;
                }
            }
        }
        Ok(())
    }

    /// Nothing in a rule is taken from the environment: `$` may be part of what it is about.
    fn rules_of(&mut self, ruling: Ruling, property: &ObjectProp, layer: &mut Layer) -> Result<(), Failure> {
        let items: Vec<&Value> = match &property.value {
            Value::Array(list) => list.elements.iter().collect(),
            Value::NullKeyword(_) => vec![],
            one => vec![one],
        };
        for item in items {
            let Value::StringLit(text) = item else {
                let what = format!("\"{}\" is a list of rules, but {} is in it.", property.name.as_str(), source::kind(item));
                self.mistake(item, what)?;
                continue;
            };
            let text = text.value.trim();
            if let Err(why) = policy::check(ruling, text) {
                let dot = if why.ends_with(['.', '?']) { "" } else { "." };
                self.mistake(item, format!("The rule \"{} {text}\": {why}{dot}", ruling.name()))?;
                if ruling == Ruling::Allow {
                    continue;
                }
            }
            layer.rules.push(Rule::new(ruling, self.rules, text));
        }
        Ok(())
    }
}
