//! The settings that there are, and how each is read.
//!
//! The doc comment of a field of [`Layer`] is its help. A value of the wrong kind is a [`Failure`] with file and line; in another
//! program's settings it is a warning, and the value is passed over.

use super::{
    Env, environment,
    looks::LooksLayer,
    privacy::{self, PrivacyLayer},
    project_providers::ProjectProvider,
    providers::{self, same},
    sandbox::{self, SandboxLayer},
    source,
    web::{self, WebLayer},
};
use crate::{
    failure::{Failure, nearest},
    protocol::{Mode, Parameters, ProviderSettings, Rule, RuleSource, ToolProfile},
};
use jsonc_parser::{
    ast::{Object, ObjectProp, Value},
    common::Ranged,
};
use std::path::Path;

/// What one file says; merged field by field, providers by name.
#[derive(Debug, Default, PartialEq)]
pub struct Layer {
    /// The mode that a session starts in: normal, auto-accept, plan or yolo.
    pub default_mode: Option<Mode>,
    /// The model servers. One of the same name in a file that comes first replaces the whole entry: a key must never go to an
    /// address from another file.
    pub providers: Vec<ProviderSettings>,
    /// Theme, notifications, motion.
    pub looks: LooksLayer,
    /// How often a headless run may call the model (200).
    pub max_turns: Option<u32>,
    /// What calls are allowed, asked about or refused: those of all files count.
    pub rules: Vec<Rule>,
    /// Tools that there are not.
    pub disabled_tools: Vec<String>,
    /// The shell that commands run in; only from the user's own settings.
    pub shell: Option<String>,
    /// Where commands may write, and whether they may use the network. A project's file can only make it stricter.
    pub sandbox: SandboxLayer,
    /// Which tools the model is told of: full, minimal, nano, or auto by its size.
    pub tool_profile: Option<ToolProfile>,
    /// Which search engine, and which private hosts may be fetched from. Never from a project's file.
    pub web: WebLayer,
    /// Whether secrets are replaced, and what is one besides.
    pub privacy: PrivacyLayer,
    /// Those of the project's own file, which may have to wait; `providers` has the others.
    pub project_providers: Vec<ProjectProvider>,
    /// What models are asked with where their provider says nothing else.
    pub parameters: Parameters,
    /// The mode that the project's own file names, and what it would be without that.
    pub project_mode: Option<Mode>,
    pub lower_mode: Option<Mode>,
}

pub const KEYS: [&str; 16] = [
    "defaultMode",
    "providers",
    "modelParameters",
    "theme",
    "maxTurns",
    "notifications",
    "motion",
    "permissions",
    "disabledTools",
    "toolProfile",
    "shell",
    "sandbox",
    "webSearch",
    "allowPrivateHosts",
    "privacy",
    "privacyPatterns",
];
/// Settings of Nanocoder that have no effect here yet.
const LATER: [&str; 10] = [
    "modeProviders",
    "systemPrompt",
    "autoCompact",
    "lspServers",
    "mcpServers",
    "retries",
    "hooks",
    "formatters",
    "autoCommit",
    "channels",
];
impl Layer {
    /// Adds what a file of lower rank says.
    pub fn merge(&mut self, lower: Layer) {
        if self.project_mode.is_some() {
            self.lower_mode = self.lower_mode.or(lower.default_mode);
        }
        self.default_mode = self.default_mode.or(lower.default_mode);
        self.project_mode = self.project_mode.or(lower.project_mode);
        self.rules.extend(lower.rules);
        self.disabled_tools.extend(lower.disabled_tools);
        self.tool_profile = self.tool_profile.or(lower.tool_profile);
        self.parameters.merge(&lower.parameters);
        self.looks.merge(lower.looks);
        self.web.merge(lower.web);
        self.privacy.merge(lower.privacy);
        for provider in lower.project_providers {
            if !self.project_providers.iter().any(|known| same(&known.settings.name, &provider.settings.name)) {
                self.project_providers.push(provider);
            }
        }
        self.sandbox.merge(lower.sandbox);
        self.max_turns = self.max_turns.or(lower.max_turns);
        self.shell = self.shell.take().or(lower.shell);
        for provider in lower.providers {
            if !self.providers.iter().any(|known| same(&known.name, &provider.name)) {
                self.providers.push(provider);
            }
        }
    }
}

