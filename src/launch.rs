//! The wiring: from the command line and the configuration to a running agent, for whichever front end asked.

use crate::{
    agent::{Bounds, Settings},
    checkpoint::{self, CheckpointStore, GitStore},
    config::{self, Config, Places, Scope, Trust},
    engine::{Engine, Services, recorder::Recorder},
    failure::{Failure, Kind},
    handle::Handle,
    history::History,
    llm,
    protocol::{
        Command, Level, Mode, ModelId, ModelInfo, Notice, Permit, ProviderSettings, Record, RecordBody, Resume, Rule, RuleSource, Ruling,
        SessionInfo, ThemeChoice,
    },
    session::{self, Loaded, SessionError, SessionStore},
    tools::{
        self, Workspace,
        shell::{Sandbox, Shell},
    },
    tui::{RuleChange, app::Opened, jobs::Report, perform::World},
};
use backstitch_components::text::sanitize::one_line;
use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};
use tempfile::TempDir;

/// What the command line asks for, whatever the front end.
#[derive(Debug, Clone, Default)]
pub struct Options {
    pub provider: Option<String>,
    pub model: Option<String>,
    pub mode: Option<Mode>,
    pub record: Option<PathBuf>,
    /// Which session goes on.
    pub resume: Option<Resume>,
    /// Rules as they were written.
    pub rules: Vec<(Ruling, String)>,
}

impl Options {
    pub fn recorder(&self) -> Result<Recorder, Failure> {
        match &self.record {
            Some(path) => Recorder::to(path).map_err(|e| Failure::usage(format!("{} can't be written: {e}", path.display()))),
            None => Ok(Recorder::off()),
        }
    }
}

/// A folder to work in, and what is known of it.
pub struct Project {
    pub root: PathBuf,
    pub places: Places,
    pub trust: Trust,
    /// The demo's own folder, removed at the end.
    demo: Option<TempDir>,
}

