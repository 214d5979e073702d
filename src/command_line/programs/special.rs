//! Programs whose words follow rules of their own. `None`: not one of these; `Some(None)`: not known to only read.

use super::{git, options};
use crate::{
    command_line::{
        paths::{Scene, is_secret_name},
        syntax::Word,
    },
    protocol::Touch,
};

type Reads = Option<Vec<Touch>>;

pub fn reads(name: &str, args: &[Word], scene: &Scene) -> Option<Reads> {
    Some(match name {
        "git" => git::reads(args, scene),
        _ if reads_oddly(name, args) => None,
        "find" => find(args, scene),
        "sed" => sed(args, scene),
        "test" => test(args, scene),
        "[" => match args.split_last() {
            Some((last, args)) if last.literal() == Some("]") => test(args, scene),
            _ => None,
        },
        "printf" => printf(args),
        "date" => date(args),
        "ps" => ps(args),
        "jq" => jq(args, scene),
        "printenv" => variables(args),
        "set" => set(args),
        "tee" => tee(args),
        _ => return None,
    })
}

fn literals(args: &[Word]) -> Option<Vec<&str>> {
    args.iter().map(Word::literal).collect()
}

/// Words that some programs take for something else than the rules for options say.
fn reads_oddly(name: &str, args: &[Word]) -> bool {
    let any = |odd: &dyn Fn(&Word) -> bool| args.iter().any(odd);
    let letters = |word: &Word| word.text.strip_prefix('-').map_or(0, |letters| letters.chars().take_while(|c| *c != '-').count());
    match name {
        // Of several letters it sees only the first, and takes the value of another for a file: the second file it writes.
        "xxd" => any(&|w| letters(w) > 1 && !w.text[2..].chars().all(|c| c.is_ascii_digit())),
        // The value of a letter is the next word, whatever comes after the letter: `-Lo 2 out` writes.
        "tree" => any(&|w| {
            let after = w.text.strip_prefix('-').filter(|l| !l.starts_with('-')).and_then(|l| l.split_once(['L', 'P', 'I']));
            after.is_some_and(|(_, rest)| !rest.is_empty())
        }),
        // Of `@file` it takes the words in the file.
        "strings" => any(&|w| w.text.starts_with('@') || starts_openly(w)),
        // `+5f` is a very old way to say `-f`.
        "tail" => any(&|w| w.text.strip_prefix('+').is_some_and(|n| !n.chars().all(|c| c.is_ascii_digit())) || starts_openly(w)),
        // There is no end to that.
        "seq" => any(&|w| w.text.to_lowercase().contains("inf")),
        _ => false,
    }
}

/// Where to begin, then what to look for. Whatever runs, deletes or writes is not in the list.
fn find(args: &[Word], scene: &Scene) -> Reads {
    const ALONE: &[&str] = &[
        "-print",
        "-print0",
        "-ls",
        "-prune",
        "-not",
        "!",
        "(",
        ")",
        "-a",
        "-o",
        "-and",
        "-or",
        ",",
        "-empty",
        "-executable",
        "-readable",
        "-writable",
        "-depth",
        "-d",
        "-xdev",
        "-mount",
        "-true",
        "-false",
        "-quit",
        "-nouser",
        "-nogroup",
        "-daystart",
        "-noleaf",
    ];
    const VALUED: &[&str] = &[
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-iwholename",
        "-regex",
        "-iregex",
        "-regextype",
        "-type",
        "-maxdepth",
        "-mindepth",
        "-size",
        "-mtime",
        "-mmin",
        "-atime",
        "-amin",
        "-ctime",
        "-cmin",
        "-newermt",
        "-perm",
        "-user",
        "-group",
        "-uid",
        "-gid",
        "-links",
        "-inum",
        "-printf",
        "-lname",
        "-ilname",
    ];
    let begins = args.iter().position(|w| w.text.starts_with('-') || matches!(w.text.as_str(), "(" | "!" | ",")).unwrap_or(args.len());
    let (starts, tests) = args.split_at(begins);
    let mut touches: Vec<Touch> = starts.iter().flat_map(|word| scene.lists(word)).collect();
    // `find *`: the first name might begin with a dash.
    if starts.iter().any(|word| word.looks.glob) {
        return None;
    }
    if starts.is_empty() {
        touches.extend(scene.here(&Touch::Lists));
    }
    let mut tests = literals(tests)?.into_iter();
    while let Some(test) = tests.next() {
        if VALUED.contains(&test) {
            tests.next()?;
        } else if !ALONE.contains(&test) {
            return None;
        }
    }
    Some(touches)
}

/// `sed -n '3,9p' file` and no other script: `w`, `e`, `r` and the flags of `s` write, run and read.
fn sed(args: &[Word], scene: &Scene) -> Reads {
    let [quiet, script, files @ ..] = args else { return None };
    let wanted = script.literal()?;
    let address = |text: &str| text == "$" || !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let one = |print: &str| print.strip_suffix('p').is_some_and(|lines| lines.split(',').count() <= 2 && lines.split(',').all(address));
    if quiet.literal() != Some("-n") || !wanted.split(';').all(one) || files.iter().any(|f| f.text.starts_with('-') || starts_openly(f)) {
        return None;
    }
    Some(files.iter().flat_map(|file| scene.reads(file)).collect())
}

