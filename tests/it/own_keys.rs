//! The user's own keys: `keymap.json` beside the settings.

use crate::support::*;
use serde_json::json;

fn keymap(w: &Workspace, text: &str) {
    w.write_abs(&w.config_file().with_file_name("keymap.json"), text);
}

#[test]
fn own_keys_count_everywhere_and_hints_call_them() {
    let edit = json!({ "file_path": "a.txt", "old_string": "one", "new_string": "two" });
    let server = ModelServer::after_seeing("a.txt", [Reply::call("Edit", edit), Reply::text("Done.")]);
    let w = Workspace::new(&server).file("a.txt", "one\n");
    keymap(
        &w,
        r#"// mine
        [
            { "context": "prompt", "action": "submit", "keys": ["ctrl+x"] },
            { "context": "edit", "action": "newline", "keys": ["enter"] },
            { "context": "prompt", "action": "keys", "keys": ["f1"] },
            { "context": "completion", "action": "take", "keys": ["ctrl+y"] },
            { "context": "running", "action": "interrupt", "keys": ["ctrl+q"] },
            { "context": "dialog", "action": "view", "keys": ["l"] },
            { "context": "dialog", "action": "yes", "keys": ["ctrl+y"] },
            { "context": "viewer", "action": "close", "keys": ["x"] },
            { "context": "viewer", "action": "copy", "keys": [] },
            { "context": "checkpoints", "action": "close", "keys": ["z"] },
            { "context": "list", "action": "next", "keys": ["j"] },
        ]"#,
    );
    let mut t = w.start();
    t.ready().shows("f1 keys");
    t.type_("why?").shows("❯ why?").enter().type_("go @a").shows("ctrl+y or enter takes").ctrl('y').shows("go @a.txt");
    t.ctrl('x').shows("Make this change?").screen_is("the letters are the user's", |s| {
        let row = |what: &str| s.lines().find(|l| l.contains(what)).map(|l| l.trim_end().to_owned()).unwrap_or_default();
        row("look closer").ends_with(" l") && row("1 yes").ends_with(" ctrl+y")
    });
    t.press('j').shows("▸ 2").press('l').shows("x close").screen_is("no key copies", |s| !s.contains("copy hunk"));
    t.type_("q").type_("x").shows("Make this change?").press('y').press('n').shows("what should be done").esc().shows("ctrl+y");
    assert_eq!(w.read("a.txt"), "one\n");
    t.ctrl('y').sees("Done.").sees("goes back");
    t.ctrl('c').shows("ctrl+c again to exit");
    assert_eq!((w.read("a.txt").as_str(), server.request(1).messages()[1]["content"].as_str()), ("two\n", Some("why?\ngo @a.txt ")));
    t.sees("❯ why?").sees("  go @a.txt");
    t.esc().esc().shows("z close").type_("q").type_("?").shows("to the changes").type_("x").shows("z close").type_("z").hides("z close");
}

#[test]
fn a_mistake_in_the_file_is_said_and_changes_nothing() {
    let server = ModelServer::start([Reply::text("Got it.")]);
    let w = Workspace::new(&server);
    keymap(&w, "[\n  { \"context\": \"promt\", \"action\": \"submit\", \"keys\": [\"ctrl+x\"] }\n]");
    let mut t = w.start();
    t.ready().sees("keymap.json:2: There is no context").sees("\"prompt\"?").ask("go").sees("Got it.");
    keymap(&w, "[\n  {\n");
    let mut t = w.start();
    t.ready().sees("keymap.json:2").sees("The built-in keys").shows("? keys");
}
