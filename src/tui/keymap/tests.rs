//! The table, what the components make of it, what the user's keys make of it, and what the documentation says of it.

use super::*;
use crate::protocol::OwnKey;
use backstitch_components::{
    diff_view::DiffModel,
    diff_viewer::{DiffViewer, ViewerOutcome},
    editor::Edit,
    list::{ListOutcome, ListState},
};
use std::sync::Arc;

fn chord(key: &str) -> Chord {
    key.parse().unwrap()
}

/// `context action key key`, one a line.
fn keymap(lines: &str) -> Keymap {
    let entry = |(at, line): (usize, &str)| {
        let mut words = line.split_whitespace().map(str::to_owned);
        let (context, action) = (words.next().unwrap(), words.next().unwrap());
        OwnKey { place: format!("keymap.json:{}", at + 1), context, action, keys: words.collect() }
    };
    let keys = lines.lines().filter(|line| !line.trim().is_empty()).enumerate().map(entry).collect();
    Keymap::new(OwnKeys { keys, warnings: vec![] })
}

fn translated(keymap: &Keymap, contexts: &[Context], key: &str) -> String {
    keymap.translate(contexts, &chord(key)).map_or("nothing".into(), |chord| chord.to_string())
}

#[test]
fn every_binding_has_a_key_and_a_name_of_its_own() {
    let table: Vec<Binding> = serde_json::from_str(include_str!("../../../assets/keymap.json")).unwrap();
    let (mut keys, mut actions) = (vec![], vec![]);
    for binding in &table {
        assert!(!binding.keys.is_empty() && !actions.contains(&(binding.context, &binding.action)), "{binding:?}");
        actions.push((binding.context, &binding.action));
        for key in &binding.keys {
            assert!(key.second.is_none() && !keys.contains(&(binding.context, *key)), "{key} is bound twice");
            keys.push((binding.context, *key));
        }
        let looked_up = matches!(binding.context, Context::Prompt | Context::Running | Context::Completion);
        assert!(!looked_up || Keymap::default().action(binding.context, &binding.keys[0].first).is_some(), "{binding:?}");
    }
    assert_eq!(Keymap::default().action(Context::Prompt, &chord("shift+tab")), Some(Action::CycleMode));
    for (context, name, _) in Context::ALL {
        assert!(table.iter().any(|b| b.context == context), "{name}");
        assert_eq!((Context::named(name), context.name()), (Some(context), name));
    }
}

/// Keys that a component may know.
fn all_chords() -> Vec<Chord> {
    let named =
        "enter esc tab space backspace delete home end pageup pagedown up down left right / ? _ < > 7 1".split(' ').map(str::to_owned);
    let keys: Vec<String> = named.chain(('a'..='z').map(String::from)).collect();
    let modified = |key: &String| ["", "ctrl+", "alt+", "ctrl+alt+"].map(|modifiers| chord(&format!("{modifiers}{key}")));
    keys.iter().flat_map(modified).collect()
}

fn listed(context: Context) -> Vec<Chord> {
    built_in().iter().filter(|b| b.context == context).flat_map(|b| b.keys.iter().map(|key| key.first)).collect()
}

#[test]
fn the_editor_does_what_the_table_says_and_nothing_else() {
    for binding in built_in().iter().filter(|b| b.context == Context::Edit) {
        let name = match binding.action.as_str() {
            "line-start" => "Home".to_owned(),
            "line-end" => "End".to_owned(),
            other => other.split('-').map(|word| word[..1].to_uppercase() + &word[1..]).collect(),
        };
        for key in &binding.keys {
            assert_eq!(Edit::from_chord(&key.first).map(|edit| format!("{edit:?}")), Some(name.clone()), "{key}");
        }
    }
    let listed = listed(Context::Edit);
    // With both modifiers a named key is what it is with one.
    let plain = |chord: &&Chord| chord.typed().is_none() && !(chord.ctrl && chord.alt && !matches!(chord.code, iocraft::KeyCode::Char(_)));
    for chord in all_chords().iter().filter(plain).filter(|chord| Edit::from_chord(chord).is_some()) {
        assert!(listed.contains(chord), "{chord} is not in the table");
    }
}

#[test]
fn the_viewer_and_the_list_know_the_keys_of_the_table_and_no_others() {
    let viewer = || {
        let mut viewer = DiffViewer::new(vec![Arc::new(DiffModel::new(Some("a\n"), Some("b\n"), "a.rs"))], true);
        viewer.fit(80, 20);
        viewer
    };
    for chord in all_chords().into_iter().chain([chord("shift+tab"), chord("shift+n")]) {
        let knows = viewer().press(&chord) != ViewerOutcome::Ignored || chord == "?".parse().unwrap();
        assert_eq!(knows, listed(Context::Viewer).contains(&chord), "{chord}");
        let knows = ListState::default().navigate(&chord, 3) != ListOutcome::Ignored || chord == "esc".parse().unwrap();
        assert_eq!(knows, listed(Context::List).contains(&chord), "{chord}");
    }
}

