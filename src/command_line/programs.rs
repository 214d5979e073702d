//! What a program would touch, by its name and words.
//!
//! Only what is known to read and nothing else is told as reads; for the rest the touches are what a person wants to see.

pub(super) mod git;
pub(super) mod known;
mod options;
mod special;
mod table;

use super::{
    paths::{Scene, is_secret, is_secret_name, unknown},
    syntax::Word,
};
use crate::protocol::Touch;
use std::path::Path;
use table::{Operands, Program};

/// The touches of a simple command that is no wrapper; its first word is the program's name.
pub fn judge(name: &str, words: &[Word], scene: &Scene) -> Vec<Touch> {
    let args = &words[1..];
    let Some(program) = plain_name(name) else {
        return vec![Touch::Project];
    };
    reads(program, args, scene).unwrap_or_else(|| known::touches(program, args, scene))
}

/// The name of a program that is looked up where programs are; `None` for a path that leads elsewhere.
pub fn plain_name(name: &str) -> Option<&str> {
    let plain = ["/bin/", "/usr/bin/"].iter().find_map(|folder| name.strip_prefix(folder)).unwrap_or(name);
    (!plain.contains('/')).then_some(plain)
}

/// The touches of a command that does nothing but read; `None` if it is not known to.
fn reads(name: &str, args: &[Word], scene: &Scene) -> Option<Vec<Touch>> {
    if let [only] = args
        && table::VERSIONED.contains(&name)
        && matches!(only.literal(), Some("--version"))
    {
        let chosen = matches!(name, "cargo" | "rustc" | "rustup" | "rustfmt") && scene.has_above("rust-toolchain*");
        return Some(if chosen { vec![Touch::Project] } else { vec![] });
    }
    if let Some(found) = special::reads(name, args, scene) {
        return found;
    }
    let program = table::PROGRAMS.iter().find(|p| p.name == name)?;
    if program.operands == Operands::Text {
        return text(args, scene);
    }
    plain(program, args, scene)
}

/// Words that are only told again. Names of files may be among them, and values that nobody should see.
fn text(args: &[Word], scene: &Scene) -> Option<Vec<Touch>> {
    if args.iter().flat_map(|word| &word.variables).any(|name| is_secret_name(name)) {
        return Some(vec![unknown("a variable that may be secret")]);
    }
    let patterns = args.iter().filter(|word| word.looks.glob);
    // What a pattern within something unknown means is unknown too.
    Some(patterns.flat_map(|word| if word.looks.dynamic { vec![unknown("a pattern for files")] } else { scene.lists(word) }).collect())
}

/// Does this make `rg` search what is hidden or ignored, with the secrets in it? Files that are asked for by a pattern are never left
/// alone: only endings and names that no secret has are fine.
fn digs(option: &str, value: &str) -> bool {
    match option {
        "t" | "type" => value == "all",
        "g" | "glob" | "iglob" if value.starts_with('!') => false,
        "g" | "glob" | "iglob" if value.starts_with('.') || value.contains("/.") => true,
        "g" | "glob" | "iglob" => {
            let name = value.rsplit('/').next().unwrap_or_default();
            let harmless = |name: &str| {
                !name.is_empty()
                    && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
                    && !["json", "toml", "yml", "yaml", "cnf"].contains(&name)
                    && !is_secret(Path::new(&format!("x.{name}")))
            };
            match name.strip_prefix("*.") {
                Some(ending) => {
                    let all = ending.strip_prefix('{').and_then(|all| all.strip_suffix('}')).unwrap_or(ending);
                    !all.split(',').all(harmless)
                }
                None => !harmless(name) || is_secret(Path::new(name)),
            }
        }
        _ => false,
    }
}

fn plain(program: &Program, args: &[Word], scene: &Scene) -> Option<Vec<Touch>> {
    let read = options::read(program.short, &[program.long], args)?;
    let mut touches: Vec<Touch> = read.files.iter().flat_map(|file| scene.reads(file)).collect();
    if program.name == "rg" && read.values.iter().any(|(name, value)| digs(name, value)) {
        return None;
    }
    let mut operands = read.operands;
    if program.operands == Operands::Search {
        let given = read.options.iter().any(|o| matches!(o.as_str(), "e" | "regexp" | "files" | "type-list"));
        if !given {
            // A pattern that is none of ours to know, but that may be no option.
            let pattern = if operands.is_empty() { return Some(vec![]) } else { operands.remove(0) };
            pattern.literal()?;
        }
        let recursive = program.folder || read.options.iter().any(|o| matches!(o.as_str(), "r" | "recursive"));
        if operands.is_empty() && recursive {
            let here = scene.here(if program.folder { &Touch::Lists } else { &Touch::Reads });
            let only_names = read.options.iter().any(|o| o == "files");
            touches.extend(if program.folder && !only_names { scene.with_secrets(here) } else { here });
        }
    }
    let many = match program.operands {
        Operands::Nothing => 0,
        Operands::ReadOne => 1,
        _ => usize::MAX,
    };
    // A pattern may become any number of files.
    if operands.len() > many || many == 1 && operands.iter().any(|word| word.looks.glob) {
        return None;
    }
    for word in &operands {
        match program.operands {
            Operands::Words if word.literal().is_none() => return None,
            Operands::List => touches.extend(scene.lists(word)),
            Operands::Read | Operands::ReadOne => touches.extend(scene.reads(word)),
            // What is hidden and what is ignored it leaves alone, unless it is named.
            Operands::Search if program.folder => touches.extend(scene.searches(word)),
            Operands::Search => touches.extend(scene.reads(word)),
            _ => {}
        }
    }
    if operands.is_empty() && program.folder && program.operands == Operands::List {
        touches.extend(scene.here(&Touch::Lists));
    }
    Some(touches)
}
