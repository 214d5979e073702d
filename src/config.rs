//! What the user has set, put together from files, environment and built-in defaults.
//!
//! Nothing is read globally: places and environment come in as values. Loading opens a handful of small files and nothing else: no
//! network, no writing. The project's own file is read only if the caller says that the project is trusted.
//! A mistake in one of our files is a [`Failure`] that names file and line; what merely isn't understood is a warning.

mod environment;
mod keys;
mod layers;
mod looks;
pub mod permissions;
pub mod places;
pub mod privacy;
mod project_providers;
mod providers;
mod sandbox;
mod save;
mod settings;
mod source;
mod store;
pub mod trust;
mod web;

pub use environment::{ENV_PROVIDER, Env};
pub use keys::own_keys;
pub use permissions::Withheld;
pub use places::{FILE_NAME, Places, project_root};
pub use save::{Scope, save_provider, save_theme};
pub use trust::Trust;

use crate::{
    failure::Failure,
    protocol::{Looks, Mode, PrivacySettings, ProviderSettings, Rule, SandboxSettings, ToolProfile, WebSettings},
};
use permissions::Accepted;
use std::path::{Path, PathBuf};

pub const MAX_TURNS: u32 = 200;

/// Flags of the command line outrank all of this; they are the caller's affair.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// In the order of precedence: the first that lists a model is the default.
    pub providers: Vec<ProviderSettings>,
    pub default_mode: Mode,
    pub looks: Looks,
    /// How often a headless run may call the model.
    pub max_turns: u32,
    /// By which calls are allowed, asked about or refused.
    pub rules: Vec<Rule>,
    /// What the project's own file says and does not count until the user has accepted it.
    pub withheld: Withheld,
    pub disabled_tools: Vec<String>,
    pub tool_profile: ToolProfile,
    pub web: WebSettings,
    pub privacy: PrivacySettings,
    /// The shell that commands run in, by name or whole path, if not `sh`.
    pub shell: Option<String>,
    pub sandbox: SandboxSettings,
    /// The files that were read, the one that outranks the others first.
    pub sources: Vec<PathBuf>,
    /// For the user, one sentence each.
    pub warnings: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            providers: vec![],
            default_mode: Mode::default(),
            looks: Looks::default(),
            max_turns: MAX_TURNS,
            rules: vec![],
            withheld: Withheld::default(),
            disabled_tools: vec![],
            tool_profile: ToolProfile::default(),
            web: WebSettings::default(),
            privacy: PrivacySettings::default(),
            shell: None,
            sandbox: SandboxSettings::default(),
            sources: vec![],
            warnings: vec![],
        }
    }
}

impl Config {
    /// `project` is the root of the project, and only given if it is trusted.
    pub fn load(places: &Places, project: Option<&Path>, env: &Env) -> Result<Config, Failure> {
        let mut config = Config::default();
        let mut layer = layers::load(places, project, env, &mut config)?;
        if let Some(root) = project {
            config.withheld = Accepted::load(places, root).sift(&mut layer);
        }
        layer
            .rules
            .iter_mut()
            .chain(&mut config.withheld.rules)
            .for_each(|rule| permissions::look_up(rule, project, places.home.as_deref()));
        (config.rules, config.disabled_tools) = (layer.rules, layer.disabled_tools);
        config.tool_profile = layer.tool_profile.unwrap_or_default();
        config.shell = layer.shell;
        config.sandbox = layer.sandbox.settings(places.home.as_deref(), &mut config.warnings);
        config.providers = layer.providers;
        config.default_mode = layer.default_mode.unwrap_or_default();
        config.looks = layer.looks.looks(places, &mut config.warnings);
        config.web = layer.web.settings(env, &mut config.warnings);
        config.privacy = layer.privacy.settings(&mut config.warnings);
        config.max_turns = layer.max_turns.unwrap_or(MAX_TURNS);
        environment::add_provider(&mut config.providers, env);
        config.providers.iter_mut().for_each(|provider| provider.parameters.merge(&layer.parameters));
        Ok(config)
    }
}

#[cfg(test)]
mod tests;
