//! Does a pattern that asks or refuses speak of a part? The same patterns as those that allow, but whoever refuses must not be walked
//! around: what stands around the words does not matter, nor does where the program is, nor options in between.

use super::unseen;
use crate::protocol::{CommandPart, CommandPattern, Touch};
use std::ffi::OsStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Speaks {
    No,
    /// It can't be told, so somebody has to look.
    Perhaps,
    Yes,
}

/// Whatever [`super::covers`] says, this says at least as much.
pub fn speaks_of(pattern: &CommandPattern, part: &CommandPart) -> Speaks {
    let unknown = part.touches.iter().any(|touch| matches!(touch, Touch::Unknown(_)));
    let perhaps = |may: bool| if may { Speaks::Perhaps } else { Speaks::No };
    let Some((program, wanted)) = pattern.words.split_first() else { return Speaks::Perhaps };
    // A redirection or a loop has no program at all.
    let Some((first, rest)) = part.said.split_first() else { return perhaps(unknown) };
    let direct = match first {
        None => Speaks::Perhaps,
        Some(name) if same_program(name, program) => follow(wanted, pattern.open, rest),
        // `/usr/lib/git-core/git-push`.
        Some(name) if wanted.first().is_some_and(|word| same_program(name, &format!("{program}-{word}"))) => {
            follow(&wanted[1..], pattern.open, rest)
        }
        Some(_) => Speaks::No,
    };
    let files = part.touches.iter().all(|t| matches!(t, Touch::Reads(_) | Touch::Lists(_) | Touch::Writes(_)));
    // `cp /bin/rm ./x`: whatever is done with that file later.
    let itself_is_read =
        |t: &Touch| matches!(t, Touch::Reads(path) if path.file_name().and_then(OsStr::to_str).is_some_and(|n| same_program(n, program)));
    let kept = part.touches.iter().any(|t| matches!(t, Touch::Writes(_))) && part.touches.iter().any(itself_is_read);
    let unseen = unseen::runs_what_can_not_be_seen(&part.said);
    let harmless = part.is_read() || files && !kept && !unseen;
    if direct == Speaks::Yes || harmless {
        return direct;
    }
    let within = |found: &dyn Fn(&str) -> bool| {
        rest.iter().flatten().any(|text| text.split(|c: char| !(c.is_alphanumeric() || "_-.+".contains(c))).any(found))
    };
    // Something that runs others may run this one: `busybox rm`, `python -c "…rm…"`. And what it is told to do may stand somewhere else:
    // `git -c alias.x=push x`.
    let names_it = within(&|word| same_program(word, program));
    let itself = first.as_ref().is_some_and(|name| same_program(name, program));
    let told_otherwise = itself && !wanted.is_empty() && wanted.iter().all(|wanted| within(&|word| word == wanted));
    direct.max(perhaps(unknown || names_it || told_otherwise || kept || unseen))
}

/// By its name, wherever it is; letters count as little as they do on some file systems.
fn same_program(said: &str, program: &str) -> bool {
    let name = |text: &str| text.rsplit('/').next().unwrap_or_default().to_lowercase();
    !said.is_empty() && name(said) == name(program)
}

/// Do the words follow, with options in between? From the end on, so that time is linear in each of the two.
fn follow(wanted: &[String], open: bool, rest: &[Option<String>]) -> Speaks {
    let end = |rest: &[Option<String>]| match rest {
        _ if open => Speaks::Yes,
        [] => Speaks::Yes,
        rest if rest.iter().all(Option::is_none) => Speaks::Perhaps,
        _ => Speaks::No,
    };
    // What the words from each place on come to, for all of the wanted words that have been looked at.
    let mut later: Vec<Speaks> = (0..=rest.len()).map(|at| end(&rest[at..])).collect();
    for word in wanted.iter().rev() {
        let mut now = vec![Speaks::No; rest.len() + 1];
        for at in (0..rest.len()).rev() {
            now[at] = match &rest[at] {
                // One word that can't be told may be any number of them.
                None => Speaks::Perhaps,
                Some(said) => {
                    let here = if said == word { later[at + 1] } else { Speaks::No };
                    // `git -C x push`: an option, and perhaps its value.
                    let past = if said.starts_with('-') { now[at + 1].max(*now.get(at + 2).unwrap_or(&Speaks::No)) } else { Speaks::No };
                    here.max(past)
                }
            };
        }
        later = now;
    }
    later[0]
}
