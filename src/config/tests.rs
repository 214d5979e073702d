//! Whole files in, settings and messages out.

mod permissions;
mod privacy;
mod project_providers;
mod providers;
mod sandbox;
mod web;

use super::*;
use crate::protocol::RuleSource;
use std::fs;

struct World {
    folder: tempfile::TempDir,
    places: Places,
}

impl World {
    /// Writes these files; `~` is the home folder, `.` the project.
    fn new(files: &[(&str, &str)]) -> World {
        let folder = tempfile::tempdir().unwrap();
        let places = Places::for_test(folder.path());
        let world = World { folder, places };
        for (name, text) in files {
            let path = world.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        match name.strip_prefix("~/") {
            Some(rest) => self.folder.path().join("home").join(rest),
            None => self.folder.path().join("project").join(name),
        }
    }

    fn load(&self) -> Result<Config, String> {
        let env = |name: &str| (name == "MY_KEY").then(|| "sk-my".to_owned());
        let project = self.folder.path().join("project");
        Config::load(&self.places, Some(&project), &env).map_err(|failure| self.short(&failure.to_string()))
    }

    fn short(&self, text: &str) -> String {
        text.replace(&format!("{}/home", self.folder.path().display()), "~").replace(&format!("{}/", self.folder.path().display()), "")
    }

    fn warnings(&self) -> Vec<String> {
        self.load().unwrap().warnings.iter().map(|warning| self.short(warning)).collect()
    }
}

const OURS: &str = "~/.config/backstitch/agents.config.json";
const LEGACY: &str = "~/.agents.config.json";
const NANOCODER: &str = "~/.config/nanocoder/agents.config.json";

#[test]
fn nothing_configured_is_the_default() {
    assert_eq!(World::new(&[]).load(), Ok(Config::default()));
    assert_eq!(World::new(&[(OURS, ""), (LEGACY, "// nothing\n"), (NANOCODER, "{}")]).load().unwrap().sources.len(), 3);
}

#[test]
fn layers_merge_field_by_field_and_providers_by_name() {
    let world = World::new(&[
        (
            "agents.config.json",
            r#"{ "backstitch": { "maxTurns": 7, "providers": [ { "name": "ollama", "baseUrl": "http://project:1/v1", "models": "only" } ] } }"#,
        ),
        (
            OURS,
            "\u{feff}{ /* mine */ \"$schema\": \"x\", \"backstitch\": {\n \"defaultMode\": \"auto-accept\", \"maxTurns\": 9, // more\n \"providers\": [\n\
             { \"name\": \"Ollama\", \"baseUrl\": \"http://user:1/v1\", \"apiKey\": \"secret\", },\n\
             { \"name\": \"Cloud AI\", \"baseUrl\": \"${HOST:-https://cloud.example}/v1\", \"apiKey\": \"$MY_KEY\", \"models\": [\"a\", \" b \"],\n\
               \"headers\": { \"X-Key\": \"${MY_KEY}\" }, \"contextWindow\": 1000, \"contextWindows\": { \"a\": 2000 }, \"requestTimeout\": -1, \"disableTools\": true },\n ] } }",
        ),
        (
            LEGACY,
            r#"{ "nanocoder": { "theme": "dusk", "unknown": 1, "headless": { "maxTurns": 3 } }, "providers": [ { "name": "Bare", "baseUrl": "http://b" } ] }"#,
        ),
        (
            NANOCODER,
            r#"{ "nanocoder": { "theme": "dawn", "maxTurns": "x", "providers": [ { "name": "Nano", "baseUrl": "http://n" }, { "name": "Incomplete" } ] } }"#,
        ),
    ]);
    // The project's takes the name of the user's.
    let waits = world.load().unwrap();
    assert_eq!(waits.providers[0].base_url, "http://user:1/v1");
    super::permissions::accept(&world.places, &world.folder.path().join("project"), &waits.rules, &waits.withheld).unwrap();
    let config = world.load().unwrap();
    let names: Vec<_> = config.providers.iter().map(|p| (p.name.as_str(), p.base_url.as_str(), p.api_key.as_deref())).collect();
    assert_eq!(
        names,
        [
            ("ollama", "http://project:1/v1", None),
            ("Cloud AI", "https://cloud.example/v1", Some("sk-my")),
            ("Bare", "http://b", None),
            ("Nano", "http://n", None)
        ]
    );
    let cloud = &config.providers[1];
    assert_eq!((cloud.models.join(","), cloud.headers["X-Key"].as_str(), cloud.context_window), ("a,b".into(), "sk-my", Some(1000)));
    assert_eq!((cloud.context_windows["a"], cloud.request_timeout, cloud.disable_tools), (2000, Some(-1), true));
    assert_eq!(config.providers[0].models, ["only"]);
    assert_eq!((config.default_mode, config.max_turns, config.looks.theme.name(true)), (Mode::AutoAccept, 7, Some("dusk")));
    assert_eq!(config.sources.len(), 4);
    let warnings: Vec<_> = config.warnings.iter().map(|w| world.short(w)).collect();
    assert_eq!(
        warnings,
        [
            "~/.config/nanocoder/agents.config.json:1: \"maxTurns\" must be a whole number, not \"x\".",
            "~/.config/nanocoder/agents.config.json:1: The provider \"Incomplete\" needs a \"baseUrl\"."
        ]
    );
}

#[test]
fn a_project_that_is_not_trusted_is_not_read() {
    let world = World::new(&[("agents.config.json", "{ broken")]);
    assert_eq!(Config::load(&world.places, None, &|_| None).unwrap(), Config::default());
    assert!(world.load().is_err());
}

#[test]
fn mistakes_are_named_with_file_and_line() {
    let cases = [
        ("{\n \"backstitch\": {\n", "~/.config/backstitch/agents.config.json:2: Unterminated object."),
        ("[]", "~/.config/backstitch/agents.config.json:1: A configuration is an object, { … }, not a list."),
        ("{ \"backstitch\": 1 }", "~/.config/backstitch/agents.config.json:1: \"backstitch\" is an object, { … }, not 1."),
        (
            "{\"backstitch\": {\n\n\"maxTurns\": \"many\"}}",
            "~/.config/backstitch/agents.config.json:3: \"maxTurns\" must be a whole number, not \"many\".",
        ),
        ("{\"backstitch\": {\"maxTurns\": 0}}", "~/.config/backstitch/agents.config.json:1: \"maxTurns\" must be a number above 0, not 0."),
        (
            "{\"backstitch\": {\"maxTurns\": 1.5}}",
            "~/.config/backstitch/agents.config.json:1: \"maxTurns\" must be a whole number, not 1.5.",
        ),
        (
            "{\"backstitch\": {\n\"defaultMode\": \"autoaccept\"}}",
            "~/.config/backstitch/agents.config.json:2: There is no mode \"autoaccept\". Did you mean \"auto-accept\"? Modes: normal, auto-accept, plan, yolo.",
        ),
        ("{\"providers\": {}}", "~/.config/backstitch/agents.config.json:1: \"providers\" is a list, [ … ], not an object."),
        ("{\"providers\": [\n1]}", "~/.config/backstitch/agents.config.json:2: A provider is an object, { … }, not 1."),
        ("{\"providers\": [\n{\"baseUrl\": \"x\"}]}", "~/.config/backstitch/agents.config.json:2: A provider needs a \"name\"."),
        (
            "{\"providers\": [{\"name\": \"x\", \"baseUrl\": \"y\", \"models\": {}}]}",
            "~/.config/backstitch/agents.config.json:1: \"models\" must be a list of names, [ … ], not an object.",
        ),
        (
            "{\"providers\": [{\"name\": \"x\", \"baseUrl\": \"y\", \"models\": [null]}]}",
            "~/.config/backstitch/agents.config.json:1: \"models\" is a list of names, but null is in it.",
        ),
        (
            "{\"providers\": [{\"name\": \"x\", \"baseUrl\": \"y\",\n\"headers\": {\n\"a\": 1}}]}",
            "~/.config/backstitch/agents.config.json:3: \"a\" must be text in quotes, not 1.",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(World::new(&[(OURS, text)]).load(), Err(expected.to_owned()), "{text}");
    }
}

#[test]
fn what_is_not_understood_is_a_warning() {
    let world = World::new(&[(
        OURS,
        r#"{ "backstich": {}, "theme": "x", "other tool": 1,
             "backstitch": { "thme": "dusk", "hooks": [], "providers": [
               { "name": "a", "baseUrl": "http://a", "model": "m", "apiKey": "$UNSET", "caCertPath": "x" },
               { "name": "A", "baseUrl": "http://b" },
               { "name": "c", "sdkProvider": "github-copilot" }, { "name": "d", "sdkProvider": "antropic" } ] } }"#,
    )]);
    assert_eq!(
        world.warnings(),
        [
            "~/.config/backstitch/agents.config.json:2: There is no setting \"thme\". Did you mean \"theme\"?",
            "~/.config/backstitch/agents.config.json:2: \"hooks\" is not supported yet and has no effect.",
            "~/.config/backstitch/agents.config.json:3: There is no setting \"model\". Did you mean \"models\"?",
            "~/.config/backstitch/agents.config.json:3: \"apiKey\" refers to the variable UNSET, which is not set.",
            "~/.config/backstitch/agents.config.json:3: \"caCertPath\" is not supported yet and has no effect.",
            "~/.config/backstitch/agents.config.json:4: The provider \"A\" is there twice; this one has no effect.",
            "~/.config/backstitch/agents.config.json:5: The provider \"c\" speaks \"github-copilot\" and is left out. It is not supported yet.",
            "~/.config/backstitch/agents.config.json:5: The provider \"d\" speaks \"antropic\" and is left out. Did you mean \"anthropic\"?",
            "~/.config/backstitch/agents.config.json:1: There is no setting \"backstich\". Did you mean \"backstitch\"?",
            "~/.config/backstitch/agents.config.json:1: \"theme\" has no effect here: it belongs inside \"backstitch\".",
        ]
    );
    let config = world.load().unwrap();
    assert_eq!((config.providers.len(), config.providers[0].api_key.as_deref()), (1, None));
}

#[test]
fn no_bytes_make_it_panic() {
    let seed = r#"{ "backstitch": { "defaultMode": "plan", "maxTurns": 3, /* ž */ "providers": [ { "name": "x", "baseUrl": "${A:-b}", "models": ["m",], "headers": {"a": "$B"} } ] } }"#;
    let bytes = seed.as_bytes();
    for at in 0..bytes.len() {
        for new in [b"".as_slice(), b"\"", b"{", b"]", b"-", b"\xff", b"$", b"null"] {
            let mutated = [&bytes[..at], new, &bytes[at + 1..]].concat();
            let text = String::from_utf8_lossy(&mutated);
            let mut warnings = vec![];
            if let Ok(Some(root)) = source::parse(Path::new("x"), &text) {
                let mut reader = settings::Reader {
                    path: Path::new("x"),
                    text: &text,
                    env: &|_| None,
                    foreign: at % 2 == 0,
                    rules: RuleSource::User,
                    warnings: &mut warnings,
                };
                root.properties.iter().for_each(|p| {
                    if let jsonc_parser::ast::Value::Object(o) = &p.value {
                        drop(reader.layer(o))
                    }
                });
            }
        }
    }
    let deep = "{\"backstitch\":".repeat(100_000);
    assert!(source::parse(Path::new("x"), &deep).is_err());
}

#[test]
fn an_unreadable_file_is_a_warning() {
    let world = World::new(&[(&format!("{OURS}/file"), ""), (LEGACY, "{}")]);
    assert_eq!(world.warnings(), ["~/.config/backstitch/agents.config.json can't be read: it is not a file."]);
    let world = World::new(&[]);
    fs::create_dir_all(world.path(LEGACY).parent().unwrap()).unwrap();
    fs::write(world.path(LEGACY), b"{\"a\": \"\xff\"}").unwrap();
    assert_eq!(world.warnings().len(), 1);
}

fn provider(name: &str) -> ProviderSettings {
    ProviderSettings { name: name.into(), base_url: "http://new:1/v1".into(), models: vec!["m".into()], ..Default::default() }
}

#[test]
fn saving_keeps_everything_else() {
    let world = World::new(&[]);
    let path = save_provider(&world.places, &Scope::User, &provider("First")).unwrap();
    assert_eq!(path, world.path(OURS));
    let written = "{\n  \"backstitch\": {\n    \"providers\": [\n      {\n        \"name\": \"First\",\n        \"baseUrl\": \"http://new:1/v1\",\n        \"models\": [\"m\"]\n      }\n    ]\n  }\n}\n";
    assert_eq!(fs::read_to_string(&path).unwrap(), written);

    let before = "{\n  // keep me\n  \"other\": [1, 2,],\n  \"backstitch\": {\n    \"providers\": [\n      { \"name\": \"ollama\", \"baseURL\": \"http://old\", \"apiKey\": \"$KEY\", \"caCertPath\": \"c\" }, // mine\n    ],\n    \"theme\": \"dusk\"\n  }\n}\n";
    let world = World::new(&[(OURS, before)]);
    save_provider(&world.places, &Scope::User, &provider("Ollama")).unwrap();
    save_provider(&world.places, &Scope::User, &provider("Second")).unwrap();
    insta::assert_snapshot!(fs::read_to_string(world.path(OURS)).unwrap());
    assert_eq!(world.load().unwrap().providers.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["Ollama", "Second"]);

    // The same address keeps its key, a new one does not get it.
    let keyed = |address: &str| {
        format!("{{\"backstitch\":{{\"providers\":[{{\"name\":\"k\",\"baseUrl\":\"{address}\",\"apiKey\":\"$MY_KEY\"}}]}}}}")
    };
    for (address, key) in [("http://new:1/v1/", Some("sk-my")), ("http://old/v1", None)] {
        let world = World::new(&[(OURS, &keyed(address))]);
        save_provider(&world.places, &Scope::User, &provider("K")).unwrap();
        let saved = &world.load().unwrap().providers[0];
        assert_eq!((saved.base_url.as_str(), saved.api_key.as_deref()), ("http://new:1/v1", key));
    }

    for broken in ["{ \"backstitch\": ", "[1]", "{ \"backstitch\": 1 }", "{ \"backstitch\": { \"providers\": {} } }"] {
        let world = World::new(&[(OURS, broken)]);
        assert!(save_provider(&world.places, &Scope::User, &provider("x")).is_err());
        assert_eq!(fs::read_to_string(world.path(OURS)).unwrap(), broken);
    }
}

#[cfg(unix)]
#[test]
fn a_saved_file_is_for_its_owner_and_a_link_stays_a_link() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new(&[("~/dotfiles/agents.json", "{}"), ("~/.config/backstitch/x", "")]);
    std::os::unix::fs::symlink(world.path("~/dotfiles/agents.json"), world.path(OURS)).unwrap();
    save_provider(&world.places, &Scope::User, &provider("x")).unwrap();
    assert!(fs::symlink_metadata(world.path(OURS)).unwrap().is_symlink());
    let real = world.path("~/dotfiles/agents.json");
    assert!(fs::read_to_string(&real).unwrap().contains("http://new:1/v1"));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn saving_at_once_loses_nothing() {
    let world = World::new(&[]);
    std::thread::scope(|scope| {
        for worker in 0..5 {
            let world = &world;
            scope.spawn(move || {
                for n in 0..6 {
                    save_provider(&world.places, &Scope::Project(world.path("")), &provider(&format!("{worker}-{n}"))).unwrap();
                }
            });
        }
    });
    assert_eq!(world.load().unwrap().providers.len(), 30);
}
