//! `git`: which of its commands read, with which options, and what a repository may make them run.
//!
//! Even a plain `git status` does as the repository's own configuration says (`core.fsmonitor`, `diff.external`, filters, `textconv`).
//! So every read is told as [`Touch::Repository`], for somebody who can look at that configuration; commands that never compare
//! files are no exception, because the folder may turn out to be a repository of its own.

use super::options;
use crate::{
    command_line::{paths::Scene, syntax::Word},
    protocol::Touch,
};

const COMPARING: &str = "patch no-patch unified= stat=? numstat shortstat dirstat=? name-only name-status summary compact-summary raw check cached staged \
    merge-base word-diff=? word-diff-regex= color=? no-color color-words=? color-moved=? minimal patience histogram diff-algorithm= \
    ignore-all-space ignore-space-change ignore-space-at-eol ignore-blank-lines ignore-cr-at-eol function-context inter-hunk-context= \
    find-renames=? find-copies=? no-renames diff-filter= relative=? text binary full-index abbrev=? exit-code quiet no-ext-diff no-textconv \
    src-prefix= dst-prefix= no-prefix ignore-submodules=? submodule=? pickaxe-regex pickaxe-all line-prefix= no-indent-heuristic";
const CHOOSING: &str = "oneline graph all branches=? tags=? remotes=? decorate=? no-decorate pretty=? format= abbrev-commit no-abbrev-commit max-count= skip= since= \
    after= until= before= author= committer= grep= invert-grep regexp-ignore-case extended-regexp fixed-strings merges no-merges \
    first-parent reverse date= topo-order date-order author-date-order follow full-history left-right cherry-pick cherry count \
    left-only right-only boundary parents children simplify-by-decoration ancestry-path no-walk source clear-decorations relative-date log-size show-notes=? no-notes";

struct Reading {
    command: &'static str,
    short: &'static str,
    long: &'static [&'static str],
}

const fn reading(command: &'static str, short: &'static str, long: &'static [&'static str]) -> Reading {
    Reading { command, short, long }
}

/// What is not here runs, writes, or reaches the network.
const READING: &[Reading] = &[
    reading(
        "status",
        "sbuvz",
        &[
            "short branch porcelain=? long show-stash untracked-files=? ignored=? column=? no-column ahead-behind no-ahead-behind renames no-renames verbose null",
        ],
    ),
    reading("diff", "puU:MCDBRwbaWS:G:z", &[COMPARING]),
    reading("log", "pusU:n:MCDBRwbaWS:G:ziEFPcmgL:#", &[COMPARING, CHOOSING]),
    reading("show", "pusU:n:MCDBRwbaWS:G:zcm#", &[COMPARING, CHOOSING]),
    reading("shortlog", "nsec", &["numbered summary email committer no-merges merges since= until= all"]),
    reading("rev-list", "n:#", &[CHOOSING, "objects"]),
    reading(
        "rev-parse",
        "q",
        &[
            "show-toplevel abbrev-ref=? short=? verify quiet git-dir is-inside-work-tree is-bare-repository show-prefix show-cdup symbolic symbolic-full-name absolute-git-dir git-common-dir all branches tags remotes",
        ],
    ),
    reading(
        "ls-files",
        "cdmostuvzi",
        &[
            "cached deleted modified others stage unmerged killed exclude-standard full-name error-unmatch abbrev=? eol ignored directory no-empty-directory",
        ],
    ),
    reading("ls-tree", "rdtlz", &["long name-only name-status full-name full-tree abbrev=? object-only"]),
    reading(
        "blame",
        "L:lbtcfnspwMCe",
        &["porcelain line-porcelain show-name show-number show-email date= since= root abbrev=? ignore-rev= color-lines color-by-age"],
    ),
    reading("describe", "", &["tags all always dirty=? long abbrev=? contains match= exclude= exact-match first-parent candidates="]),
    reading("cat-file", "tsp", &["batch-check=? batch-all-objects"]),
    reading("merge-base", "a", &["all is-ancestor octopus independent fork-point"]),
    reading("name-rev", "", &["tags name-only refs= always"]),
    reading("diff-tree", "rtpscmzRM", &[COMPARING, "no-commit-id root"]),
    reading("for-each-ref", "", &["format= sort= count= points-at= merged=? no-merged=? contains=? no-contains=?"]),
    reading("show-ref", "sdqh", &["head heads tags verify hash=? abbrev=? quiet dereference"]),
    reading("count-objects", "vH", &["verbose human-readable"]),
    reading("var", "", &[]),
    reading("version", "", &["build-options"]),
    reading("check-ignore", "vnqz", &["verbose non-matching quiet no-index"]),
    // Only to be looked at: with a name as its operand each of these makes something.
    reading(
        "branch",
        "avrv",
        &[
            "all remotes list verbose show-current merged=? no-merged=? contains=? no-contains=? sort= format= color=? no-color column=? points-at= ignore-case no-abbrev abbrev=?",
        ],
    ),
    reading("tag", "ln", &["list sort= format= contains=? no-contains=? merged=? no-merged=? points-at= column=? ignore-case"]),
    reading("remote", "", &[]),
    reading("stash", "p", &[COMPARING]),
    reading("worktree", "vz", &["porcelain verbose"]),
    reading("reflog", "n:#", &[CHOOSING]),
    reading("config", "", &["get get-all local global system type="]),
];