/// Reads the values of one file.
pub struct Reader<'a> {
    pub path: &'a Path,
    pub text: &'a str,
    pub env: &'a Env<'a>,
    /// Another program's settings: its mistakes and unknown keys are none of ours.
    pub foreign: bool,
    /// Whose rules are in it.
    pub rules: RuleSource,
    pub warnings: &'a mut Vec<String>,
}

pub type Read<T> = Result<Option<T>, Failure>;

impl Reader<'_> {
    pub fn layer(&mut self, block: &Object) -> Result<Layer, Failure> {
        let mut layer = Layer::default();
        for property in &block.properties {
            match property.name.as_str() {
                "defaultMode" => {
                    layer.default_mode = self.mode(property)?;
                    layer.project_mode = layer.default_mode.filter(|_| self.rules == RuleSource::Project);
                }
                "permissions" | "alwaysAllow" | "disabledTools" | "toolProfile" => self.tools(property, &mut layer)?,
                "webSearch" | "allowPrivateHosts" | "nanocoderTools" => web::read(self, property, &mut layer.web)?,
                "theme" | "notifications" | "motion" => self.looks(property, &mut layer.looks)?,
                "maxTurns" => layer.max_turns = self.positive(property)?.map(|n| u32::try_from(n).unwrap_or(u32::MAX)),
                "sandbox" => sandbox::read(self, property, &mut layer.sandbox)?,
                "shell" if self.rules != RuleSource::User => {
                    self.warn(property, "\"shell\" has no effect here: only your own settings say which shell runs commands.");
                }
                "shell" => layer.shell = self.string(property)?.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()),
                // Where Nanocoder keeps it.
                "headless" => {
                    if let Value::Object(headless) = &property.value
                        && let Some(turns) = headless.get("maxTurns")
                        && layer.max_turns.is_none()
                    {
                        layer.max_turns = self.positive(turns)?.map(|n| u32::try_from(n).unwrap_or(u32::MAX));
                    }
                }
                "privacy" | "privacyPatterns" | "enablePromptScrubbing" => privacy::read(self, property, &mut layer.privacy)?,
                "providers" => layer.merge(providers::read(self, property)?),
                "modelParameters" => layer.parameters.merge(&providers::parameters(self, property)?),
                "tune" => providers::tune(self, property, &mut layer)?,
                other => self.unknown(property, other, &KEYS, &LATER),
            }
        }
        Ok(layer)
    }

    fn mode(&mut self, property: &ObjectProp) -> Read<Mode> {
        let Some(name) = self.string(property)? else { return Ok(None) };
        let mode = Mode::from_name(&name);
        if mode.is_none() {
            let names = Mode::ALL.map(Mode::name);
            let near = nearest(&name, names).map(|near| format!(" Did you mean \"{near}\"?")).unwrap_or_default();
            self.mistake(&property.value, format!("There is no mode {name:?}.{near} Modes: {}.", names.join(", ")))?;
        }
        Ok(mode)
    }

    pub fn string(&mut self, property: &ObjectProp) -> Read<String> {
        match &property.value {
            Value::StringLit(text) => Ok(Some(self.expanded(property, &text.value))),
            Value::NullKeyword(_) => Ok(None),
            _ => self.wrong(property, "text in quotes"),
        }
    }

    pub fn strings(&mut self, property: &ObjectProp) -> Result<Vec<String>, Failure> {
        match &property.value {
            Value::Array(list) => {
                let mut strings = vec![];
                for item in &list.elements {
                    match item {
                        Value::StringLit(text) => strings.push(self.expanded(property, &text.value)),
                        other => self.mistake(
                            other,
                            format!("\"{}\" is a list of names, but {} is in it.", property.name.as_str(), source::kind(other)),
                        )?,
                    }
                }
                Ok(strings.into_iter().map(|s| s.trim().to_owned()).filter(|s| !s.is_empty()).collect())
            }
            // One name without its brackets is clear enough.
            Value::StringLit(text) => Ok(vec![self.expanded(property, &text.value)]),
            Value::NullKeyword(_) => Ok(vec![]),
            _ => self.wrong::<()>(property, "a list of names, [ … ]").map(|_| vec![]),
        }
    }

    pub fn object<'v>(&mut self, property: &'v ObjectProp) -> Result<&'v [ObjectProp<'v>], Failure> {
        match &property.value {
            Value::Object(object) => Ok(&object.properties),
            Value::NullKeyword(_) => Ok(&[]),
            _ => self.wrong::<()>(property, "an object, { … }").map(|_| &[] as &[ObjectProp]),
        }
    }

    pub fn number(&mut self, property: &ObjectProp) -> Read<i64> {
        match &property.value {
            Value::NullKeyword(_) => Ok(None),
            Value::NumberLit(number) => match number.value.parse() {
                Ok(number) => Ok(Some(number)),
                Err(_) => self.wrong(property, "a whole number"),
            },
            _ => self.wrong(property, "a whole number"),
        }
    }

    pub fn positive(&mut self, property: &ObjectProp) -> Read<u64> {
        match self.number(property)? {
            Some(number) if number < 1 => self.wrong(property, "a number above 0"),
            number => Ok(number.map(i64::unsigned_abs)),
        }
    }

    pub fn flag(&mut self, property: &ObjectProp) -> Read<bool> {
        match &property.value {
            Value::BooleanLit(flag) => Ok(Some(flag.value)),
            Value::NullKeyword(_) => Ok(None),
            _ => self.wrong(property, "true or false"),
        }
    }

    fn expanded(&mut self, property: &ObjectProp, text: &str) -> String {
        let mut unset = vec![];
        let expanded = environment::expand(text, self.env, &mut unset);
        for name in unset {
            let key = property.name.as_str();
            self.warn(&property.value, &format!("\"{key}\" refers to the variable {name}, which is not set."));
        }
        expanded
    }

    pub fn unknown(&mut self, property: &ObjectProp, key: &str, known: &[&str], later: &[&str]) {
        if self.foreign || key.starts_with('$') {
            return;
        }
        if later.contains(&key) {
            return self.warn(property, &format!("\"{key}\" is not supported yet and has no effect."));
        }
        let near = nearest(key, known.iter().copied()).map(|near| format!(" Did you mean \"{near}\"?")).unwrap_or_default();
        self.warn(property, &format!("There is no setting \"{key}\".{near}"));
    }

    pub fn wrong<T>(&mut self, property: &ObjectProp, right: &str) -> Read<T> {
        let key = property.name.as_str();
        // What should have been in there may be a key, and is not repeated.
        let private =
            matches!(key, "apiKey" | "headers" | "providers") && matches!(property.value, Value::StringLit(_) | Value::NumberLit(_));
        let wrong = if private { "this".into() } else { source::kind(&property.value) };
        self.mistake(&property.value, format!("\"{key}\" must be {right}, not {wrong}."))?;
        Ok(None)
    }

    pub fn mistake(&mut self, at: &impl Ranged, what: String) -> Result<(), Failure> {
        if self.foreign {
            self.warn(at, &what);
            return Ok(());
        }
        Err(Failure::config(self.located(at, &what)))
    }

    pub fn warn(&mut self, at: &impl Ranged, what: &str) {
        let warning = self.located(at, what);
        self.warnings.push(warning);
    }

    fn located(&self, at: &impl Ranged, what: &str) -> String {
        format!("{}:{}: {what}", self.path.display(), source::line(self.text, at.start()))
    }
}
