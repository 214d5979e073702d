//! From the tree to its parts: goes through every command, and keeps track of the folder that each would run in.

use super::{
    Surroundings,
    paths::{Scene, is_secret_name, unknown},
    programs,
    syntax::{Command, Join, Kind, List, Redirect, RedirectKind, Word},
};
use crate::protocol::{CommandPart, Touch};
use std::path::PathBuf;

mod wrappers;

/// How many texts may be given to shells within one another.
const DEEPEST: usize = 4;
/// More folders than these nobody keeps apart.
const MOST_FOLDERS: usize = 8;

pub fn parts(tree: &List, line: &str, around: &dyn Surroundings) -> Vec<CommandPart> {
    let start = around.cwd();
    let mut walk = Walk { around, start: around.granted_in(), parts: vec![], inside: None, loops: 0, texts: 0, patterns: false };
    walk.list(tree, &Some(vec![Folder { path: start, plain: true }]));
    if walk.parts.is_empty() {
        walk.parts.push(CommandPart { at: (0, line.len()), words: vec![], touches: vec![unknown("no command")], said: vec![] });
    }
    walk.parts
}

/// A folder in which a command may find itself.
#[derive(Debug, Clone, PartialEq)]
struct Folder {
    path: PathBuf,
    /// Reached without a link, so that its parent is where it was come from.
    plain: bool,
}

/// All of them; `None` if that can't be known.
type Folders = Option<Vec<Folder>>;

/// Where the shell is after something, if it went well and if not.
struct After {
    well: Folders,
    badly: Folders,
}

struct Walk<'a> {
    around: &'a dyn Surroundings,
    start: PathBuf,
    parts: Vec<CommandPart>,
    /// Where the string stands that is being looked into.
    inside: Option<(usize, usize)>,
    loops: usize,
    texts: usize,
    /// Has a variable been set to what may be a pattern for files?
    patterns: bool,
}

fn either(a: &Folders, b: &Folders) -> Folders {
    let (a, b) = (a.as_ref()?, b.as_ref()?);
    let mut all = a.clone();
    all.extend(b.iter().filter(|folder| !a.contains(folder)).cloned());
    (all.len() <= MOST_FOLDERS).then_some(all)
}

fn same(at: &Folders) -> After {
    After { well: at.clone(), badly: at.clone() }
}

