//! Programs that run other programs: what they run is looked at as well.

use super::{After, DEEPEST, Folders, Walk, is_harmless_value, paths};
use crate::{
    command_line::{
        Refusal, parser,
        paths::{Scene, unknown},
        programs,
        syntax::{Command, Kind, Looks, Word, stand_at},
    },
    protocol::Touch,
};

/// Run what they are given, in ways that are not looked into.
const OTHERS: &[&str] = &[
    "parallel",
    "watch",
    "script",
    "entr",
    "unshare",
    "nsenter",
    "chroot",
    "flock",
    "setsid",
    "strace",
    "ltrace",
    "gdb",
    "lldb",
    "valgrind",
    "taskset",
    "chrt",
    "busybox",
    "toybox",
    "systemd-run",
    "at",
    "batch",
    "crontab",
    "expect",
    "screen",
    "tmux",
    "firejail",
    "bwrap",
    "proot",
    "fakeroot",
    "direnv",
    "mise",
    "asdf",
    "nix-shell",
    "nix",
    "dotenv",
    "doppler",
    "op",
    "ld.so",
    "perf",
    "hyperfine",
    "rlwrap",
    "unbuffer",
    "runuser",
    "setpriv",
    "cpulimit",
    "prlimit",
    "torsocks",
    "proxychains",
    "faketime",
    "cargo-watch",
    "watchexec",
    "zsh",
    "ksh",
    "mksh",
    "fish",
    "csh",
    "tcsh",
    "pwsh",
    "nu",
    "elvish",
    "xonsh",
    "osascript",
];

