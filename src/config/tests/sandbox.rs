//! The setting `sandbox`: what the user says counts, what a project says only where it is stricter.

use super::*;
use std::path::Path;

fn of(files: &[(&str, &str)]) -> World {
    let said: Vec<(&str, String)> =
        files.iter().map(|(file, said)| (*file, format!("{{\"backstitch\": {{\"sandbox\": {said}}}}}"))).collect();
    let files: Vec<(&str, &str)> = said.iter().map(|(file, text)| (*file, text.as_str())).collect();
    World::new(&files)
}

#[test]
fn a_project_only_makes_it_stricter() {
    const PROJECT: &str = "agents.config.json";
    let cases: [(&str, &str, (bool, bool), usize); 8] = [
        ("{}", "{}", (true, true), 0),
        ("false", "{}", (false, true), 0),
        ("false", "true", (true, true), 0),
        ("{}", "false", (true, true), 1),
        (r#"{"enabled": false, "network": false}"#, r#"{"network": true}"#, (false, false), 1),
        (r#"{"network": true}"#, r#"{"network": false}"#, (true, false), 0),
        ("{}", r#"{"writable": ["/etc"]}"#, (true, true), 1),
        (r#"{"netwrok": false}"#, "{}", (true, true), 1),
    ];
    for (user, project, expected, warnings) in cases {
        let config = of(&[(OURS, user), (PROJECT, project)]).load().unwrap();
        assert_eq!((config.sandbox.on, config.sandbox.network), expected, "{user} {project}: {:?}", config.warnings);
        assert_eq!(config.warnings.len(), warnings, "{user} {project}: {:?}", config.warnings);
        assert!(config.sandbox.writable.is_empty());
    }
}

#[test]
fn places_are_whole_paths_and_come_from_all_files_of_the_user() {
    let world =
        of(&[(OURS, r#"{"writable": ["~/notes", "relative", "/data"]}"#), (LEGACY, r#"{"writable": ["/more"], "enabled": false}"#)]);
    let sandbox = world.load().unwrap().sandbox;
    let home = world.folder.path().join("home");
    assert_eq!(sandbox.writable, [home.join("notes"), Path::new("/data").into(), Path::new("/more").into()]);
    assert!(!sandbox.on);
    assert!(world.warnings()[0].contains("\"relative\""), "{:?}", world.warnings());
}

/// Nanocoder has none unless somebody switches it on: its "off" says nothing of ours.
#[test]
fn another_program_does_not_switch_it_off() {
    let nanocoder = |on: &str| World::new(&[(NANOCODER, &format!(r#"{{ "nanocoder": {{ "sandbox": {on} }} }}"#))]).load().unwrap();
    assert!(nanocoder("false").sandbox.on && nanocoder("true").sandbox.on);
}
