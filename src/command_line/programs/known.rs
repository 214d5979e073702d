//! What programs that are not merely reading are known to do: for the eye, and for what may be offered to be allowed always.

use crate::{
    command_line::{
        paths::{Scene, unknown},
        syntax::Word,
    },
    protocol::Touch,
};

/// Change what the shell itself does with the rest of the line.
const CHANGES_THE_SHELL: &[&str] = &[
    "alias",
    "unalias",
    "trap",
    "hash",
    "enable",
    "source",
    ".",
    "eval",
    "export",
    "declare",
    "typeset",
    "local",
    "readonly",
    "unset",
    "read",
    "mapfile",
    "readarray",
    "let",
    "set",
    "shopt",
    "bind",
    "complete",
    "compopt",
    "getopts",
    "pushd",
    "popd",
    "dirs",
    "umask",
    "ulimit",
    "exec",
    "builtin",
    "command",
    "cd",
    "chdir",
    "coproc",
    "function",
    "select",
    "emulate",
    "setopt",
    "autoload",
    "zmodload",
    "fc",
    "history",
    "logout",
    "suspend",
    "bg",
    "fg",
    "jobs",
    "disown",
    "caller",
    "printf",
    "test",
    "[",
    "time",
    "type",
];
const NETWORK: &[&str] = &[
    "curl",
    "wget",
    "ssh",
    "scp",
    "sftp",
    "rsync",
    "nc",
    "ncat",
    "netcat",
    "socat",
    "telnet",
    "ftp",
    "ping",
    "dig",
    "nslookup",
    "host",
    "whois",
    "gh",
    "glab",
    "aws",
    "gcloud",
    "az",
    "kubectl",
    "helm",
    "apt",
    "apt-get",
    "brew",
    "dnf",
    "yum",
    "pacman",
    "apk",
    "pip",
    "pip3",
    "pipx",
    "gem",
    "http",
    "https",
    "aria2c",
    "lynx",
    "w3m",
    "mail",
    "sendmail",
    "heroku",
    "vercel",
    "netlify",
    "flyctl",
    "terraform",
];
const DELETES: &[&str] = &["rm", "rmdir", "unlink", "shred", "trash", "wipe", "srm"];
const PROJECT: &[&str] = &[
    "cargo",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "npx",
    "bunx",
    "deno",
    "node",
    "make",
    "gmake",
    "just",
    "cmake",
    "ninja",
    "meson",
    "go",
    "pytest",
    "tox",
    "nox",
    "python",
    "python3",
    "python2",
    "ruby",
    "rake",
    "bundle",
    "rspec",
    "perl",
    "php",
    "composer",
    "mvn",
    "gradle",
    "ant",
    "sbt",
    "dotnet",
    "swift",
    "zig",
    "mix",
    "elixir",
    "stack",
    "cabal",
    "ghc",
    "ts-node",
    "tsx",
    "eslint",
    "prettier",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "playwright",
    "cypress",
    "webpack",
    "vite",
    "rollup",
    "turbo",
    "nx",
    "poetry",
    "pdm",
    "hatch",
    "uv",
    "rye",
    "mypy",
    "ruff",
    "black",
    "flake8",
    "bazel",
    "buck2",
    "java",
    "javac",
    "kotlinc",
    "scala",
    "lua",
    "Rscript",
    "julia",
    "docker",
    "podman",
    "docker-compose",
    "pre-commit",
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "fish",
    "rustc",
    "gcc",
    "g++",
    "clang",
    "clang++",
    "cc",
    "c++",
    "nim",
    "crystal",
];
/// All of their operands are written.
const WRITES: &[&str] = &["mkdir", "touch", "tee", "truncate", "mkfifo", "mktemp", "chmod", "chown", "chgrp"];
/// The last of their operands is written, the others are read.
const TO_THE_LAST: &[&str] = &["cp", "mv", "ln", "install"];

