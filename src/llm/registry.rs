//! The providers that are configured, and which model a request goes to.
//!
//! Cheap to build: nothing is connected, loaded or looked up before the first request. Names of providers are compared without
//! regard to case; the first provider that lists a model is the default.

use super::{
    anthropic::Anthropic,
    google::Google,
    ollama::Ollama,
    openai::OpenAi,
    provider::{Provider, error},
    responses::OpenAiResponses,
};
use crate::{
    failure::Failure,
    protocol::{ModelId, ModelInfo, ProviderError, ProviderErrorKind, ProviderSettings, Request, StreamItem, WireFormat},
};
use futures::{FutureExt, StreamExt, future::BoxFuture, stream::BoxStream};
use std::sync::Arc;

#[derive(Default)]
pub struct Registry {
    entries: Vec<Entry>,
}

struct Entry {
    settings: ProviderSettings,
    provider: Arc<dyn Provider>,
}

/// What the providers say that they have.
#[derive(Debug, Default)]
pub struct Listed {
    pub models: Vec<ModelInfo>,
    /// Providers that could not be asked.
    pub failed: Vec<(String, ProviderError)>,
}

impl Registry {
    pub fn new(providers: Vec<ProviderSettings>) -> Self {
        let mut registry = Registry::default();
        providers.into_iter().for_each(|settings| registry.add(settings));
        registry
    }

    /// Makes a provider known; one of the same name is replaced.
    pub fn add(&mut self, settings: ProviderSettings) {
        let own = settings.clone();
        let provider: Arc<dyn Provider> = match settings.format {
            WireFormat::Completions => Arc::new(OpenAi::new(own)),
            WireFormat::Responses => Arc::new(OpenAiResponses::new(own)),
            WireFormat::Anthropic => Arc::new(Anthropic::new(own)),
            WireFormat::Google => Arc::new(Google::new(own)),
            WireFormat::Ollama => Arc::new(Ollama::new(own)),
        };
        self.insert(settings, provider);
    }

    /// For a provider that isn't configured by an address: a scripted one.
    pub fn insert(&mut self, settings: ProviderSettings, provider: Arc<dyn Provider>) {
        let entry = Entry { settings, provider };
        match self.entries.iter().position(|e| same(&e.settings.name, &entry.settings.name)) {
            Some(at) => self.entries[at] = entry,
            None => self.entries.push(entry),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// In the order of precedence.
    pub fn settings(&self) -> impl Iterator<Item = &ProviderSettings> {
        self.entries.iter().map(|entry| &entry.settings)
    }

    pub fn provider(&self, model: &ModelId) -> Option<Arc<dyn Provider>> {
        self.entry(&model.provider).map(|entry| entry.provider.clone())
    }

    /// The stream of the right provider, or one that says that there is none.
    pub fn stream(&self, request: Request) -> BoxStream<'static, StreamItem> {
        match self.provider(&request.model) {
            Some(provider) => provider.stream(request),
            None => {
                let message = format!("No provider is called '{}'.", request.model.provider);
                let failed = StreamItem::Failed(error(ProviderErrorKind::NotConfigured, message));
                futures::stream::once(async { failed }).boxed()
            }
        }
    }

    /// Asks every provider at once for its models: what was listed, and who could not be asked.
    pub fn all_models(&self) -> BoxFuture<'static, Listed> {
        let ask = |entry: &Entry| {
            let (name, provider) = (entry.settings.name.clone(), entry.provider.clone());
            async move { provider.models().await.map_err(|error| (name, error)) }
        };
        let asked: Vec<_> = self.entries.iter().map(ask).collect();
        async move {
            let mut list = Listed::default();
            for answer in futures::future::join_all(asked).await {
                match answer {
                    Ok(models) => list.models.extend(models),
                    Err(error) => list.failed.push(error),
                }
            }
            list
        }
        .boxed()
    }

    pub fn default_model(&self) -> Option<ModelInfo> {
        self.entries.iter().find_map(|entry| Some(entry.info(entry.settings.models.first()?)))
    }

