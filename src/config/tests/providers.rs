//! Wire formats, keys from the environment, and what models are asked with.

use super::*;
use crate::protocol::{Parameters, WireFormat};

const KEYS: [(&str, &str); 4] =
    [("ANTHROPIC_API_KEY", "sk-ant"), ("GOOGLE_API_KEY", "AIza"), ("OPENAI_API_KEY", "sk-oai"), ("GEMINI_API_KEY", " ")];

fn loaded(text: &str) -> Config {
    let world = World::new(&[(OURS, text)]);
    let env = |name: &str| KEYS.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    Config::load(&world.places, None, &env).unwrap()
}

#[test]
fn a_format_without_an_address_is_its_makers_and_gets_the_key_of_the_environment() {
    let config = loaded(
        r#"{ "providers": [
            { "name": "a", "sdkProvider": "anthropic" },
            { "name": "g", "sdkProvider": "gemini", "apiKey": "own" },
            { "name": "g2", "sdkProvider": "google", "baseUrl": "https://generativelanguage.googleapis.com/v1" },
            { "name": "r", "sdkProvider": "openai" },
            { "name": "l", "sdkProvider": "Ollama" },
            { "name": "c", "sdkProvider": "openai-compatible", "baseUrl": "https://api.openai.com/v1" },
            { "name": "hub", "sdkProvider": "anthropic", "baseUrl": "https://hub.example/v1" },
            { "name": "trap", "sdkProvider": "anthropic", "baseUrl": "https://api.anthropic.com.evil.example/v1" } ] }"#,
    );
    let found: Vec<_> =
        config.providers.iter().map(|p| (p.name.as_str(), p.format, p.base_url.as_str(), p.api_key.as_deref().unwrap_or("-"))).collect();
    assert_eq!(
        found,
        [
            ("a", WireFormat::Anthropic, "https://api.anthropic.com/v1", "sk-ant"),
            ("g", WireFormat::Google, "https://generativelanguage.googleapis.com/v1beta", "own"),
            ("g2", WireFormat::Google, "https://generativelanguage.googleapis.com/v1", "AIza"),
            ("r", WireFormat::Responses, "https://api.openai.com/v1", "sk-oai"),
            ("l", WireFormat::Ollama, "http://localhost:11434", "-"),
            ("c", WireFormat::Completions, "https://api.openai.com/v1", "-"),
            ("hub", WireFormat::Anthropic, "https://hub.example/v1", "-"),
            ("trap", WireFormat::Anthropic, "https://api.anthropic.com.evil.example/v1", "-"),
            ("openai-env", WireFormat::Completions, "https://api.openai.com/v1", "sk-oai"),
        ]
    );
}

#[test]
fn parameters_of_a_provider_outrank_those_for_all_and_nanocoders_are_read() {
    let config = loaded(
        r#"{ "backstitch": { "modelParameters": { "temperature": 1, "maxTokens": 100 }, "providers": [
                { "name": "a", "sdkProvider": "anthropic", "promptCaching": false, "modelParameters": {
                    "temperature": 0.2, "topP": 0.9, "topK": 40, "stop": ["\n\n", "END"], "frequencyPenalty": -1, "presencePenalty": 0.5,
                    "reasoningEffort": "High", "reasoningBudget": 2000, "reasoningSummary": "concise" } } ] },
             "nanocoder": { "tune": { "enabled": true, "toolProfile": "minimal", "modelParameters": { "maxTokens": 5, "topK": 7 } }, "providers": [
                { "name": "b", "baseUrl": "http://b", "tune": { "modelParameters": { "stop": "x" } } },
                { "name": "off", "baseUrl": "http://c", "tune": { "enabled": false, "modelParameters": { "temperature": 0 } } } ] } }"#,
    );
    assert_eq!(config.warnings, [] as [String; 0]);
    let of = |name: &str| config.providers.iter().find(|p| p.name == name).unwrap();
    let all = Parameters { temperature: Some(1.0), top_k: Some(7), max_tokens: Some(100), ..Default::default() };
    assert_eq!(
        *of("a").parameters,
        Parameters {
            temperature: Some(0.2),
            top_p: Some(0.9),
            top_k: Some(40),
            max_tokens: Some(100),
            stop: vec!["\n\n".into(), "END".into()],
            frequency_penalty: Some(-1.0),
            presence_penalty: Some(0.5),
            reasoning_effort: Some("high".into()),
            reasoning_budget: Some(2_000),
            reasoning_summary: Some("concise".into()),
        }
    );
    assert_eq!(of("a").prompt_caching, Some(false));
    assert_eq!(*of("b").parameters, Parameters { stop: vec!["x".into()], ..all.clone() });
    assert_eq!(*of("off").parameters, all);
}

#[test]
fn mistakes_in_parameters_are_named() {
    for (text, expected) in [
        (r#""temperature": 3"#, "\"temperature\" must be a number from 0 to 2, not 3."),
        (r#""topP": "high""#, "\"topP\" must be a number from 0 to 1, not \"high\"."),
        (r#""reasoningBudget": -2"#, "\"reasoningBudget\" must be a number of tokens, not -2."),
        (r#""stop": [1]"#, "\"stop\" must be a list of texts, [ … ], not a list."),
        (
            r#""reasoningEffort": "hihg""#,
            "\"reasoningEffort\" can't be \"hihg\". Did you mean \"high\"? It is one of: none, minimal, low, medium, high, xhigh, max.",
        ),
    ] {
        let text = format!("{{\"providers\": [{{\"name\": \"x\", \"baseUrl\": \"y\",\n\"modelParameters\": {{ {text} }}}}]}}");
        assert_eq!(World::new(&[(OURS, &text)]).load(), Err(format!("~/.config/backstitch/agents.config.json:2: {expected}")), "{text}");
    }
}

#[test]
fn a_key_that_was_for_the_makers_server_does_not_go_elsewhere_when_the_entry_is_saved_anew() {
    let world = World::new(&[(OURS, r#"{"backstitch":{"providers":[{"name":"k","sdkProvider":"anthropic","apiKey":"$MY_KEY"}]}}"#)]);
    save_provider(&world.places, &Scope::User, &provider("K")).unwrap();
    let saved = &world.load().unwrap().providers[0];
    assert_eq!((saved.base_url.as_str(), saved.api_key.as_deref(), saved.format), ("http://new:1/v1", None, WireFormat::Completions));

    let own = ProviderSettings { format: WireFormat::Ollama, ..provider("new") };
    save_provider(&world.places, &Scope::User, &own).unwrap();
    let config = world.load().unwrap();
    assert_eq!(config.providers[1], own);
    // Of the same name, at the address that was not written down: the key stays.
    let world = World::new(&[(OURS, r#"{"backstitch":{"providers":[{"name":"k","sdkProvider":"anthropic","apiKey":"$MY_KEY"}]}}"#)]);
    let home = ProviderSettings { format: WireFormat::Anthropic, base_url: "https://api.anthropic.com/v1/".into(), ..provider("K") };
    save_provider(&world.places, &Scope::User, &home).unwrap();
    assert_eq!(world.load().unwrap().providers[0].api_key.as_deref(), Some("sk-my"));
}