/// Beginnings that may be allowed with whatever follows: what comes after them chooses what of the project is run, not what else is.
const OPEN: &[&str] = &[
    "cargo test",
    "cargo build",
    "cargo check",
    "cargo clippy",
    "cargo fmt",
    "cargo run",
    "cargo bench",
    "cargo doc",
    "cargo nextest run",
    "cargo tree",
    "cargo metadata",
    "npm test",
    "npm run",
    "pnpm test",
    "pnpm run",
    "yarn test",
    "yarn run",
    "bun test",
    "bun run",
    "go test",
    "go build",
    "go vet",
    "go fmt",
    "pytest",
    "python -m pytest",
    "python3 -m pytest",
    "uv run pytest",
    "poetry run pytest",
    "git add",
    "git commit",
    "jest",
    "vitest",
    "vitest run",
    "npx jest",
    "npx vitest",
    "eslint",
    "npx eslint",
    "ruff check",
    "ruff format",
    "mypy",
    "black",
    "flake8",
    "rspec",
    "bundle exec rspec",
    "mix test",
    "dotnet test",
    "dotnet build",
    "swift test",
    "swift build",
    "zig build test",
    "deno test",
    "cabal test",
];
/// The word after these says what is run.
const NAMED: &[&str] = &["npm run", "pnpm run", "yarn run", "bun run"];

/// How many of the words stand for themselves before any others may follow; `None`: this is for this very command only.
pub fn open_after(words: &[String]) -> Option<usize> {
    let begins = |with: &str| {
        let with: Vec<&str> = with.split(' ').collect();
        (words.len() >= with.len() && with.iter().zip(words).all(|(a, b)| a == b)).then_some(with.len())
    };
    let (length, beginning) = OPEN.iter().filter_map(|with| Some((begins(with)?, *with))).max()?;
    let length = if NAMED.contains(&beginning) { length + 1 } else { length };
    (length <= words.len() && !words[length - 1].is_empty() && !words[length - 1].starts_with('-')).then_some(length)
}

/// Options that choose something to run that is not the project's, or that read or write wherever they are told.
const STRAYS: &[&str] = &[
    "config",
    "config-file",
    "config-path",
    "configuration",
    "manifest-path",
    "target-dir",
    "out-dir",
    "artifact-dir",
    "open",
    "C",
    "Z",
    "prefix",
    "cwd",
    "dir",
    "script-shell",
    "node-options",
    "userconfig",
    "globalconfig",
    "preload",
    "require",
    "r",
    "exec",
    "toolexec",
    "vettool",
    "overlay",
    "modfile",
    "ldflags",
    "gcflags",
    "asmflags",
    "gccgoflags",
    "compiler",
    "o",
    "output",
    "output-file",
    "outputFile",
    "outDir",
    "outputdir",
    "p",
    "c",
    "rootdir",
    "rootDir",
    "root",
    "basetemp",
    "confcutdir",
    "override-ini",
    "pdb",
    "pdbcls",
    "junitxml",
    "junit-xml",
    "python-executable",
    "install-types",
    "plugin",
    "parser",
    "rulesdir",
    "resolve-plugins-relative-to",
    "testRunner",
    "runner",
    "environment",
    "globalSetup",
    "setupFiles",
    "setupFilesAfterEnv",
    "F",
    "file",
    "template",
    "pathspec-from-file",
    "with-compiler",
    "settings",
    "build-program",
    "watch",
];

/// Take long options only as a whole.
const WHOLE: [&str; 7] = ["cargo", "go", "jest", "vitest", "ruff", "black", "deno"];

/// May this word follow such a beginning? None leads out of the project, or is an option that does.
pub fn may_follow(program: &str, word: &str) -> bool {
    let outside = |path: &str| path.starts_with(['/', '~']) || path.split('/').any(|part| part == "..");
    let value = word.split_once('=').map_or("", |(_, value)| value);
    let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
    // A single letter may have its value right behind it, or others before it. Cargo's choose packages, go's are whole words.
    let letters = word.starts_with('-') && !word.starts_with("--") && program != "go";
    // Most programs understand the beginning of a long option. These do not, and have others that begin alike.
    let shortens = word.starts_with("--") && !WHOLE.contains(&program);
    let stray = |known: &str| match known {
        "p" | "r" | "F" | "o" | "c" if program == "cargo" => false,
        letter if letter.len() == 1 && letters => name.chars().take_while(|c| c.is_ascii_alphabetic()).any(|c| letter.starts_with(c)),
        known if shortens => !name.is_empty() && known.to_lowercase().starts_with(&name.to_lowercase().replace('_', "-")),
        known => name == known,
    };
    let option = word.starts_with('-') && (STRAYS.iter().any(|known| stray(known)) || name.get(1..).is_some_and(outside));
    !(option || outside(word) || outside(value) || word.contains("://") || word.starts_with('+'))
}

