//! Programs that run what their words, or what they read, tell them: `python3 -c …`, `bash /dev/stdin`, `sed '1e …'`.
//!
//! What a file of the project's makes them do is not looked at: that is what building and testing it means.

/// Names without the version at their end.
const INTERPRETERS: [&str; 27] = [
    "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "pwsh", "nu", "python", "pypy", "ruby", "node", "nodejs",
    "perl", "php", "lua", "luajit", "Rscript", "julia", "deno", "bun", "tsx", "ts-node",
];

/// Is there something that this program is told to do, and that can't be told from here?
pub fn runs_what_can_not_be_seen(said: &[Option<String>]) -> bool {
    let Some((Some(program), args)) = said.split_first() else { return true };
    let name = program.rsplit('/').next().unwrap_or_default();
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    match plain {
        _ if INTERPRETERS.contains(&plain) => interprets(args),
        "sed" | "gsed" => !sed_runs_nothing(args),
        "awk" | "gawk" | "mawk" | "nawk" => {
            let odd = |word: &str| ["system", "|", "@", "getline", "-f", "-i", "--"].iter().any(|part| word.contains(part));
            args.iter().any(|word| word.as_deref().is_none_or(odd))
        }
        "make" | "gmake" => {
            let odd = |word: &str| is_input(word) || word.starts_with("--e") || word.starts_with('-') && word.ends_with("f-");
            args.iter().any(|word| word.as_deref().is_none_or(odd))
        }
        _ => false,
    }
}

/// Standard input, whatever it is called.
fn is_input(word: &str) -> bool {
    word == "-" || word.starts_with("/dev/") && word != "/dev/null" || word.starts_with("/proc/")
}

/// Code among the words, or from elsewhere than a file.
fn interprets(args: &[Option<String>]) -> bool {
    for word in args {
        let Some(word) = word else { return true };
        match word.strip_prefix('-') {
            Some("-version" | "V" | "v" | "-help" | "h") => return false,
            // `-m module`, and a script: the project's.
            Some("m") => return false,
            Some(long) if long.starts_with('-') => {
                if ["eval", "print", "command", "exec"].iter().any(|name| long[1..].starts_with(name)) {
                    return true;
                }
            }
            Some(letters) if letters.is_empty() || letters.contains(['c', 'e', 'E', 'r', 'p', 's', 'i', 'B', 'R', 'F']) => return true,
            Some(_) => {}
            None => return is_input(word) || word == "eval" || word == "repl",
        }
    }
    true
}

/// Known options and scripts that only change text.
fn sed_runs_nothing(args: &[Option<String>]) -> bool {
    let Some(args) = args.iter().map(Option::as_deref).collect::<Option<Vec<&str>>>() else { return false };
    let (mut args, mut scripts) = (args.into_iter(), vec![]);
    let mut first = None;
    while let Some(word) = args.next() {
        match word.strip_prefix('-') {
            Some("e") => match args.next() {
                Some(script) => scripts.push(script),
                None => return false,
            },
            Some("n" | "E" | "r" | "s" | "z" | "u" | "ni" | "Ei" | "ri" | "nE" | "nr") => {}
            Some(edit) if edit.strip_prefix('i').is_some_and(|end| end.is_empty() || end.starts_with('.')) => {}
            Some(_) => return false,
            None => first = first.or(Some(word)),
        }
    }
    // Without `-e` the first operand is the script. With it, taking a file for one says too much rather than too little.
    if scripts.is_empty() {
        scripts.extend(first);
    }
    !scripts.is_empty() && scripts.iter().all(|script| changes_text_only(script))
}

fn changes_text_only(script: &str) -> bool {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || ";{}".contains(c));
        // Where it applies.
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || "$,!+~ ".contains(c));
            match rest.strip_prefix('/') {
                Some(pattern) => match section(pattern, '/') {
                    Some(after) => rest = after.trim_start_matches('I'),
                    None => return false,
                },
                None => break,
            }
        }
        let mut chars = rest.chars();
        let Some(command) = chars.next() else { return true };
        rest = chars.as_str();
        if matches!(command, 's' | 'y') {
            let Some(mark) = chars.next().filter(|mark| *mark != '\n' && *mark != '\\') else { return false };
            let Some(after) = section(chars.as_str(), mark).and_then(|second| section(second, mark)) else { return false };
            rest = after.trim_start_matches(|c: char| command == 's' && (c.is_ascii_digit() || "gpiIM".contains(c)));
        } else if !"dpqQ=nNgGhHxDPl{}".contains(command) {
            return false;
        }
        if !rest.trim_start_matches(' ').is_empty() && !rest.trim_start_matches(' ').starts_with([';', '\n', '}', '{']) {
            return false;
        }
    }
}

/// What comes after the next mark that is not behind a backslash.
fn section(text: &str, mark: char) -> Option<&str> {
    let mut chars = text.chars();
    loop {
        match chars.next()? {
            '\\' => drop(chars.next()),
            c if c == mark => return Some(chars.as_str()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::runs_what_can_not_be_seen;

    fn runs(line: &str) -> bool {
        let words: Vec<Option<String>> = line.split('\u{1f}').map(|word| Some(word.to_owned())).collect();
        runs_what_can_not_be_seen(&words)
    }

    #[test]
    fn code_in_words_or_from_elsewhere_is_unseen_and_scripts_are_the_projects() {
        for line in [
            "bash /dev/stdin",
            "bash",
            "sh -s x",
            "python3 -",
            "python3.11 -c print(1)",
            "python3 -Ec x",
            "perl -ne print",
            "node --eval x",
            "node -p 1",
            "deno eval x",
            "ruby -e x",
            "php -r x",
            "/usr/bin/python3 /dev/fd/3",
            "sed 1e\u{20}rm a",
            "sed s/a/b/e a",
            "sed s/a/b/we a",
            "sed -f x a",
            "sed -n e a",
            "sed 1{e a",
            "sed /a/e a",
            "sed s/a/b\\/ a",
            "awk BEGIN{system(1)} a",
            "make -f - all",
            "make --eval=x",
        ] {
            assert!(runs(&line.replace(' ', "\u{1f}").replace("\u{1f}rm", " rm")), "{line}");
        }
        for line in [
            "python3 x.py -c",
            "python3 -m pytest -c x",
            "bash scripts/x.sh -e",
            "node --version",
            "node build.js",
            "sed -i s/a/b/g a",
            "sed -n 1,3p;$d a",
            "sed -i.bak -E s|(e)|w| e",
            "sed /^e/d a",
            "sed -e s/a/b/ -e 2,/x/d a",
            "awk {print$1} a",
            "make all",
            "ls -e",
        ] {
            assert!(!runs(&line.replace(' ', "\u{1f}")), "{line}");
        }
        assert!(runs_what_can_not_be_seen(&[Some("sed".into()), None]) && runs_what_can_not_be_seen(&[None]));
    }
}
