//! The user's own keys: `keymap.json`, a list of `{ "context": …, "action": …, "keys": [ … ] }` with comments.
//!
//! Nothing in it keeps the program from starting: what can't be read is a warning with file and line, and the rest counts.

use super::{Places, source};
use crate::{
    failure::nearest,
    protocol::{OwnKey, OwnKeys},
};
use jsonc_parser::{
    ast::{ObjectProp, Value},
    common::Ranged,
};
use std::path::Path;

/// `help` may stay in what is copied from the built-in table.
const NAMES: [&str; 4] = ["context", "action", "keys", "help"];

/// The keys of the user's file, if there is one.
pub fn own_keys(places: &Places) -> OwnKeys {
    let path = places.keymap();
    match source::read(&path) {
        Ok(Some(text)) => read(&path, &text),
        Ok(None) => OwnKeys::default(),
        Err(error) => OwnKeys { warnings: vec![format!("{} can't be read: {error}.", path.display())], ..OwnKeys::default() },
    }
}

fn read(path: &Path, text: &str) -> OwnKeys {
    let mut own = OwnKeys::default();
    let place = |at: &dyn Ranged| format!("{}:{}", path.display(), source::line(text, at.start()));
    let list = match source::value(path, text) {
        Ok(Some(Value::Array(list))) => list,
        Ok(None) => return own,
        Ok(Some(other)) => {
            let kind = source::kind(&other);
            own.warnings.push(format!("{}: A keymap is a list, [ {{ … }}, … ], not {kind}.", place(&other)));
            return own;
        }
        Err(failure) => {
            own.warnings.push(format!("{} The built-in keys stay.", failure.message));
            return own;
        }
    };
    for item in &list.elements {
        let Value::Object(entry) = item else {
            own.warnings.push(format!("{}: An entry is an object, {{ … }}, not {}.", place(item), source::kind(item)));
            continue;
        };
        let (mut context, mut action, mut keys, mut wrong) = (None, None, None, vec![]);
        for property in &entry.properties {
            let name = property.name.as_str();
            match name {
                "context" => context = string(property),
                "action" => action = string(property),
                "keys" => keys = strings(&property.value),
                "help" => continue,
                other => {
                    let near = nearest(other, NAMES).map(|near| format!(" Did you mean \"{near}\"?")).unwrap_or_default();
                    own.warnings.push(format!("{}: An entry has no \"{other}\".{near}", place(property)));
                    continue;
                }
            }
            let right = match name {
                "context" if context.is_none() => "text in quotes",
                "action" if action.is_none() => "text in quotes",
                "keys" if keys.is_none() => "a list of texts in quotes",
                _ => continue,
            };
            wrong.push(format!("{}: \"{name}\" must be {right}, not {}.", place(property), source::kind(&property.value)));
        }
        match (context, action, keys) {
            (Some(context), Some(action), Some(keys)) => own.keys.push(OwnKey { place: place(entry), context, action, keys }),
            (context, action, keys) if wrong.is_empty() => {
                let lacks = [("context", context.is_none()), ("action", action.is_none()), ("keys", keys.is_none())];
                let lacks: Vec<_> = lacks.iter().filter(|(_, lacks)| *lacks).map(|(name, _)| format!("\"{name}\"")).collect();
                own.warnings.push(format!("{}: This entry lacks {}: it has no effect.", place(entry), lacks.join(" and ")));
            }
            _ => {}
        }
        own.warnings.append(&mut wrong);
    }
    own
}

fn string(property: &ObjectProp) -> Option<String> {
    if let Value::StringLit(text) = &property.value { Some(text.value.trim().to_owned()) } else { None }
}

/// One key may stand without its list.
fn strings(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::StringLit(text) => Some(vec![text.value.to_string()]),
        Value::Array(list) => {
            list.elements.iter().map(|e| if let Value::StringLit(t) = e { Some(t.value.to_string()) } else { None }).collect()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(text: &str) -> OwnKeys {
        read(Path::new("/c/keymap.json"), text)
    }

    #[test]
    fn entries_know_their_lines() {
        let read = own(
            "// mine\n[\n  { \"context\": \"prompt\", \"action\": \"submit\", \"keys\": [\"ctrl+x\"], },\n\n  { \"context\": \"list\", \"action\": \"close\", \"keys\": \"q\", \"help\": \"x\" }\n]\n",
        );
        let key = |line: usize, context: &str, action: &str, key: &str| OwnKey {
            place: format!("/c/keymap.json:{line}"),
            context: context.into(),
            action: action.into(),
            keys: vec![key.into()],
        };
        assert_eq!(read, OwnKeys { keys: vec![key(3, "prompt", "submit", "ctrl+x"), key(5, "list", "close", "q")], warnings: vec![] });
        assert_eq!(own(""), OwnKeys::default());
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line_and_the_rest_counts() {
        for (text, warning) in [
            ("[\n{", "/c/keymap.json:2: "),
            ("{}", "/c/keymap.json:1: A keymap is a list"),
            ("[\n7]", "/c/keymap.json:2: An entry is an object, { … }, not 7."),
            (
                r#"[{ "context": "list", "action": "take", "kyes": [] }]"#,
                "/c/keymap.json:1: An entry has no \"kyes\". Did you mean \"keys\"?",
            ),
            (r#"[{ "context": "list", "action": "take", "keys": 7 }]"#, "\"keys\" must be a list of texts in quotes, not 7."),
            (r#"[{ "context": "list", "keys": [] }]"#, "lacks \"action\""),
        ] {
            let read = own(text);
            assert!(read.keys.is_empty() && read.warnings[0].contains(warning), "{text}: {:?}", read.warnings);
        }
        let read = own("[{ \"context\": 1 }, { \"context\": \"list\", \"action\": \"take\", \"keys\": [] }]");
        assert_eq!((read.keys.len(), read.warnings.len()), (1, 1));
    }

    #[test]
    fn the_file_is_beside_the_settings() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places::for_test(folder.path());
        assert_eq!(own_keys(&places), OwnKeys::default());
        std::fs::create_dir_all(&places.config).unwrap();
        std::fs::write(places.config.join("keymap.json"), "[7]").unwrap();
        assert_eq!(own_keys(&places).warnings.len(), 1);
    }
}