impl Walk<'_> {
    fn list(&mut self, list: &List, from: &Folders) -> After {
        let mut now = same(from);
        let mut before = Join::Then;
        for (pipeline, join) in &list.0 {
            let start = match before {
                Join::And => now.well.clone(),
                Join::Or => now.badly.clone(),
                Join::Then | Join::Background => either(&now.well, &now.badly),
            };
            let alone = pipeline.commands.len() == 1;
            let mut after = same(&start);
            for command in &pipeline.commands {
                let mut its = self.command(command, &start);
                if pipeline.negated {
                    std::mem::swap(&mut its.well, &mut its.badly);
                }
                // In a pipe each has a shell of its own.
                if alone {
                    after = its;
                }
            }
            now = match before {
                Join::And => After { badly: either(&now.badly, &after.badly), well: after.well },
                Join::Or => After { well: either(&now.well, &after.well), badly: after.badly },
                Join::Then | Join::Background => after,
            };
            // A job in the background goes nowhere; whether what it hangs on went anywhere nobody knows.
            if *join == Join::Background {
                now = same(&either(&start, &either(&now.well, &now.badly)));
            }
            before = *join;
        }
        now
    }

    fn aside(&mut self, list: &List, from: &Folders) {
        self.list(list, from);
    }

    fn command(&mut self, command: &Command, from: &Folders) -> After {
        if let Kind::Simple { assignments, words } = &command.kind {
            return self.simple(command, assignments, words, from);
        }
        let (touches, _) = self.redirects(&command.redirects, from);
        if !touches.is_empty() {
            self.part(command, vec![], vec![], touches);
        }
        match &command.kind {
            Kind::Simple { .. } => same(from),
            Kind::Group(list) => self.list(list, from),
            Kind::Subshell(list) => {
                self.aside(list, from);
                same(from)
            }
            Kind::If { branches, otherwise } => {
                let (mut at, mut ends) = (from.clone(), None::<Folders>);
                let mut end = |after: After| {
                    let here = either(&after.well, &after.badly);
                    ends = Some(ends.as_ref().map_or(here.clone(), |ends| either(ends, &here)));
                };
                for (condition, body) in branches {
                    let asked = self.list(condition, &at);
                    end(self.list(body, &asked.well));
                    at = asked.badly;
                }
                end(otherwise.as_ref().map_or_else(|| same(&at), |list| self.list(list, &at)));
                same(&ends.unwrap_or_default())
            }
            Kind::While { condition, body } => {
                // What only reads changes nothing that it could wait for.
                self.part(command, vec![], vec![], vec![unknown("a loop that may never end")]);
                self.loops += 1;
                let asked = self.list(condition, from);
                let after = self.list(body, &asked.well);
                self.loops -= 1;
                same(&either(&asked.badly, &either(&after.well, &after.badly)))
            }
            Kind::For { variable, words, body } => {
                let mut touches = self.words(words, from, true);
                touches.extend(self.expanding(words));
                // Names that a pattern became are none, but what is between quotes may be.
                self.patterns |= words.iter().any(|word| may_hold_a_pattern(word, word.looks.quoted || !word.looks.glob));
                touches.extend((!is_harmless(variable)).then(|| unknown(format!("sets `{variable}`"))));
                if !touches.is_empty() {
                    self.part(command, vec![], vec![], touches);
                }
                self.loops += 1;
                let after = self.list(body, from);
                self.loops -= 1;
                same(&either(from, &either(&after.well, &after.badly)))
            }
            Kind::Case { word, arms } => {
                self.words(std::slice::from_ref(word), from, false);
                if let Some(secret) = secret_in(word) {
                    self.part(command, vec![], vec![], vec![secret]);
                }
                let mut end = from.clone();
                for (patterns, body) in arms {
                    self.words(patterns, from, false);
                    let after = self.list(body, from);
                    end = either(&end, &either(&after.well, &after.badly));
                }
                same(&end)
            }
            Kind::Function { body } => {
                self.part(command, vec![], vec![], vec![unknown("gives a command another meaning")]);
                self.loops += 1;
                self.command(body, &None);
                self.loops -= 1;
                same(from)
            }
        }
    }

    /// What is in words that expand: secrets, and patterns for files where a word splits.
    fn expanding(&self, words: &[Word]) -> Vec<Touch> {
        let tells = |list: &List| list.0.iter().all(|(pipeline, _)| pipeline.commands.last().is_some_and(tells_no_pattern));
        let looks_up =
            |word: &&Word| word.looks.splits && (self.patterns && !word.variables.is_empty() || !word.commands.iter().all(tells));
        let mut touches: Vec<Touch> = words.iter().filter_map(secret_in).collect();
        touches.extend(words.iter().find(looks_up).map(|_| unknown("a pattern for files")));
        touches
    }

    /// The commands within words; with `names`, what their patterns look up.
    fn words(&mut self, words: &[Word], from: &Folders, names: bool) -> Vec<Touch> {
        words.iter().flat_map(|word| &word.commands).for_each(|list| self.aside(list, from));
        let folders = paths(from);
        let scene = Scene { around: self.around, folders: &folders };
        words.iter().filter(|word| names && word.looks.glob).flat_map(|word| scene.lists(word)).collect()
    }

    fn part(&mut self, command: &Command, words: Vec<String>, said: Vec<Option<String>>, mut touches: Vec<Touch>) {
        let at = self.inside.unwrap_or((command.at.start, command.at.end));
        let mut seen = vec![];
        touches.retain(|touch| {
            !seen.contains(touch) && {
                seen.push(touch.clone());
                true
            }
        });
        self.parts.push(CommandPart { at, words, touches, said });
    }

    /// What redirections touch, and whether there is one that does more than throw output away or join it.
    fn redirects(&mut self, redirects: &[Redirect], from: &Folders) -> (Vec<Touch>, bool) {
        let (mut touches, mut matter) = (vec![], false);
        let folders = paths(from);
        for Redirect { kind, target } in redirects {
            target.commands.iter().for_each(|list| self.aside(list, from));
            let scene = Scene { around: self.around, folders: &folders };
            let nowhere = matches!(target.literal(), Some("/dev/null" | "/dev/stdout" | "/dev/stderr"));
            match kind {
                RedirectKind::Duplicate => {}
                _ if nowhere && *kind != RedirectKind::Here => {}
                RedirectKind::Read => (matter, _) = (true, touches.extend(scene.reads(target))),
                RedirectKind::Write => (matter, _) = (true, touches.extend(scene.writes(target))),
                RedirectKind::Here => {
                    matter = true;
                    let secret = target.variables.iter().any(|name| is_secret_name(name));
                    touches.extend(secret.then(|| unknown("a variable that may be secret")));
                }
            }
        }
        (touches, matter)
    }

    fn simple(&mut self, command: &Command, assignments: &[Word], words: &[Word], from: &Folders) -> After {
        let place = self.parts.len();
        let (mut touches, matter) = self.redirects(&command.redirects, from);
        self.words(assignments, from, false);
        self.words(words, from, false);
        touches.extend(self.expanding(words));
        // Under another name it would be told later.
        touches.extend(assignments.iter().filter_map(secret_in));
        self.patterns |= assignments.iter().any(|word| may_hold_a_pattern(word, true));
        touches.extend(assignments.iter().filter_map(|word| {
            let name = word.assigns().unwrap_or_default();
            (!is_harmless_value(name, word)).then(|| unknown(format!("sets `{name}`")))
        }));
        let mut after = same(from);
        let mut alone = assignments.is_empty() && !matter;
        if let Some(first) = words.first() {
            match first.literal().filter(|name| !name.is_empty() && !name.contains('=')) {
                None => touches.push(unknown("a program whose name can't be known")),
                Some("cd") => {
                    let (its, touch) = self.changes_folder(&words[1..], from);
                    (after, _) = (its, touches.push(touch));
                }
                Some(name) => {
                    let (its, wraps) = self.program(command, name, words, from, &mut after);
                    touches.extend(its);
                    alone &= !wraps;
                }
            }
        }
        let literal: Option<Vec<String>> = words.iter().map(|word| word.literal().map(str::to_owned)).collect();
        // What was allowed word by word was allowed where it was seen; only what chooses among the project's own may be done elsewhere.
        let here = from.as_ref().is_some_and(|all| all.iter().all(|folder| folder.path == self.start));
        let alone = alone && (here || literal.as_ref().is_some_and(|words| programs::known::open_after(words).is_some()));
        let known = alone && !touches.iter().any(|touch| matches!(touch, Touch::Unknown(_)));
        let said = words.iter().map(|word| word.literal().map(str::to_owned)).collect();
        self.part(command, literal.filter(|_| known).unwrap_or_default(), said, touches);
        // As they stand: the command, what is substituted into it, what it runs.
        self.parts[place..].rotate_right(1);
        after
    }

    /// What a program touches, and whether it runs another one.
    fn program(&mut self, command: &Command, name: &str, words: &[Word], from: &Folders, after: &mut After) -> (Vec<Touch>, bool) {
        if !name.contains('/') && !self.around.trusts(name) {
            return (vec![Touch::Project], false);
        }
        if let Some(plain) = programs::plain_name(name)
            && let Some(touches) = self.wrapper(command, plain, words, from, after)
        {
            return (touches, true);
        }
        let folders = paths(from);
        (programs::judge(name, words, &Scene { around: self.around, folders: &folders }), false)
    }

    fn changes_folder(&mut self, args: &[Word], from: &Folders) -> (After, Touch) {
        let lost = |why: &str| (After { well: None, badly: from.clone() }, unknown(why));
        let folders = paths(from);
        let scene = Scene { around: self.around, folders: &folders };
        let args = match args {
            [dashes, rest @ ..] if dashes.literal() == Some("--") => rest,
            args => args,
        };
        let home = Word { text: "~".into(), looks: super::syntax::Looks { home: true, ..Default::default() }, ..Word::default() };
        let target = match args {
            [] => &home,
            [target] if !target.text.starts_with('-') && !target.text.starts_with('+') && !target.text.is_empty() => target,
            _ => return lost("a folder that can't be known"),
        };
        if self.loops > 0 {
            return lost("changes the folder again and again");
        }
        let up = target.text.split('/').filter(|part| *part == "..").count();
        if up > 0 && target.looks.home {
            return lost("a folder that can't be known");
        }
        if up > 0 {
            // A shell goes back by the names, a kernel by the folders: only without links that is the same.
            let only =
                target.literal().is_some_and(|text| text.split('/').all(|part| matches!(part, ".." | "." | "")) && !text.starts_with('/'));
            let above = |folder: &Folder| {
                let path = folder.path.ancestors().nth(up)?;
                (folder.plain && path.starts_with(&self.start)).then(|| Folder { path: path.into(), plain: true })
            };
            let Some(found) = from.as_ref().filter(|_| only).and_then(|all| all.iter().map(above).collect::<Option<Vec<_>>>()) else {
                // It is told where it leads, so that it can be judged; what comes after it can't.
                let touch = scene.lists(target).into_iter().next();
                return (After { well: None, badly: from.clone() }, touch.unwrap_or_else(|| unknown("a folder that can't be known")));
            };
            let touch = found.first().map_or_else(|| unknown("a folder that can't be known"), |folder| Touch::Lists(folder.path.clone()));
            return (After { well: Some(found), badly: from.clone() }, touch);
        }
        let Some(found) = scene.folders_of(target) else { return lost("a folder that can't be known") };
        let touch = found.first().map_or_else(|| unknown("a folder that can't be known"), |path| Touch::Lists(path.clone()));
        // Several folders to start from: each is somewhere else, so only one that leads to the same place is told.
        let plain = |path: &PathBuf| {
            from.iter().flatten().any(|folder| folder.plain && target.literal().is_some_and(|text| folder.path.join(text) == *path))
        };
        let inside = found.iter().map(|path| Folder { path: path.clone(), plain: plain(path) }).collect::<Vec<_>>();
        let touch = if found.len() > 1 { unknown("a folder that can't be known") } else { touch };
        (After { well: Some(inside), badly: from.clone() }, touch)
    }
}

