//! **Pure**: does a command want somebody to answer it? Nobody can: it has no terminal, and its standard input is closed.
//!
//! A guess by what it printed, so it decides nothing: it only says how the command can be run without asking.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// A password, a passphrase, a user name.
    Secret,
    /// Yes or no, or just a key.
    Confirmation,
    Answer,
    Editor,
    Terminal,
}

const SECRETS: [&str; 9] = ["password", "passphrase", "passcode", "verification code", "username", "login", "token", "api key", "pin"];
const CONFIRMATIONS: [&str; 8] = ["[y/n", "(y/n", "[yes/no", "(yes/no", "y/n?", "yes/no?", "[y,n", "(y or n)"];
const PRESSES: [&str; 7] = ["are you sure", "press any key", "press enter", "press return", "hit enter", "hit return", "press [enter]"];
const REQUESTS: [&str; 8] = ["enter ", "select ", "choose ", "choice", "type ", "option", "your ", "specify "];
/// What programs say that wanted to open one of these and could not.
const EDITORS: [&str; 3] = ["problem with the editor", "terminal is dumb, but editor", "aborting commit due to empty commit message"];
const REFUSED: [&str; 6] = [
    "could not read username",
    "could not read password",
    "terminal is required to read the password",
    "a password is required",
    "host key verification failed",
    "read_passphrase",
];
const TERMINALS: [&str; 20] = [
    "not a tty",
    "not a terminal",
    "isn't a terminal",
    "not from a terminal",
    "non-tty",
    "non tty",
    "no tty",
    "requires a tty",
    "requires a terminal",
    "terminal is required",
    "interactive terminal",
    "must be run from a terminal",
    "inappropriate ioctl",
    "/dev/tty",
    "prompts disabled",
    "error opening terminal",
    "raw mode is not supported",
    "eof when reading a line",
    "eoferror",
    "cannot prompt",
];

/// How many of the last lines tell why a command failed.
const LAST: usize = 6;
/// Longer lines are no questions.
const LONGEST: usize = 400;

/// The last line, if it is a question that somebody is to answer on the same line.
pub fn question(line: &str) -> Option<Wants> {
    let line = line.trim().to_lowercase();
    if line.is_empty() || line.len() > LONGEST {
        return None;
    }
    let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
    // `[default]` and the like stand behind the colon or before it.
    let bare = line.trim_end_matches([' ', '›', '>', '…']);
    let asks = bare.ends_with(':') || bare.ends_with("]:") || line.ends_with('›') || bare.ends_with(')') && line.starts_with("? ");
    if has(&CONFIRMATIONS) || has(&PRESSES) {
        Some(Wants::Confirmation)
    } else if bare.ends_with(':') && has(&SECRETS) {
        Some(Wants::Secret)
    } else if bare.ends_with('?') {
        Some(if has(&["continue?", "proceed?", "overwrite", "remove", "delete", "replace"]) { Wants::Confirmation } else { Wants::Answer })
    } else if asks && (has(&REQUESTS) || line.starts_with("? ")) {
        Some(Wants::Answer)
    } else {
        None
    }
}

/// Why a command came to nothing, by the end of what it printed.
pub fn unanswered(output: &str) -> Option<Wants> {
    let last = || output.lines().rev().filter(|line| !line.trim().is_empty()).take(LAST).map(str::to_lowercase);
    let says = |phrases: &[&str]| last().any(|line| phrases.iter().any(|phrase| line.contains(phrase)));
    // A question that was met by the end of the input has its abortion behind it, or below.
    let asked = |line: String| line.len() <= LONGEST && CONFIRMATIONS.iter().any(|words| line.contains(words));
    let open = || output.lines().next_back().filter(|_| !output.ends_with('\n')).and_then(question);
    if says(&EDITORS) {
        Some(Wants::Editor)
    } else if says(&REFUSED) {
        Some(Wants::Secret)
    } else if last().take(2).any(asked) {
        Some(Wants::Confirmation)
    } else if says(&TERMINALS) {
        Some(Wants::Terminal)
    } else {
        open()
    }
}

