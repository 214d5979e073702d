//! Which search engine there is, from where, and that a project has no say in it.

use super::*;
use crate::protocol::{SearchProvider, SearchSettings, Secret};

impl World {
    fn web(&self, variables: &[(&str, &str)]) -> (WebSettings, Vec<String>) {
        let env = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let config = Config::load(&self.places, Some(&self.folder.path().join("project")), &env).unwrap();
        let warnings = config.warnings.iter().map(|warning| self.short(warning)).collect();
        (config.web, warnings)
    }

    fn search(&self, variables: &[(&str, &str)]) -> Option<SearchSettings> {
        self.web(variables).0.search
    }
}

fn engine(provider: SearchProvider, key: Option<&str>, url: Option<&str>) -> Option<SearchSettings> {
    Some(SearchSettings { provider, key: key.map(|key| Secret(key.into())), url: url.map(str::to_owned) })
}

#[test]
fn an_engine_comes_from_the_users_files_or_the_environment() {
    use SearchProvider::*;
    let of = |text: &str| World::new(&[(OURS, &format!(r#"{{ "backstitch": {{ {text} }} }}"#))]);
    let tavily = of(r#""webSearch": { "provider": "Tavily", "apiKey": "$KEY" }"#);
    assert_eq!(tavily.search(&[("KEY", "k")]), engine(Tavily, Some("k"), None));
    assert_eq!(tavily.search(&[("KEY", "k"), ("BRAVE_API_KEY", "b")]), engine(Tavily, Some("k"), None), "the engine was chosen");
    assert_eq!(tavily.search(&[("KEY", "k"), ("TAVILY_API_KEY", "t")]), engine(Tavily, Some("t"), None), "the environment outranks it");
    assert_eq!(of(r#""webSearch": { "apiKey": "k" }"#).search(&[]), engine(Brave, Some("k"), None));
    assert_eq!(of(r#""webSearch": { "url": "http://localhost:8888" }"#).search(&[]), engine(Searxng, None, Some("http://localhost:8888")));
    assert_eq!(of(r#""nanocoderTools": { "webSearch": { "apiKey": "k" } }"#).search(&[]), engine(Brave, Some("k"), None));
    let nanocoder = World::new(&[(NANOCODER, r#"{ "nanocoder": { "nanocoderTools": { "webSearch": { "apiKey": "n", "x": 1 } } } }"#)]);
    assert_eq!(nanocoder.web(&[]), (WebSettings { search: engine(Brave, Some("n"), None), ..WebSettings::default() }, vec![]));
    let none = World::new(&[]);
    assert_eq!(none.search(&[("TAVILY_API_KEY", " t "), ("SEARXNG_URL", "s")]), engine(Tavily, Some("t"), None));
    assert_eq!(none.search(&[("BRAVE_API_KEY", " "), ("SEARXNG_URL", "s")]), engine(Searxng, None, Some("s")));
    assert_eq!(none.search(&[]), None);
}

#[test]
fn an_engine_is_taken_from_one_file_as_a_whole() {
    let world = World::new(&[
        (OURS, r#"{ "backstitch": { "webSearch": { "provider": "searxng", "url": "http://a" }, "allowPrivateHosts": "localhost" } }"#),
        (LEGACY, r#"{ "backstitch": { "webSearch": { "apiKey": "k" }, "allowPrivateHosts": ["docs.lan:3000"] } }"#),
    ]);
    let (web, warnings) = world.web(&[("https_proxy", "http://proxy:1"), ("ALL_PROXY", "")]);
    assert_eq!(web.search, engine(SearchProvider::Searxng, None, Some("http://a")));
    assert_eq!((web.private_hosts, web.proxies), (vec!["localhost".into(), "docs.lan:3000".into()], vec!["http://proxy:1".to_owned()]));
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn a_project_can_set_none_of_it() {
    let text = r#"{ "backstitch": { "webSearch": { "url": "http://evil" },
        "allowPrivateHosts": ["localhost"], "nanocoderTools": { "webSearch": { "apiKey": "k" } } },
        "nanocoder": { "webSearch": { "url": "http://evil" }, "allowPrivateHosts": ["169.254.169.254"] } }"#;
    let (web, warnings) = World::new(&[("agents.config.json", text)]).web(&[]);
    assert_eq!(web, WebSettings::default());
    assert_eq!(warnings[0], "project/agents.config.json:1: \"webSearch\" counts only in your own settings: a project can't set it.");
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    // Nor does it take away or change what the user has.
    let (web, _) =
        World::new(&[("agents.config.json", text), (OURS, r#"{ "backstitch": { "webSearch": { "apiKey": "mine" } } }"#)]).web(&[]);
    assert_eq!(web.search, engine(SearchProvider::Brave, Some("mine"), None));
}

#[test]
fn what_is_wrong_is_said_without_a_key() {
    let of = |text: &str| World::new(&[(OURS, &format!(r#"{{ "backstitch": {{ {text} }} }}"#))]);
    for (text, told) in [
        (r#""webSearch": "sk-secret""#, "\"webSearch\" must be an object, { … }, not a text."),
        (
            r#""webSearch": { "provider": "googel", "apiKey": "sk-secret" }"#,
            "There is no web search \"googel\". There are: brave, tavily, searxng.",
        ),
        (r#""webSearch": { "provider": "brav" }"#, "Did you mean \"brave\"?"),
        (r#""webSearch": { "apiKey": ["sk-secret"] }"#, "\"apiKey\" must be text in quotes, not a list."),
    ] {
        let error = of(text).load().unwrap_err();
        assert!(error.contains(told) && !error.contains("sk-secret"), "{error}");
    }
    let (web, warnings) = of(r#""webSearch": { "provider": "brave", "api_key": "sk-secret" }"#).web(&[]);
    assert_eq!(web.search, None);
    assert!(warnings[0].ends_with("There is no setting \"api_key\". Did you mean \"apiKey\"?"), "{warnings:?}");
    assert_eq!(warnings[1], "\"webSearch\": brave needs \"apiKey\", or BRAVE_API_KEY in the environment.");
    let (_, warnings) = of(r#""webSearch": { "provider": "searxng", "apiKey": "sk-secret" }"#).web(&[]);
    assert_eq!(warnings, ["\"webSearch\": searxng needs \"url\", or SEARXNG_URL in the environment."]);
    let config = of(r#""webSearch": { "apiKey": "sk-secret" }"#).load().unwrap();
    assert!(config.web.search.is_some() && !format!("{config:?}").contains("sk-secret"));
}