    pub fn info(&self, model: &ModelId) -> ModelInfo {
        match self.entry(&model.provider) {
            Some(entry) => entry.info(&model.model),
            None => ModelInfo { id: model.clone(), context_window: None, vision: None },
        }
    }

    /// The model that the user means by `--provider` and `--model`.
    ///
    /// A provider alone gives its first model; a model alone, the first provider that lists it. A model that nobody lists is
    /// passed on as it is if there is no doubt about the provider: servers know more models than people write down.
    pub fn resolve(&self, provider: Option<&str>, model: Option<&str>) -> Result<ModelInfo, Failure> {
        if self.entries.is_empty() {
            return Err(Failure::config("No model provider is configured.")
                .hint("Set OPENAI_BASE_URL and OPENAI_MODEL (and OPENAI_API_KEY), or add a provider to agents.config.json.")
                .hint("To see how it works without one, start with --demo."));
        }
        match (provider.map(str::trim), model.map(str::trim)) {
            (Some(name), model) => {
                let entry = self.entry(name).ok_or_else(|| self.unknown_provider(name))?;
                match model {
                    Some(model) => Ok(entry.info(entry.listed(model).unwrap_or(model))),
                    None => entry.first(),
                }
            }
            (None, Some(model)) => self.by_model(model),
            (None, None) => match self.default_model() {
                Some(model) => Ok(model),
                None => self.entries[0].first(),
            },
        }
    }

    fn by_model(&self, model: &str) -> Result<ModelInfo, Failure> {
        let exact = self.entries.iter().find(|entry| entry.settings.models.iter().any(|m| m == model)).map(|entry| entry.info(model));
        let listed = || self.entries.iter().find_map(|entry| Some(entry.info(entry.listed(model)?)));
        // `provider/model`, as models are shown.
        let prefixed = || {
            let (name, rest) = model.split_once('/')?;
            let entry = self.entry(name)?;
            Some(entry.info(entry.listed(rest).unwrap_or(rest)))
        };
        if let Some(info) = exact.or_else(listed).or_else(prefixed) {
            return Ok(info);
        }
        if let [only] = &self.entries[..] {
            return Ok(only.info(model));
        }
        let known = self.entries.iter().flat_map(|entry| entry.settings.models.iter().map(String::as_str));
        let failure = Failure::usage(format!("No configured provider lists the model '{model}'."));
        Err(did_you_mean(failure, model, known).hint("Name its provider too: --provider NAME --model ID."))
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        let exact = self.entries.iter().find(|entry| entry.settings.name == name);
        exact.or_else(|| self.entries.iter().find(|entry| same(&entry.settings.name, name)))
    }

    fn unknown_provider(&self, name: &str) -> Failure {
        let known = || self.settings().map(|settings| settings.name.as_str());
        let failure = did_you_mean(Failure::usage(format!("No provider is called '{name}'.")), name, known());
        failure.hint(format!("Configured: {}.", known().collect::<Vec<_>>().join(", ")))
    }
}

impl Entry {
    fn info(&self, model: &str) -> ModelInfo {
        let settings = &self.settings;
        ModelInfo {
            id: ModelId { provider: settings.name.clone(), model: model.into() },
            context_window: settings.window(model).or(settings.format.default_window()),
            vision: settings.sees(model),
        }
    }

    fn listed(&self, model: &str) -> Option<&str> {
        let models = &self.settings.models;
        models.iter().find(|m| *m == model).or_else(|| models.iter().find(|m| same(m, model))).map(String::as_str)
    }

    fn first(&self) -> Result<ModelInfo, Failure> {
        let name = &self.settings.name;
        let first = self.settings.models.first().map(|model| self.info(model));
        first.ok_or_else(|| {
            Failure::config(format!("No model is configured for the provider '{name}'."))
                .hint("Name one with --model, with OPENAI_MODEL, or in the provider's \"models\".")
        })
    }
}

fn same(a: &str, b: &str) -> bool {
    a.trim().to_lowercase() == b.trim().to_lowercase()
}

