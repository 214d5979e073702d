//! What leaves the machine: secrets of files and prompts, the user's variables, keys in messages.

use crate::support::*;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

fn placeholder(sent: &str, before: &str) -> String {
    let at = sent.find(&format!("{before}[secret:")).unwrap_or_else(|| panic!("{before} in {sent}")) + before.len();
    sent[at..=at + sent[at..].find(']').unwrap()].to_owned()
}

#[test]
fn a_secret_stays_on_this_machine_and_the_next_run_knows_its_placeholder() {
    let server = ModelServer::after_seeing("app.ini", [Reply::text("I saw it."), Reply::text("Again.")]);
    let w = Workspace::new(&server).file("app.ini", "PASSWORD=Tr0ub4dor&3\n");
    let ended = w.run(&["run", "look at it, with token=ab12cd34ef"], "");
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("Replaced before it was sent: password"), "{}", ended.stderr);
    let first = server.request(1).body.to_string();
    let hidden = placeholder(&first, "PASSWORD=");
    assert!(!first.contains("Tr0ub4dor") && !first.contains("ab12cd34ef"), "{first}");
    let ended = w.run(&["run", "-c", "once more"], "");
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    let second = server.request(2).body.to_string();
    assert!(second.contains(&hidden) && !second.contains("Tr0ub4dor") && !second.contains("ab12cd34ef"), "{second}");
    let key = w.data().join("privacy.key");
    assert_eq!(std::fs::metadata(key).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn privacy_is_told_inspected_and_switched() {
    let server = ModelServer::start([Reply::text("One."), Reply::text("Two.")]);
    let w = Workspace::new(&server);
    let input = "/privacy\n/privacy inspect PASSWORD=hunter2\nPASSWORD=hunter3 is it\n/privacy\n/privacy off\nPASSWORD=hunter4 is it\n";
    let ended = w.run(&["--plain"], input);
    for expected in [
        "Privacy is on",
        "Nothing was replaced",
        "PASSWORD=[secret:password:",
        "password … · once · [secret:password:",
        "what you wrote",
        "Privacy is off",
    ] {
        assert!(ended.stdout.contains(expected), "{expected}: {}", ended.stdout);
    }
    assert!(server.request(1).last().1.starts_with("PASSWORD=[secret:"), "{}", server.request(1).last().1);
    assert_eq!(server.request(2).last().1, "PASSWORD=hunter4 is it");
}

#[test]
fn a_projects_provider_gets_no_variable_that_nobody_has_accepted() {
    let (server, theirs) = (ModelServer::start([Reply::text("Mine.")]), ModelServer::start([Reply::text("Theirs.")]));
    let provider = json!({ "name": "theirs", "baseUrl": theirs.base_url(), "apiKey": "$HOME", "models": ["m"] });
    let w = Workspace::new(&server).file("agents.config.json", &json!({ "backstitch": { "providers": [provider] } }).to_string());
    let ended = w.run(&["run", "hello"], "");
    assert_eq!((ended.code(), ended.stdout.as_str()), (Some(0), "Mine.\n"), "{}", ended.stderr);
    assert!(
        ended.stderr.contains(&format!(
            "nobody has accepted yet: provider \"theirs\" at {}, which is sent HOME. /permissions accepts it",
            theirs.base_url()
        )),
        "{}",
        ended.stderr
    );
    let ended = w.run(&["run", "--provider", "theirs", "hello"], "");
    assert!(ended.code() == Some(1) && ended.stderr.contains("that nobody has accepted"), "{}", ended.stderr);
    assert_eq!(theirs.asked().len(), 0);
}

#[test]
fn a_key_that_a_server_repeats_is_not_shown() {
    let server = ModelServer::start([Reply::error(401, "Incorrect API key provided: sk-test-key. Find yours elsewhere.")]);
    let w = Workspace::new(&server);
    let ended = w.run(&["run", "hello"], "");
    assert!(ended.stderr.contains("Incorrect API key provided: …. Find"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("sk-test-key"), "{}", ended.stderr);
}