/// What a read of git's is told, for somebody who looks at what it would show.
#[derive(Debug, Default)]
pub struct GitRead {
    pub command: String,
    /// Without dashes and values.
    pub options: Vec<String>,
    pub values: Vec<(String, String)>,
    /// Before `--`: revisions, perhaps paths. Patterns for files are left out.
    pub operands: Vec<String>,
    /// Is there a `--`, so that the operands are revisions and nothing else?
    pub divided: bool,
}

/// Takes the words of a command that was told as [`Touch::Repository`].
pub fn read_of(said: &[Option<String>]) -> Option<GitRead> {
    let mut words = said.get(1..)?;
    loop {
        words = match words {
            [Some(option), rest @ ..] if ALONE.contains(&option.as_str()) => rest,
            [Some(option), _, rest @ ..] if option == "-C" => rest,
            _ => break,
        }
    }
    let (command, words) = words.split_first()?;
    let command = command.clone()?;
    let reading = READING.iter().find(|r| r.command == command)?;
    let dashes = words.iter().position(|word| word.as_deref() == Some("--"));
    let before = words[..dashes.unwrap_or(words.len())].iter().flatten();
    let before: Vec<Word> = before.map(|text| Word { text: text.clone(), ..Word::default() }).collect();
    let read = options::read(reading.short, reading.long, &before)?;
    let operands = read.operands.iter().map(|word| word.text.clone()).collect();
    Some(GitRead { command, options: read.options, values: read.values, operands, divided: dashes.is_some() })
}

/// Options of git itself that stand before the command and change nothing that matters.
const ALONE: [&str; 4] = ["--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"];

pub fn reads(args: &[Word], scene: &Scene) -> Option<Vec<Touch>> {
    let mut args = args;
    let mut touches = vec![];
    let mut elsewhere = vec![];
    loop {
        match args {
            [option, rest @ ..] if option.literal().is_some_and(|option| ALONE.contains(&option)) => args = rest,
            [option, folder, rest @ ..] if option.literal() == Some("-C") && elsewhere.is_empty() => {
                touches.extend(scene.lists(folder));
                elsewhere = scene.folders_of(folder)?;
                args = rest;
            }
            _ => break,
        }
    }
    let here = Scene { around: scene.around, folders: if elsewhere.is_empty() { scene.folders } else { &elsewhere } };
    let [command, args @ ..] = args else { return None };
    let command = command.literal()?;
    let reading = READING.iter().find(|r| r.command == command)?;
    if args.iter().any(|word| word.looks.dynamic || word.looks.home) {
        return None;
    }
    // Signatures are shown by running what checks them.
    if args.iter().any(|word| word.text.contains("%G") || word.text.contains("(signature")) {
        return None;
    }
    // Behind an option or a dash it is no such command, but a file to put away.
    let subcommand = args.first().and_then(Word::literal);
    let read = options::read(reading.short, reading.long, args)?;
    let first = read.operands.first().map(|word| word.literal());
    let has = |names: &[&str]| read.options.iter().any(|option| names.contains(&option.as_str()));
    let only_looks = match command {
        "branch" => {
            read.operands.is_empty()
                || has(&["list", "contains", "no-contains", "merged", "no-merged", "points-at"]) && !has(&["show-current"])
        }
        "tag" => read.operands.is_empty() || has(&["l", "list"]),
        // Not its addresses: they may have passwords in them.
        "remote" => read.operands.is_empty(),
        "stash" => matches!(subcommand, Some("list" | "show")),
        "worktree" => subcommand == Some("list"),
        "reflog" => read.operands.is_empty() || matches!(subcommand, Some("show" | "HEAD")),
        // What is elsewhere in it may be a secret.
        "config" => {
            let known = ["user.", "core.", "init.", "branch.", "pull.", "push.", "merge.", "color."];
            read.operands.len() == 1
                && first.flatten().is_some_and(|name| known.iter().any(|section| name.to_lowercase().starts_with(section)))
        }
        "cat-file" => has(&["t", "s", "p", "batch-check"]),
        _ => true,
    };
    if !only_looks {
        return None;
    }
    // Files, as far as they are any: also in `HEAD:file`, and without a repository two of them are compared wherever they are.
    for word in read.operands {
        touches.extend(here.reads(word));
        for (colon, _) in word.text.match_indices(':') {
            let path = word.text[colon + 1..].trim_start_matches('/');
            touches.extend(here.reads(&Word { text: path.into(), ..Word::default() }));
        }
    }
    // `-L 3,9:file`: lines of a file.
    for (_, value) in read.values.iter().filter(|(name, value)| name == "L" && value.contains(':')) {
        let path = value.rsplit(':').next().unwrap_or_default();
        touches.extend(here.reads(&Word { text: path.into(), ..Word::default() }));
    }
    touches.extend(here.repository());
    Some(touches)
}

impl Scene<'_> {
    fn repository(&self) -> Vec<Touch> {
        self.here(&Touch::Repository)
    }
}