fn did_you_mean<'a>(failure: Failure, name: &str, known: impl Iterator<Item = &'a str>) -> Failure {
    match crate::failure::nearest(name, known) {
        Some(near) => failure.hint(format!("Did you mean '{near}'?")),
        None => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registry() -> Registry {
        let provider = |name: &str, models: &[&str]| ProviderSettings {
            name: name.into(),
            base_url: "http://localhost:1/v1".into(),
            models: models.iter().map(|m| (*m).into()).collect(),
            context_window: Some(8_192),
            context_windows: [("qwen3:8b".to_owned(), 40_960)].into(),
            ..Default::default()
        };
        Registry::new(vec![
            provider("No list", &[]),
            provider("My Ollama", &["qwen3:8b", "gemma3"]),
            provider("OpenRouter", &["anthropic/claude", "gemma3"]),
        ])
    }

    #[test]
    fn a_model_is_found_by_what_people_type() {
        let registry = registry();
        let resolved = |provider, model| registry.resolve(provider, model).map(|info| info.id.to_string()).map_err(|f| f.to_string());
        let cases = [
            (None, None, "My Ollama/qwen3:8b"),
            (Some("my ollama"), None, "My Ollama/qwen3:8b"),
            (Some(" OPENROUTER "), Some("Gemma3"), "OpenRouter/gemma3"),
            (Some("no list"), Some("whatever:latest"), "No list/whatever:latest"),
            (None, Some("gemma3"), "My Ollama/gemma3"),
            (None, Some("Anthropic/Claude"), "OpenRouter/anthropic/claude"),
            (None, Some("openrouter/x/y"), "OpenRouter/x/y"),
        ];
        for (provider, model, expected) in cases {
            assert_eq!(resolved(provider, model).as_deref(), Ok(expected), "{provider:?} {model:?}");
        }
        insta::assert_snapshot!(resolved(Some("My Olama"), None).unwrap_err(), @r"
        No provider is called 'My Olama'.
          hint: Did you mean 'My Ollama'?
          hint: Configured: No list, My Ollama, OpenRouter.
        ");
        insta::assert_snapshot!(resolved(None, Some("gema3")).unwrap_err(), @r"
        No configured provider lists the model 'gema3'.
          hint: Did you mean 'gemma3'?
          hint: Name its provider too: --provider NAME --model ID.
        ");
        insta::assert_snapshot!(resolved(Some("No list"), None).unwrap_err(), @r#"
        No model is configured for the provider 'No list'.
          hint: Name one with --model, with OPENAI_MODEL, or in the provider's "models".
        "#);
        assert!(Registry::default().resolve(None, None).is_err());
    }

    #[test]
    fn the_context_window_is_that_of_the_model_or_else_of_the_provider() {
        let registry = registry();
        let window = |model: &str| registry.info(&ModelId { provider: "MY OLLAMA".into(), model: model.into() }).context_window;
        assert_eq!(window("qwen3:8b"), Some(40_960));
        assert_eq!(window("other"), Some(8_192));
        assert_eq!(registry.info(&ModelId { provider: "?".into(), model: "x".into() }).context_window, None);
        // Where the window is told with each request, it is known.
        let mut own = Registry::default();
        own.add(ProviderSettings { name: "own".into(), format: WireFormat::Ollama, ..Default::default() });
        assert_eq!(own.info(&ModelId { provider: "own".into(), model: "x".into() }).context_window, Some(16_384));
    }

    #[test]
    fn adding_replaces_by_name_and_a_missing_provider_is_a_failed_stream() {
        let mut registry = registry();
        registry.add(ProviderSettings { name: "MY OLLAMA".into(), models: vec!["new".into()], ..Default::default() });
        assert_eq!(registry.settings().count(), 3);
        assert_eq!(registry.default_model().unwrap().id.model, "new");

        let request = Request {
            id: crate::protocol::RequestId(1),
            model: ModelId { provider: "gone".into(), model: "x".into() },
            system: "".into(),
            messages: vec![].into(),
            tools: vec![].into(),
        };
        let items: Vec<_> = futures::executor::block_on(registry.stream(request).collect());
        assert!(matches!(&items[..], [StreamItem::Failed(e)] if e.kind == ProviderErrorKind::NotConfigured));
    }
}