fn secret_in(word: &Word) -> Option<Touch> {
    word.variables.iter().any(|name| is_secret_name(name)).then(|| unknown("a variable that may be secret"))
}

fn may_hold_a_pattern(word: &Word, literally: bool) -> bool {
    literally && word.text.contains(['*', '?', '[']) || !word.commands.is_empty() || !word.variables.is_empty()
}

/// Does it say nothing that a shell might look up among files elsewhere?
fn tells_no_pattern(command: &Command) -> bool {
    const PLAIN: [&str; 12] = ["ls", "pwd", "date", "wc", "nproc", "uname", "whoami", "id", "seq", "basename", "dirname", "which"];
    let Kind::Simple { words, .. } = &command.kind else { return false };
    words.first().and_then(Word::literal).is_some_and(|name| PLAIN.contains(&name))
        && !words.iter().any(|word| word.looks.quoted && word.text.contains(['*', '?', '[']))
}

fn paths(folders: &Folders) -> Vec<PathBuf> {
    folders.iter().flatten().map(|folder| folder.path.clone()).collect()
}

/// Variables that no program looks at. Names in capitals are looked at by somebody, unless they are known.
fn is_harmless(name: &str) -> bool {
    let small = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    small
        && !name.ends_with("_proxy")
        && !["path", "fpath", "cdpath", "mailpath", "manpath", "prompt", "module_path", "histchars"].contains(&name)
}

fn is_harmless_value(name: &str, word: &Word) -> bool {
    let known = name.starts_with("LC_")
        || ["LANG", "LANGUAGE", "TZ", "NO_COLOR", "CLICOLOR", "COLUMNS", "LINES", "CI", "RUST_BACKTRACE"].contains(&name);
    let value = word.literal().and_then(|text| text.split_once('=')).map(|(_, value)| value);
    is_harmless(name) || known && value.is_some_and(|v| v.chars().all(|c| c.is_ascii_alphanumeric() || "_-.@".contains(c)))
}