impl Walk<'_> {
    /// The touches of a program that runs another one; `None` if it is none of these.
    pub(super) fn wrapper(
        &mut self,
        command: &Command,
        name: &str,
        words: &[Word],
        from: &Folders,
        after: &mut After,
    ) -> Option<Vec<Touch>> {
        let args = &words[1..];
        match name {
            "command" => match args {
                [look, names @ ..] if matches!(look.literal(), Some("-v" | "-V")) => {
                    names.iter().all(|n| n.literal().is_some()).then(Vec::new).or_else(|| Some(vec![unknown("a name that can't be known")]))
                }
                _ => Some(self.runs(command, past(args, "", "p"), from, false)),
            },
            "builtin" | "exec" if args.is_empty() => Some(vec![]),
            "builtin" | "exec" | "nohup" => Some(self.runs(command, past(args, "", ""), from, false)),
            "time" => Some(self.runs(command, past(args, "", "p"), from, false)),
            "nice" | "ionice" => Some(self.runs(command, past(args, "nc", ""), from, false)),
            "stdbuf" => Some(self.runs(command, past(args, "ioe", ""), from, false)),
            "timeout" => {
                let rest = past(args, "ks", "v").and_then(|rest| match rest {
                    [span, rest @ ..] if span.literal().is_some_and(|s| s.starts_with(|c: char| c.is_ascii_digit())) => Some(rest),
                    _ => None,
                });
                Some(self.runs(command, rest, from, false))
            }
            "env" => Some(self.with_variables(command, args, from)),
            "xargs" => {
                let mut touches = self.runs(command, past(args, "nILPdsE", "0rtx"), from, true);
                // What it is fed may take the place of the program's name as well.
                if args.iter().any(|word| word.text.starts_with("-I")) {
                    touches.push(unknown("arguments that can't be known"));
                }
                Some(touches)
            }
            "find" => self.found(command, args, from),
            "sudo" | "doas" | "su" | "run0" | "pkexec" => {
                let inner = past(args, "ugUhpCrtT", "AbEeHKklnPSsVvi").filter(|rest| !rest.is_empty());
                if let (Some(_), "sudo" | "doas") = (inner, name) {
                    self.runs(command, inner, from, false);
                }
                Some(vec![unknown("runs with the rights of somebody else")])
            }
            "sh" | "bash" | "dash" | "ash" => self.shell(command, args, from),
            "eval" => {
                let text: Option<Vec<&str>> = args.iter().map(Word::literal).collect();
                Some(match text {
                    Some(text) => self.text(command, &text.join(" "), from, Some(after)),
                    None => vec![unknown("evaluates what can't be known")],
                })
            }
            _ if OTHERS.contains(&name) => {
                let folders = paths(from);
                let mut touches = programs::known::touches(name, args, &Scene { around: self.around, folders: &folders });
                touches.retain(|touch| matches!(touch, Touch::Network));
                touches.push(unknown(format!("what `{name}` runs")));
                Some(touches)
            }
            _ => None,
        }
    }

    /// Looks at a command that stands within another; `fed`: more words come from elsewhere.
    fn runs(&mut self, command: &Command, words: Option<&[Word]>, from: &Folders, fed: bool) -> Vec<Touch> {
        let Some(words) = words else { return vec![unknown("an option that is not known")] };
        if words.is_empty() {
            return if fed { vec![] } else { vec![unknown("runs what it is not told here")] };
        }
        let mut words = words.to_vec();
        // Its own substitutions have been looked at.
        words.iter_mut().for_each(|word| word.commands.clear());
        if matches!(words[0].literal(), Some("cd" | "eval")) {
            return vec![unknown("may change the folder in a roundabout way")];
        }
        let echo = words[0].literal() == Some("echo");
        if fed {
            words.push(Word { looks: Looks { dynamic: true, splits: true, ..Looks::default() }, ..Word::default() });
        }
        if self.texts >= DEEPEST {
            return vec![unknown("too many things in one another")];
        }
        self.texts += 1;
        // Only a redirection that stands with it would be its own; the outer command has those.
        let inner = Command { at: command.at.clone(), kind: Kind::Simple { assignments: vec![], words }, redirects: vec![] };
        self.command(&inner, from);
        self.texts -= 1;
        // Echo says whatever it is given; others may take it for an option.
        if fed && !echo { vec![unknown("arguments that can't be known")] } else { vec![] }
    }

    fn with_variables(&mut self, command: &Command, args: &[Word], from: &Folders) -> Vec<Touch> {
        let mut touches = vec![];
        let mut rest = args;
        while let [word, more @ ..] = rest {
            let Some(text) = word.literal().or(word.assigns().map(|_| word.text.as_str())) else { break };
            match text {
                "--" => rest = more,
                _ if text.starts_with('-') => return vec![unknown("an option that is not known")],
                _ if text.contains('=') => {
                    let name = word.assigns().unwrap_or_default();
                    if !is_harmless_value(name, word) {
                        touches.push(unknown(format!("sets `{name}`")));
                    }
                    rest = more;
                }
                _ => break,
            }
        }
        if rest.is_empty() {
            return vec![unknown("shows all variables, secrets among them")];
        }
        touches.extend(self.runs(command, Some(rest), from, false));
        touches
    }

    /// Only with something to run is `find` a wrapper.
    fn found(&mut self, command: &Command, args: &[Word], from: &Folders) -> Option<Vec<Touch>> {
        let begins = |word: &Word| matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir");
        args.iter().any(begins).then_some(())?;
        let mut rest = args;
        while let Some(at) = rest.iter().position(begins) {
            rest = &rest[at + 1..];
            let end = rest.iter().position(|word| matches!(word.text.as_str(), ";" | "+")).unwrap_or(rest.len());
            self.runs(command, Some(&rest[..end]), from, true);
            rest = &rest[end..];
        }
        let folders = paths(from);
        let scene = Scene { around: self.around, folders: &folders };
        let starts = args.iter().take_while(|word| !word.text.starts_with('-') && word.text != "(" && word.text != "!");
        let mut touches: Vec<Touch> = starts.flat_map(|word| scene.lists(word)).collect();
        touches.push(unknown("runs a command for each file"));
        Some(touches)
    }

    /// `sh -c 'text'` is looked into; a script is the project's own.
    fn shell(&mut self, command: &Command, args: &[Word], from: &Folders) -> Option<Vec<Touch>> {
        match args {
            [] => Some(vec![unknown("runs what it reads")]),
            [options, text, more @ ..] if is_command_option(options) => match text.literal() {
                Some(text) if more.iter().all(|word| word.literal().is_some()) => Some(self.text(command, text, from, None)),
                _ => Some(vec![unknown("runs what can't be known")]),
            },
            [script, ..] if script.literal().is_some_and(|text| !text.starts_with(['-', '+'])) => None,
            [only] if only.literal() == Some("--version") => None,
            _ => Some(vec![unknown("runs what can't be known")]),
        }
    }

    /// A text that a shell is given to run.
    fn text(&mut self, command: &Command, text: &str, from: &Folders, after: Option<&mut After>) -> Vec<Touch> {
        if self.texts >= DEEPEST {
            return vec![unknown("too many things in one another")];
        }
        match parser::parse_at(text, self.texts) {
            Err(Refusal(why)) => vec![unknown(why)],
            Ok(mut tree) => {
                let outer = self.inside;
                self.inside = Some(outer.unwrap_or((command.at.start, command.at.end)));
                self.texts += 1;
                stand_at(&mut tree, command.at.start);
                let its = self.list(&tree, from);
                self.texts -= 1;
                self.inside = outer;
                // It runs in the shell itself.
                if let Some(after) = after {
                    *after = its;
                }
                vec![]
            }
        }
    }
}

/// `-c`, perhaps with letters that make it stop at errors or read the user's own start-up files.
fn is_command_option(word: &Word) -> bool {
    let letters = word.literal().and_then(|text| text.strip_prefix('-'));
    letters.is_some_and(|letters| letters.ends_with('c') && letters.chars().all(|c| "ceulx".contains(c)))
}

/// What follows the options; `None` if there is one that is not known. `valued` take a value, `plain` do not.
fn past<'w>(args: &'w [Word], valued: &str, plain: &str) -> Option<&'w [Word]> {
    let mut rest = args;
    while let [word, more @ ..] = rest {
        let Some(text) = word.literal().filter(|text| text.starts_with('-') && text.len() > 1) else { return Some(rest) };
        if text == "--" {
            return Some(more);
        }
        let letters = &text[1..];
        let first = letters.chars().next()?;
        rest = if matches!(text, "--preserve-status" | "--foreground" | "--null" | "--no-run-if-empty") {
            more
        } else if valued.contains(first) {
            if letters.len() > 1 { more } else { more.get(1..)? }
        } else if letters.chars().all(|c| plain.contains(c)) || valued.contains('n') && letters.chars().all(|c| c.is_ascii_digit()) {
            more
        } else {
            return None;
        };
    }
    Some(rest)
}