/// Might it become a word that begins with a dash?
fn starts_openly(word: &Word) -> bool {
    word.looks.glob && word.text.starts_with(['*', '?', '['])
}

/// At most three words, whose operator is known: with more, and with `-v`, a value may be read as something to evaluate.
fn test(args: &[Word], scene: &Scene) -> Reads {
    const OF_FILES: [&str; 21] =
        ["-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h", "-b", "-c", "-p", "-S", "-g", "-u", "-k", "-O", "-G", "-N", "-a", "-t"];
    const BETWEEN: [&str; 11] = ["=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "<", ">"];
    let args = match args {
        [not, rest @ ..] if not.literal() == Some("!") => rest,
        args => args,
    };
    if args.iter().any(|w| w.looks.splits || w.looks.glob || evaluates(&w.text)) {
        return None;
    }
    match args {
        [] | [_] => Some(vec![]),
        [operator, _] if matches!(operator.literal(), Some("-n" | "-z")) => Some(vec![]),
        [operator, path] if operator.literal().is_some_and(|o| OF_FILES.contains(&o)) => Some(scene.lists(path)),
        [_, operator, _] if operator.literal().is_some_and(|o| BETWEEN.contains(&o)) => Some(vec![]),
        _ => None,
    }
}

/// Something that a shell which evaluates it would run.
fn evaluates(text: &str) -> bool {
    text.contains("$(") || text.contains('`') || text.contains("${")
}

/// With `-v` it sets a variable, whose name may be evaluated.
fn printf(args: &[Word]) -> Reads {
    let format = args.first()?.literal()?;
    let secret = args.iter().flat_map(|word| &word.variables).any(|name| is_secret_name(name));
    let odd = args.iter().any(|w| w.looks.glob || w.looks.home || evaluates(&w.text));
    (!format.starts_with('-') && !secret && !odd && only_tells(format)).then(Vec::new)
}

/// `%n` sets a variable.
fn only_tells(format: &str) -> bool {
    format.replace("%%", "").split('%').skip(1).all(|directive| {
        let kind = directive.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #.*'".contains(c)).chars().next();
        // Nothing: the end.
        kind.is_none_or(|c| "diouxXeEfFgGaAcsbq".contains(c))
    })
}

fn date(args: &[Word]) -> Reads {
    let read = options::read("d:uRIj", &["date= utc universal rfc-email rfc-3339= iso-8601=?"], args)?;
    // Without a `+` it would set the clock.
    read.operands.iter().all(|word| word.literal().is_some_and(|w| w.starts_with('+'))).then(Vec::new)
}

/// Not with `e`, which shows the variables of programs, and with them what is secret.
fn ps(args: &[Word]) -> Reads {
    let known = ["aux", "ax", "-e", "-ef", "-A", "-f", "-a", "-x", "u", "x"];
    args.iter().all(|word| word.literal().is_some_and(|w| known.contains(&w))).then(Vec::new)
}

/// A filter may read variables and other files, if it says so.
fn jq(args: &[Word], scene: &Scene) -> Reads {
    const LONG: &str = "raw-output raw-input null-input compact-output color-output monochrome-output slurp sort-keys ascii-output join-output exit-status tab";
    let read = options::read("rRncCMsSajeg", &[LONG], args)?;
    let [filter, files @ ..] = &read.operands[..] else { return None };
    let filter = filter.literal()?.to_lowercase();
    if ["env", "import", "include", "input_filename", "modulemeta", "$__", "debug"].iter().any(|word| filter.contains(word)) {
        return None;
    }
    Some(files.iter().flat_map(|file| scene.reads(file)).collect())
}

/// All of them together hold every secret of the user's shell.
fn variables(args: &[Word]) -> Reads {
    let names = literals(args)?;
    (!names.is_empty() && names.iter().all(|name| !name.starts_with('-') && !is_secret_name(name))).then(Vec::new)
}

/// The options that make a script stop at an error, or say what it does.
fn set(args: &[Word]) -> Reads {
    let words = literals(args)?;
    let letters = |w: &str| w.strip_prefix(['-', '+']).is_some_and(|l| !l.is_empty() && l.chars().all(|c| "eux".contains(c)));
    let fine = |words: &[&str]| words.iter().all(|w| letters(w));
    match &words[..] {
        [first @ .., option, "pipefail"]
            if option.strip_prefix('-').is_some_and(|l| l.ends_with('o') && l[..l.len() - 1].chars().all(|c| "eux".contains(c))) =>
        {
            fine(first).then(Vec::new)
        }
        words => (!words.is_empty() && fine(words)).then(Vec::new),
    }
}

/// To nowhere but the screen.
fn tee(args: &[Word]) -> Reads {
    args.iter().all(|word| matches!(word.literal(), Some("/dev/null" | "/dev/stderr" | "/dev/stdout"))).then(Vec::new)
}
