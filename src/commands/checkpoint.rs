//! `/checkpoint`: takes one by hand, and works on those that there are.

use super::{Outcome, Screen, SlashCommand};
use crate::protocol::{CheckpointId, Command, Revision};

pub const COMMAND: SlashCommand = SlashCommand {
    name: "checkpoint",
    arguments: "[name | list | restore | diff | rename | delete | pin | unpin]",
    help: "take a checkpoint by hand, or work on one by its name or id",
    run: |arguments, _| run(arguments),
};

fn run(arguments: &str) -> Outcome {
    let (word, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
    let rest = rest.trim();
    let revise = |id: &str, revision| Outcome::Send(Command::Revise { id: CheckpointId(id.into()), revision });
    let which = |what: &str| Outcome::Fail(format!("Which checkpoint? /checkpoint {what} takes its name or the first letters of its id."));
    match word {
        "list" if rest.is_empty() => Outcome::Screen(Screen::Checkpoints(None)),
        "create" => Outcome::Send(Command::Checkpoint(rest.into())),
        "restore" | "diff" => Outcome::Screen(Screen::Checkpoints((!rest.is_empty()).then(|| rest.into()))),
        "rename" => match rest.split_once(char::is_whitespace) {
            Some((id, name)) => revise(id, Revision::Rename(name.trim().into())),
            None => Outcome::Fail("/checkpoint rename takes the first letters of its id, and the new name.".into()),
        },
        "delete" | "pin" | "unpin" if rest.is_empty() => which(word),
        "delete" => revise(rest, Revision::Delete),
        "pin" => revise(rest, Revision::Pin(true)),
        "unpin" => revise(rest, Revision::Pin(false)),
        "finish" if rest.is_empty() => Outcome::Send(Command::Unfinished { finish: true }),
        "forget" if rest.is_empty() => Outcome::Send(Command::Unfinished { finish: false }),
        _ => Outcome::Send(Command::Checkpoint(arguments.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_or_what_to_do() {
        let send = |command| Outcome::Send(command);
        assert_eq!(run(""), send(Command::Checkpoint(String::new())));
        assert_eq!(run("before the big move"), send(Command::Checkpoint("before the big move".into())));
        assert_eq!(run("create list"), send(Command::Checkpoint("list".into())));
        assert_eq!(run("list"), Outcome::Screen(Screen::Checkpoints(None)));
        assert_eq!(run("restore  before "), Outcome::Screen(Screen::Checkpoints(Some("before".into()))));
        let id = || CheckpointId("ab12".into());
        assert_eq!(run("rename ab12 a b"), send(Command::Revise { id: id(), revision: Revision::Rename("a b".into()) }));
        assert_eq!(run("unpin ab12"), send(Command::Revise { id: id(), revision: Revision::Pin(false) }));
        assert_eq!(run("delete ab12"), send(Command::Revise { id: id(), revision: Revision::Delete }));
        assert!(matches!(run("delete"), Outcome::Fail(_)) && matches!(run("rename ab12"), Outcome::Fail(_)));
        assert_eq!(run("finish"), send(Command::Unfinished { finish: true }));
    }
}