#[test]
fn own_keys_replace_the_built_in_ones_of_their_action() {
    let keymap = keymap("viewer close x ctrl+x\nviewer copy\nprompt submit ctrl+enter\nlist next j\n");
    assert_eq!(keymap.warnings(), [] as [String; 0]);
    let viewer = |key| translated(&keymap, &[Context::Viewer], key);
    assert_eq!([viewer("x"), viewer("ctrl+x"), viewer("q"), viewer("esc")], ["q", "q", "nothing", "nothing"]);
    assert_eq!([viewer("y"), viewer("n"), viewer("ctrl+p")], ["nothing", "n", "ctrl+p"]);
    assert_eq!(keymap.action(Context::Prompt, &chord("ctrl+enter")), Some(Action::Submit));
    assert_eq!(keymap.action(Context::Prompt, &chord("enter")), None);
    // A letter moves in a list, and is a letter where text is typed.
    assert_eq!(translated(&keymap, &[Context::Dialog, Context::List], "j"), "down");
    assert_eq!(translated(&keymap, &[Context::List, Context::Edit], "j"), "j");
    let names = keymap.names(&[Context::Viewer]);
    assert_eq!((names.name("q").as_deref(), names.name("y"), names.name("n").as_deref()), (Some("x"), None, Some("n")));
    assert_eq!(keymap.phrase(Context::Viewer, &[("close", "closes"), ("copy", "copies"), ("search", "looks")]), "x closes · / looks");
    assert!(keymap.help(Context::Viewer).contains(&("x, ctrl+x".into(), "close".into())));
    assert!(keymap.help(Context::Viewer).iter().all(|(_, help)| help != "copy the hunk"));
}

#[test]
fn what_has_no_effect_is_said() {
    for (lines, warning) in [
        ("viewr close x", "keymap.json:1: There is no context \"viewr\". Did you mean \"viewer\"?"),
        ("viewer clsoe x", "keymap.json:1: There is no action \"clsoe\" in \"viewer\". Did you mean \"close\"?"),
        ("viewer steer x", "keymap.json:1: There is no action \"steer\" in \"viewer\". It is one of \"running\"."),
        ("viewer close ctrl+entr", "keymap.json:1: \"entr\" in \"ctrl+entr\" is no key. Did you mean \"enter\"?"),
        ("viewer close hyper+x", "\"hyper\" in \"hyper+x\" is no modifier (ctrl, alt, shift)."),
        ("viewer close x\nviewer copy x", "keymap.json:2: \"x\" is the key of \"close\" in \"viewer\" already."),
        ("viewer close x\nviewer close z", "keymap.json:2: \"close\" has its keys in line 1 already: this entry has no effect."),
        ("viewer close ctrl+c", "ctrl+c always cancels: it can't do anything else."),
        ("prompt submit x", "\"x\" is needed for typing in \"prompt\"."),
        ("prompt thoughts enter", "\"thoughts\" takes the only key of \"submit\" in \"prompt\"."),
        ("edit yank ctrl+l", "In the prompt ctrl+l is \"redraw\" of \"prompt\", not \"yank\"."),
    ] {
        let keymap = keymap(lines);
        assert_eq!(keymap.warnings().len(), 1, "{lines}: {:?}", keymap.warnings());
        assert!(keymap.warnings()[0].ends_with(warning) || keymap.warnings()[0].contains(warning), "{:?}", keymap.warnings());
    }
    // What was not understood changes nothing.
    assert_eq!(translated(&keymap("viewer close nokey"), &[Context::Viewer], "q"), "q");
    let many = keymap(&"viewr close x\n".repeat(9));
    assert!(many.warnings().len() == 3 && many.warnings()[2].ends_with("(6 more in the keymap)"), "{:?}", many.warnings());
}

#[test]
fn nobody_is_locked_out() {
    let all: String = built_in().iter().map(|b| format!("{} {}\n", b.context.name(), b.action)).collect();
    let none = keymap(&all);
    assert_eq!(none.warnings(), [] as [String; 0]);
    assert_eq!(none.action(Context::Prompt, &chord("ctrl+c")), Some(Action::Cancel));
    assert_eq!(none.action(Context::Dialog, &chord("ctrl+c")), Some(Action::Interrupt));
    assert_eq!(translated(&none, &[Context::Field, Context::Edit], "e"), "e");
    assert_eq!(translated(&none, &[Context::Dialog, Context::List], "1"), "1");
    assert_eq!(translated(&none, &[Context::Field, Context::Edit], "enter"), "nothing");
    let other = keymap("prompt cancel ctrl+q");
    assert_eq!(["ctrl+q", "ctrl+c"].map(|key| other.action(Context::Prompt, &chord(key))), [Some(Action::Cancel); 2]);
}

#[test]
fn the_page_about_keys_has_the_whole_table() {
    let page = include_str!("../../../docs/keys.md");
    let mut table = String::new();
    for (context, name, _) in Context::ALL {
        table += &format!("\n### `{name}`\n\n| action | keys | what |\n|---|---|---|\n");
        for binding in built_in().iter().filter(|b| b.context == context) {
            let keys: Vec<_> = binding.keys.iter().map(|key| format!("`{key}`")).collect();
            table += &format!("| `{}` | {} | {} |\n", binding.action, keys.join(" "), binding.help);
        }
    }
    // Between two headings the page may say more.
    let rows = |text: &str| text.lines().filter(|l| l.starts_with("### ") || l.starts_with("| ")).map(str::to_owned).collect::<Vec<_>>();
    let from = page.find("## Actions").unwrap();
    assert_eq!(rows(&page[from..]), rows(&table), "docs/keys.md should have:\n{table}");
}
