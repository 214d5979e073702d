//! The files of configuration, one laid over the other.
//!
//! Within a file the key `backstitch` outranks `nanocoder`, and that the bare `providers`. A file that can't be read at all is a
//! warning: no permission must not keep the program from starting; one that can be read but not understood is a mistake of the
//! user's that would otherwise go unnoticed.

use super::{
    Config, Env, FILE_NAME, Places,
    permissions::local_file,
    providers,
    settings::{KEYS, Layer, Reader},
    source,
};
use crate::{
    failure::{Failure, nearest},
    protocol::{Rule, RuleSource, Ruling},
};
use jsonc_parser::ast::{Object, ObjectProp, Value};
use std::path::Path;

/// Everything merged; the files that were read and the warnings go to `config`.
pub fn load(places: &Places, project: Option<&Path>, env: &Env, config: &mut Config) -> Result<Layer, Failure> {
    let mut merged = Layer::default();
    // Only rules are in it, and those of all files count: its rank does not matter.
    let local = project.map(|root| local_file(places, root));
    let own = project.map(|root| root.join(FILE_NAME));
    for (path, foreign) in places.files(project).into_iter().chain(local.clone().map(|path| (path, false))) {
        let rules = match &path {
            path if own.as_ref() == Some(path) => RuleSource::Project,
            path if local.as_ref() == Some(path) => RuleSource::Local,
            _ => RuleSource::User,
        };
        let text = match source::read(&path) {
            Ok(Some(text)) => text,
            Ok(None) => continue,
            Err(error) => {
                config.warnings.push(format!("{} can't be read: {error}.", path.display()));
                if !foreign {
                    // There may have been something in it that must not be done: everything is asked about.
                    merged.rules.push(Rule::new(Ruling::Deny, rules, format!("{} (can't be read)", path.display())));
                }
                continue;
            }
        };
        let root = match source::parse(&path, &text) {
            Ok(root) => root,
            Err(failure) if foreign => {
                config.warnings.push(failure.message);
                continue;
            }
            Err(failure) => return Err(failure),
        };
        if let Some(root) = root {
            let mut reader = Reader { path: &path, text: &text, env, foreign, rules, warnings: &mut config.warnings };
            file(&mut reader, &root, &mut merged)?;
        }
        if rules != RuleSource::Local {
            config.sources.push(path);
        }
    }
    Ok(merged)
}

fn file(reader: &mut Reader, root: &Object, merged: &mut Layer) -> Result<(), Failure> {
    let foreign = reader.foreign;
    for key in ["backstitch", "nanocoder"] {
        let Some(property) = root.get(key) else { continue };
        reader.foreign = foreign || key == "nanocoder";
        match &property.value {
            Value::Object(block) => merged.merge(reader.layer(block)?),
            Value::NullKeyword(_) => {}
            other => reader.mistake(other, format!("\"{key}\" is an object, {{ … }}, not {}.", source::kind(other)))?,
        }
    }
    reader.foreign = foreign;
    if let Some(property) = root.get("providers") {
        merged.merge(providers::read(reader, property)?);
    }
    if !foreign {
        root.properties.iter().for_each(|property| misplaced(reader, property));
    }
    Ok(())
}

/// Others may keep settings in the same file; only what is plainly meant for us is worth a word.
fn misplaced(reader: &mut Reader, property: &ObjectProp) {
    let key = property.name.as_str();
    if matches!(key, "backstitch" | "nanocoder" | "providers") {
        return;
    }
    if KEYS.contains(&key) {
        reader.warn(property, &format!("\"{key}\" has no effect here: it belongs inside \"backstitch\"."));
    } else if let Some(near) = nearest(key, ["backstitch", "providers"]) {
        reader.warn(property, &format!("There is no setting \"{key}\". Did you mean \"{near}\"?"));
    }
}
