//! The settings of what models are not told.

use super::super::privacy::known;
use super::*;
use crate::protocol::{PrivacySettings, SearchProvider, SearchSettings, Secret};

const OWN: &str = "agents.config.json";

fn says(settings: &str) -> String {
    format!("{{ \"backstitch\": {{ {settings} }} }}")
}

#[test]
fn it_is_on_and_only_the_user_switches_it_off() {
    let privacy = |files: &[(&str, &str)]| World::new(files).load().unwrap().privacy;
    assert!(privacy(&[]).on);
    let (off, on) = (says(r#""privacy": "off""#), says(r#""privacy": "on""#));
    assert!(!privacy(&[(OURS, &off)]).on && !privacy(&[(OURS, &says(r#""privacy": false"#))]).on);
    assert!(privacy(&[(OWN, &off)]).on && privacy(&[(OWN, &on), (OURS, &off)]).on, "a project may be stricter");
    assert_eq!(
        World::new(&[(OWN, &off)]).warnings(),
        ["project/agents.config.json:1: \"privacy\" has no effect here: a project can't switch it off."]
    );
    // Nanocoder's name for it.
    assert!(!privacy(&[(NANOCODER, r#"{"nanocoder": {"enablePromptScrubbing": false}}"#)]).on);
    assert!(privacy(&[(OURS, &on), (NANOCODER, r#"{"nanocoder": {"enablePromptScrubbing": false}}"#)]).on);
    let wrong = World::new(&[(OURS, &says(r#""privacy": "of""#))]).load().unwrap_err();
    assert_eq!(wrong, "~/.config/backstitch/agents.config.json:1: \"privacy\" must be \"on\" or \"off\", not \"of\".");
}

#[test]
fn patterns_of_all_files_count_and_one_that_is_none_is_a_mistake() {
    let world = World::new(&[(OWN, &says(r#""privacyPatterns": ["EMP-\\d{6}$"]"#)), (OURS, &says(r#""privacyPatterns": "X-[A-Z]+""#))]);
    assert_eq!(world.load().unwrap().privacy, PrivacySettings { on: true, patterns: vec![r"EMP-\d{6}$".into(), "X-[A-Z]+".into()] });
    let wrong = World::new(&[(OURS, &says("\n\"privacyPatterns\": [\"(\"]"))]).load().unwrap_err();
    assert!(
        wrong.starts_with("~/.config/backstitch/agents.config.json:2: The pattern \"(\" in \"privacyPatterns\" can't be used: "),
        "{wrong}"
    );
}

#[test]
fn our_own_keys_and_variables_that_are_called_so_are_secrets() {
    let mut provider = ProviderSettings { name: "cloud".into(), api_key: Some(" k-1 ".into()), ..Default::default() };
    provider.headers = [("X-Api-Key", "h-1"), ("Authorization", "Bearer h-2"), ("HTTP-Referer", "https://me.example")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    let search = Some(SearchSettings { provider: SearchProvider::Brave, key: Some(Secret("s-1".into())), url: None });
    let web = WebSettings { search, ..Default::default() };
    let variables = [
        ("GITHUB_TOKEN", "abc12345"),
        ("DB_PASSWORD", "hunter22"),
        ("MY_APIKEY", "0123456789abc"),
        ("PATH", "/usr/bin1"),
        ("SSH_KEY", "/home/me/.ssh/id_ed25519"),
        ("KEYBOARD", "de-latin1-x"),
        ("SECRET_URL", "https://x1.example"),
        ("TOKEN", "short1"),
        ("SESSION_TOKEN", "deadbeefs"),
    ];
    let mut variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let found: Vec<String> = known(&[provider], &web, &mut variables).into_iter().map(|(kind, value)| format!("{kind}={value}")).collect();
    let mut expected = vec!["key of cloud=k-1", "key of cloud=h-2", "key of cloud=h-1", "key of the web search=s-1"];
    expected.extend(["variable GITHUB_TOKEN=abc12345", "variable DB_PASSWORD=hunter22", "variable MY_APIKEY=0123456789abc"]);
    assert_eq!(found, expected);
}
