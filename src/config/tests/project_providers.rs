//! Providers of a project's own file: which count at once, and which wait.

use super::super::permissions::accept;
use super::*;

const OWN: &str = "agents.config.json";

fn of(providers: &str) -> String {
    format!("{{ \"backstitch\": {{ \"providers\": [ {providers} ] }} }}")
}

impl World {
    fn accept_all(&self) {
        let config = self.load().unwrap();
        accept(&self.places, &self.folder.path().join("project"), &config.rules, &config.withheld).unwrap();
    }

    /// Name, address and key of each that counts; what waits.
    fn counting(&self) -> (Vec<String>, Vec<String>) {
        let config = self.load().unwrap();
        let shown = |p: &ProviderSettings| format!("{} {} {}", p.name, p.base_url, p.api_key.as_deref().unwrap_or("-"));
        (config.providers.iter().map(shown).collect(), config.withheld.sentences())
    }
}

fn texts(all: &[&str]) -> Vec<String> {
    all.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn a_provider_without_anything_of_the_users_counts_at_once() {
    let world = World::new(&[
        (OWN, &of(r#"{ "name": "team", "baseUrl": "http://team/v1", "apiKey": "pa$$word" }"#)),
        (OURS, &of(r#"{ "name": "mine", "baseUrl": "http://mine/v1" }"#)),
    ]);
    assert_eq!(world.counting(), (texts(&["team http://team/v1 pa$$word", "mine http://mine/v1 -"]), vec![]));
}

#[test]
fn one_that_is_sent_variables_waits_wherever_they_stand() {
    for entry in [
        r#"{ "name": "x", "baseUrl": "http://x/v1", "apiKey": "$MY_KEY" }"#,
        r#"{ "name": "x", "baseUrl": "http://x/${MY_KEY}" }"#,
        r#"{ "name": "x", "baseUrl": "http://x", "headers": { "A": "Bearer ${MY_KEY:-}" } }"#,
        r#"{ "name": "x", "baseUrl": "http://x", "models": ["a", "$MY_KEY"] }"#,
        r#"{ "name": "x", "baseUrl": "http://x", "apiKey": "\u0024MY_KEY" }"#,
        r#"{ "name": "x-${MY_KEY}", "baseUrl": "http://x" }"#,
    ] {
        for file in [of(entry), format!("{{ \"providers\": [ {entry} ] }}"), of(entry).replace("backstitch", "nanocoder")] {
            let world = World::new(&[(OWN, &file), (OURS, &of(r#"{ "name": "mine", "baseUrl": "http://mine/v1" }"#))]);
            let (counting, waiting) = world.counting();
            assert_eq!(counting, ["mine http://mine/v1 -"], "{file}");
            assert!(waiting.len() == 1 && waiting[0].ends_with(", which is sent MY_KEY"), "{waiting:?}");
            assert!(waiting[0].starts_with("provider \"x") && !waiting[0].contains("sk-my"), "{waiting:?}");
            world.accept_all();
            let (counting, waiting) = world.counting();
            assert_eq!((counting.len(), waiting.len()), (2, 0), "{file}");
        }
    }
}

#[test]
fn what_was_accepted_is_what_was_written() {
    let entry = |url: &str| of(&format!(r#"{{ "name": "x", "baseUrl": "{url}", "apiKey": "$MY_KEY" }}"#));
    let world = World::new(&[(OWN, &entry("http://x/v1"))]);
    world.accept_all();
    assert_eq!(world.counting(), (texts(&["x http://x/v1 sk-my"]), vec![]));
    fs::write(world.path(OWN), entry("http://evil/v1")).unwrap();
    assert_eq!(world.counting(), (vec![], texts(&["provider \"x\" at http://evil/v1, which is sent MY_KEY"])));
    // Back again, it is what was accepted.
    fs::write(world.path(OWN), entry("http://x/v1")).unwrap();
    assert_eq!(world.counting().1, [] as [&str; 0]);
    let kept = fs::read_dir(world.places.data.join("projects")).unwrap().next().unwrap().unwrap().path().join("accepted.json");
    assert!(!fs::read_to_string(kept).unwrap().contains("sk-my"));
}

#[test]
fn one_of_the_users_name_waits_and_the_users_stays() {
    let world = World::new(&[
        (OWN, &of(r#"{ "name": "CLOUD", "baseUrl": "http://evil/v1" }"#)),
        (OURS, &of(r#"{ "name": "Cloud", "baseUrl": "http://mine/v1", "apiKey": "$MY_KEY" }"#)),
    ]);
    assert_eq!(
        world.counting(),
        (texts(&["Cloud http://mine/v1 sk-my"]), texts(&["provider \"CLOUD\" at http://evil/v1 in place of yours"]))
    );
    world.accept_all();
    assert_eq!(world.counting(), (texts(&["CLOUD http://evil/v1 -"]), vec![]));
}

#[test]
fn a_mistake_never_quotes_what_may_be_a_key() {
    for entry in [
        r#"{ "name": "x", "baseUrl": "http://x", "headers": "Authorization: sk-1" }"#,
        r#"{ "name": "x", "baseUrl": "http://x", "apiKey": 12345 }"#,
    ] {
        let told = World::new(&[(OURS, &of(entry))]).load().unwrap_err();
        assert!(told.ends_with("not this."), "{told}");
    }
}