pub fn env(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

impl Project {
    pub fn here() -> Result<Project, Failure> {
        let here = std::env::current_dir().map_err(|e| Failure::usage(format!("This folder can't be read: {e}")))?;
        let root = config::project_root(&here).map_err(|e| Failure::usage(format!("This folder can't be read: {e}")))?;
        let places = Places::find(&env);
        let trust = Trust::load(&places);
        Ok(Project { root, places, trust, demo: None })
    }

    /// A small project in a temporary folder, with its own data: nothing of the demo stays.
    pub fn demo() -> Result<Project, Failure> {
        let failed = |e: io::Error| Failure::internal(format!("The demo's project can't be unpacked: {e}"));
        let folder = tempfile::Builder::new().prefix("backstitch-demo-").tempdir().map_err(failed)?;
        let root = folder.path().join("dates");
        std::fs::create_dir(&root).map_err(failed)?;
        llm::demo::unpack(&root).map_err(failed)?;
        let root = root.canonicalize().map_err(failed)?;
        let mut places = Places::find(&env);
        places.data = folder.path().join("data");
        let mut trust = Trust::load(&places);
        trust.trust_for_now(&root);
        Ok(Project { root, places, trust, demo: Some(folder) })
    }

    pub fn is_demo(&self) -> bool {
        self.demo.is_some()
    }

    /// Newest first; none that can't be read.
    pub fn sessions(&self) -> Vec<SessionInfo> {
        session::list(&self.places.data, &self.root).unwrap_or_default()
    }

    pub fn is_trusted(&self) -> bool {
        self.trust.is_trusted(&self.root)
    }

    /// The root as people write it: below `~`, with the branch it is on.
    pub fn shown(&self) -> String {
        if self.is_demo() {
            return "a demo project".into();
        }
        let home = self.places.home.as_deref();
        let place = match home.and_then(|home| self.root.strip_prefix(home).ok()) {
            Some(rest) if rest.as_os_str().is_empty() => "~".to_string(),
            Some(rest) => format!("~/{}", rest.display()),
            None => self.root.display().to_string(),
        };
        let shown = match branch(&self.root) {
            Some(branch) => format!("{place} ({branch})"),
            None => place,
        };
        // Whoever made the folder chose its name, and its branch's.
        one_line(&shown).into_owned()
    }
}

/// The branch by name, from the one small file that has it: opening the repository would cost more than the first frame.
fn branch(root: &Path) -> Option<String> {
    let git = root.ancestors().map(|folder| folder.join(".git")).find(|git| git.exists())?;
    let head = if git.is_file() {
        let link = std::fs::read_to_string(&git).ok()?;
        let folder = link.strip_prefix("gitdir:")?.trim();
        git.parent()?.join(folder).join("HEAD")
    } else {
        git.join("HEAD")
    };
    let head = std::fs::read_to_string(head).ok()?;
    let name = head.trim().strip_prefix("ref: refs/heads/")?;
    (name.len() < 100 && !name.chars().any(char::is_control)).then(|| name.to_string())
}

/// A session that is ready to start.
pub struct Prepared {
    pub services: Services,
    pub settings: Settings,
    /// Of the session that goes on.
    pub records: Vec<Record>,
    pub opened: Opened,
}

/// Reads the configuration (the project's own only if it is trusted) and puts the services together. No network, and nothing is
/// opened that is not needed yet.
pub fn prepare(project: &Project, options: &Options, recorder: Recorder) -> Result<Prepared, Failure> {
    let data = &project.places.data;
    let (session, Loaded { records, damaged, .. }) = session::resume(data, &project.root, options.resume.as_ref()).map_err(no_session)?;
    let (mut config, models, model) = if project.is_demo() { demo_models() } else { models(project, options, &records)? };
    let spill = data.join("outputs").join(&session.id().0);
    // What a command printed is still there for the sessions that go on from the one in which it ran.
    let earlier = records.iter().filter_map(|record| match &record.body {
        RecordBody::Forked { from, .. } => Some(data.join("outputs").join(&from.0)),
        _ => None,
    });
    let readable = std::iter::once(spill.clone()).chain(earlier).collect();
    let mut workspace = Workspace::new(&project.root, &spill).map_err(|e| Failure::internal(format!("The project can't be used: {e}")))?;
    if let Some(name) = &config.shell {
        match Shell::find(name, &project.root, std::env::var_os("PATH").as_deref()) {
            Ok(shell) => workspace = workspace.with_shell(shell),
            Err(why) => config.warnings.push(format!("\"shell\": {why}. Commands run in sh.")),
        }
    }
    let ours = vec![project.places.config.clone(), data.clone()];
    workspace = workspace.with_sandbox(Sandbox::new(config.sandbox.clone(), ours));
    let mut tools = tools::Registry::with(&config.web);
    let no_tools = tools.disable(&config.disabled_tools);
    let rules = rules(project, options, &config)?;
    workspace.set_rules(&rules);
    if !project.is_demo()
        && let Err(error) = config::permissions::note_strict(&project.places, &project.root, &config.rules)
    {
        config.warnings.push(format!("What the project's rules are now can't be noted ({error})."));
    }
    let settings = Settings {
        session: session.id().clone(),
        model,
        mode: options.mode.unwrap_or(config.default_mode),
        asked_mode: options.mode,
        system: system_prompt(&project.root, &workspace.shell().name()).into(),
        tools: Arc::new(tools.specs()),
        job_tools: Arc::new(tools.job_specs()),
        profile: config.tool_profile,
        bounds: Bounds { root: project.root.clone(), readable },
        rules,
        max_requests: config.max_turns,
    };
    let (store_data, store_root) = (data.clone(), project.root.clone());
    let services = Services {
        models,
        places: llm::discover::USUAL.map(|(name, port)| (name.to_string(), port)).to_vec(),
        tools: Arc::new(tools),
        workspace: Arc::new(workspace),
        checkpoints: Box::new(move || {
            let store = GitStore::open(&store_data, &store_root).map_err(|e| e.to_string())?;
            Ok(Box::new(store) as Box<dyn CheckpointStore>)
        }),
        session: Box::new(session),
        recorder,
    };
    let mut facts = vec![("data".to_string(), data.display().to_string())];
    facts.extend(config.sources.iter().map(|file| ("settings".to_string(), file.display().to_string())));
    let asks_for_model = settings.model.is_none() && !services.models.is_empty();
    let mut warnings = config.warnings;
    if let Some(copy) = damaged {
        let copy = copy.display();
        warnings.push(format!("The session's journal is damaged: what came after the damage is missing here. All of it is in {copy}."));
    }
    if checkpoint::was_cut_off(data, &project.root) {
        warnings.push("Going back to a checkpoint was cut off: /checkpoint finish restores the rest, /checkpoint forget leaves it.".into());
    }
    warnings.extend(no_tools.into_iter().map(|name| format!("\"disabledTools\": there is no tool \"{name}\".")));
    let withheld = config.withheld.sentences();
    if !withheld.is_empty() {
        warnings.push(format!(
            "The project's settings would allow what nobody has accepted yet: {}. /permissions accepts it.",
            withheld.join(", ")
        ));
    }
    let asks_for_session = options.resume == Some(Resume::Ask);
    Ok(Prepared {
        services,
        settings,
        records,
        opened: Opened { warnings, looks: config.looks, asks_for_model, asks_for_session, facts, withheld },
    })
}

/// Those of the configuration and of the command line.
fn rules(project: &Project, options: &Options, config: &Config) -> Result<Vec<Rule>, Failure> {
    let mut rules = config.rules.clone();
    for (ruling, text) in &options.rules {
        let rule = config::permissions::rule(*ruling, RuleSource::Flags, text, Some(&project.root), project.places.home.as_deref());
        rules.push(rule.map_err(|why| {
            Failure::usage(format!("The rule \"{text}\": {why}")).hint("docs/permissions.md tells how rules are written")
        })?);
    }
    Ok(rules)
}

fn no_session(error: SessionError) -> Failure {
    match error {
        SessionError::Io { .. } => Failure::internal(format!("The data folder can't be used: {error}")),
        SessionError::InUse(_) => Failure::usage(format!("The session can't go on: {error}."))
            .hint("close it there first; --resume without an id shows the others"),
        _ => Failure::usage(format!("The session can't go on: {error}.")).hint("--resume without an id shows those that there are"),
    }
}

fn models(project: &Project, options: &Options, records: &[Record]) -> Result<(Config, llm::Registry, Option<ModelInfo>), Failure> {
    let trusted = project.is_trusted().then_some(project.root.as_path());
    let config = Config::load(&project.places, trusted, &env)?;
    let models = llm::Registry::new(config.providers.clone());
    let asked = options.provider.is_some() || options.model.is_some();
    let before = last_model(records).filter(|_| !asked);
    if let Some(model) = before.and_then(|id| models.resolve(Some(&id.provider), Some(&id.model)).ok()) {
        return Ok((config, models, Some(model)));
    }
    let model = match models.resolve(options.provider.as_deref(), options.model.as_deref()) {
        Ok(model) => Some(model),
        // Nothing is configured, or only a provider that has yet to say what it offers: the screen helps.
        Err(_) if !asked => None,
        Err(failure) => return Err(failure),
    };
    Ok((config, models, model))
}

/// The model that the session that goes on had last.
fn last_model(records: &[Record]) -> Option<&ModelId> {
    records.iter().rev().find_map(|record| match &record.body {
        RecordBody::ModelChanged { model } => Some(model),
        RecordBody::SessionStarted { model, .. } => model.as_ref(),
        _ => None,
    })
}

fn demo_models() -> (Config, llm::Registry, Option<ModelInfo>) {
    let models = llm::demo::registry();
    let model = models.default_model();
    (Config::default(), models, model)
}

fn system_prompt(root: &Path, shell: &str) -> String {
    include_str!("../assets/prompts/system.md")
        .replace("{root}", &root.display().to_string())
        .replace("{os}", std::env::consts::OS)
        .replace("{shell}", shell)
        .replace("{date}", &jiff::Zoned::now().date().to_string())
}

/// The world of the terminal front end.
pub struct ScreenWorld {
    pub project: Project,
    pub options: Options,
    pub recorder: Recorder,
}

impl World for ScreenWorld {
    fn open(&mut self) -> Result<(Handle, Engine, Opened), Notice> {
        let prepared = prepare(&self.project, &self.options, self.recorder.clone());
        let Prepared { services, settings, records, opened } = match prepared {
            // Better a new session than none.
            Err(failure) if self.options.resume.take().is_some() => {
                let mut prepared = prepare(&self.project, &self.options, self.recorder.clone()).map_err(notice)?;
                prepared.opened.warnings.insert(0, format!("{} This is a new one.", failure.message));
                prepared
            }
            prepared => prepared.map_err(notice)?,
        };
        // A provider that lists no model says itself what it has.
        let asked = services.models.settings().next().filter(|_| opened.asks_for_model).cloned();
        let (handle, engine) =
            Engine::start(services, settings, records).map_err(|e| Notice::error(format!("The engine could not start: {e}")))?;
        if let Some(provider) = asked {
            handle.send(Command::Connect(provider));
        }
        Ok((handle, engine, opened))
    }

    fn history(&self) -> Option<History> {
        Some(History::of(&self.project.places.data, &self.project.root))
    }

    fn can_resume(&self, which: &Resume) -> Result<(), Notice> {
        session::can_resume(&self.project.places.data, &self.project.root, which).map_err(|error| notice(no_session(error)))
    }

    fn sessions(&self) -> Box<dyn FnOnce() -> Report + Send> {
        let (data, root) = (self.project.places.data.clone(), self.project.root.clone());
        Box::new(move || {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis() as u64);
            Report::Sessions { found: session::list(&data, &root).map_err(|error| error.to_string()), now }
        })
    }

    fn editor(&self) -> String {
        ["VISUAL", "EDITOR"].into_iter().filter_map(env).find(|program| !program.trim().is_empty()).unwrap_or_else(|| "vi".into())
    }

    fn trust(&mut self) -> Option<Notice> {
        let known = self.project.trust.warnings.len();
        self.project.trust.trust(&self.project.root);
        self.project.trust.warnings.get(known).map(|w| Notice::warning(w.clone()))
    }

    fn save_theme(&mut self, choice: &ThemeChoice) -> Option<Notice> {
        config::save_theme(&self.project.places, choice).err().map(|failure| Notice { level: Level::Warning, ..notice(failure) })
    }

    fn change_rule(&mut self, change: &RuleChange) -> Result<Vec<Permit>, Notice> {
        let (places, root) = (&self.project.places, &self.project.root);
        let saved = |result: Result<PathBuf, Failure>| result.map(drop).map_err(notice);
        match change {
            RuleChange::Add(ruling, source, text) => {
                let rule = config::permissions::rule(*ruling, *source, text, Some(root), places.home.as_deref())
                    .map_err(|why| Notice::warning(format!("The rule \"{text}\": {why}")))?;
                if matches!(source, RuleSource::User | RuleSource::Local) {
                    saved(config::permissions::save_rule(places, root, &rule))?;
                }
                Ok(vec![Permit::Add(rule)])
            }
            RuleChange::Remove(rule) => match rule.source {
                RuleSource::User | RuleSource::Local => {
                    saved(config::permissions::remove_rule(places, root, rule))?;
                    Ok(vec![Permit::Remove(rule.clone())])
                }
                RuleSource::Session => Ok(vec![Permit::Remove(rule.clone())]),
                RuleSource::Project => Err(Notice::warning("This rule is the project's own: it is changed in its agents.config.json.")),
                RuleSource::Flags => Err(Notice::warning("This rule is from the command line, and for this start only.")),
            },
            RuleChange::Replace(old, new) => {
                // The new one first: nothing is lost if it can't be written down.
                let new = self.change_rule(new)?;
                let kept = new.iter().any(|permit| matches!(permit, Permit::Add(rule) if rule.says(old) && rule.source == old.source));
                let mut permits = if kept { vec![] } else { self.change_rule(&RuleChange::Remove(old.clone()))? };
                permits.extend(new);
                Ok(permits)
            }
            RuleChange::Accept => {
                let config = Config::load(places, Some(root), &env).map_err(notice)?;
                config::permissions::accept(places, root, &config.rules, &config.withheld)
                    .map_err(|error| Notice::warning(format!("What was accepted can't be noted: {error}")))?;
                Ok(config.withheld.rules.into_iter().map(Permit::Add).collect())
            }
        }
    }

    fn export(&mut self, file: Option<String>, text: &str) -> Notice {
        let name = file.unwrap_or_else(|| format!("conversation-{}.md", jiff::Zoned::now().strftime("%Y-%m-%d-%H%M%S")));
        let path = self.project.root.join(name);
        let written = std::fs::File::create_new(&path).and_then(|mut file| io::Write::write_all(&mut file, text.as_bytes()));
        match written {
            Ok(()) => Notice::info(format!("Written to {}.", path.display())),
            Err(e) => Notice::error(format!("{} can't be written: {e}", path.display())),
        }
    }

    fn save_provider(&mut self, settings: &ProviderSettings) -> Notice {
        match config::save_provider(&self.project.places, &Scope::User, settings) {
            Ok(path) => Notice::info(format!("{} was added to {}.", settings.name, path.display())),
            Err(failure) => Notice { level: Level::Warning, ..notice(failure) },
        }
    }
}

pub fn notice(failure: Failure) -> Notice {
    let level = if failure.kind == Kind::Interrupted { Level::Info } else { Level::Error };
    Notice { level, text: failure.message, hints: failure.hints }
}