impl Wants {
    /// For the model: what can be done.
    pub fn hint(self) -> &'static str {
        match self {
            Wants::Secret => {
                "It asks for a password or a name, and nobody can type one here: there is no terminal. Use credentials that need no prompt \
                 (an agent, a token in the environment, `sudo -n`), or let the user run it."
            }
            Wants::Confirmation => {
                "It asks for a confirmation, and nobody can give one here: there is no terminal. Run it with the option that answers (such as \
                 -y or --yes), or pipe the answer in: printf 'y\\n' | …"
            }
            Wants::Answer => {
                "It asks a question, and nobody can answer here: there is no terminal. Give the answer by an option or argument, or pipe it in: \
                 printf 'answer\\n' | …"
            }
            Wants::Editor => {
                "It opens an editor, and there is none. Give the text by an option (such as git commit -m, git rebase without -i), or name a \
                 command that edits: GIT_SEQUENCE_EDITOR='sed …'"
            }
            Wants::Terminal => {
                "It wants a terminal, and there is none. Run it without what needs one (docker run without -t, a --no-input, --batch or \
                 --non-interactive option), or let the user run it."
            }
        }
    }

    /// For the user, while it waits.
    pub fn shown(self) -> &'static str {
        match self {
            Wants::Secret => "waits for a password or a name: there is no terminal to type it in",
            Wants::Confirmation => "waits for a confirmation: there is no terminal to give it in",
            Wants::Answer | Wants::Editor | Wants::Terminal => "waits for an answer: there is no terminal to give it in",
        }
    }

    /// For the tool line.
    pub fn summary(self) -> &'static str {
        match self {
            Wants::Secret | Wants::Confirmation | Wants::Answer => "asks for input",
            Wants::Editor => "wants an editor",
            Wants::Terminal => "wants a terminal",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Wants::*, *};

    #[test]
    fn an_unfinished_line_may_be_a_question() {
        for (line, wants) in [
            ("Password:", Some(Secret)),
            ("[sudo] password for ada: ", Some(Secret)),
            ("Enter passphrase for key '/home/ada/.ssh/id_ed25519': ", Some(Secret)),
            ("Username for 'https://example.org': ", Some(Secret)),
            ("Do you want to continue? [Y/n] ", Some(Confirmation)),
            ("Proceed (Y/n)? ", Some(Confirmation)),
            ("Are you sure you want to continue connecting (yes/no/[fingerprint])? ", Some(Confirmation)),
            ("rm: remove write-protected regular file 'a'? ", Some(Confirmation)),
            ("Press any key to continue . . .", Some(Confirmation)),
            ("? Project name: › ", Some(Answer)),
            ("? What is your project named? (my-app)", Some(Answer)),
            ("package name: (x) Enter your name: ", Some(Answer)),
            ("Select an option [1-3]: ", Some(Answer)),
            ("Is this OK?", Some(Answer)),
            ("Downloading: ", None),
            ("Compiling backstitch v0.1.0 ...", None),
            ("12 %", None),
            ("listening on http://127.0.0.1:3000 ", None),
            ("error: password is wrong", None),
            ("", None),
        ] {
            assert_eq!(question(line), wants, "{line}");
        }
        assert_eq!(question(&format!("{} [y/n]", "x".repeat(1000))), None);
    }

    #[test]
    fn what_failed_for_want_of_an_answer_says_so_at_its_end() {
        for (output, wants) in [
            ("The following packages will be installed:\n  x\nDo you want to continue? [Y/n] Abort.\n", Some(Confirmation)),
            ("Overwrite a.txt? (y/N) \nCancelled.\n", Some(Confirmation)),
            ("the input device is not a TTY\n", Some(Terminal)),
            ("stty: 'standard input': Inappropriate ioctl for device\n", Some(Terminal)),
            ("x: cannot open /dev/tty: No such device or address\n", Some(Terminal)),
            ("Traceback (most recent call last):\n  File \"a\"\nEOFError: EOF when reading a line\n", Some(Terminal)),
            ("sudo: a terminal is required to read the password; either use -S …\nsudo: a password is required\n", Some(Secret)),
            ("fatal: could not read Username for 'https://example.org': terminal prompts disabled\n", Some(Secret)),
            ("No ECDSA host key is known for h and you have requested strict checking.\nHost key verification failed.\n", Some(Secret)),
            (
                "error: There was a problem with the editor 'false'.\nPlease supply the message using either -m or -F option.\n",
                Some(Editor),
            ),
            ("Password: ", Some(Secret)),
            ("Password:\nwrong\n", None),
            ("error[E0308]: mismatched types\n", None),
            ("", None),
        ] {
            assert_eq!(unanswered(output), wants, "{output}");
        }
        let long_ago = format!("is it so? [y/n]\n{}", "line\n".repeat(20));
        assert_eq!(unanswered(&long_ago), None);
    }
}