pub fn touches(name: &str, args: &[Word], scene: &Scene) -> Vec<Touch> {
    if CHANGES_THE_SHELL.contains(&name) {
        return vec![unknown(format!("`{name}` may change what the shell does"))];
    }
    let mut touches = vec![];
    let operands = || args.iter().filter(|word| !word.text.starts_with('-'));
    let first = operands().next().map_or("", |word| word.text.as_str());
    if NETWORK.contains(&name) || reaches_out(name, first) {
        touches.push(Touch::Network);
    }
    if DELETES.contains(&name) || name == "git" && matches!(first, "clean" | "rm" | "reset" | "checkout" | "restore") {
        touches.push(Touch::Deletes);
    }
    if name == "find" && args.iter().any(|word| word.text == "-delete") {
        touches.push(Touch::Deletes);
    }
    if PROJECT.contains(&name) {
        touches.push(Touch::Project);
    }
    let written: Vec<&Word> = match name {
        // What they set comes first, unless an option says it: `chmod -r file`, `chown --reference=other file`.
        _ if WRITES.contains(&name) && name.starts_with("ch") => {
            let sets = |word: &Word| word.text.starts_with('-') && !word.text[1..].chars().all(|c| "RvcfhHLP".contains(c));
            operands().skip(usize::from(!args.iter().any(sets))).collect()
        }
        _ if WRITES.contains(&name) => operands().collect(),
        _ if DELETES.contains(&name) || name == "mv" => operands().collect(),
        _ if TO_THE_LAST.contains(&name) => operands().next_back().into_iter().collect(),
        "sed" => operands().skip(1).collect(),
        _ => vec![],
    };
    if TO_THE_LAST.contains(&name) {
        let all: Vec<&Word> = operands().collect();
        touches.extend(all.split_last().map_or(&[][..], |(_, read)| read).iter().flat_map(|word| scene.reads(word)));
    }
    touches.extend(written.iter().flat_map(|word| scene.writes(word)));
    // Options that take a file of their own, or what stands behind two dashes: then the operands are not all that it touches.
    let by_operands = [WRITES, TO_THE_LAST, DELETES].iter().any(|list| list.contains(&name));
    if by_operands && !args.iter().all(is_letters) {
        touches.push(Touch::Program(name.into()));
    }
    // It is on the list of those that read, but not with these words; or on none. If it only read, that would have been known.
    if touches.iter().all(|t| matches!(t, Touch::Reads(_) | Touch::Lists(_) | Touch::Repository(_))) {
        touches.push(Touch::Program(name.into()));
    }
    touches
}

/// No option, or one that is known to take no file.
fn is_letters(word: &Word) -> bool {
    match word.literal() {
        Some(text) if text.starts_with('-') => text.len() > 1 && text[1..].chars().all(|c| "rRfivnupaPLHdxlsmqcT".contains(c)),
        Some(_) => true,
        None => !word.looks.dynamic,
    }
}

fn reaches_out(name: &str, command: &str) -> bool {
    match name {
        "git" => matches!(command, "push" | "fetch" | "pull" | "clone" | "ls-remote" | "submodule" | "send-email" | "archive"),
        "cargo" => matches!(command, "install" | "publish" | "add" | "update" | "fetch" | "login" | "owner" | "yank" | "search"),
        "npm" | "pnpm" | "yarn" | "bun" => {
            matches!(command, "install" | "i" | "add" | "ci" | "publish" | "update" | "audit" | "login" | "view")
        }
        "go" => matches!(command, "get" | "install" | "mod"),
        "docker" | "podman" => matches!(command, "pull" | "push" | "build" | "run" | "login"),
        "npx" | "bunx" => true,
        "uv" | "poetry" => matches!(command, "add" | "sync" | "install" | "pip" | "lock"),
        _ => false,
    }
}
